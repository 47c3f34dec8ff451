// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of markers: which probes are called, with which values, and what
 * registration returns.
 */
#include <linux/slab.h>

#include "test_defer.h"
#include "test_fail_alloc.h"
#include "test_marker.h"
#include "test_memory.h"
#include "test_symbol.h"

#define NUMBER		"kunit_number"
#define NUMBER_FORMAT	"number %d text %s"

static int last_number;
static char last_text[16];
static const char *last_name;

static void probe(void *private, void *call_private, const char *format,
		  va_list *args)
{
	note_call(private);
	last_number = va_arg(*args, int);
	strscpy(last_text, va_arg(*args, char *), sizeof(last_text));
}

static void variadic(const struct __mark_marker *marker, void *private,
		     const char *format, ...)
{
	va_list args;

	last_name = marker->name;
	va_start(args, format);
	probe(private, NULL, format, &args);
	va_end(args);
}

static int nr_evaluated;

static int evaluated(int number)
{
	nr_evaluated++;
	return number;
}

static noinline unsigned long fire(int number)
{
	calls = 0;
	trace_mark(kunit_number, NUMBER_FORMAT, evaluated(number), "text");
	return calls;
}

#define add(nr)			attach(NUMBER, NUMBER_FORMAT, nr)
#define remove(nr)		detach(NUMBER, nr)
#define add_variadic(nr)	attach_variadic(NUMBER, NUMBER_FORMAT, nr)
#define remove_variadic(nr)	detach_variadic(NUMBER, nr)

static int marker_test_init(struct kunit *test)
{
	calls = 0;
	last_number = 0;
	last_text[0] = '\0';
	last_name = NULL;
	nr_evaluated = 0;
	return 0;
}

/* Detaches and disarms what a failed case left behind. */
static void marker_test_exit(struct kunit *test)
{
	static const char *const names[] = {
		NUMBER, "kunit_all", "kunit_load", "kunit_sites",
		"kunit_nowhere", "kunit_x", "kunit_fake",
	};

	stop_failing();
	stop_tracking();
	detach_all(names, ARRAY_SIZE(names));
}

/* Each probe gets its own va_list. */
static void marker_test_several(struct kunit *test)
{
	unsigned long i;

	KUNIT_EXPECT_EQ(test, fire(1), 0UL);
	KUNIT_EXPECT_EQ(test, nr_evaluated, 0);
	for (i = 1; i <= 3; i++)
		KUNIT_EXPECT_EQ(test, 0, marker_probe_register(NUMBER, NUMBER_FORMAT, probe,
							       digit(i)));
	KUNIT_EXPECT_EQ(test, fire(-7), 123UL);
	KUNIT_EXPECT_EQ(test, nr_evaluated, 1);
	KUNIT_EXPECT_EQ(test, last_number, -7);
	KUNIT_EXPECT_STREQ(test, last_text, "text");
	KUNIT_EXPECT_EQ(test, marker_probe_unregister(NUMBER, probe, digit(1)), 0);
	KUNIT_EXPECT_EQ(test, fire(5), 23UL);
	KUNIT_EXPECT_EQ(test, marker_probe_unregister(NUMBER, probe, digit(3)), 0);
	KUNIT_EXPECT_EQ(test, marker_probe_unregister(NUMBER, probe, digit(2)), 0);
	KUNIT_EXPECT_EQ(test, fire(6), 0UL);
	KUNIT_EXPECT_EQ(test, nr_evaluated, 2);
}

/* The interface of 2007, to the letter: functions that have an address. */
static void marker_test_functions(struct kunit *test)
{
	int (*reg)(const char *name, const char *format, marker_probe_func *probe,
		   void *pdata) = marker_probe_register;
	void (*unreg)(const char *name) = marker_probe_unregister;
	marker_probe_func *func = variadic;

	KUNIT_EXPECT_EQ(test, reg(NUMBER, NUMBER_FORMAT, func, digit(1)), 0);
	KUNIT_EXPECT_EQ(test, fire(1), 0UL);
	KUNIT_EXPECT_EQ(test, nr_evaluated, 0);
	KUNIT_EXPECT_EQ(test, marker_arm(NUMBER), 0);
	KUNIT_EXPECT_EQ(test, fire(8), 1UL);
	KUNIT_EXPECT_EQ(test, last_number, 8);
	KUNIT_EXPECT_STREQ(test, last_text, "text");
	KUNIT_EXPECT_STREQ(test, last_name, NUMBER);
	KUNIT_EXPECT_EQ(test, marker_disarm(NUMBER), 0);
	KUNIT_EXPECT_EQ(test, fire(9), 0UL);
	unreg(NUMBER);
	KUNIT_EXPECT_EQ(test, remove_variadic(1), -ENOENT);
}

static void marker_test_arm_nests(struct kunit *test)
{
	add_variadic(1);
	KUNIT_EXPECT_EQ(test, marker_disarm(NUMBER), -EINVAL);
	marker_arm(NUMBER);
	marker_arm(NUMBER);
	marker_arm(NUMBER);
	KUNIT_EXPECT_EQ(test, marker_disarm(NUMBER), 0);
	KUNIT_EXPECT_EQ(test, marker_disarm(NUMBER), 0);
	KUNIT_EXPECT_EQ(test, fire(1), 1UL);
	KUNIT_EXPECT_EQ(test, marker_disarm(NUMBER), 0);
	KUNIT_EXPECT_EQ(test, fire(1), 0UL);
	KUNIT_EXPECT_EQ(test, marker_disarm(NUMBER), -EINVAL);
	remove_variadic(1);
	KUNIT_EXPECT_EQ(test, marker_arm(NUMBER), -ENOENT);
	KUNIT_EXPECT_EQ(test, marker_disarm(NUMBER), -ENOENT);
	KUNIT_EXPECT_EQ(test, marker_arm("kunit_nobody"), -ENOENT);
}

/* A marker stays armed when its probes are unregistered. */
static void marker_test_arm_stays(struct kunit *test)
{
	add_variadic(1);
	marker_arm(NUMBER);
	remove_variadic(1);
	KUNIT_EXPECT_EQ(test, fire(1), 0UL);
	add_variadic(2);
	KUNIT_EXPECT_EQ(test, fire(1), 2UL);
	remove_variadic(2);
	KUNIT_EXPECT_EQ(test, marker_disarm(NUMBER), 0);
	KUNIT_EXPECT_EQ(test, marker_disarm(NUMBER), -ENOENT);
}

static void add_first(void)
{
	add(1);
}

static void add_and_arm(void)
{
	add_variadic(1);
	marker_arm(NUMBER);
}

/* A second probe, or arming again, takes effect at once while another task defers. */
static void marker_test_deferred_by_another(struct kunit *test)
{
	struct deferrer deferrer;

	KUNIT_ASSERT_TRUE(test, start_deferring(&deferrer, add_first));
	add(2);
	KUNIT_EXPECT_EQ(test, fire(1), 12UL);
	stop_deferring(&deferrer);
	KUNIT_EXPECT_EQ(test, deferrer.deferred, IS_ENABLED(CONFIG_IMMEDIATE_SITES));
	remove(1);
	remove(2);

	KUNIT_ASSERT_TRUE(test, start_deferring(&deferrer, add_and_arm));
	marker_arm(NUMBER);
	KUNIT_EXPECT_EQ(test, fire(1), 1UL);
	stop_deferring(&deferrer);
	remove_variadic(1);
}

#ifdef CONFIG_MODULES
/* The arm count belongs to the name, not to a format. */
static void marker_test_two_formats(struct kunit *test)
{
	need_fake(test);
	KUNIT_ASSERT_EQ(test, load_fake(), 0);
	attach_variadic("kunit_fake", FAKE_FORMAT, 1);
	KUNIT_EXPECT_EQ(test, attach_variadic("kunit_fake", "two %u", 2), -EPERM);
	unload_fake();
	KUNIT_EXPECT_EQ(test, attach_variadic("kunit_fake", "two %u", 2), 0);
	KUNIT_EXPECT_EQ(test, marker_arm("kunit_fake"), 0);
	make_fake_of("kunit_fake", "two %u", 1);
	KUNIT_ASSERT_EQ(test, load_fake(), 0);
	KUNIT_EXPECT_TRUE(test, fake->tp.active);
	KUNIT_EXPECT_EQ(test, marker_disarm("kunit_fake"), 0);
	KUNIT_EXPECT_FALSE(test, fake->tp.active);
	unload_fake();
	marker_probe_unregister("kunit_fake");
	KUNIT_EXPECT_EQ(test, marker_arm("kunit_fake"), -ENOENT);
}

/* The compiler sees only one object: the tracepoint of two has the types of one of them. */
static void marker_test_formats_of_objects(struct kunit *test)
{
	u64 from = log_end();

	need_fake(test);
	make_site(&fake->site[1], &fake->tp, "text %s");
	KUNIT_ASSERT_EQ(test, load_fake(), 0);
	expect_logged(test, from, "in another place \"text %s\"", 1U);
	KUNIT_EXPECT_EQ(test, attach("kunit_fake", FAKE_FORMAT, 1), -EPERM);
	KUNIT_EXPECT_EQ(test, attach("kunit_fake", "text %s", 1), -EPERM);
	KUNIT_EXPECT_FALSE(test, fake->tp.active);
	unload_fake();
}
#endif

/* The name and the format are copied: the caller may change them afterwards. */
static void marker_test_changing_name(struct kunit *test)
{
	char name[] = NUMBER, format[] = NUMBER_FORMAT;

	KUNIT_EXPECT_EQ(test, attach(name, format, 1), 0);
	memset(name, 'x', sizeof(name));
	memset(format, 'x', sizeof(format));
	KUNIT_EXPECT_EQ(test, fire(1), 1UL);
	KUNIT_EXPECT_EQ(test, remove(1), 0);
}

#define linux	1

/* A name is no macro. */
static void marker_test_name_of_a_macro(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, attach("linux", MARK_NOARGS, 1), 0);
	trace_mark(linux, MARK_NOARGS);
	KUNIT_EXPECT_EQ(test, calls, 1UL);
	KUNIT_EXPECT_EQ(test, detach("linux", 1), 0);
}

#undef linux

/* Twelve words, the maximum */
#define WORDS_FORMAT	"d %d u %u x %x ld %ld lu %lu lx %lx p %p c %c s %s %d%d%d"

static struct kunit *all_test;

static void check_words(va_list *args)
{
	struct kunit *test = all_test;
	int i;

	KUNIT_EXPECT_EQ(test, va_arg(*args, int), INT_MIN);
	KUNIT_EXPECT_EQ(test, va_arg(*args, unsigned int), UINT_MAX);
	KUNIT_EXPECT_EQ(test, va_arg(*args, unsigned int), 0x80000000);
	KUNIT_EXPECT_EQ(test, va_arg(*args, long), LONG_MIN);
	KUNIT_EXPECT_EQ(test, va_arg(*args, unsigned long), ULONG_MAX);
	KUNIT_EXPECT_EQ(test, va_arg(*args, unsigned long), 1UL);
	KUNIT_EXPECT_PTR_EQ(test, va_arg(*args, void *), (void *)test);
	KUNIT_EXPECT_EQ(test, va_arg(*args, int), 'c');
	KUNIT_EXPECT_STREQ(test, va_arg(*args, char *), "string");
	for (i = 10; i <= 12; i++)
		KUNIT_EXPECT_EQ(test, va_arg(*args, int), i);
	calls++;
}

static void list_words(void *private, void *call_private, const char *format,
		       va_list *args)
{
	KUNIT_EXPECT_STREQ(all_test, format, WORDS_FORMAT);
	KUNIT_EXPECT_NULL(all_test, call_private);
	check_words(args);
}

static void variadic_words(const struct __mark_marker *marker, void *private,
			   const char *format, ...)
{
	va_list args;

	va_start(args, format);
	check_words(&args);
	va_end(args);
}

/* Many values, and extreme ones, in both forms of probe. */
static void marker_test_values(struct kunit *test)
{
	all_test = test;
	KUNIT_EXPECT_EQ(test, 0, marker_probe_register("kunit_all", WORDS_FORMAT, list_words,
						       NULL));
	KUNIT_EXPECT_EQ(test, 0, marker_probe_register("kunit_all", WORDS_FORMAT, variadic_words,
						       NULL));
	marker_arm("kunit_all");
	trace_mark(kunit_all, WORDS_FORMAT, INT_MIN, UINT_MAX, 0x80000000, LONG_MIN, ULONG_MAX,
		   1UL, (void *)test, 'c', "string", 10, 11, 12);
	KUNIT_EXPECT_EQ(test, calls, 2UL);
	marker_disarm("kunit_all");
	KUNIT_EXPECT_EQ(test, marker_probe_unregister("kunit_all", list_words, NULL), 0);
	KUNIT_EXPECT_EQ(test, marker_probe_unregister("kunit_all", variadic_words, NULL), 0);
}

static void marker_test_load_guard(struct kunit *test)
{
	_trace_mark(kunit_load, MARK_NOARGS);
	KUNIT_EXPECT_EQ(test, calls, 0UL);
	attach("kunit_load", MARK_NOARGS, 5);
	_trace_mark(kunit_load, MARK_NOARGS);
	detach("kunit_load", 5);
	KUNIT_EXPECT_EQ(test, calls, 5UL);
}

static int count_sites(const struct marker *marker, struct module *mod, void *nr)
{
	*(unsigned int *)nr += mod == THIS_MODULE && !strcmp(marker->name, "kunit_sites");
	return 0;
}

/* Places that share a name and a format are one marker for probes. */
static void marker_test_sites(struct kunit *test)
{
	unsigned int nr = 0;

	attach("kunit_sites", "nr %d", 1);
	attach_variadic("kunit_sites", "nr %d", 1);
	trace_mark(kunit_sites, "nr %d", 1);
	trace_mark(kunit_sites, "nr %d", 2);
	KUNIT_EXPECT_EQ(test, calls, 11UL);
	KUNIT_EXPECT_EQ(test, for_each_marker(count_sites, &nr), 0);
	KUNIT_EXPECT_EQ(test, nr, 1U);
	detach_variadic("kunit_sites", 1);
	detach("kunit_sites", 1);
	trace_mark(kunit_sites, "nr %d", 3);
	KUNIT_EXPECT_EQ(test, calls, 11UL);
}

/* Only words, of which there are at most 12, can be passed. */
static void marker_test_bad_formats(struct kunit *test)
{
	static const struct { const char *format; int ret; } tries[] = {
		{ "%d%d%d%d%d%d%d%d%d%d%d%p", 0 },
		{ "%d%d%d%d%d%d%d%d%d%d%d%d%d", -EINVAL },
		{ "100%% %5.3ld %-8s", 0 }, { "%y", -EINVAL }, { "%*d", -EINVAL },
		{ "%lld", 0 },
	};
	u64 from = log_end();
	unsigned int i, nr = 0;

	for (i = 0; i < ARRAY_SIZE(tries); i++) {
		KUNIT_EXPECT_EQ(test, attach_variadic("kunit_x", tries[i].format, 1),
				tries[i].ret);
		KUNIT_EXPECT_EQ(test, detach_variadic("kunit_x", 1),
				tries[i].ret ? -ENOENT : 0);
		nr += !!tries[i].ret;
		KUNIT_EXPECT_EQ(test, attach("kunit_x", tries[i].format, 1), tries[i].ret);
		KUNIT_EXPECT_EQ(test, detach("kunit_x", 1), tries[i].ret ? -ENOENT : 0);
	}
	expect_logged(test, from, "kunit_x: no marker can have the format", 2 * nr);
}

static void marker_test_unknown_probe(struct kunit *test)
{
	u64 from = log_end();

	KUNIT_EXPECT_EQ(test, attach(NUMBER, "number %u", 1), -EPERM);
	expect_logged(test, from, NUMBER ": a probe wants the format \"number %u\"", 1U);
	KUNIT_EXPECT_EQ(test, remove(1), -ENOENT);
	add(1);
	KUNIT_EXPECT_EQ(test, add(1), -EEXIST);
	KUNIT_EXPECT_EQ(test, remove(2), -ENOENT);
	KUNIT_EXPECT_EQ(test, marker_probe_unregister(NUMBER, probe, digit(1)), -ENOENT);
	KUNIT_EXPECT_EQ(test, fire(1), 1UL);
	remove(1);
}

/* With a name alone, all variadic probes of that name are unregistered. */
static void marker_test_unregister_name(struct kunit *test)
{
	marker_probe_unregister(NUMBER);
	add(4);
	add_variadic(1);
	add_variadic(2);
	add(3);
	marker_arm(NUMBER);	/* attaches them, after the others */
	KUNIT_EXPECT_EQ(test, fire(1), 4312UL);
	marker_probe_unregister(NUMBER);
	KUNIT_EXPECT_EQ(test, fire(1), 43UL);
	marker_disarm(NUMBER);
	remove(3);
	remove(4);
}

/*
 * Each allocation of a registration, of which there are at least @nr - 1, fails once,
 * also for a name without a marker. What it allocated before is freed.
 */
static void try_without_memory(struct kunit *test,
			       int (*attach)(const char *name, const char *format,
					     unsigned long nr),
			       int (*detach)(const char *name, unsigned long nr),
			       const char *name, const char *format, int nr)
{
	int ret, nth;

	for (nth = 1; ; nth++) {
		if (tracks_memory)
			forget_memory();
		fail_nth_alloc(nth);
		ret = attach(name, format, 1);
		if (!nth_alloc_failed())
			break;
		stop_failing();
		KUNIT_EXPECT_EQ(test, detach(name, 1), ret ? -ENOENT : 0);
		if (!ret)	/* this allocation is optional */
			continue;
		KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
		let_work_end();
		expect_none_held(test);
	}
	stop_failing();
	KUNIT_EXPECT_EQ(test, ret, 0);
	KUNIT_EXPECT_GE(test, nth, nr);
	KUNIT_EXPECT_EQ(test, detach(name, 1), 0);
	let_work_end();
}

static void marker_test_no_memory(struct kunit *test)
{
	need_failing_alloc(test);
	try_without_memory(test, attach, detach, NUMBER, NUMBER_FORMAT, 2);
	add(2);
	try_without_memory(test, attach, detach, NUMBER, NUMBER_FORMAT, 2);
	KUNIT_EXPECT_EQ(test, fire(1), 2UL);
	remove(2);
	need_tracking(test);
	try_without_memory(test, attach, detach, "kunit_nowhere", "a %d", 4);
	try_without_memory(test, attach_variadic, detach_variadic, "kunit_nowhere", "a %d", 5);
}

static void marker_test_no_memory_to_remove(struct kunit *test)
{
	unsigned long i;
	int ret;

	need_failing_alloc(test);
	for (i = 1; i <= 3; i++)
		add(i);
	fail_next_alloc();
	ret = remove(2);
	stop_failing();
	KUNIT_EXPECT_EQ(test, ret, 0);
	KUNIT_EXPECT_EQ(test, fire(1), 13UL);
	KUNIT_EXPECT_EQ(test, remove(2), -ENOENT);
	KUNIT_EXPECT_EQ(test, remove(1), 0);
	KUNIT_EXPECT_EQ(test, remove(3), 0);
	KUNIT_EXPECT_EQ(test, fire(1), 0UL);
}

/* What was allocated for a name, its formats and its probes is freed with the last user. */
static void marker_test_frees(struct kunit *test)
{
	unsigned long i;

	need_tracking(test);
	for (i = 1; i <= 3; i++)
		attach("kunit_nowhere", "a %d", i);
	attach("kunit_nowhere", "b %d", 4);
	KUNIT_EXPECT_GT(test, memory.nr_held, 5U);
	KUNIT_EXPECT_EQ(test, attach("kunit_nowhere", "b %d", 4), -EEXIST);
	for (i = 1; i <= 4; i++)
		KUNIT_EXPECT_EQ(test, detach("kunit_nowhere", i), 0);
	let_work_end();
	expect_none_held(test);

	attach_variadic("kunit_nowhere", "a %d", 1);
	marker_arm("kunit_nowhere");
	marker_probe_unregister("kunit_nowhere");
	let_work_end();
	KUNIT_EXPECT_EQ(test, memory.nr_held, 1U);	/* the name */
	KUNIT_EXPECT_EQ(test, marker_disarm("kunit_nowhere"), 0);
	let_work_end();
	expect_none_held(test);

	KUNIT_EXPECT_EQ(test, attach_variadic("kunit_nowhere", "%y", 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, attach(NUMBER, "number %u", 1), -EPERM);
	let_work_end();
	expect_none_held(test);
}

static struct kunit_case marker_test_cases[] = {
	KUNIT_CASE(marker_test_several),
	KUNIT_CASE(marker_test_functions),
	KUNIT_CASE(marker_test_arm_nests),
	KUNIT_CASE(marker_test_arm_stays),
	KUNIT_CASE(marker_test_deferred_by_another),
	KUNIT_CASE(expect_inline_marker),
#ifdef CONFIG_MODULES
	KUNIT_CASE(marker_test_two_formats),
	KUNIT_CASE(marker_test_formats_of_objects),
#endif
	KUNIT_CASE(marker_test_changing_name),
	KUNIT_CASE(marker_test_name_of_a_macro),
	KUNIT_CASE(marker_test_values),
	KUNIT_CASE(marker_test_load_guard),
	KUNIT_CASE(marker_test_sites),
	KUNIT_CASE(marker_test_bad_formats),
	KUNIT_CASE(marker_test_unknown_probe),
	KUNIT_CASE(marker_test_unregister_name),
	KUNIT_CASE(marker_test_no_memory),
	KUNIT_CASE(marker_test_no_memory_to_remove),
	KUNIT_CASE(marker_test_frees),
	{ }
};

static struct kunit_suite marker_test_suite = {
	.name = "marker",
	.init = marker_test_init,
	.exit = marker_test_exit,
	.test_cases = marker_test_cases,
};
kunit_test_suite(marker_test_suite);

MODULE_DESCRIPTION("KUnit tests of markers");
MODULE_LICENSE("GPL");
