#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Open files of the event of a marker whose module is unloaded: later uses must return
# errors or correct data. Users of an event keep the module.

# Functions are arguments of others.
# shellcheck disable=SC2317

. "$(dirname "$0")/markers-lib.sh"

instance=$tracing/instances/lifetime-$$
event=events/markers/sample_event
end=events/sched/sched_process_exit

# The readable and the writable files of an event, and values to write. The file id is not
# here: it only has a number, and can be read as long as it is open.
readable="enable format filter trigger hist hist_debug"
writable="enable filter trigger inject"

value_of() {
	case $1 in
	trigger) echo traceon ;;
	*)	echo 0 ;;
	esac
}

clean_up() {
	exec 3<&- 4>&- 9>&-
	[ ! -f "$tracing/$end/trigger" ] || grep -v '^#' "$tracing/$end/trigger" |
		while read -r trigger; do echo "!$trigger" >"$tracing/$end/trigger"; done
	[ ! -d "$instance" ] || rmdir "$instance"
	[ ! -f "$tracing/dynamic_events" ] || echo >"$tracing/dynamic_events"
	unload_all
	tainted_before=$(cat /proc/sys/kernel/tainted)
}

# Remove the event; a new one may reuse its memory and id.
remove() {
	unload marker_sample && [ ! -d "$tracing/$event" ] &&
	load marker_sample
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
		load marker_sample || return
		[ -f "$tracing/$event/$file" ] || continue
		"$@"
		explain "$file" || return
		tried=$((tried + 1))
	done
	at_least "$tried" 3 && kernel_is_well
}

# Run a command with the file open as descriptor 3.
from_file() {
	exec 3<"$tracing/$event/$file" && "$@" && exec 3<&-
}

fails_after_removal() {
	remove && "$@"
}

open_files_are_read() {
	each_file "$readable" from_file fails_after_removal \
		fails_with "No such device" read_3
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
	is "$(grep "write: done" "$dir/said")" "" &&
	has "$(cat "$dir/said")" "read: No such device"
}

paths_are_opened() {
	each_file "$readable" path_leads_nowhere
}

# Some open files keep the instance from being removed, others do not.
instance_cannot_be_read() {
	[ -d "$instance" ] || mkdir "$instance" || return
	exec 3<"$instance/$event/$file" || return
	if rmdir "$instance" 2>/dev/null; then
		fails_with "No such device" read_3 || return
	else
		read_3 >/dev/null && remove &&
		fails read_3_further_on || return
	fi
	exec 3<&-
}

files_of_an_instance() {
	each_file "$readable" instance_cannot_be_read
}

# kept_by COMMAND...: while it is done, the module cannot be unloaded.
kept_by() {
	load marker_sample || return
	"$@" || return
	fails unload marker_sample && [ -d "$tracing/$event" ]
}

is_free() {
	unload marker_sample && [ ! -d "$tracing/$event" ] && kernel_is_well
}

hold_event() {
	hold perf "$(id_of "$event")"
}

perf_keeps_the_module() {
	kept_by hold_event && go_on && is_free
}

make_event_probe() {
	echo "e:lifetime/probe ${event#events/}" >>"$tracing/dynamic_events" \
		2>/dev/null || needs "no event probes"
}

event_probe_keeps_the_module() {
	kept_by make_event_probe &&
	echo "-:lifetime/probe" >>"$tracing/dynamic_events" && is_free
}

enable_by_trigger() {
	name=${event#events/}
	trigger="enable_event:${name%/*}:${name#*/}"
	echo "$trigger" >"$tracing/$end/trigger"
}

set_trigger() {
	echo "$1" >"$tracing/$event/trigger"
}

own_trigger_keeps_the_module() {
	kept_by set_trigger hist:keys=count &&
	set_trigger '!hist:keys=count' && is_free
}

trigger_keeps_the_module() {
	kept_by enable_by_trigger &&
	echo "!$trigger" >"$tracing/$end/trigger" && is_free
}

[ -d "$tracing/events" ] || skip_all "no trace events"
plan 10
open_files_are_read; report "open files are read"
open_files_are_read_further_on; report "open files are read further on"
files_are_half_read; report "files are half read"
open_files_are_written; report "open files are written"
paths_are_opened; report "paths are opened"
files_of_an_instance; report "files of an instance"
perf_keeps_the_module; report "perf keeps the module"
event_probe_keeps_the_module; report "an event probe keeps the module"
own_trigger_keeps_the_module; report "a trigger keeps the module"
trigger_keeps_the_module; report "a trigger that enables it keeps the module"
finish
