#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# With perf_event_open() and bpf(), unprivileged users can do the same with the events
# of markers as with any other trace event, at each level of perf_event_paranoid.
# Enabling an event does not disclose an address to them.

. "$(dirname "$0")/../kselftest/tracing.sh"

paranoid=/proc/sys/kernel/perf_event_paranoid
bpf_disabled=/proc/sys/kernel/unprivileged_bpf_disabled
marker=events/markers/kernel_sched_switch
kin=events/sched/sched_switch

clean_up() {
	echo "$paranoid_before" >"$paranoid"
	echo "$bpf_before" >"$bpf_disabled"
}

id_of() {
	cat "$tracing/$1/id"
}

# same WHAT [+CAPABILITY,...]: are the results the same for both events?
same() {
	what=$1
	shift
	of_kin=$(as_nobody "$@" "$here/perf-user" "$what" "$(id_of $kin)") &&
	of_marker=$(as_nobody "$@" "$here/perf-user" "$what" "$(id_of $marker)") &&
	is "$of_marker" "$of_kin"
}

same_at_each_level() {
	for level in -1 0 1 2 3; do
		echo $level >"$paranoid" &&
		same "$@"
		explain "perf_event_paranoid $level, $*" || return
	done
}

without_capability() {
	same_at_each_level open &&
	echo 2 >"$paranoid" &&
	has "$(as_nobody "$here/perf-user" open "$(id_of $marker)")" \
		"task:EACCES task,user:ok task,raw:EACCES task,raw,user:EPERM cpu:EACCES" &&
	echo 1 >"$paranoid" &&
	has "$(as_nobody "$here/perf-user" open "$(id_of $marker)")" \
		"task:ok task,user:ok task,raw:EPERM task,raw,user:EPERM cpu:EACCES"
}

with_perfmon() {
	same_at_each_level open +perfmon &&
	echo 2 >"$paranoid" &&
	has "$(as_nobody +perfmon "$here/perf-user" open "$(id_of $marker)")" \
		"task:ok task,user:ok task,raw:ok task,raw,user:ok cpu:ok"
}

# A program can read the arguments, so loading one needs both capabilities.
programs() {
	echo 2 >"$paranoid"
	for allowed in 2 0; do
		echo $allowed >"$bpf_disabled"
		for caps in +sys_nice +perfmon +bpf +bpf,+perfmon; do
			same bpf $caps
			explain "unprivileged_bpf_disabled $allowed, $caps" || return
		done
		for caps in +sys_nice +perfmon +bpf; do
			is "$(as_nobody $caps "$here/perf-user" bpf "$(id_of $marker)")" \
				"load:EPERM " || return
		done
	done
	is "$(as_nobody +bpf,+perfmon "$here/perf-user" bpf "$(id_of $marker)")" \
		"load:ok attach:ok "
}

given() {
	what=$1
	shift
	"$@" "$here/perf-user" "$what" "$(id_of "$event")"
}

# Code with pointers in it is generated for the probes of an enabled event. perf reports
# the code and its address only to users with the capability. Level 1 permits all users
# to open an event that asks for code.
no_address_by_enabling() {
	grep -q ' __tracepoint_leave$' /proc/kallsyms || {
		needs "no CONFIG_TRACEPOINT_TRAMPOLINE"
		return
	}
	for event in $kin $marker; do
		echo 2 >"$paranoid"
		is "$(given ksymbol as_nobody)" 0 &&
		is "$(given code as_nobody)" EACCES &&
		echo 1 >"$paranoid" &&
		is "$(given ksymbol as_nobody)" 0 &&
		is "$(given code as_nobody)" 0 &&
		at_least "$(given ksymbol as_nobody +perfmon)" 1 &&
		at_least "$(given code as_nobody +perfmon)" 1
		explain "$event" || return
	done
}

find_markers
[ -d $tracing/$marker ] || skip_all "no CONFIG_SCHED_TRACE"
[ -f "$paranoid" ] || skip_all "no perf events"
[ -f "$bpf_disabled" ] || skip_all "no CONFIG_BPF_SYSCALL"
nobody_needs "$here/perf-user" || skip_all "$reason"
paranoid_before=$(cat "$paranoid") bpf_before=$(cat "$bpf_disabled")
plan 5
without_capability; report "without a capability, perf allows what it does for other events"
with_perfmon; report "so it does with CAP_PERFMON"
programs; report "programs take CAP_BPF and CAP_PERFMON"
no_address_by_enabling; report "enabling an event tells an unprivileged user no address"
kernel_is_well; report "the kernel is well"
finish
