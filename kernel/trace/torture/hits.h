/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TRACE_TORTURE_HITS_H
#define _TRACE_TORTURE_HITS_H

/*
 * The sites. For each kind, one function hits all its sites and checks the result.
 * Each module that includes this file gets its own sites.
 */

#include <linux/immediate.h>
#include <linux/marker.h>

#include "torture.h"
#include "tp.h"

/*
 * Checks that the number of a value is from first to first + span. Narrow types hold only
 * the lower bits of a number; the upper bits are not checked.
 */
#define TT_CHECK_VALUE(type, value, first, span)			\
	do {								\
		type __distance = (type)(value) * TT_INVERSE - (first);	\
									\
		if (unlikely(__distance > (span)))			\
			tt_bad_value((type)-__distance);		\
	} while (0)

static __always_inline void tt_hit_values_of(const unsigned int owner)
{
	/* pairs with change_values() */
	const unsigned long first = smp_load_acquire(&tt_epochs[owner].done);
	const u8 vu8 = imv_read_var(tt_values[owner].as_u8);
	const u16 vu16 = imv_read_var(tt_values[owner].as_u16);
	const u32 vu32 = imv_read_var(tt_values[owner].as_u32);
	const u64 vu64 = imv_read_var(tt_values[owner].as_u64);
	const char *pointer = imv_read_var(tt_values[owner].pointer);
	unsigned int jumped = 0, wanted = first & 1 ? 2 : 0;
	unsigned long span;

	if (imv_unlikely_var(tt_values[owner].jump))
		jumped++;
	if (imv_unlikely_var(tt_values[owner].wide_jump))
		jumped++;
	smp_rmb();	/* pairs with change_values() */
	span = READ_ONCE(tt_epochs[owner].begun) - first;
	TT_CHECK_VALUE(u8, vu8, first, span);
	TT_CHECK_VALUE(u16, vu16, first, span);
	TT_CHECK_VALUE(u32, vu32, first, span);
	TT_CHECK_VALUE(u64, vu64, first, span);
	TT_CHECK_VALUE(unsigned long, (unsigned long)pointer, first, span);
	/* While a change is in progress, each jump may go either way. */
	if (unlikely(!span && jumped != wanted))
		tt_bad_value(1);
}

/* Each site reads one fixed variable, so the owner must be a constant. */
static __always_inline void tt_hit_imv(void)
{
	BUILD_BUG_ON(TT_OWNERS != 4);
	tt_hit_values_of(0);
	tt_hit_values_of(1);
	tt_hit_values_of(2);
	tt_hit_values_of(3);
	tt_count_hits(TT_IMV, TT_OWNERS);
}

/*
 * @site hits @_target, with the variable hit of the function. All sites of a function
 * share this variable, since KASAN would give each variable its own stack slot.
 */
#define TT_HIT(kind, _target, site)					\
	do {								\
		tt_begin_hit(hit, _target);				\
		site;							\
		tt_end_hit(hit, kind);					\
	} while (0)

#define TT_HIT_TP(n)							\
	TT_HIT(TT_TP, &tt_tp_targets[TT_TP_##n],			\
	       trace_torture_##n##_tp(TT_PASS_##n(hit)));

static __always_inline void tt_hit_tp(void)
{
	struct tt_hit this, *hit = &this;

	TT_FOR_EACH_TP(TT_HIT_TP)
}

static __always_inline void tt_hit_marker(void)
{
	struct tt_hit this, *hit = &this;

	TT_HIT(TT_MARKER, &tt_marker_targets[TT_MARKER_ONE],
	       trace_mark(torture_one, TT_FORMAT_ONE, hit));
	TT_HIT(TT_MARKER, &tt_marker_targets[TT_MARKER_NINE],
	       trace_mark(torture_nine, TT_FORMAT_NINE, hit, tt_word(hit, 1),
			  (int)tt_word(hit, 2), tt_word(hit, 3),
			  (long long)tt_word(hit, 4), (unsigned int)tt_word(hit, 5),
			  (long)tt_word(hit, 6), (int)tt_word(hit, 7),
			  tt_word(hit, 8)));
}

static __always_inline void tt_hit_func(void)
{
	struct tt_hit this, *hit = &this;
	unsigned int i;

	for (i = 0; i < TT_NR_FUNCS; i++)
		TT_HIT(TT_FUNC, &tt_func_targets[i], tt_traced_funcs[i](hit));
}

#endif /* _TRACE_TORTURE_HITS_H */
