// SPDX-License-Identifier: GPL-2.0
/*
 * Tracing torture test: values. Changes them in several ways, and counts wrong ones.
 */
#include <linux/export.h>
#include <linux/immediate.h>

#include "torture.h"

/* A value that is up to this many changes behind counts as old, not as torn. */
#define RECENT		100

/**
 * tt_bad_value - count a wrong value
 * @behind: how many changes it is older than the oldest allowed value
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

static void end_change(struct tt_epoch *epoch, unsigned long number)
{
	/* pairs with tt_hit_values_of() and tt_hit_jumps_of() */
	smp_store_release(&epoch->done, number);
}

/**
 * tt_change_values - change all values of an owner, in a random way
 * @epoch: numbers of the owner's changes to values of this kind
 * @owner: the owner, which has one thread
 * @set: sets the values
 * @rnd: random numbers
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
	bool defer = way == DEFER || way == DEFER_AND_FLUSH;
	bool deferred = defer && imv_defer_begin();

	WRITE_ONCE(epoch->begun, last);
	smp_mb();	/* store the number before a hit can see the value */
	if (way == BATCH || way == NESTED)
		set_in_batch(owner, number, last, set);
	else
		set(owner, number);
	if (!deferred)
		end_change(epoch, last);	/* the code is patched */
	if (defer)
		tt_pause(rnd);
	if (way == DEFER_AND_FLUSH) {
		imv_flush();
		end_change(epoch, last);
		tt_pause(rnd);
	}
	imv_defer_end(deferred);
	end_change(epoch, last);
}
