/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LIB_TEST_FTRACE_SETS_H
#define _LIB_TEST_FTRACE_SETS_H

/* For the KUnit tests of function tracers: tracers, and the functions that they trace. */

#include <kunit/test.h>
#include <linux/ftrace.h>
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "../kernel/trace/ftrace_sets.h"
#include "../kernel/trace/trace.h"
#include "test_fail_alloc.h"
#include "test_memory.h"
#include "test_symbol.h"
#include "test_watch.h"

#define NR_TRACERS	(FTRACE_SET_MAX + 2)
#define MAX_CALLS	128

/* Which tracers were called, in which order: 1 is tracers[0]. */
static unsigned int called[MAX_CALLS], nr_called;

/* A case has new ones. What it has started ends with it. */
static struct test_tracer {
	struct ftrace_ops ops;
	unsigned long ip, parent_ip;
	bool got_regs;
} *tracers;

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
		called[nr_called++] = tracer - tracers + 1;
	tracer->ip = ip;
	tracer->parent_ip = parent_ip;
	tracer->got_regs = !!ftrace_get_regs(fregs);
	change_registers();
}

static noinline __maybe_unused int traced_a(int number)
{
	asm volatile("");
	return number + 1;
}

static noinline __maybe_unused int traced_b(int number)
{
	asm volatile("");
	return number + 2;
}

static noinline notrace __maybe_unused int call_a(void)
{
	int result;

	nr_called = 0;
	result = traced_a(1);
	barrier();	/* no tail call */
	return result;
}

static noinline notrace __maybe_unused int call_b(void)
{
	int result;

	nr_called = 0;
	result = traced_b(1);
	barrier();
	return result;
}

static inline int want(unsigned int i, void *func)
{
	return ftrace_set_filter_ip(&tracers[i].ops, (unsigned long)func, 0, 0);
}

static inline int leave(unsigned int i, void *func)
{
	return ftrace_set_filter_ip(&tracers[i].ops, (unsigned long)func, 1, 0);
}

/* Registers a tracer of @func, with the callback @call. */
static inline void start_calling(struct kunit *test, unsigned int i, unsigned long flags,
				 void *func, ftrace_func_t call)
{
	tracers[i] = (struct test_tracer){ .ops = { .func = call, .flags = flags } };
	KUNIT_ASSERT_EQ(test, want(i, func), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&tracers[i].ops), 0);
}

static inline void start(struct kunit *test, unsigned int i, unsigned long flags, void *func)
{
	start_calling(test, i, flags, func, note_call);
}

static inline void stop(struct kunit *test, unsigned int i)
{
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&tracers[i].ops), 0);
	ftrace_free_filter(&tracers[i].ops);
}

/* The digits are the numbers of the tracers, in the order of their calls. */
static inline unsigned long calls(void)
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
		KUNIT_EXPECT_EQ(test, calls(), (unsigned long)(digits)); \
	} while (0)

/* Return: the function that a traced function calls or, if it refers to ops, that of these */
#ifdef CONFIG_DYNAMIC_FTRACE_WITH_CALL_OPS
static inline void *called_by(struct kunit *test, void *func)
{
	return (*(const struct ftrace_ops **)(func - 8))->func;
}
#else
static inline void *called_by(struct kunit *test, void *func)
{
	u8 *ip = func;
	s32 distance;

	OPTIMIZER_HIDE_VAR(ip);		/* or objtool takes the sum for a target */
	if (*ip != 0xe8)
		ip += 4;	/* ENDBR */
	KUNIT_EXPECT_EQ(test, *ip, 0xe8);
	memcpy(&distance, ip + 1, sizeof(distance));
	return ip + 5 + distance;
}
#endif

/* Does the name of what the function calls begin with this? */
static inline bool calls_named(struct kunit *test, void *func, const char *name)
{
	char symbol[KSYM_SYMBOL_LEN];

	snprintf(symbol, sizeof(symbol), "%ps", called_by(test, func));
	return str_has_prefix(symbol, name);
}

/* Does the function call the list of all tracers? */
static inline bool calls_list(struct kunit *test, void *func)
{
	return calls_named(test, func, "ftrace_caller") ||
	       calls_named(test, func, "ftrace_regs_caller") ||
	       calls_named(test, func, "arch_ftrace_ops_list_func");
}

#define has_named_sets()						\
	(IS_ENABLED(CONFIG_FTRACE_SETS) && IS_ENABLED(CONFIG_KALLSYMS))

#define need_named_code(test)						\
	do {								\
		if (!IS_ENABLED(CONFIG_HAVE_FTRACE_SETS) || !has_named_sets()) \
			kunit_skip(test, "needs HAVE_FTRACE_SETS and KALLSYMS"); \
	} while (0)

/* Stores the address of a function or variable that is not exported. */
#define need_symbol(test, name, to)					\
	do {								\
		if (!can_call_text())					\
			kunit_skip(test, "functions that are not exported cannot be called"); \
		*(to) = find_symbol(name);				\
		KUNIT_ASSERT_NOT_NULL_MSG(test, *(to), "%s", name);	\
	} while (0)

static inline unsigned long filter_size(const struct ftrace_ops *ops)
{
	return rcu_dereference_protected(ops->func_hash->filter_hash, true)->count;
}

static int sets_test_init(struct kunit *test)
{
	tracers = kunit_kcalloc(test, NR_TRACERS, sizeof(*tracers), GFP_KERNEL);
	return tracers ? 0 : -ENOMEM;
}

static void sets_test_exit(struct kunit *test)
{
	unsigned int i;

	stop_failing();
	stop_tracking();
#ifdef CONFIG_KPROBES
	stop_watching();
#endif
	for (i = 0; tracers && i < NR_TRACERS; i++) {
		if (tracers[i].ops.flags & FTRACE_OPS_FL_ENABLED)
			stop(test, i);
		else if (tracers[i].ops.func_hash)
			ftrace_free_filter(&tracers[i].ops);
	}
}

#define SETS_TEST_SUITE(suite_name, suite_cases)			\
	static struct kunit_suite sets_test_suite = {			\
		.name = suite_name,					\
		.init = sets_test_init,					\
		.exit = sets_test_exit,					\
		.test_cases = suite_cases,				\
	};								\
	kunit_test_suite(sets_test_suite)

#endif /* _LIB_TEST_FTRACE_SETS_H */
