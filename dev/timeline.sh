#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeline.sh SWITCHES PICTURE: draw an SVG that shows which task ran on which CPU and
# when, from tracefs' text of the marker kernel_sched_switch. It shows the first
# milliseconds after the process "ping" begins to run.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

from=$1 picture=$2
mkdir -p "$(dirname "$picture")"
window=0.05	# seconds
named=6		# number of tasks with a color of their own; the others share one
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# One line for each time that a task was on a CPU: begin, end, CPU and task.
stays() {
	sed -nE 's/^ *(.+)-([0-9]+) +\[([0-9]+)\] [^ ]+ +([0-9.]+): kernel_sched_switch: .*/\4\t\3\t\1/p' "$from" |
		awk -F '\t' '
		$2 in last { print last[$2], $1, $2 + 0, $3 }
		{ last[$2] = $1 }' OFS='\t'
}

# The lines in the window, in milliseconds from its beginning.
in_window() {
	awk -F '\t' -v window=$window '
	!begin && $4 == "ping" { begin = $1 }
	begin && $1 >= begin && $1 < begin + window {
		print ($1 - begin) * 1000, ($2 - begin) * 1000, $3, $4
	}' OFS='\t'
}

# The tasks that ran longest, without the idle tasks.
main_tasks() {
	awk -F '\t' '$4 != "<idle>" { sum[$4] += $2 - $1 }
		END { for (task in sum) print sum[task] "\t" task }' "$work/stays" |
		sort -rn | head -n $named | cut -f 2
}

# One block of data per task, in the order of $work/tasks.
blocks() {
	local task
	while IFS= read -r task; do
		awk -F '\t' -v task="$task" '$4 == task { print $1, $2, $3 }' "$work/stays"
		printf '\n\n'
	done <"$work/tasks"
	awk -F '\t' 'FNR == NR { named[$0] = 1; next }
		$4 != "<idle>" && !($4 in named) { print $1, $2, $3 }' \
		"$work/tasks" "$work/stays"
	printf '0 0 0\n'	# gnuplot needs at least one line
}

draw() {
	local i=0 task plots=()
	while IFS= read -r task; do
		plots+=("'$work/blocks' index $i using (0.5*(\$1+\$2)):3:(0.5*(\$2-\$1)):(0.3) with boxxyerror title '${task//\'/ }',")
		((++i))
	done < <(cat "$work/tasks"; echo others)
	gnuplot <<-END
		set terminal svg size 1100,360 background "white"
		set termoption noenhanced
		set output "$picture"
		set title "Who runs on which CPU: the marker kernel_sched_switch"
		set xlabel "milliseconds"
		set ytics ("CPU 0" 0, "CPU 1" 1)
		set yrange [-0.6:1.6]
		set xrange [0:$window*1000]
		set style fill solid 0.9 noborder
		set key outside right
		set grid x
		plot ${plots[*]}
	END
}

stays | in_window >"$work/stays"
[[ -s $work/stays ]] || die "$from has no switch of the process ping"
main_tasks >"$work/tasks"
blocks >"$work/blocks"
draw
say "the timeline of the scheduler: $picture"
