#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs in the guest: list the markers, let a module print what it gets from one of them,
# let all tracers count at once, and record traces for Perfetto and KernelShark.
set -euo pipefail
tracefs=/sys/kernel/tracing
marker=kernel_sched_switch
cd "$(mktemp -d)"

title() { printf '\n== %s\n' "$*"; }

title "the markers of this kernel ($tracefs/markers)"
cat $tracefs/markers

title "a module prints the first hits of $marker"
dmesg -C
modprobe marker-probe marker=$marker print=8
sleep 1
rmmod marker_probe
dmesg | grep "$marker"

title "one workload: a module and all who trace Linux, side by side"
"$OLDPWD/dev/guest/tour.sh"

title "slices and a counter: sample.dat for KernelShark, sample.pftrace for Perfetto"
events=(markers/sample_slice markers/sample_counter sched/sched_switch)
modprobe marker_sample
fire() { echo 100 >/sys/module/marker_sample/parameters/fire; }
export -f fire
trace-cmd record -q -o "$RESULTS/sample.dat" "${events[@]/#/-e}" bash -c fire
trace-cmd report "$RESULTS/sample.dat" >report.txt 2>/dev/null
grep -m 1 'BEGIN slice_name fire_markers' report.txt

# Perfetto's recorder sets the clock of the buffer.
traced >"$RESULTS/perfetto.log" 2>&1 &
traced_probes >>"$RESULTS/perfetto.log" 2>&1 &
{ sleep 1; fire; } &
perfetto -t 3s -o "$RESULTS/sample.pftrace" "${events[@]}" >>"$RESULTS/perfetto.log" 2>&1
kill %1 %2
grep -q fire_markers "$RESULTS/sample.pftrace"
ls -l "$RESULTS"/sample.*
