#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# systemtap.sh [--flavour F] SCRIPT...: translate scripts of SystemTap (NAME.stp) for the
# kernel of a flavour, the guest's or F: out/stap/NAME.ko or out/stap/F/NAME.ko, which
# staprun loads in the guest.
#
# A probe that waits for a lock of the script is skipped after 10 ms: here after a second,
# since the CPU that has the lock may be one of an emulator on a busy machine.
#
# Two problems of SystemTap 4.8 are worked around. Its runtime looks for
# task_work_cancel(), which updates of 6.1 renamed to task_work_cancel_func(). And the
# C code for a marker with a string defines an unused label twice.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
work=$out/stap kernel=$out/build/guest
[[ $1 != --flavour ]] || { work=$out/stap/$2 kernel=$out/build/$2; shift 2; }

copy_runtime() {
	rm -rf "$work/runtime"
	cp -r /usr/share/systemtap/runtime "$work"
	sed -i -e 's/typeof(&task_work_cancel)/typeof(\&task_work_cancel_func)/' \
		-e 's/kallsyms_lookup_name("task_work_cancel")/kallsyms_lookup_name("task_work_cancel_func")/' \
		"$work/runtime/stp_task_work.c"
	grep -q 'task_work_cancel_func' "$work/runtime/stp_task_work.c" ||
		die "the runtime of SystemTap is another one: stp_task_work.c has no task_work_cancel"
}

# A compiler that removes these labels first.
write_compiler() {
	cat >"$work/compiler" <<-'END'
	#!/bin/bash
	for word; do
		[[ $word != *_src.c ]] || sed -i 's/^ *deref_fault: *;$//' "$word"
	done
	exec gcc "$@"
	END
	chmod +x "$work/compiler"
}

# Without SystemTap's cache, which does not detect changes of the kernel.
translate() {
	local name
	name=$(basename "$1" .stp)
	SYSTEMTAP_DIR=$work/home stap --disable-cache -R "$work/runtime" -r "$kernel" \
		-B CC="$work/compiler" -D MAXTRYLOCK=100000 -p4 -m "$name" "$1"
}

mkdir -p "$work/home"
copy_runtime
write_compiler
mapfile -t scripts < <(realpath "$@")
cd "$work"
for script in "${scripts[@]}"; do
	translate "$script"
done
