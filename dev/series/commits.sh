# SPDX-License-Identifier: GPL-2.0
# Sourced by series.sh, series/build.sh and lint.sh: what the files of series/ contain.
# shellcheck shell=bash disable=SC2034,SC2154

repo=$out/series.git

in_repo() { git -C "$repo" -c core.hooksPath=/dev/null -c core.autocrlf=false "$@"; }

subject_of() { sed -n '/^---$/!p; q' "$top/series/$1"; }

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
