#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# kunit.sh SUITE...: run the KUnit suites as modules, in this order. A suite may be named
# twice: unloading a module must remove its sites, tracepoints and markers, so that it can
# be loaded again. Prints the messages of the kernel; fails when a case fails, or when a
# suite does not complete.
set -e
: "${1:?which suites are to run?}"

# Fault injection also into allocations that may sleep, as those of the suites do, but
# only for tasks that request it. Print no stacks.
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

# kernel_says RUN: the kernel's messages since the start of that run.
kernel_says() { dmesg -t | sed "1,/^kunit.sh: run $1\$/d"; }

run=0 failed=0
for suite; do
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
