#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Several function tracers, each with its own filter: the function tracer, the
# profiler, and those of the module of samples/ftrace.
# shellcheck disable=SC2317 # tests are called by name

. "$(dirname "$0")/../kselftest/tracing.sh"

sample=function_tracers
option=options/function-tracers
instance=instances/function-tracers-$$

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
		rmdir "$instance"
		echo '-:function_tracers/probe' >>kprobe_events
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

# hits FUNCTION: how often it was called, on all CPUs.
hits() {
	awk -v name="$1" '$1 == name { n += $2 } END { print n + 0 }' trace_stat/function*
}

opens_are_profiled() {
	before=$(hits vfs_open)
	: </proc/self/maps
	[ "$(hits vfs_open)" -gt "$before" ]
	explain "vfs_open is not profiled"
}

opens_are_not_profiled() {
	before=$(hits vfs_open)
	: </proc/self/maps
	is "$(hits vfs_open)" "$before"
}

# A filter takes effect when its file is closed.
filters_of_the_running_profiler() {
	echo 1 >"$option"
	echo 1 >function_profile_enabled
	echo 'vfs_*' >set_ftrace_filter
	opens_are_profiled || return
	echo vfs_open >set_ftrace_notrace
	opens_are_not_profiled || return
	echo >set_ftrace_notrace
	opens_are_profiled || return
	echo vfs_read >set_ftrace_filter
	opens_are_not_profiled
}

# With the option off, all tracers share one filter.
without_the_option() {
	start_function_tracer
	echo 1 >function_profile_enabled
	echo vfs_read >set_ftrace_filter
	shows function_tracers 'trace' '[trace_profile]' || return
	shows set_ftrace_filter vfs_read || return
	work
	traced_and_profiled vfs_read vfs_read
}

the_default_goes() {
	echo 1 >"$option"
	start_function_tracer
	echo 1 >function_profile_enabled
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
	fails sh -c 'echo nobody >function_tracers' || return
	fails sh -c 'echo "" >function_tracers' || return
	echo >error_log
	fails sh -c "printf 'trace\\0more' >function_tracers" || return
	grep -q 'function_tracers: error: No function tracer has this name' error_log || return
	echo >error_log
	# One character more than the kernel reads
	fails sh -c "printf 'trace%58sx' '' >function_tracers" || return
	fails sh -c "printf '%0100d' 1 >function_tracers" || return
	grep -q 'function_tracers: error: No function tracer has this name' error_log &&
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
	cat <&4 | grep -qx '\[      sample_callers\] vfs_open' || return
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

# Does the kernel make sets?
has_sets() {
	grep -q ' ftrace_set_unregister$' /proc/kallsyms
}

# If the function has a set, the call of each of its tracers is shown.
the_list_of_functions() {
	a_function_for_all || return
	calls=$(sed -n 's/^vfs_open (3) //p' enabled_functions)
	[ "$calls" ] || return
	shown=$(echo "$calls" | grep -o -e '->' | wc -l)
	wanted=0
	! has_sets || wanted=3
	is "$shown" "$wanted"
	explain "calls: $calls"
}

# A filter without functions is not a filter of all functions.
a_filter_of_a_module() {
	echo "no_such_function:mod:$sample" >set_ftrace_filter
	shows set_ftrace_filter "no_such_function:mod:$sample" || return
	modprobe "$sample" || return
	shows set_ftrace_filter || return
	true >>set_ftrace_filter
	shows set_ftrace_filter || return
	modprobe -r "$sample"
	echo "no_such_function:mod:$sample" >>set_ftrace_filter
	echo "!no_such_function:mod:$sample" >>set_ftrace_filter
	shows set_ftrace_filter '#### all functions enabled ####'
}

# Nor does it make the function graph tracer, which runs already, trace all functions.
a_filter_of_a_module_for_graphs() {
	before=$(wc -l <enabled_functions)
	echo 0 >tracing_on
	echo vfs_open >set_ftrace_filter
	echo function_graph >current_tracer
	is "$(wc -l <enabled_functions)" $((before + 1)) || return
	echo "no_such_function:mod:$sample" >set_ftrace_filter
	is "$(wc -l <enabled_functions)" "$before" || return
	modprobe "$sample" || return
	is "$(grep -vc note_call enabled_functions)" "$before"	# of the sample itself
}

# Memory for structures of the kernel, in kB, without caches.
structures() {
	awk '$1 == "SUnreclaim:" { print $2 }' /proc/meminfo
}

# an_instance_with_filters NUMBER: their names take half of a kB each. A list of more than
# one page is read in several parts. To add a filter takes long: its name is compared with
# all functions.
an_instance_with_filters() {
	mkdir "$instance" &&
	awk -v number="$1" 'BEGIN {
		name = sprintf("%480s", "")
		gsub(" ", "f", name)
		for (i = 0; i < number; i++)
			print name i ":mod:no_such_module"
	}' >"$instance/set_ftrace_filter" &&
	is "$(sort -u "$instance/set_ftrace_filter" | grep -c :mod:no_such_module)" "$1"
	explain "filters"
}

# Filters of modules that are not loaded are freed with their instance.
filters_of_an_instance() {
	! grep -q ' kasan_save_stack$' /proc/kallsyms || needs "KASAN keeps freed objects" || return
	an_instance_with_filters 150 && rmdir "$instance" || return
	before=$(structures)
	for round in 1 2 3; do
		an_instance_with_filters 150 && rmdir "$instance" || return
	done
	growth=$(($(structures) - before))
	[ "$growth" -lt 130 ]
	explain "$growth kB more after $round rounds"
}

a_command_after_filters() {
	an_instance_with_filters 40 &&
	echo 'vfs_open:traceoff' >>"$instance/set_ftrace_filter" &&
	is "$(tail -n 1 "$instance/set_ftrace_filter")" vfs_open:traceoff:unlimited
	result=$?
	echo '!vfs_open:traceoff' >>"$instance/set_ftrace_filter"
	return "$result"
}

# The event is disabled with its command. That changes the function of the kprobe.
a_command_for_a_kprobe() {
	[ -e kprobe_events ] || needs "no kprobe events" || return
	command=vfs_open:disable_event:function_tracers:probe
	echo 'p:function_tracers/probe vfs_write' >>kprobe_events &&
	echo "$command" >>set_ftrace_filter &&
	shows events/function_tracers/probe/enable '0*' &&
	echo "!$command" >>set_ftrace_filter &&
	shows events/function_tracers/probe/enable 0 || return
	mkdir "$instance" &&
	echo "$command" >>"$instance/set_ftrace_filter" &&
	rmdir "$instance" &&
	echo '-:function_tracers/probe' >>kprobe_events
}

# The place where the first read ended is freed. Only what was already in the buffer is
# read then.
filters_are_removed_while_they_are_read() {
	an_instance_with_filters 40 || return
	exec 4<"$instance/set_ftrace_filter"
	dd bs=512 count=2 status=none <&4 >/dev/null
	echo >"$instance/set_ftrace_filter"
	rest=$(wc -l <&4)
	exec 4<&-
	[ "$rest" -lt 20 ]
	explain "$rest lines"
}

tests='session each_traces_its_own functions_that_are_not_traced
filters_of_the_running_profiler without_the_option
the_default_goes a_wrong_name a_filter_that_matches_nothing
the_option_while_the_profiler_runs tracers_of_a_module many_functions
a_pattern_in_the_sample files_outlive_the_module
a_file_outlives_the_profiler a_function_for_all a_process_for_one the_list_of_functions
a_filter_of_a_module a_filter_of_a_module_for_graphs filters_of_an_instance a_command_after_filters
a_command_for_a_kprobe filters_are_removed_while_they_are_read'

# shellcheck disable=SC2086 # words
set -- $tests
clean_up
plan $#
for name; do
	$name; report "$name"
done
finish
