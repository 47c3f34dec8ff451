#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The context in a record: the state of interrupts and preemption, and the stack,
# must be those of the function that has the marker.

. "$(dirname "$0")/markers-lib.sh"

instance=$tracing/instances/context-$$
event=events/markers/sample_event
fork=events/markers/kernel_process_fork
fork_event=events/sched/sched_process_fork

clean_up() {
	exec 9>&-
	echo 0 >"$tracing/options/stacktrace"
	for left in $event $fork; do
		[ ! -f "$tracing/$left/trigger" ] ||
			echo '!stacktrace' >"$tracing/$left/trigger"
	done
	[ ! -d "$instance" ] || rmdir "$instance"
	unload_all
}

# The column of the latency format for each record of an event.
states_of() {
	sed -nE "s/.*\[[0-9]+\] ([^ ]+) +[0-9.]+: $1: .*/\1/p" "$instance/trace"
}

# Print "N of M pairs differ". A pair is two successive records of different events on
# a CPU in one task: they are from the same place.
compare_states() {
	sed -nE 's/^ *(.*-[0-9]+) +\[([0-9]+)\] ([^ ]+) +[0-9.]+: ([a-z_]+): .*/\2 \4 \3 \1/p' \
		"$instance/trace" | awk '
		{ task = $0; sub(/^[^ ]+ [^ ]+ [^ ]+ /, "", task) }
		name[$1] && name[$1] != $2 && owner[$1] == task {
			pairs++
			differ += state[$1] != $3
			if (state[$1] != $3 && !shown++)
				print "# " name[$1] " " state[$1] ", " $2 " " $3 >"/dev/stderr"
			name[$1] = ""
			next
		}
		{ name[$1] = $2; state[$1] = $3; owner[$1] = task }
		END { print differ + 0 " of " pairs + 0 " pairs differ" }'
}

same_state_as_trace_event() {
	needs_event markers/kernel_sched_switch || return
	mkdir "$instance" &&
	echo 1 >"$instance/events/sched/sched_switch/enable" &&
	echo 1 >"$instance/events/markers/kernel_sched_switch/enable" &&
	start_processes &&
	echo 0 >"$instance/tracing_on" &&
	said=$(compare_states) &&
	at_least "$(echo "$said" | sed 's/.*of \([0-9]*\) pairs.*/\1/')" 20 &&
	is "${said%% *}" 0
}

# Interrupts and preemption are enabled at the marker of the sample.
preemptible_place() {
	mkdir "$instance" && load marker_sample &&
	echo 1 >"$instance/$event/enable" && fire 5 &&
	is "$(states_of sample_event | wc -l)" 5 &&
	is "$(states_of sample_event | grep -c '^...\.')" 5
}

# The name of the first function in the first stack must begin like this.
stack_begins_at() {
	said=$(sed -nE '/^ => /{ s/^ => ([A-Za-z0-9_.]+).*/\1/p; q }' "$tracing/trace")
	case $said in
	"$1"*)	;;
	*)	comment "the stack begins at '$said', not $1"
		return 1 ;;
	esac
}

by_trigger() {
	echo >"$tracing/trace" && load marker_sample &&
	echo stacktrace >"$tracing/$event/trigger" && fire 1 &&
	stack_begins_at fire_
}

by_trigger_in_the_kernel() {
	needs_event "${fork#events/}" || return
	echo >"$tracing/trace" &&
	echo stacktrace >"$tracing/$fork/trigger" && (:) && (:) &&
	stack_begins_at kernel_clone
}

by_option() {
	echo >"$tracing/trace" && load marker_sample &&
	echo 1 >"$tracing/options/stacktrace" &&
	echo 1 >"$tracing/$event/enable" && fire 1 &&
	echo 0 >"$tracing/$event/enable" &&
	echo 0 >"$tracing/options/stacktrace" &&
	stack_begins_at fire_
}

# The function that an address is in.
function_at() {
	awk -v at="$1" '
		($1 "") <= at && ($1 "") > best { best = $1 ""; name = $3 }
		END { print name }' /proc/kallsyms
}

# What the program printed about the sample.
sampled() {
	sed -n "s/^$1: //p" "$dir/said"
}

# The size of a sample with its own size is a multiple of eight. Here it is that of
# a count, of an offset, and of the name of the task.
in_a_sample() {
	load marker_sample || return
	[ -f "$tracing/$event/id" ] || needs "no perf events" || return
	hold sample "$(id_of $event)" /sys/module/marker_sample/parameters/fire || return
	go_on &&
	is "$(sampled size)" 28 &&
	at_least "$(sampled calls)" 4 &&
	has "$(function_at "$(sampled ip)")" fire_
}

# The tracepoint has two probes, of which the first has the marker.
in_a_sample_beside_an_event() {
	needs_event "${fork#events/}" || return
	grep -q ' __tracepoint_leave$' /proc/kallsyms ||
		needs "no CONFIG_TRACEPOINT_TRAMPOLINE" || return
	[ -f "$tracing/$fork/id" ] || needs "no perf events" || return
	mkdir "$instance" &&
	hold sample "$(id_of $fork)" || return
	echo 1 >"$instance/$fork_event/enable" && go_on &&
	is "$(sampled size)" 20 &&
	at_least "$(sampled calls)" 3 &&
	has "$(function_at "$(sampled ip)")" kernel_clone
}

[ -d "$tracing/events" ] || skip_all "no trace events"
plan 7
same_state_as_trace_event; report "a record has the same state as a trace event's"
preemptible_place; report "a record of a preemptible place says so"
by_trigger; report "the stack of a trigger begins at the marker"
by_trigger_in_the_kernel; report "so does one in the kernel"
by_option; report "the stack by the option begins at the marker"
in_a_sample; report "a sample of perf has the place and the stack"
in_a_sample_beside_an_event; report "also beside an event of the tracepoint"
finish
