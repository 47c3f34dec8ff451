#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# perf, trace-cmd and bpftrace: each counts or records what the work does, and must miss
# nothing.
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

# On a busy machine it prints a slow call twice, or two events in a line; its summary is exact.
perf_trace() {
	perf trace -S -o trace.txt -e getsid,$fork $work
	agree forks "$(grep -ao 'sched_process_fork(' trace.txt | wc -l)" $times \
		"system calls" "$(awk '$1 == "getsid" { print $2 }' trace.txt)" $times
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

# A module with a tracepoint to which a program is attached cannot be unloaded.
raw_module() {
	modprobe trace-events-sample
	"$bin/bpf" raw_tp foo_bar sleep 5 &
	sleep 3
	if rmmod trace-events-sample; then return 1; fi
	wait $!
	rmmod trace-events-sample
	say "busy, then gone"
}

# counted EXPECTED KIND NAME: the runs of a BPF program of that kind.
counted() { agree runs "$("$bin/bpf" "$2" "$3" "$work")" "$1"; }

# It runs for each system call of the work.
counted_at_least() {
	local runs
	runs=$("$bin/bpf" "$2" "$3" "$work")
	say "$runs runs"
	((runs >= $1))
}

row "perf stat" "counts three tracepoints, two of them with filters" perf_stat
row "perf record, script" "records three tracepoints, reads them back" perf_record
row "perf trace" "traces a system call and a tracepoint" perf_trace
row "trace-cmd record" "records the sched events and a system call, reports" trace_cmd_record
row "bpftrace" "tracepoint, kprobe and kfunc at one place, and the scheduler" bpftrace_together
row "bpf(2)" "raw_tp of an event" counted $times raw_tp sched_process_fork
row "bpf(2)" "tp_btf of an event" counted $times tp_btf sched_process_fork
row "bpf(2)" "raw_tp of the system calls" counted_at_least $times raw_tp sys_enter
row "bpf(2)" "raw_tp of the system calls, a program that may sleep" counted_at_least $times raw_tp.s sys_enter
row "bpf(2)" "fentry" counted $times fentry wake_up_new_task
row "bpf(2)" "fexit" counted $times fexit wake_up_new_task
row "bpf(2)" "fsession: begin and end" counted $((2 * times)) fsession wake_up_new_task
row "bpf(2)" "kprobe.session: begin and end" counted $((2 * times)) kprobe.session wake_up_new_task
row "bpf(2)" "kprobe.multi of two functions" counted $((2 * times)) kprobe.multi \
	wake_up_new_task,__x64_sys_getsid
row "bpf(2)" "raw_tp of a module, which cannot be unloaded meanwhile" raw_module
