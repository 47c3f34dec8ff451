#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by the tests of tracing. A test is a function. It fails if it returns an error,
# and is skipped if it returns 4. The functions of this file print what is wrong. A
# script runs its tests like this:
#
#	. "$(dirname "$0")/../kselftest/tracing.sh"
#	clean_up() { ... }	# after each test, and at the end
#	find_tracefs
#	plan 2
#	one_test; report "its name"
#	another; report "the name of the other"
#	finish
#
# shellcheck disable=SC2034 # variables are for the scripts

tracing=/sys/kernel/tracing
skip=4
tests_run=0 tests_failed=0 reason=''
tainted_before=$(cat /proc/sys/kernel/tainted)
here=$(cd "$(dirname "$0")" && pwd)

skip_all() {
	echo "TAP version 13"
	echo "1..0 # SKIP $1"
	exit $skip
}

# plan NUMBER: the number of tests; if it is "", finish prints the number. Makes the
# directory $dir for files of the tests.
plan() {
	echo "TAP version 13"
	planned=$1
	[ ! "$planned" ] || echo "1..$planned"
	dir=$(mktemp -d)
	trap '{ clean_up; rm -rf "$dir"; } >/dev/null 2>&1' EXIT
	trap 'exit 1' INT TERM
}

# result CODE NAME: print the result of a test that needs no clean_up.
result() {
	tests_run=$((tests_run + 1))
	case $1 in
	0)	echo "ok $tests_run $2" ;;
	"$skip")
		echo "ok $tests_run $2 # SKIP $reason" ;;
	*)	echo "not ok $tests_run $2"
		tests_failed=1 ;;
	esac
	reason=''
}

# Print the result of the last command.
report() {
	code=$?
	clean_up >/dev/null 2>&1
	result $code "$1"
}

finish() {
	[ "$planned" ] || echo "1..$tests_run"
	exit $tests_failed
}

comment() {
	echo "# $*"
}

# If the last command failed, print the arguments.
explain() {
	code=$?
	[ $code = 0 ] || comment "$*"
	return $code
}

# Set the reason for skipping a test, which must return the status of this function.
needs() {
	reason=$1
	return $skip
}

needs_program() {
	command -v "$1" >/dev/null || needs "no $1"
}

is() {
	[ "$1" = "$2" ] || {
		comment "'$1' instead of '$2'"
		return 1
	}
}

# Also fails if the first argument is not a number.
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

# The command must fail and print these words.
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

# Function tracers side by side, each with a name and filters of its own
has_function_tracers() {
	[ -f "$tracing/options/function-tracers" ]
}

# write_line FILE LINE: without O_TRUNC. dd has a message for each error; some shells do not.
write_line() {
	echo "$2" | dd conv=notrunc status=none of="$1"
}

load() {
	modprobe "$@"
	explain "cannot load: $*"
}

unload() {
	modprobe -r "$1"
	explain "cannot unload: $1"
}

is_loaded() {
	[ -d "/sys/module/$1" ]
}

unload_if_loaded() {
	for loaded; do
		! is_loaded "$loaded" || modprobe -r "$loaded"
	done
}

# Skip all tests unless the modules exist and are not loaded.
check_modules() {
	for needed; do
		modprobe -q -n "$needed" || skip_all "no module $needed"
		! is_loaded "$needed" || skip_all "$needed is in use"
	done
}

mount_tracefs() {
	[ "$(id -u)" = 0 ] || skip_all "needs root"
	mountpoint -q $tracing || mount -t tracefs nodev $tracing 2>/dev/null
}

find_tracefs() {
	mount_tracefs
	[ -f $tracing/trace ] || skip_all "no tracefs"
}

find_markers() {
	find_tracefs
	[ -f $tracing/markers ] || skip_all "no CONFIG_MARKERS"
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

needs_nobody() {
	as_nobody true 2>/dev/null || needs "cannot become another user"
}

# Run short processes, to cause task switches.
start_processes() {
	rounds=20
	while [ $rounds -gt 0 ]; do
		/bin/true
		rounds=$((rounds - 1))
	done
}

# Mark the place in the kernel's log from which log_since prints. It prints only lines
# with the word $about, if that is set.
log_from_here() {
	log_start="$0 $$ $((log_number += 1))"
	echo "$log_start" >/dev/kmsg
}

log_since() {
	dmesg | awk -v start="$log_start" -v word="${about:-}" '
		seen && (word == "" || index($0, word)) {
			sub(/^\[ *[0-9.]+\](\[[^]]*\])? /, "")	# the time and the caller
			print
		}
		index($0, start) { seen = 1 }'
}

# The kernel has not died (128), warned (512), found a bad page (32) or a CPU that did not
# schedule (16384) since the script began. Modules may have set other taints.
kernel_is_well() {
	is $(($(cat /proc/sys/kernel/tainted) & 17056)) $((tainted_before & 17056))
}
