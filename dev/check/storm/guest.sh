#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# guest.sh DIR SECONDS: runs in the guest; a storm on the tracepoint of the modules
# in DIR, while other modules with sites of it come and go, fail to load, and CPUs
# go and come back.
set -eu
dir=$1
end=$((SECONDS + $2))
counters=/sys/module/storm/parameters
rounds=0

cpu() { echo "$2" >"/sys/devices/system/cpu/cpu$1/online"; }

one_round() {
	insmod "$dir/storm-sites.ko"
	cpu 1 0
	sleep 0.2
	if insmod "$dir/storm-sites.ko" fail=1 2>/dev/null; then
		echo "a module that fails was loaded"
		exit 1
	fi
	rmmod storm_sites
	if insmod "$dir/storm-sites.ko" fail=1 2>/dev/null; then
		echo "a module that fails was loaded"
		exit 1
	fi
	cpu 1 1
	rounds=$((rounds + 1))
}

# An emulated CPU may stand still for long within an NMI, while others run.
echo 1000000000 >/sys/kernel/debug/x86/nmi_longest_ns
insmod "$dir/storm.ko"
while ((SECONDS < end)); do
	one_round
done
(cd $counters && grep . -- *) | tee "$RESULTS/counters"
echo "rounds:$rounds" | tee -a "$RESULTS/counters"
rmmod storm

# Trampolines live in areas of 64 KiB, with a guard page. Those of the storm, and
# of changes in quick succession, are given back when they are empty, but for one.
for ((i = 0; i < 300; i++)); do
	echo 1 >/sys/kernel/tracing/events/sched/enable
	echo 0 >/sys/kernel/tracing/events/sched/enable
done
areas() { grep -cE ' 69632 (generate_text|alloc_memory|new_chunk)\+' /proc/vmallocinfo; }
for ((i = 0; i < 30; i++)); do
	(($(areas) > 1)) || break
	sleep 1
done
echo "areas:$(areas)" | tee -a "$RESULTS/counters"
