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
 * Objtool makes the NOP or, in an object that it has not seen, arch_imv_init_site(),
 * which also shortens a site that is longer than necessary. Where no kernel is built
 * with objtool, the site is a five-byte NOP from the start.
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

/* Compiled for a value of zero: a NOP, with the block of the condition out of line. */
#ifdef CONFIG_HAVE_JUMP_LABEL_HACK
#define IMV_NOP_INSN(target)	"jmp " target
#define IMV_NOP_FLAGS		IMV_JUMP_NOP
#else
#define IMV_NOP_INSN(target)	".byte " __stringify(BYTES_NOP5)
#define IMV_NOP_FLAGS		0
#endif

/* For Rust, too. */
#define ARCH_IMV_BRANCH_ASM(var, target)				\
	"1: " IMV_NOP_INSN(target) "\n\t"				\
	IMV_SITE("__imv_jump", target " - .", var " + " __stringify(IMV_NOP_FLAGS))

/* A condition on arch_imv_branch() is the same, but takes longer to compile. */
#define arch_imv_goto(var, label)					\
	asm goto(ARCH_IMV_BRANCH_ASM("%c0", "%l[" #label "]")		\
		 : : "i" (var) : : label)

static __always_inline bool arch_imv_branch(const void *var)
{
	arch_imv_goto(var, l_away);
	return false;
l_away:
	return true;
}

#endif /* _ASM_X86_IMMEDIATE_H */
