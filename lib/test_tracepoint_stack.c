// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of stack traces through the trampolines of tracepoints.
 */
#include <linux/kdebug.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/stacktrace.h>
#include <asm/debugreg.h>
#include <asm/unwind.h>

#include "test_tracepoint.h"

DECLARE_TRACE(kunit_stack, TP_PROTO(int number, const char *text),
	      TP_ARGS(number, text));
DECLARE_TRACE(kunit_stack_one, TP_PROTO(int number), TP_ARGS(number));
DECLARE_TRACE(kunit_stack_six, TP_PROTO(long a, long b, long c, long d, long e, long f),
	      TP_ARGS(a, b, c, d, e, f));
DECLARE_TRACE(kunit_stack_most, MOST_PROTO, MOST_ARGS);
DEFINE_TRACE(kunit_stack);
DEFINE_TRACE(kunit_stack_one);
DEFINE_TRACE(kunit_stack_six);
DEFINE_TRACE(kunit_stack_most);

static noinline void fire_most(void)
{
	trace_kunit_stack_most_tp(MOST_VALUES);
	barrier();	/* no tail call, not even of lockdep's rcu_is_watching() */
}

static unsigned long stack[4];
static unsigned int stack_depth;

static noinline void probe_stack(void *data, int number)
{
	if (data)
		stack_depth = stack_trace_save(stack, ARRAY_SIZE(stack), 0);
}

static noinline void fire_for_stack(void)
{
	trace_kunit_stack_one_tp(1);
	barrier();	/* no tail call */
}

static void expect_in_stack(struct kunit *test, unsigned int level, const char *func)
{
	char name[KSYM_SYMBOL_LEN] = "nothing";

	if (level < stack_depth)
		snprintf(name, sizeof(name), "%ps", (void *)stack[level]);
	KUNIT_EXPECT_TRUE_MSG(test, strstarts(name, func), "%s instead of %s", name, func);
}

static noinline void expect_stack(struct kunit *test)
{
	stack_depth = 0;
	fire_for_stack();
	expect_in_stack(test, 0, "probe_stack");
	expect_in_stack(test, 1, "fire_for_stack");
	expect_in_stack(test, 2, "expect_stack");
}

/* In a stack trace, the function that has the tracepoint is next to the probe. */
static void tp_test_stack(struct kunit *test)
{
	register_trace_kunit_stack_one(probe_stack, digit(1));
	expect_stack(test);
	register_trace_kunit_stack_one(probe_stack, NULL);
	expect_stack(test);
	unregister_trace_kunit_stack_one(probe_stack, digit(1));
	register_trace_kunit_stack_one(probe_stack, digit(1));
	expect_stack(test);
	unregister_trace_kunit_stack_one(probe_stack, digit(1));
	unregister_trace_kunit_stack_one(probe_stack, NULL);
}

/*
 * Executes hits in single steps. After each instruction, the stack must unwind to
 * the function that has the tracepoint, and to its caller.
 */
static struct task_struct *stepping;
static unsigned int nr_steps, nr_lost, nr_unreliable;
static unsigned long lost_at;
static void *site_func;

static __always_inline void set_flags(unsigned long flags)
{
	asm volatile("push %0; popf" : : "r" (flags) : "memory", "cc");
}

static noinline void step_through(void (*fire)(void))
{
	unsigned long flags = native_save_fl();

	set_flags(flags | X86_EFLAGS_TF);
	fire();
	set_flags(flags);
}

/* The stack cannot be unwound in thunks of retpolines and returns. */
static bool is_in_thunk(unsigned long addr)
{
	char name[KSYM_SYMBOL_LEN];

	snprintf(name, sizeof(name), "%ps", (void *)addr);
	return strstr(name, "__x86_indirect_") || strstr(name, "return_thunk");
}

/* Return: does the stack have the site's function, and then its caller? */
static bool unwinds_to_site(struct pt_regs *regs, bool *reliable)
{
	bool in_site = is_in(regs->ip, site_func) || is_in(regs->ip, step_through);
	bool in_caller = is_in(regs->ip, step_through);
	struct unwind_state state;
	unsigned int depth = 0;
	unsigned long addr;

	for (unwind_start(&state, current, regs, NULL);
	     !in_caller && !unwind_done(&state) && depth < 16;
	     unwind_next_frame(&state), depth++) {
		addr = unwind_get_return_address(&state);
		in_site |= is_in(addr, site_func);
		in_caller = is_in(addr, step_through);
	}
	*reliable = !unwind_error(&state);
	return in_site && in_caller;
}

static int note_step(struct notifier_block *nb, unsigned long event, void *data)
{
	struct die_args *args = data;
	bool reliable;

	if (event != DIE_DEBUG || READ_ONCE(stepping) != current)
		return NOTIFY_DONE;
	*(unsigned long *)ERR_PTR(args->err) &= ~DR_STEP;
	if (is_in_thunk(args->regs->ip))
		return NOTIFY_STOP;
	nr_steps++;
	if (!unwinds_to_site(args->regs, &reliable)) {
		nr_lost++;
		lost_at = args->regs->ip;
	}
	nr_unreliable += !reliable;
	return NOTIFY_STOP;
}

static struct notifier_block step_nb = { .notifier_call = note_step };

static noinline void fire_two(void)
{
	trace_kunit_stack_tp(1, "text");
	barrier();
}

static void expect_steps(struct kunit *test, void (*fire)(void), const char *what)
{
	site_func = fire;
	nr_steps = 0;
	nr_lost = 0;
	nr_unreliable = 0;
	preempt_disable();	/* do not step through other tasks */
	WRITE_ONCE(stepping, current);
	step_through(fire);
	WRITE_ONCE(stepping, NULL);
	preempt_enable();
	KUNIT_EXPECT_GT_MSG(test, nr_steps, 15U, "%s", what);
	KUNIT_EXPECT_EQ_MSG(test, nr_unreliable, 0U, "%s", what);
	/* With frame pointers, a function without a frame hides its caller. */
	if (IS_ENABLED(CONFIG_UNWINDER_ORC))
		KUNIT_EXPECT_EQ_MSG(test, nr_lost, 0U, "%s: at %pS", what,
				    (void *)lost_at);
	else
		KUNIT_EXPECT_LT_MSG(test, nr_lost, nr_steps, "%s", what);
}

static void tp_test_single_steps(struct kunit *test)
{
	unsigned long i;

	KUNIT_ASSERT_EQ(test, register_die_notifier(&step_nb), 0);
	for (i = 1; i <= 3; i++) {
		register_trace_kunit_stack(probe_plain, digit(i));
		register_trace_kunit_stack_most(probe_most, digit(i));
		expect_steps(test, fire_two, "in registers");
		expect_steps(test, fire_most, "on the stack");
	}
	remove_probes(&__tracepoint_kunit_stack_tp, probe_plain, 3);
	remove_probes(&__tracepoint_kunit_stack_most_tp, probe_most, 3);
	unregister_die_notifier(&step_nb);
}

static void tp_test_single_steps_no_memory(struct kunit *test)
{
	struct srcu_ctr __percpu *reader;

	need_failing_alloc(test);
	KUNIT_ASSERT_EQ(test, register_die_notifier(&step_nb), 0);
	reader = keep_without_code();
	register_without_code(&__tracepoint_kunit_stack_most_tp, probe_most, digit(1));
	KUNIT_EXPECT_FALSE(test, has_code(&__tracepoint_kunit_stack_most_tp));
	expect_steps(test, fire_most, "without a trampoline");
	allow_code(reader);
	unregister_trace_kunit_stack_most(probe_most, digit(1));
	unregister_die_notifier(&step_nb);
}

static struct pt_regs caller_regs;

/* What each probe finds. */
static unsigned long callers[4];
static unsigned int nr_callers;

static void note_caller(void)
{
	if (nr_callers < ARRAY_SIZE(callers))
		callers[nr_callers] = caller_regs.ip;
	nr_callers++;
}

static noinline void probe_caller(void *data, int number)
{
	perf_fetch_caller_regs(&caller_regs);
	tracepoint_caller_regs(&__tracepoint_kunit_stack_one_tp, &caller_regs, number);
	note_caller();
	barrier();	/* no tail call, which would reuse the frame */
}

static noinline void probe_caller_6(void *data, long a, long b, long c, long d, long e,
				    long f)
{
	perf_fetch_caller_regs(&caller_regs);
	tracepoint_caller_regs(&__tracepoint_kunit_stack_six_tp, &caller_regs, a, b, c, d, e, f);
	note_caller();
	barrier();	/* no tail call, which would reuse the frame */
}

static noinline void fire_six(void)
{
	trace_kunit_stack_six_tp(1, 2, 3, 4, 5, 6);
	barrier();	/* no tail call */
}

static void expect_caller(struct kunit *test, void (*fire)(void), unsigned int nr,
			  const char *what)
{
	unsigned int i;

	nr_callers = 0;
	fire();
	KUNIT_EXPECT_EQ_MSG(test, nr_callers, nr, "%s", what);
	for (i = 0; i < min(nr, nr_callers); i++)
		KUNIT_EXPECT_TRUE_MSG(test, is_in(callers[i], fire), "%s: %pS", what,
				      (void *)callers[i]);
}

static const struct {
	struct tracepoint *tp;
	void *probe;
	void (*fire)(void);
	const char *arguments;
} caller_tests[] = {
	{ &__tracepoint_kunit_stack_one_tp, probe_caller, fire_for_stack, "in a register" },
	{ &__tracepoint_kunit_stack_six_tp, probe_caller_6, fire_six, "on the stack" },
};

static void test_caller(struct kunit *test, unsigned int i)
{
	struct tracepoint *tp = caller_tests[i].tp;
	void *probe = caller_tests[i].probe;
	void (*fire)(void) = caller_tests[i].fire;
	unsigned long nr;
	struct srcu_ctr __percpu *reader;

	for (nr = 1; nr <= 2; nr++) {
		tracepoint_probe_register(tp, probe, digit(nr));
		expect_caller(test, fire, nr, caller_tests[i].arguments);
	}
	reader = keep_without_code();
	register_without_code(tp, probe, digit(3));
	KUNIT_EXPECT_FALSE(test, has_code(tp));
	expect_caller(test, fire, 3, "without a trampoline");
	allow_code(reader);
	remove_probes(tp, probe, 3);
}

/* For perf, the caller of each probe is the function that has the tracepoint. */
static void tp_test_caller(struct kunit *test)
{
	unsigned int i;

	need_failing_alloc(test);
	for (i = 0; i < ARRAY_SIZE(caller_tests); i++)
		test_caller(test, i);
}

static struct kunit_case tp_test_cases[] = {
	KUNIT_CASE(tp_test_stack),
	KUNIT_CASE(tp_test_single_steps),
	KUNIT_CASE(tp_test_single_steps_no_memory),
	KUNIT_CASE(tp_test_caller),
	{ }
};

TP_TEST_SUITE("tracepoint_stack", forget_calls_init);

MODULE_DESCRIPTION("KUnit tests of stack traces through tracepoints");
MODULE_LICENSE("GPL");
