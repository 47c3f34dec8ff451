// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of functions that several function tracers trace: each tracer is called
 * only for its own functions, with its own ops, newest first, with any flags.
 */
#include <kunit/test.h>
#include <linux/bits.h>
#include <linux/bitops.h>
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/ctype.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/ftrace.h>
#include <linux/kallsyms.h>
#include <linux/kthread.h>
#include <linux/linkage.h>
#include <linux/module.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/stacktrace.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#ifdef CONFIG_X86_64
#include <asm/ibt.h>
#endif

#include "test_fail_alloc.h"
#include "test_resched.h"

#define MAX_CALLS	128

/* Which tracers were called, in which order. */
static unsigned int called[MAX_CALLS], nr_called;

struct tracer {
	struct ftrace_ops ops;
	unsigned int nr;
	unsigned long ip, parent_ip;
	bool got_regs;
};

/* A function may change all caller-saved registers. */
static __always_inline void change_registers(void)
{
#ifdef CONFIG_X86_64
	asm volatile("xor %%eax, %%eax\n\tmov %%rax, %%rcx\n\tmov %%rax, %%rdx\n\t"
		     "mov %%rax, %%rsi\n\tmov %%rax, %%rdi\n\tmov %%rax, %%r8\n\t"
		     "mov %%rax, %%r9\n\tmov %%rax, %%r10\n\tmov %%rax, %%r11"
		     : : : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "cc");
#endif
}

static notrace void note_call(unsigned long ip, unsigned long parent_ip,
			      struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	struct tracer *tracer = container_of(ops, struct tracer, ops);

	if (nr_called < MAX_CALLS)
		called[nr_called++] = tracer->nr;
	tracer->ip = ip;
	tracer->parent_ip = parent_ip;
	tracer->got_regs = !!ftrace_get_regs(fregs);
	change_registers();
}

static noinline int traced_a(int number)
{
	asm volatile("");
	return number + 1;
}

static noinline int traced_b(int number)
{
	asm volatile("");
	return number + 2;
}

static noinline notrace int call_a(void)
{
	int result;

	nr_called = 0;
	result = traced_a(1);
	barrier();	/* no tail call */
	return result;
}

static noinline notrace int call_b(void)
{
	int result;

	nr_called = 0;
	result = traced_b(1);
	barrier();
	return result;
}

static void init_tracer(struct tracer *tracer, unsigned int nr, unsigned long flags)
{
	*tracer = (struct tracer){ .ops = { .func = note_call, .flags = flags }, .nr = nr };
}

static int want(struct tracer *tracer, void *func)
{
	return ftrace_set_filter_ip(&tracer->ops, (unsigned long)func, 0, 0);
}

static int leave(struct tracer *tracer, void *func)
{
	return ftrace_set_filter_ip(&tracer->ops, (unsigned long)func, 1, 0);
}

/* Registers a tracer of @func, with the callback @call. */
static void start_calling(struct kunit *test, struct tracer *tracer, unsigned int nr,
			  unsigned long flags, void *func, ftrace_func_t call)
{
	init_tracer(tracer, nr, flags);
	tracer->ops.func = call;
	KUNIT_ASSERT_EQ(test, want(tracer, func), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&tracer->ops), 0);
}

static void start(struct kunit *test, struct tracer *tracer, unsigned int nr,
		  unsigned long flags, void *func)
{
	start_calling(test, tracer, nr, flags, func, note_call);
}

static void stop(struct kunit *test, struct tracer *tracer)
{
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&tracer->ops), 0);
	ftrace_free_filter(&tracer->ops);
}

/* The digits are the numbers of the tracers, in the order of their calls. */
static unsigned long calls(void)
{
	unsigned long digits = 0;
	unsigned int i;

	for (i = 0; i < nr_called; i++)
		digits = digits * 10 + called[i];
	return digits;
}

#define expect_calls(test, func, digits)				\
	do {								\
		call_##func();						\
		KUNIT_EXPECT_EQ(test, calls(), digits##UL);		\
	} while (0)

static void sets_test_order(struct kunit *test)
{
	struct tracer *tracers = kunit_kcalloc(test, 4, sizeof(*tracers), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, tracers);
	expect_calls(test, a, 0);
	for (i = 0; i < 4; i++)
		start(test, &tracers[i], i + 1, 0, traced_a);
	expect_calls(test, a, 4321);
	expect_calls(test, b, 0);
	stop(test, &tracers[1]);
	expect_calls(test, a, 431);
	stop(test, &tracers[3]);
	expect_calls(test, a, 31);
	start(test, &tracers[1], 2, 0, traced_a);
	expect_calls(test, a, 231);
	stop(test, &tracers[0]);
	stop(test, &tracers[2]);
	expect_calls(test, a, 2);
	stop(test, &tracers[1]);
	expect_calls(test, a, 0);
}

static void sets_test_filters(struct kunit *test)
{
	struct tracer *tracers = kunit_kcalloc(test, 3, sizeof(*tracers), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, tracers);
	start(test, &tracers[0], 1, 0, traced_a);
	start(test, &tracers[1], 2, 0, traced_b);
	start(test, &tracers[2], 3, 0, traced_a);
	expect_calls(test, a, 31);
	expect_calls(test, b, 2);
	KUNIT_EXPECT_EQ(test, want(&tracers[0], traced_b), 0);
	expect_calls(test, a, 31);
	expect_calls(test, b, 21);
	KUNIT_EXPECT_EQ(test, leave(&tracers[0], traced_a), 0);
	expect_calls(test, a, 3);
	expect_calls(test, b, 21);
	KUNIT_EXPECT_EQ(test, want(&tracers[1], traced_a), 0);
	KUNIT_EXPECT_EQ(test, want(&tracers[0], traced_a), 0);
	expect_calls(test, a, 321);
	expect_calls(test, b, 21);
	stop(test, &tracers[0]);
	stop(test, &tracers[2]);
	expect_calls(test, a, 2);
	expect_calls(test, b, 2);
	stop(test, &tracers[1]);
}

/* Two tracers with the same flags or with different ones. */
static void sets_test_flags(struct kunit *test)
{
	static const unsigned long flags[] = {
		0, FTRACE_OPS_FL_RECURSION, FTRACE_OPS_FL_RCU, FTRACE_OPS_FL_SAVE_REGS,
		FTRACE_OPS_FL_RECURSION | FTRACE_OPS_FL_RCU,
		FTRACE_OPS_FL_RECURSION | FTRACE_OPS_FL_SAVE_REGS,
	};
	struct tracer *tracers = kunit_kcalloc(test, 2, sizeof(*tracers), GFP_KERNEL);
	unsigned int i, k;
	bool regs;

	KUNIT_ASSERT_NOT_NULL(test, tracers);
	for (i = 0; i < 2 * ARRAY_SIZE(flags); i++) {
		unsigned long first = flags[i / 2];
		unsigned long second = flags[(i + 1) / 2 % ARRAY_SIZE(flags)];

		start(test, &tracers[0], 1, first, traced_a);
		start(test, &tracers[1], 2, second, traced_a);
		KUNIT_EXPECT_EQ(test, call_a(), 2);
		KUNIT_EXPECT_EQ(test, calls(), 21UL);
		regs = (first | second) & FTRACE_OPS_FL_SAVE_REGS;
		for (k = 0; k < 2; k++) {
			KUNIT_EXPECT_EQ(test, tracers[k].ip - (unsigned long)traced_a,
					tracers[1 - k].ip - (unsigned long)traced_a);
			KUNIT_EXPECT_LT(test, tracers[k].ip - (unsigned long)traced_a, 16UL);
			KUNIT_EXPECT_LT(test, tracers[k].parent_ip - (unsigned long)call_a,
					128UL);
			KUNIT_EXPECT_EQ(test, tracers[k].got_regs, regs);
		}
		stop(test, &tracers[1]);
		expect_calls(test, a, 1);
		stop(test, &tracers[0]);
	}
}

/* More tracers than a set can have. */
static void sets_test_many(struct kunit *test)
{
	const unsigned int nr = 34;
	struct tracer *tracers = kunit_kcalloc(test, nr, sizeof(*tracers), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, tracers);
	for (i = 0; i < nr; i++) {
		start(test, &tracers[i], i, 0, traced_a);
		call_a();
		KUNIT_EXPECT_EQ(test, nr_called, i + 1);
		KUNIT_EXPECT_EQ(test, called[0], i);
		KUNIT_EXPECT_EQ(test, called[i], 0U);
	}
	for (i = 0; i < nr; i++) {
		stop(test, &tracers[i]);
		call_a();
		KUNIT_EXPECT_EQ(test, nr_called, nr - 1 - i);
	}
}

/* Functions 0 to 99. The names in their code keep compilers from merging them. */
#define FUNCTION(name)							\
	static noinline int name(int number)				\
	{								\
		asm volatile("# " #name);				\
		return number;						\
	}
#define TEN_FUNCTIONS(tens)						\
	FUNCTION(tens##0) FUNCTION(tens##1) FUNCTION(tens##2)		\
	FUNCTION(tens##3) FUNCTION(tens##4) FUNCTION(tens##5)		\
	FUNCTION(tens##6) FUNCTION(tens##7) FUNCTION(tens##8)		\
	FUNCTION(tens##9)
#define TEN_NAMES(tens)							\
	tens##0, tens##1, tens##2, tens##3, tens##4, tens##5, tens##6,	\
	tens##7, tens##8, tens##9

TEN_FUNCTIONS(many_0)
TEN_FUNCTIONS(many_1)
TEN_FUNCTIONS(many_2)
TEN_FUNCTIONS(many_3)
TEN_FUNCTIONS(many_4)
TEN_FUNCTIONS(many_5)
TEN_FUNCTIONS(many_6)
TEN_FUNCTIONS(many_7)
TEN_FUNCTIONS(many_8)
TEN_FUNCTIONS(many_9)

static int (*const many_functions[])(int number) = {
	TEN_NAMES(many_0), TEN_NAMES(many_1), TEN_NAMES(many_2), TEN_NAMES(many_3),
	TEN_NAMES(many_4), TEN_NAMES(many_5), TEN_NAMES(many_6), TEN_NAMES(many_7),
	TEN_NAMES(many_8), TEN_NAMES(many_9),
};

/* Return: the address that a traced function calls */
static void *called_by(struct kunit *test, void *func)
{
	u8 *ip = func;
	s32 distance;

	if (*ip != 0xe8)
		ip += 4;	/* ENDBR */
	KUNIT_EXPECT_EQ(test, *ip, 0xe8);
	memcpy(&distance, ip + 1, sizeof(distance));
	return ip + 5 + distance;
}

/* Does the function call the list of all tracers? */
static bool calls_list(struct kunit *test, void *func)
{
	char name[KSYM_SYMBOL_LEN];

	snprintf(name, sizeof(name), "%ps", called_by(test, func));
	return !strcmp(name, "ftrace_caller") || !strcmp(name, "ftrace_regs_caller");
}

#define NR_BITS	7

/* Registers a tracer of the functions whose numbers have @bit set. */
static int start_bit(struct tracer *tracer, unsigned int bit)
{
	unsigned int i;
	int ret = 0;

	init_tracer(tracer, bit, 0);
	for (i = 0; i < ARRAY_SIZE(many_functions) && !ret; i++)
		if (i & BIT(bit))
			ret = want(tracer, many_functions[i]);
	return ret ?: register_ftrace_function(&tracer->ops);
}

/* Return: the bits of the tracers that a function calls. */
static unsigned long called_bits(unsigned int nr)
{
	unsigned long bits = 0;
	unsigned int i;

	nr_called = 0;
	many_functions[nr](1);
	for (i = 0; i < nr_called; i++)
		bits |= BIT(called[i]);
	return bits;
}

/* Does a function with several tracers have a set? True if this cannot be checked. */
static bool has_set(struct kunit *test, unsigned int nr, unsigned long mask)
{
	return !IS_ENABLED(CONFIG_FTRACE_SETS) || !IS_ENABLED(CONFIG_KALLSYMS) ||
	       hweight_long(nr & mask) < 2 || !calls_list(test, many_functions[nr]);
}

static unsigned int count_wrong(struct kunit *test, unsigned long mask)
{
	unsigned int i, wrong = 0;

	for (i = 0; i < ARRAY_SIZE(many_functions); i++)
		wrong += called_bits(i) != (i & mask) ||
			 nr_called != hweight_long(i & mask) || !has_set(test, i, mask);
	return wrong;
}

/* Nearly every function has its own set, so there are many sets. */
static void sets_test_many_sets(struct kunit *test)
{
	struct tracer *tracers = kunit_kcalloc(test, NR_BITS, sizeof(*tracers), GFP_KERNEL);
	unsigned int bit;

	KUNIT_ASSERT_NOT_NULL(test, tracers);
	for (bit = 0; bit < NR_BITS; bit++)
		KUNIT_EXPECT_EQ(test, start_bit(&tracers[bit], bit), 0);
	KUNIT_EXPECT_EQ(test, count_wrong(test, GENMASK(NR_BITS - 1, 0)), 0);
	stop(test, &tracers[3]);
	KUNIT_EXPECT_EQ(test, count_wrong(test, GENMASK(NR_BITS - 1, 0) & ~BIT(3)), 0);
	for (bit = 0; bit < NR_BITS; bit++)
		if (bit != 3)
			stop(test, &tracers[bit]);
	KUNIT_EXPECT_EQ(test, count_wrong(test, 0), 0);
}

/* A tracer that calls the traced function, until it is not called for that. */
static notrace void call_again(unsigned long ip, unsigned long parent_ip,
			       struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	note_call(ip, parent_ip, ops, fregs);
	if (nr_called < MAX_CALLS)
		traced_a(1);
}

/* One nested call is traced, because an interrupt could have made it. */
static void sets_test_recursion(struct kunit *test)
{
	struct tracer *tracers = kunit_kcalloc(test, 2, sizeof(*tracers), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, tracers);
	start(test, &tracers[0], 1, FTRACE_OPS_FL_RECURSION, traced_a);
	start_calling(test, &tracers[1], 2, FTRACE_OPS_FL_RECURSION, traced_a, call_again);
	expect_calls(test, a, 2211);
	expect_calls(test, a, 2211);
	stop(test, &tracers[1]);
	expect_calls(test, a, 1);
	stop(test, &tracers[0]);
}

/* Requests a reschedule, like the timer interrupt. */
static notrace void ask_for_resched(unsigned long ip, unsigned long parent_ip,
				    struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	note_call(ip, parent_ip, ops, fregs);
	ask_for_task_switch();
}

/* The task reschedules when preemption is re-enabled. */
static void sets_test_resched(struct kunit *test)
{
	struct tracer *tracers = kunit_kcalloc(test, 2, sizeof(*tracers), GFP_KERNEL);
	unsigned int i, late = 0;

	KUNIT_ASSERT_NOT_NULL(test, tracers);
	if (!kernel_preempts_itself())
		kunit_skip(test, "needs a kernel that preempts itself");
	start(test, &tracers[0], 1, FTRACE_OPS_FL_RECURSION, traced_a);
	start_calling(test, &tracers[1], 2, FTRACE_OPS_FL_RECURSION, traced_a, ask_for_resched);
	for (i = 0; i < 100; i++) {
		call_a();
		late += need_resched();
	}
	KUNIT_EXPECT_EQ(test, late, 0);
	KUNIT_EXPECT_EQ(test, calls(), 21UL);
	stop(test, &tracers[1]);
	stop(test, &tracers[0]);
}

#ifdef CONFIG_X86_64
/* Redirects the call to traced_b(); other tracers still get the original address. */
static notrace void redirect(unsigned long ip, unsigned long parent_ip,
			     struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	note_call(ip, parent_ip, ops, fregs);
	ftrace_instruction_pointer_set(fregs, (unsigned long)traced_b);
}

static void sets_test_redirect(struct kunit *test)
{
	struct tracer *tracers = kunit_kcalloc(test, 3, sizeof(*tracers), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, tracers);
	start(test, &tracers[0], 1, 0, traced_a);
	init_tracer(&tracers[1], 2, FTRACE_OPS_FL_IPMODIFY);
	tracers[1].ops.func = redirect;
	KUNIT_ASSERT_EQ(test, want(&tracers[1], traced_a), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&tracers[1].ops), 0);
	start(test, &tracers[2], 3, 0, traced_a);
	KUNIT_EXPECT_EQ(test, call_a(), 3);
	KUNIT_EXPECT_EQ(test, calls(), 321UL);
	KUNIT_EXPECT_EQ(test, tracers[0].ip, tracers[2].ip);
	KUNIT_EXPECT_EQ(test, tracers[0].parent_ip, tracers[2].parent_ip);
	for (i = 0; i < 3; i++)
		stop(test, &tracers[i]);
	KUNIT_EXPECT_EQ(test, call_a(), 2);
}

asmlinkage int traced_for_asm(int number);

asmlinkage noinline int traced_for_asm(int number)
{
	asm volatile("");
	return number;
}

/* Do the argument and the callee-saved registers stay the same? */
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
	return !memcmp(in, out, sizeof(in)) && result == 5;
}

static void sets_test_registers(struct kunit *test)
{
	struct tracer *tracers = kunit_kcalloc(test, 2, sizeof(*tracers), GFP_KERNEL);
	unsigned long flags;

	KUNIT_ASSERT_NOT_NULL(test, tracers);
	for (flags = 0; flags < 2; flags++) {
		start(test, &tracers[0], 1, flags ? FTRACE_OPS_FL_SAVE_REGS : 0,
		      traced_for_asm);
		start(test, &tracers[1], 2, flags ? FTRACE_OPS_FL_RECURSION : 0,
		      traced_for_asm);
		KUNIT_EXPECT_TRUE(test, keeps_registers());
		KUNIT_EXPECT_EQ(test, calls(), 21UL);
		stop(test, &tracers[0]);
		stop(test, &tracers[1]);
	}
}

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS
static unsigned int kunit_direct_calls __used;
asmlinkage void kunit_direct(void);

asm("	.pushsection .text, \"ax\", @progbits\n"
	"	.type kunit_direct, @function\n"
	"kunit_direct:\n"
	ASM_ENDBR
	"	incl kunit_direct_calls(%rip)\n"
	ASM_RET
	"	.size kunit_direct, . - kunit_direct\n"
	"	.popsection\n");

static int attach_direct(void)
{
	return register_ftrace_direct((unsigned long)traced_for_asm,
				      (unsigned long)kunit_direct);
}

static int detach_direct(void)
{
	return unregister_ftrace_direct((unsigned long)traced_for_asm,
					(unsigned long)kunit_direct);
}

/* All tracers are called, and then the direct function. */
static void sets_test_direct(struct kunit *test)
{
	struct tracer *tracers = kunit_kcalloc(test, 3, sizeof(*tracers), GFP_KERNEL);
	static const unsigned long flags[] = {
		0, FTRACE_OPS_FL_SAVE_REGS, FTRACE_OPS_FL_RECURSION,
	};
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, tracers);
	start(test, &tracers[0], 1, flags[0], traced_for_asm);
	kunit_direct_calls = 0;
	KUNIT_ASSERT_EQ(test, attach_direct(), 0);
	for (i = 1; i < ARRAY_SIZE(flags); i++)
		start(test, &tracers[i], i + 1, flags[i], traced_for_asm);
	KUNIT_EXPECT_TRUE(test, keeps_registers());
	KUNIT_EXPECT_EQ(test, calls(), 321UL);
	KUNIT_EXPECT_EQ(test, kunit_direct_calls, 1);
	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		stop(test, &tracers[i]);
		KUNIT_EXPECT_TRUE(test, keeps_registers());
		KUNIT_EXPECT_EQ(test, kunit_direct_calls, i + 2);
	}
	KUNIT_EXPECT_EQ(test, calls(), 0UL);
	KUNIT_EXPECT_EQ(test, detach_direct(), 0);
	KUNIT_EXPECT_TRUE(test, keeps_registers());
	KUNIT_EXPECT_EQ(test, kunit_direct_calls, 4);
}

static notrace void call_asm_again(unsigned long ip, unsigned long parent_ip,
				   struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	note_call(ip, parent_ip, ops, fregs);
	if (nr_called < MAX_CALLS)
		traced_for_asm(1);
}

/* Where recursion prevents the calls of the tracers, it prevents the direct call too. */
static void sets_test_direct_recursion(struct kunit *test)
{
	struct tracer *tracers = kunit_kcalloc(test, 2, sizeof(*tracers), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, tracers);
	start(test, &tracers[0], 1, FTRACE_OPS_FL_RECURSION, traced_for_asm);
	kunit_direct_calls = 0;
	KUNIT_ASSERT_EQ(test, attach_direct(), 0);
	start_calling(test, &tracers[1], 2, FTRACE_OPS_FL_RECURSION, traced_for_asm,
		      call_asm_again);
	KUNIT_EXPECT_TRUE(test, keeps_registers());
	KUNIT_EXPECT_EQ(test, calls(), 2211UL);
	KUNIT_EXPECT_EQ(test, kunit_direct_calls, 2);
	stop(test, &tracers[1]);
	stop(test, &tracers[0]);
	KUNIT_EXPECT_EQ(test, detach_direct(), 0);
}
#endif /* CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS */
#endif /* CONFIG_X86_64 */

static unsigned long stack[8];
static unsigned int stack_depth;

static notrace void save_stack(unsigned long ip, unsigned long parent_ip,
			       struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	stack_depth = stack_trace_save(stack, ARRAY_SIZE(stack), 0);
}

static bool is_in_stack(unsigned int i, void *func)
{
	char name[KSYM_SYMBOL_LEN], wanted[KSYM_SYMBOL_LEN];

	snprintf(name, sizeof(name), "%ps", (void *)stack[i]);
	snprintf(wanted, sizeof(wanted), "%ps", func);
	return i < stack_depth && !strcmp(name, wanted);
}

/* One stack entry is between a tracer and the traced function, as for one tracer. */
static void sets_test_stack(struct kunit *test)
{
	static const unsigned long flags[] = { 0, FTRACE_OPS_FL_SAVE_REGS };
	struct tracer *tracers = kunit_kcalloc(test, 2, sizeof(*tracers), GFP_KERNEL);
	unsigned int i;

	if (!IS_ENABLED(CONFIG_FTRACE_SETS) || !IS_ENABLED(CONFIG_KALLSYMS))
		kunit_skip(test, "needs FTRACE_SETS and KALLSYMS");
	KUNIT_ASSERT_NOT_NULL(test, tracers);
	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		start(test, &tracers[0], 1, flags[i], traced_a);
		init_tracer(&tracers[1], 2, 0);
		tracers[1].ops.func = save_stack;
		KUNIT_ASSERT_EQ(test, want(&tracers[1], traced_a), 0);
		KUNIT_ASSERT_EQ(test, register_ftrace_function(&tracers[1].ops), 0);
		call_a();
		stop(test, &tracers[1]);
		stop(test, &tracers[0]);
		KUNIT_EXPECT_TRUE(test, is_in_stack(0, save_stack));
		KUNIT_EXPECT_TRUE(test, is_in_stack(2, traced_a));
		KUNIT_EXPECT_TRUE(test, is_in_stack(3, call_a));
	}
}

/* The list is called only while there are more tracers than a set can have. */
static void sets_test_no_list(struct kunit *test)
{
	const unsigned int nr = 34, max = 32;
	struct tracer *tracers = kunit_kcalloc(test, nr, sizeof(*tracers), GFP_KERNEL);
	unsigned int i;

	if (!IS_ENABLED(CONFIG_FTRACE_SETS) || !IS_ENABLED(CONFIG_KALLSYMS))
		kunit_skip(test, "needs FTRACE_SETS and KALLSYMS");
	KUNIT_ASSERT_NOT_NULL(test, tracers);
	for (i = 0; i < nr; i++) {
		start(test, &tracers[i], i, i % 3 ? 0 : FTRACE_OPS_FL_SAVE_REGS, traced_a);
		KUNIT_EXPECT_EQ(test, calls_list(test, traced_a), i >= max);
	}
	for (i = 0; i < nr; i++) {
		KUNIT_EXPECT_EQ(test, calls_list(test, traced_a), nr - i > max);
		stop(test, &tracers[i]);
	}
}

/* Functions that the same tracers trace share a set. */
static void sets_test_shared(struct kunit *test)
{
	struct tracer *tracers = kunit_kcalloc(test, 3, sizeof(*tracers), GFP_KERNEL);
	unsigned int i;

	if (!IS_ENABLED(CONFIG_FTRACE_SETS) || !IS_ENABLED(CONFIG_KALLSYMS))
		kunit_skip(test, "needs FTRACE_SETS and KALLSYMS");
	KUNIT_ASSERT_NOT_NULL(test, tracers);
	for (i = 0; i < 3; i++)
		start(test, &tracers[i], i + 1, 0, traced_a);
	KUNIT_EXPECT_EQ(test, want(&tracers[2], traced_b), 0);
	KUNIT_EXPECT_EQ(test, want(&tracers[0], traced_b), 0);
	KUNIT_EXPECT_PTR_NE(test, called_by(test, traced_a), called_by(test, traced_b));
	expect_calls(test, b, 31);
	KUNIT_EXPECT_EQ(test, want(&tracers[1], traced_b), 0);
	KUNIT_EXPECT_PTR_EQ(test, called_by(test, traced_a), called_by(test, traced_b));
	KUNIT_EXPECT_FALSE(test, calls_list(test, traced_b));
	expect_calls(test, b, 321);
	for (i = 0; i < 3; i++)
		stop(test, &tracers[i]);
}

/* The code of a set has a name, until it is freed. */
static void sets_test_name(struct kunit *test)
{
	struct tracer *tracers = kunit_kcalloc(test, 2, sizeof(*tracers), GFP_KERNEL);
	char name[KSYM_SYMBOL_LEN];
	unsigned int tries;
	void *code;

	if (!IS_ENABLED(CONFIG_FTRACE_SETS) || !IS_ENABLED(CONFIG_KALLSYMS))
		kunit_skip(test, "needs FTRACE_SETS and KALLSYMS");
	KUNIT_ASSERT_NOT_NULL(test, tracers);
	start(test, &tracers[0], 0, 0, traced_a);
	start(test, &tracers[1], 1, 0, traced_a);
	code = called_by(test, traced_a);
	snprintf(name, sizeof(name), "%ps", code);
	KUNIT_EXPECT_EQ_MSG(test, strncmp(name, "ftrace_set_", 11), 0, "%s", name);
	KUNIT_EXPECT_TRUE_MSG(test, isdigit(name[11]), "%s", name);
	stop(test, &tracers[0]);
	stop(test, &tracers[1]);
	for (tries = 0; tries < 100 && !strncmp(name, "ftrace_set_", 11); tries++) {
		msleep(100);
		snprintf(name, sizeof(name), "%ps", code);
	}
	KUNIT_EXPECT_NE_MSG(test, strncmp(name, "ftrace_set_", 11), 0, "%s", name);
}

/* A task that stays in a tracer, where it may be preempted. */
static struct {
	struct completion entered;
	const void *caller;
	u8 code[16];
	bool may_leave;
} lingerer;

static notrace void linger(unsigned long ip, unsigned long parent_ip,
			   struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	lingerer.caller = __builtin_return_address(0);
	memcpy(lingerer.code, lingerer.caller, sizeof(lingerer.code));
	complete(&lingerer.entered);
	while (!READ_ONCE(lingerer.may_leave))
		cpu_relax();
}

static int call_and_linger(void *unused)
{
	traced_a(1);
	return 0;
}

/*
 * The code of an unused set must not change while a task will return to it. Half a
 * second is enough to free the code if the kernel does not wait for the task.
 */
static void expect_code_stays(struct kunit *test, struct tracer *newest)
{
	u8 code[sizeof(lingerer.code)] = { };

	start(test, newest, 3, 0, traced_a);
	msleep(500);
	KUNIT_EXPECT_EQ(test, 0, copy_from_kernel_nofault(code, lingerer.caller, sizeof(code)));
	KUNIT_EXPECT_EQ(test, 0, memcmp(code, lingerer.code, sizeof(code)));
}

static void sets_test_in_use(struct kunit *test)
{
	struct tracer *tracers = kunit_kcalloc(test, 3, sizeof(*tracers), GFP_KERNEL);
	struct task_struct *thread;

	if (!IS_ENABLED(CONFIG_FTRACE_SETS) || num_online_cpus() < 2)
		kunit_skip(test, "needs FTRACE_SETS and two CPUs");
	KUNIT_ASSERT_NOT_NULL(test, tracers);
	init_completion(&lingerer.entered);
	lingerer.may_leave = false;
	start(test, &tracers[0], 1, 0, traced_a);
	init_tracer(&tracers[1], 2, 0);
	tracers[1].ops.func = linger;
	KUNIT_ASSERT_EQ(test, want(&tracers[1], traced_a), 0);
	thread = kthread_create(call_and_linger, NULL, "kunit_linger");
	KUNIT_ASSERT_FALSE(test, IS_ERR(thread));
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&tracers[1].ops), 0);
	get_task_struct(thread);
	wake_up_process(thread);
	wait_for_completion(&lingerer.entered);
	expect_code_stays(test, &tracers[2]);
	WRITE_ONCE(lingerer.may_leave, true);
	kthread_stop(thread);
	put_task_struct(thread);
	stop(test, &tracers[1]);
	stop(test, &tracers[0]);
	stop(test, &tracers[2]);
}

static int register_named(struct kunit *test, struct tracer *tracer,
			  const char *name, unsigned long flags)
{
	init_tracer(tracer, 0, flags);
	tracer->ops.name = name;
	KUNIT_EXPECT_EQ(test, want(tracer, traced_a), 0);
	return register_ftrace_function(&tracer->ops);
}

/* The registration fails, and the tracer is not called. */
static void expect_bad_name(struct kunit *test, struct tracer *tracer, const char *name,
			    unsigned long flags, int error)
{
	KUNIT_EXPECT_EQ(test, register_named(test, tracer, name, flags), error);
	ftrace_free_filter(&tracer->ops);
	call_a();
	KUNIT_EXPECT_EQ(test, nr_called, 0U);
}

static void sets_test_bad_names(struct kunit *test)
{
	struct tracer *tracers = kunit_kcalloc(test, 2, sizeof(*tracers), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, tracers);
	expect_bad_name(test, tracers, "", 0, -EINVAL);
	expect_bad_name(test, tracers, "two words", 0, -EINVAL);
	expect_bad_name(test, tracers, "[kunit]", 0, -EINVAL);
	expect_bad_name(test, tracers, "a_name_that_is_longer", 0, -EINVAL);
	expect_bad_name(test, tracers, "kunit", FTRACE_OPS_FL_IPMODIFY, -EINVAL);

	KUNIT_ASSERT_EQ(test, register_named(test, &tracers[0], "as_long_as_it_may_be", 0), 0);
	KUNIT_EXPECT_EQ(test, register_named(test, &tracers[1], "as_long_as_it_may_be", 0),
			-EEXIST);
	ftrace_free_filter(&tracers[1].ops);
	call_a();
	KUNIT_EXPECT_EQ(test, nr_called, 1U);
	stop(test, &tracers[0]);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&tracers[0].ops), -EBUSY);
	KUNIT_ASSERT_EQ(test, register_named(test, &tracers[1], "as_long_as_it_may_be", 0), 0);
	stop(test, &tracers[1]);
}

/* A tracer that is registered keeps its name when it is registered again. */
static void sets_test_twice(struct kunit *test)
{
	struct tracer *tracers = kunit_kcalloc(test, 2, sizeof(*tracers), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, tracers);
	KUNIT_ASSERT_EQ(test, register_named(test, &tracers[0], "kunit_first", 0), 0);
	tracers[0].ops.name = "kunit_second";
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&tracers[0].ops), -EBUSY);
	tracers[0].ops.name = NULL;
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&tracers[0].ops), -EBUSY);
	tracers[0].ops.name = "kunit_first";
	KUNIT_EXPECT_EQ(test, register_named(test, &tracers[1], "kunit_first", 0), -EEXIST);
	ftrace_free_filter(&tracers[1].ops);
	KUNIT_ASSERT_EQ(test, register_named(test, &tracers[1], "kunit_second", 0), 0);
	stop(test, &tracers[1]);
	stop(test, &tracers[0]);
}

/* The kernel's own names are reserved, even if their tracers are not registered. */
static void sets_test_reserved_names(struct kunit *test)
{
	struct tracer *tracer = kunit_kzalloc(test, sizeof(*tracer), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, tracer);
	expect_bad_name(test, tracer, "trace", 0, -EEXIST);
	expect_bad_name(test, tracer, "trace_profile", 0, -EEXIST);
}

/*
 * If the allocation of a set fails, the same tracers are called. If that of a filter
 * fails, the filter does not change. A set exists all the time, so that memory for
 * code is present: the kernel prints a long warning if there is none.
 */
static bool joins_without(struct kunit *test, struct tracer *tracers, int nth)
{
	bool failed;
	int ret;

	start(test, &tracers[0], 1, 0, traced_a);
	start(test, &tracers[1], 2, 0, traced_b);
	start(test, &tracers[2], 3, 0, traced_b);
	fail_nth_alloc(nth);
	ret = want(&tracers[1], traced_a);
	failed = nth_alloc_failed();
	stop_failing();
	if (ret)
		KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
	call_a();
	KUNIT_EXPECT_EQ(test, calls(), ret ? 1UL : 21UL);
	expect_calls(test, b, 32);
	/* The next update repeats the allocation that failed. */
	stop(test, &tracers[2]);
	if (IS_ENABLED(CONFIG_FTRACE_SETS) && IS_ENABLED(CONFIG_KALLSYMS))
		KUNIT_EXPECT_FALSE(test, calls_list(test, traced_a));
	stop(test, &tracers[0]);
	call_a();
	KUNIT_EXPECT_EQ(test, calls(), ret ? 0UL : 2UL);
	stop(test, &tracers[1]);
	expect_calls(test, a, 0);
	expect_calls(test, b, 0);
	return failed;
}

static void sets_test_no_memory(struct kunit *test)
{
	struct tracer *tracers = kunit_kcalloc(test, 3, sizeof(*tracers), GFP_KERNEL);
	int nth;

	need_failing_alloc(test);
	KUNIT_ASSERT_NOT_NULL(test, tracers);
	for (nth = 1; joins_without(test, tracers, nth); nth++)
		;
	KUNIT_EXPECT_GT(test, nth, 2);
}

static void sets_test_no_memory_for_name(struct kunit *test)
{
	struct tracer *tracer = kunit_kzalloc(test, sizeof(*tracer), GFP_KERNEL);

	need_failing_alloc(test);
	KUNIT_ASSERT_NOT_NULL(test, tracer);
	init_tracer(tracer, 1, 0);
	tracer->ops.name = "kunit";
	KUNIT_ASSERT_EQ(test, want(tracer, traced_a), 0);
	fail_nth_alloc(1);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&tracer->ops), -ENOMEM);
	KUNIT_EXPECT_TRUE(test, nth_alloc_failed());
	stop_failing();
	expect_calls(test, a, 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&tracer->ops), 0);
	expect_calls(test, a, 1);
	stop(test, tracer);
}

static struct kunit_case sets_test_cases[] = {
	KUNIT_CASE(sets_test_order),
	KUNIT_CASE(sets_test_filters),
	KUNIT_CASE(sets_test_flags),
	KUNIT_CASE(sets_test_many),
	KUNIT_CASE(sets_test_many_sets),
	KUNIT_CASE(sets_test_recursion),
	KUNIT_CASE(sets_test_resched),
#ifdef CONFIG_X86_64
	KUNIT_CASE(sets_test_redirect),
	KUNIT_CASE(sets_test_registers),
#ifdef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS
	KUNIT_CASE(sets_test_direct),
	KUNIT_CASE(sets_test_direct_recursion),
#endif
#endif
	KUNIT_CASE(sets_test_stack),
	KUNIT_CASE(sets_test_no_list),
	KUNIT_CASE(sets_test_in_use),
	KUNIT_CASE(sets_test_shared),
	KUNIT_CASE(sets_test_name),
	KUNIT_CASE(sets_test_bad_names),
	KUNIT_CASE(sets_test_twice),
	KUNIT_CASE(sets_test_reserved_names),
	KUNIT_CASE(sets_test_no_memory),
	KUNIT_CASE(sets_test_no_memory_for_name),
	{ }
};

static struct kunit_suite sets_test_suite = {
	.name = "ftrace_sets",
	.test_cases = sets_test_cases,
};
kunit_test_suite(sets_test_suite);

MODULE_DESCRIPTION("KUnit tests of functions with several function tracers");
MODULE_LICENSE("GPL");
