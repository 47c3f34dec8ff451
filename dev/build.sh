#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# build.sh FLAVOUR [TARGET...]: build out/linux in out/build/FLAVOUR, with the
# options of guest.config and, for other flavours than guest, FLAVOUR.config.
# A flavour matrix-NAME has those of dev/matrix/NAME.config. Lines "#: NAME=VALUE"
# there set variables: ARCH and CROSS_COMPILE for the kernel's makefile, COMPILER may
# be clang, LIKE names a configuration that this one extends, DEFCONFIG is the initial
# configuration, instead of guest.config, CONFIG_FILE is one that guest.config changes,
# whose modules are left out, and KCSAN_OBJECTS are checked by KCSAN although their
# directory is not. matrix.sh reads more variables. A flavour bench-NAME has the options of
# dev/bench/arch/common.config and NAME.config, with the same kind of lines.
# The flavours stock and stock-FLAVOUR are built from out/base instead.
# The flavour NAME-off is NAME with the options of the series off.
# ABSENT_OPTIONS="A B" names options that this tree may lack, or is "any".
set -euo pipefail
. "$(dirname "$0")/lib.sh"
build_environment

flavour=${1:-guest}
shift || true
dir=$out/build/$flavour
log=$logs/build-$flavour.log

# settings_of FILE: export the variables that its lines "#: NAME=VALUE" set. The absent
# options of several files are those of all.
settings_of() {
	local line absent=${ABSENT_OPTIONS:-}
	while IFS= read -r line; do
		[[ $line != ABSENT_OPTIONS=* || ! $absent ]] || line+=" $absent"
		export "${line?}"
	done < <(sed -nE 's/^#: ((ARCH|CROSS_COMPILE|COMPILER|DEFCONFIG|CONFIG_FILE|KCSAN_OBJECTS|ABSENT_OPTIONS)=)/\1/p' "$1")
}

# fragments_of FLAVOUR: set fragments, and the variables of their lines "#:".
fragments_of() {
	local config=$top/dev/config matrix=$top/dev/matrix bench=$top/dev/bench/arch like
	fragments=("$config/guest.config")
	case $1 in
	guest) ;;
	*-off)
		fragments_of "${1%-off}"
		fragments+=("$config/stock.config") ;;
	stock) linux=$base fragments+=("$config/stock.config") ;;
	stock-*)
		fragments_of "${1#stock-}"
		linux=$base fragments+=("$config/stock.config") ;;
	bench-*)
		settings_of "$bench/${1#bench-}.config"
		fragments=("$bench/common.config" "$bench/${1#bench-}.config") ;;
	matrix-*)
		like=$(setting "$matrix/${1#matrix-}.config" LIKE)
		[[ ! $like ]] || fragments_of "matrix-$like"
		settings_of "$matrix/${1#matrix-}.config"
		if [[ ! $like ]]; then
			fragments+=("$matrix/base/small.config")
			[[ ! ${DEFCONFIG:-} ]] || fragments=("$matrix/base/defconfig.config")
		fi
		fragments+=("$matrix/${1#matrix-}.config") ;;
	*) fragments+=("$config/$1.config") ;;
	esac
}

# The requested options; if fragments differ, the last one counts.
merge_fragments() {
	cat "${fragments[@]}" | awk '
	match($0, /CONFIG_[A-Za-z0-9_]+/) && /^(# )?CONFIG_/ {
		line[substr($0, RSTART, RLENGTH)] = $0
	}
	END { for (n in line) print line[n] }' | sort
}

configuration_is_current() {
	[[ -f $dir/.config && -f $dir/asked.config ]] || return 1
	merge_fragments | cmp -s - "$dir/asked.config" || return 1
	[[ -z $(find "$linux" "${fragments[@]}" \
		\( -name 'Kconfig*' -o -name '*.config' \) \
		-newer "$dir/asked.config" -print -quit) ]]
}

# Print the requested options that .config does not have as requested.
options_not_taken() {
	local line name
	[[ ${ABSENT_OPTIONS:-} != any ]] || return 0
	while IFS= read -r line; do
		name=$(grep -oE -m1 'CONFIG_[A-Za-z0-9_]+' <<<"$line" | head -n 1)
		case $line in
		'#'*) grep -qE "^$name=" "$dir/.config" || continue ;;
		*) ! grep -qxF -- "$line" "$dir/.config" || continue ;;
		esac
		[[ " ${ABSENT_OPTIONS:-} " != *" ${name#CONFIG_} "* ]] || continue
		printf '%s\n' "$line"
	done <"$dir/asked.config"
}

# Options that are not requested are off, or as in DEFCONFIG.
make_config() {
	local begin=() rest=allnoconfig
	if [[ ${CONFIG_FILE:-} ]]; then
		begin=("$dir/begin.config") rest=alldefconfig
		xz -dc "$CONFIG_FILE" | sed '/=m$/d' >"${begin[0]}" || return
	elif [[ ${DEFCONFIG:-} ]]; then
		begin=("$dir/begin.config") rest=alldefconfig
		# shellcheck disable=SC2086 # one word per target
		kmake "$dir" $DEFCONFIG && mv "$dir/.config" "${begin[0]}" || return
	fi
	(cd "$linux" && scripts/kconfig/merge_config.sh -m -O "$dir" \
		"${begin[@]}" "$dir/asked.config.new") &&
		mv "$dir/.config" "$dir/merged.config" &&
		kmake "$dir" KCONFIG_ALLCONFIG="$dir/merged.config" $rest
}

configure() {
	local missed
	configuration_is_current && return 0
	mkdir -p "$dir"
	merge_fragments >"$dir/asked.config.new"
	rm -f "$dir/asked.config"
	make_config >"$logs/config-$flavour.log" 2>&1 ||
		{ tail -n 40 "$logs/config-$flavour.log"; die "configuration failed"; }
	mv "$dir/asked.config.new" "$dir/asked.config"
	missed=$(options_not_taken)
	[[ -n $missed ]] || return 0
	mv "$dir/asked.config" "$dir/asked.config.new"
	[[ $linux != "$base" ]] || missed+=$'\nThis is the kernel without the series: put its options into dev/config/stock.config, too'
	die "these options did not take (missing, or a dependency is):"$'\n'"$missed"
}

# not_in_stock WARNINGS TARGET...: print the warnings that stock does not have.
not_in_stock() {
	local found=$1
	shift
	say "build $flavour: warnings; does stock have them?"$'\n'"$found" >&2
	"$top/dev/build.sh" "stock-$flavour" "$@" >&2 || return
	comm -23 <(say "$found") "$out/build/stock-$flavour/warnings"
}

# Stock builds without a warning in most configurations, and compilers'
# warnings are errors already (WERROR). The others are from objtool, modpost, the
# linker and pahole. They appear only when the file is built, so these files are
# removed: the next build reports them again and fails. Stock's are kept for comparison.
no_warnings() {
	local found new
	found=$(complaints_in "$log")
	case $flavour in
	stock-*)
		touch "$dir/warnings"
		sort -u -o "$dir/warnings" "$dir/warnings" <(complaints_in "$log")
		return 0 ;;
	matrix-*)
		[[ -z $found ]] || ! new=$(not_in_stock "$found" "$@") || found=$new ;;
	esac
	[[ -n $found ]] || return 0
	sed -nE 's,^([^ :]+\.o): .*,\1,p' <<<"$found" | while IFS= read -r f; do
		rm -f "$dir/$f"
	done
	rm -f "$dir"/vmlinux "$dir"/vmlinux.o "$dir"/*.symvers "$dir"/modules-only.symvers
	say "$found"
	die "build $flavour: warnings; the whole log: $log"
}

# Has a module, or the list of them, changed since they were installed?
modules_changed() {
	[[ ! -f $dir/modroot/installed ]] ||
		[[ $(find "$dir" -path "$dir/modroot" -prune -o \( -name '*.ko' -o -name 'modules.*' \) \
			-newer "$dir/modroot/installed" -print -quit) ]]
}

# Where there is a link to the build folder, bpftrace 0.17 wants the headers of the sources.
install_modules() {
	grep -q '^CONFIG_MODULES=y' "$dir/.config" && modules_changed || return 0
	rm -rf "$dir/modroot"
	kmake "$dir" INSTALL_MOD_PATH="$dir/modroot" modules_install \
		>>"$log" 2>&1 || { tail -n 40 "$log"; die "modules_install failed"; }
	rm -f "$dir"/modroot/lib/modules/*/build
	touch "$dir/modroot/installed"
}

build() {
	local start=$SECONDS
	with_progress "build $flavour" "$log" kmake "$dir" "$@"
	no_warnings "$@"
	[[ " $* " != *" modules "* ]] || install_modules
	[[ $linux == "$base" ]] || ! grep -q '^CONFIG_KCSAN=y' "$dir/.config" ||
		functions_of_series "$dir" >"$out/kcsan.functions"
	say "built $flavour: $(objects "$log")$((SECONDS - start)) s"
}

main() {
	[[ -d $linux ]] || die "no tree: make tree"
	[[ -f ${fragments[-1]} ]] || die "no such flavour: ${fragments[-1]} is missing"
	exec 8>"$out/build-$flavour.lock"
	flock 8
	configure
	build "$@"
}

fragments_of "$flavour"
# The image that guest.sh boots; see there.
image=vmlinux
! grep -qs '^CONFIG_K[AC]SAN=y' "${fragments[-1]}" || image=bzImage
[[ ${ARCH:-} != arm64 ]] || image=Image
(($#)) || set -- "$image" modules
main "$@"
