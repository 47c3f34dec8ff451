#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# guest.sh OUT: runs in the guest, with the modules that are built in OUT. Each
# test prints a line of TAP.
set -u
. "$(dirname "$0")/../../guest/lib.sh"
out=$1
markers=/sys/kernel/tracing/markers
sample=/sys/module/marker_sample/parameters/fire
events=/sys/module/events/parameters/fire
values=/sys/module/lttng_values/parameters/fire
text=/tmp/text	# the last trace
me=$(</proc/$$/comm)
cd /tmp || exit 1

# So that the next test can pass.
after_failure() {
	jobs -p | xargs -r kill
	lttng destroy --all >/dev/null
	rm -rf /tmp/trace
	! grep -q ^marker_probe /proc/modules || rmmod marker_probe
	modprobe marker_sample
}

# patiently COMMAND...: it succeeds within ten seconds.
patiently() {
	for ((i = 0; i < 100; i++)); do
		"$@" 2>/dev/null && return
		sleep 0.1
	done
	"$@"
}

# fire MODULE'S-PARAMETER [NUMBER]
fire() { echo "${2:-1}" >"$1"; }

# begin OPTION...: a session with the events of these options.
begin() {
	lttng create s --output=/tmp/trace &&
		lttng enable-channel -k c --subbuf-size=4M --num-subbuf=4 &&
		lttng enable-event -k -c c "$@"
} >/dev/null

# The trace of the session, complete, as text.
end() {
	lttng destroy s >/dev/null
	babeltrace2 /tmp/trace >$text 2>text.err || echo "babeltrace2: $?" >>text.err
	rm -rf /tmp/trace
	[[ ! -s text.err ]] || { cat text.err >&2; return 1; }
}

# with "OPTIONS" COMMAND...: trace the events while the command runs.
with() {
	# shellcheck disable=SC2086 # one word an option
	begin $1 && lttng start >/dev/null && "${@:2}" && end
}

# count EVENT [REGEX]: the number of its records in the trace that match.
count() { grep -cE "markers_$1: .*\\{ .*${2:-}" $text; }

# has EVENT TEXT
has() {
	grep -F "markers_$1: " $text | grep -qF -- "$2" && return
	{ echo "no '$2' in:"; grep "markers_$1" $text; } >&2
	return 1
}

# probes [NAME]: how many are attached to it, or to all markers.
probes() { awk -F'\t' -v name="${1:-}" '!/^#/ && (name == "" || $1 == name) { n += $4 } END { print n + 0 }' $markers; }

listed() { lttng list -k | grep -oE 'markers_[^ ]+' | sort; }

in_list() {
	local name
	for name; do
		listed | grep -qxF "markers_$name" || { echo "no $name" >&2; return 1; }
	done
}

# All markers, once each, and those of a module after it is loaded.
lists() {
	is "$(listed)" "$(awk '!/^#/ { print "markers_" $1 }' $markers | sort -u)" &&
		in_list kernel_sched_switch kernel_process_fork values_text &&
		modprobe marker_sample &&
		in_list kernel_sched_switch sample_event sample_noargs sample_types
}

connects_what_is_enabled() {
	is "$(probes)" 0 &&
		begin markers_sample_event && is "$(probes)" 0 &&
		lttng start >/dev/null && is "$(probes)" 1 && is "$(probes sample_event)" 1 &&
		lttng enable-event -k -c c markers_kernel_sched_switch >/dev/null &&
		is "$(probes)" 2 && is "$(probes kernel_sched_switch)" 1 &&
		lttng disable-event -k -c c markers_sample_event >/dev/null &&
		is "$(probes sample_event)" 0 &&
		lttng enable-event -k -c c markers_sample_event >/dev/null &&
		is "$(probes)" 2 && fire $sample 3 && end &&
		is "$(count sample_event)" 3 && is "$(probes)" 0
}

# No event of many is lost, and other probes on the marker count the same.
counts_exactly() {
	modprobe marker_probe marker=sample_event print=0 &&
		with markers_sample_event fire $sample 20000 &&
		is "$(</sys/module/marker_probe/parameters/hits)" 20000 &&
		is "$(count sample_event)" 20000 &&
		is "$(sed -nE 's/.* count = ([0-9]+),.*/\1/p' $text | sort -un | wc -l)" 20000 &&
		rmmod marker_probe
}

signed='i = -2147483648, ld = -9223372036854775808, li = -9223372036854775808, lld = -9223372036854775808'
ones=18446744073709551615
hex=0xFFFFFFFFFFFFFFFF
octal=01777777777777777777777

every_conversion() {
	with 'markers_values_*,markers_sample_types' eval "fire $values; fire $sample" &&
		has values_signed "{ d = -2147483648, $signed, lli = -9223372036854775808 }" &&
		has values_signed "{ d = 2147483647, i = 2147483647, ld = 9223372036854775807, li = 9223372036854775807, lld = 9223372036854775807, lli = 9223372036854775807 }" &&
		has values_signed '{ d = -1, i = -1, ld = -1, li = -1, lld = -1, lli = -1 }' &&
		has values_unsigned "{ u = 4294967295, x = 0xFFFFFFFF, X = 0xFFFFFFFF, o = 037777777777, lu = $ones, lx = $hex, lX = $hex, lo = $octal, llu = $ones, llx = $hex, llX = $hex, llo = $octal }" &&
		has values_unsigned '{ u = 0, x = 0x0, X = 0x0, o = 0' &&
		has values_text '{ s = "text", c = "c", p = 0x0, padded = "text", wide = 0x2A }' &&
		has values_text "{ s = \"\", c = \"\", p = $hex, padded = \"\", wide = 0x2A }" &&
		has sample_types "ull = $ones, lx = $hex, p = $hex, c = \"A\", s = \"text\" }"
}

# A filter dereferences the pointer, so it must not get the original one.
bad_strings() {
	with markers_check_array,markers_check_last fire $events &&
		has check_array '{ part = "abcd", less = "ab", none = "", end = 7 }' &&
		has check_last '{ last = "xxxxxxxxxxxxxxxx" }' &&
		with 'markers_check_strings --filter user=="(fault)"&&nowhere=="(fault)"' fire $events &&
		grep -qE 'check_strings: .*\{ null = "\(null\)", user = "\(fault\)", nowhere = "\(fault\)", empty = "", arg5 = "x{340}", end = "\(fault\)", after = 77 \}$' $text && return
	cat $text >&2
	return 1
}

# The compiler decides which one is first.
two_formats() {
	in_list check_two check_two.2 &&
		with 'markers_check_two*' fire $events &&
		is "$(count 'check_two(\.2)?' 'number = 1')" 1 &&
		is "$(count 'check_two(\.2)?' 'text = "two"')" 1 &&
		is "$(dmesg | grep -c 'check_two: a marker of this name has another format;.* is the event markers_check_two.2')" 1
}

filters() {
	with 'markers_sample_event --filter count>=7' fire $sample 10 && is "$(count sample_event)" 3 &&
		with "markers_sample_event --filter count<4&&name==\"$me\"" fire $sample 10 && is "$(count sample_event)" 4 &&
		with 'markers_sample_event --filter name!="guest*"' fire $sample 10 && is "$(count sample_event)" 0 &&
		with 'markers_values_signed --filter lld<0&&d<0' fire $values && is "$(count values_signed)" 2
}

wildcards() {
	with 'markers_sample_*' fire $sample 4 &&
		is "$(count sample_event)/$(grep -c 'markers_sample_noargs: .*{ }$' $text)/$(count sample_types)" 4/4/4 &&
		with 'markers_*' fire $sample 4 &&
		is "$(count sample_event)" 4 && (($(count kernel_sched_switch) > 0)) && is "$(probes)" 0
}

contexts() {
	begin markers_sample_event &&
		lttng add-context -k -c c -t procname -t pid >/dev/null &&
		lttng start >/dev/null && fire $sample 2 && end &&
		is "$(grep -c "procname = \"$me\", pid = $$ }" $text)" 2
}

# tracked IDENTITIES COUNT: of six hits, so many are traced.
tracked() {
	begin markers_sample_event && lttng track -k "$1" >/dev/null &&
		lttng start >/dev/null && fire $sample 6 && end && is "$(count sample_event)" "$2"
}

trackers() {
	tracked --pid=1 0 && tracked --pid=1,$$ 6 && tracked --vpid=$$ 6 &&
		tracked --uid=1 0 && tracked --vgid=0 6
}

active() { lttng list s | grep -q '\[active'; }

# One trigger starts a session; another one captures fields without a session.
triggers() {
	begin markers_sample_event &&
		lttng add-trigger --name=starts --condition=event-rule-matches \
			--type=kernel --name=markers_sample_event \
			--filter='count == 2' --action=start-session s >/dev/null &&
		lttng add-trigger --name=captures --condition=event-rule-matches \
			--capture=name --capture=count --type=kernel \
			--name=markers_sample_event --action=notify >/dev/null || return
	is "$(probes)" 1 && fire $sample 2 && sleep 1 && ! active && fire $sample 3 || return
	patiently active && fire $sample 4 && end && is "$(count sample_event)" 4 &&
		is "$(lttng list-triggers | grep -c 'errors: none')" "$(lttng list-triggers | grep -c 'errors:')" &&
		lttng remove-trigger starts >/dev/null && lttng remove-trigger captures >/dev/null &&
		is "$(probes)" 0
}

# LTTng also records the marker in the module's init function.
module_comes_and_goes() {
	begin 'markers_values_*,markers_sample_event' && lttng start >/dev/null || return
	fire $values; fire $sample 5
	for _ in 1 2 3; do
		rmmod lttng_values marker_sample
		is "$(probes)" 0 || return
		in_list sample_event 2>/dev/null && return 1
		modprobe marker_sample
		insmod "$out/lttng/lttng-values.ko"
		is "$(probes sample_event)/$(probes values_init)" 1/1 || return
		fire $values; fire $sample 5
	done
	end && is "$(count sample_event)/$(count values_signed)/$(count values_init)" 20/12/3 &&
		in_list sample_event values_init
}

# All markers are enabled and disabled while they are hit, and while a module with
# markers is unloaded and loaded.
under_load() {
	local load
	begin 'markers_*' && lttng start >/dev/null || return
	while :; do fire $sample 50; done &
	load=$!
	for _ in 1 2 3; do
		lttng disable-event -k -c c 'markers_*' >/dev/null && rmmod lttng_values &&
			lttng enable-event -k -c c 'markers_*' >/dev/null &&
			insmod "$out/lttng/lttng-values.ko" || return
	done
	kill $load
	wait $load
	{ lttng destroy s >/dev/null && connected 0; } || return
	rm -rf /tmp/trace
	with markers_sample_event fire $sample 3 && is "$(count sample_event)" 3
}

# Its events are enabled before it is loaded for the first time.
module_comes_first_time() {
	begin 'markers_check_*' && lttng start >/dev/null &&
		insmod "$out/events/events.ko" && fire $events && end &&
		is "$(count check_percent)" 1
}

unloads_when_unused() {
	begin markers_sample_event && lttng start >/dev/null || return
	rmmod lttng_probe_markers 2>/dev/null && return 1
	fire $sample 3 && end && is "$(count sample_event)" 3 && is "$(probes)" 0 &&
		rmmod lttng_probe_markers && is "$(listed | wc -l)" 0 && fire $sample 3 &&
		modprobe lttng-probe-markers && in_list sample_event kernel_sched_switch &&
		with markers_sample_event fire $sample 3 && is "$(count sample_event)" 3
}

# The modules of the step many have a thousand markers, more than there are slots.
load_many() { insmod "$out/many/many_a.ko" && insmod "$out/many/many_b.ko"; }
unload_many() { rmmod many_a many_b; }
fire_many() { fire /sys/module/many_a/parameters/fire && fire /sys/module/many_b/parameters/fire; }

# many_are COUNT TIMES: COUNT of these markers are in the trace, each of them TIMES times.
many_are() {
	is "$(grep -oE 'markers_many_[ab]_[0-9]+: .*number = 0,' $text | cut -d : -f 1 | sort | uniq -c |
		awk '$1 != '"$2"' { print $2, "times", $1 } END { print NR }')" "$1"
}

slab() { awk '/^Slab:/ { print $2 }' /proc/meminfo; }

# They are kept when the modules are unloaded, and used again.
lists_many() {
	local before after
	load_many && is "$(listed | grep -c markers_many_)" 1000 && is "$(listed | uniq -d)" "" &&
		unload_many && is "$(listed | grep -c markers_many_)" 0 || return
	before=$(slab)
	load_many && unload_many && after=$(slab) && load_many || return
	((after - before < 2000)) || { echo "$before KB before, $after KB after" >&2; return 1; }
	is "$(listed | grep -c markers_many_)" 1000
}

# A second session has some of the markers when the first one ends.
shared_slots() {
	begin 'markers_many_a_3*' && lttng start >/dev/null &&
		lttng create t --output=/tmp/trace2 >/dev/null &&
		lttng enable-event -k 'markers_many_a_32*' >/dev/null || return
	lttng start t >/dev/null && fire_many && lttng destroy s >/dev/null &&
		fire_many && lttng destroy t >/dev/null && connected 0 || return
	babeltrace2 /tmp/trace >$text && many_are 100 1 || return
	babeltrace2 /tmp/trace2 >$text && many_are 10 2 && rm -rf /tmp/trace /tmp/trace2
}

all_of_many() {
	with 'markers_many_*' fire_many && many_are 1000 1 && connected 0
}

many_come_and_go() {
	begin 'markers_many_a_*,markers_many_b_432' && lttng start >/dev/null && fire_many &&
		unload_many && is "$(listed | grep -c markers_many_)" 0 &&
		load_many && fire_many && end && many_are 501 2 && unload_many
}

start_daemon() { lttng-sessiond -d --extra-kmod-probes=markers; }

connected() { is "$(probes)" "$1"; }

# This includes the events of triggers, which LTTng keeps until the daemon ends.
killed_daemon_leaves_nothing() {
	begin 'markers_sample_*' && lttng start >/dev/null && connected 3 || return
	kill -KILL "$(pgrep -x -o lttng-sessiond)"
	patiently connected 0 && patiently rmmod lttng_probe_markers || return
	rm -rf /tmp/trace
	start_daemon && with markers_sample_event fire $sample 3 && is "$(count sample_event)" 3
}

gone() { [[ ! -d /sys/module/lttng_probe_markers ]]; }

# The daemon unloads the modules when it ends.
goes_with_the_daemon() { kill "$(pgrep -x -o lttng-sessiond)"; patiently gone; }

mount --bind "$out/lttng-modules/guest/modroot/lib/modules" /lib/modules
insmod "$out/lttng/lttng-values.ko"
start_daemon
result "LTTng lists the markers of the kernel and of modules that came before and after" lists
result "a marker is connected while its event is enabled, and no other" connects_what_is_enabled
result "no event is lost, with another probe on the marker" counts_exactly
result "every conversion arrives" every_conversion
result "a module that comes first while its events are enabled is traced" module_comes_first_time
result "strings that are not there are no harm; long ones and those with a precision are cut" bad_strings
result "two formats of a name are two events, and the log tells" two_formats
result "filters work" filters
result "wildcards work" wildcards
result "contexts work" contexts
result "trackers work" trackers
result "modules come and go while their events are enabled" module_comes_and_goes
result "events come and go while they are hit" under_load
result "the bridge stays while it is in use, and goes when it is not" unloads_when_unused
result "triggers fire" triggers
result "a killed session daemon leaves nothing connected" killed_daemon_leaves_nothing
result "a thousand markers are listed, also when their modules are loaded again" lists_many
result "events that share a slot are told apart" shared_slots
result "all of them can be enabled at once" all_of_many
result "they come and go while a session has them" many_come_and_go
result "nothing is left connected" connected 0
result "the bridge goes with the session daemon" goes_with_the_daemon
dmesg >"$RESULTS/dmesg"
