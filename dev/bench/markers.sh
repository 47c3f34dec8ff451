#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# markers.sh DIR [NUMBER...]: runs in a guest with one CPU whose clock counts instructions.
# Measures the cost of a place for several tracers and, with the series, of operations
# on NUMBER markers, with the modules that marks.py created in DIR.
. "$(dirname "$0")/count.sh"
place=/sys/module/place/parameters
marks=/sys/module/marks/parameters

# hit NAME PARAMETER [LESS]
hit() { say "$1" instructions $(($(<"$place/$2") - ${3:-0})); }

# recorded NAME EVENT PARAMETER [LESS]: into an empty buffer, so that records of the same
# size begin a new page equally often.
recorded() {
	echo >$tracefs/trace
	switch "$2" 1
	hit "$1: recorded by ftrace" "${@:3}"
	switch "$2" 0
}

# recorded_twice NAME EVENT PARAMETER: by ftrace, and by perf
recorded_twice() {
	recorded "$@"
	say "$1: recorded by perf" instructions "$(perf record -q -c 1 -m 1024 -o $dir/data \
		-e "${2/\//:}" cat "$place/$3" 2>/dev/null)"
	perf report -i $dir/data --stats 2>/dev/null >$dir/stats
	grep -q 'SAMPLE events: *[1-9]' $dir/stats && ! grep LOST $dir/stats || exit 1
}

# Two values at one place, recorded in several ways.
places() {
	local call
	hit "trace event: off" event
	recorded "trace event" bench/bench_place event
	hit "trace_printk: recorded by ftrace" printk
	call=$(<$place/call)
	echo 1 >$place/kprobe
	hit "kprobe of a function: empty" call "$call"
	echo 0 >$place/kprobe
	echo 'p:bench/bench_call bench_call number=%di:s32 pointer=%si:x64' \
		>$tracefs/kprobe_events
	recorded "kprobe of a function" bench/bench_call call "$call"
	echo >$tracefs/kprobe_events
	recorded_twice "trace event of three numbers" bench/bench_numbers event_numbers
	recorded_twice "trace event of a string" bench/bench_string event_string
	say "trace event of three numbers: a BPF program" instructions \
		"$($dir/bpf bench_numbers cat "$place/event_numbers" | head -n 1)"
}

marker_places() {
	hit "marker: off" marker
	echo 1 >$place/marker_probe
	hit "marker: empty probe" marker
	echo 0 >$place/marker_probe
	recorded "marker" markers/bench_mark_place marker
	recorded_twice "marker of three numbers" markers/bench_mark_numbers marker_numbers
	recorded_twice "marker of a string" markers/bench_mark_string marker_string
}

quiet() { "$@" >/dev/null; }

# operation NAME NUMBER COMMAND...: the cost of the command and, with until=busy, of the
# work that it defers. NAME has %d for the number. The cost with 0 markers is subtracted;
# where that operation does not exist, this is the cost of measuring.
declare -A with_none
until=busy
operation() {
	local name=$1 number=$2 before ticks syncs
	echo 1 >$bench/count
	before=$(<$marks/busy)
	"${@:3}" || exit 1
	ticks=$(($(<"$marks/$until") - before))
	syncs=$(<$bench/syncs)
	echo 0 >$bench/count
	if ((number == 0)); then
		with_none[$name]=$ticks
		return
	fi
	# shellcheck disable=SC2059 # the name has the %d
	printf -v name "$1" "$number"
	say "$name" instructions $((ticks - with_none[$1]))
	say "$name" syncs "$syncs"
}

one() { (($1 == 0)) || switch "markers/bench_mark_$(($1 / 2))" "$2"; }

# attach NUMBER 1|0
attach() { (($1 == 0)) || echo "$2" >$marks/attach; }

# Markers that have a name of their own each.
names() {
	local n=$1
	operation "load of %d markers" "$n" quiet "$dir/load" "$dir/names$n.ko"
	# In some of these, RCU has other work to do, too. The least number counts.
	for _ in 1 2 3; do
		operation "one of %d markers on" "$n" one "$n" 1
		operation "one of %d markers off" "$n" one "$n" 0
	done
	# The kernel has markers, too. While these are on, their hits would be counted.
	until=now operation "all of %d markers on" "$n" switch markers 1
	until=now operation "all of %d markers off" "$n" switch markers 0
	operation "list of %d markers" "$n" quiet "$dir/load" -r $tracefs/markers
	operation "available_events of %d markers" "$n" quiet "$dir/load" -r $tracefs/available_events
	operation "unload of %d markers" "$n" quiet "$dir/load" -u "names$n"
	operation "load of %d functions" "$n" quiet "$dir/load" "$dir/functions$n.ko"
	quiet "$dir/load" -u "functions$n"
}

ten_names() {
	local n=$1 name="%d sites of ten markers"
	operation "load of $name" "$n" quiet "$dir/load" "$dir/ten$n.ko"
	operation "probes on $name" "$n" attach "$n" 1
	operation "no probes on $name" "$n" attach "$n" 0
	operation "unload of $name" "$n" quiet "$dir/load" -u "ten$n"
	attach "$n" 1
	operation "load of $name with probes" "$n" quiet "$dir/load" "$dir/ten$n.ko"
	operation "unload of $name with probes" "$n" quiet "$dir/load" -u "ten$n"
	attach "$n" 0
}

many() {
	local n
	insmod $dir/marks.ko
	names 0	# reads the files for the first time
	ten_names 0
	for n in 0 "$@"; do
		names "$n"
	done
	for n in 0 "$@"; do
		ten_names $((n * 10))
	done
}

insmod $dir/place.ko
places
[[ -e $place/marker ]] || exit 0
marker_places
rmmod place
many "${@:2}"
