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
	for left in $event $fork $fork_event; do
		[ -f "$tracing/$left/trigger" ] || continue
		grep -v '^#' "$tracing/$left/trigger" | sed 's/^/!/; s/ \[.*//' |
			while read -r trigger; do echo "$trigger" >"$tracing/$left/trigger"; done
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

# Without trampolines, what a marker calls is in the stack, and what skips the function that
# records may have skipped it.
has_trampolines() { grep -q ' __tracepoint_leave$' /proc/kallsyms; }
if has_trampolines; then
	between=- begin='ftrace_record_marker* '
else
	between='ftrace_record_marker.*|marker_call|tracepoint_walk_[1-6]' begin=
fi

# The first stack begins with the function that records, as that of a trace event does, and
# a function whose name begins like this. The probe that has a marker which a tracepoint
# feeds ends by a jump, but not in a kernel with KCSAN.
stack_begins_at() {
	said=$(awk -v between="^(__tracer_.*|$between)\$" '
		/^ => / && $2 !~ between { printf "%s ", $2; if (++n == 2) exit }' \
		"$tracing/trace")
	case $said in
	$begin"$1"*)	;;
	*)	comment "the stack begins with '$said', not $begin$1"
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

# histogram EVENT: its first stack begins with the function that has the marker or the
# tracepoint.
histogram() {
	needs_histograms || return
	has_trampolines || needs "no trampolines" || return
	echo 'hist:keys=common_stacktrace' >"$tracing/$1/trigger" &&
	$2 && (:) || return
	said=$(sed -n '/^{ common_stacktrace/ { n; /^ *__tracer_/ n; s/^ *//p; q }' \
		"$tracing/$1/hist")
	case $said in
	"$3"*)	;;
	*)	comment "the stack begins with '$said', not $3"
		return 1 ;;
	esac
}

by_histogram() {
	load marker_sample && histogram $event "fire 1" fire_
}

by_histogram_in_the_kernel() {
	needs_event "${fork#events/}" || return
	histogram $fork true kernel_clone && histogram $fork_event true kernel_clone
}

# What the program printed about the sample.
sampled() {
	sed -n "s/^$1: //p" "$dir/said"
}

# Only the module's own code has markers of the module. The numbers of the shell do not
# have enough bits for addresses.
is_in_the_sample() {
	text=$(cat /sys/module/marker_sample/sections/.text 2>/dev/null) ||
		needs "no address of a module" || return
	offset=$((0x${1#????} - 0x${text#0x????}))
	at_least "$offset" 0 &&
	at_least "$(cat /sys/module/marker_sample/coresize)" "$offset"
}

# is_in ADDRESS FUNCTION
is_in() {
	awk -v at="$1" -v name="$2" '
		from != "" && ($1 "") != from { exit }
		$3 == name { from = $1 "" }
		END { exit !(from != "" && from <= at && at < ($1 "")) }' /proc/kallsyms
	explain "$1 is not in $2"
}

# A record of perf and its size, of 4 bytes, have a multiple of eight together. This
# record has a head, a count, an offset, and the name of the task with its NUL.
in_a_sample() {
	load marker_sample || return
	[ -f "$tracing/$event/id" ] || needs "no perf events" || return
	hold sample "$(id_of $event)" /sys/module/marker_sample/parameters/fire || return
	go_on &&
	is "$(sampled size)" 28 &&
	at_least "$(sampled calls)" 4 || return
	has_trampolines || needs "no CONFIG_TRACEPOINT_TRAMPOLINE" || return
	is_in_the_sample "$(sampled ip)"
}

# The tracepoint has two probes, of which the first has the marker.
in_a_sample_beside_an_event() {
	needs_event "${fork#events/}" || return
	[ -f "$tracing/$fork/id" ] || needs "no perf events" || return
	mkdir "$instance" &&
	hold sample "$(id_of $fork)" || return
	echo 1 >"$instance/$fork_event/enable" && go_on &&
	is "$(sampled size)" 20 &&
	at_least "$(sampled calls)" 3 || return
	is_in "$(sampled ip)" kernel_clone && return
	! has_trampolines || return
	needs "no CONFIG_TRACEPOINT_TRAMPOLINE"
}

[ -d "$tracing/events" ] || skip_all "no trace events"
plan 9
same_state_as_trace_event; report "a record has the same state as a trace event's"
preemptible_place; report "a record of a preemptible place says so"
by_trigger; report "the stack of a trigger begins at the marker"
by_trigger_in_the_kernel; report "so does one in the kernel"
by_option; report "the stack by the option begins at the marker"
by_histogram; report "the stack of a histogram begins at the marker"
by_histogram_in_the_kernel; report "so does one in the kernel, and that of a trace event"
in_a_sample; report "a sample of perf has the place and the stack"
in_a_sample_beside_an_event; report "also beside an event of the tracepoint"
finish
