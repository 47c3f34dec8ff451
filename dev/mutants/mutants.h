/* SPDX-License-Identifier: GPL-2.0 */
/* The choices that dev/mutants puts into the kernel's code. */
#ifndef _LINUX_MUTANTS_H
#define _LINUX_MUTANTS_H

#include <linux/compiler.h>
#include <linux/types.h>

extern unsigned int mutant_nr;
extern u8 mutants_reached[];

/* Built code leaves its numbers in the object. */
#define mutant_built(nr)						\
	asm volatile(".pushsection .discard.mutants,\"\"\n.long %c0\n.popsection" \
		     : : "i" (nr))

#define mutant(nr) ({							\
	mutant_built(nr);						\
	mutants_reached[nr] = 1;					\
	unlikely(READ_ONCE(mutant_nr) == (nr)); })

/* True in the mutant of the number, false in the next one. */
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
