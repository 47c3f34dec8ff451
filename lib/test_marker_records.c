// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the records of markers, which perf gives to this test.
 */
#include <kunit/test.h>
#include <linux/ftrace.h>
#include <linux/marker.h>
#include <linux/mman.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/trace_events.h>
#include <linux/tracepoint.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <trace/tracer.h>

#include <asm/sections.h>

#include "test_fail_alloc.h"

#define MIXED_FORMAT	"in %d c %c s %s"

struct mixed_record {
	struct trace_entry entry;
	int in;
	char c[4];	/* two are padding */
	u32 s;
	char text[8];
};

static noinline void hit_mixed(void)
{
	trace_mark(kunit_mixed, MIXED_FORMAT, -5, 'x', "text");
	barrier();	/* no tail call */
}

/* Only numbers, more than fit into the argument registers. */
#define NUMBERS_FORMAT	"a %d b %u c %ld d %llx e %c f %d g %lld h %hd i %hhu"

struct numbers_record {
	struct trace_entry entry;
	int a;
	unsigned int b;
	long c;
	unsigned long long __aligned(8) d;
	char e[2];
	int f;
	long long __aligned(8) g;
	short h;
	unsigned char i;
};

static noinline void hit_numbers(void)
{
	trace_mark(kunit_numbers, NUMBERS_FORMAT, -1, UINT_MAX - 1, LONG_MIN, ULLONG_MAX - 3,
		   'e', -6, LLONG_MIN + 6, (short)-7, (unsigned char)200);
	barrier();
}

/* One to five numbers, which have probes of their own. No two of their bytes are equal. */
#define FEW_VALUE(i)	(0x8182838485868788ULL + (i) * 0x1010101010101010ULL)

static noinline void hit_few(void)
{
	trace_mark(kunit_few_1, "a %d", (int)FEW_VALUE(0));
	trace_mark(kunit_few_2, "a %llx b %d", FEW_VALUE(0), (int)FEW_VALUE(1));
	trace_mark(kunit_few_3, "a %d b %llx c %llx", (int)FEW_VALUE(0), FEW_VALUE(1),
		   FEW_VALUE(2));
	trace_mark(kunit_few_4, "a %d b %d c %d d %d", (int)FEW_VALUE(0), (int)FEW_VALUE(1),
		   (int)FEW_VALUE(2), (int)FEW_VALUE(3));
	trace_mark(kunit_few_5, "a %llx b %d c %llx d %d e %d", FEW_VALUE(0),
		   (int)FEW_VALUE(1), FEW_VALUE(2), (int)FEW_VALUE(3), (int)FEW_VALUE(4));
	barrier();
}

/* What pointers refer to: an address, another one, and nothing. */
struct bytes_record {
	struct trace_entry entry;
	u8 mac[6], ip[4], none[16];
};

static const u8 address[] = { 1, 2, 3, 4, 5, 6 };

static noinline void hit_bytes(void)
{
	trace_mark(kunit_bytes_read, "mac %pM ip %pI4 none %pI6", address, address, NULL);
	barrier();
}

/* Bytes whose number is given, and a number behind them. */
struct hex_record {
	struct trace_entry entry;
	int number;
	u32 hex;
	int behind;
	u8 data[MARKER_MAX_HEX + 8];
};

static const u8 *hex_from;
static int hex_size;

static noinline void hit_hex(void)
{
	trace_mark(kunit_hex_read, "data %*ph behind %d", hex_size, hex_from, 7);
	barrier();
}

/* Strings: one of any length, one of at most eleven characters. */
struct strings_record {
	struct trace_entry entry;
	u32 s, t;
	char text[64];
};

static const char *string;

static noinline void hit_strings(void)
{
	trace_mark(kunit_strings, "s %s t %.11s", string, string);
	barrier();
}

DECLARE_TRACE(kunit_sampled, TP_PROTO(int number), TP_ARGS(number));
DEFINE_TRACE(kunit_sampled_tp, TP_PROTO(int number), TP_ARGS(number));

/* Only a marker: the compiler may make a tail call. */
static __used void probe_sampled(void *data, int number)
{
	trace_mark_tp(kunit_fed_sample, kunit_sampled_tp, probe_sampled, "number %d", number);
}

static void probe_later(void *data, int number)
{
}

static noinline void hit_sampled(void)
{
	trace_kunit_sampled_tp(7);
	barrier();
}

/* Without memory for another trampoline, __tracepoint_walk() calls the probe. */
static noinline void hit_walked(void)
{
	fail_all_allocs();
	unregister_trace_kunit_sampled_tp(probe_later, NULL);
	stop_failing();
	trace_kunit_sampled_tp(7);
	barrier();
}

/* What perf received. */
static struct {
	unsigned int count, size;
	unsigned long ip;
	union {
		struct mixed_record mixed;
		struct numbers_record numbers;
		struct strings_record strings;
		struct bytes_record of_pointers;
		struct hex_record hex;
		u8 bytes[sizeof(struct hex_record)];
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
	memcpy(sampled.bytes, frag->data, min_t(size_t, frag->size, sizeof(sampled.bytes)));
}

/* From now on, note_sample() gets the records of this task. */
static struct perf_event *open_event(struct kunit *test, const char *name)
{
	struct trace_event_file *file = trace_get_event_file(NULL, "markers", name);
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr),
		.sample_period = 1, .sample_type = PERF_SAMPLE_RAW,
	};
	struct perf_event *event;

	KUNIT_ASSERT_FALSE_MSG(test, IS_ERR(file), "%s", name);
	attr.config = file->event_call->event.type;
	event = perf_event_create_kernel_counter(&attr, -1, current, note_sample, NULL);
	trace_put_event_file(file);	/* perf holds the event */
	KUNIT_ASSERT_FALSE(test, IS_ERR(event));
	return event;
}

/* Elsewhere, the address is in the code that calls the probes, or not stored. */
#if defined(perf_arch_fetch_caller_regs) && defined(CONFIG_TRACEPOINT_TRAMPOLINE)
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

/* Fields of these sizes, and zeros. */
static void expect_few(struct kunit *test, const char *name, const unsigned char *sizes)
{
	const void *record = &sampled.numbers;
	unsigned int i, at = sizeof(struct trace_entry);

	take_sample(test, name, hit_few, true);
	for (i = 0; sizes[i]; i++) {
		at = round_up(at, sizes[i]);
		if (sizes[i] == sizeof(u32))
			KUNIT_EXPECT_EQ(test, *(u32 *)(record + at), (u32)FEW_VALUE(i));
		else
			KUNIT_EXPECT_EQ(test, *(u64 *)(record + at), FEW_VALUE(i));
		at += sizes[i];
	}
	KUNIT_EXPECT_GE(test, sampled.size, at);
	for (; at < sampled.size; at++)
		KUNIT_EXPECT_EQ(test, *(u8 *)(record + at), 0);
}

static void record_test_few(struct kunit *test)
{
	expect_few(test, "kunit_few_1", "\4");
	expect_few(test, "kunit_few_2", "\10\4");
	expect_few(test, "kunit_few_3", "\4\10\10");
	expect_few(test, "kunit_few_4", "\4\4\4\4");
	expect_few(test, "kunit_few_5", "\10\4\10\4\4");
}

static void record_test_bytes(struct kunit *test)
{
	static const u8 none[16];

	take_sample(test, "kunit_bytes_read", hit_bytes, true);
	KUNIT_EXPECT_MEMEQ(test, sampled.of_pointers.mac, address, 6);
	KUNIT_EXPECT_MEMEQ(test, sampled.of_pointers.ip, address, 4);
	KUNIT_EXPECT_MEMEQ(test, sampled.of_pointers.none, none, 16);
}

/* A record with so many of the bytes, whose number was @size. */
static void expect_hex(struct kunit *test, const u8 *from, int size, unsigned int stored)
{
	const unsigned int at = offsetof(struct hex_record, data);

	hex_from = from;
	hex_size = size;
	take_sample(test, "kunit_hex_read", hit_hex, true);
	KUNIT_EXPECT_EQ(test, sampled.hex.number, size);
	KUNIT_EXPECT_EQ(test, sampled.hex.hex, stored << 16 | at);
	KUNIT_EXPECT_EQ(test, sampled.hex.behind, 7);
	KUNIT_EXPECT_EQ(test, sampled.size, round_up(at + stored + 4, 8) - 4);
	if (stored)
		KUNIT_EXPECT_MEMEQ(test, sampled.hex.data, from, stored);
}

/* At most 64 bytes are copied, and none that cannot be read. */
static void record_test_hex(struct kunit *test)
{
	u8 *bytes = kunit_kmalloc(test, 2 * MARKER_MAX_HEX, GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, bytes);
	for (i = 0; i < 2 * MARKER_MAX_HEX; i++)
		bytes[i] = 200 - i;
	expect_hex(test, bytes, 5, 5);
	expect_hex(test, bytes, MARKER_MAX_HEX, MARKER_MAX_HEX);
	expect_hex(test, bytes, MARKER_MAX_HEX + 1, MARKER_MAX_HEX);
	expect_hex(test, bytes, INT_MAX, MARKER_MAX_HEX);
	expect_hex(test, bytes, 0, 0);
	expect_hex(test, bytes, -1, 0);
	expect_hex(test, NULL, 5, 0);
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
	KUNIT_EXPECT_EQ(test, *t >> 16, min_t(size_t, strlen(wanted), 11) + 1);
	KUNIT_EXPECT_EQ(test, (u16)*t, (u16)*s + strlen(wanted) + 1);
	KUNIT_EXPECT_EQ(test, strlen(record + (u16)*t), min_t(size_t, strlen(wanted), 11));
	KUNIT_EXPECT_EQ(test, strncmp(record + (u16)*t, wanted, 11), 0);
}

/* Strings of several lengths, at any alignment; and pointers that are not valid. */
static void record_test_strings(struct kunit *test)
{
	static const unsigned char lens[] = { 0, 1, 3, 7, 8, 9, 16, 23 };
	char *text = kunit_kzalloc(test, 64, GFP_KERNEL), *page = vmalloc(PAGE_SIZE), *end;
	unsigned int i, from;

	KUNIT_ASSERT_NOT_NULL(test, text);
	KUNIT_ASSERT_NOT_NULL(test, page);
	for (from = 0; from < 8; from += 3) {
		for (i = 0; i < ARRAY_SIZE(lens); i++) {
			memset(text, 'x', 64);
			memcpy(text + from, "abcdefghijklmnopqrstuvw", lens[i]);
			text[from + lens[i]] = '\0';
			expect_string(test, text + from, text + from);
		}
	}
	/* There is no page behind. */
	memset(page, 'x', PAGE_SIZE);
	end = page + PAGE_SIZE - 1;
	expect_string(test, end, "(fault)");
	/* Its first eleven characters are all that is read of the second one. */
	string = end - 10;
	take_sample(test, "kunit_strings", hit_strings, true);
	KUNIT_EXPECT_STREQ(test, sampled.strings.text, "(fault)");
	KUNIT_EXPECT_STREQ(test, sampled.strings.text + sizeof("(fault)"), "xxxxxxxxxxx");
	*end = '\0';
	for (i = 0; i < ARRAY_SIZE(lens); i++)
		expect_string(test, end - lens[i], end - lens[i]);
	vfree(page);
	expect_string(test, NULL, "(null)");
	expect_string(test, (char *)8, "(fault)");
	expect_string(test, (char *)(ULONG_MAX / 2 + 2), "(fault)");	/* no address of x86-64 */
	expect_string(test, ERR_PTR(-EFAULT), "(fault)");
	expect_string(test, (char *)ULONG_MAX, "(fault)");
}

/* A string in user space is not read, although the task may read it. */
static void record_test_user_string(struct kunit *test)
{
	unsigned long user;

	if (!IS_ENABLED(CONFIG_X86))
		kunit_skip(test, "it may be read here without PAN");
	user = kunit_vm_mmap(test, NULL, 0, PAGE_SIZE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR_VALUE(user) || !user);
	KUNIT_ASSERT_EQ(test, copy_to_user((void __user *)user, "secret", 7), 0);
	expect_string(test, (char *)user, "(fault)");
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
static void record_test_depths(struct kunit *test)
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

static void record_test_perf(struct kunit *test)
{
	static char long_string[300];
	struct perf_event *strings;

	take_sample(test, "kunit_mixed", hit_mixed, true);
	KUNIT_EXPECT_EQ(test, sampled.mixed.in, -5);
	KUNIT_EXPECT_STREQ(test, sampled.mixed.c, "x");
	/* The bytes between c and s. */
	KUNIT_EXPECT_EQ(test, sampled.mixed.c[2], 0);
	KUNIT_EXPECT_EQ(test, sampled.mixed.c[3], 0);
	KUNIT_EXPECT_EQ(test, sampled.mixed.s, (u32)(sizeof("text") << 16 |
			offsetof(struct mixed_record, text)));
	KUNIT_EXPECT_STREQ(test, sampled.mixed.text, "text");

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
			round_up(sizeof(u32) + offsetofend(struct numbers_record, i), 8));
	KUNIT_EXPECT_EQ(test, sampled.numbers.a, -1);
	KUNIT_EXPECT_EQ(test, sampled.numbers.b, UINT_MAX - 1);
	KUNIT_EXPECT_EQ(test, sampled.numbers.c, LONG_MIN);
	KUNIT_EXPECT_EQ(test, sampled.numbers.d, ULLONG_MAX - 3);
	KUNIT_EXPECT_STREQ(test, sampled.numbers.e, "e");
	KUNIT_EXPECT_EQ(test, sampled.numbers.f, -6);
	KUNIT_EXPECT_EQ(test, sampled.numbers.g, LLONG_MIN + 6);
	KUNIT_EXPECT_EQ(test, sampled.numbers.h, -7);
	KUNIT_EXPECT_EQ(test, sampled.numbers.i, 200);

	take_sample(test, "kunit_fed_sample", hit_sampled, HAS_IP);
	KUNIT_EXPECT_EQ(test, sampled.numbers.a, 7);

	/* The trampoline keeps the arguments on the stack for another probe. */
	KUNIT_ASSERT_EQ(test, 0, register_trace_prio_kunit_sampled_tp(probe_later, NULL, 0));
	take_sample(test, "kunit_fed_sample", hit_sampled, HAS_IP);
	KUNIT_EXPECT_EQ(test, unregister_trace_kunit_sampled_tp(probe_later, NULL), 0);
}

/* Where no memory was left for a new trampoline, perf has the registers too. */
static void record_test_perf_no_memory(struct kunit *test)
{
	need_failing_allocs(test);
	KUNIT_ASSERT_EQ(test, 0, register_trace_prio_kunit_sampled_tp(probe_later, NULL, 0));
	take_sample(test, "kunit_fed_sample", hit_walked, HAS_IP);
	KUNIT_EXPECT_EQ(test, unregister_trace_kunit_sampled_tp(probe_later, NULL), -ENOENT);
}

/* What remains when an assertion fails. */
static void record_test_exit(struct kunit *test)
{
	end_nested();
	unregister_trace_kunit_sampled_tp(probe_later, NULL);
}

static struct kunit_case record_test_cases[] = {
	KUNIT_CASE(record_test_perf),
	KUNIT_CASE(record_test_perf_no_memory),
	KUNIT_CASE(record_test_few),
	KUNIT_CASE(record_test_bytes),
	KUNIT_CASE(record_test_hex),
	KUNIT_CASE(record_test_strings),
	KUNIT_CASE(record_test_user_string),
#if defined(CONFIG_DYNAMIC_FTRACE) && defined(CONFIG_X86_64)
	KUNIT_CASE(record_test_depths),
#endif
	{ }
};

static struct kunit_suite record_test_suite = {
	.name = "marker_records",
	.exit = record_test_exit,
	.test_cases = record_test_cases,
};

kunit_test_suite(record_test_suite);

MODULE_DESCRIPTION("KUnit tests of the records of markers");
MODULE_LICENSE("GPL");
