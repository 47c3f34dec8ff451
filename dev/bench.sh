#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# bench.sh [short|functions|markers [NUMBER...]]: measure the cost of tracepoints,
# markers and function tracers on the kernel without the series and on the kernel with
# it, in the same configuration. Prints a table with ratios and checks the limits of
# dev/bench/bars; writes results.csv, results.svg and markers.svg to out/bench.
# "short" has fewer sites and markers. "functions" has no sites, no markers, no other
# architectures and no pictures. "markers" measures only NUMBER markers, and trace
# events for comparison; not on stock, which has no markers.
#
# Instructions are counted by QEMU (-icount, one CPU): all that the CPU executes
# meanwhile, including interrupts. Syncs are calls that interrupt every other CPU to
# synchronise its instructions, counted by a kprobe. Trapped is the longest time for
# which the sites of a batch were breakpoints, from the first one to the last byte;
# hits trapped are the hits of a timer that met a breakpoint. Bytes are bytes of the
# image; see dev/bench/static.py. For other architectures some objects are compiled and
# analysed, but not run; see dev/bench/objects.py. Cycles are those of this machine's
# processor, in user space; see dev/bench/guards.c.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
build_environment
dir=$out/bench
flavours=(stock guest)
architectures=(i386 arm64 riscv64)
# Together they have many sites in hot code, and define many tracepoints.
objects=(kernel/sched/core.o kernel/softirq.o kernel/time/timer.o kernel/workqueue.o
	kernel/signal.o mm/page_alloc.o mm/vmscan.o mm/filemap.o block/blk-core.o
	net/core/dev.o)
sites=(100 1000 5000 10000 100000)
numbers=(100 1000 10000)	# of markers; of sites with ten names, ten times as many
form=${1:-}
case $form in
short) sites=(100 1000 5000 10000) numbers=(100 1000) ;;
functions) sites=() numbers=() architectures=() ;;
markers)
	flavours=(guest) sites=() architectures=()
	(($# == 1)) || numbers=("${@:2}") ;;
esac

# A file has at most 10000 sites, to limit the memory of the compiler.
write_makefile() {
	local n i parts
	printf '#include <linux/module.h>\nMODULE_LICENSE("GPL");\nMODULE_DESCRIPTION("Sites");\n' >main.c
	# shellcheck disable=SC2016 # $(src) is for make
	printf 'obj-m := bench.o place.o functions.o\nCFLAGS_place.o := -I$(src)\n' >Makefile
	for n in "${sites[@]}"; do
		parts=''
		for ((i = 0; i == 0 || i < n / 10000; i++)); do
			printf '#define PART p%d_%d_\n#define SITES %d\n#include "sites.c"\n' \
				"$n" "$i" $((n > 10000 ? 10000 : n)) >"part_${n}_$i.c"
			parts+=" part_${n}_$i.o"
		done
		printf 'obj-m += bench%d.o\nbench%d-y := main.o%s\n' "$n" "$n" "$parts" >>Makefile
	done
}

# For tracers of many functions. Each returns a different number, or the compiler
# would merge them.
write_functions() {
	printf 'static noinline int traced_%03d(void) { return __COUNTER__; }\n' {0..999}
	printf 'static unsigned long many[] = {\n'
	printf '\t(unsigned long)traced_%03d,\n' {0..999}
	printf '};\n'
}

build_modules() {
	local name
	rm -rf "${dir:?}/$1"
	mkdir -p "$dir"
	cp -r "$top/dev/bench" "$dir/$1"
	adapt "$dir/$1" bench
	cd "$dir/$1"
	write_makefile
	write_functions >many.h
	[[ $1 == stock || -z ${numbers[*]} ]] || python3 -B marks.py . "${numbers[@]}"
	make -C "$out/build/$1" CC='ccache gcc' M="$PWD" -j"$(nproc)" modules
	strip --strip-debug ./*.ko
	for name in load rawtp guards perfrecord; do
		gcc -O2 -Wall -Wextra -Werror -static-pie -o "$name" "$name.c"
	done
}

# in_guest FLAVOUR SCRIPT NUMBER...: measure the cases of dev/bench/SCRIPT.sh
in_guest() {
	local name=bench-$2-$1
	with_progress "bench $2 $1" "$logs/$name.log" \
		"$top/dev/guest.sh" --flavour "$1" --name "$name" --icount \
		--timeout 1200 "dev/bench/$2.sh" "$dir/$1" "${@:3}"
	cat "$out/guest/$name/results.csv" >>"$dir/$1.csv"
}

compile_marks() {
	make -C "$out/build/guest" M="$dir/guest/compile" empty.o
	python3 -B "$top/dev/bench/compile.py" "$out/build/guest" "$dir/guest/compile" \
		trace_{mark,printk}{300,3000} >"$dir/compile.csv"
}

measure() {
	with_progress "bench modules $1" "$logs/bench-modules-$1.log" build_modules "$1"
	: >"$dir/$1.csv"
	if [[ $form != markers ]]; then
		python3 "$top/dev/bench/static.py" "$out/build/$1/vmlinux" >"$dir/$1.csv"
		in_guest "$1" guest "${sites[@]}"
	fi
	[[ $form == functions ]] || in_guest "$1" markers "${numbers[@]}"
	[[ $form == functions || $1 == stock ]] || {
		with_progress "bench compile" "$logs/bench-compile.log" compile_marks
		cat "$dir/compile.csv" >>"$dir/$1.csv"
	}
}

# count_objects ARCHITECTURE FLAVOUR
count_objects() {
	local cross dir=$dir/$2
	cross=$(sed -n 's/^#: CROSS_COMPILE=//p' "$top/dev/bench/arch/$1.config")
	"$top/dev/build.sh" "$2" modules_prepare >&2
	"$top/dev/build.sh" "$2" "${objects[@]}" >&2
	mkdir -p "$dir"
	cp "$top/dev/bench/alone.c" "$dir"
	say 'obj-m := alone.o' >"$dir/Makefile"
	"$top/dev/build.sh" "$2" M="$dir" alone.o >&2
	cd "$out/build/$2"
	python3 -B "$top/dev/bench/objects.py" "$1" "$cross" "$dir/linked" "$dir/alone.o" \
		"${objects[@]}"
}

# In the order of guest.csv. Cases that stock lacks, and guards, which no kernel
# changes, have - for stock.
compare() {
	say "case,unit,stock,series,ratio"
	awk -F, 'FILENAME == ARGV[1] { stock[$1 "," $2] = $3; next }
		{ key = $1 "," $2; had = key in stock ? stock[key] : "-"
		  ratio = had > 0 ? sprintf("%.3f", $3 / had) : $3 == had ? "1.000" : "-"
		  print key "," had "," $3 "," ratio }' "$dir/stock.csv" "$dir/guest.csv"
	[[ $form == markers ]] || "$dir/guest/guards" | sed -E 's/,([^,]+)$/,-,\1,-/'
}

table() {
	local line
	while IFS=, read -r -a line; do
		printf '%-48s %-12s %14s %14s %8s\n' "${line[@]}"
	done <"$dir/results.csv"
}

# Print the measured cases that exceed their limit. Return: 0 if there are none
missed_bars() {
	awk -F, '
		function limit_of(kind, number, other) {
			if (kind == "below")
				return series[number "," $2] - 1
			return kind == "times" ? number * series[other "," $2] : number
		}
		FNR == NR { series[$1 "," $2] = $4; ratio[$1 "," $2] = $5; next }
		/^#/ || !($1 "," $2 in series) { next }
		{ key = $1 "," $2; bars++
		  what = $3 == "ratio" ? "ratio" : "series"
		  value = what == "ratio" ? ratio[key] : series[key]
		  limit = limit_of($3, $4, $5)
		  if (value == "-" || value + 0 > limit + 0) {
			  missed++
			  printf "missed: %s, %s: %s is %s, to be at most %s\n", $1, $2, what, value, limit
		  } }
		END { printf "%d bars, %d missed\n", bars, missed; exit missed > 0 || !bars }' \
		"$dir/results.csv" "$top/dev/bench/bars"
}

# points CHANGE UNIT COLUMN: number of sites + 1 (the axis is logarithmic) and value
points() {
	awk -F, -v want="^probes $1 on ([0-9]+) sites\$" -v unit="$2" -v column="$3" '
		$1 ~ want && $2 == unit { split($1, word, " "); print word[4] + 1, $column }' \
		"$dir/results.csv"
}

probes() { awk -F, -v column="$1" '/^pass of a site/ { split($1, word, " "); print word[6], $column }' "$dir/results.csv"; }

# bars PATTERN: name, stock and series of the matching cases, for the plot
bars() {
	awk -F, -v want="$1" 'NR > 1 && $1 ~ want {
		print "\"" $1 "\"", $3 == "-" ? 0 : $3, $4 }' "$dir/results.csv"
}

draw() {
	local unit
	for unit in instructions syncs; do
		points 0-1 "$unit" 3 >"$dir/stock.$unit"
		points 0-1 "$unit" 4 >"$dir/series.$unit"
	done
	probes 3 >"$dir/stock.probes"
	probes 4 >"$dir/series.probes"
	bars '^(trace|kprobe|marker).*: ' >"$dir/places"
	bars 'bytes of all sites|^records|^objects' >"$dir/bytes"
	bars '^guard' >"$dir/guards"
	gnuplot <<-END
		set terminal svg size 1400,1200 noenhanced background "white"
		set output "$dir/results.svg"
		set multiplot layout 2,3
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
		unset xlabel
		set style data histogram
		set style fill solid
		set boxwidth 0.9
		set bmargin 18
		set key top right
		set yrange [0:]
		set xtics rotate by 60 right
		set title "one place, several tracers: instructions"
		plot "$dir/places" using 2:xtic(1) title "stock", "" using 3 title "series"
		set key top left
		set title "bytes of the image"
		plot "$dir/bytes" using 2:xtic(1) title "stock", "" using 3 title "series"
		set title "forms of guards: cycles, logarithmic"
		set logscale y
		set yrange [0.1:]
		plot "$dir/guards" using 3:xtic(1) notitle
	END
}

# growth CASE: each number of markers, and its instructions; N in CASE is the number
growth() {
	awk -F, -v want="^${1/N/([0-9]+)}\$" -v before="${1%%N*}" '
		$1 ~ want && $2 == "instructions" {
			print substr($1, length(before) + 1) + 0, $4 }' "$dir/results.csv"
}

# plot_growth CASE...: with a line above all of them, for the growth that the bars allow
plot_growth() {
	local case file lines=()
	for case; do
		file=$dir/growth.${case// /_}
		growth "$case" >"$file"
		lines+=("\"$file\" title \"$case\"")
	done
	printf 'top = 0\n'
	printf 'stats %s using (column(2) / column(1)**slope) nooutput; top = top > STATS_max ? top : STATS_max\n' \
		"${lines[@]%% title*}"
	(IFS=,; say "plot ${lines[*]}, top * x**slope with lines dashtype 2 title \"12 times for 10 times as many\"")
}

draw_markers() {
	gnuplot <<-END
		set terminal svg size 1400,800 noenhanced background "white"
		set output "$dir/markers.svg"
		set style data linespoints
		slope = log10(12)
		set multiplot layout 1,2
		set key below
		set logscale xy
		set ylabel "instructions"
		set xlabel "markers, each with a name of its own"
		$(plot_growth "load of N markers" "all of N markers on" "all of N markers off" \
			"list of N markers" "available_events of N markers" "one of N markers on" \
			"one of N markers off" "unload of N markers")
		set xlabel "sites of ten markers"
		$(plot_growth "load of N sites of ten markers" "unload of N sites of ten markers" \
			"load of N sites of ten markers with probes" \
			"unload of N sites of ten markers with probes" \
			"probes on N sites of ten markers" "no probes on N sites of ten markers")
	END
}

mkdir -p "$dir"
: >"$dir/stock.csv"	# stock may be left out
for flavour in "${flavours[@]}"; do
	"$top/dev/build.sh" "$flavour"
	measure "$flavour"
done
for architecture in "${architectures[@]}"; do
	(count_objects "$architecture" "stock-bench-$architecture") >>"$dir/stock.csv"
	(count_objects "$architecture" "bench-$architecture") >>"$dir/guest.csv"
done
compare >"$dir/results.csv"
table
((${#sites[@]} == 0)) || draw
((${#numbers[@]} == 0)) || draw_markers
say "the same in $dir/results.csv${sites[*]:+, $dir/results.svg}${numbers[*]:+, $dir/markers.svg}"
missed_bars
