#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The kernel's own selftests of live patches, a row for each script; and a function that is
# both patched and traced.
. "$(dirname "$0")/common.sh"

scripts=$out/clients/livepatch-$flavour
instance=instances/beside
patched=cmdline_proc_show	# the tests also patch functions of their modules

# A script that skips its tests fails, as its exit status is not 0.
tests() {
	cd "$scripts"
	KDIR=$HOUSE_BUILD bash "./$1" | tee /tmp/tests.txt || return
	agree tests "$(lines '^TEST: .* ok$' /tmp/tests.txt)" \
		"$(lines '^[[:space:]]*start_test ' "$1")"
}

trace_patched() {
	mkdir $tracefs/$instance
	put $patched $instance/set_ftrace_filter
	put function $instance/current_tracer
}

trace_no_more() {
	put 0 $instance/tracing_on
	cat $tracefs/$instance/trace >patched.txt
	rmdir $tracefs/$instance
}

klp=/sys/kernel/livepatch/test_klp_livepatch

apply_patch() {
	insmod "$scripts/test_modules/test_klp_livepatch.ko"
	until [[ $(<$klp/transition) == 0 ]]; do sleep 0.1; done
}

remove_patch() {
	echo 0 >$klp/enabled
	while [[ -e $klp ]]; do sleep 0.1; done
	rmmod test_klp_livepatch
}

# both FIRST SECOND: the patch and the tracer on one function, in that order.
both() {
	local i
	"$1"
	"$2"
	grep "^$patched (2)" $tracefs/enabled_functions
	put '' $instance/trace
	for ((i = 0; i < times; i++)); do
		cat /proc/cmdline
	done >cmdline.txt
	trace_no_more
	remove_patch
	agree "patched calls" "$(lines 'has been live patched' cmdline.txt)" $times \
		"traced calls" "$(lines ": $patched <-" patched.txt)" $times
}

put 1 events/sched/enable	# tasks that are switched are in code of tracepoints, too
for script in livepatch callbacks shadow-vars state ftrace sysfs syscall kprobe; do
	row livepatch "test-$script.sh" tests "test-$script.sh"
done
row livepatch "function tracer, then a patch of the function" both trace_patched apply_patch
row livepatch "patch of a function, then the function tracer" both apply_patch trace_patched
