/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __TRACE_BPF_H
#define __TRACE_BPF_H

#include <linux/bpf.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Loads a minimal program for a trace event. Returns its file descriptor, or -1. */
static inline long load_trace_program(void)
{
	static const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = 1 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_TRACEPOINT,
		.insn_cnt = sizeof(insns) / sizeof(*insns),
		.insns = (uintptr_t)insns,
		.license = (uintptr_t)"GPL",
	};

	return syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

#endif
