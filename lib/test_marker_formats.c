// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the formats of markers: their layouts, and what both types of probes and
 * the trace events make of each line of the table of test_marker_formats.h.
 */
#include <kunit/test.h>
#include <linux/marker.h>
#include <linux/module.h>
#include <linux/trace_events.h>

struct good_format {
	const char *format;
	char conversion;
	enum marker_type type;
	size_t size;
	bool is_signed;
	int precision;
};

static struct marker_layout *new_layout(struct kunit *test, const char *format)
{
	struct marker_layout *layout = marker_layout_new(format);

	KUNIT_EXPECT_FALSE_MSG(test, IS_ERR(layout), "%s", format);
	if (IS_ERR(layout))
		return NULL;
	KUNIT_EXPECT_PTR_NE(test, layout->format, format);
	return layout;
}

static void expect_field(struct kunit *test, const struct good_format *good)
{
	struct marker_layout *layout = new_layout(test, good->format);
	const struct marker_field *field;

	if (!layout)
		return;
	field = layout->field;
	KUNIT_EXPECT_EQ_MSG(test, layout->nr_fields, 1U, "%s", good->format);
	KUNIT_EXPECT_EQ_MSG(test, layout->nr_strings, good->conversion == 's', "%s", good->format);
	KUNIT_EXPECT_EQ_MSG(test, field->conversion, good->conversion, "%s", good->format);
	KUNIT_EXPECT_EQ_MSG(test, field->type, good->type, "%s", good->format);
	KUNIT_EXPECT_EQ_MSG(test, field->size, good->size, "%s", good->format);
	KUNIT_EXPECT_EQ_MSG(test, field->is_signed, good->is_signed, "%s", good->format);
	KUNIT_EXPECT_EQ_MSG(test, field->precision, good->precision, "%s", good->format);
	KUNIT_EXPECT_EQ_MSG(test, *field->spec, '%', "%s", good->format);
	KUNIT_EXPECT_PTR_EQ_MSG(test, strstr(layout->format, field->spec),
				(char *)field->spec, "%s", good->format);
	kfree(layout);
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

#define D12	"%d%d%d%d%d%d%d%d%d%d%d%d"
#define S12	"%s%s%s%s%s%s%s%s%s%s%s%s"

static void formats_test_counts(struct kunit *test)
{
	static const struct {
		const char *format;
		unsigned int fields, strings;
	} counts[] = {
		{ " ", 0, 0 }, { "text", 0, 0 }, { "%%", 0, 0 }, { "%%d", 0, 0 },
		{ "a b  c ", 0, 0 }, { "a %d b %ld c %lld", 3, 0 }, { "%c%s%p%s", 4, 2 },
		{ "%pS%ps%p", 3, 0 }, { "%s%%s%.2s", 2, 2 }, { D12, 12, 0 },
		{ S12, 12, 12 }, { "%*ph", 2, 1 }, { "%d %*phN%s\n", 4, 2 },
		{ "text\n", 0, 0 }, { "%d\n", 1, 0 }, { "\n", 0, 0 },
	};
	struct marker_layout *layout;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		layout = new_layout(test, counts[i].format);
		if (!layout)
			continue;
		KUNIT_EXPECT_EQ(test, layout->nr_fields, counts[i].fields);
		KUNIT_EXPECT_EQ(test, layout->nr_strings, counts[i].strings);
		/* Without a newline. */
		KUNIT_EXPECT_TRUE(test, strstarts(counts[i].format, layout->format));
		KUNIT_EXPECT_EQ(test, strlen(layout->format), strcspn(counts[i].format, "\n"));
		kfree(layout);
	}
}

static void formats_test_bad(struct kunit *test)
{
	static const char *const bad[] = {
		/* No valid conversion. */
		"%", "text %", "%-", "%5", "% ", "%%%", "%d%", "% %", "%l%", "%!", "%y", "%v",
		/* Lengths that do not exist, or not for this conversion. */
		"%l", "%ll", "%llld", "%hhhd", "%zzu", "%jd", "%qd", "%Ld", "%I64d", "%lhd",
		"%lc", "%hc", "%lp", "%llp", "%zp", "%hs", "%hhs",
		/* Floating point, %n and %m. */
		"%f", "%a", "%.2f", "%n", "%m",
		/* Widths and precisions that are not digits, or in the wrong place. */
		"%*d", "%.*d", "%.-1d", "%5.3.1d", "%5 d", "%1$d", "%'d", "%+d", "% d",
		/* Extensions of %p. */
		"%pK", "%px", "%pI5", "%pI4h", "%pMR", "%pUx", "%6ph", "%*p",
		"%*phC", "%*pbl", "%-*ph", "%.*ph",
		"%*s", "%d%d%d%d%d%d%d%d%d%d%d%*ph", "%pV", "%pSR", "%pss", "%p0", "%pS1", "%-16px",
		/* After a good conversion. */
		"%d %ju", "100%% right %d wrong %-4qd", "%p%px",
		/* A space at the start, and characters that are not printable ASCII. */
		" %d", "  ", "%d\n\n", "\n%d", "a\nb", "\t", "\033[1m%d", "\037%d", "\177", "\200",
		"stra\303\237e %d",
		/* Names of values. */
		"%d{", "%d{}", "%d{a", "%d{a,", "%d{a,}", "%d{1a}", "%d{a=}", "%d{a=x}", "%d{a b}",
		"%d{a;b}", "%u{a} %x{=1}", "%d{a= 5}", "%-5d{a}", "%05x{a}", "%.2d{a}", "%x{a=0}",
		"%x{a,b=0,c}", "%hhx{a,b,c,d,e,f,g,h,i}",
		"%d{a_name_of_thirty_two_characters_}",
		/* Too long, or too many. */
		"%.0000000000012d", "%.32768s", "%32768d", D12 "%d", S12 "%s",
		D12 "%d%d%d%p%s",
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++)
		KUNIT_EXPECT_TRUE_MSG(test, IS_ERR(marker_layout_new(bad[i])), "%s", bad[i]);
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
	kfree(layout);
}

#define NAMES(names...)	((const char *[]){ names, NULL })

static void formats_test_names(struct kunit *test)
{
	expect_names(test, "100%% at addr 0x%08lx, size=%u name_2: %s (%d,%d)",
		     NAMES("addr", "size", "name_2", "arg4", "arg5"));
	/* Not used as names: one that is taken, C keywords, a common field, digits. */
	expect_names(test, "a %d a %d while %d common_pid %d 12 %d auto %d",
		     NAMES("a", "arg2", "arg3", "arg4", "arg5", "arg6"));
	expect_names(test, "_Bool %d typeof %d _bool %d", NAMES("arg1", "arg2", "_bool"));
	/* The default name of the second field is taken. */
	expect_names(test, "arg2 %d %d %d", NAMES("arg2", "arg3", "arg4"));
	/* A long name that is not used is overwritten; a name ends where a conversion does. */
	expect_names(test, "common_pid %d ab %d", NAMES("arg1", "ab"));
	expect_names(test, "x%dabc %d", NAMES("x", "abc"));
	expect_names(test, MARK_NOARGS, NAMES(NULL));
	/* The number of bytes has no name of its own. */
	expect_names(test, "data %*ph n %d", NAMES("arg1", "data", "n"));
	/* Histograms have buffers for names of fields, of a limited size. */
	expect_names(test, "a_name_of_thirty_one_characters %d",
		     NAMES("a_name_of_thirty_one_characters"));
	expect_names(test, "a_name_of_thirty_two_characters_ %d", NAMES("arg1"));
}

#define VALUES_FORMAT \
	"register %ld{A,B,C=-7,D_2,E=0xff}%hx{f,g,h=0x11,i} %hhd{J=-1,K}{L} %s{M}"

static void formats_test_values(struct kunit *test)
{
	static const struct trace_print_flags names[] = {
		{ 0, "A" }, { 1, "B" }, { -7, "C" }, { -6, "D_2" }, { 255, "E" },
		{ 1, "f" }, { 2, "g" }, { 0x11, "h" }, { 0x20, "i" }, { 0xff, "J" }, { 0, "K" },
	};
	struct marker_layout *layout = new_layout(test, VALUES_FORMAT);
	unsigned int i;

	if (!layout)
		return;
	KUNIT_EXPECT_EQ(test, layout->nr_fields, 4U);
	KUNIT_EXPECT_EQ(test, layout->field[0].nr_names, 5U);
	KUNIT_EXPECT_EQ(test, layout->field[1].nr_names, 4U);
	KUNIT_EXPECT_EQ(test, layout->field[2].nr_names, 2U);
	KUNIT_EXPECT_EQ(test, layout->field[3].nr_names, 0U);
	KUNIT_EXPECT_FALSE(test, layout->field[0].are_flags);
	KUNIT_EXPECT_TRUE(test, layout->field[1].are_flags);
	KUNIT_EXPECT_STREQ(test, layout->field[2].end, "{L} %s{M}");
	KUNIT_EXPECT_STREQ(test, layout->field[3].end, "{M}");
	/* Those of all fields are one array. */
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		KUNIT_EXPECT_STREQ(test, layout->field[0].names[i].name, names[i].name);
		KUNIT_EXPECT_EQ(test, layout->field[0].names[i].mask, names[i].mask);
	}
	kfree(layout);
}

/* All bytes differ. */
static unsigned long long sample = 0xf1f2f3f4f5f6f7f8ULL;

static unsigned long long read_by_list, read_by_variadic;

static unsigned long long read_value(const size_t *size, va_list *args)
{
	if (*size == sizeof(long long))
		return va_arg(*args, unsigned long long);
	return va_arg(*args, unsigned int);
}

static void read_list(void *size, void *call_private, const char *format,
		      va_list *args)
{
	read_by_list = read_value(size, args);
}

static void read_variadic(const struct __mark_marker *marker, void *size,
			  const char *format, ...)
{
	va_list args;

	va_start(args, format);
	read_by_variadic = read_value(size, &args);
	va_end(args);
}

static void start_reading(struct kunit *test, const char *name, const char *format,
			  size_t *size)
{
	KUNIT_EXPECT_EQ(test, marker_probe_register(name, format, read_list, size), 0);
	KUNIT_EXPECT_EQ(test, marker_probe_register(name, format, read_variadic, size), 0);
	marker_arm(name);
}

static struct trace_event_file *find_file(struct kunit *test, const char *name)
{
	struct trace_event_file *file = trace_get_event_file(NULL, "markers", name);

	KUNIT_EXPECT_FALSE_MSG(test, IS_ERR(file), "%s", name);
	return IS_ERR(file) ? NULL : file;
}

/* Each good format is a trace event, too. */
static void stop_reading(struct kunit *test, const char *name, const char *format,
			 size_t *size, unsigned long value)
{
	unsigned long long want = *size == sizeof(long long) ? value : (unsigned int)value;
	struct trace_event_file *file = find_file(test, name);

	if (file)
		trace_put_event_file(file);
	marker_disarm(name);
	KUNIT_EXPECT_EQ_MSG(test, read_by_list, want, "%s", format);
	KUNIT_EXPECT_EQ(test, marker_probe_unregister(name, read_variadic, size), 0);
	KUNIT_EXPECT_EQ_MSG(test, read_by_variadic, want, "%s", format);
	KUNIT_EXPECT_EQ(test, marker_probe_unregister(name, read_list, size), 0);
}

#define STRING_OF(name)	#name

#define VALUE_OF(c_type)	((c_type)(unsigned long)READ_ONCE(sample))

/* Each line gets its own marker. */
#define TRY(name, format, c_type)					\
do {									\
	size_t size = sizeof(c_type);					\
									\
	start_reading(test, STRING_OF(name), format, &size);		\
	trace_mark(name, format, VALUE_OF(c_type));			\
	stop_reading(test, STRING_OF(name), format, &size,		\
		     (unsigned long)VALUE_OF(c_type));			\
} while (0)

static void formats_test_calls(struct kunit *test)
{
#define MARKER_FORMAT(format, conversion, type, c_type, is_signed, precision) \
	TRY(CONCATENATE(kunit_format_, __LINE__), format, c_type);
#include "test_marker_formats.h"
}

#define QUOTED_FORMAT	"100%% \"in\" \\ %04d c %c s %s end%%"

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
	trace_mark(kunit_quoted, QUOTED_FORMAT, 5, 'x', "text");
}

#define QUOTES_5	"\"\"\"\"\""
#define QUOTED_5	"\\\"\\\"\\\"\\\"\\\""

/* Almost all of the format must be quoted. */
static noinline void hit_quotes(void)
{
	trace_mark(kunit_quotes, QUOTES_5 QUOTES_5 QUOTES_5 QUOTES_5 " n %d", 1);
}

static void expect_print_fmt(struct kunit *test, const char *name, const char *text)
{
	struct trace_event_file *file = find_file(test, name);

	if (!file)
		return;
	KUNIT_EXPECT_STREQ(test, file->event_call->print_fmt, text);
	trace_put_event_file(file);
}

static noinline void hit_lengths(void)
{
	trace_mark(kunit_lengths, "z %zu t %td h %hd hh %hhx\n", sizeof(int), (ptrdiff_t)-2,
		   (short)-3, (unsigned char)0xfe);
}

static const u8 some_bytes[16] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 };

static noinline void hit_bytes(void)
{
	trace_mark(kunit_bytes, "mac %pM ip %pI4 none %pMF uuid %pUb six %pI6c", some_bytes,
		   some_bytes, NULL, some_bytes, some_bytes);
}

static noinline void hit_values(void)
{
	trace_mark(kunit_values, "%d{A=-2,B} %x{A,B=-1} %u", 0, 1, 2);
	trace_mark(kunit_hex, "a %*ph b %*phN", 2, some_bytes, 3, some_bytes);
}

/* print_fmt, for tools: a C string and its arguments. The tools do not know all lengths. */
static void formats_test_print_fmt(struct kunit *test)
{
	/* Without hits, the compiler would drop the markers. */
	hit_quoted();
	expect_print_fmt(test, "kunit_quoted",
			 "\"100%% \\\"in\\\" \\\\ %04d c %s s %s end%%\", REC->in, REC->c, __get_str(s)");
	hit_quotes();
	expect_print_fmt(test, "kunit_quotes",
			 "\"" QUOTED_5 QUOTED_5 QUOTED_5 QUOTED_5 " n %d\", REC->n");
	hit_bytes();
	expect_print_fmt(test, "kunit_bytes",
			 "\"mac %pM ip %pI4 none %pMF uuid %pUb six %pI6c\", REC->mac, REC->ip, REC->none, REC->uuid, REC->six");
	hit_values();
	expect_print_fmt(test, "kunit_values",
			 "\"%s %s %u\", __print_symbolic(REC->arg1, { 4294967294, \"A\" }, { 4294967295, \"B\" }), __print_flags(REC->arg2, \"|\", { 1, \"A\" }, { 4294967295, \"B\" }), REC->arg3");
	expect_print_fmt(test, "kunit_hex",
			 "\"a %s b %s\", __print_hex(__get_dynamic_array(a), __get_dynamic_array_len(a)), __print_hex_str(__get_dynamic_array(b), __get_dynamic_array_len(b))");
	hit_lengths();
	expect_print_fmt(test, "kunit_lengths",
			 "\"z %lu t %ld h %hd hh %hhx\", REC->z, REC->t, REC->h, REC->hh");
}

static void formats_test_print(struct kunit *test)
{
	struct quoted_record record = {
		.in = 5, .c = "x",
		.s = sizeof("text") << 16 | offsetof(struct quoted_record, text),
		.text = "text",
	};
	struct trace_iterator *iter = kunit_kzalloc(test, sizeof(*iter), GFP_KERNEL);
	struct trace_event_file *file = find_file(test, "kunit_quoted");
	struct trace_event *event;

	if (!file || !iter)
		return;
	event = &file->event_call->event;
	trace_seq_init(&iter->seq);
	iter->ent = &record.entry;
	KUNIT_EXPECT_EQ(test, event->funcs->trace(iter, 0, event), TRACE_TYPE_HANDLED);
	KUNIT_EXPECT_STREQ(test, iter->seq.buffer,
			   "kunit_quoted: 100% \"in\" \\ 0005 c x s text end%\n");
	trace_put_event_file(file);
}

static struct kunit_case formats_test_cases[] = {
	KUNIT_CASE(formats_test_layout),
	KUNIT_CASE(formats_test_counts),
	KUNIT_CASE(formats_test_bad),
	KUNIT_CASE(formats_test_names),
	KUNIT_CASE(formats_test_values),
	KUNIT_CASE(formats_test_calls),
	KUNIT_CASE(formats_test_print_fmt),
	KUNIT_CASE(formats_test_print),
	{ }
};

static struct kunit_suite formats_test_suite = {
	.name = "marker_formats",
	.test_cases = formats_test_cases,
};
kunit_test_suite(formats_test_suite);

MODULE_DESCRIPTION("KUnit tests of the formats of markers");
MODULE_LICENSE("GPL");
