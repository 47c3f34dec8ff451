#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Markers must not read strings in user space, at bad addresses, or beyond the end of
# mapped memory.

. "$(dirname "$0")/../kselftest/tracing.sh"

module=test_marker_strings
events=events/markers
fire=/sys/module/$module/parameters/fire
bad_addresses="error (fault) low (fault) last (fault) half (fault) behind (fault)"
text="ends text user (fault) null (null) $bad_addresses"

clean_up() {
	modprobe -r $module
	echo >"$tracing/trace"
}

# The text of the records of an event.
text_of() {
	sed -n "s/.*: $1: //p" "$tracing/trace"
}

strings_are_checked() {
	load $module &&
	echo >"$tracing/trace" &&
	echo 1 >"$tracing/$events/test_strings/enable" &&
	echo 1 >"$tracing/$events/test_unended/enable" &&
	echo 1 >$fire &&
	is "$(text_of test_strings)" "$text" &&
	is "$(text_of test_unended)" "unended (fault) cut xxxx"
}

# Records for perf are made separately.
strings_are_checked_for_perf() {
	needs_program perf || return
	load $module &&
	perf record -q -e markers:test_strings -o "$dir/data" -- \
		sh -c "echo 1 >$fire" >/dev/null 2>&1
	has "$(perf script -i "$dir/data" -F trace 2>/dev/null)" "$text"
}

find_markers
check_modules $module
echo 1 >$tracing/tracing_on
plan 3
strings_are_checked; report "strings that are not the kernel's are not read"
strings_are_checked_for_perf; report "nor for perf"
kernel_is_well; report "the kernel is well"
finish
