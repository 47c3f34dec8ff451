/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ASM_GENERIC_IMMEDIATE_JUMP_LABEL_H
#define _ASM_GENERIC_IMMEDIATE_JUMP_LABEL_H

/*
 * Immediate values where jump labels patch the code: one-byte values are
 * jumps, all other reads are loads. Included only by linux/immediate.h, which
 * describes the interface.
 *
 * A site is a jump label of the architecture, and its record is an entry of
 * __jump_table. The entry has the address of the variable instead of a key, plus
 * a flag. The flag marks it until jump_label_split() has put the entries of
 * immediate values after those of keys. Only kernel/jump_label.c dereferences
 * keys, and it does not use these entries.
 */

#include <linux/jump_label.h>

#define IMV_ENTRY	2	/* marks init text after jump_label_split() */

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

/* Where jump_label_init() rewrites NOPs, imv_init() must rewrite those of sites. */
#ifdef arch_jump_label_transform_static
#define IMV_BUILT_IS_PROVISIONAL	true
#else
#define IMV_BUILT_IS_PROVISIONAL	false
#endif

#define arch_imv_read(var)		READ_ONCE(var)

/* Both forms are compiled for a value of zero. */
static __always_inline bool arch_imv_branch(const void *var, const bool likely)
{
	struct static_key *key = (struct static_key *)((char *)var + IMV_ENTRY);

	if (likely)
		return !arch_static_branch_jump(key, true);
	return arch_static_branch(key, false);
}

#endif /* _ASM_GENERIC_IMMEDIATE_JUMP_LABEL_H */
