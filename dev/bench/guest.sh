#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# guest.sh DIR: runs in a guest with one CPU whose clock counts instructions, with
# the modules of DIR. Each line of its output is a case, a unit and a number.
set -u
dir=/tmp/bench
bench=/sys/module/bench/parameters
tracefs=/sys/kernel/tracing

say() { printf '%s,%s,%s\n' "$@"; }

passes() {
	local probes ticks
	while read -r probes ticks; do
		say "pass of a site with $probes probes" instructions "$ticks"
	done <$bench/pass
}

# changes SITES: connecting and disconnecting with so many sites more, first
# unobserved, then with the synchronisations counted.
changes() {
	local name ticks syncs
	cat $bench/change >/dev/null
	while read -r name ticks _; do
		say "probes $name on $1 sites" instructions "$ticks"
	done <$bench/change
	echo 1 >$bench/count
	while read -r name _ syncs; do
		say "probes $name on $1 sites" syncs "$syncs"
	done <$bench/change
	echo 0 >$bench/count
}

# cost NAME COMMAND...: of a command of the shell
cost() {
	local before after
	before=$(<$bench/ticks)
	"${@:2}"
	after=$(<$bench/ticks)
	say "$1" instructions $((after - before))
}

synced() {
	echo 1 >$bench/count
	"${@:2}"
	say "$1" syncs "$(<$bench/syncs)"
	echo 0 >$bench/count
}

switch() { echo "$2" >"$tracefs/events/$1/enable"; }

# events PLACE NAME
events() {
	switch "$1" 1; switch "$1" 0
	cost "$2 on" switch "$1" 1
	cost "$2 off" switch "$1" 0
	synced "$2 on" switch "$1" 1
	synced "$2 off" switch "$1" 0
}

sites() {
	local n=$1
	cost "load of a module with $n sites" insmod "$dir/bench$n.ko"
	changes "$n"
	rmmod "bench$n"
	synced "load of a module with $n sites" insmod "$dir/bench$n.ko"
	rmmod "bench$n"
}

# Waiting for the host would count as instructions.
mkdir $dir
cp "$1"/*.ko $dir
insmod "$dir/bench.ko"
passes
changes 0
for n in 100 10000 100000; do
	sites $n
done
events sched "events/sched"
events . "all events"
