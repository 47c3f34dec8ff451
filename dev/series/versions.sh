# SPDX-License-Identifier: GPL-2.0
# Sourced by series.sh, import.sh, refresh.sh and lint.sh: what the files of series/ contain.
# shellcheck shell=bash disable=SC2034,SC2154

repo=$out/series.git
overlay_list=$out/overlay.list

in_repo() { git -C "$repo" -c core.hooksPath=/dev/null -c core.autocrlf=false "$@"; }

message_of() { sed '/^---$/,$d' "$top/series/$1"; }
subject_of() { sed -n '/^---$/!p; q' "$top/series/$1"; }
takes_of() { sed '1,/^---$/d' "$top/series/$1" | lines_of; }

# A sum of all that the branch is made from.
sources_sum() {
	(
		cd "$top" || exit
		{ cat "$overlay_list"; find series patches -type f; } | LC_ALL=C sort |
			xargs -d '\n' sha1sum 2>&1
	) | sha1sum
}

# remember_state: the branch and the files of this repository agree now.
remember_state() {
	sources_sum >"$repo/.git/sources"
	in_repo rev-parse series >"$repo/.git/taken"
}

# files_in DIFF: the files that a diff changes; none when there is no diff.
files_in() {
	[[ ! -f $1 ]] || sed -nE 's,^\+\+\+ b/([^[:space:]]+).*,\1,p' "$1" | sort -u
}

# What patch needs of git's diff.
plain_diff() {
	sed -E '/^(diff --git|index [0-9a-f]+\.\.)/d; s/^(@@ -[0-9,]+ \+[0-9,]+ @@).*/\1/'
}

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

# make_versions TO COMMIT...: TO/COMMIT/FILE are the overlay's files as each commit leaves
# them. From the end back: a commit's diff is undone, and what its list takes is removed.
make_versions() {
	local to=$1 i c files added list=("${@:2}")
	rm -rf "$to"
	mkdir -p "$to/tree"
	copy_overlay "$to/tree" "$overlay_list"
	for ((i = ${#list[@]} - 1; i >= 0; i--)); do
		c=${list[i]}
		mapfile -t added < <(files_of "$c")
		mapfile -t files < <({ printf '%s\n' "${added[@]}"; files_in "$top/series/$c.diff"; } |
			sed '/^$/d' | sort -u)
		keep "$to" "$c" "${files[@]}" ||
			die "series/$c.diff changes what a later commit adds, or what the overlay does not have"
		undo_diff "$top/series/$c.diff" "$to/tree"
		(cd "$to/tree" && rm -f "${added[@]}")
	done
	adapt_versions "$to" "${list[@]}"
}

# adapt_versions VERSIONS COMMIT...: each version gets what this base needs. Where it does
# not have the lines that are changed, it stays as it is.
adapt_versions() {
	local to=$1 c f
	[[ -f $patches/overlay.diff ]] || return 0
	mkdir "$to/plain" "$to/adapted"
	copy_overlay "$to/plain" "$overlay_list"
	overlay_to "$to/adapted" "$overlay_list"
	files_in "$patches/overlay.diff" | while IFS= read -r f; do
		for c in "${@:2}"; do
			[[ ! -f $to/$c/$f ]] ||
				git merge-file -q --ours "$to/$c/$f" "$to/plain/$f" "$to/adapted/$f"
		done
	done
}

# keep VERSIONS COMMIT FILE...: the files as they are now are those of this commit.
keep() {
	mkdir -p "$1/$2"
	(($# == 2)) || (cd "$1/tree" && cp -p --parents "${@:3}" "$1/$2")
}

undo_diff() {
	[[ -f $1 ]] || return 0
	patch -d "$2" -R -p1 -s -f --no-backup-if-mismatch <"$1" >&2 ||
		die "$(basename "$1") does not fit the files of the overlay: dev/series/refresh.sh adapts it"
}
