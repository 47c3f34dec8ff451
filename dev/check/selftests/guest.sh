#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# guest.sh DIR: runs in the guest: the selftests in DIR. Their timeout is longer, as the
# guest may be slow, and its kernel one for debugging.
set -eu
. dev/guest/lib.sh
use_busybox
exec "$1/run_kselftest.sh" --override-timeout 3600
