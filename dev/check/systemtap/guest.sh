#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# guest.sh SCRIPTS MODULE CHANGED: runs in the guest, with the translated scripts
# and the two forms of the external module.
set -u
. "$(dirname "$0")/../../guest/lib.sh"
scripts=$1 module=$2 changed=$3
markers=/sys/kernel/tracing/markers
sample=/sys/module/marker_sample/parameters/fire
hits=/sys/module/marker_probe/parameters/hits
cd /tmp || exit 1

# run SCRIPT COMMAND...: while the command runs; the output of the script is in out.
run() {
	staprun -o out -c "${*:2}" "$scripts/$1.ko" 2>err && return
	cat err >&2
	return 1
}

# start SCRIPT, stop: the same, in two steps.
start() {
	staprun -o out "$scripts/$1.ko" 2>err &
	staprun=$!
	until [[ $(probes_on sample_event) == 1 ]]; do sleep 0.1; done
}

stop() {
	kill -INT "$staprun"
	wait "$staprun"
}

probes_on() { awk -F'\t' -v m="$1" '$1 == m { print $4 }' $markers; }
nothing_attached() { is "$(awk -F'\t' '/^[^#]/ && $4 + $5' $markers)" ''; }

lists_agree() {
	diff <(awk -F'\t' '$2 == "vmlinux" { print $1, $3 }' "$HOUSE_BUILD/Module.markers" | sort) \
		<(awk -F'\t' '$2 == "vmlinux" { print $1, $6 }' $markers | sort) >&2
}

# SystemTap reads unsigned numbers as signed ones.
values() {
	run values "sh -c 'echo 2 >$sample'" &&
		is "$(<out)" "$(for i in 0 1; do
			echo "sample_event \"count %u name %s\" $i sh"
			echo "i -2147483648 u -1 x ffffffffffffffff l -9223372036854775808 ul -1 ll -9223372036854775808 ull -1 lx ffffffffffffffff p ffffffffffffffff c A s text"
		done)"
}

# With another probe on one of the markers, that of the module marker_probe.
counts() {
	modprobe marker-probe marker=sample_event print=0
	run count "sh -c 'echo 1000 >$sample'" &&
		is "$(<out)" "$(printf '%s 1000\n' sample_event sample_noargs sample_types)" &&
		is "$(<$hits)" 1000 || return
	rmmod marker_probe
}

# Tracepoints, which SystemTap finds in the headers.
tracepoints() {
	run tracepoints /bin/true && is "$(<out)" '1 1 1'
}

module_comes_and_goes() {
	local i
	start count
	echo 10 >$sample
	for i in 1 2 3; do
		rmmod marker_sample && modprobe marker_sample || return
		echo 10 >$sample
	done
	stop
	is "$(<out)" "$(printf '%s 40\n' sample_event sample_noargs sample_types)"
}

# The script is started before the markers exist.
module_comes_later() {
	rmmod marker_sample
	staprun -o out -c "sh -c 'modprobe marker_sample; echo 5 >$sample'" "$scripts/count.ko" &&
		is "$(<out)" "$(printf '%s 5\n' sample_event sample_noargs sample_types)"
}

external_module() {
	run mismatch "insmod $module/stap_check.ko" && is "$(<out)" 7 || return
	rmmod stap_check
}

other_format() {
	insmod "$changed/stap_check.ko"
	dmesg -C
	! staprun -o out -c true "$scripts/mismatch.ko" 2>err || return
	dmesg | grep -q 'stap_check: a probe wants the format "number %d", but the marker has "number %u"' || return
	grep -q 'registration error' err || { cat err >&2; return 1; }
	rmmod stap_check
}

modprobe marker_sample
result "SystemTap's list of markers is the kernel's" lists_agree
result "every conversion arrives, and name and format" values
result "wildcards; the counts are exact beside another probe" counts
result "tracepoints of events, and others" tracepoints
result "a module comes and goes while a script has its markers" module_comes_and_goes
result "a script waits for a module" module_comes_later
result "the marker of an external module" external_module
result "a script with another format does not start, and the log says why" other_format
result "nothing is left attached" nothing_attached
