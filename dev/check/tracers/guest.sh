#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# guest.sh OUT SECONDS: runs in the guest. The tour, then tracers that attach and
# detach at random, while a module with markers is loaded and unloaded. A complaint in
# the kernel's log fails the run.
set -u
. "$(dirname "$0")/../../guest/lib.sh"
out=$1 seconds=$2
tracefs=/sys/kernel/tracing
events=$tracefs/events/markers
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

once_tracefs() {
	local instance=$tracefs/instances/random$BASHPID
	mkdir -p "$instance"
	echo 1 >"$instance/events/markers/$(some_marker)/enable" || return
	a_while
	((RANDOM % 2)) || echo 0 >"$instance/events/enable"
	rmdir "$instance"
}

once_trace_cmd() { trace-cmd record -q -B "cmd$BASHPID" -e "markers:$(some_marker)" -o "cmd$BASHPID.dat" sleep 0.3; }
once_perf() { perf record -q -a -e "markers:$(some_marker)" -o "perf$BASHPID.data" -- sleep 0.3; }
once_stat() { perf stat -a -e "markers:$(some_marker)" sleep 0.3; }
once_bpftrace() { timeout -k 9 -s $((RANDOM % 2 ? 2 : 9)) 6 bpftrace -e "tracepoint:markers:$(some_marker) { @[cpu] = count(); }"; (($? == 124 || $? == 137)); }
once_systemtap() { staprun -c "sleep 0.5" -o stap.txt "$out/stap/count.ko"; }

once_lttng() {
	local name=random$BASHPID
	lttng create $name --output="$PWD/$name" &&
		lttng enable-event -k -s $name "markers_$(some_marker)" &&
		lttng start $name && a_while &&
		lttng enable-event -k -s $name 'markers_sample_*' && a_while
	lttng destroy $name
}

once_module() {
	modprobe marker-probe marker="$(some_marker)" print=0 || return
	a_while
	rmmod marker_probe
}

once_sample() {
	modprobe marker_sample
	for _ in 1 2 3; do
		echo 20 >/sys/module/marker_sample/parameters/fire
		a_while
	done
	rmmod marker_sample
}

read -r -a tracers <"$out/tracers"
tracers+=(stat sample)

# A tracer that still runs two minutes too late hangs.
watch() {
	sleep $((seconds + 120))
	ps axf >&2
	echo w >/proc/sysrq-trigger
}

all_at_random() {
	local watch code=0
	watch & watch=$!
	at_random time_is_over "${tracers[@]/#/once_}" || code=$?
	kill $watch
	return $code
}

is_free() {
	for _ in {1..50}; do
		[[ $(awk -F'\t' '!/^#/ { n += $4 + $5 } END { print n }' $markers) != 0 ]] || return 0
		sleep 0.2
	done
	awk -F'\t' '$4 + $5' $markers >&2
	ps axf >&2
	lttng list >&2
	ls -d $tracefs/instances/* >&2
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

# No instance may be left, so its files are none.
no_event_is_on() {
	local on
	on=$(grep -l '^1' $events/*/enable $tracefs/instances/*/events/markers/*/enable 2>/dev/null)
	[[ ! $on ]] || { echo "on: $on" >&2; return 1; }
}

module_goes() { ! grep -q ^marker_sample /proc/modules || rmmod marker_sample; }

dev/guest/tour.sh "$out" >tour.txt 2>&1
passed=$?
cat tour.txt >&2
result "a module and six tracers on one marker count the same" test $passed = 0
cd "$(mktemp -d)" || exit 1
result "tracers come and go at random, each at least once in $seconds s" all_at_random
result "instances that tools left can be removed" instances_go
result "nothing is left attached" is_free
result "no event is left on" no_event_is_on
result "the module with markers is free" module_goes
