#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# All of the kernel's own selftests of ftrace; a row for each case.
. "$(dirname "$0")/common.sh"

# A case and its verdict, as one row.
rows() { sed -unE 's/^(\[[0-9]+\]) *(.*)\t\[([A-Z]+)\]$/ftracetest\t\1 \2\t\3/p'; }

tests=$out/clients/selftests-ftrace/ftrace

# It fails when one case fails; the rows show that.
"$tests/ftracetest" -l "$RESULTS/logs" | tee "$RESULTS/ftracetest.log" |
	rows | tee "$RESULTS/rows.tsv" || true
grep -q '^# of undefined' "$RESULTS/ftracetest.log" || die "ftracetest did not come to its end"
