#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# kunit.sh [SUITE...]: run the KUnit suites (all, or those) as modules, each twice:
# unloading one forgets its sites, its tracepoints and its markers, and loading it
# again finds none of them.
set -e
[ $# != 0 ] || set -- immediate tracepoint marker

# Let allocations fail that may sleep, which those of the suites do; no traces.
echo N >/sys/kernel/debug/failslab/ignore-gfp-wait
echo 0 >/sys/kernel/debug/failslab/verbose

for suite in "$@" "$@"; do
	modprobe "test_$suite"
	rmmod "test_$suite"
done
