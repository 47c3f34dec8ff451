#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# guest.sh DIR: runs in the guest, with the module of DIR. Each test prints a line
# of TAP.
set -u
. "$(dirname "$0")/../../guest/lib.sh"
dir=$1
events=/sys/kernel/tracing/events/markers
trace=/sys/kernel/tracing/trace
sample=/sys/module/marker_sample/parameters/fire
cd /tmp || exit 1

# The values of the sample, as each tool writes them.
text='i -2147483648 u 4294967295 x ffffffff l -9223372036854775808 ul 18446744073709551615 ll -9223372036854775808 ull 18446744073709551615 lx ffffffffffffffff'

in_tracefs() {
	echo 1 >$events/sample_types/enable
	echo 1 >$sample
	echo 0 >$events/sample_types/enable
	grep -q "sample_types: $text p [0-9a-f]* c A s text" $trace
}

# has FILE TEXT: the file has a line that matches; otherwise, print the file.
has() {
	grep -qiE "$2" "$1" && return
	cat "$1" >&2
	return 1
}

in_trace_cmd() {
	trace-cmd record -q -e markers:sample_types sh -c "echo 1 >$sample" &&
		trace-cmd report 2>/dev/null >report.txt &&
		has report.txt "sample_types: *$text p 0xffffffffffffffff c A s text"
}

in_perf() {
	perf record -q -e markers:sample_types -o perf.data sh -c "echo 1 >$sample" &&
		perf script -i perf.data >script.txt &&
		has script.txt "sample_types: *$text p 0xffffffffffffffff c A s text"
}

in_bpftrace() {
	echo "echo 1 >$sample" >fire.sh
	bpftrace -o bpf.txt -c '/bin/sh /tmp/fire.sh' -e '
		tracepoint:markers:sample_types {
			printf("i %d u %u x %x l %ld ul %lu ", args->i, args->u, args->x, args->l, args->ul);
			printf("ll %lld ull %llu lx %lx ", args->ll, args->ull, args->lx);
			printf("p %llx c %s s %s\n", (uint64)args->p, args->c, str(args->s));
		}' >&2 &&
		has bpf.txt "$text p ffffffffffffffff c A s text"
}

fire_events() {
	echo >$trace
	for event in "$events"/check_*/enable; do
		echo 1 >"$event"
	done
	echo 1 >/sys/module/events/parameters/fire
	for event in "$events"/check_*/enable; do
		echo 0 >"$event"
	done
}

bad_strings() {
	grep -qE 'check_strings: null \(null\) user \(fault\) nowhere \(fault\) empty  long x{340} end \(fault\) after 77$' $trace ||
		{ grep check_strings $trace >&2; return 1; }
}

odd_names() {
	[[ $(sed -nE 's/.*field:int ([a-z0-9]+);.*offset:([89]|[0-9]{2}).*/\1/p' \
		$events/check_names/format | paste -sd ' ') == "arg1 arg2 arg3 twice arg5" ]] &&
		grep -q 'check_names: 1 int 2 common_pid 3 twice 4 twice 5' $trace &&
		grep -q 'check_percent: 100% of "42"' $trace
}

# The compiler decides which one is first.
two_formats() {
	local field other

	field=$(sed -nE 's/.*field:.* (number|text);.*/\1/p' $events/check_two/format)
	case $field in
	number) other='text %s' ;;
	text) other='number %d' ;;
	*) return 1 ;;
	esac
	[[ $(grep -c "check_two: $field " $trace) == 1 && $(grep -c check_two: $trace) == 1 ]] &&
		dmesg | grep -q "check_two: no trace event for the format \"$other\": there is one for"
}

modprobe marker_sample
result "every conversion arrives in tracefs" in_tracefs
result "every conversion arrives in trace-cmd" in_trace_cmd
result "every conversion arrives in perf" in_perf
result "every conversion arrives in bpftrace" in_bpftrace
insmod "$dir/events.ko"
fire_events
result "strings that are not there are no harm, and long ones are cut" bad_strings
result "fields without a usable name are counted" odd_names
result "of two formats the first is the event, and the log tells of the other" two_formats
rmmod events
