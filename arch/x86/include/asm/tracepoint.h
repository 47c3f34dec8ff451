/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ASM_X86_TRACEPOINT_H
#define _ASM_X86_TRACEPOINT_H

/*
 * Tracepoints on 64-bit x86: the stub is a jump, patched to lead to a
 * trampoline made for the probes that are connected. Included by
 * linux/tracepoint.h alone.
 */

#include <linux/objtool.h>
#include <linux/percpu.h>
#include <linux/stringify.h>
#include <asm/asm.h>

struct generated_text;
struct pt_regs;
struct tracepoint_func;

/* The words that the ABI passes in registers, without that of the data. */
#define TRACEPOINT_REG_ARGS	5

/* Without SMP, the variables of the CPU are like any other. */
#ifdef CONFIG_SMP
#define __TRACESTUB_PERCPU	"%gs:"
#else
#define __TRACESTUB_PERCPU	""
#endif

#ifdef CONFIG_PREEMPT_COUNT
#define __TRACESTUB_PREEMPT_DISABLE					\
	"incl " __TRACESTUB_PERCPU "__preempt_count(%rip)\n\t"
#else
#define __TRACESTUB_PREEMPT_DISABLE
#endif

/* test $, %eax; of IMV_JUMP_TO_OWNER_SIZE bytes */
#define TRACESTUB_TEST_OPCODE	0xa9

/*
 * Preemption is disabled before the jump: a CPU in a trampoline is a reader of
 * RCU before any probe is called.
 *
 * The record of the jump is that of an immediate value of the IMV_JUMP_TO kind.
 * Without a trampoline the jump becomes a call of __tracepoint_walk(), which does
 * not return. It reads at its return address whose stub this is: in the operand of
 * a TEST, which is there for disassemblers and is never executed.
 */
#define ARCH_TRACESTUB(name)						\
	asm(".pushsection .text, \"ax\"\n\t"				\
	    ".globl __traceiter_" #name "\n\t"				\
	    ".type __traceiter_" #name ", @function\n"			\
	    "__traceiter_" #name ":\n\t"				\
	    ANNOTATE_NOENDBR						\
	    __TRACESTUB_PREEMPT_DISABLE					\
	    "1: jmp __tracepoint_leave\n\t"				\
	    ".byte " __stringify(TRACESTUB_TEST_OPCODE) "\n\t"		\
	    ".long __tracepoint_" #name " - .\n\t"			\
	    ".size __traceiter_" #name ", . - __traceiter_" #name "\n\t" \
	    ".popsection\n\t"						\
	    ".pushsection __imv, \"aw\"\n\t"				\
	    ".balign 4\n\t"						\
	    ".long 1b - .\n\t"						\
	    ".long __tracepoint_leave - .\n\t"				\
	    ".long __tracepoint_" #name " + "				\
	    __stringify(TRACEPOINT_CODE_OFFSET) " + "			\
	    __stringify(IMV_JUMP_TO) " - .\n\t"				\
	    ".popsection")

void __tracepoint_leave(void);
void __tracepoint_resched(void);
void __tracepoint_walk(void);
extern const u8 __tracepoint_walk_end[];

int arch_make_tracepoint_code(const struct tracepoint_func *probes,
			      unsigned int nr_args, struct generated_text *code);
void arch_free_tracepoint_code(const struct generated_text *code);

bool is_tracepoint_trampoline(unsigned long addr);
bool is_tracepoint_dispatch(unsigned long addr);
void tracepoint_caller_regs(struct pt_regs *regs);

#endif /* _ASM_X86_TRACEPOINT_H */
