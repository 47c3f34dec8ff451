#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# bench.sh [short|functions|markers|cpus|cycles|arch]: measure the cost of tracepoints,
# markers and function tracers on the kernel without the series and on the kernel with
# it, in the same configuration. Prints a table with ratios and checks the limits of
# dev/bench/bars; writes results.csv, results.svg and markers.svg to out/bench.
# "short" has fewer sites and markers. "functions" has no sites, no markers, no other
# architectures and no pictures. "markers" measures only markers, and trace events for
# comparison; not on stock, which has no markers. "cpus" measures only, on kernels with
# PREEMPT_RT, what it costs 2, 8 and 32 CPUs together to switch all events, and how often
# changes interrupt a CPU that is isolated (nohz_full), and draws cpus.svg. "cycles" measures
# only cycles: of the objects of both kernels in a program on this processor, see
# dev/real/cycles.c.
#
# Instructions are counted by QEMU (-icount, one CPU): all that the CPU executes
# meanwhile, including interrupts. Syncs are calls that interrupt every other CPU to
# synchronise its instructions, counted by a kprobe. Trapped is the longest time for
# which all sites of a batch were breakpoints: from the first synchronisation to the third. Bytes
# are bytes of the image; see dev/bench/static.py. For other architectures some objects
# are compiled and analysed, see dev/bench/objects.py, and hits are measured as here, see
# dev/bench/arch/run.sh. "arch" measures only these.
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
markers) flavours=(guest) sites=() architectures=() ;;
cpus) flavours=(stock-realtime realtime) sites=() numbers=() architectures=() ;;
cycles) flavours=() sites=() numbers=() architectures=() ;;
arch) flavours=() sites=() numbers=() ;;
esac

build_modules() {
	rm -rf "${dir:?}/$1"
	mkdir -p "$dir"
	cp -r "$top/dev/bench" "$dir/$1"
	cd "$dir/$1"
	python3 -B sources.py "${sites[*]}" "$([[ $1 == stock ]] || say "${numbers[*]}")"
	make -C "$out/build/$1" CC='ccache gcc' M="$PWD" -j"$(nproc)" modules
	strip --strip-debug ./*.ko
	gcc -O2 -Wall -Wextra -Werror -static-pie -o load load.c
	build_program "$top/dev/clients/bpf.c" -lbpf
	cp "$out/bin/bpf" .
}

# results_of GUEST: the least number of a case that was measured several times
results_of() {
	awk -F, '{ key = $1 "," $2 }
		!(key in least) { order[++n] = key; least[key] = $3 }
		$3 < least[key] { least[key] = $3 }
		END { for (i = 1; i <= n; i++) print order[i] "," least[order[i]] }' \
		"$out/guest/$1/results.csv"
}

# in_guest FLAVOUR SCRIPT ARGUMENT...: measure the cases of dev/bench/SCRIPT.sh
in_guest() {
	local name=bench-$2-$1
	with_progress "bench $2 $1" "$logs/$name.log" \
		"$top/dev/guest.sh" --flavour "$1" --name "$name" --icount \
		--timeout 3600 "dev/bench/$2.sh" "${@:3}"
	results_of "$name" >>"$dir/$1.csv"
}

compile_marks() {
	make -C "$out/build/guest" M="$dir/guest/compile" empty.o
	python3 -B "$top/dev/bench/compile.py" "$dir/guest/compile" \
		trace_{mark,printk} dev_dbg TRACE_EVENT >"$dir/compile.csv"
}

# The CPUs run in turn, and their clock counts the instructions of all. The plugin does so
# without the time in which none runs.
measure_cpus() {
	local cpus name
	mkdir -p "$dir/cpus"
	gcc -O2 -Wall -Wextra -Werror -shared -fPIC -o "$dir/cpus/count.so" "$top/dev/bench/cpus/count.c"
	gcc -O2 -Wall -Wextra -Werror -o "$dir/cpus/cost" "$top/dev/bench/cpus/cost.c"
	: >"$dir/$1.csv"
	for cpus in 2 8 32; do
		name=bench-$cpus-cpus-$1
		with_progress "bench $cpus CPUs $1" "$logs/$name.log" \
			"$top/dev/guest.sh" --flavour "$1" --name "$name" --icount --smp "$cpus" \
			--plugin "$dir/cpus/count.so" dev/bench/cpus/guest.sh "$dir/cpus/cost"
		paste -d, <(printf "all events %s with $cpus CPUs,instructions\n" on off) \
			"$out/guest/$name/counts" >>"$dir/$1.csv"
		cat "$out/guest/$name/results.csv" >>"$dir/$1.csv"
	done
	name=bench-isolated-$1
	with_progress "bench isolated CPU $1" "$logs/$name.log" \
		"$top/dev/guest.sh" --flavour "$1" --name "$name" --smp 4 \
		--append "isolcpus=domain,managed_irq,3 nohz_full=3 irqaffinity=0-2" \
		dev/bench/cpus/guest.sh "$dir/cpus/cost" isolated
	results_of "$name" >>"$dir/$1.csv"
}

measure() {
	with_progress "bench modules $1" "$logs/bench-modules-$1.log" build_modules "$1"
	: >"$dir/$1.csv"
	if [[ $form != markers ]]; then
		python3 "$top/dev/bench/static.py" "$out/build/$1/vmlinux" >"$dir/$1.csv"
		in_guest "$1" guest "$dir/$1" "${sites[@]}"
	fi
	[[ $form == functions ]] || in_guest "$1" markers "$dir/$1" "${numbers[@]}"
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

# count_hits ARCHITECTURE FLAVOUR
count_hits() {
	local dir=$dir/$2-hits
	mkdir -p "$dir"
	cp "$top"/dev/bench/{hits*,functions.c,ticks.h} "$dir"
	cd "$dir"
	python3 -B "$top/dev/bench/sources.py" "" ""
	sed -i 's/bench.o//; s/place.o//' Makefile
	"$top/dev/bench/arch/run.sh" "$1" "$2" "$dir"
}

# In the order of guest.csv. Cases that stock lacks have - for stock.
compare() {
	say "case,unit,stock,series,ratio"
	awk -F, 'FILENAME == ARGV[1] { stock[$1 "," $2] = $3; next }
		{ key = $1 "," $2; had = key in stock ? stock[key] : "-"
		  ratio = had > 0 ? sprintf("%.3f", $3 / had) : $3 == had ? "1.000" : "-"
		  print key "," had "," $3 "," ratio }' "$dir/${1:-stock}.csv" "$dir/${2:-guest}.csv"
}

# plotted PATTERN UNIT [WORD]: stock and series of the cases, for a plot, behind the name, or
# behind the number that is this word of it, plus 1 (the axis is logarithmic).
plotted() {
	awk -F, -v want="$1" -v unit="$2" -v word="${3:-}" '
		$1 ~ want && $2 == unit {
			split($1, words, " ")
			print word ? words[word] + 1 : "\"" $1 "\"", $3 == "-" ? 0 : $3, $4
		}' "$dir/results.csv"
}

draw() {
	plotted '^probes 0-1 on [0-9]+ sites$' instructions 4 >"$dir/instructions"
	plotted '^probes 0-1 on [0-9]+ sites$' syncs 4 >"$dir/syncs"
	plotted '^pass of a site' instructions 6 >"$dir/probes"
	plotted '^(trace|kprobe|marker).*: ' instructions >"$dir/places"
	plotted 'bytes of all sites|^records|^objects' bytes >"$dir/bytes"
	gnuplot <<-END
		set terminal svg size 1400,1200 noenhanced background "white"
		set output "$dir/results.svg"
		set multiplot layout 2,3
		set key top left
		set style data linespoints
		set logscale xy
		set xlabel "sites + 1"
		set title "first probe: instructions"
		plot "$dir/instructions" using 1:2 title "stock", "" using 1:3 title "series"
		set title "first probe: syncs of all CPUs"
		plot "$dir/syncs" using 1:2 title "stock", "" using 1:3 title "series"
		unset logscale
		set xlabel "probes + 1"
		set title "a pass of a site: instructions"
		plot "$dir/probes" using 1:2 title "stock", "" using 1:3 title "series"
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
	END
}

# plot_growth CASE...: with a line above all of them, for the growth that the bars allow
plot_growth() {
	local case file lines=()
	for case; do
		file=$dir/growth.${case// /_}
		plotted "^${case/N/[0-9]+}\$" instructions $(($(wc -w <<<"${case%%N*}") + 1)) >"$file"
		lines+=("\"$file\" using 1:3 title \"$case\"")
	done
	printf 'top = 0\n'
	printf 'stats %s using (column(3) / column(1)**slope) nooutput; top = top > STATS_max ? top : STATS_max\n' \
		"${lines[@]%% using*}"
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
		set xlabel "markers + 1, each with a name of its own"
		$(plot_growth "load of N markers" "all of N markers on" "all of N markers off" \
			"list of N markers" "available_events of N markers" "one of N markers on" \
			"one of N markers off" "unload of N markers")
		set xlabel "sites of ten markers + 1"
		$(plot_growth "load of N sites of ten markers" "unload of N sites of ten markers" \
			"load of N sites of ten markers with probes" \
			"unload of N sites of ten markers with probes" \
			"probes on N sites of ten markers" "no probes on N sites of ten markers")
	END
}

measure_cycles() {
	with_progress "bench build cycles" "$logs/bench-cycles.log" "$top/dev/real/build.sh" cycles
	"$out/real/cycles" | tee "$dir/cycles.csv" >&2
	! grep '^1\.\.0' "$dir/cycles.csv" || return 0
	cat "$dir/cycles.csv" >>"$dir/results.csv"
}

draw_cpus() {
	local change unit
	for change in on off; do
		for unit in instructions interrupts; do
			plotted "^all events $change with" $unit 5 >"$dir/cpus/$change.$unit"
		done
	done
	gnuplot <<-END
		set terminal svg size 1200,600 noenhanced background "white"
		set output "$dir/cpus.svg"
		set multiplot layout 1,2
		set style data linespoints
		set key top left
		set xlabel "CPUs"
		set logscale x 2
		set logscale y
		do for [unit in "instructions interrupts"] {
			set title "all events: ".unit." of all CPUs together"
			plot for [change in "on off"] "$dir/cpus/".change.".".unit \
				using (\$1-1):2 title change.", stock", \
				for [change in "on off"] "$dir/cpus/".change.".".unit using (\$1-1):3 title change.", series"
		}
	END
}

mkdir -p "$dir"
: >"$dir/stock.csv"	# stock may be left out
[[ $form != arch ]] || : >"$dir/guest.csv"
for flavour in "${flavours[@]}"; do
	"$top/dev/build.sh" "$flavour"
	case $form in
	cpus) measure_cpus "$flavour" ;;
	*) measure "$flavour" ;;
	esac
done
for architecture in "${architectures[@]}"; do
	(count_objects "$architecture" "stock-bench-$architecture") >>"$dir/stock.csv"
	(count_objects "$architecture" "bench-$architecture") >>"$dir/guest.csv"
	[[ $architecture != i386 ]] || continue
	(count_hits "$architecture" "stock-bench-$architecture") >>"$dir/stock.csv"
	(count_hits "$architecture" "bench-$architecture") >>"$dir/guest.csv"
done
case $form in
cpus)
	compare "${flavours[@]}" >"$dir/results.csv"
	draw_cpus ;;
cycles) say "case,unit,stock,series,ratio" >"$dir/results.csv" ;;
*) compare >"$dir/results.csv" ;;
esac
[[ $form && $form != cycles ]] || measure_cycles
column -t -s, "$dir/results.csv"
((${#sites[@]} == 0)) || draw
((${#numbers[@]} == 0)) || draw_markers
say "the same in $dir/results.csv${sites[*]:+, $dir/results.svg}${numbers[*]:+, $dir/markers.svg}"
awk -F, -f "$top/dev/bench/bars.awk" "$dir/results.csv" "$top/dev/bench/bars"
