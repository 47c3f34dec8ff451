/* SPDX-License-Identifier: GPL-2.0 */
/* The macros that select a mutant in the code that dev/mutants changes. */
#ifndef _LINUX_MUTANTS_H
#define _LINUX_MUTANTS_H

#include <linux/compiler.h>
#include <linux/types.h>

extern unsigned int mutant_nr;
extern u8 mutants_reached[];

/* Records in the object file that the mutant was compiled. */
#define mutant_built(nr)						\
	asm volatile(".pushsection .discard.mutants,\"\"\n.long %c0\n.popsection" \
		     : : "i" (nr))

#define mutant(nr) ({							\
	mutant_built(nr);						\
	mutants_reached[nr] = 1;					\
	unlikely(READ_ONCE(mutant_nr) == (nr)); })

/* True in mutant nr, false in mutant nr + 1, else the value. */
#define mutant_condition(nr, value) ({					\
	bool value_##nr = (value);					\
	unsigned int mutant_##nr = READ_ONCE(mutant_nr) - (nr);		\
									\
	mutant_built(nr);						\
	mutant_built(nr + 1);						\
	mutants_reached[nr] = mutants_reached[nr + 1] = 1;		\
	likely(mutant_##nr > 1) ? value_##nr : !mutant_##nr; })

#define mutant_zero(nr, value) ({					\
	__auto_type value_##nr = (value);				\
									\
	mutant(nr) ? (typeof(value_##nr))0 : value_##nr; })

#endif
