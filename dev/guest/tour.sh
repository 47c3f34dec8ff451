#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# tour.sh OUT: runs in the guest. The tracers that OUT/tracers lists attach to one marker
# while two processes run; a table shows how often each tracer saw the first process leave
# a CPU. OUT has the script of SystemTap and the modules of LTTng. The switches are in
# $RESULTS/switches.txt for the picture.
#
# The processes are stopped until all tracers are attached, and after their work until
# all are detached: so all counts must be equal.
set -u
out=$1
marker=kernel_sched_switch
rounds=300
tracefs=/sys/kernel/tracing
instance=$tracefs/instances/tour
read -r -a tracers <"$out/tracers"
declare -A count lost names=([trace_cmd]=trace-cmd [systemtap]=SystemTap [lttng]=LTTng)
ctl=ctl ack=ack		# fifos to and from perf

# The workload

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

stopped() { [[ $(sed 's/.*) //' "/proc/$1/stat") == T* ]]; }

# until_ok SECONDS COMMAND...
until_ok() {
	local tries=$(($1 * 10))
	shift
	until "$@"; do
		((tries--)) || { echo "FAIL: waited in vain for: $*"; return 1; }
		sleep 0.1
	done
}

start_workers() {
	mkfifo to_ping to_pong
	exec 8<>to_ping 9<>to_pong
	worker ping 8 9 & ping=$!
	worker pong 9 8 & pong=$!
	until_ok 10 stopped $ping && until_ok 10 stopped $pong
}

run_workers() {
	echo token >&8
	kill -CONT $ping $pong
	until_ok 60 stopped $ping && until_ok 60 stopped $pong
}

end_workers() {
	disown $ping $pong
	kill -KILL $ping $pong
}

# The tracers: begin_NAME attaches; end_NAME detaches, and sets count and, if the
# tracer reports lost events, lost.

leave() {
	kill -INT "$1"
	wait "$1"
}

says() { grep -qs "$1" "$2"; }
lines() { grep -c "prev_pid[ =]*$ping\b" "$1"; }

begin_tracefs() {
	mkdir $instance
	echo 16384 >$instance/buffer_size_kb
	echo 1 >$instance/events/markers/$marker/enable
}

end_tracefs() {
	echo 0 >$instance/tracing_on
	cat $instance/trace >"$RESULTS/switches.txt"
	count[tracefs]=$(lines "$RESULTS/switches.txt")
	lost[tracefs]=$(cat $instance/per_cpu/cpu*/stats | awk '/overrun|dropped/ { n += $NF } END { print n }')
	rmdir $instance
}

trace_cmd_is_on() {
	[[ $(<$tracefs/events/markers/$marker/enable) == 1 && $(<$tracefs/tracing_on) == 1 ]]
}

# In 6.1 a size for one buffer, as above, leaves the others as small as after boot.
begin_trace_cmd() {
	trace-cmd record -q -b 4096 -e markers:$marker -f "prev_pid == $ping" >trace-cmd.log 2>&1 &
	trace_cmd=$!
	until_ok 30 trace_cmd_is_on
}

end_trace_cmd() {
	leave "$trace_cmd"
	trace-cmd report >trace-cmd.txt 2>/dev/null
	# On a busy machine trace-cmd 3.1 ends before it has read all, with events of the
	# stock kernel too: the rest is still in the kernel's buffer.
	grep -v '^#' $tracefs/trace >>trace-cmd.txt
	count[trace-cmd]=$(lines trace-cmd.txt)
	lost[trace-cmd]=$(grep -c DROPPED trace-cmd.txt)
	trace-cmd reset
	echo 1 >$tracefs/tracing_on
}

begin_perf() {
	mkfifo $ctl $ack
	perf record -q -a -e markers:$marker --filter "prev_pid == $ping" -o perf.data \
		-D -1 --control=fifo:$ctl,$ack >perf.log 2>&1 &
	perf=$!
	echo enable >$ctl
	read -r _ <$ack
}

end_perf() {
	leave "$perf"
	perf script -i perf.data >perf.txt 2>/dev/null
	count[perf]=$(lines perf.txt)
	lost[perf]=$(perf script -i perf.data --show-lost-events 2>/dev/null | grep -c LOST)
}

begin_bpftrace() {
	bpftrace -e "
		tracepoint:markers:$marker { @all = 1; }
		tracepoint:markers:$marker /args->prev_pid == $ping/ { @switches = count(); }
		interval:ms:200 /@all/ { printf(\"ready\n\"); }" >bpftrace.txt 2>&1 &
	bpftrace=$!
	until_ok 60 says ready bpftrace.txt
}

end_bpftrace() {
	leave "$bpftrace"
	count[bpftrace]=$(sed -n 's/^@switches: //p' bpftrace.txt)
}

begin_systemtap() {
	staprun -x $ping -o stap.txt "$out/stap/tour.ko" 2>stap.err &
	stap=$!
	until_ok 30 says ready stap.txt
}

end_systemtap() {
	leave "$stap"
	count[SystemTap]=$(sed -n 's/^switches //p' stap.txt)
	lost[SystemTap]=$(awk '/skipped probes:/ { n = $NF } END { print n + 0 }' stap.err)
}

begin_lttng() {
	lttng create tour --output="$PWD/lttng"
	lttng enable-channel -k c --subbuf-size=1M --num-subbuf=4
	lttng enable-event -k -c c markers_$marker --filter "prev_pid == $ping"
	lttng start
} >lttng.log

end_lttng() {
	lttng destroy tour >>lttng.log
	babeltrace2 lttng >lttng.txt 2>lttng.err
	count[LTTng]=$(lines lttng.txt)
	lost[LTTng]=$(grep -c discarded lttng.err)
}

begin_module() { modprobe marker_probe marker=$marker first=$ping print=0; }

end_module() {
	count[module]=$(</sys/module/marker_probe/parameters/hits)
	rmmod marker_probe
}

# The tour

attached() { awk -F'\t' -v m=$marker '$1 == m { print $4 }' $tracefs/markers; }

nobody_is_attached() { [[ $(attached) == 0 ]]; }

table() {
	local tracer name verdict=0
	printf '\n%-12s %9s %6s\n' tracer switches lost
	for tracer in "${tracers[@]}"; do
		name=${names[$tracer]:-$tracer}
		printf '%-12s %9s %6s\n' "$name" "${count[$name]}" "${lost[$name]:--}"
		[[ ${count[$name]} == "${count[module]}" && ${lost[$name]:-0} == 0 ]] || verdict=1
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
if [[ " ${tracers[*]} " == *" lttng "* ]]; then
	mount --bind "$out/lttng-modules/guest/modroot/lib/modules" /lib/modules
	lttng-sessiond -d --extra-kmod-probes=markers || exit 1
fi
if tour; then
	echo "PASS: a module and $((${#tracers[@]} - 1)) tracers on one marker saw the same"
else
	echo "FAIL: they did not see the same"
	exit 1
fi
until_ok 10 nobody_is_attached
