#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs in the guest: list the markers, let a module print what it gets from one of them,
# and let all tracers count at once.
set -euo pipefail
tracefs=/sys/kernel/tracing
marker=kernel_sched_switch

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
dev/guest/tour.sh
