#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# guest.sh DIR: runs in the guest, with the modules of DIR. Each test prints a line of TAP.
set -u
. "$(dirname "$0")/../../guest/lib.sh"
dir=$1
tracing=/sys/kernel/tracing
events=$tracing/events/markers
trace=$tracing/trace
sample=/sys/module/marker_sample/parameters/fire
cd /tmp || exit 1

# The values of the sample, as each tool writes them.
text='i -2147483648 u 4294967295 x ffffffff l -9223372036854775808 ul 18446744073709551615 ll -9223372036854775808 ull 18446744073709551615 lx ffffffffffffffff'

# Its third hit.
formats='size 4 half -1 byte 2 mac c0:00:02:01:05:06 ip 192.0.2.1 six c000:201:506:708:90a:b0c:d0e:f10'
formats="sample_formats: *state STOP mode WRITE $formats data c0 00 uuid c0000201-0506-0708-090a-0b0c0d0e0f10\$"

in_tracefs() {
	for event in sample_types sample_formats; do echo 1 >$events/$event/enable; done
	echo 3 >$sample
	for event in sample_types sample_formats; do echo 0 >$events/$event/enable; done
	has $trace "sample_types: $text p [0-9a-f]* c A s text" && has $trace "$formats"
}

# has FILE TEXT: the file has a line that matches; otherwise, print the file.
has() {
	grep -qiE "$2" "$1" && return
	cat "$1" >&2
	return 1
}

in_trace_cmd() {
	trace-cmd record -q -e markers:sample_types -e markers:sample_formats \
		sh -c "echo 3 >$sample" &&
		trace-cmd report 2>/dev/null >report.txt &&
		has report.txt "sample_types: *$text p 0xffffffffffffffff c A s text" &&
		has report.txt "$formats"
}

in_perf() {
	perf record -q -e markers:sample_types -e markers:sample_formats -o perf.data \
		sh -c "echo 3 >$sample" &&
		perf script -i perf.data >script.txt &&
		has script.txt "sample_types: *$text p 0xffffffffffffffff c A s text" &&
		has script.txt "$formats"
}

in_bpftrace() {
	echo "echo 3 >$sample" >fire.sh
	bpftrace -o bpf.txt -c '/bin/sh /tmp/fire.sh' -e '
		tracepoint:markers:sample_types {
			printf("i %d u %u x %x l %ld ul %lu ", args->i, args->u, args->x, args->l, args->ul);
			printf("ll %lld ull %llu lx %lx ", args->ll, args->ull, args->lx);
			printf("p %llx c %s s %s\n", (uint64)args->p, args->c, str(args->s));
		}
		tracepoint:markers:sample_formats {
			printf("state %d mode %x size %lu ", args->state, args->mode, args->size);
			printf("half %d byte %u mac %s ", args->half, args->byte, macaddr(args->mac));
			printf("ip %s six %s uuid %u\n", ntop(args->ip), ntop(args->six), args->uuid[15]);
		}' >&2 &&
		has bpf.txt "$text p ffffffffffffffff c A s text" &&
		has bpf.txt 'state -9 mode 2 size 4 half -1 byte 2 mac c0:00:02:01:05:06 ip 192.0.2.1 six c000:201:506:708:90a:b0c:d0e:f10 uuid 16$'
}

# fire EVENT...: then only their records are in the trace.
fire() {
	local event
	echo >$trace
	for event; do echo 1 >"$events/$event/enable" || return; done
	echo 1 >/sys/module/events/parameters/fire
	for event; do echo 0 >"$events/$event/enable"; done
}

bad_strings() {
	fire check_strings &&
		has $trace 'check_strings: null \(null\) user \(fault\) nowhere \(fault\) empty  long x{340} end \(fault\) after 77$'
}

# pointer HASHED DIGITS: %p has 16 digits, %20p and %-20p have no zero in front.
pointer() {
	echo "$1" >$tracing/options/hash-ptr
	fire check_pointer check_symbols &&
		has $trace 'check_pointer: pointer [0-9a-f]{16} wide .{20} left .{20} end$' &&
		has $trace "check_pointer: pointer 0*($2) wide +\\1 left \\1 +end$" &&
		has $trace 'check_symbols: offset vfree\+0x0/0x[0-9a-f]+ name vfree end$'
}

hashed() { pointer 1 '[1-9a-f][0-9a-f]{0,7}' && ! pointer 1 1234 2>/dev/null; }
raw() { pointer 0 1234; }

modprobe marker_sample
result "every conversion arrives in tracefs" in_tracefs
result "every conversion arrives in trace-cmd" in_trace_cmd
result "every conversion arrives in perf" in_perf
result "every conversion arrives in bpftrace" in_bpftrace
insmod "$dir/events.ko"
result "strings that are not there are no harm, and long ones are cut" bad_strings
result "a pointer is hashed, one of a function is a symbol" hashed
result "a pointer is not hashed with the option off" raw
echo 1 >$tracing/options/hash-ptr
rmmod events
