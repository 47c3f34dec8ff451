#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# refresh.sh: adapt the diffs of series/ to the overlay's files, which were changed since
# the last commit of this repository.
#
# Each earlier version of a file gets the same change. Where a version does not have the
# lines that were changed, it stays as it is. The diffs start from the last commit too, so
# other changes of them must be committed before.
set -euo pipefail
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/versions.sh"
old=$out/series.old
versions=$out/series.old/versions
now=$out/series.now	# the versions after the change: a/ before a commit, b/ after it
refreshed=$out/series.refreshed	# what the last run changed in the diffs
diffs=$now/diffs		# the new ones, until all are made

# carry_over COMMIT FILE
carry_over() {
	mkdir -p "$(dirname "$now/b/$2")"
	cp -p "$versions/$1/$2" "$now/b/$2"
	git merge-file -q --ours "$now/b/$2" "$old/$2" "$top/$2"
}

# refresh COMMIT: when its diff changes.
refresh() {
	local diff=$top/series/$1.diff f
	while IFS= read -r f; do
		carry_over "$1" "$f"
	done < <(cd "$versions/$1" && find . -type f -printf '%P\n')
	[[ ! -f $diff ]] || (
		cd "$now"
		files_in "$diff" | while IFS= read -r f; do
			git diff --no-index --no-prefix --no-color "a/$f" "b/$f" || true
		done | plain_diff >"$diffs/$1.diff"
	)
	rsync -a "$now/b/" "$now/a/"
}

# The repository as of its last commit.
old_versions() {
	local list
	rm -rf "$old"
	mkdir -p "$old"
	git -C "$top" archive HEAD | tar -x -C "$old"
	(cd "$old" && xargs -d '\n' ls -d 2>/dev/null) <"$overlay_list" >"$old.list" || true
	top=$old overlay_list=$old.list
	mapfile -t list < <(commits)
	make_versions "$versions" "${list[@]}"
}

changes() { git -C "$top" diff --no-color "$@" HEAD -- 'series/*.diff'; }
new() { git -C "$top" ls-files -o --exclude-standard -- 'series/*.diff'; }

# Changes that are not those of the last run would be lost.
refuse_other_changes() {
	local all
	all=$(changes)
	[[ ! $all || $all == "$(cat "$refreshed" 2>/dev/null)" ]] && [[ ! $(new) ]] && return
	die "commit these first, or undo their changes, which would be lost:" \
		"$({ changes --name-only; new; } | paste -sd ' ')"
}

main() {
	local list c
	refuse_other_changes
	(old_versions)
	mapfile -t list < <(commits)
	rm -rf "$now"
	mkdir -p "$now/a" "$now/b" "$diffs"
	for c in "${list[@]}"; do
		[[ ! -d $versions/$c ]] || refresh "$c"
	done
	cp "$diffs"/*.diff "$top/series/"
	changes >"$refreshed"
}

main
