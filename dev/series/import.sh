#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# import.sh: take the branch "series" of out/series.git, which `make series` made and
# which was changed since then, back into this repository: messages, lists and diffs of
# series/, quilt patches, and the files of the overlay as of the last commit.
#
# A commit is known by its subject. One with a new subject gets a name from it.
# For another base than the first only quilt patches are taken: those that differ from
# the first base's in more than line numbers.
set -euo pipefail
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/versions.sh"

# The names of the commits by their subjects.
declare -A named=()
know() {
	local c subject
	for c; do
		subject=$(subject_of "$c")
		[[ $subject ]] || die "series/$c has no subject"
		[[ ! ${named[$subject]:-} ]] ||
			die "series/$c has the subject of series/${named[$subject]}: change one"
		named[$subject]=$c
	done
}

# name_of REVISION: of the commit with this subject, or a new one.
name_of() {
	local subject
	subject=$(in_repo log -1 --format=%s "$1")
	[[ $subject ]] || die "the commit $1 has no subject"
	[[ ! ${named[$subject]:-} ]] || { say "${named[$subject]}"; return; }
	say "${subject,,}" | sed -E 's/[^a-z0-9]+/-/g; s/^-|-$//g'
}

# Kernel: the file is the kernel's, and is patched. Else it is the overlay's.
is_kernels() { [[ -f $base/$1 ]] && ! grep -qxF -- "$1" "$overlay_list"; }

# changes REVISION STATUS kernel|overlay: files that it adds (A) or changes (M).
changes() {
	local f
	in_repo diff-tree -r --no-commit-id --no-renames --name-only --diff-filter="$2" "$1" |
		while IFS= read -r f; do
			if is_kernels "$f"; then [[ $3 == kernel ]]; else [[ $3 == overlay ]]; fi && say "$f"
		done || true
}

# diff_of REVISION LINES FILE...
diff_of() {
	in_repo diff --no-color --no-renames "-U$2" "$1^" "$1" -- "${@:3}" | plain_diff
}

# A file of the kernel that the branch did not have: what was changed in it.
diff_to_base() {
	local f
	for f in "${@:2}"; do
		in_repo show "$1:$f" |
			diff -U2 --label "a/$f" --label "b/$f" "$base/$f" - || true
	done | plain_diff
}

# write FILE: what is read, or no file when that is nothing.
write() {
	local text
	text=$(cat; echo .)
	if [[ $text == . ]]; then rm -f "$1"; else printf %s "${text%.}" >"$1"; fi
}

# The header of a quilt patch stays.
import_patch() {
	local file=$patches/$2.patch before header='' changed new
	before=$(patch_of "$2")
	[[ ! -f $before ]] || header=$(sed '/^--- /,$d' "$before")
	mapfile -t changed < <(changes "$1" MD kernel)
	mapfile -t new < <(changes "$1" A kernel)
	{
		((${#changed[@]} + ${#new[@]} == 0)) || [[ ! $header ]] || printf '%s\n' "$header"
		((${#changed[@]} == 0)) || diff_of "$1" 2 "${changed[@]}"
		diff_to_base "$1" "${new[@]}"
	} | write "$file.new"
	if is_first_base || ! same_patch "$file.new" "$before"; then
		rm -f "$file"
		[[ ! -f $file.new ]] || mv "$file.new" "$file"
	fi
	rm -f "$file.new"
}

# Do two patches, or none, differ only in line numbers?
same_patch() {
	cmp -s <(sed 's/^@@ .*/@@/' "$1" 2>/dev/null) <(sed 's/^@@ .*/@@/' "$2" 2>/dev/null)
}

is_first_base() { [[ $base_version == "$first_base" ]]; }

import_patches() {
	local revision name
	[[ $(in_repo log --format=%s base..series | sort) == \
		$(commits | while IFS= read -r name; do subject_of "$name"; done | sort) ]] ||
		die "commits were added, removed or renamed: do that with BASE=$first_base"
	while IFS= read -r name; do
		cmp -s "$repo/$name" "$out/stage/$name" ||
			die "$name was changed: edit it here, or in patches/$base_version/overlay.diff"
	done <"$overlay_list"
	for revision in $(in_repo rev-list --reverse base..series); do
		name=$(name_of "$revision")
		import_patch "$revision" "$name"
	done
}

import_diff() {
	local files
	mapfile -t files < <(changes "$1" M overlay | grep -vxFf <(replaced_by "$1"))
	if ((${#files[@]})); then diff_of "$1" 3 "${files[@]}"; fi | write "$top/series/$2.diff"
}

# Files of the kernel that the overlay replaces appear first as a change of the
# kernel's: that commit takes them.
replaced_by() {
	local f
	changes "$1" M overlay | while IFS= read -r f; do
		[[ ! -f $base/$f ]] || ! in_repo diff --quiet base "$1^" -- "$f" || say "$f"
	done
}

# The list stays as it is written when it names the same files.
import_list() {
	local before='' now takes='' message
	message=$(in_repo log -1 --format=%B "$1" | sed '/^Signed-off-by: /d')
	now=$({ changes "$1" A overlay; replaced_by "$1"; } | sort)
	if [[ -f $top/series/$2 ]]; then
		before=$( (files_of "$2") 2>/dev/null | sort) || true
		takes=$(takes_of "$2")
	fi
	[[ $now == "$before" ]] || takes=$now
	{
		printf '%s\n' "$message"
		[[ ! $takes ]] || printf -- '---\n%s\n' "$takes"
	} >"$top/series/$2.new"
	mv "$top/series/$2.new" "$top/series/$2"
}

is_in() { printf '%s\n' "${@:2}" | grep -xF -- "$1" >/dev/null; }

# new_order: the names, each with the commits behind it that this base does not have.
new_order() {
	local c before=-
	local -A others=([-]='')
	while IFS= read -r c; do
		if is_in "$c" "${names[@]}"; then
			before=$c
		elif ! is_in "$c" "${known[@]}"; then
			others[$before]+=$c$'\n'
		fi
	done < <(lines_of "$top/series/order")
	printf %s "${others[-]}"
	for c in "${names[@]}"; do
		printf '%s\n%s' "$c" "${others[$c]:-}"
	done
}

# The overlay's files are those of the last commit.
import_overlay() {
	local f
	in_repo ls-tree -r --name-only series | while IFS= read -r f; do
		is_kernels "$f" || (cd "$repo" && cp -p --parents "$f" "$top")
	done
	while IFS= read -r f; do
		in_repo cat-file -e "series:$f" 2>/dev/null || { rm "$top/$f"; say "gone $f"; }
	done <"$overlay_list"
	overlay_files >"$overlay_list"
}

main() {
	local revisions names=() known revision name i
	in_repo rev-parse -q --verify series >/dev/null || die "there is no branch: make series"
	sources_sum | cmp -s - "$repo/.git/sources" ||
		die "files of the overlay, series/ or patches/ were changed since the branch was made: it would undo that. Make it again, or restore them"
	[[ -z $(in_repo status --porcelain) ]] || die "$repo: not everything is committed"
	in_repo checkout -q series
	mapfile -t known < <(commits)
	know "${known[@]}"
	if ! is_first_base; then
		import_patches
		remember_state
		return
	fi
	mapfile -t revisions < <(in_repo rev-list --reverse base..series)
	for revision in "${revisions[@]}"; do
		name=$(name_of "$revision")
		names+=("$name")
	done
	[[ -z $(printf '%s\n' "${names[@]}" | sort | uniq -d) ]] ||
		die "two commits of one name: $(printf '%s\n' "${names[@]}" | sort | uniq -d)"
	comm -13 <(printf '%s\n' "${known[@]}" | sort) <(printf '%s\n' "${names[@]}" | sort) |
		sed 's,^,new series/,'
	for i in "${!revisions[@]}"; do
		revision=${revisions[i]} name=${names[i]}
		import_patch "$revision" "$name"
		import_diff "$revision" "$name"
		import_list "$revision" "$name"
	done
	new_order >"$top/series/order.new"
	mv "$top/series/order.new" "$top/series/order"
	comm -23 <(printf '%s\n' "${known[@]}" | sort) <(printf '%s\n' "${names[@]}" | sort) |
		while IFS= read -r name; do
			rm -f "$top/series/$name" "$top/series/$name.diff" "$patches/$name.patch"
			say "gone $name"
		done
	import_overlay
	remember_state
	say "imported ${#names[@]} commits; \`git status\` shows the files that changed"
}

main
