#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# guest.sh DIR [SITES...]: runs in a guest with one CPU whose clock counts instructions.
# Uses the modules of DIR with SITES sites; without SITES, it measures only function
# tracers, and passes of a site.
. "$(dirname "$0")/count.sh"
functions=/sys/module/functions/parameters
hits=/sys/module/hits/parameters

passes() {
	local probes ticks
	while read -r probes ticks; do
		say "pass of a site with $probes probes" instructions "$ticks"
	done <$hits/pass
	while read -r probes ticks; do
		say "pass of a faultable site with $probes probes" instructions "$ticks"
	done <$hits/faultable
}

# changes SITES: attach and detach probes with so many more sites, first without other
# activity, then while counting synchronisations.
changes() {
	local name ticks syncs trapped
	cat $bench/change >/dev/null
	while read -r name ticks _; do
		say "probes $name on $1 sites" instructions "$ticks"
	done <<<"$(<$bench/change)"
	echo 1 >$bench/count
	while read -r name _ syncs trapped; do
		say "probes $name on $1 sites" syncs "$syncs"
		say "probes $name on $1 sites: trapped" instructions "$trapped"
	done <<<"$(<$bench/change)"
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
	say "$1: trapped" instructions "$(<$bench/trapped)"
	echo 0 >$bench/count
}

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
	say "load of a module with $n sites" instructions "$("$dir/load" "$dir/bench$n.ko")"
	changes "$n"
	rmmod "bench$n"
	synced "load of a module with $n sites" insmod "$dir/bench$n.ko"
	rmmod "bench$n"
	echo 1 >$bench/connect
	synced "load of a module with $n sites and a probe" insmod "$dir/bench$n.ko"
	echo 0 >$bench/connect
	rmmod "bench$n"
}

set_to() { echo "$2" >"$functions/$1"; }

# The structure of the stack tracer is not in a module and is never freed. Its
# trampoline is not freed either.
static() { echo "$1" >/proc/sys/kernel/stack_tracer_enabled; }

# With set_ftrace_pid, or without.
pid() { echo "$1" >>$tracefs/set_ftrace_pid; }
no_pid() { : >$tracefs/set_ftrace_pid; }

# trace_functions DIR: start the function tracer of that trace array
trace_functions() {
	echo traced_000 >"$1/set_ftrace_filter"
	echo function >"$1/current_tracer"
}

# updates NUMBER PATTERN: register and unregister tracers of so many functions
updates() {
	local i on="on $1 functions"
	echo "$2" >$tracefs/stack_trace_filter
	synced "static function tracer 0-1 $on" static 1
	set_to functions "$1"
	synced "another function tracer 1-2 $on" set_to tracers 1
	synced "another function tracer 2-1 $on" set_to tracers 0
	synced "static function tracer 1-0 $on" static 0
	for i in 1 2 3; do
		synced "function tracers $((i - 1))-$i $on" set_to tracers $i
	done
	for i in 2 1 0; do
		synced "function tracers $((i + 1))-$i $on" set_to tracers $i
	done
	set_to tracers 2
	synced "filter of 1 of 2 function tracers: not $on" set_to filter 0
	synced "filter of 1 of 2 function tracers: $on" set_to filter 1
	set_to tracers 0
	echo >$tracefs/stack_trace_filter
}

# Calls of a traced function, with other tracers elsewhere; and updates of function
# tracers.
functions() {
	local name ticks instance=$tracefs/instances/bench
	insmod $dir/functions.ko
	while IFS=: read -r name ticks; do
		say "$name" instructions "$ticks"
	done <$functions/calls
	echo traced_000 >$tracefs/stack_trace_filter
	static 1; static 0
	updates 1 traced_000
	updates 100 'traced_0*'
	updates 1000 'traced_*'
	mkdir $instance
	trace_functions $tracefs
	trace_functions $instance
	synced "pid filter on of 1 of 2 function tracers" pid $$
	synced "pid filter off of 1 of 2 function tracers" no_pid
	echo nop >$tracefs/current_tracer
	rmdir $instance
	rmmod functions
}

insmod $dir/hits.ko
passes
functions
(($# > 1)) || exit 0
changes 0
for n in "${@:2}"; do
	sites "$n"
done
events sched "events/sched"
events mmap_lock "events/mmap_lock"	# its sites are spread over the text
events . "all events"
