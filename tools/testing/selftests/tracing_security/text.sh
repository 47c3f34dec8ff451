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
probes=events/tracing_security
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
	[ ! -d "$tracing/$probes" ] || {
		echo 0 >"$tracing/$probes/enable"
		for event in security_ro security_x; do
			echo "-:tracing_security/$event" >>"$tracing/kprobe_events"
		done
	}
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

# With the calls in the other order, text would be writable for a moment.
first_read_only_then_executable() {
	[ -f "$tracing/kprobe_events" ] || {
		needs "no CONFIG_KPROBE_EVENTS"
		return
	}
	set_up &&
	echo 'p:tracing_security/security_ro set_memory_ro at=%di:x64 pages=%si' \
		>>"$tracing/kprobe_events" &&
	echo 'p:tracing_security/security_x set_memory_x at=%di:x64 pages=%si' \
		>>"$tracing/kprobe_events" &&
	echo >"$tracing/trace" &&
	echo 1 >"$tracing/$probes/enable" || return
	make_code
	free_code
	echo 0 >"$tracing/$probes/enable"
	said=$(sed -n 's/.* security_\(ro\|x\): .* at=\([^ ]*\) pages=\([^ ]*\)$/\1 \2 \3/p' \
		"$tracing/trace" | awk '
		{ range = $2 " " $3 }
		$1 == "ro" { read_only[range] = 1; next }
		{ calls++ }
		!read_only[range] { print "writable: " range }
		{ delete read_only[range] }
		END { print calls + 0 }')
	at_least "$said" 1
}

# The tables of the sites determine where code is patched, so they must be read-only.
tables_are_read_only() {
	modprobe $module || {
		needs "no module $module"
		return
	}
	section=/sys/module/$module/sections/__imv
	[ -f "$section" ] || {
		needs "no CONFIG_IMMEDIATE"
		return
	}
	address=$(cat "$section")
	is "$(flags_of "${address#0x}")" "ro NX" &&
	address=$(awk '$3 == "__start___imv" { print $1 }' /proc/kallsyms) &&
	is "$(flags_of "$address")" "ro NX"
}

# Code is written through a temporary mapping in poking_mm. Print its page table
# entries, which must be clear afterwards.
# shellcheck disable=SC2016 # these are variables of bpftrace
mapped_for_writing() {
	base='(uint64)0 - 0x778000000000'	# where all memory is mapped
	if grep -q ' page_offset_base$' /proc/kallsyms; then
		base='*(uint64 *)kaddr("page_offset_base")'
	fi
	bpftrace -e '
	BEGIN {
		$mm = *(struct mm_struct **)kaddr("poking_mm");
		$at = *(uint64 *)kaddr("poking_addr");
		$base = '"$base"';
		$mask = (uint64)0x000ffffffffff000;
		$entry = *(uint64 *)((uint64)$mm->pgd + (($at >> 39) & 511) * 8);
		$table = ($entry & $mask) + $base;
		$entry = *(uint64 *)($table + (($at >> 30) & 511) * 8);
		$table = ($entry & $mask) + $base;
		$entry = *(uint64 *)($table + (($at >> 21) & 511) * 8);
		$table = ($entry & $mask) + $base;
		$first = *(uint64 *)($table + (($at >> 12) & 511) * 8);
		$second = *(uint64 *)($table + ((($at >> 12) + 1) & 511) * 8);
		printf("%lx tables, %lx %lx\n", $entry & 1, $first, $second);
		exit();
	}' 2>&1
}

nothing_stays_mapped() {
	command -v bpftrace >/dev/null || {
		needs "no bpftrace"
		return
	}
	[ -f /sys/kernel/btf/vmlinux ] || {
		needs "no CONFIG_DEBUG_INFO_BTF"
		return
	}
	if [ "$(uname -m)" != x86_64 ] || grep -qw la57 /proc/cpuinfo; then
		needs "page tables of another kind"
		return
	fi
	set_up && make_code && free_code
	has "$(mapped_for_writing)" "1 tables, 0 0"
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
plan 6
never_writable_text; report "no text is writable while code is made and freed"
generated_text_is_read_only; report "generated text is read-only"
first_read_only_then_executable; report "it is read-only before it is executable"
tables_are_read_only; report "the tables of what is patched are read-only"
nothing_stays_mapped; report "nothing stays mapped for writing"
kernel_is_well; report "the kernel is well"
finish
