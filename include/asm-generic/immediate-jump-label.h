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
#include <linux/stringify.h>

#define IMV_ENTRY	2	/* marks init text after jump_label_split() */

/* For Rust. */
#define ARCH_IMV_BRANCH_ASM(var, target)				\
	ARCH_STATIC_BRANCH_ASM(var " + " __stringify(IMV_ENTRY), target)

#define arch_imv_read(var)		READ_ONCE(var)

static __always_inline bool arch_imv_branch(const void *var)
{
	return arch_static_branch((struct static_key *)((char *)var + IMV_ENTRY), false);
}

#endif /* _ASM_GENERIC_IMMEDIATE_JUMP_LABEL_H */
