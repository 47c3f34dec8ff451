#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The stack of a trace event, and its address, begin at the function that has the
# tracepoint: kernel_clone() for sched_process_fork. This holds for all readers, and
# for one probe as for several.

# Functions are arguments of others.
# shellcheck disable=SC2317

. "$(dirname "$0")/../kselftest/tracing.sh"

system=sched
name=sched_process_fork
event=$tracing/events/$system/$name
other=$tracing/instances/stacks-sh

then=:		# done when the event is enabled

work() {
	(:)
	(:)
}

# Probes are called in the order in which they were attached.
attach_other() {
	echo 0 >"$other/events/$system/$name/enable"
	echo 1 >"$other/events/$system/$name/enable"
}

# kernel_clone must be the first function in the matching lines of a file. Stacks of
# ftrace begin with the probe, which is skipped.
begins_at_clone() {
	first=$(sed -nE "s/$1/\\1/p" "$2" | grep -vE "^(do_)?trace_event_raw_event_$name" |
		head -n 1 | sed 's/[+].*//')
	is "$first" kernel_clone
}

ftrace_option() {
	echo 1 >$tracing/options/stacktrace
	echo 1 >$event/enable
	$then
	echo >$tracing/trace
	work
	echo 0 >$event/enable
	echo 0 >$tracing/options/stacktrace
	begins_at_clone '^ => (.*)' $tracing/trace
}

ftrace_trigger() {
	echo stacktrace >$event/trigger
	$then
	echo >$tracing/trace
	work
	echo '!stacktrace' >$event/trigger
	begins_at_clone '^ => (.*)' $tracing/trace
}

# perf_record OPTION...
perf_record() {
	needs_program perf || return
	rm -f "$dir/perf.data"
	perf record -q "$@" -e $system:$name -o "$dir/perf.data" sh -c '(:); (:)' \
		>/dev/null 2>&1
	perf script -i "$dir/perf.data" -F ip,sym >"$dir/perf" 2>/dev/null
	begins_at_clone '^[[:space:]]+[0-9a-f]+ (.*)' "$dir/perf"
}

# bpftrace exits at the first event.
bpf_stack() {
	needs_program bpftrace || return
	timeout 600 bpftrace -e "BEGIN { printf(\"ready\\n\"); }
		tracepoint:$system:$name { @[kstack] = count(); exit(); }" \
		>"$dir/bpf" 2>&1 &
	until grep -q ready "$dir/bpf" || ! kill -0 $! 2>/dev/null; do
		sleep 0.1
	done
	while kill -0 $! 2>/dev/null; do
		work
		sleep 0.1
	done
	begins_at_clone '^[[:space:]]+([a-z_0-9]+[+].*)' "$dir/bpf"
}

ftrace() {
	ftrace_option; result $? "$1: ftrace, option stacktrace"
	[ "$clang" ] || { ftrace_trigger; result $? "$1: ftrace, trigger stacktrace"; }
}

all() {
	ftrace "$1"
	perf_record -g; result $? "$1: perf record -g"
	perf_record; result $? "$1: perf record"
	bpf_stack; result $? "$1: bpf_get_stack"
}

clean_up() {
	echo 0 >"$event/enable"
	echo '!stacktrace' >"$event/trigger"
	echo 0 >"$tracing/options/stacktrace"
	[ ! -d "$other" ] || {
		echo 0 >"$other/events/$system/$name/enable"
		rmdir "$other"
	}
}

find_tracefs
[ "$(uname -m)" = x86_64 ] || skip_all "elsewhere than on x86_64 the stub is in the stack"
[ -d $event ] || skip_all "there is no trace event $name"
[ -e $tracing/options/stacktrace ] || skip_all "there is no option stacktrace"

# The trigger omits the number of frames that gcc makes.
clang=$(grep clang /proc/version)
if [ "$clang" ]; then plan 9; else plan 12; fi
all "one probe"
mkdir "$other"
attach_other
all "the last of several probes"
then=attach_other
ftrace "the first of several probes"
finish
