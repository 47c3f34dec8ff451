#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs in the guest: tracepoints in Rust code are hit while their events are switched on,
# and only then.
# shellcheck source=guest/lib.sh
. "$(dirname "$0")/lib.sh"

cd /sys/kernel/tracing || exit 1

hits() { grep -c "$1" trace; }

# One request to Binder, which fails or not.
ask_binder() {
	python3 -c 'import fcntl; fcntl.ioctl(open("/mnt/binder"), 0xc0046209, bytes(4))'
}

# How often the sample hits its event. When it is unloaded, what it recorded goes.
sample_hits() { modprobe rust_print && hits 'loaded: magic=42'; rmmod rust_print; }

# counts EVENT WORK PATTERN: an event of code that is always there.
counts() {
	echo 1 >"events/$1/enable" && "$2" && "$2" && is "$(hits "$3")" 2 &&
		echo 0 >"events/$1/enable" && "$2" && is "$(hits "$3")" 2
}

# The event of the sample comes with its module, whose first function hits it.
sample_counts() {
	echo :mod:rust_print >set_event && is "$(sample_hits)" 1 &&
		echo >set_event && is "$(sample_hits)" 0
}

mount -t binder binder /mnt
result "a built-in driver in Rust" counts rust_binder/binder_ioctl ask_binder 'binder_ioctl: cmd=0xc0046209'
result "a module in Rust" sample_counts
((failed == 0))
