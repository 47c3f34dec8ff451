#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What ftracetest does not do while tracepoints are on: kprobes and function tracers at the
# same place, and modules that have events or patch functions.
. "$(dirname "$0")/common.sh"

fork=events/sched/sched_process_fork
new=events/sched/sched_wakeup_new
wakes_new=wake_up_new_task	# the function with the tracepoint sched_wakeup_new

# trace_of FILE...: run the work while these are enabled; the trace is in trace.txt.
trace_of() {
	local file
	put '' trace
	for file; do put 1 "$file/enable"; done
	$work
	for file; do put 0 "$file/enable"; done
	cat $tracefs/trace >trace.txt
}

events() {
	trace_of $fork events/sched/sched_switch events/syscalls/sys_enter_getsid
	complete trace.txt
}

all_events() {
	local i after
	for i in 1 2 3; do
		put 1 events/enable
		grep -qx 1 $tracefs/events/enable
		$work
		put 0 events/enable
		grep -qx 0 $tracefs/events/enable
		(($(lines working $tracefs/trace) > times))
		put '' trace
		$work
		after=$(lines '^[^#]' $tracefs/trace)
		((after == 0)) || { say "$after lines while all are off"; return 1; }
	done
	say "all on, all off, $i times"
}

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

# livepatch_is N: wait for the transition, which ends when every process has left the
# old functions. Then the patch is enabled (1) or not (0).
livepatch_is() {
	local dir=/sys/kernel/livepatch/livepatch_sample
	until [[ $(cat $dir/transition 2>/dev/null || echo 0) == 0 ]]; do sleep 0.1; done
	[[ $(cat $dir/enabled 2>/dev/null || echo 0) == "$1" ]]
	[[ $(grep -c 'has been live patched' /proc/cmdline) == "$1" ]]
}

livepatch() {
	livepatch_is 0
	put 1 events/sched/enable
	modprobe livepatch-sample
	livepatch_is 1
	trace_of $fork
	put 1 events/sched/enable
	echo 0 >/sys/kernel/livepatch/livepatch_sample/enabled
	livepatch_is 0
	put 0 events/sched/enable
	rmmod livepatch-sample
	agree forks "$(lines 'sched_process_fork: comm=working' trace.txt)" $times
}

module_events() {
	local i dir=$tracefs/events/sample-trace
	for i in 1 2 3; do
		[[ ! -e $dir ]]
		modprobe trace-events-sample
		put '' trace
		put 1 events/sample-trace/enable
		sleep 3
		put 0 events/sample-trace/enable
		cat $tracefs/trace >module.txt
		rmmod trace-events-sample
		(($(lines ' foo_bar: ' module.txt)))
		(($(lines ' foo_bar_with_fn: ' module.txt)))
	done
	[[ ! -e $dir ]]
	say "came, traced and went, $i times"
}

function_tracer() {
	local tracer=$1
	put $wakes_new set_ftrace_filter
	put 1 options/funcgraph-proc || true
	put '' trace
	put "$tracer" current_tracer
	put 1 $new/enable
	$work
	cat $tracefs/trace >function.txt
	put 0 $new/enable
	put nop current_tracer
	put '' set_ftrace_filter
	agree calls "$(lines "working.* $wakes_new(\(\)| <-)" function.txt)" $times \
		events "$(lines 'working.* sched_wakeup_new: ' function.txt)" $times
}

put 20000 buffer_size_kb
row "events" "fork, sched_switch and a system call by tracefs" events
row "events/enable" "all events on and off" all_events
row "kprobe events" "all over a function whose tracepoint goes on and off" kprobes_beside
row "kprobe events" "all over it, on and off, with its tracepoint on" event_beside
row "livepatch" "sample patch, on and off, with sched events on" livepatch
row "events of a module" "come and go with it" module_events
row "function tracer" "on a function, with its tracepoint on" function_tracer function
row "function_graph tracer" "on a function, with its tracepoint on" function_tracer function_graph
