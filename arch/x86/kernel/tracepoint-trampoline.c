// SPDX-License-Identifier: GPL-2.0
/*
 * Trampolines of tracepoints: code that calls the probes of one tracepoint, each
 * with its data as a constant and by a direct call. A loop over an array has an
 * indirect call for each probe, which is slow with mitigations like retpolines.
 *
 * The stub of the tracepoint jumps here as a reader, with the counters of SRCU in %rdi and
 * the arguments where the probes expect them, except their first one, the data. A
 * trampoline is
 *
 *	leave on a CPU that is offline, where RCU is not watching; not if it may fault
 *	push %rbp; mov %rsp, %rbp	with frame pointers
 *	push %rdi			save the counters
 *	push %rsi; ...			save, if there are several probes
 *	sub $..., %rsp			room for arguments on the stack
 *  for each probe:
 *	mov ...(%rsp), %rax; ...	a copy of these arguments
 *	mov ...(%rsp), %rsi; ...	restore, except for the first one; the last one pops
 *	mov $data, %rdi
 *	call probe
 *
 *	add $..., %rsp			if there is more on the stack
 *	pop %rdi; pop %rbp
 *	increment the second counter; return
 *
 * After that increment, only the return is executed here: memory of trampolines is freed
 * when no task is in it, see kernel/generated-text.c.
 *
 * The idea is from the trampolines of ftrace and BPF.
 */
#include <linux/cpumask.h>
#include <linux/export.h>
#include <linux/kallsyms.h>
#include <linux/srcu.h>
#include <linux/text-patching.h>
#include <linux/tracepoint.h>
#include <asm/generated-text.h>

/* Numbers of registers, as encoded in instructions. */
enum { AX = 0, CX = 1, DX = 2, SI = 6, DI = 7, R8 = 8, R9 = 9 };

/* The registers of arguments, without that of the data. */
static const u8 arg_regs[TRACEPOINT_REG_ARGS] = { SI, DX, CX, R8, R9 };

/* Is an address in code that calls probes? Stacks of events omit it. In any context. */
bool is_tracepoint_dispatch(unsigned long addr)
{
	return is_kernel_text(addr) ? is_tracepoint_walk(addr) :
				      is_generated_text(GENERATED_TRACEPOINT, addr);
}
EXPORT_SYMBOL_GPL(is_tracepoint_dispatch);	/* for the events of modules */

/* The stub relies on it. */
static_assert(!offsetof(struct srcu_struct, srcu_ctrp) &&
	      !offsetof(struct srcu_ctr, srcu_locks));

struct trampoline {
	const struct tracepoint_func *probes;
	unsigned int in_regs;
	unsigned int on_stack;
	unsigned int words;	/* on the stack */
	bool own_end;
	bool faultable;
};

static void write_push(struct text_writer *w, struct trampoline *t, u8 reg)
{
	if (reg >= R8)
		text_write_insn(w, 0x41);
	text_write_insn(w, 0x50 + (reg & 7));
	text_write_depth(w, ++t->words);
}

static void write_pop(struct text_writer *w, struct trampoline *t, u8 reg)
{
	if (reg >= R8)
		text_write_insn(w, 0x41);
	text_write_insn(w, 0x58 + (reg & 7));
	text_write_depth(w, --t->words);
}

static void write_online_check(struct text_writer *w)
{
#ifdef CONFIG_SMP
	text_write_this_cpu(w, cpu_number, 0x8b, 0x04, 0x25);	/* mov, %eax */
	text_write_insn(w, 0x48, 0x0f, 0xa3, 0x04, 0x25);	/* bt %rax, */
	text_write_s32(w, (unsigned long)&__cpu_online_mask);
	text_write_insn(w, 0x0f, 0x83);				/* jae */
	text_write_target(w, __tracepoint_leave);
#endif
}

static void write_begin(struct text_writer *w, struct trampoline *t)
{
	bool several = t->probes[1].func;
	unsigned int i;

	if (IS_ENABLED(CONFIG_FRAME_POINTER))
		text_write_insn(w, 0x55, 0x48, 0x89, 0xe5);	/* push %rbp; mov %rsp, %rbp */
	write_push(w, t, DI);
	for (i = 0; several && i < t->in_regs; i++)
		write_push(w, t, arg_regs[i]);
	if (t->on_stack) {
		text_write_insn(w, 0x48, 0x83, 0xec, 8 * t->on_stack);
		t->words += t->on_stack;
		text_write_depth(w, t->words);
	}
}

/*
 * Probes may change their arguments, in registers and on the stack. The last of several
 * gets those in registers off the stack, unless others lie on top of them.
 */
static void write_args(struct text_writer *w, struct trampoline *t, bool first, bool last)
{
	unsigned int i, frame = IS_ENABLED(CONFIG_FRAME_POINTER);

	if (last && !first && !t->on_stack) {
		for (i = t->in_regs; i--; )
			write_pop(w, t, arg_regs[i]);
		return;
	}

	for (i = 0; i < t->on_stack; i++) {
		text_write_on_stack(w, 0x8b, AX, 8 * (t->words + frame + 1 + i));
		text_write_on_stack(w, 0x89, AX, 8 * i);
	}
	for (i = 0; !first && i < t->in_regs; i++)
		text_write_on_stack(w, 0x8b, arg_regs[i], 8 * (t->words - 2 - i));
}

/* Does the same as __tracepoint_leave(), for which it can save the jump. */
static void write_end(struct text_writer *w, struct trampoline *t)
{
	if (t->words > 1) {
		text_write_insn(w, 0x48, 0x83, 0xc4, 8 * (t->words - 1));
		t->words = 1;
		text_write_depth(w, 1);
	}
	write_pop(w, t, DI);
	if (IS_ENABLED(CONFIG_FRAME_POINTER))
		text_write_insn(w, 0x5d);			/* pop %rbp */
	if (!t->own_end) {
		text_write_insn(w, JMP32_INSN_OPCODE);
		text_write_target(w, t->faultable ? __tracepoint_leave_faultable :
						    __tracepoint_leave);
		return;
	}
	if (t->faultable && !IS_ENABLED(CONFIG_TASKS_TRACE_RCU_NO_MB))
		text_write_insn(w, 0xf0);			/* lock */
	if (IS_ENABLED(CONFIG_SMP))
		text_write_insn(w, 0x65);			/* %gs: */
	text_write_insn(w, 0x48, 0xff, 0x47,			/* incq ...(%rdi) */
			offsetof(struct srcu_ctr, srcu_unlocks));
	text_write_insn(w, RET_INSN_OPCODE, INT3_INSN_OPCODE);
}

static void write_trampoline(struct text_writer *w, const void *arg)
{
	struct trampoline t = *(const struct trampoline *)arg;
	const struct tracepoint_func *probe;

	if (!t.faultable)
		write_online_check(w);
	write_begin(w, &t);
	for (probe = t.probes; probe->func; probe++) {
		write_args(w, &t, probe == t.probes, !probe[1].func);
		text_write_ptr(w, DI, probe->data);
		text_write_insn(w, CALL_INSN_OPCODE);
		text_write_target(w, probe->func);
	}
	write_end(w, &t);
}

/* The kind of return that the CPU needs is known after boot. */
static bool may_return(void)
{
	return !IS_ENABLED(CONFIG_MITIGATION_RETHUNK) ||
	       (system_state != SYSTEM_BOOTING && !cpu_feature_enabled(X86_FEATURE_RETHUNK));
}

/*
 * Makes the trampoline of at least one probe. Takes text_mutex.
 *
 * Return: 0, -ENOMEM (also for more than about 500 probes), or -ERANGE if a probe
 *	   is not a function of the kernel or of a module.
 */
int arch_make_tracepoint_code(struct tracepoint *tp, const struct tracepoint_func *probes,
			      struct generated_text *code)
{
	struct trampoline trampoline = {
		.probes = probes,
		.in_regs = min(tp->nr_args, TRACEPOINT_REG_ARGS),
		.on_stack = TRACEPOINT_STACK_ARGS(tp->nr_args),
		.own_end = may_return(),
		.faultable = tracepoint_is_faultable(tp),
	};

	return generate_text(GENERATED_TRACEPOINT, tp->name, write_trampoline,
			     &trampoline, code);
}
