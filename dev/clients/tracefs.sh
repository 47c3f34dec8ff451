#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What ftracetest does not do while tracepoints are on: kprobes at the same place.
. "$(dirname "$0")/common.sh"

new=events/sched/sched_wakeup_new
wakes_new=wake_up_new_task	# the function with the tracepoint sched_wakeup_new

# size_of FUNCTION: up to the next symbol.
size_of() {
	local begin end
	read -r begin end < <(sort /proc/kallsyms | awk -v name="$1" '
		begin && $1 != begin { print begin, $1; exit }
		$3 == name { begin = $1 }')
	say $((0x$end - 0x$begin))
}

# Probe each instruction on which the kernel allows a kprobe, which excludes those that
# it patches. The number depends on the compiler.
probe_everywhere() {
	local i size
	size=$(size_of $wakes_new)
	for ((i = 0; i < size; i++)); do
		add "p:clients/at_$i $wakes_new+$i" kprobe_events 2>/dev/null || true
	done
	probes=$(lines . $tracefs/kprobe_events)
	((probes > 10))
}

# switching FILE COMMAND...: enable and disable it while the command runs.
switching() {
	local pid n=0
	"${@:2}" &
	pid=$!
	while kill -0 $pid 2>/dev/null; do
		put $((++n & 1)) "$1/enable"
	done
	put 0 "$1/enable"
	wait $pid
	say "$n switches of $1"
	((n >= 2))
}

# beside SWITCHED ON REGEX: the probes or the tracepoint at the same place are on, and miss
# nothing while the other is switched.
beside() {
	probe_everywhere
	put 'comm == "working"' events/clients/filter
	put '' trace
	put 1 "$2/enable"
	switching "$1" $work
	put 0 "$2/enable"
	cat $tracefs/trace >beside.txt
	put '' kprobe_events
	agree "hits beside $probes probes" "$(lines "working.* $3: " beside.txt)" $times
}

kprobes_beside() { beside $new events/clients at_0; }
event_beside() { beside events/clients $new sched_wakeup_new; }

put 20000 buffer_size_kb
row "kprobe events" "all over a function whose tracepoint goes on and off" kprobes_beside
row "kprobe events" "all over it, on and off, with its tracepoint on" event_beside
