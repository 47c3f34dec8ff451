#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# mutants.sh [SECONDS [FILE...]]: do the tests notice when the code is changed?
#
# Each operator, constant, condition, call, jump, store and return value of the files
# that mutants/files names is changed once, and the KUnit cases that reach it run
# until one fails. One kernel has all these mutants, each behind a choice by number
# (mutants/points.py, plant.py), so that none is built for itself. Some guests try
# them (run.py): the state after boot is kept, and is restored after a mutant that
# was caught. This goes on for SECONDS (300), with the mutants that have no result
# so far; results are in out/mutants/results.csv. Then it prints the table
# (table.py), which says what was not tried, and why:
#
#	no schema	static initialisers, and what cannot be a choice in C
#	not built	compiled out in the guest's configuration
#	uncovered	no KUnit case reaches it: dev/mutants/table.py out/mutants uncovered
#	boot		only the boot reaches it
#	not run		no time so far
#
# What survives is a test that is missing, or does not change what the code does:
# mutants/equivalent.csv says why. A mutant keeps its result until the file of results is
# removed; one whose text or function changes is a new one.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

mutants=$top/dev/mutants
all=$out/mutants

# A folder of its own, with the same pristine kernel.
in_own_folder() { OUT=$all "$@"; }

compile() {
	local objects
	mapfile -t objects < <(sed -E 's/#.*//; s/^(\S+)\.c.*/\1.o/; /^$/d' "$mutants/files")
	(
		build_environment
		linux=$all/linux
		kmake "$all/build/guest" -k "${objects[@]}"
	) >"$all/compile.log" 2>&1
}

# The compiler refuses some of them, such as the sum of two pointers.
plant() {
	python3 "$mutants/plant.py" "$all"
	while ! compile; do
		python3 "$mutants/plant.py" "$all" >"$all/plant.new"
		! cmp -s "$all/plant.new" "$all/plant.last" ||
			{ tail -n 40 "$all/compile.log"; die "the mutants do not compile"; }
		mv "$all/plant.new" "$all/plant.last"
	done
}

main() {
	local seconds=${1:-300}

	shift || true
	mkdir -p "$all"
	[[ -e $all/base ]] || ln -s "$base" "$all/base"
	cp "$base.version" "$all/"
	in_own_folder "$top/dev/tree.sh"
	[[ -f $all/build/guest/.config ]] || in_own_folder "$top/dev/build.sh" guest
	plant
	in_own_folder "$top/dev/build.sh" guest
	[[ $all/map.json -nt $all/build/guest/vmlinux ]] ||
		python3 "$mutants/run.py" "$all" map
	SECONDS=0
	python3 "$mutants/run.py" "$all" fast "$seconds" "$@"
	python3 "$mutants/run.py" "$all" slow "$((seconds - SECONDS))" "$@"
	python3 "$mutants/table.py" "$all"
}

main "$@"
