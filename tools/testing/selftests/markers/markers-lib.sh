#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by the tests of this folder: commands that say what is wrong, and what
# becomes of the modules of samples/markers. A test is a function; it fails with
# the first of its commands that fails, and is skipped when it returns 4.

skip=4
parameters=/sys/module/marker_probe/parameters

skip_all() {
	echo "TAP version 13"
	echo "1..0 # SKIP $1"
	exit $skip
}

comment() {
	echo "# $*"
}

is() {
	[ "$1" = "$2" ] || {
		comment "'$1' instead of '$2'"
		return 1
	}
}

at_least() {
	[ "$1" -ge "$2" ] || {
		comment "$1 instead of at least $2"
		return 1
	}
}

has() {
	case $1 in
	*"$2"*) ;;
	*)	comment "'$2' is not in '$1'"
		return 1 ;;
	esac
}

# The command must fail, and say this.
fails_with() {
	words=$1
	shift
	if said=$("$@" 2>&1); then
		comment "succeeded: $*"
		return 1
	fi
	has "$said" "$words"
}

fails() {
	fails_with "" "$@"
}

load() {
	modprobe "$@" || {
		comment "cannot load: $*"
		return 1
	}
}

unload() {
	modprobe -r "$1" || {
		comment "cannot unload: $1"
		return 1
	}
}

is_loaded() {
	[ -d "/sys/module/$1" ]
}

# A column of the list of markers, for one marker.
column() {
	awk -F'\t' -v name="$1" -v column="$2" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
		NR > 1 && $1 == name { print $at[column] }' "$tracing/markers"
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

# An event that nobody uses any more goes soon.
goes_soon() {
	tries=50
	while [ -d "$tracing/$1" ] && [ $tries -gt 0 ]; do
		sleep 0.1
		tries=$((tries - 1))
	done
	[ ! -d "$tracing/$1" ] || {
		comment "$1 is still there"
		return 1
	}
}

# The kernel has warned of nothing, and no checker of it has.
kernel_is_well() {
	is "$(cat /proc/sys/kernel/tainted)" "$tainted_before"
}

as_nobody() {
	setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}

# Processes that start and end: the scheduler has something to switch.
work() {
	rounds=20
	while [ $rounds -gt 0 ]; do
		/bin/true
		rounds=$((rounds - 1))
	done
}

# What the kernel says from here on about markers is given by log_since.
log_from_here() {
	log_start="markers.sh $$ $((log_number += 1))"
	echo "$log_start" >/dev/kmsg
}

log_since() {
	dmesg | awk -v start="$log_start" '
		seen && /marker/ { sub(/^\[[^]]*\] /, ""); print }
		index($0, start) { seen = 1 }'
}

count_lines() {
	grep -c "$1"
}

modules="marker_probe marker_probe_variadic marker_sample"

unload_all() {
	for module in $modules; do
		if is_loaded "$module"; then
			modprobe -r "$module"
		fi
	done
}

find_tracefs() {
	for tracing in /sys/kernel/tracing /sys/kernel/debug/tracing; do
		[ -f $tracing/trace ] && return
	done
	skip_all "no tracefs, or not root"
}

check_requirements() {
	find_tracefs
	[ -f $tracing/markers ] || skip_all "no CONFIG_MARKERS"
	for module in $modules; do
		modprobe -q -n "$module" || skip_all "no module $module"
		! is_loaded "$module" || skip_all "$module is in use"
	done
}

# What became of the last command; clean_up is the script's.
report() {
	code=$?
	clean_up
	case $code in
	0)	echo "ok $((number += 1)) $1" ;;
	4)	echo "ok $((number += 1)) $1 # SKIP" ;;
	*)	echo "not ok $((number += 1)) $1"
		failed=1 ;;
	esac
}

finish() {
	exit "$failed"
}

check_requirements
number=0 failed=0
tainted_before=$(cat /proc/sys/kernel/tainted)
trap clean_up EXIT
trap 'exit 1' INT TERM
