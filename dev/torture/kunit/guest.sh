#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# guest.sh: runs in the guest: the KUnit suites.
set -uo pipefail
. dev/lib.sh

suites_pass() { dev/guest/kunit.sh "${kunit_suites[@]}" >/dev/null 2>&1; }

verdict=$(result "the suites of KUnit pass" suites_pass)
dmesg >/tmp/kunit.log
kunit_results /tmp/kunit.log
say "$verdict"
