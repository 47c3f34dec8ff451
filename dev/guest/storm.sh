#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# storm.sh SECONDS: runs in the guest: the torture test of tracing in its mode storm,
# then a count of the areas of trampolines that are left.
set -u
dev/torture/torture/guest.sh none "$1" 0 kinds=storm
code=$?

# Trampolines are in areas of 64 KiB plus a guard page. All empty areas except one
# must be freed: those of the storm, and those of changes in quick succession.
for ((i = 0; i < 300; i++)); do
	echo 1 >/sys/kernel/tracing/events/sched/enable
	echo 0 >/sys/kernel/tracing/events/sched/enable
done
areas() { grep -cE ' 69632 (generate_text|alloc_memory|new_chunk)\+' /proc/vmallocinfo; }
for ((i = 0; i < 30; i++)); do
	(($(areas) > 1)) || break
	sleep 1
done
echo "areas:$(areas)" >>"$RESULTS/counters"
exit $code
