// SPDX-License-Identifier: GPL-2.0
/* KUnit tests of the code of sets of function tracers: registers, direct calls, stacks. */
#include <linux/ptrace.h>
#include <linux/stacktrace.h>

#ifdef CONFIG_X86_64
#include <asm/ibt.h>
#endif

#include "test_ftrace_sets.h"

#ifdef CONFIG_X86_64
asmlinkage int traced_for_asm(int number);

asmlinkage noinline int traced_for_asm(int number)
{
	asm volatile("");
	return number;
}

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS
/* Do the argument, the callee-saved registers and the interrupt flag stay the same? */
static noinline notrace bool keeps_registers(void)
{
	unsigned long in[3] = { 1, 2, 3 }, out[3];
	int result;

	nr_called = 0;
	asm volatile("mov %[in0], %%r12\n\tmov %[in1], %%r13\n\tmov %[in2], %%r14\n\t"
		     "mov $5, %%edi\n\tcall traced_for_asm\n\t"
		     "mov %%r12, %[out0]\n\tmov %%r13, %[out1]\n\tmov %%r14, %[out2]"
		     : [out0] "=m" (out[0]), [out1] "=m" (out[1]), [out2] "=m" (out[2]),
		       "=a" (result), ASM_CALL_CONSTRAINT
		     : [in0] "m" (in[0]), [in1] "m" (in[1]), [in2] "m" (in[2])
		     : "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12",
		       "r13", "r14", "cc", "memory");
	return !memcmp(in, out, sizeof(in)) && result == 5 && !irqs_disabled();
}

static unsigned int kunit_direct_calls __used;
asmlinkage void kunit_direct(void);
asmlinkage void kunit_direct_instead(void);

/*
 * The addresses are even: bit 0 has a meaning. The second one is jumped to, so it returns
 * to the caller of the function.
 */
asm("	.pushsection .text, \"ax\", @progbits\n"
	"	.balign 16\n"
	"	.type kunit_direct, @function\n"
	"kunit_direct:\n"
	ASM_ENDBR
	"	incl kunit_direct_calls(%rip)\n"
	ASM_RET
	"	.size kunit_direct, . - kunit_direct\n"
	"	.balign 16\n"
	"	.type kunit_direct_instead, @function\n"
	"kunit_direct_instead:\n"
	ASM_ENDBR
	"	incl kunit_direct_calls(%rip)\n"
	"	mov %edi, %eax\n"
	ASM_RET
	"	.size kunit_direct_instead, . - kunit_direct_instead\n"
	"	.popsection\n");

static struct ftrace_ops direct_ops;

static int attach_direct_to(unsigned long addr)
{
	int ret;

	direct_ops = (struct ftrace_ops){ };
	ret = ftrace_set_filter_ip(&direct_ops, (unsigned long)traced_for_asm, 0, 0);
	return ret ?: register_ftrace_direct(&direct_ops, addr);
}

static int attach_direct(void)
{
	return attach_direct_to((unsigned long)kunit_direct);
}

static int detach_direct(void)
{
	return unregister_ftrace_direct(&direct_ops, direct_ops.direct_call, true);
}

/* All tracers are called, and then the direct function. */
static void expect_direct(struct kunit *test, unsigned long addr)
{
	static const unsigned long flags[] = {
		0, FTRACE_OPS_FL_SAVE_REGS, FTRACE_OPS_FL_RECURSION,
	};
	unsigned int i;

	start(test, 0, flags[0], traced_for_asm);
	kunit_direct_calls = 0;
	KUNIT_ASSERT_EQ(test, attach_direct_to(addr), 0);
	for (i = 1; i < ARRAY_SIZE(flags); i++)
		start(test, i, flags[i], traced_for_asm);
	KUNIT_EXPECT_TRUE(test, keeps_registers());
	KUNIT_EXPECT_EQ(test, calls(), 321UL);
	KUNIT_EXPECT_EQ(test, kunit_direct_calls, 1);
	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		stop(test, i);
		KUNIT_EXPECT_TRUE(test, keeps_registers());
		KUNIT_EXPECT_EQ(test, kunit_direct_calls, i + 2);
	}
	KUNIT_EXPECT_EQ(test, calls(), 0UL);
	KUNIT_EXPECT_EQ(test, detach_direct(), 0);
	KUNIT_EXPECT_TRUE(test, keeps_registers());
	KUNIT_EXPECT_EQ(test, kunit_direct_calls, 4);
}

static void sets_test_direct(struct kunit *test)
{
	expect_direct(test, (unsigned long)kunit_direct);
}

/* The function jumps to the direct function instead of calling it. */
static void sets_test_direct_jump(struct kunit *test)
{
	if (!IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_JMP))
		kunit_skip(test, "needs DYNAMIC_FTRACE_WITH_JMP");
	expect_direct(test, ftrace_jmp_set((unsigned long)kunit_direct_instead));
}
#endif /* CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS */

#ifndef CONFIG_FRAME_POINTER
/* The values of the registers before a call, and in the function that is then called. */
static unsigned long kunit_before[15] __used, kunit_seen[15] __used;
static unsigned long kunit_flags_before __used, kunit_flags_seen __used;
static unsigned long kunit_sp __used, kunit_bp_of_tracer __used;

asmlinkage void kunit_call_with_registers(void);
asmlinkage void kunit_see_registers(void);
asmlinkage void kunit_note_bp(unsigned long ip, unsigned long parent_ip,
			      struct ftrace_ops *ops, struct ftrace_regs *fregs);

#define EACH_REGISTER(how)						\
	how(0, rax) how(1, rcx) how(2, rdx) how(3, rbx) how(4, rbp)	\
	how(5, rsi) how(6, rdi) how(7, r8) how(8, r9) how(9, r10)	\
	how(10, r11) how(11, r12) how(12, r13) how(13, r14) how(14, r15)
#define LOAD_BEFORE(i, reg)	"mov kunit_before+8*" #i "(%rip), %" #reg "\n\t"
#define STORE_SEEN(i, reg)	"mov %" #reg ", kunit_seen+8*" #i "(%rip)\n\t"

asm("	.pushsection .text, \"ax\", @progbits\n"
	"	.type kunit_call_with_registers, @function\n"
	"kunit_call_with_registers:\n"
	ASM_ENDBR
	"pushf\n\tpush %rbx\n\tpush %rbp\n\t"
	"push %r12\n\tpush %r13\n\tpush %r14\n\tpush %r15\n\t"
	EACH_REGISTER(LOAD_BEFORE)
	"stc\n\tpushf\n\tpopq kunit_flags_before(%rip)\n\t"
	"mov %rsp, kunit_sp(%rip)\n\t"
	"call traced_for_asm\n\t"
	"pop %r15\n\tpop %r14\n\tpop %r13\n\tpop %r12\n\t"
	"pop %rbp\n\tpop %rbx\n\tpopf\n\t"
	ASM_RET
	"	.size kunit_call_with_registers, . - kunit_call_with_registers\n"
	"	.type kunit_see_registers, @function\n"
	"kunit_see_registers:\n"
	ASM_ENDBR
	"pushf\n\tpopq kunit_flags_seen(%rip)\n\t"
	EACH_REGISTER(STORE_SEEN)
	ASM_RET
	"	.size kunit_see_registers, . - kunit_see_registers\n"
	"	.type kunit_note_bp, @function\n"
	"kunit_note_bp:\n"
	ASM_ENDBR
	"mov %rbp, kunit_bp_of_tracer(%rip)\n\t"
	ASM_RET
	"	.size kunit_note_bp, . - kunit_note_bp\n"
	"	.popsection\n");

static const u8 registers[] = {
	offsetof(struct pt_regs, ax), offsetof(struct pt_regs, cx),
	offsetof(struct pt_regs, dx), offsetof(struct pt_regs, bx),
	offsetof(struct pt_regs, bp), offsetof(struct pt_regs, si),
	offsetof(struct pt_regs, di), offsetof(struct pt_regs, r8),
	offsetof(struct pt_regs, r9), offsetof(struct pt_regs, r10),
	offsetof(struct pt_regs, r11), offsetof(struct pt_regs, r12),
	offsetof(struct pt_regs, r13), offsetof(struct pt_regs, r14),
	offsetof(struct pt_regs, r15),
};

#define R10_NR	9
#define R11_NR	10

static struct pt_regs got;	/* by the tracer */
static bool change_got;

/* Notes all registers, may change them, and redirects the call. */
static notrace void redirect_registers(unsigned long ip, unsigned long parent_ip,
				       struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	struct pt_regs *regs = ftrace_get_regs(fregs);
	unsigned int i;

	note_call(ip, parent_ip, ops, fregs);
	if (regs) {
		got = *regs;
		for (i = 0; change_got && i < ARRAY_SIZE(registers); i++)
			*(unsigned long *)((u8 *)regs + registers[i]) += 0x100;
		if (change_got)
			regs->flags ^= X86_EFLAGS_ID;
	}
	ftrace_regs_set_instruction_pointer(fregs, (unsigned long)kunit_see_registers);
}

static void call_with_registers(bool change)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(registers); i++) {
		kunit_before[i] = 0x1000 + i;
		kunit_seen[i] = 0;
	}
	memset(&got, 0, sizeof(got));
	change_got = change;
	nr_called = 0;
	kunit_call_with_registers();
}

/* R11 need not stay, and R10 only if all registers are saved. */
static unsigned int count_unexpected(bool regs, unsigned long change)
{
	unsigned int i, nr = 0;

	for (i = 0; i < ARRAY_SIZE(registers); i++)
		if (i != R11_NR && (regs || i != R10_NR))
			nr += kunit_seen[i] != kunit_before[i] + change;
	return nr;
}

static void expect_got_registers(struct kunit *test)
{
	const unsigned long flags = X86_EFLAGS_CF | X86_EFLAGS_IF | X86_EFLAGS_ID;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(registers); i++)
		KUNIT_EXPECT_EQ(test, *(unsigned long *)((u8 *)&got + registers[i]),
				kunit_before[i]);
	KUNIT_EXPECT_EQ(test, got.sp, kunit_sp - sizeof(long));
	KUNIT_EXPECT_EQ(test, (unsigned long)got.cs, (unsigned long)__KERNEL_CS);
	KUNIT_EXPECT_EQ(test, (unsigned long)got.ss, (unsigned long)__KERNEL_DS);
	KUNIT_EXPECT_EQ(test, got.orig_ax, 0UL);
	KUNIT_EXPECT_EQ(test, got.flags & flags, kunit_flags_before & flags);
}

static void expect_registers(struct kunit *test, bool regs)
{
	call_with_registers(false);
	KUNIT_EXPECT_EQ(test, count_unexpected(regs, 0), 0);
	if (IS_ENABLED(CONFIG_FTRACE_SETS))
		KUNIT_EXPECT_EQ(test, kunit_bp_of_tracer, kunit_before[4]);
	KUNIT_EXPECT_EQ(test, calls(), 2UL);
	if (!regs)
		return;
	KUNIT_EXPECT_FALSE(test, (kunit_flags_seen ^ kunit_flags_before) & X86_EFLAGS_ID);
	expect_got_registers(test);
	call_with_registers(true);
	KUNIT_EXPECT_EQ(test, count_unexpected(true, 0x100), 0);
	KUNIT_EXPECT_TRUE(test, (kunit_flags_seen ^ kunit_flags_before) & X86_EFLAGS_ID);
	KUNIT_EXPECT_FALSE(test, irqs_disabled());
}

/* A tracer gets all registers if it asks for them, and may then change them. */
static void sets_test_all_registers(struct kunit *test)
{
	static const unsigned long flags[] = { 0, FTRACE_OPS_FL_SAVE_REGS };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		start_calling(test, 0, 0, traced_for_asm, kunit_note_bp);
		start_calling(test, 1, flags[i] | FTRACE_OPS_FL_IPMODIFY, traced_for_asm,
			      redirect_registers);
		expect_registers(test, flags[i]);
		stop(test, 1);
		stop(test, 0);
	}
}
#endif /* !CONFIG_FRAME_POINTER */

#ifdef CONFIG_FTRACE_SETS
/* Return: the only set of the first tracer, or NULL */
static struct ftrace_set *only_set(struct kunit *test)
{
	struct list_head *sets = &tracers[0].ops.sets;

	KUNIT_EXPECT_TRUE(test, list_is_singular(sets));
	if (!list_is_singular(sets))
		return NULL;
	return list_first_entry(sets, struct ftrace_set_member, of_ops)->set;
}

/* The code calls functions of tracers directly. */
static void sets_test_calls(struct kunit *test)
{
	struct ftrace_set *set;
	unsigned int i;

	need_named_code(test);
	for (i = 0; i < 3; i++)
		start(test, i, 0, traced_a);
	set = only_set(test);
	KUNIT_ASSERT_NOT_NULL(test, set);
	KUNIT_EXPECT_PTR_EQ(test, called_by(test, traced_a), (void *)set->text.text);
	KUNIT_EXPECT_TRUE(test, list_empty(&set->list) && !set->no_text);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_TRUE(test, calls_named(test, set->text.text + set->members[i].call,
						    "note_call"));
}

#if defined(CONFIG_KPROBES) && defined(CONFIG_KALLSYMS)
static typeof(&generated_text_depth) depth_at;

/* Return: the depth of the stack, in words, as unwinders see it */
static int depth_of(const u8 *code)
{
	int depth;

	preempt_disable();
	depth = depth_at((unsigned long)code);
	preempt_enable();
	return depth;
}

/* Return: where the stack pointer is moved by @size; NULL if it is not */
static const u8 *find_move(const struct ftrace_set *set, u8 modrm, u32 size)
{
	const u8 *code = set->text.text, *end = code + set->text.size;
	u8 insn[7] = { 0x48, 0x81, modrm };

	memcpy(insn + 3, &size, sizeof(size));
	for (; code + sizeof(insn) <= end; code++)
		if (!memcmp(code, insn, sizeof(insn)))
			return code;
	return NULL;
}

static void expect_depths(struct kunit *test, const struct ftrace_set *set, bool direct)
{
	const u8 *code = set->text.text, *sub, *add, *add_direct;
	const u32 size = sizeof(struct pt_regs);
	int regs = *code == 0x9c, all = size / sizeof(long) + regs;

	sub = find_move(set, 0xec, size);
	add = find_move(set, 0xc4, size);
	add_direct = find_move(set, 0xc4, size - sizeof(long));
	KUNIT_EXPECT_TRUE(test, sub && add && !add_direct == !direct);
	if (!sub || !add || !add_direct != !direct)
		return;
	KUNIT_EXPECT_EQ(test, depth_of(code), 0);
	KUNIT_EXPECT_EQ(test, depth_of(sub), regs);
	KUNIT_EXPECT_EQ(test, depth_of(sub + 7), all);
	KUNIT_EXPECT_EQ(test, depth_of(add), all);
	KUNIT_EXPECT_EQ(test, depth_of(add + 7), regs);
	KUNIT_EXPECT_EQ(test, depth_of(add + 7 + regs), 0);
	if (!direct)
		return;
	KUNIT_EXPECT_EQ(test, depth_of(add + 7 + regs + 5), all);	/* after the return */
	KUNIT_EXPECT_EQ(test, depth_of(add_direct), all);
	KUNIT_EXPECT_EQ(test, depth_of(add_direct + 7), 1 + regs);
	KUNIT_EXPECT_EQ(test, depth_of(add_direct + 7 + regs), 1);
	/* the call that does not return */
	KUNIT_EXPECT_EQ(test, depth_of(add_direct + 7 + regs + 6), 2);
	KUNIT_EXPECT_EQ(test, depth_of(add_direct + 7 + regs + 11), 1);
}

/* Unwinders know the depth of the stack at each instruction. */
static void sets_test_depths(struct kunit *test)
{
	static const struct { unsigned long flags; bool direct; } rows[] = {
		{ 0, false }, { FTRACE_OPS_FL_SAVE_REGS, false },
#ifdef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS
		{ 0, true },
#endif
	};
	struct ftrace_set *set;
	unsigned int i;

	need_symbol(test, "generated_text_depth", (void **)&depth_at);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		start(test, 0, 0, traced_for_asm);
		if (rows[i].direct)
			KUNIT_EXPECT_EQ(test, attach_direct(), 0);
		else
			start(test, 1, rows[i].flags, traced_for_asm);
		set = only_set(test);
		if (set)
			expect_depths(test, set, rows[i].direct);
		if (rows[i].direct)
			KUNIT_EXPECT_EQ(test, detach_direct(), 0);
		else
			stop(test, 1);
		stop(test, 0);
	}
}
#endif
#endif /* CONFIG_FTRACE_SETS */

#endif /* CONFIG_X86_64 */

static unsigned long stack[8];

static notrace void save_stack(unsigned long ip, unsigned long parent_ip,
			       struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	stack_trace_save(stack, ARRAY_SIZE(stack), 0);
	barrier();	/* a tail call would have no frame */
}

/* One stack entry is between a tracer and the traced function, as for one tracer. */
static void sets_test_stack(struct kunit *test)
{
	static const unsigned long flags[] = { 0, FTRACE_OPS_FL_SAVE_REGS };
	unsigned int i;

	need_named_code(test);
	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		start(test, 0, flags[i], traced_a);
		start_calling(test, 1, 0, traced_a, save_stack);
		memset(stack, 0, sizeof(stack));
		call_a();
		stop(test, 1);
		stop(test, 0);
		KUNIT_EXPECT_TRUE(test, is_in(stack[0], save_stack));
		KUNIT_EXPECT_TRUE(test, is_in(stack[2], traced_a));
		KUNIT_EXPECT_TRUE(test, is_in(stack[3], call_a));
	}
}

static struct kunit_case sets_test_cases[] = {
#ifdef CONFIG_X86_64
#ifndef CONFIG_FRAME_POINTER
	KUNIT_CASE(sets_test_all_registers),
#endif
#ifdef CONFIG_FTRACE_SETS
	KUNIT_CASE(sets_test_calls),
#if defined(CONFIG_KPROBES) && defined(CONFIG_KALLSYMS)
	KUNIT_CASE(sets_test_depths),
#endif
#endif
#ifdef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS
	KUNIT_CASE(sets_test_direct),
	KUNIT_CASE(sets_test_direct_jump),
#endif
#endif
	KUNIT_CASE(sets_test_stack),
	{ }
};

SETS_TEST_SUITE("ftrace_sets_code", sets_test_cases);

MODULE_DESCRIPTION("KUnit tests of the code of sets of function tracers");
MODULE_LICENSE("GPL");
