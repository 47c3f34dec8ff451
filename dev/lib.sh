# SPDX-License-Identifier: GPL-2.0
# Sourced by the scripts of dev/: where things are, and how they talk.
# shellcheck shell=bash disable=SC2034

say() { printf '%s\n' "$*"; }
die() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; exit 1; }

# The kernel's makefiles take no path with a space or a colon. Other characters mean
# something to make, to compilers, to QEMU or to a shell.
usable_path() {
	[[ $1 =~ ^[[:alnum:]/._+@~-]+$ ]] ||
		die "no kernel can be built in '$1': move it to a path of letters, digits and . _ + @ ~ - alone"
}

# Where it really is: the guest does not follow links to what it mounts over.
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
base_version=7.3	# the kernel that the series is applied to
out=${OUT:-$top/out}
usable_path "$top"
usable_path "$out"
mkdir -p "$out"
out=$(cd "$out" && pwd -P)
usable_path "$out"
base=$out/base		# the pristine kernel
linux=$out/linux	# the same with patches and overlay: what is built
logs=$out/logs
debian_release=trixie
in_tree=/etc/linux-tracing-tree	# only in the Debian tree, where all scripts run
mkdir -p "$logs"

[[ -e $in_tree || $(basename "$0") == debian.sh ]] ||
	exec "$top/dev/debian.sh" "$(realpath "$0")" "$@"

# Files that are the kernel's: any file of the repository whose first
# directory is one that the kernel has at its top.
overlay_files() {
	local all f
	all=$(git -C "$top" -c safe.directory="$top" ls-files -co --exclude-standard) ||
		die "git does not list the files of $top"
	sort -u <<<"$all" | while IFS= read -r f; do
		[[ $f != */* || ! -d $base/${f%%/*} || ! -f $top/$f ]] ||
			printf '%s\n' "$f"
	done | grep -xE "$(of_posting)" || true
}

# What the commits of POSTING and those below it take, as a regular expression.
of_posting() {
	local c
	[[ ${POSTING:-} ]] || { say '.*'; return; }
	for c in $(commits); do takes_of "$c"; done | sed 's,/$,,; s,\.,\\.,g; s,$,(/.*)?,' | paste -sd '|'
}

# overlay_to DIR LIST: copy the files of the overlay that LIST names.
overlay_to() { rsync -rlp --files-from="$2" "$top/" "$1/"; }

# lines_of [FILE]: a list without comments and empty lines.
lines_of() { sed -e 's/#.*//' -e 's/[[:space:]]*$//' -e '/^$/d' "$@"; }

[[ ! ${POSTING:-} || -f $top/series/$POSTING/order ]] || die "no posting is called $POSTING"

# The postings, in the order in which out/linux has them; or POSTING, after those that it
# rests on.
postings() {
	[[ ${POSTING:-} ]] || { lines_of "$top/series/order"; return; }
	setting "$top/series/$POSTING/order" RESTS | tr ' ' '\n'
	say "$POSTING"
}

# The commits of these postings, as POSTING/NAME. A posting may begin with commits of
# another one, which it does not rest on.
commits() {
	local p
	for p in $(postings); do
		lines_of "$top/series/$p/order" | sed "/\//! s,^,$p/,"
	done | awk '!seen[$0]++'
}

message_of() { sed '/^---$/,$d' "$top/series/$1"; }
takes_of() { sed '1,/^---$/d' "$top/series/$1" | lines_of; }

# The suites of KUnit that are modules in the guest.
kunit_suites=(immediate immediate_module immediate_patch immediate_states tracepoint tracepoint_memory tracepoint_tasks tracepoint_code tracepoint_stack marker
	marker_tracepoints marker_modules marker_events marker_formats marker_records
	ftrace_sets ftrace_sets_code ftrace_sets_end ftrace_sets_names ftrace_sets_table generated_text)

# copy_base TREE: the pristine kernel, unless the tree is there.
copy_base() {
	[[ ! -d $1 ]] || return 0
	say "copy the tree"
	cp -aH "$base" "$1.new"
	mv "$1.new" "$1"
}

repo=$out/series.git	# the commits that `make series` makes
in_repo() { git -C "$repo" -c core.hooksPath=/dev/null -c core.autocrlf=false "$@"; }

# The quilt patches: those of the commits that change files of the kernel.
patch_names() {
	local c
	commits | while IFS= read -r c; do
		[[ ! -f $top/series/$c.patch ]] || say "$c.patch"
	done
}

# patched_files PATCH...: the files that quilt patches touch, also new ones.
patched_files() {
	local p
	for p; do
		sed -nE 's,^(---|\+\+\+) [ab]/([^[:space:]]+).*,\2,p' "$top/series/$p"
	done | sort -u
}

# setting FILE VARIABLE: of a line "#: VARIABLE=VALUE", or that of the file which a line
# "#: LIKE=NAME" names; empty if there is none, or no file.
setting() {
	local value like
	[[ -f $1 ]] || return 0
	value=$(sed -n "s/^#: $2=//p" "$1")
	like=$(sed -n 's/^#: LIKE=//p' "$1")
	[[ $value || ! $like ]] || value=$(setting "$(dirname "$1")/$like.config" "$2")
	printf '%s\n' "$value"
}

# Reproducible objects are already in ccache.
build_environment() {
	export KBUILD_BUILD_TIMESTAMP='2024-01-01 00:00:00 UTC'
	export KBUILD_BUILD_USER=tracing KBUILD_BUILD_HOST=localhost
	export KBUILD_BUILD_VERSION=1 KCONFIG_NOTIMESTAMP=1
	export CCACHE_MAXSIZE=${CCACHE_MAXSIZE:-5G}
	export CCACHE_BASEDIR=$top CCACHE_NOHASHDIR=1
	export PYTHONDONTWRITEBYTECODE=1	# into the tree, which has what the series has
	unset KBUILD_OUTPUT MAKEFLAGS MFLAGS MAKELEVEL
}

# kmake DIR ARGS...: make of the kernel, with DIR as its build folder. ccache shares objects
# between checkouts, and their debug information names the folder of the first one; it makes
# the paths of sources relative, so they do not begin with what the kernel removes from
# __FILE__. rustc takes one word for the linker of the host.
kmake() {
	local dir=$1 object checked=() host=gcc
	shift
	grep -qs '^CONFIG_RUST=y' "$dir/.config" || host="ccache $host"
	for object in ${KCSAN_OBJECTS:-}; do
		checked+=("KCSAN_SANITIZE_$object=y")
	done
	make -C "$linux" O="$dir" CC="ccache ${COMPILER:-${CROSS_COMPILE:-}gcc}" HOSTCC="$host" \
		KCPPFLAGS="-fmacro-prefix-map=../../${linux##*/}/=" \
		-j"$(nproc)" "${checked[@]}" "$@"
}

# build_program SOURCE [OPTION...]: a program of one file for the guest, in out/bin; for that of
# arm64 in out/bin-aarch64.
build_program() {
	local dir=$out/bin${CROSS_COMPILE:+-aarch64}
	mkdir -p "$dir"
	"${CROSS_COMPILE:-}gcc" ${CROSS_COMPILE:+--sysroot="$FOREIGN_ROOT"} -O2 -Wall -Wextra -Werror \
		-idirafter "$base/include/uapi" -idirafter "$base/include" \
		-o "$dir/$(basename "$1" .c)" "$@"
}

# build_folder FOLDER DIR [FLAVOUR]: copy a folder to DIR and build what its Makefile names:
# modules for a flavour's kernel (the guest's), and programs of one file each (a line
# "programs := ...").
build_folder() {
	local dir=$2 flavour=${3:-guest} log program programs config compiler
	log=$logs/$(basename "$2").log
	config=$top/dev/matrix/${flavour#matrix-}.config
	compiler=$(setting "$config" COMPILER)
	rm -rf "$dir"
	mkdir -p "$(dirname "$dir")"
	cp -r "$1" "$dir"
	[[ -f $dir/Makefile ]] || return 0
	read -r -a programs < <(sed -n 's/^programs := //p' "$dir/Makefile") || true
	for program in "${programs[@]}"; do
		gcc -O2 -Wall -Wextra -Werror -o "$dir/$program" "$dir/$program.c" ||
			die "$program of $1 does not build"
	done
	grep -q 'obj-' "$dir/Makefile" || return 0
	make -C "$out/build/$flavour" CC="ccache ${compiler:-${CROSS_COMPILE:-}gcc}" \
		M="$dir" modules >"$log" 2>&1 &&
		! grep -iw warning "$log" && return
	tail -n 40 "$log" >&2
	die "the modules of $1 do not build; the whole log: $log"
}

# check_modules NAME [FLAVOUR]: those of dev/check/NAME, in out/NAME or
# out/NAME-FLAVOUR.
check_modules() { build_folder "$top/dev/check/$1" "$out/$1${2:+-$2}" "${2:-guest}"; }

# selftests_of TREE DIR TARGET...: those selftests of a tree, into DIR. headers_install is for
# tests of new system calls; there are none.
selftests_of() {
	rm -rf "$2" "$out/build/$(basename "$2")"
	with_progress selftests "$logs/$(basename "$2").log" \
		make -C "$1/tools/testing/selftests" O="$out/build/$(basename "$2")" \
		${CROSS_COMPILE:+USERCFLAGS="--sysroot=$FOREIGN_ROOT"} \
		INSTALL_PATH="$2" TARGETS="${*:3}" FORCE_TARGETS=1 SKIP_TARGETS= install
}

# install_selftests PATTERN: those of the series that are called so, into out/selftests.
install_selftests() {
	local targets
	mapfile -t targets < <(cd "$top/tools/testing/selftests" && compgen -G "$1/Makefile")
	selftests_of "$linux" "$out/selftests" "${targets[@]%/Makefile}"
}

# result NAME COMMAND...: a line of TAP.
result() { if "${@:2}"; then echo "ok - $1"; else echo "not ok - $1"; fi; }

# excludes A B: may these two lines of two_at_once not run at the same time? Scripts that
# have such lines replace it.
excludes() { false; }

# two_at_once COMMAND LINE...: run COMMAND with the words of each line, in their order, two
# at a time. A line that a running one excludes lets the next ones go first.
two_at_once() {
	local pid waiting=("${@:2}")
	declare -A running=()	# the line of each process
	set -m	# a process group for each, to end all of it when we are ended
	trap 'end_running "${!running[@]}"' EXIT
	while ((${#waiting[@]} + ${#running[@]})); do
		! start_one "$1" || continue
		sleep 0.5
		for pid in "${!running[@]}"; do
			kill -0 "$pid" 2>/dev/null || unset "running[$pid]"
		done
	done
	trap - EXIT
	set +m
}

end_running() {
	local pid
	for pid; do
		kill -- "-$pid" 2>/dev/null || true
	done
}

# start_one COMMAND: with the first line that may start; fails if none may.
start_one() {
	local i
	((${#running[@]} < 2)) || return 1
	for i in "${!waiting[@]}"; do
		! is_excluded "${waiting[i]}" || continue
		# shellcheck disable=SC2086 # its words
		"$1" ${waiting[i]} </dev/null &
		running[$!]=${waiting[i]}
		unset "waiting[i]"
		return
	done
	return 1
}

is_excluded() {
	local other
	for other in "${running[@]}"; do
		! excludes "$1" "$other" || return 0
	done
	return 1
}

# with_progress NAME LOG COMMAND...: run it into the log, print every ten
# seconds how far it is; when it fails, its last lines.
with_progress() {
	local name=$1 log=$2 start=$SECONDS pid tick=0
	shift 2
	set -m	# a process group of its own, to end all of it when we are ended
	"$@" >"$log" 2>&1 </dev/null &
	set +m
	pid=$!
	trap 'kill -- -$pid 2>/dev/null' EXIT
	while kill -0 $pid 2>/dev/null; do
		sleep 0.5
		((++tick % 20)) || say "$name: $(objects "$log")$((SECONDS - start)) s"
	done
	trap - EXIT
	wait $pid && return 0
	tail -n 40 "$log"
	say "$name failed; the whole log: $log"
	return 1
}

# "1432 objects, ", or nothing when the log has none.
objects() {
	local n
	n=$(grep -cE '^  (CC|AS|AR|LD|HOSTCC)' "$1" || true)
	((n == 0)) || printf '%d objects, ' "$n"
}

# splats_in LOG: what a kernel prints when something is wrong with it.
splats_in() {
	without_expected "$1" |
		grep -aE 'WARN|\<BUG[: ]|Oops|INFO:|possible recursive locking|suspicious RCU|Call Trace|KASAN:|UBSAN|unable to handle|general protection|Kernel panic|already present!' |
		without_races_of_stock || true
}

# The threads of the torture and of KUnit let allocations fail. The kernel's line about
# memory for code has a stack of its own, two lines further on. KFENCE's suite makes the
# errors that KFENCE reports. For one instruction of return_to_handler(), which is the base's,
# the unwinder finds an address of that function on the stack.
without_expected() {
	awk '
	/ BUG: KFENCE: .* in test_/ { next }
	/stack going in the wrong direction\? at return_to_handler/ { next }
	/ (torture-[a-z]+\/[0-9]+|kunit_try_catch): vmalloc error:/ { until = NR + 2 }
	/Call Trace/ && NR <= until { next }
	{ print }' "$1"
}

# The objects that are made of files that the series adds or changes.
objects_of_series() {
	local names
	mapfile -t names < <(patch_names)
	{ overlay_files; patched_files "${names[@]}"; } | sed -nE 's/\.[cS]$/.o/p' | sort -u
}

# built_by FLAVOUR: the objects that a configuration builds and that are not there, as a dry
# run of make names them; some commands fail in a dry run.
built_by() {
	kmake "$out/build/$1" -k -n vmlinux modules 2>/dev/null |
		sed -nE "s/.*echo '  CC( \[M\])? +([^']+)'.*/\2/p" |
		sed -E ':again; s,[^/]+/\.\./,,; t again' | sort -u
}

# functions_of_series DIR: those in the objects of the series that the kernel in DIR has.
functions_of_series() {
	local f
	objects_of_series | while IFS= read -r f; do
		[[ ! -f $1/$f ]] || nm --defined-only -f posix "$1/$f"
	done | awk '$2 ~ /^[tTwW]$/ { sub(/\..*/, "", $1); print $1 }' | sort -u
}

# The kernel has data races that are known, and are not ours: a report in which two functions
# race that are in files that the series leaves alone. build.sh has listed the others.
without_races_of_stock() {
	[[ -s $out/kcsan.functions ]] || { cat; return; }
	awk '
	function is_of_stock(name) { sub(/\..*/, "", name); return !(name in ours) }
	FNR == NR { ours[$1]; next }
	/BUG: KCSAN: / {
		gsub(/ \[[^]]*\]/, "")
		n = split($0, word, /[ \r]+/) - /\r$/
		if (word[n - 1] == "/" && is_of_stock(word[n]) && is_of_stock(word[n - 2])) next
	}
	{ print }' "$out/kcsan.functions" -
}

# complaints_in LOG: what compilers, objtool, modpost, the linker and pahole said,
# without what differs between two trees.
complaints_in() {
	grep -E '(^|[^A-Za-z_])(warning|WARNING|error):' "$1" |
		sed -E 's,^(\.\./)*(linux|base)/,,; s/:[0-9]+:[0-9]+:/:/; s/\+0x[0-9a-f]+//g' |
		sort -u || true
}

# skips_of ROW: the regular expressions of tests that it may skip.
skips_of() {
	local pattern regexp
	while read -r pattern regexp; do
		[[ $regexp ]] || die "dev/torture/skips: no test after $pattern"
		# shellcheck disable=SC2053 # a pattern
		[[ $1 != $pattern ]] || say "$regexp"
	done < <(lines_of "$top/dev/torture/skips")
}

# unlisted_skips ROW TAP: the skipped tests of a row of the torture that dev/torture/skips
# does not allow. A step of the check with the same tests names the same row.
unlisted_skips() {
	grep -qEf <(skips_of "$1") /dev/null || (($? < 2)) ||
		die "dev/torture/skips: what may $1 skip?"
	awk -v show=1 -f "$top/dev/tap.awk" "$2" |
		grep -iE '^(ok|1\.\.0).*# *skip|^1\.\.0$' |
		grep -vEf <(skips_of "$1") | sed "s,^,$1: must not be skipped: ,"
}

# kunit_results LOG: those of a kernel's log, without its other lines, as cases.
kunit_results() {
	sed -E 's/^\[ *[0-9.]+\] ?//; s/\r$//' "$1" |
		grep -aE '^ *((not )?ok [0-9]|1\.\.[1-9])' | sed 's/^/    /' || true
}

# suites_of DIR KIND: the suites that the kernel in DIR has, builtin or in the order of its
# modules.
suites_of() {
	local suite
	for suite in "${kunit_suites[@]}"; do
		! grep -qsE "(^|/)lib/test_$suite\.(ko|o)\$" "$1/modules.$2" || say "$suite"
	done
}

# suites_passed LOG SUITE...: names those that did not.
suites_passed() {
	local suite code=0
	for suite in "${@:2}"; do
		grep -qaE "(^|\] )ok [0-9]+ (- )?${suite}[[:space:]]*$" "$1" && continue
		say "    not ok - $suite did not pass"
		code=1
	done
	return $code
}
