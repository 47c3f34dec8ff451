// SPDX-License-Identifier: GPL-2.0
/*
 * The torture of tracing: values. The ways to change them, and what a bad one is
 * counted as.
 */
#include <linux/export.h>
#include <linux/immediate.h>

#include "torture.h"

/* A value that is so many changes behind is taken for an old one. */
#define RECENT		100

/**
 * tt_bad_value - count a value that is not allowed
 * @behind: by how many changes it is behind those that are
 *
 * Context: any.
 */
void tt_bad_value(unsigned long behind)
{
	tt_count(behind <= RECENT ? TT_LATE : TT_TORN, 1);
}
EXPORT_SYMBOL_GPL(tt_bad_value);

enum way { EACH, BATCH, NESTED, DEFER, DEFER_AND_FLUSH, NR_WAYS };

static void set_in_batch(unsigned int owner, unsigned long first, unsigned long last,
			 void (*set)(unsigned int owner, unsigned long number))
{
	imv_batch_begin();
	set(owner, first++);
	if (first <= last)
		set_in_batch(owner, first, last, set);
	imv_batch_commit();
}

static void set_deferred(unsigned int owner, unsigned long number,
			 void (*set)(unsigned int owner, unsigned long number),
			 struct rnd_state *rnd)
{
	set(owner, number);
	tt_pause(rnd);
}

static void end_change(struct tt_epoch *epoch, unsigned long number)
{
	/* pairs with tt_hit_values_of() and tt_hit_jumps_of() */
	smp_store_release(&epoch->done, number);
}

/**
 * tt_change_values - change all values of an owner, in one of the ways there are
 * @epoch: the owner's changes of values of this kind
 * @owner: the owner, of which there is one thread
 * @set: sets the values
 * @rnd: what decides about the way
 *
 * Context: may sleep.
 */
void tt_change_values(struct tt_epoch *epoch, unsigned int owner,
		      void (*set)(unsigned int owner, unsigned long number),
		      struct rnd_state *rnd)
{
	enum way way = tt_random(rnd, NR_WAYS);
	unsigned long number = epoch->begun + 1;
	unsigned long last = way == NESTED ? number + tt_random(rnd, 3) : number;
	bool deferred = (way == DEFER || way == DEFER_AND_FLUSH) && imv_defer_begin();

	WRITE_ONCE(epoch->begun, last);
	smp_mb();	/* the number is known before a hit sees the value */
	if (way == BATCH || way == NESTED)
		set_in_batch(owner, number, last, set);
	else if (deferred)
		set_deferred(owner, number, set, rnd);
	else
		set(owner, number);
	if (way == DEFER_AND_FLUSH) {
		imv_flush();
		end_change(epoch, last);
		tt_pause(rnd);
	}
	imv_defer_end(deferred);
	end_change(epoch, last);
}
