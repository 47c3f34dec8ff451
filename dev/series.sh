#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# series.sh: write the mails of each posting, or of POSTING, to out/series/POSTING, from
# the same files that out/linux is made of. The branches of out/series.git hold the same
# commits: one for each posting, with those that it rests on, and "series" with all.
# series/README describes the files of series/.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

identity_name='Tracing Immediate Project'
identity_mail='tracing-immediate@localhost'
overlay_list=$out/series.overlay

# files_of COMMIT: the files of the overlay that its list takes. The list may name folders.
files_of() {
	takes_of "$1" | awk -v list="series/$1" '
		FILENAME != "-" {
			path = $0
			do under[path] = under[path] $0 "\n"; while (sub("/[^/]*$", "", path))
			next
		}
		{ path = $0; sub("/$", "", path) }
		!(path in under) {
			print list " takes " path ": no such file of the overlay" >"/dev/stderr"
			exit 1
		}
		{ printf "%s", under[path] }' "$overlay_list" -
}

# A file of the overlay in two lists, or in none, is a mistake; so is a file of series/ that
# belongs to no commit. Not all fixes are in the tree.
check_lists() {
	local all=$out/series.taken c wrong
	: >"$all"
	for c; do
		[[ $(message_of "$c") ]] || die "series/$c has no subject"
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
	local f date names
	rm -rf "$repo"
	git init -q -b series "$repo"
	date=$(git -C "$top" log -1 --format=%cI 2>/dev/null || date -Is)
	export GIT_AUTHOR_DATE=$date GIT_COMMITTER_DATE=$date
	in_repo config user.name "$identity_name"
	in_repo config user.email "$identity_mail"
	mapfile -t names < <(cd "$top/series" && compgen -G '*/*.patch')
	{ cat "$overlay_list"; patched_files "${names[@]}"; } | while IFS= read -r f; do
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

format_patch() { in_repo format-patch -q --zero-commit --no-signature --no-base "$@"; }

# recipients PATCH...: lines To and Cc, as the kernel's own script names them. A name may have
# parentheses.
recipients() {
	(cd "$base" && scripts/get_maintainer.pl --no-git --no-git-fallback --rolestats "$@") |
		sed -E '/ \((maintainer|supporter)[:,]/!{s/^/Cc: /; b cut}; s/^/To: /
			:cut; s/> \(.*/>/; s/^([A-Z][a-z]: [^ ]+) \(.*/\1/' | sort -ru |
		awk '{ key = $1; $1 = ""; printf key == last ? ",\n%s" : (last ? "\n" : "") key "%s", $0; last = key } END { print "" }'
}

# address MAIL: to those that the input names
address() { sed -i -e '0,/^Date: /{/^Date: /r /dev/stdin' -e '}' "$1"; }

# Each fix alone, on the base, also those that the other postings do not rest on.
write_fixes() {
	local c
	for c in $(cd "$top/series" && compgen -G 'fixes/*.patch'); do
		(add_commits fixes "${c%.patch}") || { in_repo clean -qfdx; continue; }
		format_patch -1 --stdout >"$out/series/$c"
		recipients "$out/series/$c" | address "$out/series/$c"
	done
}

# write_mails DIR COMMIT...: those of POSTING, whose commits are the last of its branch.
write_mails() {
	local text mail
	text=$(cover "${@:2}")
	[[ ! $text =~ \{([a-z0-9-]+)\} ]] ||
		die "series/$POSTING/cover: series/$POSTING/order has no commit ${BASH_REMATCH[1]}"
	in_repo config "branch.$POSTING.description" "$text"
	format_patch "-$(($# - 1))" --cover-letter --cover-from-description=subject -o "$1"
	# With this name, git am out/series/POSTING/*.patch does not apply it.
	mv "$1/0000-cover-letter.patch" "$1/0000-cover-letter.txt"
	recipients "$1"/*.patch >"$logs/recipients"
	for mail in "$1"/*; do	# all get all: single mails would say too little
		address "$mail" <"$logs/recipients"
	done
}

write_posting() {
	local list dir=$out/series/$POSTING
	rm -rf "$dir"
	mkdir -p "$dir"
	mapfile -t list < <(commits)
	if [[ $POSTING == fixes ]]; then
		write_fixes
	else
		add_commits "$POSTING" "${list[@]}"
		write_mails "$dir" "${list[@]: -$(lines_of "$top/series/$POSTING/order" | wc -l)}"
	fi
	say "series: $(find "$dir" -name '*.patch' | wc -l) patches in $dir"
}

main() {
	local list wanted
	[[ -d $base ]] || "$top/dev/tree.sh"
	wanted=${POSTING:-$(postings)}
	POSTING='' overlay_files >"$overlay_list"
	mapfile -t list < <(POSTING='' commits)
	check_lists "${list[@]}"
	start_repo
	[[ ${POSTING:-} ]] || add_commits series "${list[@]}"
	for POSTING in $wanted; do
		write_posting
	done
}

main
