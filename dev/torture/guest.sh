#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# guest.sh PART DIR STALE SECONDS SEED: runs in the guest: a part of the torture, built
# in DIR, with the module of STALE unless that is "-". A kernel with kmemleak then
# looks for memory that the part has leaked.
set -uo pipefail
. dev/lib.sh
part=$1 dir=$2 stale=$3
kmemleak=/sys/kernel/debug/kmemleak

looks_for_leaks() { [[ -f $kmemleak ]] && ! grep -q kmemleak=off /proc/cmdline; }

# Without those of the base: the filters of an instance that name a module, and the trigger
# of an event whose module events.sh unloads; see filter-instance and event-triggers in
# series/fixes.
of_series() { awk -v RS='unreferenced object' '/ cache_mod[+]/ || /"events.sh".* trigger_data_alloc[+]/ { next } NR > 1 { printf "%s%s", RS, $0 }' "$1"; }

# kmemleak does not report objects of the last five seconds. An object whose reference
# moves during a scan may be reported, so there are two scans.
leaks() {
	sleep 6
	for _ in 1 2; do
		sleep 1
		echo scan >$kmemleak
	done
	of_series $kmemleak >"$RESULTS/leaks"
	echo "leaked:$(grep -c '^unreferenced object' "$RESULTS/leaks")" >>"$RESULTS/counters"
}

# The module for arm64 needs an address.
insert_stale() {
	local words
	words=$(awk '$3 == "aarch64_insn_patch_text_nosync" { print "patch=0x" $1 }' /proc/kallsyms)
	insmod "$stale/stale.ko" ${words:+"$words"}
}

# How rare the unclaimed ones are without an error: see stale/x86.c.
count_stale() {
	local parameters=/sys/module/stale/parameters again unclaimed
	again=$(<$parameters/again)
	echo "stale:$again" >>"$RESULTS/counters"
	[[ -f $parameters/unclaimed ]] || return 0
	unclaimed=$(<$parameters/unclaimed)
	echo "unclaimed:$unclaimed" >>"$RESULTS/counters"
	result "few breakpoints in memory have no owner" \
		test "$unclaimed" -le $((1 + again / 100000))
}

[[ $stale == - ]] || insert_stale || exit 1
# Ignore the leaks until now.
! looks_for_leaks || { echo scan && echo clear; } >$kmemleak
"dev/torture/$part/guest.sh" "$dir" "${@:4}"
code=$?
! looks_for_leaks || leaks
[[ $stale == - ]] || count_stale
exit $code
