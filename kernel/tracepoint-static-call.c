// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tracepoints without trampolines, on architectures that have static calls: the
 * stub calls a single probe directly. With several probes, or none, it calls a
 * function that walks the array (the walk).
 *
 * The stub loads the data and then calls: it may use the data from before a change and
 * the function from after it. So a probe is called directly only after its data has been
 * in the tracepoint for a grace period (the data is settled), for which a work item
 * waits. Until then, the walk calls it, which ignores the data.
 */
#include <linux/init.h>
#include <linux/smp.h>
#include <linux/srcu.h>
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
	guard(mutex)(&tracepoints_mutex);
	tp->data_settling = tp->key && !tp->data_settled;
}

static void note_settled(struct tracepoint *tp, void *priv)
{
	guard(mutex)(&tracepoints_mutex);
	if (!tp->data_settling)
		return;
	tp->data_settling = false;
	tp->data_settled = true;
	update_call(tp, rcu_dereference_protected(tp->funcs,
						  lockdep_is_held(&tracepoints_mutex)));
}

static void visit_in_module(struct tracepoint *tp, struct module *mod, void *fct)
{
	((void (*)(struct tracepoint *, void *))fct)(tp, NULL);
}

static void visit_all(void (*fct)(struct tracepoint *tp, void *priv))
{
	for_each_kernel_tracepoint(fct, NULL);
	for_each_module_tracepoint(visit_in_module, fct);
}

static void settle(struct work_struct *work)
{
	visit_all(note_settling);
	synchronize_srcu(&tracepoint_srcu);
	visit_all(note_settled);
}

static DECLARE_WORK(settle_work, settle);
static bool can_settle;

/*
 * The stub now calls the walk, which ignores the data, or there was no probe. But on
 * some architectures, other CPUs may not see the patched call yet.
 */
static void set_data(struct tracepoint *tp, void *data)
{
	tp->data_settled = false;
	tp->data_settling = false;
	kick_all_cpus_sync();
	WRITE_ONCE(tp->data, data);
	if (can_settle)
		queue_work(system_dfl_wq, &settle_work);
}

/*
 * Lets the stub call @probes. Needs no memory. On x86, no stub begins a call of another
 * probe after the return; elsewhere, not after the next grace period.
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
	queue_work(system_dfl_wq, &settle_work);
	return 0;
}
postcore_initcall(start_settling);
