/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ASM_GENERIC_IMMEDIATE_JUMP_LABEL_H
#define _ASM_GENERIC_IMMEDIATE_JUMP_LABEL_H

/*
 * Immediate values where jump labels patch the code: one-byte values are
 * jumps, all other reads are loads. Included by linux/immediate.h alone, which
 * has the interface.
 *
 * A site is the jump label of the architecture, and its record an entry of
 * __jump_table. In the place of a key stands the variable, plus a flag that
 * tells the two apart until jump_label_split() has put the entries of immediate
 * values behind those of keys. Nothing but kernel/jump_label.c looks into a
 * key, and it never sees these entries.
 */

#include <linux/jump_label.h>

#define IMV_ENTRY	2	/* the flag that marks init text later on */

struct imv_site {
	struct jump_entry entry;
};

static inline void *imv_site_insn(const struct imv_site *site)
{
	return (void *)jump_entry_code(&site->entry);
}

static inline void *imv_site_var(const struct imv_site *site)
{
	return jump_entry_key(&site->entry);
}

static inline bool imv_site_is_gone(const struct imv_site *site)
{
	return !site->entry.code;
}

static inline void imv_site_forget(struct imv_site *site)
{
	site->entry.code = 0;
}

/* Where jump_label_init() rewrites NOPs, those of sites are rewritten too. */
#ifdef arch_jump_label_transform_static
#define IMV_BUILT_IS_PROVISIONAL	true
#else
#define IMV_BUILT_IS_PROVISIONAL	false
#endif

#define arch_imv_read(var)		READ_ONCE(var)

/* Both forms are built as what a zero value wants. */
static __always_inline bool arch_imv_branch(const void *var, const bool likely)
{
	struct static_key *key = (struct static_key *)((char *)var + IMV_ENTRY);

	if (likely)
		return !arch_static_branch_jump(key, true);
	return arch_static_branch(key, false);
}

#endif /* _ASM_GENERIC_IMMEDIATE_JUMP_LABEL_H */
