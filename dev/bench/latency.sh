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

# At the same rate on both kernels, however long a switch takes, and at any time between two
# wakeups of the task.
switch_events() {
	while :; do
		echo 1 >$tracefs/events/sched/enable
		sleep 0.050$((RANDOM % 900 + 100))
		echo 0 >$tracefs/events/sched/enable
		sleep 0.050$((RANDOM % 900 + 100))
	done
}

measure() { cyclictest -q -m -p 90 -t 1 -i 1000 -l "$loops" "$@"; }

# rows NAME: the mean, and that of the latest hundredth: the latest one alone differs by a
# third from run to run.
rows() {
	measure -N -v | awk '$1 == "0:" { print $3 }' | sort -nr >latencies
	awk -v name="$1" -v tail=$((loops / 100)) '
		{ sum += $1; if (NR <= tail) late += $1 }
		END {
			printf "%s: mean,instructions,%d\n", name, sum / NR
			printf "%s: latest 1%%,instructions,%d\n", name, late / tail
		}' latencies
}

cd /tmp
work & pids=($!)
rows "latency under load" >"$RESULTS/results.csv"
switch_events & pids+=($!)
rows "latency while events are switched" >>"$RESULTS/results.csv"
measure -h 4000 | grep -v '^#' >"$RESULTS/histogram"
kill "${pids[@]}"
