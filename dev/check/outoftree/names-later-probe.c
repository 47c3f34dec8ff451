// SPDX-License-Identifier: GPL-2.0
/* Registers on the tracepoint of names-later, and on one of the scheduler. */
#include <linux/module.h>
#include <linux/tracepoint.h>
#include <trace/events/sched.h>
#include "names-later.h"

static unsigned int later, pelt;
module_param(later, uint, 0444);
module_param(pelt, uint, 0444);

static void probe_later(void *data, int number)
{
	later = later * 10 + number + (data ? 1 : 0);
}

static void probe_pelt(void *data, struct cfs_rq *cfs_rq)
{
	pelt++;
}

static void leave(void)
{
	unregister_trace_pelt_cfs_tp(probe_pelt, NULL);
	unregister_trace_names_later_tp(probe_later, &later);
	unregister_trace_names_later_tp(probe_later, NULL);
	tracepoint_synchronize_unregister();
}

static int __init names_probe_init(void)
{
	int ret;

	check_trace_callback_type_names_later_tp(probe_later);
	check_trace_callback_type_pelt_cfs_tp(probe_pelt);
	ret = register_trace_names_later_tp(probe_later, NULL) ?:
	      register_trace_prio_names_later_tp(probe_later, &later,
						 TRACEPOINT_DEFAULT_PRIO + 1) ?:
	      register_trace_pelt_cfs_tp(probe_pelt, NULL);
	if (ret || !tracepoint_enabled(names_later_tp)) {
		leave();
		return ret ?: -EINVAL;
	}
	return 0;
}
module_init(names_probe_init);

static void __exit names_probe_exit(void)
{
	leave();
}
module_exit(names_probe_exit);

MODULE_DESCRIPTION("Probes by the names of later kernels");
MODULE_LICENSE("GPL");
