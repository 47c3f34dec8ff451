#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The lists of sites and of probes: marker_sites has a line for each site in the code, and
# enables the events of those that a query describes; marker_probes has a line for each
# probe that is registered.

. "$(dirname "$0")/markers-lib.sh"

tab=$(printf '\t')
sites=$tracing/marker_sites
probes=$tracing/marker_probes

event=events/markers/sample_event
fork=events/markers/kernel_process_fork
instance=$tracing/instances/lists

clean_up() {
	exec 9>&-
	[ ! -d "$instance" ] || rmdir "$instance"
	for left in $event $fork; do
		[ ! -f "$tracing/$left/enable" ] || echo 0 >"$tracing/$left/enable"
	done
	unload_all
}

# Lines of a list for a marker, without its name.
lines_of() {
	awk -F'\t' -v name="$2" '$1 == name { sub(/^[^\t]*\t/, ""); print }' "$1"
}

lists_have_a_header() {
	is "$(head -n 1 "$sites")" "# name${tab}module${tab}place${tab}function" &&
	is "$(head -n 1 "$probes")" "# name${tab}probe${tab}state${tab}format" &&
	is "$(grep -c '^#' "$sites")" 1 &&
	is "$(grep -c '^#' "$probes")" 1
}

# Each read but the first begins where the one before ended, at a line or within it.
same_in_parts() {
	cat "$1" >"$dir/whole" && dd if="$1" bs=16 status=none >"$dir/parts" &&
	cmp -s "$dir/whole" "$dir/parts"
	explain "$1 differs"
}

lists_are_read_in_parts() {
	load marker_sample &&
	load marker_probe marker=sample_event print=0 &&
	load marker_probe_variadic &&
	same_in_parts "$tracing/markers" &&
	same_in_parts "$sites" &&
	same_in_parts "$probes" &&
	is "$(dmesg | grep -c 'buggy .next function [a-z]*_next')" 0
}

sites_of_a_module() {
	is "$(lines_of "$sites" sample_event)" "" &&
	load marker_sample &&
	is "$(lines_of "$sites" sample_event | wc -l)" 1 &&
	is "$(lines_of "$sites" sample_event |
		grep -cE "^marker_sample$tab(.*/)?marker-sample.c:[0-9]+${tab}fire_markers\$")" 1 &&
	unload marker_sample &&
	is "$(lines_of "$sites" sample_event)" ""
}

sites_of_the_kernel() {
	needs_sched || return
	at_least "$(lines_of "$sites" kernel_sched_switch | wc -l)" 1 &&
	is "$(lines_of "$sites" kernel_sched_switch |
		grep -cvE "^vmlinux${tab}(.*/)?kernel/sched-trace.c:[0-9]+${tab}[a-z_]+\$")" 0
}

# marker_sites must have as many sites of each marker as the list of markers counts.
sites_are_counted() {
	load marker_sample || return
	awk -F'\t' '
		/^#/ { next }
		FNR == NR { want[$1] += $3; next }
		{ have[$1]++ }
		END {
			for (name in want)
				if (want[name] != have[name])
					print name, want[name], have[name] + 0
			for (name in have)
				if (!(name in want))
					print name, "in no list"
		}' "$tracing/markers" "$sites" >"$dir/differ" &&
	is "$(head -n 3 "$dir/differ")" ""
}

# Those of the module that are enabled.
enabled() {
	(cd "$tracing/events/markers" && grep -l 1 sample_*/enable) | sed 's,/.*,,' | paste -sd' '
}

query() { write_line "$sites" "$1"; }

# With -p, the events go that a query with +p has enabled.
enables() {
	query "$1 +p" &&
	is "$(enabled)" "$2" &&
	query "$1 -p" &&
	is "$(enabled)" ""
	explain "$1"
}

events_of_a_query() {
	needs_event markers || return
	others="sample_counter sample_event sample_formats sample_noargs sample_slice"
	load marker_sample &&
	enables "module marker_sample" "$others sample_types" &&
	enables "file marker-sample.c" "$others sample_types" &&
	enables "file */markers/marker-s*.c func fire_t*" sample_types &&
	enables "func fire_markers module marker_*" "sample_event sample_noargs" &&
	query "module marker_sample +p" &&
	query "func fire_types -p" &&
	is "$(enabled)" "$others" &&
	query "module marker_sample -p" &&
	unload marker_sample
}

# refused QUERY ERROR REASON COLUMN: error_log points to the word that is wrong.
refused() {
	: >"$tracing/error_log"
	fails_with "$2" query "$1" && has "$(cat "$tracing/error_log")" "marker_sites: error: $3" &&
	is "$(sed -n '3s/\^$//p' "$tracing/error_log" | wc -c)" $((11 + $4 + 1))
	explain "$1"
}

refused_queries() {
	load marker_sample || return
	while IFS=: read -r query column; do
		refused "$query" "Invalid argument" "Expected module NAME" "$column" || return
	done <<-END
		:0
		module:0
		module marker_sample:20
		module +p:9
		line 5 +p:0
		func fire_types +q:16
		func fire_types +p -p:19
		func a func b +p:7
	END
	fails_with "Invalid argument" query "func $(printf '%600s' x) +p" &&
	refused "module marker_sample func none +p" "No such file" "No marker with an event" 0 &&
	is "$(enabled)" ""
}

probes_of_modules() {
	format='count %u name %s'
	is "$(lines_of "$probes" sample_event)" "" &&
	load marker_probe marker=sample_event "format=$format" print=0 &&
	is "$(lines_of "$probes" sample_event)" \
		"probe_hit [marker_probe]${tab}waiting$tab$format" &&
	load marker_sample &&
	load marker_probe_variadic &&
	is "$(lines_of "$probes" sample_event | sort)" \
		"probe_hit [marker_probe]${tab}attached$tab$format
probe_hit [marker_probe_variadic]${tab}disarmed$tab$format" &&
	unload marker_probe && arm 1 &&
	is "$(lines_of "$probes" sample_event)" \
		"probe_hit [marker_probe_variadic]${tab}attached$tab$format" &&
	unload marker_probe_variadic &&
	is "$(lines_of "$probes" sample_event)" ""
}

# A probe waits with a format, and a module has another one.
probe_of_another_format() {
	load marker_probe marker=sample_event "format=count %d" print=0 &&
	load marker_sample &&
	is "$(lines_of "$probes" sample_event)" \
		"probe_hit [marker_probe]${tab}other format${tab}count %d" &&
	unload marker_sample &&
	is "$(lines_of "$probes" sample_event)" \
		"probe_hit [marker_probe]${tab}waiting${tab}count %d" &&
	unload marker_probe
}

# The name of the probe may end with the number of arguments.
recorders() { lines_of "$probes" "$name" | sed "s/_[1-5]$tab/$tab/"; }

# An event that is enabled, also in several instances, has a probe, and perf has another one.
recorded_by() {
	[ -d "$tracing/$1" ] || return 0
	name=${1##*/}
	echo 1 >"$tracing/$1/enable" && echo 1 >"$instance/$1/enable" &&
	is "$(recorders)" "ftrace_record_marker${tab}attached$tab$(column "$name" format)" &&
	echo 0 >"$tracing/$1/enable" && echo 0 >"$instance/$1/enable" &&
	is "$(lines_of "$probes" "$name")" "" || return
	[ -f "$tracing/$1/id" ] || return 0
	hold perf "$(id_of "$1")" &&
	is "$(recorders)" "perf_record_marker${tab}attached$tab$(column "$name" format)" &&
	go_on &&
	is "$(lines_of "$probes" "$name")" ""
}

probes_of_events() {
	[ -d "$tracing/events/markers" ] || needs "no trace events" || return
	load marker_sample && mkdir "$instance" && recorded_by $event && recorded_by $fork &&
	rmdir "$instance"
}

lists_are_for_root_only() {
	needs_nobody || return
	[ -f "$sites" ] && [ -f "$probes" ] &&
	fails_with "Permission denied" as_nobody cat "$sites" &&
	fails_with "Permission denied" as_nobody cat "$probes"
}

plan 11
lists_have_a_header; report "lists have a header"
lists_are_read_in_parts; report "lists are read in parts"
sites_of_a_module; report "sites of a module"
sites_of_the_kernel; report "sites of the kernel"
sites_are_counted; report "sites are as many as the list of markers counts"
events_of_a_query; report "events of a query"
refused_queries; report "queries that are refused"
probes_of_modules; report "probes of modules"
probe_of_another_format; report "a probe of another format"
probes_of_events; report "probes of ftrace and of perf"
lists_are_for_root_only; report "lists are for root only"
finish
