/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ASM_X86_GENERATED_TEXT_H
#define _ASM_X86_GENERATED_TEXT_H

/* Instructions of code that is generated at run time, and its unwinding. */

#include <linux/generated-text.h>

struct orc_entry;

#ifdef CONFIG_GENERATED_TEXT
void text_write_s32(struct text_writer *w, s32 value);
void text_write_target(struct text_writer *w, const void *target);
void text_write_ptr(struct text_writer *w, u8 reg, const void *ptr);
void text_write_on_stack(struct text_writer *w, u8 opcode, u8 reg, s32 offset);

#define text_write_insn(w, bytes...)					\
	text_write(w, (const u8 []){ bytes }, sizeof((const u8 []){ bytes }))

/* An instruction with a per-CPU operand. */
#define text_write_this_cpu(w, var, bytes...)				\
	do {								\
		if (IS_ENABLED(CONFIG_SMP))				\
			text_write_insn(w, 0x65);			\
		text_write_insn(w, bytes);				\
		text_write_s32(w, (unsigned long)&(var));		\
	} while (0)

void arch_fill_generated_text(void *area, unsigned int size);
struct orc_entry *generated_text_orc(unsigned long ip);
#else
static inline struct orc_entry *generated_text_orc(unsigned long ip)
{
	return NULL;
}
#endif

#endif /* _ASM_X86_GENERATED_TEXT_H */
