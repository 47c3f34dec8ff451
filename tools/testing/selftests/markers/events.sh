#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Markers as trace events, in a separate instance.

. "$(dirname "$0")/markers-lib.sh"

event=events/markers/sample_event
types=events/markers/sample_types
signal=events/markers/kernel_send_signal
process_exit=events/markers/kernel_process_exit

instance=$tracing/instances/markers-$$

start() {
	mkdir "$instance" && load marker_sample
}

clean_up() {
	for left in "$instance" "$instance-2"; do
		[ ! -d "$left" ] || rmdir "$left"
	done
	unload_all
}

# put VALUE FILE: write to a file of the instance.
put() {
	echo "$1" >"$instance/$2"
}

recorded() {
	grep -c "$1" "$instance/trace"
}

field() {
	grep -c "field:$1;" "$instance/$types/format"
}

has_event() {
	[ -d "$instance/$1" ] || {
		comment "no $1"
		return 1
	}
}

has_no_event() {
	[ ! -d "$instance/$1" ] || {
		comment "$1 is still there"
		return 1
	}
}

comes_and_goes_with_the_module() {
	mkdir "$instance" &&
	has_no_event $event &&
	load marker_sample &&
	has_event $event &&
	unload marker_sample &&
	goes_soon $event &&
	load marker_sample &&
	has_event $event
}

# A probe of another module stays registered while the marker is not loaded.
goes_with_a_probe_attached() {
	mkdir "$instance" &&
	load marker_sample &&
	load marker_probe marker=sample_event print=0 &&
	unload marker_sample &&
	has_no_event $event &&
	load marker_sample &&
	has_event $event &&
	unload marker_probe &&
	unload marker_sample &&
	has_no_event $event
}

fields_have_names_and_types() {
	start &&
	for want in "int i" "unsigned int u" "unsigned int x" "long l" \
		"unsigned long ul" "long long ll" "unsigned long long ull" \
		"unsigned long lx" "void \* p" "char c\[2\]" "__data_loc char\[\] s"; do
		is "$(field "$want")" 1 || {
			comment "$want"
			return 1
		}
	done
}

values_arrive() {
	start &&
	put 1 $types/enable &&
	fire 1 &&
	said=$(grep sample_types: "$instance/trace") &&
	has "$said" "sample_types: i -2147483648 u 4294967295 x ffffffff l " &&
	has "$said" " ll -9223372036854775808 ull 18446744073709551615 lx " &&
	has "$said" " c A s text"
}

# A record without strings is written directly into the buffer.
numbers_alone_arrive() {
	needs_event markers/kernel_send_signal || return
	start &&
	put 1 $signal/enable &&
	kill -CONT $$ &&
	put 0 $signal/enable &&
	at_least "$(recorded "kernel_send_signal: pid $$ signal [12][0-9] code 0 result [01]\$")" 1
}

counts_every_hit() {
	start &&
	fire 3 &&
	put 1 $event/enable &&
	is "$(column sample_event probes)" 1 &&
	fire 7 &&
	put 0 $event/enable &&
	fire 5 &&
	is "$(recorded sample_event:)" 7 &&
	is "$(column sample_event probes)" 0
}

filter_by_number_and_string() {
	start &&
	put "count >= 4" $event/filter &&
	put 1 $event/enable &&
	fire 6 &&
	is "$(recorded sample_event:)" 2 &&
	put 'name == "nobody"' $event/filter &&
	fire 6 &&
	is "$(recorded sample_event:)" 2 &&
	put 'name ~ "*sh*"' $event/filter &&
	fire 6 &&
	is "$(recorded sample_event:)" 8
}

filter_knows_signs() {
	start &&
	put 1 $types/enable &&
	put "i < 0 && l < 0 && ll < 0" $types/filter &&
	fire 1 &&
	is "$(recorded sample_types:)" 1 &&
	put "u > 1 && ul > 1 && ull > 1" $types/filter &&
	fire 1 &&
	is "$(recorded sample_types:)" 2 &&
	put "i > 0" $types/filter &&
	fire 1 &&
	is "$(recorded sample_types:)" 2
}

trigger_counts_in_a_histogram() {
	needs_histograms || return
	start &&
	put 'hist:keys=count' $event/trigger &&
	fire 4 &&
	fire 2 &&
	is "$(grep -c 'hitcount:  *2' "$instance/$event/hist")" 2 &&
	is "$(grep -c 'hitcount:  *1' "$instance/$event/hist")" 2 &&
	put '!hist:keys=count' $event/trigger
}

trigger_turns_tracing_off() {
	start &&
	put 'traceoff if count == 2' $event/trigger &&
	put 1 $event/enable &&
	fire 9 &&
	put '!traceoff if count == 2' $event/trigger &&
	put 1 tracing_on &&
	at_least 3 "$(recorded sample_event:)"
}

instances_are_apart() {
	start &&
	put 1 $event/enable &&
	mkdir "$instance-2" &&
	echo 1 >"$instance-2/$event/enable" &&
	fire 3 &&
	put 0 $event/enable &&
	fire 2 &&
	is "$(recorded sample_event:)" 3 &&
	is "$(grep -c sample_event: "$instance-2/trace")" 5 &&
	rmdir "$instance-2" &&
	is "$(column sample_event probes)" 0
}

stays_while_it_is_used() {
	start &&
	put 1 $event/enable &&
	fire 3 &&
	unload marker_sample &&
	has_event $event &&
	is "$(recorded sample_event:)" 3 &&
	load marker_sample &&
	fire 4 &&
	is "$(recorded sample_event:)" 7 &&
	unload marker_sample &&
	put 0 $event/enable &&
	goes_soon $event
}

# Detaching the last probe of a marker does not remove its event. No other test enables
# this event, since an event that was enabled once is never freed.
stays_when_a_probe_goes() {
	needs_event markers/kernel_process_exit || return
	load marker_probe marker=kernel_process_exit print=0 &&
	unload marker_probe &&
	start &&
	put 1 $process_exit/enable &&
	start_processes &&
	at_least "$(recorded kernel_process_exit:)" 20
}

garbage_changes_nothing() {
	start &&
	fails put x $event/enable &&
	fails put 7 $event/enable &&
	fails put "no_such_field == 1" $event/filter &&
	fails put "count ==" $event/filter &&
	fails put "no_such_command" $event/trigger &&
	fails put "hist:keys=no_such_field" $event/trigger &&
	fails put 1 $event/format &&
	is "$(cat "$instance/$event/enable")" 0 &&
	put 1 $event/enable &&
	fire 2 &&
	is "$(recorded sample_event:)" 2
}

events_are_for_root_only() {
	needs_nobody || return
	start &&
	fails_with "Permission denied" \
		as_nobody sh -c "echo 1 >$tracing/$event/enable" &&
	fails_with "Permission denied" as_nobody cat "$tracing/$event/format" &&
	is "$(cat "$tracing/$event/enable")" 0
}

[ -d "$tracing/events" ] || skip_all "no trace events"
plan 15
comes_and_goes_with_the_module; report "comes and goes with the module"
goes_with_a_probe_attached; report "goes also while a probe of a module is attached"
fields_have_names_and_types; report "fields have names and types"
values_arrive; report "values arrive"
numbers_alone_arrive; report "numbers alone arrive"
counts_every_hit; report "counts every hit"
filter_by_number_and_string; report "filter by number and string"
filter_knows_signs; report "filter knows signs"
trigger_counts_in_a_histogram; report "trigger counts in a histogram"
trigger_turns_tracing_off; report "trigger turns tracing off"
instances_are_apart; report "instances are apart"
stays_while_it_is_used; report "stays while it is used"
stays_when_a_probe_goes; report "stays when a probe goes"
garbage_changes_nothing; report "garbage changes nothing"
events_are_for_root_only; report "events are for root only"
finish
