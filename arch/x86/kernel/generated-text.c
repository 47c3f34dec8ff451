// SPDX-License-Identifier: GPL-2.0
/*
 * Code that is generated at run time: instructions of x86-64, and the information for
 * the ORC unwinder.
 */
#include <linux/cache.h>
#include <linux/string.h>
#include <linux/text-patching.h>

#include <asm/generated-text.h>
#include <asm/orc_types.h>
#include <asm/ptrace.h>

void text_write_s32(struct text_writer *w, s32 value)
{
	text_write(w, &value, sizeof(value));
}

/* The operand of a call or jump. */
void text_write_target(struct text_writer *w, const void *target)
{
	long distance = (unsigned long)target - (w->text + w->size + sizeof(s32));

	if (w->buffer && distance != (s32)distance)
		w->too_far = true;
	text_write_s32(w, distance);
}

/* A MOV of a constant to one of the lower eight registers. */
void text_write_ptr(struct text_writer *w, u8 reg, const void *ptr)
{
	unsigned long value = (unsigned long)ptr;

	if (value == (u32)value) {
		text_write_insn(w, 0xb8 + reg);			/* mov $, %e.. */
		text_write_s32(w, value);
	} else {
		text_write_insn(w, 0x48, 0xb8 + reg);		/* movabs $, %r.. */
		text_write(w, &value, sizeof(value));
	}
}

/*
 * An instruction of a register and a word on the stack, @offset from %rsp. The opcode is
 * 0x89 to store, 0x8b to load, 0x8d to get the address.
 */
void text_write_on_stack(struct text_writer *w, u8 opcode, u8 reg, s32 offset)
{
	text_write_insn(w, 0x48 | (reg >> 3) << 2, opcode, 0x84 | (reg & 7) << 3, 0x24);
	text_write_s32(w, offset);
}

void arch_fill_generated_text(void *area, unsigned int size)
{
	memset(area, INT3_INSN_OPCODE, size);
}

#ifdef CONFIG_UNWINDER_ORC
#define AT(words)							\
	[words] = {							\
		.type		= UNWIND_HINT_TYPE_CALL,		\
		.sp_reg		= ORC_REG_SP,				\
		.sp_offset	= ((words) + 1) * sizeof(long),		\
		.bp_reg		= ORC_REG_UNDEFINED,			\
	}

/* What the code of a set of function tracers has on the stack. */
#define REGS_WORDS	(sizeof(struct pt_regs) / sizeof(long))

/* Context: a reader of RCU. Return: NULL if @ip is not in generated code. */
struct orc_entry *generated_text_orc(unsigned long ip)
{
	static struct orc_entry orc[] = {
		AT(0), AT(1), AT(2), AT(3), AT(4), AT(5), AT(6), AT(7), AT(8), AT(9),
		AT(10), AT(11), AT(12), AT(13), AT(REGS_WORDS), AT(REGS_WORDS + 1),
	};
	int depth = generated_text_depth(ip);

	return depth < 0 ? NULL : &orc[depth];
}
#endif
