#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# latency.sh LOOPS: runs in the guest. How late does a task of real time run that sleeps for a
# millisecond LOOPS times, while others create processes and the events of the scheduler
# are switched on and off? Writes results.csv, and the distribution in microseconds,
# histogram, to $RESULTS. With a clock that counts instructions, a nanosecond is one.
set -eu
loops=$1
tracefs=/sys/kernel/tracing

work() { while :; do /bin/true; done; }

# At the same rate on both kernels, however long a switch takes.
switch_events() {
	while :; do
		echo 1 >$tracefs/events/sched/enable
		sleep 0.05
		echo 0 >$tracefs/events/sched/enable
		sleep 0.05
	done
}

measure() { cyclictest -q -m -p 90 -t 1 -i 1000 -l "$loops" "$@"; }

# rows NAME: from the last line of cyclictest.
rows() {
	measure -N | sed -nE 's/.*Avg: *([0-9]+) Max: *([0-9]+).*/\1 \2/p' | {
		read -r mean longest
		echo "$1: mean,instructions,$mean"
		echo "$1: longest,instructions,$longest"
	}
}

work & pids=($!)
rows "latency under load" >"$RESULTS/results.csv"
switch_events & pids+=($!)
rows "latency while events are switched" >>"$RESULTS/results.csv"
measure -h 4000 | grep -v '^#' >"$RESULTS/histogram"
kill "${pids[@]}"
