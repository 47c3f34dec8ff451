// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of markers: which probes are called, with which values, and what
 * registration returns.
 */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kmsg_dump.h>
#include <linux/limits.h>
#include <linux/marker.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/srcu.h>
#include <linux/string.h>
#include <linux/stringhash.h>
#include <linux/trace_events.h>
#include <linux/vmalloc.h>

#include "../kernel/markers/markers.h"
#include "test_call.h"
#include "test_defer.h"
#include "test_fail_alloc.h"
#include "test_memory.h"
#include "test_module_memory.h"
#include "test_resched.h"
#include "test_symbol.h"

#define NUMBER_FORMAT	"number %d text %s"

DECLARE_TRACE(kunit_marked, TP_PROTO(int number), TP_ARGS(number));

static int reg_result;

static int test_reg(void)
{
	return reg_result;
}

DEFINE_TRACE_FN(kunit_marked, test_reg, NULL, TP_PROTO(int number),
		TP_ARGS(number));

DECLARE_TRACE(kunit_fed, TP_PROTO(int number), TP_ARGS(number));

static int fed_result;

static int fed_reg(void)
{
	return fed_result;
}

static void fed_unreg(void);

DEFINE_TRACE_FN(kunit_fed, fed_reg, fed_unreg, TP_PROTO(int number), TP_ARGS(number));

DECLARE_TRACE(kunit_third, TP_PROTO(int number), TP_ARGS(number));
DEFINE_TRACE(kunit_third, TP_PROTO(int number), TP_ARGS(number));

/* What the probes recorded: each call appends its private digit to calls. */
static unsigned long calls;
static int last_number;
static char last_text[16];
static const char *last_name;

static void *digit(unsigned long nr)
{
	return (void *)nr;
}

static void note_call(void *private)
{
	calls = calls * 10 + (unsigned long)private;
}

static void probe(void *private, void *call_private, const char *format,
		  va_list *args)
{
	note_call(private);
	last_number = va_arg(*args, int);
	strscpy(last_text, va_arg(*args, char *), sizeof(last_text));
}

static void probe_ignore(void *private, void *call_private, const char *format,
			 va_list *args)
{
	note_call(private);
}

static void variadic(const struct __mark_marker *marker, void *private,
		     const char *format, ...)
{
	va_list args;

	note_call(private);
	last_name = marker->name;
	va_start(args, format);
	last_number = va_arg(args, int);
	strscpy(last_text, va_arg(args, char *), sizeof(last_text));
	va_end(args);
}

static void variadic_ignore(const struct __mark_marker *marker, void *private,
			    const char *format, ...)
{
	note_call(private);
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

/* The call to be started when a callback of a test is called next, or NULL. */
static struct other_call *next_call;

static void start_next_call(void)
{
	struct other_call *other = next_call;

	next_call = NULL;
	if (other)
		start_call(other);
}

static void fed_unreg(void)
{
	start_next_call();
}

/* Where the log ends now, for count_logged(). */
static u64 log_end(void)
{
	struct kmsg_dump_iter iter = { };

	kmsg_dump_rewind(&iter);
	return iter.next_seq;
}

/* Number of messages after the position that contain the text. */
static unsigned int count_logged(u64 from, const char *text)
{
	static char line[512];
	struct kmsg_dump_iter iter = { };
	unsigned int count = 0;
	size_t len;

	kmsg_dump_rewind(&iter);
	iter.cur_seq = max(iter.cur_seq, from);
	while (kmsg_dump_get_line(&iter, false, line, sizeof(line), &len))
		count += !!strstr(line, text);
	return count;
}

static int marker_test_init(struct kunit *test)
{
	calls = 0;
	last_number = 0;
	last_text[0] = '\0';
	last_name = NULL;
	nr_evaluated = 0;
	reg_result = 0;
	fed_result = 0;
	next_call = NULL;
	return 0;
}

/* The markers that marker_test_exit() cleans up. */
static const char *const used_names[] = {
	"kunit_number", "kunit_all", "kunit_noargs", "kunit_load", "kunit_sites",
	"kunit_nowhere", "kunit_x", "kunit_tp_a", "kunit_tp_b", "kunit_two",
	"kunit_fed_a", "kunit_fed_b", "kunit_fed_c", "kunit_fed_twice",
	"kunit_half_a", "kunit_half_b", "kunit_fake", "kunit_fake_fed", "kunit_sixteen",
	"kunit_fake_freed", "kunit_fake_gone", "kunit_fake_late",
};

static bool detach_any(void *func)
{
	unsigned long nr;

	for (nr = 0; nr < 10; nr++)
		if (!__marker_probe_unregister_private_data(func, digit(nr)))
			return true;
	return false;
}

static void probe_all(void *private, void *call_private, const char *format,
		      va_list *args);

/* Detaches and disarms what a failed case left behind. */
static void marker_test_exit(struct kunit *test)
{
	unsigned int i;

	stop_failing();
	stop_tracking();
	next_call = NULL;
	while (detach_any(probe) || detach_any(probe_ignore) || detach_any(probe_all))
		;
	for (i = 0; i < ARRAY_SIZE(used_names); i++) {
		marker_probe_unregister(used_names[i]);
		while (!marker_disarm(used_names[i]))
			;
	}
	marker_synchronize_unregister();
}

static void marker_test_off(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, fire(1), 0UL);
	KUNIT_EXPECT_EQ(test, nr_evaluated, 0);
}

static void marker_test_on_and_off(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, marker_probe_register("kunit_number", NUMBER_FORMAT,
						    probe, digit(1)), 0);
	KUNIT_EXPECT_EQ(test, fire(-7), 1UL);
	KUNIT_EXPECT_EQ(test, last_number, -7);
	KUNIT_EXPECT_STREQ(test, last_text, "text");
	KUNIT_EXPECT_EQ(test, nr_evaluated, 1);
	KUNIT_EXPECT_EQ(test, marker_probe_unregister("kunit_number", probe, digit(1)), 0);
	KUNIT_EXPECT_EQ(test, fire(2), 0UL);
	KUNIT_EXPECT_EQ(test, nr_evaluated, 1);
}

/* Each probe gets its own va_list. */
static void marker_test_several(struct kunit *test)
{
	unsigned long i;

	for (i = 1; i <= 3; i++)
		KUNIT_ASSERT_EQ(test, marker_probe_register("kunit_number", NUMBER_FORMAT,
							    probe, digit(i)), 0);
	KUNIT_EXPECT_EQ(test, fire(4), 123UL);
	KUNIT_EXPECT_EQ(test, last_number, 4);
	KUNIT_EXPECT_STREQ(test, last_text, "text");
	marker_probe_unregister("kunit_number", probe, digit(1));
	KUNIT_EXPECT_EQ(test, fire(5), 23UL);
	marker_probe_unregister("kunit_number", probe, digit(3));
	marker_probe_unregister("kunit_number", probe, digit(2));
	KUNIT_EXPECT_EQ(test, fire(6), 0UL);
}

static void marker_test_variadic(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, marker_probe_register("kunit_number", NUMBER_FORMAT,
						    variadic, digit(1)), 0);
	KUNIT_EXPECT_EQ(test, fire(1), 0UL);
	KUNIT_EXPECT_EQ(test, nr_evaluated, 0);
	KUNIT_EXPECT_EQ(test, marker_arm("kunit_number"), 0);
	KUNIT_EXPECT_EQ(test, fire(8), 1UL);
	KUNIT_EXPECT_EQ(test, last_number, 8);
	KUNIT_EXPECT_STREQ(test, last_text, "text");
	KUNIT_EXPECT_STREQ(test, last_name, "kunit_number");
	KUNIT_EXPECT_EQ(test, marker_disarm("kunit_number"), 0);
	KUNIT_EXPECT_EQ(test, fire(9), 0UL);
	KUNIT_EXPECT_EQ(test, marker_probe_unregister("kunit_number", variadic, digit(1)), 0);
}

static void marker_test_arm_nests(struct kunit *test)
{
	marker_probe_register("kunit_number", NUMBER_FORMAT, variadic, digit(1));
	KUNIT_EXPECT_EQ(test, marker_disarm("kunit_number"), -EINVAL);
	marker_arm("kunit_number");
	marker_arm("kunit_number");
	marker_arm("kunit_number");
	KUNIT_EXPECT_EQ(test, marker_disarm("kunit_number"), 0);
	KUNIT_EXPECT_EQ(test, marker_disarm("kunit_number"), 0);
	KUNIT_EXPECT_EQ(test, fire(1), 1UL);
	KUNIT_EXPECT_EQ(test, marker_disarm("kunit_number"), 0);
	KUNIT_EXPECT_EQ(test, fire(1), 0UL);
	KUNIT_EXPECT_EQ(test, marker_disarm("kunit_number"), -EINVAL);
	marker_probe_unregister("kunit_number", variadic, digit(1));
	KUNIT_EXPECT_EQ(test, marker_arm("kunit_number"), -ENOENT);
	KUNIT_EXPECT_EQ(test, marker_disarm("kunit_number"), -ENOENT);
	KUNIT_EXPECT_EQ(test, marker_arm("kunit_nobody"), -ENOENT);
	KUNIT_EXPECT_EQ(test, marker_arm(NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, marker_disarm(""), -EINVAL);
}

/* A marker stays armed when its probes are unregistered. */
static void marker_test_arm_stays(struct kunit *test)
{
	marker_probe_register("kunit_number", NUMBER_FORMAT, variadic, digit(1));
	marker_arm("kunit_number");
	marker_probe_unregister("kunit_number", variadic, digit(1));
	KUNIT_EXPECT_EQ(test, fire(1), 0UL);
	marker_probe_register("kunit_number", NUMBER_FORMAT, variadic, digit(2));
	KUNIT_EXPECT_EQ(test, fire(1), 2UL);
	marker_probe_unregister("kunit_number", variadic, digit(2));
	KUNIT_EXPECT_EQ(test, marker_disarm("kunit_number"), 0);
	KUNIT_EXPECT_EQ(test, marker_disarm("kunit_number"), -ENOENT);
}

static void attach_first(void)
{
	marker_probe_register("kunit_number", NUMBER_FORMAT, probe, digit(1));
}

static void attach_and_arm(void)
{
	marker_probe_register("kunit_number", NUMBER_FORMAT, variadic, digit(1));
	marker_arm("kunit_number");
}

/* A second probe, or arming again, takes effect at once while another task defers. */
static void marker_test_deferred_by_another(struct kunit *test)
{
	struct deferrer deferrer;

	KUNIT_ASSERT_TRUE(test, start_deferring(&deferrer, attach_first));
	marker_probe_register("kunit_number", NUMBER_FORMAT, probe, digit(2));
	KUNIT_EXPECT_EQ(test, fire(1), 12UL);
	stop_deferring(&deferrer);
	KUNIT_EXPECT_EQ(test, deferrer.deferred, IS_ENABLED(CONFIG_IMMEDIATE_SITES));
	marker_probe_unregister("kunit_number", probe, digit(1));
	marker_probe_unregister("kunit_number", probe, digit(2));

	KUNIT_ASSERT_TRUE(test, start_deferring(&deferrer, attach_and_arm));
	marker_arm("kunit_number");
	KUNIT_EXPECT_EQ(test, fire(1), 1UL);
	stop_deferring(&deferrer);
	KUNIT_EXPECT_EQ(test, deferrer.deferred, IS_ENABLED(CONFIG_IMMEDIATE_SITES));
}

static void marker_test_both_forms(struct kunit *test)
{
	marker_probe_register("kunit_number", NUMBER_FORMAT, variadic, digit(1));
	marker_probe_register("kunit_number", NUMBER_FORMAT, probe, digit(2));
	KUNIT_EXPECT_EQ(test, fire(1), 2UL);
	marker_arm("kunit_number");
	KUNIT_EXPECT_EQ(test, fire(1), 12UL);
	KUNIT_EXPECT_EQ(test, last_number, 1);
	marker_disarm("kunit_number");
	KUNIT_EXPECT_EQ(test, fire(1), 2UL);
	marker_probe_unregister("kunit_number", probe, digit(2));
	marker_probe_unregister("kunit_number", variadic, digit(1));
}

static noinline void fire_two(void)
{
	trace_mark(kunit_two, "one %d", 1);
	trace_mark(kunit_two, "two %u", 2);
}

/* The arm count belongs to the name, not to a format. */
static void marker_test_two_formats(struct kunit *test)
{
	marker_probe_register("kunit_two", "one %d", variadic_ignore, digit(1));
	KUNIT_EXPECT_EQ(test, marker_arm("kunit_two"), 0);
	fire_two();
	KUNIT_EXPECT_EQ(test, calls, 1UL);
	marker_probe_register("kunit_two", "two %u", variadic_ignore, digit(2));
	fire_two();
	KUNIT_EXPECT_EQ(test, calls, 112UL);
	KUNIT_EXPECT_EQ(test, marker_disarm("kunit_two"), 0);
	fire_two();
	KUNIT_EXPECT_EQ(test, calls, 112UL);
	KUNIT_EXPECT_EQ(test, marker_disarm("kunit_two"), -EINVAL);
	KUNIT_EXPECT_EQ(test, marker_probe_unregister("kunit_two"), 0);
}

/* The name and the format are copied: the caller may change them afterwards. */
static void marker_test_changing_name(struct kunit *test)
{
	char name[] = "kunit_number", format[] = NUMBER_FORMAT;

	KUNIT_EXPECT_EQ(test, marker_probe_register(name, format, probe, digit(1)), 0);
	memset(name, 'x', sizeof(name));
	memset(format, 'x', sizeof(format));
	KUNIT_EXPECT_EQ(test, fire(1), 1UL);
	KUNIT_EXPECT_EQ(test, marker_probe_unregister("kunit_number", probe, digit(1)), 0);
}

#define ALL_FORMAT							\
	"d %d u %u x %x ld %ld lu %lu lx %lx lld %lld llu %llu p %p c %c s %s"

static struct kunit *all_test;

static void check_all(va_list *args)
{
	struct kunit *test = all_test;

	KUNIT_EXPECT_EQ(test, va_arg(*args, int), INT_MIN);
	KUNIT_EXPECT_EQ(test, va_arg(*args, unsigned int), UINT_MAX);
	KUNIT_EXPECT_EQ(test, va_arg(*args, unsigned int), 0x80000000);
	KUNIT_EXPECT_EQ(test, va_arg(*args, long), LONG_MIN);
	KUNIT_EXPECT_EQ(test, va_arg(*args, unsigned long), ULONG_MAX);
	KUNIT_EXPECT_EQ(test, va_arg(*args, unsigned long), 1UL);
	KUNIT_EXPECT_EQ(test, va_arg(*args, long long), LLONG_MIN);
	KUNIT_EXPECT_EQ(test, va_arg(*args, unsigned long long), ULLONG_MAX);
	KUNIT_EXPECT_PTR_EQ(test, va_arg(*args, void *), (void *)test);
	KUNIT_EXPECT_EQ(test, va_arg(*args, int), 'c');
	KUNIT_EXPECT_STREQ(test, va_arg(*args, char *), "string");
	calls++;
}

static void probe_all(void *private, void *call_private, const char *format,
		      va_list *args)
{
	KUNIT_EXPECT_STREQ(all_test, format, ALL_FORMAT);
	KUNIT_EXPECT_NULL(all_test, call_private);
	check_all(args);
}

static void variadic_all(const struct __mark_marker *marker, void *private,
			 const char *format, ...)
{
	va_list args;

	va_start(args, format);
	check_all(&args);
	va_end(args);
}

/* Every conversion, with extreme values, in both forms of probe. */
static void marker_test_values(struct kunit *test)
{
	all_test = test;
	KUNIT_ASSERT_EQ(test, marker_probe_register("kunit_all", ALL_FORMAT,
						    probe_all, NULL), 0);
	KUNIT_ASSERT_EQ(test, marker_probe_register("kunit_all", ALL_FORMAT,
						    variadic_all, NULL), 0);
	marker_arm("kunit_all");
	trace_mark(kunit_all, ALL_FORMAT, INT_MIN, UINT_MAX, 0x80000000,
		   LONG_MIN, ULONG_MAX, 1UL, LLONG_MIN, ULLONG_MAX,
		   (void *)test, 'c', "string");
	marker_disarm("kunit_all");
	marker_probe_unregister("kunit_all", probe_all, NULL);
	marker_probe_unregister("kunit_all", variadic_all, NULL);
	KUNIT_EXPECT_EQ(test, calls, 2UL);
}

/* Requests a reschedule, like the timer interrupt. */
static void probe_asks(void *private, void *call_private, const char *format,
		       va_list *args)
{
	note_call(private);
	ask_for_task_switch();
}

/* A hit reschedules when it re-enables preemption. */
static void marker_test_resched(struct kunit *test)
{
	unsigned int i, late = 0;

	if (!kernel_preempts_itself())
		kunit_skip(test, "needs a kernel that preempts itself");
	marker_probe_register("kunit_number", NUMBER_FORMAT, probe_asks, digit(1));
	for (i = 0; i < 100; i++) {
		KUNIT_EXPECT_EQ(test, fire(1), 1UL);
		late += need_resched();
	}
	KUNIT_EXPECT_EQ(test, late, 0);
	marker_probe_unregister("kunit_number", probe_asks, digit(1));
}

static void marker_test_noargs(struct kunit *test)
{
	marker_probe_register("kunit_noargs", MARK_NOARGS, probe_ignore, digit(5));
	trace_mark(kunit_noargs, MARK_NOARGS);
	marker_probe_unregister("kunit_noargs", probe_ignore, digit(5));
	KUNIT_EXPECT_EQ(test, calls, 5UL);
}

static void marker_test_load_guard(struct kunit *test)
{
	_trace_mark(kunit_load, "nr %d", 1);
	KUNIT_EXPECT_EQ(test, calls, 0UL);
	marker_probe_register("kunit_load", "nr %d", probe_ignore, digit(5));
	_trace_mark(kunit_load, "nr %d", 1);
	marker_probe_unregister("kunit_load", probe_ignore, digit(5));
	KUNIT_EXPECT_EQ(test, calls, 5UL);
}

static int count_listed(const struct marker_info *info, void *priv)
{
	struct marker_info *wanted = priv;

	if (strcmp(info->marker->name, "kunit_sites"))
		return 0;
	*wanted = *info;
	return 1;
}

static int stop_at_once(const struct marker_info *info, void *priv)
{
	++*(unsigned int *)priv;
	return -EINTR;
}

static void marker_test_walk_stops(struct kunit *test)
{
	unsigned int visited = 0;

	KUNIT_EXPECT_EQ(test, for_each_marker(stop_at_once, &visited), -EINTR);
	KUNIT_EXPECT_EQ(test, visited, 1U);
	KUNIT_EXPECT_EQ(test, for_each_marker_of(THIS_MODULE, stop_at_once, &visited), -EINTR);
	KUNIT_EXPECT_EQ(test, visited, 2U);
	/* This is no module. */
	KUNIT_EXPECT_EQ(test, for_each_marker_of((struct module *)test, stop_at_once,
						 &visited), 0);
	KUNIT_EXPECT_EQ(test, visited, 2U);
}

/* Sites that share a name and a format are one marker for probes. */
static void marker_test_sites(struct kunit *test)
{
	struct marker_info info = { };

	marker_probe_register("kunit_sites", "nr %d", probe_ignore, digit(1));
	marker_probe_register("kunit_sites", "nr %d", variadic, digit(1));
	trace_mark(kunit_sites, "nr %d", 1);
	trace_mark(kunit_sites, "nr %d", 2);
	KUNIT_EXPECT_EQ(test, calls, 11UL);
	KUNIT_EXPECT_EQ(test, for_each_marker(count_listed, &info), 1);
	KUNIT_EXPECT_EQ(test, info.sites, 3U);
	KUNIT_EXPECT_EQ(test, info.probes, 2U);
	KUNIT_EXPECT_EQ(test, info.armed, 0U);
	memset(&info, 0, sizeof(info));
	KUNIT_EXPECT_EQ(test, for_each_marker_of(THIS_MODULE, count_listed, &info), 1);
	KUNIT_EXPECT_EQ(test, info.sites, 3U);
	KUNIT_EXPECT_PTR_EQ(test, info.mod, THIS_MODULE);
	marker_probe_unregister("kunit_sites", variadic, digit(1));
	marker_probe_unregister("kunit_sites", probe_ignore, digit(1));
	trace_mark(kunit_sites, "nr %d", 3);
	KUNIT_EXPECT_EQ(test, calls, 11UL);
}

static void marker_test_waits(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, marker_probe_register("kunit_nowhere", "%d",
						    probe_ignore, NULL), 0);
	KUNIT_EXPECT_EQ(test, marker_probe_register("kunit_nowhere", "%d",
						    probe_ignore, NULL), -EEXIST);
	KUNIT_EXPECT_EQ(test, marker_probe_unregister("kunit_nowhere", probe_ignore,
						      NULL), 0);
}

/* Markers are looked up by the hash of the name; these two collide on some machines. */
static void marker_test_same_hash(struct kunit *test)
{
	static const char a[] = "kunit_hash_60216", b[] = "kunit_hash_220715";

	if (full_name_hash(NULL, a, strlen(a)) != full_name_hash(NULL, b, strlen(b)))
		kunit_skip(test, "these names have other hashes here");
	KUNIT_EXPECT_EQ(test, marker_probe_register(a, "%d", probe_ignore, digit(1)), 0);
	KUNIT_EXPECT_EQ(test, marker_probe_unregister(b, probe_ignore, digit(1)), -ENOENT);
	KUNIT_EXPECT_EQ(test, marker_probe_register(b, "%u", probe_ignore, digit(1)), 0);
	KUNIT_EXPECT_EQ(test, marker_probe_unregister(a, probe_ignore, digit(1)), 0);
	KUNIT_EXPECT_EQ(test, marker_probe_unregister(a, probe_ignore, digit(1)), -ENOENT);
	KUNIT_EXPECT_EQ(test, marker_probe_unregister(b, probe_ignore, digit(1)), 0);
}

static void marker_test_wrong_format(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, marker_probe_register("kunit_number", "number %u",
						    probe, digit(1)), -EPERM);
	KUNIT_EXPECT_EQ(test, fire(1), 0UL);
	KUNIT_EXPECT_EQ(test, marker_probe_unregister("kunit_number", probe,
						      digit(1)), -ENOENT);
}

static void marker_test_bad_arguments(struct kunit *test)
{
	char name[MARKER_NAME_LEN + 1];
	marker_probe_func *no_probe = NULL;

	KUNIT_EXPECT_EQ(test, marker_probe_register(NULL, "%d", probe, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, marker_probe_register("kunit_x", NULL, probe, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, marker_probe_register("kunit_x", NULL, variadic, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, marker_probe_register("kunit_x", "%d", no_probe, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, marker_probe_register("", "%d", probe, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, marker_probe_register("", "%d", variadic, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, marker_probe_register(NULL, "%d", variadic, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, marker_probe_unregister(NULL, probe, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, marker_probe_unregister("kunit_x", NULL, NULL), -EINVAL);

	memset(name, 'x', sizeof(name));
	name[MARKER_NAME_LEN] = '\0';
	KUNIT_EXPECT_EQ(test, marker_probe_register(name, "%d", probe, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, marker_probe_register(name, "%d", variadic, NULL), -EINVAL);
	name[MARKER_NAME_LEN - 1] = '\0';
	KUNIT_EXPECT_EQ(test, marker_probe_register(name, "%d", probe, NULL), 0);
	KUNIT_EXPECT_EQ(test, marker_probe_unregister(name, probe, NULL), 0);

	/* The shortest name */
	KUNIT_EXPECT_EQ(test, marker_probe_register("k", "%d", probe, NULL), 0);
	KUNIT_EXPECT_EQ(test, marker_probe_unregister("k", probe, NULL), 0);
}

static void marker_test_long_format(struct kunit *test)
{
	char *format = kunit_kzalloc(test, MARKER_FORMAT_LEN + 1, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, format);
	memset(format, 'x', MARKER_FORMAT_LEN);
	KUNIT_EXPECT_EQ(test, marker_probe_register("kunit_x", format, probe, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, marker_probe_unregister("kunit_x", probe, NULL), -ENOENT);
	format[MARKER_FORMAT_LEN - 1] = '\0';
	KUNIT_EXPECT_EQ(test, marker_probe_register("kunit_x", format, probe, NULL), 0);
	KUNIT_EXPECT_EQ(test, marker_probe_unregister("kunit_x", probe, NULL), 0);
}

static void marker_test_variadic_formats(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, marker_probe_register("kunit_x", "%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d",
						    variadic, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, marker_probe_register("kunit_x", "%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d",
						    probe_ignore, NULL), 0);
	KUNIT_EXPECT_EQ(test, marker_probe_unregister("kunit_x", probe_ignore, NULL), 0);
	KUNIT_EXPECT_EQ(test, marker_probe_register("kunit_x", "%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%p",
						    variadic, NULL), 0);
	KUNIT_EXPECT_EQ(test, marker_probe_unregister("kunit_x", variadic, NULL), 0);
	KUNIT_EXPECT_EQ(test, marker_probe_register("kunit_x", "%y", variadic, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, marker_probe_register("kunit_x", "%*d", variadic, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, marker_probe_register("kunit_x", "100%% %5.3ld %-8s",
						    variadic, NULL), 0);
	KUNIT_EXPECT_EQ(test, marker_probe_unregister("kunit_x", variadic, NULL), 0);
}

#define SIXTEEN_FORMAT	"%d %d %d %d %d %d %d %d %d %d %d %d %d %d %ld %ld"

/* The maximal number of arguments of a variadic probe. */
static void variadic_sixteen(const struct __mark_marker *marker, void *private,
			     const char *format, ...)
{
	va_list args;
	int i;

	va_start(args, format);
	for (i = 1; i <= 14 && va_arg(args, int) == i; i++)
		;
	if (i == 15 && va_arg(args, long) == LONG_MIN && va_arg(args, long) == LONG_MAX)
		note_call(private);
	va_end(args);
}

static void marker_test_sixteen(struct kunit *test)
{
	marker_probe_register("kunit_sixteen", SIXTEEN_FORMAT, variadic_sixteen, digit(1));
	marker_probe_register("kunit_sixteen", SIXTEEN_FORMAT, variadic_sixteen, digit(2));
	marker_arm("kunit_sixteen");
	trace_mark(kunit_sixteen, SIXTEEN_FORMAT, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
		   LONG_MIN, LONG_MAX);
	KUNIT_EXPECT_EQ(test, calls, 12UL);
	marker_disarm("kunit_sixteen");
	KUNIT_EXPECT_EQ(test, marker_probe_unregister("kunit_sixteen"), 0);
}

static struct marker_layout *new_layout(struct kunit *test, const char *format)
{
	struct marker_layout *layout = marker_layout_new(format);

	KUNIT_EXPECT_FALSE_MSG(test, IS_ERR(layout), "%s", format);
	if (IS_ERR(layout))
		return NULL;
	KUNIT_EXPECT_STREQ(test, layout->format, format);
	KUNIT_EXPECT_PTR_NE(test, layout->format, format);
	return layout;
}

static void expect_names(struct kunit *test, const char *format,
			 const char *const *names)
{
	struct marker_layout *layout = new_layout(test, format);
	unsigned int i;

	if (!layout)
		return;
	for (i = 0; names[i] && i < layout->nr_fields; i++)
		KUNIT_EXPECT_STREQ(test, layout->field[i].name, names[i]);
	KUNIT_EXPECT_EQ(test, layout->nr_fields, i);
	KUNIT_EXPECT_NULL(test, names[i]);
	marker_layout_free(layout);
}

static void marker_test_names(struct kunit *test)
{
	expect_names(test, "100%% at addr 0x%08lx, size=%u name_2: %s (%d,%d)",
		     (const char *[]){ "addr", "size", "name_2", "arg4", "arg5", NULL });
	/* Not used as names: one that is taken, C keywords, a common field, digits. */
	expect_names(test, "a %d a %d while %d common_pid %d 12 %d auto %d",
		     (const char *[]){ "a", "arg2", "arg3", "arg4", "arg5", "arg6", NULL });
	expect_names(test, "_Bool %d typeof %d _bool %d",
		     (const char *[]){ "arg1", "arg2", "_bool", NULL });
	/* The default name of the second field is taken. */
	expect_names(test, "arg2 %d %d %d",
		     (const char *[]){ "arg2", "arg3", "arg4", NULL });
	/* A long name that is not used is overwritten; a name ends where a conversion does. */
	expect_names(test, "common_pid %d ab %d", (const char *[]){ "arg1", "ab", NULL });
	expect_names(test, "x%dabc %d", (const char *[]){ "x", "abc", NULL });
	expect_names(test, "%sx %s", (const char *[]){ "arg1", "x", NULL });
	expect_names(test, MARK_NOARGS, (const char *[]){ NULL });
	expect_names(test, "", (const char *[]){ NULL });
	/* Histograms have buffers for names of fields, of a limited size. */
	expect_names(test, "a_name_of_thirty_one_characters %d",
		     (const char *[]){ "a_name_of_thirty_one_characters", NULL });
	expect_names(test, "a_name_of_thirty_two_characters_ %d",
		     (const char *[]){ "arg1", NULL });
}

static void repeat(char *to, const char *text, unsigned int count)
{
	for (; count--; to += strlen(text))
		memcpy(to, text, strlen(text) + 1);
}

static void marker_test_many_fields(struct kunit *test)
{
	size_t size = 8 * (MARKER_MAX_FIELDS + 1);
	char *format = kunit_kzalloc(test, size, GFP_KERNEL);
	struct marker_layout *layout;

	KUNIT_ASSERT_NOT_NULL(test, format);
	repeat(format, "%d ", MARKER_MAX_FIELDS);
	layout = new_layout(test, format);
	if (layout)
		KUNIT_EXPECT_STREQ(test, layout->field[63].name, "arg64");
	marker_layout_free(layout);
	repeat(format, "%d ", MARKER_MAX_FIELDS + 1);
	KUNIT_EXPECT_PTR_EQ(test, marker_layout_new(format), ERR_PTR(-E2BIG));

	memset(format, 0, size);
	repeat(format, "%s ", MARKER_MAX_STRINGS);
	layout = new_layout(test, format);
	if (layout)
		KUNIT_EXPECT_EQ(test, layout->nr_strings, MARKER_MAX_STRINGS);
	marker_layout_free(layout);
	repeat(format, "%s ", MARKER_MAX_STRINGS + 1);
	KUNIT_EXPECT_PTR_EQ(test, marker_layout_new(format), ERR_PTR(-E2BIG));
}

/* A larger one would be printed as another number. */
static void marker_test_max_precision(struct kunit *test)
{
	struct marker_layout *layout = new_layout(test, "%.32767s %032767d");

	if (layout)
		KUNIT_EXPECT_EQ(test, layout->field[0].precision, MARKER_MAX_WIDTH);
	marker_layout_free(layout);
	KUNIT_EXPECT_PTR_EQ(test, marker_layout_new("%.32768s"), ERR_PTR(-EINVAL));
	KUNIT_EXPECT_PTR_EQ(test, marker_layout_new("%32768d"), ERR_PTR(-EINVAL));
	KUNIT_EXPECT_PTR_EQ(test, marker_layout_new("%.99999999999s"), ERR_PTR(-EINVAL));
}

/* The last name must end in the memory of the layout. */
static void expect_fits(struct kunit *test, const char *format)
{
	struct marker_layout *layout = new_layout(test, format);
	const char *last;
	size_t used;

	if (!layout)
		return;
	last = layout->field[layout->nr_fields - 1].name;
	used = last + strlen(last) + 1 - (const char *)layout;
	KUNIT_EXPECT_LE(test, used, ksize(layout));
	marker_layout_free(layout);
}

/* The names of any number of fields, and a long one, have enough memory. */
static void marker_test_layout_fits(struct kunit *test)
{
	char *format = kunit_kzalloc(test, MARKER_FORMAT_LEN, GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, format);
	for (i = 1; i <= MARKER_MAX_FIELDS; i++) {
		repeat(format, "%d", i);
		expect_fits(test, format);
	}
	repeat(format, "x", 3000);
	memcpy(format + 3000, " %d", sizeof(" %d"));
	expect_fits(test, format);
}

static unsigned long states;

static unsigned int digit_of(unsigned long state)
{
	return state == MARKERS_COMING ? 1 : state == MARKERS_GOING ? 2 : 3;
}

static int note_state(struct notifier_block *nb, unsigned long state, void *mod)
{
	if (mod == THIS_MODULE)
		states = states * 10 + digit_of(state);
	return NOTIFY_OK;
}

/* A new notifier is called for modules that are loaded, and with NULL for the kernel. */
static void marker_test_notifier(struct kunit *test)
{
	struct notifier_block nb = { .notifier_call = note_state };

	states = 0;
	KUNIT_ASSERT_EQ(test, register_marker_notifier(&nb), 0);
	KUNIT_EXPECT_EQ(test, states, 1UL);
	KUNIT_EXPECT_EQ(test, unregister_marker_notifier(&nb), 0);
	KUNIT_EXPECT_EQ(test, states, 12UL);
	KUNIT_EXPECT_EQ(test, unregister_marker_notifier(&nb), -ENOENT);
	KUNIT_EXPECT_EQ(test, states, 12UL);
}

static void detach_number(void)
{
	marker_probe_unregister("kunit_number", probe, digit(1));
}

static void detach_number_by_name(void)
{
	marker_probe_unregister("kunit_number");
}

static void detach_number_by_data(void)
{
	marker_probe_unregister_private_data(probe, digit(1));
}

static void look_up_number(void)
{
	marker_get_private_data("kunit_number", probe, 0);
}

static void arm_number(void)
{
	marker_arm("kunit_number");
}

static void disarm_number(void)
{
	marker_disarm("kunit_number");
}

static void walk(void)
{
	unsigned int visited = 0;

	for_each_marker(stop_at_once, &visited);
}

static void walk_this_module(void)
{
	unsigned int visited = 0;

	for_each_marker_of(THIS_MODULE, stop_at_once, &visited);
}

static int visit_and_start(const struct marker_info *info, void *priv)
{
	start_call(priv);
	return 1;
}

/* A call that changes or reads the registry waits while markers are visited. */
static void marker_test_waits_for_walk(struct kunit *test)
{
	static void (*const functions[])(void) = {
		attach_first, look_up_number, arm_number, disarm_number, detach_number,
		attach_first, detach_number_by_data, detach_number_by_name, walk,
		walk_this_module,
	};
	struct other_call other = { };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(functions); i++) {
		other.call = functions[i];
		for_each_marker(visit_and_start, &other);
		end_call(&other);
		KUNIT_EXPECT_TRUE_MSG(test, other.waited, "%ps", functions[i]);
	}
	KUNIT_EXPECT_EQ(test, fire(1), 0UL);
}

/* The functions for the list of entries whose event must be removed. */
static struct {
	typeof(&marker_is_stale) is_any;
	typeof(&marker_take_stale) take;
	typeof(&marker_move_stale) move;
	typeof(&marker_return_stale) put_back;
} stale;

static bool find_stale_functions(void)
{
	stale.is_any = find_function("marker_is_stale");
	stale.take = find_function("marker_take_stale");
	stale.move = find_function("marker_move_stale");
	stale.put_back = find_function("marker_return_stale");
	return stale.is_any && stale.take && stale.move && stale.put_back;
}

static void look_for_stale(void)
{
	stale.is_any();
}

static void take_stale(void)
{
	struct marker_entry *entry = stale.take();
	LIST_HEAD(list);

	if (!entry)
		return;
	stale.move(entry, &list);
	stale.put_back(&list);
}

static void move_stale(void)
{
	static struct marker_entry entry;
	LIST_HEAD(list);

	INIT_LIST_HEAD(&entry.stale);
	stale.move(&entry, &list);
}

static void return_no_stale(void)
{
	LIST_HEAD(list);

	stale.put_back(&list);
}

/* The list of stale entries is neither read nor changed while markers are visited. */
static void marker_test_stale_waits(struct kunit *test)
{
	static void (*const functions[])(void) = {
		look_for_stale, take_stale, move_stale, return_no_stale,
	};
	struct other_call other = { };
	unsigned int i;

	if (!find_stale_functions())
		kunit_skip(test, "functions that are not exported cannot be called");
	for (i = 0; i < ARRAY_SIZE(functions); i++) {
		other.call = functions[i];
		for_each_marker(visit_and_start, &other);
		end_call(&other);
		KUNIT_EXPECT_TRUE_MSG(test, other.waited, "%ps", functions[i]);
	}
}

static int start_on_kernel(struct notifier_block *nb, unsigned long state, void *mod)
{
	if (!mod)
		start_next_call();
	return NOTIFY_OK;
}

static struct notifier_block other_nb = { .notifier_call = note_state };

static void register_other(void)
{
	register_marker_notifier(&other_nb);
}

static void unregister_other(void)
{
	unregister_marker_notifier(&other_nb);
}

/* A notifier is registered and unregistered while no other one is. */
static void marker_test_notifiers_wait(struct kunit *test)
{
	struct notifier_block nb = { .notifier_call = start_on_kernel };
	struct other_call other = { .call = register_other };

	states = 0;
	next_call = &other;
	KUNIT_EXPECT_EQ(test, register_marker_notifier(&nb), 0);
	end_call(&other);
	KUNIT_EXPECT_TRUE(test, other.waited);
	KUNIT_EXPECT_EQ(test, states, 1UL);
	other.call = unregister_other;
	next_call = &other;
	KUNIT_EXPECT_EQ(test, unregister_marker_notifier(&nb), 0);
	end_call(&other);
	KUNIT_EXPECT_TRUE(test, other.waited);
	KUNIT_EXPECT_EQ(test, states, 12UL);
}

/* A format that cannot be used for a variadic probe is reported, no other one. */
static void marker_test_variadic_message(struct kunit *test)
{
	u64 from = log_end();

	if (!IS_ENABLED(CONFIG_PRINTK))
		kunit_skip(test, "needs CONFIG_PRINTK");
	KUNIT_EXPECT_EQ(test, marker_probe_register("kunit_x", "%d", variadic, NULL), 0);
	KUNIT_EXPECT_EQ(test, marker_probe_unregister("kunit_x", variadic, NULL), 0);
	KUNIT_EXPECT_EQ(test, count_logged(from, "kunit_x: a variadic probe cannot"), 0U);
	KUNIT_EXPECT_EQ(test, marker_probe_register("kunit_x", "%y", variadic, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, count_logged(from, "kunit_x: a variadic probe cannot"), 1U);
	KUNIT_EXPECT_EQ(test, count_logged(from, "be called with \"%y\""), 1U);
}

/* Calls functions that a probe must not call. */
static void probe_registers(void *private, void *call_private,
			    const char *format, va_list *args)
{
	int *result = private;
	void *data;

	result[0] = marker_probe_register("kunit_number", NUMBER_FORMAT, probe, digit(1));
	result[1] = marker_probe_unregister("kunit_number", probe_registers, private);
	result[2] = marker_arm("kunit_number");
	result[3] = marker_disarm("kunit_number");
	result[4] = marker_probe_unregister("kunit_number");
	result[5] = marker_probe_unregister_private_data(probe_registers, private);
	data = marker_get_private_data("kunit_number", probe_registers, 0);
	result[6] = PTR_ERR(data);
}

static void marker_test_within_a_probe(struct kunit *test)
{
	int result[7] = { }, i;

	if (!IS_ENABLED(CONFIG_PREEMPT_COUNT))
		kunit_skip(test, "needs CONFIG_PREEMPT_COUNT");
	KUNIT_ASSERT_EQ(test, marker_probe_register("kunit_number", NUMBER_FORMAT,
						    probe_registers, result), 0);
	fire(1);
	for (i = 0; i < ARRAY_SIZE(result); i++)
		KUNIT_EXPECT_EQ(test, result[i], -EBUSY);
	KUNIT_EXPECT_EQ(test, marker_probe_unregister("kunit_number", probe_registers,
						      result), 0);
	KUNIT_EXPECT_EQ(test, fire(1), 0UL);
}

static void marker_test_unknown_probe(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, marker_probe_unregister("kunit_number", probe, digit(1)), -ENOENT);
	marker_probe_register("kunit_number", NUMBER_FORMAT, probe, digit(1));
	KUNIT_EXPECT_EQ(test, marker_probe_register("kunit_number", NUMBER_FORMAT, probe,
						    digit(1)), -EEXIST);
	KUNIT_EXPECT_EQ(test, marker_probe_unregister("kunit_number", probe, digit(2)), -ENOENT);
	KUNIT_EXPECT_EQ(test, marker_probe_unregister("kunit_number", probe_ignore,
						      digit(1)), -ENOENT);
	KUNIT_EXPECT_EQ(test, fire(1), 1UL);
	marker_probe_unregister("kunit_number", probe, digit(1));
}

/* With a name alone, all variadic probes of that name are unregistered. */
static void marker_test_unregister_name(struct kunit *test)
{
	unsigned long i;

	KUNIT_EXPECT_EQ(test, marker_probe_unregister("kunit_number"), -ENOENT);
	KUNIT_EXPECT_EQ(test, marker_probe_unregister(""), -EINVAL);
	KUNIT_EXPECT_EQ(test, marker_probe_unregister(NULL), -EINVAL);
	marker_probe_register("kunit_number", NUMBER_FORMAT, probe, digit(4));
	for (i = 1; i <= 2; i++)
		marker_probe_register("kunit_number", NUMBER_FORMAT, variadic, digit(i));
	marker_probe_register("kunit_number", NUMBER_FORMAT, probe, digit(3));
	marker_arm("kunit_number");
	KUNIT_EXPECT_EQ(test, fire(1), 4123UL);
	KUNIT_EXPECT_EQ(test, marker_probe_unregister("kunit_number"), 0);
	KUNIT_EXPECT_EQ(test, fire(1), 43UL);
	KUNIT_EXPECT_EQ(test, marker_probe_unregister("kunit_number"), -ENOENT);
	marker_disarm("kunit_number");
	marker_probe_unregister("kunit_number", probe, digit(3));
	marker_probe_unregister("kunit_number", probe, digit(4));
}

static void marker_test_private_data(struct kunit *test)
{
	KUNIT_EXPECT_PTR_EQ(test, marker_get_private_data("kunit_number", probe, 0),
			    ERR_PTR(-ENOENT));
	marker_probe_register("kunit_number", NUMBER_FORMAT, probe, digit(4));
	marker_probe_register("kunit_number", NUMBER_FORMAT, probe_ignore, digit(5));
	marker_probe_register("kunit_number", NUMBER_FORMAT, probe, digit(6));
	KUNIT_EXPECT_PTR_EQ(test, marker_get_private_data("kunit_number", probe, 0), digit(4));
	KUNIT_EXPECT_PTR_EQ(test, marker_get_private_data("kunit_number", probe, 1), digit(6));
	KUNIT_EXPECT_PTR_EQ(test, marker_get_private_data("kunit_number", probe_ignore, 0),
			    digit(5));
	KUNIT_EXPECT_PTR_EQ(test, marker_get_private_data("kunit_number", probe, 2),
			    ERR_PTR(-ENOENT));
	KUNIT_EXPECT_PTR_EQ(test, marker_get_private_data("kunit_number", probe, -1),
			    ERR_PTR(-ENOENT));
	KUNIT_EXPECT_PTR_EQ(test, marker_get_private_data("", probe, 0), ERR_PTR(-EINVAL));
	KUNIT_EXPECT_PTR_EQ(test, marker_get_private_data("kunit_x", probe, 0),
			    ERR_PTR(-ENOENT));
	KUNIT_EXPECT_PTR_EQ(test, marker_get_private_data("kunit_number", NULL, 0),
			    ERR_PTR(-EINVAL));

	KUNIT_EXPECT_EQ(test, marker_probe_unregister_private_data(probe, digit(5)), -ENOENT);
	KUNIT_EXPECT_EQ(test, marker_probe_unregister_private_data(NULL, digit(4)), -EINVAL);
	KUNIT_EXPECT_EQ(test, fire(1), 456UL);
	KUNIT_EXPECT_EQ(test, marker_probe_unregister_private_data(probe, digit(4)), 0);
	KUNIT_EXPECT_EQ(test, fire(1), 56UL);
	KUNIT_EXPECT_PTR_EQ(test, marker_get_private_data("kunit_number", probe, 0), digit(6));
	KUNIT_EXPECT_EQ(test, marker_probe_unregister_private_data(probe_ignore, digit(5)), 0);
	KUNIT_EXPECT_EQ(test, marker_probe_unregister_private_data(probe, digit(6)), 0);
	KUNIT_EXPECT_EQ(test, fire(1), 0UL);
}

/* Each call detaches the probe with this data from one marker. */
static void marker_test_private_data_of_two(struct kunit *test)
{
	marker_probe_register("kunit_number", NUMBER_FORMAT, probe_ignore, digit(7));
	marker_probe_register("kunit_nowhere", "%d", probe_ignore, digit(7));
	KUNIT_EXPECT_EQ(test, marker_probe_unregister_private_data(probe_ignore, digit(7)), 0);
	KUNIT_EXPECT_EQ(test, marker_probe_unregister_private_data(probe_ignore, digit(7)), 0);
	KUNIT_EXPECT_EQ(test, marker_probe_unregister_private_data(probe_ignore, digit(7)),
			-ENOENT);
	KUNIT_EXPECT_EQ(test, fire(1), 0UL);
}

/* Two markers in the probe of one tracepoint. */
static __used void probe_marked(void *data, int number)
{
	trace_mark_tp(kunit_tp_a, kunit_marked, probe_marked, "a %d", number);
	trace_mark_tp(kunit_tp_b, kunit_marked, probe_marked, "b %d", number);
}

static void marker_test_tracepoint(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, trace_kunit_marked_enabled());
	marker_probe_register("kunit_tp_a", "a %d", probe_ignore, digit(1));
	KUNIT_EXPECT_TRUE(test, trace_kunit_marked_enabled());
	trace_kunit_marked(1);
	KUNIT_EXPECT_EQ(test, calls, 1UL);

	marker_probe_register("kunit_tp_b", "b %d", probe_ignore, digit(2));
	trace_kunit_marked(1);
	KUNIT_EXPECT_EQ(test, calls, 112UL);
	marker_probe_unregister("kunit_tp_a", probe_ignore, digit(1));
	KUNIT_EXPECT_TRUE(test, trace_kunit_marked_enabled());
	trace_kunit_marked(1);
	KUNIT_EXPECT_EQ(test, calls, 1122UL);
	marker_probe_unregister("kunit_tp_b", probe_ignore, digit(2));
	KUNIT_EXPECT_FALSE(test, trace_kunit_marked_enabled());
	trace_kunit_marked(1);
	KUNIT_EXPECT_EQ(test, calls, 1122UL);
}

/* A variadic probe enables the tracepoint only while the marker is armed. */
static void marker_test_tracepoint_armed(struct kunit *test)
{
	marker_probe_register("kunit_tp_a", "a %d", variadic, digit(1));
	KUNIT_EXPECT_FALSE(test, trace_kunit_marked_enabled());
	reg_result = -EBUSY;
	KUNIT_EXPECT_EQ(test, marker_arm("kunit_tp_a"), -EBUSY);
	KUNIT_EXPECT_EQ(test, marker_disarm("kunit_tp_a"), -EINVAL);
	reg_result = 0;
	KUNIT_EXPECT_EQ(test, marker_arm("kunit_tp_a"), 0);
	KUNIT_EXPECT_TRUE(test, trace_kunit_marked_enabled());
	marker_disarm("kunit_tp_a");
	KUNIT_EXPECT_FALSE(test, trace_kunit_marked_enabled());
	marker_probe_unregister("kunit_tp_a", variadic, digit(1));
}

/*
 * Each name has a format that can be armed and a format whose tracepoint fails. The
 * order of the two sites differs between the names, in any layout of the compiler.
 */
static noinline void fire_half_a(void)
{
	trace_mark(kunit_half_a, "plain %d", 1);
}

static __used void probe_half(void *data, int number)
{
	trace_mark_tp(kunit_half_a, kunit_marked, probe_half, "fed %d", number);
	trace_mark_tp(kunit_half_b, kunit_marked, probe_half, "fed %d", number);
}

static noinline void fire_half_b(void)
{
	trace_mark(kunit_half_b, "plain %d", 1);
}

static void arm_half(struct kunit *test, const char *name, void (*fire)(void))
{
	marker_probe_register(name, "plain %d", variadic_ignore, digit(1));
	marker_probe_register(name, "fed %d", variadic_ignore, digit(2));
	reg_result = -EBUSY;
	KUNIT_EXPECT_EQ(test, marker_arm(name), -EBUSY);
	reg_result = 0;
	calls = 0;
	fire();
	KUNIT_EXPECT_EQ(test, calls, 0UL);
	KUNIT_EXPECT_EQ(test, marker_arm(name), 0);
	fire();
	trace_kunit_marked(1);
	KUNIT_EXPECT_EQ(test, calls, 12UL);
	KUNIT_EXPECT_EQ(test, marker_disarm(name), 0);
	KUNIT_EXPECT_EQ(test, marker_probe_unregister(name), 0);
	KUNIT_EXPECT_FALSE(test, trace_kunit_marked_enabled());
}

static void marker_test_half_armed(struct kunit *test)
{
	arm_half(test, "kunit_half_a", fire_half_a);
	arm_half(test, "kunit_half_b", fire_half_b);
}

static void marker_test_tracepoint_fails(struct kunit *test)
{
	reg_result = -EBUSY;
	KUNIT_EXPECT_EQ(test, marker_probe_register("kunit_tp_a", "a %d", probe_ignore,
						    digit(1)), -EBUSY);
	KUNIT_EXPECT_FALSE(test, trace_kunit_marked_enabled());
	KUNIT_EXPECT_EQ(test, marker_probe_unregister("kunit_tp_a", probe_ignore,
						      digit(1)), -ENOENT);
	reg_result = 0;
	KUNIT_EXPECT_EQ(test, marker_probe_register("kunit_tp_a", "a %d", probe_ignore,
						    digit(1)), 0);
	marker_probe_unregister("kunit_tp_a", probe_ignore, digit(1));
}

static __used void probe_fed_a(void *data, int number)
{
	trace_mark_tp(kunit_fed_a, kunit_marked, probe_fed_a, "a %d", number);
	trace_mark_tp(kunit_fed_c, kunit_fed, probe_fed_a, "c %d", number);
	trace_mark_tp(kunit_fed_twice, kunit_fed, probe_fed_a, "number %d", number);
}

static __used void probe_fed_b(void *data, int number)
{
	trace_mark_tp(kunit_fed_b, kunit_marked, probe_fed_b, "b %d", number);
	trace_mark_tp(kunit_fed_twice, kunit_marked, probe_fed_b, "number %d", number);
}

static unsigned long fire_fed(void)
{
	calls = 0;
	trace_kunit_marked(1);
	trace_kunit_fed(1);
	return calls;
}

static int attach_fed(const char *name, const char *format, unsigned long nr)
{
	return marker_probe_register(name, format, probe_ignore, digit(nr));
}

static int detach_fed(const char *name, unsigned long nr)
{
	return marker_probe_unregister(name, probe_ignore, digit(nr));
}

/* Several probes of one tracepoint, and one probe of several tracepoints, feed markers. */
static void marker_test_feeds(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, attach_fed("kunit_fed_c", "c %d", 3), 0);
	KUNIT_EXPECT_EQ(test, fire_fed(), 3UL);
	KUNIT_EXPECT_FALSE(test, trace_kunit_marked_enabled());
	KUNIT_EXPECT_EQ(test, attach_fed("kunit_fed_b", "b %d", 2), 0);
	KUNIT_EXPECT_EQ(test, fire_fed(), 23UL);
	/* Both tracepoints call its probe now, and each call hits both markers. */
	KUNIT_EXPECT_EQ(test, attach_fed("kunit_fed_a", "a %d", 1), 0);
	KUNIT_EXPECT_EQ(test, fire_fed(), 21313UL);

	KUNIT_EXPECT_EQ(test, detach_fed("kunit_fed_b", 2), 0);
	KUNIT_EXPECT_EQ(test, fire_fed(), 1313UL);
	KUNIT_EXPECT_EQ(test, detach_fed("kunit_fed_c", 3), 0);
	KUNIT_EXPECT_FALSE(test, trace_kunit_fed_enabled());
	KUNIT_EXPECT_EQ(test, fire_fed(), 1UL);
	KUNIT_EXPECT_EQ(test, detach_fed("kunit_fed_a", 1), 0);
	KUNIT_EXPECT_FALSE(test, trace_kunit_marked_enabled());
	KUNIT_EXPECT_EQ(test, fire_fed(), 0UL);
}

/* Each feed is found among many. The order of attaching varies. */
static void marker_test_many_feeds(struct kunit *test)
{
	static const struct { const char *name, *format; } fed[] = {
		{ "kunit_tp_a", "a %d" }, { "kunit_fed_b", "b %d" }, { "kunit_fed_c", "c %d" },
		{ "kunit_half_a", "fed %d" }, { "kunit_tp_b", "b %d" },
		{ "kunit_fed_a", "a %d" }, { "kunit_fed_twice", "number %d" },
	};
	const unsigned int nr = ARRAY_SIZE(fed);
	unsigned int first, i;

	for (first = 0; first < nr; first++) {
		for (i = first; i < first + nr; i++)
			KUNIT_EXPECT_EQ(test, attach_fed(fed[i % nr].name, fed[i % nr].format,
							 1), 0);
		fire_fed();
		KUNIT_EXPECT_GE(test, calls, 1111111UL);
		for (i = 0; i < nr; i++)
			KUNIT_EXPECT_EQ(test, detach_fed(fed[i].name, 1), 0);
		KUNIT_EXPECT_FALSE(test, trace_kunit_marked_enabled());
		KUNIT_EXPECT_FALSE(test, trace_kunit_fed_enabled());
	}
}

static __used void probe_three(void *data, int number)
{
	trace_mark_tp(kunit_three_a, kunit_marked, probe_three, "number %d", number);
	trace_mark_tp(kunit_three_b, kunit_fed, probe_three, "number %d", number);
	trace_mark_tp(kunit_three_c, kunit_third, probe_three, "number %d", number);
}

static unsigned int tracepoints_enabled(void)
{
	return trace_kunit_marked_enabled() + trace_kunit_fed_enabled() +
	       trace_kunit_third_enabled();
}

/* One probe of three tracepoints: each feed is found in any order of attaching. */
static void marker_test_three_feeds(struct kunit *test)
{
	static const char *const names[] = {
		"kunit_three_a", "kunit_three_b", "kunit_three_c",
	};
	const unsigned int nr = ARRAY_SIZE(names);
	unsigned int first, i;

	for (first = 0; first < nr; first++) {
		for (i = 0; i < nr; i++)
			KUNIT_EXPECT_EQ(test, attach_fed(names[(first + i) % nr], "number %d",
							 1), 0);
		KUNIT_EXPECT_EQ(test, tracepoints_enabled(), nr);
		calls = 0;
		trace_kunit_third(1);
		KUNIT_EXPECT_EQ(test, calls, 111UL);
		for (i = 0; i < nr; i++) {
			KUNIT_EXPECT_EQ(test, detach_fed(names[(first + i) % nr], 1), 0);
			KUNIT_EXPECT_EQ(test, tracepoints_enabled(), nr - 1 - i);
		}
	}
}

static void expect_no_feed(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, attach_fed("kunit_fed_twice", "number %d", 1), -EBUSY);
	KUNIT_EXPECT_FALSE(test, trace_kunit_marked_enabled());
	KUNIT_EXPECT_FALSE(test, trace_kunit_fed_enabled());
	KUNIT_EXPECT_EQ(test, detach_fed("kunit_fed_twice", 1), -ENOENT);
}

/* If one tracepoint fails, the other one is disabled again. */
static void marker_test_feed_fails(struct kunit *test)
{
	reg_result = -EBUSY;
	expect_no_feed(test);
	reg_result = 0;
	fed_result = -EBUSY;
	expect_no_feed(test);
	fed_result = 0;
	KUNIT_EXPECT_EQ(test, attach_fed("kunit_fed_twice", "number %d", 1), 0);
	KUNIT_EXPECT_EQ(test, fire_fed(), 11UL);
	KUNIT_EXPECT_EQ(test, detach_fed("kunit_fed_twice", 1), 0);
	KUNIT_EXPECT_FALSE(test, trace_kunit_marked_enabled());
	KUNIT_EXPECT_FALSE(test, trace_kunit_fed_enabled());
}

static void marker_test_no_memory_to_add(struct kunit *test)
{
	int ret;

	need_failing_alloc(test);
	fail_next_alloc();
	ret = marker_probe_register("kunit_number", NUMBER_FORMAT, probe, digit(1));
	stop_failing();
	KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
	KUNIT_EXPECT_EQ(test, fire(1), 0UL);

	marker_probe_register("kunit_number", NUMBER_FORMAT, probe, digit(1));
	fail_next_alloc();
	ret = marker_probe_register("kunit_number", NUMBER_FORMAT, probe, digit(2));
	stop_failing();
	KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
	KUNIT_EXPECT_EQ(test, fire(1), 1UL);
	marker_probe_unregister("kunit_number", probe, digit(1));
}

static int attach_list(const char *name, const char *format)
{
	return marker_probe_register(name, format, probe_ignore, digit(1));
}

static int attach_variadic(const char *name, const char *format)
{
	return marker_probe_register(name, format, variadic_ignore, digit(1));
}

/*
 * Each allocation of a registration, of which there are at least @nr - 1, fails once,
 * also for a name without a marker. What it allocated before is freed, if it is tracked.
 */
static void try_without_memory(struct kunit *test,
			       int (*attach)(const char *name, const char *format),
			       const char *name, const char *format, int nr)
{
	void *func = attach == attach_list ? (void *)probe_ignore : (void *)variadic_ignore;
	int ret, nth;

	for (nth = 1; ; nth++) {
		if (tracks_memory)
			forget_memory();
		fail_nth_alloc(nth);
		ret = attach(name, format);
		if (!nth_alloc_failed())
			break;
		stop_failing();
		if (!ret) {	/* this allocation is optional */
			KUNIT_EXPECT_EQ(test, __marker_probe_unregister(name, func, digit(1)), 0);
			continue;
		}
		KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
		expect_none_held(test);
		KUNIT_EXPECT_EQ(test, __marker_probe_unregister(name, func, digit(1)),
				-ENOENT);
	}
	stop_failing();
	KUNIT_EXPECT_EQ(test, ret, 0);
	KUNIT_EXPECT_GE(test, nth, nr);
	KUNIT_EXPECT_EQ(test, __marker_probe_unregister(name, func, digit(1)), 0);
}

static void marker_test_no_memory_at_all(struct kunit *test)
{
	need_failing_alloc(test);
	try_without_memory(test, attach_list, "kunit_number", NUMBER_FORMAT, 2);
	try_without_memory(test, attach_list, "kunit_nowhere", "a %d", 2);
	try_without_memory(test, attach_list, "kunit_tp_a", "a %d", 2);
	try_without_memory(test, attach_variadic, "kunit_nowhere", "a %d", 2);
	KUNIT_EXPECT_FALSE(test, trace_kunit_marked_enabled());
}

static void marker_test_failure_frees(struct kunit *test)
{
	need_failing_alloc(test);
	need_tracking(test);
	try_without_memory(test, attach_list, "kunit_nowhere", "a %d", 4);
	expect_none_held(test);
	try_without_memory(test, attach_variadic, "kunit_nowhere", "a %d", 4);
	expect_none_held(test);
	try_without_memory(test, attach_list, "kunit_tp_a", "a %d", 4);
	KUNIT_EXPECT_FALSE(test, trace_kunit_marked_enabled());
}

/* A registration without the memory for the layout of its format fails. */
static void marker_test_no_layout(struct kunit *test)
{
	int ret, nth;

	need_failing_alloc(test);
	need_tracking(test);
	for (nth = 1; ; nth++) {
		forget_memory();
		fail_nth_alloc(nth);
		ret = attach_variadic("kunit_nowhere", "a %d");
		if (!nth_alloc_failed())
			break;
		stop_failing();
		KUNIT_EXPECT_EQ(test, ret, memory.nr_failed ? -ENOMEM : 0);
		if (!ret)
			marker_probe_unregister("kunit_nowhere");
	}
	stop_failing();
	KUNIT_EXPECT_EQ(test, ret, 0);
	KUNIT_EXPECT_GE(test, nth, 7);
	marker_probe_unregister("kunit_nowhere");
}

/* The object in tracked memory that refers to a tracepoint, or NULL */
static const void *find_feed(const struct tracepoint *tp)
{
	unsigned int i, j;

	for (i = 0; i < memory.nr_held; i++)
		for (j = 0; j < memory.size[i] / sizeof(tp); j++)
			if (((const struct tracepoint *const *)memory.held[i])[j] == tp)
				return memory.held[i];
	return NULL;
}

/* What was allocated for a name, its formats and its probes is freed with the last user. */
static void marker_test_frees(struct kunit *test)
{
	char *format = kunit_kzalloc(test, MARKER_FORMAT_LEN + 1, GFP_KERNEL);
	const void *feed;
	unsigned long i;

	KUNIT_ASSERT_NOT_NULL(test, format);
	need_tracking(test);
	for (i = 1; i <= 3; i++)
		attach_fed("kunit_nowhere", "a %d", i);
	attach_fed("kunit_nowhere", "b %d", 4);
	KUNIT_EXPECT_GT(test, memory.nr_held, 5U);
	KUNIT_EXPECT_EQ(test, attach_fed("kunit_nowhere", "b %d", 4), -EEXIST);
	for (i = 1; i <= 4; i++)
		KUNIT_EXPECT_EQ(test, detach_fed("kunit_nowhere", i), 0);
	expect_none_held(test);

	attach_variadic("kunit_nowhere", "a %d");
	marker_arm("kunit_nowhere");
	marker_probe_unregister("kunit_nowhere");
	KUNIT_EXPECT_EQ(test, memory.nr_held, 1U);	/* the name */
	KUNIT_EXPECT_EQ(test, marker_disarm("kunit_nowhere"), 0);
	expect_none_held(test);

	memset(format, 'x', MARKER_FORMAT_LEN);
	KUNIT_EXPECT_EQ(test, marker_probe_register("kunit_nowhere", format, probe, NULL),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, attach_variadic("kunit_nowhere", "%y"), -EINVAL);
	KUNIT_EXPECT_EQ(test, attach_list("kunit_number", "number %u"), -EPERM);
	expect_none_held(test);

	attach_fed("kunit_tp_a", "a %d", 1);
	feed = find_feed(&__tracepoint_kunit_marked);
	KUNIT_EXPECT_NOT_NULL(test, feed);
	detach_fed("kunit_tp_a", 1);
	KUNIT_EXPECT_FALSE(test, is_held(feed));
}

static void marker_test_no_memory_to_remove(struct kunit *test)
{
	unsigned long i;
	int ret;

	need_failing_alloc(test);
	for (i = 1; i <= 3; i++)
		marker_probe_register("kunit_number", NUMBER_FORMAT, probe, digit(i));
	fail_next_alloc();
	ret = marker_probe_unregister("kunit_number", probe, digit(2));
	stop_failing();
	KUNIT_EXPECT_EQ(test, ret, 0);
	KUNIT_EXPECT_EQ(test, fire(1), 13UL);
	KUNIT_EXPECT_EQ(test, marker_probe_unregister("kunit_number", probe, digit(2)), -ENOENT);
	for (i = 1; i <= 3; i += 2)
		KUNIT_EXPECT_EQ(test, marker_probe_unregister("kunit_number", probe,
							      digit(i)), 0);
	KUNIT_EXPECT_EQ(test, fire(1), 0UL);
}

#ifdef CONFIG_MODULES
/*
 * A fake module that has only records: two sites of a marker, and one that is fed by
 * a tracepoint of another module.
 */
struct fake_module {
	char text[16];
	char name[MARKER_NAME_LEN + 1];
	char format[MARKER_FORMAT_LEN + 1];
	struct marker site[3];
	struct module mod;
};

static struct fake_module *fake;

static void make_fake(void)
{
	const struct marker site = { .name = fake->name, .format = fake->format };

	memset(fake, 0, sizeof(*fake));
	strscpy(fake->name, "kunit_fake", sizeof(fake->name));
	strscpy(fake->format, "number %d", sizeof(fake->format));
	fake->site[0] = site;
	fake->site[1] = site;
	fake->site[2] = site;
	fake->site[2].tp = &__tracepoint_kunit_fed;
	fake->site[2].tp_cb = fake->text;
	strscpy(fake->mod.name, "kunit_fake", sizeof(fake->mod.name));
	fake->mod.markers = fake->site;
	fake->mod.num_markers = ARRAY_SIZE(fake->site);
	set_module_memory(&fake->mod, fake, sizeof(*fake), sizeof(fake->text));
}

/* With so many sites of this name. */
static void make_fake_of(const char *name, unsigned int nr)
{
	make_fake();
	strscpy(fake->name, name, sizeof(fake->name));
	fake->mod.num_markers = nr;
}

static void need_fake(struct kunit *test)
{
	fake = kunit_kzalloc(test, sizeof(*fake), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, fake);
	make_fake();
}

static int fake_comes(void)
{
	return notifier_to_errno(marker_module_notify(NULL, MODULE_STATE_COMING, &fake->mod));
}

static void fake_goes(void)
{
	marker_module_notify(NULL, MODULE_STATE_GOING, &fake->mod);
}

static int count_sites(const struct marker_info *info, void *priv)
{
	*(unsigned int *)priv += info->sites;
	return 0;
}

static unsigned int fake_sites(void)
{
	unsigned int sites = 0;

	for_each_marker_of(&fake->mod, count_sites, &sites);
	return sites;
}

static void expect_taken(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, fake_comes(), 0);
	KUNIT_EXPECT_EQ(test, marker_module_notify(NULL, MODULE_STATE_LIVE, &fake->mod), NOTIFY_OK);
	KUNIT_EXPECT_EQ(test, fake_sites(), 3U);
	fake_goes();
	KUNIT_EXPECT_EQ(test, fake_sites(), 0U);
	make_fake();
}

static void expect_refused(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, fake_comes(), -ENOEXEC);
	KUNIT_EXPECT_EQ(test, fake_sites(), 0U);
	fake_goes();
	make_fake();
}

static void marker_test_bad_strings(struct kunit *test)
{
	need_fake(test);
	expect_taken(test);
	fake->name[0] = '\0';
	expect_refused(test);
	memset(fake->name, 'x', MARKER_NAME_LEN);
	expect_refused(test);
	memset(fake->name, 'x', MARKER_NAME_LEN - 1);
	expect_taken(test);
	memset(fake->format, 'x', MARKER_FORMAT_LEN);
	expect_refused(test);
	memset(fake->format, 'x', MARKER_FORMAT_LEN - 1);
	expect_taken(test);
	/* Strings outside the module, and at its end. */
	fake->site[2].name = "kunit_fake";
	expect_refused(test);
	fake->site[0].format = "number %d";
	expect_refused(test);
	set_module_memory(&fake->mod, fake,
			  offsetof(struct fake_module, format) + strlen("number %d"),
			  sizeof(fake->text));
	expect_refused(test);
	set_module_memory(&fake->mod, fake,
			  offsetof(struct fake_module, format) + sizeof("number %d"),
			  sizeof(fake->text));
	expect_taken(test);
}

/* Lists in tracefs separate names by tabs, and a slash cannot be in a directory's name. */
static void marker_test_bad_names(struct kunit *test)
{
	static const char *const bad[] = { "kunit/fake", "kunit\tfake", "a:b", "fake ", " " };
	static const char *const good[] = { "_Z9", "7fake", "fake$", "f\xc3\xa4ke" };
	unsigned int i;

	need_fake(test);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		strscpy(fake->name, bad[i], sizeof(fake->name));
		expect_refused(test);
	}
	for (i = 0; i < ARRAY_SIZE(good); i++) {
		strscpy(fake->name, good[i], sizeof(fake->name));
		expect_taken(test);
	}
}

static void marker_test_bad_records(struct kunit *test)
{
	need_fake(test);
	fake->site[0].entry = (void *)fake;
	expect_refused(test);
	fake->site[0].next = fake->site;
	expect_refused(test);
	fake->site[0].active = true;
	expect_refused(test);
	fake->site[2].tp_used = true;
	expect_refused(test);
	fake->site[2].tp = NULL;
	expect_refused(test);
	fake->site[2].tp = (void *)fake->text;
	expect_refused(test);
	fake->site[2].tp_cb = NULL;
	expect_refused(test);
	fake->site[2].tp_cb = fake->text - 1;
	expect_refused(test);
	fake->site[2].tp_cb = fake->text + sizeof(fake->text);
	expect_refused(test);
	fake->site[2].tp_cb = fake->text + sizeof(fake->text) - 1;
	expect_taken(test);
}

/* The records of a module that was loaded by force may have another layout. */
static void marker_test_tainted_module(struct kunit *test)
{
	need_fake(test);
	fake->mod.taints = BIT(TAINT_OOT_MODULE);
	expect_taken(test);
	fake->mod.taints = BIT(TAINT_FORCED_MODULE);
	fake->site[0].name = NULL;
	KUNIT_EXPECT_EQ(test, marker_module_notify(NULL, MODULE_STATE_COMING, &fake->mod),
			NOTIFY_OK);
	KUNIT_EXPECT_EQ(test, fake_sites(), 0U);
	fake_goes();
}

/* Unloading a module detaches the probes that it left behind, here probe_ignore(). */
static void marker_test_stray_probes(struct kunit *test)
{
	need_fake(test);
	fake->mod.num_markers = 0;
	set_module_memory(&fake->mod, probe_ignore, 1, 1);
	attach_fed("kunit_number", NUMBER_FORMAT, 1);
	marker_probe_register("kunit_number", NUMBER_FORMAT, probe, digit(2));
	attach_fed("kunit_number", NUMBER_FORMAT, 3);
	attach_fed("kunit_nowhere", "%d", 4);
	attach_fed("kunit_nowhere", "%d", 6);
	attach_fed("kunit_tp_a", "a %d", 5);
	KUNIT_EXPECT_EQ(test, marker_module_notify(NULL, MODULE_STATE_COMING, &fake->mod),
			NOTIFY_OK);
	fake_goes();
	KUNIT_EXPECT_EQ(test, fire(1), 2UL);
	KUNIT_EXPECT_FALSE(test, detach_any(probe_ignore));
	KUNIT_EXPECT_FALSE(test, trace_kunit_marked_enabled());
	KUNIT_EXPECT_EQ(test, marker_arm("kunit_nowhere"), -ENOENT);
	KUNIT_EXPECT_EQ(test, marker_probe_unregister("kunit_number", probe, digit(2)), 0);
}

static struct marker_entry *watched_entry;
static bool entry_has_gone;

/* Writes to an entry that is freed, as the next user of its memory may. */
static void spoil_freed(void *data, unsigned long call_site, const void *ptr)
{
	if (!ptr || ptr != READ_ONCE(watched_entry))
		return;
	watched_entry->probes = data;
	WRITE_ONCE(watched_entry, NULL);
	entry_has_gone = true;
}

/* An entry that was freed with its last probe is not read when a module is unloaded. */
static void marker_test_freed_entry(struct kunit *test)
{
	struct marker_probes *more;
	u64 from;

	more = kunit_kzalloc(test, struct_size(more, probe, 2), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, more);
	more->count = 1;
	more->probe[0].func = probe_ignore;
	need_fake(test);
	strscpy(fake->name, "kunit_fake_freed", sizeof(fake->name));
	strscpy(fake->format, "%f", sizeof(fake->format));	/* there is no event for it */
	fake->mod.num_markers = 1;
	KUNIT_ASSERT_EQ(test, fake_comes(), 0);
	KUNIT_EXPECT_EQ(test, attach_fed("kunit_fake_freed", "%f", 1), 0);
	entry_has_gone = false;
	watched_entry = fake->site[0].entry;
	fake_goes();	/* its probe keeps the entry */
	KUNIT_EXPECT_FALSE(test, entry_has_gone);

	make_fake();
	fake->mod.num_markers = 0;
	set_module_memory(&fake->mod, probe_ignore, 1, 1);
	KUNIT_EXPECT_EQ(test, register_trace_kfree(spoil_freed, more), 0);
	from = log_end();
	fake_goes();
	unregister_trace_kfree(spoil_freed, more);
	tracepoint_synchronize_unregister();
	watched_entry = NULL;
	KUNIT_EXPECT_TRUE(test, entry_has_gone);
	KUNIT_EXPECT_EQ(test, count_logged(from, "is unloaded while its probe"),
			IS_ENABLED(CONFIG_PRINTK));
	KUNIT_EXPECT_FALSE(test, detach_any(probe_ignore));
}

/* The name, or the format, may end where the memory of the module ends. */
static void marker_test_strings_at_end(struct kunit *test)
{
	static const char name[] = "kunit_fake_end", format[] = "end %d";
	char *page;
	int i;

	need_fake(test);
	page = vmalloc(PAGE_SIZE);
	KUNIT_ASSERT_NOT_NULL(test, page);
	for (i = 0; i < 2; i++) {
		make_fake();
		fake->mod.num_markers = 1;
		fake->site[0].name = i ? page : page + PAGE_SIZE - sizeof(name);
		fake->site[0].format = i ? page + PAGE_SIZE - sizeof(format) : page;
		memcpy((char *)fake->site[0].name, name, sizeof(name));
		memcpy((char *)fake->site[0].format, format, sizeof(format));
		set_module_memory(&fake->mod, page, PAGE_SIZE, 0);
		KUNIT_EXPECT_EQ(test, fake_comes(), 0);
		KUNIT_EXPECT_EQ(test, fake_sites(), 1U);
		if (!fake->site[0].entry)
			continue;
		KUNIT_EXPECT_STREQ(test, fake->site[0].entry->name->name, name);
		KUNIT_EXPECT_STREQ(test, fake->site[0].entry->format, format);
		fake_goes();
	}
	vfree(page);
}

/* The sites of a module get a part of their own, also if another one has the marker. */
static void marker_test_shared_marker(struct kunit *test)
{
	struct marker_info info = { };
	const struct marker_part *part;

	need_fake(test);
	strscpy(fake->name, "kunit_sites", sizeof(fake->name));
	strscpy(fake->format, "nr %d", sizeof(fake->format));
	fake->mod.num_markers = 2;
	KUNIT_EXPECT_EQ(test, fake_comes(), 0);
	KUNIT_EXPECT_EQ(test, fake_sites(), 2U);
	KUNIT_EXPECT_EQ(test, for_each_marker_of(THIS_MODULE, count_listed, &info), 1);
	KUNIT_EXPECT_EQ(test, info.sites, 3U);
	part = list_first_entry(&fake->site[0].entry->parts, struct marker_part, in_entry);
	KUNIT_EXPECT_PTR_EQ(test, part->range->mod, &fake->mod);
	KUNIT_EXPECT_EQ(test, part->range->nr_parts, 1U);
	attach_fed("kunit_sites", "nr %d", 1);
	KUNIT_EXPECT_TRUE(test, fake->site[0].active);
	KUNIT_EXPECT_TRUE(test, fake->site[1].active);
	fake_goes();
	KUNIT_EXPECT_EQ(test, fake_sites(), 0U);
	KUNIT_EXPECT_EQ(test, for_each_marker_of(THIS_MODULE, count_listed, &info), 1);
	KUNIT_EXPECT_EQ(test, info.sites, 3U);
	KUNIT_EXPECT_EQ(test, detach_fed("kunit_sites", 1), 0);
}

static int second_number;

static void variadic_two(const struct __mark_marker *marker, void *private,
			 const char *format, ...)
{
	va_list args;

	note_call(private);
	va_start(args, format);
	last_number = va_arg(args, int);
	second_number = va_arg(args, int);
	va_end(args);
}

/* A hit that is late finds no probe to call, before and after there is one. */
static void marker_test_late_hits(struct kunit *test)
{
	const struct marker_probes *probes;
	struct marker_entry *entry;

	need_fake(test);
	make_fake_of("kunit_fake_late", 1);
	KUNIT_ASSERT_EQ(test, fake_comes(), 0);
	entry = fake->site[0].entry;
	marker_call(&fake->site[0], 1);
	KUNIT_EXPECT_EQ(test, calls, 0UL);
	KUNIT_EXPECT_EQ(test, attach_fed("kunit_fake_late", "number %d", 1), 0);
	marker_call(&fake->site[0], 1);
	KUNIT_EXPECT_EQ(test, calls, 1UL);
	probes = entry->probes;
	KUNIT_EXPECT_NULL(test, probes->probe[probes->count].call);
	KUNIT_EXPECT_EQ(test, detach_fed("kunit_fake_late", 2), -ENOENT);
	KUNIT_EXPECT_PTR_EQ(test, (const struct marker_probes *)entry->probes, probes);
	KUNIT_EXPECT_EQ(test, detach_fed("kunit_fake_late", 1), 0);
	marker_call(&fake->site[0], 1);
	KUNIT_EXPECT_EQ(test, calls, 1UL);
	KUNIT_EXPECT_EQ(test, attach_fed("kunit_fake_late", "number %d", 1), 0);
	fake_goes();
	marker_call(&fake->site[0], 1);
	KUNIT_EXPECT_EQ(test, calls, 1UL);
	KUNIT_EXPECT_EQ(test, detach_fed("kunit_fake_late", 1), 0);
}

/* A variadic probe gets the arguments of the format and zeros; none if it is going. */
static void marker_test_late_variadic(struct kunit *test)
{
	struct marker_probe *late;

	need_fake(test);
	make_fake_of("kunit_fake_late", 1);
	KUNIT_ASSERT_EQ(test, fake_comes(), 0);
	marker_probe_register("kunit_fake_late", "number %d", variadic_two, digit(1));
	KUNIT_EXPECT_EQ(test, marker_arm("kunit_fake_late"), 0);
	second_number = -1;
	marker_call(&fake->site[0], 5, 7);
	KUNIT_EXPECT_EQ(test, calls, 1UL);
	KUNIT_EXPECT_EQ(test, last_number, 5);
	KUNIT_EXPECT_EQ(test, second_number, 0);

	/* As between the two steps of removing a probe without memory */
	late = fake->site[0].entry->probes->probe;
	WRITE_ONCE(late->func, NULL);
	marker_call(&fake->site[0], 5);
	WRITE_ONCE(late->func, variadic_two);
	KUNIT_EXPECT_EQ(test, calls, 1UL);
	KUNIT_EXPECT_EQ(test, marker_disarm("kunit_fake_late"), 0);
	KUNIT_EXPECT_EQ(test, marker_probe_unregister("kunit_fake_late"), 0);
	fake_goes();
}

/* A module that has no memory frees what it allocated. */
static void marker_test_module_failure_frees(struct kunit *test)
{
	int ret, nth, i;

	need_fake(test);
	need_failing_alloc(test);
	need_tracking(test);
	for (nth = 1; ; nth++) {
		make_fake();
		strscpy(fake->name, "kunit_fake_freed", sizeof(fake->name));
		forget_memory();
		fail_nth_alloc(nth);
		ret = fake_comes();
		/* The rest is for its event, without which it is loaded. */
		if (!nth_alloc_failed() || (!ret && memory.nr_failed))
			break;
		stop_failing();
		if (ret) {
			KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
			expect_none_held(test);
		}
		fake_goes();
	}
	stop_failing();
	KUNIT_EXPECT_GE(test, nth, 6);
	KUNIT_EXPECT_EQ(test, fake_sites(), 3U);
	for (i = 0; i < ARRAY_SIZE(fake->site); i++)
		KUNIT_EXPECT_NOT_NULL(test, fake->site[i].entry);
	fake_goes();
}

/*
 * Unloading frees all; an array of probes is freed when it is replaced, not before. The
 * name is no other case's: with CONFIG_TRACE_EVENT_INJECT its entry could still exist.
 */
static void marker_test_module_frees(struct kunit *test)
{
	const struct marker_part *part;
	struct marker_entry *entry;
	const void *freed[5], *probes;
	int i;

	need_fake(test);
	need_tracking(test);
	make_fake_of("kunit_fake_gone", 2);
	KUNIT_ASSERT_EQ(test, fake_comes(), 0);
	entry = fake->site[0].entry;
	part = list_first_entry(&entry->parts, struct marker_part, in_entry);
	freed[0] = part->range;
	freed[1] = part;
	freed[2] = entry;
	freed[3] = entry->layout;
	freed[4] = entry->name;
	for (i = 0; i < ARRAY_SIZE(freed); i++)
		KUNIT_EXPECT_TRUE(test, is_held(freed[i]));

	attach_variadic("kunit_fake_gone", "number %d");
	probes = entry->probes;
	KUNIT_EXPECT_TRUE(test, is_held(probes));
	marker_arm("kunit_fake_gone");
	KUNIT_EXPECT_TRUE(test, is_held(probes));
	marker_disarm("kunit_fake_gone");
	KUNIT_EXPECT_TRUE(test, is_held(probes));
	attach_fed("kunit_fake_gone", "number %d", 2);
	KUNIT_EXPECT_FALSE(test, is_held(probes));
	probes = entry->probes;
	KUNIT_EXPECT_TRUE(test, is_held(probes));
	marker_probe_unregister("kunit_fake_gone");
	detach_fed("kunit_fake_gone", 2);
	KUNIT_EXPECT_FALSE(test, is_held(probes));

	fake_goes();
	/* An event that may have been recorded keeps its entry; see init_event(). */
	for (i = 0; i < ARRAY_SIZE(freed); i++)
		KUNIT_EXPECT_EQ_MSG(test, is_held(freed[i]),
				    i > 1 && IS_ENABLED(CONFIG_TRACE_EVENT_INJECT),
				    "%d", i);
	if (IS_ENABLED(CONFIG_TRACE_EVENT_INJECT))
		return;
	/* Newer kernels free the entries of tracefs after a grace period. */
	for (i = 0; i < 100 && READ_ONCE(memory.nr_held); i++)
		msleep(20);
	expect_none_held(test);
}

static void load_fake(void)
{
	fake_comes();
}

static const void *entry_while_visited;

static int visit_and_load(const struct marker_info *info, void *priv)
{
	start_call(priv);
	entry_while_visited = READ_ONCE(fake->site[0].entry);
	return 1;
}

/* Loading and unloading wait while markers are visited or a notifier is registered. */
static void marker_test_module_waits(struct kunit *test)
{
	struct notifier_block nb = { .notifier_call = start_on_kernel };
	struct other_call other = { .call = load_fake };

	need_fake(test);
	for_each_marker(visit_and_load, &other);
	end_call(&other);
	KUNIT_EXPECT_TRUE(test, other.waited);
	KUNIT_EXPECT_NULL(test, entry_while_visited);
	KUNIT_EXPECT_EQ(test, fake_sites(), 3U);
	fake_goes();

	make_fake();
	next_call = &other;
	KUNIT_EXPECT_EQ(test, register_marker_notifier(&nb), 0);
	end_call(&other);
	unregister_marker_notifier(&nb);
	KUNIT_EXPECT_TRUE(test, other.waited);
	fake_goes();

	make_fake();
	fake->mod.num_markers = 0;
	other.call = fake_goes;
	for_each_marker(visit_and_start, &other);
	end_call(&other);
	KUNIT_EXPECT_TRUE(test, other.waited);
}

/* Unloading waits until a probe that the module left behind no longer runs. */
static void marker_test_waits_for_stray_probe(struct kunit *test)
{
	struct other_call other = { .call = fake_goes };
	int idx;

	need_fake(test);
	fake->mod.num_markers = 0;
	set_module_memory(&fake->mod, probe_ignore, 1, 1);
	attach_fed("kunit_number", NUMBER_FORMAT, 1);
	idx = srcu_read_lock(&tracepoint_srcu);
	start_call(&other);
	srcu_read_unlock(&tracepoint_srcu, idx);
	end_call(&other);
	KUNIT_EXPECT_TRUE(test, other.waited);
	KUNIT_EXPECT_FALSE(test, detach_any(probe_ignore));
}

static void expect_logged(struct kunit *test, const char *text, unsigned int count)
{
	u64 from = log_end();

	make_fake();
	strscpy(fake->name, "kunit_fake_warn", sizeof(fake->name));
	strscpy(fake->text, "second %d", sizeof(fake->text));
	fake->site[1].format = fake->text;
	fake->mod.num_markers = 2;
	KUNIT_EXPECT_EQ(test, fake_comes(), 0);
	fake_goes();
	KUNIT_EXPECT_EQ(test, count_logged(from, text), count);
}

/* Each marker of a module reports the probes that wait with a format that none has. */
static void marker_test_format_message(struct kunit *test)
{
	if (!IS_ENABLED(CONFIG_PRINTK))
		kunit_skip(test, "needs CONFIG_PRINTK");
	need_fake(test);
	attach_fed("kunit_fake_warn", "other %u", 1);
	expect_logged(test, "kunit_fake_warn: a probe waits", 2);
	expect_logged(test, "waits with the format \"other %u\", but", 2);
	detach_fed("kunit_fake_warn", 1);
	attach_fed("kunit_fake_warn", "number %d", 2);
	expect_logged(test, "kunit_fake_warn: a probe waits", 0);
	detach_fed("kunit_fake_warn", 2);
}

#ifdef MODULE
/* The tracepoint probe of the fake module, which has the text of the test module. */
static void probe_fake(void *data, int number)
{
	calls = 7;
}

static void feed_fake(void)
{
	fake->site[2].name = "kunit_fake_fed";
	fake->site[2].tp_cb = probe_fake;
	share_module_memory(&fake->mod);
	fake->site[0].name = "kunit_fake";
	fake->site[0].format = "number %d";
	fake->site[1] = fake->site[0];
	fake->site[2].format = "number %d";
}

static unsigned long fake_states;

static int note_fake(struct notifier_block *nb, unsigned long state, void *mod)
{
	if (mod == &fake->mod)
		fake_states = fake_states * 10 + digit_of(state);
	return NOTIFY_OK;
}

static void expect_guards(struct kunit *test, bool plain, bool fed)
{
	KUNIT_EXPECT_EQ(test, fake->site[0].active, plain);
	KUNIT_EXPECT_EQ(test, fake->site[1].active, plain);
	KUNIT_EXPECT_EQ(test, fake->site[2].active, fed);
	KUNIT_EXPECT_EQ(test, trace_kunit_fed_enabled(), fed);
}

/* Markers of a module find the registered probes, also when it is loaded again. */
static void marker_test_module(struct kunit *test)
{
	struct notifier_block nb = { .notifier_call = note_fake };

	need_fake(test);
	feed_fake();
	fake_states = 0;
	KUNIT_ASSERT_EQ(test, register_marker_notifier(&nb), 0);
	attach_fed("kunit_fake", "number %d", 1);
	KUNIT_EXPECT_EQ(test, fake_comes(), 0);
	KUNIT_EXPECT_EQ(test, fake_states, 1UL);
	KUNIT_EXPECT_EQ(test, fake_sites(), 3U);
	expect_guards(test, true, false);
	attach_fed("kunit_fake_fed", "number %d", 2);
	expect_guards(test, true, true);
	KUNIT_EXPECT_EQ(test, fire_fed(), 7UL);
	detach_fed("kunit_fake", 1);
	expect_guards(test, false, true);
	detach_fed("kunit_fake_fed", 2);
	expect_guards(test, false, false);
	attach_fed("kunit_fake_fed", "number %d", 3);
	expect_guards(test, false, true);

	set_module_memory(&fake->mod, NULL, 0, 0);	/* no probe is in the module */
	fake_goes();
	KUNIT_EXPECT_EQ(test, fake_states, 12UL);
	KUNIT_EXPECT_EQ(test, fake_sites(), 0U);
	KUNIT_EXPECT_FALSE(test, trace_kunit_fed_enabled());
	attach_fed("kunit_fake", "number %d", 4);
	KUNIT_EXPECT_FALSE(test, fake->site[0].active);
	/* Guards in code that is freed soon are not patched. */
	KUNIT_EXPECT_TRUE(test, fake->site[2].active);
	fake->site[2].active = false;
	share_module_memory(&fake->mod);
	memset_after(&fake->site[0], 0, format);
	memset_after(&fake->site[1], 0, format);
	fake->site[2].entry = NULL;
	KUNIT_EXPECT_EQ(test, fake_comes(), 0);
	expect_guards(test, true, true);
	unregister_marker_notifier(&nb);
	set_module_memory(&fake->mod, NULL, 0, 0);
	fake_goes();
	KUNIT_EXPECT_EQ(test, fake_states, 1212UL);
	KUNIT_EXPECT_EQ(test, detach_fed("kunit_fake", 4), 0);
	KUNIT_EXPECT_EQ(test, detach_fed("kunit_fake_fed", 3), 0);
}

/* A module that fails to load leaves nothing behind. */
static void marker_test_module_fails(struct kunit *test)
{
	int ret, nth;

	need_fake(test);
	need_failing_alloc(test);
	attach_fed("kunit_fake_fed", "number %d", 1);
	feed_fake();
	fed_result = -EBUSY;
	KUNIT_EXPECT_EQ(test, fake_comes(), -EBUSY);
	KUNIT_EXPECT_EQ(test, fake_sites(), 0U);
	expect_guards(test, false, false);
	fed_result = 0;
	for (nth = 1; ; nth++) {
		make_fake();
		feed_fake();
		fail_nth_alloc(nth);
		ret = fake_comes();
		if (!nth_alloc_failed())
			break;
		stop_failing();
		if (ret)	/* it may be loaded without an event */
			KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
		KUNIT_EXPECT_EQ(test, fake_sites(), ret ? 0U : 3U);
		expect_guards(test, false, !ret);
		set_module_memory(&fake->mod, NULL, 0, 0);
		fake_goes();
	}
	stop_failing();
	KUNIT_EXPECT_EQ(test, ret, 0);
	KUNIT_EXPECT_GE(test, nth, 5);
	expect_guards(test, false, true);
	set_module_memory(&fake->mod, NULL, 0, 0);
	fake_goes();
	KUNIT_EXPECT_EQ(test, detach_fed("kunit_fake_fed", 1), 0);
}

/* An error of the first marker is returned and reported, also if the next one succeeds. */
static void marker_test_first_feed_fails(struct kunit *test)
{
	struct marker fed;
	u64 from = log_end();

	need_fake(test);
	attach_fed("kunit_fake_fed", "number %d", 1);
	attach_fed("kunit_fake", "number %d", 2);
	feed_fake();
	fed = fake->site[2];
	fake->site[2] = fake->site[1];
	fake->site[0] = fed;
	fed_result = -EBUSY;
	KUNIT_EXPECT_EQ(test, fake_comes(), -EBUSY);
	KUNIT_EXPECT_EQ(test, fake_sites(), 0U);
	KUNIT_EXPECT_FALSE(test, fake->site[1].active);
	KUNIT_EXPECT_EQ(test, count_logged(from, "kunit_fake: its markers cannot be used: e"),
			IS_ENABLED(CONFIG_PRINTK));
	fed_result = 0;
	make_fake();
	feed_fake();
	from = log_end();
	KUNIT_EXPECT_EQ(test, fake_comes(), 0);
	KUNIT_EXPECT_EQ(test, count_logged(from, "its markers cannot be used"), 0U);
	set_module_memory(&fake->mod, NULL, 0, 0);
	fake_goes();
	detach_fed("kunit_fake", 2);
	detach_fed("kunit_fake_fed", 1);
}

/* Loads the fake module with a format for which there is no event. */
static void load_fed(struct kunit *test)
{
	int i;

	need_fake(test);
	feed_fake();
	for (i = 0; i < ARRAY_SIZE(fake->site); i++)
		fake->site[i].format = "%f";
	attach_fed("kunit_fake_fed", "%f", 1);
	KUNIT_EXPECT_EQ(test, fake_comes(), 0);
	expect_guards(test, false, true);
	set_module_memory(&fake->mod, NULL, 0, 0);	/* no probe is in the module */
}

/* While a module waits for a tracepoint that executes its sites, nothing enables them. */
static void marker_test_going(struct kunit *test)
{
	struct other_call other = { .call = fake_goes };
	int idx;

	load_fed(test);
	idx = srcu_read_lock(&tracepoint_srcu);
	start_call(&other);
	KUNIT_EXPECT_TRUE(test, other.waited);
	KUNIT_EXPECT_FALSE(test, trace_kunit_fed_enabled());
	KUNIT_EXPECT_EQ(test, attach_fed("kunit_fake", "%f", 2), 0);
	KUNIT_EXPECT_FALSE(test, fake->site[0].active);
	KUNIT_EXPECT_EQ(test, detach_fed("kunit_fake_fed", 1), 0);
	KUNIT_EXPECT_EQ(test, attach_fed("kunit_fake_fed", "%f", 3), 0);
	KUNIT_EXPECT_FALSE(test, trace_kunit_fed_enabled());
	srcu_read_unlock(&tracepoint_srcu, idx);
	end_call(&other);
	if (!other.ended)
		fake_goes();
	KUNIT_EXPECT_EQ(test, fake_sites(), 0U);
	KUNIT_EXPECT_EQ(test, detach_fed("kunit_fake", 2), 0);
	KUNIT_EXPECT_EQ(test, detach_fed("kunit_fake_fed", 3), 0);
}

/* The registry is locked while a module's sites are disconnected. */
static void marker_test_going_is_locked(struct kunit *test)
{
	struct other_call other = { .call = walk };

	load_fed(test);
	next_call = &other;
	fake_goes();
	KUNIT_EXPECT_NULL(test, next_call);
	end_call(&other);
	KUNIT_EXPECT_TRUE(test, other.waited);
	KUNIT_EXPECT_EQ(test, detach_fed("kunit_fake_fed", 1), 0);
}

static void synchronize(void)
{
	marker_synchronize_unregister();
}

static int reader;
static bool removed_while_visited;

/* Lets the module go on, and waits as long as it does. */
static int visit_and_release(const struct marker_info *info, void *priv)
{
	const struct marker_entry *entry = priv;
	struct other_call other = { .call = synchronize };
	int i;

	srcu_read_unlock(&tracepoint_srcu, reader);
	for (i = 0; i < 2; i++) {
		start_call(&other);
		end_call(&other);
	}
	removed_while_visited = list_empty_careful(&entry->parts);
	return 1;
}

/* After the grace period, a module's sites are not removed while markers are visited. */
static void marker_test_gone_is_locked(struct kunit *test)
{
	struct other_call other = { .call = fake_goes };
	struct marker_entry *entry;

	load_fed(test);
	entry = fake->site[2].entry;	/* its probe keeps it */
	reader = srcu_read_lock(&tracepoint_srcu);
	__release(&tracepoint_srcu);	/* by visit_and_release() */
	start_call(&other);
	for_each_marker(visit_and_release, entry);
	end_call(&other);
	if (!other.ended)
		fake_goes();
	KUNIT_EXPECT_FALSE(test, removed_while_visited);
	KUNIT_EXPECT_TRUE(test, list_empty(&entry->parts));
	KUNIT_EXPECT_EQ(test, detach_fed("kunit_fake_fed", 1), 0);
}

static bool has_event(const char *name)
{
	struct trace_event_file *file = trace_get_event_file(NULL, "markers", name);

	if (IS_ERR(file))
		return false;
	trace_put_event_file(file);
	return true;
}

/* A marker's event exists while the module is loaded or the event is enabled. */
static void marker_test_module_events(struct kunit *test)
{
	unsigned int tries;

	need_fake(test);
	feed_fake();
	fake->site[1].name = "kunit_fake_bad";
	fake->site[1].format = "%f";
	KUNIT_EXPECT_EQ(test, fake_comes(), 0);
	KUNIT_EXPECT_TRUE(test, has_event("kunit_fake"));
	KUNIT_EXPECT_TRUE(test, has_event("kunit_fake_fed"));
	KUNIT_EXPECT_FALSE(test, has_event("kunit_fake_bad"));
	KUNIT_EXPECT_EQ(test, trace_set_clr_event("markers", "kunit_fake", 1), 0);
	KUNIT_EXPECT_TRUE(test, fake->site[0].active);
	fake_goes();
	KUNIT_EXPECT_TRUE(test, has_event("kunit_fake"));
	KUNIT_EXPECT_FALSE(test, has_event("kunit_fake_fed"));

	make_fake();
	feed_fake();
	KUNIT_EXPECT_EQ(test, fake_comes(), 0);
	KUNIT_EXPECT_TRUE(test, fake->site[0].active);
	KUNIT_EXPECT_TRUE(test, has_event("kunit_fake_fed"));
	fake_goes();
	KUNIT_EXPECT_EQ(test, trace_set_clr_event("markers", "kunit_fake", 0), 0);
	for (tries = 0; tries < 100 && has_event("kunit_fake"); tries++)
		msleep(100);
	KUNIT_EXPECT_FALSE(test, has_event("kunit_fake"));
}

/* BPF programs may read the fields that all events have. */
static void marker_test_event_without_fields(struct kunit *test)
{
	int (*end_of_fields)(struct trace_event_call *call) =
		find_function("trace_event_get_offsets");
	struct trace_event_file *file;

	if (!end_of_fields)
		kunit_skip(test, "functions that are not exported cannot be called");
	file = trace_get_event_file(NULL, "markers", "kunit_noargs");
	KUNIT_ASSERT_FALSE(test, IS_ERR(file));
	KUNIT_EXPECT_EQ(test, end_of_fields(file->event_call), (int)sizeof(struct trace_entry));
	trace_put_event_file(file);
}

/* tracefs has files of these names in the directory of all markers. */
static void marker_test_event_named_as_file(struct kunit *test)
{
	static const char *const names[] = { "enable", "filter" };
	char message[64];
	unsigned int i;
	u64 from;

	need_fake(test);
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		make_fake_of(names[i], 1);
		from = log_end();
		KUNIT_EXPECT_EQ(test, fake_comes(), 0);
		snprintf(message, sizeof(message), "%s: no trace event: tracefs has a file",
			 names[i]);
		if (IS_ENABLED(CONFIG_PRINTK))
			KUNIT_EXPECT_EQ(test, count_logged(from, message), 1U);
		KUNIT_EXPECT_FALSE(test, has_event(names[i]));
		fake_goes();
	}
}

static int load_error;

static void try_to_load(void)
{
	load_error = fake_comes();
}

/* The last user of an event leaves while a module that has the marker fails to load. */
static void marker_test_event_of_failed_load(struct kunit *test)
{
	struct other_call other = { .call = try_to_load };
	int srcu;

	need_fake(test);
	feed_fake();
	KUNIT_EXPECT_EQ(test, fake_comes(), 0);
	KUNIT_EXPECT_EQ(test, trace_set_clr_event("markers", "kunit_fake_fed", 1), 0);
	fake_goes();
	msleep(100);	/* the event was looked at, and is in use */
	KUNIT_EXPECT_TRUE(test, has_event("kunit_fake_fed"));

	make_fake();
	feed_fake();
	/* The probe that feeds the marker cannot be attached twice. */
	KUNIT_EXPECT_EQ(test, 0, tracepoint_probe_register(&__tracepoint_kunit_fed,
							   probe_fake, NULL));
	srcu = srcu_read_lock(&tracepoint_srcu);
	start_call(&other);
	KUNIT_EXPECT_EQ(test, trace_set_clr_event("markers", "kunit_fake_fed", 0), 0);
	srcu_read_unlock(&tracepoint_srcu, srcu);
	end_call(&other);
	KUNIT_EXPECT_TRUE(test, other.waited);
	KUNIT_EXPECT_EQ(test, load_error, -EEXIST);
	if (!load_error)
		fake_goes();
	KUNIT_EXPECT_EQ(test, 0, tracepoint_probe_unregister(&__tracepoint_kunit_fed,
							     probe_fake, NULL));
	msleep(1000);	/* looking for the event would cause its removal */
	KUNIT_EXPECT_FALSE(test, has_event("kunit_fake_fed"));
}

/* Return: the number of fields; -1 without such an event; -2 without its directory. */
static int fields_of_event(const char *name)
{
	struct trace_event_file *file = trace_get_event_file(NULL, "markers", name);
	struct list_head *field;
	int nr = 0;

	if (IS_ERR(file))
		return -1;
	list_for_each(field, &file->event_call->class->fields)
		nr++;
	if (!file->dir)
		nr = -2;
	trace_put_event_file(file);
	return nr;
}

/*
 * If its event cannot be allocated, or not all of its fields and directories, a marker
 * is loaded without the event, and that is logged.
 *
 * Return: how often it is logged.
 */
static unsigned int load_without_memory(struct kunit *test, const char *format, int fields)
{
	static const char message[] = "kunit_fake_eventless: no trace event: error -12";
	unsigned int nth, logged = 0;
	bool failed, says_so;
	u64 from;
	int ret;

	for (nth = 1, failed = true; failed; nth++) {
		make_fake_of("kunit_fake_eventless", 1);
		strscpy(fake->format, format, sizeof(fake->format));
		from = log_end();
		fail_nth_alloc(nth);
		ret = fake_comes();
		failed = nth_alloc_failed();
		stop_failing();
		says_so = count_logged(from, message);
		logged += says_so;
		if (IS_ENABLED(CONFIG_PRINTK))
			KUNIT_EXPECT_EQ(test, fields_of_event("kunit_fake_eventless"),
					ret || says_so ? -1 : fields);
		fake_goes();
	}
	return logged;
}

static void marker_test_event_without_memory(struct kunit *test)
{
	unsigned int numbers = 0, nothing = 0, tries;

	need_fake(test);
	need_failing_alloc(test);
	/*
	 * The event, its name, its fields, the text for tools; two fields, a file, and
	 * at least an inode of its directory. KASAN allocates memory for new stacks, and
	 * keeps freed objects, so that new slabs are allocated at other times: some are
	 * passed over, but others in the next round.
	 */
	for (tries = 0; tries < (IS_ENABLED(CONFIG_KASAN) ? 5 : 1); tries++) {
		numbers = max(numbers, load_without_memory(test, "number %d word %lx", 2));
		nothing = max(nothing, load_without_memory(test, MARK_NOARGS, 0));
	}
	if (IS_ENABLED(CONFIG_PRINTK)) {
		KUNIT_EXPECT_GE(test, numbers, IS_ENABLED(CONFIG_KASAN) ? 5U : 8U);
		KUNIT_EXPECT_GE(test, nothing, IS_ENABLED(CONFIG_KASAN) ? 3U : 6U);
	}
}

/* The same when all numbers of events are in use. */
static void marker_test_event_without_number(struct kunit *test)
{
	static const char message[] =
		"kunit_fake_numberless: no trace event: all numbers of events are in use";
	static struct trace_event_functions funcs;
	const unsigned int max = 1 << 16;
	struct trace_event *used;
	unsigned int nr;
	u64 from;

	need_fake(test);
	used = kvcalloc(max, sizeof(*used), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, used);
	for (nr = 0; nr < max; nr++) {
		used[nr].funcs = &funcs;
		if (!register_trace_event(&used[nr]))
			break;
	}
	make_fake_of("kunit_fake_numberless", 1);
	from = log_end();
	KUNIT_EXPECT_EQ(test, fake_comes(), 0);
	KUNIT_EXPECT_FALSE(test, has_event("kunit_fake_numberless"));
	if (IS_ENABLED(CONFIG_PRINTK))
		KUNIT_EXPECT_EQ(test, count_logged(from, message), 1U);
	fake_goes();
	while (nr--)
		unregister_trace_event(&used[nr]);
	kvfree(used);

	make_fake_of("kunit_fake_numberless", 1);
	KUNIT_EXPECT_EQ(test, fake_comes(), 0);
	KUNIT_EXPECT_TRUE(test, has_event("kunit_fake_numberless"));
	fake_goes();
}

static void load_again(struct kunit *test, struct fake_module *module, const char *name)
{
	fake = module;
	make_fake_of(name, 2);	/* those that are not fed */
	KUNIT_EXPECT_EQ(test, fake_comes(), 0);
}

/* Unloads the module in fake while its event is in use. Return: the event's file. */
static struct trace_event_file *unload_held(struct kunit *test, const char *name)
{
	struct trace_event_file *file = trace_get_event_file(NULL, "markers", name);

	KUNIT_EXPECT_FALSE(test, IS_ERR(file));
	fake_goes();
	KUNIT_EXPECT_TRUE(test, has_event(name));
	return file;
}

static void put_file(struct trace_event_file *file)
{
	if (!IS_ERR(file))
		trace_put_event_file(file);
}

/* An event in use is removed later, unless its module has been loaded again. */
static void marker_test_held_event(struct kunit *test)
{
	static const char name[] = "kunit_fake_held";
	struct fake_module *first, *second;
	struct trace_event_file *file;

	need_fake(test);
	first = fake;
	need_fake(test);
	second = fake;
	load_again(test, first, name);
	file = unload_held(test, name);
	load_again(test, first, name);
	put_file(file);
	load_again(test, second, "kunit_fake_other");	/* removes unused events */
	KUNIT_EXPECT_TRUE(test, has_event(name));
	fake_goes();

	fake = first;
	file = unload_held(test, name);
	put_file(file);
	load_again(test, second, "kunit_fake_other");
	KUNIT_EXPECT_FALSE(test, has_event(name));
	fake_goes();
}

/* An event that was enabled outlives its module, but is no probe that waits. */
static void marker_test_kept_event(struct kunit *test)
{
	u64 from;

	need_fake(test);
	load_again(test, fake, "kunit_fake_kept");
	KUNIT_EXPECT_EQ(test, trace_set_clr_event("markers", "kunit_fake_kept", 1), 0);
	KUNIT_EXPECT_EQ(test, trace_set_clr_event("markers", "kunit_fake_kept", 0), 0);
	fake_goes();
	make_fake();
	strscpy(fake->name, "kunit_fake_kept", sizeof(fake->name));
	strscpy(fake->format, "other %d", sizeof(fake->format));
	from = log_end();
	KUNIT_EXPECT_EQ(test, fake_comes(), 0);
	KUNIT_EXPECT_EQ(test, count_logged(from, "kunit_fake_kept: a probe waits"), 0U);
	fake_goes();
}
#endif /* MODULE */
#endif /* CONFIG_MODULES */

static struct kunit_case marker_test_cases[] = {
	KUNIT_CASE(marker_test_off),
	KUNIT_CASE(marker_test_on_and_off),
	KUNIT_CASE(marker_test_several),
	KUNIT_CASE(marker_test_variadic),
	KUNIT_CASE(marker_test_arm_nests),
	KUNIT_CASE(marker_test_arm_stays),
	KUNIT_CASE(marker_test_deferred_by_another),
	KUNIT_CASE(marker_test_both_forms),
	KUNIT_CASE(marker_test_values),
	KUNIT_CASE(marker_test_resched),
	KUNIT_CASE(marker_test_noargs),
	KUNIT_CASE(marker_test_load_guard),
	KUNIT_CASE(marker_test_sites),
	KUNIT_CASE(marker_test_walk_stops),
	KUNIT_CASE(marker_test_waits),
	KUNIT_CASE(marker_test_same_hash),
	KUNIT_CASE(marker_test_wrong_format),
	KUNIT_CASE(marker_test_bad_arguments),
	KUNIT_CASE(marker_test_long_format),
	KUNIT_CASE(marker_test_variadic_formats),
	KUNIT_CASE(marker_test_sixteen),
	KUNIT_CASE(marker_test_two_formats),
	KUNIT_CASE(marker_test_changing_name),
	KUNIT_CASE(marker_test_names),
	KUNIT_CASE(marker_test_many_fields),
	KUNIT_CASE(marker_test_max_precision),
	KUNIT_CASE(marker_test_layout_fits),
	KUNIT_CASE(marker_test_notifier),
	KUNIT_CASE(marker_test_waits_for_walk),
	KUNIT_CASE(marker_test_stale_waits),
	KUNIT_CASE(marker_test_notifiers_wait),
	KUNIT_CASE(marker_test_variadic_message),
	KUNIT_CASE(marker_test_within_a_probe),
	KUNIT_CASE(marker_test_unknown_probe),
	KUNIT_CASE(marker_test_unregister_name),
	KUNIT_CASE(marker_test_private_data),
	KUNIT_CASE(marker_test_private_data_of_two),
	KUNIT_CASE(marker_test_tracepoint),
	KUNIT_CASE(marker_test_tracepoint_armed),
	KUNIT_CASE(marker_test_half_armed),
	KUNIT_CASE(marker_test_tracepoint_fails),
	KUNIT_CASE(marker_test_feeds),
	KUNIT_CASE(marker_test_many_feeds),
	KUNIT_CASE(marker_test_three_feeds),
	KUNIT_CASE(marker_test_feed_fails),
	KUNIT_CASE(marker_test_no_memory_to_add),
	KUNIT_CASE(marker_test_no_memory_at_all),
	KUNIT_CASE(marker_test_failure_frees),
	KUNIT_CASE(marker_test_no_layout),
	KUNIT_CASE(marker_test_frees),
	KUNIT_CASE(marker_test_no_memory_to_remove),
#ifdef CONFIG_MODULES
	KUNIT_CASE(marker_test_bad_strings),
	KUNIT_CASE(marker_test_bad_names),
	KUNIT_CASE(marker_test_bad_records),
	KUNIT_CASE(marker_test_tainted_module),
	KUNIT_CASE(marker_test_stray_probes),
	KUNIT_CASE(marker_test_freed_entry),
	KUNIT_CASE(marker_test_strings_at_end),
	KUNIT_CASE(marker_test_shared_marker),
	KUNIT_CASE(marker_test_late_hits),
	KUNIT_CASE(marker_test_late_variadic),
	KUNIT_CASE(marker_test_module_failure_frees),
	KUNIT_CASE(marker_test_module_frees),
	KUNIT_CASE(marker_test_module_waits),
	KUNIT_CASE(marker_test_waits_for_stray_probe),
	KUNIT_CASE(marker_test_format_message),
#ifdef MODULE
	KUNIT_CASE(marker_test_module),
	KUNIT_CASE(marker_test_module_fails),
	KUNIT_CASE(marker_test_first_feed_fails),
	KUNIT_CASE(marker_test_going),
	KUNIT_CASE(marker_test_going_is_locked),
	KUNIT_CASE(marker_test_gone_is_locked),
	KUNIT_CASE(marker_test_module_events),
	KUNIT_CASE(marker_test_event_without_fields),
	KUNIT_CASE(marker_test_event_named_as_file),
	KUNIT_CASE(marker_test_event_of_failed_load),
	KUNIT_CASE(marker_test_event_without_memory),
	KUNIT_CASE(marker_test_event_without_number),
	KUNIT_CASE(marker_test_held_event),
	KUNIT_CASE(marker_test_kept_event),
#endif
#endif
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
