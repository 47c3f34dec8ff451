#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# guest.sh COST [isolated]: runs in the guest. What do changes of tracepoints cost on all CPUs
# together, and how often do they interrupt CPUs to synchronise their instructions? With
# isolated: how often do they interrupt the last CPU, on which a program runs alone?
# COST is the program of cost.c. Writes results.csv; the plugin of count.c writes instructions.
set -eu
cost=$1 form=${2:-}
tracefs=/sys/kernel/tracing
cpus=$(nproc --all)
event=events/signal/signal_deliver/enable

say() { printf '%s,%s,%s\n' "$@" >>"$RESULTS/results.csv"; }

# On all CPUs, by a kprobe, or all calls of functions on the last one.
interrupts() {
	if [[ $form ]]; then
		awk -v cpu="$cpus" '$1 == "CAL:" { print $(cpu + 1) }' /proc/interrupts
	else
		awk '$1 == "sweep" { print $2 }' $tracefs/kprobe_profile
	fi
}

# interrupted NAME FILE VALUE
interrupted() {
	local before
	before=$(interrupts)
	echo "$3" >"$2"
	say "$1" interrupts $(($(interrupts) - before))
}

# What is allocated and called for the first time comes before.
warm_up() {
	local change
	for change in 1 0; do
		echo $change >$tracefs/events/enable
		echo $change >$tracefs/instances/1/$event
	done
}

for n in 1 2 3 4; do mkdir $tracefs/instances/$n; done
warm_up
if [[ $form ]]; then
	taskset -c $((cpus - 1)) sh -c 'while :; do :; done' & alone=$!
	sleep 1
	where=": interrupts of an isolated CPU"
	for _ in 1 2 3; do	# at times, something else interrupts that CPU
		for n in 1 2 3 4; do interrupted "probe $n on$where" $tracefs/instances/$n/$event 1; done
		for n in 4 3 2 1; do interrupted "probe $n off$where" $tracefs/instances/$n/$event 0; done
	done
	interrupted "all events on$where" $tracefs/events/enable 1
	interrupted "all events off$where" $tracefs/events/enable 0
	kill $alone
	exit
fi
for change in 1 0; do
	"$cost" $tracefs/events/enable $change
done
# Not of the top instance, in which all events go off.
echo 'p:kprobes/sweep do_sync_core' >$tracefs/kprobe_events
echo 1 >$tracefs/instances/1/events/kprobes/sweep/enable
interrupted "all events on with $cpus CPUs" $tracefs/events/enable 1
interrupted "all events off with $cpus CPUs" $tracefs/events/enable 0
echo 0 >$tracefs/instances/1/events/kprobes/sweep/enable
