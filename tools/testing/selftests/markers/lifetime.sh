#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Open files and users of an event whose module is unloaded, or which is removed in
# another way: later uses must return errors or correct data. Each test runs for a
# marker event and for a trace event of a module.

# Functions are arguments of others.
# shellcheck disable=SC2317

. "$(dirname "$0")/markers-lib.sh"

instance=$tracing/instances/lifetime-$$

# The readable and the writable files of an event, and values to write.
readable="enable id format filter trigger hist hist_debug"
writable="enable filter trigger inject"

value_of() {
	case $1 in
	trigger) echo traceon ;;
	*)	echo 0 ;;
	esac
}

# Other events.
probe=events/lifetime/probe
fork=events/sched/sched_process_fork
end=events/sched/sched_process_exit

shared=hist:name=lifetime:keys=common_pid

of_markers() {
	owner=marker_sample
	event=events/markers/sample_event
}

of_trace_events() {
	owner=trace_events_sample
	event=events/sample-trace/foo_bar
}

clean_up() {
	exec 3<&- 4>&- 9>&-
	for left in "$fork" "$end" "$event" events/lifetime/x events/synthetic/x \
		events/user_events/x; do
		remove_triggers "$tracing/$left/trigger"
	done
	[ ! -f "$tracing/$probe/enable" ] || echo 0 >"$tracing/$probe/enable"
	[ ! -d "$instance" ] || rmdir "$instance"
	[ ! -f "$tracing/dynamic_events" ] || echo >"$tracing/dynamic_events"
	! is_loaded trace_events_sample || modprobe -r trace_events_sample
	unload_all
	tainted_before=$(cat /proc/sys/kernel/tainted)
}

# In reverse order: a trigger may use variables of those before it.
remove_triggers() {
	[ -f "$1" ] || return 0
	grep -v '^#' "$1" | sed '1!G;h;$!d; s/ \[active\]//' | while read -r trigger; do
		echo "!$trigger" >"$1"
	done
}

# Remove the event, and load modules that may reuse its memory and id.
remove() {
	unload "$owner" &&
	goes_soon "$event" &&
	load marker_sample &&
	load trace_events_sample
}

read_3() {
	cat <&3
}

# Also fails at the end of the file, which some files return instead of an error.
read_3_further_on() {
	dd bs=1 skip=7 count=1 status=none <&3 >"$dir/byte" && [ -s "$dir/byte" ]
}

write_4() {
	echo "$1" | dd status=none >&4
}

# each_file "FILE..." COMMAND...: run it for each of these files that the event has.
each_file() {
	names=$1 tried=0
	shift
	for file in $names; do
		load "$owner" || return
		[ -f "$tracing/$event/$file" ] || continue
		"$@" || {
			code=$?
			comment "$file"
			return $code
		}
		tried=$((tried + 1))
	done
	at_least "$tried" 3 && kernel_is_well
}

# Run a command with the file open as descriptor 3.
from_file() {
	exec 3<"$tracing/$event/$file" && "$@" && exec 3<&-
}

# An open file of newer kernels has the id itself, which can still be read.
cannot_be_read() {
	if [ "$file" = id ] && said=$(read_3 2>/dev/null); then
		is "$said" "$id"
	else
		fails_with "No such device" read_3
	fi
}

fails_after_removal() {
	id=$(id_of "$event") && remove && "$@"
}

open_files_are_read() {
	each_file "$readable" from_file fails_after_removal cannot_be_read
}

open_files_are_read_further_on() {
	each_file "$readable" from_file fails_after_removal fails read_3_further_on
}

# Data that was buffered before the removal may be read if it is correct.
rest_is_right() {
	whole=$(cat "$tracing/$event/$file" && echo .)
	first=$(dd bs=5 count=1 status=none <&3 && echo .)
	remove || return
	rest=$(cat <&3 2>"$dir/error")
	[ ! -s "$dir/error" ] || has "$(cat "$dir/error")" "No such device" || return
	has "$whole" "${first%.}$rest"
}

files_are_half_read() {
	each_file "$readable" from_file rest_is_right
}

cannot_be_written() {
	exec 4>>"$tracing/$event/$file" && remove &&
	fails_with "No such device" write_4 "$(value_of "$file")" && exec 4>&-
}

open_files_are_written() {
	each_file "$writable" cannot_be_written
}

path_leads_nowhere() {
	hold path "$tracing/$event/$file" && remove && go_on &&
	is "$(grep "write: done" "$dir/said")" "" && {
		[ "$file" = id ] ||
		has "$(cat "$dir/said")" "read: No such device"
	}
}

paths_are_opened() {
	each_file "$readable $writable" path_leads_nowhere
}

# Some open files keep the instance from being removed, others do not.
instance_cannot_be_read() {
	[ -d "$instance" ] || mkdir "$instance" || return
	exec 3<"$instance/$event/$file" && id=$(id_of "$event") || return
	if rmdir "$instance" 2>/dev/null; then
		cannot_be_read || return
	else
		read_3 >/dev/null && remove &&
		fails read_3_further_on || return
	fi
	exec 3<&-
}

files_of_an_instance() {
	each_file "$readable" instance_cannot_be_read
}

# A marker event stays while it is used; other events keep their module loaded.
stays_through_unload() {
	case $event in
	*/markers/*)
		unload "$owner" && [ -d "$tracing/$event" ] && load "$owner" ;;
	*)	fails unload "$owner" ;;
	esac
}

# Hit a marker event; other events are hit by their module, once a second.
hit() {
	case $event in
	*/markers/*) fire "$1" ;;
	*)	sleep "$1" ;;
	esac
}

counted_while_it_stays() {
	load "$owner" || return
	hold "$1" "$(id_of "$event")" || return
	hit 3 && stays_through_unload && hit 2 && go_on &&
	at_least "$(sed -n 's/^count: //p' "$dir/said")" 4 &&
	unload "$owner" && goes_soon "$event" && kernel_is_well
}

perf_stays() {
	counted_while_it_stays perf
}

program_stays() {
	counted_while_it_stays bpf
}

event_probe_stays() {
	load "$owner" || return
	echo "e:lifetime/probe ${event#events/}" >>"$tracing/dynamic_events" \
		2>/dev/null || needs "no event probes" || return
	echo 1 >"$tracing/$probe/enable" &&
	hit 3 && stays_through_unload && hit 2 &&
	at_least "$(grep -c " probe: " "$tracing/trace")" 4 &&
	echo 0 >"$tracing/$probe/enable" &&
	echo "-:lifetime/probe" >>"$tracing/dynamic_events" &&
	unload "$owner" && goes_soon "$event" && kernel_is_well
}

probes_in() {
	grep -c " probe: " "$1/trace"
}

# Each instance has its own trigger for the event probe.
event_probe_in_instances() {
	load "$owner" || return
	echo "e:lifetime/probe ${event#events/}" >>"$tracing/dynamic_events" \
		2>/dev/null || needs "no event probes" || return
	mkdir "$instance" && echo >"$tracing/trace" &&
	echo 1 >"$instance/$probe/enable" && echo 1 >"$tracing/$probe/enable" &&
	hit 3 &&
	at_least "$(probes_in "$instance")" 1 && at_least "$(probes_in "$tracing")" 1 &&
	echo 0 >"$instance/$probe/enable" && echo >"$instance/trace" &&
	hit 2 && is "$(probes_in "$instance")" 0 &&
	echo 0 >"$tracing/$probe/enable" &&
	echo "-:lifetime/probe" >>"$tracing/dynamic_events" &&
	hit 2 && is "$(cat "$instance/$event/enable")" 0 &&
	rmdir "$instance" && unload "$owner" && goes_soon "$event" && kernel_is_well
}

# An instance is removed while an event probe is enabled in it, by its file or a trigger.
event_probe_goes_with_its_instance() {
	load "$owner" || return
	echo "e:lifetime/probe ${event#events/}" >>"$tracing/dynamic_events" \
		2>/dev/null || needs "no event probes" || return
	mkdir "$instance" && echo 1 >"$instance/$probe/enable" &&
	hit 2 && at_least "$(probes_in "$instance")" 1 && rmdir "$instance" &&
	mkdir "$instance" &&
	echo "disable_event:lifetime:probe" >"$instance/$event/trigger" &&
	hit 2 && rmdir "$instance" &&
	echo "-:lifetime/probe" >>"$tracing/dynamic_events" &&
	hit 2 && is "$(cat "$tracing/$event/enable")" 0 &&
	unload "$owner" && goes_soon "$event" && kernel_is_well
}

# The event probe is the last user of an event whose module is unloaded.
event_goes_with_its_probe() {
	load "$owner" || return
	echo "e:lifetime/probe ${event#events/}" >>"$tracing/dynamic_events" \
		2>/dev/null || needs "no event probes" || return
	unload "$owner" && [ -d "$tracing/$event" ] &&
	echo "-:lifetime/probe" >>"$tracing/dynamic_events" &&
	goes_soon "$event" && kernel_is_well
}

target_of_a_trigger_stays() {
	load "$owner" || return
	name=${event#events/}
	echo "enable_event:${name%/*}:${name#*/}" >"$tracing/$end/trigger" &&
	stays_through_unload && /bin/true &&
	is "$(cat "$tracing/$event/enable")" "1*" &&
	remove_triggers "$tracing/$end/trigger" &&
	echo 0 >"$tracing/$event/enable" &&
	unload "$owner" && goes_soon "$event" && kernel_is_well
}

trigger_stays() {
	load "$owner" || return
	echo "$1" >"$tracing/$event/trigger" &&
	stays_through_unload && has "$(cat "$tracing/$event/trigger")" "$1" &&
	remove_triggers "$tracing/$event/trigger" &&
	unload "$owner" && goes_soon "$event"
}

triggers_stay() {
	trigger_stays traceon &&
	trigger_stays "enable_event:sched:${end##*/}" &&
	kernel_is_well
}

# Triggers of other events use a variable of this event, before and after the unload.
variables_stay() {
	needs_histograms || return
	load "$owner" || return
	echo 'hist:keys=common_pid:seen=common_pid' >"$tracing/$event/trigger" &&
	echo "hist:keys=common_pid:vals=\$seen" >"$tracing/$end/trigger" &&
	stays_through_unload && hit 2 && (:) &&
	echo "hist:keys=common_pid:vals=\$seen" >"$tracing/$fork/trigger" &&
	has "$(cat "$tracing/$event/hist")" "Totals:" &&
	has "$(cat "$tracing/$fork/hist")" "Totals:" &&
	remove_triggers "$tracing/$fork/trigger" &&
	remove_triggers "$tracing/$end/trigger" &&
	remove_triggers "$tracing/$event/trigger" &&
	unload "$owner" && goes_soon "$event" && kernel_is_well
}

# A histogram has the fields of the event that was first. Another event still uses them.
shared_histogram_stays() {
	needs_histograms || return
	load "$owner" || return
	echo "$shared" >"$tracing/$event/trigger" &&
	echo "$shared" >"$tracing/$end/trigger" &&
	remove_triggers "$tracing/$event/trigger" &&
	stays_through_unload && (:) &&
	has "$(cat "$tracing/$end/hist")" "Totals:" &&
	remove_triggers "$tracing/$end/trigger" &&
	unload "$owner" && goes_soon "$event" && kernel_is_well
}

# shared_histogram_keeps DEFINITION EVENT [FIELDS]: a dynamic event stays while another
# event has its histogram. Removing all dynamic events removes none then.
shared_histogram_keeps() {
	needs_histograms || return
	echo "e:lifetime/other ${end#events/}" >>"$tracing/dynamic_events" &&
	echo "$1" >>"$tracing/dynamic_events" 2>/dev/null ||
		needs "no such dynamic events" || return
	remove="-:${2#events/} ${3-}"
	echo "$shared" >"$tracing/$2/trigger" &&
	echo "$shared" >"$tracing/$end/trigger" &&
	remove_triggers "$tracing/$2/trigger" &&
	fails_with "busy" write_line "$tracing/dynamic_events" "$remove" &&
	fails_with "busy" sh -c "echo >$tracing/dynamic_events" &&
	[ -d "$tracing/events/lifetime/other" ] && (:) &&
	has "$(cat "$tracing/$end/hist")" "Totals:" &&
	remove_triggers "$tracing/$end/trigger" &&
	echo "$remove" >>"$tracing/dynamic_events" &&
	[ ! -d "$tracing/$2" ] && kernel_is_well
}

# An instance stays while others share its histogram; those in it do not keep it.
shared_histogram_keeps_its_instance() {
	needs_histograms || return
	mkdir "$instance" &&
	echo "$shared" >"$instance/$end/trigger" &&
	echo "$shared" >"$instance/$fork/trigger" &&
	echo "$shared" >"$tracing/$end/trigger" &&
	fails_with "busy" rmdir "$instance" &&
	remove_triggers "$tracing/$end/trigger" &&
	rmdir "$instance" && kernel_is_well
}

# An action that uses a field of the event that matches adds a trigger to this event. A
# histogram that shares the data of another one has no use for it.
shared_histogram_adds_no_field() {
	needs_histograms || return
	echo "s:task pid_t pid; pid_t parent" >>"$tracing/dynamic_events" 2>/dev/null ||
		needs "no such dynamic events" || return
	match=$(echo "${fork#events/}" | tr / .)
	mkdir "$instance" || return
	for at in "$tracing" "$instance"; do
		echo "hist:keys=child_pid" >"$at/$fork/trigger" &&
		echo "hist:name=lifetime:keys=pid:onmatch($match).trace(task,pid,parent_pid)" \
			>"$at/$end/trigger" || return
	done
	is "$(grep -c :synthetic_ "$tracing/$fork/trigger")" 1 &&
	is "$(grep -c :synthetic_ "$instance/$fork/trigger")" 0 &&
	remove_triggers "$instance/$end/trigger" &&
	rmdir "$instance" && kernel_is_well
}

dynamic_event_cannot_be_read() {
	exec 3<"$tracing/$event/$file" && id=$(id_of "$event") &&
	echo >"$tracing/dynamic_events" && cannot_be_read && exec 3<&- &&
	echo "$definition" >>"$tracing/dynamic_events"
}

dynamic_event() {
	definition=$1
	event=$2
	echo "$1" >>"$tracing/dynamic_events" 2>/dev/null ||
		needs "no such dynamic events" || return
	each_file "$readable" dynamic_event_cannot_be_read
}

test_all() {
	open_files_are_read; report "open files are read, $1"
	open_files_are_read_further_on; report "open files are read further on, $1"
	files_are_half_read; report "files are half read, $1"
	open_files_are_written; report "open files are written, $1"
	paths_are_opened; report "paths are opened, $1"
	files_of_an_instance; report "files of an instance, $1"
	perf_stays; report "perf stays, $1"
	program_stays; report "BPF program stays, $1"
	event_probe_stays; report "event probe stays, $1"
	event_probe_in_instances; report "event probe in two instances, $1"
	event_probe_goes_with_its_instance; report "event probe goes with its instance, $1"
	target_of_a_trigger_stays; report "target of a trigger stays, $1"
	triggers_stay; report "triggers stay, $1"
	variables_stay; report "variables stay, $1"
	shared_histogram_stays; report "a shared histogram stays, $1"
}

[ -d "$tracing/events" ] || skip_all "no trace events"
modprobe -q -n trace_events_sample || skip_all "no module trace_events_sample"
plan 39
shared_histogram_keeps_its_instance; report "a shared histogram keeps its instance"
shared_histogram_adds_no_field; report "a shared histogram adds no field"
shared_histogram_keeps "e:lifetime/x ${fork#events/}" events/lifetime/x
report "a shared histogram keeps its event probe"
shared_histogram_keeps "p:lifetime/x vfs_write" events/lifetime/x
report "a shared histogram keeps its kprobe"
shared_histogram_keeps "s:x u32 number" events/synthetic/x
report "a shared histogram keeps its synthetic event"
shared_histogram_keeps "u:x u32 number" events/user_events/x "u32 number"
report "a shared histogram keeps its user event"
of_markers
test_all "event of markers"
event_goes_with_its_probe; report "event goes with its event probe"
of_trace_events
test_all "trace event of a module"
of_markers
dynamic_event "p:lifetime/probe vfs_read" $probe; report "event of a kprobe"
dynamic_event "s:lifetime int a" events/synthetic/lifetime; report "synthetic event"
finish
