#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# series.sh: write the mails of each posting, or of POSTING, to out/series/POSTING, from
# the same files that out/linux is made of. The branches of out/series.git hold the same
# commits: one for each posting, with those that it rests on, and "series" with all.
# series/README describes the files of series/.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/series/commits.sh"

identity_name='Tracing Immediate Project'
identity_mail='tracing-immediate@localhost'
overlay_list=$out/series.overlay

# A file of the overlay in two lists, or in none, is a mistake; so is a file of series/ that
# belongs to no commit. Not all fixes are in the tree.
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
	wrong=$(cd "$top/series" && find . -type f ! -name '*~' ! -path './fixes/*' -printf '%P\n' |
		grep -vE '(^|/)(README|cover|order)$' | sed 's/\.patch$//' | sort -u |
		comm -13 <(printf '%s\n' "$@" | sort) -)
	[[ -z $wrong ]] || die "no order of series/ has the commit $(paste -sd ' ' <<<"$wrong")"
}

start_repo() {
	local f date fixes
	rm -rf "$repo"
	git init -q -b series "$repo"
	date=$(git -C "$top" log -1 --format=%cI 2>/dev/null || date -Is)
	export GIT_AUTHOR_DATE=$date GIT_COMMITTER_DATE=$date
	in_repo config user.name "$identity_name"
	in_repo config user.email "$identity_mail"
	mapfile -t fixes < <(cd "$top/series" && compgen -G 'fixes/*.patch')
	{ cat "$overlay_list"; patched_files $(patch_names) "${fixes[@]}"; } | while IFS= read -r f; do
		[[ ! -f $base/$f ]] || (cd "$base" && cp -p --parents "$f" "$repo")
	done
	in_repo add -A -f
	in_repo commit -q --allow-empty -m "Linux $base_version"
	in_repo tag base
}

# add_commits BRANCH COMMIT...: these, on the base.
add_commits() {
	local c
	in_repo checkout -qf -B "$1" base
	for c in "${@:2}"; do
		add_commit "$c"
	done
}

add_commit() {
	local patch=$top/series/$1.patch
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
		expressions+=(-e "s/{${c##*/}}/$((++n))/g")
	done
	sed "${expressions[@]}" "$top/series/$POSTING/cover"
}

check_cover() {
	local wrong
	wrong=$(cover "$@" | grep -oE '\{[a-z0-9-]+\}' | paste -sd ' ') || true
	[[ -z $wrong ]] || die "series/$POSTING/cover: series/$POSTING/order has no commit $wrong"
}

format_patch() { in_repo format-patch -q --zero-commit --no-signature --no-base "$@"; }

# address MAIL PATCH...: To and Cc of the mail, as the kernel's own script names them.
address() {
	(cd "$base" && scripts/get_maintainer.pl --no-git --no-git-fallback --rolestats "${@:2}") |
		sed -nE 's/ \((maintainer|supporter).*//; T cc; s/^/To: /p; d; :cc; s/ \(.*//; s/^/Cc: /p' |
		sort -ru | awk '$1 != last { printf "%s%s", (NR > 1 ? "\n" : ""), $0; last = $1; next }
			{ $1 = ""; printf ",\n%s", $0 } END { print "" }' | sed -i -e '0,/^Date: /{/^Date: /r /dev/stdin' -e '}' "$1"
}

# write_fixes DIR: each alone, on the base.
write_fixes() {
	local patch name
	for patch in "$top"/series/fixes/*.patch; do
		name=$(basename "$patch" .patch)
		(add_commits fixes "fixes/$name") || { in_repo clean -qfdx; continue; }
		format_patch -1 --stdout >"$1/$name.patch"
		address "$1/$name.patch" "$1/$name.patch"
	done
	say "series: the fixes, each alone, in $1"
}

# write_posting: the mails of POSTING, on those that it rests on.
write_posting() {
	local list under mails dir=$out/series/$POSTING
	rm -rf "$dir"
	mkdir -p "$dir"
	[[ $POSTING != fixes ]] || { write_fixes "$dir"; return; }
	mapfile -t list < <(commits)
	mapfile -t under < <(postings | sed '$d')
	mapfile -t under < <(commits_of "${under[@]}")
	add_commits "$POSTING" "${list[@]}"
	list=("${list[@]:${#under[@]}}")
	check_cover "${list[@]}"
	in_repo config "branch.$POSTING.description" "$(cover "${list[@]}")"
	format_patch "-${#list[@]}" --cover-letter --cover-from-description=subject -o "$dir"
	# With this name, git am out/series/POSTING/*.patch does not apply it.
	mv "$dir/0000-cover-letter.patch" "$dir/0000-cover-letter.txt"
	mails=("$dir"/*.patch)
	for mail in "${mails[@]}"; do
		address "$mail" "$mail"
	done
	address "$dir/0000-cover-letter.txt" "${mails[@]}"
	say "series: ${#mails[@]} patches and a cover letter in $dir"
}

main() {
	local list wanted
	[[ -d $base ]] || "$top/dev/tree.sh"
	wanted=$([[ ${POSTING:-} ]] && say "$POSTING" || postings)
	POSTING='' overlay_files >"$overlay_list"
	mapfile -t list < <(POSTING='' commits)
	((${#list[@]})) || die "series/order names no posting with a commit"
	check_lists "${list[@]}"
	start_repo
	[[ ${POSTING:-} ]] || add_commits series "${list[@]}"
	for POSTING in $wanted; do
		write_posting
	done
}

main
