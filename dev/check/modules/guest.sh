#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# guest.sh DIR: runs in the guest, with the modules of DIR.
set -eu
. "$(dirname "$0")/../../guest/lib.sh"
dir=$1
markers=/sys/kernel/tracing/markers
mark=/sys/module/marker_probe/parameters/hits

# finit_module() with MODULE_INIT_IGNORE_VERMAGIC.
force() { perl -e 'open F, $ARGV[0] or die $!; exit !!syscall 313, fileno F, my $none = "", 2' "$1"; }

kmem_work() { for _ in 1 2 3 4 5; do /bin/true; done; }

fails() { if "$@" 2>/dev/null; then echo "succeeded: $*"; exit 1; fi; }

forgets_its_probes() {
	for _ in 1 2 3; do
		insmod "$dir/stray.ko"
		sleep 1
		rmmod stray
		sleep 1
	done
	grep -q '^kernel_sched_switch	vmlinux	1	0	0	' $markers
}

fails_to_load() {
	for _ in 1 2 3; do
		fails insmod "$dir/failing.ko"
		fails grep failing $markers
	done
}

# First without force, to show that force makes the difference.
comes_by_force() {
	insmod "$dir/forced.ko"
	is "$(grep -c '^forced' $markers)" 1
	rmmod forced
	force "$dir/forced.ko"
	is "$(grep -c '^forced' $markers)" 0
	echo 1 >/sys/module/forced/parameters/fire
	rmmod forced
}

# When it is unloaded, its marker and the tracepoint that feeds it are in use.
goes_while_in_use() {
	local seen

	modprobe marker-probe marker=tracer_kfree 'format="ptr %p"' print=0
	for _ in 1 2 3; do
		insmod "$dir/tracer.ko"
		seen=$(<$mark)
		kmem_work
		(($(<$mark) > seen))
		rmmod tracer
		seen=$(<$mark)
		kmem_work
		is "$(<$mark)" "$seen"
	done
	rmmod marker_probe
}

# What was attached before the load failed is removed, and its name is no longer read.
fails_while_coming() {
	modprobe marker-probe marker=coming_mark 'format="number %d"' print=0
	insmod "$dir/refuse.ko"
	for _ in 1 2 3; do
		fails insmod "$dir/coming.ko"
		cat /proc/kallsyms >/dev/null
		sleep 0.5
	done
	rmmod refuse
	insmod "$dir/coming.ko"
	echo 1 >/sys/module/coming/parameters/fire
	is "$(<$mark)" 1
	rmmod coming
	rmmod marker_probe
}

# A task that passed the guard before may still make the call after the last unregister.
unregisters_while_leaving() {
	local probe=/sys/module/leaving_probe/parameters

	insmod "$dir/leaving_probe.ko"
	insmod "$dir/leaving.ko"
	echo 1 >$probe/call
	is "$(<$probe/hits)" 1
	rmmod leaving
	is "$(<$probe/late)" 0
	rmmod leaving_probe
}

forgets_its_probes
fails_to_load
unregisters_while_leaving
fails_while_coming
comes_by_force
goes_while_in_use
