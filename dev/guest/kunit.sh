#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# kunit.sh SUITE...: run the KUnit suites as modules, in this order. A suite may be named
# twice. Prints the messages of the kernel; at last the cases that failed, and the suites
# that did not complete, which also make it fail.
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

# failures RUN SUITE: one a line.
failures() {
	kernel_says "$1" | sed -nE 's/^ +not ok [0-9]+ (- )?//p'
	kernel_says "$1" | grep -qE "^ok [0-9]+ (- )?$2\$" || echo "the suite did not pass"
}

run=0 failed=/tmp/kunit.failed
: >$failed
for suite; do
	run=$((run + 1))
	echo "kunit.sh: run $run" >/dev/kmsg
	modprobe "test_$suite"
	rmmod "test_$suite"
	kernel_says $run
	failures $run "$suite" | sed "s/^/kunit.sh: failed: $suite: /" >>$failed
done
[ ! -s $failed ] || { cat $failed; exit 1; }
