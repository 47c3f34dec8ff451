/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ASM_X86_TRACEPOINT_H
#define _ASM_X86_TRACEPOINT_H

/*
 * Tracepoints on 64-bit x86: the stub is a patched jump to a trampoline, which is
 * generated for the attached probes. Included only by linux/tracepoint.h.
 */

#include <linux/linkage.h>
#include <linux/objtool.h>
#include <linux/percpu.h>
#include <linux/stringify.h>
#include <asm/asm.h>

struct generated_text;
struct tracepoint_func;

/* How many words the ABI passes in registers, not counting the data. */
#define TRACEPOINT_REG_ARGS	5
#define TRACEPOINT_STACK_ARGS(nr)					\
	((nr) > TRACEPOINT_REG_ARGS ? (nr) - TRACEPOINT_REG_ARGS : 0)

/* Without SMP, per-CPU variables are plain variables. */
#ifdef CONFIG_SMP
#define __TRACESTUB_PERCPU	"%gs:"
#else
#define __TRACESTUB_PERCPU	""
#endif

/* With call depth tracking, functions begin with room for a count of the call. */
#ifdef CONFIG_CALL_PADDING
#define TRACESTUB_ALIGN		ASM_FUNC_ALIGN "\n\t"
#else
#define TRACESTUB_ALIGN
#endif

/* test $, %eax; of IMV_JUMP_TO_OWNER_SIZE bytes */
#define TRACESTUB_TEST_OPCODE	0xa9

/*
 * What srcu_read_lock_fast_notrace(&tracepoint_srcu) does: the current counters of this
 * CPU are loaded, their first member is incremented. They stay in the register of the
 * data until the code that the jump leads to has saved them, and are needed at its end.
 *
 * The jump is a site of an immediate value, of the kind IMV_JUMP_TO. Without a
 * trampoline it becomes a call of __tracepoint_walk(), which does not return here.
 * The code at the return address is a TEST that is never executed. Its operand is
 * the reference to the tracepoint. The opcode only helps disassemblers.
 */
#define ARCH_TRACESTUB(name)						\
	asm(".pushsection .text, \"ax\"\n\t"				\
	    TRACESTUB_ALIGN						\
	    ".globl __traceiter_" #name "\n\t"				\
	    ".type __traceiter_" #name ", @function\n"			\
	    "__traceiter_" #name ":\n\t"				\
	    ANNOTATE_NOENDBR "\n\t"					\
	    "mov tracepoint_srcu(%rip), %rdi\n\t"			\
	    "incq " __TRACESTUB_PERCPU "(%rdi)\n\t"			\
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
void __tracepoint_walk(void);
extern const u8 __tracepoint_walk_end[];

int arch_make_tracepoint_code(const char *name, const struct tracepoint_func *probes,
			      unsigned int nr_args, struct generated_text *code);
bool is_tracepoint_dispatch(unsigned long addr);
unsigned long tracepoint_traced_ip(unsigned long ip, const unsigned long *stack,
				   unsigned int nr_args);

/**
 * tracepoint_caller_regs - make registers refer to the traced code
 * @regs: registers of a probe's caller, from perf_fetch_caller_regs() in the probe
 * @args: the arguments of the tracepoint
 *
 * Sets the instruction pointer to that of the code that has the tracepoint, unless C
 * code calls the probe. The frame of a probe has the %rbp of its caller and the return
 * address.
 */
#define tracepoint_caller_regs(regs, args...)				\
	do {								\
		unsigned long __tp_ip = 0;				\
									\
		if (CONCATENATE(__TP_WORDS_, COUNT_ARGS(args))(args))	\
			__tp_ip = tracepoint_traced_ip((regs)->ip,	\
				(const unsigned long *)(regs)->sp + 2,	\
				COUNT_ARGS(args));			\
		if (__tp_ip)						\
			(regs)->ip = __tp_ip;				\
	} while (0)

#endif /* _ASM_X86_TRACEPOINT_H */
