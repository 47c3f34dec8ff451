#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Tracepoints as seen from user space: the modules of samples/tracepoints, and a
# trace event that shares its tracepoint with a marker.

. "$(dirname "$0")/../kselftest/tracing.sh"

about=tracepoint
module=tracepoint_sample
probes=tracepoint_probe_sample
parameters=/sys/module/$probes/parameters
hits=/sys/module/marker_probe/parameters/hits

fire() {
	echo "$1" >/sys/module/$module/parameters/fire
}

# Both counters of the probes.
counts() {
	echo "$(cat $parameters/requests) $(cat $parameters/done)"
}

# Enable or disable the event in a separate instance, to leave other instances alone.
event() {
	echo "$1" >"$instance/events/sched/sched_switch/enable"
}

recorded() {
	cat "$instance"/per_cpu/cpu*/stats |
		awk '/^(entries|overrun):/ { sum += $2 } END { print sum + 0 }'
}

new_instance() {
	instance=$tracing/instances/tracepoints-$$
	mkdir "$instance" && [ -d "$instance/events/sched/sched_switch" ]
}

nothing_happens_without_a_probe() {
	load $module &&
	log_from_here &&
	fire 5 &&
	is "$(log_since)" ""
}

probes_see_every_hit() {
	load $module &&
	fire 5 &&
	load $probes &&
	is "$(counts)" "0 0" &&
	fire 7 &&
	is "$(counts)" "7 1" &&
	fire 3 &&
	is "$(counts)" "10 2"
}

probes_see_the_arguments() {
	load $probes &&
	log_from_here &&
	fire 4 &&
	is "$(log_since | sed 's/by .*, checksum [1-9a-f][0-9a-f]*$/by N, checksum C/')" \
		"$probes: first request by N, checksum C
$probes: 4 requests done"
}

no_call_after_the_probes_left() {
	load $module &&
	load $probes &&
	fire 7 &&
	log_from_here &&
	rmmod $probes &&
	fire 5 &&
	is "$(log_since)" "$probes: 7 requests, done 1 times"
}

probes_can_come_again() {
	load $module || return
	for round in 1 2 3; do
		load $probes &&
		fire $round &&
		is "$(counts)" "$round 1" &&
		rmmod $probes ||
		return
	done
}

probes_load_only_once() {
	load $probes &&
	fails modprobe --first-time $probes &&
	fire 2 &&
	is "$(counts)" "2 1"
}

probes_hold_the_module() {
	load $probes &&
	fails rmmod $module &&
	is_loaded $module &&
	fire 2 &&
	is "$(counts)" "2 1"
}

# The marker's probe is attached longer than the event is enabled, so it has more hits.
event_and_marker_share_a_tracepoint() {
	needs_marker || return
	new_instance &&
	load marker_probe print=0 &&
	before=$(cat $hits) &&
	event 1 &&
	start_processes &&
	event 0 &&
	seen=$(($(cat $hits) - before)) &&
	at_least "$(recorded)" 20 &&
	at_least "$seen" "$(recorded)"
}

event_stays_when_the_marker_goes() {
	needs_marker || return
	new_instance &&
	load marker_probe print=0 &&
	event 1 &&
	unload marker_probe &&
	before=$(recorded) &&
	start_processes &&
	at_least "$(recorded)" $((before + 20))
}

marker_stays_when_the_event_goes() {
	needs_marker || return
	new_instance &&
	event 1 &&
	load marker_probe print=0 &&
	event 0 &&
	before=$(cat $hits) &&
	after=$(recorded) &&
	start_processes &&
	at_least "$(cat $hits)" $((before + 20)) &&
	is "$(recorded)" "$after"
}

# Only x86_64 has trampolines, and only in kernels that have __tracepoint_leave().
needs_trampolines() {
	{ [ "$(uname -m)" = x86_64 ] && grep -q ' __tracepoint_leave$' /proc/kallsyms; } ||
		needs "no trampolines"
}

listed() {
	grep -c " tracepoint_trampoline_sched_switch.*\[bpf\]" \
		/proc/kallsyms
}

# Trampolines are freed after a delay.
is_not_listed_any_more() {
	for second in 1 2 3 4 5 6 7 8 9 10; do
		[ "$(listed)" != 0 ] || return 0
		sleep 1
	done
	comment "still listed after $second s"
	return 1
}

trampolines_have_names() {
	needs_trampolines || return
	new_instance &&
	is_not_listed_any_more &&
	event 1 &&
	is "$(listed)" 1 &&
	event 0 &&
	is_not_listed_any_more
}

# The function tracer looks up only the name, without size and offset.
function_tracer_names_the_caller() {
	needs_trampolines || return
	grep -qw function "$tracing/available_tracers" ||
		needs "no function tracer" || return
	new_instance &&
	load $probes &&
	echo probe_request >"$instance/set_ftrace_filter" &&
	echo function >"$instance/current_tracer" &&
	fire 2 &&
	grep -q 'probe_request <-tracepoint_trampoline_sample_request_tp' "$instance/trace"
}

perf_hears_of_trampolines() {
	needs_trampolines && needs_program perf || return
	data=$dir/perf.data
	new_instance &&
	perf record -q -a -e cpu-clock -o "$data" -- \
		sh -c "echo 1 >$instance/events/sched/sched_switch/enable" \
		>/dev/null 2>&1 &&
	records=$(perf script -D -i "$data" 2>/dev/null |
		grep -c 'PERF_RECORD_KSYMBOL.*tracepoint_trampoline_sched_switch')
	at_least "$records" 1
}

clean_up() {
	unload_if_loaded $probes $module marker_probe
	if [ -d "$instance" ]; then
		event 0
		rmdir "$instance"
	fi
}

needs_marker() {
	{ modprobe -q -n marker_probe &&
		grep -qs ^kernel_sched_switch "$tracing/markers"; } ||
		needs "no module marker_probe, or no CONFIG_SCHED_TRACE"
}

find_tracefs
check_modules $module $probes
! is_loaded marker_probe || skip_all "marker_probe is in use"
instance=
plan 13
nothing_happens_without_a_probe; report "nothing happens without a probe"
probes_see_every_hit; report "probes see every hit"
probes_see_the_arguments; report "probes see the arguments"
no_call_after_the_probes_left; report "no call after the probes left"
probes_can_come_again; report "probes can come again"
probes_load_only_once; report "probes load only once"
probes_hold_the_module; report "probes hold the module"
event_and_marker_share_a_tracepoint; report "event and marker share a tracepoint"
event_stays_when_the_marker_goes; report "event stays when the marker goes"
marker_stays_when_the_event_goes; report "marker stays when the event goes"
trampolines_have_names; report "trampolines have names"
perf_hears_of_trampolines; report "perf hears of trampolines"
function_tracer_names_the_caller; report "the function tracer names the caller of a probe"
finish
