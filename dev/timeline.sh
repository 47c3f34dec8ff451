#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeline.sh SWITCHES PICTURE: draw an SVG that shows which task ran on which CPU and
# when, from tracefs' text of the marker kernel_sched_switch. It shows the first 50
# milliseconds after the process "ping" begins to run. The six tasks that run longest have
# colors of their own; the others, without the idle tasks, share one.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
from=$1 picture=$2
mkdir -p "$(dirname "$picture")"

# Data for gnuplot: one block for each task, with middle, CPU and half the length of stays.
blocks() {
	sed -nE 's/^ *(.+)-([0-9]+) +\[([0-9]+)\] [^ ]+ +([0-9.]+): kernel_sched_switch: .*/\4\t\3\t\1/p' "$from" |
		awk -F '\t' -v window=0.05 '
	$2 in last {
		begin = last[$2]
		if (!first && $3 == "ping") first = begin
		if (first && begin >= first && begin < first + window && $3 != "<idle>") {
			sum[$3] += $1 - begin
			stays[$3] = stays[$3] sprintf("%f %d %f\n",
				((begin + $1) / 2 - first) * 1000, $2, ($1 - begin) * 500)
		}
	}
	{ last[$2] = $1 }
	function print_block(name, data) {
		gsub("\047", " ", name)
		printf "$block%d << EOD\n%sEOD\n", ++nr, data
		plots = plots (nr > 1 ? ", " : "plot ") "$block" nr \
			" using 1:2:3:(0.3) with boxxyerror title \047" name "\047"
	}
	END {
		if (!first) exit 1
		while (nr < 6) {
			longest = ""
			for (task in sum)
				if (longest == "" || sum[task] > sum[longest]) longest = task
			if (longest == "") break
			print_block(longest, stays[longest])
			delete sum[longest]
		}
		for (task in sum) others = others stays[task]
		print_block("others", others "0 0 0\n")	# gnuplot needs at least one line
		print plots
	}'
}

script=$(blocks) || die "$from has no switch of the process ping"
gnuplot <<-END
	set terminal svg size 1100,360 background "white"
	set termoption noenhanced
	set output "$picture"
	set title "Who runs on which CPU: the marker kernel_sched_switch"
	set xlabel "milliseconds"
	set ytics ("CPU 0" 0, "CPU 1" 1)
	set yrange [-0.6:1.6]
	set xrange [0:50]
	set style fill solid 0.9 noborder
	set key outside right
	set grid x
	$script
END
say "the timeline of the scheduler: $picture"
