# SPDX-License-Identifier: GPL-2.0
# Sourced by the scripts for the guest: DIR, the first argument, has the modules.
# Each line of the results has a case, a unit and a number. A case has no comma.
# shellcheck shell=bash disable=SC2034
set -u
dir=/tmp/bench
bench=/sys/module/bench/parameters
tracefs=/sys/kernel/tracing

say() { printf '%s,%s,%s\n' "$@" | tee -a "$RESULTS/results.csv"; }

switch() { echo "$2" >"$tracefs/events/$1/enable"; }

# Copies, as waiting for the host would count as instructions.
mkdir $dir
cp "$1"/*.ko "$1"/{load,bpf} $dir
insmod $dir/bench.ko
