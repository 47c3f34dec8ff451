#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Addresses of the kernel: which users see those of generated code in /proc/kallsyms.
# The files and messages of markers and function tracers, and the text of events, must
# have names or hashes instead of addresses.

. "$(dirname "$0")/../kselftest/tracing.sh"

restrict=/proc/sys/kernel/kptr_restrict
paranoid=/proc/sys/kernel/perf_event_paranoid
instance=instances/security-$$
timer=events/markers/kernel_hrtimer_start
event=$timer
restrict_before=$(cat "$restrict")
[ ! -f "$paranoid" ] || paranoid_before=$(cat "$paranoid")

# A pattern for kernel addresses.
address='ffff[0-9a-f]\{12\}'

clean_up() {
	echo "$restrict_before" >"$restrict"
	[ ! -f "$paranoid" ] || echo "$paranoid_before" >"$paranoid"
	[ ! -d "$tracing/$instance" ] || rmdir "$tracing/$instance"
	[ ! -f "$tracing/$event/enable" ] || echo 0 >"$tracing/$event/enable"
	echo 1 >"$tracing/options/hash-ptr"
	echo 0 >"$tracing/options/function-tracers"
	echo nop >"$tracing/current_tracer"
	echo >"$tracing/set_ftrace_filter"
	echo >"$tracing/trace"
	modprobe -r marker_probe marker_sample
}

# Make a trampoline of a tracepoint, and a set of two function tracers.
make_code() {
	mkdir "$tracing/$instance" &&
	echo 0 >"$tracing/$instance/tracing_on" &&
	echo 1 >"$tracing/$instance/events/sched/sched_switch/enable" &&
	echo vfs_open >"$tracing/$instance/set_ftrace_filter" &&
	echo function >"$tracing/$instance/current_tracer" &&
	echo vfs_open >"$tracing/set_ftrace_filter" &&
	echo function >"$tracing/current_tracer"
}

# Print how many addresses of symbols of generated code are visible: all, none, or some.
seen() {
	awk '
	$3 ~ /^(tracepoint_trampoline_|ftrace_set_)/ {
		found++
		seen += $1 !~ /^0+$/
	}
	END { print !found ? "no symbols" : !seen ? "none" : seen == found ? "all" : "some" }'
}

generated_seen_by() {
	"$@" cat /proc/kallsyms | seen
}

stext_seen_by() {
	"$@" cat /proc/kallsyms | awk '
		$3 == "_stext" { print $1 ~ /^0+$/ ? "none" : "all" }'
}

# sees WHICH RESTRICT COMMAND...: with this kptr_restrict, the command must see WHICH
# addresses of generated code and of _stext.
sees() {
	which=$1 level=$2
	echo "$level" >"$restrict"
	shift 2
	is "$(generated_seen_by "$@")" "$which" &&
	is "$(stext_seen_by "$@")" "$which"
	explain "kptr_restrict $level, $*"
}

kallsyms_as_for_others() {
	grep -q ' __tracepoint_leave$' /proc/kallsyms || {
		needs "no CONFIG_TRACEPOINT_TRAMPOLINE"
		return
	}
	[ ! -f "$paranoid" ] || echo 2 >"$paranoid"
	make_code &&
	sees all 0 env && sees all 1 env && sees none 2 env &&
	sees none 0 as_nobody && sees none 1 as_nobody && sees none 2 as_nobody &&
	sees all 0 as_nobody +syslog && sees all 1 as_nobody +syslog &&
	sees none 2 as_nobody +syslog
}

vmallocinfo_is_for_root() {
	echo 2 >"$restrict"
	is "$(as_nobody head -c 1 /proc/vmallocinfo 2>/dev/null)" "" &&
	make_code &&
	is "$(grep -c "$address" /proc/vmallocinfo)" 0
}

no_address_in() {
	found=$(grep -m 3 "$address" "$tracing/$1")
	is "$found" "" && at_least "$(wc -l <"$tracing/$1")" "$2"
}

# Code without a symbol would be shown as an address.
names_in_the_files() {
	modprobe -q marker_sample
	modprobe -q marker_probe marker=sample_event
	make_code
	echo 1 >"$tracing/options/function-tracers"
	no_address_in markers 10 &&
	no_address_in marker_sites 10 &&
	no_address_in marker_probes 2 &&
	no_address_in function_tracers 1 &&
	no_address_in set_ftrace_filter 1 &&
	no_address_in enabled_functions 1
}

# The sleep commands set timers.
record() {
	echo >"$tracing/trace" &&
	echo 1 >"$tracing/$timer/enable" &&
	sleep 0.1 && sleep 0.1 &&
	echo 0 >"$tracing/$timer/enable"
}

pointers_are_hashed() {
	event=$timer
	[ -d "$tracing/$event" ] || {
		needs "no CONFIG_TIMER_TRACE"
		return
	}
	record || return
	echo 1 >"$tracing/options/hash-ptr"
	hash='[0-9a-f]\{16\}'
	at_least "$(grep -c ": timer $hash function $hash " "$tracing/trace")" 1 &&
	is "$(grep -m 3 "$address" "$tracing/trace")" "" || return
	echo 0 >"$tracing/options/hash-ptr"
	at_least "$(grep -c ": timer $address function $address " "$tracing/trace")" 1
}

# The kernel faults when it writes to memory that dd has not used before.
code_has_its_name() {
	event=events/markers/kernel_page_fault_kernel
	[ -d "$tracing/$event" ] || {
		needs "no CONFIG_PAGE_FAULT_TRACE"
		return
	}
	echo >"$tracing/trace" &&
	echo 1 >"$tracing/$event/enable" &&
	dd if=/dev/zero of=/dev/null bs=1M count=1 2>/dev/null &&
	echo 0 >"$tracing/$event/enable" &&
	at_least "$(grep -c ' ip [a-z_0-9]*+0x[0-9a-f/x]* ' "$tracing/trace")" 1 &&
	is "$(grep -m 3 " ip $address" "$tracing/trace")" ""
}

# Error messages have names.
names_in_messages() {
	modprobe -q -n marker_probe || {
		needs "no module marker_probe"
		return
	}
	modprobe marker_sample || return
	log_from_here
	modprobe -q marker_probe marker=sample_event format="no such" 2>/dev/null
	has "$(log_since)" "marker: sample_event: a probe wants" &&
	is "$(dmesg | grep -E 'marker|tracepoint|immediate|ftrace' | grep -m 3 "$address")" ""
}

find_markers
needs_program setpriv || skip_all "$reason"
grep -qsw function "$tracing/available_tracers" || skip_all "no function tracer"
check_modules marker_sample marker_probe
grep -q -m 1 "^$address " /proc/kallsyms || skip_all "addresses have other digits here"
plan 7
kallsyms_as_for_others; report "kallsyms hides generated code as it does other code"
vmallocinfo_is_for_root; report "vmallocinfo is for root, and obeys kptr_restrict"
names_in_the_files; report "the files have names, not addresses"
pointers_are_hashed; report "pointers in the text of events are hashed"
code_has_its_name; report "code that faults has its name"
names_in_messages; report "messages have no addresses"
kernel_is_well; report "the kernel is well"
finish
