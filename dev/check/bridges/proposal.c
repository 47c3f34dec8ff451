// SPDX-License-Identifier: GPL-2.0
/*
 * The module of the proposal of 2008: its probe on a tracepoint translates the arguments
 * into a marker. Unlike a bridge, it is registered while the module is loaded.
 */
#include <linux/marker.h>
#include <linux/module.h>
#include <trace/events/sched.h>

struct rq;

static void probe_nr_running(void *data, struct rq *rq, int change)
{
	trace_mark(proposal_nr_running, "change %d", change);
}

/* The tracepoint of switches, which the proposal has, is not exported to modules. */
static int __init proposal_init(void)
{
	return register_trace_sched_update_nr_running_tp(probe_nr_running, NULL);
}
module_init(proposal_init);

static void __exit proposal_exit(void)
{
	unregister_trace_sched_update_nr_running_tp(probe_nr_running, NULL);
	tracepoint_synchronize_unregister();
}
module_exit(proposal_exit);

MODULE_DESCRIPTION("A marker in the probe of a tracepoint");
MODULE_LICENSE("GPL");
