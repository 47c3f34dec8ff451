/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ASM_X86_RUNTIME_CONST_H
#define _ASM_X86_RUNTIME_CONST_H

/*
 * Runtime constants: variables that are set once while booting. They are immediate
 * values, but not only of a MOV: a shift count and a mask are operands, too. Each is
 * the end of its instruction; see arch/x86/kernel/immediate.c.
 */

#ifdef __ASSEMBLER__

.macro RUNTIME_CONST_PTR sym reg
1:	movabsq	$0, %\reg
2:	.pushsection __imv, "aw"
	.balign 4
	.long 1b - .
	.long 2b - 1b
	.long \sym + 3 - .
	.popsection
.endm

#else

#include <linux/immediate.h>

#ifdef CONFIG_64BIT
#define RUNTIME_CONST_MOV	"movabsq $0, %0"
#define RUNTIME_CONST_PTR_LOG2	3
#else
#define RUNTIME_CONST_MOV	"movl $0, %0"
#define RUNTIME_CONST_PTR_LOG2	2
#endif

/* Not volatile: the compiler may read a constant once for several uses. */
#define __runtime_const(insn, constraint, out, sym, log2size)		\
	asm_inline("1: " insn "\n"					\
		   "2:\n\t"						\
		   IMV_SITE("__imv", "2b - 1b", "%c1 + %c2")		\
		   : constraint (out) : "i" (&(sym)), "i" (log2size))

#define runtime_const_ptr(sym)						\
	({								\
		__typeof__(sym) __const_ptr;				\
									\
		__runtime_const(RUNTIME_CONST_MOV, "=r", __const_ptr,	\
				sym, RUNTIME_CONST_PTR_LOG2);		\
		__const_ptr;						\
	})

/* The type of @val is one of 32 bits, or long, whose upper bits are cleared. */
#define __runtime_const_32(insn, val, sym, log2size)			\
	({								\
		__typeof__(0u + (val)) __const_val = (val);		\
									\
		__runtime_const(insn, "+r", __const_val, sym, log2size);	\
		__const_val;						\
	})

/* Any operand but 1, for which the assembler has a shorter instruction. */
#define runtime_const_shift_right_32(val, sym)				\
	__runtime_const_32("shrl $12, %k0", val, sym, 0)
/* And a mask that does not fit in a byte. */
#define runtime_const_mask_32(val, sym)					\
	__runtime_const_32("andl $0x12345678, %k0", val, sym, 2)

#define runtime_const_init(type, sym)	imv_make_const(&(sym))

#endif
#endif /* _ASM_X86_RUNTIME_CONST_H */
