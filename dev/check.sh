#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check.sh [--all | STEP...]: run the steps of `make check` or of `make check-all` that
# dev/check/order lists, or those named, two at a time. Count their results, and print a
# table of them with their times.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

table=$out/check.csv

# steps [--all | STEP...]: lines "STEP NEEDS CHANGES" of the list.
steps() {
	local list name
	list=$(lines_of "$top/dev/check/order" | cut -f 1,3-)
	case ${1:-} in
	'') lines_of "$top/dev/check/order" | sed -n 's/\tcheck\t/\t/p'; return ;;
	--all) say "$list"; return ;;
	esac
	for name; do
		grep -E "^${name}[[:space:]]" <<<"$list" ||
			die "no step is called $name; there are:"$'\n'"$(cut -f 1 <<<"$list" | fmt)"
	done
}

# One step must not change what another one needs or changes.
excludes() { changes "$1" "$2" || changes "$2" "$1"; }
changes() {
	local mine theirs word
	IFS=$'\t' read -r _ _ mine <<<"$1"
	IFS=$'\t' read -r _ theirs _ <<<"$2"
	for word in $mine; do
		[[ " $theirs " != *" $word "* ]] || return 0
	done
	return 1
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
}

# run_step NAME COMMAND...
run_step() {
	local name=$1 start=$SECONDS code=0
	say "== $name"
	{ "${@:2}" 2>&1 >"$logs/check-$name.tap" | tee "$logs/check-$name.log" | sed -u "s,^,$name: ,"; } ||
		code=$?
	say "$(judge "$name" "$code" $((SECONDS - start)))"
}

run_line() { run_step "$1" "$top/dev/check/$1/run"; }

update_tree() { "$top/dev/tree.sh" >&2 && say "ok - up to date"; }

# sum_up STEP...: the results in the order of the list, and their sums. A step without
# a result has failed.
sum_up() {
	local name
	{
		say step,passed,failed,skipped,seconds
		for name; do
			grep "^$name," "$table" || say "$name,0,1,0,0"
		done
	} | awk -F, -v OFS=, -v time=$SECONDS '
	NR > 1 { passed += $2; failed += $3; skipped += $4 }
	{ print }
	END { print "all", passed, failed, skipped, time }' >"$table.new"
	mv "$table.new" "$table"
	column -t -s, "$table"
}

main() {
	local list lines needs names passed failed skipped
	list=$(steps "$@")
	[[ -n $list ]] || die "dev/check/order lists no step"
	mapfile -t lines <<<"$list"
	mapfile -t names < <(cut -f 1 <<<"$list")
	mapfile -t needs < <(cut -f 2 <<<"$list")
	: >"$table"
	if [[ " ${needs[*]} " == *" guest "* ]]; then
		lines=($'build\ttree\tguest' "${lines[@]}")
		names=(build "${names[@]}")
	fi
	if [[ "${needs[*]}" == *[a-z]* ]]; then
		names=(update "${names[@]}")
		run_step update update_tree
	fi
	two_at_once run_line "${lines[@]}"
	sum_up "${names[@]}"
	IFS=, read -r _ passed failed skipped _ < <(tail -n 1 "$table")
	say "$passed passed, $failed failed$( ((skipped == 0)) || printf ', %d skipped' "$skipped")"
	((failed == 0 && passed > 0))
}

main "$@"
