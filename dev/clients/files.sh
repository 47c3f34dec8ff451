#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Which files the kernel has for all to see, with their modes and owners; and what
# files.sh of the selftests says that those of the series are to be like. clients.sh
# compares.
. "$(dirname "$0")/common.sh"

# Those of a process or a module come and go. Names of functions have numbers.
list_files() {
	find /proc -regex '/proc/[0-9]+' -prune -o -printf '%p %m %U %G\n'
	find /sys ! -path '/sys/kernel/debug/tracing*' -printf '%p %m %U %G\n'
}

kin_of_ours() {
	[[ ! -f $tracefs/markers ]] ||
		"$out/selftests/tracing_security/files.sh" --kin
}

listed() {
	list_files 2>/dev/null >"$RESULTS/files.txt" || true	# some go meanwhile
	kin_of_ours >"$RESULTS/kin.txt"
	say "$(wc -l <"$RESULTS/files.txt") files"
}

row files 'files of proc, sys, debugfs and tracefs' listed
