#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# guest.sh DIR SECONDS: runs in the guest. A thousand markers in two modules that are
# loaded and unloaded, while tracers attach and detach at random. A complaint in the
# kernel's log fails the run.
set -u
. "$(dirname "$0")/../../guest/lib.sh"
dir=$1 seconds=$2
tracefs=/sys/kernel/tracing
markers=$tracefs/markers
cd "$(mktemp -d)" || exit 1

some_module() { ((RANDOM % 2)) && echo many_a || echo many_b; }
some_marker() { printf '%s_%03d' "$(some_module)" $((RANDOM % 500)); }

load() { insmod "$dir/$1.ko"; }
# For example an open file of a parameter holds a module for a moment.
unload() {
	for _ in {1..50}; do
		rmmod "$1" 2>rmmod.err && return
		sleep 0.1
	done
	cat rmmod.err >&2
	return 1
}

count() { grep -c "^$1" "$2"; }
dirs() { find "$tracefs/events/markers" -maxdepth 1 -name "$1" | wc -l; }

are_listed() {
	load many_a && load many_b || return
	(($(count many_ $markers) == 1000 && $(dirs 'many_*') == 1000)) || return
	(($(count many_ $tracefs/marker_sites) == 1000)) || return
	grep -q $'^many_a_007\tmany_a\t.*many.h:[0-9]*\tpass_all$' $tracefs/marker_sites
}

# All are enabled and disabled; each is hit once, with the right numbers.
are_recorded() {
	local trace=$tracefs/instances/many
	mkdir $trace
	echo 4096 >$trace/buffer_size_kb
	echo 1 >$trace/events/markers/enable
	echo 1 >/sys/module/many_a/parameters/fire
	echo 0 >$trace/events/markers/enable
	echo 1 >/sys/module/many_b/parameters/fire
	echo 0 >$trace/tracing_on
	(($(grep -c 'many_a_[0-9]*: number 0 ' $trace/trace) == 500)) || return
	(($(grep -c 'many_a_[0-9]*: .* text some text$' $trace/trace) == 100)) || return
	! grep -q many_b $trace/trace || return
	rmdir $trace
}

are_gone() {
	unload many_a && unload many_b || return
	for _ in {1..50}; do
		(($(count many_ $markers) + $(dirs 'many_*'))) || return 0
		sleep 0.1
	done
	return 1
}

once_module() {
	local mod
	mod=$(some_module)
	load "$mod" || return
	for _ in 1 2 3; do
		echo 5 >"/sys/module/$mod/parameters/fire"
		a_while
	done
	unload "$mod"
}

# One event, or all.
once_tracefs() {
	local trace=$tracefs/instances/random$BASHPID event
	mkdir -p "$trace"
	event=$(some_marker)/
	((RANDOM % 2)) || event=
	echo 1 >"$trace/events/markers/${event}enable" || { rmdir "$trace"; return 1; }
	a_while
	echo 0 >"$trace/tracing_on"	# else reading would add to the trace without end
	cat "$trace/trace" >/dev/null
	((RANDOM % 2)) || echo 0 >"$trace/events/markers/${event}enable"
	rmdir "$trace"
}

# Files that are open while the module may be unloaded, and the lists.
once_files() {
	local event fd
	event=$tracefs/events/markers/$(some_marker)
	exec 3<"$event/format" 4<"$event/filter" 5<"$event/enable" || return
	a_while
	for fd in 3 4 5; do cat <&$fd >/dev/null; done
	exec 3<&- 4<&- 5<&-
	cat $markers $tracefs/marker_sites $tracefs/marker_probes >/dev/null
}

once_trigger() {
	local event
	event=$tracefs/events/markers/$(some_marker)
	echo 'hist:keys=number' >"$event/trigger" || return
	a_while
	cat "$event/hist" >/dev/null
	echo '!hist:keys=number' >"$event/trigger"
}

once_perf() { perf record -q -a -e "markers:$(some_marker)" -o perf.data -- sleep 0.3; }

once_probe() {
	modprobe marker-probe marker="$(some_marker)" print=0 || return
	a_while
	rmmod marker_probe
}

users=(module tracefs files trigger probe)
! command -v perf >/dev/null || users+=(perf)

all_at_random() {
	local code=0
	echo 0 >$tracefs/tracing_on
	at_random time_is_over "${users[@]/#/once_}" once_module || code=$?
	echo 1 >$tracefs/tracing_on
	return $code
}

is_free() {
	awk -F'\t' '$4 + $5' $markers >free.txt
	sed 1d $tracefs/marker_probes >>free.txt
	[[ ! -s free.txt ]] || { cat free.txt >&2; return 1; }
}

modules_go() {
	local mod
	for mod in many_a many_b; do
		! grep -q "^$mod " /proc/modules || unload $mod || return
	done
}

result "a thousand markers are listed, each with its place" are_listed
result "all are on at once, and then off" are_recorded
result "all are gone with their modules" are_gone
result "tracers attach at random, each at least once in $seconds s" all_at_random
result "nothing is left attached" is_free
result "the modules are free" modules_go
