#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# places.sh: runs in the guest. Each client attaches to a marker of the kernel and, but for
# bpftrace, to one of a module, and to that of a module that is loaded later. All clients
# must get the values that were passed. The tour and the step events have the other ones.
set -u
. "$(dirname "$0")/../../guest/lib.sh"
tracefs=/sys/kernel/tracing
sample=/sys/module/marker_sample/parameters/fire

marker_of() {
	case $1 in
	kernel) echo kernel_process_fork ;;
	formats) echo sample_types,markers_sample_formats ;;
	*) echo sample_event ;;
	esac
}

# hit PLACE: writes the values to the file wanted. Only the worker's processes count.
hit() {
	if [[ $1 == kernel ]]; then
		# shellcheck disable=SC2016 # the worker's shell expands it
		bash -c 'echo $$ >worker; for _ in 1 2 3 4 5; do : & echo "$$ $!"; wait $!; done'
	else
		modprobe marker_sample
		echo 5 >$sample
		seq 0 4
	fi >wanted
}

# values PLACE: those in the file said, which is a text of any client.
values() {
	if [[ $1 == kernel ]]; then
		sed -nE "s/.*parent_pid[ =]*($(<worker)),? child_pid[ =]*([0-9]+).*/\1 \2/p" said
	else
		sed -nE 's/.*count[ =]*([0-9]+),? name.*/\1/p' said
	fi
}

stop() { kill -INT "$pid"; wait "$pid"; }

# Each client: attach_CLIENT PLACE, and detach_CLIENT, which leaves the values in the file
# said.

attach_bpftrace_raw() {
	bpftrace -e 'rawtracepoint:vmlinux:kernel_process_fork {
			printf("parent_pid %d child_pid %d\n", arg0, arg1);
		}
		BEGIN { printf("ready\n"); }' >said 2>&1 & pid=$!
	until_said ready said
}

detach_bpftrace_raw() { stop; }

# An fprobe event, which waits for the tracepoint.
# shellcheck disable=SC2016 # it expands the arguments
attach_tprobe() {
	local values='parent_pid=$arg1:s32 child_pid=$arg2:s32'
	[[ $1 == kernel ]] || values='count=$arg1:u32 name=$arg2:x64'
	echo "t:places/it $(marker_of "$1") $values" >$tracefs/dynamic_events &&
		echo >$tracefs/trace && echo 1 >$tracefs/events/places/it/enable
}

detach_tprobe() {
	echo 0 >$tracefs/events/places/it/enable
	cat $tracefs/trace >said
	echo -:places/it >>$tracefs/dynamic_events
}

attach_systemtap() {
	staprun "$HOUSE_OUT/tracers/places.ko" >said 2>log & pid=$!
	until_said ready said
}

detach_systemtap() { stop; }

attach_lttng() {
	lttng-sessiond -d --extra-kmod-probes=markers >log 2>&1 &&
		lttng create places --output="$PWD/lttng" >>log 2>&1 &&
		lttng enable-event -k "markers_$(marker_of "$1")" >>log 2>&1 &&
		lttng start >>log 2>&1
}

detach_lttng() {
	lttng stop >>log 2>&1
	babeltrace2 lttng >said
	lttng destroy >>log 2>&1
	rm -rf lttng
	pid=$(</run/lttng/lttng-sessiond.pid)
	kill "$pid"
	while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
}

agree() {
	"attach_$1" "$2" || { cat log; return 1; }
	hit "$2"
	"detach_$1"
	[[ $2 == kernel ]] || rmmod marker_sample
	[[ $(values "$2") == "$(<wanted)" ]] && return
	diff <(values "$2") wanted
	tail -n 20 said
	return 1
}

cd "$(mktemp -d)" || exit 1
# The third hit of the sample, as babeltrace writes it. The step events has the other readers.
types='i = -2147483648, u = 4294967295, x = 0xFFFFFFFF, l = -9223372036854775808, ul = 18446744073709551615, ll = -9223372036854775808, ull = 18446744073709551615, lx = 0xFFFFFFFFFFFFFFFF, p = 0xFFFFFFFFFFFFFFFF, c = "A", s = "text"'
formats='state = -9, mode = 0x2, size = 4, half = -1, byte = 0x2, mac = "c0:00:02:01:05:06", ip = "192.0.2.1", six = "c000:201:506:708:90a:b0c:d0e:f10", arg9 = 2, data = "c0 00", uuid = "c0000201-0506-0708-090a-0b0c0d0e0f10"'

every_conversion() {
	modprobe marker_sample
	attach_lttng formats
	echo 3 >$sample
	detach_lttng
	rmmod marker_sample
	grep -qF " }, { $types }" said &&
		grep -qF " }, { $formats }" said && return
	cat said
	return 1
}

for client in bpftrace_raw tprobe systemtap lttng; do
	result "$client, a marker of the kernel" agree $client kernel
done
for client in tprobe systemtap lttng; do
	modprobe marker_sample
	result "$client, a marker of a module" agree $client module
done
for client in tprobe systemtap lttng; do
	result "$client, a marker of a module that is loaded later" agree $client later
done
result "lttng, every conversion" every_conversion
((failed == 0))
