#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# matrix.sh [SUITE...]: use the tracing that this kernel has, and run the KUnit suites
# that are modules.
set -e
tracefs=/sys/kernel/tracing

# on_and_off FILE: enable and disable it, several times.
on_and_off() {
	for value in 1 0 1 0 1 0; do
		echo $value >"$1"
		sleep 0.1
	done
}

if [ -d $tracefs/events ]; then
	on_and_off $tracefs/events/sched/enable
	grep -q sched_switch: $tracefs/trace
	on_and_off $tracefs/events/enable
fi

if [ -f $tracefs/markers ] && [ -f /proc/modules ]; then
	modprobe marker-probe marker=kernel_sched_switch
	sleep 0.1
	[ "$(cat /sys/module/marker_probe/parameters/hits)" -gt 0 ]
	rmmod marker_probe
fi

[ $# = 0 ] || dev/guest/kunit.sh "$@"
