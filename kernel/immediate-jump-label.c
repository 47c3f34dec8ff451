// SPDX-License-Identifier: GPL-2.0
/*
 * Immediate values: the backend that patches branches with the jump labels of
 * the architecture. See asm-generic/immediate-jump-label.h.
 *
 * Architectures whose jump labels need text_mutex take it in the functions that
 * are called here.
 */
#include <linux/immediate-backend.h>
#include <linux/jump_label.h>

/* Without HAVE_JUMP_LABEL_BATCH each site is patched at once. */
#ifdef HAVE_JUMP_LABEL_BATCH
static void imv_queue(struct jump_entry *entry, enum jump_label_type type)
{
	if (arch_jump_label_transform_queue(entry, type))
		return;
	arch_jump_label_transform_apply();
	arch_jump_label_transform_queue(entry, type);
}

static void imv_apply(void)
{
	arch_jump_label_transform_apply();
}
#else
static void imv_queue(struct jump_entry *entry, enum jump_label_type type)
{
	arch_jump_label_transform(entry, type);
}

static void imv_apply(void) { }
#endif

unsigned int arch_imv_reserved_size(const struct imv_site *site)
{
	return JUMP_LABEL_NOP_SIZE;
}

/* Not all architectures can check the compiled code of a jump label. */
bool arch_imv_is_built(const struct imv_site *site)
{
	return true;
}

void arch_imv_expect(unsigned int nr) { }

/* Some architectures require that the site has the opposite code now. */
void arch_imv_transform(const struct imv_site *site, bool early)
{
	bool on = *(const u8 *)imv_site_var(site);
	bool likely = jump_entry_is_branch(&site->entry);

	imv_queue((struct jump_entry *)&site->entry,
		  on == likely ? JUMP_LABEL_NOP : JUMP_LABEL_JMP);
}

void arch_imv_finish(void)
{
	imv_apply();
}

void arch_imv_finish_early(void)
{
	imv_apply();
}
