#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The files of markers and function tracers in tracefs have the owner and the mode of
# their kin, which are files with a similar purpose. Also in instances, and if tracefs
# is mounted with another owner or mode.
#
#	files.sh --kin		prints each such file and its kin

. "$(dirname "$0")/../kselftest/tracing.sh"

instance=instances/security-$$
mode_before=

clean_up() {
	[ ! -d "$tracing/$instance" ] || rmdir "$tracing/$instance"
	[ ! "$mode_before" ] ||
		mount -o "remount,gid=$group_before,mode=$mode_before" "$tracing"
	modprobe -q -r marker_sample
}

# The files of the working directory and their kin. sched_switch has all files that the
# event of a marker can have, including the optional ones.
kin() {
	for file in markers marker_probes; do
		[ ! -e $file ] || echo $file available_events
	done
	[ ! -e marker_sites ] || echo marker_sites set_event
	[ ! -e function_tracers ] || echo function_tracers set_ftrace_filter
	[ ! -e options/function-tracers ] ||
		echo options/function-tracers options/function-trace
	find events/markers | while IFS= read -r file; do
		case $file in
		events/markers)
			echo "$file events/sched" ;;
		events/markers/*/*)
			echo "$file events/sched/sched_switch/${file#events/markers/*/}" ;;
		events/markers/enable | events/markers/filter)
			echo "$file events/sched/${file##*/}" ;;
		*)	echo "$file events/sched/sched_switch" ;;
		esac
	done
}

attributes_of_all() {
	find . -mindepth 1 -maxdepth 1 -exec stat -c '%n %a %u %g' {} +
	find ./options ./events/sched ./events/markers -exec stat -c '%n %a %u %g' {} +
}

# Print each file whose attributes differ from its kin, and the number of equal ones.
compare() {
	{
		attributes_of_all | sed 's,^\./,= ,'
		kin
	} | awk '
		$1 == "=" { of[$2] = $3 " " $4 " " $5; next }
		$1 in of && of[$1] == of[$2] { same++; next }
		{ print $1 ": " of[$1] ", " $2 ": " of[$2] }
		END { print same + 0 }'
}

all_as_their_kin() {
	at_least "$(cd "$1" && compare)" 90
}

at_the_top() {
	all_as_their_kin "$tracing" &&
	is "$(stat -c '%a %u %g' "$tracing/markers")" "440 0 $group_before"
}

in_an_instance() {
	mkdir "$tracing/$instance" && all_as_their_kin "$tracing/$instance"
}

# These options apply to all mounts of tracefs, and to files that are created later: of
# the event of a module's marker, and of an instance.
with_a_group() {
	mount -o remount,gid=1234,mode=750 "$tracing" &&
	modprobe marker_sample &&
	mkdir "$tracing/$instance" &&
	all_as_their_kin "$tracing" &&
	all_as_their_kin "$tracing/$instance" &&
	is "$(stat -c '%a %u %g' "$tracing/markers")" "440 0 1234" &&
	is "$(stat -c '%a %u %g' "$tracing/events/markers/sample_event/enable")" "640 0 1234"
}

# A user that can enter the directory cannot open any of the files.
# shellcheck disable=SC2016 # expanded by the other shell
not_for_others() {
	needs_nobody || return
	mount -o remount,mode=755 "$tracing" || return
	said=$(cd "$tracing" && kin | as_nobody sh -c 'while read -r file kin; do
		[ -d "$file" ] || ! [ -r "$file" -o -w "$file" ] || echo "$file"
	done; echo end')
	is "$said" end
}

find_markers
[ -d $tracing/events/sched/sched_switch ] || skip_all "no event sched_switch"
if [ "$1" = --kin ]; then
	cd $tracing && kin
	exit
fi
check_modules marker_sample
mode_before=$(stat -c %a "$tracing") group_before=$(stat -c %g "$tracing")
plan 5
at_the_top; report "files of the top directory"
in_an_instance; report "files of an instance"
with_a_group; report "files for a group, also those that are made later"
not_for_others; report "none of the files is for others"
kernel_is_well; report "the kernel is well"
finish
