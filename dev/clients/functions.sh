#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Several function tracers on one function: each must record all calls of the work,
# with the same stacks as without other tracers. A row passes only if the expected
# number of tracers traced the function while the work ran.
. "$(dirname "$0")/common.sh"

called=__x64_sys_getsid		# the work calls it $times times; nothing else does
wakes_new=wake_up_new_task	# the same; other processes call it too
beside=instances/beside
again=instances/again
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
	local dir
	rm -f ./*.txt ./*.data ./*.dat
	row "$@"
	tail -n 1 "$RESULTS/rows.tsv" | grep -qP '\tPASS ' ||
		tar -czf "$RESULTS/$rows.tar.gz" ./*.txt
	for dir in $beside $again; do
		[[ ! -d $tracefs/$dir ]] || rmdir "$tracefs/$dir"
	done
	put nop current_tracer
	put 0 events/enable
	put '' kprobe_events
	put '' set_ftrace_filter
	put '' trace
	put 1 tracing_on
}

# trace_beside INSTANCE FUNCTION: the function tracer, in an instance of its own.
trace_beside() {
	mkdir "$tracefs/$1"
	put "$2" "$1/set_ftrace_filter"
	put function "$1/current_tracer"
}

# end_beside INSTANCE FILE: save its trace to FILE, and remove the instance.
end_beside() {
	put 0 "$1/tracing_on"
	cat "$tracefs/$1/trace" >"$2"
	rmdir "$tracefs/$1"
}

# calls FUNCTION FILE: in the format of the function tracer, perf and trace-cmd.
calls() { lines "working.* (function: +)?$1( <--? ?.*|)$" "$2"; }

# with_another FUNCTION COMMAND...: run it while the function tracer traces the
# function too, with its trace in beside.txt.
with_another() {
	trace_beside $beside "$1"
	"${@:2}"
	end_beside $beside beside.txt
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

perf_probe() {
	perf probe -q -a "entry=$called"
	perf probe -q -a "leave=$called%return"
	with_another $called perf record -q -a -m 1024 -o perf.data -e probe:entry -e probe:leave__return $observed
	perf script -i perf.data >perf.txt
	perf probe -q -d "probe:*"
	agree calls "$(lines '^ *working .*probe:entry:' perf.txt)" $times \
		returns "$(lines '^ *working .*probe:leave' perf.txt)" $times \
		beside "$(calls $called beside.txt)" $times tracers "$(tracers $called)" 2
}

trace_cmd_function() {
	with_another $called trace-cmd record -q -o trace.dat -b 20000 -p function -l $called $observed
	trace-cmd report trace.dat >report.txt
	agree calls "$(calls $called report.txt)" $times \
		beside "$(calls $called beside.txt)" $times tracers "$(tracers $called)" 2
}

# The second instance also traces another function.
two_instances() {
	trace_beside $beside $called
	trace_beside $again $called
	add $wakes_new $again/set_ftrace_filter
	$observed
	end_beside $again again.txt
	end_beside $beside beside.txt
	agree "calls in one" "$(calls $called beside.txt)" $times \
		"in the other" "$(calls $called again.txt)" $times \
		forks "$(calls $wakes_new again.txt)" $times tracers "$(tracers $called)" 2
}

# Only one of them prints the argument of the function.
with_arguments() {
	trace_beside $beside $wakes_new
	trace_beside $again $wakes_new
	put 1 $beside/options/func-args
	$observed
	end_beside $again again.txt
	end_beside $beside beside.txt
	agree arguments "$(lines "working.*: $wakes_new\\(p=0x[0-9a-f]+\\) <-" beside.txt)" $times \
		"in the other" "$(calls $wakes_new again.txt)" $times tracers "$(tracers $wakes_new)" 2
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

# Stacks of the function that wakes a new task: each command writes them to stacks.txt.

# recorded_stacks EVENT...: by perf.
recorded_stacks() {
	perf record -q -a -g -m 1024 -o perf.data -e "$@" $observed
	perf script -i perf.data >stacks.txt
}

perf_kprobe_stacks() {
	put "p:clients/entry $wakes_new" kprobe_events
	recorded_stacks clients:entry
	put '' kprobe_events
}

bpftrace_stacks() {
	bpftrace -c "/bin/sh $observed" -e "kfunc:$wakes_new /comm == \"working\"/ { @[kstack] = count(); }" >stacks.txt
}

# An event within the function, without tracers and with two; one of these replaces
# the return address on the stack.
perf_event_stacks() { recorded_stacks sched:sched_wakeup_new; }

# beside_graph FUNCTION COMMAND...: as with_another, with the graph tracer as well.
beside_graph() {
	put "$1" set_ftrace_filter
	put function_graph current_tracer
	with_another "$@"
}

# callers FILE: print each different stack of the work, from the caller of the function
# on, and how often it occurs. FILE is in the format of perf or of bpftrace.
callers() {
	awk '
	function end_stack(n) {
		if (stack) times[stack] += n
		stack = begun = ""
	}
	function frame(name) {
		sub(/\+.*|_after_hwframe.*/, "", name)
		if (name == "kernel_clone") begun = 1
		if (begun) stack = stack " " name
		if (name == "entry_SYSCALL_64") begun = ""
	}
	/^@\[/ { ours = 1; next }
	/^\]: / { end_stack($2); next }
	ours && /^ +[a-zA-Z_]/ { frame($1); next }
	ours && /^\t *[0-9a-f]+ / { frame($2); next }
	/^[^\t]/ { end_stack(1); ours = /^working / }
	END { end_stack(1); for (stack in times) print times[stack] stack }' "$1" | sort
}

# had_tracers NUMBER: of the function; without tracers it is not in the list.
had_tracers() {
	local had
	had=$(tracers $wakes_new)
	((${had:-0} == $1)) || { say "${had:-0} tracers, not $1"; return 1; }
}

# same_stacks TRACERS ALONE BESIDE COMMAND...: it gets the same stacks alone and with
# BESIDE, where the function has ALONE and TRACERS tracers.
same_stacks() {
	local chain='kernel_clone __do_sys_clone do_syscall_64 entry_SYSCALL_64'
	"${@:4}"
	callers stacks.txt | tee alone.txt
	had_tracers "$2"
	"$3" $wakes_new "${@:4}"
	callers stacks.txt | tee both.txt
	had_tracers "$1"
	diff alone.txt both.txt
	agree "stacks of ${chain// / < }" "$(sed -n "s/ $chain\$//p" both.txt)" $times
}

# The ring buffer is small until something traces; a trigger alone does not expand it.
put 4096 buffer_size_kb

clean_row "perf ftrace" "function, beside the function tracer" perf_function
clean_row "perf record" "ftrace:function, beside the function tracer" perf_function_event
clean_row "perf probe, record" "entry and return, beside the function tracer" perf_probe
clean_row "trace-cmd record" "function, beside the function tracer" trace_cmd_function
clean_row tracefs "function tracer in two instances" two_instances
clean_row tracefs "function tracer with arguments, beside one without" with_arguments
clean_row bpftrace "k(ret)probe, k(ret)func, beside both function tracers" bpftrace_all

clean_row "perf record -g" "stacks: kprobe" same_stacks 2 1 with_another perf_kprobe_stacks
clean_row "perf record -g" "stacks: an event within function and function_graph" \
	same_stacks 2 0 beside_graph perf_event_stacks
clean_row bpftrace "stacks: kfunc" same_stacks 2 1 with_another bpftrace_stacks
