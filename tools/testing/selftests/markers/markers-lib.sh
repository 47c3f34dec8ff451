#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by the tests of this directory: functions for the list of markers and for the
# modules of samples/markers.

. "$(dirname "$0")/../kselftest/tracing.sh"

about=marker
user=$here/event-user
parameters=/sys/module/marker_probe/parameters
modules="marker_probe marker_probe_variadic marker_sample"

unload_all() {
	# shellcheck disable=SC2086 # words
	unload_if_loaded $modules
}

# A column of the list of markers, for one marker.
column() {
	awk -F'\t' -v name="$1" -v column="$2" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
		NR > 1 && $1 == name { print $at[column] }' "$tracing/markers"
}

needs_sched() {
	[ "$(column kernel_sched_switch module)" ] || needs "no CONFIG_SCHED_TRACE"
}

needs_event() {
	[ -d "$tracing/events/$1" ] || needs "no event $1"
}

needs_histograms() {
	[ -f "$tracing/events/sched/sched_switch/hist" ] || needs "no histograms"
}

hits() {
	cat "$parameters/hits"
}

variadic_hits() {
	cat /sys/module/marker_probe_variadic/parameters/hits
}

arm() {
	echo "$1" >/sys/module/marker_probe_variadic/parameters/armed
}

fire() {
	echo "$1" >/sys/module/marker_sample/parameters/fire
}

# is_gone_in TENTHS PATH: wait so many tenths of a second at most.
is_gone_in() {
	tries=$1
	while [ -e "$2" ] && [ "$tries" -gt 0 ]; do
		sleep 0.1
		tries=$((tries - 1))
	done
	[ ! -e "$2" ]
	explain "$2 is still there"
}

id_of() {
	cat "$tracing/$1/id"
}

# Start a program that uses the event, and waits until go_on.
hold() {
	[ -x "$user" ] || needs "no program event-user" || return
	rm -f "$dir/go" "$dir/said"
	mkfifo "$dir/go" || return
	"$user" "$@" <"$dir/go" >"$dir/said" 2>&1 &
	pid=$!
	exec 9>"$dir/go"
	while ! grep -q ready "$dir/said"; do
		kill -0 $pid 2>/dev/null || {
			wait "$pid"
			return
		}
		sleep 0.1
	done
}

go_on() {
	exec 9>&-
	wait "$pid"
}

count_lines() {
	grep -c "$1"
}

find_markers
# shellcheck disable=SC2086 # words
check_modules $modules
