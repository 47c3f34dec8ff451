#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# lint.sh [TOOL...]: run the tools on the files of the series, and print only what
# they report. Tools: checkpatch, compile, kerneldoc, docs, shellcheck.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
build_environment

dir=$out/build/lint
tools=(checkpatch compile kerneldoc docs shellcheck)

# Types that checkpatch ignores, and why:
# (dev/checkpatch.allow lists what single files may have)
#  FILE_PATH_CHANGES: one patch of each posting updates MAINTAINERS, not each.
#  COMMIT_MESSAGE: quilt patches have none; those of the commits are in series/.
checkpatch_ignore=FILE_PATH_CHANGES,COMMIT_MESSAGE

# sources REGEX: the files of the overlay that match, as paths in the kernel's tree.
sources() { overlay_files | grep -E "$1" || true; }

# Sources of the clients outside the kernel's tree.
contrib_sources() {
	git -C "$top" -c safe.directory="$top" ls-files -co --exclude-standard \
		'contrib/*.[ch]' 'contrib/*Makefile' | sed "s,^,$top/,"
}

# Objects of the kernel. Not tools/, which has its own makefiles; not architectures
# other than x86; and not the replacements for immediate values and trampolines, which
# only those architectures build.
kernel_objects() {
	sources '\.c$' | grep -vE '^(tools|scripts|Documentation)/' |
		grep -vE '^arch/([^x]|x[^8])' |
		grep -vxE 'kernel/immediate-jump-label\.c' |
		sed 's/c$/o/' || true
}

# Its status is 1 when it reports something. It ends in silence at an empty file.
checkpatch() {
	local code=0
	"$linux/scripts/checkpatch.pl" -q --root="$linux" --strict --show-types \
		--no-summary --terse --ignore "$checkpatch_ignore" "$@" || code=$?
	((code < 2)) || say "dev/lint.sh:1: ERROR:CHECKPATCH: it ended with status $code"
}

# The lines of checkpatch that dev/checkpatch.allow does not allow.
not_allowed() {
	awk -v top="$top/" 'FNR == NR { if (NF == 2 && !/^#/) { gsub(/[*]/, ".*", $2); allowed[$1 " " $2] } next }
		{ line = $0; sub(top, "", line)
		  split(line, part, ":")
		  for (a in allowed) if (part[4] " " part[1] ~ "^" a "$") next
		  print }' "$top/dev/checkpatch.allow" -
}

# Not signed: `make series` does that. The commits that they name are not here.
checkpatch_messages() {
	local name message texts=$logs/messages
	rm -rf "$texts"
	mkdir "$texts"
	for name in $(commits); do
		message=$(message_of "$name")
		[[ $message == *$'\n'* ]] ||
			say "series/$name:1: ERROR:COMMIT_MESSAGE: only a subject"
		printf 'Subject: [PATCH] %s\n---\n' "$message" >"$texts/${name/\//:}"
	done
	checkpatch --no-signoff --ignore UNKNOWN_COMMIT_ID,NOT_UNIFIED_DIFF "$texts"/* |
		sed "s,^$texts/\([^:]*\):,series/\1/,"
}

# Headers of trace events are laid out by other rules, as all of the kernel's are.
event_headers() { (cd "$top" && grep -lF 'trace/define_trace.h' -- "$@") || true; }
event_ignore=SPACING,PARENTHESIS_ALIGNMENT,OPEN_ENDED_LINE

lint_checkpatch() {
	local files events quilt found
	mapfile -t files < <(sources '\.([chS]|rst|sh|py)$|(^|/)(Kconfig[^/]*|Makefile)$')
	mapfile -t -O "${#files[@]}" files < <(contrib_sources)
	mapfile -t events < <(event_headers "${files[@]}")
	mapfile -t files < <(printf '%s\n' "${files[@]}" | grep -vxFf <(printf '%s\n' "${events[@]}"))
	cd "$linux"
	found=$({
		find "${files[@]}" "${events[@]}" -empty -printf '%p:1: ERROR:EMPTY_FILE: it is empty\n'
		checkpatch -f "${files[@]}"
		((${#events[@]} == 0)) ||
			checkpatch --ignore "$checkpatch_ignore,$event_ignore" -f "${events[@]}"
		mapfile -t quilt < <(patch_names | sed "s,^,$top/series/,")
		((${#quilt[@]} == 0)) || checkpatch --no-signoff "${quilt[@]}"
		checkpatch_messages
	} | not_allowed)
	rm -f .checkpatch-camelcase.*	# its cache, which is not part of the tree
	[[ -z $found ]] || { say "$found"; return 1; }
}

# ours LOG: the messages of a build about files of the series, not about stock.
ours() { grep -E '(warning|error):' "$1" | sed -E "s,^(\.\./)*|^$linux/,," | sort -u | grep -F -f "$out/overlay.list"; }

# All objects again, with W=1 and sparse; ccache repeats the compiler's warnings.
lint_compile() {
	local log=$logs/lint-compile.log objects code=0
	mapfile -t objects < <(kernel_objects)
	((${#objects[@]})) || return 0
	"$top/dev/build.sh" lint prepare modules_prepare >"$logs/lint-prepare.log" 2>&1 ||
		{ cat "$logs/lint-prepare.log"; return 1; }
	(cd "$dir" && rm -f "${objects[@]}")
	kmake "$dir" -k W=1 C=2 "${objects[@]}" >"$log" 2>&1 || code=1
	! ours "$log" || return 1
	((code == 0)) || { tail -n 40 "$log"; return 1; }
}

lint_kerneldoc() {
	local files
	mapfile -t files < <(sources '\.[ch]$' | grep -vE '^(tools|samples)/')
	((${#files[@]})) || return 0
	cd "$linux"
	scripts/kernel-doc -none -Werror "${files[@]}"
}

# The pages, by the kernel's own rules. Other pages refer to pages that are not
# built here, so only messages about ours count.
lint_docs() {
	local log=$logs/lint-docs.log pages page code=0
	pages=$(sources '^Documentation/.*\.rst$')
	make -C "$linux" O="$out/build/docs" SPHINXDIRS=trace htmldocs >"$log" 2>&1 || code=1
	((code == 0)) || { tail -n 40 "$log"; return 1; }
	! grep -E 'WARNING|ERROR|warning:' "$log" | grep -F -e "$pages" \
		-f <(sources '\.[ch]$') || return 1
	while IFS= read -r page; do
		page=$out/build/docs/Documentation/output/${page#Documentation/}
		[[ -f ${page%.rst}.html ]] || { say "not built: $page"; return 1; }
	done <<<"$pages"
}

lint_shellcheck() {
	local files
	cd "$top"
	mapfile -t files < <(grep -rlE '^#!/bin/(ba)?sh' dev .ci; overlay_files |
		while IFS= read -r f; do
			head -n 1 "$f" | grep -qE '^#!/bin/(ba)?sh' && printf '%s\n' "$f"
		done)
	shellcheck -x -P dev -P SCRIPTDIR "${files[@]}"
}

main() {
	local tool bad=0
	(($#)) || set -- "${tools[@]}"
	for tool; do
		declare -F "lint_$tool" >/dev/null || die "no such tool: $tool"
		# Not in a condition: there, set -e does not work inside.
		set +e
		(set -e; "lint_$tool") || bad=1
		set -e
	done
	return $bad
}

main "$@"
