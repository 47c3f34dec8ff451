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

event=events/markers/sample_event
signal=events/markers/kernel_send_signal
instance=$tracing/instances/lists-$$
failslab=/sys/kernel/debug/failslab

clean_up() {
	exec 9>&-
	for left in $event $signal; do
		[ ! -f "$tracing/$left/enable" ] || echo 0 >"$tracing/$left/enable"
	done
	[ ! -d "$instance" ] || rmdir "$instance"
	unload_all
}

# Lines of a list for a marker, without its name.
lines_of() {
	awk -F'\t' -v name="$2" '$1 == name { sub(/^[^\t]*\t/, ""); print }' "$1"
}

lists_have_a_header() {
	is "$(head -n 1 "$sites")" "# name${tab}module${tab}place" &&
	is "$(head -n 1 "$probes")" "# name${tab}probe${tab}format" &&
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
	is "$(dmesg | grep -c 'buggy .next function \(parts\|probes\)_next')" 0
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

# marker_sites must have as many sites of each marker as the list of markers counts: no
# marker of the tree is in a function that is inlined twice, which would have more lines.
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

# The code that records strings is another than that for numbers alone.
probe_of_an_event() {
	needs_event sched/sched_switch || return
	load marker_sample &&
	echo 1 >"$tracing/$event/enable" &&
	is "$(lines_of "$probes" sample_event)" \
		"trace_marker_strings$tab$(column sample_event format)" &&
	echo 0 >"$tracing/$event/enable" &&
	is "$(lines_of "$probes" sample_event)" "" || return
	needs_event markers/kernel_send_signal || return
	echo 1 >"$tracing/$signal/enable" &&
	is "$(lines_of "$probes" kernel_send_signal)" \
		"trace_marker$tab$(column kernel_send_signal format)" &&
	echo 0 >"$tracing/$signal/enable"
}

probe_of_perf() {
	needs_event markers/kernel_send_signal || return
	[ -f "$tracing/$signal/id" ] || needs "no perf events" || return
	load marker_sample &&
	hold perf "$(id_of $event)" || return
	is "$(lines_of "$probes" sample_event)" \
		"perf_marker_strings$tab$(column sample_event format)" && go_on &&
	hold perf "$(id_of $signal)" &&
	is "$(lines_of "$probes" kernel_send_signal)" \
		"perf_marker$tab$(column kernel_send_signal format)" && go_on &&
	is "$(lines_of "$probes" kernel_send_signal)" ""
}

# Write 0 to a file while the first allocation fails: fail-nth is 0 afterwards.
# shellcheck disable=SC2016 # expanded by the other shell
write_without_memory() {
	waits=$(cat "$failslab/ignore-gfp-wait") && verbose=$(cat "$failslab/verbose") || return
	echo N >"$failslab/ignore-gfp-wait"
	echo 0 >"$failslab/verbose"
	sh -c 'exec 3>"$1" 4<>/proc/self/fail-nth && echo 1 >&4 && echo 0 >&3 &&
		read -r left <&4 && [ "$left" = 0 ]' sh "$1"
	failed=$?
	echo "$waits" >"$failslab/ignore-gfp-wait"
	echo "$verbose" >"$failslab/verbose"
	return $failed
}

# A probe that is removed while memory is short stays in the array of probes, but not
# in the list.
probe_is_removed_without_memory() {
	needs_event sched/sched_switch || return
	[ -w $failslab/verbose ] || needs "no CONFIG_FAILSLAB" || return
	load marker_sample && mkdir "$instance" &&
	echo 1 >"$tracing/$event/enable" && echo 1 >"$instance/$event/enable" &&
	is "$(lines_of "$probes" sample_event | wc -l)" 2 &&
	write_without_memory "$instance/$event/enable" &&
	is "$(lines_of "$probes" sample_event | wc -l)" 1 &&
	is "$(column sample_event probes)" 1 &&
	is "$(cat "$instance/$event/enable")" 0 &&
	fire 1 &&
	is "$(grep -c sample_event: "$instance/trace")" 0 &&
	echo 0 >"$tracing/$event/enable" &&
	is "$(lines_of "$probes" sample_event)" "" && kernel_is_well
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
site_is_where_the_marker_is; report "a site is where the marker is"
probes_of_modules; report "probes of modules"
probe_of_an_event; report "probe of an event"
probe_of_perf; report "probe of perf"
probe_is_removed_without_memory; report "probe is removed without memory"
lists_are_for_root_only; report "lists are for root only"
finish
