#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# tour.sh: runs in the guest. The tracers attach to one marker and to the trace event
# beside it, while two processes run; a table shows how often each tracer saw the first
# process leave a CPU.
#
# The processes are stopped until all tracers are attached, and after their work until
# all are detached: so all counts must be equal.
set -u
marker=kernel_sched_switch
rounds=300
tracefs=/sys/kernel/tracing
tracers=(module tracefs trace_cmd perf bpftrace systemtap lttng trace_event)
declare -A count lost pid

# worker NAME IN OUT: passes a token from one fifo to the other.
worker() {
	local token i
	printf %s "$1" >/proc/$BASHPID/comm
	kill -STOP $BASHPID
	for ((i = 0; i < rounds; i++)); do
		read -r token <&"$2"
		echo "$token" >&"$3"
	done
	kill -STOP $BASHPID
}

# until_ok SECONDS COMMAND...
until_ok() {
	local tries=$(($1 * 10))
	shift
	until "$@"; do
		((tries--)) || { echo "FAIL: waited in vain for: $*"; return 1; }
		sleep 0.1
	done
}

are_stopped() { [[ $(sed 's/.*) \(.\).*/\1/' /proc/{"$ping","$pong"}/stat) == T$'\n'T ]]; }

start_workers() {
	mkfifo to_ping to_pong
	exec 8<>to_ping 9<>to_pong
	worker ping 8 9 & ping=$!
	worker pong 9 8 & pong=$!
	until_ok 10 are_stopped
}

run_workers() {
	echo token >&8
	kill -CONT $ping $pong
	until_ok 60 are_stopped
}

end_workers() {
	disown $ping $pong
	kill -KILL $ping $pong
}

# The tracers: begin_NAME attaches; end_NAME detaches, and sets count and, if the
# tracer reports lost events, lost.

# end NAME: end its process.
end() { kill -INT "${pid[$1]}"; wait "${pid[$1]}"; }

says() { grep -qs "$1" "$2"; }
lines() { grep -c "prev_pid[ =]*$ping\b" "$1"; }

# begin_instance NAME EVENT, end_instance NAME FILE: an event, in an instance of its own.
begin_instance() {
	local instance=$tracefs/instances/$1
	mkdir "$instance"
	echo 16384 >"$instance/buffer_size_kb"
	echo 1 >"$instance/events/$2/enable"
}

end_instance() {
	local instance=$tracefs/instances/$1
	echo 0 >"$instance/tracing_on"
	cat "$instance/trace" >"$2"
	count[$1]=$(lines "$2")
	lost[$1]=$(cat "$instance"/per_cpu/cpu*/stats | awk '/overrun|dropped/ { n += $NF } END { print n }')
	rmdir "$instance"
}

begin_tracefs() { begin_instance tracefs markers/$marker; }
end_tracefs() { end_instance tracefs tracefs.txt; }
begin_trace_event() { begin_instance trace_event sched/sched_switch; }
end_trace_event() { end_instance trace_event event.txt; }

# A size for one buffer, as above, leaves the others as small as after boot.
begin_trace_cmd() {
	trace-cmd record -q -b 4096 -e markers:$marker -f "prev_pid == $ping" >trace-cmd.log 2>&1 &
	pid[trace_cmd]=$!
	until_ok 30 says 1 $tracefs/events/markers/$marker/enable && until_ok 30 says 1 $tracefs/tracing_on
}

# On a busy machine trace-cmd 3.1 ends before it has read all, with events of the stock
# kernel too: the rest is still in the kernel's buffer.
end_trace_cmd() {
	end trace_cmd
	{ trace-cmd report 2>/dev/null; grep -v '^#' $tracefs/trace; } >trace-cmd.txt
	count[trace_cmd]=$(lines trace-cmd.txt)
	lost[trace_cmd]=$(grep -c DROPPED trace-cmd.txt)
	trace-cmd reset
	echo 1 >$tracefs/tracing_on
}

begin_perf() {
	mkfifo ctl ack
	perf record -q -a -e markers:$marker --filter "prev_pid == $ping" -o perf.data \
		-D -1 --control=fifo:ctl,ack >perf.log 2>&1 &
	pid[perf]=$!
	echo enable >ctl
	read -r _ <ack
}

end_perf() {
	end perf
	perf script -i perf.data --show-lost-events >perf.txt 2>/dev/null
	count[perf]=$(lines perf.txt)
	lost[perf]=$(grep -c LOST perf.txt)
}

begin_bpftrace() {
	bpftrace -e "
		tracepoint:markers:$marker { @all = 1; }
		tracepoint:markers:$marker /args->prev_pid == $ping/ { @switches = count(); }
		interval:ms:200 /@all/ { printf(\"ready\n\"); }" >bpftrace.txt 2>&1 &
	pid[bpftrace]=$!
	until_ok 60 says ready bpftrace.txt
}

end_bpftrace() {
	end bpftrace
	count[bpftrace]=$(sed -n 's/^@switches: //p' bpftrace.txt)
}

begin_systemtap() {
	staprun -x $ping "$HOUSE_OUT/tracers/tour.ko" >stap.txt 2>stap.err &
	pid[systemtap]=$!
	until_ok 60 says ready stap.txt
}

end_systemtap() {
	end systemtap
	count[systemtap]=$(sed -n 's/^switches: //p' stap.txt)
}

begin_lttng() {
	lttng-sessiond -d --extra-kmod-probes=markers >lttng.log 2>&1 &&
		lttng create tour --output="$PWD/lttng" >>lttng.log 2>&1 &&
		lttng enable-event -k markers_$marker --filter "prev_pid == $ping" >>lttng.log 2>&1 &&
		lttng start >>lttng.log 2>&1
}

end_lttng() {
	lttng stop >>lttng.log 2>&1
	lost[lttng]=$(lttng list tour | awk '/Discarded events:/ { n += $NF } END { print n + 0 }')
	babeltrace2 lttng >lttng.txt
	count[lttng]=$(lines lttng.txt)
	lttng destroy >>lttng.log 2>&1
	kill "$(</run/lttng/lttng-sessiond.pid)"
}

begin_module() { modprobe marker_probe marker=$marker first=$ping print=0; }

end_module() {
	count[module]=$(</sys/module/marker_probe/parameters/hits)
	rmmod marker_probe
}

attached() { awk -F'\t' -v m=$marker '$1 == m { print $4 }' $tracefs/markers; }
nobody_is_attached() { [[ $(attached) == 0 ]]; }

table() {
	local tracer verdict=0
	printf '\n%-14s %9s %6s\n' tracer switches lost
	for tracer in "${tracers[@]}"; do
		printf '%-14s %9s %6s\n' "$tracer" "${count[$tracer]}" "${lost[$tracer]:--}"
		[[ ${count[$tracer]} == "${count[module]}" && ${lost[$tracer]:-0} == 0 ]] || verdict=1
	done
	((count[module] > rounds / 2)) || verdict=1
	return $verdict
}

tour() {
	local tracer
	start_workers || return
	for tracer in "${tracers[@]}"; do
		"begin_$tracer" || { cat ./*.log ./*.txt ./*.err; return 1; }
	done
	echo "probes on $marker while all are attached: $(attached) (perf and bpftrace share one)"
	run_workers || return
	for tracer in "${tracers[@]}"; do
		"end_$tracer"
	done
	end_workers
	table
}

cd "$(mktemp -d)" || exit 1
tour || { echo "FAIL: they did not see the same"; exit 1; }
echo "PASS: all ${#tracers[@]} saw the same"
until_ok 10 nobody_is_attached
