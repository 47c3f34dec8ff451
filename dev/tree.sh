#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Make out/linux: the pristine kernel, then the quilt patches, then the overlay.
#
# Only the files that the series touches are created, in a staging folder, and copied
# if their content differs: an unchanged file keeps its time, so that the next build
# compiles only what changed.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

stage=$out/stage
stamp=$out/tree.stamp	# the time of the last run
listed=$out/stage.list	# the files of the tree that the series touches

# What the base is made from: LINUX, a tree or a tarball, or Debian's package.
source_of_base() {
	local from=${LINUX:-/usr/src/linux-source-$base_version.tar.xz}

	[[ -e $from ]] || die "LINUX=$from does not exist; it may be a tree or a tarball"
	realpath "$from"
}

extract_base() {
	local from=$1 version
	version="$from $(stat -c %Y "$from")"

	[[ $(cat "$base.version" 2>/dev/null) == "$version" ]] && return 0
	say "extract $from"
	rm -rf "$base" "$base.version" "$base.new"
	mkdir -p "$base.new"
	if [[ -d $from ]]; then
		cp -a "$from/." "$base.new"
	else
		tar -xf "$from" -C "$base.new" --strip-components=1
	fi
	mv "$base.new" "$base"
	[[ ! -d $linux ]] ||
		rsync -rlp --checksum --delete "$base/" "$linux/"
	printf '%s\n' "$version" >"$base.version"
}

# An overlay file would silently undo a patch to the same file.
no_file_in_both() {
	local both
	both=$(comm -12 <(overlay_files | sort) <(all_patched | sort))
	[[ -z $both ]] || die "both patched and replaced by a whole file: $both"
}

all_patched() {
	local names
	mapfile -t names < <(patch_names)
	((${#names[@]} == 0)) || patched_files "${names[@]}"
}

apply_patch() {
	local name=$1 log=$logs/patch.log file

	say "patch $name"
	if quilt --quiltrc - push --fuzz=0 --leave-rejects >"$log" 2>&1; then
		return 0
	fi
	file=$(awk '/^patching file/ { file = $3 } /FAILED/ { print file }
		/^\|\+\+\+ / { file = substr($2, 3) } /^No file to patch/ { print file }' \
		"$log" | sort -u | paste -sd ' ')
	tail -n 20 "$log" >&2
	find . -name '*.rej' -exec tail -n 20 {} + >&2
	die "patch $name does not apply to: ${file:-see above}"
}

stage_patches() {
	local f name

	patch_names >"$out/patches.list"
	export QUILT_PATCHES=$top/series QUILT_SERIES=$out/patches.list QUILT_PC=.pc
	for f in $(all_patched); do
		mkdir -p "$(dirname "$stage/$f")"
		[[ ! -f $base/$f ]] || cp -p "$base/$f" "$stage/$f"
	done
	for name in $(patch_names); do
		(cd "$stage" && apply_patch "$name")
	done
	rm -rf "$stage/.pc"
}

stage_all() {
	rm -rf "$stage"
	mkdir -p "$stage"
	no_file_in_both
	stage_patches
	overlay_files >"$out/overlay.list"
	overlay_to "$stage" "$out/overlay.list"
}

# Restore the files that the series no longer touches.
restore_dropped() {
	local f
	[[ -f $listed ]] || return 0
	comm -23 "$listed" "$listed.new" | while IFS= read -r f; do
		if [[ -f $base/$f ]]; then
			cmp -s "$base/$f" "$linux/$f" || cp "$base/$f" "$linux/$f"
		else
			rm -f "$linux/$f"
			rmdir -p --ignore-fail-on-non-empty \
				"$(dirname "$linux/$f")" 2>/dev/null || true
		fi
		say "gone $f"
	done
}

# A file that a patch deletes is not in the staging folder.
delete_deleted() {
	local f
	for f in $(all_patched); do
		[[ -f $stage/$f ]] || rm -f "$linux/$f"
	done
}

# Edits that were made in out/linux since the last run are moved away: they are lost
# otherwise, or remain there although they are not in the series.
keep_strays() {
	local f should
	[[ -f $stamp ]] || return 0
	while IFS= read -r f; do
		should=$stage/$f
		[[ -f $should ]] || should=$base/$f
		! cmp -s "$linux/$f" "$should" || continue
		mkdir -p "$out/strays/$(dirname "$f")"
		mv "$linux/$f" "$out/strays/$f"
		[[ ! -f $should ]] || cp "$should" "$linux/$f"
		say "stray: $f was edited in out/linux; it is now in out/strays. README.md describes where edits belong"
	done < <(cd "$linux" && find . -name __pycache__ -prune -o -type f -newer "$stamp" -printf '%P\n')
}

update_linux() {
	copy_base "$linux"
	{ (cd "$stage" && find . -type f -printf '%P\n'); all_patched; } |
		sort -u >"$listed.new"
	keep_strays
	restore_dropped
	rsync -rlp --checksum --out-format='file %n' "$stage/" "$linux/" |
		grep -v '/$' || true
	delete_deleted
	mv "$listed.new" "$listed"
	touch "$stamp"
}

main() {
	local from
	command -v quilt >/dev/null || die "quilt, of the package quilt, is missing: make setup"
	exec 9>"$out/tree.lock"
	flock 9
	from=$(source_of_base)
	extract_base "$from"
	stage_all
	update_linux
	say "tree: Linux $(make -s -C "$linux" kernelversion)," \
		"$(patch_names | wc -l) patches," \
		"$(wc -l <"$out/overlay.list") files"
}

main "$@"
