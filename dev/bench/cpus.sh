#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# cpus.sh [isolated]: runs in the guest, whose clock counts the instructions of all CPUs
# together. What do changes of tracepoints cost, and how often do they interrupt the CPUs?
# With isolated, only how often they interrupt one that is isolated, the last one.
set -eu
tracefs=/sys/kernel/tracing
cpus=$(nproc --all)
form=${1:-}

# Calls of functions on other CPUs: the number, of each CPU or of all.
interrupts() {
	awk -v isolated="$form" -v cpus="$cpus" '$1 == "CAL:" {
		for (i = 2; i < cpus + 2; i++) sum += $i
		print isolated ? $(cpus + 1) : sum
	}' /proc/interrupts
}

say() { printf '%s,%s,%s\n' "$@" | tee -a "$RESULTS/results.csv"; }

# cost NAME FILE VALUE
cost() {
	local name=$1 before start
	[[ ! $form ]] || name+=" on an isolated CPU"
	[[ $form ]] || name+=" with $cpus CPUs"
	before=$(interrupts)
	start=${EPOCHREALTIME/./}
	echo "$3" >"$2"
	[[ $form ]] || say "$name" instructions $(((${EPOCHREALTIME/./} - start) * 1000))
	say "$name" interrupts $(($(interrupts) - before))
}

# The n-th probe of a tracepoint is that of the n-th instance.
event=events/signal/signal_deliver/enable
for n in 1 2 3 4; do mkdir $tracefs/instances/$n; done
for change in 1 0; do	# what is allocated and calls for the first time
	echo $change >$tracefs/events/enable
	echo $change >$tracefs/instances/1/$event
done
cost "all events on" $tracefs/events/enable 1
cost "all events off" $tracefs/events/enable 0
for n in 1 2 3 4; do cost "probe $n attached" $tracefs/instances/$n/$event 1; done
for n in 4 3 2 1; do cost "probe $n detached" $tracefs/instances/$n/$event 0; done
