#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# off.sh DIR: runs in a guest with one CPU whose clock counts instructions, with
# the module of DIR.
set -u
. "$(dirname "$0")/../../guest/lib.sh"
parameters=/sys/module/bridges/parameters

# The median: a read after another program ran may be 24 instructions less or more.
ticks() { for _ in {1..5}; do cat $parameters/ticks; done | sort -n | sed -n 3p; }

active() { paste -sd ' ' $parameters/active; }

is_off() {
	[[ -z $(active) ]] || { echo "active: $(active)" >&2; return 1; }
}

preempted_can_run() {
	local tracing=/sys/kernel/tracing pid partner
	echo 1 >$tracing/events/markers/kernel_sched_switch/enable
	read -r pid partner <$parameters/preempted
	echo 0 >$tracing/events/markers/kernel_sched_switch/enable
	is "$(sed -n "s/.*: prev_pid $pid next_pid $partner prev_state //p" $tracing/trace | sort -u)" 0
}

insmod "$1/bridges.ko"
result "no tracepoint is on while nobody watches a marker" is_off
before=$(ticks)
modprobe marker_probe marker=kernel_sched_switch print=0
result "its tracepoint is on while somebody watches one" test "$(active)" = sched_switch
during=$(ticks)
rmmod marker_probe
result "and off when nobody does any more" is_off
after=$(ticks)
echo "instructions of two switches: $before before, $during with a probe, $after after it" >&2
result "then a switch has as many instructions as before" test "$after" = "$before"
result "which are fewer than with a probe" test "$before" -lt "$during"
result "a task that is preempted when it is about to sleep can run" preempted_can_run
