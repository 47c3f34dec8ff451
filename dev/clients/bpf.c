// SPDX-License-Identifier: GPL-2.0
/*
 * bpf KIND NAME[,NAME...] COMMAND...: run the command while a BPF program is attached,
 * and print how often the program ran for a task that is called "working".
 *
 * Kinds: raw_tp and tp_btf (tracepoints), raw_tp.s (the same program, which may sleep),
 * fentry, fexit (a function), fsession (both), kprobe.multi (several functions),
 * kprobe.session (their begin and their end).
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <err.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_FUNCTIONS 8
#define FSESSION 58	/* BPF_TRACE_FSESSION, which older headers lack */

static const struct kind {
	const char *name;
	enum bpf_prog_type type;
	enum bpf_attach_type attach;
	__u32 flags;
} kinds[] = {
	{ "raw_tp", BPF_PROG_TYPE_RAW_TRACEPOINT, 0, 0 },
	{ "raw_tp.s", BPF_PROG_TYPE_RAW_TRACEPOINT, 0, BPF_F_SLEEPABLE },
	{ "tp_btf", BPF_PROG_TYPE_TRACING, BPF_TRACE_RAW_TP, 0 },
	{ "fentry", BPF_PROG_TYPE_TRACING, BPF_TRACE_FENTRY, 0 },
	{ "fexit", BPF_PROG_TYPE_TRACING, BPF_TRACE_FEXIT, 0 },
	{ "fsession", BPF_PROG_TYPE_TRACING, FSESSION, 0 },
	{ "kprobe.multi", BPF_PROG_TYPE_KPROBE, BPF_TRACE_KPROBE_MULTI, 0 },
	{ "kprobe.session", BPF_PROG_TYPE_KPROBE, BPF_TRACE_KPROBE_SESSION, 0 },
};

static const struct kind *find_kind(const char *name)
{
	for (unsigned int i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	}
	errx(2, "no such kind: %s", name);
}

#define INSN(...) ((struct bpf_insn){ __VA_ARGS__ })
/* A constant of 64 bits takes two instructions. */
#define LOAD_64(reg, src, value, next)							\
	INSN(.code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = (reg), .src_reg = (src),	\
	     .imm = (value)),								\
	INSN(.imm = (next))

static int load(const struct kind *kind, const char *name, int map)
{
	union { char text[8]; __s32 half[2]; } task = { .text = "working" };
	const struct bpf_insn insns[] = {
		/* bpf_get_current_comm(r10 - 16, 16) */
		INSN(.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = 1, .src_reg = 10),
		INSN(.code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = 1, .imm = -16),
		INSN(.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 2, .imm = 16),
		INSN(.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_get_current_comm),
		INSN(.code = BPF_LDX | BPF_DW | BPF_MEM, .dst_reg = 0, .src_reg = 10, .off = -16),
		LOAD_64(1, 0, task.half[0], task.half[1]),
		/* if it is the task: (*value)++ */
		INSN(.code = BPF_JMP | BPF_JNE | BPF_X, .dst_reg = 0, .src_reg = 1, .off = 4),
		LOAD_64(1, BPF_PSEUDO_MAP_VALUE, map, 0),
		INSN(.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 2, .imm = 1),
		INSN(.code = BPF_STX | BPF_DW | BPF_ATOMIC, .dst_reg = 1, .src_reg = 2,
		     .imm = BPF_ADD),
		INSN(.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0),
		INSN(.code = BPF_JMP | BPF_EXIT),
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = kind->attach,
		    .prog_flags = kind->flags);
	int id, prog;

	if (kind->type == BPF_PROG_TYPE_TRACING) {
		id = libbpf_find_vmlinux_btf_id(name, kind->attach);
		if (id < 0)
			errx(1, "%s has no type in BTF: %s", name, strerror(-id));
		opts.attach_btf_id = id;
	}
	prog = bpf_prog_load(kind->type, "count", "GPL", insns, sizeof(insns) / sizeof(*insns),
			     &opts);
	if (prog < 0)
		err(1, "load a program for %s %s", kind->name, name);
	return prog;
}

static int attach(const struct kind *kind, char *names, int prog)
{
	const char *functions[MAX_FUNCTIONS];
	LIBBPF_OPTS(bpf_link_create_opts, opts);
	unsigned int nr = 0;

	if (kind->type == BPF_PROG_TYPE_RAW_TRACEPOINT)
		return bpf_raw_tracepoint_open(names, prog);
	if (kind->type == BPF_PROG_TYPE_TRACING)
		return bpf_raw_tracepoint_open(NULL, prog);
	for (char *name = strtok(names, ","); name && nr < MAX_FUNCTIONS; name = strtok(NULL, ","))
		functions[nr++] = name;
	opts.kprobe_multi.syms = functions;
	opts.kprobe_multi.cnt = nr;
	return bpf_link_create(prog, 0, kind->attach, &opts);
}

int main(int argc, char **argv)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	const struct kind *kind;
	int map, status;
	__u64 *count;

	if (argc < 4)
		errx(2, "usage: bpf KIND NAME[,NAME...] COMMAND...");
	kind = find_kind(argv[1]);
	map = bpf_map_create(BPF_MAP_TYPE_ARRAY, "count", sizeof(__u32), sizeof(__u64), 1, &opts);
	if (map < 0)
		err(1, "create a map");
	count = mmap(NULL, sizeof(*count), PROT_READ, MAP_SHARED, map, 0);
	if (count == MAP_FAILED)
		err(1, "mmap");
	if (attach(kind, argv[2], load(kind, argv[2], map)) < 0)
		err(1, "attach to %s %s", argv[1], argv[2]);
	if (!fork()) {
		execvp(argv[3], argv + 3);
		err(1, "%s", argv[3]);
	}
	wait(&status);
	printf("%llu\n", (unsigned long long)*count);
	return !WIFEXITED(status) || WEXITSTATUS(status);
}
