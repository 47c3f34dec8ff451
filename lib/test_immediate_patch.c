// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of how the sites of immediate values are patched: their instructions on
 * x86, many of them at once, beside jump labels, and what kprobes may still patch.
 */
#include <linux/jump_label.h>
#include <linux/kprobes.h>
#include <linux/module.h>

#include "test_fail_alloc.h"
#include "test_immediate.h"
#include "test_watch.h"

#if defined(CONFIG_X86) && defined(CONFIG_OPTPROBES)
#define HAS_OPTIMISED_KPROBES
#endif

static DEFINE_IMV(bool, imv_flag);

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
static DEFINE_IMV(u8, imv_u8) = 1;

/* Sets the flag, and another value whose sites lie between those of the flag. */
static void set_flag(bool value)
{
	imv_batch_begin();
	imv_set(imv_flag, value);
	imv_set(imv_u8, value ? 2 : 1);
	imv_batch_commit();
}

/* Counts how often this task synchronises the CPUs. */
static void watch_syncs(struct kunit *test)
{
	void *sync_func = text_of("do_sync_core");

	KUNIT_ASSERT_NOT_NULL(test, sync_func);
	KUNIT_ASSERT_EQ(test, watch_calls_with("on_each_cpu_cond_mask", 1, sync_func), 0);
}

static void expect_syncs(struct kunit *test, bool value, bool fail, unsigned int syncs)
{
	watch_syncs(test);
	if (fail)
		fail_all_allocs();
	set_flag(value);
	stop_failing();
	stop_watching();
	KUNIT_EXPECT_EQ(test, watched.calls, syncs);
	KUNIT_EXPECT_EQ(test, count_true(), value ? (unsigned int)NR_SITES : 0U);
}

/*
 * Patching a few hundred sites takes three synchronisations. If no memory can be
 * allocated, they are patched in two rounds. Patching a few sites allocates none.
 */
static void imv_test_many_sites(struct kunit *test)
{
	expect_syncs(test, true, false, 3);
	expect_syncs(test, false, false, 3);
}

static DEFINE_IMV(bool, imv_spread);

#define SPREAD		imv_unlikely(imv_spread)
#define SPREAD_5	(SPREAD + SPREAD + SPREAD + SPREAD + SPREAD)
/* Two pages after those before */
#define SPREAD_15	({ asm volatile("jmp 1f; .skip 8192, 0xcc; 1:");	\
			   SPREAD_5 + SPREAD_5 + SPREAD_5; })
#define SPREAD_75	(SPREAD_15 + SPREAD_15 + SPREAD_15 + SPREAD_15 + SPREAD_15)

static noinline unsigned int count_spread(void)
{
	return SPREAD_75 + SPREAD_75 + SPREAD_75 + SPREAD_75;
}

/* Mapping many pages takes long, so sites that are far apart are patched in more rounds. */
static void imv_test_spread_sites(struct kunit *test)
{
	watch_syncs(test);
	imv_set(imv_spread, true);
	stop_watching();
	KUNIT_EXPECT_EQ(test, watched.calls, 3U * 2);
	KUNIT_EXPECT_EQ(test, count_spread(), 300U);
	imv_set(imv_spread, false);
}

static void imv_test_no_memory(struct kunit *test)
{
	need_failing_allocs(test);
	expect_syncs(test, true, true, 3 * 2);
	expect_syncs(test, false, true, 3 * 2);
	KUNIT_EXPECT_FALSE(test, fails_nth_alloc(1, imv_set(imv_u8, 11)));
	KUNIT_EXPECT_EQ(test, imv_read(imv_u8), 11);
	imv_set(imv_u8, 1);
}
#endif

static noinline int site_for_kprobe(void)
{
	return imv_unlikely(imv_flag) ? 1 : 0;
}

/* The first byte of the site in site_for_kprobe(), or NULL; and its size. */
static u8 *find_site(unsigned int *size)
{
	u8 *start = (u8 *)dereference_function_descriptor(site_for_kprobe), *pos;

	/* Keeps start + 32 out of the code: it may be the address of a function. */
	OPTIMIZER_HIDE_VAR(start);
	*size = 0;
	for (pos = start; pos < start + 32; pos++) {
		if (!imv_text_reserved(pos, pos))
			continue;
		while (imv_text_reserved(pos + *size, pos + *size))
			++*size;
		return pos;
	}
	return NULL;
}

static void imv_test_reserved(struct kunit *test)
{
	unsigned int size;
	u8 *site = find_site(&size);

	KUNIT_ASSERT_NOT_NULL(test, site);
	KUNIT_EXPECT_TRUE(test, size == 2 || size == 4 || size == 5 || size == 8);
	KUNIT_EXPECT_FALSE(test, imv_text_reserved(site - 1, site - 1));
	KUNIT_EXPECT_TRUE(test, imv_text_reserved(site - 1, site));
	KUNIT_EXPECT_TRUE(test, imv_text_reserved(site + size - 1, site + size + 3));
}

#ifdef CONFIG_KPROBES
static int probe_at(u8 *insn)
{
	struct kprobe kprobe = { .addr = (kprobe_opcode_t *)insn };
	int ret = register_kprobe(&kprobe);

	if (!ret)
		unregister_kprobe(&kprobe);
	return ret;
}

static void imv_test_kprobe_refused(struct kunit *test)
{
	unsigned int size;
	u8 *site = find_site(&size);

	KUNIT_ASSERT_NOT_NULL(test, site);
	KUNIT_EXPECT_EQ(test, probe_at(site), -EINVAL);
	KUNIT_EXPECT_EQ(test, site_for_kprobe(), 0);
}
#endif

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

/* The instruction to which jump_for_kprobe() jumps, which may be an ENDBR, or NULL. */
static u8 *find_target(void)
{
	static const u8 before[] = { 0xf9, 0xf9, 0xf9, 0xf9 };
	u8 *start = (u8 *)jump_for_kprobe, *pos;

	OPTIMIZER_HIDE_VAR(start);
	for (pos = start; pos < start + 64; pos++)
		if (!memcmp(pos, before, sizeof(before)))
			return pos + sizeof(before);
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

	KUNIT_ASSERT_NOT_NULL(test, target);
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

#ifdef CONFIG_IMMEDIATE
/* Sites, their code for the value, and their code for another one. */
static const struct form {
	u8 flags;
	u16 distance;		/* of a jump */
	u64 value;
	u8 size, fixed;		/* the first bytes, which no value or two values have */
	u8 old[10], new[10];
} forms[] = {
	{ IMV_JUMP_NOP, 0x10, 1, 2, 2, { BYTES_NOP2 }, { 0xeb, 0x10 } },
	{ IMV_JUMP_NOP, 0x10, 0, 2, 2, { 0xeb, 0x10 }, { BYTES_NOP2 } },
	{ IMV_JUMP_NOP, 0x100, 1, 5, 5, { BYTES_NOP5 }, { 0xe9, 0xfd } },
	{ IMV_JUMP_NOP, 0x100, 0, 5, 5, { 0xe9, 0xfd }, { BYTES_NOP5 } },
	{ 0, 0x10, 1, 5, 5, { BYTES_NOP5 }, { 0xe9, 0x0d } },
	{ IMV_JUMP_TO, 0x10, 0, 5, 1, { 0xe9, 1, 2, 3, 4 }, { 0xe9, 0x0d } },
	{ IMV_JUMP_TO, 0x10, 0, 5, 1, { 0xe8, 1, 2, 3, 4 }, { 0xe9, 0x0d } },
	{ 2, 0, 9, 5, 1, { 0xbf, 1, 2, 3, 4 }, { 0xbf, 9 } },
	{ 0, 0, 0x1209, 6, 2, { 0x41, 0xb8, 1, 2, 3, 4 }, { 0x41, 0xb8, 9 } },
	{ 1, 0, 0x341209, 5, 1, { 0xb8, 1, 2, 3, 4 }, { 0xb8, 9, 0x12 } },
	{ 3, 0, 1ULL << 56, 10, 2, { 0x49, 0xba, 1, 2, 3, 4, 5, 6, 7, 8 },
	  { 0x49, 0xba, 0, 0, 0, 0, 0, 0, 0, 1 } },
	{ 0, 0, 9, 3, 1, { 0xc1, 0xe8, 12 }, { 0xc1, 0xe8, 9 } },
	{ 0, 0, 9, 4, 2, { 0x41, 0xc1, 0xe9, 12 }, { 0x41, 0xc1, 0xe9, 9 } },
	{ 2, 0, 0x1209, 5, 1, { 0x25, 1, 2, 3, 4 }, { 0x25, 9, 0x12 } },
	{ 2, 0, 0x1209, 6, 1, { 0x81, 0xe1, 1, 2, 3, 4 }, { 0x81, 0xe1, 9, 0x12 } },
	{ 2, 0, 0x1209, 7, 2, { 0x41, 0x81, 0xe1, 1, 2, 3, 4 }, { 0x41, 0x81, 0xe1, 9, 0x12 } },
};

static void make_form(const struct form *form)
{
	if (form->distance)
		make_fake_jump(form->flags, form->distance, form->value, form->old,
			       form->size);
	else
		make_fake(form->flags, form->size, form->value, form->old, form->size);
}

/* The code mirrors the variable. A byte of other code makes patching fail, and stays. */
static void imv_test_forms(struct kunit *test)
{
	typeof(arch_imv_patch) *patch = NEED(test, arch_imv_patch);
	const struct form *form;
	u8 old[10];
	int i;

	for (form = forms; form < forms + ARRAY_SIZE(forms); form++) {
		make_form(form);
		KUNIT_EXPECT_EQ(test, patch(&fake.site, true), 0);
		expect_text(test, form->new, form->size);
		/* A breakpoint is ignored where nothing changes. */
		fake.text[0] = INT3_INSN_OPCODE;
		KUNIT_EXPECT_EQ(test, patch(&fake.site, true), 0);
		KUNIT_EXPECT_EQ(test, fake.text[0], INT3_INSN_OPCODE);
		for (i = 0; i < form->fixed; i++) {
			make_form(form);
			fake.text[i] = INT3_INSN_OPCODE;
			memcpy(old, fake.text, sizeof(old));
			KUNIT_EXPECT_EQ(test, patch(&fake.site, true), -EINVAL);
			expect_text(test, old, form->size);
		}
	}
}

/* Jump labels queue their changes, and release text_mutex before they finish. */
static DEFINE_STATIC_KEY_FALSE(beside_key);

#define KEY_SITE	(static_branch_unlikely(&beside_key) ? 1 : 0)

static noinline int count_keys(void)
{
	return KEY_SITE + KEY_SITE + KEY_SITE + KEY_SITE + KEY_SITE + KEY_SITE +
	       KEY_SITE + KEY_SITE + KEY_SITE + KEY_SITE + KEY_SITE + KEY_SITE;
}

struct keys {
	unsigned long toggles, wrong;
};

static int toggle_key_until_stopped(void *data)
{
	struct keys *keys = data;

	while (!kthread_should_stop()) {
		static_branch_enable(&beside_key);
		keys->wrong += count_keys() != 12;
		static_branch_disable(&beside_key);
		keys->wrong += count_keys() != 0;
		keys->toggles++;
		/* Without JUMP_LABEL, nothing here sleeps, and kprobes wait for such tasks. */
		cond_resched_tasks_rcu_qs();
	}
	return 0;
}

static void imv_test_beside_jump_label(struct kunit *test)
{
	struct keys keys = { };
	struct task_struct *thread = kthread_create(toggle_key_until_stopped, &keys, "imv_patch");
	int i, wrong = 0;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, thread);
	kthread_bind(thread, cpumask_last(cpu_online_mask));
	wake_up_process(thread);
	for (i = 0; i < 50 || !READ_ONCE(keys.toggles); i++) {
		imv_set(imv_flag, true);
		wrong += count_true() != NR_SITES;
		imv_set(imv_flag, false);
		wrong += count_true() != 0;
		cond_resched();
	}
	kthread_stop(thread);
	KUNIT_EXPECT_EQ(test, wrong, 0);
	KUNIT_EXPECT_EQ(test, keys.wrong, 0UL);
}

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
#endif /* CONFIG_IMMEDIATE */

/* These architectures discard such text before references to it are resolved. */
#if defined(CONFIG_ARC) || defined(CONFIG_CSKY) || defined(CONFIG_XTENSA)
#define NO_EXIT_TEXT
#endif

#if !defined(MODULE) && !defined(NO_EXIT_TEXT)
static noinline __used bool __exit branch_on_exit(void)
{
	return imv_unlikely(imv_flag);
}

/* Text that is never executed is not patched, and not reserved. */
static void __ref imv_test_exit_text(struct kunit *test)
{
	u8 *text = (u8 *)branch_on_exit;

	KUNIT_EXPECT_FALSE(test, imv_text_reserved(text, text + 7));
}
#endif

static struct kunit_case imv_patch_test_cases[] = {
#if defined(CONFIG_IMMEDIATE) && defined(CONFIG_KPROBES)
	KUNIT_CASE(imv_test_many_sites),
	KUNIT_CASE(imv_test_spread_sites),
	KUNIT_CASE(imv_test_no_memory),
#endif
	KUNIT_CASE(imv_test_reserved),
#ifdef CONFIG_KPROBES
	KUNIT_CASE(imv_test_kprobe_refused),
#endif
#ifdef HAS_OPTIMISED_KPROBES
	KUNIT_CASE(imv_test_kprobe_over_target),
#endif
#ifdef CONFIG_IMMEDIATE
	KUNIT_CASE(imv_test_forms),
	KUNIT_CASE(imv_test_beside_jump_label),
	KUNIT_CASE(imv_test_emulate),
#endif
#if !defined(MODULE) && !defined(NO_EXIT_TEXT)
	KUNIT_CASE(imv_test_exit_text),
#endif
	{ }
};

static struct kunit_suite imv_patch_test_suite = {
	.name = "immediate_patch",
	.test_cases = imv_patch_test_cases,
};
kunit_test_suite(imv_patch_test_suite);

MODULE_DESCRIPTION("KUnit tests of patching the sites of immediate values");
MODULE_LICENSE("GPL");
