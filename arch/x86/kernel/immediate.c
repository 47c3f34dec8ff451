// SPDX-License-Identifier: GPL-2.0
/*
 * Immediate values on x86: what the instruction of a site must be for a value,
 * and the patching of it by text_poke.
 */
#include <linux/cache.h>
#include <linux/immediate.h>
#include <linux/memory.h>
#include <linux/mutex.h>
#include <linux/string.h>
#include <asm/text-patching.h>
#include <asm/unaligned.h>

#define REX_PREFIX	0x40	/* the high nibble of a REX prefix */
#define REX_W		0x08	/* 64-bit operand */

struct imv_insn {
	u8 bytes[POKE_MAX_OPCODE_SIZE];
	u8 size;
};

static bool is_short_jump(const u8 *insn)
{
	return *insn == JMP8_INSN_OPCODE || !memcmp(insn, x86_nops[2], 2);
}

static unsigned int mov_opcode_size(const u8 *insn)
{
	return (*insn & 0xf0) == REX_PREFIX ? 2 : 1;
}

static bool mov_is_wide(const u8 *insn)
{
	return mov_opcode_size(insn) == 2 && *insn & REX_W;
}

/**
 * arch_imv_insn_size - size of the instruction of a site
 * @site: the site
 *
 * Return: its size in bytes; the same for all values.
 */
unsigned int arch_imv_insn_size(const struct imv_site *site)
{
	const u8 *insn = imv_site_insn(site);

	if (imv_site_is_jump(site))
		return is_short_jump(insn) ? JMP8_INSN_SIZE : JMP32_INSN_SIZE;
	return mov_opcode_size(insn) + (mov_is_wide(insn) ? 8 : 4);
}

static void write_jump(const struct imv_site *site, struct imv_insn *new,
		       const void *target)
{
	__text_gen_insn(new->bytes, new->size == JMP8_INSN_SIZE ?
			JMP8_INSN_OPCODE : JMP32_INSN_OPCODE,
			imv_site_insn(site), target, new->size);
}

static void make_jump_to(const struct imv_site *site, struct imv_insn *new)
{
	long value = *(s32 *)imv_site_var(site);

	if (value & IMV_JUMP_TO_CALL)
		__text_gen_insn(new->bytes, CALL_INSN_OPCODE, imv_site_insn(site),
				(void *)(value & ~(long)IMV_JUMP_TO_CALL), new->size);
	else
		write_jump(site, new, value ? (void *)value : imv_site_target(site));
}

static void make_jump(const struct imv_site *site, struct imv_insn *new)
{
	bool likely = imv_site_flags(site) & IMV_JUMP_LIKELY;
	bool away = *(u8 *)imv_site_var(site) ? !likely : likely;

	if (away)
		write_jump(site, new, imv_site_target(site));
	else
		memcpy(new->bytes, x86_nops[new->size], new->size);
}

static u64 site_value(const struct imv_site *site)
{
	const void *var = imv_site_var(site);

	switch (imv_site_flags(site)) {
	case 0:
		return *(u8 *)var;
	case 1:
		return *(u16 *)var;
	case 2:
		return *(u32 *)var;
	default:
		return *(u64 *)var;
	}
}

static void make_mov(const struct imv_site *site, struct imv_insn *new)
{
	const u8 *insn = imv_site_insn(site);
	unsigned int opcode_size = mov_opcode_size(insn);

	memcpy(new->bytes, insn, opcode_size);
	if (mov_is_wide(insn))
		put_unaligned(site_value(site), (u64 *)(new->bytes + opcode_size));
	else
		put_unaligned((u32)site_value(site), (u32 *)(new->bytes + opcode_size));
}

/**
 * arch_imv_expect - prepare for the changes of a sweep
 * @nr: at most so many
 *
 * They reach the CPUs together. Without memory for that, some at a time do.
 *
 * Context: may sleep; takes text_mutex, which arch_imv_finish() releases.
 */
void arch_imv_expect(unsigned int nr)
{
	mutex_lock(&text_mutex);
	text_poke_expect(nr);
}

/**
 * arch_imv_transform - make the code of a site mirror its variable
 * @site: the site
 * @early: nothing can execute the site now; patch it at once
 *
 * Context: unless @early, text_mutex is held and the change is complete after
 *	    arch_imv_finish().
 */
void __ref arch_imv_transform(const struct imv_site *site, bool early)
{
	struct imv_insn new = { .size = arch_imv_insn_size(site) };
	void *insn = imv_site_insn(site);

	if (!imv_site_is_jump(site))
		make_mov(site, &new);
	else if (imv_site_flags(site) == IMV_JUMP_TO)
		make_jump_to(site, &new);
	else
		make_jump(site, &new);

	if (!memcmp(insn, new.bytes, new.size))
		return;
	if (early)
		text_poke_early(insn, new.bytes, new.size);
	else
		text_poke_queue(insn, new.bytes, new.size, NULL);
}

/**
 * arch_imv_finish - complete the changes that arch_imv_transform() began
 *
 * Context: may sleep, after arch_imv_expect(). On return all CPUs execute the
 *	    new instructions.
 */
void arch_imv_finish(void)
{
	text_poke_finish();
	mutex_unlock(&text_mutex);
}
