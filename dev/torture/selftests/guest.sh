#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# guest.sh DIR SECONDS SEED: runs in the guest: the kernel's selftests of the series.
set -eu
export TORTURE_SEED=$3
exec dev/check/selftests/guest.sh "$HOUSE_OUT/selftests"
