#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# tour.sh DIR: runs in the guest. One workload, one marker, and everybody who can
# watch it at the same time: tracefs, trace-cmd, perf, bpftrace, SystemTap, LTTng
# and a module. All count the same switches, those of one process. DIR has what was
# built for SystemTap and LTTng before.
set -uo pipefail
built=$1
top=$PWD
marker=kernel_sched_switch
tracefs=/sys/kernel/tracing
instance=$tracefs/instances/tour
mkdir -p /tmp/tour
cd /tmp/tour || exit 1
. "$top/dev/lttng-guest.sh"

state_of() { awk '/^State:/ { print $2 }' "/proc/$1/status"; }

# stands_still WORD: the workload has said this and stopped.
stands_still() {
	until grep -q "^$1" pair.txt && [[ $(state_of "$pid") == T ]]; do
		sleep 0.1
	done
}

start_workload() {
	"$top/out/bin/pair" "$1" >pair.txt &
	pid=$!
	stands_still pid
}

# started LOG WORDS: a tracer that has said so is attached.
started() {
	local tries=300
	until grep -qs "$2" "$1"; do
		((--tries)) || { echo "not started: $1" >&2; cat "$1" >&2; return 1; }
		sleep 0.1
	done
}

attach_all() {
	mkdir $instance
	echo 20000 >$instance/buffer_size_kb
	echo 1 >$instance/events/markers/$marker/enable

	trace-cmd start -B trace-cmd -b 20000 -e "markers:$marker" >/dev/null

	perf record -q -a -m 4096 -e "markers:$marker" -o perf.data 2>perf.err &
	perf=$!

	bpftrace -o bpftrace.txt -e "tracepoint:markers:$marker
		/args->prev_pid == $pid/ { @n = count(); }" >/dev/null 2>&1 &
	bpftrace=$!

	staprun -o stap.txt "$built/tour.ko" "pid=$pid" 2>stap.err &
	staprun=$!

	lttng_start "$built" "$marker"

	modprobe marker-probe "marker=$marker" "pid=$pid" print=0
}
