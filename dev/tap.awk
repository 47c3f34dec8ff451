# SPDX-License-Identifier: GPL-2.0
# Count the results in TAP or KTAP, also from a kernel log.
#
# Only leaves count: the line of a suite follows its indented cases (or those
# marked "# ", as kselftest does), and summarizes them. It counts when it fails and
# none of its cases did. An incomplete plan is a failure. Prints "passed failed
# skipped"; with -v show=1 also the lines of failures and skips, before that.

function fail(line) { failed++; if (show) print line }

function close_plan(d) {
	if (d in plan && plan[d] > seen[d])
		fail(sprintf("not ok - planned %d results, got %d", plan[d], seen[d]))
	if (d in plan && plan[d] > seen[d])
		bad[d]++
	delete plan[d]; seen[d] = 0
}

# Closes all levels deeper than d; sets children if there were any, and child_failed
# if any of them failed.
function close_deeper(d,    i) {
	children = 0; child_failed = 0
	for (i in seen) {
		if (i + 0 <= d)
			continue
		close_plan(i)
		children = 1; child_failed += bad[i]
		delete seen[i]; delete bad[i]
	}
}

function result(d, ok, skip, line) {
	close_deeper(d)
	seen[d]++
	if (!ok) bad[d]++
	if (children) {
		if (!ok && !child_failed) fail(line)
		if (child_failed && ok) bad[d]++
	} else if (skip && ok) {
		skipped++
		if (show) print line
	} else if (ok) {
		passed++
	} else {
		fail(line)
	}
}

{
	sub(/\r$/, ""); sub(/^(<[0-9]+>)?\[ *[0-9]+\.[0-9]+\] ?/, "")
	match($0, /^(# |    )*/); depth = RLENGTH; text = substr($0, RLENGTH + 1)
}

text ~ /^(not )?ok( |$)/ {
	result(depth, text ~ /^ok/, text ~ /# *[Ss][Kk][Ii][Pp]/, text)
}

text ~ /^1\.\.[0-9]+/ {
	n = substr(text, 4) + 0
	close_deeper(depth)
	if (!n) {
		seen[depth] += 0; skipped++
		if (show) print text
	} else if (depth in plan || !seen[depth]) {
		close_plan(depth); plan[depth] = n
	} else {
		plan[depth] = n; close_plan(depth)
	}
}

text ~ /^Bail out!/ { fail(text) }

END {
	close_deeper(-1)
	print passed + 0, failed + 0, skipped + 0
}
