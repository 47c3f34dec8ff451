// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the formats of markers: all readers of formats in the kernel agree
 * on each line of the table. scripts/module-markers.awk must agree with them.
 */
#include <kunit/test.h>
#include <linux/ftrace.h>
#include <linux/kernel.h>
#include <linux/marker.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/trace_events.h>
#include <linux/tracepoint.h>
#include <linux/vmalloc.h>

#include <asm/sections.h>

#include "test_fail_alloc.h"
#include "test_watch.h"

struct good_format {
	const char *format;
	char conversion;
	enum marker_type type;
	size_t size;
	bool is_signed;
	int precision;
};

static void expect_field(struct kunit *test, const struct good_format *good)
{
	struct marker_layout *layout = marker_layout_new(good->format);
	const struct marker_field *field;

	KUNIT_EXPECT_FALSE_MSG(test, IS_ERR(layout), "%s", good->format);
	if (IS_ERR(layout))
		return;
	field = layout->field;
	KUNIT_EXPECT_EQ_MSG(test, layout->nr_fields, 1U, "%s", good->format);
	KUNIT_EXPECT_EQ_MSG(test, layout->nr_strings,
			    good->conversion == 's' ? 1U : 0U, "%s", good->format);
	KUNIT_EXPECT_EQ_MSG(test, field->conversion, good->conversion, "%s", good->format);
	KUNIT_EXPECT_EQ_MSG(test, field->type, good->type, "%s", good->format);
	KUNIT_EXPECT_EQ_MSG(test, field->size, (unsigned int)good->size, "%s", good->format);
	KUNIT_EXPECT_EQ_MSG(test, field->is_signed, good->is_signed, "%s", good->format);
	KUNIT_EXPECT_EQ_MSG(test, field->precision, good->precision, "%s", good->format);
	KUNIT_EXPECT_EQ_MSG(test, *field->spec, '%', "%s", good->format);
	KUNIT_EXPECT_PTR_EQ_MSG(test, strstr(layout->format, field->spec),
				(char *)field->spec, "%s", good->format);
	marker_layout_free(layout);
}

static void formats_test_layout(struct kunit *test)
{
	static const struct good_format good[] = {
#define MARKER_FORMAT(format, conversion, type, c_type, is_signed, precision) \
		{ format, conversion, type, sizeof(c_type), is_signed, precision },
#include "test_marker_formats.h"
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(good); i++)
		expect_field(test, &good[i]);
}

static void formats_test_counts(struct kunit *test)
{
	static const struct {
		const char *format;
		unsigned int fields, strings;
	} counts[] = {
#define MARKER_FORMAT_OF(format, conversions, strings)			\
		{ format, conversions, strings },
#include "test_marker_formats.h"
	};
	struct marker_layout *layout;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		layout = marker_layout_new(counts[i].format);
		KUNIT_EXPECT_FALSE_MSG(test, IS_ERR(layout), "%s", counts[i].format);
		if (IS_ERR(layout))
			continue;
		KUNIT_EXPECT_EQ_MSG(test, layout->nr_fields, counts[i].fields, "%s",
				    counts[i].format);
		KUNIT_EXPECT_EQ_MSG(test, layout->nr_strings, counts[i].strings, "%s",
				    counts[i].format);
		marker_layout_free(layout);
	}
}

static void variadic_nothing(const struct __mark_marker *marker, void *private,
			     const char *format, ...)
{
}

static void formats_test_bad(struct kunit *test)
{
	static const char *const bad[] = {
#define MARKER_BAD_FORMAT(format)	format,
#include "test_marker_formats.h"
	};
	struct marker_layout *layout;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		layout = marker_layout_new(bad[i]);
		KUNIT_EXPECT_TRUE_MSG(test, IS_ERR(layout), "%s", bad[i]);
		if (!IS_ERR(layout))
			marker_layout_free(layout);
		KUNIT_EXPECT_EQ_MSG(test, marker_probe_register("kunit_bad_format", bad[i],
								variadic_nothing, NULL),
				    -EINVAL, "%s", bad[i]);
	}
}

/* All bytes differ. */
static unsigned long long sample = 0xf1f2f3f4f5f6f7f8ULL;

/**
 * struct reading - what the probes read of an argument
 * @size: size of the argument
 * @list: what a marker_probe_func read
 * @variadic: what a marker_variadic_func read
 */
struct reading {
	size_t size;
	unsigned long long list;
	unsigned long long variadic;
};

static unsigned long long read_value(size_t size, va_list *args)
{
	if (size == sizeof(long long))
		return va_arg(*args, unsigned long long);
	return va_arg(*args, unsigned int);
}

static void read_list(void *private, void *call_private, const char *format,
		      va_list *args)
{
	struct reading *reading = private;

	reading->list = read_value(reading->size, args);
}

static void read_variadic(const struct __mark_marker *marker, void *private,
			  const char *format, ...)
{
	struct reading *reading = private;
	va_list args;

	va_start(args, format);
	reading->variadic = read_value(reading->size, &args);
	va_end(args);
}

static void attach(struct kunit *test, const char *name, const char *format,
		   struct reading *reading)
{
	KUNIT_EXPECT_EQ_MSG(test, marker_probe_register(name, format, read_list, reading),
			    0, "%s", format);
	KUNIT_EXPECT_EQ_MSG(test, marker_probe_register(name, format, read_variadic, reading),
			    0, "%s", format);
	marker_arm(name);
}

static void detach(const char *name, struct reading *reading)
{
	marker_disarm(name);
	marker_probe_unregister(name, read_variadic, reading);
	marker_probe_unregister(name, read_list, reading);
}

static unsigned long long as_passed(unsigned long long value, size_t size)
{
	return size == sizeof(long long) ? value : (unsigned int)value;
}

/* Each good format is a trace event. */
static void expect_event(struct kunit *test, const char *name, const char *format)
{
	struct trace_event_file *file;

	file = trace_get_event_file(NULL, "markers", name);
	KUNIT_EXPECT_FALSE_MSG(test, IS_ERR(file), "%s", format);
	if (!IS_ERR(file))
		trace_put_event_file(file);
}

#define STRING_OF(name)	#name

/* A pointer is cast from an unsigned long. */
#define VALUE_OF(c_type)						\
	((c_type)(__typeof__(__builtin_choose_expr(sizeof(c_type) > sizeof(long), \
						   0ULL, 0UL)))READ_ONCE(sample))

/* Each line gets its own marker. */
#define TRY(name, format, c_type)					\
do {									\
	struct reading reading = { .size = sizeof(c_type) };		\
	unsigned long long want =					\
		as_passed(sample, sizeof(c_type));			\
									\
	attach(test, STRING_OF(name), format, &reading);		\
	trace_mark(name, format, VALUE_OF(c_type));			\
	detach(STRING_OF(name), &reading);				\
	expect_event(test, STRING_OF(name), format);			\
	KUNIT_EXPECT_EQ_MSG(test, reading.list, want, "%s", format);	\
	KUNIT_EXPECT_EQ_MSG(test, reading.variadic, want, "%s", format); \
} while (0)

static void formats_test_calls(struct kunit *test)
{
#define MARKER_FORMAT(format, conversion, type, c_type, is_signed, precision) \
	TRY(CONCATENATE(kunit_format_, __LINE__), format, c_type);
#include "test_marker_formats.h"
}

#define QUOTED_FORMAT	"100%% \"in\" \\ %d c %c s %s end%%"

/* The ftrace record of kunit_quoted. */
struct quoted_record {
	struct trace_entry entry;
	int in;
	char c[4];	/* two are padding */
	u32 s;
	char text[8];
};

static noinline void hit_quoted(void)
{
	trace_mark(kunit_quoted, QUOTED_FORMAT, -5, 'x', "text");
	barrier();	/* no tail call */
}

#define QUOTES_5	"\"\"\"\"\""
#define QUOTED_5	"\\\"\\\"\\\"\\\"\\\""

/* Almost all of the format must be quoted. */
static noinline void hit_quotes(void)
{
	trace_mark(kunit_quotes, QUOTES_5 QUOTES_5 QUOTES_5 QUOTES_5 " n %d", 1);
	barrier();
}

static struct trace_event_file *find_file(struct kunit *test, const char *name)
{
	struct trace_event_file *file = trace_get_event_file(NULL, "markers", name);

	KUNIT_EXPECT_FALSE_MSG(test, IS_ERR(file), "%s", name);
	return IS_ERR(file) ? NULL : file;
}

static void expect_print_fmt(struct kunit *test, const char *name, const char *text)
{
	struct trace_event_file *file = find_file(test, name);

	if (!file)
		return;
	KUNIT_EXPECT_STREQ(test, file->event_call->print_fmt, text);
	trace_put_event_file(file);
}

/* print_fmt, for tools: a C string and its arguments. */
static void formats_test_print_fmt(struct kunit *test)
{
	/* Without hits, the compiler would drop the markers. */
	hit_quoted();
	expect_print_fmt(test, "kunit_quoted",
			 "\"100%% \\\"in\\\" \\\\ %d c %s s %s end%%\", REC->in, REC->c, __get_str(s)");
	hit_quotes();
	expect_print_fmt(test, "kunit_quotes",
			 "\"" QUOTED_5 QUOTED_5 QUOTED_5 QUOTED_5 " n %d\", REC->n");
}

static void formats_test_print(struct kunit *test)
{
	struct quoted_record record = {
		.in = -5, .c = "x",
		.s = sizeof("text") << 16 | offsetof(struct quoted_record, text),
		.text = "text",
	};
	struct trace_iterator *iter = kunit_kzalloc(test, sizeof(*iter), GFP_KERNEL);
	struct trace_event_file *file = find_file(test, "kunit_quoted");
	struct trace_event *event;

	if (!file)
		return;
	KUNIT_EXPECT_NOT_NULL(test, iter);
	if (iter) {
		event = &file->event_call->event;
		trace_seq_init(&iter->seq);
		iter->ent = &record.entry;
		KUNIT_EXPECT_EQ(test, event->funcs->trace(iter, 0, event),
				TRACE_TYPE_HANDLED);
		KUNIT_EXPECT_STREQ(test, iter->seq.buffer,
				   "kunit_quoted: 100% \"in\" \\ -5 c x s text end%\n");
	}
	trace_put_event_file(file);
}

#ifdef CONFIG_PERF_EVENTS
/* Only numbers, more than fit into the argument registers. */
#define NUMBERS_FORMAT	"a %d b %u c %ld d %llx e %c f %d g %lld"

struct numbers_record {
	struct trace_entry entry;
	int a;
	unsigned int b;
	long c;
	unsigned long long __aligned(8) d;
	char e[2];
	int f;
	long long __aligned(8) g;
};

static noinline void hit_numbers(void)
{
	trace_mark(kunit_numbers, NUMBERS_FORMAT, -1, UINT_MAX - 1, LONG_MIN, ULLONG_MAX - 3,
		   'e', -6, LLONG_MIN + 6);
	barrier();
}

/* The fields as ftrace shows them and filters use them. */
static void formats_test_fields(struct kunit *test)
{
	static const struct trace_event_fields wanted[] = {
		{ .type = "int", .name = "a", .size = 4, .align = 4, .is_signed = 1 },
		{ .type = "unsigned int", .name = "b", .size = 4, .align = 4 },
		{ .type = "long", .name = "c", .size = sizeof(long), .align = sizeof(long),
		  .is_signed = 1 },
		{ .type = "unsigned long long", .name = "d", .size = 8, .align = 8 },
		{ .type = "char[2]", .name = "e", .size = 2, .align = 2, .is_signed = 1, .len = 2 },
		{ .type = "int", .name = "f", .size = 4, .align = 4, .is_signed = 1 },
		{ .type = "long long", .name = "g", .size = 8, .align = 8, .is_signed = 1 },
		{ },
	};
	struct trace_event_file *file = find_file(test, "kunit_numbers");
	const struct trace_event_fields *field;
	unsigned int i;

	if (!file)
		return;
	field = file->event_call->class->fields_array;
	for (i = 0; i < ARRAY_SIZE(wanted); i++, field++) {
		KUNIT_EXPECT_STREQ(test, field->type ?: "", wanted[i].type ?: "");
		KUNIT_EXPECT_STREQ(test, field->name ?: "", wanted[i].name ?: "");
		KUNIT_EXPECT_EQ(test, field->size, wanted[i].size);
		KUNIT_EXPECT_EQ(test, field->align, wanted[i].align);
		KUNIT_EXPECT_EQ(test, !!field->is_signed, !!wanted[i].is_signed);
		KUNIT_EXPECT_EQ(test, field->len, wanted[i].len);
		KUNIT_EXPECT_EQ(test, field->filter_type, FILTER_OTHER);
		if (!field->type)
			break;
	}
	KUNIT_EXPECT_EQ(test, i, ARRAY_SIZE(wanted) - 1);
	trace_put_event_file(file);
}

/* Strings: one of any length, one of at most three characters. */
struct strings_record {
	struct trace_entry entry;
	u32 s, t;
	char text[64];
};

static const char *string;

static noinline void hit_strings(void)
{
	trace_mark(kunit_strings, "s %s t %.3s", string, string);
	barrier();
}

/* The strings of a record share 2048 bytes. */
#define MAX_LEN		(2048 / 2 - 1)

struct long_record {
	struct trace_entry entry;
	u32 s, t;
	char text[MAX_LEN + 1 + sizeof("0123456789ab")];
};

static noinline void hit_long(void)
{
	trace_mark(kunit_long, "s %s t %.12s", string, string);
	barrier();
}

/* The last field before the string is shorter than an int. */
struct char_record {
	struct trace_entry entry;
	u32 s;
	char c[2];
	char text[8];
};

static noinline void hit_char(void)
{
	trace_mark(kunit_char, "s %s c %c", "text", 'x');
	barrier();
}

DECLARE_TRACE(kunit_sampled, TP_PROTO(int number), TP_ARGS(number));
DEFINE_TRACE(kunit_sampled);

/* Only a marker: the compiler may make a tail call. */
static __used void probe_sampled(void *data, int number)
{
	trace_mark_tp(kunit_fed_sample, kunit_sampled, probe_sampled, "number %d", number);
}

static void probe_later(void *data, int number)
{
}

static noinline void hit_sampled(void)
{
	trace_kunit_sampled(7);
	barrier();
}

/* Without memory for another trampoline, __tracepoint_walk() calls the probe. */
static noinline void hit_walked(void)
{
	fail_all_allocs();
	unregister_trace_kunit_sampled(probe_later, NULL);
	stop_failing();
	trace_kunit_sampled(7);
	barrier();
}

/* What perf received. */
static struct {
	unsigned int count, size;
	unsigned long ip;
	union {
		struct quoted_record quoted;
		struct numbers_record numbers;
		struct strings_record strings;
		struct long_record longs;
		struct char_record character;
	};
} sampled;

/* Hits that interrupt another hit of this task. */
static struct {
	struct task_struct *task;
	unsigned int calls, depth, max;
} nested;

static void note_sample(struct perf_event *event, struct perf_sample_data *data,
			struct pt_regs *regs)
{
	const struct perf_raw_frag *frag = &data->raw->frag;

	if (nested.depth)
		return;
	sampled.count++;
	sampled.size = frag->size;
	sampled.ip = instruction_pointer(regs);
	memcpy(&sampled.quoted, frag->data,
	       min_t(size_t, frag->size, sizeof(sampled) - offsetof(typeof(sampled), quoted)));
}

/* From now on, note_sample() gets the records of this task. */
static struct perf_event *open_event(struct kunit *test, const char *name)
{
	struct trace_event_file *file = find_file(test, name);
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr),
		.sample_period = 1, .sample_type = PERF_SAMPLE_RAW,
	};
	struct perf_event *event;

	KUNIT_ASSERT_NOT_NULL(test, file);
	attr.config = file->event_call->event.type;
	event = perf_event_create_kernel_counter(&attr, -1, current, note_sample, NULL);
	trace_put_event_file(file);	/* perf holds the event */
	KUNIT_ASSERT_FALSE(test, IS_ERR(event));
	return event;
}

/* Not all architectures store the address. */
#ifdef perf_arch_fetch_caller_regs
#define IP_IS_STORED	true
#else
#define IP_IS_STORED	false
#endif

/* With @has_ip, the sampled address must be in @hit. */
static void take_sample(struct kunit *test, const char *name, void (*hit)(void), bool has_ip)
{
	unsigned long start = (unsigned long)dereference_function_descriptor(hit);
	struct perf_event *event = open_event(test, name);

	memset(&sampled, 0, sizeof(sampled));
	hit();
	perf_event_release_kernel(event);
	hit();
	KUNIT_EXPECT_EQ(test, sampled.count, 1U);
	if (has_ip && IP_IS_STORED)
		KUNIT_EXPECT_LT(test, sampled.ip - start, 256UL);
}

static void expect_string(struct kunit *test, const char *at, const char *wanted)
{
	const char *record = (char *)&sampled.strings;
	const u32 *s = &sampled.strings.s, *t = &sampled.strings.t;

	string = at;
	take_sample(test, "kunit_strings", hit_strings, true);
	KUNIT_EXPECT_EQ(test, *s >> 16, strlen(wanted) + 1);
	KUNIT_EXPECT_EQ(test, (u16)*s, offsetof(struct strings_record, text));
	KUNIT_EXPECT_STREQ(test, record + (u16)*s, wanted);
	KUNIT_EXPECT_EQ(test, *t >> 16, min_t(size_t, strlen(wanted), 3) + 1);
	KUNIT_EXPECT_EQ(test, (u16)*t, (u16)*s + strlen(wanted) + 1);
	KUNIT_EXPECT_EQ(test, strlen(record + (u16)*t), min_t(size_t, strlen(wanted), 3));
	KUNIT_EXPECT_EQ(test, strncmp(record + (u16)*t, wanted, 3), 0);
}

/* Strings of several lengths, at any alignment; and pointers that are not valid. */
static void formats_test_strings(struct kunit *test)
{
	static const unsigned char lens[] = { 0, 1, 3, 7, 8, 9, 16, 23 };
	char *text = kunit_kzalloc(test, 64, GFP_KERNEL);
	unsigned int i, from;

	KUNIT_ASSERT_NOT_NULL(test, text);
	for (from = 0; from < 8; from += 3) {
		for (i = 0; i < ARRAY_SIZE(lens); i++) {
			memset(text, 'x', 64);
			memcpy(text + from, "abcdefghijklmnopqrstuvw", lens[i]);
			text[from + lens[i]] = '\0';
			expect_string(test, text + from, text + from);
		}
	}
	expect_string(test, NULL, "(null)");
	expect_string(test, (char *)8, "(fault)");
}

static void take_long_sample(struct kunit *test)
{
	char *text = kunit_kzalloc(test, 2 * MAX_LEN, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, text);
	memset(text, 'x', 2 * MAX_LEN - 1);
	string = text;
	take_sample(test, "kunit_long", hit_long, true);
}

/* Strings are cut at what their precision and the record allow. */
static void formats_test_long_strings(struct kunit *test)
{
	const struct long_record *record = &sampled.longs;

	take_long_sample(test);
	KUNIT_EXPECT_EQ(test, record->s, (u32)((MAX_LEN + 1) << 16 |
			offsetof(struct long_record, text)));
	KUNIT_EXPECT_EQ(test, strlen(record->text), MAX_LEN);
	KUNIT_EXPECT_EQ(test, record->t, (u32)(13 << 16 |
			(offsetof(struct long_record, text) + MAX_LEN + 1)));
	KUNIT_EXPECT_STREQ(test, record->text + MAX_LEN + 1, "xxxxxxxxxxxx");
}

/* The bytes behind a record are zero; the space was used by a longer record before. */
static void formats_test_behind(struct kunit *test)
{
	static const char wanted[sizeof_field(struct quoted_record, text)] = "text";

	migrate_disable();
	take_long_sample(test);
	take_sample(test, "kunit_quoted", hit_quoted, true);
	migrate_enable();
	KUNIT_EXPECT_EQ(test, sampled.size,
			(u32)round_up(offsetofend(struct quoted_record, text), 8) - 4);
	KUNIT_EXPECT_EQ(test, memcmp(sampled.quoted.text, wanted, sizeof(wanted)), 0);
}

#ifdef CONFIG_KPROBES
/* The space for records with strings is allocated once, for the first such event. */
static void formats_test_space(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, trace_set_clr_event("markers", "kunit_long", 1), 0);
	trace_set_clr_event("markers", "kunit_long", 0);
	KUNIT_ASSERT_EQ(test, watch_calls("__alloc_percpu"), 0);
	KUNIT_EXPECT_EQ(test, trace_set_clr_event("markers", "kunit_long", 1), 0);
	KUNIT_EXPECT_EQ(test, trace_set_clr_event("markers", "kunit_numbers", 1), 0);
	stop_watching();
	KUNIT_EXPECT_EQ(test, watched.calls, 0U);
	trace_set_clr_event("markers", "kunit_long", 0);
	trace_set_clr_event("markers", "kunit_numbers", 0);
}
#endif

/* Nothing is read behind strings that end with a page; the next one is not mapped. */
static void formats_test_page_end(struct kunit *test)
{
	static const char letters[] = "abcdefghijklmno";
	char *page = vmalloc(PAGE_SIZE);
	char *end = page + PAGE_SIZE, *at;
	unsigned int len;

	KUNIT_ASSERT_NOT_NULL(test, page);
	for (len = 0; len < sizeof(letters); len++) {
		at = end - len - 1;
		memset(page, 'x', PAGE_SIZE);
		memcpy(at, &letters[sizeof(letters) - 1 - len], len + 1);
		expect_string(test, at, at);
	}
	vfree(page);
}

#if defined(CONFIG_DYNAMIC_FTRACE) && defined(CONFIG_X86_64)
/* Traces what is called in each hit, when the hit has the space for its record. */
static notrace void hit_again(unsigned long ip, unsigned long parent_ip,
			      struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	const char *interrupted = string;

	if (current != nested.task || !in_task())
		return;
	nested.calls++;
	nested.depth++;
	nested.max = max(nested.depth, nested.max);
	string = "nested";
	if (nested.depth < 8)
		hit_strings();
	string = interrupted;
	nested.depth--;
}

static struct ftrace_ops nested_ops = { .func = hit_again };

/* Also when an assertion of the test has failed. */
static void end_nested(void)
{
	nested.task = NULL;
	if (nested_ops.flags & FTRACE_OPS_FL_ENABLED)
		unregister_ftrace_function(&nested_ops);
	ftrace_free_filter(&nested_ops);
	nested_ops = (struct ftrace_ops){ .func = hit_again };
}

/* Six hits may interrupt each other; others are dropped and do not harm these. */
static void formats_test_depths(struct kunit *test)
{
	char traced[] = "copy_from_kernel_nofault_allowed";

	KUNIT_ASSERT_EQ(test, ftrace_set_filter(&nested_ops, traced, strlen(traced), 1), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&nested_ops), 0);
	nested = (typeof(nested)) { .task = current };
	expect_string(test, "deep", "deep");
	nested.task = NULL;
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&nested_ops), 0);
	end_nested();
	KUNIT_EXPECT_EQ(test, nested.max, 6U);
	/* Each hit that is not dropped reads two strings, and each read causes a hit. */
	KUNIT_EXPECT_EQ(test, nested.calls, 2U + 4 + 8 + 16 + 32 + 64);

	expect_string(test, "shallow", "shallow");	/* all space is free again */
}
#else
static void end_nested(void)
{
}
#endif

/* With KCSAN, functions do not end with jumps: see traced_ip(). */
#define HAS_IP	(IS_ENABLED(CONFIG_TRACEPOINT_TRAMPOLINE) && !IS_ENABLED(CONFIG_KCSAN))

static void formats_test_perf(struct kunit *test)
{
	static char long_string[300];
	struct perf_event *strings;

	take_sample(test, "kunit_quoted", hit_quoted, true);
	KUNIT_EXPECT_EQ(test, sampled.quoted.in, -5);
	KUNIT_EXPECT_STREQ(test, sampled.quoted.c, "x");
	/* The bytes between c and s. */
	KUNIT_EXPECT_EQ(test, sampled.quoted.c[2], 0);
	KUNIT_EXPECT_EQ(test, sampled.quoted.c[3], 0);
	KUNIT_EXPECT_EQ(test, sampled.quoted.s, (u32)(sizeof("text") << 16 |
			offsetof(struct quoted_record, text)));
	KUNIT_EXPECT_STREQ(test, sampled.quoted.text, "text");

	/* In perf's buffer, no byte of the next record is 0. */
	memset(long_string, 'a', sizeof(long_string) - 1);
	string = long_string;
	strings = open_event(test, "kunit_strings");
	migrate_disable();
	hit_strings();
	take_sample(test, "kunit_numbers", hit_numbers, true);
	migrate_enable();
	perf_event_release_kernel(strings);
	/* perf puts an u32 in front, and then the size is a multiple of eight. */
	KUNIT_EXPECT_EQ(test, sampled.size + sizeof(u32),
			round_up(sizeof(u32) + offsetofend(struct numbers_record, g), 8));
	KUNIT_EXPECT_EQ(test, sampled.numbers.a, -1);
	KUNIT_EXPECT_EQ(test, sampled.numbers.b, UINT_MAX - 1);
	KUNIT_EXPECT_EQ(test, sampled.numbers.c, LONG_MIN);
	KUNIT_EXPECT_EQ(test, sampled.numbers.d, ULLONG_MAX - 3);
	KUNIT_EXPECT_STREQ(test, sampled.numbers.e, "e");
	KUNIT_EXPECT_EQ(test, sampled.numbers.f, -6);
	KUNIT_EXPECT_EQ(test, sampled.numbers.g, LLONG_MIN + 6);

	take_sample(test, "kunit_char", hit_char, true);
	KUNIT_EXPECT_STREQ(test, sampled.character.c, "x");
	KUNIT_EXPECT_STREQ(test, sampled.character.text, "text");

	take_sample(test, "kunit_fed_sample", hit_sampled, HAS_IP);
	KUNIT_EXPECT_EQ(test, sampled.numbers.a, 7);

	/* The trampoline keeps the arguments on the stack for another probe. */
	KUNIT_ASSERT_EQ(test, 0, register_trace_prio_kunit_sampled(probe_later, NULL, 0));
	take_sample(test, "kunit_fed_sample", hit_sampled, HAS_IP);
	KUNIT_EXPECT_EQ(test, unregister_trace_kunit_sampled(probe_later, NULL), 0);
}

/* Where no memory was left for a new trampoline, perf has the registers too. */
static void formats_test_perf_no_memory(struct kunit *test)
{
	need_failing_allocs(test);
	KUNIT_ASSERT_EQ(test, 0, register_trace_prio_kunit_sampled(probe_later, NULL, 0));
	take_sample(test, "kunit_fed_sample", hit_walked, HAS_IP);
	KUNIT_EXPECT_EQ(test, unregister_trace_kunit_sampled(probe_later, NULL), -ENOENT);
}

/* What remains when an assertion fails. */
static void formats_test_exit(struct kunit *test)
{
	end_nested();
	unregister_trace_kunit_sampled(probe_later, NULL);
}
#else
static void formats_test_exit(struct kunit *test)
{
}
#endif /* CONFIG_PERF_EVENTS */

static struct kunit_case formats_test_cases[] = {
	KUNIT_CASE(formats_test_layout),
	KUNIT_CASE(formats_test_counts),
	KUNIT_CASE(formats_test_bad),
	KUNIT_CASE(formats_test_calls),
	KUNIT_CASE(formats_test_print_fmt),
	KUNIT_CASE(formats_test_print),
#ifdef CONFIG_PERF_EVENTS
	KUNIT_CASE(formats_test_perf),
	KUNIT_CASE(formats_test_perf_no_memory),
	KUNIT_CASE(formats_test_fields),
	KUNIT_CASE(formats_test_strings),
	KUNIT_CASE(formats_test_long_strings),
	KUNIT_CASE(formats_test_behind),
#ifdef CONFIG_KPROBES
	KUNIT_CASE(formats_test_space),
#endif
	KUNIT_CASE(formats_test_page_end),
#if defined(CONFIG_DYNAMIC_FTRACE) && defined(CONFIG_X86_64)
	KUNIT_CASE(formats_test_depths),
#endif
#endif
	{ }
};

static struct kunit_suite formats_test_suite = {
	.name = "marker_formats",
	.exit = formats_test_exit,
	.test_cases = formats_test_cases,
};
kunit_test_suite(formats_test_suite);

MODULE_DESCRIPTION("KUnit tests of the formats of markers");
MODULE_LICENSE("GPL");
