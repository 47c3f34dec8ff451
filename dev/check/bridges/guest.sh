#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# guest.sh: runs in the guest. Compares the markers of the kernel with the trace events
# of the tracepoints that feed them. Each test prints a line of TAP.
set -u
. "$(dirname "$0")/../../guest/lib.sh"
tracefs=/sys/kernel/tracing
cd /tmp || exit 1

# Marker, event, and the name of a number that both have, if there is one; a fourth
# word is its name in the event, if that differs.
pairs=(
	"kernel_irq_entry irq/irq_handler_entry irq"
	"kernel_irq_exit irq/irq_handler_exit irq"
	"kernel_softirq_raise irq/softirq_raise vec"
	"kernel_softirq_entry irq/softirq_entry vec"
	"kernel_softirq_exit irq/softirq_exit vec"
	"kernel_timer_start timer/timer_start"
	"kernel_timer_expire_entry timer/timer_expire_entry now baseclk"
	"kernel_timer_expire_exit timer/timer_expire_exit"
	"kernel_timer_cancel timer/timer_cancel"
	"kernel_hrtimer_start timer/hrtimer_start expires"
	"kernel_hrtimer_expire_entry timer/hrtimer_expire_entry now"
	"kernel_hrtimer_expire_exit timer/hrtimer_expire_exit"
	"kernel_hrtimer_cancel timer/hrtimer_cancel"
	"kernel_itimer_expire timer/itimer_expire which"
	"kernel_syscall_exit raw_syscalls/sys_exit"
	"kernel_syscall_entry raw_syscalls/sys_enter"
	"kernel_send_signal signal/signal_generate pid"
	"kernel_deliver_signal signal/signal_deliver code"
	"blk_request_insert block/block_rq_insert"
	"blk_request_issue block/block_rq_issue"
	"blk_request_complete block/block_rq_complete"
	"kernel_page_fault_user exceptions/page_fault_user error_code"
	"kernel_page_fault_kernel exceptions/page_fault_kernel error_code"
	"kernel_sched_switch sched/sched_switch prev_pid"
	"kernel_sched_waking sched/sched_waking pid"
	"kernel_sched_try_wakeup sched/sched_wakeup pid"
	"kernel_process_fork sched/sched_process_fork"
	"kernel_process_exec sched/sched_process_exec pid"
	"kernel_process_exit sched/sched_process_exit pid"
)

# Those that the work below does not hit, or that are not hit beside their event.
others="blk_request_requeue
	kernel_sched_wakeup_new_task kernel_sched_migrate_task kernel_sched_wait_task
	kernel_sched_wake_idle_without_ipi kernel_sched_pi_setprio kernel_sched_move_numa
	kernel_sched_stick_numa kernel_sched_swap_numa kernel_sched_stat_runtime
	kernel_sched_stat_wait kernel_sched_stat_sleep kernel_sched_stat_iowait
	kernel_sched_stat_blocked kernel_process_free kernel_process_wait
	kernel_process_hang kernel_kthread_stop kernel_kthread_stop_ret
	kernel_kthread_work_queue kernel_kthread_work_start kernel_kthread_work_end"

# A bridge that is added belongs into one of the lists.
all_are_known() {
	awk -F'\t' -v known="$(printf '%s\n' "${pairs[@]}" | cut -d ' ' -f 1) $others" '
	BEGIN { n = split(known, words, /[ \n\t]+/); for (i = 1; i <= n; i++) is_known[words[i]] }
	$2 == "vmlinux" { found = 1 }
	$2 == "vmlinux" && !($1 in is_known) { print "not in guest.sh: " $1; bad = 1 }
	END { exit bad || !found }' $tracefs/markers >&2
}

requests=20 signals=10

work() {
	local i
	dd if=/dev/nullb0 of=/dev/null bs=4k count=$requests iflag=direct
	dd if=/dev/null of=/dev/nullb0 count=0 conv=fsync,notrunc	# only a flush
	dd if=/dev/zero of=/dev/null bs=1M count=4
	trap : USR1
	for ((i = 0; i < signals; i++)); do
		kill -USR1 $$
		/bin/true
	done
	perl -e '$SIG{ALRM} = sub {}; alarm 1; sleep 2'
	cat /proc/kallsyms >/dev/null
} >/dev/null 2>&1

each_pair() {
	local pair failed=0
	for pair in "${pairs[@]}"; do
		# shellcheck disable=SC2086 # two to four words
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
	cat trace >/tmp/trace
	! grep -hE '^(overrun|dropped events): [1-9]' per_cpu/cpu*/stats
}

# values NAME VALUE: CPU and value of all records of it, in their order.
values() {
	sed -nE "s/^ *.+-[0-9]+ +\[([0-9]+)\] .*[0-9]: $1:(.*)/\1\2/p" /tmp/trace |
		{ if [[ $2 ]]; then
			sed -nE "s/^([0-9]+).*\b$2[= ](0x)?([0-9a-f]+).*/\1 \3/p"
		else
			cut -d ' ' -f 1
		fi; }
}

# When tracing is switched off, each CPU may be between the event and the marker.
same_values() {
	local differ
	# An interrupt between the two probes of a hit changes the order.
	values "$1" "${3:-}" | sort >of.marker
	values "${2#*/}" "${4:-${3:-}}" | sort >of.event
	[[ -s of.marker ]] || { echo "$1: no hit" >&2; return 1; }
	differ=$(diff of.marker of.event | grep -c '^[<>]')
	((differ <= $(nproc))) && return
	echo "$1: $(wc -l <of.marker) hits, ${2#*/}: $(wc -l <of.event); differ: $differ" >&2
	diff of.marker of.event | head -n 5 >&2
	return 1
}

hits_are() {
	local hits
	hits=$(grep -c "$2" /tmp/trace)
	[[ $hits == "$1" ]] || { echo "$hits times instead of $1: $2" >&2; return 1; }
}

result "every marker of the kernel is tested, or listed as not tested" all_are_known
modprobe null_blk nr_devices=1 completion_nsec=1000 irqmode=2 memory_backed=1 cache_size=1
echo mq-deadline >/sys/block/nullb0/queue/scheduler
result "all markers of the kernel can be traced beside their events" trace_all
cd /tmp || exit 1
result "they have the same hits and values" each_pair same_values
result "every request is inserted" hits_are $requests 'blk_request_insert: .* op 0 .*bytes 4096$'
result "every request is complete" hits_are $requests 'blk_request_complete: .*bytes 4096 error 0$'
result "a flush has no sector" hits_are 1 'blk_request_issue: .* op 2 sector 0 bytes 0$'
result "every signal is sent" hits_are $signals "kernel_send_signal: pid $$ signal 10 code 0 result 0"
result "every signal is delivered" hits_are $signals "kernel_deliver_signal: signal 10 code 0"
