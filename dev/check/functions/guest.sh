#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# guest.sh DIR SECONDS: runs in the guest. Tracers of the torture module change their
# filters at random, while tracers of tracefs, modules, kprobes and process filters are
# added and removed.
set -u
. "$(dirname "$0")/../../guest/lib.sh"
dir=$1 seconds=$2
tracefs=/sys/kernel/tracing
cd $tracefs || exit 1

finished() { ((SECONDS >= seconds)); }

top_tracers() {
	echo function >current_tracer &&
	sleep "0.$((RANDOM % 9))" &&
	echo 'traced_[0-7] wake_up_process' >set_ftrace_filter &&
	echo $$ >set_ftrace_pid &&
	sleep "0.$((RANDOM % 9))" &&
	echo >set_ftrace_pid &&
	echo function_graph >current_tracer &&
	sleep "0.$((RANDOM % 9))"
	local code=$?
	echo >set_ftrace_pid
	echo >set_ftrace_filter && echo nop >current_tracer && return $code
}

an_instance() {
	mkdir instances/functions || return
	echo 'traced_*' >instances/functions/set_ftrace_filter &&
	echo function >instances/functions/current_tracer &&
	sleep "0.$((RANDOM % 9))"
	local code=$?
	rmdir instances/functions && return $code
}

a_kprobe() {
	echo "p:functions/probe traced_$((RANDOM % 8))" >kprobe_events &&
	echo 1 >events/functions/enable &&
	sleep "0.$((RANDOM % 5))"
	local code=$?
	echo 0 >events/functions/enable && echo >kprobe_events && return $code
}

a_module() {
	modprobe marker-sample &&
	sleep 0.1 &&
	rmmod marker_sample
}

# On a function that the function tracer traces at times.
a_direct_call() {
	modprobe ftrace-direct &&
	sleep "0.$((RANDOM % 5))" &&
	rmmod ftrace_direct
}

# The module checks each call, and counts.
change_at_random() {
	local code=0
	modprobe tracetorture kinds=func || return
	at_random finished top_tracers an_instance a_kprobe a_module a_direct_call || code=1
	rmmod tracetorture && dmesg | grep 'tracetorture: ' | tail -n 2 >&2
	((code == 0)) && dmesg | grep -q 'tracetorture: --- End of test: SUCCESS'
}

nothing_is_traced() { [[ -z $(<enabled_functions) ]]; }

# has_no TEXT FILE: within a minute.
has_no() {
	local _
	for _ in {1..300}; do
		grep -q "$1" "$2" || return 0
		sleep 0.2
	done
	return 1
}

is_freed() { has_no ' ftrace_set_[0-9]' /proc/kallsyms; }

# two_instances FILTER: two tracers with the same functions.
two_instances() {
	local name
	for name in one two; do
		mkdir instances/$name
		echo "$1" >instances/$name/set_ftrace_filter
		echo function >instances/$name/current_tracer
	done
}

# with_two_instances FILTER COMMAND: clean up after COMMAND.
with_two_instances() {
	local code=0
	two_instances "$1"
	"$2" || code=$?
	rmmod tracepoint_sample 2>/dev/null
	if [[ -d /sys/module/late ]]; then
		echo 1 >/sys/module/late/parameters/call
		rmmod late
	fi
	rmdir instances/one instances/two
	return $code
}

clear_traces() {
	echo >instances/one/trace
	echo >instances/two/trace
}

# traced INSTANCE FUNCTION: how often.
traced() { grep -c ": $2 <-" "instances/$1/trace"; }

# traced_by_both FUNCTION NUMBER
traced_by_both() {
	(($(traced one "$1") == $2 && $(traced two "$1") == $2)) && return
	echo "$1: $(traced one "$1") and $(traced two "$1") instead of $2" >&2
	return 1
}

has_set() {
	grep "^$1 .*ftrace_set_.*function_trace_call.*function_trace_call" \
		enabled_functions >/dev/null && return
	echo "$1 has no set: $(grep "^$1 " enabled_functions)" >&2
	return 1
}

fire() { echo 1 >/sys/module/tracepoint_sample/parameters/fire; }

# Filters for a module that is not loaded apply when it is loaded.
in_a_module() {
	local _ name
	for _ in 1 2; do
		for name in one two; do
			echo ':mod:tracepoint_sample' >instances/$name/set_ftrace_filter
		done
		modprobe tracepoint-sample
		clear_traces
		has_set fire_set || return
		fire
		traced_by_both fire_set 1 || return
		rmmod tracepoint_sample
	done
}

# while_unloaded COMMAND: a function of the module is called after COMMAND.
while_unloaded() {
	local pid code=0
	rmmod late &
	pid=$!
	has_no "^late_function " available_filter_functions && "$1" || code=1
	echo 1 >/sys/module/late/parameters/call
	wait "$pid" && return $code
}

late_is_traced() {
	local name
	insmod "$dir/late.ko" || return
	for name; do
		echo late_function >instances/"$name"/set_ftrace_filter || return
	done
}

# The set of a function is freed with the records of its module.
by_a_set() {
	late_is_traced one two && has_set late_function && while_unloaded is_freed
}

without_tracer() { rmdir instances/one; }

# A tracer that is removed has no functions of the module to patch.
by_one_tracer() {
	late_is_traced one && while_unloaded without_tracer && mkdir instances/one
}

result "a function of a module runs on while its set is freed" \
	with_two_instances vfs_open by_a_set
result "or its tracer" with_two_instances vfs_open by_one_tracer
result "functions of a module that several trace" with_two_instances vfs_open in_a_module
result "tracers of functions change at random for $seconds s" change_at_random
result "nothing is traced any more" nothing_is_traced
result "the code of sets is freed" is_freed
