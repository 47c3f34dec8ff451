#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# debian.sh COMMAND...: run a command in the Debian tree, which is made before if it is
# missing: a folder with the packages of dev/packages, outside of the checkout, like the
# cache of a compiler. It builds the kernel, has the tracers, and is the root of the guest.
# So the host's release does not matter: it needs git, make, mmdebstrap and root.
# The checkout and ccache's folder are at the same paths there.
# DEBIAN_TREES=DIR is for the trees, instead of ~/.cache/linux-tracing. With FOREIGN=arm64,
# there is another folder, with the packages NAME:arm64, for guests of that architecture:
# FOREIGN_ROOT. No program of it runs outside of a guest, so the packages are not configured.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

trees=${DEBIAN_TREES:-${XDG_CACHE_HOME:-$HOME/.cache}/linux-tracing}
lists=("$top/dev/packages" "$top/dev/packages.preferences")
key=$(cat "${lists[@]}" | grep -v ':arm64$' | sha256sum | cut -c 1-12)
tree=$trees/$debian_release-$key
if [[ ${FOREIGN:-} ]]; then
	key=$(grep ":$FOREIGN\$" "${lists[0]}" | cat - "${lists[1]}" | sha256sum | cut -c 1-12)
	export FOREIGN_ROOT=$trees/$FOREIGN-$key
fi

# From the archive that apt of the host uses.
sources() {
	local site suite
	# shellcheck disable=SC2016 # expanded by apt-get
	site=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 2>/dev/null |
		grep -m 1 '/debian/\?$') || die "apt of this host knows no archive of Debian"
	for suite in "$debian_release" "$debian_release-backports" unstable; do
		say "deb $site $suite main"
	done
}

# A copy of the archive may be older than its Release file says.
bootstrap() {
	sources | mmdebstrap --mode=root --aptopt='Acquire::Check-Valid-Until "false"' \
		--setup-hook="mkdir -p \"\$1/etc/apt/preferences.d\"" \
		--setup-hook="cp '${lists[1]}' \"\$1/etc/apt/preferences.d/tracers\"" \
		"$@" "$debian_release" "$tree.new" -
}

# The hooks run in a shell of mmdebstrap.
# shellcheck disable=SC2016
bootstrap_foreign() {
	bootstrap --variant=extract --architectures="$FOREIGN" \
		--include="$(sed -n "s/:$FOREIGN\$//p" <(lines_of "${lists[0]}") | paste -sd,)" \
		--extract-hook='ln -s gawk "$1/usr/bin/awk"' \
		--extract-hook='for f in passwd group; do cp "$1/usr/share/base-passwd/$f.master" "$1/etc/$f"; done'
}

bootstrap_own() {
	bootstrap --variant=apt --include="$(lines_of "${lists[0]}" | grep -v ':arm64$' | paste -sd,)"
}

# make_tree KIND PATH: own or foreign. The trees of older lists are of no use.
make_tree() {
	local tree=$2
	[[ $(id -u) == 0 ]] || die "run this as root: it makes a Debian tree in $trees, and works in it"
	command -v mmdebstrap >/dev/null || die "mmdebstrap is missing: apt-get install mmdebstrap"
	usable_path "$trees"
	rm -rf "$tree.new"
	with_progress "debian tree" "$logs/debian.log" "bootstrap_$1" ||
		die "is each package of dev/packages, in its version, still in the archive?"
	touch "$tree.new/$in_tree"
	mv "$tree.new" "$tree"
	find "$trees" -mindepth 1 -maxdepth 1 -name "$(basename "${tree%-*}")-*" ! -path "$tree" \
		-exec rm -rf {} +
}

# What is at the same path in the tree. The repository of a work tree is elsewhere.
shared() {
	printf '%s\n' "$top" "$out" "$CCACHE_DIR"
	git -C "$top" -c safe.directory="$top" rev-parse --path-format=absolute --git-common-dir 2>/dev/null || true
	[[ ! -e ${LINUX:-} ]] || realpath "$LINUX"
	[[ ! ${FOREIGN:-} ]] || say "$FOREIGN_ROOT"
}

# In a mount namespace of its own, which ends with the last process.
enter() {
	local path
	mount --rbind /dev "$tree/dev"
	mount -t proc proc "$tree/proc"
	mount -t sysfs sys "$tree/sys"
	mount -t tmpfs tmp "$tree/tmp"
	while IFS= read -r path; do
		if [[ -d $path ]]; then
			mkdir -p "$tree$path"
		else
			mkdir -p "$tree$(dirname "$path")"
			touch "$tree$path"
		fi
		mount --bind "$path" "$tree$path"
	done < <(shared)
	exec chroot "$tree" /usr/bin/env -C "$PWD" HOME=/root LANG=C.UTF-8 \
		PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
}

if [[ ${1:-} == --enter ]]; then
	shift
	enter "$@"
fi
export CCACHE_DIR=${CCACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/ccache}
mkdir -p "$trees" "$CCACHE_DIR"
exec 7>"$trees/lock"
flock 7
[[ -e $tree/$in_tree ]] || make_tree own "$tree"
[[ ! ${FOREIGN:-} || -e $FOREIGN_ROOT/$in_tree ]] || make_tree foreign "$FOREIGN_ROOT"
exec 7>&-
exec unshare --mount --propagation private "$0" --enter "$@"
