/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TEST_IMMEDIATE_H
#define _TEST_IMMEDIATE_H

/* Shared by the KUnit tests of immediate values. */
#include <kunit/test.h>
#include <linux/immediate-backend.h>

#include "test_call.h"
#include "test_symbol.h"

/* A function of the kernel that is not exported; a test may be a module. */
#ifdef MODULE
#define NEED(test, function) ((typeof(function) *)need_function(test, #function))
#else
#define NEED(test, function) (function)
#endif

/* In another task, @call waits for the end of a batch of this one. */
static inline void expect_waits_for_batch(struct kunit *test, void (*call)(void))
{
	struct other_call other = { .call = call };

	imv_batch_begin();
	start_call(&other);
	imv_batch_commit();
	end_call(&other);
	KUNIT_EXPECT_TRUE(test, other.waited);
	KUNIT_EXPECT_TRUE(test, other.ended);
}

#ifdef CONFIG_IMMEDIATE
#include <asm/nops.h>
#include <asm/text-patching.h>

/* A site that is never executed: its record, its text and its variable. */
static struct fake {
	struct imv_site site;
	u8 far[64];		/* keeps distances to jump targets above IMV_INSN_MAX */
	u8 text[16];
	u8 target[256];
	u64 var;
} fake;

/* @target is the relative target of a jump, or the size of a data site. */
static inline void make_fake(unsigned int flags, s32 target, u64 value, const u8 *text,
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
static inline void make_fake_jump(unsigned int flags, unsigned int distance, u64 value,
				  const u8 *text, unsigned int size)
{
	void *target = fake.text + JMP8_INSN_SIZE + distance;

	make_fake(flags, target - (void *)&fake.site.target, value, text, size);
}

static inline void expect_text(struct kunit *test, const u8 *text, unsigned int size)
{
	KUNIT_EXPECT_EQ_MSG(test, memcmp(fake.text, text, size), 0, "%*ph", size,
			    fake.text);
	KUNIT_EXPECT_EQ(test, fake.text[size], INT3_INSN_OPCODE);
}
#endif

#endif /* _TEST_IMMEDIATE_H */
