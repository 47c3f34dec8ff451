// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the markers of modules that are loaded and unloaded.
 */
#include <linux/delay.h>
#include <linux/slab.h>
#include <linux/srcu.h>

#include "test_call.h"
#include "test_marker.h"
#include "test_memory.h"
#include "test_symbol.h"

DECLARE_TRACE(kunit_fed, TP_PROTO(int number), TP_ARGS(number));

static int fed_result;

static int reg_fed(void)
{
	return fed_result;
}

DEFINE_TRACE_FN(kunit_fed_tp, reg_fed, NULL, TP_PROTO(int number), TP_ARGS(number));

static void probe_fed(void *data, int number)
{
	calls = 7;
}

static const struct tracepoint_ext fed_ext = {
	.feed = &__tracepoint_kunit_fed_tp,
	.feed_probe.func = probe_fed,
	.text = "kunit_fake_fed",
};

static const struct tracepoint_ext same_ext = {
	.feed = &__tracepoint_kunit_fed_tp,
	.feed_probe.func = probe_fed,
	.text = "kunit_fake",
};

static void feed_other(const struct tracepoint_ext *ext)
{
	fake->other_tp.name = ext->text;
	fake->other_tp.flags = TRACEPOINT_EXT;
}

/* The third one is another marker, fed by the tracepoint. */
static void feed_fake(const char *format)
{
	make_fake_of("kunit_fake", format, 3);
	make_other("kunit_fake_fed", format);
	feed_other(&fed_ext);
}

static int mod_test_init(struct kunit *test)
{
	calls = 0;
	fed_result = 0;
	need_fake(test);
	return 0;
}

static void mod_test_exit(struct kunit *test)
{
	static const char *const names[] = { "kunit_fake", "kunit_fake_fed" };

	stop_tracking();
	unload_fake();
	detach_all(names, ARRAY_SIZE(names));
}

static void expect_guards(struct kunit *test, bool plain, bool fed)
{
	KUNIT_EXPECT_EQ(test, fake->tp.active, plain);
	KUNIT_EXPECT_EQ(test, fake->other_tp.active, fed);
	KUNIT_EXPECT_EQ(test, trace_kunit_fed_tp_enabled(), fed);
}

/* Markers of a module find the registered probes, also when it is loaded again. */
static void mod_test_loads_twice(struct kunit *test)
{
	feed_fake(FAKE_FORMAT);
	attach("kunit_fake", FAKE_FORMAT, 1);
	KUNIT_EXPECT_EQ(test, load_fake(), 0);
	KUNIT_EXPECT_EQ(test, fake_markers(), 2U);
	expect_guards(test, true, false);
	attach("kunit_fake_fed", FAKE_FORMAT, 2);
	expect_guards(test, true, true);
	trace_kunit_fed_tp(1);
	KUNIT_EXPECT_EQ(test, calls, 7UL);
	detach("kunit_fake", 1);
	expect_guards(test, false, true);

	unload_fake();
	KUNIT_EXPECT_EQ(test, fake_markers(), 0U);
	expect_guards(test, false, false);
	attach("kunit_fake", FAKE_FORMAT, 4);
	KUNIT_EXPECT_FALSE(test, fake->tp.active);

	feed_fake(FAKE_FORMAT);
	KUNIT_EXPECT_EQ(test, load_fake(), 0);
	expect_guards(test, true, true);
	unload_fake();
	KUNIT_EXPECT_EQ(test, detach("kunit_fake", 4), 0);
	KUNIT_EXPECT_EQ(test, detach("kunit_fake_fed", 2), 0);
}

/* The records of a module that was loaded by force may have another layout. */
static void mod_test_tainted(struct kunit *test)
{
	fake->mod.taints = BIT(TAINT_OOT_MODULE);
	KUNIT_EXPECT_EQ(test, load_fake(), 0);
	KUNIT_EXPECT_EQ(test, fake_markers(), 1U);
	unload_fake();
	make_fake();
	fake->mod.taints = BIT(TAINT_FORCED_MODULE);
	memset(&fake->site[0], 0, sizeof(fake->site[0]));
	KUNIT_EXPECT_EQ(test, load_fake(), 0);
	KUNIT_EXPECT_EQ(test, fake_markers(), 0U);
}

/* The marker that is fed becomes the first one. */
static void swap_ends(const char *format, const char *other)
{
	make_site(&fake->site[0], &fake->other_tp, other);
	make_site(&fake->site[2], &fake->tp, format);
}

/* A module that fails to load leaves nothing behind. */
static void mod_test_fails(struct kunit *test)
{
	u64 from = log_end();

	attach("kunit_fake", FAKE_FORMAT, 1);
	attach("kunit_fake_fed", FAKE_FORMAT, 2);
	feed_fake(FAKE_FORMAT);
	/* An error of the first marker counts, also if the next one succeeds. */
	swap_ends(FAKE_FORMAT, FAKE_FORMAT);
	fed_result = -EBUSY;
	KUNIT_EXPECT_EQ(test, load_fake(), -EBUSY);
	KUNIT_EXPECT_EQ(test, fake_markers(), 0U);
	expect_guards(test, false, false);
	expect_logged(test, from, "kunit_fake: its markers cannot be used: error -16", 1U);
}

/* Unloading frees all, and so does the end of the last probe. */
static void mod_test_frees(struct kunit *test)
{
	int i;

	need_tracking(test);
	KUNIT_ASSERT_EQ(test, load_fake(), 0);
	attach_variadic("kunit_fake", FAKE_FORMAT, 1);
	marker_arm("kunit_fake");
	marker_disarm("kunit_fake");
	attach("kunit_fake", FAKE_FORMAT, 2);
	marker_probe_unregister("kunit_fake");
	unload_fake();
	KUNIT_EXPECT_GT(test, memory.nr_held, 0U);
	detach("kunit_fake", 2);
	let_work_end();
	/* Entries of tracefs may be freed after a grace period, which is long under load. */
	for (i = 0; i < 1000 && READ_ONCE(memory.nr_held); i++)
		msleep(20);
	expect_none_held(test);
}

static void arm_half(struct kunit *test, bool fed_first)
{
	make_fake_of("kunit_fake", "plain %d", 3);
	make_other("kunit_fake", "fed %d");
	feed_other(&same_ext);
	if (fed_first)
		swap_ends("plain %d", "fed %d");
	KUNIT_ASSERT_EQ(test, load_fake(), 0);
	attach_variadic("kunit_fake", "plain %d", 1);
	attach_variadic("kunit_fake", "fed %d", 2);
	fed_result = -EBUSY;
	KUNIT_EXPECT_EQ(test, marker_arm("kunit_fake"), -EBUSY);
	expect_guards(test, false, false);
	fed_result = 0;
	KUNIT_EXPECT_EQ(test, marker_arm("kunit_fake"), 0);
	expect_guards(test, true, true);
	KUNIT_EXPECT_EQ(test, marker_disarm("kunit_fake"), 0);
	expect_guards(test, false, false);
	marker_probe_unregister("kunit_fake");
	unload_fake();
}

/* If one format cannot be armed, the others are not. */
static void mod_test_half_armed(struct kunit *test)
{
	arm_half(test, false);
	arm_half(test, true);
}

/* While a module waits for code that executes its markers, nothing enables them. */
static void mod_test_going(struct kunit *test)
{
	struct other_call other = { .call = unload_fake };
	struct srcu_ctr __percpu *reader;

	feed_fake(FAKE_FORMAT);
	attach("kunit_fake_fed", FAKE_FORMAT, 1);
	KUNIT_EXPECT_EQ(test, load_fake(), 0);
	expect_guards(test, false, true);
	reader = srcu_read_lock_fast(&tracepoint_srcu);
	start_call(&other);
	KUNIT_EXPECT_TRUE(test, other.waited);
	KUNIT_EXPECT_FALSE(test, trace_kunit_fed_tp_enabled());
	KUNIT_EXPECT_EQ(test, attach("kunit_fake", FAKE_FORMAT, 2), 0);
	KUNIT_EXPECT_EQ(test, detach("kunit_fake_fed", 1), 0);
	KUNIT_EXPECT_EQ(test, attach("kunit_fake_fed", FAKE_FORMAT, 3), 0);
	expect_guards(test, false, false);
	srcu_read_unlock_fast(&tracepoint_srcu, reader);
	end_call(&other);
	KUNIT_EXPECT_EQ(test, fake_markers(), 0U);
}

static struct kunit_case mod_test_cases[] = {
	KUNIT_CASE(mod_test_loads_twice),
	KUNIT_CASE(mod_test_tainted),
	KUNIT_CASE(mod_test_fails),
	KUNIT_CASE(mod_test_frees),
	KUNIT_CASE(mod_test_half_armed),
	KUNIT_CASE(mod_test_going),
	{ }
};

static struct kunit_suite mod_test_suite = {
	.name = "marker_modules",
	.init = mod_test_init,
	.exit = mod_test_exit,
	.test_cases = mod_test_cases,
};

kunit_test_suite(mod_test_suite);

MODULE_DESCRIPTION("KUnit tests of the markers of modules");
MODULE_LICENSE("GPL");
