#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Runs the KUnit tests of immediate values, which are a module, and gives their
# results as its own: they stand in the kernel's log.

skip=4
module=test_immediate
suite=immediate

skip_all() {
	echo "TAP version 13"
	echo "1..0 # SKIP $1"
	exit $skip
}

check_requirements() {
	[ -w /dev/kmsg ] || skip_all "not root"
	modprobe -q -n $module || skip_all "no module $module"
	[ ! -d /sys/module/$module ] || skip_all "$module is loaded, its tests have run"
}

unload() {
	if [ -d /sys/module/$module ]; then
		modprobe -r $module
	fi
}

# The log from the line that says $1, without the times.
log_from() {
	dmesg | awk -v start="$1" '
		seen { sub(/^\[[^]]*\] /, ""); print }
		index($0, start) { seen = 1 }'
}

# The cases of the suite are indented; its own result comes last, and is the
# one that fails if there was no case.
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

check_requirements
trap unload EXIT
trap 'exit 1' INT TERM
echo "TAP version 13"
start="immediate.sh $$"
echo "$start" >/dev/kmsg
modprobe $module || echo "# cannot load $module"
log_from "$start" | show_results
