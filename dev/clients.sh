#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# clients.sh [PART...]: run clients of tracepoints and of function tracing on the
# kernel without the series (stock) and on the kernel with it, and print one table.
# Fails if a row is worse with the series. The parts are names, tools, tracefs,
# functions, livepatch, verification, bpftests and ftracetest; each is a script in
# dev/clients/ that runs in both guests.
#
# With FOREIGN=arm64, both kernels are for arm64 (FOREIGN=arm64 dev/debian.sh dev/clients.sh);
# the parts are tools (perf, trace-cmd, bpftrace), tracefs and ftracetest.
#
# The scripts write rows: client, what it did, and a verdict that begins with PASS,
# FAIL or another result of ftracetest.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
build_environment

parts=(names tools tracefs functions livepatch verification bpftests ftracetest)
kernels=(stock guest) parallel=()
if [[ ${FOREIGN:-} ]]; then
	parts=(tools tracefs ftracetest)
	kernels=("stock-matrix-guest_$FOREIGN" "matrix-guest_$FOREIGN") parallel=(--parallel)
	export ARCH=$FOREIGN CROSS_COMPILE=aarch64-linux-gnu-
fi
dir=$out/clients
table=$dir/results.tsv	# all rows, with the verdicts on both kernels

# selftests TARGET...: those of the pristine kernel, for both guests.
selftests() { selftests_of "$base" "$dir/selftests-$1" "$@"; }

# livepatch_tests FLAVOUR: those of live patches, whose modules are of one kernel.
livepatch_tests() {
	local from=$base/tools/testing/selftests/livepatch to=$dir/livepatch-$1
	rm -rf "$to"
	mkdir -p "$to"
	cp "$from"/*.sh "$to"
	gcc -O2 -o "$to/test_klp-call_getpid" "$from/test_klp-call_getpid.c"
	build_folder "$from/test_modules" "$to/test_modules" "$1"
}

# flavours_of PART: the kernels that it runs on, without and with the series.
flavours_of() {
	case $1 in
	livepatch | verification | bpftests) say stock-clients clients ;;
	*) say "${kernels[@]}" ;;
	esac
}

# prepare PART: build what its script needs in the guests.
prepare() {
	local flavour
	for flavour in $(flavours_of "$1"); do
		case $1 in
		verification) "$top/dev/build.sh" "$flavour" ;;
		livepatch)
			"$top/dev/build.sh" "$flavour"
			livepatch_tests "$flavour" ;;
		bpftests)
			"$top/dev/build.sh" "$flavour"
			build_folder "$base/tools/testing/selftests/bpf/test_kmods" \
				"$dir/test_kmods-$flavour" "$flavour" ;;
		tools) [[ ${FOREIGN:-} ]] || "$top/dev/tracers.sh" "$flavour" "$top/dev/clients/tools.stp" ;;
		names) check_modules outoftree "$flavour" ;;
		esac
	done
	case $1 in
	bpftests) "$top/dev/clients/test_progs.sh" "$dir/test_progs" ;;
	ftracetest | verification) selftests ftrace verification ;;
	names) build_program "$top/dev/clients/bpf.c" -lbpf ;;
	*) build_program "$top/dev/clients/work.c" ;;
	esac
}

guest_rows() { printf '%s' "$out/guest/clients-$1-$2/rows.tsv"; }

# run_guests PART: both guests run in parallel.
run_guests() {
	local pids=() flavour pid code=0
	for flavour in $(flavours_of "$1"); do
		rm -f "$(guest_rows "$1" "$flavour")"
		"$top/dev/guest.sh" --flavour "$flavour" --name "clients-$1-$flavour" \
			"${parallel[@]}" --timeout 7200 "dev/clients/$1.sh" &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do
		wait "$pid" || code=1
	done
	return $code
}

# join_rows STOCK SERIES: print each row that at least one file has, with a fifth
# field when the row is bad. A row that fails on both kernels is bad too: it has
# compared nothing. Cases of the kernel's own tests may fail on both.
join_rows() {
	awk -F'\t' -v OFS='\t' '
	BEGIN {
		tests = "^(ftracetest|verification|bpftests)$"
		# It waits five seconds for a wakeup of a running task, twice, and sees one in five.
		by_chance = "Test wwnr monitor with printk reactor"
	}
	function judge(client, what, stock, series) {
		if (stock == "" || series == "") return "did not run"
		sub(/ .*/, "", stock); sub(/ .*/, "", series)
		if (what ~ by_chance) return "not compared"
		if (series != "PASS" && series != stock) return "worse"
		if (series == "FAIL" && client !~ tests) return "fails on both"
		return "as good"
	}
	{
		row = $1 OFS $2
		if (!(row in client)) { client[row] = $1; order[++rows] = row }
		verdict[row, FILENAME == ARGV[1]] = $3
	}
	END {
		for (i = 1; i <= rows; i++) {
			row = order[i]; stock = verdict[row, 1]; series = verdict[row, 0]
			print row, stock, series, judge(client[row], row, stock, series)
		}
	}' "$1" "$2"
}

# Without the cases of the kernel's own tests that end on both kernels in the same way.
show() {
	awk -F'\t' -v OFS='\t' '$1 ~ /tests?$/ && $3 == $4 { same[$1, $3]++; next }
		{ print }
		END {
			for (v in same) {
				split(v, part, SUBSEP)
				print part[1], same[v] " cases", part[2], part[2], "as good"
			}
		}' "$table" |
		column -t -s $'\t' -o ' | ' -N client,'what it did',stock,'this series',verdict
}

run_part() {
	local part=$1 flavours rows
	with_progress "prepare $part" "$logs/clients-prepare-$part.log" prepare "$part"
	with_progress "$part" "$logs/clients-$part.log" run_guests "$part" || broken+=("$part")
	read -r -a flavours < <(flavours_of "$part")
	rows=("$(guest_rows "$part" "${flavours[0]}")" "$(guest_rows "$part" "${flavours[1]}")")
	touch "${rows[@]}"
	[[ -s ${rows[0]} || -s ${rows[1]} ]] || broken+=("$part, where no client ran")
	join_rows "${rows[@]}" >>"$table"
}

main() {
	local part broken=() bad
	(($#)) || set -- "${parts[@]}"
	for part; do
		[[ " ${parts[*]} " == *" $part "* ]] || die "no such part: $part (${parts[*]})"
	done
	"$top/dev/tree.sh"
	"$top/dev/build.sh" "${kernels[0]}"
	"$top/dev/build.sh" "${kernels[1]}"
	mkdir -p "$dir"
	: >"$table"
	for part; do
		run_part "$part"
	done
	show
	bad=$(grep -vcE '(as good|not compared)$' "$table") || true
	say "$(wc -l <"$table") rows, $bad bad, in $SECONDS s; all of them: $table"
	((${#broken[@]} == 0)) || die "a guest failed: ${broken[*]}"
	((bad == 0))
}

main "$@"
