#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Create or update FILE, the list of markers that SystemTap reads: name, module
# and format, separated by tabs. If a format is invalid, fail and leave FILE
# unchanged; module-markers.awk has the rules.
#
# usage: module-markers.sh [-e] FILE < LIST
#
# LIST is vmlinux.o and modules, as in modules.order. With -e, LIST is external
# modules; their second column is the path without .ko, as in Module.symvers.
#
# Lines in FILE of modules in LIST are replaced. Lines of other external modules
# are kept while their .ko exists. Lines of the kernel and its modules are kept
# with -e. Without it, those of modules that are not in LIST are dropped, as in
# Module.symvers: after the build of a single module, they come back with the next
# full build.

set -e

external=
if [ "$1" = -e ]; then
	external=1
	shift
fi
file=$1

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

sed 's/\.ko$/.o/' >"$dir/objects"
while IFS= read -r object; do
	if [ ! -r "$object" ]; then
		echo "$0: cannot read $object: build it first" >&2
		exit 2
	fi
done <"$dir/objects"

module_names() {
	sed 's,.*/,,; s/\.o$//; y/-/_/'
}

module_column() {
	if [ "$external" ]; then
		echo "$(cd "$(dirname "$1")" && pwd -P)/$(basename "$1" .o)"
	else
		echo "$1" | module_names
	fi
}

# Print a line with the object, then the strings of the section as lines: names
# and formats alternate, and each ends with a NUL. A newline in a format becomes
# another control character.
strings_of() {
	printf '\002%s\t%s\n' "$1" "$(module_column "$1")"
	${OBJCOPY:-objcopy} -O binary -j __markers_strings "$1" "$dir/section"
	tr '\n\000' '\001\n' <"$dir/section"
}

# One grep for all objects is faster than one for each.
xargs grep -lF __markers_strings /dev/null <"$dir/objects" >"$dir/with" || true
while IFS= read -r object; do
	strings_of "$object"
done <"$dir/with" >"$dir/strings"
LC_ALL=C awk -f "$(dirname "$0")/module-markers.awk" <"$dir/strings" >"$dir/markers"

# Print the names of modules in LIST, and paths of external ones that were
# removed.
replaced() {
	module_names <"$dir/objects"
	cut -f 2 "$file" | sort -u | while IFS= read -r module; do
		case $module in
		*/*) [ -e "$module.ko" ] || echo "$module" ;;
		esac
	done
}

if [ -e "$file" ]; then
	replaced >"$dir/replaced"
	awk -F '\t' -v external="$external" '
	FILENAME != file { drop[$1] = 1; next }
	{ name = $2; gsub(/-/, "_", name); sub(/.*\//, "", name) }
	!($2 in drop) && !(name in drop) && (external || $2 ~ /\//)' \
		file="$file" "$dir/replaced" "$file" >>"$dir/markers"
fi
LC_ALL=C sort -u "$dir/markers" >"$dir/sorted"
cat "$dir/sorted" >"$file"
