# SPDX-License-Identifier: GPL-2.0
# Sourced by the scripts that run in the guest: reporting, and the work that they
# trace.
# shellcheck shell=bash disable=SC2034
set -euo pipefail

tracefs=/sys/kernel/tracing
out=${HOUSE_BUILD%/build/*}
flavour=${HOUSE_BUILD##*/}
bin=$out/bin
[[ $(uname -m) == x86_64 ]] || bin+=-$(uname -m)
times=200		# how often the work does each operation
work=/tmp/work		# runs it, and writes the number of sleeps to /tmp/sleeps
rows=0

cat >"$work" <<END
#!/bin/sh
exec $bin/work $times >/tmp/sleeps
END
chmod +x "$work"
cd /tmp

say() { printf '%s\n' "$*"; }
die() { say "$*"; exit 1; }
put() { printf '%s\n' "$1" >"$tracefs/$2"; }
add() { printf '%s\n' "$1" >>"$tracefs/$2"; }

# row CLIENT WHAT COMMAND...: write a row: it passes when the command succeeds; it ends
# with the last line that the command prints.
row() {
	local log verdict=PASS
	log=$RESULTS/$((++rows)).log
	# Not in a condition: there, set -e does not work inside.
	set +e
	(set -ex; "${@:3}") >"$log" 2>&1
	# shellcheck disable=SC2181 # the same
	(($? == 0)) || verdict="FAIL (${log##*/})"
	set -e
	printf '%s\t%s\t%s %s\n' "$1" "$2" "$verdict" \
		"$(grep -v '^+' "$log" | tail -n 1)" | tee -a "$RESULTS/rows.tsv"
}

# agree [WHAT COUNT EXPECTED]...: all counts are as expected.
agree() {
	local text='' bad=0
	while (($#)); do
		if [[ $2 == "$3" && $3 -gt 0 ]]; then
			text+="${text:+, }$2 $1"
		else
			text+="${text:+, }${2:-none} of $3 $1"
			bad=1
		fi
		shift 3
	done
	say "$text"
	return $bad
}

# lines REGEX [FILE]: how many match.
lines() { grep -acE "$@" || true; }

# ftracetest CLIENT [OPTION...]: run the cases of the kernel's own ftracetest; a row for each.
# It fails when a case fails; the rows show that.
ftracetest() {
	"$out/clients/selftests-ftrace/ftrace/ftracetest" -l "$RESULTS/logs" "${@:2}" |
		tee "$RESULTS/ftracetest.log" |
		sed -unE "s/^(\\[[0-9]+\\]) *(.*)\\t\\[([A-Z]+)\\]\$/$1\\t\\1 \\2\\t\\3/p" |
		tee "$RESULTS/rows.tsv" || true
	grep -q '^# of undefined' "$RESULTS/ftracetest.log" || die "ftracetest did not come to its end"
}

# complete REPORT: the text output of a tracer has all operations of the work, in the
# format of ftrace, of perf or of trace-cmd's plugins.
complete() {
	agree forks "$(lines 'sched_process_fork: +comm=working ' "$1")" $times \
		sleeps "$(lines 'sched_switch: +(prev_comm=working .*prev_state=S |working:[0-9]+ \[[0-9]+\] S )' "$1")" "$(</tmp/sleeps)" \
		"system calls" "$(lines '\bworking.*(sys_enter_getsid:|sys_getsid\()' "$1")" $times
}
