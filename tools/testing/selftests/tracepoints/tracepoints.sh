#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Tracepoints as a user meets them: the modules of samples/tracepoints, and a
# trace event that shares its tracepoint with a marker. A test is a function; it
# fails with the first of its commands that fails, and is skipped when it
# returns 4.

skip=4
module=tracepoint_sample
probes=tracepoint_probe_sample
parameters=/sys/module/$probes/parameters
hits=/sys/module/marker_probe/parameters/hits

skip_all() {
	echo "TAP version 13"
	echo "1..0 # SKIP $1"
	exit $skip
}

comment() {
	echo "# $*"
}

is() {
	[ "$1" = "$2" ] || {
		comment "'$1' instead of '$2'"
		return 1
	}
}

at_least() {
	[ "$1" -ge "$2" ] || {
		comment "$1 instead of at least $2"
		return 1
	}
}

fails() {
	if "$@" 2>/dev/null; then
		comment "succeeded: $*"
		return 1
	fi
}

load() {
	modprobe "$@" || {
		comment "cannot load: $*"
		return 1
	}
}

unload() {
	modprobe -r "$1" || {
		comment "cannot unload: $1"
		return 1
	}
}

is_loaded() {
	[ -d "/sys/module/$1" ]
}

fire() {
	echo "$1" >/sys/module/$module/parameters/fire
}

# Both counters of the probes.
counts() {
	echo "$(cat $parameters/requests) $(cat $parameters/done)"
}

# Processes that start and end: the scheduler has something to switch.
work() {
	rounds=20
	while [ $rounds -gt 0 ]; do
		/bin/true
		rounds=$((rounds - 1))
	done
}

# What the kernel says from here on about the samples is given by log_since.
log_from_here() {
	log_start="tracepoints.sh $$ $((log_number += 1))"
	echo "$log_start" >/dev/kmsg
}

log_since() {
	dmesg | awk -v start="$log_start" '
		seen && /tracepoint/ { sub(/^\[[^]]*\] /, ""); print }
		index($0, start) { seen = 1 }'
}

# Events of an instance of its own disturb nobody else's.
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

# The marker is attached for longer than the event is on, so it sees more.
event_and_marker_share_a_tracepoint() {
	[ "$have_marker" ] || return $skip
	new_instance &&
	load marker_probe print=0 &&
	before=$(cat $hits) &&
	event 1 &&
	work &&
	event 0 &&
	seen=$(($(cat $hits) - before)) &&
	at_least "$(recorded)" 20 &&
	at_least "$seen" "$(recorded)"
}

event_stays_when_the_marker_goes() {
	[ "$have_marker" ] || return $skip
	new_instance &&
	load marker_probe print=0 &&
	event 1 &&
	unload marker_probe &&
	before=$(recorded) &&
	work &&
	at_least "$(recorded)" $((before + 20))
}

marker_stays_when_the_event_goes() {
	[ "$have_marker" ] || return $skip
	new_instance &&
	event 1 &&
	load marker_probe print=0 &&
	event 0 &&
	before=$(cat $hits) &&
	after=$(recorded) &&
	work &&
	at_least "$(cat $hits)" $((before + 20)) &&
	is "$(recorded)" "$after"
}

# Only where the architecture makes trampolines, and stock kernels have none.
needs_trampolines() {
	[ "$(uname -m)" = x86_64 ] && grep -q ' __tracepoint_leave$' /proc/kallsyms ||
		return $skip
}

listed() {
	grep -c " tracepoint_trampoline_sched_switch.*\[__builtin__tracepoint\]" \
		/proc/kallsyms
}

# Freeing takes a while.
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

# It asks for a name alone, without size and offset.
function_tracer_names_the_caller() {
	needs_trampolines || return
	grep -qw function "$tracing/available_tracers" || return $skip
	new_instance &&
	load $probes &&
	echo probe_request >"$instance/set_ftrace_filter" &&
	echo function >"$instance/current_tracer" &&
	fire 2 &&
	grep -q 'probe_request <-tracepoint_trampoline_sample_request' "$instance/trace"
}

perf_hears_of_trampolines() {
	needs_trampolines && command -v perf >/dev/null || return $skip
	data=$(mktemp) &&
	new_instance &&
	perf record -q -a -e cpu-clock -o "$data" -- \
		sh -c "echo 1 >$instance/events/sched/sched_switch/enable" \
		>/dev/null 2>&1 &&
	records=$(perf script -D -i "$data" 2>/dev/null |
		grep -c 'PERF_RECORD_KSYMBOL.*tracepoint_trampoline_sched_switch')
	rm -f "$data"
	at_least "$records" 1
}

clean_up() {
	for loaded in $probes $module marker_probe; do
		if is_loaded "$loaded"; then
			rmmod "$loaded"
		fi
	done
	if [ -d "$instance" ]; then
		event 0
		rmdir "$instance"
	fi
}

find_tracefs() {
	for tracing in /sys/kernel/tracing /sys/kernel/debug/tracing; do
		[ -f $tracing/trace ] && return
	done
	skip_all "no tracefs, or not root"
}

check_requirements() {
	find_tracefs
	for needed in $module $probes; do
		modprobe -q -n "$needed" || skip_all "no module $needed"
		! is_loaded "$needed" || skip_all "$needed is in use"
	done
	have_marker=$(modprobe -n -v marker_probe 2>/dev/null)
	! is_loaded marker_probe || have_marker=
	grep -qs ^kernel_sched_switch "$tracing/markers" || have_marker=
}

# What became of the last command; the state that a test leaves is cleared.
report() {
	code=$?
	clean_up
	case $code in
	0)	echo "ok $((number += 1)) $1" ;;
	4)	echo "ok $((number += 1)) $1 # SKIP" ;;
	*)	echo "not ok $((number += 1)) $1"
		failed=1 ;;
	esac
}

check_requirements
number=0 failed=0 instance=
trap clean_up EXIT
trap 'exit 1' INT TERM
echo "TAP version 13"
echo "1..13"
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
exit $failed
