#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# torture.sh [--short] [ROW...]: run the rows of dev/torture/rows, or those named, as
# KERNEL/PART (a pattern of the shell; "debug/*" are all rows of that kernel), and end
# with a table, which is in out/torture/results.csv too. Fails when anything is lost,
# late, mixed up, torn, leaked or failed, when a kernel complains, when a guest does not
# end, and when a test is skipped that dev/torture/skips does not allow; the other rows
# still run. With --short only the rows that have a time for it, in that time. Two rows
# run at once: most of them keep one CPU busy. SEED=N repeats the choices of a run,
# SECONDS_PER_ROW=N replaces the times of the list.
#
# A part is a folder dev/torture/PART. Its guest.sh DIR SECONDS SEED runs in the guest,
# prints TAP and writes lines "name:number" to $RESULTS/counters; names are those of
# work and bad, below; a line "#: COUNTERS=NAMES" has those that it must write. DIR has
# what its Makefile builds; see build_folder of lib.sh. The part real has no guest: it is the
# step real of the check, on this processor.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
build_environment
results=$out/torture/results.csv
work=(hits sets registrations changes loads nmis faults stale unclaimed)
bad=(lost late mixed torn leaked failed)
titles=kernel,part,CPUs,seconds,hits,sets,registrations,changes,loads,NMIs,faults
titles+=,stale,unclaimed,tests,skipped,lost,late,mixed,torn,leaked,failed,splats,verdict,seed

# Selftests in a kernel with all checkers take more than an hour.
short='' limit=10800
[[ ${1:-} != --short ]] || { short=1 limit=3600; shift; }
wanted=("$@")
((${#wanted[@]})) || wanted=('*')
seed=${SEED:-$((RANDOM << 15 | RANDOM))}

# The rows to run: "KERNEL PART CPUS SECONDS". Each pattern must be one of a row.
rows() {
	local kernel part cpus long brief pattern list=() is_wanted
	declare -A found=()
	while read -r kernel part cpus long brief; do
		is_wanted=''
		for pattern in "${wanted[@]}"; do
			# shellcheck disable=SC2053 # a pattern
			[[ $kernel/$part != $pattern ]] || found[$pattern]=1 is_wanted=1
		done
		[[ ! $short ]] || long=$brief
		[[ ! $is_wanted || $long == - ]] ||
			list+=("$kernel $part $cpus ${SECONDS_PER_ROW:-$long}")
	done < <(lines_of "$top/dev/torture/rows")
	for pattern in "${wanted[@]}"; do
		[[ ${found[$pattern]:-} ]] || die "no row is called so: $pattern"
	done
	((${#list[@]})) || die "these rows have no short form: ${wanted[*]}"
	printf '%s\n' "${list[@]}"
}

flavour_of() { if [[ $1 == guest ]]; then say guest; else say "matrix-$1"; fi; }

# choose_cpus KERNEL CPUS: the options of guest.sh for the row, and where the module is
# that parallel CPUs need; see dev/torture/stale.
choose_cpus() {
	options=(--smp 2) stale=-
	[[ $2 != turns && $2 != host ]] || return 0
	options=(--smp 2 --parallel) stale=$out/torture/stale-$1
	[[ $2 != crowded || $short ]] || options[1]=4
}

# build_parts PART KERNEL
build_parts() {
	local name
	[[ $1 != real ]] || return 0
	for name in stale "$1"; do
		build_folder "$top/dev/torture/$name" "$out/torture/$name-$2" "$(flavour_of "$2")"
	done
	[[ $1 != selftests ]] || install_selftests '*'
}

# build KERNEL PART: the kernel once a run.
build() {
	[[ ${built[$1]:-} ]] || {
		built[$1]=no
		! "$top/dev/build.sh" "$(flavour_of "$1")" || built[$1]=yes
	}
	[[ ${built[$1]} == yes ]] && (build_parts "$2" "$1")
}

# guest KERNEL PART SECONDS: its TAP goes to a file, and here with the row's name.
guest() {
	local flavour cpu append="log_buf_len=8M rcupdate.rcu_cpu_stall_timeout=120"
	local config=$top/dev/matrix/$1.config
	flavour=$(flavour_of "$1")
	cpu=$(setting "$config" CPU)
	append+=" $(setting "$config" APPEND)"
	# Its cases let the n-th allocation fail, and kmemleak has allocations of its own.
	[[ $2 != kunit ]] || append+=" kmemleak=off"
	"$top/dev/guest.sh" --flavour "$flavour" --name "$name" \
		--timeout $((limit + 2 * $3)) "${options[@]}" ${cpu:+--cpu "$cpu"} \
		--append "$append" dev/torture/guest.sh "$2" "$out/torture/$2-$1" "$stale" "$3" "$seed" |
		tee "$logs/$name.tap" | sed -u "s,^,$1/$2: ,"
}

# host PART SECONDS: a third of the time for each of its tests.
host() {
	mkdir -p "$out/guest/$name"
	SECONDS_OF_EACH=$(($2 / 3)) "$top/dev/check/$1/run" 2>"$logs/guest-$name.log" |
		tee "$logs/$name.tap" | sed -u "s,^,$1: ,"
	sed -nE '/^without/q; s/^[a-z]+: (hits=.*)/\1/p' "$logs/guest-$name.log" | tr '= ' ':\n' |
		sed 's/^wrong/mixed/; s/^syncs/sets/' >"$out/guest/$name/counters"
}

# counter NAME: of the row; a part and the guest may both have it. "-" when none does.
counter() {
	local file=$out/guest/$name/counters
	[[ -f $file ]] || file=/dev/null
	awk -F: -v name="$1" '$1 == name && $2 ~ /^[0-9]+$/ { sum += $2; found = 1 }
		END { if (found) printf "%.0f\n", sum; else print "-" }' "$file"
}

# is_counted KERNEL PART: has the row all counters that it must have? The suites of KUnit
# run without kmemleak.
is_counted() {
	local counters column code=0
	read -ra counters < <(setting "$top/dev/torture/$2/guest.sh" COUNTERS)
	[[ $stale == - ]] || counters+=(stale unclaimed)
	! grep -qs '^CONFIG_DEBUG_KMEMLEAK=y' "$out/build/$(flavour_of "$1")/.config" ||
		[[ $2 == kunit ]] || counters+=(leaked)
	for column in "${counters[@]}"; do
		[[ $(counter "$column") == - ]] || continue
		say "$1/$2: nothing has counted \"$column\""
		code=1
	done
	return $code
}

# complaints: how many of the row's kernel
complaints() { splats_in "$logs/guest-$name.log" | grep -vc 'Call Trace'; }

# record KERNEL PART SECONDS VERDICT: the row's line in the list of results, from
# what the guest left.
record() {
	local verdict=$4 column line passed=0 failed=0 skipped=0 splats
	[[ ! -f $logs/$name.tap ]] ||
		read -r passed failed skipped < <(awk -f "$top/dev/tap.awk" "$logs/$name.tap")
	splats=$(complaints) || true
	((skipped == 0)) || ! unlisted_skips "$1/$2" "$logs/$name.tap" || verdict=${verdict/ok/FAIL}
	((passed > 0 && failed == 0 && splats == 0)) || verdict=${verdict/ok/FAIL}
	[[ $verdict != ok ]] || is_counted "$1" "$2" || verdict=FAIL
	line="$1,$2,$cpus,$3"
	for column in "${work[@]}"; do
		line+=",$(counter "$column")"
	done
	line+=",$passed,$skipped"
	for column in "${bad[@]}"; do
		column=$(counter "$column")
		[[ $column == [0-] ]] || verdict=${verdict/ok/FAIL}
		line+=",$column"
	done
	say "$line,$splats,$verdict,$seed" >>"$results"
}

# run_row KERNEL PART CPUS SECONDS VERDICT: "ok", or that it was not built.
run_row() {
	local kernel=$1 part=$2 cpus=$3 start=$SECONDS verdict=$5
	choose_cpus "$kernel" "$cpus"
	name=torture-$kernel-$part
	rm -rf "$logs/$name.tap" "$logs/guest-$name.log" "$out/guest/$name"
	say "== $kernel/$part"
	if [[ $verdict == ok && $cpus == host ]]; then
		host "$part" "$4" || verdict=FAIL
	elif [[ $verdict == ok ]]; then
		guest "$kernel" "$part" "$4" || verdict=FAIL
	fi
	record "$kernel" "$part" $((SECONDS - start)) "$verdict"
}

# The results in the order of the list, and sums of the work that was done.
table() {
	{ head -n 1 "$results"; tail -n +2 "$results" | sort -t, -k1,1 -k2,2; } |
		awk -F, -v OFS=, -v work=${#work[@]} '
	NR > 1 { seconds += $4; for (i = 5; i < 7 + work; i++) sum[i] += $i }
	{ print }
	END {
		$0 = "all,,," seconds
		for (i = 5; i < 7 + work; i++) $i = sprintf("%.0f", sum[i])
		print
	}' | column -t -s,
}

# Parallel CPUs need those of the machine: one such guest at a time.
excludes() { [[ $1 != *' turns '* && $2 != *' turns '* ]]; }

main() {
	local list ready=() row
	declare -A built=()
	list=$(rows)
	mapfile -t list <<<"$list"
	mkdir -p "$out/torture"
	say "$titles" >"$results"
	say "$(qemu-system-x86_64 --version | head -n 1), seed $seed"
	for row in "${list[@]}"; do
		# shellcheck disable=SC2086 # its words
		if build $row </dev/null; then ready+=("$row ok"); else ready+=("$row UNBUILT"); fi
	done
	two_at_once run_row "${ready[@]}"
	table
	for row in "${list[@]}"; do	# without space on the disk, there is no result
		row=${row% * *}
		grep -q "^${row/ /,}," "$results" || say "${row/ //} has no result"
	done
	(($(grep -c ',ok,' "$results") == ${#list[@]}))
}

main
