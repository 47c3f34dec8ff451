#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A module that uses only names of the base, and BPF, on tracepoints of the scheduler that
# have no trace event.
. "$(dirname "$0")/common.sh"

# counts PARAMETER: a probe of the module is hit; prints no count.
counts() {
	local hits=/sys/module/base_names/parameters/$1
	for _ in {1..100}; do
		(($(<"$hits"))) && return
		sleep 0.1
	done
	say "$1: no hits"
	return 1
}

row module "names of the base: loaded" insmod "$out/outoftree-$flavour/base-names.ko"
row module "register_trace_pelt_cfs_tp()" counts registered
row module "for_each_kernel_tracepoint(), pelt_cfs_tp" counts named
row module "DECLARE_TRACE() and TRACE_EVENT() of its own" test "$(</sys/module/base_names/parameters/own)" = 7
# A program that is attached to its tracepoint keeps the module.
row "bpf(2)" "raw_tp of a module, which cannot be unloaded meanwhile" \
	"$bin/bpf" pelt_cfs sh -c '! rmmod base_names'
row module "names of the base: unloaded" rmmod base_names
row "bpf(2)" "raw_tp, pelt_cfs_tp" "$bin/bpf" pelt_cfs_tp true
