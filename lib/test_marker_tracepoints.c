// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of markers in the probes of tracepoints: the probes are registered while
 * the markers have probes to call.
 */
#include "test_marker.h"

static int first_result, second_result;

static int reg_first(void)
{
	return first_result;
}

static int reg_second(void)
{
	return second_result;
}

DECLARE_TRACE(kunit_first, TP_PROTO(int number), TP_ARGS(number));
DEFINE_TRACE_FN(kunit_first_tp, reg_first, NULL, TP_PROTO(int number), TP_ARGS(number));
DECLARE_TRACE(kunit_second, TP_PROTO(int number), TP_ARGS(number));
DEFINE_TRACE_FN(kunit_second_tp, reg_second, NULL, TP_PROTO(int number), TP_ARGS(number));

/* Two markers in the probe of one tracepoint. */
static __used void probe_two(void *data, int number)
{
	trace_mark_tp(kunit_tp_a, kunit_first_tp, probe_two, "a %d", number);
	trace_mark_tp(kunit_tp_b, kunit_first_tp, probe_two, "b %d", number);
}

/* A probe of two tracepoints. */
static __used void probe_both(void *data, int number)
{
	trace_mark_tp(kunit_both_a, kunit_first_tp, probe_both, "a %d", number);
	trace_mark_tp(kunit_both_b, kunit_second_tp, probe_both, "b %d", number);
}

static unsigned long fire(void)
{
	calls = 0;
	trace_kunit_first_tp(1);
	trace_kunit_second_tp(1);
	return calls;
}

static void expect_enabled(struct kunit *test, bool first, bool second)
{
	KUNIT_EXPECT_EQ(test, trace_kunit_first_tp_enabled(), first);
	KUNIT_EXPECT_EQ(test, trace_kunit_second_tp_enabled(), second);
}

static int tp_test_init(struct kunit *test)
{
	first_result = 0;
	second_result = 0;
	return 0;
}

static void tp_test_exit(struct kunit *test)
{
	static const char *const names[] = {
		"kunit_tp_a", "kunit_tp_b", "kunit_both_a", "kunit_both_b",
	};

	detach_all(names, ARRAY_SIZE(names));
}

static void tp_test_shared_probe(struct kunit *test)
{
	expect_enabled(test, false, false);
	attach("kunit_tp_a", "a %d", 1);
	expect_enabled(test, true, false);
	KUNIT_EXPECT_EQ(test, fire(), 1UL);
	attach("kunit_tp_b", "b %d", 2);
	KUNIT_EXPECT_EQ(test, fire(), 12UL);
	detach("kunit_tp_a", 1);
	expect_enabled(test, true, false);
	KUNIT_EXPECT_EQ(test, fire(), 2UL);
	detach("kunit_tp_b", 2);
	expect_enabled(test, false, false);
	KUNIT_EXPECT_EQ(test, fire(), 0UL);
}

/* While both tracepoints call the probe, each call hits both markers. */
static void tp_test_probe_of_both(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, attach("kunit_both_b", "b %d", 2), 0);
	expect_enabled(test, false, true);
	KUNIT_EXPECT_EQ(test, fire(), 2UL);
	KUNIT_EXPECT_EQ(test, attach("kunit_both_a", "a %d", 1), 0);
	KUNIT_EXPECT_EQ(test, fire(), 1212UL);
	KUNIT_EXPECT_EQ(test, detach("kunit_both_b", 2), 0);
	expect_enabled(test, true, false);
	KUNIT_EXPECT_EQ(test, fire(), 1UL);
	KUNIT_EXPECT_EQ(test, detach("kunit_both_a", 1), 0);
	expect_enabled(test, false, false);
}

static void tp_test_fails(struct kunit *test)
{
	first_result = -EBUSY;
	KUNIT_EXPECT_EQ(test, attach("kunit_tp_a", "a %d", 1), -EBUSY);
	expect_enabled(test, false, false);
	KUNIT_EXPECT_EQ(test, detach("kunit_tp_a", 1), -ENOENT);
	first_result = 0;
	KUNIT_EXPECT_EQ(test, attach("kunit_tp_a", "a %d", 1), 0);
	KUNIT_EXPECT_EQ(test, fire(), 1UL);
	KUNIT_EXPECT_EQ(test, detach("kunit_tp_a", 1), 0);
	expect_enabled(test, false, false);
}

/* A variadic probe enables the tracepoint only while the marker is armed. */
static void tp_test_armed(struct kunit *test)
{
	attach_variadic("kunit_tp_a", "a %d", 1);
	expect_enabled(test, false, false);
	first_result = -EBUSY;
	KUNIT_EXPECT_EQ(test, marker_arm("kunit_tp_a"), -EBUSY);
	KUNIT_EXPECT_EQ(test, marker_disarm("kunit_tp_a"), -EINVAL);
	first_result = 0;
	KUNIT_EXPECT_EQ(test, marker_arm("kunit_tp_a"), 0);
	expect_enabled(test, true, false);
	marker_disarm("kunit_tp_a");
	expect_enabled(test, false, false);
	detach_variadic("kunit_tp_a", 1);
}

static struct kunit_case tp_test_cases[] = {
	KUNIT_CASE(tp_test_shared_probe),
	KUNIT_CASE(tp_test_probe_of_both),
	KUNIT_CASE(tp_test_fails),
	KUNIT_CASE(tp_test_armed),
	{ }
};

static struct kunit_suite tp_test_suite = {
	.name = "marker_tracepoints",
	.init = tp_test_init,
	.exit = tp_test_exit,
	.test_cases = tp_test_cases,
};

kunit_test_suite(tp_test_suite);

MODULE_DESCRIPTION("KUnit tests of markers that are fed by tracepoints");
MODULE_LICENSE("GPL");
