#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The files of markers and function tracers in tracefs have the owner and the mode of
# their kin, which are files with a similar purpose. Also in instances, and if tracefs
# is mounted with another owner or mode.
#
#	files.sh --kin		prints each such file and its kin
#	files.sh --usable	reads such lines, and prints the files that can be opened

. "$(dirname "$0")/../kselftest/tracing.sh"

instance=instances/security-$$
mode_before=

clean_up() {
	[ ! -d "$tracing/$instance" ] || rmdir "$tracing/$instance"
	[ ! "$mode_before" ] ||
		mount -o "remount,gid=$group_before,mode=$mode_before" "$tracing"
}

# Files of the top directory, and of instances if they have them.
kin_of_files() {
	cat <<-END
	markers available_events
	marker_sites available_events
	marker_probes available_events
	function_tracers set_ftrace_filter
	options/function-tracers options/function-trace
	END
}

# The kin of a file below events/markers is a file of another event. sched_switch has
# all files that a marker event can have, including the optional ones.
kin_of_events() {
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

# Print the files of the working directory and their kin.
kin() {
	kin_of_files | while read -r file other; do
		[ ! -e "$file" ] || echo "$file $other"
	done
	kin_of_events
}

attributes() {
	stat -c '%a %u %g' "$1"
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

# all_as_their_kin DIRECTORY AT_LEAST
all_as_their_kin() {
	said=$(cd "$1" && compare)
	at_least "$said" "$2"
}

at_the_top() {
	all_as_their_kin "$tracing" 100 &&
	is "$(attributes "$tracing/markers")" "440 0 $group_before" &&
	is "$(attributes "$tracing/function_tracers")" "640 0 $group_before"
}

in_an_instance() {
	mkdir "$tracing/$instance" &&
	all_as_their_kin "$tracing/$instance" 90
}

# These options apply to all mounts of tracefs.
with_a_group() {
	mkdir "$tracing/$instance" &&
	mount -o remount,gid=1234,mode=750 "$tracing" &&
	is "$(stat -c '%a %g' "$tracing")" "750 1234" &&
	all_as_their_kin "$tracing" 100 &&
	all_as_their_kin "$tracing/$instance" 90 &&
	is "$(attributes "$tracing/markers")" "440 0 1234"
}

# Files that are created later: of the event of a module's marker, and of an instance.
made_after_the_mount() {
	modprobe -q -n marker_sample || {
		needs "no module marker_sample"
		return
	}
	mount -o remount,gid=1234,mode=750 "$tracing" &&
	modprobe marker_sample &&
	mkdir "$tracing/$instance" &&
	all_as_their_kin "$tracing" 100 &&
	all_as_their_kin "$tracing/$instance" 90 &&
	is "$(attributes "$tracing/events/markers/sample_event/enable")" "640 0 1234"
	code=$?
	modprobe -r marker_sample
	return $code
}

# Read lines of kin; print a file once if it can be read, and once if it can be written.
# The last line shows that all were tried.
usable() {
	while read -r file other; do
		if [ ! -d "$file" ]; then
			[ ! -r "$file" ] || echo "$file"
			[ ! -w "$file" ] || echo "$file"
		fi
	done
	echo end
}

# A user that can enter the directory cannot open any of the files.
not_for_others() {
	nobody_needs "$here/files.sh" || return
	mount -o remount,mode=755 "$tracing" || return
	at_least "$(cd "$tracing" && kin | usable | wc -l)" 100 &&
	is "$(cd "$tracing" && kin | as_nobody "$here/files.sh" --usable)" end
}

if [ "$1" = --usable ]; then
	usable
	exit
fi
find_markers
[ -d $tracing/events/sched/sched_switch ] || skip_all "no event sched_switch"
if [ "$1" = --kin ]; then
	cd $tracing && kin
	exit
fi
mode_before=$(stat -c %a "$tracing") group_before=$(stat -c %g "$tracing")
plan 6
at_the_top; report "files of the top directory"
in_an_instance; report "files of an instance"
with_a_group; report "files of tracefs for a group"
made_after_the_mount; report "files that are made later for a group"
not_for_others; report "none of the files is for others"
kernel_is_well; report "the kernel is well"
finish
