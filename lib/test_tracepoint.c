// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of tracepoints: which probes are called, in which order and with
 * what, and what registration answers.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include <linux/tracepoint.h>

#include "test_fail_alloc.h"

DECLARE_TRACE(kunit_plain, TP_PROTO(int number, const char *text),
	      TP_ARGS(number, text));
DECLARE_TRACE_CONDITION(kunit_condition, TP_PROTO(int number), TP_ARGS(number),
			TP_CONDITION(number > 10));
DECLARE_TRACE(kunit_callbacks, TP_PROTO(int number), TP_ARGS(number));
DECLARE_TRACE(kunit_many_args,
	      TP_PROTO(u8 a, u16 b, u32 c, u64 d, void *e, long f, int g, s8 h),
	      TP_ARGS(a, b, c, d, e, f, g, h));
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

/* In the short form; the others repeat prototype and arguments, as of old. */
DEFINE_TRACE(kunit_plain);
DEFINE_TRACE(kunit_condition, TP_PROTO(int number), TP_ARGS(number));
DEFINE_TRACE_FN(kunit_callbacks, test_reg, test_unreg, TP_PROTO(int number),
		TP_ARGS(number));
DEFINE_TRACE(kunit_many_args,
	     TP_PROTO(u8 a, u16 b, u32 c, u64 d, void *e, long f, int g, s8 h),
	     TP_ARGS(a, b, c, d, e, f, g, h));

/* Each call of a probe adds its data, a digit, to the end of this number. */
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

static int tp_test_init(struct kunit *test)
{
	calls = 0;
	last_number = 0;
	last_text = NULL;
	reg_calls = 0;
	unreg_calls = 0;
	reg_result = 0;
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

/* The callbacks come in pairs, around the first and the last probe. */
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

/* Tracers that print the depth count on being called with one level more. */
static void tp_test_preemption(struct kunit *test)
{
	if (!IS_ENABLED(CONFIG_PREEMPT_COUNT))
		kunit_skip(test, "needs CONFIG_PREEMPT_COUNT");
	register_trace_kunit_callbacks(probe_preempt, NULL);
	trace_kunit_callbacks(1);
	unregister_trace_kunit_callbacks(probe_preempt, NULL);
	KUNIT_EXPECT_EQ(test, calls, preempt_count() + 1UL);
}

static inline void inlined(int number)
{
	trace_kunit_callbacks(number);
}

/*
 * One definition, many sites: in a function that is inlined in two places, and
 * in a loop that the compiler unrolls. All are on, and all are off again.
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

/* Asks for what a probe cannot have, on its own tracepoint and on another. */
static void probe_registers(void *data, int number)
{
	int *result = data;

	result[0] = register_trace_kunit_callbacks(probe_number, digit(1));
	result[1] = unregister_trace_kunit_callbacks(probe_registers, data);
	result[2] = register_trace_kunit_plain(probe_plain, digit(1));
}

static void tp_test_within_a_probe(struct kunit *test)
{
	int result[3] = { };

	if (!IS_ENABLED(CONFIG_PREEMPT_COUNT))
		kunit_skip(test, "needs CONFIG_PREEMPT_COUNT");
	KUNIT_ASSERT_EQ(test, register_trace_kunit_callbacks(probe_registers, result), 0);
	trace_kunit_callbacks(1);
	KUNIT_EXPECT_EQ(test, result[0], -EBUSY);
	KUNIT_EXPECT_EQ(test, result[1], -EBUSY);
	KUNIT_EXPECT_EQ(test, result[2], -EBUSY);
	KUNIT_EXPECT_FALSE(test, trace_kunit_plain_enabled());
	KUNIT_EXPECT_EQ(test, unregister_trace_kunit_callbacks(probe_registers, result), 0);
	trace_kunit_callbacks(1);
	KUNIT_EXPECT_EQ(test, calls, 0UL);
}

/* A tracepoint that is no event is called by a name that says so, too. */
static void tp_test_suffix(struct kunit *test)
{
	trace_kunit_plain_tp(1, "off");
	KUNIT_ASSERT_EQ(test, register_trace_kunit_plain(probe_plain, digit(6)), 0);
	trace_kunit_plain_tp(2, "on");
	unregister_trace_kunit_plain(probe_plain, digit(6));
	KUNIT_EXPECT_EQ(test, calls, 6UL);
	KUNIT_EXPECT_STREQ(test, last_text, "on");
}

/* For use behind trace_kunit_condition_enabled(): asks the condition alone. */
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

/* A tracepoint is found among the kernel's or announced with its module. */
static void tp_test_enumeration(struct kunit *test)
{
	struct notifier_block nb = { .notifier_call = look_in_module };
	int found = 0;

	for_each_kernel_tracepoint(look_for_plain, &found);
	KUNIT_EXPECT_EQ(test, found, IS_MODULE(CONFIG_TRACEPOINT_KUNIT_TEST) ? 0 : 1);
	if (!IS_MODULE(CONFIG_TRACEPOINT_KUNIT_TEST))
		return;
	KUNIT_ASSERT_EQ(test, register_tracepoint_module_notifier(&nb), 0);
	KUNIT_EXPECT_EQ(test, calls, 1UL);
	KUNIT_ASSERT_EQ(test, unregister_tracepoint_module_notifier(&nb), 0);
	KUNIT_EXPECT_EQ(test, calls, 12UL);
}

static void tp_test_no_memory_to_add(struct kunit *test)
{
	int ret;

	need_failing_alloc(test);
	register_trace_kunit_callbacks(probe_number, digit(1));
	fail_next_alloc();
	ret = register_trace_kunit_callbacks(probe_number, digit(2));
	stop_failing();
	KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
	trace_kunit_callbacks(1);
	KUNIT_EXPECT_EQ(test, calls, 1UL);
	unregister_trace_kunit_callbacks(probe_number, digit(1));

	fail_next_alloc();
	ret = register_trace_kunit_callbacks(probe_number, digit(1));
	stop_failing();
	KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
	KUNIT_EXPECT_FALSE(test, trace_kunit_callbacks_enabled());
	KUNIT_EXPECT_EQ(test, reg_calls, unreg_calls);
}

/* A probe can be removed without memory; what is left behind is cleaned up. */
static void tp_test_no_memory_to_remove(struct kunit *test)
{
	unsigned long i;
	int ret;

	need_failing_alloc(test);
	for (i = 1; i <= 3; i++)
		KUNIT_ASSERT_EQ(test, register_trace_kunit_plain(probe_plain, digit(i)), 0);
	fail_next_alloc();
	ret = unregister_trace_kunit_plain(probe_plain, digit(2));
	stop_failing();
	KUNIT_EXPECT_EQ(test, ret, 0);
	KUNIT_EXPECT_EQ(test, fire(0), 13UL);
	KUNIT_EXPECT_EQ(test, unregister_trace_kunit_plain(probe_plain, digit(2)), -ENOENT);
	KUNIT_EXPECT_EQ(test, register_trace_kunit_plain(probe_plain, digit(2)), 0);
	KUNIT_EXPECT_EQ(test, fire(0), 132UL);
	for (i = 1; i <= 3; i++)
		KUNIT_EXPECT_EQ(test, unregister_trace_kunit_plain(probe_plain, digit(i)), 0);
	KUNIT_EXPECT_FALSE(test, trace_kunit_plain_enabled());
}

static struct kunit_case tp_test_cases[] = {
	KUNIT_CASE(tp_test_off),
	KUNIT_CASE(tp_test_on_and_off),
	KUNIT_CASE(tp_test_many_args),
	KUNIT_CASE(tp_test_order),
	KUNIT_CASE(tp_test_duplicate),
	KUNIT_CASE(tp_test_unknown),
	KUNIT_CASE(tp_test_no_probe),
	KUNIT_CASE(tp_test_condition),
	KUNIT_CASE(tp_test_callbacks),
	KUNIT_CASE(tp_test_callback_fails),
	KUNIT_CASE(tp_test_rcuidle),
	KUNIT_CASE(tp_test_preemption),
	KUNIT_CASE(tp_test_many_sites),
	KUNIT_CASE(tp_test_within_a_probe),
	KUNIT_CASE(tp_test_suffix),
	KUNIT_CASE(tp_test_call),
	KUNIT_CASE(tp_test_enumeration),
	KUNIT_CASE(tp_test_no_memory_to_add),
	KUNIT_CASE(tp_test_no_memory_to_remove),
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
