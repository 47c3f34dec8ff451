#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check.sh [STEP...]: run the steps that dev/check/order lists (or those named), count
# their results, and print a table of them with their times.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

passed=0 failed=0 skipped=0
table=$out/check.csv

# steps [STEP...]: lines "STEP NEEDS" of the list.
steps() {
	local list name
	list=$(lines_of "$top/dev/check/order")
	(($#)) || { say "$list"; return; }
	for name; do
		grep -E "^${name}[[:space:]]" <<<"$list" ||
			die "no step is called $name; there are:"$'\n'"$(cut -f 1 <<<"$list" | fmt)"
	done
}

# A step that dies, or that ends well and has run nothing, has failed.
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
		grep -aE -B 30 '^ *not ok' "$logs/check-$name.tap" | tail -n 80 || true
		tail -n 40 "$logs/check-$name.log"
		say "the logs of the step: $logs/check-$name.{tap,log}"
	fi
	say "== $name: $p passed, $f failed, $s skipped, $time s"
	say "$name,$p,$f,$s,$time" >>"$table"
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
}

# run_step NAME COMMAND...
run_step() {
	local name=$1 start=$SECONDS code=0
	say "== $name"
	{ "${@:2}" 2>&1 >"$logs/check-$name.tap" | tee "$logs/check-$name.log"; } || code=$?
	judge "$name" "$code" $((SECONDS - start))
}

# update NEEDS...: the tree, and the guest's kernel when a step needs it; once for all
# steps.
update() {
	"$top/dev/tree.sh" >&2
	[[ " $* " != *" guest "* ]] || "$top/dev/build.sh" guest >&2
	say "ok - up to date"
}

main() {
	local list needs name
	list=$(steps "$@")
	[[ -n $list ]] || die "dev/check/order lists no step"
	mapfile -t needs < <(cut -f 2 <<<"$list")
	say step,passed,failed,skipped,seconds >"$table"
	[[ "${needs[*]}" != *[a-z]* ]] || run_step update update "${needs[@]}"
	while read -r name _; do
		run_step "$name" "$top/dev/check/$name/run" </dev/null
	done <<<"$list"
	say "all,$passed,$failed,$skipped,$SECONDS" >>"$table"
	column -t -s, "$table"
	say "$passed passed, $failed failed$( ((skipped == 0)) || printf ', %d skipped' "$skipped")"
	((failed == 0 && passed > 0))
}

"$top/dev/setup.sh"
main "$@"
