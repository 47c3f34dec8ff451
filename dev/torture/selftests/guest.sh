#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# guest.sh DIR SECONDS SEED: runs in the guest: the kernel's selftests of the series, with
# a longer timeout, as debug kernels are slow.
set -eu
export TORTURE_SEED=$3
cd "$HOUSE_OUT/selftests"
for settings in */settings; do
	echo timeout=3600 >"$settings"
done
./run_kselftest.sh
