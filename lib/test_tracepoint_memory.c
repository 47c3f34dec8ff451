// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of tracepoints while memory is short, and while patching is deferred.
 */
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <trace/events/kmem.h>

#include "test_defer.h"
#include "test_tracepoint.h"

DECLARE_TRACE(kunit_memory, TP_PROTO(int number, const char *text),
	      TP_ARGS(number, text));
DECLARE_TRACE(kunit_memory_reg, TP_PROTO(int number), TP_ARGS(number));
/* Has no trampoline. */
DECLARE_TRACE(kunit_memory_odd, TP_PROTO(int number, struct kunit_large large),
	      TP_ARGS(number, large));

static int reg_calls, unreg_calls;

static int test_reg(void)
{
	reg_calls++;
	return 0;
}

static void test_unreg(void)
{
	unreg_calls++;
}

DEFINE_TRACE(kunit_memory);
DEFINE_TRACE_FN(kunit_memory_reg_tp, test_reg, test_unreg);
DEFINE_TRACE(kunit_memory_odd);

static unsigned long fire(int number)
{
	calls = 0;
	trace_kunit_memory_tp(number, "text");
	return calls;
}

/*
 * Lets an allocation of a registration fail, after that of another probe if @second:
 * either it returns an error and changes nothing, or the probe is registered and called.
 * Return: did an allocation fail?
 */
static bool add_without(struct kunit *test, int nth, bool second)
{
	bool failed;
	int ret;

	reg_calls = 0;
	unreg_calls = 0;
	if (second)
		register_trace_kunit_memory_reg(probe_number, digit(1));
	failed = fails_nth_alloc(nth, ret = register_trace_kunit_memory_reg(probe_number,
									    digit(2)));
	if (ret)
		KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
	calls = 0;
	trace_kunit_memory_reg_tp(1);
	KUNIT_EXPECT_EQ(test, calls, second ? (ret ? 1UL : 12UL) : (ret ? 0UL : 2UL));
	KUNIT_EXPECT_EQ(test, trace_kunit_memory_reg_enabled(), second || !ret);
	KUNIT_EXPECT_EQ(test, reg_calls, unreg_calls + (second || !ret));
	KUNIT_EXPECT_EQ(test, unregister_trace_kunit_memory_reg(probe_number, digit(2)),
			ret ? -ENOENT : 0);
	if (second)
		unregister_trace_kunit_memory_reg(probe_number, digit(1));
	KUNIT_EXPECT_EQ(test, reg_calls, unreg_calls);
	return failed;
}

/* The array of probes and, if the architecture has them, the trampoline. */
#define NR_ALLOCS	(IS_ENABLED(CONFIG_TRACEPOINT_TRAMPOLINE) ? 2 : 1)

static void tp_test_no_memory_to_add(struct kunit *test)
{
	int nth;

	need_failing_alloc(test);
	for (nth = 1; add_without(test, nth, false); nth++)
		;
	KUNIT_EXPECT_GT(test, nth, NR_ALLOCS);
	for (nth = 1; add_without(test, nth, true); nth++)
		;
	KUNIT_EXPECT_GT(test, nth, NR_ALLOCS);
}

/* A probe can be removed if an allocation fails; the next change cleans up. */
static bool remove_without(struct kunit *test, int nth)
{
	bool failed;
	int ret;

	KUNIT_EXPECT_EQ(test, add_probes(&__tracepoint_kunit_memory_tp, probe_plain, 3), 0);
	failed = fails_nth_alloc(nth, ret = unregister_trace_kunit_memory(probe_plain, digit(2)));
	KUNIT_EXPECT_EQ(test, ret, 0);
	KUNIT_EXPECT_EQ(test, fire(0), 13UL);
	KUNIT_EXPECT_EQ(test, unregister_trace_kunit_memory(probe_plain, digit(2)), -ENOENT);
	KUNIT_EXPECT_EQ(test, register_trace_kunit_memory(probe_plain, digit(2)), 0);
	KUNIT_EXPECT_EQ(test, fire(0), 132UL);
	KUNIT_EXPECT_EQ(test, remove_probes(&__tracepoint_kunit_memory_tp, probe_plain, 3), 0);
	KUNIT_EXPECT_FALSE(test, trace_kunit_memory_enabled());
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
	register_trace_kunit_memory_odd(probe_by_value, digit(1));
	register_trace_kunit_memory_odd(probe_by_value, digit(2));
	failed = fails_nth_alloc(1, ret = unregister_trace_kunit_memory_odd(probe_by_value,
									    digit(1)));
	trace_kunit_memory_odd_tp(40000, large);
	unregister_trace_kunit_memory_odd(probe_by_value, digit(2));
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

/* An array of probes has an end, also in memory that was used before. */
static void tp_test_used_memory(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, register_trace_kmalloc(fill_allocated, NULL), 0);
	WRITE_ONCE(filler, current);
	KUNIT_EXPECT_EQ(test, add_probes(&__tracepoint_kunit_memory_tp, probe_plain, 4), 0);
	KUNIT_EXPECT_EQ(test, register_trace_kunit_memory_odd(probe_by_value, digit(1)), 0);
	WRITE_ONCE(filler, NULL);
	unregister_trace_kmalloc(fill_allocated, NULL);
	tracepoint_synchronize_unregister();
#ifdef CONFIG_TRACEPOINT_TRAMPOLINE
	KUNIT_EXPECT_EQ(test, __tracepoint_kunit_memory_odd_tp.code, 0);
#endif
	unregister_trace_kunit_memory_odd(probe_by_value, digit(1));
	KUNIT_EXPECT_EQ(test, fire(1), 1234UL);
	KUNIT_EXPECT_EQ(test, remove_probes(&__tracepoint_kunit_memory_tp, probe_plain, 4), 0);
}

static void attach_third(void)
{
	register_trace_kunit_memory(probe_plain, digit(3));
}

static bool remove_while_deferred(struct kunit *test, int nth)
{
	struct deferrer deferrer;
	bool failed;
	int ret;

	register_trace_kunit_memory(probe_plain, digit(1));
	register_trace_kunit_memory(probe_plain, digit(2));
	if (!start_deferring(&deferrer, attach_third)) {
		KUNIT_FAIL(test, "no thread");
		return false;
	}

	failed = fails_nth_alloc(nth, ret = unregister_trace_kunit_memory(probe_plain, digit(1)));
	KUNIT_EXPECT_EQ(test, ret, 0);
	KUNIT_EXPECT_EQ(test, fire(1), 23UL);

	stop_deferring(&deferrer);
	KUNIT_EXPECT_TRUE(test, deferrer.deferred);
	KUNIT_EXPECT_EQ(test, fire(1), 23UL);
	unregister_trace_kunit_memory(probe_plain, digit(2));
	unregister_trace_kunit_memory(probe_plain, digit(3));
	KUNIT_EXPECT_EQ(test, fire(1), 0UL);
	return failed;
}

/* An unregistered probe is not called, also if an allocation failed. */
static void tp_test_remove_while_deferred(struct kunit *test)
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

/* Recording of task names works at once, even if a task that enabled it defers. */
static void tp_test_comms_deferred(struct kunit *test)
{
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
}
#endif

#ifdef CONFIG_KPROBES
static struct task_struct *waiter;

static int fire_now(struct kprobe *kp, struct pt_regs *regs)
{
	if (current == waiter)
		trace_kunit_memory_tp(1, "text");
	return 0;
}

/* No site calls the removed probe while tracepoint_synchronize_unregister() waits. */
static void tp_test_synchronize_deferred(struct kunit *test)
{
	struct kprobe kprobe = { .symbol_name = "synchronize_srcu", .pre_handler = fire_now };
	bool deferred;

	KUNIT_ASSERT_EQ(test, register_trace_kunit_memory(probe_plain, digit(1)), 0);
	waiter = current;
	KUNIT_EXPECT_EQ(test, register_kprobe(&kprobe), 0);
	deferred = imv_defer_begin();
	unregister_trace_kunit_memory(probe_plain, digit(1));
	tracepoint_synchronize_unregister();
	imv_defer_end(deferred);
	unregister_kprobe(&kprobe);
	KUNIT_EXPECT_EQ(test, calls, 0UL);
}
#endif

/* After the wait, a probe that the deferring task unregistered is not called. */
static void tp_test_remove_and_defer(struct kunit *test)
{
	bool deferred;

	if (!IS_ENABLED(CONFIG_IMMEDIATE))
		kunit_skip(test, "needs IMMEDIATE");
	need_failing_alloc(test);
	add_probes(&__tracepoint_kunit_memory_tp, probe_plain, 3);
	deferred = imv_defer_begin();
	KUNIT_EXPECT_TRUE(test, deferred);

	KUNIT_EXPECT_EQ(test, unregister_trace_kunit_memory(probe_plain, digit(1)), 0);
	tracepoint_synchronize_unregister();
	KUNIT_EXPECT_EQ(test, fire(0), 23UL);
	fail_next_alloc();
	KUNIT_EXPECT_EQ(test, unregister_trace_kunit_memory(probe_plain, digit(2)), 0);
	stop_failing();
	KUNIT_EXPECT_EQ(test, fire(0), 3UL);
	KUNIT_EXPECT_EQ(test, unregister_trace_kunit_memory(probe_plain, digit(3)), 0);
	tracepoint_synchronize_unregister();
	KUNIT_EXPECT_EQ(test, fire(0), 0UL);
	imv_defer_end(deferred);
	KUNIT_EXPECT_EQ(test, fire(0), 0UL);
}

static struct kunit_case tp_test_cases[] = {
	KUNIT_CASE(tp_test_no_memory_to_add),
	KUNIT_CASE(tp_test_no_memory_to_remove),
	KUNIT_CASE(tp_test_no_memory_to_remove_odd),
	KUNIT_CASE(tp_test_used_memory),
	KUNIT_CASE(tp_test_remove_while_deferred),
#if defined(CONFIG_KPROBES) && defined(CONFIG_CONTEXT_SWITCH_TRACER)
	KUNIT_CASE(tp_test_comms_deferred),
#endif
#ifdef CONFIG_KPROBES
	KUNIT_CASE(tp_test_synchronize_deferred),
#endif
	KUNIT_CASE(tp_test_remove_and_defer),
	{ }
};

TP_TEST_SUITE("tracepoint_memory", forget_calls_init);

MODULE_DESCRIPTION("KUnit tests of tracepoints without memory");
MODULE_LICENSE("GPL");
