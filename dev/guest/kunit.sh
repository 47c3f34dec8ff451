#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# kunit.sh [SUITE...]: run the KUnit suites (all, or those) as modules, each twice:
# unloading one forgets its sites, its tracepoints and its markers, and loading it
# again finds none of them.
set -e
[ $# != 0 ] || set -- immediate tracepoint marker

# Let allocations fail that may sleep, which those of the suites do, for a task that
# asks for it; no traces.
while read -r name value; do
	for what in failslab fail_page_alloc; do
		echo "$value" >"/sys/kernel/debug/$what/$name"
	done
done <<-END
	ignore-gfp-wait N
	verbose 0
	task-filter Y
	times -1
	probability 100
END

for suite in "$@" "$@"; do
	modprobe "test_$suite"
	rmmod "test_$suite"
done
