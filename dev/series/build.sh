#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# build.sh [--short] [COMMIT...]: build and test each commit of the series (or those
# named), as `make series` made them, and end with a table, which is in
# out/commits/results.csv too. For each commit:
#
#	on	the kernel in the guest's configuration, with the options of the series
#		that it has but without debug information; it boots and runs the KUnit
#		suites that it has
#	off	the kernel with these options off
#	i386	the objects of the files that the commit changes, on 32 bits
#
# No build may have a warning. This takes hours, so a commit that has passed is not tested
# again while the files that it builds, those of the one before it, and the configurations
# are the same; remove out/commits/passed to test all. With --short only these objects are
# compiled, for x86-64 with the options on. All is in out/commits, with a tree and build
# folders of its own.
set -euo pipefail
. "$(dirname "$0")/../lib.sh"
own=$out/commits
tree=$own/linux
results=$own/results.csv
passed=$own/passed	# lines "KEY COLUMNS", see key_of

branch=${POSTING:-series}	# a posting, on those that it rests on, or all

short=''
[[ ${1:-} != --short ]] || { short=1; shift; }

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

# compile FLAVOUR TARGET...: options that come with a later commit may be missing.
compile() {
	local absent
	absent=$(sed -nE 's/^# CONFIG_(\w+) is not set/\1/p' "$top/dev/config/stock.config" | tr '\n' ' ')
	OUT=$own ABSENT_OPTIONS=$absent "$top/dev/build.sh" "$@"
}

# is_enabled FLAVOUR OBJECT: does an option that the Makefile names build it?
is_enabled() {
	local options
	options=$(sed -nE "s/^[a-z0-9_-]+-\\$\\(CONFIG_(\w+)\)\s*\+?=(.*\s)?$(basename "$2")(\s.*)?$/\1/p" \
		"$tree/$(dirname "$2")/Makefile" 2>/dev/null | paste -sd '|')
	[[ ! $options ]] || grep -qE "^CONFIG_($options)=[ym]" "$own/build/$1/.config"
}

# objects_of REVISION FLAVOUR: of the files that the commit changes.
objects_of() {
	local f
	in_repo diff-tree -r --no-commit-id --name-only --diff-filter=AM "$1" |
		grep -E '\.[cS]$' | grep -vE '^(tools|scripts)/|\.lds\.S$|/asm-offsets\.c$' |
		while IFS= read -r f; do
			! is_enabled "$2" "${f%.*}.o" || say "${f%.*}.o"
		done || true
}

# configure FLAVOUR: once in a run, and when a Kconfig has changed since.
configure() {
	local done=$own/configured-$1
	[[ ! -f $done || $(find "$tree" -name 'Kconfig*' -newer "$done" -print -quit) ]] || return 0
	compile "$1" prepare && touch "$done"
}

# compile_objects REVISION FLAVOUR: the configuration of this commit decides which objects.
compile_objects() {
	local list
	configure "$2" || return
	mapfile -t list < <(objects_of "$1" "$2")
	((${#list[@]} == 0)) || compile "$2" "${list[@]}"
}

# Those that the commit has. That of generated text is built when something uses this.
suites() {
	local suite
	for suite in "${kunit_suites[@]}"; do
		[[ ! -f $tree/lib/test_$suite.c ]] || ! is_enabled small "lib/test_$suite.o" ||
			say "$suite"
	done
}

boot() {
	local list
	mapfile -t list < <(suites)
	if ((${#list[@]})); then
		OUT=$own "$top/dev/guest.sh" --flavour small --name series \
			dev/guest/kunit.sh "${list[@]}"
	else
		OUT=$own "$top/dev/guest.sh" --flavour small --name series uname -r
	fi
}

# How many cases passed.
cases() {
	kunit_results "$own/logs/guest-series.log" | grep -cE '^ +ok [0-9]+ [^ ]*[a-z]+_test_' || true
}

verdict() { if "$@" >&2; then printf ok; else printf FAIL; fi; }

# test_commit NAME REVISION: its line of the table.
test_commit() {
	local start=$SECONDS on off=- i386=- booted=- tests=-
	say "== $1" >&2
	to_commit "$2"
	if [[ $short ]]; then
		on=$(verdict compile_objects "$2" small)
	else
		on=$(verdict compile small vmlinux modules)
		# A kernel of an earlier commit may be there.
		if [[ $on == ok ]]; then verdict boot; else printf FAIL; fi >"$own/booted" &
		off=$(verdict compile small-off vmlinux modules)
		i386=$(verdict compile_objects "$2" matrix-i386)
		wait
		booted=$(<"$own/booted") tests=$(cases)
	fi
	say "$1,$on,$booted,$tests,$off,$i386,$((SECONDS - start))"
}

# built_files REVISION: what a build of it reads.
built_files() {
	in_repo ls-tree -r "$1" | grep -vP '\t(Documentation/(?!Kconfig)|MAINTAINERS$|tools/testing/)'
}

# key_of REVISION: what its result depends on, but for other packages than the compiler.
key_of() {
	{
		built_files "$1"
		built_files "$1^"
		cat "$base.version" "$top/dev/matrix/i386.config" "$top"/dev/matrix/base/* \
			"$top"/dev/{build,guest,series/build}.sh "$top"/dev/guest/{init,kunit.sh}
		cat "$top"/dev/config/*.config
		declare -f splats_in complaints_in kunit_results
		declare -p kunit_suites
		gcc --version
	} | sha1sum | cut -d ' ' -f 1
}

# is_good LINE: has all of the line's columns passed?
is_good() {
	if [[ $short ]]; then
		[[ $1 == ok,-,* ]]
	else
		[[ $1 =~ ^ok,ok,[0-9]+,ok,ok,[^,]+$ ]]
	fi
}

# test_or_recall NAME REVISION: its line of the table.
test_or_recall() {
	local key line
	[[ ! $short ]] || { test_commit "$@"; return; }
	key=$(key_of "$2")
	line=$(sed -n "s/^$key //p" "$passed" 2>/dev/null) || true
	if [[ $line ]]; then
		say "$1,${line%,*},before"
		return
	fi
	line=$(set -e; test_commit "$@")
	! is_good "${line#*,}" || say "$key ${line#*,}" >>"$passed"
	say "$line"
}

# all_good NAME...: has each a line, and is it good?
all_good() {
	local name line code=0
	for name; do
		{ line=$(grep "^$name," "$results") && is_good "${line#*,}"; } || code=1
	done
	return $code
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
	rm -f "$own"/configured-*
	say commit,on,boot,cases,off,i386,seconds >"$results"
	for i in "${!list[@]}"; do
		[[ " ${wanted[*]} " == *" ${list[i]} "* ]] || continue
		test_or_recall "${list[i]}" "${revisions[i]}" | tee -a "$results" >/dev/null
		tail -n 1 "$results"
	done
	column -t -s, "$results"
	all_good "${wanted[@]}"
}

main "$@"
