// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of tracepoints: which probes are called, in which order and with
 * which arguments, and what registration returns.
 */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/generated-text.h>
#include <linux/jiffies.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/sched/prio.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/srcu.h>
#include <linux/stop_machine.h>
#include <linux/stacktrace.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>
#include <trace/events/kmem.h>
#include <trace/events/lock.h>

#ifdef CONFIG_TRACEPOINT_TRAMPOLINE
#include <linux/kdebug.h>
#include <asm/debugreg.h>
#include <asm/text-patching.h>
#include <asm/unwind.h>
#endif

#include "../kernel/tracepoint-private.h"
#include "test_call.h"
#include "test_defer.h"
#include "test_fail_alloc.h"
#include "test_module_memory.h"
#include "test_symbol.h"
#include "test_watch.h"

DECLARE_TRACE(kunit_plain, TP_PROTO(int number, const char *text),
	      TP_ARGS(number, text));
DECLARE_TRACE_CONDITION(kunit_condition, TP_PROTO(int number), TP_ARGS(number),
			TP_CONDITION(number > 10));
DECLARE_TRACE(kunit_callbacks, TP_PROTO(int number), TP_ARGS(number));
DECLARE_TRACE(kunit_named_tp, TP_PROTO(int number), TP_ARGS(number));
DECLARE_TRACE(kunit_many_args,
	      TP_PROTO(u8 a, u16 b, u32 c, u64 d, void *e, long f, int g, s8 h),
	      TP_ARGS(a, b, c, d, e, f, g, h));
DECLARE_TRACE(kunit_most_args,
	      TP_PROTO(u8 a, s16 b, u32 c, s64 d, void *e, u8 f, s16 g, u32 h,
		       s64 i, void *j, bool k, u64 l),
	      TP_ARGS(a, b, c, d, e, f, g, h, i, j, k, l));

DECLARE_TRACE(kunit_words,
	      TP_PROTO(u8 a, s16 b, u32 c, void *d, bool e, s8 f, u16 g, int h),
	      TP_ARGS(a, b, c, d, e, f, g, h));

struct kunit_large {
	u64 values[3];
};

/* On x86-64 it fits a register, but is passed on the stack. */
struct kunit_packed {
	u8 a;
	u32 b;
} __packed;

/* Arguments without trampoline support: not single words, or too many. */
DECLARE_TRACE(kunit_by_value, TP_PROTO(int number, struct kunit_large large),
	      TP_ARGS(number, large));
DECLARE_TRACE(kunit_packed, TP_PROTO(struct kunit_packed packed, int number),
	      TP_ARGS(packed, number));
DECLARE_TRACE(kunit_too_many_args,
	      TP_PROTO(int a, int b, int c, int d, int e, int f, int g, int h,
		       int i, int j, int k, int l, int m),
	      TP_ARGS(a, b, c, d, e, f, g, h, i, j, k, l, m));
DECLARE_TRACE(kunit_pairs, TP_PROTO(bool mine), TP_ARGS(mine));
DECLARE_TRACEPOINT(kunit_plain);

static int reg_calls, unreg_calls, reg_result;

static int test_reg(void)
{
	reg_calls++;
	return reg_result;
}

static void test_unreg(void)
{
	unreg_calls++;
}

/* The short form; the old form, used below, repeats prototype and arguments. */
DEFINE_TRACE(kunit_plain);
DEFINE_TRACE(kunit_condition, TP_PROTO(int number), TP_ARGS(number));
DEFINE_TRACE(kunit_named_tp);
DEFINE_TRACE_FN(kunit_callbacks, test_reg, test_unreg, TP_PROTO(int number),
		TP_ARGS(number));
DEFINE_TRACE(kunit_many_args,
	     TP_PROTO(u8 a, u16 b, u32 c, u64 d, void *e, long f, int g, s8 h),
	     TP_ARGS(a, b, c, d, e, f, g, h));

/* The sum of the data of all attached probes. */
static unsigned long connected_sum;
static int unreg_calls_before;

static int test_connect(struct tracepoint *tp, const struct tracepoint_func *probe)
{
	if ((unsigned long)probe->data > 9)
		return -EDOM;
	connected_sum += (unsigned long)probe->data;
	return 0;
}

static void test_disconnect(struct tracepoint *tp, const struct tracepoint_func *probe)
{
	connected_sum -= (unsigned long)probe->data;
	unreg_calls_before = unreg_calls;
}

static const struct tracepoint_callbacks each_callbacks = {
	.regfunc = test_reg,
	.unregfunc = test_unreg,
	.connect = test_connect,
	.disconnect = test_disconnect,
};

/* It has no sites: only its callbacks are used. */
static struct tracepoint each_tracepoint = {
	.name = "kunit_each",
	.callbacks = &each_callbacks,
};

DEFINE_TRACE(kunit_words);
DEFINE_TRACE(kunit_pairs);
DEFINE_TRACE(kunit_most_args);
DEFINE_TRACE(kunit_by_value);
DEFINE_TRACE(kunit_packed);
DEFINE_TRACE(kunit_too_many_args);

/* Each call of a probe appends its data, a digit, to this number. */
static unsigned long calls;
static int last_number;
static const char *last_text;

static void *digit(unsigned long nr)
{
	return (void *)nr;
}

static void probe_plain(void *data, int number, const char *text)
{
	calls = calls * 10 + (unsigned long)data;
	last_number = number;
	last_text = text;
}

static void probe_other(void *data, int number, const char *text)
{
	calls = calls * 10 + (unsigned long)data + 1;
}

static void probe_number(void *data, int number)
{
	calls = calls * 10 + (unsigned long)data;
	last_number = number;
}

static unsigned long fire(int number)
{
	calls = 0;
	trace_kunit_plain(number, "text");
	return calls;
}

/* Waits for work items, which take the lock of tracepoints after a change. */
static void let_work_end(void)
{
	struct delayed_work *freeing = find_symbol("free_retired_work");
	struct work_struct *settling = find_symbol("settle_work");

	if (freeing) {
		flush_delayed_work(freeing);
	} else {
		msleep(200);	/* it begins within a tenth of a second */
		__flush_workqueue(system_unbound_wq);
	}
	if (settling)
		flush_work(settling);
}

static int tp_test_init(struct kunit *test)
{
	calls = 0;
	last_number = 0;
	last_text = NULL;
	reg_calls = 0;
	unreg_calls = 0;
	reg_result = 0;
	connected_sum = 0;
	return 0;
}

static void tp_test_off(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, trace_kunit_plain_enabled());
	KUNIT_EXPECT_FALSE(test, tracepoint_enabled(kunit_plain));
	KUNIT_EXPECT_EQ(test, fire(1), 0UL);
}

static void tp_test_on_and_off(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, register_trace_kunit_plain(probe_plain, digit(4)), 0);
	KUNIT_EXPECT_TRUE(test, trace_kunit_plain_enabled());
	KUNIT_EXPECT_TRUE(test, tracepoint_enabled(kunit_plain));
	KUNIT_EXPECT_TRUE(test, tracepoint_active(&__tracepoint_kunit_plain));
	KUNIT_EXPECT_EQ(test, fire(-5), 4UL);
	KUNIT_EXPECT_EQ(test, last_number, -5);
	KUNIT_EXPECT_STREQ(test, last_text, "text");

	KUNIT_EXPECT_EQ(test, unregister_trace_kunit_plain(probe_plain, digit(4)), 0);
	KUNIT_EXPECT_FALSE(test, trace_kunit_plain_enabled());
	KUNIT_EXPECT_EQ(test, fire(6), 0UL);
}

static void probe_many(void *data, u8 a, u16 b, u32 c, u64 d, void *e, long f,
		       int g, s8 h)
{
	struct kunit *test = data;

	KUNIT_EXPECT_EQ(test, a, U8_MAX);
	KUNIT_EXPECT_EQ(test, b, U16_MAX);
	KUNIT_EXPECT_EQ(test, c, U32_MAX);
	KUNIT_EXPECT_EQ(test, d, U64_MAX);
	KUNIT_EXPECT_PTR_EQ(test, e, data);
	KUNIT_EXPECT_EQ(test, f, LONG_MIN);
	KUNIT_EXPECT_EQ(test, g, INT_MIN);
	KUNIT_EXPECT_EQ(test, h, S8_MIN);
	calls++;
}

static void tp_test_many_args(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, register_trace_kunit_many_args(probe_many, test), 0);
	trace_kunit_many_args(U8_MAX, U16_MAX, U32_MAX, U64_MAX, test, LONG_MIN,
			      INT_MIN, S8_MIN);
	unregister_trace_kunit_many_args(probe_many, test);
	KUNIT_EXPECT_EQ(test, calls, 1UL);
}

/* Overwrites an argument of a probe, which must not affect other probes. */
static void spoil(void *arg, size_t size)
{
	memset(arg, 0x55, size);
	barrier_data(arg);
}

static void probe_most(void *data, u8 a, s16 b, u32 c, s64 d, void *e, u8 f,
		       s16 g, u32 h, s64 i, void *j, bool k, u64 l)
{
	if (a == 1 && b == -2 && c == 3 && d == S64_MIN && e == &calls &&
	    f == U8_MAX && g == S16_MIN && h == U32_MAX && i == -9 &&
	    j == &last_text && k && l == U64_MAX)
		calls = calls * 10 + (unsigned long)data;
	spoil(&f, sizeof(f));
	spoil(&g, sizeof(g));
	spoil(&h, sizeof(h));
	spoil(&i, sizeof(i));
	spoil(&j, sizeof(j));
	spoil(&l, sizeof(l));
}

static noinline void fire_most(void)
{
	trace_kunit_most_args(1, -2, 3, S64_MIN, &calls, U8_MAX, S16_MIN, U32_MAX,
			      -9, &last_text, true, U64_MAX);
}

static void tp_test_most_args(struct kunit *test)
{
	unsigned long i;

	for (i = 1; i <= 3; i++) {
		KUNIT_ASSERT_EQ(test, register_trace_kunit_most_args(probe_most, digit(i)), 0);
		fire_most();
	}
	KUNIT_EXPECT_EQ(test, calls, 112123UL);
	for (i = 1; i <= 3; i++)
		unregister_trace_kunit_most_args(probe_most, digit(i));
	fire_most();
	KUNIT_EXPECT_EQ(test, calls, 112123UL);
}

/* Overwrites the registers and stack slots that held arguments. */
static noinline void spoil_arguments(long a, long b, long c, long d, long e, long f)
{
	asm volatile("" : : "g" (a), "g" (b), "g" (c), "g" (d), "g" (e), "g" (f));
}

static void check_words(void *data, const long *words, int nr)
{
	long value = -1;
	int i;

	for (i = 0; i < nr && words[i] == 101 + i; i++)
		;
	if (i == nr)
		calls = calls * 10 + (unsigned long)data;
	OPTIMIZER_HIDE_VAR(value);
	spoil_arguments(value, value - 1, value - 2, value - 3, value - 4, value - 5);
}

/* Each of several probes gets the arguments, even if others overwrote theirs. */
#define DEFINE_WORDS_TEST(nr, proto, args, values)			\
	DECLARE_TRACE(kunit_words_##nr, TP_PROTO(proto), TP_ARGS(args)); \
	DEFINE_TRACE(kunit_words_##nr);					\
									\
	static void probe_words_##nr(void *data, proto)			\
	{								\
		const long words[] = { args };				\
									\
		check_words(data, words, nr);				\
	}								\
									\
	static void tp_test_words_##nr(struct kunit *test)		\
	{								\
		unsigned long i;					\
									\
		for (i = 1; i <= 4; i++)				\
			register_trace_kunit_words_##nr(probe_words_##nr, digit(i)); \
		trace_kunit_words_##nr(values);				\
		for (i = 1; i <= 4; i++)				\
			unregister_trace_kunit_words_##nr(probe_words_##nr, digit(i)); \
		KUNIT_EXPECT_EQ(test, calls, 1234UL);			\
	}

DEFINE_WORDS_TEST(1, PARAMS(long a), PARAMS(a), PARAMS(101))
DEFINE_WORDS_TEST(2, PARAMS(long a, long b), PARAMS(a, b), PARAMS(101, 102))
DEFINE_WORDS_TEST(3, PARAMS(long a, long b, long c), PARAMS(a, b, c),
		  PARAMS(101, 102, 103))
DEFINE_WORDS_TEST(4, PARAMS(long a, long b, long c, long d), PARAMS(a, b, c, d),
		  PARAMS(101, 102, 103, 104))
DEFINE_WORDS_TEST(5, PARAMS(long a, long b, long c, long d, long e),
		  PARAMS(a, b, c, d, e), PARAMS(101, 102, 103, 104, 105))
DEFINE_WORDS_TEST(6, PARAMS(long a, long b, long c, long d, long e, long f),
		  PARAMS(a, b, c, d, e, f), PARAMS(101, 102, 103, 104, 105, 106))

static void probe_words(void *data, u8 a, s16 b, u32 c, void *d, bool e, s8 f,
			u16 g, int h)
{
	if (a == U8_MAX && b == S16_MIN && c == U32_MAX && d == &calls && e &&
	    f == S8_MIN && g == U16_MAX && h == INT_MIN)
		calls = calls * 10 + (unsigned long)data;
	spoil(&e, sizeof(e));
	spoil(&f, sizeof(f));
	spoil(&g, sizeof(g));
	spoil(&h, sizeof(h));
}

/* On 32 bit, each of these is one word; some of those above are not. */
static void tp_test_words(struct kunit *test)
{
	unsigned long i;

	for (i = 1; i <= 3; i++) {
		KUNIT_ASSERT_EQ(test, register_trace_kunit_words(probe_words, digit(i)), 0);
		trace_kunit_words(U8_MAX, S16_MIN, U32_MAX, &calls, true, S8_MIN,
				  U16_MAX, INT_MIN);
	}
	KUNIT_EXPECT_EQ(test, calls, 112123UL);
	for (i = 1; i <= 3; i++)
		unregister_trace_kunit_words(probe_words, digit(i));
}

static void probe_by_value(void *data, int number, struct kunit_large large)
{
	calls += number + large.values[0] + large.values[1] + large.values[2];
	spoil(&large, sizeof(large));
}

static void probe_too_many(void *data, int a, int b, int c, int d, int e, int f,
			   int g, int h, int i, int j, int k, int l, int m)
{
	calls = calls * 100 + a + b + c + d + e + f + g + h + i + j + k + l + m;
}

static void tp_test_odd_args(struct kunit *test)
{
	struct kunit_large large = { { 10, 200, 3000 } };

	register_trace_kunit_by_value(probe_by_value, digit(1));
	register_trace_kunit_by_value(probe_by_value, digit(2));
	trace_kunit_by_value(40000, large);
	unregister_trace_kunit_by_value(probe_by_value, digit(1));
	unregister_trace_kunit_by_value(probe_by_value, digit(2));
	KUNIT_EXPECT_EQ(test, calls, 86420UL);

	calls = 0;
	register_trace_kunit_too_many_args(probe_too_many, digit(1));
	trace_kunit_too_many_args(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13);
	unregister_trace_kunit_too_many_args(probe_too_many, digit(1));
	trace_kunit_too_many_args(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13);
	KUNIT_EXPECT_EQ(test, calls, 91UL);
}

static void probe_packed(void *data, struct kunit_packed packed, int number)
{
	if (packed.a == U8_MAX && packed.b == 0x12345678 && number == 7)
		calls = calls * 10 + (unsigned long)data;
	spoil(&packed, sizeof(packed));
}

static void tp_test_packed(struct kunit *test)
{
	const struct kunit_packed packed = { .a = U8_MAX, .b = 0x12345678 };
	unsigned long i;

	for (i = 1; i <= 3; i++) {
		KUNIT_ASSERT_EQ(test, register_trace_kunit_packed(probe_packed, digit(i)), 0);
		trace_kunit_packed(packed, 7);
	}
	KUNIT_EXPECT_EQ(test, calls, 112123UL);
	for (i = 1; i <= 3; i++)
		unregister_trace_kunit_packed(probe_packed, digit(i));
}

static void probe_data(void *data, int number)
{
	calls = (unsigned long)data;
}

static void tp_test_data(struct kunit *test)
{
	static const unsigned long values[] = {
		0, 1, INT_MAX, (unsigned long)INT_MIN, UINT_MAX, LONG_MAX, LONG_MIN,
		UINT_MAX + 1UL, -1UL, (unsigned long)&calls,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(values); i++) {
		KUNIT_ASSERT_EQ(test, register_trace_kunit_callbacks(probe_data,
								     digit(values[i])), 0);
		calls = 42;
		trace_kunit_callbacks(1);
		KUNIT_EXPECT_EQ(test, calls, values[i]);
		unregister_trace_kunit_callbacks(probe_data, digit(values[i]));
	}
}

/* Sites leave any value in the register of the data. */
static void tp_test_null_data(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, register_trace_kunit_plain(probe_plain, NULL), 0);
	KUNIT_EXPECT_EQ(test, fire(1), 0UL);
	KUNIT_EXPECT_EQ(test, last_number, 1);
	KUNIT_ASSERT_EQ(test, register_trace_kunit_plain(probe_plain, digit(2)), 0);
	KUNIT_ASSERT_EQ(test, register_trace_kunit_plain(probe_other, NULL), 0);
	KUNIT_EXPECT_EQ(test, fire(1), 21UL);
	unregister_trace_kunit_plain(probe_plain, NULL);
	KUNIT_EXPECT_EQ(test, fire(1), 21UL);
	unregister_trace_kunit_plain(probe_plain, digit(2));
	KUNIT_EXPECT_EQ(test, fire(1), 1UL);
	unregister_trace_kunit_plain(probe_other, NULL);
}

/* Many probes: all are called, in order, and all can be unregistered. */
static void tp_test_many_probes(struct kunit *test)
{
	unsigned long i, sum = 0;

	for (i = 1; i <= 100; i++) {
		KUNIT_ASSERT_EQ(test, register_trace_kunit_plain(probe_plain, digit(i)), 0);
		sum = sum * 10 + i;
	}
	KUNIT_EXPECT_EQ(test, fire(1), sum);
	for (i = 1; i <= 100; i++)
		KUNIT_EXPECT_EQ(test, unregister_trace_kunit_plain(probe_plain, digit(i)), 0);
	KUNIT_EXPECT_EQ(test, fire(1), 0UL);
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
	trace_kunit_callbacks(1);
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
	if (!IS_ENABLED(CONFIG_TRACEPOINT_TRAMPOLINE) || !IS_ENABLED(CONFIG_KALLSYMS))
		kunit_skip(test, "needs TRACEPOINT_TRAMPOLINE and KALLSYMS");
	register_trace_kunit_callbacks(probe_stack, digit(1));
	expect_stack(test);
	register_trace_kunit_callbacks(probe_stack, NULL);
	expect_stack(test);
	unregister_trace_kunit_callbacks(probe_stack, digit(1));
	register_trace_kunit_callbacks(probe_stack, digit(1));
	expect_stack(test);
	unregister_trace_kunit_callbacks(probe_stack, digit(1));
	unregister_trace_kunit_callbacks(probe_stack, NULL);
}

#ifdef CONFIG_TRACEPOINT_TRAMPOLINE
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
	return strstarts(name, "__x86_indirect_") || strstr(name, "return_thunk");
}

static bool is_in(unsigned long addr, void *func)
{
	char name[KSYM_SYMBOL_LEN], wanted[KSYM_SYMBOL_LEN];

	snprintf(name, sizeof(name), "%ps", (void *)addr);
	snprintf(wanted, sizeof(wanted), "%ps", func);
	return !strcmp(name, wanted);
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
	trace_kunit_plain(1, "text");
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

/*
 * What is freed meanwhile is not used for trampolines that had no memory: the work item
 * that frees memory has run, or waits for this reader.
 */
static int keep_without_code(void)
	__acquires(&tracepoint_srcu)
{
	let_work_end();
	return srcu_read_lock(&tracepoint_srcu);
}

static void allow_code(int reader)
	__releases(&tracepoint_srcu)
{
	srcu_read_unlock(&tracepoint_srcu, reader);
}

static bool has_code(const struct tracepoint *tp)
{
	return tp->code && !(tp->code & IMV_JUMP_TO_CALL);
}

/*
 * The first allocation of a registration is for the array, the next for code. Pages that
 * only some allocations need, for a slab or a stack trace, are counted too: try again.
 */
#define register_without_code(name, probe, data)			\
	({								\
		int __tries = 10, __ret;				\
									\
		for (;;) {						\
			fail_nth_alloc(2);				\
			__ret = register_trace_##name(probe, data);	\
			stop_failing();					\
			if ((!__ret && !has_code(&__tracepoint_##name)) ||	\
			    !--__tries)					\
				break;					\
			unregister_trace_##name(probe, data);		\
		}							\
		__ret;							\
	})

static void tp_test_single_steps(struct kunit *test)
{
	unsigned long i;

	if (!IS_ENABLED(CONFIG_KALLSYMS))
		kunit_skip(test, "needs KALLSYMS");
	KUNIT_ASSERT_EQ(test, register_die_notifier(&step_nb), 0);
	for (i = 1; i <= 3; i++) {
		register_trace_kunit_plain(probe_plain, digit(i));
		register_trace_kunit_most_args(probe_most, digit(i));
		expect_steps(test, fire_two, "in registers");
		expect_steps(test, fire_most, "on the stack");
	}
	for (i = 1; i <= 3; i++) {
		unregister_trace_kunit_plain(probe_plain, digit(i));
		unregister_trace_kunit_most_args(probe_most, digit(i));
	}
	unregister_die_notifier(&step_nb);
}

static void tp_test_single_steps_no_memory(struct kunit *test)
{
	int reader;

	if (!IS_ENABLED(CONFIG_KALLSYMS))
		kunit_skip(test, "needs KALLSYMS");
	need_failing_alloc(test);
	KUNIT_ASSERT_EQ(test, register_die_notifier(&step_nb), 0);
	reader = keep_without_code();
	register_without_code(kunit_most_args, probe_most, digit(1));
	KUNIT_EXPECT_FALSE(test, has_code(&__tracepoint_kunit_most_args));
	expect_steps(test, fire_most, "without a trampoline");
	allow_code(reader);
	unregister_trace_kunit_most_args(probe_most, digit(1));
	unregister_die_notifier(&step_nb);
}
#endif /* CONFIG_TRACEPOINT_TRAMPOLINE */

static void tp_test_order(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, register_trace_kunit_plain(probe_plain, digit(1)), 0);
	KUNIT_ASSERT_EQ(test, register_trace_kunit_plain(probe_plain, digit(2)), 0);
	KUNIT_ASSERT_EQ(test, register_trace_prio_kunit_plain(probe_plain, digit(3), 20), 0);
	KUNIT_ASSERT_EQ(test, register_trace_prio_kunit_plain(probe_plain, digit(4), 1), 0);
	KUNIT_ASSERT_EQ(test, register_trace_kunit_plain(probe_other, digit(4)), 0);
	KUNIT_EXPECT_EQ(test, fire(0), 31254UL);

	KUNIT_EXPECT_EQ(test, unregister_trace_kunit_plain(probe_plain, digit(1)), 0);
	KUNIT_EXPECT_EQ(test, fire(0), 3254UL);
	KUNIT_EXPECT_EQ(test, unregister_trace_kunit_plain(probe_plain, digit(3)), 0);
	KUNIT_EXPECT_EQ(test, unregister_trace_kunit_plain(probe_plain, digit(4)), 0);
	KUNIT_EXPECT_EQ(test, fire(0), 25UL);
	KUNIT_EXPECT_EQ(test, unregister_trace_kunit_plain(probe_other, digit(4)), 0);
	KUNIT_EXPECT_EQ(test, fire(0), 2UL);
	KUNIT_EXPECT_EQ(test, unregister_trace_kunit_plain(probe_plain, digit(2)), 0);
	KUNIT_EXPECT_EQ(test, fire(0), 0UL);
}

static void tp_test_default_priority(struct kunit *test)
{
	unsigned long i;

	KUNIT_ASSERT_EQ(test, register_trace_kunit_plain(probe_plain, digit(1)), 0);
	KUNIT_ASSERT_EQ(test, register_trace_prio_kunit_plain(probe_plain, digit(2),
							      TRACEPOINT_DEFAULT_PRIO), 0);
	KUNIT_ASSERT_EQ(test, register_trace_kunit_plain(probe_plain, digit(3)), 0);
	KUNIT_EXPECT_EQ(test, fire(0), 123UL);
	for (i = 1; i <= 3; i++)
		unregister_trace_kunit_plain(probe_plain, digit(i));
}

static void tp_test_duplicate(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, register_trace_kunit_plain(probe_plain, digit(1)), 0);
	KUNIT_EXPECT_EQ(test, register_trace_kunit_plain(probe_plain, digit(1)), -EEXIST);
	KUNIT_EXPECT_EQ(test,
			tracepoint_probe_register_may_exist(&__tracepoint_kunit_plain,
							    probe_plain, digit(1)),
			-EEXIST);
	KUNIT_EXPECT_EQ(test, register_trace_kunit_plain(probe_plain, digit(2)), 0);
	KUNIT_EXPECT_EQ(test, fire(0), 12UL);
	unregister_trace_kunit_plain(probe_plain, digit(1));
	unregister_trace_kunit_plain(probe_plain, digit(2));
}

static void tp_test_unknown(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, unregister_trace_kunit_plain(probe_plain, digit(1)), -ENOENT);
	KUNIT_ASSERT_EQ(test, register_trace_kunit_plain(probe_plain, digit(1)), 0);
	KUNIT_EXPECT_EQ(test, unregister_trace_kunit_plain(probe_plain, digit(2)), -ENOENT);
	KUNIT_EXPECT_EQ(test, unregister_trace_kunit_plain(probe_other, digit(1)), -ENOENT);
	KUNIT_EXPECT_EQ(test, fire(0), 1UL);
	unregister_trace_kunit_plain(probe_plain, digit(1));
}

static void tp_test_no_probe(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, register_trace_kunit_plain(NULL, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, unregister_trace_kunit_plain(NULL, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, tracepoint_probe_register(NULL, probe_plain, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, tracepoint_probe_register(&__tracepoint_kunit_plain,
							tracepoint_removed_probe, NULL), -EINVAL);
	KUNIT_EXPECT_FALSE(test, trace_kunit_plain_enabled());
}

static void tp_test_condition(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, register_trace_kunit_condition(probe_number, digit(7)), 0);
	trace_kunit_condition(10);
	KUNIT_EXPECT_EQ(test, calls, 0UL);
	trace_kunit_condition(11);
	KUNIT_EXPECT_EQ(test, calls, 7UL);
	unregister_trace_kunit_condition(probe_number, digit(7));
}

/* regfunc is called for the first probe, unregfunc for the last one. */
static void tp_test_callbacks(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, register_trace_kunit_callbacks(probe_number, digit(1)), 0);
	KUNIT_ASSERT_EQ(test, register_trace_kunit_callbacks(probe_number, digit(2)), 0);
	KUNIT_EXPECT_EQ(test, reg_calls, 1);
	unregister_trace_kunit_callbacks(probe_number, digit(1));
	KUNIT_EXPECT_EQ(test, unreg_calls, 0);
	unregister_trace_kunit_callbacks(probe_number, digit(2));
	KUNIT_EXPECT_EQ(test, unreg_calls, 1);
	KUNIT_EXPECT_EQ(test, reg_calls, 1);
}

static int connect_each(unsigned long nr)
{
	return tracepoint_probe_register(&each_tracepoint, probe_number, digit(nr));
}

static int disconnect_each(unsigned long nr)
{
	return tracepoint_probe_unregister(&each_tracepoint, probe_number, digit(nr));
}

static void tp_test_callbacks_of_each(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, connect_each(1), 0);
	KUNIT_EXPECT_EQ(test, connect_each(2), 0);
	KUNIT_EXPECT_EQ(test, connect_each(4), 0);
	KUNIT_EXPECT_EQ(test, connect_each(2), -EEXIST);
	KUNIT_EXPECT_EQ(test, connected_sum, 7UL);
	KUNIT_EXPECT_EQ(test, disconnect_each(2), 0);
	KUNIT_EXPECT_EQ(test, disconnect_each(2), -ENOENT);
	KUNIT_EXPECT_EQ(test, connected_sum, 5UL);
	KUNIT_EXPECT_EQ(test, disconnect_each(4), 0);
	KUNIT_EXPECT_EQ(test, disconnect_each(1), 0);
	KUNIT_EXPECT_EQ(test, connected_sum, 0UL);
	KUNIT_EXPECT_EQ(test, unreg_calls_before, 0);
	KUNIT_EXPECT_EQ(test, unreg_calls, 1);
}

static void tp_test_callbacks_without_memory(struct kunit *test)
{
	need_failing_alloc(test);
	KUNIT_EXPECT_EQ(test, connect_each(1), 0);
	KUNIT_EXPECT_EQ(test, connect_each(2), 0);
	fail_next_alloc();
	KUNIT_EXPECT_EQ(test, connect_each(4), -ENOMEM);
	KUNIT_EXPECT_EQ(test, connected_sum, 3UL);
	fail_next_alloc();
	KUNIT_EXPECT_EQ(test, disconnect_each(2), 0);
	stop_failing();
	KUNIT_EXPECT_EQ(test, connected_sum, 1UL);
	KUNIT_EXPECT_EQ(test, disconnect_each(1), 0);
	KUNIT_EXPECT_EQ(test, connected_sum, 0UL);
}

/* A probe that the connect callback refuses is not attached. */
static void tp_test_refused_probe(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, connect_each(10), -EDOM);
	KUNIT_EXPECT_EQ(test, disconnect_each(10), -ENOENT);
	KUNIT_EXPECT_EQ(test, reg_calls, unreg_calls);
	KUNIT_EXPECT_EQ(test, connect_each(1), 0);
	KUNIT_EXPECT_EQ(test, connect_each(10), -EDOM);
	KUNIT_EXPECT_EQ(test, reg_calls, unreg_calls + 1);
	KUNIT_EXPECT_EQ(test, connected_sum, 1UL);
	KUNIT_EXPECT_EQ(test, disconnect_each(1), 0);
	KUNIT_EXPECT_EQ(test, reg_calls, unreg_calls);
}

static void tp_test_callback_fails(struct kunit *test)
{
	reg_result = -EBUSY;
	KUNIT_EXPECT_EQ(test, register_trace_kunit_callbacks(probe_number, digit(1)), -EBUSY);
	KUNIT_EXPECT_FALSE(test, trace_kunit_callbacks_enabled());
	trace_kunit_callbacks(1);
	KUNIT_EXPECT_EQ(test, calls, 0UL);
	KUNIT_EXPECT_EQ(test, unreg_calls, 0);
	KUNIT_EXPECT_EQ(test, unregister_trace_kunit_callbacks(probe_number, digit(1)), -ENOENT);

	reg_result = 0;
	KUNIT_EXPECT_EQ(test, register_trace_kunit_callbacks(probe_number, digit(1)), 0);
	trace_kunit_callbacks(1);
	KUNIT_EXPECT_EQ(test, calls, 1UL);
	unregister_trace_kunit_callbacks(probe_number, digit(1));
}

static void tp_test_rcuidle(struct kunit *test)
{
#ifndef MODULE
	KUNIT_ASSERT_EQ(test, register_trace_kunit_plain(probe_plain, digit(3)), 0);
	trace_kunit_plain_rcuidle(9, "idle");
	unregister_trace_kunit_plain(probe_plain, digit(3));
	KUNIT_EXPECT_EQ(test, calls, 3UL);
	KUNIT_EXPECT_STREQ(test, last_text, "idle");
	trace_kunit_plain_rcuidle(9, "idle");
	KUNIT_EXPECT_EQ(test, calls, 3UL);
#else
	kunit_skip(test, "modules have no _rcuidle form");
#endif
}

static void probe_preempt(void *data, int number)
{
	calls = preempt_count();
}

/* Tracers that print the preemption count expect one level from the tracepoint. */
static void tp_test_preemption(struct kunit *test)
{
	if (!IS_ENABLED(CONFIG_PREEMPT_COUNT))
		kunit_skip(test, "needs CONFIG_PREEMPT_COUNT");
	register_trace_kunit_callbacks(probe_preempt, NULL);
	trace_kunit_callbacks(1);
	unregister_trace_kunit_callbacks(probe_preempt, NULL);
	KUNIT_EXPECT_EQ(test, calls, preempt_count() + 1UL);
}

static void ask_for_resched(void)
{
	set_tsk_need_resched(current);
	set_preempt_need_resched();
}

static void probe_needs_resched(void *data, int number)
{
	ask_for_resched();
}

static int pass_late(void)
{
	int i, late = 0;

	for (i = 0; i < 100; i++) {
		trace_kunit_callbacks(1);
		late += need_resched();
	}
	return late;
}

/*
 * The end of a tracepoint reschedules, as preempt_enable() does. If it does not, an
 * interrupt before the call of need_resched() may hide that, but not every time.
 */
static void tp_test_resched(struct kunit *test)
{
	preempt_disable();
	ask_for_resched();
	preempt_enable();
	if (need_resched())
		kunit_skip(test, "needs a kernel that preempts itself");
	register_trace_kunit_callbacks(probe_needs_resched, NULL);
	KUNIT_EXPECT_EQ(test, pass_late(), 0);
	register_trace_kunit_callbacks(probe_needs_resched, digit(1));
	KUNIT_EXPECT_EQ(test, pass_late(), 0);
	unregister_trace_kunit_callbacks(probe_needs_resched, digit(1));
	unregister_trace_kunit_callbacks(probe_needs_resched, NULL);
}

static inline void inlined(int number)
{
	trace_kunit_callbacks(number);
}

/*
 * A tracepoint with many sites: in a function that is inlined in two places, and
 * in a loop that the compiler unrolls. All sites are enabled and disabled.
 */
static noinline void hit_many_sites(void)
{
	int i;

	inlined(1);
	inlined(2);
#ifdef CONFIG_CC_IS_GCC	/* clang unrolls no loop with asm goto in it */
#pragma GCC unroll 4
#endif
	for (i = 0; i < 4; i++)
		trace_kunit_callbacks(i);
}

static void tp_test_many_sites(struct kunit *test)
{
	hit_many_sites();
	KUNIT_EXPECT_EQ(test, calls, 0UL);
	KUNIT_ASSERT_EQ(test, register_trace_kunit_callbacks(probe_number, digit(1)), 0);
	hit_many_sites();
	KUNIT_EXPECT_EQ(test, calls, 111111UL);
	unregister_trace_kunit_callbacks(probe_number, digit(1));
	hit_many_sites();
	KUNIT_EXPECT_EQ(test, calls, 111111UL);
}

#ifdef CONFIG_IMMEDIATE_SITES
/* The tracepoint kfree and its site are in the kernel's own tables, in no module's. */
static void tp_test_nth_site(struct kunit *test)
{
	void *(*nth_site)(const void *var, unsigned int n) = need_function(test, "imv_nth_site");

	KUNIT_EXPECT_NOT_NULL(test, nth_site(&__tracepoint_kfree.active, 0));
	KUNIT_EXPECT_NULL(test, nth_site(&__tracepoint_kfree.active, 1000));
}
#endif

/* Calls functions that a probe must not call, for its own tracepoint and another. */
static void probe_registers(void *data, int number)
{
	int *result = data;

	result[0] = register_trace_kunit_callbacks(probe_number, digit(1));
	result[1] = register_trace_kunit_plain(probe_plain, digit(1));
}

static void tp_test_within_a_probe(struct kunit *test)
{
	int result[2] = { };

	if (!IS_ENABLED(CONFIG_PREEMPT_COUNT))
		kunit_skip(test, "needs CONFIG_PREEMPT_COUNT");
	KUNIT_ASSERT_EQ(test, register_trace_kunit_callbacks(probe_registers, result), 0);
	trace_kunit_callbacks(1);
	KUNIT_EXPECT_EQ(test, result[0], -EBUSY);
	KUNIT_EXPECT_EQ(test, result[1], -EBUSY);
	KUNIT_EXPECT_FALSE(test, trace_kunit_plain_enabled());
	KUNIT_EXPECT_EQ(test, unregister_trace_kunit_callbacks(probe_registers, result), 0);
	trace_kunit_callbacks(1);
	KUNIT_EXPECT_EQ(test, calls, 0UL);
}

static int (*check_context)(const char *name);

/* With all other CPUs stopped: while the kernel boots, it patches code at once. */
static int check_in_state(void *state)
{
	const enum system_states now = system_state;
	int ret;

	system_state = *(enum system_states *)state;
	ret = check_context("kunit");
	system_state = now;
	return ret;
}

/* Except at early boot, probes are not attached in atomic context. */
static void tp_test_context_at_boot(struct kunit *test)
{
	enum system_states booting = SYSTEM_BOOTING, scheduling = SYSTEM_SCHEDULING;

	check_context = need_function(test, "tracepoint_check_context");
	KUNIT_EXPECT_EQ(test, stop_machine(check_in_state, &booting, NULL), 0);
	KUNIT_EXPECT_EQ(test, stop_machine(check_in_state, &scheduling, NULL), -EBUSY);
}

static void probe_unregisters(void *data, int number)
{
	calls++;
	*(int *)data = unregister_trace_kunit_callbacks(probe_unregisters, data);
}

/* Unregistering must succeed: callers ignore what it returns and free the probe. */
static void tp_test_unregister_atomic(struct kunit *test)
{
	int result = 1, ret;
	bool allocated;

	if (IS_ENABLED(CONFIG_DEBUG_ATOMIC_SLEEP))
		kunit_skip(test, "CONFIG_DEBUG_ATOMIC_SLEEP complains of it");
	register_trace_kunit_plain(probe_plain, digit(1));
	register_trace_kunit_plain(probe_plain, digit(2));
	register_trace_kunit_plain(probe_plain, digit(3));
	let_work_end();
	preempt_disable();
	fail_next_alloc();
	ret = unregister_trace_kunit_plain(probe_plain, digit(2));
	allocated = nth_alloc_failed();
	stop_failing();
	preempt_enable();
	KUNIT_EXPECT_EQ(test, ret, 0);
	if (IS_ENABLED(CONFIG_FAILSLAB))
		KUNIT_EXPECT_FALSE(test, allocated);	/* it may sleep */
	KUNIT_EXPECT_EQ(test, fire(1), 13UL);
	KUNIT_EXPECT_EQ(test, unregister_trace_kunit_plain(probe_plain, digit(1)), 0);
	KUNIT_EXPECT_EQ(test, fire(1), 3UL);
	let_work_end();
	preempt_disable();
	ret = unregister_trace_kunit_plain(probe_plain, digit(3));
	preempt_enable();
	KUNIT_EXPECT_EQ(test, ret, 0);
	KUNIT_EXPECT_EQ(test, fire(1), 0UL);

	KUNIT_ASSERT_EQ(test, register_trace_kunit_callbacks(probe_unregisters, &result), 0);
	let_work_end();
	calls = 0;
	trace_kunit_callbacks(1);
	trace_kunit_callbacks(1);
	KUNIT_EXPECT_EQ(test, calls, 1UL);
	KUNIT_EXPECT_EQ(test, result, 0);
	KUNIT_EXPECT_FALSE(test, trace_kunit_callbacks_enabled());
}

/* A tracepoint that is not an event has a second name, which ends in _tp. */
static void tp_test_second_name(struct kunit *test)
{
	check_trace_callback_type_kunit_plain_tp(probe_plain);
	KUNIT_EXPECT_FALSE(test, trace_kunit_plain_tp_enabled());
	trace_kunit_plain_tp(1, "off");

	KUNIT_ASSERT_EQ(test, register_trace_kunit_plain_tp(probe_plain, digit(6)), 0);
	KUNIT_ASSERT_EQ(test, register_trace_prio_kunit_plain_tp(probe_plain, digit(7), 20), 0);
	KUNIT_EXPECT_TRUE(test, trace_kunit_plain_tp_enabled());
	KUNIT_EXPECT_TRUE(test, tracepoint_enabled(kunit_plain_tp));
	trace_kunit_plain_tp(2, "on");
	trace_call__kunit_plain_tp(3, "on");
	KUNIT_EXPECT_EQ(test, calls, 7676UL);
	KUNIT_EXPECT_EQ(test, last_number, 3);

	/* Both names are for the same probes. */
	KUNIT_EXPECT_EQ(test, unregister_trace_kunit_plain(probe_plain, digit(7)), 0);
	KUNIT_EXPECT_EQ(test, unregister_trace_kunit_plain_tp(probe_plain, digit(7)), -ENOENT);
	KUNIT_EXPECT_EQ(test, unregister_trace_kunit_plain_tp(probe_plain, digit(6)), 0);
	KUNIT_EXPECT_FALSE(test, trace_kunit_plain_enabled());
}

/* The first name may end in _tp, too. */
static void tp_test_name_with_suffix(struct kunit *test)
{
	KUNIT_EXPECT_STREQ(test, __tracepoint_kunit_named_tp.name, "kunit_named_tp");
	KUNIT_ASSERT_EQ(test, register_trace_kunit_named_tp(probe_number, digit(5)), 0);
	KUNIT_EXPECT_TRUE(test, trace_kunit_named_tp_enabled());
	trace_kunit_named_tp(1);
	KUNIT_EXPECT_EQ(test, calls, 5UL);
	trace_kunit_named_tp_tp(1);
	KUNIT_EXPECT_EQ(test, calls, 55UL);
	KUNIT_EXPECT_EQ(test, unregister_trace_kunit_named_tp_tp(probe_number, digit(5)), 0);
	trace_kunit_named_tp(1);
	KUNIT_EXPECT_EQ(test, calls, 55UL);
}

/* For use after trace_kunit_condition_enabled(): evaluates only the condition. */
static void tp_test_call(struct kunit *test)
{
	trace_call__kunit_condition(11);
	KUNIT_EXPECT_EQ(test, calls, 0UL);
	KUNIT_ASSERT_EQ(test, register_trace_kunit_condition(probe_number, digit(8)), 0);
	trace_call__kunit_condition(10);
	KUNIT_EXPECT_EQ(test, calls, 0UL);
	trace_call__kunit_condition(11);
	KUNIT_EXPECT_EQ(test, calls, 8UL);
	unregister_trace_kunit_condition(probe_number, digit(8));
	trace_call__kunit_condition(12);
	KUNIT_EXPECT_EQ(test, calls, 8UL);
}

static void look_for_plain(struct tracepoint *tp, void *priv)
{
	if (tp == &__tracepoint_kunit_plain)
		(*(int *)priv)++;
}

static void look_for_switch(struct tracepoint *tp, void *priv)
{
	if (!strcmp(tp->name, "sched_switch"))
		(*(int *)priv)++;
}

static int look_in_module(struct notifier_block *nb, unsigned long state,
			  void *data)
{
#ifdef CONFIG_MODULES
	struct tp_module *tp_mod = data;

	if (tp_mod->mod == THIS_MODULE)
		calls = calls * 10 + (state == MODULE_STATE_COMING ? 1 : 2);
#endif
	return NOTIFY_OK;
}

/* A tracepoint is listed with those of the kernel or reported with its module. */
static void tp_test_enumeration(struct kunit *test)
{
	struct notifier_block nb = { .notifier_call = look_in_module };
	int found = 0, switches = 0;

	for_each_kernel_tracepoint(look_for_plain, &found);
	KUNIT_EXPECT_EQ(test, found, IS_MODULE(CONFIG_TRACEPOINT_KUNIT_TEST) ? 0 : 1);
	for_each_kernel_tracepoint(look_for_switch, &switches);
	KUNIT_EXPECT_EQ(test, switches, 1);
	if (!IS_MODULE(CONFIG_TRACEPOINT_KUNIT_TEST))
		return;
	KUNIT_ASSERT_EQ(test, register_tracepoint_module_notifier(&nb), 0);
	KUNIT_EXPECT_EQ(test, calls, 1UL);
	KUNIT_ASSERT_EQ(test, unregister_tracepoint_module_notifier(&nb), 0);
	KUNIT_EXPECT_EQ(test, calls, 12UL);
	KUNIT_EXPECT_EQ(test, unregister_tracepoint_module_notifier(&nb), -ENOENT);
	KUNIT_EXPECT_EQ(test, calls, 12UL);
}

#ifdef CONFIG_HAVE_SYSCALL_TRACEPOINTS
static struct tracepoint *sys_enter, *sys_exit;

static void find_syscalls(struct tracepoint *tp, void *unused)
{
	if (!strcmp(tp->name, "sys_enter"))
		sys_enter = tp;
	else if (!strcmp(tp->name, "sys_exit"))
		sys_exit = tp;
}

static void probe_syscall(void *data, struct pt_regs *regs, long number)
{
}

/* How many tasks do not take the slow path of system calls, or the fast one? */
static unsigned int count_others(bool slow)
{
	struct task_struct *process, *thread;
	unsigned int others = 0;

	rcu_read_lock();
	for_each_process_thread(process, thread)
		others += !!test_task_syscall_work(thread, SYSCALL_TRACEPOINT) != slow;
	rcu_read_unlock();
	return others;
}

/* Tries again, since a new task is in the list before its path is set. */
static bool all_take_path(bool slow)
{
	int tries;

	for (tries = 0; tries < 50; tries++) {
		if (!count_others(slow))
			return true;
		msleep(20);
	}
	return false;
}

/* All tasks take the slow path while there is a probe. */
static void tp_test_syscalls(struct kunit *test)
{
	for_each_kernel_tracepoint(find_syscalls, NULL);
	KUNIT_ASSERT_NOT_NULL(test, sys_enter);
	KUNIT_ASSERT_NOT_NULL(test, sys_exit);
	if (!all_take_path(false))
		kunit_skip(test, "somebody traces system calls");

	KUNIT_EXPECT_EQ(test, tracepoint_probe_register(sys_enter, probe_syscall, NULL), 0);
	KUNIT_EXPECT_EQ(test, tracepoint_probe_register(sys_exit, probe_syscall, NULL), 0);
	KUNIT_EXPECT_TRUE(test, all_take_path(true));
	KUNIT_EXPECT_EQ(test, tracepoint_probe_unregister(sys_enter, probe_syscall, NULL), 0);
	KUNIT_EXPECT_TRUE(test, all_take_path(true));
	KUNIT_EXPECT_EQ(test, tracepoint_probe_unregister(sys_exit, probe_syscall, NULL), 0);
	KUNIT_EXPECT_TRUE(test, all_take_path(false));
}
#endif /* CONFIG_HAVE_SYSCALL_TRACEPOINTS */

/* A probe that a direct call cannot reach is refused. */
static void tp_test_no_function(struct kunit *test)
{
	void *far = (void *)test;

	if (!IS_ENABLED(CONFIG_TRACEPOINT_TRAMPOLINE))
		kunit_skip(test, "needs TRACEPOINT_TRAMPOLINE");
	KUNIT_EXPECT_EQ(test, tracepoint_probe_register(&__tracepoint_kunit_plain, far,
							NULL), -ERANGE);
	KUNIT_EXPECT_FALSE(test, trace_kunit_plain_enabled());
	KUNIT_EXPECT_EQ(test, fire(1), 0UL);

	KUNIT_EXPECT_EQ(test, register_trace_kunit_plain(probe_plain, digit(1)), 0);
	KUNIT_EXPECT_EQ(test, tracepoint_probe_register(&__tracepoint_kunit_plain, far,
							NULL), -ERANGE);
	KUNIT_EXPECT_EQ(test, fire(1), 1UL);
	KUNIT_EXPECT_EQ(test, unregister_trace_kunit_plain(probe_plain, digit(1)), 0);
}

/*
 * Lets an allocation of a registration fail: either it returns an error and changes
 * nothing, or the probe is registered and called. Return: did an allocation fail?
 */
static bool add_without(struct kunit *test, int nth)
{
	bool failed;
	int ret;

	reg_calls = 0;
	unreg_calls = 0;
	fail_nth_alloc(nth);
	ret = register_trace_kunit_callbacks(probe_number, digit(2));
	failed = nth_alloc_failed();
	stop_failing();
	if (ret)
		KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
	calls = 0;
	trace_kunit_callbacks(1);
	KUNIT_EXPECT_EQ(test, calls, ret ? 0UL : 2UL);
	KUNIT_EXPECT_EQ(test, trace_kunit_callbacks_enabled(), !ret);
	KUNIT_EXPECT_EQ(test, reg_calls, unreg_calls + !ret);
	KUNIT_EXPECT_EQ(test, unregister_trace_kunit_callbacks(probe_number, digit(2)),
			ret ? -ENOENT : 0);
	KUNIT_EXPECT_EQ(test, reg_calls, unreg_calls);
	return failed;
}

/* The same for a second probe. */
static bool add_second_without(struct kunit *test, int nth)
{
	bool failed;
	int ret;

	KUNIT_EXPECT_EQ(test, register_trace_kunit_plain(probe_plain, digit(1)), 0);
	fail_nth_alloc(nth);
	ret = register_trace_kunit_plain(probe_plain, digit(2));
	failed = nth_alloc_failed();
	stop_failing();
	if (ret)
		KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
	KUNIT_EXPECT_EQ(test, fire(1), ret ? 1UL : 12UL);
	KUNIT_EXPECT_EQ(test, unregister_trace_kunit_plain(probe_plain, digit(2)),
			ret ? -ENOENT : 0);
	KUNIT_EXPECT_EQ(test, fire(1), 1UL);
	unregister_trace_kunit_plain(probe_plain, digit(1));
	KUNIT_EXPECT_EQ(test, fire(1), 0UL);
	return failed;
}

/* The array of probes and, if the architecture has them, the trampoline. */
#define NR_ALLOCS	(IS_ENABLED(CONFIG_TRACEPOINT_TRAMPOLINE) ? 2 : 1)

static void tp_test_no_memory_to_add(struct kunit *test)
{
	int nth;

	need_failing_alloc(test);
	for (nth = 1; add_without(test, nth); nth++)
		;
	KUNIT_EXPECT_GT(test, nth, NR_ALLOCS);
	for (nth = 1; add_second_without(test, nth); nth++)
		;
	KUNIT_EXPECT_GT(test, nth, NR_ALLOCS);
}

#ifdef CONFIG_TRACEPOINT_TRAMPOLINE
/* Without executable memory the same probes are called with the same arguments. */
static void tp_test_no_memory_for_code(struct kunit *test)
{
	unsigned long i;
	int reader, ret = 0;

	need_failing_alloc(test);
	reader = keep_without_code();
	for (i = 1; i <= 3; i++) {
		ret = ret ?: register_without_code(kunit_plain, probe_plain, digit(i));
		ret = ret ?: register_without_code(kunit_most_args, probe_most, digit(i));
		ret = ret ?: register_without_code(kunit_words_6, probe_words_6, digit(i));
	}
	KUNIT_EXPECT_EQ(test, ret, 0);
	KUNIT_EXPECT_FALSE(test, has_code(&__tracepoint_kunit_plain));
	KUNIT_EXPECT_EQ(test, fire(-7), 123UL);
	KUNIT_EXPECT_EQ(test, last_number, -7);
	KUNIT_EXPECT_STREQ(test, last_text, "text");
	calls = 0;
	fire_most();
	KUNIT_EXPECT_EQ(test, calls, 123UL);
	calls = 0;
	trace_kunit_words_6(101, 102, 103, 104, 105, 106);
	KUNIT_EXPECT_EQ(test, calls, 123UL);

	KUNIT_EXPECT_EQ(test, unregister_trace_kunit_plain(probe_plain, digit(2)), 0);
	KUNIT_EXPECT_TRUE(test, has_code(&__tracepoint_kunit_plain));
	KUNIT_EXPECT_EQ(test, fire(1), 13UL);
	for (i = 1; i <= 3; i++) {
		unregister_trace_kunit_plain(probe_plain, digit(i));
		unregister_trace_kunit_most_args(probe_most, digit(i));
		unregister_trace_kunit_words_6(probe_words_6, digit(i));
	}
	allow_code(reader);
	calls = 0;
	fire_most();
	KUNIT_EXPECT_EQ(test, fire(1), 0UL);
}

/* A kretprobe would replace the return address, which it needs. */
static void tp_test_no_kprobe(struct kunit *test)
{
#ifdef CONFIG_KPROBES
	struct kprobe kprobe = { .symbol_name = "__tracepoint_walk" };
	int ret = register_kprobe(&kprobe);

	KUNIT_EXPECT_EQ(test, ret, -EINVAL);
	if (!ret)
		unregister_kprobe(&kprobe);
#else
	kunit_skip(test, "needs CONFIG_KPROBES");
#endif
}

/* A tracepoint whose sites call a C stub gets no trampoline. */
static void tp_test_no_code(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, __tracepoint_kunit_plain.nr_args, 2);
	KUNIT_EXPECT_EQ(test, __tracepoint_kunit_most_args.nr_args, 12);
	KUNIT_EXPECT_EQ(test, __tracepoint_kunit_too_many_args.nr_args, 0);
	KUNIT_EXPECT_EQ(test, __tracepoint_kunit_by_value.nr_args, 0);
	register_trace_kunit_by_value(probe_by_value, digit(1));
	KUNIT_EXPECT_EQ(test, __tracepoint_kunit_by_value.code, 0);
	unregister_trace_kunit_by_value(probe_by_value, digit(1));
}

#define NR_CODES	2500
#define NR_TRIES	50

static int code_cmp(const void *a, const void *b)
{
	const struct generated_text *code_a = a, *code_b = b;

	return code_a->text < code_b->text ? -1 : code_a->text > code_b->text;
}

/* Makes trampolines for one or two probes. Return: how many. */
static unsigned int make_codes(struct generated_text *codes)
{
	struct tracepoint_func probes[] = { { .func = probe_plain }, { .func = probe_plain }, { } };
	unsigned int i;

	for (i = 0; i < NR_CODES; i++)
		if (arch_make_tracepoint_code(probes + (i % 8 != 0), 2, &codes[i]))
			break;
	return i;
}

/* Is a part of the memory returned? The rest is kept for the next trampoline. */
static bool memory_is_returned(const struct generated_text *codes, unsigned int nr)
{
	unsigned int i, tries;

	for (tries = 0; tries < NR_TRIES; tries++) {
		register_trace_kunit_plain(probe_plain, digit(1));
		unregister_trace_kunit_plain(probe_plain, digit(1));
		msleep(100);
		for (i = 0; i < nr; i++)
			if (!is_tracepoint_trampoline((unsigned long)codes[i].text))
				return true;
	}
	return false;
}

/* More trampolines than the first chunk of memory holds. They must not overlap. */
static void tp_test_many_codes(struct kunit *test)
{
	struct generated_text *codes = kvcalloc(NR_CODES, sizeof(*codes), GFP_KERNEL);
	unsigned int i, nr, round;

	KUNIT_ASSERT_NOT_NULL(test, codes);
	for (round = 0; round < 2; round++) {
		nr = make_codes(codes);
		if (IS_ENABLED(CONFIG_MODULES))
			KUNIT_EXPECT_EQ(test, nr, NR_CODES);
		else
			KUNIT_EXPECT_GT(test, nr, NR_CODES / 8);
		sort(codes, nr, sizeof(*codes), code_cmp, NULL);
		for (i = 0; i < nr; i++)
			if (!is_tracepoint_trampoline((unsigned long)codes[i].text) ||
			    (i && codes[i - 1].text + codes[i - 1].size > codes[i].text))
				break;
		KUNIT_EXPECT_EQ(test, i, nr);
		/* From both ends to the middle. */
		for (i = 0; i < nr; i++)
			arch_free_tracepoint_code(&codes[i % 2 ? nr - 1 - i / 2 : i / 2]);
	}
	if (IS_ENABLED(CONFIG_MODULES))
		KUNIT_EXPECT_TRUE(test, memory_is_returned(codes, nr));
	kvfree(codes);
}

#define TOO_MANY_PROBES	4000

/* A trampoline for so many probes would be too long. */
static void tp_test_long_code(struct kunit *test)
{
	struct tracepoint_func *probes;
	struct generated_text code;
	unsigned int i;

	probes = kvcalloc(TOO_MANY_PROBES + 1, sizeof(*probes), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, probes);
	for (i = 0; i < TOO_MANY_PROBES; i++)
		probes[i] = (struct tracepoint_func){ .func = probe_plain, .data = test };
	KUNIT_EXPECT_EQ(test, arch_make_tracepoint_code(probes, 2, &code), -ENOMEM);
	kvfree(probes);
}

#define NR_LONG_CODES	64

/*
 * Makes trampolines until memory is exhausted, frees the last one and makes it
 * again. Return: their number, or -1 if that failed.
 */
static int fill_with_codes(const struct tracepoint_func *probes,
			   struct generated_text *codes)
{
	unsigned int nr = 0;
	int ret;

	while (nr < NR_LONG_CODES) {
		ret = arch_make_tracepoint_code(probes, 2, &codes[nr]);
		if (ret)
			break;
		nr++;
	}
	if (!nr || ret != -ENOMEM)
		return -1;
	arch_free_tracepoint_code(&codes[nr - 1]);
	return arch_make_tracepoint_code(probes, 2, &codes[nr - 1]) ? -1 : nr;
}

static void tp_test_too_many_codes(struct kunit *test)
{
	const unsigned int nr_probes = TOO_MANY_PROBES / 4;
	struct tracepoint_func *probes;
	struct generated_text *codes;
	unsigned int i;
	int nr;

	codes = kunit_kcalloc(test, NR_LONG_CODES, sizeof(*codes), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, codes);
	probes = kvcalloc(nr_probes + 1, sizeof(*probes), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, probes);
	for (i = 0; i < nr_probes; i++)
		probes[i] = (struct tracepoint_func){ .func = probe_plain, .data = test };
	nr = fill_with_codes(probes, codes);
	KUNIT_EXPECT_GT(test, nr, 0);
	for (i = 0; i < NR_LONG_CODES; i++)
		if (codes[i].text)
			arch_free_tracepoint_code(&codes[i]);
	kvfree(probes);
}

#define HALF_PROBES	2200

/* Allocations fail for a trampoline that needs a new chunk of memory. */
static void tp_test_no_memory_for_more(struct kunit *test)
{
	struct generated_text codes[3] = { };
	typeof(trim_generated_text) *trim = find_function("trim_generated_text");
	struct tracepoint_func *probes;
	unsigned int i;
	int ret, nth, nr_failed = 0;

	need_failing_alloc(test);
	probes = kvcalloc(HALF_PROBES + 1, sizeof(*probes), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, probes);
	for (i = 0; i < HALF_PROBES; i++)
		probes[i] = (struct tracepoint_func){ .func = probe_plain, .data = test };
	for (i = 0; i < ARRAY_SIZE(codes) && IS_ENABLED(CONFIG_MODULES); i++) {
		for (nth = 1; ; nth++) {
			fail_nth_alloc(nth);
			ret = arch_make_tracepoint_code(probes, 2, &codes[i]);
			if (!nth_alloc_failed())
				break;
			stop_failing();
			nr_failed += !!ret;
			if (ret)
				KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
			else
				arch_free_tracepoint_code(&codes[i]);
			if (trim)
				trim();	/* else the chunk is there now */
		}
		stop_failing();
		KUNIT_EXPECT_EQ(test, ret, 0);
		/* No code follows it in its last slot. */
		KUNIT_EXPECT_EQ(test, codes[i].text[codes[i].size], INT3_INSN_OPCODE);
	}
	if (trim && IS_ENABLED(CONFIG_MODULES))
		KUNIT_EXPECT_GT(test, nr_failed, 0);
	for (i = 0; i < ARRAY_SIZE(codes); i++)
		if (codes[i].text)
			arch_free_tracepoint_code(&codes[i]);
	kvfree(probes);
}

/* A freed trampoline must not be executed, even if something still jumps to it. */
static void tp_test_stale_code(struct kunit *test)
{
	struct tracepoint_func probes[] = { { .func = probe_plain }, { .func = probe_plain }, { } };
	struct generated_text code;
	unsigned int nr;

	for (nr = 1; nr <= 2; nr++) {
		KUNIT_ASSERT_EQ(test, arch_make_tracepoint_code(probes + 2 - nr, 2, &code), 0);
		KUNIT_EXPECT_NE(test, *code.text, INT3_INSN_OPCODE);
		arch_free_tracepoint_code(&code);
		/* A trampoline for one probe may be in a cell, whose end stays. */
		KUNIT_EXPECT_NULL(test, memchr_inv(code.text, INT3_INSN_OPCODE,
						   nr == 1 ? 1 : code.size));
	}
}

/* The end of a cell, if the CPU permits cells, stays for tasks preempted in it. */
static void tp_test_end_stays(struct kunit *test)
{
	struct tracepoint_func probes[] = { { .func = probe_plain }, { } };
	struct generated_text code;

	if (IS_ENABLED(CONFIG_FRAME_POINTER) || cpu_feature_enabled(X86_FEATURE_RETHUNK))
		kunit_skip(test, "such trampolines have no end of their own");
	KUNIT_ASSERT_EQ(test, arch_make_tracepoint_code(probes, 2, &code), 0);
	arch_free_tracepoint_code(&code);
	KUNIT_EXPECT_NOT_NULL(test, memchr_inv(code.text, INT3_INSN_OPCODE, code.size));
}

/* The memory of an unused trampoline is reused after some time. */
static void tp_test_code_is_freed(struct kunit *test)
{
	s32 *codes = kunit_kcalloc(test, NR_TRIES, sizeof(*codes), GFP_KERNEL);
	unsigned int nr, i;

	KUNIT_ASSERT_NOT_NULL(test, codes);
	for (nr = 0; nr < NR_TRIES; nr++) {
		register_trace_kunit_plain(probe_plain, digit(1));
		codes[nr] = __tracepoint_kunit_plain.code;
		unregister_trace_kunit_plain(probe_plain, digit(1));
		for (i = 0; i < nr; i++)
			if (codes[i] == codes[nr])
				return;
		msleep(100);
	}
	KUNIT_FAIL(test, "%u trampolines, and none was freed", nr);
}

static void tp_test_name(struct kunit *test)
{
	char name[KSYM_SYMBOL_LEN], other[KSYM_SYMBOL_LEN];
	unsigned int tries, size = 0;
	void *text, *other_text;
	int found;

	if (!IS_ENABLED(CONFIG_KALLSYMS))
		kunit_skip(test, "needs KALLSYMS");
	register_trace_kunit_plain(probe_plain, digit(1));
	register_trace_kunit_condition(probe_number, digit(1));
	other_text = (void *)(long)__tracepoint_kunit_condition.code;
	snprintf(other, sizeof(other), "%ps", other_text);
	text = (void *)(long)__tracepoint_kunit_plain.code;
	snprintf(name, sizeof(name), "%pS", text + 1);
	found = sscanf(name, "tracepoint_trampoline_kunit_plain+0x1/%x", &size);
	KUNIT_EXPECT_EQ_MSG(test, found, 1, "%s", name);
	KUNIT_EXPECT_GT_MSG(test, size, 8U, "%s", name);
	KUNIT_EXPECT_LT_MSG(test, size, 256U, "%s", name);
	snprintf(name, sizeof(name), "%ps", text + 1);
	unregister_trace_kunit_condition(probe_number, digit(1));
	unregister_trace_kunit_plain(probe_plain, digit(1));
	KUNIT_EXPECT_STREQ(test, name,
			   "tracepoint_trampoline_kunit_plain [__builtin__tracepoint]");
	KUNIT_EXPECT_STREQ(test, other,
			   "tracepoint_trampoline_kunit_condition [__builtin__tracepoint]");
	for (tries = 0; tries < NR_TRIES && (strchr(name, '[') || strchr(other, '[')); tries++) {
		msleep(100);
		snprintf(name, sizeof(name), "%ps", text + 1);
		snprintf(other, sizeof(other), "%ps", other_text);
	}
	KUNIT_EXPECT_PTR_EQ(test, strchr(name, '['), NULL);
	KUNIT_EXPECT_PTR_EQ(test, strchr(other, '['), NULL);
}

/* The parts of a trampoline for one probe; its data is at most 32 bits. */
#define CHECK_SIZE	(IS_ENABLED(CONFIG_SMP) ? 15 : 0)
#define DATA_SIZE	6
#define CALL_SIZE	5
#define FRAME_SETUP_SIZE	4
#define CELL_CODE_SIZE	32
#define CELL_END_SIZE	16
#define CELL_SIZE	(CELL_CODE_SIZE + CELL_END_SIZE)
#define NR_CELLS	(32 * 1024 / CELL_SIZE)

static bool have_cells(void)
{
	return !IS_ENABLED(CONFIG_FRAME_POINTER) &&
	       !cpu_feature_enabled(X86_FEATURE_RETHUNK);
}

static unsigned int size_in_cell(void)
{
	return round_up(CHECK_SIZE + DATA_SIZE + CALL_SIZE, 2) + CELL_END_SIZE;
}

/* Makes a trampoline; if there are no cells yet, the memory for them may be missing. */
static void make_first_code(struct kunit *test, struct generated_text *code)
{
	struct tracepoint_func probes[] = { { .func = probe_plain }, { } };
	int ret;

	fail_nth_alloc(2);
	ret = arch_make_tracepoint_code(probes, 2, code);
	stop_failing();
	if (ret)
		KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
}

#define LONG_CODE_PROBES	1400

/* Makes a trampoline that leaves no room for the cells in its chunk of memory. */
static void make_long_code(struct kunit *test, struct generated_text *code)
{
	struct tracepoint_func *probes;
	unsigned int i;
	int ret;

	probes = kvcalloc(LONG_CODE_PROBES + 1, sizeof(*probes), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, probes);
	for (i = 0; i < LONG_CODE_PROBES; i++)
		probes[i] = (struct tracepoint_func){ .func = probe_plain, .data = test };
	ret = arch_make_tracepoint_code(probes, 2, code);
	/* Without modules there is one chunk, and the cells may be in it already. */
	if (IS_ENABLED(CONFIG_MODULES))
		KUNIT_EXPECT_EQ(test, ret, 0);
	kvfree(probes);
}

/*
 * The first trampolines since boot, for which allocations fail, are outside of the
 * cells, before and after them, and the next one is in a cell; later they may all be
 * in cells.
 */
static void tp_test_first_codes(struct kunit *test)
{
	struct tracepoint_func probes[] = { { .func = probe_plain }, { } };
	struct generated_text first[2] = { }, long_code = { }, next;
	unsigned int i, size;
	const u8 *text;

	make_first_code(test, &first[0]);
	make_long_code(test, &long_code);
	make_first_code(test, &first[1]);
	if (long_code.text)
		arch_free_tracepoint_code(&long_code);
	KUNIT_ASSERT_EQ(test, arch_make_tracepoint_code(probes, 2, &next), 0);
	KUNIT_EXPECT_TRUE(test, is_tracepoint_trampoline((unsigned long)next.text));
	if (have_cells())
		KUNIT_EXPECT_EQ(test, next.size, size_in_cell());
	for (i = 0; i < 2; i++) {
		if (!first[i].text)
			continue;
		text = first[i].text;
		KUNIT_EXPECT_TRUE(test, is_tracepoint_trampoline((unsigned long)text));
		size = first[i].size;
		if (have_cells() && size == next.size)
			size -= CELL_END_SIZE;
		arch_free_tracepoint_code(&first[i]);
		KUNIT_EXPECT_NULL(test, memchr_inv(text, INT3_INSN_OPCODE, size));
	}
	KUNIT_EXPECT_NE(test, *next.text, INT3_INSN_OPCODE);
	arch_free_tracepoint_code(&next);
}

/* A trampoline has no code that its probe and its arguments do not need. */
static void tp_test_code_size(struct kunit *test)
{
	struct tracepoint_func probes[] = { { .func = probe_plain }, { } };
	struct generated_text code;
	unsigned int nr_args, on_stack, size;

	if (!have_cells())
		kunit_skip(test, "such trampolines are not in cells");
	for (nr_args = 1; nr_args <= TRACEPOINT_MAX_ARGS; nr_args++) {
		KUNIT_ASSERT_EQ(test, arch_make_tracepoint_code(probes, nr_args, &code), 0);
		arch_free_tracepoint_code(&code);
		if (nr_args <= TRACEPOINT_REG_ARGS) {
			size = size_in_cell();
		} else {
			/* The frame; push ...(%rbp); mov, call; add, pop, jmp */
			on_stack = nr_args - TRACEPOINT_REG_ARGS;
			size = CHECK_SIZE + FRAME_SETUP_SIZE + 3 * on_stack + DATA_SIZE +
			       CALL_SIZE + 4 + 1 + 5;
		}
		KUNIT_EXPECT_EQ_MSG(test, code.size, size, "%u arguments", nr_args);
	}
	probes[0].data = digit(1);
	KUNIT_ASSERT_EQ(test, arch_make_tracepoint_code(probes, 1, &code), 0);
	arch_free_tracepoint_code(&code);
	KUNIT_EXPECT_EQ(test, code.size, size_in_cell());
	probes[0].data = test;
	KUNIT_ASSERT_EQ(test, arch_make_tracepoint_code(probes, 1, &code), 0);
	arch_free_tracepoint_code(&code);
	KUNIT_EXPECT_EQ(test, code.size, size_in_cell() + 4);
}

/* At each instruction of a trampoline with a frame, unwinders know the stack. */
static void tp_test_frame(struct kunit *test)
{
	int (*depth_of)(unsigned long addr) = need_function(test, "generated_text_depth");
	struct tracepoint_func probes[] = { { .func = probe_plain }, { } };
	struct generated_text code;
	unsigned long text;
	unsigned int end;
	int depths[6];

	KUNIT_ASSERT_EQ(test, arch_make_tracepoint_code(probes, 7, &code), 0);
	text = (unsigned long)code.text + CHECK_SIZE;
	end = code.size - CHECK_SIZE - 6;
	preempt_disable();
	depths[0] = depth_of(text);
	depths[1] = depth_of(text + 1);
	depths[2] = depth_of(text + FRAME_SETUP_SIZE - 1);
	depths[3] = depth_of(text + FRAME_SETUP_SIZE);
	depths[4] = depth_of(text + end);
	depths[5] = depth_of(text + end + 1);
	preempt_enable();
	/* push %rbp; mov %rsp, %rbp; ...; pop %rbp; jmp */
	KUNIT_EXPECT_EQ(test, code.text[CHECK_SIZE], 0x55);
	KUNIT_EXPECT_EQ(test, code.text[CHECK_SIZE + end], 0x5d);
	KUNIT_EXPECT_EQ(test, code.text[CHECK_SIZE + end + 1], JMP32_INSN_OPCODE);
	arch_free_tracepoint_code(&code);
	KUNIT_EXPECT_EQ(test, depths[0], 0);
	KUNIT_EXPECT_EQ(test, depths[1], GENERATED_BP_PUSHED);
	KUNIT_EXPECT_EQ(test, depths[2], GENERATED_BP_PUSHED);
	KUNIT_EXPECT_EQ(test, depths[3], GENERATED_BP_SET);
	KUNIT_EXPECT_EQ(test, depths[4], GENERATED_BP_SET);
	KUNIT_EXPECT_EQ(test, depths[5], 0);
}

/* decl %gs:__preempt_count; je @resched, or a few bytes before it; ret */
static bool is_cell_end(const u8 *end, unsigned long addr, unsigned long resched)
{
	const u8 *at = end;

	if (IS_ENABLED(CONFIG_PREEMPT_COUNT)) {
		if (IS_ENABLED(CONFIG_SMP) && *at++ != 0x65)
			return false;
		if (memcmp(at, "\xff\x0c\x25", 3))
			return false;
		at += 7;
	}
	if (IS_ENABLED(CONFIG_PREEMPTION)) {
		if (memcmp(at, "\x0f\x84", 2))
			return false;
		at += 6;
		addr += at - end + *(const s32 *)(at - 4);
		if (resched - addr > 4)
			return false;
	}
	return *at++ == RET_INSN_OPCODE &&
	       !memchr_inv(at, INT3_INSN_OPCODE, end + CELL_END_SIZE - at);
}

/* Cells have an end, which does the same as __tracepoint_leave(), and no other code. */
static void tp_test_cells(struct kunit *test)
{
	void (*write)(struct text_writer *w, const void *arg) = find_function("write_cells");
	/* A kprobe cannot find it if it begins with a static call, for PREEMPT_DYNAMIC. */
	unsigned long resched = (unsigned long)find_symbol("__tracepoint_resched");
	struct text_writer w = { };
	unsigned int i;
	u8 *cell;

	if (!write)
		kunit_skip(test, "needs cells, and functions that can be called");
	write(&w, NULL);
	KUNIT_ASSERT_EQ(test, w.size, NR_CELLS * CELL_SIZE);
	w = (struct text_writer){ .text = (unsigned long)write };
	w.buffer = kunit_kzalloc(test, NR_CELLS * CELL_SIZE, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, w.buffer);
	write(&w, NULL);
	KUNIT_EXPECT_EQ(test, w.size, NR_CELLS * CELL_SIZE);
	KUNIT_EXPECT_FALSE(test, w.too_far);
	for (i = 0; i < NR_CELLS; i++) {
		cell = w.buffer + i * CELL_SIZE;
		if (memchr_inv(cell, INT3_INSN_OPCODE, CELL_CODE_SIZE) ||
		    !is_cell_end(cell + CELL_CODE_SIZE,
				 w.text + i * CELL_SIZE + CELL_CODE_SIZE, resched))
			break;
	}
	KUNIT_EXPECT_EQ(test, i, NR_CELLS);
}

/* Is the return address found for a probe whose caller is at this address? */
static bool caller_is_found(unsigned long addr, int (*depth_of)(unsigned long addr))
{
	unsigned long framed[] = { 0, 99 }, frame[40] = { (unsigned long)framed };
	struct pt_regs regs = { .ip = addr, .sp = (unsigned long)frame };
	int i, depth;

	for (i = 1; i < ARRAY_SIZE(frame); i++)
		frame[i] = i;
	preempt_disable();
	depth = depth_of(addr - 1);
	tracepoint_caller_regs(&regs);
	preempt_enable();
	if (depth == GENERATED_NO_TEXT)
		return regs.ip == addr;
	return regs.ip == (depth < 0 ? 99 : 2 + depth);
}

/* Nothing is on the stack of a cell. That is not so for what comes after the cells. */
static void tp_test_caller_after_cells(struct kunit *test)
{
	int (*depth_of)(unsigned long addr) = need_function(test, "generated_text_depth");
	u8 **cells = find_symbol("cells");
	unsigned long end, addr;

	if (!cells || !*cells)
		kunit_skip(test, "there are no cells");
	end = (unsigned long)*cells + NR_CELLS * CELL_SIZE;
	for (addr = end - CELL_SIZE; addr < end + NR_CELLS + CELL_SIZE; addr++)
		if (!caller_is_found(addr, depth_of))
			break;
	KUNIT_EXPECT_EQ(test, addr, end + NR_CELLS + CELL_SIZE);
}

#define NR_SINGLE	(NR_CELLS + 30)

/* Return: the number of trampolines before one that overlaps another. */
static unsigned int count_separate(struct generated_text *codes, unsigned int nr)
{
	unsigned int i;

	sort(codes, nr, sizeof(*codes), code_cmp, NULL);
	for (i = 1; i < nr; i++)
		if (codes[i - 1].text + codes[i - 1].size > codes[i].text)
			break;
	return min(i, nr);
}

/* When the cells are used up, trampolines are elsewhere; a freed cell is used again. */
static void tp_test_all_cells(struct kunit *test)
{
	struct generated_text *codes = kvcalloc(NR_SINGLE, sizeof(*codes), GFP_KERNEL);
	struct tracepoint_func probes[] = { { .func = probe_plain }, { } };
	unsigned int i, nr;

	KUNIT_ASSERT_NOT_NULL(test, codes);
	for (nr = 0; nr < NR_SINGLE; nr++)
		if (arch_make_tracepoint_code(probes, 2, &codes[nr]))
			break;
	KUNIT_EXPECT_EQ(test, nr, NR_SINGLE);
	for (i = 1; i < nr; i += 3) {
		arch_free_tracepoint_code(&codes[i]);
		if (arch_make_tracepoint_code(probes, 2, &codes[i])) {
			KUNIT_FAIL(test, "no memory again");
			codes[i] = codes[--nr];
		}
	}
	KUNIT_EXPECT_EQ(test, count_separate(codes, nr), nr);
	for (i = 0; i < nr; i++)
		arch_free_tracepoint_code(&codes[i]);
	kvfree(codes);
}

/* Mutexes are held where they are unlocked: of the cells, of chunks, and of text. */
static void tp_test_code_locks(struct kunit *test)
{
#ifdef CONFIG_KPROBES
	struct tracepoint_func probes[] = {
		{ .func = probe_plain }, { .func = probe_plain }, { }
	};
	struct generated_text codes[2];
	unsigned int nr;

	KUNIT_ASSERT_EQ(test, watch_unlocks(NULL), 0);
	for (nr = 0; nr < 2; nr++)
		if (arch_make_tracepoint_code(probes + 1 - nr, 2, &codes[nr]))
			break;
	KUNIT_EXPECT_EQ(test, nr, 2U);
	while (nr--)
		arch_free_tracepoint_code(&codes[nr]);
	stop_watching();
	KUNIT_EXPECT_GE(test, watched.calls, 8U);
	KUNIT_EXPECT_EQ(test, watched.not_locked, 0U);
#else
	kunit_skip(test, "needs CONFIG_KPROBES");
#endif
}

/* Which allocation of a registration is for the name of the trampoline. */
static int nth_is_name;

/* It is no function, and a direct call does not reach it. */
static void *unreachable_probe;

/* Return: did the probe get a trampoline? */
static bool add_and_remove(int nth)
{
	bool code;

	fail_nth_alloc(nth);
	register_trace_kunit_plain(probe_plain, digit(1));
	stop_failing();
	code = has_code(&__tracepoint_kunit_plain);
	unregister_trace_kunit_plain(probe_plain, digit(1));
	return code;
}

static void find_name_alloc(void)
{
	int nth = 2;

	while (nth < 10 && !add_and_remove(nth))
		nth++;
	nth_is_name = nth - 1;
}

static void fail_to_name(void)
{
	add_and_remove(nth_is_name);
}

static void fail_to_reach(void)
{
	tracepoint_probe_register(&__tracepoint_kunit_plain, unreachable_probe, NULL);
}

/*
 * Does @fail return the memory for code? Then the next trampoline is where it is
 * without it. Tries again, since other trampolines come and go.
 */
static bool returns_memory(void (*fail)(void))
{
	struct tracepoint_func probes[] = { { .func = probe_plain }, { } };
	struct generated_text before, after;
	unsigned int tries;

	for (tries = 0; tries < 20; tries++) {
		if (arch_make_tracepoint_code(probes, 2, &before))
			return false;
		arch_free_tracepoint_code(&before);
		fail();
		if (arch_make_tracepoint_code(probes, 2, &after))
			return false;
		arch_free_tracepoint_code(&after);
		if (after.text == before.text)
			return true;
	}
	return false;
}

/*
 * Does @use, if any, free what it allocates? Then the next object of this size is the
 * one that was freed last. Tries again, since others allocate too.
 */
static bool frees_object(size_t size, void (*use)(void))
{
	unsigned long before, after;
	unsigned int tries;
	void *object;

	for (tries = 0; tries < 20; tries++) {
		migrate_disable();
		object = kmalloc(size, GFP_KERNEL);
		before = (unsigned long)object;
		kfree(object);
		if (use)
			use();
		object = kmalloc(size, GFP_KERNEL);
		after = (unsigned long)object;
		kfree(object);
		migrate_enable();
		if (before == after)
			return true;
	}
	return false;
}

/* A registration that fails frees the array of probes. */
static void tp_test_unused_array(struct kunit *test)
{
	const size_t size = struct_size((struct tp_probes *)NULL, probes, 2);

	if (!frees_object(size, NULL))
		kunit_skip(test, "the allocator does not reuse objects at once");
	unreachable_probe = test;
	KUNIT_EXPECT_TRUE(test, frees_object(size, fail_to_reach));
}

static bool only_arguments;

/* The argument on the stack is a copy of that of the site, which is not far away. */
static noinline __no_sanitize_address void
probe_stack_args(void *data, long a, long b, long c, long d, long e, long f)
{
	const long *stack_args = (const long *)__builtin_frame_address(0) + 2;
	unsigned int i;

	for (i = 1; i < 14; i++)
		only_arguments |= stack_args[0] == f && stack_args[i] == f;
}

/* Without a trampoline, a probe gets only its arguments on the stack. */
static void tp_test_walk_stack(struct kunit *test)
{
	int reader;

	need_failing_alloc(test);
	only_arguments = false;
	reader = keep_without_code();
	register_without_code(kunit_words_6, probe_stack_args, digit(1));
	KUNIT_EXPECT_FALSE(test, has_code(&__tracepoint_kunit_words_6));
	trace_kunit_words_6(1, 2, 3, 4, 5, 0x123456789);
	allow_code(reader);
	unregister_trace_kunit_words_6(probe_stack_args, digit(1));
	KUNIT_EXPECT_TRUE(test, only_arguments);
}

/* A work item makes it. Return: is there code in the end? */
static bool gets_code(const struct tracepoint *tp)
{
	unsigned int tries;

	for (tries = 0; tries < NR_TRIES && !has_code(tp); tries++)
		msleep(100);
	return has_code(tp);
}

/* A tracepoint gets the trampoline later, when others have freed memory. */
static void tp_test_code_comes_later(struct kunit *test)
{
	const struct tracepoint *plain = &__tracepoint_kunit_plain;
	int reader;

	need_failing_alloc(test);
	reader = keep_without_code();
	register_without_code(kunit_words_6, probe_words_6, digit(3));
	register_without_code(kunit_plain, probe_plain, digit(1));
	register_without_code(kunit_plain, probe_plain, digit(2));
	KUNIT_EXPECT_FALSE(test, has_code(plain));
	allow_code(reader);
	unregister_trace_kunit_words_6(probe_words_6, digit(3));
	KUNIT_EXPECT_TRUE(test, gets_code(plain));
	KUNIT_EXPECT_EQ(test, fire(1), 12UL);
	unregister_trace_kunit_plain(probe_plain, digit(1));
	unregister_trace_kunit_plain(probe_plain, digit(2));
	KUNIT_EXPECT_EQ(test, fire(1), 0UL);
}

/* The trampolines for which there was no memory. */
static struct {
	void (*make)(void);	/* tp_make_missing_code() */
	struct mutex *lock;	/* tracepoints_mutex, which it needs */
} missing;

static void need_missing(struct kunit *test)
{
	need_failing_alloc(test);
	missing.make = find_function("tp_make_missing_code");
	missing.lock = find_symbol("tracepoints_mutex");
	if (!missing.make || !missing.lock)
		kunit_skip(test, "needs KALLSYMS_ALL, and functions that can be called");
}

static void make_missing(void)
{
	mutex_lock(missing.lock);
	missing.make();
	mutex_unlock(missing.lock);
}

static void make_missing_in_vain(void)
{
	mutex_lock(missing.lock);
	fail_next_alloc();
	missing.make();
	stop_failing();
	mutex_unlock(missing.lock);
}

/* A tracepoint waits for memory until a try succeeds, and is not tried again after that. */
static void tp_test_code_is_made_once(struct kunit *test)
{
	const struct tracepoint *plain = &__tracepoint_kunit_plain;
	s32 code;
	int reader;

	need_missing(test);
	reader = keep_without_code();
	register_without_code(kunit_plain, probe_plain, digit(1));
	make_missing_in_vain();
	KUNIT_EXPECT_FALSE(test, has_code(plain));
	make_missing();
	KUNIT_EXPECT_TRUE(test, has_code(plain));
	code = plain->code;
	make_missing();
	KUNIT_EXPECT_EQ(test, plain->code, code);
	allow_code(reader);
	unregister_trace_kunit_plain(probe_plain, digit(1));
	KUNIT_EXPECT_EQ(test, fire(1), 0UL);
}

#ifdef CONFIG_KPROBES
/* One tracepoint may need more memory than the others: each try begins with another one. */
static void tp_test_code_in_turns(struct kunit *test)
{
	const void *first;
	int reader;

	need_missing(test);
	reader = keep_without_code();
	register_without_code(kunit_most_args, probe_most, digit(1));
	register_without_code(kunit_words_6, probe_words_6, digit(2));
	KUNIT_EXPECT_EQ(test, watch_calls("generate_text"), 0);
	watched.nth = 3;	/* the trampoline */
	make_missing_in_vain();
	first = watched.argument;
	KUNIT_EXPECT_NOT_NULL(test, first);
	make_missing_in_vain();
	KUNIT_EXPECT_PTR_NE(test, watched.argument, first);
	make_missing_in_vain();
	KUNIT_EXPECT_PTR_EQ(test, watched.argument, first);
	stop_watching();
	KUNIT_EXPECT_FALSE(test, has_code(&__tracepoint_kunit_most_args));
	KUNIT_EXPECT_FALSE(test, has_code(&__tracepoint_kunit_words_6));
	allow_code(reader);
	unregister_trace_kunit_most_args(probe_most, digit(1));
	unregister_trace_kunit_words_6(probe_words_6, digit(2));
}
#endif

/* A registration that cannot use the code of its trampoline frees it. */
static void tp_test_unused_code(struct kunit *test)
{
	need_failing_alloc(test);
	unreachable_probe = test;
	KUNIT_EXPECT_TRUE(test, returns_memory(fail_to_reach));
	find_name_alloc();
	KUNIT_EXPECT_GE(test, nth_is_name, 2);
	KUNIT_EXPECT_TRUE(test, returns_memory(fail_to_name));
}

#if defined(CONFIG_KPROBES) && defined(CONFIG_KALLSYMS)
static unsigned int count_names(const char *wanted)
{
	int (*get)(unsigned int nr, unsigned long *value, char *type, char *name,
		   char *module_name, int *exported);
	char type, name[KSYM_NAME_LEN], module_name[MODULE_NAME_LEN];
	unsigned int nr, found = 0;
	unsigned long value;
	int exported;

	get = find_function("generated_text_get_kallsym");
	for (nr = 0; !get(nr, &value, &type, name, module_name, &exported); nr++)
		found += !strcmp(name, wanted);
	return found;
}
#endif

/* The trampoline for a probe that a callback refuses is freed, as is its name. */
static void tp_test_refused_code(struct kunit *test)
{
#if defined(CONFIG_KPROBES) && defined(CONFIG_KALLSYMS)
	static const char name[] = "tracepoint_trampoline_kunit_callbacks";
	unsigned int tries;

	if (!can_call_text())
		kunit_skip(test, "functions that are not exported cannot be called");
	reg_result = -EBUSY;
	KUNIT_EXPECT_EQ(test, register_trace_kunit_callbacks(probe_number, digit(1)), -EBUSY);
	reg_result = 0;
	KUNIT_EXPECT_EQ(test, register_trace_kunit_callbacks(probe_number, digit(1)), 0);
	KUNIT_EXPECT_GT(test, count_names(name), 0U);
	unregister_trace_kunit_callbacks(probe_number, digit(1));
	for (tries = 0; tries < NR_TRIES && count_names(name); tries++)
		msleep(100);
	KUNIT_EXPECT_EQ(test, count_names(name), 0U);
#else
	kunit_skip(test, "needs CONFIG_KPROBES and KALLSYMS");
#endif
}

#ifdef CONFIG_KPROBES
static const u8 *watched_code;
static bool watched_has_gone, watched_was_used;

static bool stub_jumps_to(const u8 *target)
{
	const u8 *stub = (const u8 *)__traceiter_kunit_plain;
	unsigned int i;
	s32 distance;

	/* objtool takes the address of an instruction after the first for a call's target. */
	OPTIMIZER_HIDE_VAR(stub);
	for (i = 0; i < 12; i++) {
		memcpy(&distance, stub + i + 1, sizeof(distance));
		if (stub[i] == JMP32_INSN_OPCODE && stub + i + 5 + distance == target)
			return true;
	}
	return false;
}

static int note_unname(struct kprobe *kp, struct pt_regs *regs)
{
	const struct generated_text *code = (const void *)regs->di;

	if (code->text == watched_code) {
		watched_was_used = stub_jumps_to(watched_code);
		WRITE_ONCE(watched_has_gone, true);
	}
	return 0;
}
#endif

/* A trampoline has its name as long as a stub jumps to it, also when patching is late. */
static void tp_test_name_while_deferred(struct kunit *test)
{
#ifdef CONFIG_KPROBES
	struct kprobe kprobe = {
		.symbol_name = "unname_generated_text",
		.pre_handler = note_unname,
	};
	unsigned int tries;
	bool deferred;

	watched_has_gone = false;
	watched_was_used = false;
	KUNIT_ASSERT_EQ(test, register_trace_kunit_plain(probe_plain, digit(1)), 0);
	watched_code = (const u8 *)(long)__tracepoint_kunit_plain.code;
	KUNIT_EXPECT_TRUE(test, stub_jumps_to(watched_code));
	KUNIT_EXPECT_EQ(test, register_kprobe(&kprobe), 0);
	deferred = imv_defer_begin();
	KUNIT_EXPECT_TRUE(test, deferred);
	unregister_trace_kunit_plain(probe_plain, digit(1));
	for (tries = 0; tries < NR_TRIES && !READ_ONCE(watched_has_gone); tries++)
		msleep(100);
	imv_defer_end(deferred);
	unregister_kprobe(&kprobe);
	KUNIT_EXPECT_TRUE(test, watched_has_gone);
	KUNIT_EXPECT_FALSE(test, watched_was_used);
#else
	kunit_skip(test, "needs CONFIG_KPROBES");
#endif
}

#ifdef CONFIG_PERF_EVENTS
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
	tracepoint_caller_regs(&caller_regs);
	note_caller();
	barrier();	/* no tail call, which would reuse the frame */
}

static noinline void probe_caller_6(void *data, long a, long b, long c, long d, long e,
				    long f)
{
	perf_fetch_caller_regs(&caller_regs);
	tracepoint_caller_regs(&caller_regs);
	note_caller();
	barrier();	/* no tail call, which would reuse the frame */
}

static noinline void fire_six(void)
{
	trace_kunit_words_6(1, 2, 3, 4, 5, 6);
	barrier();	/* no tail call */
}

static noinline void call_probe(void)
{
	probe_caller(NULL, 1);
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
#endif

/* For perf, the caller of each probe is the function that has the tracepoint. */
static void tp_test_caller(struct kunit *test)
{
#ifdef CONFIG_PERF_EVENTS
	int reader;

	need_failing_alloc(test);
	if (!IS_ENABLED(CONFIG_KALLSYMS))
		kunit_skip(test, "needs KALLSYMS");
	expect_caller(test, call_probe, 1, "without a tracepoint");
	register_trace_kunit_callbacks(probe_caller, digit(1));
	expect_caller(test, fire_for_stack, 1, "one probe");
	register_trace_kunit_callbacks(probe_caller, digit(2));
	expect_caller(test, fire_for_stack, 2, "two probes");
	reader = keep_without_code();
	register_without_code(kunit_callbacks, probe_caller, digit(3));
	KUNIT_EXPECT_FALSE(test, has_code(&__tracepoint_kunit_callbacks));
	expect_caller(test, fire_for_stack, 3, "without a trampoline");
	allow_code(reader);
	unregister_trace_kunit_callbacks(probe_caller, digit(1));
	unregister_trace_kunit_callbacks(probe_caller, digit(2));
	unregister_trace_kunit_callbacks(probe_caller, digit(3));

	register_trace_kunit_words_6(probe_caller_6, digit(1));
	expect_caller(test, fire_six, 1, "with a frame");
	unregister_trace_kunit_words_6(probe_caller_6, digit(1));
#else
	kunit_skip(test, "needs PERF_EVENTS");
#endif
}

#ifdef CONFIG_TRACEPOINT_CPU_ONLINE
static unsigned long fire_offline(void)
{
	unsigned long flags, result;

	local_irq_save(flags);
	tracepoint_set_cpu_online(smp_processor_id(), false);
	result = fire(1);
	tracepoint_set_cpu_online(smp_processor_id(), true);
	local_irq_restore(flags);
	return result;
}
#endif

/* A CPU that is offline, where RCU does not watch, calls no probes. */
static void tp_test_offline(struct kunit *test)
{
#ifdef CONFIG_TRACEPOINT_CPU_ONLINE
	unsigned long i;
	int reader;

	need_failing_alloc(test);
	register_trace_kunit_plain(probe_plain, digit(1));
	KUNIT_EXPECT_EQ(test, fire_offline(), 0UL);
	register_trace_kunit_plain(probe_plain, digit(2));
	KUNIT_EXPECT_EQ(test, fire_offline(), 0UL);
	reader = keep_without_code();
	register_without_code(kunit_plain, probe_plain, digit(3));
	KUNIT_EXPECT_FALSE(test, has_code(&__tracepoint_kunit_plain));
	KUNIT_EXPECT_EQ(test, fire_offline(), 0UL);
	allow_code(reader);
	KUNIT_EXPECT_EQ(test, fire(1), 123UL);
	for (i = 1; i <= 3; i++)
		unregister_trace_kunit_plain(probe_plain, digit(i));
#else
	kunit_skip(test, "needs TRACEPOINT_CPU_ONLINE");
#endif
}
#endif /* CONFIG_TRACEPOINT_TRAMPOLINE */

/* A probe can be removed if an allocation fails; the next change cleans up. */
static bool remove_without(struct kunit *test, int nth)
{
	unsigned long i;
	bool failed;
	int ret;

	for (i = 1; i <= 3; i++)
		KUNIT_EXPECT_EQ(test, register_trace_kunit_plain(probe_plain, digit(i)), 0);
	fail_nth_alloc(nth);
	ret = unregister_trace_kunit_plain(probe_plain, digit(2));
	failed = nth_alloc_failed();
	stop_failing();
	KUNIT_EXPECT_EQ(test, ret, 0);
	KUNIT_EXPECT_EQ(test, fire(0), 13UL);
	KUNIT_EXPECT_EQ(test, unregister_trace_kunit_plain(probe_plain, digit(2)), -ENOENT);
	KUNIT_EXPECT_EQ(test, register_trace_kunit_plain(probe_plain, digit(2)), 0);
	KUNIT_EXPECT_EQ(test, fire(0), 132UL);
	for (i = 1; i <= 3; i++)
		KUNIT_EXPECT_EQ(test, unregister_trace_kunit_plain(probe_plain, digit(i)), 0);
	KUNIT_EXPECT_FALSE(test, trace_kunit_plain_enabled());
	return failed;
}

static void tp_test_no_memory_to_remove(struct kunit *test)
{
	int nth;

	need_failing_alloc(test);
	for (nth = 1; remove_without(test, nth); nth++)
		;
	KUNIT_EXPECT_GT(test, nth, NR_ALLOCS);
}

/* Here a stub in C calls the probes. */
static void tp_test_no_memory_to_remove_odd(struct kunit *test)
{
	struct kunit_large large = { { 10, 200, 3000 } };
	bool failed;
	int ret;

	need_failing_alloc(test);
	register_trace_kunit_by_value(probe_by_value, digit(1));
	register_trace_kunit_by_value(probe_by_value, digit(2));
	fail_next_alloc();
	ret = unregister_trace_kunit_by_value(probe_by_value, digit(1));
	failed = nth_alloc_failed();
	stop_failing();
	trace_kunit_by_value(40000, large);
	unregister_trace_kunit_by_value(probe_by_value, digit(2));
	KUNIT_EXPECT_EQ(test, ret, 0);
	KUNIT_EXPECT_TRUE(test, failed);
	KUNIT_EXPECT_EQ(test, calls, 43210UL);
}

/* What this task allocates is not zero. */
static struct task_struct *filler;

static void fill_allocated(void *data, unsigned long call_site, const void *ptr,
			   size_t size, size_t size_allocated, gfp_t flags, int node)
{
	if (ptr && current == READ_ONCE(filler) && in_task() && !(flags & __GFP_ZERO))
		memset((void *)ptr, 0x5a, size);
}

#define filled(registration)						\
	({								\
		int __ret;						\
									\
		WRITE_ONCE(filler, current);				\
		__ret = (registration);					\
		WRITE_ONCE(filler, NULL);				\
		__ret;							\
	})

/* An array of probes has an end, also in memory that was used before. */
static void tp_test_used_memory(struct kunit *test)
{
	unsigned long i;

	KUNIT_ASSERT_EQ(test, register_trace_kmalloc(fill_allocated, NULL), 0);
	for (i = 1; i <= 4; i++)
		KUNIT_EXPECT_EQ(test, filled(register_trace_kunit_plain(probe_plain,
									digit(i))), 0);
	unregister_trace_kmalloc(fill_allocated, NULL);
	tracepoint_synchronize_unregister();
	KUNIT_EXPECT_EQ(test, fire(1), 1234UL);
	for (i = 1; i <= 4; i++)
		KUNIT_EXPECT_EQ(test, unregister_trace_kunit_plain(probe_plain, digit(i)), 0);
}

#ifdef CONFIG_TRACEPOINT_TRAMPOLINE
/* A tracepoint that gets no trampoline has none, also in memory that was used before. */
static void tp_test_no_code_in_used_memory(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, register_trace_kmalloc(fill_allocated, NULL), 0);
	KUNIT_EXPECT_EQ(test, filled(register_trace_kunit_by_value(probe_by_value,
								   digit(1))), 0);
	unregister_trace_kmalloc(fill_allocated, NULL);
	tracepoint_synchronize_unregister();
	KUNIT_EXPECT_EQ(test, __tracepoint_kunit_by_value.code, 0);
	unregister_trace_kunit_by_value(probe_by_value, digit(1));
}
#endif

static void attach_third(void)
{
	register_trace_kunit_plain(probe_plain, digit(3));
}

static bool remove_while_deferred(struct kunit *test, int nth)
{
	struct deferrer deferrer;
	bool failed;
	int ret;

	register_trace_kunit_plain(probe_plain, digit(1));
	register_trace_kunit_plain(probe_plain, digit(2));
	if (!start_deferring(&deferrer, attach_third)) {
		KUNIT_FAIL(test, "no thread");
		return false;
	}

	fail_nth_alloc(nth);
	ret = unregister_trace_kunit_plain(probe_plain, digit(1));
	failed = nth && nth_alloc_failed();
	stop_failing();
	KUNIT_EXPECT_EQ(test, ret, 0);
	KUNIT_EXPECT_EQ(test, fire(1), 23UL);

	stop_deferring(&deferrer);
	KUNIT_EXPECT_TRUE(test, deferrer.deferred);
	KUNIT_EXPECT_EQ(test, fire(1), 23UL);
	unregister_trace_kunit_plain(probe_plain, digit(2));
	unregister_trace_kunit_plain(probe_plain, digit(3));
	KUNIT_EXPECT_EQ(test, fire(1), 0UL);
	return failed;
}

/* An unregistered probe is not called. */
static void tp_test_remove_while_deferred(struct kunit *test)
{
	if (!IS_ENABLED(CONFIG_IMMEDIATE))
		kunit_skip(test, "needs IMMEDIATE");
	remove_while_deferred(test, 0);
}

/* Nor is it if an allocation failed. */
static void tp_test_remove_while_deferred_no_memory(struct kunit *test)
{
	int nth;

	if (!IS_ENABLED(CONFIG_IMMEDIATE))
		kunit_skip(test, "needs IMMEDIATE");
	need_failing_alloc(test);
	for (nth = 1; remove_while_deferred(test, nth); nth++)
		;
	KUNIT_EXPECT_GT(test, nth, NR_ALLOCS);
}

#if defined(CONFIG_KPROBES) && defined(CONFIG_CONTEXT_SWITCH_TRACER)
static void (*start_comms)(void);
static void (*stop_comms)(void);
static unsigned int nr_switches;

static int count_switch(struct kprobe *kp, struct pt_regs *regs)
{
	nr_switches++;
	return 0;
}
#endif

/* Recording of task names works at once, even if a task that enabled it defers. */
static void tp_test_comms_deferred(struct kunit *test)
{
#if defined(CONFIG_KPROBES) && defined(CONFIG_CONTEXT_SWITCH_TRACER)
	struct kprobe kprobe = {
		.symbol_name = "probe_sched_switch",
		.pre_handler = count_switch,
	};
	struct deferrer deferrer;

	start_comms = need_function(test, "tracing_start_cmdline_record");
	stop_comms = need_function(test, "tracing_stop_cmdline_record");
	KUNIT_ASSERT_EQ(test, register_kprobe(&kprobe), 0);
	if (start_deferring(&deferrer, start_comms)) {
		start_comms();
		nr_switches = 0;
		msleep(20);
		KUNIT_EXPECT_GT(test, nr_switches, 0U);
		stop_deferring(&deferrer);
		stop_comms();
		stop_comms();
	} else {
		KUNIT_FAIL(test, "no thread");
	}
	unregister_kprobe(&kprobe);
#else
	kunit_skip(test, "needs CONFIG_KPROBES and CONFIG_CONTEXT_SWITCH_TRACER");
#endif
}

/* After the wait, a probe that the deferring task unregistered is not called. */
static void tp_test_remove_and_defer(struct kunit *test)
{
	unsigned long i;
	bool deferred;

	if (!IS_ENABLED(CONFIG_IMMEDIATE))
		kunit_skip(test, "needs IMMEDIATE");
	need_failing_alloc(test);
	for (i = 1; i <= 3; i++)
		register_trace_kunit_plain(probe_plain, digit(i));
	deferred = imv_defer_begin();
	KUNIT_EXPECT_TRUE(test, deferred);

	KUNIT_EXPECT_EQ(test, unregister_trace_kunit_plain(probe_plain, digit(1)), 0);
	tracepoint_synchronize_unregister();
	KUNIT_EXPECT_EQ(test, fire(0), 23UL);
	fail_next_alloc();
	KUNIT_EXPECT_EQ(test, unregister_trace_kunit_plain(probe_plain, digit(2)), 0);
	stop_failing();
	KUNIT_EXPECT_EQ(test, fire(0), 3UL);
	KUNIT_EXPECT_EQ(test, unregister_trace_kunit_plain(probe_plain, digit(3)), 0);
	tracepoint_synchronize_unregister();
	KUNIT_EXPECT_EQ(test, fire(0), 0UL);
	imv_defer_end(deferred);
	KUNIT_EXPECT_EQ(test, fire(0), 0UL);
}

/* A task that stays in a probe, or in a read-side section of tracepoint_srcu. */
struct lingerer {
	struct completion entered;
	bool may_leave, left;
};

static void stay(struct lingerer *lingerer)
{
	complete(&lingerer->entered);
	while (!READ_ONCE(lingerer->may_leave))
		cpu_relax();
}

static void linger(struct lingerer *lingerer)
{
	stay(lingerer);
	mdelay(500);
	WRITE_ONCE(lingerer->left, true);
}

static void probe_lingers(void *data, int number)
{
	linger(data);
}

static int hit_and_linger(void *unused)
{
	trace_kunit_callbacks(1);
	return 0;
}

static int linger_in_srcu(void *data)
{
	int idx = srcu_read_lock(&tracepoint_srcu);

	linger(data);
	srcu_read_unlock(&tracepoint_srcu, idx);
	return 0;
}

/*
 * tracepoint_synchronize_unregister() must wait for the lingering task. SRCU needs the
 * first CPU to end a wait, so the task is on another one: waiting for SRCU does not
 * include waiting for RCU.
 */
static void expect_wait(struct kunit *test, int (*fn)(void *), struct lingerer *lingerer)
{
	struct task_struct *thread;
	unsigned int cpu;

	init_completion(&lingerer->entered);
	set_cpus_allowed_ptr(current, cpumask_of(cpumask_first(cpu_online_mask)));
	migrate_disable();
	cpu = cpumask_any_but(cpu_online_mask, smp_processor_id());
	thread = kthread_create_on_cpu(fn, lingerer, cpu, "kunit_linger/%u");
	if (IS_ERR(thread)) {
		migrate_enable();
		set_cpus_allowed_ptr(current, cpu_possible_mask);
		KUNIT_FAIL(test, "no thread");
		return;
	}
	get_task_struct(thread);
	wake_up_process(thread);
	wait_for_completion(&lingerer->entered);
	unregister_trace_kunit_callbacks(probe_lingers, lingerer);
	WRITE_ONCE(lingerer->may_leave, true);
	tracepoint_synchronize_unregister();
	KUNIT_EXPECT_TRUE(test, READ_ONCE(lingerer->left));
	migrate_enable();
	set_cpus_allowed_ptr(current, cpu_possible_mask);
	kthread_stop(thread);
	put_task_struct(thread);
}

static void tp_test_synchronize(struct kunit *test)
{
	struct lingerer in_probe = { }, in_srcu = { };

	if (num_online_cpus() < 2)
		kunit_skip(test, "needs two CPUs");
	KUNIT_ASSERT_EQ(test, register_trace_kunit_callbacks(probe_lingers, &in_probe), 0);
	expect_wait(test, hit_and_linger, &in_probe);
	expect_wait(test, linger_in_srcu, &in_srcu);
}

static int pair_a, pair_b;
static bool mixed, hit_by_others;

static void note_pair(bool right, bool mine)
{
	if (!right)
		WRITE_ONCE(mixed, true);
	if (mine)
		calls++;
	else
		WRITE_ONCE(hit_by_others, true);
}

static void probe_pair_a(void *data, bool mine)
{
	note_pair(data == &pair_a, mine);
}

static void probe_pair_b(void *data, bool mine)
{
	note_pair(data == &pair_b, mine);
}

/* At low priority: on slow emulated CPUs, the changing task must run first. */
static int hit_pairs(void *unused)
{
	set_user_nice(current, MAX_NICE);
	while (!kthread_should_stop()) {
		trace_kunit_pairs(false);
		cond_resched_tasks_rcu_qs();
	}
	return 0;
}

static struct task_struct *start_hitter(struct kunit *test, unsigned int cpu)
{
	struct task_struct *hitter;

	hitter = kthread_create_on_cpu(hit_pairs, NULL, cpu, "kunit_pairs/%u");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, hitter);
	wake_up_process(hitter);
	return hitter;
}

/* Return: how many probes a hit calls; with @settle, after the change has settled. */
static unsigned long hit_mine(bool settle)
{
	if (settle)
		msleep(20);
	calls = 0;
	trace_kunit_pairs(true);
	return calls;
}

static void change_pairs(struct kunit *test, bool settle)
{
	KUNIT_EXPECT_EQ(test, register_trace_kunit_pairs(probe_pair_a, &pair_a), 0);
	KUNIT_EXPECT_EQ(test, hit_mine(settle), 1UL);
	KUNIT_EXPECT_EQ(test, register_trace_kunit_pairs(probe_pair_b, &pair_b), 0);
	KUNIT_EXPECT_EQ(test, hit_mine(settle), 2UL);
	KUNIT_EXPECT_EQ(test, unregister_trace_kunit_pairs(probe_pair_a, &pair_a), 0);
	KUNIT_EXPECT_EQ(test, hit_mine(settle), 1UL);
	KUNIT_EXPECT_EQ(test, unregister_trace_kunit_pairs(probe_pair_b, &pair_b), 0);
	KUNIT_EXPECT_EQ(test, hit_mine(settle), 0UL);
}

/* While all CPUs hit, no probe ever gets the data of another one. */
static void tp_test_pairs(struct kunit *test)
{
	struct task_struct *hitters[8];
	const unsigned long end = jiffies + 60 * HZ;
	unsigned int cpu, nr = 0, i;

	mixed = false;
	hit_by_others = false;
	for_each_online_cpu(cpu)
		if (nr < ARRAY_SIZE(hitters))
			hitters[nr++] = start_hitter(test, cpu);
	for (i = 0; i < 1000 && time_before(jiffies, end); i++)
		change_pairs(test, i % 32 == 0);
	while (nr--)
		kthread_stop(hitters[nr]);
	KUNIT_EXPECT_FALSE(test, mixed);
	KUNIT_EXPECT_TRUE(test, hit_by_others);
}

#ifdef CONFIG_TRACEPOINT_STATIC_CALL
/* Waits for a grace period and a work item, which may take long. */
static bool becomes_direct(struct tracepoint *tp, void *probe)
{
	unsigned int i;

	for (i = 0; i < 1000 && READ_ONCE(tp->key->func) != probe; i++)
		msleep(20);
	return READ_ONCE(tp->key->func) == probe;
}

/* Is there a call in the stub itself, or a jump, as the sites of static calls have it? */
static bool stub_calls(const void *func)
{
#ifdef CONFIG_HAVE_STATIC_CALL_INLINE
	const u8 *pos = (const u8 *)__traceiter_kunit_callbacks, *end;

	OPTIMIZER_HIDE_VAR(pos);
	for (end = pos + 96; pos < end; pos++)
		if ((*pos == 0xe8 || *pos == 0xe9) &&
		    pos + 5 + *(const s32 *)(pos + 1) == func)
			return true;
	return false;
#else
	return true;
#endif
}

static void tp_test_static_call(struct kunit *test)
{
	struct tracepoint *tp = &__tracepoint_kunit_callbacks;

	register_trace_kunit_callbacks(probe_number, digit(1));
	KUNIT_EXPECT_TRUE(test, becomes_direct(tp, probe_number));
	KUNIT_EXPECT_TRUE(test, stub_calls(probe_number));
	register_trace_kunit_callbacks(probe_data, digit(2));
	KUNIT_EXPECT_PTR_EQ(test, tp->key->func, tp->walk);
	unregister_trace_kunit_callbacks(probe_number, digit(1));
	KUNIT_EXPECT_TRUE(test, becomes_direct(tp, probe_data));
	unregister_trace_kunit_callbacks(probe_data, digit(2));
	KUNIT_EXPECT_PTR_EQ(test, tp->key->func, tp->walk);

	/* The same data as before: the call is direct at once. */
	register_trace_kunit_callbacks(probe_number, digit(2));
	KUNIT_EXPECT_PTR_EQ(test, tp->key->func, (void *)probe_number);
	trace_kunit_callbacks(1);
	unregister_trace_kunit_callbacks(probe_number, digit(2));
	KUNIT_EXPECT_PTR_EQ(test, tp->key->func, tp->walk);
	KUNIT_EXPECT_EQ(test, calls, 2UL);
}
#else
static void tp_test_static_call(struct kunit *test)
{
	kunit_skip(test, "needs TRACEPOINT_STATIC_CALL");
}
#endif

#ifdef CONFIG_MODULES
/* A fake module that has only records and a tracepoint. */
static struct fake_module {
	struct tracepoint tp;
	struct tracepoint elsewhere;	/* not in the section */
	struct tracepoint_callbacks callbacks;
#ifdef CONFIG_TRACEPOINT_STATIC_CALL
	struct static_call_key key;
#endif
	char name[8];
#ifdef CONFIG_HAVE_ARCH_PREL32_RELOCATIONS
	int record[2];
#else
	struct tracepoint *record[2];
#endif
	struct module mod;
} fake;

/* A valid tracepoint outside the fake module. */
static struct tracepoint outside = { .name = fake.name };

static void set_record(unsigned int nr, void *tp)
{
#ifdef CONFIG_HAVE_ARCH_PREL32_RELOCATIONS
	fake.record[nr] = tp - (void *)&fake.record[nr];
#else
	fake.record[nr] = tp;
#endif
}

static void make_fake(void)
{
	memset(&fake, 0, sizeof(fake));
	strscpy(fake.name, "fake", sizeof(fake.name));
	fake.tp.name = fake.name;
	fake.elsewhere.name = fake.name;
	set_record(0, &fake.tp);
	set_record(1, &fake.tp);
	strscpy(fake.mod.name, "kunit_fake", sizeof(fake.mod.name));
	set_module_memory(&fake.mod, &fake, sizeof(fake), 0);
	fake.mod.tracepoints = &fake.tp;
	fake.mod.tracepoints_size = sizeof(fake.tp);
	fake.mod.tracepoints_ptrs = fake.record;
	fake.mod.num_tracepoints = ARRAY_SIZE(fake.record);
}

#ifdef CONFIG_TRACEPOINT_STATIC_CALL
/* The tracepoint is the text of the module. */
static void make_fake_call(void)
{
	set_module_memory(&fake.mod, &fake, sizeof(fake), sizeof(fake.tp));
	fake.key.func = &fake.tp;
	fake.tp.key = &fake.key;
	fake.tp.tramp = &fake.tp;
	fake.tp.walk = &fake.tp;
}
#endif

static void expect_check(struct kunit *test, int ret)
{
	int said = tracepoint_check_notify(NULL, MODULE_STATE_COMING, &fake.mod);

	KUNIT_EXPECT_EQ(test, notifier_to_errno(said), ret);
	make_fake();
}

/* Only records of valid tracepoints that are not yet used are accepted. */
static void tp_test_bad_records(struct kunit *test)
{
	make_fake();
	expect_check(test, 0);
	set_record(1, &outside);
	expect_check(test, -ENOEXEC);
	set_record(1, &fake.elsewhere);
	expect_check(test, -ENOEXEC);
	set_record(0, (void *)&fake.tp + 1);
	expect_check(test, -ENOEXEC);
	fake.mod.tracepoints_size--;
	expect_check(test, -ENOEXEC);
	fake.mod.tracepoints_size = 0;
	expect_check(test, -ENOEXEC);
	set_record(0, (void *)&fake - sizeof(long));
	expect_check(test, -ENOEXEC);
	set_record(1, (void *)&fake + sizeof(fake) - sizeof(fake.tp) + sizeof(long));
	expect_check(test, -ENOEXEC);
	set_record(0, (void *)&fake + sizeof(fake));
	expect_check(test, -ENOEXEC);
	fake.tp.name = NULL;
	expect_check(test, -ENOEXEC);
	fake.tp.name = "fake";
	expect_check(test, -ENOEXEC);
	fake.name[0] = '\0';
	expect_check(test, -ENOEXEC);
	fake.tp.callbacks = &each_callbacks;
	expect_check(test, -ENOEXEC);
	fake.tp.callbacks = &fake.callbacks;
	expect_check(test, 0);
	RCU_INIT_POINTER(fake.tp.funcs, (void *)&fake);
	expect_check(test, -ENOEXEC);
	fake.tp.active = true;
	expect_check(test, -ENOEXEC);
#ifdef CONFIG_TRACEPOINT_TRAMPOLINE
	fake.tp.code = 1;
	expect_check(test, -ENOEXEC);
	fake.tp.nr_args = TRACEPOINT_MAX_ARGS;
	expect_check(test, 0);
	fake.tp.nr_args = TRACEPOINT_MAX_ARGS + 1;
	expect_check(test, -ENOEXEC);
#endif
#ifdef CONFIG_TRACEPOINT_STATIC_CALL
	make_fake_call();
	expect_check(test, 0);
	make_fake_call();
	fake.tp.key = (void *)sizeof(fake.key);
	expect_check(test, -ENOEXEC);
	make_fake_call();
	fake.tp.key = (void *)&fake.key + 1;
	expect_check(test, -ENOEXEC);
	make_fake_call();
	fake.tp.walk = &outside;
	expect_check(test, -ENOEXEC);
	make_fake_call();
	fake.tp.tramp = &fake.name;
	expect_check(test, -ENOEXEC);
#endif
	/* The records of a module loaded by force are ignored. */
	fake.tp.name = NULL;
	RCU_INIT_POINTER(fake.tp.funcs, (void *)sizeof(long));
	fake.mod.taints = BIT(TAINT_FORCED_MODULE);
	tracepoint_module_notify(NULL, MODULE_STATE_GOING, &fake.mod);
	expect_check(test, 0);
}

static int note_fake(struct notifier_block *nb, unsigned long state, void *data)
{
	struct tp_module *tp_mod = data;

	if (tp_mod->mod == &fake.mod)
		calls = calls * 10 + (state == MODULE_STATE_COMING ? 1 : 2);
	else
		last_number++;
	return NOTIFY_OK;
}

static void expect_notes(struct kunit *test, unsigned long wanted)
{
	int others = last_number;

	calls = 0;
	tracepoint_module_notify(NULL, MODULE_STATE_COMING, &fake.mod);
	KUNIT_EXPECT_EQ(test, tracepoint_module_notify(NULL, MODULE_STATE_LIVE, &fake.mod),
			NOTIFY_OK);
	KUNIT_EXPECT_EQ(test, calls, wanted / 10);
	tracepoint_module_notify(NULL, MODULE_STATE_GOING, &fake.mod);
	KUNIT_EXPECT_EQ(test, calls, wanted);
	KUNIT_EXPECT_EQ(test, last_number, others);
	make_fake();
}

/* Which modules are reported to notifiers. */
static void tp_test_module(struct kunit *test)
{
	struct notifier_block nb = { .notifier_call = note_fake };
	int ret;

	need_failing_alloc(test);
	make_fake();
	KUNIT_ASSERT_EQ(test, register_tracepoint_module_notifier(&nb), 0);
	expect_notes(test, 12);
	fake.mod.taints = BIT(TAINT_OOT_MODULE) | BIT(TAINT_CRAP) |
			  BIT(TAINT_UNSIGNED_MODULE) | BIT(TAINT_TEST);
	expect_notes(test, 12);
	fake.mod.taints = BIT(TAINT_FORCED_MODULE);
	expect_notes(test, 0);
	fake.mod.num_tracepoints = 0;
	expect_notes(test, 0);
	fail_next_alloc();
	ret = tracepoint_module_notify(NULL, MODULE_STATE_COMING, &fake.mod);
	stop_failing();
	KUNIT_EXPECT_EQ(test, notifier_to_errno(ret), -ENOMEM);
	unregister_tracepoint_module_notifier(&nb);
}

static void probe_stray(void *data)
{
}

static void find_initcall(struct tracepoint *tp, void *priv)
{
	if (!strcmp(tp->name, "initcall_start"))
		*(struct tracepoint **)priv = tp;
}

/* Unloading a module detaches the probes that it left behind, here probe_stray(). */
static void tp_test_stray_probes(struct kunit *test)
{
	struct tracepoint *own = &__tracepoint_kunit_callbacks, *kernel = NULL;

	for_each_kernel_tracepoint(find_initcall, &kernel);
	KUNIT_ASSERT_NOT_NULL(test, kernel);
	tracepoint_probe_register(kernel, probe_stray, digit(1));
	tracepoint_probe_register(own, probe_stray, digit(1));
	tracepoint_probe_register(own, probe_number, digit(2));
	tracepoint_probe_register(own, probe_stray, digit(3));
	make_fake();
	fake.mod.num_tracepoints = 0;
	set_module_memory(&fake.mod, probe_stray, 1, 1);
	tracepoint_module_notify(NULL, MODULE_STATE_GOING, &fake.mod);
	KUNIT_EXPECT_EQ(test, tracepoint_probe_unregister(kernel, probe_stray, digit(1)),
			-ENOENT);
	KUNIT_EXPECT_EQ(test, tracepoint_probe_unregister(own, probe_stray, digit(1)), -ENOENT);
	KUNIT_EXPECT_EQ(test, tracepoint_probe_unregister(own, probe_stray, digit(3)), -ENOENT);
#ifdef CONFIG_TRACEPOINT_TRAMPOLINE
	KUNIT_EXPECT_TRUE(test, has_code(own));
#endif
	trace_kunit_callbacks(1);
	KUNIT_EXPECT_EQ(test, calls, 2UL);
	KUNIT_EXPECT_EQ(test, unreg_calls, 0);
	KUNIT_EXPECT_EQ(test, tracepoint_probe_unregister(own, probe_number, digit(2)), 0);
}

#ifdef CONFIG_TRACEPOINT_TRAMPOLINE
/*
 * Probes stay on the tracepoints of a module that was loaded by force. They get no
 * trampoline after the module is unloaded; another tracepoint gets one.
 */
static void tp_test_forced_module(struct kunit *test)
{
	const struct tracepoint *plain = &__tracepoint_kunit_plain;
	const struct tracepoint *most = &__tracepoint_kunit_most_args;
	int reader;

	need_failing_alloc(test);
	reader = keep_without_code();
	register_without_code(kunit_plain, probe_plain, digit(1));
	register_without_code(kunit_most_args, probe_most, digit(2));
	register_without_code(kunit_words_6, probe_words_6, digit(3));
	make_fake();
	fake.mod.num_tracepoints = 0;
	fake.mod.taints = BIT(TAINT_FORCED_MODULE);
	set_module_memory(&fake.mod, &__tracepoint_kunit_plain, sizeof(*plain), 0);
	tracepoint_module_notify(NULL, MODULE_STATE_GOING, &fake.mod);
	allow_code(reader);
	unregister_trace_kunit_words_6(probe_words_6, digit(3));
	KUNIT_EXPECT_TRUE(test, gets_code(most));
	KUNIT_EXPECT_FALSE(test, has_code(plain));
	KUNIT_EXPECT_EQ(test, fire(1), 1UL);
	unregister_trace_kunit_plain(probe_plain, digit(1));
	unregister_trace_kunit_most_args(probe_most, digit(2));
	KUNIT_EXPECT_EQ(test, fire(1), 0UL);
}
#endif

static struct lingerer stayer;

static void probe_stays(void *data, int number)
{
	stay(data);
}

/* Does the call wait for a probe on another CPU, which the call unregisters? */
static bool waits_for_probe(void (*call)(void))
{
	struct task_struct *thread;
	struct other_call other = { .call = call };

	stayer.may_leave = false;
	init_completion(&stayer.entered);
	if (register_trace_kunit_callbacks(probe_stays, &stayer))
		return false;
	migrate_disable();
	thread = kthread_create_on_cpu(hit_and_linger, NULL,
				       cpumask_any_but(cpu_online_mask, smp_processor_id()),
				       "kunit_stay/%u");
	if (!IS_ERR(thread)) {
		get_task_struct(thread);
		wake_up_process(thread);
		wait_for_completion(&stayer.entered);
		start_call(&other);
		WRITE_ONCE(stayer.may_leave, true);
		end_call(&other);
		kthread_stop(thread);
		put_task_struct(thread);
	}
	migrate_enable();
	unregister_trace_kunit_callbacks(probe_stays, &stayer);
	return other.waited;
}

static void fake_comes(void)
{
	tracepoint_module_notify(NULL, MODULE_STATE_COMING, &fake.mod);
}

static void fake_goes(void)
{
	tracepoint_module_notify(NULL, MODULE_STATE_GOING, &fake.mod);
}

#ifdef CONFIG_TRACEPOINT_TRAMPOLINE
static void fake_comes_and_goes(void)
{
	fake_comes();
	fake_goes();
}

/* Nothing remains allocated for a module that has gone. */
static void tp_test_module_is_freed(struct kunit *test)
{
	if (!frees_object(sizeof(struct tp_module), NULL))
		kunit_skip(test, "the allocator does not reuse objects at once");
	make_fake();
	KUNIT_EXPECT_TRUE(test, frees_object(sizeof(struct tp_module), fake_comes_and_goes));
}
#endif

/* A module is not freed while its probes run, even if it left them behind. */
static void tp_test_stray_probe_runs(struct kunit *test)
{
	if (num_online_cpus() < 2)
		kunit_skip(test, "needs two CPUs");
	make_fake();
	fake.mod.num_tracepoints = 0;
	set_module_memory(&fake.mod, probe_stays, 1, 1);
	KUNIT_EXPECT_TRUE(test, waits_for_probe(fake_goes));
	make_fake();
}

#ifdef CONFIG_KPROBES
static void (*free_retired)(struct work_struct *work);

static void unregister_and_free(void)
{
	unregister_trace_kunit_callbacks(probe_stays, &stayer);
	free_retired(NULL);
}
#endif

/* The code that calls a probe is not freed while the probe runs. */
static void tp_test_free_while_probe_runs(struct kunit *test)
{
#ifdef CONFIG_KPROBES
	if (num_online_cpus() < 2)
		kunit_skip(test, "needs two CPUs");
	free_retired = need_function(test, "free_retired");
	KUNIT_EXPECT_TRUE(test, waits_for_probe(unregister_and_free));
#else
	kunit_skip(test, "needs CONFIG_KPROBES");
#endif
}

#ifdef CONFIG_KPROBES
static void free_now(void)
{
	free_retired(NULL);
}

static struct other_call freer = { .call = free_now };

/* The lock of tracepoints, for which this call waits, and whether it stays locked. */
static struct mutex *waited_for;
static bool stays_locked;

static void note_contention(void *data, void *lock, unsigned int flags)
{
	if (current == READ_ONCE(freer.task) && flags & LCB_F_MUTEX && !waited_for)
		waited_for = lock;
}

static int connect_and_free(struct tracepoint *tp, const struct tracepoint_func *probe)
{
	start_call(&freer);
	stays_locked = waited_for && mutex_is_locked(waited_for);
	return 0;
}

static const struct tracepoint_callbacks freeing_callbacks = {
	.connect = connect_and_free,
};

static struct tracepoint freeing_tracepoint = {
	.name = "kunit_freeing",
	.callbacks = &freeing_callbacks,
};

static void find_contention(struct tracepoint *tp, void *priv)
{
	if (!strcmp(tp->name, "contention_begin"))
		*(struct tracepoint **)priv = tp;
}

/* Frees arrays while the lock is held, which must wait. Return: was the lock found? */
static bool find_lock(struct kunit *test)
{
	struct tracepoint *contention = NULL;

	waited_for = NULL;
	stays_locked = false;
	for_each_kernel_tracepoint(find_contention, &contention);
	if (!contention || tracepoint_probe_register(contention, note_contention, NULL))
		return false;
	tracepoint_probe_register(&freeing_tracepoint, probe_number, NULL);
	end_call(&freer);
	tracepoint_probe_unregister(&freeing_tracepoint, probe_number, NULL);
	tracepoint_probe_unregister(contention, note_contention, NULL);
	tracepoint_synchronize_unregister();
	KUNIT_EXPECT_TRUE(test, freer.waited);
	KUNIT_EXPECT_TRUE(test, stays_locked);
	return waited_for;
}

static const struct tp_probes *watched_array;
static bool array_has_gone, gone_unlocked;

static void note_free(void *data, unsigned long call_site, const void *ptr)
{
	if (!ptr || ptr != READ_ONCE(watched_array))
		return;
	WRITE_ONCE(watched_array, NULL);
	gone_unlocked |= !mutex_is_locked(waited_for);
	WRITE_ONCE(array_has_gone, true);
}

#ifdef CONFIG_TRACEPOINT_TRAMPOLINE
static const u8 *forgotten_code;

static int note_forget(struct kprobe *kp, struct pt_regs *regs)
{
	const struct generated_text *code = (const void *)regs->di;

	if (code->text == forgotten_code)
		gone_unlocked |= !mutex_is_locked(waited_for);
	return 0;
}

static struct kprobe forget_kprobe;

static int watch_code(void)
{
	forgotten_code = (const u8 *)(long)__tracepoint_kunit_plain.code;
	forget_kprobe = (struct kprobe) {
		.symbol_name = "unname_generated_text", .pre_handler = note_forget,
	};
	return register_kprobe(&forget_kprobe);
}

static void unwatch_code(void)
{
	unregister_kprobe(&forget_kprobe);
}
#else
static int watch_code(void)
{
	return 0;
}

static void unwatch_code(void)
{
}
#endif

/* Replaces the array of probes. It may also be freed by the work item, soon. */
static void replace_and_free(void)
{
	struct tracepoint_func *probes = rcu_access_pointer(__tracepoint_kunit_plain.funcs);
	unsigned int tries;

	array_has_gone = false;
	gone_unlocked = false;
	WRITE_ONCE(watched_array, container_of(probes, struct tp_probes, probes[0]));
	unregister_trace_kunit_plain(probe_plain, digit(1));
	free_now();
	for (tries = 0; tries < 10 && !READ_ONCE(array_has_gone); tries++)
		msleep(100);
	WRITE_ONCE(watched_array, NULL);
}
#endif

/* Replaced arrays are taken from their list, forgotten and freed under the lock. */
static void tp_test_free_is_locked(struct kunit *test)
{
#ifdef CONFIG_KPROBES
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		kunit_skip(test, "mutexes have other events");
	free_retired = need_function(test, "free_retired");
	KUNIT_ASSERT_TRUE(test, find_lock(test));
	KUNIT_ASSERT_EQ(test, register_trace_kunit_plain(probe_plain, digit(1)), 0);
	KUNIT_EXPECT_EQ(test, watch_code(), 0);
	KUNIT_EXPECT_EQ(test, register_trace_kfree(note_free, NULL), 0);
	replace_and_free();
	unregister_trace_kfree(note_free, NULL);
	tracepoint_synchronize_unregister();
	unwatch_code();
	KUNIT_EXPECT_TRUE(test, array_has_gone);
	KUNIT_EXPECT_FALSE(test, gone_unlocked);
#else
	kunit_skip(test, "needs CONFIG_KPROBES");
#endif
}

#if defined(CONFIG_TRACEPOINT_TRAMPOLINE) && defined(CONFIG_KPROBES)
/* More than three chunks of memory. */
#define MUCH_CODE	(4 * 16 * PAGE_SIZE)

/* Memory that no trampoline uses is returned when replaced arrays are freed. */
static void tp_test_trim(struct kunit *test)
{
	const unsigned int nr_probes = TOO_MANY_PROBES / 4;
	struct tracepoint_func *probes;
	struct generated_text *codes;
	unsigned int i, nr, size = 0, returned = 0;

	free_retired = need_function(test, "free_retired");
	codes = kunit_kcalloc(test, NR_LONG_CODES, sizeof(*codes), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, codes);
	probes = kvcalloc(nr_probes + 1, sizeof(*probes), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, probes);
	for (i = 0; i < nr_probes; i++)
		probes[i] = (struct tracepoint_func){ .func = probe_plain, .data = test };
	for (nr = 0; nr < NR_LONG_CODES && size < MUCH_CODE; nr++) {
		if (arch_make_tracepoint_code(probes, 2, &codes[nr]))
			break;
		size += codes[nr].size;
	}
	for (i = 0; i < nr; i++)
		arch_free_tracepoint_code(&codes[i]);
	free_now();
	for (i = 0; i < nr; i++)
		returned += !is_tracepoint_trampoline((unsigned long)codes[i].text);
	KUNIT_EXPECT_GE(test, size, (unsigned int)MUCH_CODE);
	KUNIT_EXPECT_GT(test, returned, 0U);
	kvfree(probes);
}
#endif

/* Functions that tasks call while the test holds a lock. */
struct locked_calls {
	struct other_call calls[5];
	unsigned int nr;
	bool began;
	unsigned int nr_early;		/* how many did not wait for the lock */
};

static struct locked_calls *locked_calls;

/* Called under the lock. */
static void begin_locked_calls(void)
{
	struct locked_calls *locked = locked_calls;
	unsigned int i;

	if (!locked || locked->began)
		return;
	locked->began = true;
	for (i = 0; i < locked->nr; i++) {
		start_call(&locked->calls[i]);
		locked->nr_early += !locked->calls[i].waited;
	}
}

static void end_locked_calls(struct kunit *test)
{
	unsigned int i;

	KUNIT_EXPECT_TRUE(test, locked_calls->began);
	KUNIT_EXPECT_EQ(test, locked_calls->nr_early, 0U);
	for (i = 0; i < locked_calls->nr; i++)
		end_call(&locked_calls->calls[i]);
	locked_calls = NULL;
}

static int connect_locked(struct tracepoint *tp, const struct tracepoint_func *probe)
{
	begin_locked_calls();
	fire(1);
	return 0;
}

static const struct tracepoint_callbacks locked_callbacks = { .connect = connect_locked };

static struct tracepoint locked_tracepoint = {
	.name = "kunit_locked",
	.callbacks = &locked_callbacks,
};

static void add_second(void)
{
	register_trace_kunit_plain(probe_plain, digit(2));
}

static void remove_first(void)
{
	unregister_trace_kunit_plain(probe_plain, digit(1));
}

/* While the callback of a tracepoint runs, no other task changes a tracepoint. */
static void tp_test_lock(struct kunit *test)
{
	struct locked_calls locked = {
		.calls = { { add_second }, { remove_first }, { fake_goes } },
		.nr = 3,
	};

	/* Without records, it only looks for the probes of the module. */
	make_fake();
	fake.mod.taints = BIT(TAINT_FORCED_MODULE);
	KUNIT_ASSERT_EQ(test, register_trace_kunit_plain(probe_plain, digit(1)), 0);
	locked_calls = &locked;
	KUNIT_EXPECT_EQ(test, tracepoint_probe_register(&locked_tracepoint, probe_number,
							NULL), 0);
	KUNIT_EXPECT_EQ(test, calls, 1UL);
	end_locked_calls(test);
	KUNIT_EXPECT_EQ(test, fire(1), 2UL);
	KUNIT_EXPECT_EQ(test, tracepoint_probe_unregister(&locked_tracepoint, probe_number,
							  NULL), 0);
	unregister_trace_kunit_plain(probe_plain, digit(1));
	unregister_trace_kunit_plain(probe_plain, digit(2));
	make_fake();
}

#ifdef CONFIG_KPROBES
static bool (*is_known)(const struct tracepoint *tp, const struct module *mod);

static int ignore_module(struct notifier_block *nb, unsigned long state, void *data)
{
	return NOTIFY_OK;
}

static int begin_in_notifier(struct notifier_block *nb, unsigned long state, void *data)
{
	begin_locked_calls();
	return NOTIFY_OK;
}

static struct notifier_block first_nb = { .notifier_call = ignore_module };
static struct notifier_block second_nb = { .notifier_call = ignore_module };

static void ask_if_known(void)
{
	is_known(&outside, &fake.mod);
}

static void add_notifier(void)
{
	register_tracepoint_module_notifier(&second_nb);
}

static void remove_notifier(void)
{
	unregister_tracepoint_module_notifier(&first_nb);
}
#endif

/* While a notifier is called for all modules, none comes or goes, nor a notifier. */
static void tp_test_module_lock(struct kunit *test)
{
#ifdef CONFIG_KPROBES
	struct notifier_block nb = { .notifier_call = begin_in_notifier };
	struct locked_calls locked = {
		.calls = {
			{ ask_if_known }, { add_notifier }, { remove_notifier },
			{ fake_comes }, { fake_goes },
		},
		.nr = 5,
	};

	is_known = need_function(test, "tracepoint_is_known");
	make_fake();
	fake_comes();
	KUNIT_EXPECT_EQ(test, register_tracepoint_module_notifier(&first_nb), 0);
	locked_calls = &locked;
	KUNIT_EXPECT_EQ(test, register_tracepoint_module_notifier(&nb), 0);
	end_locked_calls(test);
	unregister_tracepoint_module_notifier(&nb);
	KUNIT_EXPECT_EQ(test, unregister_tracepoint_module_notifier(&first_nb), -ENOENT);
	KUNIT_EXPECT_EQ(test, unregister_tracepoint_module_notifier(&second_nb), 0);
	fake_goes();
	make_fake();
#else
	kunit_skip(test, "needs CONFIG_KPROBES");
#endif
}
#endif

static struct kunit_case tp_test_cases[] = {
#ifdef CONFIG_TRACEPOINT_TRAMPOLINE
	KUNIT_CASE(tp_test_first_codes),	/* before others make the cells */
#endif
	KUNIT_CASE(tp_test_off),
	KUNIT_CASE(tp_test_on_and_off),
	KUNIT_CASE(tp_test_many_args),
	KUNIT_CASE(tp_test_most_args),
	KUNIT_CASE(tp_test_words_1),
	KUNIT_CASE(tp_test_words_2),
	KUNIT_CASE(tp_test_words_3),
	KUNIT_CASE(tp_test_words_4),
	KUNIT_CASE(tp_test_words_5),
	KUNIT_CASE(tp_test_words_6),
	KUNIT_CASE(tp_test_words),
	KUNIT_CASE(tp_test_odd_args),
	KUNIT_CASE(tp_test_packed),
	KUNIT_CASE(tp_test_data),
	KUNIT_CASE(tp_test_null_data),
	KUNIT_CASE(tp_test_many_probes),
	KUNIT_CASE(tp_test_stack),
	KUNIT_CASE(tp_test_order),
	KUNIT_CASE(tp_test_default_priority),
	KUNIT_CASE(tp_test_duplicate),
	KUNIT_CASE(tp_test_unknown),
	KUNIT_CASE(tp_test_no_probe),
	KUNIT_CASE(tp_test_no_function),
	KUNIT_CASE(tp_test_condition),
	KUNIT_CASE(tp_test_callbacks),
	KUNIT_CASE(tp_test_callbacks_of_each),
	KUNIT_CASE(tp_test_callbacks_without_memory),
	KUNIT_CASE(tp_test_refused_probe),
	KUNIT_CASE(tp_test_callback_fails),
	KUNIT_CASE(tp_test_rcuidle),
	KUNIT_CASE(tp_test_preemption),
	KUNIT_CASE(tp_test_resched),
	KUNIT_CASE(tp_test_many_sites),
#ifdef CONFIG_IMMEDIATE_SITES
	KUNIT_CASE(tp_test_nth_site),
#endif
	KUNIT_CASE(tp_test_within_a_probe),
	KUNIT_CASE(tp_test_context_at_boot),
	KUNIT_CASE(tp_test_unregister_atomic),
	KUNIT_CASE(tp_test_second_name),
	KUNIT_CASE(tp_test_name_with_suffix),
	KUNIT_CASE(tp_test_call),
	KUNIT_CASE(tp_test_enumeration),
#ifdef CONFIG_HAVE_SYSCALL_TRACEPOINTS
	KUNIT_CASE(tp_test_syscalls),
#endif
	KUNIT_CASE(tp_test_synchronize),
	KUNIT_CASE(tp_test_pairs),
	KUNIT_CASE(tp_test_static_call),
	KUNIT_CASE(tp_test_no_memory_to_add),
	KUNIT_CASE(tp_test_no_memory_to_remove),
	KUNIT_CASE(tp_test_no_memory_to_remove_odd),
	KUNIT_CASE(tp_test_used_memory),
#ifdef CONFIG_TRACEPOINT_TRAMPOLINE
	KUNIT_CASE(tp_test_no_code_in_used_memory),
#endif
	KUNIT_CASE(tp_test_remove_while_deferred),
	KUNIT_CASE(tp_test_remove_while_deferred_no_memory),
	KUNIT_CASE(tp_test_comms_deferred),
	KUNIT_CASE(tp_test_remove_and_defer),
#ifdef CONFIG_TRACEPOINT_TRAMPOLINE
	KUNIT_CASE(tp_test_no_memory_for_code),
	KUNIT_CASE(tp_test_no_code),
	KUNIT_CASE(tp_test_no_kprobe),
	KUNIT_CASE(tp_test_many_codes),
	KUNIT_CASE(tp_test_long_code),
	KUNIT_CASE(tp_test_too_many_codes),
	KUNIT_CASE(tp_test_no_memory_for_more),
	KUNIT_CASE(tp_test_stale_code),
	KUNIT_CASE(tp_test_end_stays),
	KUNIT_CASE(tp_test_code_is_freed),
	KUNIT_CASE(tp_test_name),
	KUNIT_CASE(tp_test_code_size),
	KUNIT_CASE(tp_test_frame),
	KUNIT_CASE(tp_test_cells),
	KUNIT_CASE(tp_test_all_cells),
	KUNIT_CASE(tp_test_caller_after_cells),
	KUNIT_CASE(tp_test_code_locks),
	KUNIT_CASE(tp_test_unused_array),
	KUNIT_CASE(tp_test_unused_code),
	KUNIT_CASE(tp_test_walk_stack),
	KUNIT_CASE(tp_test_code_comes_later),
	KUNIT_CASE(tp_test_code_is_made_once),
#ifdef CONFIG_KPROBES
	KUNIT_CASE(tp_test_code_in_turns),
#endif
	KUNIT_CASE(tp_test_refused_code),
	KUNIT_CASE(tp_test_name_while_deferred),
	KUNIT_CASE(tp_test_caller),
	KUNIT_CASE(tp_test_offline),
	KUNIT_CASE(tp_test_single_steps),
	KUNIT_CASE(tp_test_single_steps_no_memory),
#endif
#ifdef CONFIG_MODULES
	KUNIT_CASE(tp_test_bad_records),
	KUNIT_CASE(tp_test_module),
	KUNIT_CASE(tp_test_stray_probes),
#ifdef CONFIG_TRACEPOINT_TRAMPOLINE
	KUNIT_CASE(tp_test_forced_module),
	KUNIT_CASE(tp_test_module_is_freed),
#endif
	KUNIT_CASE(tp_test_stray_probe_runs),
	KUNIT_CASE(tp_test_free_while_probe_runs),
	KUNIT_CASE(tp_test_free_is_locked),
#if defined(CONFIG_TRACEPOINT_TRAMPOLINE) && defined(CONFIG_KPROBES)
	KUNIT_CASE(tp_test_trim),
#endif
	KUNIT_CASE(tp_test_lock),
	KUNIT_CASE(tp_test_module_lock),
#endif
	{ }
};

static struct kunit_suite tp_test_suite = {
	.name = "tracepoint",
	.init = tp_test_init,
	.test_cases = tp_test_cases,
};
kunit_test_suite(tp_test_suite);

MODULE_DESCRIPTION("KUnit tests of tracepoints");
MODULE_LICENSE("GPL");
