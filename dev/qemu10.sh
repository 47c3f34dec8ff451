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

apt_here() {
	apt-get -q -o Dir::Etc::SourceList="$dir/sources.list" -o Dir::Etc::SourceParts=- \
		-o Dir::State::lists="$dir/lists" -o Dir::Cache="$dir/cache" \
		-o APT::Sandbox::User=root -o APT::Get::List-Cleanup=0 "$@"
}

# The archive from which apt gets the release itself, as "address trusted".
archive() {
	# shellcheck disable=SC2016 # expanded by apt-get
	apt-get indextargets --format '$(SITE) $(TRUSTED)' 'Created-By: Packages' \
		"Codename: $VERSION_CODENAME" 'Component: main' | head -n 1
}

download() {
	local site trusted suite
	. /etc/os-release
	read -r site trusted < <(archive) || return
	suite=$VERSION_CODENAME-backports
	mkdir -p "$dir/lists/partial" "$dir/cache" "$dir/packages" "$dir/root"
	echo "deb $([[ $trusted != yes ]] || echo '[trusted=yes]') $site $suite main" \
		>"$dir/sources.list"
	apt_here update &&
		(cd "$dir/packages" && apt_here -t "$suite" download "${needed[@]}")
}

# QEMU looks for its files where the packages install them, unless -L is given.
extract() {
	local package share=$dir/root/usr/share
	for package in "$dir"/packages/*.deb; do
		dpkg-deb -x "$package" "$dir/root" || return
	done
	printf '#!/bin/sh\nexec "%s" -L "%s" -L "%s" "$@"\n' \
		"$dir/root/usr/bin/qemu-system-x86_64" "$share/qemu" "$share/seabios" >"$program"
	chmod +x "$program"
}

if is_new qemu-system-x86_64; then
	command -v qemu-system-x86_64
	exit
fi
if ! is_new "$program"; then
	rm -rf "$dir"
	mkdir -p "$dir"
	{ download && extract && is_new "$program"; } >"$log" 2>&1 ||
		{ tail -n 5 "$log" >&2; die "no QEMU 10; the whole log: $log"; }
	rm -rf "$dir/packages" "$dir/lists" "$dir/cache"
fi
say "$program"
