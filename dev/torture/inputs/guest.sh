#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#: COUNTERS=inputs failed
# guest.sh DIR SECONDS SEED: runs in the guest: a large amount of bad input for the module
# loader, all files of the series in tracefs, names and formats, perf_event_open() and
# bpf(). With INPUTS in the environment, the files get at most so many inputs. A complaint
# in the kernel's log fails the run.
set -u
. "$(dirname "$0")/../../guest/lib.sh"
dir=$1 seconds=$2 seed=$3
tracefs=/sys/kernel/tracing
sample=$(modinfo -n marker_sample)
inputs=0
cd "$tracefs" || exit 1

# run PROGRAM ARGS...: prints its output, and counts its inputs.
run() {
	local line name=$1
	while IFS= read -r line; do
		printf '%s\n' "$line"
		[[ $line != 'not ok'* ]] || ((++failed))
		[[ ! $line =~ ^#\ $name:\ ([0-9]+)\ inputs ]] || ((inputs += BASH_REMATCH[1]))
	done < <("$dir/$name" "${@:2}" 2>&1 ||
		printf '\nnot ok - %s ended with an error\n' "$name")	# maybe within a line
}

tenths() { echo $((seconds * $1 / 10 + 2)); }

# The state that a reset must restore.
state() {
	cut -f 1-6 markers
	grep -aH '' marker_probes set_event function_tracers set_ftrace_filter \
		set_ftrace_notrace dynamic_events synthetic_events current_tracer \
		options/function-tracers events/markers/{enable,*/{filter,trigger,enable,id}}
	ls instances events/markers
}

# The lines of files that are not comments, as "file line".
lines_of() { grep -aHv '^#' "$@" 2>/dev/null | sed 's/:/ /'; }

# A histogram that others depend on cannot be removed before them: a later round does.
reset_triggers() {
	local file line
	for _ in {1..10}; do
		while read -r file line; do
			line=${line% \[*}
			printf '!%s' "$line" >"$file"
		done < <(lines_of events/{markers,inputs,eprobes,synthetic}/*/trigger \
			instances/*/events/{markers,inputs,eprobes,synthetic}/*/trigger)
		[[ $(lines_of events/markers/*/trigger) ]] || return 0
	done 2>/dev/null
	return 1
}

# Commands of set_ftrace_filter: "function:command:count=3" is removed in the form in
# which it was written. The filters are removed first: the kernel shows no command after
# a line ":mod:MODULE". The file changes while it is read: a later round removes the
# lines that were skipped.
reset_commands() {
	local line
	: >set_ftrace_filter
	: >set_ftrace_notrace
	for _ in {1..10}; do
		while IFS= read -r line; do
			line=${line/:unlimited/} line=${line/:count=/:}
			printf '!%s' "$line" >set_ftrace_filter
		done < <(grep -aE '^[^#].*:' set_ftrace_filter) 2>/dev/null
		grep -qaE '^[^#].*:' set_ftrace_filter || break
	done
}

reset_tracers() {
	local name
	echo 0 >options/function-tracers
	reset_commands
	echo 1 >options/function-tracers
	for name in sample_calls sample_callers; do
		echo $name >function_tracers
		echo vfs_open >set_ftrace_filter
		: >set_ftrace_notrace
	done
	echo 0 >options/function-tracers
}

reset_instances() {
	local instance
	for instance in instances/*; do
		[[ $instance == instances/sample_* ]] && continue
		[[ ! -d $instance ]] || rmdir "$instance"
	done
}

disable_events() { : >set_event && echo 0 >events/markers/enable; }

# Events that triggers and commands have enabled remain enabled without them; enabled
# events cannot be removed.
reset_all() {
	local file
	disable_events
	reset_triggers
	for file in events/markers/*/filter; do
		echo 0 >"$file"
	done
	reset_instances
	: >dynamic_events
	reset_tracers
	disable_events
	: >error_log
	state >"$RESULTS/after"
	diff "$RESULTS/before" "$RESULTS/after"
}

# one_hit EVENT TEXT COMMAND...: it causes one record of the event, with the text.
one_hit() {
	: >trace
	echo 1 >"events/markers/$1/enable"
	echo 1 >tracing_on
	"${@:3}"
	echo 0 >tracing_on
	echo 0 >"events/markers/$1/enable"
	grep -a " $1: " trace >"$RESULTS/hits"
	[[ $(wc -l <"$RESULTS/hits") == 1 && $(<"$RESULTS/hits") =~ \ $1:\ $2$ ]] && return
	sed 's/^/# /' "$RESULTS/hits"
	return 1
}

fire() { echo 1 >/sys/module/marker_sample/parameters/fire; }

markers_work() {
	one_hit sample_event 'count 0 name [^ ]+' fire &&
		one_hit sample_types 'i -2147483648 u 4294967295 .* c A s text' fire &&
		one_hit sample_noargs ' *' fire &&
		one_hit kernel_process_exec '.*' /bin/true
}

prepare() {
	echo 0 >tracing_on
	echo 1 >/sys/kernel/rcu_expedited
	echo 64 >buffer_size_kb
	modprobe marker_sample && modprobe function-tracers && insmod "$dir/inputs-names.ko" || return
	for file in instances/*; do
		echo 0 >"$file/tracing_on"
	done
	reset_tracers
	state >"$RESULTS/before"
	mkdir instances/inputs
}

echo "# seed $seed"
result "the modules are loaded" prepare
run modules "$dir/inputs-victim.ko" "$(tenths 2)" "$seed"
run names "$(tenths 1)" "$seed"
run files "$(tenths 5)" "${INPUTS:-1000000}" "$seed"
result "all that the files were told can be reset" reset_all
result "markers work afterwards" markers_work
run perf "$sample" "$(tenths 2)" "$seed"
result "nothing is left of names, perf and BPF" reset_all
result "markers still work" markers_work
printf 'inputs:%d\nfailed:%d\n' "$inputs" "$failed" >"$RESULTS/counters"
cat "$RESULTS/counters"
((failed == 0))
