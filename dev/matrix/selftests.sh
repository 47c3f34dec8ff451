#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# selftests.sh LOG TRACER...: the kernel that wrote the log has tested itself at boot:
# these tracers, function tracers side by side, and all events, alone and again along
# with the function tracer. A test that did not run fails, too.
set -euo pipefail
. "$(dirname "$0")/../lib.sh"

# The tests, a line each, with how they ended. Between that and the name there may be
# numbers and messages of others.
tests=$(sed -E 's/^\[ *[0-9.]+\] //; s/\r$//' "$1" | awk '
	/^Testing / { if (test) print test; test = $0; next }
	test && /^(\(.*\) *)?(PASSED|OK)$/ { test = test $0 }
	END { if (test) print test }')
bad=0

# wants TIMES NAME END: so often is it there.
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
