#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Loads the module with the KUnit tests of immediate values, and prints their results,
# which are in the kernel's log, as its own.

. "$(dirname "$0")/../kselftest/tracing.sh"

module=test_immediate
suite=immediate

clean_up() {
	unload_if_loaded $module
}

# The cases of the suite are indented. The result of the suite is printed last, and
# fails if there was no case.
show_results() {
	awk -v suite=$suite '
		function show(ok, name) {
			printf "%s %d %s\n", ok ? "ok" : "not ok", ++number, name
			failed += !ok
		}
		/^ *(not )?ok [0-9]+ / {
			line = $0
			sub(/^ *(not )?ok [0-9]+ (- )?/, "", line)
			ok = !/^ *not/
			if (/^ /)
				show(ok, line)
			else if (line == suite)
				passed = ok && number
			next
		}
		/^ *(KTAP|# Subtest|1\.\.)/ { next }
		{ print "# " $0 }
		END {
			show(passed, "the whole suite " suite)
			print "1.." number
			exit failed != 0
		}'
}

[ -w /dev/kmsg ] || skip_all "needs root"
check_modules $module
log_from_here
load $module
! log_since | grep -q "kunit: disabled" || {
	clean_up
	skip_all "KUnit is disabled"
}
plan ''
log_since | show_results
