// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the memory for generated code, its names, and what perf is told about
 * it. These functions are not exported; pieces are made that nothing calls.
 */
#include <kunit/test.h>
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/generated-text.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/umh.h>
#include <linux/vmalloc.h>

#include <asm/text-patching.h>

#include "test_fail_alloc.h"
#include "test_memory.h"
#include "test_symbol.h"

/* Memory for pieces is allocated in chunks, so many of each kind. */
#define TEXT_CHUNK	(16 * PAGE_SIZE)
#define TEXT_CHUNKS	16

/* The size of the header before a piece. */
#define TEXT_HEADER(nr_depths)	(4 + 4 * (nr_depths))

static struct {
	typeof(&generate_text) generate;
	typeof(&free_generated_text) free;
	typeof(&trim_generated_text) trim;
	typeof(&generated_text_poke) overwrite;
	typeof(&generated_text_depth) depth;
	typeof(&is_generated_text) is_generated;
	typeof(&is_generated_text_of) is_of;
	typeof(&name_generated_text) name;
	typeof(&unname_generated_text) unname;
	typeof(&generated_text_lookup) lookup;
	typeof(&generated_text_get_kallsym) get_kallsym;
} core;

static const struct { const char *name; void *function; } text_functions[] = {
	{ "generate_text", &core.generate },
	{ "free_generated_text", &core.free },
	{ "trim_generated_text", &core.trim },
	{ "generated_text_poke", &core.overwrite },
	{ "generated_text_depth", &core.depth },
	{ "is_generated_text", &core.is_generated },
	{ "is_generated_text_of", &core.is_of },
	{ "name_generated_text", &core.name },
	{ "unname_generated_text", &core.unname },
	{ "generated_text_lookup", &core.lookup },
	{ "generated_text_get_kallsym", &core.get_kallsym },
};

static void need_text_functions(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(text_functions); i++) {
		void **function = text_functions[i].function;

		if (!*function)
			*function = need_function(test, text_functions[i].name);
	}
}

/* The code of a piece is zeros. */
struct piece {
	unsigned int size;
	unsigned int nr_depths;
	const struct generated_depth *depths;
	bool too_far;
};

static unsigned long piece_address;	/* of the last piece that was written */

static void write_piece(struct text_writer *w, const void *arg)
{
	const struct piece *piece = arg;
	unsigned int i;

	for (i = 0; i < piece->nr_depths; i++)
		w->depths[w->nr_depths++] = piece->depths[i];
	if (w->buffer) {
		memset(w->buffer, 0, piece->size);
		w->too_far = piece->too_far;
		piece_address = w->text;
	}
	w->size += piece->size;
}

static int make_piece(const struct piece *piece, struct generated_text *text)
{
	return core.generate(GENERATED_FTRACE, write_piece, piece, text);
}

/* Makes a piece that occupies @size bytes, with its header. */
static int make_text(enum generated_text_kind kind, unsigned int size,
		     struct generated_text *text)
{
	struct piece piece = { .size = size - TEXT_HEADER(0) };

	return core.generate(kind, write_piece, &piece, text);
}

/* A new chunk is needed for it. */
static int make_full_chunk(struct generated_text *text)
{
	return make_text(GENERATED_FTRACE, TEXT_CHUNK - 1, text);
}

static unsigned long address_of(const struct generated_text *text)
{
	return (unsigned long)text->text;
}

/* Frees unused chunks, except the first one, which has the piece @kept afterwards. */
static void keep_first_chunk(struct kunit *test, struct generated_text *kept)
{
	KUNIT_ASSERT_EQ(test, make_text(GENERATED_FTRACE, 64, kept), 0);
	core.trim();
	KUNIT_EXPECT_TRUE(test, core.is_of(GENERATED_FTRACE, address_of(kept)));
}

static int depth_at(unsigned long addr)
{
	int depth;

	preempt_disable();
	depth = core.depth(addr);
	preempt_enable();
	return depth;
}

static bool is_mapped(unsigned long addr)
{
	u8 byte;

	return !copy_from_kernel_nofault(&byte, (const void *)addr, 1);
}

static void expect_freed_chunk(struct kunit *test, unsigned long addr)
{
	KUNIT_EXPECT_FALSE(test, core.is_generated(addr));
	KUNIT_EXPECT_FALSE(test, is_mapped(addr));
}

/* Changes of the depth are at the offsets 2, 5, 8, ... */
static unsigned int count_wrong_depths(const struct generated_text *text, int nr)
{
	unsigned int offset, wrong = 0;
	int depth;

	for (offset = 0; offset < text->size; offset++) {
		depth = offset < 2 ? 0 : min_t(int, (offset - 2) / 3 + 1, nr);
		wrong += depth_at(address_of(text) + offset) != depth;
	}
	return wrong;
}

static void expect_depths(struct kunit *test, unsigned int nr)
{
	const u16 too_many = GENERATED_MAX_DEPTHS + 1;
	struct generated_depth depths[GENERATED_MAX_DEPTHS];
	struct piece piece = { .nr_depths = nr, .depths = depths };
	struct generated_text text = { };
	unsigned long end;
	unsigned int i;
	u8 *header;

	for (i = 0; i < nr; i++)
		depths[i] = (struct generated_depth){ 3 * i + 2, i + 1 };
	piece.size = 125 - TEXT_HEADER(nr);	/* ends in the middle of a slot */
	KUNIT_ASSERT_EQ(test, make_piece(&piece, &text), 0);
	header = text.text - TEXT_HEADER(nr);
	end = address_of(&text) + text.size;
	KUNIT_EXPECT_EQ(test, text.size, piece.size);
	KUNIT_EXPECT_EQ(test, count_wrong_depths(&text, nr), 0U);
	KUNIT_EXPECT_EQ(test, depth_at(address_of(&text) - 1), GENERATED_NO_TEXT);
	KUNIT_EXPECT_EQ(test, depth_at(end), GENERATED_NO_TEXT);

	core.overwrite(header + sizeof(u16), (const u8 *)&too_many, sizeof(too_many));
	KUNIT_EXPECT_EQ(test, depth_at(end - 1), GENERATED_NO_TEXT);
	core.free(&text);
	KUNIT_EXPECT_EQ(test, depth_at(address_of(&text)), GENERATED_NO_TEXT);
	KUNIT_EXPECT_NULL(test, memchr_inv(header, INT3_INSN_OPCODE,
					   TEXT_HEADER(nr) + text.size));
}

/* Instructions have the depth of the last change, and nothing else has a depth. */
static void text_test_depths(struct kunit *test)
{
	need_text_functions(test);
	expect_depths(test, 0);
	expect_depths(test, 1);
	expect_depths(test, GENERATED_MAX_DEPTHS);
}

static bool is_read_only_code(unsigned long addr)
{
	unsigned int level;
	pte_t *pte = lookup_address(addr, &level);

	return pte && pte_present(*pte) && !(pte_flags(*pte) & (_PAGE_RW | _PAGE_NX));
}

/*
 * The piece at @addr occupies a chunk but for one byte, which is a breakpoint. No more
 * memory than that of the chunk is there.
 */
static void expect_full_chunk(struct kunit *test, unsigned long addr)
{
	unsigned long begin = addr - TEXT_HEADER(0), last = begin + TEXT_CHUNK - 1;
	unsigned int i, wrong = 0;

	KUNIT_EXPECT_TRUE(test, core.is_of(GENERATED_FTRACE, begin));
	KUNIT_EXPECT_TRUE(test, core.is_of(GENERATED_FTRACE, last));
	KUNIT_EXPECT_FALSE(test, core.is_of(GENERATED_TRACEPOINT, begin));
	KUNIT_EXPECT_EQ(test, depth_at(addr), 0);
	KUNIT_EXPECT_EQ(test, depth_at(last - 1), 0);
	KUNIT_EXPECT_EQ(test, depth_at(last), GENERATED_NO_TEXT);
	KUNIT_EXPECT_EQ(test, *(const u8 *)last, INT3_INSN_OPCODE);
	KUNIT_EXPECT_FALSE(test, is_mapped(last + 1));
	for (i = 0; i < TEXT_CHUNK / PAGE_SIZE; i++)
		wrong += !is_read_only_code(begin + i * PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, wrong, 0U);
}

/* Behind each chunk is a guard page, so other addresses are between two of them. */
static void expect_gap(struct kunit *test, unsigned long one, unsigned long other)
{
	unsigned long below = min(one, other) - TEXT_HEADER(0) + TEXT_CHUNK;
	unsigned long above = max(one, other) - TEXT_HEADER(0) - 1;

	KUNIT_EXPECT_FALSE(test, core.is_generated(below));
	KUNIT_EXPECT_FALSE(test, core.is_generated(above));
	KUNIT_EXPECT_EQ(test, depth_at(below), GENERATED_NO_TEXT);
	KUNIT_EXPECT_EQ(test, depth_at(above), GENERATED_NO_TEXT);
}

/* The largest pieces get their own chunks, which are freed with them. */
static void text_test_chunks(struct kunit *test)
{
	struct generated_text kept = { }, texts[2] = { };
	unsigned int i;

	need_text_functions(test);
	keep_first_chunk(test, &kept);
	KUNIT_EXPECT_EQ(test, make_text(GENERATED_FTRACE, TEXT_CHUNK, texts), -ENOMEM);
	for (i = 0; i < 2; i++) {
		KUNIT_EXPECT_EQ(test, make_full_chunk(&texts[i]), 0);
		if (texts[i].text)
			expect_full_chunk(test, address_of(&texts[i]));
	}
	if (texts[0].text && texts[1].text)
		expect_gap(test, address_of(&texts[0]), address_of(&texts[1]));
	for (i = 0; i < 2; i++)
		if (texts[i].text)
			core.free(&texts[i]);
	core.trim();
	core.trim();
	for (i = 0; i < 2; i++)
		expect_freed_chunk(test, address_of(&texts[i]));
	KUNIT_EXPECT_TRUE(test, core.is_of(GENERATED_FTRACE, address_of(&kept)));
	core.free(&kept);
}

/* Each chunk has exactly one address of these. */
static unsigned int count_chunks(enum generated_text_kind kind)
{
	unsigned long addr;
	unsigned int nr = 0;

	for (addr = MODULES_VADDR; addr < MODULES_END; addr += TEXT_CHUNK)
		nr += core.is_of(kind, addr);
	return nr;
}

/* Makes pieces of more than half a chunk until that fails. Return: how it failed. */
static int fill_chunks(struct generated_text *texts, unsigned int max, unsigned int *nr)
{
	int ret = 0;

	while (*nr < max) {
		ret = make_text(GENERATED_FTRACE, TEXT_CHUNK / 2 + 1, &texts[*nr]);
		if (ret)
			break;
		++*nr;
	}
	return ret;
}

/* A kind of code has its own number of chunks. */
static void text_test_limit(struct kunit *test)
{
	const unsigned int max = 2 * TEXT_CHUNKS;
	unsigned int i, tries, nr = 0, nr_chunks = 0;
	struct generated_text *texts, other = { };

	texts = kunit_kcalloc(test, max, sizeof(*texts), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, texts);
	need_text_functions(test);
	/* Repeat it if a chunk with code of earlier tests was freed meanwhile. */
	for (tries = 0; tries < 3 && nr_chunks < TEXT_CHUNKS; tries++) {
		KUNIT_EXPECT_EQ(test, fill_chunks(texts, max, &nr), -ENOMEM);
		nr_chunks = count_chunks(GENERATED_FTRACE);
	}
	KUNIT_EXPECT_EQ(test, nr_chunks, TEXT_CHUNKS);
	KUNIT_EXPECT_EQ(test, make_text(GENERATED_TRACEPOINT, TEXT_CHUNK - 1, &other), 0);
	KUNIT_EXPECT_TRUE(test, core.is_of(GENERATED_TRACEPOINT, address_of(&other)));
	if (other.text)
		core.free(&other);
	for (i = 0; i < nr; i++)
		core.free(&texts[i]);
	core.trim();
	if (nr)
		expect_freed_chunk(test, address_of(&texts[nr - 1]));
}

/* A piece whose targets are too far is not made, and its memory is unused again. */
static void text_test_too_far(struct kunit *test)
{
	struct piece piece = { TEXT_CHUNK - 1 - TEXT_HEADER(0), .too_far = true };
	struct generated_text kept = { }, text = { };

	need_text_functions(test);
	keep_first_chunk(test, &kept);
	KUNIT_EXPECT_EQ(test, make_piece(&piece, &text), -ERANGE);
	KUNIT_EXPECT_NULL(test, text.text);
	KUNIT_EXPECT_EQ(test, depth_at(piece_address), GENERATED_NO_TEXT);
	core.trim();
	expect_freed_chunk(test, piece_address);
	core.free(&kept);
}

/* Makes a piece, if that does not fail, and frees it. Memory must not be lost. */
static int make_and_free(struct kunit *test, unsigned int size, void **more)
{
	struct generated_text text = { };
	int ret;

	forget_memory();
	ret = make_text(GENERATED_FTRACE, size, &text);
	stop_failing();
	if (!ret)
		core.free(&text);
	if (more) {
		vfree(*more);
		*more = NULL;
	}
	core.trim();
	pause_tracking();
	expect_none_held(test);
	if (ret)
		KUNIT_EXPECT_NULL(test, text.text);
	return ret;
}

/* Replaces the value that a function returns to a task. */
static struct {
	struct task_struct *task;
	unsigned long instead;
	void *returned;
} forced;

static int force_return(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	if (current == forced.task) {
		forced.returned = (void *)regs_return_value(regs);
		regs_set_return_value(regs, forced.instead);
	}
	return 0;
}

/* Return: false if there is no such function. */
static bool make_without(struct kunit *test, const char *function, int instead)
{
	static struct kretprobe probe;
	int ret;

	probe = (struct kretprobe){ .kp.symbol_name = function, .handler = force_return };
	if (register_kretprobe(&probe))
		return false;
	forced.instead = (long)instead;
	forced.returned = NULL;
	piece_address = 0;
	forced.task = current;
	ret = make_and_free(test, TEXT_CHUNK - 1, instead ? NULL : &forced.returned);
	forced.task = NULL;
	unregister_kretprobe(&probe);
	KUNIT_EXPECT_EQ_MSG(test, ret, -ENOMEM, "%s", function);
	KUNIT_EXPECT_EQ(test, piece_address, 0UL);
	return true;
}

/* If there is no memory for a chunk, or it cannot be protected, nothing is lost. */
static void text_test_no_memory(struct kunit *test)
{
	struct generated_text kept = { };
	int nth;

	need_failing_alloc(test);
	need_text_functions(test);
	keep_first_chunk(test, &kept);
	KUNIT_EXPECT_EQ(test, start_tracking(), 0);
	KUNIT_EXPECT_EQ(test, make_and_free(test, 200, NULL), 0);
	KUNIT_EXPECT_EQ(test, make_and_free(test, TEXT_CHUNK - 1, NULL), 0);
	/* If the first allocation can fail, it is repeated. More print a warning. */
	for (nth = 1; nth <= 2; nth++) {
		fail_nth_alloc(nth);
		if (make_and_free(test, TEXT_CHUNK - 1, NULL) == -ENOMEM)
			break;
	}
	KUNIT_EXPECT_LE(test, nth, 2);
	if (!make_without(test, "module_alloc", 0))
		KUNIT_EXPECT_TRUE(test, make_without(test, "execmem_alloc", 0));
	KUNIT_EXPECT_TRUE(test, make_without(test, "set_memory_ro", -ENOMEM));
	KUNIT_EXPECT_TRUE(test, make_without(test, "set_memory_x", -ENOMEM));
	KUNIT_EXPECT_EQ(test, make_and_free(test, TEXT_CHUNK - 1, NULL), 0);
	stop_tracking();
	core.free(&kept);
}

/* What a task does in the functions. */
static struct {
	struct task_struct *task;
	unsigned int waits, unlocks, not_locked;
} seen;

static int see_unlock(struct kprobe *kp, struct pt_regs *regs)
{
	if (in_task() && current == READ_ONCE(seen.task)) {
		seen.unlocks++;
		seen.not_locked += !mutex_is_locked((struct mutex *)regs->di);
	}
	return 0;
}

static int see_wait(struct kprobe *kp, struct pt_regs *regs)
{
	if (in_task() && current == READ_ONCE(seen.task))
		seen.waits++;
	return 0;
}

static unsigned int waits_of_trim(void)
{
	seen.waits = 0;
	core.trim();
	return seen.waits;
}

/* Return: false if another task freed memory meanwhile. */
static bool waits_if_needed(struct kunit *test)
{
	struct generated_text text = { };
	unsigned int unneeded, needed;

	core.trim();
	unneeded = waits_of_trim();
	KUNIT_EXPECT_EQ(test, make_full_chunk(&text), 0);
	if (text.text)
		core.free(&text);
	needed = waits_of_trim();
	return !unneeded && needed;
}

/* Mutexes are held where they are unlocked, and only freeing a chunk waits. */
static void text_test_locks(struct kunit *test)
{
	static struct kprobe unlock, wait;
	struct kprobe *probes[] = { &unlock, &wait };
	struct generated_text kept = { };
	bool right = false;
	unsigned int tries;
	int ret;

	need_text_functions(test);
	keep_first_chunk(test, &kept);
	unlock = (struct kprobe){ .symbol_name = "mutex_unlock" };
	unlock.pre_handler = see_unlock;
	wait = (struct kprobe){ .symbol_name = "synchronize_rcu" };
	wait.pre_handler = see_wait;
	ret = register_kprobes(probes, 2);
	KUNIT_EXPECT_EQ(test, ret, 0);
	if (!ret) {
		seen.unlocks = 0;
		seen.not_locked = 0;
		WRITE_ONCE(seen.task, current);
		/* A work item may free what other cases left. */
		for (tries = 0; tries < 20 && !right; tries++) {
			msleep(tries ? 100 : 0);
			right = waits_if_needed(test);
		}
		KUNIT_EXPECT_EQ(test, core.name(&kept, GENERATED_FTRACE, "kunit"), 0);
		if (kept.name)
			core.unname(&kept);
		WRITE_ONCE(seen.task, NULL);
		unregister_kprobes(probes, 2);
		KUNIT_EXPECT_TRUE(test, right);
		KUNIT_EXPECT_GT(test, seen.unlocks, 10U);
		KUNIT_EXPECT_EQ(test, seen.not_locked, 0U);
	}
	core.free(&kept);
}

static void expect_name(struct kunit *test, unsigned long addr, const char *name,
			unsigned long at)
{
	char found[KSYM_NAME_LEN] = "", *module = "";
	unsigned long size = 0, offset = 0;

	KUNIT_EXPECT_PTR_EQ(test, core.lookup(addr, &size, &offset, &module, found),
			    (const char *)found);
	KUNIT_EXPECT_STREQ(test, found, name);
	KUNIT_EXPECT_STREQ(test, module, "__builtin__ftrace");
	KUNIT_EXPECT_EQ(test, size, 50UL);
	KUNIT_EXPECT_EQ(test, offset, at);
	*found = 0;
	KUNIT_EXPECT_PTR_EQ(test, core.lookup(addr, NULL, NULL, NULL, found),
			    (const char *)found);
	KUNIT_EXPECT_STREQ(test, found, name);
}

struct symbol {
	unsigned long value;
	char type, module[MODULE_NAME_LEN];
	int exported;
};

/* Finds the symbol at @addr in the list for /proc/kallsyms. Return: is there one? */
static bool get_symbol(unsigned long addr, struct symbol *symbol, char *name)
{
	unsigned int nr;

	for (nr = 0; ; nr++) {
		*symbol = (struct symbol){ .exported = -1 };
		if (core.get_kallsym(nr, &symbol->value, &symbol->type, name,
				     symbol->module, &symbol->exported))
			return false;
		if (symbol->value == addr)
			return true;
	}
}

static void expect_symbol_of(struct kunit *test, unsigned long addr, const char *wanted)
{
	char name[KSYM_NAME_LEN] = "";
	struct symbol symbol;

	KUNIT_EXPECT_TRUE_MSG(test, get_symbol(addr, &symbol, name), "%s", wanted);
	KUNIT_EXPECT_EQ(test, symbol.type, 't');
	KUNIT_EXPECT_EQ(test, symbol.exported, 0);
	KUNIT_EXPECT_STREQ(test, symbol.module, "__builtin__ftrace");
	KUNIT_EXPECT_STREQ(test, name, wanted);
}

/* A name longer than others may be is shown in part. */
static void expect_long_name(struct kunit *test, struct generated_text *text)
{
	char *name = kunit_kzalloc(test, KSYM_NAME_LEN + 100, GFP_KERNEL);
	char *found = kunit_kzalloc(test, KSYM_NAME_LEN + 100, GFP_KERNEL);
	char *listed = kunit_kzalloc(test, KSYM_NAME_LEN + 100, GFP_KERNEL);
	struct symbol symbol;

	KUNIT_ASSERT_NOT_NULL(test, name);
	KUNIT_ASSERT_NOT_NULL(test, found);
	KUNIT_ASSERT_NOT_NULL(test, listed);
	memset(name, 'x', KSYM_NAME_LEN + 99);
	memset(found, '#', KSYM_NAME_LEN + 99);
	memset(listed, '#', KSYM_NAME_LEN + 99);
	KUNIT_ASSERT_EQ(test, core.name(text, GENERATED_FTRACE, name), 0);
	core.lookup(address_of(text), NULL, NULL, NULL, found);
	KUNIT_EXPECT_TRUE(test, get_symbol(address_of(text), &symbol, listed));
	core.unname(text);
	KUNIT_EXPECT_FALSE(test, get_symbol(address_of(text), &symbol, name));
	KUNIT_EXPECT_EQ(test, strlen(found), KSYM_NAME_LEN - 1UL);
	KUNIT_EXPECT_EQ(test, found[KSYM_NAME_LEN], '#');
	KUNIT_EXPECT_STREQ(test, listed, found);
	KUNIT_EXPECT_EQ(test, listed[KSYM_NAME_LEN], '#');
}

/* A name is that of its own bytes, with any depth of the stack, and is listed. */
static void text_test_names(struct kunit *test)
{
	static const struct generated_depth depths[] = { { 8, GENERATED_BP_PUSHED } };
	struct piece piece = { 120, ARRAY_SIZE(depths), depths };
	struct generated_text text = { }, parts[2] = { };
	char found[KSYM_NAME_LEN];
	unsigned long addr;
	unsigned int i;

	need_text_functions(test);
	KUNIT_ASSERT_EQ(test, make_piece(&piece, &text), 0);
	addr = address_of(&text);
	parts[0] = (struct generated_text){ text.text, 50 };
	parts[1] = (struct generated_text){ text.text + 50, 50 };
	KUNIT_ASSERT_EQ(test, core.name(&parts[1], GENERATED_FTRACE, "kunit_second"), 0);
	KUNIT_ASSERT_EQ(test, core.name(&parts[0], GENERATED_FTRACE, "kunit_first"), 0);
	expect_name(test, addr, "ftrace_set_kunit_first", 0);
	expect_name(test, addr + 49, "ftrace_set_kunit_first", 49);
	expect_name(test, addr + 50, "ftrace_set_kunit_second", 0);
	expect_name(test, addr + 99, "ftrace_set_kunit_second", 49);
	KUNIT_EXPECT_NULL(test, core.lookup(addr + 100, NULL, NULL, NULL, found));
	expect_symbol_of(test, addr, "ftrace_set_kunit_first");
	expect_symbol_of(test, addr + 50, "ftrace_set_kunit_second");
	for (i = 0; i < 2; i++)
		core.unname(&parts[i]);
	KUNIT_EXPECT_NULL(test, core.lookup(addr, NULL, NULL, NULL, found));
	expect_long_name(test, &text);
	core.free(&text);
}

/* What perf is told about a piece, and by which task. */
static struct {
	struct kprobe symbol, poke, free;
	struct generated_text text;
	struct perf_call {
		bool poke;
		unsigned long args[5];
		char name[24];
		struct task_struct *by;
	} calls[6];
	unsigned int nr, nr_freed;
} told;

static int note_told(struct kprobe *kp, struct pt_regs *regs)
{
	bool poke = kp == &told.poke;
	struct perf_call *call;

	if ((poke ? regs->di : regs->si) - address_of(&told.text) >= told.text.size)
		return 0;
	if (told.nr < ARRAY_SIZE(told.calls)) {
		call = &told.calls[told.nr];
		*call = (struct perf_call){ .poke = poke, .by = current };
		call->args[0] = regs->di;
		call->args[1] = regs->si;
		call->args[2] = regs->dx;
		call->args[3] = regs->cx;
		call->args[4] = regs->r8;
		if (!poke)
			strscpy(call->name, (const char *)regs->r8, sizeof(call->name));
	}
	told.nr++;
	return 0;
}

static int note_freed_name(struct kprobe *kp, struct pt_regs *regs)
{
	told.nr_freed += told.text.name && regs->di - (unsigned long)told.text.name < 64;
	return 0;
}

static void expect_symbol(struct kunit *test, const struct perf_call *call, bool gone)
{
	KUNIT_EXPECT_FALSE(test, call->poke);
	KUNIT_EXPECT_EQ(test, (int)(u16)call->args[0], (int)PERF_RECORD_KSYMBOL_TYPE_OOL);
	KUNIT_EXPECT_EQ(test, (u32)call->args[2], told.text.size);
	KUNIT_EXPECT_EQ(test, (bool)(u8)call->args[3], gone);
	KUNIT_EXPECT_STREQ(test, call->name, "ftrace_set_kunit");
}

static void expect_poke(struct kunit *test, const struct perf_call *call, bool gone)
{
	unsigned long addr = address_of(&told.text), size = told.text.size;

	KUNIT_EXPECT_TRUE(test, call->poke);
	KUNIT_EXPECT_EQ(test, call->args[1], gone ? addr : 0);
	KUNIT_EXPECT_EQ(test, call->args[2], gone ? size : 0);
	KUNIT_EXPECT_EQ(test, call->args[3], gone ? 0 : addr);
	KUNIT_EXPECT_EQ(test, call->args[4], gone ? 0 : size);
}

#define NO_CAPABILITY	(-1)

struct naming {
	int capability;		/* the only one of the task, or NO_CAPABILITY */
	struct task_struct *task;
	bool is_kthread;
	int ret;
};

static void name_and_unname(struct naming *naming)
{
	struct cred *cred = prepare_creds();
	const struct cred *old;

	naming->task = current;
	naming->is_kthread = current->flags & PF_KTHREAD;
	naming->ret = -ENOMEM;
	if (!cred)
		return;
	cap_clear(cred->cap_effective);
	if (naming->capability != NO_CAPABILITY)
		cap_raise(cred->cap_effective, naming->capability);
	old = override_creds(cred);
	naming->ret = core.name(&told.text, GENERATED_FTRACE, "kunit");
	if (!naming->ret)
		core.unname(&told.text);
	revert_creds(old);
	put_cred(cred);
}

static int name_in_user_task(struct subprocess_info *info, struct cred *new)
{
	name_and_unname(info->data);
	return -ECANCELED;	/* no program is executed */
}

static void expect_told(struct kunit *test, int capability, bool in_kthread,
			bool by_itself)
{
	static const char path[] = "/kunit";
	char *argv[] = { (char *)path, NULL };
	struct naming naming = { .capability = capability };
	struct subprocess_info *info;
	unsigned int i;

	told.nr = 0;
	told.nr_freed = 0;
	told.text.name = NULL;
	if (in_kthread) {
		name_and_unname(&naming);
	} else {
		info = call_usermodehelper_setup(path, argv, NULL, GFP_KERNEL,
						 name_in_user_task, NULL, &naming);
		KUNIT_EXPECT_NOT_NULL(test, info);
		if (info)
			call_usermodehelper_exec(info, UMH_WAIT_PROC);
	}
	KUNIT_EXPECT_NOT_NULL(test, naming.task);
	KUNIT_EXPECT_EQ(test, naming.is_kthread, in_kthread);
	KUNIT_EXPECT_EQ(test, naming.ret, 0);
	KUNIT_EXPECT_EQ(test, told.nr_freed, 1U);
	KUNIT_EXPECT_EQ(test, told.nr, 4U);
	if (told.nr != 4)
		return;
	expect_symbol(test, &told.calls[0], false);
	expect_poke(test, &told.calls[1], false);
	expect_poke(test, &told.calls[2], true);
	expect_symbol(test, &told.calls[3], true);
	for (i = 0; i < 4; i++)
		KUNIT_EXPECT_EQ(test, told.calls[i].by == naming.task, by_itself);
}

/* The length of a record of perf has 16 bits. */
static void expect_pieces(struct kunit *test)
{
	const unsigned int max = 0xffff - 128;	/* without the other fields */
	struct naming naming = { .capability = CAP_SYS_ADMIN };
	unsigned long old = 0, new = 0;
	unsigned int i;

	told.nr = 0;
	told.text.name = NULL;
	name_and_unname(&naming);
	KUNIT_EXPECT_EQ(test, naming.ret, 0);
	KUNIT_EXPECT_EQ(test, told.nr, 6U);
	for (i = 0; i < told.nr && i < ARRAY_SIZE(told.calls); i++) {
		const struct perf_call *call = &told.calls[i];

		if (!call->poke)
			continue;
		KUNIT_EXPECT_LE(test, call->args[2], max);
		KUNIT_EXPECT_LE(test, call->args[4], max);
		KUNIT_EXPECT_EQ(test, call->args[0],
				address_of(&told.text) + (call->args[2] ? old : new));
		old += call->args[2];
		new += call->args[4];
	}
	KUNIT_EXPECT_EQ(test, old, told.text.size);
	KUNIT_EXPECT_EQ(test, new, told.text.size);
}

/* Only a task whose events may have pointers tells perf itself. */
static void text_test_perf(struct kunit *test)
{
	struct kprobe *probes[] = { &told.symbol, &told.poke, &told.free };
	int ret;

	if (system_state < SYSTEM_RUNNING || !IS_ENABLED(CONFIG_PERF_EVENTS) ||
	    IS_ENABLED(CONFIG_STATIC_USERMODEHELPER))
		kunit_skip(test, "needs PERF_EVENTS and a helper task after the boot");
	need_text_functions(test);
	memset(&told, 0, sizeof(told));
	KUNIT_ASSERT_EQ(test, make_text(GENERATED_FTRACE, 200, &told.text), 0);
	told.symbol.symbol_name = "perf_event_ksymbol";
	told.symbol.pre_handler = note_told;
	told.poke.symbol_name = "perf_event_text_poke";
	told.poke.pre_handler = note_told;
	told.free.symbol_name = "kvfree_call_rcu";
	told.free.pre_handler = note_freed_name;
	ret = register_kprobes(probes, ARRAY_SIZE(probes));
	KUNIT_EXPECT_EQ(test, ret, 0);
	if (!ret) {
		expect_told(test, NO_CAPABILITY, true, true);
		expect_told(test, CAP_PERFMON, false, true);
		expect_told(test, CAP_SYS_ADMIN, false, true);
		expect_told(test, NO_CAPABILITY, false, false);
		core.free(&told.text);
		KUNIT_EXPECT_EQ(test, make_text(GENERATED_FTRACE, 65000, &told.text), 0);
		if (told.text.text)
			expect_pieces(test);
		unregister_kprobes(probes, ARRAY_SIZE(probes));
	}
	if (told.text.text)
		core.free(&told.text);
}

static struct kunit_case text_test_cases[] = {
	KUNIT_CASE(text_test_depths),
	KUNIT_CASE(text_test_chunks),
	KUNIT_CASE(text_test_limit),
	KUNIT_CASE(text_test_too_far),
	KUNIT_CASE(text_test_no_memory),
	KUNIT_CASE(text_test_locks),
	KUNIT_CASE(text_test_names),
	KUNIT_CASE(text_test_perf),
	{ }
};

static struct kunit_suite text_test_suite = {
	.name = "generated_text",
	.test_cases = text_test_cases,
};
kunit_test_suite(text_test_suite);

MODULE_DESCRIPTION("KUnit tests of the memory for generated code");
MODULE_LICENSE("GPL");
