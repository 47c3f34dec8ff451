#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Runs the tracing torture test. Meanwhile loads and unloads a module with more sites,
# which fails to load every other time, and takes a CPU offline and online. Then checks
# the counters. See Documentation/trace/tracetorture.rst. Environment variables:
#
# TORTURE_SECONDS	duration (20)
# TORTURE_SEED		seed of all random choices (a random one)
# TORTURE_PARAMETERS	more parameters of the module, such as "kinds=tp,func"
# TORTURE_COUNTERS	a file for the counters, lines "name:number"

# Functions are arguments of others.
# shellcheck disable=SC2317

. "$(dirname "$0")/../kselftest/tracing.sh"

seconds=${TORTURE_SECONDS:-20}
seed=${TORTURE_SEED:-0}
counters=/sys/module/tracetorture/parameters
cpu=/sys/devices/system/cpu/cpu1/online	# empty if it was offline
failing=/sys/kernel/debug
longest=/sys/kernel/debug/x86/nmi_longest_ns
loads=0
refused=0
offline=0
unhit=0
unhit_by_nmis=0

# test_that NAME COMMAND...
test_that() {
	name=$1
	shift
	"$@"
	result $? "$name"
}

# An emulated CPU may be paused for long within an NMI.
allow_long_nmis() {
	[ ! -w $longest ] || {
		echo "$(cat $longest) $longest" >>"$dir/changed"
		echo 1000000000 >$longest
	}
}

# Let allocations that may sleep fail too, without a stack trace in the log for each.
starve() {
	[ -w $failing/failslab/verbose ] || return
	for file in failslab/ignore-gfp-wait failslab/verbose fail_page_alloc/verbose; do
		[ ! -w $failing/$file ] || {
			echo "$(cat $failing/$file) $failing/$file" >>"$dir/changed"
			echo 0 >$failing/$file
		}
	done
}

set_cpu() {
	[ ! -w "$cpu" ] || echo "$1" >"$cpu"
}

# It is busy now and then.
cpu_went() {
	[ -w "$cpu" ] || needs "CPU 1 is offline, or it stays online" || return
	[ "$offline" -gt 0 ]
}

load_failing() {
	if modprobe tracetorture-sites fail=1 2>/dev/null; then
		rmmod tracetorture_sites
	else
		refused=$((refused + 1))
	fi
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

has_nmis() {
	case $(uname -m) in
	x86_64 | i?86) true ;;
	*) false ;;
	esac
}

wait_for_hits() {
	grows sites "$before" || unhit=$((unhit + 1))
	! has_nmis || grows site_nmis "$before_nmis" || unhit_by_nmis=$((unhit_by_nmis + 1))
}

# With rmmod, since modprobe -r would also unload the modules that it depends on.
one_round() {
	load_failing
	set_cpu 0
	[ ! -f "$cpu" ] || [ "$(cat "$cpu")" != 0 ] || offline=$((offline + 1))
	before=$(count sites) before_nmis=$(count site_nmis)
	modprobe tracetorture-sites && loads=$((loads + 1))
	sleep 0.3
	set_cpu 1
	wait_for_hits
	rmmod tracetorture_sites
	rounds=$((rounds + 1))
}

torture() {
	end=$(($(date +%s) + seconds))
	rounds=0
	while [ "$(date +%s)" -lt $end ]; do
		one_round
	done
}

clean_up() {
	set_cpu 1
	unload_if_loaded tracetorture_sites tracetorture
	[ ! -f "$dir/changed" ] || while read -r value file; do
		echo "$value" >"$file"
	done <"$dir/changed"
}

count() {
	cat $counters/"$1"
}

at_least_one() {
	[ "$(count "$1")" -gt 0 ]
}

none() {
	[ "$(count "$1")" = 0 ]
}

is_selected() {
	case ,$(count kinds), in
	*,$1,*) true ;;
	*) false ;;
	esac
}

# final NAME: a counter as the module reported it at its end.
final() {
	dmesg | grep 'tracetorture: --- End of test' | tail -n 1 |
		sed -n "s/.* $1=\([0-9]*\).*/\1/p"
}

save_counters() {
	[ -n "$TORTURE_COUNTERS" ] || return
	for name in hits sets registrations nmis lost late mixed torn twice failed; do
		echo "$name:$(final $name)"
	done >"$TORTURE_COUNTERS"
	printf '%s\n' "faults:$faults" "changes:$changes" "loads:$loads" >>"$TORTURE_COUNTERS"
}

were_starved() {
	[ "$starving" ] || needs "no CONFIG_FAILSLAB" || return
	at_least_one starved
}

check_work() {
	test_that "hits were checked" at_least_one hits
	if is_selected imv || is_selected jump; then
		test_that "values were set" at_least_one sets
	fi
	if is_selected tp || is_selected storm || is_selected marker || is_selected func; then
		test_that "probes were attached" at_least_one registrations
		test_that "probes were called" at_least_one called
	fi
	if is_selected tp || is_selected storm || is_selected marker; then
		test_that "probes were attached or detached without memory" were_starved
	fi
	test_that "each kind was changed" at_least "$(count changes)" 8
	if has_nmis; then
		test_that "NMIs hit" at_least_one nmis
		test_that "NMIs hit each module's sites" [ $unhit_by_nmis = 0 ]
	fi
	test_that "there were rounds" [ $rounds -gt 0 ]
	test_that "modules with sites were loaded and unloaded" [ $loads = $rounds ]
	test_that "modules that fail were refused" [ $refused = $rounds ]
	test_that "each module's sites were hit" [ $unhit = 0 ]
	test_that "a CPU was taken offline" cpu_went
}

check_counters() {
	test_that "no hit was lost" none lost
	test_that "nothing was called or read too late" none late
	test_that "no probe was called with what belongs to another" none mixed
	test_that "no value was torn" none torn
	test_that "no hit reached a probe twice" none twice
	test_that "no operation failed" none failed
}

# The module itself reports success if its counters agree with each other.
ended_well() {
	rmmod tracetorture &&
		dmesg | grep 'tracetorture: --- End of test' | tail -n 1 |
		grep -q ': SUCCESS:'
}

# At its end, the module logs the hits of each kind.
each_kind_was_hit() {
	hits=$(log_since | grep 'tracetorture: .* hits, ') &&
	! echo "$hits" | grep -qw '0 hits'
}

# Each bad value of a parameter has a line in the log.
refuses() {
	echo "tracetorture.sh: $1" >/dev/kmsg
	! modprobe tracetorture "$1" 2>/dev/null || { rmmod tracetorture; return 1; }
	dmesg | sed "1,/tracetorture.sh: $1\$/d" | grep -q "tracetorture: .*$2"
}

bad_parameters() {
	refuses intensity=101 "it must be 1 to 100" &&
		refuses seconds=4294967295 "at most" &&
		refuses kinds=imv,none "there is no kind"
}

[ -w /dev/kmsg ] || skip_all "needs root"
check_modules tracetorture
plan ''
allow_long_nmis
[ ! -f "$cpu" ] || [ "$(cat "$cpu")" = 1 ] || cpu=
test_that "bad parameters are refused" bad_parameters
starving=
! starve || starving=starve=1
# shellcheck disable=SC2086 # one word a parameter
test_that "the module loads" modprobe tracetorture "seed=$seed" $starving $TORTURE_PARAMETERS
if [ -d /sys/module/tracetorture ]; then
	echo "# seed $(count seed), kinds $(count kinds), $seconds s"
	torture
	check_work
	check_counters
	faults=$(count starved)
	changes=$(count changes)
	log_from_here
	test_that "every hit and every call is accounted for" ended_well
	test_that "each kind was hit" each_kind_was_hit
	save_counters
	dmesg | grep 'tracetorture:' | tail -n 8 | sed 's/^\[[^]]*\]/#/'
fi
finish
