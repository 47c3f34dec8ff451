#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by the tests of this folder. A test is a function; it fails with the
# first of its commands that fails, and is skipped when it returns 4.

skip=4
number=0 failed=0
tainted_before=$(cat /proc/sys/kernel/tainted)
here=$(cd "$(dirname "$0")" && pwd)

skip_all() {
	echo "TAP version 13"
	echo "1..0 # SKIP $1"
	exit $skip
}

comment() {
	echo "# $*"
}

# Why a test cannot run; the test then returns what this does.
needs() {
	reason=$1
	return $skip
}

is() {
	[ "$1" = "$2" ] || {
		comment "'$1' instead of '$2'"
		return 1
	}
}

# Also when the first one is no number.
at_least() {
	[ "$1" -ge "$2" ] 2>/dev/null || {
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

# What the commands before it were about, in case they failed.
explain() {
	code=$?
	[ $code = 0 ] || comment "$*"
	return $code
}

# A program of this folder.
helper() {
	echo "$here/$1"
}

# as_nobody [+CAPABILITY,...] COMMAND...
as_nobody() {
	caps=-all
	case $1 in
	+*)	caps=$caps,$1
		shift ;;
	esac
	setpriv --reuid=65534 --regid=65534 --clear-groups \
		--inh-caps="$caps" --ambient-caps="$caps" "$@"
}

# The kernel has warned of nothing, and no checker of it has.
kernel_is_well() {
	is "$(cat /proc/sys/kernel/tainted)" "$tainted_before"
}

find_tracefs() {
	tracing=/sys/kernel/tracing
	[ "$(id -u)" = 0 ] || skip_all "needs root"
	[ -d $tracing/events ] || mount -t tracefs nodev $tracing 2>/dev/null
	[ -f $tracing/trace ] || skip_all "no tracefs"
	[ -f $tracing/markers ] || skip_all "no CONFIG_MARKERS"
}

# What became of the last command; clean_up is the script's.
report() {
	code=$?
	clean_up >/dev/null 2>&1
	number=$((number + 1))
	case $code in
	0)	echo "ok $number $1" ;;
	4)	echo "ok $number $1 # SKIP $reason" ;;
	*)	echo "not ok $number $1"
		failed=1 ;;
	esac
}

finish() {
	exit $failed
}
