#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# clients.sh [PART...]: run clients of tracepoints and of function tracing on the
# kernel without the series (stock) and on the kernel with it, and print one table.
# Fails if a row is worse with the series. The parts are names, files, tools, tracefs,
# functions, livepatch, lttng and ftracetest; each is a script in dev/clients/ that
# runs in both guests.
#
# The scripts write rows: client, what it did, and a verdict that begins with PASS,
# FAIL or another result of ftracetest.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lttng.sh"
build_environment

parts=(names files tools tracefs functions livepatch lttng ftracetest)
dir=$out/clients
table=$dir/table.tsv	# all rows, with the verdicts on both kernels
csv=$dir/results.csv

logged() { with_progress "$1" "$logs/clients-$1.log" "${@:2}"; }

compile() {
	local source
	for source in "$top"/dev/clients/*.c "$top/dev/guest/count.c" "$top/dev/bench/rawtp.c"; do
		build_program "$source"
	done
}

# selftests TARGET: install the pristine kernel's selftests, for both guests.
selftests() {
	make -C "$base/tools/testing/selftests" O="$out/build/selftests-$1" \
		INSTALL_PATH="$dir/selftests-$1" TARGETS="$1" FORCE_TARGETS=1 \
		SKIP_TARGETS= install
}

# scripts_for FLAVOUR: build out/stap/functions_FLAVOUR.ko, with the runtime and the
# compiler that systemtap.sh has made.
scripts_for() {
	local work=$out/stap
	cd "$work"
	SYSTEMTAP_DIR=$work/home stap --disable-cache -R "$work/runtime" \
		-r "$out/build/$1" -B CC="$work/compiler" -p4 -m "functions_$1" \
		"$top/dev/clients/functions.stp"
}

# flavours_of PART: the kernels that it runs on, without and with the series.
flavours_of() {
	case $1 in
	livepatch) say stock-livepatch livepatch ;;
	*) say stock guest ;;
	esac
}

# prepare PART: build what its script needs in the guests.
prepare() {
	local flavour
	case $1 in
	ftracetest) logged selftests-ftrace selftests ftrace ;;
	functions)
		logged stap "$top/dev/systemtap.sh" "$top/dev/clients/functions.stp"
		for flavour in stock guest; do
			logged "stap-$flavour" scripts_for "$flavour"
		done
		;;
	livepatch)
		for flavour in $(flavours_of livepatch); do
			"$top/dev/build.sh" "$flavour"
		done
		logged selftests-livepatch selftests livepatch
		;;
	files) install_selftests tracing_security ;;
	names)
		STOCK=1 check_modules outoftree stock
		check_modules outoftree guest
		;;
	lttng)
		for flavour in stock guest; do
			lttng_modules "$flavour"
		done
		;;
	esac
}

guest_rows() { printf '%s' "$out/guest/clients-$1-$2/rows.tsv"; }

# run_guests PART: both guests run in parallel.
run_guests() {
	local pids=() flavour pid code=0
	for flavour in $(flavours_of "$1"); do
		rm -f "$(guest_rows "$1" "$flavour")"
		"$top/dev/guest.sh" --flavour "$flavour" --name "clients-$1-$flavour" \
			--timeout 7200 "dev/clients/$1.sh" &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do
		wait "$pid" || code=1
	done
	return $code
}

# join_rows STOCK SERIES: print each row that at least one file has, with a fifth
# field when the row is bad. A row that fails on both kernels is bad too: it has
# compared nothing. Cases of ftracetest may fail on both.
join_rows() {
	awk -F'\t' -v OFS='\t' '
	function judge(client, stock, series) {
		if (stock == "" || series == "") return "did not run"
		sub(/ .*/, "", stock); sub(/ .*/, "", series)
		if (series != "PASS" && series != stock) return "worse"
		if (series == "FAIL" && client != "ftracetest") return "fails on both"
	}
	{
		row = $1 OFS $2
		if (!(row in client)) { client[row] = $1; order[++rows] = row }
		verdict[row, FILENAME == ARGV[1]] = $3
	}
	END {
		for (i = 1; i <= rows; i++) {
			row = order[i]; stock = verdict[row, 1]; series = verdict[row, 0]
			print row, stock, series, judge(client[row], stock, series)
		}
	}' "$1" "$2"
}

# differing_files STOCK SERIES: print files whose mode or owner the series changes, and
# new files that are not in kin.txt. The selftests check the mode and owner of those.
differing_files() {
	awk '
	FILENAME == ARGV[1] { stock[$1] = $2 " " $3 " " $4; next }
	FILENAME == ARGV[2] { kin["/sys/kernel/tracing/" $1] = 1; next }
	{ own = $2 " " $3 " " $4 }
	!($1 in stock) && !($1 in kin) { print $1 ": is new: " own }
	$1 in stock && stock[$1] != own { print $1 ": " own ", stock: " stock[$1] }
	' "$1/files.txt" "$2/kin.txt" "$2/files.txt"
}

compare_files() {
	local stock series found
	stock=$(dirname "$1") series=$(dirname "$2")
	found=$(differing_files "$stock" "$series")
	printf 'files\tmodes and owners\tPASS\t%s\t%s\n' \
		"${found:+FAIL }$(grep -c . <<<"$found") differ, $(wc -l <"$series/kin.txt") have kin" \
		"${found:+worse: ${found%%$'\n'*}}" >>"$table"
}

# Print one row for all cases of ftracetest, and one for each case that differs or
# fails.
condense() {
	awk -F'\t' -v OFS='\t' '
	BEGIN { words = split("PASS FAIL XFAIL UNRESOLVED UNTESTED UNSUPPORTED UNDEFINED", word, " ") }
	function tally(side,    text, i) {
		for (i = 1; i <= words; i++)
			if ((side, word[i]) in count)
				text = text (text ? ", " : "") count[side, word[i]] " " word[i]
		return text
	}
	$1 != "ftracetest" { print; next }
	{ cases++; count["stock", $3]++; count["series", $4]++ }
	$3 != $4 { different++ }
	$3 != $4 || $4 == "FAIL"
	END { if (cases) print "ftracetest", cases " cases, " different + 0 " differ", tally("stock"), tally("series"), "" }'
}

show() {
	condense <"$table" | awk -F'\t' '
	BEGIN { keep("client\twhat it did\tstock\tthis series\t") }
	{ keep($0) }
	function keep(line,    n, f, i) {
		n = split(line, f, "\t"); lines++
		for (i = 1; i <= n; i++) {
			cell[lines, i] = f[i]
			if (length(f[i]) > width[i]) width[i] = length(f[i])
		}
	}
	END {
		for (l = 1; l <= lines; l++)
			printf "%-*s | %-*s | %-*s | %-*s%s\n", width[1], cell[l, 1], width[2], cell[l, 2],
				width[3], cell[l, 3], width[4], cell[l, 4],
				cell[l, 5] ? " <- " cell[l, 5] : ""
	}'
}

write_csv() {
	awk -F'\t' 'BEGIN { print "client,what it did,stock,this series,judgement" }
	{
		gsub(/"/, "\"\""); $5 = $5 ? $5 : "as good"
		for (i = 1; i <= 5; i++) printf "%s\"%s\"", (i > 1 ? "," : ""), $i
		print ""
	}' "$table" >"$csv"
}

run_part() {
	local part=$1 flavours rows
	prepare "$part"
	logged "$part" run_guests "$part" || broken+=("$part")
	read -r -a flavours < <(flavours_of "$part")
	rows=("$(guest_rows "$part" "${flavours[0]}")" "$(guest_rows "$part" "${flavours[1]}")")
	touch "${rows[@]}"
	[[ -s ${rows[0]} || -s ${rows[1]} ]] || broken+=("$part, where no client ran")
	join_rows "${rows[@]}" >>"$table"
	[[ $part != files ]] || compare_files "${rows[@]}"
}

main() {
	local part broken=() bad
	(($#)) || set -- "${parts[@]}"
	for part; do
		[[ " ${parts[*]} " == *" $part "* ]] || die "no such part: $part (${parts[*]})"
	done
	"$top/dev/setup.sh"
	"$top/dev/setup.sh" "$top/dev/packages.clients"
	"$top/dev/tree.sh"
	"$top/dev/build.sh" stock
	"$top/dev/build.sh" guest
	mkdir -p "$dir"
	: >"$table"
	compile
	for part; do
		run_part "$part"
	done
	write_csv
	show
	bad=$(awk -F'\t' '$5' "$table" | wc -l)
	say "$(wc -l <"$table") rows, $bad bad, in $SECONDS s; all of them: $csv"
	((${#broken[@]} == 0)) || die "a guest failed: ${broken[*]}"
	((bad == 0))
}

main "$@"
