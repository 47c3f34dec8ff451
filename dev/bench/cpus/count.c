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
struct qemu_plugin_scoreboard;
struct entry {
	struct qemu_plugin_scoreboard *score;
	size_t offset;
};
int qemu_plugin_version = 4;
struct qemu_plugin_scoreboard *qemu_plugin_scoreboard_new(size_t size);
uint64_t qemu_plugin_u64_sum(struct entry entry);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t nr);
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *to, size_t len);
void qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(struct qemu_plugin_tb *tb, int add,
						       struct entry entry, uint64_t number);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
					    void (*call)(unsigned int, void *), int no_registers,
					    void *data);
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id,
					   void (*call)(uint64_t, struct qemu_plugin_tb *));
int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv);

static const uint8_t mark[] = { 0x66, 0x87, 0xdb };	/* xchg %bx,%bx: compilers do not use it */
static struct entry count;
static uint64_t before;
static FILE *to;

static void at_mark(unsigned int cpu, void *data)
{
	uint64_t now = qemu_plugin_u64_sum(count);

	(void)cpu;
	(void)data;
	if (before) {
		fprintf(to, "%" PRIu64 "\n", now - before);
		fflush(to);
	}
	before = before ? 0 : now;
}

static void translated(uint64_t id, struct qemu_plugin_tb *tb)
{
	size_t i, n = qemu_plugin_tb_n_insns(tb);
	uint8_t bytes[sizeof(mark)];

	(void)id;
	qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(tb, 0, count, n);
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
	count.score = qemu_plugin_scoreboard_new(sizeof(uint64_t));
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return 0;
}
