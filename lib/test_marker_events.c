// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the trace events of markers, which live and die with their modules.
 */
#include <linux/trace.h>
#include <linux/trace_events.h>

#include "test_fail_alloc.h"
#include "test_marker.h"
#include "test_memory.h"
#include "test_symbol.h"

static int event_test_init(struct kunit *test)
{
	need_fake(test);
	return 0;
}

static void event_test_exit(struct kunit *test)
{
	stop_failing();
	stop_tracking();
	unload_fake();
}

static bool has_event(const char *name)
{
	struct trace_event_file *file = trace_get_event_file(NULL, "markers", name);

	if (IS_ERR(file))
		return false;
	trace_put_event_file(file);
	return true;
}

static int enable(const char *name)
{
	return trace_set_clr_event("markers", name, 1);
}

/* An event that is enabled is removed, too; a new one may have another format. */
static void event_test_goes_while_enabled(struct kunit *test)
{
	static const char *const formats[] = { FAKE_FORMAT, "other %d", FAKE_FORMAT };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(formats); i++) {
		make_fake_of("kunit_fake", formats[i], 3);
		make_other("kunit_fake_bad", "%f");
		KUNIT_EXPECT_EQ(test, load_fake(), 0);
		KUNIT_EXPECT_FALSE(test, has_event("kunit_fake_bad"));
		KUNIT_EXPECT_FALSE(test, fake->tp.active);
		KUNIT_EXPECT_EQ(test, enable("kunit_fake"), 0);
		KUNIT_EXPECT_TRUE(test, fake->tp.active);
		unload_fake();
		KUNIT_EXPECT_FALSE(test, has_event("kunit_fake"));
		KUNIT_EXPECT_EQ(test, marker_arm("kunit_fake"), -ENOENT);
	}
}

/* The event of two modules stays with the other one, and stays enabled. */
static void event_test_of_two_modules(struct kunit *test)
{
	struct fake_module *first = fake, *second;
	struct trace_event_file __maybe_unused *file;

	KUNIT_EXPECT_EQ(test, load_fake(), 0);
	KUNIT_EXPECT_EQ(test, enable("kunit_fake"), 0);
	need_fake(test);
	second = fake;
	KUNIT_EXPECT_EQ(test, load_fake(), 0);
	fake = first;
	unload_fake();
	KUNIT_EXPECT_TRUE(test, second->tp.active);

#ifdef CONFIG_MODULE_UNLOAD
	/* A user of the event keeps that module loaded. */
	file = trace_get_event_file(NULL, "markers", "kunit_fake");
	KUNIT_EXPECT_FALSE(test, IS_ERR(file));
	KUNIT_EXPECT_EQ(test, atomic_read(&first->mod.refcnt), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&second->mod.refcnt), 2);
	if (!IS_ERR(file))
		trace_put_event_file(file);
	KUNIT_EXPECT_EQ(test, atomic_read(&second->mod.refcnt), 1);
#endif
	fake = second;
	unload_fake();
	KUNIT_EXPECT_FALSE(test, has_event("kunit_fake"));
}

/* With all events, one is enabled whose markers were those of a tracepoint before. */
static void event_test_enable_all(struct kunit *test)
{
	static struct tracepoint tracepoint;
	static const struct tracepoint_ext ext = {
		.feed = &tracepoint, .text = "kunit_fake",
	};
	struct fake_module *first = fake;
	struct trace_array *tr;

	first->tp.name = ext.text;
	first->tp.flags = TRACEPOINT_EXT;
	KUNIT_EXPECT_EQ(test, load_fake(), 0);
	need_fake(test);
	KUNIT_EXPECT_EQ(test, load_fake(), 0);
	swap(fake, first);
	unload_fake();
	fake = first;
	tr = trace_array_get_by_name("kunit_fake", NULL);
	KUNIT_ASSERT_NOT_NULL(test, tr);
	KUNIT_EXPECT_EQ(test, trace_array_set_clr_event(tr, NULL, NULL, true), 0);
	KUNIT_EXPECT_TRUE(test, fake->tp.active);
	trace_array_put(tr);
	KUNIT_EXPECT_EQ(test, trace_array_destroy(tr), 0);
}

/* There is one event for a name. It goes with the module of its format. */
static void event_test_two_formats(struct kunit *test)
{
	struct fake_module *first = fake, *second;
	u64 from = log_end();

	KUNIT_EXPECT_EQ(test, load_fake(), 0);
	need_fake(test);
	second = fake;
	make_fake_of("kunit_fake", "other %d", 1);
	KUNIT_EXPECT_EQ(test, load_fake(), 0);
	expect_logged(test, from, "kunit_fake: no trace event for the format \"other %d\": there",
		      1U);
	unload_fake();
	KUNIT_EXPECT_TRUE(test, has_event("kunit_fake"));
	make_fake_of("kunit_fake", "other %d", 1);
	KUNIT_EXPECT_EQ(test, load_fake(), 0);
	fake = first;
	unload_fake();
	KUNIT_EXPECT_FALSE(test, has_event("kunit_fake"));
	fake = second;
}

/* tracefs has files of these names in the directory of all markers. */
static void event_test_named_as_file(struct kunit *test)
{
	static const char *const names[] = { "enable", "filter" };
	unsigned int i;
	u64 from;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		make_fake_of(names[i], FAKE_FORMAT, 1);
		from = log_end();
		KUNIT_EXPECT_EQ(test, load_fake(), 0);
		expect_logged(test, from, "no trace event: tracefs has events/markers/", 1U);
		KUNIT_EXPECT_FALSE(test, has_event(names[i]));
		unload_fake();
	}
}

/* Return: how often the log said that there is no event. */
static unsigned int fail_each_alloc(struct kunit *test)
{
	unsigned int nth, logged = 0;
	bool failed, says_so;
	u64 from;
	int ret;

	for (nth = 1, failed = true; failed; nth++) {
		make_fake_of("kunit_fake", "number %d word %lx", 3);
		make_other("kunit_fake_bad", "%f");
		from = log_end();
		forget_memory();
		failed = fails_nth_alloc(nth, ret = load_fake());
		says_so = count_logged(from, "kunit_fake: no trace event: error -12");
		logged += says_so;
		if (IS_ENABLED(CONFIG_PRINTK) && (ret || says_so))
			KUNIT_EXPECT_FALSE(test, has_event("kunit_fake"));
		KUNIT_EXPECT_EQ(test, fake_markers(), ret ? 0U : 2U);
		if (ret) {
			KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
			let_work_end();
			expect_none_held(test);
		}
		unload_fake();
	}
	KUNIT_EXPECT_EQ(test, ret, 0);
	KUNIT_EXPECT_GE(test, nth, 10U);
	return logged;
}

/* Without memory for an event, a marker is loaded without it, and that is logged. */
static void event_test_no_memory(struct kunit *test)
{
	unsigned int i, logged = 0;

	need_failing_alloc(test);
	need_tracking(test);
	/*
	 * An allocation of the slab allocator itself may fail without harm. The next time,
	 * there is none, so the one that followed it is left out: try again.
	 */
	for (i = 0; i < 3 && logged < 3; i++)
		logged = fail_each_alloc(test);
	/* The event, the array of its fields, the text for tools */
	if (IS_ENABLED(CONFIG_PRINTK))
		KUNIT_EXPECT_GE(test, logged, 3U);
}

/* BPF programs may read the fields that all events have. */
static void event_test_without_fields(struct kunit *test)
{
	int (*end_of_fields)(struct trace_event_call *call) =
		need_function(test, "trace_event_get_offsets");
	struct trace_event_file *file;

	make_fake_of("kunit_fake", MARK_NOARGS, 1);
	KUNIT_EXPECT_EQ(test, load_fake(), 0);
	file = trace_get_event_file(NULL, "markers", "kunit_fake");
	KUNIT_ASSERT_FALSE(test, IS_ERR(file));
	KUNIT_EXPECT_EQ(test, end_of_fields(file->event_call), (int)sizeof(struct trace_entry));
	trace_put_event_file(file);
}

static struct kunit_case event_test_cases[] = {
	KUNIT_CASE(event_test_goes_while_enabled),
	KUNIT_CASE(event_test_of_two_modules),
	KUNIT_CASE(event_test_enable_all),
	KUNIT_CASE(expect_inline_marker),
	KUNIT_CASE(event_test_two_formats),
	KUNIT_CASE(event_test_named_as_file),
	KUNIT_CASE(event_test_no_memory),
	KUNIT_CASE(event_test_without_fields),
	{ }
};

static struct kunit_suite event_test_suite = {
	.name = "marker_events",
	.init = event_test_init,
	.exit = event_test_exit,
	.test_cases = event_test_cases,
};

kunit_test_suite(event_test_suite);

MODULE_DESCRIPTION("KUnit tests of the trace events of markers");
MODULE_LICENSE("GPL");
