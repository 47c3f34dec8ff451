#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# guest.sh DIR SECONDS SEED: runs in the guest: the kernel's selftests of the series, with
# a longer timeout, as debug kernels are slow.
set -eu
export TORTURE_SEED=$3
for settings in "$HOUSE_OUT"/selftests/*/settings; do
	echo timeout=3600 >"$settings"
done
exec dev/check/selftests/guest.sh "$HOUSE_OUT/selftests"
