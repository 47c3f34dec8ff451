#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Write FILE, the list of markers that SystemTap reads: name, module and format, separated
# by tabs. It does not check the formats: the kernel does, when it loads the markers.
#
# usage: module-markers.sh [-e] FILE < LIST
# LIST is vmlinux.o and modules, as in modules.order. Lines of external modules are kept
# while their .ko exists. With -e, LIST is external modules, whose second column is the path
# without .ko, as in Module.symvers: they replace modules of the same names.

set -e

external=
[ "$1" != -e ] || { external=1; shift; }
file=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
sed 's/\.ko$/.o/' >"$dir/objects"

module_of() {
	if [ "$external" ]; then
		echo "$(cd "$(dirname "$1")" && pwd -P)/$(basename "$1" .o)"
	else
		basename "$1" .o | tr - _
	fi
}

# In the section, names and formats alternate, and each ends with a NUL.
lines_of() {
	${OBJCOPY:-objcopy} -O binary -j __markers_strings "$1" "$dir/section"
	tr '\n\000' ' \n' <"$dir/section" | paste - - |
		module=$(module_of "$1") awk -F'\t' '{ print $1 "\t" ENVIRON["module"] "\t" $2 }'
}

# Print the modules whose lines may stay.
others() {
	cut -f 2 "$file" | sort -u | while IFS= read -r module; do
		case $module in
		*/*)	[ ! -e "$module.ko" ] || echo "$module" ;;
		*)	[ ! "$external" ] || echo "$module" ;;
		esac
	done
}

xargs grep -lF __markers_strings /dev/null <"$dir/objects" | while IFS= read -r object; do
	lines_of "$object"
done >"$dir/lines"
if [ -e "$file" ]; then
	others >"$dir/others"
	awk -F'\t' -v objects="$dir/objects" -v others="$dir/others" '
		{ name = FILENAME == objects ? $1 : $2; sub(/.*\//, "", name) }
		{ sub(/\.o$/, "", name); gsub(/-/, "_", name) }
		FILENAME == objects { listed[name]; next }
		FILENAME == others { other[$0]; next }
		($2 in other) && !(name in listed)' \
		"$dir/objects" "$dir/others" "$file" >>"$dir/lines"
fi
LC_ALL=C sort -u "$dir/lines" >"$dir/sorted"
cat "$dir/sorted" >"$file"
