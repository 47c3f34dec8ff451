#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# matrix.sh [NAME...]: build the series in the configurations of dev/matrix (or
# those named), boot them, run the KUnit suites, and print a table of the results,
# which is also in out/matrix/results.csv. A configuration that fails does not stop
# the others.
#
# Of the settings of a configuration (see build.sh), this script reads: CPU, the CPU model
# of QEMU; APPEND, added to the kernel's command line; BOOT, "no" if QEMU cannot boot it;
# MITIGATED, a vulnerability of that CPU that the kernel must mitigate; TESTED, the
# tracers that test themselves at boot; and ALSO, more tests (functions also_*).
set -euo pipefail
. "$(dirname "$0")/lib.sh"
build_environment
results=$out/matrix/results.csv

all_names() { basename -s .config -a "$top"/dev/matrix/*.config; }

# suites KIND: the KUnit suites that are built in (y), or modules (m).
suites() {
	local suite
	for suite in "${kunit_suites[@]}"; do
		! grep -qx "CONFIG_${suite^^}_KUNIT_TEST=$1" "$dir/.config" || say "$suite"
	done
}

compiler() {
	[[ -f $dir/.config ]] || return 0
	sed -nE 's/^CONFIG_CC_VERSION_TEXT="(.*)"/\1/p' "$dir/.config" |
		sed -E 's/ \(.*\)//; s/^Debian //; s/ version//'
}

targets() {
	case $(setting "$config" ARCH) in
	i386) say bzImage ;;
	arm64 | riscv) say Image ;;
	um) say linux ;;
	*) if grep -qx "CONFIG_K[AC]SAN=y" "$config"; then
		say bzImage
	else
		say vmlinux
	fi ;;
	esac
	grep -qx '# CONFIG_MODULES is not set' "$config" ||
		say modules
}

# If build.sh fails although make did not, there were warnings.
build() {
	local list build_log=$logs/build-$flavour.log
	mapfile -t list < <(targets)
	rm -f "$build_log"
	if "$top/dev/build.sh" "$flavour" "${list[@]}"; then
		guards_are_patched || return
		built=yes warnings=$(warnings_of_stock)
		return 0
	fi
	if [[ -f $build_log ]] && ! grep -qE '^make.*\*\*\*' "$build_log"; then
		built=yes warnings=FAIL
	fi
	return 1
}

# In an object that uses tracepoints of another file, code that loads a guard has a
# relocation to the tracepoint. A patched guard loads nothing.
guards_are_patched() {
	grep -qx CONFIG_IMMEDIATE_SITES=y "$dir/.config" || return 0
	grep -qx CONFIG_TRACEPOINTS=y "$dir/.config" || return 0
	"$(setting "$config" CROSS_COMPILE)objdump" -r "$dir/mm/page_alloc.o" | awk '
	/^RELOCATION RECORDS/ { text = /text/; table = /__jump_table|__imv_jump/ }
	/ __tracepoint_mm_/ { if (text) loads++; if (table) guards++ }
	END {
		if (loads || !guards)
			print "not ok - guards that load: " loads + 0 ", patched: " guards + 0
		exit loads || !guards
	}'
}

warnings_of_stock() {
	local known=$out/build/stock-$flavour/warnings
	if [[ -s $known ]]; then say "$(wc -l <"$known") as stock"; else say none; fi
}

# boot_alone: boot without a root. The suites are built in; KUnit reboots after them.
boot_alone() {
	local words=(panic=-1 oops=panic trace_event=sched:sched_switch) command=(
		-accel "tcg,thread=single" -smp 2 -m 1G -nodefaults -display none
		-no-reboot -serial stdio)
	case $(setting "$config" ARCH) in
	# QEMU's default CPU is an old AMD; the kernel warns that it does not support SMP.
	i386) command=(qemu-system-i386 "${command[@]}" -cpu "max,vendor=GenuineIntel"
		-kernel "$dir/arch/x86/boot/bzImage"
		-append "console=ttyS0 ${words[*]} no_timer_check kunit_shutdown=reboot") ;;
	arm64) command=(qemu-system-aarch64 "${command[@]}" -machine virt -cpu cortex-a57
		-kernel "$dir/arch/arm64/boot/Image"
		-append "console=ttyAMA0 ${words[*]} kunit_shutdown=reboot") ;;
	riscv) command=(qemu-system-riscv64 "${command[@]}" -machine virt
		-kernel "$dir/arch/riscv/boot/Image"
		-append "console=ttyS0 ${words[*]} kunit_shutdown=reboot") ;;
	um) command=("$dir/linux" mem=512M console=tty "${words[@]}" kunit_shutdown=halt) ;;
	esac
	with_progress "boot $flavour" "$log" timeout --kill-after=5 1800 "${command[@]}" ||
		return
	[[ -z $(splats_in "$log" | tee /dev/stderr) ]]
}

is_booted() { [[ $(setting "$config" BOOT) != no ]]; }

# guest NAME ARG...: run guest.sh with the CPU and the command line of the
# configuration. A case with interrupts off takes half a minute with KCSAN. Cases
# that let the n-th allocation fail must not count those of kmemleak.
guest() {
	local cpu append="rcupdate.rcu_cpu_stall_timeout=120 kmemleak=off"
	cpu=$(setting "$config" CPU)
	append+=" $(setting "$config" APPEND)"
	"$top/dev/guest.sh" --flavour "$flavour" --name "$1" \
		${cpu:+--cpu "$cpu"} --append "$append" "${@:2}"
}

# passes NAME ARG...: run guest(). Some tests of its TAP pass, and none fails.
passes() {
	local said=$logs/$1-$flavour.tap
	guest "$flavour-$1" "${@:2}" | tee "$said" &&
		! grep '^not ok' "$said" && grep -q '^ok' "$said"
}

# The torture module of tracing, in its mode storm.
also_storm() { passes storm --smp 4 dev/torture/torture/guest.sh none 60 0 kinds=storm; }

# All tools are installed here, so a skipped test is a failure.
also_stacks() {
	passes stacks "$linux/tools/testing/selftests/tracepoints/stacks.sh" &&
		! grep '# SKIP' "$logs/stacks-$flavour.tap"
}

# Open files of events that are removed. All modules are built here.
also_lifetime() {
	(install_selftests markers) && passes lifetime "$out/selftests/markers/lifetime.sh"
}

# Function tracers that change at random.
also_functions() {
	(check_modules functions "$flavour") &&
		passes functions dev/check/functions/guest.sh "$out/functions-$flavour" 60
}

# A thousand markers in modules that are loaded and unloaded.
also_many() {
	(check_modules many "$flavour") && passes many dev/check/many/guest.sh \
		"$out/many-$flavour" "${SECONDS_AT_RANDOM:-60}"
}

# Modules that are unloaded while they are in use.
also_modules() {
	(check_modules modules "$flavour") &&
		guest "$flavour-modules" dev/check/modules/guest.sh "$out/modules-$flavour"
}

# The kernel's own tests at boot.
also_selftests() {
	local tracers
	read -r -a tracers < <(setting "$config" TESTED)
	"$top/dev/matrix/selftests.sh" "$log" "${tracers[@]}"
}

boot() {
	local loaded what
	booted=FAIL
	if [[ ! $(setting "$config" ARCH) ]]; then
		log=$logs/guest-$flavour.log
		mapfile -t loaded < <(suites m)
		guest "$flavour" env MITIGATED="$(setting "$config" MITIGATED)" \
			dev/guest/matrix.sh "${loaded[@]}" || return
		for what in $(setting "$config" ALSO); do
			"also_$what" || return
		done
	else
		log=$logs/boot-$flavour.log
		boot_alone || return
	fi
	booted=yes
}

kunit() {
	local passed failed skipped list
	kunit=FAIL
	mapfile -t list < <(suites '[ym]')
	suites_passed "$log" 1 "${list[@]}" || return
	read -r passed failed skipped < <(kunit_results "$log" | awk -f "$top/dev/tap.awk")
	((passed > 0 && failed == 0)) || return
	kunit="$passed passed"
	((skipped == 0)) || kunit+=" $skipped skipped"
}

# Objects of files that define a tracepoint, include its header or register a probe.
users() {
	local header places=(arch/x86 block crypto drivers fs init io_uring ipc kernel
		lib mm net samples security sound virt)
	cd "$linux"
	{
		grep -rlE --include='*.c' -e CREATE_TRACE_POINTS \
			-e '#[[:space:]]*include.*trace/events/' -e register_trace_ \
			-e 'for_each_kernel_tracepoint|tracepoint_probe_(un)?register' \
			"${places[@]}"
		grep -rlF --include='*.h' trace/define_trace.h "${places[@]}" |
			while IFS= read -r header; do
				grep -rlE --include='*.c' "include.*[\"</]${header##*/}[\">]" \
					"${header%/*}" || true
			done
	} | sed 's/c$/o/' | sort -u
}

# built_here OBJECT...: those that this configuration builds, with the names that make
# uses for them. A dry run of make prints these; some commands fail in a dry run.
built_here() {
	kmake "$dir" -k -n vmlinux modules 2>/dev/null |
		sed -nE "s/.*echo '  CC( \[M\])? +([^']+)'.*/\2/p" | awk '
		FNR == NR { user[$0] = 1; next }
		{ name = $0; while (sub("[^/]+/[.][.]/", "", name)); }
		name in user' <(printf '%s\n' "$@") - | sort -u
}

# compile FLAVOUR OBJECT...: print the complaints of the compiler and of objtool.
compile() {
	local flavour=$1 log=$logs/users-$1.log
	shift
	"$top/dev/build.sh" "$flavour" prepare modules_prepare >&2 || return
	(cd "$out/build/$flavour" && rm -f "$@")
	with_progress "compile $flavour" "$log" kmake "$out/build/$flavour" -k "$@" >&2 ||
		grep -F '***' "$log" || say "failed: make"
	complaints_in "$log"
}

compile_users() {
	local all objects found
	"$top/dev/build.sh" "$flavour" prepare modules_prepare || return
	mapfile -t all < <(users)
	(cd "$dir" && rm -f "${all[@]}")
	mapfile -t objects < <(built_here "${all[@]}")
	((${#objects[@]})) || return
	found=$(compile "$flavour" "${objects[@]}") || return
	if [[ $found ]]; then
		found=$(linux=$base compile "stock-$flavour" "${objects[@]}" | sort -u |
			comm -13 - <(sort -u <<<"$found")) || return
	fi
	[[ -z $found ]] || { say "$found"; return 1; }
	built="${#objects[@]} of ${#all[@]} files" warnings=none
}

# run NAME: set the variables for its line of the table.
run() {
	flavour=matrix-$1 dir=$out/build/matrix-$1 config=$top/dev/matrix/$1.config
	built=FAIL warnings=- booted=- kunit=-
	if [[ $1 == users ]]; then
		compile_users || true
	else
		{ build && is_booted && boot && kunit; } || true
	fi
}

table() {
	local line
	while IFS=, read -r -a line; do
		printf '%-14s  %-28s  %-17s  %-10s  %-7s  %-20s  %7s\n' "${line[@]}"
	done <"$results"
}

main() {
	local start
	mkdir -p "$out/matrix"
	say "configuration,compiler,built,warnings,booted,KUnit,seconds" >"$results"
	for name; do
		start=$SECONDS
		say "== $name"
		run "$name"
		say "$name,$(compiler),$built,$warnings,$booted,$kunit,$((SECONDS - start))" \
			>>"$results"
	done
	table
	! grep -q FAIL "$results"
}

(($#)) || { mapfile -t < <(all_names); set -- "${MAPFILE[@]}"; }
main "$@"
