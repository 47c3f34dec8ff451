#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# fetch.sh DIR SUITE PACKAGE...: unpack packages of another suite of Debian into DIR,
# which is emptied first. They come from the archive of the host's own release, and are not
# installed.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
dir=$1 suite=$2
shift 2

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

. /etc/os-release
rm -rf "$dir"
mkdir -p "$dir/lists/partial" "$dir/cache" "$dir/packages" "$dir/root"
read -r site trusted < <(archive)
say "deb $([[ $trusted != yes ]] || say '[trusted=yes] ')$site $suite main" >"$dir/sources.list"
apt_here update
(cd "$dir/packages" && apt_here -t "$suite" download "$@")
for package in "$dir"/packages/*.deb; do
	dpkg-deb -x "$package" "$dir/root"
done
rm -rf "$dir/packages" "$dir/lists" "$dir/cache"
