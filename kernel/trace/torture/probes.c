// SPDX-License-Identifier: GPL-2.0
/*
 * Tracing torture test: probes. Compares each hit with the probes that are attached.
 * Attaches and detaches probes, several in one change, also while patching is deferred.
 */
#define pr_fmt(fmt) "tracetorture: " fmt

#include <linux/errno.h>
#include <linux/export.h>
#include <linux/immediate.h>
#include <linux/kernel.h>
#include <linux/preempt.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/string.h>

#include "torture.h"

/* The maximal number of targets in one change. */
#define MAX_CHANGES	4

/**
 * tt_before - record which probes a hit must reach
 * @hit: the hit
 * @target: the target that will be hit
 *
 * Context: any.
 */
void tt_before(struct tt_hit *hit, const struct tt_target *target)
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
EXPORT_SYMBOL_GPL(tt_before);

/* The first hit that was lost, for the report. */
static struct {
	unsigned long found;
	unsigned int owner;
	bool in_nmi;
	struct tt_hit hit;
} first_lost;

static void note_lost(const struct tt_hit *hit, unsigned int owner)
{
	tt_count(TT_LOST, 1);
	if (cmpxchg(&first_lost.found, 0, 1))
		return;
	first_lost.owner = owner;
	first_lost.in_nmi = in_nmi();
	first_lost.hit = *hit;
}

/**
 * tt_report_lost - print the first lost hit, if any
 *
 * Context: any; after the last hit.
 */
void tt_report_lost(void)
{
	const struct tt_hit *hit = &first_lost.hit;

	if (first_lost.found)
		pr_info("the first lost hit: %ps, in %s, owner %u, attachment %lu, reached %lu probes, of this owner %lu\n",
			hit->target, first_lost.in_nmi ? "NMI" : "a thread", first_lost.owner,
			hit->expected[first_lost.owner], hit->calls,
			hit->seen[first_lost.owner]);
}

/**
 * tt_after - check which probes a hit has reached
 * @hit: the hit
 * @kind: its kind
 *
 * Context: any.
 */
void tt_after(struct tt_hit *hit, enum tt_kind_id kind)
{
	int i;

	smp_mb();	/* hit before reading expected again; see detach_one() */
	for (i = 0; i < TT_OWNERS; i++)
		if (unlikely(hit->seen[i] != hit->expected[i]) && hit->expected[i] &&
		    hit->expected[i] == READ_ONCE(hit->target->expected[i]))
			note_lost(hit, i);
	tt_count_hits(kind, 1);
	tt_count(TT_CALLED, hit->calls);
}
EXPORT_SYMBOL_GPL(tt_after);

/**
 * tt_called - check the call of a probe
 * @data: data of the probe
 * @hit: the hit that called it
 * @self: the probe
 * @arguments_agree: are all arguments those of @hit?
 *
 * Context: any.
 */
void tt_called(struct tt_data *data, struct tt_hit *hit, void *self, bool arguments_agree)
{
	void *func = READ_ONCE(data->func);

	tt_count(TT_CALLS, 1);
	if (!func)
		tt_count(TT_LATE, 1);
	else if (func != self || !arguments_agree || hit->target != data->target)
		tt_count(TT_MIXED, 1);
	else if (hit->seen[data->owner] == data->number)
		tt_count(TT_TWICE, 1);
	hit->seen[data->owner] = data->number;
	hit->calls++;
}

/**
 * tt_last_data - data of the last attachment of an owner to a target
 * @target: the target
 * @owner: the owner
 *
 * Context: any.
 * Return: the data. Its probe may be detached by now.
 */
struct tt_data *tt_last_data(struct tt_target *target, unsigned int owner)
{
	return &target->data[owner][READ_ONCE(target->number[owner]) % TT_NR_DATA];
}

static bool is_attached(struct tt_target *target, unsigned int owner)
{
	return tt_last_data(target, owner)->func;
}

/* May fail if an allocation fails. Then the probe must not be called. */
static void attach_one(const struct tt_probes *probes, unsigned int nr,
		       unsigned int owner, struct rnd_state *rnd)
{
	struct tt_target *target = &probes->targets[nr];
	unsigned long number = target->number[owner] + 1;
	struct tt_data *data = &target->data[owner][number % TT_NR_DATA];
	bool starve, starved;
	int ret;

	data->target = target;
	data->owner = owner;
	data->number = number;
	WRITE_ONCE(target->number[owner], number);
	starve = probes->rcu && tt_starve(rnd);
	ret = probes->attach(nr, data);
	starved = tt_starved(starve);
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
	bool starve;

	WRITE_ONCE(target->expected[owner], 0);
	smp_mb();	/* pairs with tt_after() */
	starve = probes->rcu && tt_starve(rnd);
	if (probes->detach(nr, tt_last_data(target, owner)))
		tt_count(TT_FAILED, 1);
	tt_starved(starve);
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
	struct tt_target *target;
	unsigned int nr;

	for_each_set_bit(nr, &attached, probes->nr) {
		target = &probes->targets[nr];
		if (!is_attached(target, owner))
			continue;
		/* pairs with tt_before() */
		smp_store_release(&target->expected[owner],
				  target->number[owner]);
	}
}

/**
 * tt_change_probes - attach or detach an owner's probes on some targets
 * @probes: the kind
 * @owner: the owner, which has one thread
 * @rnd: selects the targets and the method
 *
 * If the owner does not defer, its change is effective when the call returns, even
 * if other tasks defer. Then an RCU grace period is enough after a removal.
 *
 * Context: may sleep.
 */
void tt_change_probes(const struct tt_probes *probes, unsigned int owner,
		      struct rnd_state *rnd)
{
	unsigned int count = min(1 + tt_random(rnd, MAX_CHANGES), probes->nr);
	unsigned int nr = tt_random(rnd, probes->nr);
	bool deferred = probes->deferred && tt_random(rnd, 2) && imv_defer_begin();
	bool plain = tt_random(rnd, 2) && probes->rcu && !deferred;
	void (*synchronize)(void) = plain ? synchronize_rcu : probes->synchronize;
	bool early = tt_random(rnd, 2);
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
	if (early)
		finish_detached(probes, owner, detached, synchronize);
	imv_defer_end(deferred);
	finish_attached(probes, owner, attached);
	if (!early)
		finish_detached(probes, owner, detached, synchronize);
}

/**
 * tt_stop_probes - detach all probes of an owner
 * @probes: the kind
 * @owner: the owner
 * @rnd: random numbers
 *
 * Context: may sleep.
 */
void tt_stop_probes(const struct tt_probes *probes, unsigned int owner,
		    struct rnd_state *rnd)
{
	unsigned long detached = 0;
	unsigned int nr;

	for (nr = 0; nr < probes->nr; nr++) {
		if (!is_attached(&probes->targets[nr], owner))
			continue;
		detached |= BIT(nr);
		detach_one(probes, nr, owner, rnd);
	}
	finish_detached(probes, owner, detached, probes->synchronize);
}
