#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# matrix.sh [NAME...]: build the series in the configurations of dev/matrix (or those
# named), boot them, run the KUnit suites, and print a table of the results, which is also
# in out/matrix/results.csv. A configuration that fails does not stop the others. Without
# names, those that `make torture` boots are left out.
#
# Of the settings of a configuration (see build.sh), this script reads: CPU, the CPU model
# of QEMU; APPEND, added to the kernel's command line; BOOT, "no" if QEMU cannot boot it;
# LOGGED, a line that the kernel must print; ALSO, more tests (functions also_*); and ROOT, the
# architecture of a root that debian.sh makes: otherwise only x86 boots with a root.
set -euo pipefail
if (($# == 0)) || [[ " $* " == *"guest_arm64 "* ]]; then export FOREIGN=arm64; fi
. "$(dirname "$0")/lib.sh"
build_environment
results=$out/matrix/results.csv

default_names() {
	basename -s .config -a "$top"/dev/matrix/*.config |
		grep -vxFf <(lines_of "$top/dev/torture/rows" | cut -f 1)
}

setting_of() { setting "$config" "$1"; }

targets() {
	case $(setting_of ARCH) in
	i386 | x86_64) say bzImage ;;
	arm64 | riscv) say Image ;;
	um) say linux ;;
	*) if grep -qx "CONFIG_K[AC]SAN=y" "$config"; then say bzImage; else say vmlinux; fi ;;
	esac
	grep -qx '# CONFIG_MODULES is not set' "$config" || say modules
}

build() {
	local list
	mapfile -t list < <(targets)
	"$top/dev/build.sh" "$flavour" "${list[@]}" && guards_are_patched && built=yes
}

# In an object that uses tracepoints of another file, code that loads a guard has a
# relocation to the tracepoint. A patched guard loads nothing. Where sites call
# tracepoint_walk_N(), each call has the address of its tracepoint (on arm64, by two relocations).
guards_are_patched() {
	grep -qx CONFIG_IMMEDIATE_SITES=y "$dir/.config" || return 0
	grep -qx CONFIG_TRACEPOINTS=y "$dir/.config" || return 0
	# The first commits of the series have immediate values, and tracepoints as before.
	grep -q '<linux/immediate.h>' "$linux/include/linux/tracepoint-defs.h" || return 0
	"$(setting_of CROSS_COMPILE)objdump" -r "$dir/mm/page_alloc.o" | awk '
	/^RELOCATION RECORDS/ { text = /text/; table = /__jump_table|__imv_jump/ }
	/ tracepoint_walk_/ { loads-- }
	/ __tracepoint_mm_/ { if (text && !/LO12/) loads++; if (table) guards++ }
	END {
		if (loads > 0 || !guards)
			print "not ok - guards that load: " loads + 0 ", patched: " guards + 0
		exit loads > 0 || !guards
	}'
}

# boot_alone: boot without a root. The suites are built in; KUnit reboots after them.
boot_alone() {
	# What is used after it was freed is zero then.
	local words=(panic=-1 oops=panic init_on_free=1 trace_event=sched:sched_switch) command=(
		-accel "tcg,thread=single" -smp 2 -m 1G -nodefaults -display none
		-no-reboot -serial stdio)
	case $(setting_of ARCH) in
	# QEMU's default CPU is an old AMD; the kernel warns that it does not support SMP.
	i386 | x86_64) command=("qemu-system-$(setting_of ARCH)" "${command[@]}" -cpu "max,vendor=GenuineIntel"
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

# guest NAME ARG...: run guest.sh with the CPU and the command line of the
# configuration. A case with interrupts off takes half a minute with KCSAN. Cases
# that let the n-th allocation fail must not count those of kmemleak.
guest() {
	local cpu parallel=() append="rcupdate.rcu_cpu_stall_timeout=120 kmemleak=off"
	[[ ! $(setting_of ROOT) ]] || parallel=(--parallel)
	cpu=$(setting_of CPU)
	append+=" $(setting_of APPEND)"
	"$top/dev/guest.sh" --flavour "$flavour" --name "$1" \
		${cpu:+--cpu "$cpu"} "${parallel[@]}" --append "$append" "${@:2}"
}

# passes NAME ARG...: run guest(). Some tests of its TAP pass, and none fails or is skipped.
passes() {
	local said=$logs/$1-$flavour.tap
	guest "$flavour-$1" "${@:2}" | tee "$said" &&
		! grep -E '^not ok|# SKIP' "$said" && grep -q '^ok' "$said"
}

# The torture module of tracing: only tracepoints, one of which has hundreds of sites.
also_storm() { passes storm --smp 4 dev/torture/torture/guest.sh none 60 0 kinds=tp; }

# With parallel CPUs, which need the module stale.
also_torture() {
	local stale=$out/torture/stale-$flavour
	ARCH=$(setting_of ARCH) CROSS_COMPILE=$(setting_of CROSS_COMPILE) \
		build_folder "$top/dev/torture/stale" "$stale" "$flavour" &&
		passes torture --timeout 1500 dev/torture/guest.sh torture none "$stale" 600 0
}

also_selftests() {
	local said=$logs/selftests-$flavour.tap
	ARCH=$(setting_of ARCH) CROSS_COMPILE=$(setting_of CROSS_COMPILE) install_selftests '*' &&
		guest "$flavour-selftests" --timeout 3600 dev/check/selftests/guest.sh \
			"$out/selftests" | tee "$said" &&
		! unlisted_skips "${flavour#matrix-}/selftests" "$said"
}

also_rust() { passes rust dev/guest/rust.sh; }

also_fineibt() {
	guest "$flavour-fineibt" --append cfi=fineibt dev/guest/matrix.sh "${loaded[@]}" &&
		grep -q "Using .*FineIBT" "$logs/guest-$flavour-fineibt.log"
}

# NUMBER:INTERVAL. A case of KFENCE's suite waits until it gets an object again; with a few
# objects and a short interval, the others leave none.
also_kfence() {
	local pool
	for pool in 63:100 255:100 4095:10; do
		passes "kfence-${pool%:*}" --append \
			"kfence.num_objects=${pool%:*} kfence.sample_interval=${pool#*:}" \
			dev/guest/kfence.sh "${pool%:*}" || return
	done
	passes kfence-late --append kfence.sample_interval=0 dev/guest/kfence.sh 511 late
}

also_stacks() { passes stacks "$linux/tools/testing/selftests/tracepoints/stacks.sh"; }

boot() {
	local loaded what
	booted=FAIL
	if [[ ! $(setting_of ARCH) || $(setting_of ROOT) ]]; then
		log=$logs/guest-$flavour.log
		mapfile -t loaded < <(suites_of "$dir" order)
		guest "$flavour" dev/guest/matrix.sh "${loaded[@]}" || return
		for what in $(setting_of ALSO); do
			"also_$what" || return
		done
	else
		log=$logs/boot-$flavour.log
		boot_alone || return
	fi
	grep -qF "$(setting_of LOGGED)" "$log" || return
	booted=yes
}

kunit() {
	local passed failed skipped list
	kunit=FAIL
	mapfile -t list < <(suites_of "$dir" builtin; suites_of "$dir" order)
	suites_passed "$log" "${list[@]}" || return
	read -r passed failed skipped < <(kunit_results "$log" | awk -f "$top/dev/tap.awk")
	((passed > 0 && failed == 0)) || return
	kunit="$passed passed"
	((skipped == 0)) || kunit+=" $skipped skipped"
}

# Objects of files that define a tracepoint, include its header or register a probe.
users() {
	local places=(arch/x86 block crypto drivers fs init io_uring ipc kernel lib mm net
		samples security sound virt)
	(cd "$linux" && grep -rlE --include='*.c' -e CREATE_TRACE_POINTS -e register_trace_ \
		-e '#[[:space:]]*include.*(trace/events/|[/"_-]trace\.h|_trace(points?)?\.h)' \
		-e 'for_each_kernel_tracepoint|tracepoint_probe_(un)?register' "${places[@]}") |
		sed 's/c$/o/' | sort -u
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
	mapfile -t objects < <(built_by "$flavour" | comm -12 - <(printf '%s\n' "${all[@]}"))
	((${#objects[@]})) || return
	found=$(compile "$flavour" "${objects[@]}") || return
	if [[ $found ]]; then
		found=$(linux=$base compile "stock-$flavour" "${objects[@]}" | sort -u |
			comm -13 - <(sort -u <<<"$found")) || return
	fi
	[[ -z $found ]] || { say "$found"; return 1; }
	built="${#objects[@]} of ${#all[@]} files"
}

# run NAME: set the variables for its line of the table.
run() {
	flavour=matrix-$1 dir=$out/build/matrix-$1 config=$top/dev/matrix/${1%-off}.config
	built=FAIL booted=- kunit=-
	if [[ $1 == users ]]; then
		compile_users || true
	else
		{ build && [[ $(setting_of BOOT) != no ]] && boot && kunit; } || true
	fi
}

(($#)) || { mapfile -t < <(default_names); set -- "${MAPFILE[@]}"; }
mkdir -p "$out/matrix"
say "configuration,built,booted,KUnit,seconds" >"$results"
for name; do
	start=$SECONDS
	say "== $name"
	run "$name"
	say "$name,$built,$booted,$kunit,$((SECONDS - start))" >>"$results"
done
column -t -s, "$results"
! grep -q FAIL "$results"
