#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Markers as trace events, in a separate instance.

. "$(dirname "$0")/markers-lib.sh"

event=events/markers/sample_event
types=events/markers/sample_types
signal=events/markers/kernel_send_signal
process_exit=events/markers/kernel_process_exit
process_exec=events/markers/kernel_process_exec
noargs=events/markers/sample_noargs
probe=events/eprobes/markers_selftest

instance=$tracing/instances/markers-$$

start() {
	mkdir "$instance" && load marker_sample
}

clean_up() {
	for left in "$instance" "$instance-2"; do
		[ ! -d "$left" ] || rmdir "$left"
	done
	echo '-:eprobes/markers_selftest' >>"$tracing/dynamic_events"
	echo '-:synthetic/markers_selftest' >>"$tracing/dynamic_events"
	unload_all
}

# event_probe ARGUMENTS: of sample_event.
event_probe() {
	echo "e:eprobes/markers_selftest markers.sample_event $1" >>"$tracing/dynamic_events"
}

# put VALUE FILE: write to a file of the instance.
put() {
	echo "$1" >"$instance/$2"
}

recorded() {
	grep -c "$1" "$instance/trace"
}

field() {
	grep -c "field:$1;" "$instance/$types/format"
}

has_event() {
	[ -d "$instance/$1" ] || {
		comment "no $1"
		return 1
	}
}

has_no_event() {
	[ ! -d "$instance/$1" ] || {
		comment "$1 is still there"
		return 1
	}
}

comes_and_goes_with_the_module() {
	mkdir "$instance" &&
	has_no_event $event &&
	load marker_sample &&
	has_event $event &&
	unload marker_sample &&
	goes_soon $event &&
	load marker_sample &&
	has_event $event
}

# A probe of another module stays registered while the marker is not loaded.
goes_with_a_probe_attached() {
	mkdir "$instance" &&
	load marker_sample &&
	load marker_probe marker=sample_event print=0 &&
	unload marker_sample &&
	has_no_event $event &&
	load marker_sample &&
	has_event $event &&
	unload marker_probe &&
	unload marker_sample &&
	has_no_event $event
}

fields_have_names_and_types() {
	start &&
	for want in "int i" "unsigned int u" "unsigned int x" "long l" \
		"unsigned long ul" "long long ll" "unsigned long long ull" \
		"unsigned long lx" "void \* p" "char c\[2\]" "__data_loc char\[\] s"; do
		is "$(field "$want")" 1 || {
			comment "$want"
			return 1
		}
	done
}

# Tools print records with this: a C string and its arguments.
format_has_text_for_tools() {
	string='"i %d u %u x %x l %ld ul %lu ll %lld ull %llu lx %lx p %p c %s s %s"'
	values="REC->i, REC->u, REC->x, REC->l, REC->ul, REC->ll, REC->ull, REC->lx, REC->p"
	start &&
	is "$(sed -n 's/^print fmt: //p' "$instance/$types/format")" \
		"$string, $values, REC->c, __get_str(s)"
}

values_arrive() {
	start &&
	put 1 $types/enable &&
	fire 1 &&
	said=$(grep sample_types: "$instance/trace") &&
	has "$said" "sample_types: i -2147483648 u 4294967295 x ffffffff l " &&
	has "$said" " ll -9223372036854775808 ull 18446744073709551615 lx " &&
	has "$said" " c A s text"
}

# A record without strings is written directly into the buffer.
numbers_alone_arrive() {
	needs_event markers/kernel_send_signal || return
	start &&
	put 1 $signal/enable &&
	kill -CONT $$ &&
	put 0 $signal/enable &&
	at_least "$(recorded "kernel_send_signal: pid $$ signal [12][0-9] code 0 result [01]\$")" 1
}

# Print the part of each buffer page that has records. It begins with a time and the
# size of the rest.
raw_records() {
	for cpu in "$instance"/per_cpu/cpu*; do
		grep -q '^entries: [1-9]' "$cpu/stats" || continue
		dd if="$cpu/trace_pipe_raw" of="$dir/page" bs=65536 count=1 status=none &&
		size=$(od -An -tu8 -j8 -N8 "$dir/page" | tr -d ' ') &&
		head -c $((16 + size)) "$dir/page" || return
	done
}

# The values of x and l of sample_types, and what is between them.
around_padding() {
	od -An -v -tx1 | tr -d ' \n' | grep -oE 'f{16}[0-9a-f]{8}(0{14}80|80{15})'
}

# The memory in which a record with strings is made had another record before. There,
# the name of the task is in the place of the padding.
padding_is_clear() {
	start || return
	grep -q 'field:long l;.*offset:24;' "$instance/$types/format" ||
		needs "no padding" || return
	put 1 $event/enable &&
	put 1 $types/enable &&
	sh -c "echo not_in_a_padding >/proc/self/comm
		echo 3 >/sys/module/marker_sample/parameters/fire" &&
	is "$(recorded 'sample_event: count [0-2] name not_in_a_paddin')" 3 &&
	raw_records >"$dir/raw" &&
	is "$(around_padding <"$dir/raw" | grep -cE '^f{16}0{8}')" 3 &&
	is "$(around_padding <"$dir/raw" | wc -l)" 3
}

# Dots make a path long, which is still that of the program.
long_path() {
	echo "/bin/$(printf "%0$1d" 0 | sed 's,0,./,g')true"
}

# The string in a record has 2047 characters at most.
long_string_is_cut() {
	needs_event markers/kernel_process_exec || return
	mkdir "$instance" &&
	put 1 $process_exec/enable &&
	"$(long_path 1019)" &&
	"$(long_path 1400)" &&
	put 0 $process_exec/enable &&
	is "$(sed -n 's/.*kernel_process_exec: .* filename //p' "$instance/trace" |
		awk 'length($0) > 1000 { print length($0), substr($0, length($0) - 3) }')" \
		"2047 true
2047 ././"
}

percpu_memory() {
	awk '/^Percpu:/ { print $2 }' /proc/meminfo
}

# Events with strings share memory, which is allocated when the first is enabled. Each
# CPU has 15 kB of it.
memory_is_allocated_once() {
	start &&
	put 1 $types/enable &&
	before=$(percpu_memory) || return
	[ "$before" ] || needs "no size of per-CPU memory" || return
	rounds=16
	while [ $rounds -gt 0 ]; do
		put 1 $event/enable && put 0 $event/enable || return
		rounds=$((rounds - 1))
	done
	set -- "$instance"/per_cpu/cpu*
	at_least $((before + 100 * $#)) "$(percpu_memory)"
}

counts_every_hit() {
	start &&
	fire 3 &&
	put 1 $event/enable &&
	is "$(column sample_event probes)" 1 &&
	fire 7 &&
	put 0 $event/enable &&
	fire 5 &&
	is "$(recorded sample_event:)" 7 &&
	is "$(column sample_event probes)" 0
}

filter_by_number_and_string() {
	start &&
	put "count >= 4" $event/filter &&
	put 1 $event/enable &&
	fire 6 &&
	is "$(recorded sample_event:)" 2 &&
	put 'name == "nobody"' $event/filter &&
	fire 6 &&
	is "$(recorded sample_event:)" 2 &&
	put 'name ~ "*sh*"' $event/filter &&
	fire 6 &&
	is "$(recorded sample_event:)" 8
}

# Signals that are not sent by a process have another code.
filter_without_strings() {
	needs_event markers/kernel_send_signal || return
	mkdir "$instance" &&
	put "pid == $$ && code == 0" $signal/filter &&
	put 1 $signal/enable &&
	kill -CONT $$ &&
	is "$(recorded kernel_send_signal:)" 1 &&
	put "pid == $$ && code == 77" $signal/filter &&
	kill -CONT $$ &&
	is "$(recorded kernel_send_signal:)" 1
}

filter_knows_signs() {
	start &&
	put 1 $types/enable &&
	put "i < 0 && l < 0 && ll < 0" $types/filter &&
	fire 1 &&
	is "$(recorded sample_types:)" 1 &&
	put "u > 1 && ul > 1 && ull > 1" $types/filter &&
	fire 1 &&
	is "$(recorded sample_types:)" 2 &&
	put "i > 0" $types/filter &&
	fire 1 &&
	is "$(recorded sample_types:)" 2
}

trigger_counts_in_a_histogram() {
	needs_histograms || return
	start &&
	put 'hist:keys=count' $event/trigger &&
	fire 4 &&
	fire 2 &&
	is "$(grep -c 'hitcount:  *2' "$instance/$event/hist")" 2 &&
	is "$(grep -c 'hitcount:  *1' "$instance/$event/hist")" 2 &&
	put '!hist:keys=count' $event/trigger
}

# Such keys are no fields. Whether the last trigger is accepted depends on the kernel's
# version.
histograms_with_special_keys() {
	needs_histograms || return
	action="onmatch(markers.sample_event).trace(markers_selftest,count)"
	start &&
	echo "s:markers_selftest unsigned int count" >>"$tracing/dynamic_events" &&
	for key in stacktrace common_cpu; do
		put "hist:keys=$key" $event/trigger || return
		for other in i $key; do
			if put "hist:keys=$other:$action" $types/trigger 2>/dev/null; then
				put "!hist:keys=$other:$action" $types/trigger || return
			fi
			kernel_is_well || return
		done
	done
}

trigger_turns_tracing_off() {
	start &&
	put 'traceoff if count == 2' $event/trigger &&
	put 1 $event/enable &&
	fire 9 &&
	put '!traceoff if count == 2' $event/trigger &&
	put 1 tracing_on &&
	is "$(recorded sample_event:)" 3
}

# The trigger turns tracing off after its hit is recorded.
nothing_arrives_while_tracing_is_off() {
	start &&
	put 1 $event/enable && put 1 $types/enable &&
	put 0 tracing_on &&
	fire 2 &&
	put traceoff $event/trigger &&
	put 1 tracing_on &&
	fire 2 &&
	is "$(cat "$instance/tracing_on")" 0 &&
	is "$(recorded 'sample_[a-z]*:')" 1 &&
	put '!traceoff' $event/trigger && kernel_is_well
}

# A shared histogram reads the fields of all events at the offsets of the first one.
histogram_is_shared_by_equal_records() {
	needs_histograms || return
	needs_event markers/kernel_process_free || return
	needs_event markers/kernel_send_signal || return
	start &&
	put 'hist:name=pids:keys=pid' events/markers/kernel_process_free/trigger &&
	put 'hist:name=pids:keys=pid' events/markers/kernel_process_exec/trigger &&
	put '!hist:name=pids:keys=pid' events/markers/kernel_process_exec/trigger &&
	put '!hist:name=pids:keys=pid' events/markers/kernel_process_free/trigger &&
	put 'hist:name=codes:keys=code' events/markers/kernel_send_signal/trigger &&
	fails put 'hist:name=codes:keys=code' events/markers/kernel_deliver_signal/trigger &&
	put '!hist:name=codes:keys=code' events/markers/kernel_send_signal/trigger
}

# The clock is set when the data is shared already.
shared_histogram_with_a_wrong_clock() {
	needs_histograms || return
	hist='hist:name=times:keys=pid:now=common_timestamp'
	start &&
	put "$hist" events/sched/sched_wakeup/trigger &&
	fails put "$hist:clock=none" events/sched/sched_process_exit/trigger &&
	has "$(cat "$instance/error_log")" "Couldn't set trace_clock" &&
	put "!$hist" events/sched/sched_wakeup/trigger
}

# not_shared EVENT KEY: with the key, the histogram "sums" is refused, another is not.
not_shared() {
	put "hist:keys=$2" "events/sched/$1/trigger" &&
	put "!hist:keys=$2" "events/sched/$1/trigger" &&
	fails put "hist:name=sums:keys=$2" "events/sched/$1/trigger"
}

# So are fields in expressions.
histogram_of_sums_is_shared_by_equal_records() {
	needs_histograms || return
	start &&
	put 'hist:name=sums:keys=pid+prio' events/sched/sched_wakeup/trigger &&
	put 'hist:name=sums:keys=pid+prio' events/sched/sched_process_exit/trigger &&
	put '!hist:name=sums:keys=pid+prio' events/sched/sched_process_exit/trigger &&
	not_shared sched_switch next_pid+next_prio &&
	not_shared sched_process_exit pid-prio &&
	not_shared sched_process_exit prio+pid &&
	not_shared sched_process_exit pid+prio+prio &&
	put '!hist:name=sums:keys=pid+prio' events/sched/sched_wakeup/trigger
}

# saves_now ACTION: the events have the field "now" at different offsets.
saves_now() {
	other=events/timer/timer_expire_entry/trigger
	hist="keys=timer:x=common_pid:onchange(\$x).$1"
	put "hist:$hist" $other &&
	put "!hist:$hist" $other &&
	put "hist:name=saved:$hist" events/timer/timer_start/trigger &&
	fails put "hist:name=saved:$hist" $other &&
	put "!hist:name=saved:$hist" events/timer/timer_start/trigger
}

# So are fields that actions save.
# shellcheck disable=SC2016 # a variable of the histogram
saved_fields_are_shared_by_equal_records() {
	needs_histograms || return
	hist='hist:name=saved:keys=pid:x=prio:onchange($x).save(comm,prio)'
	start &&
	put "$hist" events/sched/sched_wakeup/trigger &&
	put "$hist" events/sched/sched_process_exit/trigger &&
	put "!$hist" events/sched/sched_process_exit/trigger &&
	put "!$hist" events/sched/sched_wakeup/trigger &&
	saves_now 'save(now)' || return
	[ -f "$tracing/synthetic_events" ] || needs "no synthetic events" || return
	echo "s:markers_selftest unsigned long now" >>"$tracing/dynamic_events" &&
	saves_now 'trace(markers_selftest,now)'
}

# The name of an expression has those of its operands.
expression_of_long_names() {
	needs_histograms || return
	name=$(printf 'v%0129d' 0)
	variables="hist:keys=common_pid:${name}a=count:${name}b=count"
	start && put "$variables" $event/trigger &&
	fails put "hist:keys=common_pid:sum=\$${name}a+\$${name}b" \
		events/sched/sched_process_exit/trigger &&
	put "hist:keys=common_pid:sum=\$${name}a+1" events/sched/sched_process_exit/trigger &&
	put "!hist:keys=common_pid:sum=\$${name}a+1" events/sched/sched_process_exit/trigger &&
	put "!$variables" $event/trigger &&
	kernel_is_well
}

# The condition is that of the histogram, which a plain snapshot does not have.
# shellcheck disable=SC2016 # a variable of the histogram
snapshot_beside_a_condition() {
	[ -f "$tracing/snapshot" ] || needs "no CONFIG_TRACER_SNAPSHOT" || return
	needs_histograms || return
	start &&
	put 1 $event/enable &&
	put 'hist:keys=common_pid:x=count:onmax($x).snapshot()' $event/trigger &&
	echo snapshot >>"$instance/$event/trigger" &&
	is "$(grep -vc '^#' "$instance/$event/trigger")" 2 &&
	fire 3 &&
	is "$(grep -c sample_event: "$instance/snapshot")" 1 &&
	put '!snapshot' $event/trigger && kernel_is_well
}

instances_are_apart() {
	start &&
	put 1 $event/enable &&
	mkdir "$instance-2" &&
	echo 1 >"$instance-2/$event/enable" &&
	fire 3 &&
	put 0 $event/enable &&
	fire 2 &&
	is "$(recorded sample_event:)" 3 &&
	is "$(grep -c sample_event: "$instance-2/trace")" 5 &&
	rmdir "$instance-2" &&
	is "$(column sample_event probes)" 0
}

stays_while_it_is_used() {
	start &&
	put 1 $event/enable &&
	fire 3 &&
	unload marker_sample &&
	has_event $event &&
	is "$(recorded sample_event:)" 3 &&
	load marker_sample &&
	fire 4 &&
	is "$(recorded sample_event:)" 7 &&
	unload marker_sample &&
	put 0 $event/enable &&
	goes_soon $event
}

# Detaching the last probe of a marker does not remove its event. No other test enables
# this event, since an event that was enabled once is never freed.
stays_when_a_probe_goes() {
	needs_event markers/kernel_process_exit || return
	load marker_probe marker=kernel_process_exit print=0 &&
	unload marker_probe &&
	start &&
	put 1 $process_exit/enable &&
	start_processes &&
	at_least "$(recorded kernel_process_exit:)" 20
}

garbage_changes_nothing() {
	start &&
	fails put x $event/enable &&
	fails put 7 $event/enable &&
	fails put "no_such_field == 1" $event/filter &&
	fails put "count ==" $event/filter &&
	fails put "no_such_command" $event/trigger &&
	fails put "hist:keys=no_such_field" $event/trigger &&
	fails put 1 $event/format &&
	is "$(cat "$instance/$event/enable")" 0 &&
	put 1 $event/enable &&
	fire 2 &&
	is "$(recorded sample_event:)" 2
}

# These records are not of hits: they have the values that are written.
injected_records_arrive() {
	start || return
	[ -w "$instance/$event/inject" ] || needs "no CONFIG_TRACE_EVENT_INJECT" || return
	put 'count = 7 name = "given"' $event/inject &&
	put '' $noargs/inject &&
	fails put 'no_such_field = 1' $noargs/inject &&
	is "$(recorded 'sample_event: count 7 name given$')" 1 &&
	is "$(recorded 'sample_noargs:')" 1 && kernel_is_well
}

# A kernel with kmemleak reports what a refused event leaves.
# shellcheck disable=SC2016 # variables of the event
event_probes_with_bad_arguments() {
	grep -q 'e\[:\[' "$tracing/README" || needs "no event probes" || return
	start &&
	for bad in '$count:b5@70/32' '$count:u8[3]' '$count:no_such_type' '$no_such_field'; do
		fails event_probe "bad=$bad" || {
			comment "$bad"
			return 1
		}
	done &&
	is "$(grep -c sample_event "$tracing/dynamic_events")" 0 &&
	event_probe 'number=$count:u32 text=+0($name):string' &&
	put 1 $probe/enable &&
	fire 2 &&
	put 0 $probe/enable &&
	is "$(recorded 'number=[01] text=')" 2
}

# Whether tracefs can have two directories of one name depends on the kernel's version.
both_or_a_message() {
	[ "$(grep -c "^markers:sample_event$" "$tracing/available_events")" = 2 ] ||
		has "$(log_since)" "there is another event markers/sample_event; remove it"
}

# A kprobe event may have the name of a marker, in the same group.
name_of_a_kprobe() {
	[ -w "$tracing/kprobe_events" ] || needs "no kprobe events" || return
	goes_soon $event || return
	log_from_here
	echo 'p:markers/sample_event vfs_open' >>"$tracing/kprobe_events" &&
	load marker_sample &&
	both_or_a_message &&
	load marker_probe marker=sample_event print=0 &&
	fire 3 &&
	is "$(hits)" 3
	ok=$?
	unload_all
	echo '-:markers/sample_event' >>"$tracing/kprobe_events" &&
	start &&
	put 1 $event/enable &&
	fire 2 &&
	is "$(recorded sample_event:)" 2 &&
	return $ok
}

# The virtual time that a task had as a fair one says nothing about a real-time task.
realtime_task_has_no_virtual_time() {
	needs_event markers/kernel_sched_stat_runtime || return
	needs_program chrt || return
	chrt -f 1 true 2>/dev/null || needs "no real-time tasks" || return
	start &&
	put 1 events/markers/kernel_sched_stat_runtime/enable || return
	# shellcheck disable=SC2016 # for the other shell
	chrt -f 1 sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done' &
	task=$!
	wait "$task"
	explain "no real-time task" &&
	is "$(grep -o "kernel_sched_stat_runtime: pid $task .*" "$instance/trace" |
		sed -n '$ s/.* vruntime //p')" 0
}

events_are_for_root_only() {
	needs_nobody || return
	start &&
	fails_with "Permission denied" \
		as_nobody sh -c "echo 1 >$tracing/$event/enable" &&
	fails_with "Permission denied" as_nobody cat "$tracing/$event/format" &&
	is "$(cat "$tracing/$event/enable")" 0
}

[ -d "$tracing/events" ] || skip_all "no trace events"
plan 32
comes_and_goes_with_the_module; report "comes and goes with the module"
goes_with_a_probe_attached; report "goes also while a probe of a module is attached"
fields_have_names_and_types; report "fields have names and types"
format_has_text_for_tools; report "format has text for tools"
values_arrive; report "values arrive"
numbers_alone_arrive; report "numbers alone arrive"
padding_is_clear; report "padding is clear"
long_string_is_cut; report "a long string is cut"
memory_is_allocated_once; report "memory for strings is allocated once"
counts_every_hit; report "counts every hit"
filter_by_number_and_string; report "filter by number and string"
filter_without_strings; report "filter without strings"
filter_knows_signs; report "filter knows signs"
trigger_counts_in_a_histogram; report "trigger counts in a histogram"
histograms_with_special_keys; report "histograms with special keys"
histogram_is_shared_by_equal_records; report "a histogram is shared by equal records"
shared_histogram_with_a_wrong_clock; report "shared histogram with a wrong clock"
histogram_of_sums_is_shared_by_equal_records; report "sums are shared by equal records"
saved_fields_are_shared_by_equal_records; report "saved fields are shared by equal records"
expression_of_long_names; report "an expression of long names is refused"
trigger_turns_tracing_off; report "trigger turns tracing off"
nothing_arrives_while_tracing_is_off; report "nothing arrives while tracing is off"
snapshot_beside_a_condition; report "a snapshot beside a condition for others"
instances_are_apart; report "instances are apart"
stays_while_it_is_used; report "stays while it is used"
stays_when_a_probe_goes; report "stays when a probe goes"
garbage_changes_nothing; report "garbage changes nothing"
injected_records_arrive; report "injected records arrive"
event_probes_with_bad_arguments; report "event probes with bad arguments"
name_of_a_kprobe; report "name of a kprobe"
realtime_task_has_no_virtual_time; report "a real-time task has no virtual time"
events_are_for_root_only; report "events are for root only"
finish
