// SPDX-License-Identifier: GPL-2.0
/*
 * Tracing torture test: immediate values of all sizes, and jumps on immediate values.
 * Changes them in several ways, and counts wrong ones.
 */
#include <linux/export.h>
#include <linux/immediate.h>

#include "hits.h"

/* A value that is up to this many changes behind counts as old, not as torn. */
#define RECENT		100

struct tt_values tt_values[TT_OWNERS];
EXPORT_SYMBOL_GPL(tt_values);

struct tt_epoch tt_epochs[TT_OWNERS];
EXPORT_SYMBOL_GPL(tt_epochs);

/* Counts a value that is older than allowed by so many changes. */
void tt_bad_value(unsigned long behind)
{
	tt_count(behind <= RECENT ? TT_LATE : TT_TORN, 1);
}
EXPORT_SYMBOL_GPL(tt_bad_value);

enum way { EACH, BATCH, DEFER, DEFER_AND_FLUSH, NR_WAYS };

static void set_values(unsigned int owner, unsigned long number)
{
	const u64 value = number * TT_FACTOR;

	imv_set_var(tt_values[owner].as_u8, value);
	imv_set_var(tt_values[owner].as_u16, value);
	imv_set_var(tt_values[owner].as_u32, value);
	imv_set_var(tt_values[owner].as_u64, value);
	imv_set_var(tt_values[owner].pointer, (char *)(unsigned long)value);
	imv_set_var(tt_values[owner].jump, number & 1);
	imv_set_var(tt_values[owner].wide_jump, number & 1 ? number : 0);
	tt_count(TT_SETS, 7);
}

/* One change, or several in nested batches */
static void set_in_batch(unsigned int owner, unsigned long first, unsigned long last)
{
	imv_batch_begin();
	set_values(owner, first++);
	if (first <= last)
		set_in_batch(owner, first, last);
	imv_batch_commit();
}

static void end_change(struct tt_epoch *epoch, unsigned long number)
{
	/* pairs with tt_hit_values_of() */
	smp_store_release(&epoch->done, number);
}

/* Changes all values of an owner, in a random way. */
static void change_values(unsigned int owner, struct rnd_state *rnd)
{
	struct tt_epoch *epoch = &tt_epochs[owner];
	enum way way = tt_random(rnd, NR_WAYS);
	unsigned long number = epoch->begun + 1;
	unsigned long last = way == BATCH ? number + tt_random(rnd, 3) : number;
	bool defer = way == DEFER || way == DEFER_AND_FLUSH;
	bool deferred = defer && imv_defer_begin();

	WRITE_ONCE(epoch->begun, last);
	smp_mb();	/* store the number before a hit can see the value */
	if (way == BATCH)
		set_in_batch(owner, number, last);
	else
		set_values(owner, number);
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

const struct tt_kind tt_imv = {
	.hit = tt_hit_imv, .change_values = change_values,
};
