#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# qemu10.sh: print the path of a QEMU whose CPUs can run in parallel while the guest
# patches its code. That needs version 10; 7.2 hangs. It is the installed QEMU, or one
# from the backports of this Debian release, which is unpacked to out/qemu10 and not
# installed. Fails when there is none.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
dir=$out/qemu10
log=$logs/qemu10.log
program=$dir/qemu-system-x86_64
needed=(qemu-system-x86 qemu-system-common qemu-system-data seabios)

is_new() {
	local major
	major=$("$1" --version 2>/dev/null | sed -nE 's/^QEMU emulator version ([0-9]+).*/\1/p')
	((${major:-0} >= 10))
}

# QEMU looks for its files where the packages install them, unless -L is given.
wrap() {
	local share=$dir/root/usr/share
	printf '#!/bin/sh\nexec "%s" -L "%s" -L "%s" "$@"\n' \
		"$dir/root/usr/bin/qemu-system-x86_64" "$share/qemu" "$share/seabios" >"$program"
	chmod +x "$program"
}

if is_new qemu-system-x86_64; then
	command -v qemu-system-x86_64
	exit
fi
if ! is_new "$program"; then
	. /etc/os-release
	{ "$top/dev/fetch.sh" "$dir" "$VERSION_CODENAME-backports" "${needed[@]}" &&
		wrap && is_new "$program"; } >"$log" 2>&1 ||
		{ tail -n 5 "$log" >&2; die "no QEMU 10; the whole log: $log"; }
fi
say "$program"
