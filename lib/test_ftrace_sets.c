// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of functions that several function tracers trace: each tracer is called
 * only for its own functions, with its own ops, newest first, with any flags.
 */

#include "test_ftrace_sets.h"

#define SAVE_REGS							\
	(IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_REGS) ? FTRACE_OPS_FL_SAVE_REGS : 0)

static const struct {
	int tracer;
	char what;		/* start, stop, + and -: functions */
	int (*func)(int number);
	unsigned long a, b;	/* then called for traced_a() and traced_b() */
} steps[] = {
	{ 0, 's', traced_a, 1, 0 },
	{ 1, 's', traced_a, 21, 0 },
	{ 2, 's', traced_b, 21, 3 },
	{ 3, 's', traced_a, 421, 3 },
	{ 0, '+', traced_b, 421, 31 },
	{ 2, '+', traced_a, 4321, 31 },
	{ 1, 'x', NULL, 431, 31 },
	{ 0, '-', traced_a, 43, 31 },
	{ 1, 's', traced_a, 243, 31 },
	{ 3, 'x', NULL, 23, 31 },
	{ 2, '-', traced_a, 2, 31 },
	{ 0, '+', traced_a, 21, 31 },
	{ 0, 'x', NULL, 2, 3 },
	{ 1, 'x', NULL, 0, 3 },
	{ 2, 'x', NULL, 0, 0 },
};

static void sets_test_order(struct kunit *test)
{
	unsigned int i, tracer;

	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		tracer = steps[i].tracer;
		if (steps[i].what == 's')
			start(test, tracer, 0, steps[i].func);
		else if (steps[i].what == 'x')
			stop(test, tracer);
		else if (steps[i].what == '+')
			KUNIT_EXPECT_EQ(test, want(tracer, steps[i].func), 0);
		else
			KUNIT_EXPECT_EQ(test, leave(tracer, steps[i].func), 0);
		expect_calls(test, a, steps[i].a);
		expect_calls(test, b, steps[i].b);
	}
}

static void expect_flags(struct kunit *test, unsigned long first, unsigned long second)
{
	bool regs = (first | second) & SAVE_REGS;
	unsigned int i;

	start(test, 0, first, traced_a);
	start(test, 1, second, traced_a);
	KUNIT_EXPECT_EQ(test, call_a(), 2);
	KUNIT_EXPECT_EQ(test, calls(), 21UL);
	KUNIT_EXPECT_EQ(test, tracers[0].ip, tracers[1].ip);
	KUNIT_EXPECT_EQ(test, tracers[0].parent_ip, tracers[1].parent_ip);
	for (i = 0; i < 2; i++) {
		KUNIT_EXPECT_LT(test, tracers[i].ip - (unsigned long)traced_a, 16UL);
		KUNIT_EXPECT_LT(test, tracers[i].parent_ip - (unsigned long)call_a, 128UL);
		KUNIT_EXPECT_EQ(test, tracers[i].got_regs, regs);
	}
	stop(test, 1);
	expect_calls(test, a, 1);
	stop(test, 0);
}

/* Two tracers with the same flags, or with different ones. */
static void sets_test_flags(struct kunit *test)
{
	static const unsigned long flags[] = {
		0, FTRACE_OPS_FL_RECURSION, FTRACE_OPS_FL_RCU, SAVE_REGS,
		FTRACE_OPS_FL_RECURSION | FTRACE_OPS_FL_RCU,
		FTRACE_OPS_FL_RECURSION | SAVE_REGS,
	};
	const unsigned int nr = ARRAY_SIZE(flags);
	unsigned int i;

	for (i = 0; i < nr; i++) {
		expect_flags(test, flags[i], flags[i]);
		expect_flags(test, flags[i], flags[(i + 1) % nr]);
	}
}

/*
 * The list protects tracers from recursion, and where RCU does not watch. Without such a
 * tracer, the function has a set.
 */
static void sets_test_protected(struct kunit *test)
{
	static const unsigned long flags[] = { 0, FTRACE_OPS_FL_RECURSION, FTRACE_OPS_FL_RCU };
	unsigned int i, j;

	if (!has_named_sets())
		kunit_skip(test, "needs FTRACE_SETS and KALLSYMS");
	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		start(test, 0, flags[i], traced_a);
		for (j = 0; j < ARRAY_SIZE(flags); j++) {
			start(test, 1, flags[j], traced_a);
			KUNIT_EXPECT_EQ(test, calls_list(test, traced_a), flags[i] || flags[j]);
			stop(test, 1);
			if (!IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_CALL_OPS))
				continue;
			KUNIT_EXPECT_EQ(test, calls_list(test, traced_a), !!flags[i]);
			KUNIT_EXPECT_EQ(test, calls_named(test, traced_a, "note_call"), !flags[i]);
		}
		stop(test, 0);
	}
}

static void expect_many(struct kunit *test, unsigned int nr)
{
	call_a();
	KUNIT_EXPECT_EQ(test, nr_called, nr);
	if (nr && has_named_sets())
		KUNIT_EXPECT_EQ(test, calls_list(test, traced_a), nr > FTRACE_SET_MAX);
}

/*
 * The list is called only while there are more tracers than a set can have: until some
 * no longer want the function, or are unregistered.
 */
static void sets_test_many(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < NR_TRACERS; i++) {
		start(test, i, i % 3 ? 0 : SAVE_REGS, traced_a);
		expect_many(test, i + 1);
		KUNIT_EXPECT_EQ(test, called[0], i + 1);
		KUNIT_EXPECT_EQ(test, called[i], 1U);
	}
	KUNIT_EXPECT_EQ(test, want(0, traced_b), 0);
	KUNIT_EXPECT_EQ(test, want(1, traced_b), 0);
	KUNIT_EXPECT_EQ(test, leave(0, traced_a), 0);
	expect_many(test, NR_TRACERS - 1);
	KUNIT_EXPECT_EQ(test, leave(1, traced_a), 0);
	expect_many(test, NR_TRACERS - 2);
	KUNIT_EXPECT_EQ(test, want(0, traced_a), 0);
	for (i = 1; i < NR_TRACERS; i++) {
		stop(test, i);
		expect_many(test, i == 1 ? NR_TRACERS - 1 : NR_TRACERS - i);
	}
}

/* A tracer that calls the traced function, until it is not called for that. */
static notrace void call_again(unsigned long ip, unsigned long parent_ip,
			       struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	note_call(ip, parent_ip, ops, fregs);
	if (nr_called < MAX_CALLS)
		traced_a(1);
}

static notrace void call_twice_again(unsigned long ip, unsigned long parent_ip,
				     struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	note_call(ip, parent_ip, ops, fregs);
	if (nr_called < 3)
		traced_a(1);
}

/*
 * One nested call is traced, because an interrupt could have made it. All are traced if no
 * tracer asks for protection.
 */
static void sets_test_recursion(struct kunit *test)
{
	static const struct {
		unsigned long flags, calls;
		ftrace_func_t call;
	} rows[] = {
		{ FTRACE_OPS_FL_RECURSION, 2211, call_again },
		{ FTRACE_OPS_FL_RCU, 2211, call_again },
		{ 0, 222111, call_twice_again },
	};
	unsigned int i, nr = ARRAY_SIZE(rows) - !IS_ENABLED(CONFIG_FTRACE_SETS);

	for (i = 0; i < nr; i++) {
		start(test, 0, rows[i].flags, traced_a);
		start_calling(test, 1, rows[i].flags, traced_a, rows[i].call);
		expect_calls(test, a, rows[i].calls);
		stop(test, 1);
		expect_calls(test, a, 1);
		stop(test, 0);
	}
}

/*
 * If the allocation of a set fails, the same tracers are called, and the function gets a
 * set later. If that of a filter fails, the filter does not change.
 */
static bool joins_without(struct kunit *test, int nth)
{
	bool failed;
	int ret;

	failed = fails_nth_alloc(nth, ret = want(1, traced_a));
	expect_calls(test, b, 32);
	expect_calls(test, a, ret ? 1 : 21);
	if (ret) {
		KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
		return failed;
	}
	if (has_named_sets())
		KUNIT_EXPECT_TRUE(test, calls_list(test, traced_a) ||
				  calls_named(test, traced_a, "ftrace_set_"));
	KUNIT_EXPECT_EQ(test, want(2, traced_a), 0);
	expect_calls(test, a, 321);
	if (has_named_sets())
		KUNIT_EXPECT_TRUE(test, calls_named(test, traced_a, "ftrace_set_"));
	KUNIT_EXPECT_EQ(test, leave(2, traced_a), 0);
	KUNIT_EXPECT_EQ(test, leave(1, traced_a), 0);
	expect_calls(test, a, 1);
	return failed;
}

/*
 * A set exists all the time, so that memory for code is present: the kernel prints a
 * long warning if there is none.
 */
static void sets_test_no_memory(struct kunit *test)
{
	int nth;

	need_failing_alloc(test);
	start(test, 0, 0, traced_a);
	start(test, 1, 0, traced_b);
	start(test, 2, 0, traced_b);
	for (nth = 1; joins_without(test, nth); nth++)
		;
	KUNIT_EXPECT_GT(test, nth, 2);
	stop(test, 2);
	stop(test, 0);
	expect_calls(test, a, 0);
	expect_calls(test, b, 2);
}

/* A filter of an index, or of a pattern: no success without an entry for the function. */
static void sets_test_no_memory_for_filter(struct kunit *test)
{
	static const char * const filters[] = { "1", "vfs_rea[d]" };
	struct ftrace_ops *ops = &tracers[0].ops;
	char filter[16];
	int i, nth, ret, len;
	bool failed;

	need_failing_alloc(test);
	for (i = 0; i < ARRAY_SIZE(filters); i++) {
		len = strlen(filters[i]);
		for (nth = 1, failed = true; failed; nth++) {
			strscpy(filter, filters[i], sizeof(filter));
			failed = fails_nth_alloc(nth, ret = ftrace_set_filter(ops, filter, len, 1));
			if (ret)
				KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
			else
				KUNIT_EXPECT_EQ(test, filter_size(ops), 1UL);
			KUNIT_EXPECT_TRUE(test, failed || !ret);
		}
		KUNIT_EXPECT_GT(test, nth, 3);
	}
}

static struct kunit_case sets_test_cases[] = {
	KUNIT_CASE(sets_test_order),
	KUNIT_CASE(sets_test_flags),
	KUNIT_CASE(sets_test_protected),
	KUNIT_CASE(sets_test_many),
	KUNIT_CASE(sets_test_recursion),
	KUNIT_CASE(sets_test_no_memory),
	KUNIT_CASE(sets_test_no_memory_for_filter),
	{ }
};

SETS_TEST_SUITE("ftrace_sets", sets_test_cases);

MODULE_DESCRIPTION("KUnit tests of functions with several function tracers");
MODULE_LICENSE("GPL");
