#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Markers must not read strings in user space, at bad addresses, or beyond the end of
# mapped memory. Their files must refuse buffers of read() and write() that do not
# belong to the caller.

. "$(dirname "$0")/../kselftest/tracing.sh"

module=test_marker_strings
events=events/markers
instance=instances/security-$$

clean_up() {
	for event in test_strings test_unended; do
		[ ! -d "$tracing/$events/$event" ] ||
			echo 0 >"$tracing/$events/$event/enable"
	done
	modprobe -r $module
	echo 0 >"$tracing/options/function-tracers"
	[ ! -d "$tracing/$instance" ] || rmdir "$tracing/$instance"
	echo >"$tracing/trace"
}

is_there() {
	modprobe -q -n $module || {
		needs "no module $module"
		return
	}
	modprobe $module
}

fire() {
	echo 1 >/sys/module/$module/parameters/fire
}

# The text of the records of an event.
text_of() {
	sed -n "s/.*: $1: //p" "$tracing/trace"
}

bad_addresses="error (fault) low (fault) last (fault) half (fault) behind (fault)"

strings_are_checked() {
	is_there || return
	echo >"$tracing/trace" &&
	echo 1 >"$tracing/$events/test_strings/enable" &&
	echo 1 >"$tracing/$events/test_unended/enable" &&
	fire &&
	is "$(text_of test_strings | tr '\n' ' ')" \
		"ends text user (fault) null (null) $bad_addresses " &&
	is "$(text_of test_unended)" "unended (fault) cut xxxx"
}

# The parameter uses memory that the module does not have yet.
fire_when_loaded() {
	modprobe -q -n $module || {
		needs "no module $module"
		return
	}
	fails_with "No such device" modprobe $module fire=1
}

# Records for perf are made separately.
strings_are_checked_for_perf() {
	command -v perf >/dev/null || {
		needs "no perf"
		return
	}
	is_there || return
	data=$(mktemp)
	perf record -q -e markers:test_strings -o "$data" -- \
		sh -c "echo 1 >/sys/module/$module/parameters/fire" >/dev/null 2>&1
	text=$(perf script -i "$data" -F trace 2>/dev/null)
	rm -f "$data"
	has "$text" "ends text user (fault) null (null) error (fault)"
}

# All files of one event, and all files outside events.
files() {
	echo "$1"/markers "$1"/marker_sites "$1"/marker_probes "$1"/function_tracers
	find "$1/events/markers/kernel_sched_switch" -type f
	find "$1/events/markers" -maxdepth 1 -type f
	echo "$1"/set_ftrace_filter "$1"/set_ftrace_notrace \
		"$1"/options/function-tracers
}

existing() {
	for file; do
		[ ! -f "$file" ] || echo "$file"
	done
}

# Their names have no spaces.
# shellcheck disable=SC2046
buffers_are_checked() {
	mkdir "$tracing/$instance" || return
	for option in 0 1; do
		echo $option >"$tracing/options/function-tracers" 2>/dev/null
		said=$("$here/bad-memory" $(existing $(files "$tracing") \
			$(files "$tracing/$instance"))) || {
			comment "$said"
			return 1
		}
		comment "$said"
		at_least "${said%% *}" 50 || return
	done
}

find_markers
echo 1 >$tracing/tracing_on
plan 5
fire_when_loaded; report "the parameter that reads them needs the module"
strings_are_checked; report "strings that are not the kernel's are not read"
strings_are_checked_for_perf; report "nor for perf"
buffers_are_checked; report "buffers that are not the caller's are refused"
kernel_is_well; report "the kernel is well"
finish
