#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# LTTng, with its modules and the kernel's, records what the work does;
# babeltrace2 reads the trace.
. "$(dirname "$0")/common.sh"

events=sched_process_fork,sched_switch

# with COMMAND...: a session, in which the command enables events.
with() {
	lttng create clients --output=/tmp/clients
	lttng enable-channel -k all --subbuf-size=4M --num-subbuf=8
	"$@"
	lttng start
	$work
	lttng destroy
	babeltrace2 clients >lttng.txt 2>lttng.err
	rm -rf clients
	cat lttng.err	# reports lost events
	[[ ! -s lttng.err ]]
	agree forks "$(lines 'sched_process_fork: .*parent_comm = "working"' lttng.txt)" $times \
		sleeps "$(lines 'sched_switch: .*prev_comm = "working".* prev_state = 1,' lttng.txt)" "$(</tmp/sleeps)" \
		"system calls" "$(lines 'syscall_entry_getsid: ' lttng.txt)" $times
}

some() {
	lttng enable-event -k -c all $events
	lttng enable-event -k -c all --syscall getsid
}

all() { lttng enable-event -k -c all --all; }

# Events are disabled and enabled while LTTng is tracing.
switching() {
	some
	lttng start
	for _ in 1 2 3 4 5; do
		lttng disable-event -k -c all $events
		lttng enable-event -k -c all $events
	done
	lttng stop
}

mount --bind "$out/lttng-modules/$flavour/modroot/lib/modules" /lib/modules
lttng-sessiond -d
row LTTng "session with fork, sched_switch and a system call" with some
row LTTng "the same, after they went on and off five times" with switching
row LTTng "session with all events" with all
