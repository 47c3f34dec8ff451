#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# kunit.sh [SUITE...]: run the KUnit suites (all, or those) as modules, each twice:
# unloading one forgets its sites, its tracepoints and its markers, and loading it
# again finds none of them. Prints what they say; fails when a case does, or when a
# suite does not run to its end.
set -e
[ $# != 0 ] || set -- immediate immediate_states tracepoint marker marker_formats ftrace_sets

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

# kernel_says RUN: what the kernel has said since then.
kernel_says() { dmesg -t | sed "1,/^kunit.sh: run $1\$/d"; }

run=0 failed=0
for suite in "$@" "$@"; do
	run=$((run + 1))
	echo "kunit.sh: run $run" >/dev/kmsg
	modprobe "test_$suite"
	rmmod "test_$suite"
	kernel_says $run
	if kernel_says $run | grep -qE '^ *not ok ' ||
		! kernel_says $run | grep -qE "^ok [0-9]+ (- )?$suite\$"; then
		echo "kunit.sh: $suite failed"
		failed=1
	fi
done
exit $failed
