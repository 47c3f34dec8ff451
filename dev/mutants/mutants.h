/* SPDX-License-Identifier: GPL-2.0 */
/* Selects a mutant in the code that dev/mutants changes. */
#ifndef _LINUX_MUTANTS_H
#define _LINUX_MUTANTS_H

#include <linux/compiler.h>
#include <linux/types.h>

extern unsigned int mutant_nr;
extern u8 mutants_reached[];

#define mutant(nr) ({							\
	mutants_reached[nr] = 1;					\
	unlikely(READ_ONCE(mutant_nr) == (nr)); })

#endif
