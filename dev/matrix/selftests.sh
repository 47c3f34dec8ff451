#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# selftests.sh LOG TRACER...: check the log of a kernel that tests itself at boot:
# these tracers, several function tracers at once, and all events, first alone and then
# with the function tracer. A test that did not run fails, too.
set -euo pipefail
. "$(dirname "$0")/../lib.sh"

# The tests, one line each, with their result. Between name and result there may be
# numbers and other messages.
tests=$(sed -E 's/^\[ *[0-9.]+\] //; s/\r$//' "$1" | awk '
	/^Testing / { if (test) print test; test = $0; next }
	test && /^(\(.*\) *)?(PASSED|OK)$/ { test = test $0 }
	END { if (test) print test }')
bad=0

# wants TIMES NAME END: the test must be in the log so many times.
wants() {
	local found
	found=$(grep -cxE "Testing $2: *(.* )?$3" <<<"$tests" || true)
	((found == $1)) || { say "not ok - $2: $found of $1"; bad=1; }
}

for tracer in "${@:2}"; do
	wants 1 "tracer $tracer" PASSED
done
for name in 'dynamic ftrace' 'dynamic ftrace ops #1' 'dynamic ftrace ops #2' \
	'ftrace recursion' 'ftrace recursion safe' 'ftrace regs'; do
	wants 1 "$name" PASSED
done
for name in 'event sched_switch' 'event system syscalls' 'all events'; do
	wants 2 "$name" OK
done
others=$(grep -vE ': *(.* )?(PASSED|OK)$' <<<"$tests") && { say "$others"; bad=1; }
say "$(wc -l <<<"$tests") tests, $(grep -c '^Testing event ' <<<"$tests") of events"
exit $bad
