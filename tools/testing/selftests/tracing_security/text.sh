#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# In the kernel's page tables, no memory is both writable and executable: while
# trampolines of tracepoints and sets of function tracers are made and freed, while
# code is patched, and while modules with sites are loaded.

. "$(dirname "$0")/../kselftest/tracing.sh"

page_tables=/sys/kernel/debug/page_tables/kernel
one=instances/security-$$
two=instances/security-$$-two
module=marker_sample
samples=12 min_rounds=3

# Make instances with recording off.
set_up() {
	for instance in $one $two; do
		mkdir "$tracing/$instance" &&
		echo 0 >"$tracing/$instance/tracing_on" || return
	done
}

clean_up() {
	if [ "$busy" ]; then
		kill "$busy"
		wait "$busy"
		busy=
	fi
	for instance in $one $two; do
		[ ! -d "$tracing/$instance" ] || rmdir "$tracing/$instance"
	done
	echo >"$tracing/trace"
	modprobe -r $module
}

# Lines of the page tables that are writable and executable.
writable_text() {
	awk '/ RW / && / x /' "$page_tables"
}

# Print the flags of the range that an address lies in.
flags_of() {
	awk -v address="$1" '
		# All have 16 digits, so they can be compared as strings.
		match($1, /^0x[0-9a-f]+-0x[0-9a-f]+$/) {
			split($1, range, /-?0x/)
			if (range[2] <= address && address < range[3]) {
				print ($0 ~ / RW / ? "RW" : "ro"), ($0 ~ / x / ? "x" : "NX")
				exit
			}
		}' "$page_tables"
}

trace_function() {
	echo vfs_open >"$tracing/$1/set_ftrace_filter" &&
	echo function >"$tracing/$1/current_tracer"
}

# Enable all events, but not those of lockdep: the kernel would do little else.
enable_events() {
	echo 1 >"$tracing/$1/events/enable" && {
		[ ! -d "$tracing/$1/events/lock" ] ||
			echo 0 >"$tracing/$1/events/lock/enable"
	}
}

# Make trampolines and sets: more than fit into the memory that exists already.
make_code() {
	enable_events $one &&
	enable_events $two &&
	trace_function $one &&
	trace_function $two
}

free_code() {
	echo nop >"$tracing/$one/current_tracer"
	echo nop >"$tracing/$two/current_tracer"
	echo 0 >"$tracing/$two/events/enable"
	echo 0 >"$tracing/$one/events/enable"
}

# Count the rounds in which all was made.
churn() {
	trap 'exit 0' TERM
	while :; do
		made=
		! make_code || ! modprobe $module || made=1
		free_code
		! modprobe -r $module || [ ! "$made" ] || echo >>"$dir/made"
	done 2>/dev/null
}

never_writable_text() {
	set_up || return
	: >"$dir/made"
	churn &
	busy=$!
	i=0 end=$(($(date +%s) + 300))
	while [ $i -lt $samples ] || [ "$(wc -l <"$dir/made")" -lt $min_rounds ]; do
		is "$(writable_text)" "" || return
		i=$((i + 1))
		[ "$(date +%s)" -lt "$end" ] || {
			comment "$(wc -l <"$dir/made") rounds of $min_rounds"
			return 1
		}
	done
}

# Print the start addresses of a kind of generated code.
generated() {
	awk -v kind="$1" 'index($3, kind) == 1 { print $1 }' /proc/kallsyms
}

generated_text_is_read_only() {
	set_up && make_code || return
	for kind in tracepoint_trampoline_ ftrace_set_; do
		text=$(generated $kind)
		at_least "$(echo "$text" | wc -w)" 1
		explain "of $kind" || return
		for address in $(echo "$text" | sed -n '1p;$p'); do
			is "$(flags_of "$address")" "ro x"
			explain "$kind at $address" || return
		done
	done
}

# The tables of the sites determine where code is patched, so they must be read-only.
tables_are_read_only() {
	load $module || return
	section=/sys/module/$module/sections/__imv
	address=$(cat "$section")
	is "$(flags_of "${address#0x}")" "ro NX" &&
	address=$(awk '$3 == "__start___imv" { print $1 }' /proc/kallsyms) &&
	is "$(flags_of "$address")" "ro NX"
}

find_markers
[ -f "$page_tables" ] || mount -t debugfs nodev /sys/kernel/debug 2>/dev/null
[ -f "$page_tables" ] || skip_all "no CONFIG_PTDUMP_DEBUGFS"
[ "$(flags_of "$(awk '$3 == "_stext" { print $1 }' /proc/kallsyms)")" = "ro x" ] ||
	skip_all "the page tables cannot be read, or kallsyms hides addresses"
grep -q ' __tracepoint_leave$' /proc/kallsyms ||
	skip_all "no CONFIG_TRACEPOINT_TRAMPOLINE"
grep -qsw function "$tracing/available_tracers" || skip_all "no function tracer"
check_modules $module
busy=
plan 4
never_writable_text; report "no text is writable while code is made and freed"
generated_text_is_read_only; report "generated text is read-only"
tables_are_read_only; report "the tables of what is patched are read-only"
kernel_is_well; report "the kernel is well"
finish
