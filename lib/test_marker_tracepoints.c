// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of markers in the probes of tracepoints: the probes are registered while
 * the markers have probes to call.
 */
#include "test_marker.h"

static int regfunc_result;

static int regfunc(void)
{
	return regfunc_result;
}

DECLARE_TRACE(kunit_feeding, TP_PROTO(int number), TP_ARGS(number));
DEFINE_TRACE_FN(kunit_feeding_tp, regfunc, NULL, TP_PROTO(int number), TP_ARGS(number));

static __used void probe(void *data, int number)
{
	trace_mark_tp(kunit_fed, kunit_feeding_tp, probe, "a %d", number);
}

static unsigned long fire(void)
{
	calls = 0;
	trace_kunit_feeding_tp(1);
	return calls;
}

static void expect_enabled(struct kunit *test, bool enabled)
{
	KUNIT_EXPECT_EQ(test, trace_kunit_feeding_tp_enabled(), enabled);
}

static int tp_test_init(struct kunit *test)
{
	regfunc_result = 0;
	return 0;
}

static void tp_test_exit(struct kunit *test)
{
	static const char *const names[] = { "kunit_fed" };

	detach_all(names, ARRAY_SIZE(names));
}

/* The tracepoint has the probe once, however many the marker has. */
static void tp_test_probes(struct kunit *test)
{
	expect_enabled(test, false);
	KUNIT_EXPECT_EQ(test, attach("kunit_fed", "a %d", 1), 0);
	expect_enabled(test, true);
	KUNIT_EXPECT_EQ(test, fire(), 1UL);
	KUNIT_EXPECT_EQ(test, attach("kunit_fed", "a %d", 2), 0);
	KUNIT_EXPECT_EQ(test, fire(), 12UL);
	KUNIT_EXPECT_EQ(test, detach("kunit_fed", 1), 0);
	expect_enabled(test, true);
	KUNIT_EXPECT_EQ(test, fire(), 2UL);
	KUNIT_EXPECT_EQ(test, detach("kunit_fed", 2), 0);
	expect_enabled(test, false);
	KUNIT_EXPECT_EQ(test, fire(), 0UL);
}

static void tp_test_fails(struct kunit *test)
{
	regfunc_result = -EBUSY;
	KUNIT_EXPECT_EQ(test, attach("kunit_fed", "a %d", 1), -EBUSY);
	expect_enabled(test, false);
	KUNIT_EXPECT_EQ(test, detach("kunit_fed", 1), -ENOENT);
	regfunc_result = 0;
	KUNIT_EXPECT_EQ(test, attach("kunit_fed", "a %d", 1), 0);
	KUNIT_EXPECT_EQ(test, fire(), 1UL);
	KUNIT_EXPECT_EQ(test, detach("kunit_fed", 1), 0);
	expect_enabled(test, false);
}

/* A variadic probe enables the tracepoint only while the marker is armed. */
static void tp_test_armed(struct kunit *test)
{
	attach_variadic("kunit_fed", "a %d", 1);
	expect_enabled(test, false);
	regfunc_result = -EBUSY;
	KUNIT_EXPECT_EQ(test, marker_arm("kunit_fed"), -EBUSY);
	KUNIT_EXPECT_EQ(test, marker_disarm("kunit_fed"), -EINVAL);
	regfunc_result = 0;
	KUNIT_EXPECT_EQ(test, marker_arm("kunit_fed"), 0);
	expect_enabled(test, true);
	marker_disarm("kunit_fed");
	expect_enabled(test, false);
	detach_variadic("kunit_fed", 1);
}

static struct kunit_case tp_test_cases[] = {
	KUNIT_CASE(tp_test_probes),
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
