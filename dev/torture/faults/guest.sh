#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#: COUNTERS=faults failed
# guest.sh DIR SECONDS SEED [OPERATION...]: runs in the guest. Each operation of the
# list, or those named, is done and undone repeatedly. Each time another one of its
# allocations fails, until none does; unless SECONDS is 0, as many as this time allows,
# in random order. After a failure
#
#  - the error must be ENOMEM, or one that is allowed for the operation,
#  - the state must be as before: the files of tracefs that show it, at once or soon,
#  - doing it again must succeed, with the same state as without any failure.
#
# An operation that succeeds although an allocation failed must have that state, too.
set -u
. "$(dirname "$0")/../../guest/lib.sh"
dir=$1 seconds=$2 seed=$3
RANDOM=$seed
module=/tmp/faults.ko
# The base follows a NULL pointer if memory is out while it reads the types of a module.
objcopy -R .BTF -R .BTF.base "$dir/faults.ko" $module
only=" ${*:4} "
samples=/lib/modules/$(uname -r)/kernel/samples
fork=events/markers/kernel_process_fork
instance=instances/faults
probe="load $samples/markers/marker-probe.ko"
two="top-filter function instance instance-filter function-in-instance"
faults=0
declare -A before=() act=() undo=() kind=() may=()
names=()

# op NAME KIND BEFORE DO UNDO [ERRNOS]: KIND is "all", or "partly" if stock's code ignores
# errors, so that it may succeed in part, or "text" if it keeps a text that it refuses, or
# "context" if it is only done before others.
# DO and UNDO are quoted words for failnth.
op() {
	names+=("$1")
	kind[$1]=$2 before[$1]=$3 act[$1]=$4 undo[$1]=$5 may[$1]=${6:-12}
}

# set_and_reset NAME KIND BEFORE FILE ON OFF
set_and_reset() { op "$1" "$2" "$3" "write $4 '$5'" "write $4 '$6'"; }

# enable NAME BEFORE EVENT
enable() { set_and_reset "$1" all "$2" "events/$3/enable" 1 0; }

# filter NAME BEFORE DIR FUNCTION[:COMMAND]
filter() { set_and_reset "$1" partly "$2" "$3/set_ftrace_filter" "$4" "!$4"; }

# Modules, with sites and with probes. 40 is ELOOP, of BTF; 129 is EKEYREJECTED, of their
# signature. Events may lack files.
of_module='40 129'
op load partly "" "load $module ''" "unload faults" "$of_module"
op load-attached partly waiting-probe "load $module ''" "unload faults" "$of_module"
op waiting-probe all "" \
	"$probe 'print=0 marker=faults_numbers format=\"number %d word %lu\"'" "unload marker_probe" "$of_module"
op marker-probe all "" "$probe 'print=0 marker=kernel_process_fork'" "unload marker_probe" "$of_module"
op second-probe all enable-marker "${act[marker-probe]}" "unload marker_probe" "$of_module"

# Events
enable enable-marker "" markers/kernel_process_fork
enable enable-marker-of-module load markers/faults_text
enable enable-event "" sched/sched_process_exec
set_and_reset set-event all "" set_event markers:kernel_process_fork '!markers:kernel_process_fork'
set_and_reset filter text enable-marker $fork/filter 'child_pid > 3' 0
set_and_reset trigger-of-module all load events/markers/faults_text/trigger traceon '!traceon'
# ftrace makes thousands of allocations, a few for each event of the kernel.
op instance context "" "mkdir $instance" "rmdir $instance"
set_and_reset enable-in-instance all "instance enable-marker" $instance/$fork/enable 1 0
for file in markers marker_sites marker_probes function_tracers set_ftrace_filter \
	set_ftrace_notrace $instance/$fork/{enable,id,format,filter,trigger}; do
	op "read-${file##*/}" all "instance top-filter" "read $file" ""
done

# perf and BPF: the second and third probe of a tracepoint, too. 524 is ENOTSUPP: without
# memory to compile a program.
op perf all "" "perf markers/kernel_process_fork" ""
op perf-of-event all "" "perf sched/sched_process_exec" ""
op perf-beside all enable-event "perf sched/sched_process_exec" ""
op perf-filter all "" "perf markers/kernel_process_fork filter 'child_pid > 3'" ""
op perf-program all "" "perf markers/kernel_process_fork program" ""
# BPF of the base says EINVAL for some allocations.
op raw-tracepoint all "" "program raw sched_process_exec" "" "22 524"
op raw-tracepoint-beside all enable-event "program raw sched_process_exec" "" "22 524"

# Function tracers: one, two and three of a function
filter top-filter "" . ksys_sync
set_and_reset function partly top-filter current_tracer function nop
filter change-function "top-filter function" . ksys_sync_helper
filter instance-filter instance $instance ksys_sync
set_and_reset function-in-instance partly "top-filter function instance instance-filter" \
	$instance/current_tracer function nop
filter third-tracer "$two" . ksys_sync:traceon
filter longer-filter-of-two "$two" . ksys_sync_helper
op named-tracers context "" "load $samples/ftrace/function-tracers.ko function=ksys_sync" \
	"unload function_tracers"
set_and_reset option all "" options/function-tracers 1 0
set_and_reset choose-tracer all "top-filter function named-tracers option" function_tracers \
	trace sample_calls
filter change-named "named-tracers option" . ksys_sync_helper
filter function-command "" . ksys_sync:traceon
filter instance-command instance $instance ksys_sync:traceon

report() {
	echo "# $*"
	((++failed))
}

# do_it NTH OPERATION: sets error, and has_failed if an allocation has failed.
do_it() {
	local words
	error=0 has_failed=0
	eval "words=($2)"
	((${#words[@]} == 0)) || read -r error has_failed < <("$dir/failnth" "$1" "${words[@]}") ||
		error=255
}

before_all() {
	local name
	for name in $1; do
		do_it 0 "${act[$name]}"
		((error == 0)) || report "doing $name before it: error $error"
	done
}

after_all() {
	local name list=''
	for name in $1; do
		list="$name $list"
	done
	for name in $list; do
		do_it 0 "${undo[$name]}"
		((error == 0)) || report "undoing $name: error $error"
	done
}

# How a function calls its tracers depends on the memory that is available. Addresses
# differ when it is done again.
state() {
	{
		cat /sys/module/faults/parameters/pass
		grep -H '' markers marker_probes marker_sites function_tracers set_event current_tracer \
			set_ftrace_filter set_ftrace_notrace options/function-tracers $fork/filter \
			events/markers/faults_text/trigger enabled_functions \
			$instance/{set_event,current_tracer,set_ftrace_filter}
		ls instances events/markers events/markers/faults_text
		cut -d ' ' -f 1,3,4 /proc/modules | sort
	} 2>&1 | sed -E 's/[0-9a-f]{10,}/*/g; /^enabled_functions:/s/ *((->|\t).*)?$//'
}

# becomes STATE WHAT: some things are freed later.
becomes() {
	local now _
	for _ in {1..30}; do
		now=$(state)
		[[ $now != "$1" ]] || return 0
		sleep 0.1
	done
	report "$2"
	diff -U 0 <(echo "$1") <(echo "$now") | sed -n '3,8s/^/#   /p'
}

# try_once NAME NTH WHAT DO UNDO BEFORE AFTER: the states before and after it. Sets more if an
# allocation has failed.
try_once() {
	local name=$1 nth=$2 what="$3 $1, failure $2" ret
	do_it "$nth" "$4"
	ret=$error
	((has_failed == 0)) || ((++faults, ++points, more = 1))
	((ret == 0 || ret == 12 && has_failed)) || [[ " ${may[$name]} " == *" $ret "* ]] || report "$what: error $ret"
	[[ ${kind[$name]} != text ]] || ((ret == 0)) || do_it 0 "$5"
	if ((ret)); then
		becomes "$6" "$what: not as before"
	elif [[ ${kind[$name]} != partly ]]; then
		becomes "$7" "$what: not as without it"
		return
	else
		do_it 0 "$5"
	fi
	do_it 0 "$4"
	((error == 0)) || report "$what: again, without it: error $error"
	becomes "$7" "$what: again: not as the first time"
}

# each_failure NAME: do it three times before, so that state that is kept does not change.
each_failure() {
	local name=$1 nth=1 more=1 bad=$failed points=0 undone complete _
	for _ in 1 2 3; do
		undone=$(state)
		do_it 0 "${act[$name]}"
		((error == 0)) || report "$name: without a failure: error $error"
		complete=$(state)
		do_it 0 "${undo[$name]}"
	done
	becomes "$undone" "$name: undone, and not as before"
	while ((more && failed - bad < 5)) && ! is_over; do
		more=0
		try_once "$name" $nth doing "${act[$name]}" "${undo[$name]}" "$undone" "$complete"
		[[ ! ${undo[$name]} ]] ||
			try_once "$name" $nth undoing "${undo[$name]}" "${act[$name]}" "$complete" "$undone"
		((nth += seconds ? 1 + nth / 32 : 1))
	done
	echo "# $name: $points failures"
}

is_over() { ((seconds && SECONDS >= seconds)); }

run_op() {
	local bad=$failed all
	all=$(state)
	echo "faults: $1" >/dev/kmsg
	before_all "${before[$1]}"
	each_failure "$1"
	after_all "${before[$1]}"
	becomes "$all" "$1: something is left over"
	result "each failure of $1" test "$failed" = "$bad"
}

# Allocations that may sleep fail too.
let_fail() {
	local what
	for what in failslab fail_page_alloc; do
		echo 0 >"/sys/kernel/debug/$what/verbose"
		echo Y >"/sys/kernel/debug/$what/task-filter"
		echo N >"/sys/kernel/debug/$what/ignore-gfp-wait"
	done
	echo 1 >/sys/kernel/rcu_expedited	# else grace periods take most of the time
	echo 0 >options/record-cmd	# its errors are ignored
	echo 4 >/proc/sys/kernel/printk	# only an oops, until complaints() looks
}

# A stack after a line about missing memory is no complaint; nor is the warning of fprobes.
complaints() {
	dmesg | sed '/memory for fprobe_addr_list/,/end trace/d' | awk '
	/vmalloc error:|page allocation failure|percpu: allocation failed/ { excused = NR + 4; next }
	/Call Trace/ && NR <= excused { next }
	/WARNING:|BUG:|Oops|INFO:|Call Trace|suspicious RCU|KASAN:|UBSAN|unable to handle|general protection/ {
		print "# " $0; found = 1
	}
	END { exit !found }'
}

cd /sys/kernel/tracing || exit 1
use_busybox
echo "# seed $seed"
let_fail
before_all "$two"	# after the first use, some flags of tracers are kept
after_all "$two"
SECONDS=0
for name in $(shuf --random-source=<(yes "$seed") -e "${names[@]}"); do
	[[ ${kind[$name]} != context && ($only == "  " || $only == *" $name "*) ]] || continue
	! is_over || break
	run_op "$name"
done
result "allocations failed" test "$faults" -gt 0
result "the kernel has no complaints" eval '! complaints'
printf 'faults:%d\nfailed:%d\n' "$faults" "$failed" | tee "$RESULTS/counters"
echo "# $SECONDS seconds"
((failed == 0))
