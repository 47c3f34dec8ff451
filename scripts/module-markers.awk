# SPDX-License-Identifier: GPL-2.0
#
# Check formats of markers, and print the lines of Module.markers. Input: for
# each object a line "\002OBJECT\tMODULE", then names and formats in turn.
#
# Only conversions that all readers of markers interpret in the same way are
# allowed: the kernel, SystemTap and LTTng. The parser of the kernel has the
# same rules; test_marker_formats.h has test cases for both.

function bad(what, allowed,    shown) {
	shown = format
	gsub(/[^ -~]/, "?", shown)
	printf "ERROR: markers: %s: %s: %s in \"%s\": %s\n",
		object, name, what, shown, allowed > "/dev/stderr"
	failed = 1
}

function bad_conversion() {
	match(rest, /^%[^%A-Za-z]*[hlLjztq]*[A-Za-z]?[0-9A-Za-z]*/)
	bad("\"" substr(rest, 1, RLENGTH) "\"",
	    "a conversion is %[flags][width][.precision] and d i u x X o, " \
	    "also with l or ll, or c s p pS ps with no letter or digit after p")
}

function has_large_number(spec,    number, i) {
	for (i = split(spec, number, /[^0-9]+/); i > 0; i--)
		if (number[i] + 0 > 32767)
			return 1
	return 0
}

# If rest begins with a conversion, remove that and return 1.
function take_conversion(    spec) {
	if (!match(rest, /^%[-+ #0]*[0-9]*(\.[0-9]*)?(l?l?[diuxXo]|[cs]|p[Ss]?)/))
		return 0
	spec = substr(rest, 1, RLENGTH)
	rest = substr(rest, RLENGTH + 1)
	if (spec ~ /p[Ss]?$/ && rest ~ /^[0-9A-Za-z]/) {
		rest = spec rest
		return 0
	}
	if (length(spec) > 15)
		bad("\"" spec "\"", "a conversion has at most 15 characters")
	else if (has_large_number(spec))
		bad("\"" spec "\"", "a width or precision is at most 32767")
	conversions++
	strings += (spec ~ /[^p]s$/)
	return 1
}

function check_conversions(    at) {
	conversions = strings = 0
	rest = format
	while ((at = index(rest, "%")) > 0) {
		rest = substr(rest, at)
		if (rest ~ /^%%/) {
			rest = substr(rest, 3)
		} else if (!take_conversion()) {
			bad_conversion()
			return
		}
	}
	if (conversions > 64)
		bad(conversions " conversions", "at most 64 are allowed")
	if (strings > 16)
		bad(strings " strings", "at most 16 are allowed")
}

function check() {
	if (format ~ /[^ -~]/)
		bad("a character that is not printable ASCII",
		    "a line end, a tab or an accented letter is not allowed")
	if (format ~ /^ ./)
		bad("a space in front", "only MARK_NOARGS has one")
	check_conversions()
}

!is_format && /^\002/ {
	split(substr($0, 2), column, "\t")
	object = column[1]
	module = column[2]
	next
}

!is_format {
	name = $0
	is_format = 1
	next
}

{
	format = $0
	is_format = 0
	check()
	printf "%s\t%s\t%s\n", name, module, format
}

END {
	exit failed
}
