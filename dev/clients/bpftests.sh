#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The kernel's own BPF selftests that attach to tracepoints and to functions; a row for each
# of their cases.
. "$(dirname "$0")/common.sh"
busybox ip link set lo up
cp "$out/clients/test_kmods-$flavour"/*.ko .
ln -s "$out"/clients/test_progs/built/{*.bpf.o,test_progs,urandom_read,liburandom_read.so} .
./test_progs >"$RESULTS/test_progs.log" 2>&1 || true
sed -nE 's,^#[0-9]+(/[0-9]+)? +([^:]+(:[^:]+)*):(OK|FAIL|SKIP)$,\2 \4,p' "$RESULTS/test_progs.log" |
	awk -v OFS='\t' '
	{ verdict = $NF == "OK" ? "PASS" : $NF; sub(/ [^ ]*$/, ""); print "bpftests", $0, verdict }' |
	tee "$RESULTS/rows.tsv"
grep -q '^Summary:' "$RESULTS/test_progs.log" || die "test_progs did not come to its end"
