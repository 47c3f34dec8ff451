// SPDX-License-Identifier: GPL-2.0
/*
 * Immediate values on x86: makes the instruction of a site for a value, and
 * patches it by smp_text_poke.
 */
#include <linux/bug.h>
#include <linux/immediate-backend.h>
#include <linux/immediate.h>
#include <linux/memory.h>
#include <linux/mutex.h>
#include <linux/string.h>
#include <linux/text-patching.h>

#define MOV_OPCODE	0xb8	/* the low bits are those of the register */
#define MOV_OPCODE_MASK	0xf8
#define MOV_SIZE	5	/* longer ones have a REX prefix */
#define MOV64_SIZE	10
#define SHIFT_OPCODE	0xc1
#define AND_OPCODE	0x81
#define AND_EAX_OPCODE	0x25
#define REX_PREFIX	0x40	/* the low bits are flags */
#define REX_PREFIX_MASK	0xf0

struct imv_insn {
	u8 bytes[TEXT_POKE_MAX_OPCODE_SIZE];
	u8 size;
};

/*
 * Jumps to a near target have two bytes, except those that are always compiled to
 * five; see arch_imv_init_site().
 */
static bool is_short_jump(const struct imv_site *site)
{
	long distance = imv_site_target(site) - imv_site_insn(site) - JMP8_INSN_SIZE;

	return imv_site_is_jump(site) && imv_site_flags(site) == IMV_JUMP_NOP &&
	       distance == (s8)distance;
}

/* Does not read the text, which another CPU may be patching. */
static unsigned int insn_size(const struct imv_site *site)
{
	if (!imv_site_is_jump(site))
		return site->target;
	return is_short_jump(site) ? JMP8_INSN_SIZE : JMP32_INSN_SIZE;
}

unsigned int arch_imv_reserved_size(const struct imv_site *site)
{
	if (imv_site_is_jump(site) && imv_site_flags(site) == IMV_JUMP_TO)
		return JMP32_INSN_SIZE + IMV_JUMP_TO_OWNER_SIZE;
	return insn_size(site);
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
	if (*(u8 *)imv_site_var(site))
		write_jump(site, new, imv_site_target(site));
	else
		memcpy(new->bytes, x86_nops[new->size], new->size);
}

/*
 * The operand is the end of the instruction: 8 bytes of the longest MOV, 1 of a shift,
 * else 4. x86 is little-endian: it begins with the bytes of the variable.
 */
static void make_operand(const struct imv_site *site, struct imv_insn *new)
{
	unsigned int size = new->size == MOV64_SIZE ? 8 : new->size >= MOV_SIZE ? 4 : 1;
	u8 *operand = new->bytes + new->size - size;

	memcpy(new->bytes, imv_site_insn(site), new->size - size);
	memset(operand, 0, size);
	memcpy(operand, imv_site_var(site), 1 << imv_site_flags(site));
}

static bool has_operand(const u8 *insn)
{
	if ((*insn & REX_PREFIX_MASK) == REX_PREFIX)
		insn++;
	return (*insn & MOV_OPCODE_MASK) == MOV_OPCODE || *insn == SHIFT_OPCODE ||
	       *insn == AND_OPCODE || *insn == AND_EAX_OPCODE;
}

/* Does a site have code that was compiled or patched there? */
static bool is_intact(const struct imv_site *site, unsigned int size)
{
	struct imv_insn jump = { .size = size };
	const u8 *insn = imv_site_insn(site);

	if (!imv_site_is_jump(site))
		return has_operand(insn);
	if (imv_site_flags(site) == IMV_JUMP_TO)
		return *insn == JMP32_INSN_OPCODE || *insn == CALL_INSN_OPCODE;

	if (!memcmp(insn, x86_nops[size], size))
		return true;
	write_jump(site, &jump, imv_site_target(site));
	return !memcmp(insn, jump.bytes, size);
}

/*
 * Is the code already right? A debugger's breakpoint in place of the first byte is
 * ignored if the other bytes are right: a sweep also meets sites that do not change.
 */
static bool is_current(const struct imv_site *site, const struct imv_insn *new)
{
	const u8 *insn = imv_site_insn(site);

	return (*insn == new->bytes[0] || *insn == INT3_INSN_OPCODE) &&
	       !memcmp(insn + 1, new->bytes + 1, new->size - 1);
}

void arch_imv_begin(void)
{
	mutex_lock(&text_mutex);
}

/*
 * Patches at once if @early: nothing can execute the site now. Otherwise the change is
 * complete after arch_imv_finish().
 *
 * Return: 0, or -EINVAL if the site must change but has unexpected bytes, such as
 *	   the breakpoint of a debugger: then it is not patched.
 */
int __ref arch_imv_patch(const struct imv_site *site, bool early)
{
	struct imv_insn new = { .size = insn_size(site) };
	void *insn = imv_site_insn(site);

	if (!imv_site_is_jump(site))
		make_operand(site, &new);
	else if (imv_site_flags(site) == IMV_JUMP_TO)
		make_jump_to(site, &new);
	else
		make_jump(site, &new);

	if (is_current(site, &new))
		return 0;
	if (!is_intact(site, new.size))
		return -EINVAL;
	if (early)
		text_poke_early(insn, new.bytes, new.size);
	else
		smp_text_poke_batch_add(insn, new.bytes, new.size, NULL);
	return 0;
}

/*
 * Calls BUG() if the code of the site is not as expected, as jump labels do: other
 * code may be overwritten too.
 */
static void patch_or_stop(const struct imv_site *site, bool early)
{
	void *insn = imv_site_insn(site);

	if (!arch_imv_patch(site, early))
		return;
	pr_crit("immediate value %pS: unexpected bytes %*ph at its site %pS\n",
		imv_site_var(site), (int)insn_size(site), insn, insn);
	BUG();
}

void arch_imv_transform(const struct imv_site *site)
{
	patch_or_stop(site, system_state == SYSTEM_BOOTING);
}

static bool has_long_jump(const u8 *insn)
{
	return *insn == JMP32_INSN_OPCODE ||
	       !memcmp(insn, x86_nops[JMP32_INSN_SIZE], JMP32_INSN_SIZE);
}

/*
 * Makes the first code of a site. Nothing can execute it now.
 *
 * A jump may have five bytes where two are enough: the assembler chooses that for a
 * target in another section, or when it meets a jump before the code in between has
 * its final size. Such an instruction becomes a short one and a NOP. And it is still
 * a JMP in an object that objtool has not seen.
 */
void __ref arch_imv_init_site(const struct imv_site *site)
{
	u8 *insn = imv_site_insn(site), bytes[JMP32_INSN_SIZE];

	if (is_short_jump(site) && has_long_jump(insn)) {
		memcpy(bytes, x86_nops[JMP8_INSN_SIZE], JMP8_INSN_SIZE);
		memcpy(bytes + JMP8_INSN_SIZE, x86_nops[JMP32_INSN_SIZE - JMP8_INSN_SIZE],
		       JMP32_INSN_SIZE - JMP8_INSN_SIZE);
		text_poke_early(insn, bytes, sizeof(bytes));
	}
	patch_or_stop(site, true);
}

/* On return all CPUs execute the new instructions. */
void arch_imv_finish(void)
{
	smp_text_poke_batch_finish();
	mutex_unlock(&text_mutex);
}
