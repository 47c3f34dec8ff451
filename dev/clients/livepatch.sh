#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The kernel's own selftests of live patches, a row for each script.
. "$(dirname "$0")/common.sh"

scripts=$out/clients/livepatch-$flavour

# A script that skips its tests fails, as its exit status is not 0.
tests() {
	cd "$scripts"
	KDIR=$HOUSE_BUILD bash "./$1" | tee /tmp/tests.txt || return
	agree tests "$(lines '^TEST: .* ok$' /tmp/tests.txt)" \
		"$(lines '^[[:space:]]*start_test ' "$1")"
}

for script in livepatch callbacks shadow-vars state ftrace sysfs syscall kprobe; do
	row livepatch "test-$script.sh" tests "test-$script.sh"
done
