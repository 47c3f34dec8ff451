#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# guest.sh DIR: runs in the guest, with the modules of DIR.
set -eu
dir=$1

insmod "$dir/markers/marker-probe.ko" marker=sample_event 'format="count %u name %s"'
insmod "$dir/markers/marker-sample.ko"
echo 3 >/sys/module/marker_sample/parameters/fire
grep -qx 3 /sys/module/marker_probe/parameters/hits
insmod "$dir/tracepoints/tracepoint-sample.ko"
insmod "$dir/tracepoints/tracepoint-probe-sample.ko"
echo 3 >/sys/module/tracepoint_sample/parameters/fire
grep -qx 3 /sys/module/tracepoint_probe_sample/parameters/requests

dev/clients/names.sh
[[ -s $RESULTS/rows.tsv ]] && ! grep -P '\tFAIL' "$RESULTS/rows.tsv"
