#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Several function tracers on one function: each must record all calls of the work. A
# row passes only if the expected number of tracers traced the function while the work ran.
. "$(dirname "$0")/common.sh"

called=__x64_sys_getsid		# the work calls it $times times; nothing else does
wakes_new=wake_up_new_task	# the same; other processes call it too
beside=instances/beside
observed=/tmp/observed		# records the traced functions, runs the work

# This must not fork: traces would show the fork under the later name of this process,
# that of the work.
cat >$observed <<END
#!/bin/sh
while read -r line; do
	echo "\$line"
done <$tracefs/enabled_functions >/tmp/enabled.txt
exec $work
END
chmod +x $observed

# tracers FUNCTION: how many tracers it had.
tracers() { sed -n "s/^$1 (\([0-9]*\)).*/\1/p" /tmp/enabled.txt; }

# clean_row CLIENT WHAT COMMAND...: a row, and then a cleanup for the next one. When
# the row fails, its text files are kept.
clean_row() {
	rm -f ./*.txt ./*.data ./*.dat
	row "$@"
	tail -n 1 "$RESULTS/rows.tsv" | grep -qP '\tPASS ' ||
		tar -czf "$RESULTS/$rows.tar.gz" ./*.txt
	[[ ! -d $tracefs/$beside ]] || rmdir $tracefs/$beside
	put nop current_tracer
	put 0 events/enable
	put '' set_ftrace_filter
	put '' trace
	put 1 tracing_on
}

# calls FUNCTION FILE: in the format of the function tracer, perf and trace-cmd.
calls() { lines "working.* (function: +)?$1( <--? ?.*|)$" "$2"; }

# with_another FUNCTION COMMAND...: run it while the function tracer traces the
# function too, with its trace in beside.txt.
with_another() {
	mkdir $tracefs/$beside
	put "$1" $beside/set_ftrace_filter
	put function $beside/current_tracer
	"${@:2}"
	put 0 $beside/tracing_on
	cat $tracefs/$beside/trace >beside.txt
	rmdir $tracefs/$beside
}

# perf reads the first calls before the kernel has recorded the name of the task.
perf_function() {
	with_another $called perf ftrace trace -t function -T $called --inherit $observed >perf.txt
	agree calls "$(lines ": $called <-" perf.txt)" $times \
		beside "$(calls $called beside.txt)" $times tracers "$(tracers $called)" 2
}

# An event of perf has its own tracer on each CPU.
perf_function_event() {
	with_another $called perf record -q -a -m 1024 -o perf.data -e ftrace:function \
		--filter "ip == $called" $observed
	perf script -i perf.data >perf.txt
	agree calls "$(lines '^ *working .*ftrace:function:' perf.txt)" $times \
		beside "$(calls $called beside.txt)" $times \
		tracers "$(tracers $called)" $(($(nproc) + 1))
}

trace_cmd_function() {
	with_another $called trace-cmd record -q -o trace.dat -b 20000 -p function -l $called $observed
	trace-cmd report trace.dat >report.txt
	agree calls "$(calls $called report.txt)" $times \
		beside "$(calls $called beside.txt)" $times tracers "$(tracers $called)" 2
}

of() { sed -n "s/^@$1: //p" bpftrace.txt; }

# kprobes, and direct calls of BPF from the function, beside both function tracers.
bpftrace_all() {
	put $wakes_new set_ftrace_filter
	put function_graph current_tracer
	with_another $wakes_new bpftrace -c "/bin/sh $observed" -e '
		kprobe:wake_up_new_task /comm == "working"/ { @kprobe = count(); }
		kretprobe:wake_up_new_task /comm == "working"/ { @kretprobe = count(); }
		kfunc:wake_up_new_task /comm == "working"/ { @kfunc = count(); }
		kretfunc:wake_up_new_task /comm == "working"/ { @kretfunc = count(); }
	' >bpftrace.txt
	agree kprobe "$(of kprobe)" $times kretprobe "$(of kretprobe)" $times \
		kfunc "$(of kfunc)" $times kretfunc "$(of kretfunc)" $times \
		beside "$(calls $wakes_new beside.txt)" $times tracers "$(tracers $wakes_new)" 3
}

# Stacks of an event in that function: one of its tracers replaces the return address.
stacks_with_graph() {
	put $wakes_new set_ftrace_filter
	put function_graph current_tracer
	with_another $wakes_new perf record -q -a -g -m 1024 -o perf.data -e sched:sched_wakeup_new $observed
	perf script -i perf.data -F comm,ip,sym >perf.txt
	agree stacks "$(awk -v RS= '/^working/ && / kernel_clone\n.* __do_sys_clone\n.* do_syscall_64\n.* entry_SYSCALL_64/' perf.txt |
		grep -c '^working')" $times tracers "$(tracers $wakes_new)" 2
}

# The ring buffer is small until something traces; a trigger alone does not expand it.
put 4096 buffer_size_kb

clean_row "perf ftrace" "function, beside the function tracer" perf_function
clean_row "perf record" "ftrace:function, beside the function tracer" perf_function_event
clean_row "trace-cmd record" "function, beside the function tracer" trace_cmd_function
clean_row bpftrace "k(ret)probe, k(ret)func, beside both function tracers" bpftrace_all
clean_row "perf record -g" "stacks within function and function_graph" stacks_with_graph
