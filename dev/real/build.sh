#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# build.sh [FLAVOUR]: link the objects of the guest's kernel, or of that flavour, with a host
# in user space, to out/real/real. Those of the flavour cycles, and some of stock-cycles,
# become out/real/cycles. Symbols that nothing provides are zeroes; a call of one crashes.
set -euo pipefail
. "$(dirname "$0")/../lib.sh"
build_environment
flavour=${1:-guest}
dir=$out/real
program=real hosts=(host tests) sides=(values_kernel probes_kernel kernel)

# The series' own, what patches the text, and what these use.
objects=(
	arch/x86/kernel/{immediate,alternative,tracepoint-trampoline,tracepoint-walk}.o
	arch/x86/kernel/{generated-text,ftrace-set}.o arch/x86/lib/retpoline.o
	kernel/{immediate,tracepoint,tracepoint-code,generated-text,marker}.o
	kernel/markers/{call,entries,format,sites,modules}.o
	lib/{sort,bsearch,rbtree,ctype,bitmap,find_bit}.o
)
if [[ $flavour == cycles ]]; then
	program=cycles hosts=(host cycles) sides+=(cycles_kernel)
	objects+=(kernel/trace/trace_markers_record.o)
fi
# The guest's for cycles: make cannot build inat.o alone.
decoder=("$out/build/${flavour/cycles/guest}"/arch/x86/lib/{insn,inat}.o)
stock_objects=(arch/x86/kernel/ftrace_64.o kernel/trace/ftrace.o)

# compile_side FLAVOUR OPTIONS SIDE...: like a module, with the kernel's flags.
compile_side() {
	local side=$dir/$1.side
	mkdir -p "$side"
	python3 -B "$top/dev/real/sources.py" "$side"
	python3 -B "$top/dev/real/layouts.py" "$side"
	cp "$top"/dev/real/{*kernel.[ch],shared.h} "$top/dev/bench/place_event.h" "$side/"
	printf '%s\n' "ccflags-y := -I$side -Wno-missing-prototypes -Wno-missing-declarations $2" \
		"obj-m := ${*:3}" >"$side/Makefile"
	make -C "$out/build/$1" CC='ccache gcc' M="$side" "${@:3}"
}

# find_thunks OBJECT...: copies with the tables of their thunks, which only modules have, and
# vmlinux when it is linked.
find_thunks() {
	local object
	for object; do
		cp "$out/build/stock-cycles/$object" "$dir/"
		"$out/build/stock-cycles/tools/objtool/objtool" --hacks=jump_label --retpoline \
			--rethunk --static-call "$dir/${object##*/}"
	done
}

# join PREFIX NAME OBJECT...: one object, whose symbols have the prefix. Sections whose
# names are those of C can be found by the linker's symbols.
join() {
	local words=() name
	for name in .data..percpu:percpu __imv_jump:__imv .init.text:.text.init \
		.noinstr.text:.text.noinstr .ref.text:.text.ref \
		.static_call_sites:static_call_sites .retpoline_sites:retpoline_sites \
		.return_sites:return_sites; do
		words+=(--rename-section "${name/:/=}")
	done
	[[ $1 == k_ ]] || words+=(--rename-section __tracepoints=stock_tracepoints)
	ld -z noexecstack -r -o "$dir/$2.all.o" "${@:3}"
	objcopy --strip-debug -R '.discard*' -R '.rela.discard*' -R '.orc*' -R '.rela.orc*' \
		-R '__ksymtab*' -R '.rela___ksymtab*' -R .note.gnu.property \
		--globalize-symbol="$1start_freeing" --globalize-symbol="$1__text_poke" \
		"${words[@]}" --prefix-symbols="$1" "$dir/$2.all.o" "$dir/$2.o"
}

# zeroes: a variable for each name on stdin.
zeroes() {
	printf '.bss\n'
	while IFS= read -r name; do
		printf '.balign 64\n.globl %s\n%s: .skip 512\n' "$name" "$name"
	done
}

defined() { nm "$@" | awk '$2 ~ /[A-Z]/ && $2 != "U" { print $3 }' | sort -u; }

# The bounds of tables are those that the linker finds for sections of these names. What
# the objects of stock lack, and those of the series have, is the latter's.
link_program() {
	local bounds=("-Wl,--defsym=k__stext=__executable_start,--defsym=k__etext=etext") name
	local linked=("${hosts[@]/%/.o}" kernel.o)
	[[ $program == real ]] || linked+=(stock.o)
	cd "$dir"
	for name in "${hosts[@]}"; do
		gcc -O2 -Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers \
			-Wno-builtin-declaration-mismatch -Werror -fno-pie -mno-red-zone \
			-c "$top/dev/real/$name.c"
	done
	for name in imv tracepoints markers; do
		bounds+=("-Wl,--defsym=k___start___$name=__start___$name"
			"-Wl,--defsym=k___stop___$name=__stop___$name")
	done
	nm -u "${linked[@]}" | awk '/ U [ks]_/ { print $2 }' | sort -u |
		grep -vE '^k___(start|stop)___|^k__(stext|etext)$' |
		comm -23 - <(defined "${linked[@]}") >missing
	while IFS= read -r name; do
		bounds+=("-Wl,--defsym=s_$name=k_$name")
	done < <(sed -n 's/^s_//p' missing | grep -xFf <(defined "${linked[@]}" | sed -n 's/^k_//p'))
	grep -vxFf <(printf '%s\n' "${bounds[@]}" | sed -n 's/.*defsym=\(s_.*\)=k_.*/\1/p') \
		missing | zeroes >zeroes.s
	as -o zeroes.o zeroes.s
	gcc -static -no-pie -z noexecstack -Wl,--no-relax "${bounds[@]}" \
		-o "$program" "${linked[@]}" zeroes.o -lpthread
}

mkdir -p "$dir"
if [[ $program == cycles ]]; then
	"$top/dev/build.sh" stock-cycles modules_prepare
	"$top/dev/build.sh" stock-cycles "${stock_objects[@]}"
	compile_side stock-cycles "-DSTOCK -I$base/kernel/trace" cycles_kernel.o
	find_thunks "${stock_objects[@]}"
	join s_ stock "${stock_objects[@]/#*\//$dir/}" "$dir/stock-cycles.side/cycles_kernel.o"
	"$top/dev/build.sh" cycles modules_prepare
	"$top/dev/build.sh" cycles "${objects[@]}"
fi
compile_side "$flavour" "-I$linux/kernel/trace" "${sides[@]/%/.o}"
sides=("${sides[@]/#/$dir/$flavour.side/}")
objects=("${objects[@]/#/$out/build/$flavour/}")
join k_ kernel "${objects[@]}" "${decoder[@]}" "${sides[@]/%/.o}"
link_program
