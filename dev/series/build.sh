#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# build.sh [COMMIT...]: build, boot and test each commit of the series, or those named, as
# `make series` made them; with POSTING, those of a posting and of the ones that it rests on.
# Two configurations of dev/matrix: tiny with the options of the series that the commit
# has, and tiny-off without them. No build may have a new warning, and the KUnit suites
# must pass. This takes hours, so a commit that has passed is not tested again while the
# files that it builds, those of the one before it, and the configurations are the same;
# remove out/commits/passed to test all. The table is in out/commits/results.csv, too. All is
# in out/commits, with a tree and build folders of its own.
set -euo pipefail
. "$(dirname "$0")/../lib.sh"
own=$out/commits
tree=$own/linux
results=$own/results.csv
passed=$own/passed	# lines "KEY COLUMNS", see key_of
configurations=(tiny tiny-off)
branch=${POSTING:-series}	# a posting, on those that it rests on, or all

prepare_tree() {
	in_repo rev-parse -q --verify "$branch" >/dev/null || die "there are no commits: make series"
	mkdir -p "$own"
	# A copy, since `make series` makes the branch again.
	rm -rf "$own/series.git"
	git clone -q -b "$branch" "$repo" "$own/series.git"
	repo=$own/series.git
	[[ -e $own/base ]] || ln -s "$base" "$own/base"
	copy_base "$tree"
	{ in_repo ls-tree -r --name-only base; in_repo ls-tree -r --name-only "$branch"; } |
		sort -u >"$own/files"
}

# to_commit REVISION: the tree is as of this commit. A file that is the same as before
# keeps its time.
to_commit() {
	local f
	rm -rf "$own/stage"
	mkdir "$own/stage"
	in_repo archive "$1" | tar -x -C "$own/stage"
	rsync -rlp --checksum "$own/stage/" "$tree/"
	while IFS= read -r f; do
		[[ -e $own/stage/$f ]] || rm -f "$tree/$f"
	done <"$own/files"
}

# test_commit NAME REVISION: its line of the table: the KUnit results of each configuration.
# Options that come with a later commit may be missing.
test_commit() {
	local absent name said start=$SECONDS line=$1
	say "== $1" >&2
	to_commit "$2"
	absent=$(sed -nE 's/^# CONFIG_(\w+) is not set/\1/p' "$top/dev/config/stock.config" | paste -sd ' ')
	rm -f "$own/matrix/results.csv"
	OUT=$own ABSENT_OPTIONS=$absent "$top/dev/matrix.sh" "${configurations[@]}" >&2 || true
	for name in "${configurations[@]}"; do
		said=$(awk -F, -v name="$name" '$1 == name && !/FAIL/ { print $4 }' "$own/matrix/results.csv")
		line+=,${said:-FAIL}
	done
	say "$line,$((SECONDS - start))"
}

# What a build of a commit reads.
built_files() {
	in_repo ls-tree -r "$1" | grep -vP '\t(Documentation/(?!Kconfig)|MAINTAINERS$|tools/testing/)'
}

# key_of REVISION: what its result depends on, but for other packages than the compiler.
key_of() {
	{
		built_files "$1"
		built_files "$1^"
		cat "$base.version" "$top"/dev/matrix/{tiny,base/defconfig}.config \
			"$top"/dev/{build,matrix,series/build}.sh "$top/dev/config/stock.config"
		declare -f splats_in complaints_in kunit_results suites_of suites_passed
		gcc --version
	} | sha1sum | cut -d ' ' -f 1
}

# test_or_recall NAME REVISION: its line of the table.
test_or_recall() {
	local key line
	key=$(key_of "$2")
	line=$(sed -n "s/^$key //p" "$passed" 2>/dev/null) || true
	if [[ $line ]]; then
		say "$1,${line%,*},before"
		return
	fi
	line=$(set -e; test_commit "$@")
	[[ $line == *FAIL* ]] || say "$key ${line#*,}" >>"$passed"
	say "$line"
}

main() {
	local list revisions i wanted=("$@")
	mapfile -t list < <(commits)
	((${#wanted[@]})) || wanted=("${list[@]}")
	for i in "${wanted[@]}"; do
		[[ " ${list[*]} " == *" $i "* ]] || die "no commit is called so: $i"
	done
	prepare_tree
	mapfile -t revisions < <(in_repo rev-list --reverse "base..$branch")
	((${#list[@]} == ${#revisions[@]})) || die "the branch $branch is not what series/ says: make series"
	say "commit,$(IFS=,; say "${configurations[*]}"),seconds" >"$results"
	for i in "${!list[@]}"; do
		[[ " ${wanted[*]} " == *" ${list[i]} "* ]] || continue
		test_or_recall "${list[i]}" "${revisions[i]}" | tee -a "$results" >/dev/null
		tail -n 1 "$results"
	done
	column -t -s, "$results"
	! grep -q FAIL "$results" && (($(wc -l <"$results") == 1 + ${#wanted[@]}))
}

main "$@"
