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
#include <linux/module.h>

/* Where jump_label_init() rewrites the compiled NOPs, those of sites are rewritten too. */
#ifdef arch_jump_label_transform_static
#define IMV_NOP_IS_PROVISIONAL	true
#else
#define IMV_NOP_IS_PROVISIONAL	false
#endif

/* Without HAVE_JUMP_LABEL_BATCH each site is patched at once. */
#ifdef HAVE_JUMP_LABEL_BATCH
static void imv_queue(struct jump_entry *entry, enum jump_label_type type)
{
	if (arch_jump_label_transform_queue(entry, type))
		return;
	arch_jump_label_transform_apply();
	arch_jump_label_transform_queue(entry, type);
}

void arch_imv_finish(void)
{
	arch_jump_label_transform_apply();
}
#else
static void imv_queue(struct jump_entry *entry, enum jump_label_type type)
{
	arch_jump_label_transform(entry, type);
}

void arch_imv_finish(void) { }
#endif

void arch_imv_begin(void) { }

unsigned int arch_imv_reserved_size(const struct imv_site *site)
{
	return JUMP_LABEL_NOP_SIZE;
}

/* Some architectures require that the site has the opposite code now. */
void arch_imv_transform(const struct imv_site *site)
{
	imv_queue((struct jump_entry *)&site->entry,
		  *(const u8 *)imv_site_var(site) ? JUMP_LABEL_JMP : JUMP_LABEL_NOP);
}

/* Sites are compiled as NOPs. */
void arch_imv_init_site(const struct imv_site *site)
{
	if (IMV_NOP_IS_PROVISIONAL || *(const u8 *)imv_site_var(site))
		arch_imv_transform(site);
}

#ifdef CONFIG_MODULES
/* Separates the sites of a module from its jump labels, before these are used. */
void imv_module_split(struct module *mod)
{
	struct jump_entry *stop = mod->jump_entries + mod->num_jump_entries;
	struct jump_entry *first = jump_label_split(mod->jump_entries, stop);

	mod->imv.sites = (struct imv_site *)first;
	mod->imv.nr = stop - first;
	mod->num_jump_entries -= mod->imv.nr;
}
#endif
