#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Failures while a module with markers is loaded, or a probe is attached: they return
# an error and leave nothing behind, and the next attempt succeeds.

# Functions are arguments of others.
# shellcheck disable=SC2317

. "$(dirname "$0")/markers-lib.sh"

faults=/sys/kernel/debug/fail_function
sched=kernel_sched_switch
noargs=events/markers/sample_noargs

# set_fault FILE VALUE: until clean_up.
set_fault() {
	[ -f "$dir/$1" ] || cat "$faults/$1" >"$dir/$1" || return
	echo "$2" >"$faults/$1"
}

# inject FUNCTION RETURN_VALUE: let the function fail from now on.
inject() {
	{
		set_fault task-filter N &&
		set_fault verbose 0 &&
		set_fault probability 100 &&
		set_fault times -1 &&
		echo "$1" >$faults/inject &&
		printf '%#x' "$2" >"$faults/$1/retval"
	} 2>/dev/null || needs "$1 cannot be made to fail"
}

clean_up() {
	echo >$faults/inject
	echo 1 >"$tracing/tracing_on"
	[ ! -d "$tracing/events/errors" ] || {
		switch 0 events/errors/one
		echo '-:errors/one' >>"$tracing/dynamic_events"
	}
	[ ! -d "$tracing/$noargs" ] || {
		switch 0 $noargs
		set_trigger '!traceoff'
	}
	for fault in task-filter verbose probability times; do
		cat "$dir/$fault" >"$faults/$fault"
	done
	unload_all
}

loads_and_counts() {
	load marker_sample &&
	load marker_probe marker=sample_event print=0 &&
	fire 3 &&
	is "$(hits)" 3 &&
	unload marker_probe &&
	unload marker_sample
}

# load_fails FUNCTION RETURN_VALUE ERROR WORDS
load_fails() {
	inject "$1" "$2" || return
	log_from_here
	fails_with "$4" modprobe marker_sample &&
	has "$(log_since)" "marker_sample: its markers cannot be used: error $3" &&
	! is_loaded marker_sample &&
	is "$(column sample_event sites)" "" &&
	echo >$faults/inject &&
	loads_and_counts && kernel_is_well
}

# A probe that is registered for the marker keeps its name and format.
load_fails_while_a_probe_waits() {
	load marker_probe marker=sample_event "format=count %u name %s" print=0 || return
	inject marker_activate_module -16 || return
	fails_with "busy" modprobe marker_sample &&
	is "$(column sample_event sites)" "" &&
	echo >$faults/inject &&
	load marker_sample &&
	fire 4 &&
	is "$(hits)" 4 && kernel_is_well
}

attach_fails() {
	needs_sched || return
	inject marker_attach_probe -16 || return
	fails_with "busy" modprobe marker_probe print=0 &&
	! is_loaded marker_probe &&
	is "$(column $sched probes)" 0 &&
	echo >$faults/inject &&
	load marker_probe print=0 &&
	start_processes &&
	at_least "$(hits)" 20 && kernel_is_well
}

# The events cannot be enabled; then they can.
with_an_event() {
	[ -f "$tracing/events/header_page" ] || needs "no trace events" || return
	load marker_sample && inject marker_attach_probe -16 || return
	"$@" &&
	is "$(column sample_noargs probes)" 0 &&
	is "$(cat "$tracing/$noargs/enable")" 0 &&
	unload marker_sample && kernel_is_well
}

switch() {
	echo "$1" >"$tracing/$2/enable"
}

event_fails() {
	fails switch 1 "$noargs" &&
	is "$(column sample_noargs probes)" 0 &&
	echo >"$faults/inject" &&
	switch 1 "$noargs" && fire 1 && switch 0 "$noargs"
}

set_trigger() {
	echo "$1" >"$tracing/$noargs/trigger"
}

trigger_fails() {
	fails set_trigger traceoff &&
	echo >"$faults/inject" &&
	set_trigger traceoff && fire 1 &&
	is "$(cat "$tracing/tracing_on")" 0 &&
	set_trigger '!traceoff' && echo 1 >"$tracing/tracing_on"
}

event_probe_fails() {
	echo 'e:errors/one markers.sample_noargs' >>"$tracing/dynamic_events" 2>/dev/null ||
		needs "no event probes" || return
	fails switch 1 events/errors/one &&
	is "$(cat "$tracing/events/errors/one/enable")" 0 &&
	echo >"$faults/inject" &&
	echo >"$tracing/trace" &&
	switch 1 events/errors/one && fire 2 && switch 0 events/errors/one &&
	is "$(grep -c ' one: ' "$tracing/trace")" 2 &&
	echo '-:errors/one' >>"$tracing/dynamic_events"
}

perf_fails() {
	[ -x "$user" ] || needs "no program event-user" || return
	[ -f "$tracing/$noargs/id" ] || needs "no numbers of events" || return
	fails_with "event: Device or resource busy" "$user" perf "$(id_of "$noargs")" </dev/null
}

[ -w $faults/inject ] || skip_all "no CONFIG_FAIL_FUNCTION"
plan 9
load_fails marker_get_entry 0 -12 "Cannot allocate memory"; report "no memory for a marker"
load_fails marker_add_module -12 -12 "Cannot allocate memory"; report "no memory for the markers"
load_fails marker_activate_module -16 -16 "busy"; report "a probe cannot be attached"
load_fails_while_a_probe_waits; report "nor while a probe waits"
attach_fails; report "nor for a probe"
with_an_event event_fails; report "nor for an event"
with_an_event trigger_fails; report "nor for a trigger"
with_an_event event_probe_fails; report "nor for an event probe"
with_an_event perf_fails; report "nor for perf"
finish
