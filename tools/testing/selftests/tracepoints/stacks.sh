#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The stack of a trace event, and its address, begin at the function that has the
# tracepoint: kernel_clone() for sched_process_fork, whatever reads them and
# however many probes there are.

skip=4
tracing=/sys/kernel/tracing
system=sched
name=sched_process_fork
event=$tracing/events/$system/$name
other=$tracing/instances/stacks-sh

skip_all() {
	echo "TAP version 13"
	echo "1..0 # SKIP $1"
	exit $skip
}

has_tool() {
	command -v "$1" >/dev/null && return
	echo "# there is no $1"
	return $skip
}

work() {
	(:)
	(:)
}

# The first function of the lines of a file that match, without its offset.
# ftrace's begin with the probe.
begins_at_clone() {
	first=$(sed -nE "s/$1/\\1/p" "$2" | grep -v "^trace_event_raw_event_$name" |
		head -n 1 | sed 's/[+].*//')
	[ "$first" = kernel_clone ] || {
		echo "# begins at '$first'"
		return 1
	}
}

ftrace_option() {
	echo 1 >$tracing/options/stacktrace
	echo >$tracing/trace
	echo 1 >$event/enable
	work
	echo 0 >$event/enable
	echo 0 >$tracing/options/stacktrace
	begins_at_clone '^ => (.*)' $tracing/trace
}

ftrace_trigger() {
	echo >$tracing/trace
	echo stacktrace >$event/trigger
	work
	echo '!stacktrace' >$event/trigger
	begins_at_clone '^ => (.*)' $tracing/trace
}

# perf_record OPTION...
perf_record() {
	has_tool perf || return
	perf record -q "$@" -e $system:$name -o "$dir/perf.data" sh -c '(:); (:)' \
		>/dev/null 2>&1
	perf script -i "$dir/perf.data" -F ip,sym >"$dir/perf" 2>/dev/null
	begins_at_clone '^[[:space:]]+[0-9a-f]+ (.*)' "$dir/perf"
}

# bpftrace ends by itself with the first event that it sees.
bpf_stack() {
	has_tool bpftrace || return
	timeout 60 bpftrace -e "BEGIN { printf(\"ready\\n\"); }
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

report() {
	case $? in
	0)	echo "ok $((number += 1)) $1" ;;
	4)	echo "ok $((number += 1)) $1 # SKIP" ;;
	*)	echo "not ok $((number += 1)) $1"
		failed=1 ;;
	esac
}

all() {
	ftrace_option; report "$1: ftrace, option stacktrace"
	ftrace_trigger; report "$1: ftrace, trigger stacktrace"
	perf_record -g; report "$1: perf record -g"
	perf_record; report "$1: perf record"
	bpf_stack; report "$1: bpf_get_stack"
}

clean_up() {
	[ ! -d "$other" ] || {
		echo 0 >"$other/events/$system/$name/enable"
		rmdir "$other"
	}
	rm -rf "$dir"
}

[ "$(id -u)" = 0 ] || skip_all "must be root"
[ "$(uname -m)" = x86_64 ] || skip_all "elsewhere than on x86_64 the stub is in the stack"
[ -d $event ] || skip_all "there is no trace event $name"
[ -e $tracing/options/stacktrace ] || skip_all "there is no option stacktrace"

number=0 failed=0 dir=$(mktemp -d)
trap 'clean_up; exit 1' INT TERM
echo "TAP version 13"
echo "1..10"
all "one probe"
mkdir "$other"
echo 1 >"$other/events/$system/$name/enable"
all "several probes"
clean_up
exit $failed
