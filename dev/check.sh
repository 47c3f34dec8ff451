#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check.sh [STEP...]: run the steps of dev/check/ (or those whose names begin with
# an argument) and count the results. A step prints TAP on its stdout and progress
# on its stderr.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

passed=0 failed=0 skipped=0

steps() {
	local step want
	for step in "$top"/dev/check/[0-9]*; do
		[[ -x $step ]] || continue
		if (($# == 0)); then
			printf '%s\n' "$step"
			continue
		fi
		for want; do
			[[ $(basename "$step") != "$want"* ]] || printf '%s\n' "$step"
		done
	done
}

# A step that exits with an error, or runs no test, has failed, too.
judge() {
	local name=$1 code=$2 time=$3 p f s
	awk -v show=1 -f "$top/dev/tap.awk" "$logs/check-$name.tap" >"$logs/check-$name.sum"
	sed '$d' "$logs/check-$name.sum"
	read -r p f s < <(tail -n 1 "$logs/check-$name.sum")
	if ((f == 0 && code != 0)); then
		say "not ok - step $name ended with status $code"
		f=1
	elif ((p + f + s == 0)); then
		say "not ok - step $name ran nothing"
		f=1
	fi
	if ((f)); then
		tail -n 40 "$logs/check-$name.log"
		say "the logs of the step: $logs/check-$name.{tap,log}"
	fi
	say "== $name: $p passed, $f failed, $s skipped, $time s"
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
}

run_step() {
	local step=$1 name start=$SECONDS code=0
	name=$(basename "$step")
	say "== $name"
	{ "$step" 2>&1 >"$logs/check-$name.tap" | tee "$logs/check-$name.log"; } || code=$?
	judge "$name" "$code" $((SECONDS - start))
}

main() {
	local list
	mapfile -t list < <(steps "$@")
	((${#list[@]})) || die "no step is called so: $*"
	for step in "${list[@]}"; do
		run_step "$step"
	done
	say "all in $SECONDS s"
	say "$passed passed, $failed failed$( ((skipped == 0)) || printf ', %d skipped' "$skipped")"
	((failed == 0 && passed > 0))
}

"$top/dev/setup.sh"
main "$@"
