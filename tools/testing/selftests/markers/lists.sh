#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The lists of sites and of probes: marker_sites has a line for each site in the
# code, marker_probes one for each probe that is registered.

. "$(dirname "$0")/markers-lib.sh"

tab=$(printf '\t')
sites=$tracing/marker_sites
probes=$tracing/marker_probes
place='[A-Za-z0-9_.]+\+0x[0-9a-f]+/0x[0-9a-f]+'

clean_up() {
	unload_all
}

# Lines of a list for a marker, without its name.
lines_of() {
	awk -F'\t' -v name="$2" '$1 == name { sub(/^[^\t]*\t/, ""); print }' "$1"
}

sites_of_a_module() {
	is "$(lines_of "$sites" sample_event)" "" &&
	load marker_sample &&
	is "$(lines_of "$sites" sample_event | wc -l)" 1 &&
	is "$(lines_of "$sites" sample_event |
		grep -cE "^marker_sample$tab$place \[marker_sample\]\$")" 1 &&
	unload marker_sample &&
	is "$(lines_of "$sites" sample_event)" ""
}

sites_of_the_kernel() {
	needs_sched || return
	at_least "$(lines_of "$sites" kernel_sched_switch | wc -l)" 1 &&
	is "$(lines_of "$sites" kernel_sched_switch |
		grep -cvE "^vmlinux$tab$place\$")" 0
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

site_is_where_the_marker_is() {
	load marker_sample &&
	has "$(lines_of "$sites" sample_event)" "fire_" &&
	has "$(lines_of "$sites" sample_noargs)" "fire_"
}

probes_of_modules() {
	format='count %u name %s'
	is "$(lines_of "$probes" sample_event)" "" &&
	load marker_probe marker=sample_event "format=$format" print=0 &&
	is "$(lines_of "$probes" sample_event)" \
		"probe_hit [marker_probe]$tab$format" &&
	load marker_sample &&
	load marker_probe_variadic &&
	is "$(lines_of "$probes" sample_event | sort)" \
		"probe_hit [marker_probe]$tab$format
probe_hit [marker_probe_variadic]$tab$format" &&
	unload marker_probe &&
	is "$(lines_of "$probes" sample_event)" \
		"probe_hit [marker_probe_variadic]$tab$format" &&
	unload marker_probe_variadic &&
	is "$(lines_of "$probes" sample_event)" ""
}

probe_of_an_event() {
	needs_event sched/sched_switch || return
	load marker_sample &&
	echo 1 >"$tracing/events/markers/sample_event/enable" &&
	at_least "$(lines_of "$probes" sample_event | wc -l)" 1 &&
	echo 0 >"$tracing/events/markers/sample_event/enable" &&
	is "$(lines_of "$probes" sample_event)" ""
}

lists_are_for_root_only() {
	needs_nobody || return
	[ -f "$sites" ] && [ -f "$probes" ] &&
	fails_with "Permission denied" as_nobody cat "$sites" &&
	fails_with "Permission denied" as_nobody cat "$probes"
}

plan 7
sites_of_a_module; report "sites of a module"
sites_of_the_kernel; report "sites of the kernel"
sites_are_counted; report "sites are as many as the list of markers counts"
site_is_where_the_marker_is; report "a site is where the marker is"
probes_of_modules; report "probes of modules"
probe_of_an_event; report "probe of an event"
lists_are_for_root_only; report "lists are for root only"
finish
