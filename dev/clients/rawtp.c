// SPDX-License-Identifier: GPL-2.0
/* rawtp TRACEPOINT COMMAND...: run the command while a BPF program that does nothing
 * is attached to the raw tracepoint.
 */
#include <err.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int bpf(enum bpf_cmd cmd, union bpf_attr *attr)
{
	return syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

static int load(void)
{
	static const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },	/* r0 = 0 */
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT;
	attr.insns = (unsigned long)insns;
	attr.insn_cnt = sizeof(insns) / sizeof(*insns);
	attr.license = (unsigned long)"GPL";
	return bpf(BPF_PROG_LOAD, &attr);
}

static int attach(int prog, const char *tracepoint)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.raw_tracepoint.name = (unsigned long)tracepoint;
	attr.raw_tracepoint.prog_fd = prog;
	return bpf(BPF_RAW_TRACEPOINT_OPEN, &attr);
}

int main(int argc, char **argv)
{
	int status, prog;

	if (argc < 3)
		errx(2, "usage: rawtp TRACEPOINT COMMAND...");
	prog = load();
	if (prog < 0)
		err(1, "BPF_PROG_LOAD");
	if (attach(prog, argv[1]) < 0)
		err(1, "raw tracepoint %s", argv[1]);
	if (!fork()) {
		execvp(argv[2], argv + 2);
		err(1, "%s", argv[2]);
	}
	wait(&status);
	return !WIFEXITED(status) || WEXITSTATUS(status);
}
