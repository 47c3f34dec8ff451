// SPDX-License-Identifier: GPL-2.0
/*
 * Functions that the step disasm checks: each is a site and a return. Those
 * named memory_* show that the check detects a load.
 */
#include <linux/immediate.h>
#include <linux/marker.h>
#include <linux/module.h>
#include <linux/tracepoint.h>

static DEFINE_IMV(u8, one);
static DEFINE_IMV(short, two);
static DEFINE_IMV(unsigned int, four);
static DEFINE_IMV(s64, eight);
static DEFINE_IMV(void *, pointer);
static DEFINE_IMV(bool, flag);

DECLARE_TRACE(disasm, TP_PROTO(int number, void *address), TP_ARGS(number, address));
DEFINE_TRACE(disasm_tp, TP_PROTO(int number, void *address), TP_ARGS(number, address));

#define READER(type, name)						\
	type notrace imv_##name(void);					\
	type notrace imv_##name(void) { return imv_read(name); }	\
	type notrace memory_##name(void);				\
	type notrace memory_##name(void) { return _imv_read(name); }

READER(u8, one)
READER(short, two)
READER(unsigned int, four)
READER(s64, eight)
READER(void *, pointer)

#define SITE(name, statement)						\
	void notrace name(int *number);					\
	void notrace name(int *number) { statement; }

SITE(jump_unlikely, immediate_if(flag) (*number)++)
SITE(jump_tracepoint, trace_disasm_tp(*number, number))
SITE(jump_enabled, if (trace_disasm_tp_enabled()) (*number)++)
SITE(jump_mark, trace_mark(disasm_mark, "number %d address %p", *number, number))
SITE(memory_mark, _trace_mark(disasm_load, "number %d", *number))

MODULE_DESCRIPTION("Sites to disassemble");
MODULE_LICENSE("GPL");
