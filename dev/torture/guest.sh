#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# guest.sh PART DIR SECONDS SEED: runs in the guest; a part of the torture, built in
# DIR. Afterwards, a kernel that can tells what memory the part has lost.
set -uo pipefail
part=$1
shift
kmemleak=/sys/kernel/debug/kmemleak

# What is lost is not reported in its first five seconds, and what is referred to
# while it moves may seem so once.
leaks() {
	sleep 6
	echo scan >$kmemleak
	sleep 1
	echo scan >$kmemleak
	cat $kmemleak >"$RESULTS/leaks"
	echo "leaked:$(grep -c '^unreferenced object' "$RESULTS/leaks")" >>"$RESULTS/counters"
}

# Nothing of what was lost until here.
[[ ! -f $kmemleak ]] || { echo scan && echo clear; } >$kmemleak
"dev/torture/$part/guest.sh" "$@"
code=$?
[[ ! -f $kmemleak ]] || leaks
exit $code
