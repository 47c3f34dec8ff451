#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# guest.sh DIR: runs in the guest; modules with the names of 6.1, and with those of
# later kernels, on the same tracepoints.
set -eu
dir=$1
parameters=/sys/module/names_later_probe/parameters

insmod "$dir/names-later.ko"
insmod "$dir/names-later-probe.ko"
echo 4 >/sys/module/names_later/parameters/fire
grep -qx 54 $parameters/later
for ((i = 0; i < 100; i++)); do
	! grep -qvx 0 $parameters/pelt || break
	sleep 0.1
done
grep -vx 0 $parameters/pelt
rmmod names_later_probe names_later

dev/clients/names.sh
[[ -s $RESULTS/rows.tsv ]] && ! grep -P '\tFAIL' "$RESULTS/rows.tsv"
