// SPDX-License-Identifier: GPL-2.0
/*
 * bpf NAME COMMAND...: run the command while a program of BPF is attached to the raw
 * tracepoint, and print how often the program ran.
 */
#include <bpf/bpf.h>
#include <err.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define INSN(...) ((struct bpf_insn){ __VA_ARGS__ })

static int load(int map)
{
	const struct bpf_insn insns[] = {
		/* r1 = value; it is a constant of 64 bits, which takes two instructions. */
		INSN(.code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = 1,
		     .src_reg = BPF_PSEUDO_MAP_VALUE, .imm = map),
		INSN(.imm = 0),
		/* (*r1)++ */
		INSN(.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 2, .imm = 1),
		INSN(.code = BPF_STX | BPF_DW | BPF_ATOMIC, .dst_reg = 1, .src_reg = 2,
		     .imm = BPF_ADD),
		INSN(.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0),
		INSN(.code = BPF_JMP | BPF_EXIT),
	};

	return bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "count", "GPL", insns,
			     sizeof(insns) / sizeof(*insns), NULL);
}

int main(int argc, char **argv)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	int map, prog, status;
	__u64 *count;

	if (argc < 3)
		errx(2, "usage: bpf NAME COMMAND...");
	map = bpf_map_create(BPF_MAP_TYPE_ARRAY, "count", sizeof(__u32), sizeof(__u64), 1, &opts);
	if (map < 0)
		err(1, "create a map");
	count = mmap(NULL, sizeof(*count), PROT_READ, MAP_SHARED, map, 0);
	if (count == MAP_FAILED)
		err(1, "mmap");
	prog = load(map);
	if (prog < 0 || bpf_raw_tracepoint_open(argv[1], prog) < 0)
		err(1, "attach to %s", argv[1]);
	if (!fork()) {
		execvp(argv[2], argv + 2);
		err(1, "%s", argv[2]);
	}
	wait(&status);
	printf("%llu\n", (unsigned long long)*count);
	return !WIFEXITED(status) || WEXITSTATUS(status);
}
