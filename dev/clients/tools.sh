#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# perf, trace-cmd, bpftrace, SystemTap and LTTng: each counts or records what the work does,
# and must miss nothing.
. "$(dirname "$0")/../guest/lib.sh"
. "$(dirname "$0")/common.sh"

fork=sched:sched_process_fork switch=sched:sched_switch call=syscalls:sys_enter_getsid
forking='parent_comm == "working"' sleeping='prev_comm == "working" && prev_state == 1'

perf_stat() {
	perf stat -a -x, -o stat.csv -e $fork --filter "$forking" \
		-e $switch --filter "$sleeping" -e $call $work
	of() { awk -F, -v event="$1" '$3 == event { print $1 }' stat.csv; }
	agree forks "$(of $fork)" $times sleeps "$(of $switch)" "$(</tmp/sleeps)" \
		"system calls" "$(of $call)" $times
}

perf_record() {
	perf record -q -a -m 1024 -o perf.data -e $fork -e $switch -e $call $work
	perf script -i perf.data >perf.txt
	complete perf.txt
}

trace_cmd_record() {
	trace-cmd record -q -o trace.dat -b 20000 -e sched -e $call $work
	trace-cmd report trace.dat >report.txt
	complete report.txt
}

# The tracepoint is in the function that has the kprobe and the kfunc.
bpftrace_together() {
	bpftrace -c "/bin/sh $work" -e '
		tracepoint:sched:sched_wakeup_new /comm == "working"/ { @tracepoint = count(); }
		kprobe:wake_up_new_task /comm == "working"/ { @kprobe = count(); }
		kfunc:wake_up_new_task /comm == "working"/ { @kfunc = count(); }
		tracepoint:sched:sched_switch /comm == "working" && args->prev_state == 1/ { @sleeps = count(); }
	' >bpftrace.txt
	of() { sed -n "s/^@$1: //p" bpftrace.txt; }
	agree tracepoint "$(of tracepoint)" $times kprobe "$(of kprobe)" $times \
		kfunc "$(of kfunc)" $times sleeps "$(of sleeps)" "$(</tmp/sleeps)"
}

systemtap() {
	local pid modules=$out/tracers
	[[ $flavour == guest ]] || modules+=-$flavour
	staprun "$modules/tools.ko" >stap.txt & pid=$!
	until_said ready stap.txt
	$work
	kill -INT $pid
	wait $pid
	agree forks "$(sed -n 's/^forks: //p' stap.txt)" $times
}

lttng_record() {
	lttng-sessiond -d
	lttng create work --output="$PWD/lttng"
	lttng enable-event -k sched_process_fork
	lttng start
	$work
	lttng stop
	babeltrace2 lttng >lttng.txt
	lttng destroy
	kill "$(</run/lttng/lttng-sessiond.pid)"
	agree forks "$(lines 'sched_process_fork: .*parent_comm = "working"' lttng.txt)" $times
}

row "perf stat" "counts three tracepoints, two of them with filters" perf_stat
row "perf record, script" "records three tracepoints, reads them back" perf_record
row "trace-cmd record" "records the sched events and a system call, reports" trace_cmd_record
row "bpftrace" "tracepoint, kprobe and kfunc at one place, and the scheduler" bpftrace_together
[[ $(uname -m) == x86_64 ]] || exit 0	# the following ones are not in the root of others
row "SystemTap" "counts a tracepoint" systemtap
row "LTTng" "records an event" lttng_record
