#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# bench.sh: what tracepoints cost on the kernel without the series, and on that
# with it, in the same configuration: a table with ratios, out/bench/results.csv,
# and out/bench/results.svg.
#
# Instructions are counted by QEMU (-icount, one CPU): all that the CPU executes
# in between, with interrupts. Syncs are calls that interrupt every other CPU to
# synchronise its instructions, counted by a kprobe. Bytes are those of the image;
# dev/bench/static.py tells what they are.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
build_environment
dir=$out/bench
flavours=(stock guest)

# A hundred sites, ten thousand and a hundred thousand, in files that the compiler
# can hold.
write_makefile() {
	local part parts=(a b c d e f g h i j)
	for part in few "${parts[@]}"; do
		printf '#define PART %s\n#include "sites.c"\n' "$part" >"part_$part.c"
	done
	printf '#include <linux/module.h>\nMODULE_LICENSE("GPL");\nMODULE_DESCRIPTION("Sites");\n' >main.c
	printf '%s\n' 'obj-m := bench.o bench100.o bench10000.o bench100000.o' \
		'bench100-y := main.o part_few.o' \
		'bench10000-y := main.o part_a.o' \
		"bench100000-y := main.o ${parts[*]/%/.o}" \
		'CFLAGS_part_few.o := -DFEW' |
		sed '/^bench100000-y/s/ \([a-j]\.o\)/ part_\1/g' >Makefile
}

build_modules() {
	rm -rf "${dir:?}/$1"
	mkdir -p "$dir"
	cp -r "$top/dev/bench" "$dir/$1"
	cd "$dir/$1"
	write_makefile
	make -C "$out/build/$1" CC='ccache gcc' M="$PWD" -j"$(nproc)" modules
	strip --strip-debug ./*.ko
}

# What the guest prints is what is measured: case, unit, number.
measure() {
	with_progress "bench modules $1" "$logs/bench-modules-$1.log" build_modules "$1"
	with_progress "bench $1" "$logs/bench-$1.log" \
		"$top/dev/guest.sh" --flavour "$1" --name "bench-$1" --icount \
		--timeout 1200 dev/bench/guest.sh "$dir/$1"
	{
		python3 "$top/dev/bench/static.py" "$out/build/$1/vmlinux"
		tr -d '\r' <"$logs/bench-$1.log" |
			grep -E '^[^,]+,(instructions|syncs),[0-9]+$'
	} >"$dir/$1.csv"
}

# In the order of the guest. A case that one of them lacks stands out.
compare() {
	say "case,unit,stock,series,ratio"
	awk -F, 'FNR == NR { stock[$1 "," $2] = $3; next }
		{ key = $1 "," $2; had = stock[key]
		  ratio = had > 0 ? sprintf("%.3f", $3 / had) : $3 == had ? "1.000" : "-"
		  print key "," had "," $3 "," ratio }' "$dir/stock.csv" "$dir/guest.csv"
}

table() {
	local line
	while IFS=, read -r -a line; do
		printf '%-40s %-12s %14s %14s %8s\n' "${line[@]}"
	done <"$dir/results.csv"
}

# points CHANGE UNIT COLUMN: sites and number, for the plot; no site is one there.
points() {
	awk -F, -v want="^probes $1 on ([0-9]+) sites\$" -v unit="$2" -v column="$3" '
		$1 ~ want && $2 == unit { split($1, word, " "); print word[4] + 1, $column }' \
		"$dir/results.csv"
}

probes() { awk -F, -v column="$1" '/^pass of a site/ { split($1, word, " "); print word[6], $column }' "$dir/results.csv"; }

draw() {
	local unit
	for unit in instructions syncs; do
		points 0-1 "$unit" 3 >"$dir/stock.$unit"
		points 0-1 "$unit" 4 >"$dir/series.$unit"
	done
	probes 3 >"$dir/stock.probes"
	probes 4 >"$dir/series.probes"
	gnuplot <<-END
		set terminal svg size 1200,400 background "white"
		set output "$dir/results.svg"
		set multiplot layout 1,3
		set key top left
		set style data linespoints
		set logscale xy
		set xlabel "sites"
		set title "first probe: instructions"
		plot "$dir/stock.instructions" title "stock", "$dir/series.instructions" title "series"
		set title "first probe: syncs of all CPUs"
		plot "$dir/stock.syncs" title "stock", "$dir/series.syncs" title "series"
		unset logscale
		set xlabel "probes"
		set title "a pass of a site: instructions"
		plot "$dir/stock.probes" title "stock", "$dir/series.probes" title "series"
	END
}

for flavour in "${flavours[@]}"; do
	"$top/dev/build.sh" "$flavour"
	measure "$flavour"
done
compare >"$dir/results.csv"
table
draw
say "the same in $dir/results.csv and $dir/results.svg"
