#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# guest.sh LIST SUITE...: runs in the guest of dev/mutants. LIST has lines "NUMBER
# SUITE:CASE...": the mutants to try, and the cases to run for each until one fails. Writes
# lines to $RESULTS/tried: "NUMBER begin", then "NUMBER RESULT CASE". If LIST is "map",
# it writes what each case costs and reaches to $RESULTS/map. After a mutant whose
# failure leaves something behind, the guest ends.
set -u
list=$1

for what in failslab fail_page_alloc; do
	cd "/sys/kernel/debug/$what" || exit 1
	echo N >ignore-gfp-wait
	echo 0 >verbose
	echo Y >task-filter
	echo -1 >./times
	echo 100 >probability
done
for suite in "${@:2}"; do
	modprobe "test_$suite" || exit 1
done
cd /sys/kernel/debug/mutants || exit 1

run() { echo "${1/:/ }" >run; } 2>/dev/null

has_splat() {
	dmesg -c | grep -qE 'WARN|BUG:|Oops|INFO:|suspicious RCU|Call Trace|unable to handle'
}

make_map() {
	local case start end
	dmesg -C
	while read -r case; do
		start=${EPOCHREALTIME/./}
		run "${case/ /:}" || continue
		end=${EPOCHREALTIME/./}
		! has_splat || continue
		echo "${case/ /:} $((end - start)) $(tr '\0\1' 01 <reached)" >>"$RESULTS/map"
	done <cases
}

# try NUMBER CASE...: sets result and by.
try() {
	result=survived by=''
	echo "$1" >nr
	for by in "${@:2}"; do
		run "$by" || { result=failed; break; }
		! has_splat || { result=splat; break; }
	done
	sleep 0.1	# deferred work, such as freeing
	echo 0 >nr
	[[ $result != survived ]] || by=''
	! has_splat || result=splat
}

if [[ $list == map ]]; then
	make_map
	exit
fi
while read -r nr cases; do
	echo "$nr begin" >>"$RESULTS/tried"
	# shellcheck disable=SC2086 # words
	try "$nr" $cases
	echo "$nr $result $by" >>"$RESULTS/tried"
	[[ $result != splat ]] || exit 0
	[[ ! $by ]] || run "$by" || exit 0
done <"$list"
