// SPDX-License-Identifier: GPL-2.0
/*
 * count.so,to=FILE: a plugin of QEMU that counts the instructions of all CPUs together; a CPU
 * that waits for an interrupt has none. cost.c executes MARK twice: the number between them is
 * a line of FILE.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* QEMU's interface, version 4, as far as it is used: Debian has no package with its header. */
struct qemu_plugin_tb;
struct qemu_plugin_insn;
int qemu_plugin_version = 4;
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t nr);
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *to, size_t len);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb,
					  void (*call)(unsigned int, void *), int no_registers,
					  void *data);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
					    void (*call)(unsigned int, void *), int no_registers,
					    void *data);
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id,
					   void (*call)(uint64_t, struct qemu_plugin_tb *));
int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv);

static const uint8_t mark[] = { 0x66, 0x87, 0xdb };	/* xchg %bx,%bx: compilers do not use it */
static uint64_t count, before;	/* one thread executes all CPUs */
static FILE *to;

static void executed(unsigned int cpu, void *number)
{
	(void)cpu;
	count += (uintptr_t)number;
}

static void at_mark(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	if (before) {
		fprintf(to, "%" PRIu64 "\n", count - before);
		fflush(to);
	}
	before = before ? 0 : count;
}

static void translated(uint64_t id, struct qemu_plugin_tb *tb)
{
	size_t i, n = qemu_plugin_tb_n_insns(tb);
	uint8_t bytes[sizeof(mark)];

	(void)id;
	qemu_plugin_register_vcpu_tb_exec_cb(tb, executed, 0, (void *)(uintptr_t)n);
	for (i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		if (qemu_plugin_insn_data(insn, bytes, sizeof(bytes)) == sizeof(mark) &&
		    !memcmp(bytes, mark, sizeof(mark)))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, at_mark, 0, NULL);
	}
}

int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv)
{
	(void)info;
	if (argc != 1 || strncmp(argv[0], "to=", 3))
		return -1;
	to = fopen(argv[0] + 3, "w");
	if (!to)
		return -1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return 0;
}
