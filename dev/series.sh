#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# series.sh: write the patch files to out/series, from the same files that
# out/linux is made of, and the branch "series" of out/series.git, which holds the
# same commits. series/README describes the files of series/.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/series/commits.sh"

identity_name='Tracing Immediate Project'
identity_mail='tracing-immediate@localhost'
overlay_list=$out/series.overlay

# A file of the overlay in two lists, or in none, is a mistake; so is a quilt patch that
# belongs to no commit.
check_lists() {
	local all=$out/series.taken c wrong
	: >"$all"
	for c; do
		[[ -n $(subject_of "$c") ]] || die "series/$c has no subject"
		files_of "$c" >>"$all"
	done
	wrong=$(sort "$all" | uniq -d)
	[[ -z $wrong ]] || die "taken twice:"$'\n'"$wrong"
	wrong=$(comm -23 "$overlay_list" <(sort "$all"))
	[[ -z $wrong ]] || die "no commit of series/ takes:"$'\n'"$wrong"
	wrong=$(cd "$top" && find series "$patches" -maxdepth 1 -type f ! -name '*~' -printf '%f\n' |
		sed 's/\.patch$//' | sort -u | comm -13 <(printf '%s\n' "$@" README cover order | sort) -)
	[[ -z $wrong ]] || die "series/order has no commit $(paste -sd ' ' <<<"$wrong")"
}

start_repo() {
	local f date names
	rm -rf "$repo"
	git init -q -b series "$repo"
	date=$(git -C "$top" log -1 --format=%cI 2>/dev/null || date -Is)
	export GIT_AUTHOR_DATE=$date GIT_COMMITTER_DATE=$date
	in_repo config user.name "$identity_name"
	in_repo config user.email "$identity_mail"
	mapfile -t names < <(patch_names)
	{ cat "$overlay_list"; patched_files "${names[@]}"; } | while IFS= read -r f; do
		[[ ! -f $base/$f ]] || (cd "$base" && cp -p --parents "$f" "$repo")
	done
	in_repo add -A -f
	in_repo commit -q --allow-empty -m "Linux $base_version"
	in_repo tag base
}

add_commit() {
	local patch=$patches/$1.patch
	[[ ! -f $patch ]] ||
		patch -d "$repo" -p1 -s --fuzz=0 --no-backup-if-mismatch <"$patch" >&2 ||
		die "${patch#"$top"/} does not apply at this place of the series"
	files_of "$1" >"$out/series.taken"
	overlay_to "$repo" "$out/series.taken"
	in_repo add -A -f
	message_of "$1" | in_repo commit -q -s --cleanup=whitespace -F - ||
		die "series/$1 changes nothing"
}

# The cover letter names a commit as {name}, which becomes its number.
cover() {
	local c expressions=() n=0
	for c; do
		expressions+=(-e "s/{$c}/$((++n))/g")
	done
	sed "${expressions[@]}" "$top/series/cover"
}

check_cover() {
	local wrong
	wrong=$(cover "$@" | grep -oE '\{[a-z0-9-]+\}' | paste -sd ' ') || true
	[[ -z $wrong ]] || die "series/cover: series/order has no commit $wrong"
}

write_patches() {
	rm -rf "$out/series"
	in_repo config branch.series.description "$(cover "$@")"
	in_repo format-patch -q --cover-letter --cover-from-description=subject \
		--zero-commit --no-signature --no-base -o "$out/series" base
	# With this name, git am out/series/*.patch does not apply it.
	mv "$out/series/0000-cover-letter.patch" "$out/series/0000-cover-letter.txt"
}

main() {
	local list c
	[[ -f $top/series/cover ]] || die "series/cover is missing"
	[[ -d $base ]] || "$top/dev/tree.sh"
	mapfile -t list < <(commits)
	((${#list[@]})) || die "series/order names no commit"
	overlay_files >"$overlay_list"
	check_lists "${list[@]}"
	check_cover "${list[@]}"
	start_repo
	for c in "${list[@]}"; do
		add_commit "$c"
	done
	write_patches "${list[@]}"
	say "series: ${#list[@]} patches and a cover letter in $out/series"
}

main
