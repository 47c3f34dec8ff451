// SPDX-License-Identifier: GPL-2.0
/*
 * Tracing torture test: probes. Compares each hit with the probes that are attached.
 * Attaches and detaches probes, several in one change, also while patching is deferred
 * and without memory.
 */
#define pr_fmt(fmt) "tracetorture: " fmt

#include <linux/delay.h>
#include <linux/export.h>
#include <linux/immediate.h>
#include <linux/moduleparam.h>
#include <linux/preempt.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/srcu.h>

#include "torture.h"

static bool starve;
module_param(starve, bool, 0444);
MODULE_PARM_DESC(starve,
		 "fail allocations when probes are attached and detached; needs failslab without ignore-gfp-wait");

#define LONGEST_PAUSE	2000	/* microseconds */
#define MAX_CHANGES	4	/* targets in one change */
#define STARVE_ONE_IN	4
#define MAX_ALLOCS	4	/* approximate number of allocations of an operation */

DEFINE_PER_CPU(struct tt_counts, tt_counts);
EXPORT_PER_CPU_SYMBOL_GPL(tt_counts);

unsigned long tt_kinds_on;
EXPORT_SYMBOL_GPL(tt_kinds_on);

/* Sleeps for a random time. */
void tt_pause(struct rnd_state *rnd)
{
	usleep_range(1, 1 + tt_random(rnd, LONGEST_PAUSE));
}

/* Records which probes a hit of @target must reach. */
void tt_begin_hit(struct tt_hit *hit, const struct tt_target *target)
{
	int i;

	hit->target = target;
	hit->calls = 0;
	for (i = 0; i < TT_OWNERS; i++) {
		hit->seen[i] = 0;
		/* pairs with finish_attached() */
		hit->expected[i] = smp_load_acquire(&target->expected[i]);
	}
}
EXPORT_SYMBOL_GPL(tt_begin_hit);

static void note_lost(const struct tt_hit *hit, unsigned int owner)
{
	tt_count(TT_LOST, 1);
	pr_info_once("the first lost hit: %ps, in %s, owner %u, attachment %lu, reached %lu probes, of this owner %lu\n",
		     hit->target, in_nmi() ? "NMI" : "a thread", owner,
		     hit->expected[owner], hit->calls, hit->seen[owner]);
}

/* Checks which probes the hit has reached. */
void tt_end_hit(struct tt_hit *hit, enum tt_kind_id kind)
{
	int i;

	smp_mb();	/* hit before reading expected again; see detach_one() */
	for (i = 0; i < TT_OWNERS; i++)
		if (unlikely(hit->seen[i] != hit->expected[i]) && hit->expected[i] &&
		    hit->expected[i] == READ_ONCE(hit->target->expected[i]))
			note_lost(hit, i);
	tt_count_hits(kind, 1);
	tt_count(TT_HIT_CALLS, hit->calls);
}
EXPORT_SYMBOL_GPL(tt_end_hit);

/* Checks a call of the probe @self with @data by @hit. */
void tt_note_call(struct tt_data *data, struct tt_hit *hit, void *self,
		  bool arguments_agree)
{
	void *func = READ_ONCE(data->func);

	tt_count(TT_PROBE_CALLS, 1);
	if (!func)
		tt_count(TT_LATE, 1);
	else if (func != self || !arguments_agree || hit->target != data->target)
		tt_count(TT_MIXED, 1);
	else if (hit->seen[data->owner] == data->number)
		tt_count(TT_TWICE, 1);
	hit->seen[data->owner] = data->number;
	hit->calls++;
}

/*
 * Return: data of the last attachment of an owner to a target. Its probe may be detached
 * by now.
 */
struct tt_data *tt_last_data(struct tt_target *target, unsigned int owner)
{
	return &target->data[owner][READ_ONCE(target->number[owner]) % TT_NR_DATA];
}

static bool is_attached(struct tt_target *target, unsigned int owner)
{
	return tt_last_data(target, owner)->func;
}

/* Return: the previous number; 0 if an allocation has failed. */
static unsigned int set_fail_nth(unsigned int nth)
{
	unsigned int left = 0;

#ifdef CONFIG_FAULT_INJECTION
	left = current->fail_nth;
	current->fail_nth = nth;
#endif
	return left;
}

/* At random, let one of the next allocations of this task fail. Return: will it? */
static bool begin_starving(const struct tt_probes *probes, struct rnd_state *rnd)
{
	if (!IS_ENABLED(CONFIG_FAILSLAB) || !starve || !probes->are_tracepoints ||
	    tt_random(rnd, STARVE_ONE_IN))
		return false;
	set_fail_nth(1 + tt_random(rnd, MAX_ALLOCS));
	return true;
}

/* Return: true if an allocation has failed. */
static bool end_starving(bool begun)
{
	bool failed = begun && !set_fail_nth(0);

	tt_count(TT_STARVED, failed);
	return failed;
}

/* May fail if an allocation fails. Then the probe must not be called. */
static void attach_one(const struct tt_probes *probes, unsigned int nr,
		       unsigned int owner, struct rnd_state *rnd)
{
	struct tt_target *target = &probes->targets[nr];
	unsigned long number = target->number[owner] + 1;
	struct tt_data *data = &target->data[owner][number % TT_NR_DATA];
	bool starving, starved;
	int ret;

	data->target = target;
	data->owner = owner;
	data->number = number;
	WRITE_ONCE(target->number[owner], number);
	starving = begin_starving(probes, rnd);
	ret = probes->attach(nr, data);
	starved = end_starving(starving);
	if (!ret) {
		tt_count(TT_REGISTRATIONS, 1);
		return;
	}
	probes->synchronize();
	WRITE_ONCE(data->func, NULL);
	if (ret != -ENOMEM || !starved)
		tt_count(TT_FAILED, 1);
}

/* Detaching must not fail, even if an allocation fails. */
static void detach_one(const struct tt_probes *probes, unsigned int nr,
		       unsigned int owner, struct rnd_state *rnd)
{
	struct tt_target *target = &probes->targets[nr];
	bool starving;

	WRITE_ONCE(target->expected[owner], 0);
	smp_mb();	/* pairs with tt_end_hit() */
	starving = begin_starving(probes, rnd);
	if (probes->detach(nr, tt_last_data(target, owner)))
		tt_count(TT_FAILED, 1);
	end_starving(starving);
}

/* Waits until detached probes are not running; they must not be called after that. */
static void finish_detached(const struct tt_probes *probes, unsigned int owner,
			    unsigned long detached, void (*synchronize)(void))
{
	unsigned int nr;

	if (!detached)
		return;
	synchronize();
	for_each_set_bit(nr, &detached, probes->nr)
		WRITE_ONCE(tt_last_data(&probes->targets[nr], owner)->func, NULL);
}

/* From now on each hit must reach the attached probes. */
static void finish_attached(const struct tt_probes *probes, unsigned int owner,
			    unsigned long attached)
{
	unsigned int nr;

	for_each_set_bit(nr, &attached, probes->nr) {
		struct tt_target *target = &probes->targets[nr];

		if (is_attached(target, owner))
			/* pairs with tt_begin_hit() */
			smp_store_release(&target->expected[owner], target->number[owner]);
	}
}

static void wait_for_readers(void)
{
	synchronize_srcu(&tracepoint_srcu);
}

/*
 * Attaches or detaches an owner's probes on some targets. If the owner does not defer, its
 * change is effective when the call returns, even if other tasks defer. Then a grace period
 * of the readers is enough after a removal.
 */
void tt_change_probes(const struct tt_probes *probes, unsigned int owner,
		      struct rnd_state *rnd)
{
	unsigned int count = min(1 + tt_random(rnd, MAX_CHANGES), probes->nr);
	unsigned int nr = tt_random(rnd, probes->nr);
	bool deferred = probes->are_tracepoints && tt_random(rnd, 2) && imv_defer_begin();
	bool only_wait = tt_random(rnd, 2) && probes->are_tracepoints && !deferred;
	void (*synchronize)(void) = only_wait ? wait_for_readers : probes->synchronize;
	bool while_deferred = tt_random(rnd, 2);
	unsigned long attached = 0, detached = 0;

	for (; count; count--, nr = (nr + 1) % probes->nr) {
		if (is_attached(&probes->targets[nr], owner)) {
			detached |= BIT(nr);
			detach_one(probes, nr, owner, rnd);
		} else {
			attached |= BIT(nr);
			attach_one(probes, nr, owner, rnd);
			if (!deferred)
				finish_attached(probes, owner, BIT(nr));
		}
	}
	if (while_deferred)
		finish_detached(probes, owner, detached, synchronize);
	imv_defer_end(deferred);
	finish_attached(probes, owner, attached);
	if (!while_deferred)
		finish_detached(probes, owner, detached, synchronize);
}

void tt_stop_probes(const struct tt_probes *probes, unsigned int owner,
		    struct rnd_state *rnd)
{
	unsigned long detached = 0;
	unsigned int nr;

	for (nr = 0; nr < probes->nr; nr++) {
		if (is_attached(&probes->targets[nr], owner)) {
			detached |= BIT(nr);
			detach_one(probes, nr, owner, rnd);
		}
	}
	finish_detached(probes, owner, detached, probes->synchronize);
}
