#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs in the guest: a module traces the scheduler through a marker, together with the
# kernel's other tracers, and all must count the same. Then the trace event is used
# without the module, and tour.sh runs.
# shellcheck disable=SC2317 # check calls functions by name
set -uo pipefail

tracefs=/sys/kernel/tracing
marker=kernel_sched_switch
count=$HOUSE_OUT/bin/count
failures=0

title() { printf '\n== %s\n' "$*"; }

# check WHAT COMMAND...: print one line with the verdict.
check() {
	local what=$1
	shift
	if "$@"; then
		printf 'PASS: %s\n' "$what"
	else
		printf 'FAIL: %s\n' "$what"
		((++failures))
	fi
}

# probes_are N: the list of markers shows N probes on the marker.
probes_are() {
	[[ $(awk -F'\t' -v m="$marker" '$1 == m { print $4 }' "$tracefs/markers") == "$1" ]]
}

kernel_lines() { dmesg | wc -l; }
is() { [[ $1 == "$2" ]]; }
many() { [[ $1 -gt 0 ]]; }

show_markers() {
	title "the markers of this kernel ($tracefs/markers)"
	cat $tracefs/markers
	check "$marker is there, nobody watches it" probes_are 0
}

watch_by_marker() {
	title "a module watches $marker while processes run on $(nproc) CPUs"
	dmesg -C
	check "modprobe marker-probe" \
		modprobe marker-probe marker=$marker print=8
	check "one probe is on the marker" probes_are 1
	"$count"
	local code=$?
	printf '\nthe first lines that the module printed:\n'
	dmesg | head -n 9
	check "it printed lines" many "$(kernel_lines)"
	check "all tracers counted the same, none lost" is $code 0
}

stop_watching() {
	local before

	title "the module leaves, the processes run on"
	check "rmmod marker_probe" rmmod marker_probe
	dmesg | tail -n 1
	before=$(kernel_lines)
	"$count" --work
	check "nothing more arrived" is "$(kernel_lines)" "$before"
	check "nobody watches $marker" probes_are 0
}

trace_by_event() {
	title "the trace event, as ever"
	echo 1 >$tracefs/events/sched/sched_switch/enable
	"$count" --work
	echo 0 >$tracefs/events/sched/sched_switch/enable
	grep -m 5 sched_switch: $tracefs/trace
	check "the trace event has lines" many "$(grep -c sched_switch: $tracefs/trace)"
	echo >$tracefs/trace
}

tour() {
	title "one marker, one workload: a module and all who trace Linux, side by side"
	check "they saw the same switches" dev/guest/tour.sh "$HOUSE_OUT"
}

show_markers
watch_by_marker
stop_watching
trace_by_event
tour

title "$([[ $failures == 0 ]] && echo "PASS: everything agrees" || echo "FAIL: $failures checks")"
exit $((failures != 0))
