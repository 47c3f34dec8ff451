#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# mutants.sh [SECONDS [FILE...]]: test whether the tests fail when the code is changed.
#
# Each statement and condition of the C files of the series (or of FILE...) is removed or
# changed in one token, and the KUnit cases that reach it run until one fails. One kernel
# contains all these mutants, and a number selects one of them (mutants/points.py,
# plant.py), so that one build is enough. A program on this processor tries them first (see
# dev/real), then several guests (run.py). Mutants without
# a result are tried for SECONDS (300), in random order. Prints a table and the mutants that survived; the
# results are in out/mutants/results.csv, and are kept until the file is removed. For a
# mutant that survives a test is missing, unless it does not change the behaviour.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
mutants=$top/dev/mutants
all=$out/mutants	# an output folder of its own, with the same pristine kernel
seconds=${1:-300}
files=("${@:2}")
((${#files[@]})) || mapfile -t files < <(overlay_files |
	grep -E '^(kernel|arch/x86/kernel)/.*\.c$' | grep -vE 'torture/|sched-trace|bridges/')

in_own_folder() { OUT=$all "$@"; }

# built FILE...: the objects of those that the guest's kernel has.
built() {
	local file option
	for file; do	# a directory whose files have no option is always built
		option=$(sed -nE "s,^obj-\\$\((CONFIG_[A-Z_]+)\).*\b$(basename "$file" .c)\.o\b.*,\1,p" \
			"$all/linux/$(dirname "$file")/Makefile")
		grep -qx "${option:-CONFIG_64BIT}=y" "$all/build/small/.config" && say "${file%c}o"
	done
}

compile() (
	build_environment
	linux=$all/linux
	kmake "$all/build/small" -k "${objects[@]}"
) >"$all/compile.log" 2>&1

# The compiler rejects some mutants, such as the sum of two pointers: leave these out.
plant() {
	local skipped last=-1
	rm -f "$all/compile.log"
	skipped=$(python3 -B "$mutants/plant.py" "$top" "$all" "${files[@]}")
	until compile; do
		((skipped != last)) || { tail -n 40 "$all/compile.log"; die "the mutants do not compile"; }
		last=$skipped
		skipped=$(python3 -B "$mutants/plant.py" "$top" "$all" "${files[@]}")
	done
}

mkdir -p "$all"
[[ -e $all/base ]] || ln -s "$base" "$all/base"
[[ ! -f $base.version ]] || cp "$base.version" "$all/"
rm -f "$all/tree.stamp"	# the planted mutants are no strays
in_own_folder "$top/dev/tree.sh"
in_own_folder "$top/dev/build.sh" small prepare
mapfile -t objects < <(built "${files[@]}")
files=("${objects[@]/%.o/.c}")
plant
in_own_folder "$top/dev/build.sh" small
in_own_folder "$top/dev/real/build.sh" small
in_own_folder python3 -B "$mutants/run.py" "$all" "$top/dev/guest.sh" "$seconds" "${kunit_suites[@]}"
