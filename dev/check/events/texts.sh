#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# texts.sh DIR: runs in the guest, with the modules of DIR. The text of records, the
# address that perf has for them, and the format of an event when modules are unloaded.
# Each test prints a line of TAP.
set -u
. "$(dirname "$0")/../../guest/lib.sh"
dir=$1
tracing=/sys/kernel/tracing
events=$tracing/events/markers
trace=$tracing/trace
cd /tmp || exit 1

# has FILE TEXT: the file has a line that ends so; otherwise, print its first lines.
has() {
	grep -qE "$2\$" "$1" && return
	grep -v '^#' "$1" | head -n 20 >&2
	return 1
}

# fire EVENT: then only its record is in the trace.
fire() {
	[[ -d $events/$1 ]] || { echo "there is no $1" >&2; return 1; }
	echo >$trace
	echo 1 >$events/"$1"/enable
	echo 1 >/sys/module/texts/parameters/fire
	echo 0 >$events/"$1"/enable
}

# has_pointer DIGITS: %p has 16 digits, %20p and %-20p have no zero in front.
has_pointer() {
	has $trace 'text_pointer: pointer [0-9a-f]{16} wide .{20} left .{20} end' &&
		has $trace "text_pointer: pointer 0*($1) wide +\\1 left \\1 +end"
}

hashed() {
	echo 1 >$tracing/options/hash-ptr
	fire text_pointer && has_pointer '[1-9a-f][0-9a-f]{0,7}' && ! has_pointer 1234 2>/dev/null
}

raw() {
	echo 0 >$tracing/options/hash-ptr
	fire text_pointer && has_pointer 1234
}

symbols() {
	echo "$1" >$tracing/options/hash-ptr
	fire text_symbols && has $trace 'text_symbols: offset vfree\+0x0/0x[0-9a-f]+ name vfree end'
}

parts() {
	fire text_array && has $trace 'text_array: part abcd less ab none  end 7'
}

# The strings in the record have this length, too.
stored_parts() {
	local found=0
	echo 'part == "abcd" && less == "ab" && none == ""' >$events/text_array/filter
	fire text_array
	found=$(grep -c text_array: $trace)
	echo 0 >$events/text_array/filter
	((found == 1))
}

last_part() {
	fire text_last && has $trace 'text_last: last y{16} end'
}

# begins_in EVENT FUNCTION COMMAND...: perf's address of the event is in that function.
begins_in() {
	local found
	perf record -q -e "markers:$1" -o perf.data "${@:3}" || return
	found=$(perf script -i perf.data -F ip,sym 2>/dev/null | awk 'NF { print $2; exit }')
	[[ $found == "$2"* ]] && return
	echo "in '$found', not in $2" >&2
	return 1
}

fields_of_pair() {
	sed -nE 's/.*field:.* (number|text);.*/\1/p' $events/check_pair/format 2>/dev/null
}

second_format() {
	trap 'rmmod first second 2>/dev/null' RETURN
	insmod "$dir/first.ko" && insmod "$dir/second.ko" &&
		[[ $(fields_of_pair) == number ]] && rmmod first &&
		[[ $(fields_of_pair) == text ]] || return
	echo >$trace
	echo 1 >$events/check_pair/enable &&
		echo 1 >/sys/module/second/parameters/fire &&
		echo 0 >$events/check_pair/enable && has $trace 'check_pair: text two'
}

# The first format is the event again when it is the only one.
first_format_again() {
	trap 'rmmod first second 2>/dev/null' RETURN
	insmod "$dir/second.ko" && insmod "$dir/first.ko" &&
		[[ $(fields_of_pair) == text ]] && rmmod second &&
		[[ $(fields_of_pair) == number ]] && rmmod first &&
		[[ ! -d $events/check_pair ]]
}

# An event probe of the first format, while modules have the second: it cannot be
# enabled, and that changes nothing.
pair=$tracing/events/check/pair
probe_of_other_format() {
	insmod "$dir/first.ko" || return
	# shellcheck disable=SC2016 # $number is of the event
	echo 'e:check/pair markers/check_pair n=$number' >>$tracing/dynamic_events &&
		rmmod first && insmod "$dir/second.ko" || return
	for _ in 1 2; do
		! echo 1 >$pair/enable && [[ $(<$pair/enable) == 0* ]] || return
	done
	rmmod second && insmod "$dir/first.ko" && echo >$trace && echo 1 >$pair/enable &&
		echo 1 >/sys/module/first/parameters/fire && echo 0 >$pair/enable &&
		has $trace 'pair: .* n=0x1' && echo '-:check/pair' >>$tracing/dynamic_events &&
		rmmod first && [[ ! -d $events/check_pair ]]
}

# A histogram of an event that cannot be enabled: an instance uses it for the first format,
# and a module has the second one. Histograms of the same name share their data.
kept=$tracing/instances/check
enable_kept() { echo "$1" >$kept/events/markers/check_pair/enable; }
histogram_of_other_format() {
	local hist="hist:name=$1:keys=common_pid" other=$tracing/events/sched/sched_process_wait
	insmod "$dir/first.ko" && mkdir $kept && enable_kept 1 &&
		rmmod first && insmod "$dir/second.ko" || return
	[[ $1 != shared ]] || echo "$hist" >$other/trigger || return
	! echo "$hist" >$events/check_pair/trigger || return
	[[ $1 == shared ]] || echo "$hist" >$other/trigger || return
	(true) && grep -q "name=$1:" $other/trigger && echo "!$hist" >$other/trigger &&
		rmmod second && enable_kept 0 && rmdir $kept
}

modprobe marker_sample
insmod "$dir/texts.ko"
result "a pointer is hashed" hashed
result "a pointer is not hashed with the option off" raw
result "pointers of functions are symbols" symbols 1
result "also with the option off" symbols 0
result "strings end by their precision" parts
result "records hold strings of their precision" stored_parts
result "a string of a precision is not read further" last_part
result "perf has the address of a marker of a module" begins_in sample_event fire_ \
	sh -c 'echo 1 >/sys/module/marker_sample/parameters/fire'
result "perf has the address of a marker of the kernel" begins_in kernel_process_fork \
	kernel_clone sh -c '(:); (:)'
result "the second format is the event when the first one's module goes" second_format
result "the first format is the event when the second one's module goes" first_format_again
result "an event probe waits for its format" probe_of_other_format
result "a histogram with a name waits for nothing" histogram_of_other_format alone
result "nor does one that shares its data" histogram_of_other_format shared
