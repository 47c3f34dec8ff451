#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# List the files of the kernel's file systems with their modes and owners, and the new
# files of the series that files.sh of the selftests checks. clients.sh compares.
. "$(dirname "$0")/common.sh"

# Without the files of processes, and the second mount of tracefs.
list_files() {
	find /proc -regex '/proc/[0-9]+' -prune -o -printf '%p %m %U %G\n'
	find /sys ! -path '/sys/kernel/debug/tracing*' -printf '%p %m %U %G\n'
}

kin_of_ours() {
	[[ ! -f $tracefs/markers ]] ||
		"$out/selftests/tracing_security/files.sh" --kin
}

listed() {
	list_files 2>/dev/null >"$RESULTS/files.txt" || true	# some vanish
	kin_of_ours >"$RESULTS/kin.txt"
	say "$(wc -l <"$RESULTS/files.txt") files"
}

row files 'files of proc, sys, debugfs and tracefs' listed
