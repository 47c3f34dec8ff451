// SPDX-License-Identifier: GPL-2.0
/* KUnit tests of the names of function tracers. */

#include "test_ftrace_sets.h"

static int register_named(struct kunit *test, unsigned int i, const char *name,
			  unsigned long flags)
{
	tracers[i] = (struct test_tracer){
		.ops = { .func = note_call, .flags = flags, .name = name },
	};
	KUNIT_EXPECT_EQ(test, want(i, traced_a), 0);
	return register_ftrace_function(&tracers[i].ops);
}

/* The registration fails, and the tracer is not called. */
static void sets_test_bad_names(struct kunit *test)
{
	static const struct { const char *name; unsigned long flags; int error; } rows[] = {
		{ "kunit", FTRACE_OPS_FL_IPMODIFY, -EINVAL },
		{ "kunit_taken", 0, -EEXIST },
		{ "trace", 0, -EEXIST },
		{ "trace_profile", 0, -EEXIST },
	};
	unsigned int i;

	KUNIT_ASSERT_EQ(test, register_named(test, 0, "kunit_taken", 0), 0);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		KUNIT_EXPECT_EQ(test, rows[i].error,
				register_named(test, 1, rows[i].name, rows[i].flags));
		ftrace_free_filter(&tracers[1].ops);
		expect_calls(test, a, 1);
	}
	stop(test, 0);
	KUNIT_ASSERT_EQ(test, register_named(test, 1, "kunit_taken", 0), 0);
	expect_calls(test, a, 2);
}

static void sets_test_no_memory_for_name(struct kunit *test)
{
	need_failing_alloc(test);
	tracers[0].ops.func = note_call;
	tracers[0].ops.name = "kunit";
	KUNIT_ASSERT_EQ(test, want(0, traced_a), 0);
	fail_nth_alloc(1);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(&tracers[0].ops), -ENOMEM);
	KUNIT_EXPECT_TRUE(test, nth_alloc_failed());
	stop_failing();
	expect_calls(test, a, 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&tracers[0].ops), 0);
	expect_calls(test, a, 1);
}

#ifdef CONFIG_KALLSYMS_ALL
struct function_tracer;

static unsigned int nr_filters;

static void count_filter(struct ftrace_ops_hash *filter, void *wanted)
{
	nr_filters += filter == wanted;
}

/* The filters of a tracer with a name are known while it is registered. */
static void sets_test_each_name(struct kunit *test)
{
	void (*each)(void (*func)(struct ftrace_ops_hash *filter, void *arg), void *arg);

	need_symbol(test, "function_tracers_each", (void **)&each);
	KUNIT_ASSERT_EQ(test, register_named(test, 0, "kunit", 0), 0);
	nr_filters = 0;
	each(count_filter, tracers[0].ops.func_hash);
	KUNIT_EXPECT_EQ(test, nr_filters, 1U);
	stop(test, 0);
	each(count_filter, tracers[0].ops.func_hash);
	KUNIT_EXPECT_EQ(test, nr_filters, 1U);
}

/* Is a tracer that is open in a file still registered? */
static bool can_use(struct function_tracer *file)
{
	bool (*lock)(struct function_tracer *tracer) = find_symbol("function_tracer_lock");
	void (*unlock)(struct function_tracer *tracer) = find_symbol("function_tracer_unlock");

	if (!lock(file))
		return false;
	unlock(file);
	return true;
}

/*
 * A name is freed when the last file that uses it is closed. The file cannot use a later
 * tracer of the same name.
 */
static void sets_test_free_name(struct kunit *test)
{
	struct function_tracer *(*get)(const struct ftrace_ops *ops), *file;
	int (*add)(struct ftrace_ops *ops);
	void (*remove)(const struct ftrace_ops *ops);
	void (*put)(struct function_tracer *tracer);
	struct ftrace_ops *ops = &tracers[0].ops;
	struct mutex *mutex;	/* for get() */

	need_symbol(test, "tracers_mutex", (void **)&mutex);
	need_symbol(test, "function_tracer_add", (void **)&add);
	need_symbol(test, "function_tracer_remove", (void **)&remove);
	need_symbol(test, "function_tracer_get", (void **)&get);
	need_symbol(test, "function_tracer_put", (void **)&put);
	need_tracking(test);
	forget_memory();
	ops->name = "kunit";
	KUNIT_ASSERT_EQ(test, add(ops), 0);
	KUNIT_EXPECT_EQ(test, memory.nr_held, 1U);
	mutex_lock(mutex);
	file = get(ops);
	mutex_unlock(mutex);
	KUNIT_EXPECT_TRUE(test, can_use(file));
	remove(ops);
	KUNIT_EXPECT_EQ(test, memory.nr_held, 1U);
	KUNIT_EXPECT_FALSE(test, can_use(file));
	KUNIT_EXPECT_EQ(test, add(ops), 0);
	KUNIT_EXPECT_FALSE(test, can_use(file));
	put(file);
	KUNIT_EXPECT_EQ(test, memory.nr_held, 1U);
	remove(ops);
	expect_none_held(test);
}
#endif /* CONFIG_KALLSYMS_ALL */

static struct kunit_case sets_test_cases[] = {
	KUNIT_CASE(sets_test_bad_names),
	KUNIT_CASE(sets_test_no_memory_for_name),
#ifdef CONFIG_KALLSYMS_ALL
	KUNIT_CASE(sets_test_each_name),
	KUNIT_CASE(sets_test_free_name),
#endif
	{ }
};

SETS_TEST_SUITE("ftrace_sets_names", sets_test_cases);

MODULE_DESCRIPTION("KUnit tests of the names of function tracers");
MODULE_LICENSE("GPL");
