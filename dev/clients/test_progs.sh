#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# test_progs.sh DIR: build test_progs of the kernel's BPF selftests in DIR, with those
# tests only that attach to tracepoints and to functions. The program and its BPF objects
# are for any kernel; the types are those of the flavour clients.
set -euo pipefail
. "$(dirname "$0")/../lib.sh"
build_environment
dir=$1
from=$base/tools/testing/selftests/bpf
to=$dir/source/tools/testing/selftests/bpf

tests=(
	# Tracepoints and raw tracepoints
	get_stack_raw_tp kfree_skb raw_tp_null raw_tp_test_run raw_tp_writable_reject_bad_access
	raw_tp_writable_test_run sleepable_tracepoints stacktrace_ips stacktrace_map
	stacktrace_map_raw_tp stacktrace_map_skip tp_attach_query tp_btf_ids tp_btf_nullable
	trace_printk trace_vprintk
	# fentry, fexit and their session
	fentry_fexit fentry_test fexit_sleep fexit_stress fexit_test fsession_test
	get_func_args_test get_func_ip_test modify_return module_fentry_shadow recursion
	trampoline_count tracing_multi
	# Many kprobes and their session
	kprobe_multi_test kprobe_multi_testmod_test missed
	# All of these
	bpf_cookie fill_link_info link_pinning module_attach perf_link probe_user recursive_attach)
# Objects that are linked from several: their parts are not named by the tests.
linked=(tracing_multi tracing_multi_module tracing_multi_intersect tracing_multi_session)
parts=(tracing_multi_{attach,check,attach_module,intersect_attach,session_attach})
# Objects with the loader of the kernel, and those that are signed
light=(fexit_sleep trace_printk trace_vprintk)
signed=(fentry_test fexit_test)

# The objects of BPF whose skeletons or files the tests and their helpers name
named_objects() {
	grep -hoE '"(\./)?[A-Za-z0-9_]+\.(skel\.h|lskel\.h|bpf\.o)"' "${tests[@]}" "$from"/*.[ch] |
		sed -E 's/^"(\.\/)?//; s/\..*//'
}

# link_tree: the tree by links, without other tests: each object of BPF would be built.
link_tree() {
	local object
	rm -rf "$dir"
	mkdir -p "$dir/source/arch"
	cp -as "$base"/{tools,scripts,include,kernel,Makefile} "$dir/source"
	cp -as "$base/arch/x86" "$dir/source/arch"
	rm "$to"/prog_tests/*.c "$to"/progs/*.c
	ln -s "${tests[@]}" "$to/prog_tests"
	for object in $(named_objects | sort -u) "${parts[@]}"; do
		[[ ! -f $from/progs/$object.c ]] || ln -s "$from/progs/$object.c" "$to/progs"
	done
}

tests=("${tests[@]/#/$from/prog_tests/}")
tests=("${tests[@]/%/.c}")
link_tree
mkdir -p "$dir/built"
make -C "$to" -j"$(nproc)" OUTPUT="$dir/built" VMLINUX_BTF="$out/build/clients/vmlinux" \
	CC='ccache gcc' CLANG='ccache clang' SKIP_LLVM=1 LIBARENA_SKEL= LIBARENA_ASAN_SKEL= \
	LINKED_SKELS="${linked[*]/%/.skel.h}" LSKELS="${light[*]/%/.c}" LSKELS_EXTRA= \
	LSKELS_SIGNED="${signed[*]/%/.c}" \
	TRUNNER_EXTRA_FILES="$dir/built/urandom_read $dir/built/liburandom_read.so" test_progs
