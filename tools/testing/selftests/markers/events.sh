#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Markers as trace events, in a separate instance.

. "$(dirname "$0")/markers-lib.sh"

event=events/markers/sample_event
types=events/markers/sample_types
formats=events/markers/sample_formats
noargs=events/markers/sample_noargs
fork=events/markers/kernel_process_fork
process_exec=events/markers/kernel_process_exec
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
	unload_all
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
	[ -d "$instance/$1" ]
	explain "no $1"
}

has_no_event() {
	[ ! -d "$instance/$1" ]
	explain "$1 is still there"
}

comes_and_goes_with_the_module() {
	mkdir "$instance" &&
	has_no_event $event &&
	load marker_sample &&
	has_event $event &&
	unload marker_sample &&
	has_no_event $event &&
	load marker_sample &&
	has_event $event
}

# Also while it is enabled. Its records are removed with it: another event may get its
# number. When the module is loaded again, the event is enabled again, unless all events
# were disabled meanwhile, as tools do when they end.
goes_while_it_is_enabled() {
	start &&
	put 1 $event/enable &&
	fire 3 &&
	unload marker_sample &&
	has_no_event $event &&
	is "$(recorded 'sample_event:\|Unknown type')" 0 &&
	is "$(cat "$instance/set_event")" markers:sample_event:mod:marker_sample &&
	load marker_sample &&
	is "$(cat "$instance/$event/enable")" 1 &&
	is "$(cat "$instance/$noargs/enable")" 0 &&
	is "$(column sample_event probes)" 1 &&
	fire 2 &&
	is "$(recorded sample_event:)" 2 &&
	unload marker_sample &&
	put 0 events/enable &&
	is "$(cat "$instance/set_event")" "" &&
	load marker_sample &&
	is "$(cat "$instance/$event/enable")" 0 && kernel_is_well
}

reports() {
	dmesg | awk '/markers:sample_gone:mod:marker_sample was requested/ { n++ }
		END { print n + 0 }'
}

# As when a marker was renamed.
requests_of_missing_events_are_reported() {
	mkdir "$instance" &&
	put 'markers:sample_gone:mod:marker_sample' set_event &&
	before=$(reports) &&
	load marker_sample &&
	is "$(reports)" $((before + 1))
}

# A request for a module that is not loaded waits for it.
enabled_before_the_module() {
	mkdir "$instance" &&
	put 'markers:sample_event:mod:marker_sample' set_event &&
	load marker_sample &&
	is "$(cat "$instance/$event/enable")" 1 &&
	is "$(cat "$instance/$noargs/enable")" 0 &&
	fire 2 &&
	is "$(recorded sample_event:)" 2
}

lost_filters() {
	dmesg | awk '/the filter of sample_event is removed/ { n++ } END { print n + 0 }'
}

# The event comes back without it, so that is reported.
goes_with_a_filter() {
	start &&
	put 'count > 1' $event/filter &&
	before=$(lost_filters) &&
	unload marker_sample &&
	is "$(lost_filters)" $((before + 1)) &&
	has_no_event $event
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
		is "$(field "$want")" 1
		explain "$want" || return
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

# A record without strings is made in another way.
numbers_alone_arrive() {
	needs_event markers/kernel_process_fork || return
	start &&
	put 1 $fork/enable &&
	(:) &&
	put 0 $fork/enable &&
	is "$(recorded "kernel_process_fork: parent_pid $$ child_pid [0-9]* child_tgid [0-9]*\$")" 1
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
	grep -q 'field:long l;.*offset:24;' "$instance/$types/format" || return
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

# A marker that is fed by a tracepoint has the hits of the tracepoint's event.
all_events_record_nothing_twice() {
	needs_event markers/kernel_process_fork || return
	start &&
	put 1 events/enable &&
	is "$(cat "$instance/events/sched/sched_process_fork/enable")" 1 &&
	is "$(cat "$instance/$event/enable")" 1 &&
	is "$(cat "$instance/$fork/enable")" 0 &&
	is "$(cat "$instance/events/enable")" 1 &&
	put 1 events/markers/enable &&
	is "$(cat "$instance/$fork/enable")" 1 &&
	put 0 events/enable &&
	is "$(cat "$instance/$fork/enable")" 0 &&
	put '*:*' set_event &&
	is "$(cat "$instance/$fork/enable")" 0 &&
	put kernel_process_fork set_event &&
	is "$(cat "$instance/$fork/enable")" 1
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

text_and_filter_have_names() {
	start &&
	put 1 $formats/enable &&
	fire 5 &&
	said=$(sed -n 's/.*sample_formats: state \(.*\) size 4 .*/\1/p' "$instance/trace") &&
	is "$(echo "$said" | sed 's/ $//')" "IDLE mode
RUN mode READ
STOP mode WRITE
0x3 mode READ|WRITE
0x4 mode EXEC" &&
	put "state == STOP || mode & EXEC" $formats/filter &&
	fire 5 &&
	is "$(recorded sample_formats:)" 7 &&
	fails put "state == STO" $formats/filter &&
	fails put "state == READ" $formats/filter &&
	fails put "state ~ STOP" $formats/filter &&
	put 'vec == NET_RX' events/irq/softirq_entry/filter
}

filter_without_strings() {
	needs_event markers/kernel_process_fork || return
	mkdir "$instance" &&
	put "parent_pid == $$ && child_pid > 1" $fork/filter &&
	put 1 $fork/enable &&
	(:) &&
	put "parent_pid == $$ && child_pid == 1" $fork/filter &&
	(:) &&
	put 0 $fork/enable &&
	at_least "$(recorded kernel_process_fork:)" 1 &&
	is "$(recorded 'kernel_process_fork:')" "$(recorded "parent_pid $$ ")"
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

trigger_turns_tracing_off() {
	start &&
	put 'traceoff if count == 2' $event/trigger &&
	put 1 $event/enable &&
	fire 9 &&
	put '!traceoff if count == 2' $event/trigger &&
	put 1 tracing_on &&
	is "$(recorded sample_event:)" 3
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
	is "$(recorded 'sample_noargs:')" 1 &&
	unload marker_sample &&
	is "$(recorded 'sample_\|Unknown type')" 0 && kernel_is_well
}

# shellcheck disable=SC2016 # variables of the event
event_probe_gets_values() {
	grep -q 'e\[:\[' "$tracing/README" || needs "no event probes" || return
	start &&
	echo 'e:eprobes/markers_selftest markers.sample_event' \
		'number=$count:u32 text=+0($name):string' \
		>>"$tracing/dynamic_events" &&
	put 1 $probe/enable &&
	fire 2 &&
	put 0 $probe/enable &&
	is "$(recorded 'number=[01] text=')" 2
}

# A kprobe event may have the name of a marker, in the same group.
name_of_a_kprobe() {
	[ -w "$tracing/kprobe_events" ] || needs "no kprobe events" || return
	echo 'p:markers/sample_event vfs_open' >>"$tracing/kprobe_events" &&
	load marker_sample &&
	has "$(cat "$tracing/events/markers/sample_event/format")" __probe_ip &&
	load marker_probe marker=sample_event print=0 &&
	fire 3 &&
	is "$(hits)" 3
	ok=$?
	unload_all
	echo '-:markers/sample_event' >>"$tracing/kprobe_events" &&
	start &&
	has_event $event &&
	return $ok
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
plan 26
comes_and_goes_with_the_module; report "comes and goes with the module"
goes_while_it_is_enabled; report "goes also while it is enabled"
enabled_before_the_module; report "can be enabled before the module is loaded"
requests_of_missing_events_are_reported; report "a request for an event that is missing is reported"
goes_with_a_filter; report "goes with a filter"
goes_with_a_probe_attached; report "goes also while a probe of a module is attached"
fields_have_names_and_types; report "fields have names and types"
format_has_text_for_tools; report "format has text for tools"
values_arrive; report "values arrive"
numbers_alone_arrive; report "numbers alone arrive"
padding_is_clear; report "padding is clear"
long_string_is_cut; report "a long string is cut"
counts_every_hit; report "counts every hit"
all_events_record_nothing_twice; report "all events at once record nothing twice"
filter_by_number_and_string; report "filter by number and string"
text_and_filter_have_names; report "text and filter have names of values"
filter_without_strings; report "filter without strings"
filter_knows_signs; report "filter knows signs"
trigger_counts_in_a_histogram; report "trigger counts in a histogram"
trigger_turns_tracing_off; report "trigger turns tracing off"
instances_are_apart; report "instances are apart"
garbage_changes_nothing; report "garbage changes nothing"
injected_records_arrive; report "injected records arrive"
event_probe_gets_values; report "an event probe gets values"
name_of_a_kprobe; report "name of a kprobe"
events_are_for_root_only; report "events are for root only"
finish
