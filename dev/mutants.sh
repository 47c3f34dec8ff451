#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# [SINCE=COMMIT] mutants.sh [SECONDS [FILE...]]: test whether the tests fail when the
# code is changed.
#
# Each operator, constant, condition, call, jump, store and return value of the files
# in mutants/files is changed once, and the KUnit cases that reach it run until one
# fails. One kernel contains all these mutants, and a number selects one of them
# (mutants/points.py, plant.py), so that one build is enough. Several guests try them
# (run.py): the state after boot is saved, and restored after each mutant. Mutants
# without a result are tried for SECONDS (300); the results are in
# out/mutants/results.csv. Then table.py prints a table. Its columns for mutants that
# were not tried:
#
#	no schema	static initialisers, and code that cannot be conditional in C
#	not built	compiled out in the guest's configuration
#	uncovered	no KUnit case reaches it: dev/mutants/table.py out/mutants uncovered
#	boot		only reached at boot
#	not run		not tried yet
#
# For a mutant that survives, a test is missing, or the mutant does not change the
# behaviour: mutants/equivalent.csv lists these with the reason. Results are kept until
# results.csv is removed; a mutant whose text or function changes counts as new.
#
# With SINCE, only mutants in lines that have changed since COMMIT are tried, and the
# table has only these.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

mutants=$top/dev/mutants
all=$out/mutants

# Use a separate output folder, with the same pristine kernel.
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

# The compiler rejects some mutants, such as the sum of two pointers: leave these out.
plant() {
	python3 "$mutants/plant.py" "$all"
	while ! compile; do
		python3 "$mutants/plant.py" "$all" >"$all/plant.new"
		! cmp -s "$all/plant.new" "$all/plant.last" ||
			{ tail -n 40 "$all/compile.log"; die "the mutants do not compile"; }
		mv "$all/plant.new" "$all/plant.last"
	done
}

# What the slow cases need besides the selftests; see run.py.
build_cases() (
	out=$all logs=$all/logs
	build_environment
	build_folder "$top/dev/check/events" "$all/events"
	build_folder "$top/dev/torture/faults" "$all/faults"
)

main() {
	local seconds=${1:-300}

	shift || true
	mkdir -p "$all"
	[[ -e $all/base ]] || ln -s "$base" "$all/base"
	cp "$base.version" "$all/"
	rm -f "$all/tree.stamp"	# the planted mutants are no strays
	in_own_folder "$top/dev/tree.sh"
	[[ -f $all/build/guest/.config ]] || in_own_folder "$top/dev/build.sh" guest
	plant
	in_own_folder "$top/dev/build.sh" guest
	build_cases
	[[ $all/map.json -nt $all/build/guest/vmlinux ]] ||
		python3 "$mutants/run.py" "$all" map
	SECONDS=0
	python3 "$mutants/run.py" "$all" fast "$seconds" "$@"
	python3 "$mutants/run.py" "$all" slow "$((seconds - SECONDS))" "$@"
	python3 "$mutants/table.py" "$all"
}

main "$@"
