/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ASM_GENERIC_IMMEDIATE_H
#define _ASM_GENERIC_IMMEDIATE_H

/*
 * Immediate values where neither the architecture nor its jump labels patch
 * code: plain variables. Included only by linux/immediate.h, which describes
 * the interface.
 */

#define arch_imv_read(var)		READ_ONCE(var)
#define arch_imv_branch(var)		READ_ONCE(*(const u8 *)(var))

#define __imv_set(var, value, size)		WRITE_ONCE(*(var), *(value))
#define __imv_set_early(var, value, size)	__imv_set(var, value, size)

#endif /* _ASM_GENERIC_IMMEDIATE_H */
