# SPDX-License-Identifier: GPL-2.0
# Sourced after lib.sh: builds the modules of LTTng for one of our kernels, and the
# bridge in contrib/, which makes markers available as events of LTTng.
# shellcheck shell=bash

lttng=$out/lttng-modules
bridge=$top/contrib/lttng-probe-markers

# Installing Debian's package would build the modules for the running kernel; only its
# sources are needed here. They lack the last argument of trace_hrtimer_start, which
# updates of 6.1 added.
unpack_lttng() {
	rm -rf "$lttng"
	mkdir -p "$lttng"
	cd "$lttng"
	apt-get download lttng-modules-dkms
	dpkg -x lttng-modules-dkms_*.deb .
	sed -i -e 's/hrtimer, enum hrtimer_mode mode)/hrtimer, enum hrtimer_mode mode, bool was_armed)/' \
		-e 's/TP_ARGS(hrtimer, mode)/TP_ARGS(hrtimer, mode, was_armed)/' \
		usr/src/lttng-modules-*/include/instrumentation/events/timer.h
	mv usr/src/lttng-modules-* source
}

# build_lttng FLAVOUR
build_lttng() {
	local work=$lttng/$1
	rm -rf "$work"
	mkdir "$work"
	cp -a "$lttng/source" "$work"
	make -C "$work/source" KERNELDIR="$out/build/$1" CC='ccache gcc' \
		-j"$(nproc)" modules
	touch "$work/built"
}

# build_bridge FLAVOUR: as described in its README, with more warnings and sparse. Any
# warning is an error.
build_bridge() {
	local work=$lttng/$1
	rm -rf "$work/bridge"
	cp -r "$bridge" "$work/bridge"
	make -C "$work/bridge" LTTNG_MODULES="$work/source" \
		KERNELDIR="$out/build/$1" CC='ccache gcc' W=1 C=2 -j"$(nproc)" |&
		tee "$work/bridge.log"
	! grep -iwE 'warning|error' "$work/bridge.log"
}

# install_lttng FLAVOUR: install the modules that are built into a copy of the kernel's
# modules: $lttng/FLAVOUR/modroot.
install_lttng() {
	local kernel=$out/build/$1 work=$lttng/$1
	rm -rf "$work/modroot"
	cp -a "$kernel/modroot" "$work"
	make -C "$work/source" KERNELDIR="$kernel" \
		INSTALL_MOD_PATH="$work/modroot" modules_install
	[[ ! -d $work/bridge ]] ||
		make -C "$work/bridge" LTTNG_MODULES="$work/source" \
			KERNELDIR="$kernel" INSTALL_MOD_PATH="$work/modroot" modules_install
}

# lttng_modules FLAVOUR [bridge]: do the steps above that are not done yet.
lttng_modules() {
	local flavour=$1 log=$logs/lttng
	[[ -d $lttng/source ]] || with_progress lttng-source "$log-source.log" unpack_lttng
	[[ $lttng/$flavour/built -nt $out/build/$flavour/vmlinux ]] ||
		with_progress "lttng $flavour" "$log-$flavour.log" build_lttng "$flavour"
	[[ ! ${2:-} ]] ||
		with_progress lttng-probe-markers "$log-bridge.log" build_bridge "$flavour"
	with_progress lttng-install "$log-install.log" install_lttng "$flavour"
}

# prepare_tour: build what dev/guest/tour.sh needs from LTTng.
prepare_tour() { lttng_modules guest bridge; }
