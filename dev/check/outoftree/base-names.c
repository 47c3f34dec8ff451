// SPDX-License-Identifier: GPL-2.0
/*
 * A module for the kernel without the series: it registers on a tracepoint of the scheduler
 * that has no event, by its function and by its name, and defines a tracepoint and a trace
 * event. It runs on the kernel without the series too.
 */
#include <linux/module.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <trace/events/sched.h>

DECLARE_TRACE(names_own, TP_PROTO(int number), TP_ARGS(number));
DEFINE_TRACE(names_own_tp, TP_PROTO(int number), TP_ARGS(number));
EXPORT_TRACEPOINT_SYMBOL_GPL(names_own_tp);

#define CREATE_TRACE_POINTS
#include "own-event.h"

static unsigned int registered, named, own;
module_param(registered, uint, 0444);
module_param(named, uint, 0444);
module_param(own, uint, 0444);

static struct tracepoint *found;

static void probe(void *hits, struct cfs_rq *cfs_rq)
{
	(*(unsigned int *)hits)++;
}

static void probe_own(void *data, int number)
{
	own += number;
}

static void find(struct tracepoint *tp, void *name)
{
	if (!strcmp(tp->name, name))
		found = tp;
}

static int hit_own(void)
{
	int ret = register_trace_prio_names_own_tp(probe_own, NULL, TRACEPOINT_DEFAULT_PRIO);

	if (ret)
		return ret;
	if (trace_names_own_tp_enabled())
		trace_names_own_tp(3);
	ret = unregister_trace_names_own_tp(probe_own, NULL);
	return ret ?: register_trace_pelt_cfs(probe_own, NULL);
}

static int hit_event(void)
{
	if (trace_pelt_cfs_enabled())
		trace_pelt_cfs(4);
	return unregister_trace_pelt_cfs(probe_own, NULL);
}

static int __init names_init(void)
{
	int ret = hit_own() ?: hit_event();

	check_trace_callback_type_pelt_cfs_tp(probe);
	for_each_kernel_tracepoint(find, "pelt_cfs_tp");
	ret = ret ?: found ? register_trace_pelt_cfs_tp(probe, &registered) : -ENOENT;
	if (ret)
		return ret;
	ret = tracepoint_probe_register(found, probe, &named);
	if (ret)
		unregister_trace_pelt_cfs_tp(probe, &registered);
	return ret;
}
module_init(names_init);

static void __exit names_exit(void)
{
	tracepoint_probe_unregister(found, probe, &named);
	unregister_trace_pelt_cfs_tp(probe, &registered);
	tracepoint_synchronize_unregister();
}
module_exit(names_exit);

MODULE_DESCRIPTION("Tracepoints by names that the kernel without the series has");
MODULE_LICENSE("GPL");
