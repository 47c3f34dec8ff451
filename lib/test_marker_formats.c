// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the formats of markers: all that read them agree on each line of
 * the table. scripts/module-markers.sh is tried with the same table when the
 * kernel is built.
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/marker.h>
#include <linux/module.h>
#include <linux/string.h>
#include <linux/trace_events.h>

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

/* Each of its bytes is another one. */
static unsigned long long sample = 0xf1f2f3f4f5f6f7f8ULL;

/**
 * struct reading - what the probes read of an argument
 * @size: of the argument
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

/* Each format that is good for other readers is a trace event. */
static void expect_event(struct kunit *test, const char *name, const char *format)
{
	struct trace_event_file *file;

	if (!IS_ENABLED(CONFIG_EVENT_TRACING))
		return;
	file = trace_get_event_file(NULL, "markers", name);
	KUNIT_EXPECT_FALSE_MSG(test, IS_ERR(file), "%s", format);
	if (!IS_ERR(file))
		trace_put_event_file(file);
}

#define STRING_OF(name)	#name

/* A pointer is made of a long. */
#define VALUE_OF(c_type)						\
	((c_type)(__typeof__(__builtin_choose_expr(sizeof(c_type) > sizeof(long), \
						   0ULL, 0UL)))READ_ONCE(sample))

/* A marker of its own for each line. */
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

static struct kunit_case formats_test_cases[] = {
	KUNIT_CASE(formats_test_layout),
	KUNIT_CASE(formats_test_counts),
	KUNIT_CASE(formats_test_bad),
	KUNIT_CASE(formats_test_calls),
	{ }
};

static struct kunit_suite formats_test_suite = {
	.name = "marker_formats",
	.test_cases = formats_test_cases,
};
kunit_test_suite(formats_test_suite);

MODULE_DESCRIPTION("KUnit tests of the formats of markers");
MODULE_LICENSE("GPL");
