#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#: COUNTERS=hits sets registrations changes loads nmis faults lost late mixed torn failed
# guest.sh DIR SECONDS SEED [PARAMETER...]: runs in the guest: the kernel's torture test
# of tracing, by its selftest.
set -eu
export TORTURE_SECONDS=$2 TORTURE_SEED=$3 TORTURE_PARAMETERS="${*:4}"
export TORTURE_COUNTERS=$RESULTS/counters
exec "$(dirname "$0")/../../../tools/testing/selftests/tracetorture/tracetorture.sh"
