#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# tracers.sh [FLAVOUR SCRIPT...]: build what SystemTap and LTTng load into the guest's kernel,
# or that of another flavour: scripts of SystemTap as modules, in out/tracers or
# out/tracers-FLAVOUR; LTTng's modules and the bridge to markers, in /lib/modules of the guest.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
build_environment
flavour=${1:-guest}
scripts=("${@:2}")
((${#scripts[@]})) || scripts=("$top"/dev/guest/tour.stp "$top"/dev/check/tracers/places.stp)
build=$out/build/$flavour
dir=$out/tracers
[[ $flavour == guest ]] || dir+=-$flavour

# external FOLDER ARG...: install its modules, without the warnings that are errors in the
# kernel. Dependencies are computed once, at the end.
external() {
	make -C "$build" M="$1" CC='ccache gcc' KCFLAGS=-Wno-error -j"$(nproc)" "${@:2}" modules
	make -C "$build" M="$1" INSTALL_MOD_PATH="$build/modroot" INSTALL_MOD_STRIP=1 DEPMOD=true \
		"${@:2}" modules_install
}

lttng() {
	local sources=(/usr/src/lttng-modules-*) modules=("$build"/modroot/lib/modules/*)
	mkdir -p "$dir"
	rsync -rlp "${sources[0]}/" "$dir/lttng"
	external "$dir/lttng/src" CONFIG_LTTNG=m CONFIG_LTTNG_CLOCK_PLUGIN_TEST=m
	if grep -q '^CONFIG_MARKERS=y' "$build/.config"; then
		rsync -rlp "$top/contrib/lttng-probe-markers/" "$dir/bridge"
		external "$dir/bridge" LTTNG_MODULES="$dir/lttng" \
			KBUILD_EXTRA_SYMBOLS="$dir/lttng/src/Module.symvers"
	fi
	depmod -b "$build/modroot" "$(basename "${modules[0]}")"
}

# SystemTap reads the types of tracepoints in this file. Those of a module are behind those of
# the kernel.
types() {
	local module=$build/samples/markers/marker-sample.ko
	[[ -f $module ]] || module=$build/samples/trace_events/trace-events-sample.ko
	[[ $build/vmlinux.h -nt $build/vmlinux && $build/vmlinux.h -nt $module ]] ||
		bpftool -B "$build/vmlinux" btf dump file "$module" format c >"$build/vmlinux.h"
}

systemtap() {
	local script
	types
	cd "$dir"
	for script in "${scripts[@]}"; do
		stap -B CONFIG_WERROR= -B KCFLAGS="-include $top/dev/guest/systemtap.h" -r "$build" \
			-p4 -m "$(basename "$script" .stp)" "$script"
	done
}

with_progress lttng "$logs/lttng.log" lttng
with_progress systemtap "$logs/systemtap.log" systemtap
