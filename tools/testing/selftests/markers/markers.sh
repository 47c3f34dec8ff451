#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Markers as seen from user space: the list in tracefs, and the modules of
# samples/markers.

. "$(dirname "$0")/markers-lib.sh"

tab=$(printf '\t')
sched=kernel_sched_switch
sched_format='prev_pid %d next_pid %d prev_state %ld'
sample=sample_event
sample_format='count %u name %s'

clean_up() {
	unload_all
}

list_has_a_header() {
	is "$(head -n 1 "$tracing/markers")" \
		"# name${tab}module${tab}sites${tab}probes${tab}armed${tab}format"
}

list_has_sched_switch() {
	needs_sched || return
	is "$(column $sched module)" vmlinux &&
	at_least "$(column $sched sites)" 1 &&
	is "$(column $sched format)" "$sched_format"
}

list_is_for_root_only() {
	needs_nobody || return
	fails_with "Permission denied" as_nobody cat "$tracing/markers"
}

probe_counts_while_it_is_attached() {
	needs_sched || return
	is "$(column $sched probes)" 0 &&
	load marker_probe print=0 &&
	is "$(column $sched probes)" 1 &&
	start_processes &&
	before=$(hits) &&
	start_processes &&
	at_least "$(hits)" $((before + 20)) &&
	unload marker_probe &&
	is "$(column $sched probes)" 0
}

probe_counts_what_begins_with_a_value() {
	load marker_sample &&
	load marker_probe marker=$sample print=0 first=7 &&
	fire 10 &&
	is "$(hits)" 1 &&
	unload marker_probe &&
	fails modprobe marker_probe marker=$sample first=x &&
	fails_with "Invalid argument" modprobe marker_probe marker=sample_noargs first=1
}

probe_prints_as_many_lines_as_asked() {
	needs_sched || return
	words='prev_pid [0-9]* next_pid [0-9]* prev_state [0-9]*'
	log_from_here
	load marker_probe print=3 &&
	start_processes &&
	at_least "$(hits)" 4 &&
	is "$(log_since | count_lines "^marker_probe: $sched: $words\$")" 3 &&
	is "$(log_since | count_lines marker_probe:)" 3 &&
	unload marker_probe &&
	fails_with "Invalid argument" modprobe marker_probe print=1000000
}

wrong_format_is_refused() {
	needs_sched || return
	log_from_here
	fails_with "Operation not permitted" \
		modprobe marker_probe "format=prev_pid %d" &&
	is "$(log_since | wc -l)" 1 &&
	has "$(log_since)" "$sched: " &&
	has "$(log_since)" '"prev_pid %d"' &&
	has "$(log_since)" "\"$sched_format\"" &&
	! is_loaded marker_probe &&
	is "$(column $sched probes)" 0
}

unknown_marker_needs_a_format() {
	log_from_here
	fails_with "No such device" modprobe marker_probe marker=no_such_marker &&
	is "$(log_since | wc -l)" 1 &&
	has "$(log_since)" '"no_such_marker"' &&
	has "$(log_since)" 'format=' &&
	! is_loaded marker_probe
}

probe_waits_for_a_module() {
	load marker_probe marker=$sample "format=$sample_format" print=1 &&
	is "$(column $sample probes)" "" &&
	log_from_here &&
	load marker_sample &&
	is "$(column $sample module)" marker_sample &&
	is "$(column $sample probes)" 1 &&
	is "$(hits)" 0 &&
	fire 7 &&
	is "$(hits)" 7 &&
	has "$(log_since)" "marker_probe: $sample: count 0 name "
}

probe_with_another_format_gets_nothing() {
	load marker_probe marker=$sample "format=count %d" &&
	log_from_here &&
	load marker_sample &&
	is "$(log_since | wc -l)" 1 &&
	has "$(log_since)" '"count %d"' &&
	has "$(log_since)" "\"$sample_format\"" &&
	is "$(column $sample probes)" 0 &&
	fire 7 &&
	is "$(hits)" 0
}

probe_outlives_the_module_of_the_marker() {
	load marker_sample &&
	load marker_probe marker=$sample print=0 &&
	fire 7 &&
	unload marker_sample &&
	is "$(column $sample sites)" "" &&
	is "$(hits)" 7 &&
	load marker_sample &&
	is "$(column $sample probes)" 1 &&
	fire 5 &&
	is "$(hits)" 12
}

# Writing a parameter does not keep a module loaded: the unload ends after the write.
no_probe_is_called_during_unload() {
	load marker_sample &&
	load marker_probe marker=$sample print=0 || return
	fire 4000000000 &
	firing=$!
	while [ "$(hits)" = 0 ]; do
		kill -0 $firing || return
		sleep 0.01
	done
	modprobe -r marker_sample &
	unloading=$!
	after=unknown
	is_gone_in 100 /sys/module/marker_sample/initstate &&
		before=$(hits) && sleep 0.3 && after=$(hits)
	kill $firing 2>/dev/null
	ended=$?
	wait $firing $unloading 2>/dev/null
	[ $ended = 0 ] || needs "a slower machine" || return
	is "$after" "$before" &&
	! is_loaded marker_sample &&
	load marker_sample &&
	fire 5 &&
	is "$(hits)" $((before + 5))
}

variadic_probe_is_called_while_armed() {
	load marker_sample &&
	log_from_here &&
	load marker_probe_variadic &&
	is "$(column $sample probes)" 1 &&
	is "$(column $sample armed)" 0 &&
	fire 3 &&
	is "$(variadic_hits)" 0 &&
	arm 1 &&
	is "$(column $sample armed)" 1 &&
	fire 4 &&
	is "$(variadic_hits)" 4 &&
	is "$(log_since | count_lines "marker_probe_variadic: $sample: first count, by ")" 1 &&
	is "$(log_since | wc -l)" 1 &&
	arm 0 &&
	is "$(column $sample armed)" 0 &&
	fire 3 &&
	is "$(variadic_hits)" 4 &&
	arm 1 &&
	unload marker_probe_variadic &&
	is "$(column $sample probes)" 0 &&
	is "$(column $sample armed)" 0
}

plan 13
list_has_a_header; report "list has a header"
list_has_sched_switch; report "list has sched switch"
list_is_for_root_only; report "list is for root only"
probe_counts_while_it_is_attached; report "probe counts while it is attached"
probe_counts_what_begins_with_a_value; report "probe counts what begins with a value"
probe_prints_as_many_lines_as_asked; report "probe prints as many lines as asked"
wrong_format_is_refused; report "wrong format is refused"
unknown_marker_needs_a_format; report "unknown marker needs a format"
probe_waits_for_a_module; report "probe waits for a module"
probe_with_another_format_gets_nothing; report "probe with another format gets nothing"
probe_outlives_the_module_of_the_marker; report "probe outlives the module of the marker"
no_probe_is_called_during_unload; report "no probe is called during unload"
variadic_probe_is_called_while_armed; report "variadic probe is called while armed"
finish
