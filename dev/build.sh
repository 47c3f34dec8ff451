#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# build.sh FLAVOUR [TARGET...]: build out/linux in out/build/FLAVOUR, with the
# options of guest.config and, for other flavours than guest, FLAVOUR.config.
# The flavour stock is built from out/base instead.
# ABSENT_OPTIONS="A B" names options that this tree may lack.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
build_environment

flavour=${1:-guest}
shift || true
dir=$out/build/$flavour
log=$logs/build-$flavour.log
fragments=("$top/dev/config/guest.config")
[[ $flavour != stock ]] || linux=$base
[[ $flavour == guest ]] || fragments+=("$top/dev/config/$flavour.config")

# The options asked for; where fragments differ, the last one counts.
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
	[[ -z $(find "$linux" -name 'Kconfig*' -newer "$dir/asked.config" \
		-print -quit) ]]
}

# As asked for, or unset where it was to be unset.
options_not_taken() {
	local line name
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

configure() {
	local missed
	configuration_is_current && return 0
	mkdir -p "$dir"
	merge_fragments >"$dir/asked.config.new"
	rm -f "$dir/asked.config"
	(cd "$linux" && scripts/kconfig/merge_config.sh -m -O "$dir" \
		"$dir/asked.config.new") >"$logs/config-$flavour.log" 2>&1
	mv "$dir/.config" "$dir/merged.config"
	kmake "$dir" KCONFIG_ALLCONFIG="$dir/merged.config" allnoconfig \
		>>"$logs/config-$flavour.log" 2>&1 ||
		{ tail -n 40 "$logs/config-$flavour.log"; die "configuration failed"; }
	mv "$dir/asked.config.new" "$dir/asked.config"
	missed=$(options_not_taken)
	[[ -n $missed ]] || return 0
	mv "$dir/asked.config" "$dir/asked.config.new"
	die "these options did not take (missing, or a dependency is):"$'\n'"$missed"
}

# Stock 6.1 builds without a warning here, and compilers' warnings are errors
# already (WERROR). The rest come from objtool, modpost, the linker and pahole.
# They show only once, so what they are about is removed: the next build, too,
# shows them and fails.
no_warnings() {
	local found
	found=$(grep -E '(^|[^A-Za-z_])(warning|WARNING):' "$log" || true)
	[[ -n $found ]] || return 0
	sed -nE 's,^([^ :]+\.o): .*,\1,p' <<<"$found" | while IFS= read -r f; do
		rm -f "$dir/$f"
	done
	rm -f "$dir"/vmlinux "$dir"/vmlinux.o "$dir"/*.symvers "$dir"/modules-only.symvers
	say "$found"
	die "build $flavour: warnings; the whole log: $log"
}

install_modules() {
	grep -q '^CONFIG_MODULES=y' "$dir/.config" || return 0
	rm -rf "$dir/modroot"
	kmake "$dir" INSTALL_MOD_PATH="$dir/modroot" modules_install \
		>>"$log" 2>&1 || { tail -n 40 "$log"; die "modules_install failed"; }
}

build() {
	local start=$SECONDS
	with_progress "build $flavour" "$log" kmake "$dir" "$@"
	no_warnings
	[[ " $* " != *" modules "* ]] || install_modules
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

# What guest.sh boots; see there.
image=vmlinux
! grep -qs '^CONFIG_KASAN=y' "${fragments[-1]}" || image=bzImage
(($#)) || set -- "$image" modules
main "$@"
