// SPDX-License-Identifier: GPL-2.0
/*
 * Immediate values on x86: makes the instruction of a site for a value, and
 * patches it by text_poke.
 */
#include <linux/bug.h>
#include <linux/cache.h>
#include <linux/export.h>
#include <linux/immediate-backend.h>
#include <linux/immediate.h>
#include <linux/kernel.h>
#include <linux/memory.h>
#include <linux/mutex.h>
#include <linux/printk.h>
#include <linux/string.h>
#include <asm/text-patching.h>

#define REX_B		0x41	/* one of the upper registers */
#define REX_W		0x48	/* 64-bit operand; with or without REX.B */
#define MOV_OPCODE	0xb8	/* the low bits are those of the register */
#define MOV_OPCODE_MASK	0xf8

#define MOV_SIZE	5
#define MOV_UPPER_SIZE	6
#define MOV_WIDE_SIZE	10

/* The KUnit tests may be a module. */
#if IS_ENABLED(CONFIG_IMMEDIATE_KUNIT_TEST)
#define EXPORT_FOR_TEST(function)	EXPORT_SYMBOL_GPL(function)
#else
#define EXPORT_FOR_TEST(function)
#endif

struct imv_insn {
	u8 bytes[POKE_MAX_OPCODE_SIZE];
	u8 size;
};

/*
 * Jumps to a near target have two bytes, except those that are always compiled to
 * five; see arch_imv_init_site(). Does not read the text, which another CPU may be
 * patching.
 */
static bool is_short_jump(const struct imv_site *site)
{
	long distance = imv_site_target(site) - imv_site_insn(site) - JMP8_INSN_SIZE;

	switch (imv_site_flags(site)) {
	case IMV_JUMP_NOP:
	case IMV_JUMP_LIKELY:
		return distance == (s8)distance;
	default:
		return false;
	}
}

/**
 * arch_imv_insn_size - size of the instruction of a site
 * @site: the site
 *
 * Context: any, even while the site is patched.
 * Return: its size in bytes; the same for all values.
 */
unsigned int arch_imv_insn_size(const struct imv_site *site)
{
	if (!imv_site_is_jump(site))
		return site->target;
	return is_short_jump(site) ? JMP8_INSN_SIZE : JMP32_INSN_SIZE;
}
EXPORT_FOR_TEST(arch_imv_insn_size);

/**
 * arch_imv_reserved_size - size of the text at a site that others must not patch
 * @site: the site
 *
 * Context: any, even while the site is patched.
 * Return: the size in bytes.
 */
unsigned int arch_imv_reserved_size(const struct imv_site *site)
{
	if (imv_site_is_jump(site) && imv_site_flags(site) == IMV_JUMP_TO)
		return JMP32_INSN_SIZE + IMV_JUMP_TO_OWNER_SIZE;
	return arch_imv_insn_size(site);
}

/**
 * arch_imv_init_site - shorten the jump of a site if its target is near
 * @site: the site
 *
 * The assembler may choose a long jump where a short one is enough: for a target
 * in another section, or when it meets a jump before the code in between has its
 * final size. Such an instruction becomes a short one and a NOP.
 *
 * Context: before any site is patched; nothing can execute the site now.
 */
void __ref arch_imv_init_site(const struct imv_site *site)
{
	u8 *insn = imv_site_insn(site), bytes[JMP32_INSN_SIZE];
	bool is_jump = *insn == JMP32_INSN_OPCODE;

	if (!imv_site_is_jump(site) || !is_short_jump(site) ||
	    (!is_jump && memcmp(insn, x86_nops[JMP32_INSN_SIZE], JMP32_INSN_SIZE)))
		return;

	memcpy(bytes, x86_nops[JMP8_INSN_SIZE], JMP8_INSN_SIZE);
	if (is_jump)
		__text_gen_insn(bytes, JMP8_INSN_OPCODE, insn,
				imv_site_target(site), JMP8_INSN_SIZE);
	memcpy(bytes + JMP8_INSN_SIZE, x86_nops[JMP32_INSN_SIZE - JMP8_INSN_SIZE],
	       JMP32_INSN_SIZE - JMP8_INSN_SIZE);
	text_poke_early(insn, bytes, sizeof(bytes));
}
EXPORT_FOR_TEST(arch_imv_init_site);

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

static void make_jump(const struct imv_site *site, struct imv_insn *new, bool on)
{
	bool likely = imv_site_flags(site) & IMV_JUMP_LIKELY;

	if (on != likely)
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

static unsigned int mov_opcode_size(unsigned int size)
{
	return size == MOV_SIZE ? 1 : 2;
}

static void make_mov(const struct imv_site *site, struct imv_insn *new)
{
	unsigned int opcode_size = mov_opcode_size(new->size);
	u64 value = site_value(site);

	memcpy(new->bytes, imv_site_insn(site), opcode_size);
	memcpy(new->bytes + opcode_size, &value, new->size - opcode_size);
}

static bool has_prefix(const u8 *insn, unsigned int size)
{
	switch (size) {
	case MOV_SIZE:
		return true;
	case MOV_UPPER_SIZE:
		return *insn == REX_B;
	case MOV_WIDE_SIZE:
		return *insn == REX_W || *insn == (REX_W | REX_B);
	default:
		return false;
	}
}

/* Does not read more than @size bytes. */
static bool is_mov(const u8 *insn, unsigned int size)
{
	return has_prefix(insn, size) &&
	       (insn[mov_opcode_size(size) - 1] & MOV_OPCODE_MASK) == MOV_OPCODE;
}

/* Is it a MOV of zero, as compiled, of the size of the variable? */
static bool is_built_mov(const struct imv_site *site)
{
	unsigned int size = site->target;
	const u8 *insn = imv_site_insn(site);
	unsigned int opcode_size = mov_opcode_size(size);

	return is_mov(insn, size) &&
	       (size == MOV_WIDE_SIZE) == (imv_site_flags(site) == 3) &&
	       !memchr_inv(insn + opcode_size, 0, size - opcode_size);
}

static bool is_built_jump(const struct imv_site *site, unsigned int size)
{
	struct imv_insn built = { .size = size };
	const u8 *insn = imv_site_insn(site);

	make_jump(site, &built, false);
	return *insn == built.bytes[0] && !memcmp(insn, built.bytes, size);
}

/* Is it a jump to the target of the record, and the variable zero, as compiled? */
static bool is_built_jump_to(const struct imv_site *site)
{
	struct imv_insn built = { .size = JMP32_INSN_SIZE };

	write_jump(site, &built, imv_site_target(site));
	return !memcmp(imv_site_insn(site), built.bytes, built.size) &&
	       !*(s32 *)imv_site_var(site);
}

/**
 * arch_imv_is_built - is the instruction of a site as the compiler made it?
 * @site: the site, whose instruction and variable can be read
 *
 * The assembler may have made a long jump where a short one is enough; see
 * arch_imv_init_site().
 *
 * Context: before any site is patched.
 * Return: true if it matches the record and a value of zero.
 */
bool arch_imv_is_built(const struct imv_site *site)
{
	if (!imv_site_is_jump(site))
		return is_built_mov(site);
	if (imv_site_flags(site) == IMV_JUMP_TO)
		return is_built_jump_to(site);
	return is_built_jump(site, JMP32_INSN_SIZE) ||
	       is_built_jump(site, arch_imv_insn_size(site));
}
EXPORT_FOR_TEST(arch_imv_is_built);

/* Does a site have code that was compiled or patched there? */
static bool is_intact(const struct imv_site *site, unsigned int size)
{
	struct imv_insn jump = { .size = size };
	const u8 *insn = imv_site_insn(site);

	if (!imv_site_is_jump(site))
		return is_mov(insn, size);
	if (imv_site_flags(site) == IMV_JUMP_TO)
		return *insn == JMP32_INSN_OPCODE || *insn == CALL_INSN_OPCODE;

	write_jump(site, &jump, imv_site_target(site));
	return !memcmp(insn, jump.bytes, size) || !memcmp(insn, x86_nops[size], size);
}

/* The distance of a jump may have the same bytes as the NOP. */
static bool differs_behind_first_byte(const struct imv_site *site, unsigned int size)
{
	struct imv_insn jump = { .size = size };

	if (!imv_site_is_jump(site) || imv_site_flags(site) == IMV_JUMP_TO)
		return true;
	write_jump(site, &jump, imv_site_target(site));
	return memcmp(jump.bytes + 1, x86_nops[size] + 1, size - 1);
}

/*
 * Is the code already right? A debugger's breakpoint in place of the first byte is
 * ignored if the other bytes are right.
 */
static bool is_current(const struct imv_site *site, const struct imv_insn *new)
{
	const u8 *insn = imv_site_insn(site);

	if (!memcmp(insn, new->bytes, new->size))
		return true;
	return *insn == INT3_INSN_OPCODE && differs_behind_first_byte(site, new->size) &&
	       !memcmp(insn + 1, new->bytes + 1, new->size - 1);
}

/**
 * arch_imv_expect - prepare for the changes of a sweep
 * @nr: maximum number of changes
 *
 * See text_poke_expect() for the size of a batch.
 *
 * Context: may sleep; takes text_mutex, which arch_imv_finish() releases.
 */
void arch_imv_expect(unsigned int nr)
{
	mutex_lock(&text_mutex);
	text_poke_expect(nr);
}

/**
 * arch_imv_patch - make the code of a site mirror its variable, if it is intact
 * @site: the site
 * @early: nothing can execute the site now; patch it at once
 *
 * Context: unless @early, text_mutex is held and the change is complete after
 *	    arch_imv_finish().
 * Return: 0, or -EINVAL if the site must change but has unexpected bytes, such as
 *	   the breakpoint of a debugger: then it is not patched.
 */
int __ref arch_imv_patch(const struct imv_site *site, bool early)
{
	struct imv_insn new = { .size = arch_imv_insn_size(site) };
	void *insn = imv_site_insn(site);

	if (!imv_site_is_jump(site))
		make_mov(site, &new);
	else if (imv_site_flags(site) == IMV_JUMP_TO)
		make_jump_to(site, &new);
	else
		make_jump(site, &new, *(u8 *)imv_site_var(site));

	if (is_current(site, &new))
		return 0;
	if (!is_intact(site, new.size))
		return -EINVAL;
	if (early)
		text_poke_early(insn, new.bytes, new.size);
	else
		text_poke_queue(insn, new.bytes, new.size, NULL);
	return 0;
}
EXPORT_FOR_TEST(arch_imv_patch);

/**
 * arch_imv_transform - make the code of a site mirror its variable
 * @site: the site
 * @early: nothing can execute the site now; patch it at once
 *
 * Calls BUG() if the code of the site is not as expected, as jump labels do:
 * other code may be overwritten too.
 *
 * Context: as for arch_imv_patch().
 */
void arch_imv_transform(const struct imv_site *site, bool early)
{
	void *insn = imv_site_insn(site);

	if (!arch_imv_patch(site, early))
		return;
	pr_crit("immediate value %pS: unexpected bytes %*ph at its site %pS\n",
		imv_site_var(site), (int)arch_imv_insn_size(site), insn, insn);
	BUG();
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

/**
 * arch_imv_finish_early - complete the changes of sites that nothing executes
 */
void arch_imv_finish_early(void)
{
	/* text_poke_early() has done it. */
}
