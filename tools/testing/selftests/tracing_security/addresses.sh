#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Addresses of the kernel: which users see those of generated code in /proc/kallsyms.
# The files and messages of markers and function tracers must have names instead of
# addresses.

. "$(dirname "$0")/../kselftest/tracing.sh"

restrict=/proc/sys/kernel/kptr_restrict
instance=instances/security-$$
restrict_before=$(cat "$restrict")
address='ffff[0-9a-f]\{12\}'

clean_up() {
	echo "$restrict_before" >"$restrict"
	[ ! -d "$tracing/$instance" ] || rmdir "$tracing/$instance"
	! has_function_tracers || echo 0 >"$tracing/options/function-tracers"
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

# Print which addresses are visible: of _stext and of generated code.
seen_by() {
	"$@" cat /proc/kallsyms | awk '
		$3 == "_stext" { stext = $1 ~ /^0+$/ ? "none" : "all" }
		$3 ~ /^(tracepoint_trampoline_|ftrace_set_)/ { found++; seen += $1 !~ /^0+$/ }
		END { shown = !seen ? "none" : seen == found ? "all" : "some"
		      print stext, found ? shown : "no symbols" }'
}

# sees WHICH RESTRICT COMMAND...: with this kptr_restrict, the command must see WHICH.
sees() {
	which=$1 level=$2
	echo "$level" >"$restrict"
	shift 2
	is "$(seen_by "$@")" "$which $which"
	explain "kptr_restrict $level, $*"
}

kallsyms_as_for_others() {
	grep -q ' __tracepoint_leave$' /proc/kallsyms ||
		needs "no CONFIG_TRACEPOINT_TRAMPOLINE" || return
	make_code &&
	sees all 0 env && sees all 1 env && sees none 2 env &&
	sees none 1 as_nobody && sees all 1 as_nobody +syslog &&
	sees none 2 as_nobody +syslog
}

# Where the kernel shows the tracer of a function, that of an instance is an address.
no_address_in() {
	is "$(sed 's/	ops: 0x[0-9a-f]* //g' "$tracing/$1" | grep -m 3 "$address")" "" &&
	at_least "$(wc -l <"$tracing/$1")" "$2"
}

# Code without a symbol would be shown as an address.
names_in_the_files() {
	modprobe marker_sample && modprobe marker_probe marker=sample_event && make_code || return
	files="markers marker_sites marker_probes set_ftrace_filter enabled_functions"
	if has_function_tracers; then
		echo 1 >"$tracing/options/function-tracers" || return
		files="$files function_tracers"
	fi
	for file in $files; do
		no_address_in "$file" 1
		explain "$file" || return
	done
}

# Error messages have names.
names_in_messages() {
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
plan 4
kallsyms_as_for_others; report "kallsyms hides generated code as it does other code"
names_in_the_files; report "the files have names, not addresses"
names_in_messages; report "messages have no addresses"
kernel_is_well; report "the kernel is well"
finish
