// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the memory for generated code: its permissions, when it is freed, and
 * what stack traces and perf show of it. The functions are not exported; pieces are made
 * that nothing calls.
 */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/generated-text.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/uaccess.h>

#include <asm/text-patching.h>

#include "test_fail_alloc.h"
#include "test_memory.h"
#include "test_symbol.h"

static struct {
	typeof(&generate_text) generate;
	typeof(&free_generated_text) free;
	typeof(&flush_generated_text) flush;
	typeof(&generated_text_depth) depth;
	typeof(&is_generated_text) is_generated;
	typeof(&kernel_text_address) is_text;
} core;

static int text_test_init(struct kunit *test)
{
	core.generate = need_function(test, "generate_text");
	core.free = need_function(test, "free_generated_text");
	core.flush = need_function(test, "flush_generated_text");
	core.depth = need_function(test, "generated_text_depth");
	core.is_generated = need_function(test, "is_generated_text");
	core.is_text = need_function(test, "kernel_text_address");
	return 0;
}

/* The code of a piece is zeros. */
struct piece {
	unsigned int size;
	bool too_far;
	unsigned int nr_depths;		/* changes of the depth, at the offsets 2, 5, 8, ... */
};

static unsigned long piece_address;	/* of the last piece that was written */

static void write_piece(struct text_writer *w, const void *arg)
{
	const struct piece *piece = arg;
	unsigned int i;

	for (i = 0; i < piece->nr_depths; i++)
		w->depths[w->nr_depths++] = (struct generated_depth){ 3 * i + 2, i + 1 };
	if (w->buffer) {
		memset(w->buffer, 0, piece->size);
		w->too_far = piece->too_far;
		piece_address = w->text;
	}
	w->size += piece->size;
}

static int make_piece(const struct piece *piece, struct generated_text *text)
{
	return core.generate(GENERATED_FTRACE, "kunit", write_piece, piece, text);
}

static void make_text(struct kunit *test, unsigned int size, struct generated_text *text)
{
	struct piece piece = { .size = size };

	KUNIT_ASSERT_EQ(test, make_piece(&piece, text), 0);
	KUNIT_EXPECT_EQ(test, text->size, size);
}

static unsigned long address_of(const struct generated_text *text)
{
	return (unsigned long)text->text;
}

static bool is_live(unsigned long addr)
{
	return core.is_generated(GENERATED_FTRACE, addr);
}

static int depth_at(unsigned long addr)
{
	int depth;

	preempt_disable();
	depth = core.depth(addr);
	preempt_enable();
	return depth;
}

/* The memory is unmapped, or has breakpoints, unless something else uses it again. */
static bool is_freed(const struct generated_text *text)
{
	u8 bytes[64];

	return !is_live(address_of(text)) &&
	       (copy_from_kernel_nofault(bytes, text->text, sizeof(bytes)) ||
		memchr_inv(bytes, 0, sizeof(bytes)));
}

/* Instructions have the depth of the last change, and nothing else has a depth. */
static void text_test_depths(struct kunit *test)
{
	struct piece piece = { .size = 100, .nr_depths = GENERATED_MAX_DEPTHS };
	struct generated_text text;
	unsigned int at, wrong = 0;

	KUNIT_ASSERT_EQ(test, make_piece(&piece, &text), 0);
	for (at = 0; at < text.size; at++)
		wrong += depth_at(address_of(&text) + at) !=
			 (at < 2 ? 0 : min_t(int, (at - 2) / 3 + 1, GENERATED_MAX_DEPTHS));
	KUNIT_EXPECT_EQ(test, wrong, 0U);
	KUNIT_EXPECT_EQ(test, depth_at(address_of(&text) - 1), -1);
	KUNIT_EXPECT_EQ(test, depth_at(address_of(&text) + text.size + 1), -1);
	KUNIT_EXPECT_EQ(test, depth_at((unsigned long)core.generate), -1);
	core.free(&text);
	core.flush();
	KUNIT_EXPECT_EQ(test, depth_at(address_of(&text)), -1);
}

static bool is_read_only_code(unsigned long addr)
{
	unsigned int level;
	pte_t *pte = lookup_address(addr, &level);

	return pte && pte_present(*pte) && !(pte_flags(*pte) & (_PAGE_RW | _PAGE_NX));
}

/* Pieces of all sizes do not overlap, and are code of their kind, and not writable. */
static void text_test_memory(struct kunit *test)
{
	static const unsigned int sizes[] = { 1, 56, 57, 5000, GENERATED_MAX_SIZE };
	struct piece too_large = { .size = GENERATED_MAX_SIZE + 1 };
	struct generated_text texts[ARRAY_SIZE(sizes)];
	unsigned int i, j, overlaps = 0;
	unsigned long first, last;

	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		make_text(test, sizes[i], &texts[i]);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		first = address_of(&texts[i]);
		last = first + sizes[i] - 1;
		KUNIT_EXPECT_NULL(test, memchr_inv(texts[i].text, 0, sizes[i]));
		KUNIT_EXPECT_TRUE(test, is_read_only_code(first) && is_read_only_code(last));
		KUNIT_EXPECT_TRUE(test, is_live(first) && is_live(last) && core.is_text(first));
		KUNIT_EXPECT_FALSE(test, core.is_generated(GENERATED_TRACEPOINT, first));
		for (j = 0; j < i; j++)
			overlaps += address_of(&texts[j]) <= last &&
				    first < address_of(&texts[j]) + sizes[j];
	}
	KUNIT_EXPECT_EQ(test, overlaps, 0U);
	KUNIT_EXPECT_EQ(test, make_piece(&too_large, &texts[0]), -ENOMEM);
	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		core.free(&texts[i]);
	core.flush();
	KUNIT_EXPECT_TRUE(test, is_freed(&texts[3]));
}

/* A piece whose targets are too far is not made, and its memory is freed. */
static void text_test_too_far(struct kunit *test)
{
	struct piece piece = { .size = 64, .too_far = true };
	struct generated_text text = { };

	KUNIT_EXPECT_EQ(test, make_piece(&piece, &text), -ERANGE);
	KUNIT_EXPECT_NULL(test, text.text);
	text = (struct generated_text){ (u8 *)piece_address, piece.size };
	KUNIT_EXPECT_TRUE(test, is_freed(&text));
}

/* If an allocation fails, there is no piece, and nothing is lost. */
static void text_test_no_memory(struct kunit *test)
{
	struct piece piece = { .size = 200 };
	struct generated_text text, other;
	int nth, ret;

	need_failing_alloc(test);
	/* The allocator keeps a large page, and its data, while one piece is in it. */
	make_text(test, 1, &other);
	need_tracking(test);
	for (nth = 1; nth < 10; nth++) {
		forget_memory();
		fail_nth_alloc(nth);
		ret = make_piece(&piece, &text);
		stop_failing();
		if (!ret)
			core.free(&text);
		core.flush();
		expect_none_held(test);
		if (!ret)
			break;
		KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
	}
	KUNIT_EXPECT_GT(test, nth, 2);
	stop_tracking();
	core.free(&other);
}

static int run_without_sleep(void *running)
{
	WRITE_ONCE(*(bool *)running, true);
	while (!kthread_should_stop())
		cpu_relax();
	return 0;
}

/* A piece and its name stay while a task may be preempted in the piece. */
static void text_test_grace(struct kunit *test)
{
	struct task_struct *thread;
	struct generated_text text;
	bool running = false;

	if (!IS_ENABLED(CONFIG_PREEMPTION))
		kunit_skip(test, "tasks are preempted only with CONFIG_PREEMPTION");
	make_text(test, 64, &text);
	thread = kthread_run(run_without_sleep, &running, "kunit");
	KUNIT_ASSERT_FALSE(test, IS_ERR(thread));
	while (!READ_ONCE(running))
		msleep(20);
	core.free(&text);
	msleep(500);
	KUNIT_EXPECT_TRUE(test, is_live(address_of(&text)));
	KUNIT_EXPECT_NULL(test, memchr_inv(text.text, 0, 64));
	kthread_stop(thread);
	core.flush();
	KUNIT_EXPECT_TRUE(test, is_freed(&text));
}

/* Stack traces have names of pieces. */
static void text_test_name(struct kunit *test)
{
	struct generated_text texts[2];
	char name[KSYM_SYMBOL_LEN];

	make_text(test, 64, &texts[0]);
	make_text(test, 100, &texts[1]);
	sprint_symbol(name, address_of(&texts[0]));
	KUNIT_EXPECT_STREQ(test, name, "ftrace_set_kunit+0x0/0x40");
	sprint_symbol(name, address_of(&texts[1]) + 99);
	KUNIT_EXPECT_STREQ(test, name, "ftrace_set_kunit+0x63/0x64");
	core.free(&texts[0]);
	core.free(&texts[1]);
	core.flush();
	sprint_symbol(name, address_of(&texts[1]));
	KUNIT_EXPECT_NE_MSG(test, strncmp(name, "ftrace_set_kunit", 16), 0, "%s", name);
}

/* What perf is told about the pieces of this size. */
#define TOLD_SIZE	1234

static struct {
	struct kprobe symbol, poke;
	unsigned int nr;
	char calls[9];
} told;

/* Upper case: a piece is freed. */
static int note_told(struct kprobe *kp, struct pt_regs *regs)
{
	bool poke = kp == &told.poke, gone = poke ? regs->dx : (u8)regs->cx;

	if ((poke ? regs->dx + regs->r8 : (u32)regs->dx) != TOLD_SIZE)
		return 0;
	if (told.nr < ARRAY_SIZE(told.calls) - 1)
		told.calls[told.nr++] = poke ? (gone ? 'P' : 'p') : gone ? 'S' : 's';
	return 0;
}

/* perf gets the code while it knows the name. */
static void text_test_perf(struct kunit *test)
{
	struct kprobe *probes[] = { &told.symbol, &told.poke };
	struct generated_text text;

	memset(&told, 0, sizeof(told));
	told.symbol.symbol_name = "perf_event_ksymbol";
	told.symbol.pre_handler = note_told;
	told.poke.symbol_name = "perf_event_text_poke";
	told.poke.pre_handler = note_told;
	KUNIT_ASSERT_EQ(test, register_kprobes(probes, 2), 0);
	make_text(test, TOLD_SIZE, &text);
	core.free(&text);
	core.flush();
	unregister_kprobes(probes, 2);
	KUNIT_EXPECT_STREQ(test, told.calls, "spPS");
}

static struct kunit_case text_test_cases[] = {
	KUNIT_CASE(text_test_depths),
	KUNIT_CASE(text_test_memory),
	KUNIT_CASE(text_test_too_far),
	KUNIT_CASE(text_test_no_memory),
	KUNIT_CASE(text_test_grace),
	KUNIT_CASE(text_test_name),
	KUNIT_CASE(text_test_perf),
	{ }
};

static struct kunit_suite text_test_suite = {
	.name = "generated_text",
	.init = text_test_init,
	.test_cases = text_test_cases,
};
kunit_test_suite(text_test_suite);

MODULE_DESCRIPTION("KUnit tests of the memory for generated code");
MODULE_LICENSE("GPL");
