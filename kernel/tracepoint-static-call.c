// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tracepoints without trampolines, on architectures that have static calls: the
 * stub calls a single probe directly. With several probes, or none, it calls a
 * function that walks the array (the walk).
 *
 * The stub loads the data and then calls. It may use the data from before a
 * change and the function from after it. The walk ignores the data. So a probe
 * is called directly only after its data has been in the tracepoint for a grace
 * period (the data is settled). A work item waits for that; until then the walk
 * calls the probe.
 *
 * When a module is unloaded, static calls forget its sites after all notifiers of
 * tracepoints have unregistered probes.
 *
 * The data stays when the last probe is unregistered. If that probe is registered
 * again, or another one with the same data, it is called directly at once.
 */
#include <linux/export.h>
#include <linux/init.h>
#include <linux/rcupdate.h>
#include <linux/smp.h>
#include <linux/static_call.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>

#include "tracepoint-private.h"

static bool single(const struct tracepoint_func *probes)
{
	return probes && !probes[1].func;
}

/* Patches the call if its target changes. */
static void update_call(struct tracepoint *tp, const struct tracepoint_func *probes)
{
	void *func = tp->walk;

	if (single(probes) && tp->data_settled && tp->data == probes->data)
		func = probes->func;
	if (func != tp->key->func)
		__static_call_update(tp->key, tp->tramp, func);
}

static void note_settling(struct tracepoint *tp, void *priv)
{
	tp->data_settling = !tp->data_settled;
}

static void note_settled(struct tracepoint *tp, void *priv)
{
	if (!tp->data_settling)
		return;
	tp->data_settling = false;
	tp->data_settled = true;
	/* tracepoints_mutex is held. */
	update_call(tp, rcu_dereference_protected(tp->funcs, true));
}

static void settle(struct work_struct *work)
{
	tp_visit_locked(note_settling);
	synchronize_rcu();
	tp_visit_locked(note_settled);
}

static DECLARE_WORK(settle_work, settle);
static bool can_settle;

/*
 * The stub does not use the old data now. Before @data's probe became the only
 * one, the stub called the walk, which ignores the data, or there was no probe. But
 * on some architectures, other CPUs may not see the patched call yet.
 */
static void set_data(struct tracepoint *tp, void *data)
{
	tp->data_settled = false;
	tp->data_settling = false;
	kick_all_cpus_sync();
	WRITE_ONCE(tp->data, data);
	if (can_settle)
		queue_work(system_unbound_wq, &settle_work);
}

/**
 * tp_set_call - let the stub call the probes that are registered now
 * @tp: the tracepoint; without a static call, nothing is done
 * @probes: its probes, or NULL
 *
 * Needs no memory. On return, no stub begins a call of a probe that is not in
 * @probes, on x86. Elsewhere, this holds after the next grace period.
 *
 * Context: tracepoints_mutex is held; takes cpu_hotplug_lock and text_mutex.
 */
void tp_set_call(struct tracepoint *tp, const struct tracepoint_func *probes)
{
	if (!tp->key)
		return;
	if (single(probes) && tp->data != probes->data)
		set_data(tp, probes->data);
	update_call(tp, probes);
}

/* Data that was set before this is not settled: the walk calls its probes. */
static int __init start_settling(void)
{
	WRITE_ONCE(can_settle, true);
	queue_work(system_unbound_wq, &settle_work);
	return 0;
}
postcore_initcall(start_settling);

#ifndef CONFIG_64BIT
/* The ABI passes any argument of one word or less like a long. */
#define WALK(nr, proto, args...)					\
void notrace tracepoint_walk_##nr(struct tracepoint_func *probes, PARAMS proto) \
{									\
	void (*func)(void *data, PARAMS proto);				\
									\
	for (; probes && (func = READ_ONCE(probes->func)); probes++)	\
		func(probes->data, args);				\
}									\
EXPORT_SYMBOL(tracepoint_walk_##nr)

WALK(1, (long a), a);
WALK(2, (long a, long b), a, b);
WALK(3, (long a, long b, long c), a, b, c);
WALK(4, (long a, long b, long c, long d), a, b, c, d);
WALK(5, (long a, long b, long c, long d, long e), a, b, c, d, e);
WALK(6, (long a, long b, long c, long d, long e, long f), a, b, c, d, e, f);
WALK(7, (long a, long b, long c, long d, long e, long f, long g), a, b, c, d, e, f, g);

#define EIGHT	long a, long b, long c, long d, long e, long f, long g, long h

WALK(8, (EIGHT), a, b, c, d, e, f, g, h);
WALK(9, (EIGHT, long i), a, b, c, d, e, f, g, h, i);
WALK(10, (EIGHT, long i, long j), a, b, c, d, e, f, g, h, i, j);
WALK(11, (EIGHT, long i, long j, long k), a, b, c, d, e, f, g, h, i, j, k);
WALK(12, (EIGHT, long i, long j, long k, long l), a, b, c, d, e, f, g, h, i, j, k, l);
#endif
