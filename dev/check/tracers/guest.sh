#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# guest.sh SECONDS: runs in the guest. The tour, then tracers that attach and
# detach at random, while a module with markers is loaded and unloaded. A complaint in
# the kernel's log fails the run.
set -u
. "$(dirname "$0")/../../guest/lib.sh"
seconds=$1
tracefs=/sys/kernel/tracing
markers=$tracefs/markers

# One of the existing markers, often that of the module.
some_marker() {
	if ((RANDOM % 2)); then
		echo sample_event
	else
		awk -F'\t' '!/^#/ { print $1 }' $markers | shuf -n 1
	fi
}

# The tracers, each once. They fail when the marker has just been removed.

once_trace_cmd() { trace-cmd record -q -B "cmd$BASHPID" -e "markers:$(some_marker)" -o "cmd$BASHPID.dat" sleep 0.3; }
once_stat() { perf stat -a -e "markers:$(some_marker)" sleep 0.3; }
once_bpftrace() { timeout -k 9 -s $((RANDOM % 2 ? 2 : 9)) 6 bpftrace -e "tracepoint:markers:$(some_marker) { @[cpu] = count(); }"; (($? == 124 || $? == 137)); }

once_sample() {
	modprobe marker_sample
	for _ in 1 2 3; do
		echo 20 >/sys/module/marker_sample/parameters/fire
		a_while
	done
	rmmod marker_sample
}

all_at_random() { at_random time_is_over once_{trace_cmd,stat,bpftrace,sample}; }

is_free() {
	for _ in {1..50}; do
		[[ $(awk -F'\t' '!/^#/ { n += $4 + $5 } END { print n }' $markers) != 0 ]] || return 0
		sleep 0.2
	done
	awk -F'\t' '$4 + $5' $markers >&2
	return 1
}

# If trace-cmd fails because its marker was removed, it leaves its instance, with the
# event enabled.
instances_go() {
	local instance
	for instance in "$tracefs"/instances/cmd*; do
		[[ ! -d $instance ]] || rmdir "$instance" || return
	done
}

module_goes() { ! grep -q ^marker_sample /proc/modules || rmmod marker_sample; }

dev/guest/tour.sh >tour.txt 2>&1
passed=$?
cat tour.txt >&2
result "all tracers of one marker count the same" test $passed = 0
cd "$(mktemp -d)" || exit 1
result "tracers come and go at random, each at least once in $seconds s" all_at_random
result "instances that tools left can be removed" instances_go
result "nothing is left attached" is_free
result "the module with markers is free" module_goes
