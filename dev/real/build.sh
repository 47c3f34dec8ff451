#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# build.sh: link the objects of the guest's kernel with a host in user space, to
# out/real/real. Symbols that nothing provides become zeroes; a call of one crashes.
set -euo pipefail
. "$(dirname "$0")/../lib.sh"
build_environment
build=$out/build/guest
dir=$out/real

# The series' own, what patches the text, and what these use.
objects=(
	arch/x86/kernel/{immediate,alternative,tracepoint-trampoline,tracepoint-walk}.o
	arch/x86/kernel/{generated-text,ftrace-set}.o arch/x86/lib/{insn,inat,retpoline}.o
	kernel/{immediate,tracepoint,tracepoint-code,generated-text,marker}.o
	kernel/markers/{call,entries,format,sites,modules}.o
	lib/{sort,bsearch,rbtree,ctype,bitmap,find_bit}.o
)

# compile_kernel_side: like a module, with the kernel's flags.
compile_kernel_side() {
	python3 -B "$top/dev/real/sources.py" "$dir/kernel"
	cp "$top"/dev/real/{kernel.c,probes_kernel.h,shared.h} "$dir/kernel/"
	printf '%s\n' 'ccflags-y := -Wno-missing-prototypes -Wno-missing-declarations' \
		'obj-m := values_kernel.o probes_kernel.o kernel.o' >"$dir/kernel/Makefile"
	make -C "$build" CC='ccache gcc' M="$dir/kernel" {values_kernel,probes_kernel,kernel}.o
}

# Sections whose names are those of C can be found by the linker's symbols.
link_kernel_side() {
	local words=() name
	for name in .data..percpu:percpu __imv_jump:__imv .init.text:.text.init \
		.noinstr.text:.text.noinstr .ref.text:.text.ref; do
		words+=(--rename-section "${name/:/=}")
	done
	(cd "$build" && ld -z noexecstack -r -o "$dir/all.o" "${objects[@]}" \
		"$dir"/kernel/{values_kernel,probes_kernel,kernel}.o)
	objcopy --strip-debug -R '.discard*' -R '.rela.discard*' -R '.orc*' -R '.rela.orc*' \
		-R '__ksymtab*' -R '.rela___ksymtab*' -R .note.gnu.property \
		--globalize-symbol={k_start_freeing,k___text_poke} "${words[@]}" \
		--prefix-symbols=k_ "$dir/all.o" "$dir/kernel.o"
}

# zeroes: a variable for each name on stdin.
zeroes() {
	printf '.bss\n'
	while IFS= read -r name; do
		printf '.balign 64\n.globl %s\n%s: .skip 512\n' "$name" "$name"
	done
}

# The bounds of tables are those that the linker finds for sections of these names.
link_program() {
	local bounds=("-Wl,--defsym=k__stext=__executable_start,--defsym=k__etext=etext") name
	(cd "$dir" && gcc -O2 -Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers \
		-Wno-builtin-declaration-mismatch -Werror -fno-pie -mno-red-zone \
		-c "$top"/dev/real/{host,tests}.c)
	for name in imv tracepoints markers; do
		bounds+=("-Wl,--defsym=k___start___$name=__start___$name"
			"-Wl,--defsym=k___stop___$name=__stop___$name")
	done
	nm -u "$dir/kernel.o" | awk '{ print $2 }' | sort -u |
		grep -vxFf <(nm "$dir"/{host,tests}.o | awk '$2 ~ /[A-Z]/ && $2 != "U" { print $3 }') |
		grep -vE '^k___(start|stop)___|^k__(stext|etext)$' | zeroes >"$dir/zeroes.s"
	as -o "$dir/zeroes.o" "$dir/zeroes.s"
	gcc -static -no-pie -z noexecstack -Wl,--no-relax "${bounds[@]}" \
		-o "$dir/real" "$dir"/{host,tests,kernel,zeroes}.o -lpthread
}

mkdir -p "$dir/kernel"
compile_kernel_side
link_kernel_side
link_program
