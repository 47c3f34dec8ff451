#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#: COUNTERS=inputs failed
# guest.sh DIR SECONDS SEED: runs in the guest: bad input for names and formats of
# markers, for the files of markers and function tracers in tracefs, and for perf and BPF
# on events of markers. A complaint in the kernel's log fails the run.
set -u
. "$(dirname "$0")/../../guest/lib.sh"
dir=$1 seconds=$2 seed=$3
inputs=0
cd /sys/kernel/tracing || exit 1

formats() {
	local parameters=/sys/module/formats/parameters
	insmod "$dir/formats.ko" seconds="$1" seed="$2" || return
	((inputs += $(<$parameters/inputs))) || true
	echo "# formats: $(<$parameters/inputs) inputs, $(<$parameters/accepted) accepted"
	[[ $(<$parameters/failed) == 0 && $(<$parameters/accepted) != 0 ]] && rmmod formats
}

# Words of inputs that are nearly valid, by kind. "%b" of printf writes them.
declare -A words=(
	[filter]='count name prev_pid next_pid common_pid i u ull lx p c s CPU COMM == != < <= > >=
		& ~ && || ! ( ) 0 -1 0x10 18446744073709551616 0x 077 "text" "te*" " bash .ustring'
	[number]='1 0 2 -1 on X \n'
	[query]='module file func marker_sample vmlinux fire* *.c sched-trace.c +p -p line 1 \t \n'
	[tracer]='trace sample_calls sample_callers [sample_calls] nop \t \n [ ]'
	[function]='[sample_calls] [trace] [ ] [no_such_tracer] vfs_read vfs_open schedule vfs_o*
		no_such_function !vfs_read :mod:marker_sample *:mod:no_module 123 0x1 #### \n ? !'
)
# An input of each kind that is right: one in four. What is accepted changes the state for
# the others.
declare -A right=(
	[filter]='common_pid > 1 && CPU != 7' [number]=1 [tracer]=sample_calls
	[function]='[sample_callers] vfs_read' [query]='module marker_sample func fire* +p'
)
markers=(sample_event sample_types sample_noargs kernel_sched_switch kernel_process_exec no_marker)

# The files, each with a kind of words; a "*" is one of these markers. What is named often
# is written often. The first three refuse all.
targets=(markers:number marker_probes:number 'events/markers/*/format:number'
	events/markers/\*/{enable:number,enable:number,filter:filter,filter:filter,filter:filter}
	marker_sites:query function_tracers:tracer function_tracers:tracer set_ftrace_filter:function
	set_ftrace_notrace:function options/function-tracers:number)

# random_text KIND: sets text, to words of this kind or to bytes.
random_text() {
	local all number=$((RANDOM % 6)) byte separators=('' ' ' ' ')
	text=${right[$1]}
	((RANDOM % 4)) || return
	((RANDOM % 50)) || number=300
	text=''
	# shellcheck disable=SC2206 # words; without patterns, by set -f
	all=(${words[$1]})
	while ((number-- >= 0)); do
		printf -v byte '\\x%02x' $((RANDOM % 256))
		[[ $byte != '\x2a' ]] || byte=+	# not all functions
		case $((RANDOM % 8)) in
		0) text+=$byte ;;
		1) text+=$byte$byte$byte ;;
		*) text+="${all[RANDOM % ${#all[@]}]}${separators[RANDOM % 3]}" ;;
		esac
	done
}

# write_files SECONDS SEED: prints how many inputs each file has accepted, and all.
write_files() {
	local target file kind text end=$((SECONDS + $1)) count=0
	declare -A accepted=()
	set -f
	RANDOM=$2
	while ((SECONDS < end)); do
		target=${targets[RANDOM % ${#targets[@]}]} kind=${target#*:} file=${target%:*}
		file=${file/\*/${markers[RANDOM % ${#markers[@]}]}}
		((RANDOM % 3)) || file=instances/inputs/$file
		random_text "$kind"
		((++count))
		# Without a filter, a tracer traces all functions, which takes long.
		if ((RANDOM % 20)) || [[ $file == *set_ftrace_* ]]; then
			printf %b "$text" >>"$file"
		else
			printf %b "$text" >"$file"
		fi && ((++accepted[${target%:*}]))
		((RANDOM % 9)) || read -r -N $((RANDOM % 5000)) _ <"$file"
	done 2>/dev/null
	for target in "${!accepted[@]}"; do
		echo "${accepted[$target]} $target"
	done
	echo "$count inputs"
}

# Several processes at once. Inputs that are all refused would test little.
files() {
	local i target pids=()
	for i in 1 2 3; do
		write_files "$1" $(($2 + i)) >"$RESULTS/files.$i" &
		pids+=($!)
	done
	wait "${pids[@]}"
	sort -k 2 "$RESULTS"/files.? | sed 's/^/# /'
	((inputs += $(awk '$2 == "inputs" { sum += $1 } END { print sum }' "$RESULTS"/files.?)))
	for target in "${targets[@]:3}"; do
		grep -qF " ${target%:*}" "$RESULTS"/files.? || return
	done
}

# The state that a reset must restore.
state() {
	cut -f 1-6 markers
	grep -aH '' marker_probes function_tracers set_ftrace_filter set_ftrace_notrace \
		options/function-tracers events/markers/*/{filter,enable,id}
	ls events/markers
}

reset_tracers() {
	local name
	echo 0 >options/function-tracers	# the files are those of the function tracer
	: >set_ftrace_filter
	: >set_ftrace_notrace
	echo 1 >options/function-tracers
	for name in sample_calls sample_callers; do
		echo $name >function_tracers
		echo vfs_open >set_ftrace_filter
		: >set_ftrace_notrace
	done
	echo 0 >options/function-tracers
}

reset_all() {
	local file
	echo 0 >events/markers/enable
	for file in events/markers/*/filter; do
		echo 0 >"$file"
	done
	rmdir instances/inputs && reset_tracers
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
	one_hit sample_event 'count [0-9]+ name [^ ]+' fire &&
		one_hit sample_types 'i -2147483648 u 4294967295 .* c A s text' fire &&
		one_hit sample_noargs ' *' fire &&
		one_hit kernel_process_exec '.*' /bin/true
}

prepare() {
	local file
	echo 1 >/sys/kernel/rcu_expedited
	modprobe marker_sample && modprobe function-tracers || return
	for file in tracing_on instances/*/tracing_on; do
		echo 0 >"$file"
	done
	reset_tracers
	state >"$RESULTS/before"
	mkdir instances/inputs
}

echo "# seed $seed"
result "the modules are loaded" prepare
result "names and formats: each call returns what is right" formats $((seconds / 4 + 1)) "$seed"
result "files: each accepts some input" files $((seconds * 3 / 4 + 1)) "$seed"
result "all that was written can be reset" reset_all
result "programs are attached that read within the record, and no others" \
	"$dir/perf" sample_event sample_types sample_noargs kernel_sched_switch
result "markers work afterwards" markers_work
printf 'inputs:%d\nfailed:%d\n' "$inputs" "$failed" | tee "$RESULTS/counters"
((failed == 0))
