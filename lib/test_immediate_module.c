// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the sites of modules, from loading to unloading: with modules that
 * have records, text and variables, but are not loaded.
 */
#include <linux/module.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <asm/runtime-const.h>

#include "test_immediate.h"

static DEFINE_IMV(u8, imv_u8) = 1;

/* What the module loader calls, in this order. */
static void (*coming)(struct module *mod);
static void (*live)(struct module *mod);
static void (*going)(struct module *mod);

static int imv_module_test_init(struct kunit *test)
{
	struct module *mod = kunit_kzalloc(test, sizeof(*mod), GFP_KERNEL);

	if (!mod)
		return -ENOMEM;
	coming = NEED(test, imv_module_coming);
	live = NEED(test, imv_module_live);
	going = NEED(test, imv_module_going);
	strscpy(mod->name, "kunit", sizeof(mod->name));
	mod->imv.sites = &fake.site;
	mod->imv.nr = 1;
	test->priv = mod;
	return 0;
}

static void end_module(struct module *mod)
{
	going(mod);
	synchronize_rcu();
}

static void set_init_text(struct module *mod, void *text, unsigned int size)
{
	mod->mem[MOD_INIT_TEXT].base = text;
	mod->mem[MOD_INIT_TEXT].size = size;
}

static const u8 nop2[] = { BYTES_NOP2 };
static const u8 nop3[] = { BYTES_NOP3 };
static const u8 nop5[] = { BYTES_NOP5 };
static const u8 word[] = { 0xbf, 0, 0, 0, 0 };
static const u8 upper[] = { 0x41, 0xb8, 0, 0, 0, 0 };
static const u8 jmp2[] = { JMP8_INSN_OPCODE, 0x10 };
static const u8 jmp5[] = { JMP32_INSN_OPCODE, 0x0d, 0, 0, 0 };
static const u8 far_jmp5[] = { JMP32_INSN_OPCODE, 0xfd, 0, 0, 0 };

/* What may be in the text of a jump to 0x10 or 0x100, and how much of it is used. */
static const struct {
	const u8 *text;
	u8 text_size, size;
	u16 distance;
} compiled[] = {
	{ nop2, 2, 2, 0x10 }, { jmp2, 2, 2, 0x10 }, { nop5, 5, 2, 0x10 },
	{ jmp5, 5, 2, 0x10 }, { nop5, 5, 5, 0x100 }, { far_jmp5, 5, 5, 0x100 },
};

/*
 * The code of a jump mirrors its variable, whether objtool has made the NOP or not.
 * A long jump becomes short if its target is near.
 */
static void imv_test_module_coming(struct kunit *test)
{
	unsigned int i, size, on;

	for (i = 0; i < 2 * ARRAY_SIZE(compiled); i++) {
		on = i % 2;
		size = compiled[i / 2].size;
		make_fake_jump(IMV_JUMP_NOP, compiled[i / 2].distance, on,
			       compiled[i / 2].text, compiled[i / 2].text_size);
		coming(test->priv);
		if (size == 2)
			KUNIT_EXPECT_EQ(test, memcmp(fake.text, on ? jmp2 : nop2, 2), 0);
		else
			KUNIT_EXPECT_EQ(test, memcmp(fake.text, on ? far_jmp5 : nop5, 5), 0);
		if (compiled[i / 2].text_size > size)
			KUNIT_EXPECT_EQ(test, memcmp(fake.text + 2, nop3, 3), 0);
		KUNIT_EXPECT_EQ(test, fake.text[compiled[i / 2].text_size], INT3_INSN_OPCODE);
		imv_set_var(fake.var, (u64)!on);
		KUNIT_EXPECT_EQ(test, fake.text[0],
				on ? (size == 2 ? nop2[0] : nop5[0]) :
				     (size == 2 ? jmp2[0] : far_jmp5[0]));
		end_module(test->priv);
	}
}

/* Exactly these bytes of the text of a module are reserved, also while it is patched. */
static void expect_reserved(struct kunit *test, int size)
{
	int i, trapped;

	coming(test->priv);
	for (trapped = 0; trapped < 2; trapped++) {
		for (i = -1; i < (int)sizeof(fake.text); i++)
			KUNIT_EXPECT_EQ_MSG(test,
					    imv_text_reserved(fake.text + i, fake.text + i),
					    i >= 0 && i < size, "byte %d of %d", i, size);
		fake.text[0] = INT3_INSN_OPCODE;
	}
	end_module(test->priv);
}

/* Others must not patch the bytes of a site, nor the operand after a stub's jump. */
static void imv_test_module_reserved(struct kunit *test)
{
	make_fake(2, sizeof(word), 0, word, sizeof(word));
	expect_reserved(test, sizeof(word));
	make_fake(2, sizeof(upper), 0, upper, sizeof(upper));
	expect_reserved(test, sizeof(upper));
	make_fake_jump(IMV_JUMP_NOP, 0x10, false, nop2, 2);
	expect_reserved(test, 2);
	make_fake_jump(IMV_JUMP_NOP, 0x100, false, nop5, 5);
	expect_reserved(test, 5);
	make_fake_jump(IMV_JUMP_TO, 0x10, false, jmp5, 5);
	expect_reserved(test, JMP32_INSN_SIZE + IMV_JUMP_TO_OWNER_SIZE);
}

/* An optimised kprobe is one jump over several instructions: not over a target. */
static void imv_test_module_target(struct kunit *test)
{
	const u8 *target = fake.text + JMP8_INSN_SIZE + 0x10;
	int i;

	make_fake_jump(IMV_JUMP_NOP, 0x10, false, nop2, 2);
	coming(test->priv);
	for (i = -5; i <= 1; i++)
		KUNIT_EXPECT_EQ_MSG(test, imv_text_reserved(target + i, target + i + 4),
				    i >= -4 && i < 0, "%d bytes from the target", i);
	end_module(test->priv);
	KUNIT_EXPECT_FALSE(test, imv_text_reserved(target - 1, target + 3));
}

/* When a module is loaded, values that are deferred reach all their sites. */
static void imv_test_module_deferred(struct kunit *test)
{
	const u8 new_word[] = { 0xbf, 11, 0, 0, 0 };

	make_fake(0, sizeof(word), 0, word, sizeof(word));
	fake.site.var = (void *)&imv_u8__imv - (void *)&fake.site.var;
	KUNIT_ASSERT_TRUE(test, imv_defer_begin());
	imv_set(imv_u8, 11);
	KUNIT_EXPECT_EQ(test, imv_read(imv_u8), 1);
	coming(test->priv);
	KUNIT_EXPECT_EQ(test, imv_read(imv_u8), 11);
	expect_text(test, new_word, sizeof(new_word));
	end_module(test->priv);
	imv_defer_end(true);
	imv_set(imv_u8, 1);
}

/* The text and the variables of three sites. */
struct three {
	u8 text[3][8];
	u32 vars[3];
	struct imv_site table[3];
};

/* Each record of the table has another of the three sites. */
static void make_three(struct three *three, struct imv_site *table, const u8 *order)
{
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
		KUNIT_EXPECT_TRUE(test, imv_text_reserved(three->text[n], three->text[n]));
		KUNIT_EXPECT_EQ(test, three->text[n][1], n + 1);
	}
	live(mod);
	for (n = 0; n < 3; n++) {
		KUNIT_EXPECT_FALSE(test, imv_text_reserved(three->text[n], three->text[n]));
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
	const unsigned int end = PAGE_SIZE - 3 * sizeof(struct imv_site);
	struct module *mod = test->priv;
	struct three *three;
	unsigned int i;
	void *page;

	page = vmalloc(PAGE_SIZE);
	KUNIT_ASSERT_NOT_NULL(test, page);
	three = page + PAGE_SIZE / 2;
	set_init_text(mod, three->text, sizeof(three->text));
	mod->imv.nr = 3;
	for (i = 0; i < 2 * ARRAY_SIZE(orders); i++) {
		mod->imv.sites = page + (i & 1 ? end : 0);
		make_three(three, mod->imv.sites, orders[i / 2]);
		expect_found(test, mod, three);
	}
	synchronize_rcu();
	vfree(page);
}

static void use_three(struct module *mod, struct three *three)
{
	make_three(three, three->table, (const u8[]){ 0, 1, 2 });
	mod->imv.sites = three->table;
	mod->imv.nr = ARRAY_SIZE(three->table);
}

static struct module *loaded;

static void forget_init_text(void)
{
	live(loaded);
}

/* Only the sites in the __init text of a module are forgotten, after a batch. */
static void imv_test_module_live(struct kunit *test)
{
	static struct three three;
	unsigned int i;

	use_three(test->priv, &three);
	set_init_text(test->priv, three.text[1], sizeof(three.text[1]));
	coming(test->priv);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_TRUE(test, imv_text_reserved(three.text[i], three.text[i]));
	loaded = test->priv;
	expect_waits_for_batch(test, forget_init_text);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, imv_text_reserved(three.text[i], three.text[i]), i != 1);
	end_module(test->priv);
}

static void *const_ptr = &const_ptr;
static unsigned int const_shift = 9, const_mask = 0xf0f0f0;

/* A module has runtime constants of its own, and reads those of the kernel. */
static void imv_test_runtime_const(struct kunit *test)
{
	unsigned long high = ~0UL;

	KUNIT_EXPECT_PTR_EQ(test, runtime_const_ptr(const_ptr), (void *)&const_ptr);
	KUNIT_EXPECT_EQ(test, runtime_const_shift_right_32(high, const_shift), U32_MAX >> 9);
	KUNIT_EXPECT_EQ(test, runtime_const_mask_32(high, const_mask), 0xf0f0f0);
	KUNIT_EXPECT_TRUE(test, access_ok((void __user *)PAGE_SIZE, 1));
	KUNIT_EXPECT_FALSE(test, access_ok((void __user *)test, 1));
}

static struct kunit_case imv_module_test_cases[] = {
	KUNIT_CASE(imv_test_module_coming),
	KUNIT_CASE(imv_test_module_reserved),
	KUNIT_CASE(imv_test_module_target),
	KUNIT_CASE(imv_test_module_deferred),
	KUNIT_CASE(imv_test_module_order),
	KUNIT_CASE(imv_test_module_live),
	KUNIT_CASE(imv_test_runtime_const),
	{ }
};

static struct kunit_suite imv_module_test_suite = {
	.name = "immediate_module",
	.init = imv_module_test_init,
	.test_cases = imv_module_test_cases,
};
kunit_test_suite(imv_module_test_suite);

MODULE_DESCRIPTION("KUnit tests of the immediate values of modules");
MODULE_LICENSE("GPL");
