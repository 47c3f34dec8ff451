#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# series.sh: write the patch files to out/series, from the same files that
# out/linux is made of. series/README tells what the files of series/ hold.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

identity_name='Tracing Immediate Project'
identity_mail='tracing-immediate@localhost'
repo=$out/series.git

message_of() { sed '/^---$/,$d' "$1"; }
takes_of() { sed '1,/^---$/d' "$1" | sed -e 's/#.*//' -e 's/[[:space:]]*$//' -e '/^$/d'; }

commits() { find "$top/series" -name '[0-9][0-9][0-9][0-9]-*' ! -name '*~' | sort; }

# What a path of the list stands for: a quilt patch, a file, all files below.
expand_path() {
	local path=${1%/} found
	case $path in
	patches/6.1/*) found=$(patch_names | sed 's,^,patches/6.1/,' | grep -xF -- "$path" || true) ;;
	*) found=$(awk -v p="$path" '$0 == p || index($0, p "/") == 1' "$out/overlay.list") ;;
	esac
	[[ -n $found ]] || die "$2 takes $path: no such file of the series"
	printf '%s\n' "$found"
}

taken_by() {
	local path list
	list=$(takes_of "$1")
	[[ -n $list ]] || die "$(basename "$1") takes nothing (is the line --- there?)"
	while IFS= read -r path; do
		expand_path "$path" "$(basename "$1")"
	done <<<"$list"
}

# A file in two patches, or in none, is a mistake in the lists.
each_taken_once() {
	local all=$out/series.taken c wrong
	: >"$all"
	for c; do
		taken_by "$c" >>"$all"
	done
	wrong=$(sort "$all" | uniq -d)
	[[ -z $wrong ]] || die "taken twice:"$'\n'"$wrong"
	wrong=$(comm -23 <({ cat "$out/overlay.list"; patch_names | sed 's,^,patches/6.1/,'; } | sort) \
		<(sort "$all"))
	[[ -z $wrong ]] || die "no patch of series/ takes:"$'\n'"$wrong"
}

in_repo() { git -C "$repo" -c core.hooksPath=/dev/null -c core.autocrlf=false "$@"; }

start_repo() {
	local f date
	rm -rf "$repo"
	git init -q -b series "$repo"
	date=$(git -C "$top" log -1 --format=%cI 2>/dev/null || date -Is)
	export GIT_AUTHOR_DATE=$date GIT_COMMITTER_DATE=$date
	export GIT_AUTHOR_NAME=$identity_name GIT_AUTHOR_EMAIL=$identity_mail
	export GIT_COMMITTER_NAME=$identity_name GIT_COMMITTER_EMAIL=$identity_mail
	while IFS= read -r f; do
		[[ ! -f $base/$f ]] || (cd "$base" && cp -p --parents "$f" "$repo")
	done <"$out/stage.list"
	in_repo add -A -f
	in_repo commit -q --allow-empty -m "Linux 6.1"
	in_repo tag base
}

take() {
	local path=$1 commit=$2
	if [[ $path == patches/6.1/* ]]; then
		patch -d "$repo" -p1 -s --fuzz=0 --no-backup-if-mismatch <"$top/$path" >&2 ||
			die "$commit: $path does not apply at this place of the series"
	else
		(cd "$top" && cp -p --parents "$path" "$repo")
	fi
}

add_commit() {
	local path name
	name=$(basename "$1")
	[[ -n $(message_of "$1" | head -n 1) ]] || die "$name has no subject"
	taken_by "$1" | while IFS= read -r path; do
		take "$path" "$name"
	done
	in_repo add -A -f
	message_of "$1" | in_repo commit -q --cleanup=whitespace -F - ||
		die "$name changes nothing"
}

write_patches() {
	rm -rf "$out/series"
	in_repo config branch.series.description "$(<"$top/series/cover")"
	in_repo format-patch -q --cover-letter --cover-from-description=subject \
		--zero-commit --no-signature --no-base -o "$out/series" base
	# By this name, git am out/series/*.patch does not stumble over it.
	mv "$out/series/0000-cover-letter.patch" "$out/series/0000-cover-letter.txt"
}

main() {
	local list c
	mapfile -t list < <(commits)
	((${#list[@]})) || die "series/ holds no patch"
	[[ -f $top/series/cover ]] || die "series/cover is missing"
	each_taken_once "${list[@]}"
	start_repo
	for c in "${list[@]}"; do
		add_commit "$c"
	done
	write_patches
	say "series: ${#list[@]} patches and a cover letter in $out/series"
}

main
