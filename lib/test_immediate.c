// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of immediate values: what a reader sees, from code and from
 * memory, before and after the value is set. With CONFIG_IMMEDIATE all sites
 * are patched, with CONFIG_IMMEDIATE_JUMP_LABEL only branches; otherwise these
 * are plain variables. The tests are the same.
 */
#include <linux/module.h>

#include "test_immediate.h"

enum colour { RED, GREEN, BLUE };

static DEFINE_IMV(u8, imv_u8) = 1;
static DEFINE_IMV(u16, imv_u16) = 2;
static DEFINE_IMV(u32, imv_u32) = 3;
static DEFINE_IMV(u64, imv_u64) = 0x0123456789abcdefULL;
static DEFINE_IMV(s8, imv_s8) = -1;
static DEFINE_IMV(s16, imv_s16) = -2;
static DEFINE_IMV(int, imv_int) = -3;
static DEFINE_IMV(s64, imv_s64) = -4;
static DEFINE_IMV(enum colour, imv_colour) = GREEN;
static const char text[] = "first";
static DEFINE_IMV(const char *, imv_text) = text;
static DEFINE_IMV(bool, imv_flag);
static DEFINE_IMV(bool, imv_on) = true;
DECLARE_IMV(unsigned int, imv_global);
DEFINE_IMV(unsigned int, imv_global) = 7;
EXPORT_IMV_SYMBOL_GPL(imv_global);

/* Sets a value, and checks it from the code and from memory. */
#define expect_set(test, name, value)					\
	do {								\
		__typeof__(name##__imv) __new = (value);		\
									\
		imv_set(name, __new);					\
		KUNIT_EXPECT_TRUE(test, imv_read(name) == __new);	\
		KUNIT_EXPECT_TRUE(test, _imv_read(name) == __new);	\
	} while (0)

/* The value is the first one, two others, and the first one again. */
#define expect_values(test, name, first, second, third)			\
	do {								\
		KUNIT_EXPECT_TRUE(test, imv_read(name) == (first));	\
		expect_set(test, name, second);				\
		expect_set(test, name, third);				\
		expect_set(test, name, first);				\
	} while (0)

static void imv_test_values(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, imv_unlikely(imv_on));
	KUNIT_EXPECT_EQ(test, imv_read(imv_global), 7U);
	expect_values(test, imv_u8, 1, 0, U8_MAX);
	expect_values(test, imv_u16, 2, 0, U16_MAX);
	expect_values(test, imv_u32, 3, BIT(31), U32_MAX);
	expect_values(test, imv_u64, 0x0123456789abcdefULL, BIT_ULL(32), U64_MAX);
	expect_values(test, imv_s8, -1, S8_MIN, S8_MAX);
	expect_values(test, imv_s16, -2, S16_MIN, S16_MAX);
	expect_values(test, imv_int, -3, INT_MIN, INT_MAX);
	expect_values(test, imv_s64, -4, S64_MIN, S64_MAX);
	expect_values(test, imv_colour, GREEN, RED, BLUE);
	expect_values(test, imv_text, text, NULL, text + 1);
	expect_values(test, imv_flag, false, true, true);
}

/* Setting a member must not change the next one. */
#define MEMBERS(type)	struct { type __aligned(IMV_ALIGN) value; type behind; }

static MEMBERS(u8) one;
static MEMBERS(u16) two;
static MEMBERS(u32) four;
static MEMBERS(u64) eight;

#define expect_set_member(test, members)				\
	do {								\
		memset(&(members), 0x88, sizeof(members));		\
		imv_set_var((members).value, (__typeof__((members).value))~1ULL); \
		KUNIT_EXPECT_TRUE(test, (members).value ==		\
				  (__typeof__((members).value))~1ULL);	\
		KUNIT_EXPECT_NULL(test, memchr_inv(&(members).behind, 0x88, \
						   sizeof((members).behind))); \
	} while (0)

static void imv_test_members(struct kunit *test)
{
	expect_set_member(test, one);
	expect_set_member(test, two);
	expect_set_member(test, four);
	expect_set_member(test, eight);
}

static int flag_branches(void)
{
	int taken = 0;

	immediate_if(imv_flag)
		taken += 1;
	else
		taken += 10;
	if (!imv_unlikely(imv_flag))
		taken += 100;
	/* Any size: not only the low byte counts. */
	immediate_if(imv_u64)
		taken += 1000;
	return taken;
}

static void imv_test_branch(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, flag_branches(), 1110);
	imv_set(imv_flag, true);
	imv_set(imv_u64, 1ULL << 32);
	KUNIT_EXPECT_EQ(test, flag_branches(), 1001);
	imv_set(imv_flag, false);
	imv_set(imv_u64, 0);
	KUNIT_EXPECT_EQ(test, flag_branches(), 110);
	imv_set(imv_u64, 0x0123456789abcdefULL);
}

static void imv_test_batch(struct kunit *test)
{
	imv_batch_begin();
	imv_set(imv_u8, 11);
	imv_batch_begin();
	imv_set(imv_u64, 12);
	imv_batch_commit();
	imv_set(imv_flag, true);
	KUNIT_EXPECT_EQ(test, _imv_read(imv_u8), 11);
	if (IS_ENABLED(CONFIG_IMMEDIATE))
		KUNIT_EXPECT_EQ(test, imv_read(imv_u8), 1);
	if (IS_ENABLED(CONFIG_IMMEDIATE_SITES))
		KUNIT_EXPECT_FALSE(test, imv_unlikely(imv_flag));
	imv_batch_commit();

	KUNIT_EXPECT_EQ(test, imv_read(imv_u8), 11);
	KUNIT_EXPECT_EQ(test, imv_read(imv_u64), 12ULL);
	KUNIT_EXPECT_TRUE(test, imv_unlikely(imv_flag));
	imv_set(imv_u8, 1);
	imv_set(imv_u64, 0x0123456789abcdefULL);
	imv_set(imv_flag, false);
}

static void set_u16(void)
{
	imv_set(imv_u16, 12);
}

/* Other tasks wait for a batch, even if its task also owned the previous batch. */
static void imv_test_batch_excludes(struct kunit *test)
{
	if (!IS_ENABLED(CONFIG_IMMEDIATE_SITES))
		kunit_skip(test, "needs IMMEDIATE_SITES");
	imv_set(imv_u8, 11);
	expect_waits_for_batch(test, set_u16);
	KUNIT_EXPECT_EQ(test, imv_read(imv_u16), 12);
	imv_set(imv_u16, 2);
	imv_set(imv_u8, 1);
}

/* More values than jump labels patch at once. */
#define NR_VALUES	320

static struct {
	bool __aligned(IMV_ALIGN) on;
} values[NR_VALUES];

#define ON(n)		imv_unlikely_var(values[n].on)
#define ON_8(n)		(ON(n) + ON(n + 1) + ON(n + 2) + ON(n + 3) +	\
			 ON(n + 4) + ON(n + 5) + ON(n + 6) + ON(n + 7))
#define ON_40(n)	(ON_8(n) + ON_8(n + 8) + ON_8(n + 16) +		\
			 ON_8(n + 24) + ON_8(n + 32))

static noinline unsigned int count_values(void)
{
	return ON_40(0) + ON_40(40) + ON_40(80) + ON_40(120) +
	       ON_40(160) + ON_40(200) + ON_40(240) + ON_40(280);
}

static void imv_test_many_values(struct kunit *test)
{
	unsigned int round, i;

	KUNIT_EXPECT_EQ(test, count_values(), 0U);
	for (round = 1; round <= 2; round++) {
		imv_batch_begin();
		for (i = 0; i < NR_VALUES; i++)
			imv_set_var(values[i].on, round == 1);
		imv_batch_commit();
		KUNIT_EXPECT_EQ(test, count_values(), round == 1 ? NR_VALUES : 0U);
	}
}

#ifdef CONFIG_IMMEDIATE
/* Values next to each other. */
static u32 row[5];

static noinline void expect_row(struct kunit *test, const u32 *expected)
{
	const u32 read[] = {
		imv_read_var(row[0]), imv_read_var(row[1]), imv_read_var(row[2]),
		imv_read_var(row[3]), imv_read_var(row[4]),
	};

	KUNIT_EXPECT_EQ_MSG(test, memcmp(read, expected, sizeof(read)), 0,
			    "%u %u %u %u %u", read[0], read[1], read[2], read[3], read[4]);
}

#define ROW(...)	((const u32[]){ __VA_ARGS__ })

/* Which values are set, in this order, and what is read then. */
static const struct {
	u8 nr, indices[6];
	u32 value, row[5];
} sets[] = {
	{ 2, { 1, 2 },			1, { 0, 1, 1, 0, 0 } },
	{ 2, { 3, 2 },			2, { 0, 1, 2, 2, 0 } },
	{ 2, { 0, 4 },			3, { 3, 1, 2, 2, 3 } },
	{ 2, { 4, 0 },			4, { 4, 1, 2, 2, 4 } },
	{ 6, { 2, 0, 4, 3, 1, 2 },	5, { 5, 5, 5, 5, 5 } },
	{ 5, { 0, 1, 2, 3, 4 },		0, { 0, 0, 0, 0, 0 } },
};

/* All variables that were set together change, in a batch or deferred. */
static void imv_test_set_together(struct kunit *test)
{
	unsigned int defer, i, j;

	for (defer = 0; defer < 2; defer++) {
		for (i = 0; i < ARRAY_SIZE(sets); i++) {
			if (!defer)
				imv_batch_begin();
			else
				KUNIT_ASSERT_TRUE(test, imv_defer_begin());
			for (j = 0; j < sets[i].nr; j++)
				imv_set_var(row[sets[i].indices[j]], sets[i].value);
			if (!defer)
				imv_batch_commit();
			imv_defer_end(defer);
			expect_row(test, sets[i].row);
		}
	}
}
#endif

static void imv_test_defer(struct kunit *test)
{
	unsigned int i, before = refcount_read(&current->usage);

	if (!IS_ENABLED(CONFIG_IMMEDIATE_SITES))
		kunit_skip(test, "nothing is patched");
	KUNIT_ASSERT_TRUE(test, imv_defer_begin());
	KUNIT_EXPECT_FALSE(test, imv_defer_begin());
	imv_defer_end(false);
	imv_set(imv_u8, 11);
	imv_set(imv_flag, true);
	KUNIT_EXPECT_EQ(test, _imv_read(imv_u8), 11);
	if (IS_ENABLED(CONFIG_IMMEDIATE))
		KUNIT_EXPECT_EQ(test, imv_read(imv_u8), 1);
	KUNIT_EXPECT_FALSE(test, imv_unlikely(imv_flag));
	imv_flush();
	KUNIT_EXPECT_EQ(test, imv_read(imv_u8), 11);
	KUNIT_EXPECT_TRUE(test, imv_unlikely(imv_flag));
	imv_set(imv_u8, 12);
	imv_set(imv_flag, false);
	KUNIT_EXPECT_TRUE(test, imv_unlikely(imv_flag));
	imv_set(imv_flag, true);
	imv_defer_end(true);
	KUNIT_EXPECT_EQ(test, imv_read(imv_u8), 12);
	KUNIT_EXPECT_TRUE(test, imv_unlikely(imv_flag));
	imv_set(imv_u8, 1);
	imv_set(imv_flag, false);

	/* Deferring leaves no reference of the task. Others may hold a few. */
	for (i = 0; i < 100; i++)
		imv_defer_end(imv_defer_begin());
	KUNIT_EXPECT_LT(test, refcount_read(&current->usage), before + 100);
}

static noinline unsigned int __init read_in_init(void)
{
	return imv_unlikely(imv_flag) ? 0 : imv_read(imv_global);
}

/* The debugfs of KUnit may run the cases again after boot. */
static bool __ref init_text_is_freed(void)
{
#ifdef MODULE
	return !within_module_init((unsigned long)read_in_init, THIS_MODULE);
#else
	return system_state >= SYSTEM_FREEING_INITMEM;
#endif
}

static void __ref imv_test_init_text(struct kunit *test)
{
	if (init_text_is_freed())
		kunit_skip(test, "the __init text is freed");
	KUNIT_EXPECT_EQ(test, read_in_init(), 7U);
	imv_set(imv_global, 8);
	KUNIT_EXPECT_EQ(test, read_in_init(), 8U);
	imv_set(imv_global, 7);
	imv_set(imv_flag, true);
	KUNIT_EXPECT_EQ(test, read_in_init(), 0U);
	imv_set(imv_flag, false);
}

#ifndef MODULE
/* Runs on the boot CPU before the scheduler. */
static DEFINE_IMV(int, imv_early) = 1;
static int early_reads[2];

static int __init set_early(void)
{
	early_reads[0] = imv_read(imv_early);
	imv_set_early(imv_early, 2);
	early_reads[1] = imv_read(imv_early);
	return 0;
}
console_initcall(set_early);
#endif

static void imv_test_early(struct kunit *test)
{
#ifndef MODULE
	KUNIT_EXPECT_EQ(test, early_reads[0], 1);
	KUNIT_EXPECT_EQ(test, early_reads[1], 2);
	KUNIT_EXPECT_EQ(test, imv_read(imv_early), 2);
	KUNIT_EXPECT_EQ(test, _imv_read(imv_early), 2);
#else
	kunit_skip(test, "a module is loaded after boot");
#endif
}

/* The __init text is freed by now and must not be patched. */
static void __exit imv_test_exit(void)
{
	imv_set(imv_global, 9);
	imv_set(imv_flag, true);
}
module_exit(imv_test_exit);

static struct kunit_case imv_test_cases[] = {
	KUNIT_CASE(imv_test_values),
	KUNIT_CASE(imv_test_members),
	KUNIT_CASE(imv_test_branch),
	KUNIT_CASE(imv_test_batch),
	KUNIT_CASE(imv_test_batch_excludes),
	KUNIT_CASE(imv_test_many_values),
#ifdef CONFIG_IMMEDIATE
	KUNIT_CASE(imv_test_set_together),
#endif
	KUNIT_CASE(imv_test_defer),
	KUNIT_CASE(imv_test_init_text),
	KUNIT_CASE(imv_test_early),
	{ }
};

static struct kunit_suite imv_test_suite = {
	.name = "immediate",
	.test_cases = imv_test_cases,
};
kunit_test_suite(imv_test_suite);

MODULE_DESCRIPTION("KUnit tests of immediate values");
MODULE_LICENSE("GPL");
