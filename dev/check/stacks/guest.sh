#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# guest.sh: where do stacks of a trace event begin? In kernel_clone(), which has the
# tracepoint sched_process_fork, whatever reads the stack and however many probes
# there are. Lines as of TAP.
set -u
tracefs=/sys/kernel/tracing
event=sched/sched_process_fork
cd /tmp || exit 1

result() { # NAME FUNCTION: the first one of the stack
	[[ $2 == kernel_clone ]] && echo "ok - $1" || echo "not ok - $1: begins in ${2:-nothing}"
}

work() { (:); (:); }

# The first line that has a function, without its offset. ftrace's begin with the
# probe, with and without the series.
first_function() {
	sed -nE "s/$1/\\1/p" | grep -v '^trace_event_raw_event_sched_process_fork' |
		head -n 1 | sed 's/[+].*//'
}

ftrace_stack() {
	echo 1 >$tracefs/options/stacktrace
	echo >$tracefs/trace
	echo 1 >$tracefs/events/$event/enable
	work
	echo 0 >$tracefs/events/$event/enable
	echo 0 >$tracefs/options/stacktrace
	first_function '^ => (.*)' <$tracefs/trace
}

trigger_stack() {
	echo >$tracefs/trace
	echo stacktrace >$tracefs/events/$event/trigger
	work
	echo '!stacktrace' >$tracefs/events/$event/trigger
	first_function '^ => (.*)' <$tracefs/trace
}

perf_record() { perf record -q -g -e "${event/\//:}" -o perf.data sh -c '(:)' >/dev/null 2>&1; }

perf_stack() {
	perf_record
	perf script -i perf.data -F ip,sym 2>/dev/null |
		first_function '^\s+[0-9a-f]+ (.*)'
}

# Without -g it is the instruction pointer of the sample.
perf_ip() {
	perf record -q -e "${event/\//:}" -o perf.data sh -c '(:)' >/dev/null 2>&1
	perf script -i perf.data -F ip,sym 2>/dev/null | first_function '^\s+[0-9a-f]+ (.*)'
}

bpf_stack() {
	timeout 60 bpftrace -e "tracepoint:${event/\//:} { @[kstack] = count(); exit(); }
		BEGIN { printf(\"ready\\n\"); }" >bpf.txt 2>&1 &
	until grep -q ready bpf.txt; do sleep 0.1; done
	until ! jobs %1 >/dev/null 2>&1; do work; sleep 0.1; done
	wait
	first_function '^\s+([a-z_0-9]+[+].*)' <bpf.txt
}

all() {
	result "$1: ftrace, option stacktrace" "$(ftrace_stack)"
	result "$1: ftrace, trigger stacktrace" "$(trigger_stack)"
	result "$1: perf record -g" "$(perf_stack)"
	result "$1: perf record" "$(perf_ip)"
	result "$1: bpf_get_stack" "$(bpf_stack)"
}

all "one probe"
mkdir $tracefs/instances/other
echo 1 >$tracefs/instances/other/events/$event/enable
all "several probes"
echo 0 >$tracefs/instances/other/events/$event/enable
rmdir $tracefs/instances/other
