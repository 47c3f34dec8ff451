#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# List the tracepoints that are defined but never called. They take memory for
# their objects, stubs and events, but can never be hit.
#
# usage: unused-tracepoints.sh FILE...
#
# The files are relocatable objects: vmlinux.o and modules (.ko). A tracepoint
# may be defined in one and called in another one. A call refers to the stub,
# __traceiter_<name>, from text. Code that only reads the guard, or calls the
# probes itself, has a record that refers to __tracepoint_<name>: in __imv_jump,
# or in __jump_table without CONFIG_IMMEDIATE. The stub also has a record, for
# the member @code, which is ignored: only there, both flags are set.
#
# If the configuration has neither kind of record, a tracepoint whose guard is read,
# but which is never called, is listed too.

set -e

if [ $# -eq 0 ]; then
	echo "usage: $0 vmlinux.o [module.ko...]" >&2
	exit 2
fi

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

for file; do
	if [ ! -r "$file" ]; then
		echo "$0: cannot read $file: build vmlinux and modules first" >&2
		exit 2
	fi
	# A pipe has the status of awk, which must fail if the other command does.
	{ ${NM:-nm} --defined-only "$file" || echo failed; } |
		awk '$0 == "failed" { exit 1 }
		     $2 ~ /^[Dd]$/ && sub(/^__tracepoint_/, "", $3) { print $3 }' \
		>>"$dir/defined"
	# "OFFSET TYPE SYMBOL+ADDEND", under a line that names the section.
	{ ${OBJDUMP:-objdump} -r "$file" || echo failed; } |
		awk '$0 == "failed" { exit 1 }
		     /^RELOCATION RECORDS/ { text = /\.text/; guard = /__imv|__jump_table/ }
		     guard && $3 ~ /[+]0x[0-9a-f]*[37bf]$/ { next }
		     NF == 3 { sub(/[-+]0x.*/, "", $3)
			       if (text && sub(/^__traceiter_/, "", $3)) print $3
			       if (guard && sub(/^__tracepoint_/, "", $3)) print $3 }' \
		>>"$dir/called"
done

sort -u "$dir/defined" -o "$dir/defined"
sort -u "$dir/called" -o "$dir/called"
comm -23 "$dir/defined" "$dir/called"
