#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Run the KUnit suites as modules, each of them twice: unloading one forgets its
# sites, its tracepoints and its markers, and loading it again finds none of them.
set -e

# Let allocations fail that may sleep, which those of the suites do; no traces.
echo N >/sys/kernel/debug/failslab/ignore-gfp-wait
echo 0 >/sys/kernel/debug/failslab/verbose

for suite in immediate tracepoint marker immediate tracepoint marker; do
	modprobe "test_$suite"
	rmmod "test_$suite"
done
