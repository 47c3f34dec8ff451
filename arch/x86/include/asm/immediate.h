/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ASM_X86_IMMEDIATE_H
#define _ASM_X86_IMMEDIATE_H

/*
 * Immediate values on x86. Included only by linux/immediate.h, which describes
 * the interface.
 *
 * A data site is "mov $imm32, %reg" for values of up to four bytes and, on
 * 64 bit, "movabs $imm64, %reg" for eight. A one or two byte value takes the
 * 32-bit form too: it needs no length-changing prefix and does not merge into
 * the old contents of the register.
 *
 * A jump site is a NOP or JMP: two bytes when the target is near, else five.
 * Objtool makes the NOP; where it does not run, the site is a five-byte NOP from
 * the start. arch_imv_init_site() shortens one that is longer than necessary.
 */

#include <linux/stringify.h>
#include <asm/nops.h>

#define IMV_SITE(section, target, var)				\
	".pushsection " section ", \"aw\"\n\t"			\
	".balign 4\n\t"						\
	".long 1b - .\n\t"					\
	".long " target "\n\t"					\
	".long " var " - .\n\t"					\
	".popsection\n\t"

#define __imv_mov(insn, out, addr, log2size)			\
	asm volatile("1: " insn "\n"				\
		     "2:\n\t"					\
		     IMV_SITE("__imv", "2b - 1b", "%c1 + %c2")	\
		     : "=r" (out) : "i" (addr), "i" (log2size))

/* @var is an lvalue whose address is a constant; the size is 1, 2 or 4. */
#define __imv_read_word(var)						\
	({								\
		unsigned long __imv_word;				\
									\
		__imv_mov("movl $0, %k0", __imv_word, &(var),		\
			  sizeof(var) / 2);				\
		(__typeof__(var))__imv_word;				\
	})

#ifdef CONFIG_64BIT
#define __imv_read_wide(var)						\
	({								\
		unsigned long __imv_wide;				\
									\
		__imv_mov("movabsq $0, %q0", __imv_wide, &(var), 3);	\
		(__typeof__(var))__imv_wide;				\
	})
#else
/*
 * Two registers, and so two sites; see linux/immediate.h. The compiler also checks
 * this for narrower values, which are not read here; then it casts to a type that
 * is always valid.
 */
#define __imv_read_wide(var)						\
	({								\
		u32 __imv_low, __imv_high;				\
									\
		__imv_mov("movl $0, %0", __imv_low, &(var), 2);		\
		__imv_mov("movl $0, %0", __imv_high,			\
			  (char *)&(var) + 4, 2);			\
		(__typeof__(__builtin_choose_expr(sizeof(var) == 8,	\
						  (var), 0ULL)))	\
			((u64)__imv_high << 32 | __imv_low);		\
	})
#endif

#define arch_imv_read(var)						\
	__builtin_choose_expr(sizeof(var) == 8,				\
			      __imv_read_wide(var), __imv_read_word(var))

#ifdef CONFIG_HAVE_JUMP_LABEL_HACK
#define IMV_JUMP_INSN	"jmp %l[l_away]"
#define IMV_JUMP_BUILT	IMV_JUMP_NOP
#else
#define IMV_JUMP_INSN	".byte " __stringify(BYTES_NOP5)
#define IMV_JUMP_BUILT	0
#endif

/*
 * Both forms are compiled for a value of zero: the unlikely one is a NOP, with its
 * block out of line; the likely one is a JMP past its block.
 */
static __always_inline bool arch_imv_branch(const void *var, const bool likely)
{
	if (likely)
		asm goto("1: jmp %l[l_away]\n\t"
			 IMV_SITE("__imv_jump", "%l[l_away] - .", "%c0 + %c1")
			 : : "i" (var), "i" (IMV_JUMP_LIKELY) : : l_away);
	else
		asm goto("1: " IMV_JUMP_INSN "\n\t"
			 IMV_SITE("__imv_jump", "%l[l_away] - .", "%c0 + %c1")
			 : : "i" (var), "i" (IMV_JUMP_BUILT) : : l_away);
	return likely;
l_away:
	return !likely;
}

#endif /* _ASM_X86_IMMEDIATE_H */
