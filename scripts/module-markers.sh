#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# List the markers of objects, as Module.markers has them and SystemTap reads
# them: name, module or vmlinux, and format, separated by tabs.
#
# usage: module-markers.sh [FILE] < LIST
#
# LIST is vmlinux.o and modules, as in modules.order. The lines that FILE, an
# older Module.markers, has of other modules are kept.

set -e

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

sed 's/\.ko$/.o/' >"$dir/objects"
while IFS= read -r object; do
	if [ ! -r "$object" ]; then
		echo "$0: cannot read $object: build it first" >&2
		exit 2
	fi
done <"$dir/objects"

module_name() {
	basename "$1" .o | tr - _
}

# The section holds names and formats in turn, each with a NUL at its end.
markers_of() {
	${OBJCOPY:-objcopy} -O binary -j __markers_strings "$1" "$dir/strings"
	tr '\0' '\n' <"$dir/strings" |
		awk -v module="$(module_name "$1")" '
		NR % 2 { name = $0; next }
		{ printf "%s\t%s\t%s\n", name, module, $0 }'
}

# One reader of all of them is faster than one for each.
xargs grep -lF __markers_strings /dev/null <"$dir/objects" >"$dir/with" || true
while IFS= read -r object; do
	markers_of "$object"
done <"$dir/with" >"$dir/markers"

if [ "$1" ]; then
	while IFS= read -r object; do
		module_name "$object"
	done <"$dir/objects" |
		awk -F '\t' 'FNR == NR { listed[$1] = 1; next } !($2 in listed)' - "$1" \
		>>"$dir/markers"
fi
LC_ALL=C sort -u "$dir/markers"
