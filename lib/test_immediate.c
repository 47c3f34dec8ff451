// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of immediate values: what a reader sees, from code and from
 * memory, before and after the value is set. With CONFIG_IMMEDIATE all sites
 * are patched, with CONFIG_IMMEDIATE_JUMP_LABEL only branches; otherwise these
 * are plain variables. The tests are the same, except those that inspect code.
 */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/immediate-backend.h>
#include <linux/immediate.h>
#include <linux/jump_label.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/limits.h>
#include <linux/module.h>
#include <linux/sched/task.h>
#include <linux/vmalloc.h>
#include <asm/sections.h>

#include "test_fail_alloc.h"
#include "test_module_memory.h"
#include "test_symbol.h"

#ifdef CONFIG_X86
#include <linux/cpufeature.h>
#include <asm/nops.h>
#include <asm/text-patching.h>
#endif

#if defined(CONFIG_X86) && defined(CONFIG_OPTPROBES)
#define HAS_OPTIMISED_KPROBES
#endif

enum colour { RED, GREEN, BLUE };

static DEFINE_IMV(u8, imv_u8) = 1;
static DEFINE_IMV(u16, imv_u16) = 2;
static DEFINE_IMV(u32, imv_u32) = 3;
static DEFINE_IMV(u64, imv_u64) = 0x0123456789abcdefULL;
static DEFINE_IMV(u32, imv_upper) = 0x100;
static DEFINE_IMV(s8, imv_s8) = -1;
static DEFINE_IMV(s16, imv_s16) = -2;
static DEFINE_IMV(int, imv_int) = -3;
static DEFINE_IMV(s64, imv_s64) = -4;
static DEFINE_IMV(enum colour, imv_colour) = GREEN;
static DEFINE_IMV(const char *, imv_text) = "first";
static DEFINE_IMV(bool, imv_flag);
static DEFINE_IMV(bool, imv_on) = true;
DECLARE_IMV(unsigned int, imv_global);
DEFINE_IMV(unsigned int, imv_global) = 7;
EXPORT_IMV_SYMBOL_GPL(imv_global);

static void imv_test_initial(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, imv_read(imv_u8), 1);
	KUNIT_EXPECT_EQ(test, imv_read(imv_u16), 2);
	KUNIT_EXPECT_EQ(test, imv_read(imv_u32), 3U);
	KUNIT_EXPECT_EQ(test, imv_read(imv_u64), 0x0123456789abcdefULL);
	KUNIT_EXPECT_EQ(test, imv_read(imv_upper), 0x100U);
	KUNIT_EXPECT_EQ(test, imv_read(imv_s8), -1);
	KUNIT_EXPECT_EQ(test, imv_read(imv_s16), -2);
	KUNIT_EXPECT_EQ(test, imv_read(imv_int), -3);
	KUNIT_EXPECT_EQ(test, imv_read(imv_s64), -4LL);
	KUNIT_EXPECT_EQ(test, (int)imv_read(imv_colour), (int)GREEN);
	KUNIT_EXPECT_STREQ(test, imv_read(imv_text), "first");
	KUNIT_EXPECT_FALSE(test, imv_read(imv_flag));
	KUNIT_EXPECT_TRUE(test, imv_unlikely(imv_on));
	KUNIT_EXPECT_TRUE(test, imv_likely(imv_on));
	KUNIT_EXPECT_EQ(test, imv_read(imv_global), 7U);
}

/* Sets a value, checks it from the code and from memory, and restores it. */
#define expect_set(test, name, value)					\
	do {								\
		__typeof__(name##__imv) __old = _imv_read(name);	\
		__typeof__(name##__imv) __new = (value);		\
									\
		imv_set(name, __new);					\
		KUNIT_EXPECT_TRUE(test, imv_read(name) == __new);	\
		KUNIT_EXPECT_TRUE(test, _imv_read(name) == __new);	\
		imv_set(name, __old);					\
		KUNIT_EXPECT_TRUE(test, imv_read(name) == __old);	\
	} while (0)

static void imv_test_extremes(struct kunit *test)
{
	expect_set(test, imv_u8, 0);
	expect_set(test, imv_u8, U8_MAX);
	expect_set(test, imv_u16, U16_MAX);
	expect_set(test, imv_u32, U32_MAX);
	expect_set(test, imv_u64, U64_MAX);
	expect_set(test, imv_u64, (u64)U32_MAX + 1);
	expect_set(test, imv_s8, S8_MIN);
	expect_set(test, imv_s16, S16_MIN);
	expect_set(test, imv_int, INT_MIN);
	expect_set(test, imv_s64, S64_MIN);
	expect_set(test, imv_s64, S64_MAX);
	expect_set(test, imv_colour, BLUE);
	expect_set(test, imv_text, NULL);
	expect_set(test, imv_flag, true);
}

/* Setting a member must not change the next one. */
static struct {
	u8 __aligned(IMV_ALIGN) one;
	u8 behind_one;
	u16 __aligned(IMV_ALIGN) two;
	u16 behind_two;
	u32 __aligned(IMV_ALIGN) four;
	u32 behind_four;
	u64 __aligned(8) eight;
	u64 behind_eight;
} members;

static void imv_test_members(struct kunit *test)
{
	members.behind_one = 0x88;
	members.behind_two = 0x7788;
	members.behind_four = 0x55667788;
	members.behind_eight = 0x1122334455667788ULL;
	imv_set_var(members.one, 0xff);
	imv_set_var(members.two, 0xfffe);
	imv_set_var(members.four, 0xfffffffdU);
	imv_set_var(members.eight, 0xfffffffffffffffcULL);
	KUNIT_EXPECT_EQ(test, members.one, 0xff);
	KUNIT_EXPECT_EQ(test, members.two, 0xfffe);
	KUNIT_EXPECT_EQ(test, members.four, 0xfffffffdU);
	KUNIT_EXPECT_EQ(test, members.eight, 0xfffffffffffffffcULL);
	KUNIT_EXPECT_EQ(test, members.behind_one, 0x88);
	KUNIT_EXPECT_EQ(test, members.behind_two, 0x7788);
	KUNIT_EXPECT_EQ(test, members.behind_four, 0x55667788U);
	KUNIT_EXPECT_EQ(test, members.behind_eight, 0x1122334455667788ULL);
}

static int flag_branches(void)
{
	int taken = 0;

	immediate_if(imv_flag)
		taken += 1;
	immediate_if_likely(imv_flag)
		taken += 10;
	else
		taken += 100;
	if (imv_unlikely(imv_flag) && imv_likely(imv_flag))
		taken += 1000;
	return taken;
}

static void imv_test_branch(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, flag_branches(), 100);
	imv_set(imv_flag, true);
	KUNIT_EXPECT_EQ(test, flag_branches(), 1011);
	imv_set(imv_flag, false);
	KUNIT_EXPECT_EQ(test, flag_branches(), 100);
}

static void imv_test_branch_any_size(struct kunit *test)
{
	bool taken = false;

	imv_set(imv_u64, 1ULL << 32);
	immediate_if(imv_u64)
		taken = true;
	KUNIT_EXPECT_TRUE(test, taken);
	imv_set(imv_u64, 0);
	immediate_if(imv_u64)
		taken = false;
	KUNIT_EXPECT_TRUE(test, taken);
	imv_set(imv_u64, 0x0123456789abcdefULL);
}

/* A loop that the compiler unrolls has a site for each iteration. */
static void imv_test_unrolled(struct kunit *test)
{
	int i, sum = 0;

	imv_set(imv_int, 5);
#pragma GCC unroll 8
	for (i = 0; i < 8; i++)
		sum += imv_read(imv_int);
	KUNIT_EXPECT_EQ(test, sum, 40);
	imv_set(imv_int, -3);
}

/* Many values at once, so that sites load many different registers. */
static noinline u64 read_all_registers(void)
{
	u64 a = imv_read(imv_u32), b = imv_read(imv_u32), c = imv_read(imv_u32);
	u64 d = imv_read(imv_u64), e = imv_read(imv_u64), f = imv_read(imv_u64);
	u64 g = imv_read(imv_u8), h = imv_read(imv_u16), i = imv_read(imv_u64);
	u64 j = imv_read(imv_u64), k = imv_read(imv_u64), l = imv_read(imv_u64);

	barrier();
	return ((a ^ b) + c) ^ ((d ^ e) + f) ^ ((g ^ h) + i) ^ ((j ^ k) + l);
}

static void imv_test_registers(struct kunit *test)
{
	u64 wide = _imv_read(imv_u64), word = _imv_read(imv_u32);
	u64 expected = word ^ wide ^ ((1 ^ 2) + wide) ^ wide;

	KUNIT_EXPECT_EQ(test, read_all_registers(), expected);
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

	imv_batch_begin();
	imv_set(imv_u8, 1);
	imv_set(imv_u64, 0x0123456789abcdefULL);
	imv_set(imv_flag, false);
	imv_batch_commit();
	KUNIT_EXPECT_EQ(test, imv_read(imv_u8), 1);
	KUNIT_EXPECT_FALSE(test, imv_unlikely(imv_flag));
}

static bool other_began, other_set;

static int set_beside(void *unused)
{
	WRITE_ONCE(other_began, true);
	imv_set(imv_u16, 12);
	WRITE_ONCE(other_set, true);
	return 0;
}

/* Does the thread, which was woken, sleep before it is done? */
static bool waits_for_lock(struct task_struct *thread)
{
	unsigned int tries;

	for (tries = 0; tries < 100 && !READ_ONCE(other_set); tries++) {
		if (READ_ONCE(other_began) && READ_ONCE(thread->__state) == TASK_UNINTERRUPTIBLE)
			return true;
		msleep(20);
	}
	return false;
}

/* Other tasks wait for a batch, even if its task also owned the previous batch. */
static void imv_test_batch_excludes(struct kunit *test)
{
	struct task_struct *thread;

	if (!IS_ENABLED(CONFIG_IMMEDIATE_SITES))
		kunit_skip(test, "needs IMMEDIATE_SITES");
	thread = kthread_create(set_beside, NULL, "imv_beside");
	KUNIT_ASSERT_FALSE(test, IS_ERR(thread));
	other_began = false;
	other_set = false;
	imv_set(imv_u8, 11);
	imv_batch_begin();
	get_task_struct(thread);
	wake_up_process(thread);
	KUNIT_EXPECT_TRUE(test, waits_for_lock(thread));
	KUNIT_EXPECT_FALSE(test, READ_ONCE(other_set));
	KUNIT_EXPECT_EQ(test, imv_read(imv_u16), 2);
	imv_batch_commit();
	kthread_stop(thread);
	put_task_struct(thread);
	KUNIT_EXPECT_TRUE(test, other_set);
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

static void set_values(bool on)
{
	unsigned int i;

	imv_batch_begin();
	for (i = 0; i < NR_VALUES; i++)
		imv_set_var(values[i].on, on);
	imv_batch_commit();
}

static void imv_test_many_values(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, count_values(), 0U);
	set_values(true);
	KUNIT_EXPECT_EQ(test, count_values(), (unsigned int)NR_VALUES);
	set_values(false);
	KUNIT_EXPECT_EQ(test, count_values(), 0U);
}

#ifdef CONFIG_IMMEDIATE
#define SITE		imv_unlikely(imv_flag)
#define SITES_10	(SITE + SITE + SITE + SITE + SITE +	\
			 SITE + SITE + SITE + SITE + SITE)
#define SITES_100	(SITES_10 + SITES_10 + SITES_10 + SITES_10 + SITES_10 +	\
			 SITES_10 + SITES_10 + SITES_10 + SITES_10 + SITES_10)
#define NR_SITES	300

static noinline unsigned int count_true(void)
{
	return SITES_100 + SITES_100 + SITES_100;
}
#endif

#if defined(CONFIG_IMMEDIATE) && defined(CONFIG_KPROBES)
static unsigned int nr_syncs;
static void *sync_func;

/* The second argument is the function that the CPUs call. */
static int count_sync(struct kprobe *kp, struct pt_regs *regs)
{
	nr_syncs += regs_get_kernel_argument(regs, 1) == (unsigned long)sync_func;
	return 0;
}

/*
 * Sets the flag, and another value whose sites lie between those of the flag.
 * Return: how often all CPUs were synchronised.
 */
static unsigned int set_flag(bool value, bool with_memory)
{
	nr_syncs = 0;
	if (!with_memory)
		fail_all_allocs();
	imv_batch_begin();
	imv_set(imv_flag, value);
	imv_set(imv_u8, value ? 2 : 1);
	imv_batch_commit();
	stop_failing();
	return nr_syncs;
}

static void set_many_sites(struct kunit *test, bool with_memory, unsigned int syncs)
{
	struct kprobe kp = {
		.symbol_name = "on_each_cpu_cond_mask",
		.pre_handler = count_sync,
	};

	sync_func = text_of("do_sync_core");
	KUNIT_ASSERT_NOT_NULL(test, sync_func);
	KUNIT_ASSERT_EQ(test, register_kprobe(&kp), 0);
	KUNIT_EXPECT_EQ(test, set_flag(true, with_memory), syncs);
	KUNIT_EXPECT_EQ(test, count_true(), (unsigned int)NR_SITES);
	KUNIT_EXPECT_EQ(test, set_flag(false, with_memory), syncs);
	KUNIT_EXPECT_EQ(test, count_true(), 0U);
	unregister_kprobe(&kp);
}
#else
static void set_many_sites(struct kunit *test, bool with_memory, unsigned int syncs)
{
	kunit_skip(test, "needs IMMEDIATE and KPROBES");
}
#endif

/* Patching a few hundred sites takes three synchronisations. */
static void imv_test_many_sites(struct kunit *test)
{
	set_many_sites(test, true, 3);
}

/* If no memory can be allocated, they are patched in two rounds. */
static void imv_test_many_sites_no_memory(struct kunit *test)
{
	need_failing_allocs(test);
	set_many_sites(test, false, 3 * 2);
}

/* Patching a few sites allocates no memory. */
static void imv_test_few_sites(struct kunit *test)
{
	bool allocated;

	if (!IS_ENABLED(CONFIG_IMMEDIATE))
		kunit_skip(test, "needs IMMEDIATE");
	need_failing_allocs(test);
	fail_next_alloc();
	imv_set(imv_u8, 11);
	allocated = nth_alloc_failed();
	stop_failing();
	KUNIT_EXPECT_FALSE(test, allocated);
	KUNIT_EXPECT_EQ(test, imv_read(imv_u8), 11);
	imv_set(imv_u8, 1);
}

#ifdef CONFIG_IMMEDIATE
/* Values next to each other. */
static u32 row[5];

static noinline void expect_row(struct kunit *test, u32 a, u32 b, u32 c, u32 d, u32 e)
{
	KUNIT_EXPECT_EQ(test, imv_read_var(row[0]), a);
	KUNIT_EXPECT_EQ(test, imv_read_var(row[1]), b);
	KUNIT_EXPECT_EQ(test, imv_read_var(row[2]), c);
	KUNIT_EXPECT_EQ(test, imv_read_var(row[3]), d);
	KUNIT_EXPECT_EQ(test, imv_read_var(row[4]), e);
}

/* Sets one or several of them: in a batch or, from 8 on, deferred. */
static void set_in_row(const u8 *indices, unsigned int nr, u32 value)
{
	bool deferred = value >= 8 && imv_defer_begin();
	unsigned int i;

	if (value < 8)
		imv_batch_begin();
	for (i = 0; i < nr; i++)
		imv_set_var(row[indices[i]], value);
	if (value < 8)
		imv_batch_commit();
	imv_defer_end(deferred);
}

/*
 * Only the code of variables that were set is compared: the code of a variable that
 * was changed by other means stays.
 */
static void imv_test_range(struct kunit *test)
{
	expect_row(test, 0, 0, 0, 0, 0);
	WRITE_ONCE(row[1], 9);
	WRITE_ONCE(row[3], 9);
	imv_set_var(row[2], 1);
	expect_row(test, 0, 0, 1, 0, 0);
	imv_set_var(row[4], 2);
	expect_row(test, 0, 0, 1, 0, 2);
	imv_set_var(row[0], 3);
	expect_row(test, 3, 0, 1, 0, 2);
	imv_set_var(row[2], 4);
	expect_row(test, 3, 0, 4, 0, 2);

	WRITE_ONCE(row[1], 0);
	WRITE_ONCE(row[3], 0);
	set_in_row((const u8[]){ 0, 2, 4 }, 3, 0);
	expect_row(test, 0, 0, 0, 0, 0);
}

/* All variables that were set together change, in each order in which they are set. */
static void imv_test_set_together(struct kunit *test)
{
	unsigned int deferred;

	for (deferred = 0; deferred <= 8; deferred += 8) {
		set_in_row((const u8[]){ 1, 2 }, 2, deferred + 1);
		expect_row(test, 0, deferred + 1, deferred + 1, 0, 0);
		set_in_row((const u8[]){ 3, 2 }, 2, deferred + 2);
		expect_row(test, 0, deferred + 1, deferred + 2, deferred + 2, 0);
		set_in_row((const u8[]){ 0, 4 }, 2, deferred + 3);
		expect_row(test, deferred + 3, deferred + 1, deferred + 2, deferred + 2,
			   deferred + 3);
		set_in_row((const u8[]){ 4, 0 }, 2, deferred + 4);
		expect_row(test, deferred + 4, deferred + 1, deferred + 2, deferred + 2,
			   deferred + 4);
		set_in_row((const u8[]){ 2, 0, 4, 3, 1, 2 }, 6, deferred + 5);
		expect_row(test, deferred + 5, deferred + 5, deferred + 5, deferred + 5,
			   deferred + 5);
		set_in_row((const u8[]){ 0, 1, 2, 3, 4 }, 5, 0);
		expect_row(test, 0, 0, 0, 0, 0);
	}
}
#endif

static void imv_test_defer(struct kunit *test)
{
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
	if (IS_ENABLED(CONFIG_IMMEDIATE))
		KUNIT_EXPECT_EQ(test, imv_read(imv_u8), 11);
	imv_set(imv_flag, false);
	KUNIT_EXPECT_TRUE(test, imv_unlikely(imv_flag));
	imv_set(imv_flag, true);
	imv_defer_end(true);
	KUNIT_EXPECT_EQ(test, imv_read(imv_u8), 12);
	KUNIT_EXPECT_TRUE(test, imv_unlikely(imv_flag));

	imv_set(imv_u8, 1);
	KUNIT_EXPECT_EQ(test, imv_read(imv_u8), 1);
	imv_set(imv_flag, false);
}

/* Deferring leaves no reference of the task. Others may hold a few. */
static void imv_test_defer_references(struct kunit *test)
{
	unsigned int i, before = refcount_read(&current->usage);

	if (!IS_ENABLED(CONFIG_IMMEDIATE_SITES))
		kunit_skip(test, "nothing is patched");
	for (i = 0; i < 100; i++)
		imv_defer_end(imv_defer_begin());
	KUNIT_EXPECT_LT(test, refcount_read(&current->usage), before + 100);
}

static noinline unsigned int __init read_in_init(void)
{
	return imv_read(imv_global);
}

static noinline bool __init branch_in_init(void)
{
	return imv_unlikely(imv_flag);
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
	KUNIT_EXPECT_FALSE(test, branch_in_init());
	imv_set(imv_flag, true);
	KUNIT_EXPECT_TRUE(test, branch_in_init());
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

/*
 * One CPU sets two values in turn while another CPU reads: it must see one of
 * the two.
 */
#define TORN_A	0x1111222233334444ULL
#define TORN_B	0xaaaabbbbccccddddULL
#define TORN_WORD_A	0x33334444U
#define TORN_WORD_B	0xccccddddU

static DEFINE_IMV(u64, imv_torn) = TORN_A;
static DEFINE_IMV(u32, imv_torn_word) = TORN_WORD_A;

struct reader {
	struct task_struct *thread;
	unsigned long passes;
	unsigned long reads;
	unsigned long bad;
};

/* An emulator may run only one CPU at a time, until that CPU relaxes or is idle. */
static void let_others_run(struct reader *reader)
{
	cpu_relax();
	if (++reader->passes % 64)
		cond_resched();
	else
		usleep_range(10, 20);
}

static int read_until_stopped(void *data)
{
	struct reader *reader = data;

	while (!kthread_should_stop()) {
		u64 value = imv_read(imv_torn);
		u32 word = imv_read(imv_torn_word);

		/* A 32-bit machine reads it in two halves. */
		if (IS_ENABLED(CONFIG_64BIT) &&
		    value != TORN_A && value != TORN_B)
			reader->bad++;
		if (word != TORN_WORD_A && word != TORN_WORD_B)
			reader->bad++;
		reader->reads++;
		let_others_run(reader);
	}
	return 0;
}

static void imv_test_concurrent(struct kunit *test)
{
	struct reader reader = { };
	struct task_struct *thread;
	int i;

	thread = kthread_create(read_until_stopped, &reader, "imv_test");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, thread);
	kthread_bind(thread, cpumask_last(cpu_online_mask));
	wake_up_process(thread);
	for (i = 0; i < 100 || !READ_ONCE(reader.reads); i++) {
		imv_set(imv_torn, i & 1 ? TORN_A : TORN_B);
		imv_set(imv_torn_word, i & 1 ? TORN_WORD_A : TORN_WORD_B);
		usleep_range(500, 1000);
	}
	kthread_stop(thread);
	KUNIT_EXPECT_EQ(test, reader.bad, 0UL);
	KUNIT_EXPECT_GT(test, reader.reads, 0UL);
	imv_set(imv_torn, TORN_A);
	imv_set(imv_torn_word, TORN_WORD_A);
}

/*
 * imv_guard is toggled for at least MIN_ROUNDS and MIN_TIME, while each CPU
 * executes the guards. guard_count is odd while imv_guard changes; while it is
 * even, the guards mirror guard_count / 2 & 1.
 */
#define MIN_ROUNDS	1000
#define MIN_TIME	(2 * HZ)

static DEFINE_IMV(bool, imv_guard);
static unsigned long guard_count;
static struct cpumask reader_cpus;

static noinline bool guards_are(bool on)
{
	int seen = 0;

	if (imv_unlikely(imv_guard))
		seen += 1;
	if (imv_likely(imv_guard))
		seen += 2;
	immediate_if(imv_guard)
		seen += 4;
	else
		seen += 8;
	return seen == (on ? 1 + 2 + 4 : 8);
}

static int pass_guards(void *data)
{
	struct reader *reader = data;

	while (!kthread_should_stop()) {
		/* Read the count before the guards ... */
		unsigned long count = smp_load_acquire(&guard_count);
		bool right = guards_are(count / 2 & 1);

		/* ... and the guards before the count again. */
		smp_rmb();
		if (!(count & 1) && READ_ONCE(guard_count) == count) {
			reader->reads++;
			reader->bad += !right;
		}
		let_others_run(reader);
	}
	return 0;
}

static bool start_readers(struct reader *readers)
{
	struct reader *reader;
	unsigned int cpu;

	cpumask_copy(&reader_cpus, cpu_online_mask);
	for_each_cpu(cpu, &reader_cpus) {
		reader = &readers[cpu];
		reader->thread = kthread_run_on_cpu(pass_guards, reader, cpu,
						    "imv_test/%u");
		if (IS_ERR(reader->thread))
			return false;
	}
	return true;
}

static void stop_readers(struct kunit *test, struct reader *readers)
{
	unsigned int cpu;

	for_each_cpu(cpu, &reader_cpus) {
		if (!IS_ERR_OR_NULL(readers[cpu].thread))
			kthread_stop(readers[cpu].thread);
		KUNIT_EXPECT_EQ(test, readers[cpu].bad, 0UL);
	}
}

static void set_guard(struct kunit *test, bool on)
{
	WRITE_ONCE(guard_count, guard_count + 1);
	imv_set(imv_guard, on);
	/* All guards are patched before the count becomes even. */
	smp_store_release(&guard_count, guard_count + 1);
	if (!guards_are(on))
		KUNIT_FAIL(test, "guards differ from %d", on);
	cond_resched();
}

static void toggle_guard(struct kunit *test, struct reader *readers)
{
	unsigned long end = jiffies + MIN_TIME;
	unsigned int i, cpu;

	for (i = 0; i < MIN_ROUNDS || time_before(jiffies, end); i++) {
		set_guard(test, true);
		set_guard(test, false);
	}
	for_each_cpu(cpu, &reader_cpus)
		while (!READ_ONCE(readers[cpu].reads))
			msleep(20);
	kunit_info(test, "%u rounds\n", i);
}

static void imv_test_toggle(struct kunit *test)
{
	struct reader *readers = kunit_kcalloc(test, nr_cpu_ids, sizeof(*readers),
					       GFP_KERNEL);
	bool started;

	KUNIT_ASSERT_NOT_NULL(test, readers);
	guard_count = 0;
	started = start_readers(readers);
	if (started)
		toggle_guard(test, readers);
	stop_readers(test, readers);
	KUNIT_EXPECT_TRUE(test, started);
}

#ifdef CONFIG_IMMEDIATE_SITES
#ifdef CONFIG_IMMEDIATE
static noinline int site_for_kprobe(void)
{
	return imv_read(imv_int);
}

#define KPROBE_SITE_SIZE	5
#define KPROBE_SITE_VALUE	(-3)
#else
static noinline int site_for_kprobe(void)
{
	return imv_unlikely(imv_flag) ? 1 : 0;
}

#define KPROBE_SITE_SIZE	JUMP_LABEL_NOP_SIZE
#define KPROBE_SITE_VALUE	0
#endif

/* The first byte of the site in site_for_kprobe(), or NULL. */
static u8 *find_site(void)
{
	u8 *start = (u8 *)dereference_function_descriptor(site_for_kprobe), *pos;

	for (pos = start; pos < start + 32; pos++)
		if (imv_text_reserved(pos, pos))
			return pos;
	return NULL;
}

static void imv_test_reserved(struct kunit *test)
{
	u8 *site = find_site(), *last = site + KPROBE_SITE_SIZE - 1;

	KUNIT_ASSERT_NOT_NULL(test, site);
	KUNIT_EXPECT_FALSE(test, imv_text_reserved(site - 1, site - 1));
	KUNIT_EXPECT_TRUE(test, imv_text_reserved(site - 1, site));
	KUNIT_EXPECT_TRUE(test, imv_text_reserved(last, last + 4));
	KUNIT_EXPECT_FALSE(test, imv_text_reserved(last + 2, last + 2));
}

static void imv_test_kprobe_refused(struct kunit *test)
{
#ifdef CONFIG_KPROBES
	static struct kprobe kprobe;
	int ret;

	kprobe.addr = (kprobe_opcode_t *)find_site();
	KUNIT_ASSERT_NOT_NULL(test, kprobe.addr);
	ret = register_kprobe(&kprobe);
	KUNIT_EXPECT_EQ(test, ret, -EINVAL);
	if (!ret)
		unregister_kprobe(&kprobe);
	KUNIT_EXPECT_EQ(test, site_for_kprobe(), KPROBE_SITE_VALUE);
#else
	kunit_skip(test, "needs CONFIG_KPROBES");
#endif
}

#ifdef HAS_OPTIMISED_KPROBES
/* Jumps over four instructions of one byte, to sixteen others. */
static noinline __no_sanitize_coverage void jump_for_kprobe(void)
{
	if (imv_unlikely(imv_flag))
		goto target;
	asm volatile("stc\n\tstc\n\tstc\n\tstc");
target:
	asm volatile("clc\n\tclc\n\tclc\n\tclc\n\tclc\n\tclc\n\tclc\n\tclc\n\t"
		     "clc\n\tclc\n\tclc\n\tclc\n\tclc\n\tclc\n\tclc\n\tclc");
}

/* The instruction to which jump_for_kprobe() jumps, or NULL. */
static u8 *find_target(void)
{
	static const u8 around[] = { 0xf9, 0xf9, 0xf9, 0xf9, 0xf8 };
	u8 *start = (u8 *)jump_for_kprobe, *pos;

	OPTIMIZER_HIDE_VAR(start);
	for (pos = start; pos < start + 64; pos++)
		if (!memcmp(pos, around, sizeof(around)))
			return pos + sizeof(around) - 1;
	return NULL;
}

static bool becomes_jump(const u8 *insn)
{
	unsigned int ms;

	for (ms = 0; ms < 30000 && READ_ONCE(*insn) != JMP32_INSN_OPCODE; ms += 20)
		msleep(20);
	return READ_ONCE(*insn) == JMP32_INSN_OPCODE;
}

/* A kprobe does not become a jump over a target of a site. The one behind it does. */
static void imv_test_kprobe_over_target(struct kunit *test)
{
	struct kprobe over = { }, behind = { };
	u8 *target = find_target();

	/* For kprobes, a jump to a return thunk is an indirect jump. */
	if (IS_ENABLED(CONFIG_RETPOLINE) && boot_cpu_has(X86_FEATURE_RETHUNK))
		kunit_skip(test, "no kprobe is optimised in functions with return thunks");
	KUNIT_ASSERT_NOT_NULL(test, target);
	KUNIT_EXPECT_TRUE(test, imv_text_reserved(target - 1, target));
	KUNIT_EXPECT_FALSE(test, imv_text_reserved(target, target + 15));
	over.addr = target - 1;
	behind.addr = target + 4;
	KUNIT_ASSERT_EQ(test, register_kprobe(&over), 0);
	KUNIT_EXPECT_EQ(test, register_kprobe(&behind), 0);
	KUNIT_EXPECT_TRUE(test, becomes_jump(behind.addr));
	/* The kprobes of one turn become jumps under the lock that this takes. */
	unregister_kprobe(&behind);
	KUNIT_EXPECT_EQ(test, *over.addr, INT3_INSN_OPCODE);
	unregister_kprobe(&over);
	jump_for_kprobe();
}
#endif
#endif /* CONFIG_IMMEDIATE_SITES */

#if defined(CONFIG_IMMEDIATE) && defined(CONFIG_X86)
static const u8 nop2[] = { BYTES_NOP2 }, nop3[] = { BYTES_NOP3 };
static const u8 nop5[] = { BYTES_NOP5 };

/* A site that is never executed: its record, its text and its variable. */
static struct fake {
	struct imv_site site, other;
	u8 far[64];		/* keeps distances to jump targets above IMV_INSN_MAX */
	u8 text[16];
	u8 target[256];
	u64 var;
} fake;

/* @target is the relative target of a jump, or the size of a data site. */
static void make_fake(unsigned int flags, s32 target, u64 value, const u8 *text,
		      unsigned int size)
{
	fake.site.insn = (void *)fake.text - (void *)&fake.site.insn;
	fake.site.target = target;
	fake.site.var = (void *)&fake.var - (void *)&fake.site.var + flags;
	fake.var = value;
	memset(fake.text, INT3_INSN_OPCODE, sizeof(fake.text));
	memcpy(fake.text, text, size);
}

/* A jump to the text that is @distance bytes after the end of a short jump. */
static void make_fake_jump(unsigned int flags, unsigned int distance, bool value,
			   const u8 *text, unsigned int size)
{
	void *target = fake.text + JMP8_INSN_SIZE + distance;

	make_fake(flags, target - (void *)&fake.site.target, value, text, size);
}

static void expect_text(struct kunit *test, const u8 *text, unsigned int size)
{
	KUNIT_EXPECT_EQ_MSG(test, memcmp(fake.text, text, size), 0, "%*ph", size,
			    fake.text);
	KUNIT_EXPECT_EQ(test, fake.text[size], INT3_INSN_OPCODE);
}

static void expect_patched(struct kunit *test, const u8 *text, unsigned int size)
{
	KUNIT_EXPECT_EQ(test, arch_imv_insn_size(&fake.site), size);
	KUNIT_EXPECT_EQ(test, arch_imv_patch(&fake.site, true), 0);
	expect_text(test, text, size);
}

/* A breakpoint in any of the first @nr bytes makes patching fail, and stays. */
static void expect_refused(struct kunit *test, unsigned int nr, unsigned int size)
{
	u8 old[16], text[16];
	unsigned int i;

	memcpy(old, fake.text, sizeof(old));
	for (i = 0; i < nr; i++) {
		memcpy(text, old, sizeof(text));
		text[i] = INT3_INSN_OPCODE;
		memcpy(fake.text, text, sizeof(text));
		KUNIT_EXPECT_EQ(test, arch_imv_patch(&fake.site, true), -EINVAL);
		expect_text(test, text, size);
	}
	memcpy(fake.text, old, sizeof(old));
}

/* A breakpoint is accepted if the site needs no change, unless it hides that (@hidden). */
static void expect_breakpoint_ignored(struct kunit *test, bool hidden)
{
	u8 old = fake.text[0];

	fake.text[0] = INT3_INSN_OPCODE;
	KUNIT_EXPECT_EQ(test, arch_imv_patch(&fake.site, true), hidden ? -EINVAL : 0);
	KUNIT_EXPECT_EQ(test, fake.text[0], INT3_INSN_OPCODE);
	fake.text[0] = old;
}

static void imv_test_foreign_jump(struct kunit *test)
{
	const u8 jmp2[] = { JMP8_INSN_OPCODE, 0x10 };
	const u8 jmp5[] = { JMP32_INSN_OPCODE, 0xfd, 0, 0, 0 };
	unsigned int i;
	s32 distance;

	for (i = 0; i < 2; i++) {
		/* From each form, to the NOP or to the jump; then with a foreign byte. */
		make_fake_jump(IMV_JUMP_NOP, 0x10, i, i ? nop2 : jmp2, 2);
		expect_patched(test, i ? jmp2 : nop2, 2);
		expect_patched(test, i ? jmp2 : nop2, 2);
		expect_breakpoint_ignored(test, false);
		fake.var = !i;
		expect_refused(test, 2, 2);

		make_fake_jump(IMV_JUMP_LIKELY, 0x100, i, i ? jmp5 : nop5, 5);
		expect_patched(test, i ? nop5 : jmp5, 5);
		expect_breakpoint_ignored(test, false);
		fake.var = !i;
		expect_refused(test, 5, 5);
	}

	/* A jump that differs from the NOP only in its first byte. */
	make_fake_jump(IMV_JUMP_NOP, 0, 0, nop2, 2);
	fake.site.target += (s8)nop2[1];
	expect_patched(test, nop2, 2);
	expect_breakpoint_ignored(test, true);

	/* For a long one, the whole distance matters, not its low byte alone. */
	make_fake_jump(IMV_JUMP_LIKELY, 0x100, 1, nop5, 5);
	fake.site.target += nop2[1];
	expect_patched(test, nop5, 5);
	expect_breakpoint_ignored(test, false);
	memcpy(&distance, nop5 + 1, sizeof(distance));
	make_fake_jump(IMV_JUMP_LIKELY, distance + JMP32_INSN_SIZE - JMP8_INSN_SIZE, 1,
		       nop5, 5);
	expect_patched(test, nop5, 5);
	expect_breakpoint_ignored(test, true);
}

/* Any target is accepted, since the last one is not stored anywhere. */
static void imv_test_foreign_jump_to(struct kunit *test)
{
	const u8 jmp5[] = { JMP32_INSN_OPCODE, 0x78, 0x56, 0x34, 0x12 };
	const u8 back[] = { JMP32_INSN_OPCODE, 0x0d, 0, 0, 0 };

	make_fake_jump(IMV_JUMP_TO, 0x10, 0, jmp5, 5);
	expect_patched(test, back, 5);
	expect_breakpoint_ignored(test, false);
	fake.var = 1;
	expect_refused(test, 1, 5);
}

static void imv_test_foreign_mov(struct kunit *test)
{
	const u8 word[] = { 0xbf, 1, 2, 3, 4 }, new_word[] = { 0xbf, 9, 0, 0, 0 };
	const u8 upper[] = { 0x41, 0xb8, 1, 2, 3, 4 };
	const u8 new_upper[] = { 0x41, 0xb8, 9, 0, 0, 0 };
	const u8 wide[] = { 0x49, 0xba, 1, 2, 3, 4, 5, 6, 7, 8 };
	const u8 new_wide[] = { 0x49, 0xba, 9, 0, 0, 0, 0, 0, 0, 0 };

	make_fake(2, sizeof(word), 9, word, sizeof(word));
	expect_patched(test, new_word, sizeof(word));
	expect_breakpoint_ignored(test, false);
	fake.var = 8;
	expect_refused(test, 1, sizeof(word));
	make_fake(0, sizeof(upper), 9, upper, sizeof(upper));
	expect_patched(test, new_upper, sizeof(upper));
	fake.var = 8;
	expect_refused(test, 2, sizeof(upper));
	make_fake(3, sizeof(wide), 9, wide, sizeof(wide));
	expect_patched(test, new_wide, sizeof(wide));
	fake.var = 8;
	expect_refused(test, 2, sizeof(wide));
}

/* A site whose target is near becomes short if the assembler made it long. */
static void imv_test_long_jump(struct kunit *test)
{
	const u8 jmp5[] = { JMP32_INSN_OPCODE, 0x0d, 0, 0, 0 };
	const u8 jmp2[] = { JMP8_INSN_OPCODE, 0x10 };
	unsigned int i;

	for (i = 0; i < 2; i++) {
		make_fake_jump(IMV_JUMP_LIKELY, 0x10, 0, i ? jmp5 : nop5, 5);
		arch_imv_init_site(&fake.site);
		KUNIT_EXPECT_EQ(test, arch_imv_insn_size(&fake.site), 2U);
		KUNIT_EXPECT_EQ(test, memcmp(fake.text, i ? jmp2 : nop2, 2), 0);
		KUNIT_EXPECT_EQ(test, memcmp(fake.text + 2, nop3, 3), 0);
		KUNIT_EXPECT_EQ(test, fake.text[5], INT3_INSN_OPCODE);
	}

	/* Sites that have no short form do not change. */
	make_fake_jump(IMV_JUMP_NOP, 128, 0, nop5, 5);
	arch_imv_init_site(&fake.site);
	KUNIT_EXPECT_EQ(test, arch_imv_insn_size(&fake.site), 5U);
	expect_text(test, nop5, 5);
	make_fake_jump(0, 0x10, 0, nop5, 5);
	arch_imv_init_site(&fake.site);
	KUNIT_EXPECT_EQ(test, arch_imv_insn_size(&fake.site), 5U);
	expect_text(test, nop5, 5);
}

static void expect_built(struct kunit *test, bool built)
{
	KUNIT_EXPECT_EQ(test, arch_imv_is_built(&fake.site), built);
}

/* A change of any of the first @nr bytes is detected. */
static void expect_built_bytes(struct kunit *test, unsigned int nr)
{
	unsigned int i;

	expect_built(test, true);
	for (i = 0; i < nr; i++) {
		fake.text[i] ^= 0x40;
		expect_built(test, false);
		fake.text[i] ^= 0x40;
	}
}

static void imv_test_built_mov(struct kunit *test)
{
	const u8 word[] = { 0xbf, 0, 0, 0, 0 }, upper[] = { 0x41, 0xb8, 0, 0, 0, 0 };
	const u8 wide[] = { 0x49, 0xba, 0, 0, 0, 0, 0, 0, 0, 0 };
	unsigned int flags, size;

	for (flags = 0; flags < 4; flags++) {
		make_fake(flags, sizeof(word), 9, word, sizeof(word));
		expect_built(test, flags < 3);
		make_fake(flags, sizeof(upper), 9, upper, sizeof(upper));
		expect_built(test, flags < 3);
		make_fake(flags, sizeof(wide), 9, wide, sizeof(wide));
		expect_built(test, flags == 3);
	}
	expect_built_bytes(test, sizeof(wide));
	for (size = 0; size <= IMV_INSN_MAX; size++) {
		make_fake(2, size, 0, word, sizeof(word));
		expect_built(test, size == sizeof(word));
	}
}

static void imv_test_built_jump(struct kunit *test)
{
	const u8 jmp2[] = { JMP8_INSN_OPCODE, 0x10 };
	const u8 jmp5[] = { JMP32_INSN_OPCODE, 0x0d, 0, 0, 0 };

	make_fake_jump(IMV_JUMP_NOP, 0x10, true, nop2, 2);
	expect_built_bytes(test, 2);
	make_fake_jump(IMV_JUMP_NOP, 0x10, false, nop5, 5);
	expect_built_bytes(test, 5);
	make_fake_jump(IMV_JUMP_NOP, 0x10, false, jmp2, 2);
	expect_built(test, false);
	make_fake_jump(IMV_JUMP_LIKELY, 0x10, true, jmp2, 2);
	expect_built_bytes(test, 2);
	make_fake_jump(IMV_JUMP_LIKELY, 0x10, false, jmp5, 5);
	expect_built_bytes(test, 5);
	make_fake_jump(IMV_JUMP_LIKELY, 0x11, false, jmp5, 5);
	expect_built(test, false);
	make_fake_jump(IMV_JUMP_LIKELY, 0x10, false, nop5, 5);
	expect_built(test, false);
	make_fake_jump(0, 0x10, false, nop2, 2);
	expect_built(test, false);
}

/* Built means: no code is connected. The architecture accepts any target. */
static void imv_test_built_jump_to(struct kunit *test)
{
	s32 to_kernel = (void *)__imv_set - (void *)&fake.site.target;
	s32 distance = (void *)__imv_set - (void *)fake.text - JMP32_INSN_SIZE;
	u8 jmp5[JMP32_INSN_SIZE] = { JMP32_INSN_OPCODE };

	memcpy(jmp5 + 1, &distance, sizeof(distance));
	make_fake(IMV_JUMP_TO, to_kernel, 0, jmp5, sizeof(jmp5));
	expect_built_bytes(test, sizeof(jmp5));
	fake.var = 1;
	expect_built(test, false);
	make_fake(IMV_JUMP_TO, to_kernel + 1, 0, jmp5, sizeof(jmp5));
	expect_built(test, false);

	distance = (void *)fake.target - (void *)fake.text - JMP32_INSN_SIZE;
	memcpy(jmp5 + 1, &distance, sizeof(distance));
	make_fake(IMV_JUMP_TO, (void *)fake.target - (void *)&fake.site.target, 0, jmp5,
		  sizeof(jmp5));
	expect_built(test, true);
}

#ifdef CONFIG_KPROBES
struct call_counter {
	struct kprobe kprobe;
	struct task_struct *task;
	int calls;
};

static int count_call(struct kprobe *kp, struct pt_regs *regs)
{
	struct call_counter *counter = container_of(kp, struct call_counter, kprobe);

	/* Softirqs run in the context of any task. */
	counter->calls += current == counter->task && !in_serving_softirq();
	return 0;
}

/* How often does @caller call the function of this name? */
static int count_calls(const char *name, void (*caller)(void *data), void *data)
{
	struct call_counter counter = {
		.kprobe = { .symbol_name = name, .pre_handler = count_call },
	};
	int ret = register_kprobe(&counter.kprobe);

	if (ret)
		return ret;
	WRITE_ONCE(counter.task, current);
	caller(data);
	WRITE_ONCE(counter.task, NULL);
	unregister_kprobe(&counter.kprobe);
	return READ_ONCE(counter.calls);
}

static void set_in_batches(void *unused)
{
	imv_batch_begin();
	imv_batch_begin();
	imv_set(imv_u8, imv_read(imv_u8) + 1);
	imv_batch_commit();
	imv_batch_commit();
}
#endif

/* Only the outermost batch locks and unlocks CPU hotplug. */
static void imv_test_hotplug_lock(struct kunit *test)
{
#ifdef CONFIG_KPROBES
	if (!IS_ENABLED(CONFIG_HOTPLUG_CPU))
		kunit_skip(test, "needs CONFIG_HOTPLUG_CPU");
	KUNIT_EXPECT_EQ(test, count_calls("cpus_read_lock", set_in_batches, NULL), 1);
	KUNIT_EXPECT_EQ(test, count_calls("cpus_read_unlock", set_in_batches, NULL), 1);
	imv_set(imv_u8, 1);
#else
	kunit_skip(test, "needs CONFIG_KPROBES");
#endif
}

#ifdef CONFIG_KPROBES
static void set_u8(void *unused)
{
	imv_set(imv_u8, 11);
}
#endif

/* When the scheduler runs, text is patched as it is later: others may execute it. */
static void imv_test_scheduling(struct kunit *test)
{
#ifdef CONFIG_KPROBES
	if (system_state != SYSTEM_SCHEDULING)
		kunit_skip(test, "the boot is over");
	KUNIT_EXPECT_EQ(test, count_calls("arch_imv_finish", set_u8, NULL), 1);
	KUNIT_EXPECT_EQ(test, imv_read(imv_u8), 11);
	imv_set(imv_u8, 1);
#else
	kunit_skip(test, "needs CONFIG_KPROBES");
#endif
}

#ifdef CONFIG_MODULES
/* The text of @mod is fake.text; its last @init_size bytes are __init text. */
static int check_records(struct module *mod, unsigned int nr, unsigned int init_size)
{
	unsigned int size = sizeof(fake.text) - init_size;

	set_module_memory(mod, fake.text, size, size);
	set_module_init_text(mod, fake.text + size, init_size);
	mod->imv_sites = &fake.site;
	mod->num_imv_sites = nr;
	return imv_module_check(mod);
}

/* The same, but the first @init_size bytes are the __init text. */
static void set_init_text_first(struct module *mod, unsigned int nr,
				unsigned int init_size)
{
	unsigned int size = sizeof(fake.text) - init_size;

	set_module_memory(mod, fake.text + init_size, size, size);
	set_module_init_text(mod, fake.text, init_size);
	mod->imv_sites = &fake.site;
	mod->num_imv_sites = nr;
}

/* Checks one record, in core text and in __init text. */
static void expect_record(struct kunit *test, struct module *mod, int ret)
{
	KUNIT_EXPECT_EQ(test, check_records(mod, 1, 0), ret);
	KUNIT_EXPECT_EQ(test, check_records(mod, 1, sizeof(fake.text)), ret);
}

/* The test may be a module, whose variables @mod can use then. */
static bool use_this_module(struct kunit *test, struct module *mod)
{
#ifdef CONFIG_MODULE_UNLOAD
	struct module_use *use = kunit_kzalloc(test, sizeof(*use), GFP_KERNEL);

	if (!use)
		return false;
	use->target = THIS_MODULE;
	INIT_LIST_HEAD(&mod->target_list);
	list_add(&use->target_list, &mod->target_list);
#endif
	return true;
}

static struct module *new_module(struct kunit *test)
{
	struct module *mod = kunit_kzalloc(test, sizeof(*mod), GFP_KERNEL);

	if (!mod || !use_this_module(test, mod))
		return NULL;
	strscpy(mod->name, "kunit", sizeof(mod->name));
	return mod;
}

/* A 2-byte NOP at offset @at of the text; its target is @distance bytes after it. */
static void make_nop_at(unsigned int at, int distance)
{
	make_fake_jump(IMV_JUMP_NOP, at + distance, false, nop2, 0);
	memcpy(fake.text + at, nop2, sizeof(nop2));
	fake.site.insn += at;
}

static void imv_test_damaged_insn(struct kunit *test)
{
	struct module *mod = new_module(test);
	const unsigned int last = sizeof(fake.text) - sizeof(nop2);

	KUNIT_ASSERT_NOT_NULL(test, mod);
	make_nop_at(0, 4);
	expect_record(test, mod, 0);
	make_nop_at(last, -4);
	expect_record(test, mod, 0);
	fake.site.insn++;
	expect_record(test, mod, -ENOEXEC);
	fake.site.insn += 0x100;
	expect_record(test, mod, -ENOEXEC);
	make_nop_at(0, 4);
	fake.site.insn--;
	expect_record(test, mod, -ENOEXEC);
	/* It ends behind the last address. */
	make_nop_at(0, 4);
	fake.site.insn = -1UL - (unsigned long)&fake.site.insn;
	expect_record(test, mod, -ENOEXEC);
	make_nop_at(0, 4);
	fake.text[0] = INT3_INSN_OPCODE;
	expect_record(test, mod, -ENOEXEC);
	make_nop_at(0, 4);
	imv_site_forget(&fake.site);
	expect_record(test, mod, -ENOEXEC);
	/* A data site of size 0. */
	make_fake(2, 0, 0, nop2, sizeof(nop2));
	expect_record(test, mod, -ENOEXEC);
	/* Half of the instruction is in the __init text. */
	make_nop_at(7, 4);
	KUNIT_EXPECT_EQ(test, check_records(mod, 1, 8), -ENOEXEC);
	make_nop_at(8, 4);
	KUNIT_EXPECT_EQ(test, check_records(mod, 1, 8), 0);
	/* Half of it is behind the __init text. */
	make_nop_at(7, 4);
	set_init_text_first(mod, 1, 8);
	KUNIT_EXPECT_EQ(test, imv_module_check(mod), -ENOEXEC);
	make_nop_at(6, 4);
	set_init_text_first(mod, 1, 8);
	KUNIT_EXPECT_EQ(test, imv_module_check(mod), 0);
}

static void imv_test_damaged_target(struct kunit *test)
{
	s32 to_kernel = (void *)__imv_set - (void *)&fake.site.target;
	s32 distance = (void *)__imv_set - (void *)fake.text - JMP32_INSN_SIZE;
	u8 jmp5[JMP32_INSN_SIZE] = { JMP32_INSN_OPCODE }, *beyond = fake.target + 1;
	struct module *mod = new_module(test);

	KUNIT_ASSERT_NOT_NULL(test, mod);
	make_nop_at(4, -6);
	expect_record(test, mod, 0);
	make_nop_at(4, -7);
	expect_record(test, mod, -ENOEXEC);
	make_nop_at(4, sizeof(fake.text) - 6);
	expect_record(test, mod, 0);
	make_nop_at(4, sizeof(fake.text) - 5);
	expect_record(test, mod, -ENOEXEC);

	/* From text to __init text, and back. */
	make_nop_at(0, 4);
	KUNIT_EXPECT_EQ(test, check_records(mod, 1, 8), 0);
	make_nop_at(0, 8);
	KUNIT_EXPECT_EQ(test, check_records(mod, 1, 8), -ENOEXEC);
	make_nop_at(10, -8);
	KUNIT_EXPECT_EQ(test, check_records(mod, 1, 8), 0);

	/* Only a stub may lead to the kernel. */
	memcpy(jmp5 + 1, &distance, sizeof(distance));
	make_fake(IMV_JUMP_TO, to_kernel, 0, jmp5, sizeof(jmp5));
	expect_record(test, mod, 0);
	make_fake(IMV_JUMP_LIKELY, to_kernel, 0, jmp5, sizeof(jmp5));
	expect_record(test, mod, -ENOEXEC);
	distance = (void *)beyond - (void *)fake.text - JMP32_INSN_SIZE;
	memcpy(jmp5 + 1, &distance, sizeof(distance));
	make_fake(IMV_JUMP_TO, (void *)beyond - (void *)&fake.site.target, 0, jmp5,
		  sizeof(jmp5));
	expect_record(test, mod, -ENOEXEC);
}

static void imv_test_damaged_var(struct kunit *test)
{
	const u8 word[] = { 0xbf, 0, 0, 0, 0 };
	struct module *mod = new_module(test);

	KUNIT_ASSERT_NOT_NULL(test, mod);
	make_fake(2, sizeof(word), 0, word, sizeof(word));
	expect_record(test, mod, 0);
	/* Below the kernel, where nothing is mapped. */
	fake.site.var = S32_MIN + 2;
	expect_record(test, mod, -ENOEXEC);
	/* Data of the kernel, and its text. */
	fake.site.var = (void *)&jiffies - (void *)&fake.site.var + 2;
	expect_record(test, mod, 0);
	fake.site.var = ((void *)__imv_set - (void *)&fake.site.var) & ~IMV_FLAGS;
	expect_record(test, mod, -ENOEXEC);
	/* In the last word, which is freed after init, as all is or alone. */
	make_fake(2, sizeof(word), 0, word, sizeof(word));
	fake.site.var = (void *)fake.text + sizeof(fake.text) - sizeof(u32) -
			(void *)&fake.site.var + 2;
	KUNIT_EXPECT_EQ(test, check_records(mod, 1, sizeof(fake.text)), 0);
	KUNIT_EXPECT_EQ(test, check_records(mod, 1, sizeof(u32)), -ENOEXEC);
}

/* A variable of another module, which may be unloaded if no module uses it. */
static void imv_test_damaged_var_of_other(struct kunit *test)
{
#if defined(MODULE) && defined(CONFIG_MODULE_UNLOAD)
	const u8 word[] = { 0xbf, 0, 0, 0, 0 };
	struct module *mod = new_module(test);

	KUNIT_ASSERT_NOT_NULL(test, mod);
	make_fake(2, sizeof(word), 0, word, sizeof(word));
	expect_record(test, mod, 0);
	INIT_LIST_HEAD(&mod->target_list);
	expect_record(test, mod, -ENOEXEC);
#else
	kunit_skip(test, "needs a module that can be unloaded");
#endif
}

/* Checks a MOV of a variable at offset @at of a page, which is the module's memory. */
static int check_var_at(struct module *mod, void *page, unsigned int flags,
			unsigned int at)
{
	const u8 wide[] = { 0x49, 0xba, 0, 0, 0, 0, 0, 0, 0, 0 };
	const u8 word[] = { 0xbf, 0, 0, 0, 0 };
	struct imv_site *site = page + 64;

	if (flags == 3)
		memcpy(page, wide, sizeof(wide));
	else
		memcpy(page, word, sizeof(word));
	site->insn = page - (void *)&site->insn;
	site->target = flags == 3 ? sizeof(wide) : sizeof(word);
	site->var = page + at - (void *)&site->var + flags;
	set_module_memory(mod, page, PAGE_SIZE, 16);
	mod->imv_sites = site;
	mod->num_imv_sites = 1;
	return imv_module_check(mod);
}

/* All bytes of a variable must be in the data, and no others. */
static void imv_test_damaged_var_end(struct kunit *test)
{
	struct module *mod = new_module(test);
	void *page;

	KUNIT_ASSERT_NOT_NULL(test, mod);
	page = vmalloc(PAGE_SIZE);
	KUNIT_ASSERT_NOT_NULL(test, page);
	KUNIT_EXPECT_EQ(test, check_var_at(mod, page, 0, PAGE_SIZE - 4), 0);
	KUNIT_EXPECT_EQ(test, check_var_at(mod, page, 1, PAGE_SIZE - 4), 0);
	KUNIT_EXPECT_EQ(test, check_var_at(mod, page, 2, PAGE_SIZE - 4), 0);
	KUNIT_EXPECT_EQ(test, check_var_at(mod, page, 2, PAGE_SIZE), -ENOEXEC);
	KUNIT_EXPECT_EQ(test, check_var_at(mod, page, 3, PAGE_SIZE - 8), 0);
	KUNIT_EXPECT_EQ(test, check_var_at(mod, page, 3, PAGE_SIZE - 4), -ENOEXEC);
	vfree(page);
}

/* Two records, each of a MOV at the given offset and of the given size. */
static void make_two(int at, s32 size, int other_at, s32 other_size)
{
	const u8 text[] = { 0x41, 0xb8, 0, 0, 0, 0, 0xbf, 0, 0, 0, 0 };
	const s32 record_size = sizeof(fake.site);

	make_fake(2, size, 0, text, sizeof(text));
	fake.other.insn = fake.site.insn - record_size + other_at;
	fake.other.target = other_size;
	fake.other.var = fake.site.var - record_size;
	fake.site.insn += at;
}

static int check_two(struct module *mod, int at, s32 size, int other_at, s32 other_size)
{
	int ret;

	make_two(at, size, other_at, other_size);
	ret = check_records(mod, 2, 0);
	return check_records(mod, 2, sizeof(fake.text)) == ret ? ret : 1;
}

/* Sites must not overlap, even if a part of a MOV is also a valid MOV. */
static void imv_test_damaged_twice(struct kunit *test)
{
	struct module *mod = new_module(test);

	KUNIT_ASSERT_NOT_NULL(test, mod);
	KUNIT_EXPECT_EQ(test, check_two(mod, 0, 6, 6, 5), 0);
	KUNIT_EXPECT_EQ(test, check_two(mod, 6, 5, 0, 6), 0);
	KUNIT_EXPECT_EQ(test, check_two(mod, 1, 5, 6, 5), 0);
	KUNIT_EXPECT_EQ(test, check_two(mod, 0, 6, 0, 6), -ENOEXEC);
	KUNIT_EXPECT_EQ(test, check_two(mod, 0, 6, 1, 5), -ENOEXEC);
	KUNIT_EXPECT_EQ(test, check_two(mod, 1, 5, 0, 6), -ENOEXEC);
}

#ifdef CONFIG_KPROBES
static void check_nop(void *mod)
{
	check_records(mod, 1, 0);
}
#endif

/* The check frees its memory, also if it finds a fault. */
static void imv_test_check_frees(struct kunit *test)
{
#ifdef CONFIG_KPROBES
	struct module *mod = new_module(test);

	KUNIT_ASSERT_NOT_NULL(test, mod);
	make_nop_at(0, 4);
	KUNIT_EXPECT_EQ(test, count_calls("kvfree", check_nop, mod), 1);
	fake.text[0] = INT3_INSN_OPCODE;
	KUNIT_EXPECT_EQ(test, count_calls("kvfree", check_nop, mod), 1);
#else
	kunit_skip(test, "needs CONFIG_KPROBES");
#endif
}

/* What the module loader calls, in this order. */
static void (*coming)(struct module *mod);
static void (*live)(struct module *mod);
static void (*going)(struct module *mod);
static void *(*nth_site)(const void *var, unsigned int n);

static bool find_loader_functions(void)
{
	if (!coming)
		coming = find_function("imv_module_coming");
	if (!live)
		live = find_function("imv_module_live");
	if (!going)
		going = find_function("imv_module_going");
	if (!nth_site)
		nth_site = find_function("imv_nth_site");
	return coming && live && going && nth_site;
}

/* Gives a module that these functions accept, or skips the test. */
static struct module *new_loaded_module(struct kunit *test)
{
	struct module *mod = new_module(test);

	KUNIT_ASSERT_NOT_NULL(test, mod);
	if (!find_loader_functions())
		kunit_skip(test, "functions that are not exported cannot be called");
	mod->imv_sites = &fake.site;
	mod->num_imv_sites = 1;
	return mod;
}

static void end_module(struct module *mod)
{
	going(mod);
	synchronize_rcu();
}

/* A module without sites is in no list, from which it would not be removed. */
static void imv_test_module_without_sites(struct kunit *test)
{
	struct module *mod = new_loaded_module(test);

	mod->num_imv_sites = 0;
	coming(mod);
	KUNIT_EXPECT_TRUE(test, list_empty(&mod->imv_list));
	end_module(mod);
}

/* Long jumps in a module become short if the target is near. */
static void imv_test_module_long_jump(struct kunit *test)
{
	struct module *mod = new_loaded_module(test);
	const u8 jmp2[] = { JMP8_INSN_OPCODE, 0x10 };

	make_fake_jump(IMV_JUMP_NOP, 0x10, true, nop5, 5);
	coming(mod);
	KUNIT_EXPECT_EQ(test, memcmp(fake.text, jmp2, 2), 0);
	KUNIT_EXPECT_EQ(test, memcmp(fake.text + 2, nop3, 3), 0);
	end_module(mod);
}

/* Exactly these bytes of the text of a module are reserved. */
static void expect_reserved(struct kunit *test, struct module *mod, int size)
{
	int i;

	coming(mod);
	for (i = -1; i < (int)sizeof(fake.text); i++)
		KUNIT_EXPECT_EQ_MSG(test, imv_text_reserved(fake.text + i, fake.text + i),
				    i >= 0 && i < size, "byte %d of %d", i, size);
	going(mod);
}

/* Others must not patch the bytes of a site, nor the operand after a stub's jump. */
static void imv_test_module_reserved(struct kunit *test)
{
	struct module *mod = new_loaded_module(test);
	const u8 jmp5[] = { JMP32_INSN_OPCODE, 0x0d, 0, 0, 0 };
	const u8 word[] = { 0xbf, 0, 0, 0, 0 }, upper[] = { 0x41, 0xb8, 0, 0, 0, 0 };

	make_fake(2, sizeof(word), 0, word, sizeof(word));
	expect_reserved(test, mod, sizeof(word));
	make_fake(2, sizeof(upper), 0, upper, sizeof(upper));
	expect_reserved(test, mod, sizeof(upper));
	make_fake_jump(IMV_JUMP_NOP, 0x10, false, nop2, 2);
	expect_reserved(test, mod, 2);
	make_fake_jump(IMV_JUMP_NOP, 0x100, false, nop5, 5);
	expect_reserved(test, mod, 5);
	make_fake_jump(IMV_JUMP_TO, 0x10, false, jmp5, 5);
	expect_reserved(test, mod, JMP32_INSN_SIZE + IMV_JUMP_TO_OWNER_SIZE);
	synchronize_rcu();
}

/* An optimised kprobe is one jump over several instructions: not over a target. */
static void imv_test_module_target(struct kunit *test)
{
	struct module *mod = new_loaded_module(test);
	const u8 *target = fake.text + JMP8_INSN_SIZE + 0x10;
	int i;

	make_fake_jump(IMV_JUMP_NOP, 0x10, false, nop2, 2);
	coming(mod);
	for (i = -5; i <= 1; i++)
		KUNIT_EXPECT_EQ_MSG(test, imv_text_reserved(target + i, target + i + 4),
				    i >= -4 && i < 0, "%d bytes from the target", i);
	end_module(mod);
	KUNIT_EXPECT_FALSE(test, imv_text_reserved(target - 1, target + 3));
}

/* A record that is gone already is left alone. */
static void imv_test_module_gone(struct kunit *test)
{
	struct module *mod = new_loaded_module(test);
	const u8 word[] = { 0xbf, 0, 0, 0, 0 };

	make_fake(2, sizeof(word), 9, word, sizeof(word));
	imv_site_forget(&fake.site);
	coming(mod);
	KUNIT_EXPECT_TRUE(test, imv_site_is_gone(&fake.site));
	KUNIT_EXPECT_NULL(test, nth_site(&fake.var, 0));
	expect_text(test, word, sizeof(word));
	end_module(mod);
}

/* When a module is loaded, values that are deferred reach all their sites. */
static void imv_test_module_deferred(struct kunit *test)
{
	struct module *mod = new_loaded_module(test);
	const u8 word[] = { 0xbf, 0, 0, 0, 0 }, new_word[] = { 0xbf, 11, 0, 0, 0 };

	make_fake(0, sizeof(word), 0, word, sizeof(word));
	fake.site.var = (void *)&imv_u8__imv - (void *)&fake.site.var;
	KUNIT_ASSERT_TRUE(test, imv_defer_begin());
	imv_set(imv_u8, 11);
	KUNIT_EXPECT_EQ(test, imv_read(imv_u8), 1);
	coming(mod);
	KUNIT_EXPECT_EQ(test, imv_read(imv_u8), 11);
	expect_text(test, new_word, sizeof(new_word));
	end_module(mod);
	imv_defer_end(true);
	imv_set(imv_u8, 1);
}

static int forget_init_text(void *mod)
{
	WRITE_ONCE(other_began, true);
	live(mod);
	WRITE_ONCE(other_set, true);
	return 0;
}

/* Only the sites in the __init text of a module are forgotten, after a batch. */
static void imv_test_module_live(struct kunit *test)
{
	struct module *mod = new_loaded_module(test);
	u8 *in_init = fake.text, *behind = fake.text + 6;
	struct task_struct *thread;

	thread = kthread_create(forget_init_text, mod, "imv_live");
	KUNIT_ASSERT_FALSE(test, IS_ERR(thread));
	other_began = false;
	other_set = false;
	make_two(6, 5, 0, 6);
	set_init_text_first(mod, 2, 6);
	coming(mod);
	imv_batch_begin();
	get_task_struct(thread);
	wake_up_process(thread);
	KUNIT_EXPECT_TRUE(test, waits_for_lock(thread));
	KUNIT_EXPECT_TRUE(test, imv_text_reserved(in_init, in_init));
	KUNIT_EXPECT_TRUE(test, imv_text_reserved(behind, behind));
	imv_batch_commit();
	kthread_stop(thread);
	put_task_struct(thread);
	KUNIT_EXPECT_TRUE(test, other_set);
	KUNIT_EXPECT_FALSE(test, imv_text_reserved(in_init, in_init));
	KUNIT_EXPECT_TRUE(test, imv_text_reserved(behind, behind));
	end_module(mod);
}

/* The text and the variables of three sites. */
struct three {
	u8 text[3][8];
	u32 vars[3];
};

/* Each record of the table has another of the three sites. */
static void make_three(struct three *three, struct imv_site *table, const u8 *order)
{
	const u8 word[] = { 0xbf, 0, 0, 0, 0 };
	unsigned int i, n;

	for (i = 0; i < 3; i++) {
		n = order[i];
		memcpy(three->text[n], word, sizeof(word));
		three->vars[n] = n + 1;
		table[i].insn = (void *)three->text[n] - (void *)&table[i].insn;
		table[i].target = sizeof(word);
		table[i].var = (void *)&three->vars[n] - (void *)&table[i].var + 2;
	}
}

/* From coming to going: all sites are found, and have their values; then none. */
static void expect_found(struct kunit *test, struct module *mod, struct three *three)
{
	unsigned int n;

	coming(mod);
	for (n = 0; n < 3; n++) {
		KUNIT_EXPECT_PTR_EQ(test, nth_site(&three->vars[n], 0),
				    (void *)three->text[n]);
		KUNIT_EXPECT_NULL(test, nth_site(&three->vars[n], 1));
		KUNIT_EXPECT_EQ(test, three->text[n][1], n + 1);
	}
	KUNIT_EXPECT_FALSE(test, imv_text_reserved(three->vars, three->vars));
	live(mod);
	for (n = 0; n < 3; n++) {
		KUNIT_EXPECT_NULL(test, nth_site(&three->vars[n], 0));
		imv_set_var(three->vars[n], 9);
		KUNIT_EXPECT_EQ(test, three->text[n][1], n + 1);
	}
	going(mod);
}

/*
 * The records may be in any order. Nothing in front of the table or behind it is read:
 * it is at the start and at the end of a page that has no neighbours.
 */
static void imv_test_module_order(struct kunit *test)
{
	const u8 orders[][3] = {
		{ 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
		{ 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 },
	};
	struct module *mod = new_loaded_module(test);
	const unsigned int end = PAGE_SIZE - 3 * sizeof(struct imv_site);
	struct three *three;
	unsigned int i;
	void *page;

	page = vmalloc(PAGE_SIZE);
	KUNIT_ASSERT_NOT_NULL(test, page);
	three = page + PAGE_SIZE / 2;
	set_module_init_text(mod, three->text, sizeof(three->text));
	mod->num_imv_sites = 3;
	for (i = 0; i < 2 * ARRAY_SIZE(orders); i++) {
		mod->imv_sites = page + (i & 1 ? end : 0);
		make_three(three, mod->imv_sites, orders[i / 2]);
		expect_found(test, mod, three);
	}
	synchronize_rcu();
	vfree(page);
}

/* Two sites of fake.var, and no third one. */
static void expect_two(struct kunit *test)
{
	KUNIT_EXPECT_PTR_EQ(test, nth_site(&fake.var, 0), (void *)fake.text);
	KUNIT_EXPECT_PTR_EQ(test, nth_site(&fake.var, 1), (void *)fake.text + 6);
	KUNIT_EXPECT_NULL(test, nth_site(&fake.var, 2));
}

/* The sites of a variable are found in any module, each once. */
static void imv_test_nth_site(struct kunit *test)
{
	static struct {
		struct imv_site table[3];
		struct three three;
	} other;
	struct module *mod = new_loaded_module(test), *next = new_loaded_module(test);

	make_two(0, 6, 6, 5);
	mod->num_imv_sites = 2;
	make_three(&other.three, other.table, (const u8[]){ 0, 1, 2 });
	next->imv_sites = other.table;
	next->num_imv_sites = ARRAY_SIZE(other.table);
	coming(mod);
	expect_two(test);
	coming(next);
	expect_two(test);
	KUNIT_EXPECT_PTR_EQ(test, nth_site(&other.three.vars[2], 0),
			    (void *)other.three.text[2]);
	going(next);
	expect_two(test);
	end_module(mod);
	KUNIT_EXPECT_NULL(test, nth_site(&fake.var, 0));
}

static int find_first_site(void *unused)
{
	WRITE_ONCE(other_began, true);
	nth_site(&imv_u8__imv, 0);
	WRITE_ONCE(other_set, true);
	return 0;
}

/* Sites are not searched during a batch of another task. */
static void imv_test_nth_site_waits(struct kunit *test)
{
	struct task_struct *thread;

	if (!find_loader_functions())
		kunit_skip(test, "functions that are not exported cannot be called");
	thread = kthread_create(find_first_site, NULL, "imv_nth");
	KUNIT_ASSERT_FALSE(test, IS_ERR(thread));
	other_began = false;
	other_set = false;
	imv_batch_begin();
	get_task_struct(thread);
	wake_up_process(thread);
	KUNIT_EXPECT_TRUE(test, waits_for_lock(thread));
	KUNIT_EXPECT_FALSE(test, READ_ONCE(other_set));
	imv_batch_commit();
	kthread_stop(thread);
	put_task_struct(thread);
	KUNIT_EXPECT_TRUE(test, other_set);
}

static void imv_test_check_no_memory(struct kunit *test)
{
	struct module *mod = new_module(test);
	int ret;

	KUNIT_ASSERT_NOT_NULL(test, mod);
	need_failing_alloc(test);
	make_nop_at(0, 4);
	fail_next_alloc();
	ret = check_records(mod, 1, 0);
	stop_failing();
	KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
	fail_next_alloc();
	ret = check_records(mod, 0, 0);
	stop_failing();
	KUNIT_EXPECT_EQ(test, ret, 0);
}
#endif /* CONFIG_MODULES */

static DEFINE_IMV(bool, imv_torn_flag);

/* Patches the sites of imv_torn_flag, on another CPU, until it is stopped. */
static int toggle_until_stopped(void *data)
{
	bool value = false;

	while (!kthread_should_stop()) {
		value = !value;
		imv_set(imv_torn_flag, value);
		cond_resched();
	}
	imv_set(imv_torn_flag, false);
	return 0;
}

static struct task_struct *start_toggling(struct kunit *test)
{
	struct task_struct *thread;

	thread = kthread_create(toggle_until_stopped, NULL, "imv_toggle");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, thread);
	kthread_bind(thread, cpumask_last(cpu_online_mask));
	wake_up_process(thread);
	return thread;
}

static noinline int near_site(void)
{
	return imv_unlikely(imv_torn_flag) ? 1 : 2;
}

/* The first byte of the short jump in near_site(), or NULL. */
static u8 *find_near_site(void)
{
	u8 *start = (u8 *)near_site, *pos;

	/* Keeps near_site + 32 out of the code: it may be the address of a function. */
	OPTIMIZER_HIDE_VAR(start);
	for (pos = start; pos < start + 32; pos++)
		if (imv_text_reserved(pos, pos))
			return imv_text_reserved(pos + 2, pos + 2) ? NULL : pos;
	return NULL;
}

#define MANY_TRAPPED	100

static void imv_test_reserved_while_patched(struct kunit *test)
{
	u8 *site = find_near_site();
	unsigned long i, missed = 0, wrong = 0, trapped = 0;
	struct task_struct *thread;

	if (!site || num_online_cpus() == 1)
		kunit_skip(test, "needs a short jump and two CPUs");
	thread = start_toggling(test);
	for (i = 0; trapped < MANY_TRAPPED && i < 100000; i++) {
		missed += !imv_text_reserved(site + 1, site + 1);
		trapped += READ_ONCE(*site) == INT3_INSN_OPCODE;
		wrong += imv_text_reserved(site + 2, site + 2);
		cond_resched();
	}
	kthread_stop(thread);
	KUNIT_EXPECT_EQ(test, trapped, (unsigned long)MANY_TRAPPED);
	KUNIT_EXPECT_EQ(test, missed, 0UL);
	KUNIT_EXPECT_EQ(test, wrong, 0UL);
}

static void imv_test_kprobe_while_patched(struct kunit *test)
{
#ifdef CONFIG_KPROBES
	static struct kprobe kprobe;
	struct task_struct *thread;
	u8 *site = find_near_site();
	int i, ret = 0;

	if (!site)
		kunit_skip(test, "needs a short jump");
	thread = start_toggling(test);
	for (i = 0; i < 20 && !ret; i++) {
		memset(&kprobe, 0, sizeof(kprobe));
		kprobe.addr = site + 2;
		ret = register_kprobe(&kprobe);
		if (!ret)
			unregister_kprobe(&kprobe);
	}
	kthread_stop(thread);
	KUNIT_EXPECT_EQ(test, ret, 0);
#else
	kunit_skip(test, "needs CONFIG_KPROBES");
#endif
}

#ifdef CONFIG_KPROBES
static struct mutex *text_lock;
static void (*expect_pokes)(unsigned int nr);
static void (*finish_pokes)(void);

static void poke_many(void *irqs_off)
{
	unsigned long flags = 0;

	mutex_lock(text_lock);
	if (irqs_off)
		local_irq_save(flags);
	expect_pokes(1000);
	finish_pokes();
	if (irqs_off)
		local_irq_restore(flags);
	mutex_unlock(text_lock);
}

static void poke_many_without_memory(void *unused)
{
	fail_next_alloc();
	poke_many(NULL);
	stop_failing();
}

static bool can_poke(void)
{
	text_lock = find_symbol("text_mutex");
	expect_pokes = find_function("text_poke_expect");
	finish_pokes = find_function("text_poke_finish");
	return text_lock && expect_pokes && finish_pokes;
}
#endif

/* The room for many changes is optional: vmalloc() would kill tasks to get memory for it. */
static void imv_test_poke_without_memory(struct kunit *test)
{
#ifdef CONFIG_KPROBES
	if (!can_poke())
		kunit_skip(test, "needs CONFIG_KALLSYMS_ALL, and functions that can be called");
	need_failing_alloc(test);
	KUNIT_EXPECT_EQ(test, count_calls("vfree", poke_many_without_memory, NULL), 0);
#else
	kunit_skip(test, "needs CONFIG_KPROBES");
#endif
}

/* Room for many changes is allocated, and freed, only where the caller may sleep. */
static void imv_test_poke_in_atomic(struct kunit *test)
{
#ifdef CONFIG_KPROBES
	if (!can_poke())
		kunit_skip(test, "needs CONFIG_KALLSYMS_ALL, and functions that can be called");
	KUNIT_EXPECT_EQ(test, count_calls("kfree", poke_many, NULL), 1);
	KUNIT_EXPECT_EQ(test, count_calls("kfree", poke_many, text_lock), 0);
#else
	kunit_skip(test, "needs CONFIG_KPROBES");
#endif
}

/* Jump labels queue their changes, and release text_mutex before they finish. */
static DEFINE_STATIC_KEY_FALSE(beside_key);

#define KEY_SITE	(static_branch_unlikely(&beside_key) ? 1 : 0)

static noinline int count_keys(void)
{
	return KEY_SITE + KEY_SITE + KEY_SITE + KEY_SITE + KEY_SITE + KEY_SITE +
	       KEY_SITE + KEY_SITE + KEY_SITE + KEY_SITE + KEY_SITE + KEY_SITE;
}

static int toggle_key_until_stopped(void *data)
{
	struct reader *reader = data;

	while (!kthread_should_stop()) {
		static_branch_enable(&beside_key);
		reader->bad += count_keys() != 12;
		static_branch_disable(&beside_key);
		reader->bad += count_keys() != 0;
		reader->reads++;
		/* Without JUMP_LABEL, nothing here sleeps, and kprobes wait for such tasks. */
		cond_resched_tasks_rcu_qs();
	}
	return 0;
}

static void imv_test_beside_jump_label(struct kunit *test)
{
	struct reader keys = { };
	struct task_struct *thread;
	int i, wrong = 0;

	thread = kthread_create(toggle_key_until_stopped, &keys, "imv_key");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, thread);
	kthread_bind(thread, cpumask_last(cpu_online_mask));
	wake_up_process(thread);
	for (i = 0; i < 200 || !READ_ONCE(keys.reads); i++) {
		imv_set(imv_flag, true);
		wrong += count_true() != NR_SITES;
		imv_set(imv_flag, false);
		wrong += count_true() != 0;
		cond_resched();
	}
	kthread_stop(thread);
	KUNIT_EXPECT_EQ(test, wrong, 0);
	KUNIT_EXPECT_EQ(test, keys.bad, 0UL);
}
#endif /* CONFIG_IMMEDIATE && CONFIG_X86 */

#if defined(CONFIG_X86) && !defined(CONFIG_UML)
/* The emulation of a MOV by the breakpoint handler, for each register. */
static unsigned long *reg_of(struct pt_regs *regs, int nr)
{
	unsigned long *reg[] = {
		&regs->ax, &regs->cx, &regs->dx, &regs->bx,
		&regs->sp, &regs->bp, &regs->si, &regs->di,
#ifdef CONFIG_X86_64
		&regs->r8, &regs->r9, &regs->r10, &regs->r11,
		&regs->r12, &regs->r13, &regs->r14, &regs->r15,
#endif
	};

	return nr < ARRAY_SIZE(reg) ? reg[nr] : NULL;
}

static void imv_test_emulate(struct kunit *test)
{
	struct pt_regs regs;
	int nr;

	for (nr = 0; nr < 16 && reg_of(&regs, nr); nr++) {
		u8 word[] = { 0x40 | nr >> 3, 0xb8 | (nr & 7), 0x78, 0x56, 0x34, 0x92 };
		u8 wide[] = { 0x48 | nr >> 3, 0xb8 | (nr & 7), 0xef, 0xcd, 0xab, 0x89,
			      0x67, 0x45, 0x23, 0x01 };

		memset(&regs, 0xff, sizeof(regs));
		int3_emulate_mov_imm(&regs, nr < 8 ? word + 1 : word);
		KUNIT_EXPECT_EQ(test, *reg_of(&regs, nr), 0x92345678UL);
		if (!IS_ENABLED(CONFIG_X86_64))
			continue;
		int3_emulate_mov_imm(&regs, wide);
		KUNIT_EXPECT_EQ(test, (u64)*reg_of(&regs, nr), 0x0123456789abcdefULL);
	}
}
#endif

/* These architectures discard such text before references to it are resolved. */
#if defined(CONFIG_ARC) || defined(CONFIG_CSKY) || defined(CONFIG_XTENSA)
#define NO_EXIT_TEXT
#endif

#if defined(CONFIG_IMMEDIATE_SITES) && !defined(MODULE) && !defined(NO_EXIT_TEXT)
static noinline __used bool __exit branch_on_exit(void)
{
	return imv_unlikely(imv_guard);
}

/* Text that is never executed is not patched, and not reserved. */
static void __ref imv_test_exit_text(struct kunit *test)
{
	u8 *text = (u8 *)branch_on_exit;

	KUNIT_EXPECT_FALSE(test, imv_text_reserved(text, text + 7));
}
#endif

static struct kunit_case imv_test_cases[] = {
	KUNIT_CASE(imv_test_initial),
	KUNIT_CASE(imv_test_extremes),
	KUNIT_CASE(imv_test_members),
	KUNIT_CASE(imv_test_branch),
	KUNIT_CASE(imv_test_branch_any_size),
	KUNIT_CASE(imv_test_unrolled),
	KUNIT_CASE(imv_test_registers),
	KUNIT_CASE(imv_test_batch),
	KUNIT_CASE(imv_test_batch_excludes),
	KUNIT_CASE(imv_test_many_values),
	KUNIT_CASE(imv_test_many_sites),
	KUNIT_CASE(imv_test_many_sites_no_memory),
	KUNIT_CASE(imv_test_few_sites),
#ifdef CONFIG_IMMEDIATE
	KUNIT_CASE(imv_test_range),
	KUNIT_CASE(imv_test_set_together),
#endif
	KUNIT_CASE(imv_test_defer),
	KUNIT_CASE(imv_test_defer_references),
	KUNIT_CASE(imv_test_init_text),
	KUNIT_CASE(imv_test_early),
	KUNIT_CASE(imv_test_concurrent),
	KUNIT_CASE(imv_test_toggle),
#ifdef CONFIG_IMMEDIATE_SITES
	KUNIT_CASE(imv_test_reserved),
	KUNIT_CASE(imv_test_kprobe_refused),
#ifdef HAS_OPTIMISED_KPROBES
	KUNIT_CASE(imv_test_kprobe_over_target),
#endif
#endif
#if defined(CONFIG_IMMEDIATE) && defined(CONFIG_X86)
	KUNIT_CASE(imv_test_foreign_jump),
	KUNIT_CASE(imv_test_foreign_jump_to),
	KUNIT_CASE(imv_test_foreign_mov),
	KUNIT_CASE(imv_test_long_jump),
	KUNIT_CASE(imv_test_built_mov),
	KUNIT_CASE(imv_test_built_jump),
	KUNIT_CASE(imv_test_built_jump_to),
	KUNIT_CASE(imv_test_hotplug_lock),
	KUNIT_CASE(imv_test_scheduling),
#ifdef CONFIG_MODULES
	KUNIT_CASE(imv_test_damaged_insn),
	KUNIT_CASE(imv_test_damaged_target),
	KUNIT_CASE(imv_test_damaged_var),
	KUNIT_CASE(imv_test_damaged_var_of_other),
	KUNIT_CASE(imv_test_damaged_var_end),
	KUNIT_CASE(imv_test_damaged_twice),
	KUNIT_CASE(imv_test_check_frees),
	KUNIT_CASE(imv_test_module_without_sites),
	KUNIT_CASE(imv_test_module_long_jump),
	KUNIT_CASE(imv_test_module_reserved),
	KUNIT_CASE(imv_test_module_target),
	KUNIT_CASE(imv_test_module_gone),
	KUNIT_CASE(imv_test_module_deferred),
	KUNIT_CASE(imv_test_module_live),
	KUNIT_CASE(imv_test_module_order),
	KUNIT_CASE(imv_test_nth_site),
	KUNIT_CASE(imv_test_nth_site_waits),
	KUNIT_CASE(imv_test_check_no_memory),
#endif
	KUNIT_CASE(imv_test_reserved_while_patched),
	KUNIT_CASE(imv_test_kprobe_while_patched),
	KUNIT_CASE(imv_test_poke_in_atomic),
	KUNIT_CASE(imv_test_poke_without_memory),
	KUNIT_CASE(imv_test_beside_jump_label),
#endif
#if defined(CONFIG_X86) && !defined(CONFIG_UML)
	KUNIT_CASE(imv_test_emulate),
#endif
#if defined(CONFIG_IMMEDIATE_SITES) && !defined(MODULE) && !defined(NO_EXIT_TEXT)
	KUNIT_CASE(imv_test_exit_text),
#endif
	{ }
};

/* Some cases patch text early, with functions that the kernel keeps for modules only. */
static int imv_test_start(struct kunit *test)
{
	if (!IS_ENABLED(CONFIG_MODULES) && init_text_is_freed())
		kunit_skip(test, "the kernel is booted");
	return 0;
}

static struct kunit_suite imv_test_suite = {
	.name = "immediate",
	.init = imv_test_start,
	.test_cases = imv_test_cases,
};
kunit_test_suite(imv_test_suite);

MODULE_DESCRIPTION("KUnit tests of immediate values");
MODULE_LICENSE("GPL");
