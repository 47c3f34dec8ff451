// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of functions that several function tracers trace: each tracer is called
 * only for its own functions, with its own ops, newest first, with any flags.
 */
#include <kunit/test.h>
#include <linux/bits.h>
#include <linux/bitops.h>
#include <linux/completion.h>
#include <linux/context_tracking.h>
#include <linux/cpumask.h>
#include <linux/ctype.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/ftrace.h>
#include <linux/hash.h>
#include <linux/irqflags.h>
#include <linux/jhash.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/linkage.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/pstore.h>
#include <linux/ptrace.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/stacktrace.h>
#include <linux/string.h>
#include <linux/timer.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>

#ifdef CONFIG_X86_64
#include <asm/ibt.h>
#include <asm/nops.h>
#endif

#include "../kernel/trace/ftrace_sets.h"
#include "../kernel/trace/trace.h"
#include "test_fail_alloc.h"
#include "test_memory.h"
#include "test_module_memory.h"
#include "test_resched.h"
#include "test_symbol.h"
#include "test_watch.h"

#define MAX_CALLS	128

/* Which tracers were called, in which order. */
static unsigned int called[MAX_CALLS], nr_called;

struct test_tracer {
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
	struct test_tracer *tracer = container_of(ops, struct test_tracer, ops);

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

static void init_tracer(struct test_tracer *tracer, unsigned int nr, unsigned long flags)
{
	*tracer = (struct test_tracer){ .ops = { .func = note_call, .flags = flags }, .nr = nr };
}

static int want(struct test_tracer *tracer, void *func)
{
	return ftrace_set_filter_ip(&tracer->ops, (unsigned long)func, 0, 0);
}

static int leave(struct test_tracer *tracer, void *func)
{
	return ftrace_set_filter_ip(&tracer->ops, (unsigned long)func, 1, 0);
}

/* Registers a tracer of @func, with the callback @call. */
static void start_calling(struct kunit *test, struct test_tracer *tracer, unsigned int nr,
			  unsigned long flags, void *func, ftrace_func_t call)
{
	init_tracer(tracer, nr, flags);
	tracer->ops.func = call;
	KUNIT_ASSERT_EQ(test, want(tracer, func), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&tracer->ops), 0);
}

static void start(struct kunit *test, struct test_tracer *tracer, unsigned int nr,
		  unsigned long flags, void *func)
{
	start_calling(test, tracer, nr, flags, func, note_call);
}

static void stop(struct kunit *test, struct test_tracer *tracer)
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

#if defined(CONFIG_KPROBES) && defined(CONFIG_KALLSYMS)
/* Return: the address of a function or variable that is not exported. */
static void __maybe_unused *need_symbol(struct kunit *test, const char *name)
{
	void *symbol;

	if (!can_call_text())
		kunit_skip(test, "functions that are not exported cannot be called");
	symbol = find_symbol(name);
	KUNIT_ASSERT_NOT_NULL_MSG(test, symbol, "%s", name);
	return symbol;
}

/* Where to store the address of a function or variable that is not exported. */
struct wanted_symbol {
	const char *name;
	void *to;
};

static void __maybe_unused need_symbols(struct kunit *test,
					const struct wanted_symbol *wanted, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		void **to = wanted[i].to;

		*to = need_symbol(test, wanted[i].name);
	}
}
#endif

static void sets_test_order(struct kunit *test)
{
	struct test_tracer *tracers = kunit_kcalloc(test, 4, sizeof(*tracers), GFP_KERNEL);
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
	struct test_tracer *tracers = kunit_kcalloc(test, 3, sizeof(*tracers), GFP_KERNEL);

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

static void expect_flags(struct kunit *test, struct test_tracer *tracers, unsigned long first,
			 unsigned long second)
{
	bool regs = (first | second) & FTRACE_OPS_FL_SAVE_REGS;
	unsigned int i;

	start(test, &tracers[0], 1, first, traced_a);
	start(test, &tracers[1], 2, second, traced_a);
	KUNIT_EXPECT_EQ(test, call_a(), 2);
	KUNIT_EXPECT_EQ(test, calls(), 21UL);
	for (i = 0; i < 2; i++) {
		KUNIT_EXPECT_EQ(test, tracers[i].ip - (unsigned long)traced_a,
				tracers[1 - i].ip - (unsigned long)traced_a);
		KUNIT_EXPECT_LT(test, tracers[i].ip - (unsigned long)traced_a, 16UL);
		KUNIT_EXPECT_LT(test, tracers[i].parent_ip - (unsigned long)call_a, 128UL);
		KUNIT_EXPECT_EQ(test, tracers[i].got_regs, regs);
	}
	stop(test, &tracers[1]);
	expect_calls(test, a, 1);
	stop(test, &tracers[0]);
}

static const unsigned long flags_to_mix[] = {
	0, FTRACE_OPS_FL_RECURSION, FTRACE_OPS_FL_RCU, FTRACE_OPS_FL_SAVE_REGS,
	FTRACE_OPS_FL_RECURSION | FTRACE_OPS_FL_RCU,
	FTRACE_OPS_FL_RECURSION | FTRACE_OPS_FL_SAVE_REGS,
};

/* Two tracers with the same flags. */
static void sets_test_same_flags(struct kunit *test)
{
	struct test_tracer *tracers = kunit_kcalloc(test, 2, sizeof(*tracers), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, tracers);
	for (i = 0; i < ARRAY_SIZE(flags_to_mix); i++)
		expect_flags(test, tracers, flags_to_mix[i], flags_to_mix[i]);
}

/* Two tracers with different flags. */
static void sets_test_flags(struct kunit *test)
{
	struct test_tracer *tracers = kunit_kcalloc(test, 2, sizeof(*tracers), GFP_KERNEL);
	const unsigned int nr = ARRAY_SIZE(flags_to_mix);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, tracers);
	for (i = 0; i < nr; i++)
		expect_flags(test, tracers, flags_to_mix[i], flags_to_mix[(i + 1) % nr]);
}

/* More tracers than a set can have. */
static void sets_test_many(struct kunit *test)
{
	const unsigned int nr = 34;
	struct test_tracer *tracers = kunit_kcalloc(test, nr, sizeof(*tracers), GFP_KERNEL);
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
static int start_bit(struct test_tracer *tracer, unsigned int bit)
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
	struct test_tracer *tracers = kunit_kcalloc(test, NR_BITS, sizeof(*tracers), GFP_KERNEL);
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
	static const unsigned long flags[] = { FTRACE_OPS_FL_RECURSION, FTRACE_OPS_FL_RCU };
	struct test_tracer *tracers = kunit_kcalloc(test, 2, sizeof(*tracers), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, tracers);
	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		start(test, &tracers[0], 1, flags[i], traced_a);
		start_calling(test, &tracers[1], 2, flags[i], traced_a, call_again);
		expect_calls(test, a, 2211);
		expect_calls(test, a, 2211);
		stop(test, &tracers[1]);
		expect_calls(test, a, 1);
		stop(test, &tracers[0]);
	}
}

/* Calls traced_a() in the context of a hardware interrupt. */
static noinline notrace void call_a_in_interrupt(void)
{
	unsigned long flags;

	local_irq_save(flags);
	__preempt_count_add(HARDIRQ_OFFSET);
	call_a();
	__preempt_count_sub(HARDIRQ_OFFSET);
	local_irq_restore(flags);
}

/* An interrupt is protected like a task, and its tracers get the same arguments. */
static void sets_test_interrupt(struct kunit *test)
{
	struct test_tracer *tracers = kunit_kcalloc(test, 2, sizeof(*tracers), GFP_KERNEL);
	unsigned long ip, parent_ip;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, tracers);
	start(test, &tracers[0], 1, FTRACE_OPS_FL_RECURSION, traced_a);
	start(test, &tracers[1], 2, FTRACE_OPS_FL_RECURSION, traced_a);
	expect_calls(test, a, 21);
	ip = tracers[0].ip;
	parent_ip = tracers[0].parent_ip;
	call_a_in_interrupt();
	KUNIT_EXPECT_EQ(test, calls(), 21UL);
	for (i = 0; i < 2; i++) {
		KUNIT_EXPECT_EQ(test, tracers[i].ip, ip);
		KUNIT_EXPECT_EQ(test, tracers[i].parent_ip, parent_ip);
	}
	stop(test, &tracers[1]);
	start_calling(test, &tracers[1], 2, FTRACE_OPS_FL_RECURSION, traced_a, call_again);
	call_a_in_interrupt();
	KUNIT_EXPECT_EQ(test, calls(), 2211UL);
	expect_calls(test, a, 2211);
	stop(test, &tracers[1]);
	stop(test, &tracers[0]);
}

static notrace void call_twice_again(unsigned long ip, unsigned long parent_ip,
				     struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	note_call(ip, parent_ip, ops, fregs);
	if (nr_called < 3)
		traced_a(1);
}

/* Nested calls are traced if no tracer asks for protection. */
static void sets_test_no_protection(struct kunit *test)
{
	struct test_tracer *tracers = kunit_kcalloc(test, 2, sizeof(*tracers), GFP_KERNEL);

	if (!IS_ENABLED(CONFIG_FTRACE_SETS))
		kunit_skip(test, "needs FTRACE_SETS");
	KUNIT_ASSERT_NOT_NULL(test, tracers);
	start(test, &tracers[0], 1, 0, traced_a);
	start_calling(test, &tracers[1], 2, 0, traced_a, call_twice_again);
	expect_calls(test, a, 222111);
	stop(test, &tracers[1]);
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
	struct test_tracer *tracers = kunit_kcalloc(test, 2, sizeof(*tracers), GFP_KERNEL);
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
	struct test_tracer *tracers = kunit_kcalloc(test, 3, sizeof(*tracers), GFP_KERNEL);
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

static void sets_test_registers(struct kunit *test)
{
	struct test_tracer *tracers = kunit_kcalloc(test, 2, sizeof(*tracers), GFP_KERNEL);
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
	struct test_tracer *tracers = kunit_kcalloc(test, 3, sizeof(*tracers), GFP_KERNEL);
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
	struct test_tracer *tracers = kunit_kcalloc(test, 2, sizeof(*tracers), GFP_KERNEL);

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

static struct {
	struct pt_regs got;
	bool change;
} regs_of_tracer;

/* Notes all registers, may change them, and redirects the call. */
static notrace void redirect_registers(unsigned long ip, unsigned long parent_ip,
				       struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	struct pt_regs *regs = ftrace_get_regs(fregs);
	unsigned int i;

	note_call(ip, parent_ip, ops, fregs);
	if (regs) {
		regs_of_tracer.got = *regs;
		for (i = 0; regs_of_tracer.change && i < ARRAY_SIZE(registers); i++)
			*(unsigned long *)((u8 *)regs + registers[i]) += 0x100;
		if (regs_of_tracer.change)
			regs->flags ^= X86_EFLAGS_ID;
	}
	ftrace_instruction_pointer_set(fregs, (unsigned long)kunit_see_registers);
}

static void call_with_registers(bool change)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(registers); i++) {
		kunit_before[i] = 0x1000 + i;
		kunit_seen[i] = 0;
	}
	memset(&regs_of_tracer.got, 0, sizeof(regs_of_tracer.got));
	regs_of_tracer.change = change;
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
	const struct pt_regs *got = &regs_of_tracer.got;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(registers); i++)
		KUNIT_EXPECT_EQ(test, *(unsigned long *)((u8 *)got + registers[i]),
				kunit_before[i]);
	KUNIT_EXPECT_EQ(test, got->sp, kunit_sp - sizeof(long));
	KUNIT_EXPECT_EQ(test, (unsigned long)got->cs, (unsigned long)__KERNEL_CS);
	KUNIT_EXPECT_EQ(test, (unsigned long)got->ss, (unsigned long)__KERNEL_DS);
	KUNIT_EXPECT_EQ(test, got->orig_ax, 0UL);
	KUNIT_EXPECT_EQ(test, got->flags & flags, kunit_flags_before & flags);
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
	static const unsigned long flags[] = {
		0, FTRACE_OPS_FL_SAVE_REGS, FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_RECURSION,
	};
	struct test_tracer *tracers = kunit_kcalloc(test, 2, sizeof(*tracers), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, tracers);
	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		start_calling(test, &tracers[0], 1, 0, traced_for_asm, kunit_note_bp);
		start_calling(test, &tracers[1], 2, flags[i] | FTRACE_OPS_FL_IPMODIFY,
			      traced_for_asm, redirect_registers);
		expect_registers(test, flags[i]);
		stop(test, &tracers[1]);
		stop(test, &tracers[0]);
	}
}

#endif /* !CONFIG_FRAME_POINTER */

#ifdef CONFIG_FTRACE_SETS
/* Return: the only set of a tracer, or NULL */
static struct ftrace_set *set_of(struct kunit *test, struct test_tracer *tracer)
{
	KUNIT_EXPECT_TRUE(test, list_is_singular(&tracer->ops.sets));
	if (!list_is_singular(&tracer->ops.sets))
		return NULL;
	return list_first_entry(&tracer->ops.sets, struct ftrace_set_member, of_ops)->set;
}

/* Return: where the code has these bytes; NULL if it has not */
static const u8 *find_bytes(const struct ftrace_set *set, const u8 *bytes, unsigned int size)
{
	const u8 *code = set->text.text, *end = code + set->text.size;

	for (; code + size <= end; code++)
		if (!memcmp(code, bytes, size))
			return code;
	return NULL;
}

/* Does the code skip the call after the unlock, unless a reschedule is needed? */
static bool skips_resched(const struct ftrace_set *set)
{
	static const u8 jump_and_call[] = { 0x0f, 0x85, 5, 0, 0, 0, 0xe8 };

	return find_bytes(set, jump_and_call, sizeof(jump_and_call));
}

static bool calls_directly(struct kunit *test, struct ftrace_set *set, unsigned int nr,
			   const char *wanted)
{
	char name[KSYM_SYMBOL_LEN];

	snprintf(name, sizeof(name), "%ps",
		 called_by(test, set->text.text + set->members[nr].call));
	return !strncmp(name, wanted, strlen(wanted));
}

/* The code calls functions of tracers directly, except where RCU has to watch. */
static void sets_test_calls(struct kunit *test)
{
	struct test_tracer *tracers = kunit_kcalloc(test, 3, sizeof(*tracers), GFP_KERNEL);
	struct ftrace_set *set;

	if (!IS_ENABLED(CONFIG_KALLSYMS))
		kunit_skip(test, "needs KALLSYMS");
	KUNIT_ASSERT_NOT_NULL(test, tracers);
	start(test, &tracers[0], 1, FTRACE_OPS_FL_RCU, traced_a);
	start(test, &tracers[1], 2, FTRACE_OPS_FL_RECURSION, traced_a);
	start(test, &tracers[2], 3, 0, traced_a);
	set = set_of(test, &tracers[0]);
	if (set) {
		KUNIT_EXPECT_PTR_EQ(test, called_by(test, traced_a), (void *)set->text.text);
		KUNIT_EXPECT_TRUE(test, list_empty(&set->list) && !set->no_text);
		KUNIT_EXPECT_TRUE(test, calls_directly(test, set, 0, "note_call"));
		KUNIT_EXPECT_TRUE(test, calls_directly(test, set, 1, "note_call"));
		KUNIT_EXPECT_TRUE(test, calls_directly(test, set, 2, "call_watched"));
		KUNIT_EXPECT_EQ(test, skips_resched(set), IS_ENABLED(CONFIG_PREEMPTION));
	}
	stop(test, &tracers[0]);
	stop(test, &tracers[1]);
	stop(test, &tracers[2]);
}

/* Calls traced_a() while RCU does not watch this CPU. Return: false if it still does */
static noinline notrace bool call_a_unwatched(void)
{
	unsigned long flags;
	bool watching;

	local_irq_save(flags);
	ct_idle_enter();
	watching = rcu_is_watching();
	call_a();
	ct_idle_exit();
	local_irq_restore(flags);
	return !watching;
}

/* Where RCU does not watch, a tracer that needs it is not called, but others are. */
static void sets_test_unwatched(struct kunit *test)
{
	struct test_tracer *tracers = kunit_kcalloc(test, 3, sizeof(*tracers), GFP_KERNEL);
	bool unwatched;

	if (IS_ENABLED(CONFIG_RCU_EQS_DEBUG))
		kunit_skip(test, "RCU complains if a task does what only the idle task does");
	KUNIT_ASSERT_NOT_NULL(test, tracers);
	start(test, &tracers[0], 1, 0, traced_a);
	start(test, &tracers[1], 2, FTRACE_OPS_FL_RCU, traced_a);
	start(test, &tracers[2], 3, 0, traced_a);
	unwatched = call_a_unwatched();
	KUNIT_EXPECT_EQ(test, unwatched, !IS_ENABLED(CONFIG_TINY_RCU));
	KUNIT_EXPECT_EQ(test, calls(), unwatched ? 31UL : 321UL);
	expect_calls(test, a, 321);
	stop(test, &tracers[2]);
	stop(test, &tracers[1]);
	stop(test, &tracers[0]);
}

/*
 * A call cannot reach a function that is too far away: the list is called, and that is
 * not tried again. Nothing calls the traced function here.
 */
static void sets_test_far(struct kunit *test)
{
	struct test_tracer *tracers = kunit_kcalloc(test, 2, sizeof(*tracers), GFP_KERNEL);
	struct ftrace_set *set;

	if (!IS_ENABLED(CONFIG_KALLSYMS))
		kunit_skip(test, "needs KALLSYMS");
	KUNIT_ASSERT_NOT_NULL(test, tracers);
	start(test, &tracers[0], 1, 0, many_functions[0]);
	start_calling(test, &tracers[1], 2, FTRACE_OPS_FL_RECURSION, many_functions[0],
		      (ftrace_func_t)(void *)tracers);
	KUNIT_EXPECT_TRUE(test, calls_list(test, many_functions[0]));
	set = set_of(test, &tracers[1]);
	if (set)
		KUNIT_EXPECT_TRUE(test, set->no_text && list_empty(&set->list));
	stop(test, &tracers[1]);
	KUNIT_EXPECT_FALSE(test, calls_list(test, many_functions[0]));
	stop(test, &tracers[0]);
}

#if defined(CONFIG_KPROBES) && defined(CONFIG_KALLSYMS) && !defined(CONFIG_FRAME_POINTER)
static int (*depth_at)(unsigned long addr);

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
	u8 insn[7] = { 0x48, 0x81, modrm };

	memcpy(insn + 3, &size, sizeof(size));
	return find_bytes(set, insn, sizeof(insn));
}

#define STORE		0x89
#define STORE_CONSTANT	0xc7	/* a register is no operand: its number must be 0 */
#define LOAD		0x8b

/* Return: the number of instructions that access the stack with this opcode */
static unsigned int count_insns(const u8 *code, const u8 *end, u8 opcode)
{
	u8 fixed = opcode == STORE_CONSTANT ? 0xff : 0xc7;
	unsigned int nr = 0;

	for (; code + 4 <= end; code++)
		nr += (code[0] & 0xfb) == 0x48 && code[1] == opcode &&
		      (code[2] & fixed) == 0x84 && code[3] == 0x24;
	return nr;
}

/* What the code does before the first call and after the last one, except the lock. */
static void expect_insns(struct kunit *test, const struct ftrace_set *set, bool regs)
{
	const u8 *code = set->text.text, *first, *last, *end;

	end = find_move(set, 0xc4, sizeof(struct pt_regs));
	KUNIT_EXPECT_NOT_NULL(test, end);
	if (!end)
		return;
	first = code + set->members[0].call - 13;	/* loads the tracer and registers */
	last = code + set->members[1].call + 5;
	KUNIT_EXPECT_EQ(test, count_insns(code, first, STORE), regs ? 18U : 12U);
	KUNIT_EXPECT_EQ(test, count_insns(code, first, STORE_CONSTANT), regs ? 3U : 2U);
	KUNIT_EXPECT_EQ(test, count_insns(code, first, LOAD), regs ? 3U : 2U);
	KUNIT_EXPECT_EQ(test, first - code, regs ? 1 + 7 + 22 * 8 + 3 * 12 + 4 + 2 * 3 :
						   7 + 15 * 8 + 2 * 12 + 4);
	KUNIT_EXPECT_EQ(test, count_insns(last, end, STORE), regs ? 2U : 1U);
	KUNIT_EXPECT_EQ(test, count_insns(last, end, LOAD), regs ? 16U : 9U);
	KUNIT_EXPECT_EQ(test, end - last, regs ? 18 * 8 : 10 * 8);
}

/* Each register is saved and restored once, and no other place is written. */
static void sets_test_insns(struct kunit *test)
{
	static const unsigned long flags[] = { 0, FTRACE_OPS_FL_SAVE_REGS };
	struct test_tracer *tracers = kunit_kcalloc(test, 2, sizeof(*tracers), GFP_KERNEL);
	struct ftrace_set *set;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, tracers);
	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		start(test, &tracers[0], 1, 0, traced_for_asm);
		start(test, &tracers[1], 2, flags[i], traced_for_asm);
		set = set_of(test, &tracers[0]);
		if (set)
			expect_insns(test, set, flags[i]);
		stop(test, &tracers[1]);
		stop(test, &tracers[0]);
	}
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
}

/* Unwinders know the depth of the stack at each instruction. */
static void sets_test_depths(struct kunit *test)
{
	static const unsigned long flags[] = { 0, FTRACE_OPS_FL_SAVE_REGS };
	struct test_tracer *tracers = kunit_kcalloc(test, 2, sizeof(*tracers), GFP_KERNEL);
	struct ftrace_set *set;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, tracers);
	depth_at = need_symbol(test, "generated_text_depth");
	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		start(test, &tracers[0], 1, 0, traced_for_asm);
		start(test, &tracers[1], 2, flags[i], traced_for_asm);
		set = set_of(test, &tracers[0]);
		if (set)
			expect_depths(test, set, false);
		stop(test, &tracers[1]);
#ifdef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS
		if (flags[i]) {
			KUNIT_EXPECT_EQ(test, attach_direct(), 0);
			set = set_of(test, &tracers[0]);
			if (set)
				expect_depths(test, set, true);
			KUNIT_EXPECT_EQ(test, detach_direct(), 0);
		}
#endif
		stop(test, &tracers[0]);
	}
}
#endif
#endif /* CONFIG_FTRACE_SETS */

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
	struct test_tracer *tracers = kunit_kcalloc(test, 2, sizeof(*tracers), GFP_KERNEL);
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

#if defined(CONFIG_KPROBES) && defined(CONFIG_X86_64)
static notrace void ignore_call(unsigned long ip, unsigned long parent_ip,
				struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
}

/* Return: the batches in which the code of the functions is patched for a new tracer. */
static unsigned int batches_for(struct kunit *test, char *functions)
{
	struct ftrace_ops *ops = kunit_kzalloc(test, sizeof(*ops), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, ops);
	ops->func = ignore_call;
	KUNIT_ASSERT_EQ(test, ftrace_set_filter(ops, functions, strlen(functions), 1), 0);
	KUNIT_ASSERT_EQ(test, watch_calls("text_poke_bp_batch"), 0);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(ops), 0);
	stop_watching();
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(ops), 0);
	ftrace_free_filter(ops);
	return watched.calls;
}

/* Each batch interrupts all CPUs. */
static void sets_test_far_functions(struct kunit *test)
{
	char near[] = "vfs_read", far[] = "__x64_sys_s*";
	unsigned int batches = batches_for(test, near);

	KUNIT_EXPECT_GE(test, batches, 1U);
	KUNIT_EXPECT_EQ(test, batches_for(test, far), batches);
}
#endif

/* The list is called only while there are more tracers than a set can have. */
static void sets_test_no_list(struct kunit *test)
{
	const unsigned int nr = 34, max = 32;
	struct test_tracer *tracers = kunit_kcalloc(test, nr, sizeof(*tracers), GFP_KERNEL);
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
	struct test_tracer *tracers = kunit_kcalloc(test, 3, sizeof(*tracers), GFP_KERNEL);
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

/* Is the first instruction of the code still there? */
static bool is_code(const void *code, const u8 *insn, size_t size)
{
	u8 now[8];

	return !copy_from_kernel_nofault(now, code, size) && !memcmp(now, insn, size);
}

/* Is there a name of generated code at the address, as in /proc/kallsyms? */
static bool is_listed(struct kunit *test, const void *code)
{
#if defined(CONFIG_KPROBES) && defined(CONFIG_KALLSYMS)
	static char name[KSYM_NAME_LEN], module[MODULE_NAME_LEN];
	typeof(generated_text_get_kallsym) *get;
	unsigned long value;
	unsigned int i;
	int exported;
	char type;

	get = need_symbol(test, "generated_text_get_kallsym");
	for (i = 0; !get(i, &value, &type, name, module, &exported); i++)
		if (value == (unsigned long)code)
			return true;
#endif
	return false;
}

/* The code of a set has a name, until it is freed. */
static void sets_test_name(struct kunit *test)
{
	struct test_tracer *tracers = kunit_kcalloc(test, 2, sizeof(*tracers), GFP_KERNEL);
	char name[KSYM_SYMBOL_LEN];
	unsigned int tries;
	void *code;
	u8 insn[7];

	if (!IS_ENABLED(CONFIG_FTRACE_SETS) || !IS_ENABLED(CONFIG_KALLSYMS))
		kunit_skip(test, "needs FTRACE_SETS and KALLSYMS");
	KUNIT_ASSERT_NOT_NULL(test, tracers);
	start(test, &tracers[0], 0, 0, traced_a);
	start(test, &tracers[1], 1, 0, traced_a);
	code = called_by(test, traced_a);
	snprintf(name, sizeof(name), "%ps", code);
	KUNIT_EXPECT_EQ_MSG(test, strncmp(name, "ftrace_set_", 11), 0, "%s", name);
	KUNIT_EXPECT_TRUE_MSG(test, isdigit(name[11]), "%s", name);
	KUNIT_EXPECT_EQ(test, 0, copy_from_kernel_nofault(insn, code, sizeof(insn)));
	stop(test, &tracers[0]);
	stop(test, &tracers[1]);
	for (tries = 0; tries < 100; tries++) {
		if (strncmp(name, "ftrace_set_", 11) && !is_code(code, insn, sizeof(insn)))
			break;
		msleep(100);
		snprintf(name, sizeof(name), "%ps", code);
	}
	KUNIT_EXPECT_NE_MSG(test, strncmp(name, "ftrace_set_", 11), 0, "%s", name);
	KUNIT_EXPECT_FALSE(test, is_code(code, insn, sizeof(insn)));
	if (can_call_text())
		KUNIT_EXPECT_FALSE(test, is_listed(test, code));
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
static void expect_code_stays(struct kunit *test, struct test_tracer *newest)
{
	u8 code[sizeof(lingerer.code)] = { };

	start(test, newest, 3, 0, traced_a);
	msleep(500);
	KUNIT_EXPECT_EQ(test, 0, copy_from_kernel_nofault(code, lingerer.caller, sizeof(code)));
	KUNIT_EXPECT_EQ(test, 0, memcmp(code, lingerer.code, sizeof(code)));
}

static void sets_test_in_use(struct kunit *test)
{
	struct test_tracer *tracers = kunit_kcalloc(test, 3, sizeof(*tracers), GFP_KERNEL);
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

#ifdef CONFIG_KPROBES
static void let_leave(struct timer_list *unused)
{
	WRITE_ONCE(lingerer.may_leave, true);
}

static DEFINE_TIMER(leave_timer, let_leave);

/*
 * Lets a task linger in a tracer until stop_lingering(), or for longer than it takes to
 * unregister another one without waiting for the task. That is like registering one.
 */
static void start_lingering(struct kunit *test, struct test_tracer *newest)
{
	unsigned long start = jiffies, taken;
	struct task_struct *thread;

	init_completion(&lingerer.entered);
	WRITE_ONCE(lingerer.may_leave, false);
	init_tracer(newest, 1, 0);
	newest->ops.func = linger;
	KUNIT_EXPECT_EQ(test, want(newest, traced_a), 0);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&newest->ops), 0);
	taken = jiffies - start;
	thread = kthread_run(call_and_linger, NULL, "kunit_linger");
	if (!IS_ERR(thread))
		KUNIT_EXPECT_TRUE(test, wait_for_completion_timeout(&lingerer.entered, 60 * HZ));
	mod_timer(&leave_timer, jiffies + HZ / 2 + 3 * taken);
}

static void stop_lingering(struct kunit *test, struct test_tracer *newest)
{
	del_timer_sync(&leave_timer);
	WRITE_ONCE(lingerer.may_leave, true);
	stop(test, newest);
}

/* A function probe, as commands in set_ftrace_filter. */
static struct {
	typeof(&register_ftrace_function_probe) add;
	typeof(&unregister_ftrace_function_probe_func) remove;
	struct trace_array *tr;
	unsigned int nr_freed, nr_early, init_fails;
	const void *data;	/* of the last call */
} function_probe;

static void note_probe(unsigned long ip, unsigned long parent_ip, struct trace_array *tr,
		       struct ftrace_probe_ops *ops, void *data)
{
	function_probe.data = data;
}

/* Fails at the given call. */
static int init_probe(struct ftrace_probe_ops *ops, struct trace_array *tr, unsigned long ip,
		      void *init_data, void **data)
{
	if (function_probe.init_fails && !--function_probe.init_fails)
		return -ENOMEM;
	*data = &function_probe;
	return 0;
}

/* Without an address, the data of all functions is freed. */
static void note_free_probe(struct ftrace_probe_ops *ops, struct trace_array *tr,
			    unsigned long ip, void *data)
{
	function_probe.nr_freed += !!ip;
	function_probe.nr_early += !READ_ONCE(lingerer.may_leave);
}

static struct ftrace_probe_ops function_probe_ops = {
	.func = note_probe,
	.init = init_probe,
	.free = note_free_probe,
};

static struct trace_event_file *need_function_probe(struct kunit *test)
{
	struct trace_event_file *event;

	memset(&function_probe, 0, sizeof(function_probe));
	function_probe.add = find_function("register_ftrace_function_probe");
	function_probe.remove = find_function("unregister_ftrace_function_probe_func");
	if (!function_probe.add || !function_probe.remove)
		kunit_skip(test, "needs function probes, and functions that can be called");
	event = trace_get_event_file(NULL, "sched", "sched_switch");
	if (IS_ERR(event))
		kunit_skip(test, "needs trace events");
	function_probe.tr = event->tr;
	lingerer.may_leave = true;
	return event;
}

static int add_to_probe(const char *functions)
{
	char glob[] = "traced_[ab]";

	strscpy(glob, functions, sizeof(glob));
	return function_probe.add(glob, function_probe.tr, &function_probe_ops, NULL);
}

static int remove_from_probe(const char *functions)
{
	char glob[] = "traced_[ab]";

	strscpy(glob, functions, sizeof(glob));
	return function_probe.remove(glob, function_probe.tr, &function_probe_ops);
}

/*
 * Its data is freed after the last task has left the tracers of the function, which
 * call it next.
 */
static void sets_test_function_probe(struct kunit *test)
{
	struct test_tracer *newest = kunit_kzalloc(test, sizeof(*newest), GFP_KERNEL);
	struct trace_event_file *event;

	if (num_online_cpus() < 2)
		kunit_skip(test, "needs two CPUs");
	KUNIT_ASSERT_NOT_NULL(test, newest);
	event = need_function_probe(test);
	KUNIT_EXPECT_EQ(test, add_to_probe("traced_[ab]"), 2);
	start_lingering(test, newest);
	KUNIT_EXPECT_EQ(test, remove_from_probe("traced_a"), 0);
	KUNIT_EXPECT_EQ(test, function_probe.nr_freed, 1U);
	KUNIT_EXPECT_EQ(test, function_probe.nr_early, 0U);
	stop_lingering(test, newest);
	KUNIT_EXPECT_EQ(test, remove_from_probe("traced_b"), 0);
	trace_put_event_file(event);
}

/* Calls of functions that are kept may find the counter in the same bucket. */
static void sets_test_counter_is_freed_later(struct kunit *test)
{
	typeof(&allocate_ftrace_func_mapper) make = find_function("allocate_ftrace_func_mapper");
	typeof(&ftrace_func_mapper_add_ip) add = find_function("ftrace_func_mapper_add_ip");
	typeof(&ftrace_func_mapper_remove_ip) remove =
		find_function("ftrace_func_mapper_remove_ip");
	typeof(&free_ftrace_func_mapper) free = find_function("free_ftrace_func_mapper");
	struct ftrace_func_mapper *mapper;

	if (!make || !add || !remove || !free)
		kunit_skip(test, "needs function probes, and functions that can be called");
	mapper = make();
	KUNIT_ASSERT_NOT_NULL(test, mapper);
	KUNIT_EXPECT_EQ(test, add(mapper, (unsigned long)traced_a, mapper), 0);
	KUNIT_EXPECT_EQ(test, watch_calls("kvfree_call_rcu"), 0);
	KUNIT_EXPECT_PTR_EQ(test, remove(mapper, (unsigned long)traced_a), (void *)mapper);
	stop_watching();
	KUNIT_EXPECT_EQ(test, watched.calls, 1U);
	free(mapper, NULL);
}

static void expect_probe_has_data(struct kunit *test)
{
	function_probe.data = NULL;
	call_a();
	KUNIT_EXPECT_PTR_EQ(test, function_probe.data, (const void *)&function_probe);
}

/* If a function cannot be added, the others keep their data. */
static void sets_test_probe_cannot_grow(struct kunit *test)
{
	struct trace_event_file *event = need_function_probe(test);

	function_probe.init_fails = 2;
	KUNIT_EXPECT_EQ(test, add_to_probe("traced_[ab]"), -ENOMEM);
	KUNIT_EXPECT_EQ(test, function_probe.nr_freed, 1U);

	KUNIT_EXPECT_EQ(test, add_to_probe("traced_a"), 1);
	function_probe.init_fails = 1;
	KUNIT_EXPECT_EQ(test, add_to_probe("traced_b"), -ENOMEM);
	KUNIT_EXPECT_EQ(test, function_probe.nr_freed, 1U);
	expect_probe_has_data(test);
	KUNIT_EXPECT_EQ(test, remove_from_probe("traced_a"), 0);
	KUNIT_EXPECT_EQ(test, function_probe.nr_freed, 2U);
	trace_put_event_file(event);
}

/* Return: did an allocation fail? Counts errors. */
static bool remove_without(struct kunit *test, int nth, unsigned int *errors)
{
	bool failed;
	int ret;

	function_probe.nr_freed = 0;
	fail_nth_alloc(nth);
	ret = remove_from_probe("traced_a");
	failed = nth_alloc_failed();
	stop_failing();
	KUNIT_EXPECT_EQ(test, function_probe.nr_freed, ret ? 0U : 1U);
	if (ret) {
		KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
		++*errors;
	} else {
		KUNIT_EXPECT_EQ(test, add_to_probe("traced_a"), 1);
	}
	expect_probe_has_data(test);
	return failed;
}

/* If there is no memory to remove a function, it keeps its data. */
static void sets_test_probe_cannot_shrink(struct kunit *test)
{
	unsigned int errors = 0, nth;
	struct trace_event_file *event;

	need_failing_alloc(test);
	event = need_function_probe(test);
	KUNIT_EXPECT_EQ(test, add_to_probe("traced_[ab]"), 2);
	for (nth = 1; remove_without(test, nth, &errors); nth++)
		;
	/* KASAN allocates memory for new stacks, so an allocation may be passed over. */
	KUNIT_EXPECT_GE(test, errors, IS_ENABLED(CONFIG_KASAN) ? 1U : 5U);
	function_probe.nr_freed = 0;
	KUNIT_EXPECT_EQ(test, remove_from_probe("traced_[ab]"), 0);
	KUNIT_EXPECT_EQ(test, function_probe.nr_freed, 2U);
	trace_put_event_file(event);
}
#endif

static int register_named(struct kunit *test, struct test_tracer *tracer,
			  const char *name, unsigned long flags)
{
	init_tracer(tracer, 0, flags);
	tracer->ops.name = name;
	KUNIT_EXPECT_EQ(test, want(tracer, traced_a), 0);
	return register_ftrace_function(&tracer->ops);
}

/* The registration fails, and the tracer is not called. */
static void expect_bad_name(struct kunit *test, struct test_tracer *tracer, const char *name,
			    unsigned long flags, int error)
{
	KUNIT_EXPECT_EQ(test, register_named(test, tracer, name, flags), error);
	ftrace_free_filter(&tracer->ops);
	call_a();
	KUNIT_EXPECT_EQ(test, nr_called, 0U);
}

static void sets_test_bad_names(struct kunit *test)
{
	struct test_tracer *tracers = kunit_kcalloc(test, 2, sizeof(*tracers), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, tracers);
	expect_bad_name(test, tracers, "", 0, -EINVAL);
	expect_bad_name(test, tracers, "two words", 0, -EINVAL);
	expect_bad_name(test, tracers, " blank", 0, -EINVAL);
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
	struct test_tracer *tracers = kunit_kcalloc(test, 2, sizeof(*tracers), GFP_KERNEL);

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
	struct test_tracer *tracer = kunit_kzalloc(test, sizeof(*tracer), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, tracer);
	expect_bad_name(test, tracer, "trace", 0, -EEXIST);
	expect_bad_name(test, tracer, "trace_profile", 0, -EEXIST);
}

/* Does the function call code of a set, which has a name? */
static bool calls_named_set(struct kunit *test, void *func)
{
	char name[KSYM_SYMBOL_LEN];

	snprintf(name, sizeof(name), "%ps", called_by(test, func));
	return !strncmp(name, "ftrace_set_", 11);
}

/* The next update repeats the allocation that failed. */
static void expect_set_later(struct kunit *test, struct test_tracer *tracer, int nth)
{
	if (nth < ARRAY_SIZE(many_functions))
		KUNIT_EXPECT_EQ(test, want(tracer, many_functions[nth]), 0);
	if (IS_ENABLED(CONFIG_FTRACE_SETS) && IS_ENABLED(CONFIG_KALLSYMS))
		KUNIT_EXPECT_TRUE(test, calls_named_set(test, traced_a));
	expect_calls(test, a, 21);
}

/*
 * If the allocation of a set fails, the same tracers are called. If that of a filter
 * fails, the filter does not change.
 */
static bool joins_without(struct kunit *test, struct test_tracer *tracers, int nth)
{
	bool failed;
	int ret;

	fail_nth_alloc(nth);
	ret = want(&tracers[1], traced_a);
	failed = nth_alloc_failed();
	stop_failing();
	call_a();
	KUNIT_EXPECT_EQ(test, calls(), ret ? 1UL : 21UL);
	expect_calls(test, b, 32);
	if (ret) {
		KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
		return failed;
	}
	if (IS_ENABLED(CONFIG_FTRACE_SETS) && IS_ENABLED(CONFIG_KALLSYMS))
		KUNIT_EXPECT_TRUE(test, calls_list(test, traced_a) ||
				  calls_named_set(test, traced_a));
	expect_set_later(test, &tracers[2], nth);
	KUNIT_EXPECT_EQ(test, leave(&tracers[1], traced_a), 0);
	expect_calls(test, a, 1);
	return failed;
}

/*
 * A set exists all the time, so that memory for code is present: the kernel prints a
 * long warning if there is none.
 */
static void sets_test_no_memory(struct kunit *test)
{
	struct test_tracer *tracers = kunit_kcalloc(test, 3, sizeof(*tracers), GFP_KERNEL);
	int nth;

	need_failing_alloc(test);
	KUNIT_ASSERT_NOT_NULL(test, tracers);
	start(test, &tracers[0], 1, 0, traced_a);
	start(test, &tracers[1], 2, 0, traced_b);
	start(test, &tracers[2], 3, 0, traced_b);
	for (nth = 1; joins_without(test, tracers, nth); nth++)
		;
	KUNIT_EXPECT_GT(test, nth, 2);
	stop(test, &tracers[2]);
	stop(test, &tracers[0]);
	expect_calls(test, a, 0);
	expect_calls(test, b, 2);
	stop(test, &tracers[1]);
	expect_calls(test, b, 0);
}

static unsigned long filter_size(const struct ftrace_ops *ops)
{
	return rcu_dereference_protected(ops->func_hash->filter_hash, true)->count;
}

/* A filter of an index, or of a pattern: no success without an entry for the function. */
static void sets_test_no_memory_for_filter(struct kunit *test)
{
	static const char * const filters[] = { "1", "vfs_rea[d]" };
	struct ftrace_ops *ops = kunit_kzalloc(test, sizeof(*ops), GFP_KERNEL);
	char filter[16];
	int i, nth, ret;
	bool failed;

	need_failing_alloc(test);
	KUNIT_ASSERT_NOT_NULL(test, ops);
	for (i = 0; i < ARRAY_SIZE(filters); i++) {
		nth = 0;
		do {
			strscpy(filter, filters[i], sizeof(filter));
			fail_nth_alloc(++nth);
			ret = ftrace_set_filter(ops, filter, strlen(filter), 1);
			failed = nth_alloc_failed();
			stop_failing();
			if (ret)
				KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
			else
				KUNIT_EXPECT_EQ(test, filter_size(ops), 1UL);
			KUNIT_EXPECT_TRUE(test, failed || !ret);
		} while (failed);
		KUNIT_EXPECT_GT(test, nth, 2);
	}
	ftrace_free_filter(ops);
}

/*
 * The following cases call functions of kernel/trace/ftrace_sets.c directly, with
 * tracers and records of functions that nothing else knows.
 */
#if defined(CONFIG_FTRACE_SETS) && defined(CONFIG_KPROBES) && defined(CONFIG_KALLSYMS_ALL)
static struct {
	struct mutex *lock;	/* ftrace_lock, which these functions expect to be held */
	struct mutex *text_lock;
	struct ftrace_set ***by_id;
	unsigned int *nr_ids, *nr_used;
	struct work_struct *free_work;
	typeof(&ftrace_set_init) init;
	typeof(&ftrace_set_change) change;
	typeof(&ftrace_set_make_text) make_text;
	typeof(&ftrace_set_drop) drop;
	typeof(&ftrace_set_enable) enable;
	typeof(&ftrace_set_unregister) unregister;
	typeof(&ftrace_set_update_func) update_func;
	typeof(&ftrace_set_wanted) wanted;
	typeof(&ftrace_set_current) called;
	typeof(&ftrace_set_differs) differs;
	typeof(&ftrace_set_is_to_find) is_to_find;
	typeof(&ftrace_sets_unknown) unknown;
} sets;

static const struct wanted_symbol symbols_of_sets[] = {
	{ "ftrace_lock", &sets.lock },
	{ "text_mutex", &sets.text_lock },
	{ "sets_by_id", &sets.by_id },
	{ "nr_ids", &sets.nr_ids },
	{ "nr_used", &sets.nr_used },
	{ "free_unused_sets_work", &sets.free_work },
	{ "ftrace_set_init", &sets.init },
	{ "ftrace_set_change", &sets.change },
	{ "ftrace_set_make_text", &sets.make_text },
	{ "ftrace_set_drop", &sets.drop },
	{ "ftrace_set_enable", &sets.enable },
	{ "ftrace_set_unregister", &sets.unregister },
	{ "ftrace_set_update_func", &sets.update_func },
	{ "ftrace_set_wanted", &sets.wanted },
	{ "ftrace_set_current", &sets.called },
	{ "ftrace_set_differs", &sets.differs },
	{ "ftrace_set_is_to_find", &sets.is_to_find },
	{ "ftrace_sets_unknown", &sets.unknown },
};

#define NO_SET	0xffff

/* Return: the id of the set that a function should call */
static unsigned int id_of(const struct dyn_ftrace *rec)
{
	return rec->flags >> 32 & 0xffff;
}

#if IS_BUILTIN(CONFIG_PSTORE) && defined(CONFIG_PSTORE_FTRACE)
static ssize_t read_nothing(struct pstore_record *record)
{
	return 0;
}

static int write_nothing(struct pstore_record *record)
{
	return 0;
}

/* The tracer of pstore is called by no task after it was unregistered. */
static void sets_test_pstore(struct kunit *test)
{
	static struct pstore_info backend = {
		.owner = THIS_MODULE, .name = "kunit", .flags = PSTORE_FLAGS_FTRACE,
		.read = read_nothing, .write = write_nothing,
	};
	struct test_tracer *newest = kunit_kzalloc(test, sizeof(*newest), GFP_KERNEL);
	struct ftrace_ops *saved = kunit_kzalloc(test, sizeof(*saved), GFP_KERNEL), *ops;
	const struct wanted_symbol symbol = { "pstore_ftrace_ops", &ops };
	char function[] = "traced_a";

	if (num_online_cpus() < 2)
		kunit_skip(test, "needs two CPUs");
	KUNIT_ASSERT_NOT_NULL(test, newest);
	KUNIT_ASSERT_NOT_NULL(test, saved);
	need_symbols(test, &symbol, 1);
	if (ops->flags & FTRACE_OPS_FL_INITIALIZED || pstore_register(&backend))
		kunit_skip(test, "pstore is in use");
	*saved = *ops;
	KUNIT_EXPECT_EQ(test, ftrace_set_filter(ops, function, strlen(function), 1), 0);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(ops), 0);
	start_lingering(test, newest);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(ops), 0);
	KUNIT_EXPECT_TRUE(test, READ_ONCE(lingerer.may_leave));
	stop_lingering(test, newest);
	ftrace_free_filter(ops);
	*ops = *saved;	/* without the filter, which is freed */
	pstore_unregister(&backend);
}
#endif

/* Return: tracers, newest first */
static struct ftrace_ops *need_sets(struct kunit *test, unsigned int nr)
{
	struct ftrace_ops *ops = kunit_kcalloc(test, nr, sizeof(*ops), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, ops);
	for (i = 0; i < nr; i++) {
		ops[i].seq = ULONG_MAX - i;
		INIT_LIST_HEAD(&ops[i].sets);
	}
	need_symbols(test, symbols_of_sets, ARRAY_SIZE(symbols_of_sets));
	return ops;
}

/* Expectations only, because nothing must end the case while the mutex is held. */
static void check_set(struct kunit *test, const struct ftrace_set *set,
		      struct ftrace_ops *const *ops, unsigned int nr)
{
	unsigned int i;

	KUNIT_EXPECT_NOT_NULL(test, set);
	if (!set)
		return;
	KUNIT_EXPECT_EQ(test, set->nr, nr);
	for (i = 0; i < nr && i < set->nr; i++) {
		KUNIT_EXPECT_PTR_EQ(test, set->members[i].set, (struct ftrace_set *)set);
		KUNIT_EXPECT_PTR_EQ(test, set->members[i].ops, ops[i]);
		KUNIT_EXPECT_EQ(test, set->members[i].seq, ops[i]->seq);
	}
}

static void check_life(struct kunit *test, struct ftrace_ops *ops)
{
	struct ftrace_ops *both[] = { &ops[0], &ops[1] }, *mixed[] = { &ops[0], &ops[2] };
	struct dyn_ftrace rec = { }, other = { };
	const struct ftrace_set *set;

	KUNIT_EXPECT_NULL(test, sets.wanted(&rec));
	KUNIT_EXPECT_FALSE(test, sets.differs(&rec));
	sets.init(&rec, both, 0);
	KUNIT_EXPECT_EQ(test, rec.flags, 0UL);
	sets.init(&rec, both, 1);
	KUNIT_EXPECT_NE(test, id_of(&rec), 0U);
	KUNIT_EXPECT_NULL(test, sets.wanted(&rec));
	sets.init(&rec, both, 2);
	set = sets.wanted(&rec);
	check_set(test, set, both, 2);
	KUNIT_EXPECT_TRUE(test, list_is_singular(&ops[0].sets));
	sets.init(&other, both, 2);
	KUNIT_EXPECT_PTR_EQ(test, sets.wanted(&other), set);

	KUNIT_EXPECT_TRUE(test, sets.differs(&rec));
	sets.enable(&rec, true);
	KUNIT_EXPECT_PTR_EQ(test, sets.called(&rec), set);
	KUNIT_EXPECT_FALSE(test, sets.differs(&rec));
	sets.enable(&rec, false);
	KUNIT_EXPECT_NULL(test, sets.called(&rec));
	sets.enable(&rec, true);
	sets.drop(&rec);
	KUNIT_EXPECT_EQ(test, rec.flags, 0UL);
	KUNIT_EXPECT_PTR_EQ(test, sets.wanted(&other), set);
	sets.drop(&other);
	KUNIT_EXPECT_TRUE(test, list_empty(&ops[0].sets) && list_empty(&ops[1].sets));

	ops[2].flags = FTRACE_OPS_FL_STUB;
	sets.init(&rec, mixed, 2);
	KUNIT_EXPECT_NE(test, id_of(&rec), 0U);
	KUNIT_EXPECT_NE(test, id_of(&rec), (unsigned int)NO_SET);
	KUNIT_EXPECT_NULL(test, sets.wanted(&rec));
	sets.drop(&rec);
	KUNIT_EXPECT_TRUE(test, list_empty(&ops[0].sets) && list_empty(&ops[2].sets));
}

/*
 * Functions with the same tracers share a set until the last one dropped it. It has no
 * code with less than two tracers or with a stub.
 */
static void sets_test_life(struct kunit *test)
{
	struct ftrace_ops *ops = need_sets(test, 3);

	mutex_lock(sets.lock);
	check_life(test, ops);
	mutex_unlock(sets.lock);
}

static void check_to_make(struct kunit *test, struct ftrace_ops *ops)
{
	struct ftrace_ops *former[] = { &ops[0], &ops[1] }, *latter[] = { &ops[0], &ops[2] };
	struct dyn_ftrace rec = { }, other = { };
	const struct ftrace_set *first, *second;

	sets.init(&rec, former, 2);
	sets.init(&other, latter, 2);
	first = sets.wanted(&rec);
	second = sets.wanted(&other);
	KUNIT_EXPECT_TRUE(test, first && second);
	if (first && second)
		KUNIT_EXPECT_PTR_EQ(test, second->list.prev, (struct list_head *)&first->list);
	sets.drop(&rec);
	if (first && second)
		KUNIT_EXPECT_PTR_NE(test, second->list.prev, (struct list_head *)&first->list);
	sets.drop(&other);
}

/* No code is made for a set that was dropped before. */
static void sets_test_drop_early(struct kunit *test)
{
	struct ftrace_ops *ops = need_sets(test, 3);

	mutex_lock(sets.lock);
	check_to_make(test, ops);
	mutex_unlock(sets.lock);
}

static void check_change(struct kunit *test, struct ftrace_ops **many)
{
	struct dyn_ftrace rec = { }, other = { };

	sets.init(&rec, many + 1, 1);
	sets.change(&rec, many[0], true);
	check_set(test, sets.wanted(&rec), many, 2);
	sets.change(&rec, many[2], true);
	check_set(test, sets.wanted(&rec), many, 3);
	sets.change(&rec, many[2], false);
	sets.change(&rec, many[1], false);
	sets.init(&other, many, 1);
	KUNIT_EXPECT_EQ(test, id_of(&rec), id_of(&other));
	sets.drop(&other);
	sets.change(&rec, many[0], false);
	KUNIT_EXPECT_EQ(test, rec.flags, 0UL);
	KUNIT_EXPECT_TRUE(test, list_empty(&many[0]->sets));
}

static void check_limit(struct kunit *test, struct ftrace_ops **many)
{
	struct dyn_ftrace rec = { };

	KUNIT_EXPECT_FALSE(test, sets.unknown());
	KUNIT_EXPECT_FALSE(test, sets.is_to_find(&rec));
	sets.init(&rec, many, FTRACE_SET_MAX);
	check_set(test, sets.wanted(&rec), many, FTRACE_SET_MAX);
	KUNIT_EXPECT_FALSE(test, sets.unknown());
	KUNIT_EXPECT_FALSE(test, sets.is_to_find(&rec));

	sets.init(&rec, many, FTRACE_SET_MAX + 1);
	rec.flags += FTRACE_SET_MAX + 1;
	KUNIT_EXPECT_EQ(test, id_of(&rec), (unsigned int)NO_SET);
	KUNIT_EXPECT_NULL(test, sets.wanted(&rec));
	KUNIT_EXPECT_TRUE(test, list_empty(&many[0]->sets));
	KUNIT_EXPECT_TRUE(test, sets.unknown());
	KUNIT_EXPECT_FALSE(test, sets.is_to_find(&rec));
	sets.change(&rec, many[0], true);
	KUNIT_EXPECT_EQ(test, id_of(&rec), (unsigned int)NO_SET);
	rec.flags--;
	KUNIT_EXPECT_TRUE(test, sets.is_to_find(&rec));
	sets.change(&rec, many[0], false);
	KUNIT_EXPECT_EQ(test, id_of(&rec), (unsigned int)NO_SET);

	sets.init(&rec, many, 2);
	KUNIT_EXPECT_FALSE(test, sets.unknown());
	KUNIT_EXPECT_FALSE(test, sets.is_to_find(&rec));
	sets.init(&rec, many, FTRACE_SET_MAX + 1);
	KUNIT_EXPECT_TRUE(test, sets.unknown());
	rec.flags -= FTRACE_SET_MAX;
	sets.change(&rec, many[0], false);
	KUNIT_EXPECT_EQ(test, rec.flags, 0UL);
	KUNIT_EXPECT_FALSE(test, sets.unknown());
	sets.drop(&rec);
}

/* A function with too many tracers has no set until some of them are removed. */
static void sets_test_limit(struct kunit *test)
{
	struct ftrace_ops *ops = need_sets(test, FTRACE_SET_MAX + 1);
	struct ftrace_ops *many[FTRACE_SET_MAX + 1];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(many); i++)
		many[i] = &ops[i];
	mutex_lock(sets.lock);
	check_change(test, many);
	check_limit(test, many);
	mutex_unlock(sets.lock);
}

static void check_no_memory(struct kunit *test, struct ftrace_ops *ops)
{
	struct ftrace_ops *both[] = { &ops[0], &ops[1] };
	struct dyn_ftrace rec = { };

	fail_nth_alloc(1);
	sets.init(&rec, both, 2);
	stop_failing();
	KUNIT_EXPECT_EQ(test, id_of(&rec), (unsigned int)NO_SET);
	KUNIT_EXPECT_TRUE(test, sets.unknown());
	KUNIT_EXPECT_TRUE(test, list_empty(&ops[0].sets));
	sets.init(&rec, both, 2);
	KUNIT_EXPECT_FALSE(test, sets.unknown());
	check_set(test, sets.wanted(&rec), both, 2);
	sets.drop(&rec);
	KUNIT_EXPECT_FALSE(test, sets.unknown());
}

/* A function for whose set memory was short gets it later. */
static void sets_test_no_memory_for_set(struct kunit *test)
{
	struct ftrace_ops *ops = need_sets(test, 2);

	need_failing_alloc(test);
	mutex_lock(sets.lock);
	check_no_memory(test, ops);
	mutex_unlock(sets.lock);
}

/* Makes and drops a set until the ids start again. Return: one more than the highest */
static unsigned int count_ids(struct ftrace_ops *ops)
{
	unsigned int tries, id, last = 0;
	struct dyn_ftrace rec = { };

	sets.init(&rec, &ops, 1);	/* the table may be new, or just have grown */
	sets.drop(&rec);
	for (tries = 0; tries < 2 * NO_SET; tries++) {
		sets.init(&rec, &ops, 1);
		id = id_of(&rec);
		sets.drop(&rec);
		if (id == NO_SET)
			break;
		if (id <= last)
			return last + 1;
		last = id;
	}
	return 0;
}

static void check_ids(struct kunit *test, struct ftrace_ops *ops)
{
	struct ftrace_ops *held = &ops[1];
	struct dyn_ftrace rec = { };
	unsigned int nr;

	nr = count_ids(&ops[0]);
	KUNIT_EXPECT_GT(test, nr, 1U);
	sets.init(&rec, &held, 1);
	KUNIT_EXPECT_NE(test, id_of(&rec), (unsigned int)NO_SET);
	KUNIT_EXPECT_EQ(test, count_ids(&ops[0]), nr);
	sets.drop(&rec);
}

/* The table does not grow while ids are unused, even if the next one is used. */
static void sets_test_ids(struct kunit *test)
{
	struct ftrace_ops *ops = need_sets(test, 2);

	mutex_lock(sets.lock);
	check_ids(test, ops);
	mutex_unlock(sets.lock);
}

#define MANY_IDS	256	/* a larger table does not only need kmalloc() */
#define ID_OPS		17	/* 272 pairs */

/* Gives the record the set of the k-th pair of tracers. Return: its id */
static unsigned int init_pair(struct dyn_ftrace *rec, struct ftrace_ops *ops, unsigned int k)
{
	unsigned int i = k / (ID_OPS - 1), j = k % (ID_OPS - 1);
	struct ftrace_ops *pair[] = { &ops[i], &ops[j + (j >= i)] };

	sets.init(rec, pair, 2);
	return id_of(rec);
}

static void check_growth(struct kunit *test, struct ftrace_ops *ops, struct dyn_ftrace *recs)
{
	unsigned int k, id = 0, nr = count_ids(ops), unused;

	if (nr > MANY_IDS)
		return;		/* other cases needed many ids before */
	for (k = 0; k < nr; k++) {
		if (*sets.nr_used + 1 == *sets.nr_ids)
			fail_next_alloc();
		id = init_pair(&recs[k], ops, k);
		stop_failing();
		if (id == NO_SET || id >= nr)
			break;
	}
	KUNIT_EXPECT_LT(test, k, nr);
	KUNIT_EXPECT_GT(test, k, 1U);
	if (id == NO_SET) {
		KUNIT_EXPECT_TRUE(test, sets.unknown());
		unused = id_of(&recs[0]);
		sets.drop(&recs[0]);
		KUNIT_EXPECT_EQ(test, init_pair(&recs[k], ops, k), unused);
		KUNIT_EXPECT_FALSE(test, sets.unknown());
		KUNIT_EXPECT_EQ(test, init_pair(&recs[0], ops, 0), (unsigned int)NO_SET);
		sets.make_text();
		id = init_pair(&recs[0], ops, 0);
		KUNIT_EXPECT_GE(test, id, nr);
		KUNIT_EXPECT_NE(test, id, (unsigned int)NO_SET);
	}
	for (k = 0; k < MANY_IDS; k++)
		sets.drop(&recs[k]);
	KUNIT_EXPECT_GE(test, count_ids(ops), 2 * nr);
}

/*
 * If there is no memory for more ids, the next set gets one that is no longer used, and
 * the next update tries again.
 */
static void sets_test_no_memory_for_ids(struct kunit *test)
{
	struct ftrace_ops *ops = need_sets(test, ID_OPS);
	struct dyn_ftrace *recs = kunit_kcalloc(test, MANY_IDS, sizeof(*recs), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, recs);
	need_failing_alloc(test);
	for (i = 0; i < ID_OPS; i++)
		ops[i].flags = FTRACE_OPS_FL_STUB;	/* no code */
	mutex_lock(sets.lock);
	check_growth(test, ops, recs);
	mutex_unlock(sets.lock);
}

/* Return: a table of sets in which all ids are used */
static struct ftrace_set **make_full_table(struct kunit *test, unsigned int nr)
{
	struct ftrace_set **table = kvcalloc(nr, sizeof(*table), GFP_KERNEL);
	static struct ftrace_set used;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, table);
	for (i = 0; i < nr; i++)
		table[i] = &used;
	return table;
}

static void check_growth_of(struct kunit *test, struct ftrace_ops *ops,
			    struct ftrace_set **table, unsigned int nr, unsigned int more)
{
	struct ftrace_ops *newer = &ops[0], *older = &ops[1];
	struct ftrace_set **saved = *sets.by_id;
	struct dyn_ftrace rec = { }, other = { };
	unsigned int i, saved_nr = *sets.nr_ids, saved_used = *sets.nr_used;

	*sets.by_id = table;
	*sets.nr_ids = nr;
	*sets.nr_used = nr - 1;
	sets.init(&rec, &newer, 1);
	KUNIT_EXPECT_EQ(test, id_of(&rec), nr);
	KUNIT_EXPECT_EQ(test, *sets.nr_ids, more);
	KUNIT_EXPECT_FALSE(test, is_held(table));
	if (more == NO_SET) {
		for (i = 0; i < *sets.nr_ids; i++)
			if (!(*sets.by_id)[i])
				(*sets.by_id)[i] = (*sets.by_id)[0];
		*sets.nr_used = *sets.nr_ids - 1;
		forget_memory();
		sets.init(&other, &older, 1);
		KUNIT_EXPECT_EQ(test, id_of(&other), (unsigned int)NO_SET);
		KUNIT_EXPECT_TRUE(test, list_empty(&older->sets));
		expect_none_held(test);
		sets.drop(&other);
	}
	pause_tracking();
	sets.drop(&rec);
	kvfree(*sets.by_id);
	*sets.by_id = saved;
	*sets.nr_ids = saved_nr;
	*sets.nr_used = saved_used;
}

/*
 * A table of ids is freed when a larger one replaces it. The largest one does not have
 * the id that means no set; if all of its ids are used, nothing is allocated.
 */
static void sets_test_last_ids(struct kunit *test)
{
	static const unsigned int sizes[][2] = {
		{ 64, 128 }, { (NO_SET + 1) / 2, NO_SET },
	};
	struct ftrace_ops *ops = need_sets(test, 2);
	struct ftrace_set **table;
	unsigned int i;

	need_tracking(test);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		forget_memory();
		table = make_full_table(test, sizes[i][0]);
		mutex_lock(sets.lock);
		check_growth_of(test, ops, table, sizes[i][0], sizes[i][1]);
		mutex_unlock(sets.lock);
	}
	stop_tracking();
}

/* In which list of the hash table is the set? */
static u32 list_of(struct ftrace_ops *const *ops, unsigned int nr)
{
	return hash_32(jhash(ops, nr * sizeof(*ops), 0), 10);
}

static void expect_two_sets(struct kunit *test, struct ftrace_ops **ops, unsigned int nr,
			    struct ftrace_ops **others, unsigned int nr_others)
{
	struct dyn_ftrace rec = { }, other = { };

	mutex_lock(sets.lock);
	sets.init(&rec, ops, nr);
	sets.init(&other, others, nr_others);
	KUNIT_EXPECT_NE(test, id_of(&rec), id_of(&other));
	sets.drop(&rec);
	sets.drop(&other);
	mutex_unlock(sets.lock);
}

#define HASH_OPS	128

/* Sets in the same list of the hash table differ in the number or the last of tracers. */
static void sets_test_hash(struct kunit *test)
{
	struct ftrace_ops *ops = need_sets(test, HASH_OPS);
	bool shorter = false, last = false;
	unsigned int i, j, k;

	for (i = 0; i < HASH_OPS && !(shorter && last); i++) {
		for (j = i + 1; j < HASH_OPS; j++) {
			struct ftrace_ops *pair[] = { &ops[i], &ops[j] };
			u32 list = list_of(pair, 2);

			if (!shorter && list_of(pair, 1) == list) {
				expect_two_sets(test, pair, 2, pair, 1);
				shorter = true;
			}
			for (k = j + 1; k < HASH_OPS && !last; k++) {
				struct ftrace_ops *others[] = { &ops[i], &ops[k] };

				if (list_of(others, 2) == list) {
					expect_two_sets(test, pair, 2, others, 2);
					last = true;
				}
			}
		}
	}
	KUNIT_EXPECT_TRUE(test, shorter);
	KUNIT_EXPECT_TRUE(test, last);
}

/* What follows the tracers in memory does not matter. */
static void sets_test_hash_end(struct kunit *test)
{
	struct ftrace_ops *ops = need_sets(test, 1);
	struct ftrace_ops *one[] = { ops, (void *)1 }, *same[] = { ops, (void *)2 };
	struct dyn_ftrace rec = { }, other = { };

	mutex_lock(sets.lock);
	sets.init(&rec, one, 1);
	sets.init(&other, same, 1);
	KUNIT_EXPECT_EQ(test, id_of(&rec), id_of(&other));
	sets.drop(&rec);
	sets.drop(&other);
	mutex_unlock(sets.lock);
}

/* With two tracers and one whose function no code can call; text_mutex is watched. */
static void check_patching(struct kunit *test,
			   void (*check)(struct kunit *test, struct ftrace_ops *ops))
{
	struct ftrace_ops *ops = need_sets(test, 3);

	ops[0].func = note_call;
	ops[1].func = note_call;
	ops[2].func = (ftrace_func_t)(void *)ops;
	KUNIT_ASSERT_EQ(test, watch_unlocks(sets.text_lock), 0);
	mutex_lock(sets.lock);
	check(test, ops);
	mutex_unlock(sets.lock);
	stop_watching();
}

/* Only the call of the first tracer is removed, with text_mutex held. */
static void check_removed_call(struct kunit *test, struct ftrace_ops *ops,
			       const struct ftrace_set *set)
{
	static const u8 nop[] = { BYTES_NOP5 };
	static u8 code[1024];

	KUNIT_EXPECT_NOT_NULL(test, set);
	if (!set)
		return;
	KUNIT_EXPECT_LE(test, set->text.size, (unsigned int)sizeof(code));
	if (set->text.size > sizeof(code))
		return;
	memcpy(code, set->text.text, set->text.size);
	KUNIT_EXPECT_EQ(test, code[set->members[0].call], 0xe8);
	memcpy(code + set->members[0].call, nop, sizeof(nop));
	watched.calls = 0;
	sets.unregister(ops);
	KUNIT_EXPECT_EQ(test, watched.calls, 1U);
	KUNIT_EXPECT_EQ(test, watched.not_locked, 0U);
	KUNIT_EXPECT_EQ(test, 0, memcmp(code, set->text.text, set->text.size));
}

static void check_unregister(struct kunit *test, struct ftrace_ops *ops)
{
	struct ftrace_ops *both[] = { &ops[0], &ops[1] }, *far[] = { &ops[0], &ops[2] };
	struct dyn_ftrace rec = { }, without_text = { }, other = { };

	sets.init(&rec, both, 2);
	sets.init(&without_text, far, 2);
	sets.make_text();
	KUNIT_EXPECT_NULL(test, sets.wanted(&without_text));
	check_removed_call(test, &ops[0], sets.wanted(&rec));
	KUNIT_EXPECT_TRUE(test, list_empty(&ops[0].sets) && list_empty(&ops[1].sets) &&
			  list_empty(&ops[2].sets));
	sets.init(&other, both, 2);
	KUNIT_EXPECT_NE(test, id_of(&other), id_of(&rec));
	sets.drop(&other);
	sets.drop(&without_text);
	sets.drop(&rec);
}

/*
 * A set that a function still has is not found after a tracer of it is unregistered, and
 * its code no longer calls this tracer. A set may have no code: a function is too far.
 */
static void sets_test_unregister(struct kunit *test)
{
	check_patching(test, check_unregister);
}

static void check_update_func(struct kunit *test, struct ftrace_ops *ops)
{
	struct ftrace_ops *both[] = { &ops[0], &ops[1] }, *far[] = { &ops[0], &ops[2] };
	struct dyn_ftrace rec = { }, without_text = { };
	const struct ftrace_set *set;

	sets.init(&rec, both, 2);
	sets.init(&without_text, far, 2);
	sets.make_text();
	set = sets.wanted(&rec);
	KUNIT_EXPECT_NOT_NULL(test, set);
	if (set) {
		watched.calls = 0;
		ops[0].func = call_again;
		sets.update_func(&ops[0]);
		KUNIT_EXPECT_EQ(test, watched.calls, 1U);
		KUNIT_EXPECT_EQ(test, watched.not_locked, 0U);
		KUNIT_EXPECT_PTR_EQ(test, (void *)call_again,
				    called_by(test, set->text.text + set->members[0].call));
		KUNIT_EXPECT_PTR_EQ(test, (void *)note_call,
				    called_by(test, set->text.text + set->members[1].call));
	}
	KUNIT_EXPECT_NULL(test, sets.wanted(&without_text));
	sets.drop(&without_text);
	sets.drop(&rec);
}

/* The code of all sets of a tracer calls its new function. */
static void sets_test_update_func(struct kunit *test)
{
	check_patching(test, check_update_func);
}

static notrace void note_twice(unsigned long ip, unsigned long parent_ip,
			       struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	note_call(ip, parent_ip, ops, fregs);
	note_call(ip, parent_ip, ops, fregs);
}

/* The only tracer of a function is called by a trampoline of its own, not by a set. */
static void sets_test_update_own(struct kunit *test)
{
	struct test_tracer *tracer = kunit_kzalloc(test, sizeof(*tracer), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, tracer);
	need_symbols(test, symbols_of_sets, ARRAY_SIZE(symbols_of_sets));
	start(test, tracer, 1, 0, traced_a);
	expect_calls(test, a, 1);
	tracer->ops.func = note_twice;
	mutex_lock(sets.lock);
	sets.update_func(&tracer->ops);
	mutex_unlock(sets.lock);
	expect_calls(test, a, 11);
	stop(test, tracer);
	/* Registered again without memory, it has no trampoline. */
	KUNIT_EXPECT_EQ(test, tracer->ops.trampoline, 0UL);
	mutex_lock(sets.lock);
	sets.update_func(&tracer->ops);
	mutex_unlock(sets.lock);
}

/* Return: was the set without code for lack of memory? It gets code later. */
static bool makes_text_without(struct kunit *test, struct ftrace_ops *ops, int nth)
{
	struct ftrace_ops *both[] = { &ops[0], &ops[1] };
	const struct ftrace_set *set;
	struct dyn_ftrace rec = { };
	bool failed;

	sets.init(&rec, both, 2);
	set = sets.wanted(&rec);
	KUNIT_EXPECT_NOT_NULL(test, set);
	fail_nth_alloc(nth);
	sets.make_text();
	failed = nth_alloc_failed();
	stop_failing();
	if (set) {
		KUNIT_EXPECT_PTR_EQ(test, sets.wanted(&rec), set->text.text ? set : NULL);
		sets.make_text();
		KUNIT_EXPECT_PTR_EQ(test, sets.wanted(&rec), set);
		KUNIT_EXPECT_TRUE(test, set->text.text && list_empty(&set->list));
	}
	sets.drop(&rec);
	return failed;
}

/* A set has code, so that there is memory for more; the kernel warns if there is none. */
static void check_no_memory_for_text(struct kunit *test, struct ftrace_ops *ops)
{
	struct ftrace_ops *mixed[] = { &ops[0], &ops[2] };
	unsigned int tries = 0;
	struct dyn_ftrace rec = { };
	int nth;

	sets.init(&rec, mixed, 2);
	sets.make_text();
	KUNIT_EXPECT_NOT_NULL(test, sets.wanted(&rec));
	watched.calls = 0;
	/*
	 * KASAN allocates memory for new stacks, so an allocation may be passed over, or
	 * fail twice. The stacks are not new the next time.
	 */
	do {
		for (nth = 1; makes_text_without(test, ops, nth); nth++)
			;
	} while (IS_ENABLED(CONFIG_KASAN) && !watched.calls && tries++ < 3);
	KUNIT_EXPECT_GT(test, nth, 2);
	if (IS_ENABLED(CONFIG_KASAN))
		KUNIT_EXPECT_GE(test, watched.calls, 1U);
	else
		KUNIT_EXPECT_EQ(test, watched.calls, 1U);
	sets.drop(&rec);
}

#define NR_MANY	5

static void make_without_memory(void)
{
	fail_all_allocs();
	sets.make_text();
	stop_failing();
}

/*
 * Each update tries to make the code of one set, however many are without memory. It
 * is not always the same.
 */
static void check_many_without_memory(struct kunit *test, struct ftrace_ops *ops)
{
	static struct dyn_ftrace recs[NR_MANY];
	struct dyn_ftrace first = { };
	const void *tried;
	unsigned int i;

	/* There is a chunk; the kernel warns if there is no memory for one. */
	sets.init(&first, (struct ftrace_ops *[]){ &ops[0], &ops[1] }, 2);
	sets.make_text();
	for (i = 0; i < NR_MANY; i++)
		sets.init(&recs[i], (struct ftrace_ops *[]){ &ops[i + 1], &ops[i + 2] }, 2);
	watched.calls = 0;
	make_without_memory();
	KUNIT_EXPECT_EQ(test, watched.calls, 1U);
	for (i = 0; i < NR_MANY; i++)
		KUNIT_EXPECT_NULL(test, sets.wanted(&recs[i]));
	make_without_memory();
	KUNIT_EXPECT_EQ(test, watched.calls, 2U);
	tried = watched.argument;
	make_without_memory();
	KUNIT_EXPECT_EQ(test, watched.calls, 3U);
	if (IS_ENABLED(CONFIG_HAVE_FUNCTION_ARG_ACCESS_API))
		KUNIT_EXPECT_PTR_NE(test, watched.argument, tried);
	sets.make_text();
	KUNIT_EXPECT_EQ(test, watched.calls, 3U + NR_MANY);
	for (i = 0; i < NR_MANY; i++) {
		KUNIT_EXPECT_NOT_NULL(test, sets.wanted(&recs[i]));
		sets.drop(&recs[i]);
	}
	sets.drop(&first);
}

static void sets_test_many_without_memory(struct kunit *test)
{
	struct ftrace_ops *ops = need_sets(test, NR_MANY + 2);
	unsigned int i;

	need_failing_allocs(test);
	for (i = 0; i < NR_MANY + 2; i++)
		ops[i].func = note_call;
	KUNIT_ASSERT_EQ(test, watch_calls("generate_text"), 0);
	watched.nth = 3;	/* where the set has its code */
	mutex_lock(sets.lock);
	check_many_without_memory(test, ops);
	mutex_unlock(sets.lock);
	stop_watching();
}

/* If there is no memory for the name of the code, the code is freed. */
static void sets_test_no_memory_for_text(struct kunit *test)
{
	struct ftrace_ops *ops = need_sets(test, 3);
	unsigned int i;

	need_failing_alloc(test);
	for (i = 0; i < 3; i++)
		ops[i].func = note_call;
	KUNIT_ASSERT_EQ(test, watch_calls("free_generated_text"), 0);
	mutex_lock(sets.lock);
	check_no_memory_for_text(test, ops);
	mutex_unlock(sets.lock);
	stop_watching();
}

/* What the work item does that frees sets; the last step only if tasks are preempted. */
static const struct { char letter; const char *function; } free_steps[] = {
	{ 'l', "mutex_unlock" },
	{ 'r', "synchronize_rcu_tasks_rude" },
	{ 'n', "unname_generated_text" },
	{ 'f', "free_generated_text" },
	{ 'e', "trim_generated_text" },
	{ 't', "synchronize_rcu_tasks" },
};

#define NR_FREE_STEPS	(ARRAY_SIZE(free_steps) - !IS_ENABLED(CONFIG_PREEMPTION))

static struct {
	struct kprobe kprobes[ARRAY_SIZE(free_steps)];
	bool notes;
	char letters[16];
	unsigned int nr;
} freeing;

static int note_step(struct kprobe *kp, struct pt_regs *regs)
{
	char letter = free_steps[kp - freeing.kprobes].letter;

	if (!READ_ONCE(freeing.notes) || current_work() != sets.free_work)
		return 0;
	if (letter == 'l') {
		if (get_argument(regs, 0) != sets.lock)
			return 0;
		if (!mutex_is_locked(sets.lock))
			letter = '!';
	}
	if (freeing.nr < sizeof(freeing.letters) - 1)
		freeing.letters[freeing.nr++] = letter;
	return 0;
}

/* Makes and drops a set with code. Return: the set, which the work item has freed */
static const void *make_and_free(struct kunit *test, struct ftrace_ops *ops)
{
	struct ftrace_ops *both[] = { &ops[0], &ops[1] };
	const struct ftrace_set *set;
	struct dyn_ftrace rec = { };

	mutex_lock(sets.lock);
	sets.init(&rec, both, 2);
	sets.make_text();
	set = sets.wanted(&rec);
	KUNIT_EXPECT_NOT_NULL(test, set);
	KUNIT_EXPECT_TRUE(test, is_held(set));
	sets.drop(&rec);
	mutex_unlock(sets.lock);
	flush_work(sets.free_work);
	return set;
}

/*
 * The memory of an unused set is freed after its code, and that after its name. Before,
 * the kernel waits for tasks in the code; at last, it frees what no code uses.
 */
static void sets_test_free(struct kunit *test)
{
	struct kprobe *kprobes[ARRAY_SIZE(free_steps)];
	struct ftrace_ops *ops = need_sets(test, 2);
	const void *set;
	unsigned int i;

	ops[0].func = note_call;
	ops[1].func = note_call;
	memset(&freeing, 0, sizeof(freeing));
	for (i = 0; i < NR_FREE_STEPS; i++) {
		kprobes[i] = &freeing.kprobes[i];
		kprobes[i]->symbol_name = free_steps[i].function;
		kprobes[i]->pre_handler = note_step;
	}
	need_tracking(test);
	KUNIT_ASSERT_EQ(test, register_kprobes(kprobes, NR_FREE_STEPS), 0);
	flush_work(sets.free_work);
	forget_memory();
	WRITE_ONCE(freeing.notes, true);
	set = make_and_free(test, ops);
	WRITE_ONCE(freeing.notes, false);
	pause_tracking();
	unregister_kprobes(kprobes, NR_FREE_STEPS);
	stop_tracking();
	KUNIT_EXPECT_STREQ(test, freeing.letters,
			   IS_ENABLED(CONFIG_PREEMPTION) ? "lrtnfe" : "lrnfe");
	KUNIT_EXPECT_FALSE(test, is_held(set));
}
#endif /* CONFIG_FTRACE_SETS && CONFIG_KPROBES && CONFIG_KALLSYMS_ALL */

static void sets_test_no_memory_for_name(struct kunit *test)
{
	struct test_tracer *tracer = kunit_kzalloc(test, sizeof(*tracer), GFP_KERNEL);

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

#if defined(CONFIG_KPROBES) && defined(CONFIG_KALLSYMS)
static unsigned int nr_filters;

static void count_filter(struct ftrace_ops_hash *filter, void *wanted)
{
	nr_filters += filter == wanted;
}

/* The filters of a tracer with a name are known while it is registered. */
static void sets_test_each_name(struct kunit *test)
{
	struct test_tracer *tracer = kunit_kzalloc(test, sizeof(*tracer), GFP_KERNEL);
	void (*each)(void (*func)(struct ftrace_ops_hash *filter, void *arg), void *arg);

	KUNIT_ASSERT_NOT_NULL(test, tracer);
	each = need_symbol(test, "function_tracers_each");
	KUNIT_ASSERT_EQ(test, register_named(test, tracer, "kunit", 0), 0);
	nr_filters = 0;
	each(count_filter, tracer->ops.func_hash);
	KUNIT_EXPECT_EQ(test, nr_filters, 1U);
	stop(test, tracer);
	nr_filters = 0;
	each(count_filter, tracer->ops.func_hash);
	KUNIT_EXPECT_EQ(test, nr_filters, 0U);
}

#ifdef CONFIG_KALLSYMS_ALL
/*
 * The following cases call functions of kernel/trace/function_tracers.c directly: a
 * tracer gets a name, but nothing calls it.
 */
static struct {
	struct mutex *mutex;	/* tracers_mutex */
	struct ftrace_ops *global_ops;
	int (*add)(const char *name, struct ftrace_ops *ops);
	void (*registered)(const struct ftrace_ops *ops);
	void (*remove)(const struct ftrace_ops *ops);
	void (*each)(void (*func)(struct ftrace_ops_hash *filter, void *arg), void *arg);
	struct function_tracer *(*get)(const struct ftrace_ops *ops, u64 *registration);
	void (*put)(struct function_tracer *tracer);
	bool (*lock)(struct function_tracer *tracer, u64 registration);
	void (*unlock)(struct function_tracer *tracer);
	int (*show)(struct seq_file *m, void *v);
} names;

static const struct wanted_symbol symbols_of_names[] = {
	{ "tracers_mutex", &names.mutex },
	{ "global_ops", &names.global_ops },
	{ "function_tracer_add", &names.add },
	{ "function_tracer_registered", &names.registered },
	{ "function_tracer_remove", &names.remove },
	{ "function_tracers_each", &names.each },
	{ "function_tracer_get", &names.get },
	{ "function_tracer_put", &names.put },
	{ "function_tracer_lock", &names.lock },
	{ "function_tracer_unlock", &names.unlock },
	{ "tracers_show", &names.show },
};

/* Return: tracers with a filter, to be freed by free_filters() */
static struct test_tracer *need_names(struct kunit *test, unsigned int nr)
{
	struct test_tracer *tracers = kunit_kcalloc(test, nr, sizeof(*tracers), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, tracers);
	need_symbols(test, symbols_of_names, ARRAY_SIZE(symbols_of_names));
	for (i = 0; i < nr; i++) {
		init_tracer(&tracers[i], i, 0);
		KUNIT_EXPECT_EQ(test, want(&tracers[i], traced_a), 0);
	}
	return tracers;
}

static void free_filters(struct test_tracer *tracers, unsigned int nr)
{
	while (nr--)
		ftrace_free_filter(&tracers[nr].ops);
}

/* Gives a tracer a name, as for an open file. Return: the name, or NULL */
static struct function_tracer *open_name(struct kunit *test, const char *name,
					 struct ftrace_ops *ops, u64 *registration)
{
	struct function_tracer *tracer;
	int ret = names.add(name, ops);

	KUNIT_EXPECT_EQ(test, ret, 0);
	if (ret)
		return NULL;
	names.registered(ops);
	mutex_lock(names.mutex);
	tracer = names.get(ops, registration);
	mutex_unlock(names.mutex);
	return tracer;
}

/* May a file that was opened at this registration use the tracer? */
static bool can_use(struct function_tracer *tracer, u64 registration)
{
	if (!names.lock(tracer, registration))
		return false;
	names.unlock(tracer);
	return true;
}

/* A name is freed when it is removed, or when the last file that uses it is closed. */
static void sets_test_free_name(struct kunit *test)
{
	struct function_tracer *file;
	struct test_tracer *tracer;
	u64 registration;

	need_tracking(test);
	tracer = need_names(test, 1);
	forget_memory();
	KUNIT_EXPECT_EQ(test, names.add("kunit", &tracer->ops), 0);
	KUNIT_EXPECT_EQ(test, memory.nr_held, 1U);
	names.remove(&tracer->ops);
	expect_none_held(test);

	file = open_name(test, "kunit", &tracer->ops, &registration);
	if (file) {
		KUNIT_EXPECT_TRUE(test, can_use(file, registration));
		names.remove(&tracer->ops);
		KUNIT_EXPECT_EQ(test, memory.nr_held, 1U);
		KUNIT_EXPECT_FALSE(test, can_use(file, registration));
		names.put(file);
	}
	expect_none_held(test);
	stop_tracking();
	free_filters(tracer, 1);
}

/*
 * A name of the kernel needs no memory, and is not freed. A file that was opened before
 * it was removed cannot use it after it is added again.
 */
static void sets_test_kernel_name(struct kunit *test)
{
	struct function_tracer *file, *later;
	u64 before, after;
	int ret;

	need_symbols(test, symbols_of_names, ARRAY_SIZE(symbols_of_names));
	need_failing_alloc(test);
	fail_nth_alloc(1);
	ret = names.add("trace", names.global_ops);
	stop_failing();
	if (ret == -EBUSY || ret == -EEXIST)
		kunit_skip(test, "the function tracer runs");
	KUNIT_ASSERT_EQ(test, ret, 0);
	names.remove(names.global_ops);

	file = open_name(test, "trace", names.global_ops, &before);
	KUNIT_ASSERT_NOT_NULL(test, file);
	KUNIT_EXPECT_TRUE(test, can_use(file, before));
	names.remove(names.global_ops);
	KUNIT_EXPECT_FALSE(test, can_use(file, before));
	later = open_name(test, "trace", names.global_ops, &after);
	KUNIT_EXPECT_PTR_EQ(test, later, file);
	KUNIT_EXPECT_FALSE(test, can_use(file, before));
	if (later) {
		KUNIT_EXPECT_TRUE(test, can_use(later, after));
		names.remove(names.global_ops);
		names.put(later);
	}
	names.put(file);
}

/* Does function_tracers have these lines, and maybe others before and after them? */
static bool lists(const char *lines)
{
	static char text[1024];
	struct seq_file m = { .buf = text, .size = sizeof(text) };

	text[0] = '\0';
	names.show(&m, NULL);
	return strstr(text, lines);
}

/* The default is the name that was registered last; a name that is only added is hidden. */
static void sets_test_default_name(struct kunit *test)
{
	struct test_tracer *tracers = need_names(test, 3);
	unsigned int i;

	KUNIT_EXPECT_EQ(test, names.add("kunit_first", &tracers[0].ops), 0);
	KUNIT_EXPECT_EQ(test, names.add("kunit_second", &tracers[1].ops), 0);
	KUNIT_EXPECT_EQ(test, names.add("kunit_third", &tracers[2].ops), 0);
	KUNIT_EXPECT_FALSE(test, lists("kunit_"));
	names.registered(&tracers[0].ops);
	KUNIT_EXPECT_TRUE(test, lists("[kunit_first]\n"));
	names.registered(&tracers[1].ops);
	KUNIT_EXPECT_TRUE(test, lists("kunit_first\n[kunit_second]\n"));
	KUNIT_EXPECT_FALSE(test, lists("kunit_third"));
	names.registered(&tracers[2].ops);
	KUNIT_EXPECT_TRUE(test, lists("kunit_first\nkunit_second\n[kunit_third]\n"));
	names.remove(&tracers[2].ops);
	KUNIT_EXPECT_TRUE(test, lists("kunit_first\n[kunit_second]\n"));
	names.registered(&tracers[0].ops);
	KUNIT_EXPECT_TRUE(test, lists("[kunit_first]\nkunit_second\n"));
	for (i = 0; i < 2; i++)
		names.remove(&tracers[i].ops);
	KUNIT_EXPECT_FALSE(test, lists("kunit_"));
	free_filters(tracers, 3);
}

/* The list of names is locked where it is changed or read. */
static void sets_test_lock_names(struct kunit *test)
{
	struct test_tracer *tracer;

	if (!IS_ENABLED(CONFIG_HAVE_FUNCTION_ARG_ACCESS_API))
		kunit_skip(test, "needs arguments of functions");
	tracer = need_names(test, 1);
	KUNIT_ASSERT_EQ(test, watch_unlocks(names.mutex), 0);
	KUNIT_EXPECT_EQ(test, names.add("kunit", &tracer->ops), 0);
	KUNIT_EXPECT_EQ(test, watched.calls, 1U);
	names.registered(&tracer->ops);
	KUNIT_EXPECT_EQ(test, watched.calls, 2U);
	nr_filters = 0;
	names.each(count_filter, tracer->ops.func_hash);
	KUNIT_EXPECT_EQ(test, nr_filters, 1U);
	KUNIT_EXPECT_EQ(test, watched.calls, 3U);
	names.remove(&tracer->ops);
	KUNIT_EXPECT_EQ(test, watched.calls, 4U);
	KUNIT_EXPECT_EQ(test, watched.not_locked, 0U);
	stop_watching();
	free_filters(tracer, 1);
}
#endif /* CONFIG_KALLSYMS_ALL */

#ifdef CONFIG_MODULES
/* The filter of the top directory is not a tracer's own. */
static void sets_test_unloaded_top_filter(struct kunit *test)
{
	struct test_tracer *tracer = kunit_kzalloc(test, sizeof(*tracer), GFP_KERNEL);
	struct module *mod = kunit_kzalloc(test, sizeof(*mod), GFP_KERNEL);
	void (*remove_of)(const struct module *mod);
	unsigned long size;

	KUNIT_ASSERT_NOT_NULL(test, tracer);
	KUNIT_ASSERT_NOT_NULL(test, mod);
	remove_of = need_symbol(test, "function_tracers_remove_of");
	set_module_memory(mod, tracer, sizeof(*tracer), 0);
	strscpy(mod->name, "kunit", sizeof(mod->name));
	init_tracer(tracer, 0, 0);
	tracer->ops.name = "kunit_top";
	ftrace_ops_set_global_filter(&tracer->ops);
	KUNIT_ASSERT_EQ(test, want(tracer, traced_a), 0);
	size = filter_size(&tracer->ops);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&tracer->ops), 0);
	remove_of(mod);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&tracer->ops), -EBUSY);
	KUNIT_EXPECT_EQ(test, filter_size(&tracer->ops), size);
	KUNIT_EXPECT_EQ(test, leave(tracer, traced_a), 0);
}

/* Tracers that an unloaded module left registered are unregistered, but no others. */
static void sets_test_unloaded(struct kunit *test)
{
	struct test_tracer *tracers = kunit_kcalloc(test, 3, sizeof(*tracers), GFP_KERNEL);
	struct module *mod = kunit_kzalloc(test, sizeof(*mod), GFP_KERNEL);
	void (*remove_of)(const struct module *mod);

	KUNIT_ASSERT_NOT_NULL(test, tracers);
	KUNIT_ASSERT_NOT_NULL(test, mod);
	remove_of = need_symbol(test, "function_tracers_remove_of");
	set_module_memory(mod, tracers, 2 * sizeof(*tracers), 0);
	strscpy(mod->name, "kunit", sizeof(mod->name));
	KUNIT_ASSERT_EQ(test, register_named(test, &tracers[0], "kunit_first", 0), 0);
	KUNIT_ASSERT_EQ(test, register_named(test, &tracers[1], "kunit_second", 0), 0);
	KUNIT_ASSERT_EQ(test, register_named(test, &tracers[2], "kunit_third", 0), 0);
	call_a();
	KUNIT_EXPECT_EQ(test, nr_called, 3U);
	remove_of(mod);
	call_a();
	KUNIT_EXPECT_EQ(test, nr_called, 1U);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&tracers[0].ops), -EBUSY);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&tracers[1].ops), -EBUSY);
	KUNIT_EXPECT_EQ(test, filter_size(&tracers[0].ops), 0UL);
	KUNIT_EXPECT_EQ(test, filter_size(&tracers[1].ops), 0UL);
	stop(test, &tracers[2]);
}
#endif
#endif

static struct kunit_case sets_test_cases[] = {
	KUNIT_CASE(sets_test_order),
	KUNIT_CASE(sets_test_filters),
	KUNIT_CASE(sets_test_same_flags),
	KUNIT_CASE(sets_test_flags),
	KUNIT_CASE(sets_test_many),
#if defined(CONFIG_FTRACE_SETS) && defined(CONFIG_KPROBES) && defined(CONFIG_KALLSYMS_ALL)
	KUNIT_CASE(sets_test_life),
	KUNIT_CASE(sets_test_drop_early),
	KUNIT_CASE(sets_test_limit),
	KUNIT_CASE(sets_test_no_memory_for_set),
	KUNIT_CASE(sets_test_ids),
	KUNIT_CASE(sets_test_no_memory_for_ids),
	KUNIT_CASE(sets_test_last_ids),
#if IS_BUILTIN(CONFIG_PSTORE) && defined(CONFIG_PSTORE_FTRACE)
	KUNIT_CASE(sets_test_pstore),
#endif
	KUNIT_CASE(sets_test_hash),
	KUNIT_CASE(sets_test_hash_end),
	KUNIT_CASE(sets_test_unregister),
	KUNIT_CASE(sets_test_update_func),
	KUNIT_CASE(sets_test_update_own),
	KUNIT_CASE(sets_test_no_memory_for_text),
	KUNIT_CASE(sets_test_many_without_memory),
	KUNIT_CASE(sets_test_free),
#endif
	KUNIT_CASE(sets_test_many_sets),
	KUNIT_CASE(sets_test_recursion),
	KUNIT_CASE(sets_test_interrupt),
	KUNIT_CASE(sets_test_no_protection),
	KUNIT_CASE(sets_test_resched),
#ifdef CONFIG_X86_64
	KUNIT_CASE(sets_test_redirect),
	KUNIT_CASE(sets_test_registers),
#ifndef CONFIG_FRAME_POINTER
	KUNIT_CASE(sets_test_all_registers),
#endif
#ifdef CONFIG_FTRACE_SETS
	KUNIT_CASE(sets_test_calls),
	KUNIT_CASE(sets_test_unwatched),
	KUNIT_CASE(sets_test_far),
#if defined(CONFIG_KPROBES) && defined(CONFIG_KALLSYMS) && !defined(CONFIG_FRAME_POINTER)
	KUNIT_CASE(sets_test_depths),
	KUNIT_CASE(sets_test_insns),
#endif
#endif
#ifdef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS
	KUNIT_CASE(sets_test_direct),
	KUNIT_CASE(sets_test_direct_recursion),
#endif
#endif
	KUNIT_CASE(sets_test_stack),
	KUNIT_CASE(sets_test_no_list),
	KUNIT_CASE(sets_test_in_use),
#if defined(CONFIG_KPROBES) && defined(CONFIG_X86_64)
	KUNIT_CASE(sets_test_far_functions),
#endif
#ifdef CONFIG_KPROBES
	KUNIT_CASE(sets_test_function_probe),
	KUNIT_CASE(sets_test_counter_is_freed_later),
	KUNIT_CASE(sets_test_probe_cannot_grow),
	KUNIT_CASE(sets_test_probe_cannot_shrink),
#endif
	KUNIT_CASE(sets_test_shared),
	KUNIT_CASE(sets_test_name),
	KUNIT_CASE(sets_test_bad_names),
	KUNIT_CASE(sets_test_twice),
	KUNIT_CASE(sets_test_reserved_names),
	KUNIT_CASE(sets_test_no_memory),
	KUNIT_CASE(sets_test_no_memory_for_filter),
	KUNIT_CASE(sets_test_no_memory_for_name),
#if defined(CONFIG_KPROBES) && defined(CONFIG_KALLSYMS)
	KUNIT_CASE(sets_test_each_name),
#ifdef CONFIG_KALLSYMS_ALL
	KUNIT_CASE(sets_test_free_name),
	KUNIT_CASE(sets_test_kernel_name),
	KUNIT_CASE(sets_test_default_name),
	KUNIT_CASE(sets_test_lock_names),
#endif
#ifdef CONFIG_MODULES
	KUNIT_CASE(sets_test_unloaded),
	KUNIT_CASE(sets_test_unloaded_top_filter),
#endif
#endif
	{ }
};

/* Ends what a failed case left behind. */
static void sets_test_exit(struct kunit *test)
{
	stop_failing();
	stop_tracking();
#if defined(CONFIG_KPROBES) && defined(CONFIG_KALLSYMS)
	stop_watching();
#endif
}

static struct kunit_suite sets_test_suite = {
	.name = "ftrace_sets",
	.exit = sets_test_exit,
	.test_cases = sets_test_cases,
};
kunit_test_suite(sets_test_suite);

MODULE_DESCRIPTION("KUnit tests of functions with several function tracers");
MODULE_LICENSE("GPL");
