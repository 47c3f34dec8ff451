#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# guest.sh DIR: runs in the guest, with the modules of DIR.
set -eu
. "$(dirname "$0")/../../guest/lib.sh"
dir=$1
mark=/sys/module/marker_probe/parameters/hits

kmem_work() { for _ in 1 2 3 4 5; do /bin/true; done; }

fails() { if "$@" 2>/dev/null; then echo "succeeded: $*"; exit 1; fi; }

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
		is "$(</sys/module/refuse/parameters/left)" 0
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

# An event that waits for the tracepoint of the marker cannot be attached. It does not
# use the module's memory when other modules are loaded later.
cannot_be_attached() {
	local events=/sys/kernel/tracing/dynamic_events

	echo 't:modules/formats formats_mark' >$events
	echo 1 >/sys/kernel/tracing/events/modules/formats/enable
	for _ in 1 2; do
		insmod "$dir/formats.ko"
		echo 1 >/sys/module/formats/parameters/fire
		rmmod formats
		insmod "$dir/coming.ko"
		rmmod coming
	done
	echo 0 >/sys/kernel/tracing/events/modules/formats/enable
	echo >$events
}

cannot_be_attached
unregisters_while_leaving
fails_while_coming
goes_while_in_use
