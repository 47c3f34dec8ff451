// SPDX-License-Identifier: GPL-2.0
/*
 * Functions that the step disasm checks: each is a read and a return. Those named
 * memory_* show that the check detects a load.
 */
#include <linux/immediate.h>
#include <linux/module.h>

static DEFINE_IMV(u8, one);
static DEFINE_IMV(short, two);
static DEFINE_IMV(unsigned int, four);
static DEFINE_IMV(s64, eight);
static DEFINE_IMV(void *, pointer);

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

MODULE_DESCRIPTION("Sites to disassemble");
MODULE_LICENSE("GPL");
