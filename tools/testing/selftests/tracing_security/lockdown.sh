#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# In a kernel that is locked down, the same rules apply to markers and function tracers
# as to all of tracefs. Level integrity permits root to use the files. Confidentiality
# closes them, except formats, even if they existed before. Only a reboot ends a
# lockdown, so the test does not change the level, except with:
#
#	lockdown.sh --lock	tests all levels from the current one on

. "$(dirname "$0")/../kselftest/tracing.sh"

lockdown=/sys/kernel/security/lockdown

# Those of function tracers side by side, which not every kernel has.
pairs_of_tracers() {
	cat <<-END
	function_tracers set_ftrace_filter
	options/function-tracers options/function-trace
	END
}

# Each file with its kin, see files.sh.
pairs() {
	! has_function_tracers || pairs_of_tracers
	event=events/markers/kernel_sched_switch
	kin=events/sched/sched_switch
	cat <<-END
	markers available_events
	marker_sites set_event
	marker_probes available_events
	events/markers/enable events/sched/enable
	$event/enable $kin/enable
	$event/filter $kin/filter
	$event/format $kin/format
	$event/id $kin/id
	$event/trigger $kin/trigger
	END
}

clean_up() {
	modprobe -r marker_probe marker_sample
	! has_function_tracers || modprobe -q -r function_tracers
	! has_function_tracers || echo 0 >"$tracing/options/function-tracers"
}

# Function tracers with filters of their own; they cannot start when files are closed.
several_tracers() {
	modprobe -q function_tracers && echo 1 >"$tracing/options/function-tracers"
}

level() {
	sed 's/.*\[\(.*\)\].*/\1/' "$lockdown"
}

opens() {
	(exec 3<"$tracing/$1") 2>/dev/null
}

opens_for_writing() {
	(exec 3>>"$tracing/$1") 2>/dev/null
}

how_it_opens() {
	said=
	! opens "$1" || said=reading
	! opens_for_writing "$1" || said="$said writing"
	echo "$said"
}

# opened_as_kin HOW: files open like their kin, and the lists open for HOW. Formats may be
# open: they are not secret, since equal builds have equal formats.
opened_as_kin() {
	pairs | while read -r file kin; do
		is "$(how_it_opens "$file")" "$(how_it_opens "$kin")"
		explain "$file" || return
	done || return
	for file in markers marker_sites marker_probes function_tracers; do
		[ $file != function_tracers ] || has_function_tracers || continue
		is "$(how_it_opens $file)" "$1" || return
	done
}

none_there() {
	is "$(find "$tracing" -type f | head -n 3)" ""
}

# With several function tracers, these files are made of the filters of each.
filters_as_kin() {
	has_function_tracers || needs "no function tracers side by side" || return
	is_loaded function_tracers || several_tracers ||
		needs "no module function_tracers" || return
	for file in set_ftrace_filter set_ftrace_notrace; do
		is "$(how_it_opens $file)" "$(how_it_opens available_events)" || return
	done
}

# Modules can still attach to markers: they are part of the kernel. If tracefs accepts no
# events, the log gives the lockdown as the reason.
probes_work() {
	modprobe -q -n marker_probe || needs "no module marker_probe" || return
	log_from_here
	modprobe marker_sample && modprobe marker_probe marker=sample_event &&
	echo 3 >/sys/module/marker_sample/parameters/fire &&
	is "$(cat /sys/module/marker_probe/parameters/hits)" 3 &&
	is "$(log_since | grep "no trace event: error")" ""
}

test_level() {
	at=$(level)
	[ "$from_boot" ] || {
		filters_as_kin; report "$at: the filters of tracers open as other files"
	}
	case $at in
	none | integrity)
		opened_as_kin "reading writing"; report "$at: the files can be opened" ;;
	*)	if [ "$from_boot" ]; then
			none_there; report "$at: tracefs has no files"
		else
			opened_as_kin ""; report "$at: the files cannot be opened"
		fi ;;
	esac
	probes_work; report "$at: modules attach to markers"
}

levels_to_test() {
	if [ "$1" = --lock ]; then
		sed 's/.*\[//; s/\]//' "$lockdown"
	else
		level
	fi
}

[ -e "$lockdown" ] ||
	mount -t securityfs nodev /sys/kernel/security 2>/dev/null
[ -f "$lockdown" ] || skip_all "no CONFIG_SECURITY_LOCKDOWN_LSM"
mount_tracefs
from_boot=
[ "$(level)" != confidentiality ] || from_boot=y
plan ''
for next in $(levels_to_test "$1"); do
	[ "$next" = "$(level)" ] || {
		several_tracers
		echo "$next" >"$lockdown"
	}
	test_level
done
kernel_is_well; report "the kernel is well"
finish
