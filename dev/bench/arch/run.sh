#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# run.sh ARCHITECTURE FLAVOUR DIR: boot the kernel of a flavour in QEMU, whose clock counts
# instructions, and print what hits_site.c and functions.c measure, as lines of case, unit and
# number. Their modules are built in DIR.
set -euo pipefail
. "$(dirname "$0")/../../lib.sh"
build_environment
architecture=$1 flavour=$2 dir=$3
build=$out/build/$flavour
cross=$(sed -n 's/^#: CROSS_COMPILE=//p' "$top/dev/bench/arch/$architecture.config")

case $architecture in
arm64) image=arch/arm64/boot/Image qemu=(qemu-system-aarch64 -cpu cortex-a57) console=ttyAMA0 ;;
riscv64) image=arch/riscv/boot/Image qemu=(qemu-system-riscv64) console=ttyS0 ;;
esac

# The kernel's own small C library is enough.
make_root() {
	mkdir -p "$dir/root"
	"${cross}gcc" -Wall -Wextra -Werror -Os -static -nostdlib -ffreestanding -fno-stack-protector \
		-include "$linux/tools/include/nolibc/nolibc.h" \
		-o "$dir/root/init" "$top/dev/bench/arch/init.c" -lgcc
	"${cross}strip" -g -o "$dir/root/hits.ko" "$dir/hits.ko"
	"${cross}strip" -g -o "$dir/root/functions.ko" "$dir/functions.ko"
	(cd "$dir/root" && printf '%s\n' init {hits,functions}.ko | cpio --quiet -o -H newc) >"$dir/root.cpio"
}

"$top/dev/build.sh" "$flavour" "$(basename "$image")" modules >&2
"$top/dev/build.sh" "$flavour" M="$dir" modules >&2
make_root
log=$logs/bench-$flavour.log
with_progress "bench run $flavour" "$log" timeout 1200 "${qemu[@]}" -machine virt \
	-icount shift=0,sleep=off -m 512M -display none -no-reboot -serial stdio -monitor none \
	-kernel "$build/$image" -initrd "$dir/root.cpio" \
	-append "console=$console panic=-1 oops=panic rdinit=/init"
! grep 'not ok' "$log" || exit 1
tr -d '\r' <"$log" | awk -v architecture="$architecture" '
	/^== / { part = $2; next }
	part == "hits" && /^[0-9]+ [0-9]+$/ { print architecture ": pass of a site with " $1 " probes,instructions," $2 }
	part == "functions" && /^call .*:[0-9]+$/ {
		split($0, words, ":")
		print architecture ": " words[1] ",instructions," words[2]
	}
	END { exit !(part == "end") }'
