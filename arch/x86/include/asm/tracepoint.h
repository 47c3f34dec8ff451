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
#include <asm/ibt.h>
#include <asm/nops.h>

struct generated_text;
struct tracepoint_func;

/* How many words the ABI passes in registers, not counting the data. */
#define TRACEPOINT_REG_ARGS	5
#define TRACEPOINT_STACK_ARGS(nr)					\
	((nr) > TRACEPOINT_REG_ARGS ? (nr) - TRACEPOINT_REG_ARGS : 0)

/* How many words a trampoline for one probe has on the stack. */
#define TRACEPOINT_ONE_DEPTH(nr)					\
	(1 + TRACEPOINT_STACK_ARGS(nr) + IS_ENABLED(CONFIG_FRAME_POINTER))

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

/*
 * What srcu_read_lock_fast_notrace() does: the current counters of this CPU are loaded,
 * their first member is incremented. They stay in the register of the data until the code
 * that the jump leads to has saved them, and are needed at its end.
 *
 * The jump is a site of an immediate value, of the kind IMV_JUMP_TO. Without a
 * trampoline it becomes a call of __tracepoint_walk(), which does not return here.
 * The code at the return address is a TEST of IMV_JUMP_TO_OWNER_SIZE bytes that is never
 * executed. Its operand is the reference to the tracepoint.
 */
#define __TRACESTUB(stub, tp, section, kind, srcu, prefix, leave)	\
	".pushsection " section ", \"ax\"\n\t"				\
	TRACESTUB_ALIGN							\
	"." kind " " stub "\n\t"					\
	".type " stub ", @function\n"					\
	stub ":\n\t"							\
	ANNOTATE_NOENDBR "\n\t"						\
	"mov " #srcu "(%rip), %rdi\n\t"					\
	prefix "incq " __TRACESTUB_PERCPU "(%rdi)\n\t"			\
	"1: jmp " #leave "\n\t"						\
	".byte 0xa9\n\t"						\
	".long " tp " - .\n\t"						\
	".size " stub ", . - " stub "\n\t"				\
	".popsection\n\t"						\
	".pushsection __imv, \"aw\"\n\t"				\
	".balign 4\n\t"							\
	".long 1b - .\n\t"						\
	".long " #leave " - .\n\t"					\
	".long " tp " + " __stringify(TRACEPOINT_CODE_OFFSET) " + "	\
	__stringify(IMV_JUMP_TO) " - .\n\t"				\
	".popsection\n\t"

#define ARCH_TRACESTUB(name)						\
	asm(__TRACESTUB("__traceiter_" #name, "__tracepoint_" #name, ".text", \
			"globl", tracepoint_srcu, "", __tracepoint_leave))

/* Readers of RCU tasks trace; the prefix has the effect of their memory barriers. */
#ifdef CONFIG_TASKS_TRACE_RCU_NO_MB
#define TRACESTUB_BARRIER	""
#else
#define TRACESTUB_BARRIER	"lock "
#endif

#define ARCH_TRACESTUB_FAULTABLE(name)					\
	asm(__TRACESTUB("__traceiter_" #name, "__tracepoint_" #name, ".text", \
			"globl", rcu_tasks_trace_srcu_struct,		\
			TRACESTUB_BARRIER, __tracepoint_leave_faultable))

/*
 * What a compiler puts at the start of a function that can be traced. The linker keeps one
 * record of the copies in several objects.
 */
#ifndef CONFIG_FUNCTION_TRACER
#define __MARKSTUB_FENTRY(name)	""
#elif !defined(CONFIG_FTRACE_MCOUNT_USE_CC)
#define __MARKSTUB_FENTRY(name)	"call __fentry__\n\t"
#else
#ifdef CC_USING_NOP_MCOUNT
#define __MARKSTUB_CALL		ASM_NOP5
#else
#define __MARKSTUB_CALL		"call __fentry__\n\t"
#endif
#define __MARKSTUB_FENTRY(name)						\
	__MARKSTUB_CALL							\
	".pushsection __mcount_loc, \"aG\", @progbits, __probestub_" name ", comdat\n\t" \
	_ASM_PTR "__probestub_" name " + " __stringify(__MARKSTUB_ENDBR) "\n\t" \
	".popsection\n\t"
#endif

#ifdef CONFIG_X86_KERNEL_IBT
#define __MARKSTUB_ENDBR	4	/* bytes of ASM_ENDBR */
#else
#define __MARKSTUB_ENDBR	0
#endif

/* No function is there, which the stub would be in the middle of. */
#define __MARKSTUB_TEXT		".text.unlikely.markers"

/*
 * The stub of a marker, and the function for fprobe events, see struct tracepoint. They are
 * in a function, once in each object that has such a marker. One of each is used.
 */
#define ARCH_MARKSTUB(name)						\
	asm_inline volatile(						\
		".ifndef __markstub_" name "\n\t"			\
		__TRACESTUB("__markstub_" name, "__marker_" name, __MARKSTUB_TEXT, \
			    "weak", tracepoint_srcu, "", __tracepoint_leave) \
		".pushsection " __MARKSTUB_TEXT ", \"ax\"\n\t"	\
		TRACESTUB_ALIGN						\
		".weak __probestub_" name "\n\t"			\
		".type __probestub_" name ", @function\n"		\
		"__probestub_" name ":\n\t"				\
		ASM_ENDBR						\
		__MARKSTUB_FENTRY(name)					\
		ASM_RET							\
		".size __probestub_" name ", . - __probestub_" name "\n\t" \
		".popsection\n\t"					\
		IBT_NOSEAL("__probestub_" name)				\
		".endif")

void __tracepoint_leave(void);
void __tracepoint_leave_faultable(void);
void __tracepoint_walk(void);
extern const u8 __tracepoint_walk_end[];

static inline bool is_tracepoint_walk(unsigned long addr)
{
	return addr >= (unsigned long)__tracepoint_walk &&
	       addr < (unsigned long)__tracepoint_walk_end;
}

int arch_make_tracepoint_code(struct tracepoint *tp, const struct tracepoint_func *probes,
			      struct generated_text *code);
bool is_tracepoint_dispatch(unsigned long addr);
unsigned long tracepoint_traced_ip(const struct tracepoint *tp, unsigned long ip,
				   const unsigned long *slot);

/**
 * tracepoint_caller_regs - make registers refer to the traced code
 * @tp: the tracepoint
 * @regs: registers of a probe's caller, from perf_fetch_caller_regs() in the probe
 * @args: the arguments of the tracepoint
 *
 * Sets the instruction pointer to that of the code that has the tracepoint, unless C
 * code calls the probe. The frame of a probe has the %rbp of its caller and the return
 * address.
 */
#define tracepoint_caller_regs(tp, regs, args...)			\
	do {								\
		if (CONCATENATE(__TP_WORDS_, COUNT_ARGS(args))(args))	\
			(regs)->ip = tracepoint_traced_ip(tp, (regs)->ip, \
				(const unsigned long *)(regs)->sp + 2 +	\
				TRACEPOINT_ONE_DEPTH(COUNT_ARGS(args)));	\
	} while (0)

#endif /* _ASM_X86_TRACEPOINT_H */
