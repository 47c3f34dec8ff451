# SPDX-License-Identifier: GPL-2.0
# awk -F, -f bars.awk RESULTS BARS: print the cases that exceed a limit. Fails if there
# are some, or no limits. See the head of dev/bench/bars.
FNR == NR { series[$1 "," $2] = $4; ratio[$1 "," $2] = $5; next }
/^#/ { next }
{
	for (key in series) {
		split(key, name, ",")
		if (name[1] ~ "^(" $1 ")$" && name[2] ~ "^(" $2 ")$")
			check(key, name[1], name[2])
	}
}
END { printf "%d bars, %d missed\n", bars, missed; exit missed > 0 || !bars }

# The same case with a tenth of its number, or nothing.
function tenth(name) {
	match(name, /[0-9]+/)
	return substr(name, 1, RSTART - 1) substr(name, RSTART, RLENGTH) / 10 \
		substr(name, RSTART + RLENGTH)
}

function check(key, name, unit,	what, value, limit, other)
{
	other = ($3 == "grows" ? tenth(name) : $3 == "below" ? $4 : $5) "," unit
	if ($3 == "grows" && !(other in series))
		return
	bars++
	what = $3 == "ratio" ? "ratio" : "series"
	value = what == "ratio" ? ratio[key] : series[key]
	limit = $3 == "below" ? series[other] - 1 : $3 ~ /times|grows/ ? $4 * series[other] : $4
	if (value != "-" && value + 0 <= limit + 0)
		return
	missed++
	printf "missed: %s: %s is %s, to be at most %s\n", key, what, value, limit
}
