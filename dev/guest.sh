#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# guest.sh [--flavour F] [--timeout S] [--smp N] [--cpu MODEL] [--icount] [--name N]
#          [--append ARGS] [--parallel] [--plugin FILE]
#          SCRIPT [ARG...]
# guest.sh [...] --shell
#
# Boot the flavour's kernel on the Debian tree (read-only, under an overlay) and
# run SCRIPT there as root. Its output goes to stdout, the kernel's to a log. The exit
# status is that of SCRIPT, or an error if the kernel complains or the guest hangs: it runs
# for S seconds (900), three times what a script takes beside builds on two slow CPUs.
# Files that SCRIPT writes to $RESULTS are in out/guest/NAME afterwards; NAME is that of
# SCRIPT and of the flavour, as in out/guest/script-guest. The flavours NAME-guest_arm64 have the
# root that debian.sh makes with FOREIGN=arm64. With --icount
# the guest has one CPU, and its clocks count instructions. With --parallel QEMU has a
# thread for each CPU. A plugin of QEMU writes to $RESULTS/counts.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

flavour=guest seconds=900 smp=2 cpu=max name='' append='' shell=''
clock=() plugin=''
threads=single
while (($#)); do
	case $1 in
	--flavour) flavour=$2; shift 2 ;;
	--timeout) seconds=$2; shift 2 ;;
	--smp) smp=$2; shift 2 ;;
	--cpu) cpu=$2; shift 2 ;;
	--icount) smp=1 clock=(-icount "shift=0,sleep=off"); shift ;;
	--name) name=$2; shift 2 ;;
	--append) append+=" $2"; shift 2 ;;
	--parallel) threads=multi; shift ;;
	--plugin) plugin=$2; shift 2 ;;
	--shell) shell=1; name=shell; shift ;;
	--) shift; break ;;
	-*) die "unknown option $1" ;;
	*) break ;;
	esac
done
(($#)) || [[ $shell ]] || die "which script is the guest to run?"
[[ ! $shell || -t 0 ]] || die "--shell needs a terminal"
[[ $shell ]] || command -v "$1" >/dev/null || die "$1 is not an executable file"
[[ $shell || $1 != /tmp/* || $1 == "$top"/* || $1 == "$out"/* ]] ||
	die "$1: the guest does not see the files in /tmp"
name=${name:-$(basename "$1" .sh)-$flavour}
build=$out/build/$flavour
results=$out/guest/$name
log=$logs/guest-$name.log
machine=x86 root=/ busybox=$(command -v busybox)
if [[ $flavour == *guest_arm64 ]]; then
	machine=arm64 root=${FOREIGN_ROOT:?run FOREIGN=arm64 dev/debian.sh}
	busybox=$root/usr/bin/busybox
fi
initramfs=$out/guest/initramfs-$machine.cpio

make_initramfs() {
	local dir
	[[ $initramfs -nt $top/dev/guest/init ]] && return 0
	dir=$(mktemp -d)
	mkdir -p "$dir/bin" "$dir/dev"
	cp "$busybox" "$dir/bin/"
	ln -s busybox "$dir/bin/sh"
	cp "$top/dev/guest/init" "$dir/init"
	chmod +x "$dir/init"
	(cd "$dir" && find . | cpio -o -H newc --quiet --owner 0:0) >"$initramfs.$$"
	mv "$initramfs.$$" "$initramfs"
	rm -rf "$dir"
}

# no_timer_check: on a busy machine the kernel's check of the timer fails.
# thread=single: otherwise two guests would wait for each other's CPUs. Booting vmlinux itself saves the decompression;
# with KASAN and KCSAN its PVH entry does not work, and build.sh builds a bzImage.
# q35: the interrupt routing of the default machine is a loop in AML, which a kernel
# with KASAN and lockdep interprets for two minutes at each boot, until ACPI gives up.
# random.trust_cpu: otherwise the key that hashes pointers is made up to two seconds
# after the start, and scripts may see (____ptrval____) before.
# The root of arm64 has no checkout. The CPU has PAN: else the kernel reads user memory as its own.
qemu() {
	local program=qemu-system-x86_64 options=(-cpu "$cpu" -machine q35)
	local words="console=ttyS0 mitigations=off no_timer_check random.trust_cpu=on"
	if [[ $machine == arm64 ]]; then
		program=qemu-system-aarch64 options=(-cpu cortex-a76 -machine virt
			-virtfs "local,path=$top,mount_tag=house,security_model=none,readonly=on,multidevs=remap")
		words="console=ttyAMA0"
	fi
	timeout --foreground --kill-after=5 "$seconds" "$program" "${options[@]}" \
		-accel "tcg,thread=$threads" "${clock[@]}" -smp "$smp" -m 2G \
		-nodefaults -no-user-config -display none -no-reboot \
		-kernel "$image" -initrd "$initramfs" \
		-append "panic=-1 oops=panic rdinit=/init $words HOUSE_TOP=$top HOUSE_OUT=$out HOUSE_BUILD=$build${shell:+ HOUSE_SHELL=1} $append" \
		-serial "file:$log" ${plugin:+-plugin "$plugin,to=$results/counts"} \
		-device virtio-rng-pci -device virtio-serial-pci \
		-chardev stdio,id=screen,signal=off -device virtconsole,chardev=screen \
		-virtfs "local,path=$root,mount_tag=hostroot,security_model=none,readonly=on,multidevs=remap" \
		-virtfs "local,path=$results,mount_tag=results,security_model=none"
}

no_splats() {
	local found
	found=$(splats_in "$log")
	[[ -n $found ]] || return 0
	say "guest $name: the kernel complains:" >&2
	say "$found" | head -n 40 >&2
	say "the whole log: $log" >&2
	return 1
}

log_end() {
	tail -n 40 "$log" >&2
	say "the whole log: $log" >&2
}

# With a thread for each CPU, an assertion of QEMU may fail while the guest probes
# its PCI devices.
qemu_again() {
	local try code
	for try in 1 2 3; do
		code=0
		qemu </dev/null 2>"$results/qemu.err" || code=$?
		grep -qs 'iotlb_to_section: Assertion' "$results/qemu.err" || break
		say "guest $name: QEMU failed by itself, try $try" >&2
	done
	return $code
}

run() {
	local code=0
	if [[ $shell ]]; then
		seconds=0
		stty_saved=$(stty -g 2>/dev/null || true)
		[[ -z $stty_saved ]] || trap 'stty "$stty_saved"' EXIT
		qemu || code=$?
	else
		qemu_again || code=$?
	fi
	if ((code == 124 || code == 137)); then
		log_end
		die "guest $name hung after $seconds s"
	fi
	no_splats || exit 1
	if [[ ! -f $results/status ]]; then
		cat "$results/qemu.err" >&2 2>/dev/null || true
		log_end
		die "guest $name ended before its script did"
	fi
	return "$(<"$results/status")"
}

image=$build/vmlinux
! grep -qs '^CONFIG_K[AC]SAN=y' "$build/.config" || image=$build/arch/x86/boot/bzImage
[[ $machine != arm64 ]] || image=$build/arch/arm64/boot/Image
[[ -f $image ]] || die "no kernel $build/vmlinux: make build"
mkdir -p "$results"
rm -rf "${results:?}"/* "$log"
make_initramfs
if [[ ! $shell ]]; then
	printf '%q ' "$@" >"$results/command.words"
	printf 'exec bash -c %q\n' "$(<"$results/command.words")" >"$results/command"
fi
run
