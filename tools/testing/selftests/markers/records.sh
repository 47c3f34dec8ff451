#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Records of markers stay readable when the module of the marker is unloaded, and when
# other modules are.

. "$(dirname "$0")/markers-lib.sh"

event=events/markers/sample_event
types=events/markers/sample_types

clean_up() {
	for left in $event $types; do
		[ ! -f "$tracing/$left/enable" ] || echo 0 >"$tracing/$left/enable"
	done
	unload_all
}

# The events are disabled at the end, so that they are removed with their module.
record() {
	load marker_sample &&
	echo >"$tracing/trace" &&
	echo 1 >"$tracing/$event/enable" && echo 1 >"$tracing/$types/enable" &&
	fire 3 &&
	echo 0 >"$tracing/$event/enable" && echo 0 >"$tracing/$types/enable" &&
	are_printed
}

printed() {
	grep -c "$1" "$tracing/trace"
}

are_printed() {
	is "$(printed 'sample_event: count [0-2] name [a-z.]*sh$')" 3 &&
	is "$(printed 'sample_types: i -2147483648 u 4294967295 .* s text$')" 3 &&
	is "$(printed 'Unknown type')" 0
}

print_after_unload() {
	record && unload marker_sample && are_printed
}

print_after_reload() {
	record && unload marker_sample && load marker_sample && are_printed &&
	echo 1 >"$tracing/$event/enable" && fire 2 &&
	is "$(printed 'sample_event: count [0-2] name ')" 5
}

# First a module without markers is unloaded, then one with markers.
another_module_takes_none() {
	record && unload marker_sample &&
	load marker_probe_variadic && unload marker_probe_variadic && are_printed &&
	load marker_sample && unload marker_sample && are_printed
}

# No other event gets the number, since a buffer may have records with it.
number_is_kept() {
	record || return
	[ -f "$tracing/$event/id" ] || needs "no numbers of events" || return
	number=$(id_of $event)
	other=$(id_of $types)
	unload marker_sample && load marker_sample &&
	is "$(id_of $event)" "$number" &&
	is "$(id_of $types)" "$other"
}

read_by_pipe_after_unload() {
	record && unload marker_sample &&
	said=$(timeout 2 cat "$tracing/trace_pipe")
	is "$(echo "$said" | grep -c 'sample_event: count [0-2] name ')" 3 &&
	is "$(echo "$said" | grep -c 'Unknown type')" 0
}

# The option prints the fields of an event by its list of them.
fields_are_printed_after_unload() {
	option=$tracing/options/fields
	[ -f "$option" ] || needs "no option fields" || return
	record && unload marker_sample || return
	echo 1 >"$option"
	said=$(cat "$tracing/trace")
	echo 0 >"$option"
	is "$(echo "$said" | grep -c 'sample_event:.* name=')" 3 &&
	is "$(echo "$said" | grep -c 'No fields found')" 0
}

[ -d "$tracing/events" ] || skip_all "no trace events"
plan 6
print_after_unload; report "records print after the unload"
print_after_reload; report "records print after the reload"
another_module_takes_none; report "another module takes no records"
number_is_kept; report "an event that was enabled keeps its number"
read_by_pipe_after_unload; report "records are read from the pipe after the unload"
fields_are_printed_after_unload; report "option fields prints records after the unload"
finish
