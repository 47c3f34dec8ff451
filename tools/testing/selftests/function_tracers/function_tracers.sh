#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Several function tracers, each with its own filter: the function tracer, the
# profiler, and those of the module of samples/ftrace.
# shellcheck disable=SC2317 # tests are called by name

. "$(dirname "$0")/../kselftest/tracing.sh"

sample=function_tracers
option=options/function-tracers

find_tracefs
cd $tracing || exit
[ -e "$option" ] || skip_all "no trace option function-tracers"
[ -e function_profile_enabled ] || skip_all "no profiler"
grep -qw function_graph available_tracers || skip_all "no function graph tracer"
check_modules $sample

# shows FILE LINE...: does the file have exactly these lines?
shows() {
	file=$1
	shift
	is "$(cat "$file")" "$(if [ $# -gt 0 ]; then printf '%s\n' "$@"; fi)"
	explain "$file"
}

# functions FILE: print the traced functions in a trace of the function tracer.
functions() {
	sed -n '/^#/d; s/.*: \([^ ]*\) <-.*/\1/p' "$1" | sort -u
}

profiled() {
	awk '$1 !~ /^(Function|-+)$/ { print $1 }' trace_stat/function* | sort -u
}

traced_and_profiled() {
	[ "$(functions trace) $(profiled)" = "$1 $2" ] || {
		comment "traced '$(functions trace)', profiled '$(profiled)'"
		return 1
	}
}

# Trace and profile one command.
work() {
	if [ "$(cat function_profile_enabled)" = 1 ]; then
		echo 0 >function_profile_enabled
		echo 1 >function_profile_enabled
	fi
	echo >trace
	echo 1 >tracing_on
	cat /proc/self/maps >/dev/null
	echo 0 >tracing_on	# reading a trace would make it longer
}

# It traces all functions until there is a filter. That takes less time without records.
start_function_tracer() {
	echo 0 >tracing_on
	echo function >current_tracer
}

clear_filters() {
	echo >set_ftrace_filter
	echo >set_ftrace_notrace
}

clean_up() {
	{
		exec 3>&- 4<&-
		echo >set_ftrace_pid
		modprobe -r "$sample"
		echo nop >current_tracer
		echo 0 >function_profile_enabled
		clear_filters
		echo 1 >"$option"
		echo 1 >function_profile_enabled
		clear_filters
		echo 0 >function_profile_enabled
		echo 0 >"$option"
		clear_filters
		echo >trace
		echo 1 >tracing_on
	} 2>/dev/null
}

# The example of the first proposal, line by line, with existing functions.
session() {
	echo 1 >"$option"
	start_function_tracer
	shows function_tracers '[trace]' || return
	shows set_ftrace_filter '#### all functions enabled ####' || return
	echo 1 >function_profile_enabled
	shows function_tracers 'trace' '[trace_profile]' || return
	shows set_ftrace_filter \
		'[               trace] #### all functions enabled ####' \
		'[       trace_profile] #### all functions enabled ####' || return
	echo vfs_read >set_ftrace_filter
	shows set_ftrace_filter \
		'[               trace] #### all functions enabled ####' \
		'[       trace_profile] vfs_read' || return
	echo trace >function_tracers
	shows function_tracers '[trace]' 'trace_profile' || return
	echo vfs_open >set_ftrace_filter
	shows set_ftrace_filter \
		'[               trace] vfs_open' \
		'[       trace_profile] vfs_read'
}

each_traces_its_own() {
	session || return
	work
	traced_and_profiled vfs_open vfs_read
}

functions_that_are_not_traced() {
	echo 1 >"$option"
	start_function_tracer
	echo 1 >function_profile_enabled
	echo 'vfs_*' >set_ftrace_filter
	echo vfs_read >set_ftrace_notrace
	shows set_ftrace_notrace \
		'[               trace] #### no functions disabled ####' \
		'[       trace_profile] vfs_read' || return
	work
	profiled | grep -qx vfs_open && ! profiled | grep -qx vfs_read
}

# says_why REASON: the last error in the log.
says_why() {
	is "$(sed -n 's/.* function_tracers: error: //p' error_log | tail -n 1)" "$1"
}

# With the option off, all tracers share one filter, and no default can be chosen.
without_the_option() {
	start_function_tracer
	echo 1 >function_profile_enabled
	echo vfs_read >set_ftrace_filter
	fails_with "Invalid argument" write_line function_tracers trace || return
	says_why 'The trace option is off: echo 1 > options/function-tracers' || return
	shows function_tracers 'trace' '[trace_profile]' || return
	shows set_ftrace_filter vfs_read || return
	work
	traced_and_profiled vfs_read vfs_read
}

the_default_goes() {
	echo 1 >"$option"
	start_function_tracer
	modprobe "$sample" || return
	echo 1 >function_profile_enabled
	shows function_tracers trace sample_calls sample_callers '[trace_profile]' || return
	modprobe -r "$sample" || return
	shows function_tracers trace '[trace_profile]' || return
	echo vfs_read >set_ftrace_filter
	echo 0 >function_profile_enabled
	shows function_tracers '[trace]' || return
	shows set_ftrace_filter '#### all functions enabled ####' || return
	echo nop >current_tracer
	shows function_tracers || return
	shows set_ftrace_filter '#### all functions enabled ####' || return
	echo vfs_open >set_ftrace_filter
	shows set_ftrace_filter vfs_open
}

a_wrong_name() {
	echo 1 >"$option"
	start_function_tracer
	for wrong in nobody '' "$(printf '%0100d' 1)"; do
		echo >error_log
		fails_with "Invalid argument" write_line function_tracers "$wrong" || return
		says_why 'No function tracer has this name' || return
	done
	shows function_tracers '[trace]'
}

a_filter_that_matches_nothing() {
	echo 1 >"$option"
	modprobe "$sample" || return
	fails sh -c 'echo nosuchfunction >>set_ftrace_filter' || return
	fails_with "No such device" write_line set_ftrace_filter vfs_read:traceoff || return
	fails sh -c 'echo note_call >>set_ftrace_filter' || return
	shows set_ftrace_filter '[        sample_calls] vfs_open' \
		'[      sample_callers] vfs_open'
}

the_option_while_the_profiler_runs() {
	echo 1 >function_profile_enabled
	fails_with "busy" write_line "$option" 1 || return
	shows "$option" 0 || return
	echo 0 >function_profile_enabled
	echo 1 >"$option" && shows "$option" 1
}

tracers_of_a_module() {
	echo 1 >"$option"
	modprobe "$sample" || return
	shows function_tracers 'sample_calls' '[sample_callers]' || return
	echo vfs_read >set_ftrace_filter
	echo sample_calls >function_tracers
	echo vfs_write >>set_ftrace_filter
	shows set_ftrace_filter '[        sample_calls] vfs_open' \
		'[        sample_calls] vfs_write' \
		'[      sample_callers] vfs_read' || return
	work
	grep -q ': vfs_open$' instances/sample_calls/trace || return
	grep -q ': vfs_read called by ' instances/sample_callers/trace || return
	fails grep vfs_read instances/sample_calls/trace || return
	modprobe -r "$sample" || return
	shows function_tracers
}

# Many functions, and a tracer without a filter after them.
many_functions() {
	echo 1 >"$option"
	start_function_tracer
	echo 'vfs_*' >set_ftrace_filter
	wanted=$(cat set_ftrace_filter)
	at_least "$(echo "$wanted" | wc -l)" 20 || return
	echo 1 >function_profile_enabled
	is "$(cat set_ftrace_filter)" "$(echo "$wanted" | sed 's/^/[               trace] /')
[       trace_profile] #### all functions enabled ####"
}

# filter_of NAME
filter_of() {
	sed -n "s/^\[ *$1\] //p" set_ftrace_filter
}

# Both tracers get the same filter.
a_pattern_in_the_sample() {
	echo 1 >"$option"
	modprobe "$sample" 'function=*fs_read*' || return
	at_least "$(filter_of sample_calls | wc -l)" 2 &&
	is "$(filter_of sample_callers)" "$(filter_of sample_calls)"
}

# A file that is open for reading or writing must not access a tracer that was
# unregistered.
files_outlive_the_module() {
	echo 1 >"$option"
	modprobe "$sample" || return
	exec 3>>set_ftrace_filter
	exec 4<set_ftrace_filter
	modprobe -r "$sample" || return
	echo vfs_read >&3
	exec 3>&-
	is "$(cat <&4)" '' || return
	exec 4<&-
	shows set_ftrace_filter '#### all functions enabled ####'
}

# A file that was opened before the profiler was restarted must not change its new
# filter.
a_file_outlives_the_profiler() {
	echo 1 >"$option"
	echo 1 >function_profile_enabled
	exec 3>>set_ftrace_filter
	echo vfs_read >&3
	echo 0 >function_profile_enabled
	echo 0 >"$option"
	echo 1 >function_profile_enabled
	exec 3>&-
	shows set_ftrace_filter '#### all functions enabled ####'
}

a_function_for_all() {
	echo 1 >"$option"
	modprobe "$sample" || return
	start_function_tracer
	echo vfs_open >set_ftrace_filter
	work
	shows set_ftrace_filter '[        sample_calls] vfs_open' \
		'[      sample_callers] vfs_open' '[               trace] vfs_open' || return
	[ "$(functions trace)" = vfs_open ] &&
		grep -q ': vfs_open$' instances/sample_calls/trace &&
		grep -q 'vfs_open called' instances/sample_callers/trace
}

# A PID filter for the function tracer alone. ftrace then calls it through another
# function, also where a function has several tracers.
a_process_for_one() {
	a_function_for_all || return
	echo 1 >set_ftrace_pid
	echo >instances/sample_calls/trace
	work
	echo >set_ftrace_pid
	[ -z "$(functions trace)" ] &&
		grep -q ': vfs_open$' instances/sample_calls/trace || return
	work
	[ "$(functions trace)" = vfs_open ]
}

# If the function has a set, the call of each of its tracers is shown.
the_list_of_functions() {
	a_function_for_all || return
	calls=$(sed -n 's/^vfs_open (3) //p' enabled_functions)
	[ "$calls" ] || return
	wanted=0
	! grep -q ' ftrace_set_make_text$' /proc/kallsyms || wanted=3
	is "$(echo "$calls" | grep -o -e '->' -e '	ops: ' | wc -l)" "$wanted"
	explain "calls: $calls"
}

# The code of a set may be gone when its stack is read: it is recorded as a trampoline. Where
# sets have no code of their own, a function of the kernel is in the stack.
stacks_without_the_code() {
	a_function_for_all || return
	echo 1 >options/func_stack_trace
	work
	echo 0 >options/func_stack_trace
	grep -q '^ => ' trace || return
	! grep -q ' ftrace_set_call$' /proc/kallsyms || return 0
	! grep -q '^ => ftrace_set_' trace || return
	! grep -q ' ftrace_set_make_text$' /proc/kallsyms ||
		grep -q '^ => .FTRACE TRAMPOLINE.' trace
}

tests='each_traces_its_own functions_that_are_not_traced
without_the_option the_default_goes a_wrong_name a_filter_that_matches_nothing
the_option_while_the_profiler_runs tracers_of_a_module many_functions
a_pattern_in_the_sample files_outlive_the_module a_file_outlives_the_profiler
a_process_for_one the_list_of_functions stacks_without_the_code'

# shellcheck disable=SC2086 # words
set -- $tests
clean_up
plan $#
for name; do
	$name; report "$name"
done
finish
