#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Runs the tracing torture test. Meanwhile loads and unloads a module with more sites,
# which fails to load every other time, and takes a CPU offline and online. Then checks
# the counters. See Documentation/trace/tracetorture.rst. Environment variables:
#
# TORTURE_SECONDS	duration (5)
# TORTURE_SEED		seed of all random choices (a random one)
# TORTURE_PARAMETERS	more parameters of the module, such as "kinds=tp,func"
# TORTURE_COUNTERS	a file for the counters, lines "name:number"

# Functions are arguments of others.
# shellcheck disable=SC2317

. "$(dirname "$0")/../kselftest/tracing.sh"

seconds=${TORTURE_SECONDS:-5}
parameters=/sys/module/tracetorture/parameters
cpu=/sys/devices/system/cpu/cpu1/online	# empty if it was offline
failing=/sys/kernel/debug
nmis=	# or the counter
rounds=0 loads=0 refused=0 offline=0 unhit=0

# test_that NAME COMMAND...
test_that() {
	what=$1
	shift
	"$@"
	result $? "$what"
}

# set_until_end VALUE FILE: if there is such a file.
set_until_end() {
	[ -w "$2" ] || return
	echo "$(cat "$2") $2" >>"$dir/changed"
	echo "$1" >"$2"
}

# Let allocations that may sleep fail too, without a stack trace in the log for each.
starve() {
	set_until_end N $failing/failslab/ignore-gfp-wait &&
	set_until_end 0 $failing/failslab/verbose || return
	set_until_end 0 $failing/fail_page_alloc/verbose || true
}

set_cpu() {
	[ ! -w "$cpu" ] || echo "$1" >"$cpu"
}

# It is busy now and then.
cpu_went() {
	[ -w "$cpu" ] || needs "CPU 1 is offline, or it stays online" || return
	[ "$offline" -gt 0 ]
}

# count NAME
count() {
	tr ' ' '\n' <$parameters/counters | sed -n "s/^$1=//p"
}

# grows COUNTER BEFORE: wait for that. The module's thread has a low priority.
grows() {
	tries=100
	while ! [ "$(count "$1")" -gt "$2" ] && [ $tries -gt 0 ]; do
		sleep 0.1
		tries=$((tries - 1))
	done
	[ $tries -gt 0 ]
}

# With rmmod, since modprobe -r would also unload the modules that it depends on.
one_round() {
	rounds=$((rounds + 1))
	if modprobe tracetorture-sites fail=1 2>/dev/null; then
		rmmod tracetorture_sites
	else
		refused=$((refused + 1))
	fi
	set_cpu 0
	[ ! -f "$cpu" ] || [ "$(cat "$cpu")" != 0 ] || offline=$((offline + 1))
	before=$(count sites) before_nmis=$(count site_nmis)
	modprobe tracetorture-sites && loads=$((loads + 1))
	sleep 0.3
	set_cpu 1
	grows sites "$before" || unhit=$((unhit + 1))
	[ ! "$nmis" ] || grows site_nmis "$before_nmis" || unhit=$((unhit + 1))
	rmmod tracetorture_sites
}

clean_up() {
	set_cpu 1
	unload_if_loaded tracetorture_sites tracetorture
	[ ! -f "$dir/changed" ] || while read -r value file; do
		echo "$value" >"$file"
	done <"$dir/changed"
}

# does KIND...: is one of these kinds tested?
does() {
	for kind; do
		tr , '\n' <$parameters/kinds | grep -qx "$kind" && return
	done
	return 1
}

were_starved() {
	[ "$starving" ] || needs "no CONFIG_FAILSLAB" || return
	[ "$(count starved)" -gt 0 ]
}

check_work() {
	counted="hits $nmis"
	! does imv || counted="$counted sets"
	! does tp marker func || counted="$counted registrations probe_calls"
	for counter in $counted; do
		test_that "there were $counter" [ "$(count "$counter")" -gt 0 ]
	done
	! does tp marker ||
		test_that "probes were attached or detached without memory" were_starved
	test_that "each kind was changed" at_least "$(count changes)" 8
	test_that "there were rounds" [ $rounds -gt 0 ]
	test_that "modules with sites were loaded and unloaded" [ $loads = $rounds ]
	test_that "modules that fail were refused" [ $refused = $rounds ]
	test_that "each module's sites were hit" [ $unhit = 0 ]
	test_that "a CPU was taken offline" cpu_went
	for counter in lost late mixed torn twice failed; do
		test_that "nothing was $counter" is "$(count "$counter")" 0
	done
}

save_counters() {
	[ ! "$TORTURE_COUNTERS" ] || {
		tr ' ' '\n' <"$dir/log" | sed -n 's/^starved=/faults=/; s/^\([a-z]*\)=/\1:/p'
		echo "loads:$loads"
	} >"$TORTURE_COUNTERS"
}

# The module itself reports success if its counters agree with each other. Before, it logs
# the hits of each kind.
ended_well() {
	log_from_here
	rmmod tracetorture && log_since >"$dir/log" &&
	grep -q 'End of test: SUCCESS:' "$dir/log" &&
	! grep -w '0 hits' "$dir/log"
}

refuses_unknown_kinds() {
	log_from_here
	fails modprobe tracetorture kinds=imv,none &&
	log_since | grep -q 'tracetorture: there is no kind "none" here'
}

[ -w /dev/kmsg ] || skip_all "needs root"
check_modules tracetorture
plan ''
! uname -m | grep -q 86 || nmis=nmis
# An emulated CPU may be paused for long within an NMI.
set_until_end 1000000000 /sys/kernel/debug/x86/nmi_longest_ns
[ ! -f "$cpu" ] || [ "$(cat "$cpu")" = 1 ] || cpu=
test_that "kinds that do not exist are refused" refuses_unknown_kinds
starving=
! starve || starving=starve=1
# shellcheck disable=SC2086 # one word a parameter
test_that "the module loads" \
	modprobe tracetorture "seed=${TORTURE_SEED:-0}" $starving $TORTURE_PARAMETERS
if [ -d /sys/module/tracetorture ]; then
	echo "# seed $(cat $parameters/seed), kinds $(cat $parameters/kinds), $seconds s"
	end=$(($(date +%s) + seconds))
	while [ "$(date +%s)" -lt $end ]; do
		one_round
	done
	check_work
	test_that "every hit and every call is accounted for" ended_well
	save_counters
	sed 's/^/# /' "$dir/log"
fi
finish
