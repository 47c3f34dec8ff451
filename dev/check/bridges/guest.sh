#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# guest.sh DIR PAGE: runs in the guest, with the modules of DIR. Compares the markers of the
# kernel with the list in PAGE, and with the trace events of the tracepoints that feed them.
# Each test prints a line of TAP.
set -u
. "$(dirname "$0")/../../guest/lib.sh"
tracefs=/sys/kernel/tracing parameters=/sys/module/bridges/parameters
hits=/sys/module/marker_probe/parameters/hits
cd /tmp || exit 1

# Those that the work below hits: marker, event, and the fields that both have: FIELD, or FIELD:ITS_NAME_IN_THE_EVENT.
pairs=(
	"blk_request_insert block/block_rq_insert major minor bytes sector"
	"blk_request_issue block/block_rq_issue major minor bytes sector"
	"blk_request_complete block/block_rq_complete major minor sector error"
	"kernel_sched_switch sched/sched_switch prev_pid next_pid"
	"kernel_sched_waking sched/sched_waking pid cpu_id:target_cpu"
	"kernel_sched_try_wakeup sched/sched_wakeup pid cpu_id:target_cpu"
	"kernel_sched_wakeup_new_task sched/sched_wakeup_new pid cpu_id:target_cpu"
	"kernel_sched_migrate_task sched/sched_migrate_task pid dest_cpu"
	"kernel_sched_stat_runtime sched/sched_stat_runtime pid runtime"
	"kernel_process_fork sched/sched_process_fork parent_pid:pid child_pid"
	"kernel_process_exec sched/sched_process_exec pid old_pid filename"
	"kernel_process_exit sched/sched_process_exit pid"
	"kernel_process_wait sched/sched_process_wait pid"
	"kernel_process_free sched/sched_process_free pid"
)

requests=20 sleeper=0

work() {
	local i
	dd if=/dev/nullb0 of=/dev/null bs=4k count=$requests iflag=direct
	dd if=/dev/null of=/dev/nullb0 count=0 conv=fsync,notrunc	# only a flush
	for ((i = 0; i < 10; i++)); do /bin/true; done
	sleep 1 &
	sleeper=$!
	wait $sleeper
	# By chance, no task may have changed its CPU. This one does.
	taskset -pc 0 $$
	taskset -pc 1 $$
	taskset -p ffff $$
} >/dev/null 2>&1

each_pair() {
	local pair failed=0
	for pair in "${pairs[@]}"; do
		# shellcheck disable=SC2086 # its words
		"$@" $pair || failed=1
	done
	return $failed
}

switch_pair() { echo "$1" >events/markers/"$2"/enable && echo "$1" >events/"$3"/enable; }

trace_all() {
	mkdir $tracefs/instances/bridges && cd $tracefs/instances/bridges || return
	echo 20000 >buffer_size_kb
	echo 0 >tracing_on
	each_pair switch_pair 1 || return
	echo 1 >tracing_on
	work
	echo 0 >tracing_on
	each_pair switch_pair 0
	as_fields trace >/tmp/records
	! grep -hE '^(overrun|dropped events): [1-9]' per_cpu/cpu*/stats
}

# Text of events that is not "field=number".
as_fields() {
	sed -E 's/: (block_rq_[a-z]+): ([0-9]+),([0-9]+) [A-Z]+ ([0-9]*).*\) ([0-9]+) \+ .*\[(.*)\]$/: \1: major=\2 minor=\3 bytes=\4 sector=\5 error=\6/' "$@"
}

# values NAME FIELD...: CPU and values of all records of it.
values() {
	sed -nE "s/^ *.+-[0-9]+ +\[([0-9]+)\] .*[0-9]: $1:(.*)/\1\2/p" records |
		awk -v fields="${*:2}" '
		BEGIN { n = split(fields, field) }
		{
			said = $1
			for (i = 1; i <= n; i++) {
				if (!match($0, " " field[i] "[= ][^ ]*"))
					said = said " no " field[i]
				value = substr($0, RSTART + length(field[i]) + 2,
					       RLENGTH - length(field[i]) - 2)
				sub(/^(0x)?0*/, "", value)
				said = said " " value
			}
			print said
		}'
}

# same_values MARKER EVENT FIELD...
# When tracing is switched off, each CPU may be between the event and the marker.
same_values() {
	local differ fields=("${@:3}")
	# An interrupt between the two probes of a hit changes the order.
	values "$1" "${fields[@]%:*}" | sort >of.marker
	values "${2#*/}" "${fields[@]#*:}" | sort >of.event
	! grep -h -m 1 ' no ' of.marker of.event >&2 || return
	[[ -s of.marker ]] || { echo "$1: no hit" >&2; return 1; }
	differ=$(diff of.marker of.event | grep -c '^[<>]')
	((differ <= $(nproc))) && return
	echo "$1: $(wc -l <of.marker) hits, ${2#*/}: $(wc -l <of.event); differ: $differ" >&2
	diff of.marker of.event | head -n 5 >&2
	return 1
}

hits_are() {
	local hits
	hits=$(grep -c "$2" /tmp/records)
	[[ $hits == "$1" ]] || { echo "$hits times instead of $1: $2" >&2; return 1; }
}

is_hit() { grep -q "$1" /tmp/records || { echo "no record: $1" >&2; return 1; }; }

is_off() { is "$(paste -sd ' ' $parameters/active)" ''; }

on_with_a_probe() {
	modprobe marker_probe marker=kernel_sched_switch print=0
	is "$(paste -sd ' ' $parameters/active)" 'sched_switch kernel_sched_switch' && rmmod marker_probe && is_off
}

preempted_can_run() {
	local pid partner
	echo 1 >$tracefs/events/markers/kernel_sched_switch/enable
	read -r pid partner < <(taskset -c 0 cat $parameters/preempted)
	echo 0 >$tracefs/events/markers/kernel_sched_switch/enable
	is "$(sed -n "s/.*: prev_pid $pid next_pid $partner prev_state //p" $tracefs/trace | sort -u)" 0
}

as_proposed() {
	insmod "$1/proposal.ko" && modprobe marker_probe marker=proposal_nr_running print=0 || return
	sleep 0.1
	(($(<$hits) > 2)) && rmmod marker_probe proposal && is_off
}

# shellcheck disable=SC2016 # no expansion
documented() { sed -nE 's/^ +``([a-z_]+)``, ``[a-z_]+``, ``(.*)``$/\1\t\2/p' "$1" | sort; }
built() { awk -F'\t' '$2 == "vmlinux" { print $1 "\t" $6 }' $tracefs/markers | sort; }

are_documented() {
	local missing
	[[ $(built) ]] || { echo "the kernel has no marker" >&2; return 1; }
	missing=$(comm -23 <(built) <(documented "$1"))
	[[ ! $missing ]] || { echo "not in $1, or with another format:"$'\n'"$missing" >&2; return 1; }
}

insmod "$1/bridges.ko"
result "every marker of the kernel is documented, with its format" are_documented "$2"
result "no tracepoint is on while nobody watches a marker" is_off
result "the tracepoint of a marker is on while a probe is attached to the marker" on_with_a_probe
result "a marker in the probe of a module is hit as the tracepoint is" as_proposed "$1"
result "a task that is preempted when it is about to sleep can run" preempted_can_run
modprobe null_blk nr_devices=1 completion_nsec=1000 irqmode=2 memory_backed=1 cache_size=1
echo mq-deadline >/sys/block/nullb0/queue/scheduler
result "all markers of the kernel can be traced beside their events" trace_all
cd /tmp || exit 1
result "they have the same hits and values" each_pair same_values
result "every request is inserted" hits_are $requests 'blk_request_insert: .* op 0 .*bytes 4096$'
result "every request is complete" hits_are $requests 'blk_request_complete: .*bytes 4096 error 0$'
result "a task that sleeps leaves its CPU in that state" \
	is_hit "kernel_sched_switch: prev_pid $sleeper next_pid [0-9]* prev_state 1"
result "and one that exits does not come back" \
	hits_are 1 "kernel_sched_switch: prev_pid $sleeper next_pid [0-9]* prev_state 128"
result "a flush has no sector" hits_are 1 'blk_request_issue: .* op 2 sector 0 bytes 0$'
