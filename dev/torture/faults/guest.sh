#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#: COUNTERS=faults failed
# guest.sh DIR SECONDS SEED [OPERATION...]: runs in the guest. In each operation of the
# series, or in those named, each allocation fails once, and each function that supports
# it; unless SECONDS is 0, as many of them as this time allows. The table of failures
# and results is in $RESULTS/table, too.
set -u
. "$(dirname "$0")/../../guest/lib.sh"
dir=$1 seconds=$2 seed=$3
shift 3
operations=("$@")
debugfs=/sys/kernel/debug

# Allocations that may sleep fail too. failnth chooses the function that fails.
let_fail() {
	local what
	for what in failslab fail_page_alloc; do
		echo 0 >$debugfs/$what/verbose
		echo Y >$debugfs/$what/task-filter
		echo N >$debugfs/$what/ignore-gfp-wait
	done
	echo 1 >/sys/kernel/rcu_expedited	# else grace periods take most of the time
	[[ -d $debugfs/fail_function ]] || return 0
	echo 0 >$debugfs/fail_function/verbose
	echo 0 >$debugfs/fail_function/times
	echo 100 >$debugfs/fail_function/probability
}

# The console prints only lines that failnth does not check: those of an oops.
each_failure() {
	local level
	read -r level _ </proc/sys/kernel/printk
	echo 4 >/proc/sys/kernel/printk
	"$dir/failnth" "$dir" "$RESULTS" "$seconds" "$seed" "${operations[@]}"
	local code=$?
	echo "$level" >/proc/sys/kernel/printk
	dmesg >"$RESULTS/dmesg"
	column -t -s $'\t' "$RESULTS/table" | sed 's/^/# /'
	return $code
}

# have_failed NUMBER: did allocations (1) or functions (0) fail?
have_failed() {
	awk -F'\t' -v memory="$1" 'NR > 1 && ($3 == "memory") == memory { found = 1 }
		END { exit !found }' "$RESULTS/table"
}

is_unloaded() { rmmod faults && ! grep -q '^faults' /proc/modules; }

# A work item removes them, a little later.
are_events_removed() {
	local try
	for ((try = 0; try < 50; try++)); do
		compgen -G '/sys/kernel/tracing/events/markers/faults_*' >/dev/null || return 0
		sleep 0.1
	done
	ls /sys/kernel/tracing/events/markers
	return 1
}

echo "# seed $seed"
insmod "$dir/faults.ko" || exit 1
echo 1 >/proc/sys/kernel/kptr_restrict	# addresses in /proc/vmallocinfo
let_fail
SECONDS=0
result "all failures are as they should be" each_failure
result "allocations failed" have_failed 1
# Those that are named, or that the time allows, may have none.
[[ $seconds != 0 || ${operations[*]} || ! -d $debugfs/fail_function ]] ||
	result "functions failed" have_failed 0
result "the module is free" is_unloaded
result "no event of it is left" are_events_removed
echo "# $SECONDS seconds"
