#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# kfence.sh NUMBER [late]: run KFENCE's own suite in the guest. The pool has NUMBER of
# objects: from boot, or when KFENCE is enabled now.
# shellcheck source=guest/lib.sh
. "$(dirname "$0")/lib.sh"

number=$1
parameters=/sys/module/kfence/parameters

has_pool() { dmesg | grep -q "kfence: initialized .* for $number objects"; }

enable_late() {
	! has_pool && echo "$number" >$parameters/num_objects &&
		echo 100 >$parameters/sample_interval && has_pool
}

# The number of a pool that exists cannot change.
is_fixed() {
	! (echo 7 >$parameters/num_objects) 2>/dev/null &&
		is "$(cat $parameters/num_objects)" "$number"
}

suite_passes() {
	modprobe kfence_test
	dmesg -t | grep -E '^# kfence: pass:[1-9][0-9]* fail:0' || { dmesg -t | grep 'not ok'; false; }
}

[[ ${2:-} != late ]] || result "KFENCE is enabled after boot" enable_late
result "$number objects" has_pool
result "the number is fixed" is_fixed
result "the suite of KFENCE with $number objects" suite_passes
((failed == 0))
