#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Loads the modules with the KUnit tests of immediate values, and prints their results,
# which are in the kernel's log, as its own.

. "$(dirname "$0")/../kselftest/tracing.sh"

suites="immediate immediate_module immediate_patch"
modules="test_immediate test_immediate_module test_immediate_patch"

clean_up() {
	for module in $modules; do
		unload_if_loaded "$module"
	done
}

# The cases of a suite are indented. The result of the suites is printed last, and
# fails if one did not run.
show_results() {
	awk -v missing="$(echo "$suites" | wc -w)" '
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
			else
				missing -= ok
			next
		}
		/^ *(KTAP|# Subtest|1\.\.)/ { next }
		{ print "# " $0 }
		END {
			show(!missing && number, "all suites")
			print "1.." number
			exit failed != 0
		}'
}

[ -w /dev/kmsg ] || skip_all "needs root"
# shellcheck disable=SC2086 # one word a module
check_modules $modules
log_from_here
for module in $modules; do
	load "$module"
done
! log_since | grep -q "kunit: disabled" || {
	clean_up
	skip_all "KUnit is disabled"
}
plan ''
log_since | show_results
