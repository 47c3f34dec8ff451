// SPDX-License-Identifier: GPL-2.0
/*
 * A module that does not unregister its probes, two on a busy tracepoint and
 * two on a busy marker.
 */
#include <linux/marker.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/tracepoint.h>

static void probe_switch(void *data, bool preempt, struct task_struct *prev,
			 struct task_struct *next, unsigned int prev_state)
{
	(*(unsigned long *)data)++;
}

static void probe_mark(void *private, void *call_private, const char *format,
		       va_list *args)
{
	(*(unsigned long *)private)++;
}

static unsigned long hits[4];
static struct tracepoint *sched_switch;

static void find_sched_switch(struct tracepoint *tp, void *priv)
{
	if (!strcmp(tp->name, "sched_switch"))
		sched_switch = tp;
}

static int __init stray_init(void)
{
	for_each_kernel_tracepoint(find_sched_switch, NULL);
	return tracepoint_probe_register(sched_switch, probe_switch, &hits[0]) ?:
	       tracepoint_probe_register(sched_switch, probe_switch, &hits[1]) ?:
	       marker_probe_register("kernel_sched_switch",
				     "prev_pid %d next_pid %d prev_state %ld",
				     probe_mark, &hits[2]) ?:
	       marker_probe_register("kernel_sched_switch",
				     "prev_pid %d next_pid %d prev_state %ld",
				     probe_mark, &hits[3]);
}
module_init(stray_init);

static void __exit stray_exit(void)
{
}
module_exit(stray_exit);

MODULE_DESCRIPTION("Forgets its probes");
MODULE_LICENSE("GPL");
