// SPDX-License-Identifier: GPL-2.0
/*
 * A module for Linux 6.1, which uses only names of that kernel: it registers on the
 * tracepoints of the scheduler that have no event, finds one by its name, and
 * defines one. It runs on that kernel and on this one.
 */
#include <linux/module.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <trace/events/sched.h>

DECLARE_TRACE(names_own, TP_PROTO(int number), TP_ARGS(number));
DEFINE_TRACE(names_own, TP_PROTO(int number), TP_ARGS(number));
EXPORT_TRACEPOINT_SYMBOL_GPL(names_own);

static unsigned int registered, named, own;
module_param(registered, uint, 0444);
module_param(named, uint, 0444);
module_param(own, uint, 0444);

static struct tracepoint *found;

static void probe_cfs(void *data, struct cfs_rq *cfs_rq)
{
	registered++;
}

static void probe_rq(void *data, struct rq *rq)
{
}

static void probe_se(void *data, struct sched_entity *se)
{
}

static void probe_overutilized(void *data, struct root_domain *rd, bool overutilized)
{
}

static void probe_nr_running(void *data, struct rq *rq, int change)
{
}

static void probe_named(void *data, struct cfs_rq *cfs_rq)
{
	named++;
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

#define FOR_EACH_OF_SCHED(do)						\
	do(pelt_cfs_tp, probe_cfs)					\
	do(pelt_rt_tp, probe_rq)					\
	do(pelt_dl_tp, probe_rq)					\
	do(pelt_irq_tp, probe_rq)					\
	do(pelt_se_tp, probe_se)					\
	do(sched_cpu_capacity_tp, probe_rq)				\
	do(sched_overutilized_tp, probe_overutilized)			\
	do(sched_util_est_cfs_tp, probe_cfs)				\
	do(sched_util_est_se_tp, probe_se)				\
	do(sched_update_nr_running_tp, probe_nr_running)

#define REGISTER(name, probe)						\
	check_trace_callback_type_##name(probe);			\
	ret = ret ?: register_trace_##name(probe, NULL);

#define UNREGISTER(name, probe)	unregister_trace_##name(probe, NULL);

static int hit_own(void)
{
	int ret = register_trace_prio_names_own(probe_own, NULL, TRACEPOINT_DEFAULT_PRIO);

	if (ret)
		return ret;
	if (trace_names_own_enabled())
		trace_names_own(3);
	unregister_trace_names_own(probe_own, NULL);
	tracepoint_synchronize_unregister();
	return 0;
}

static void leave(void)
{
	if (found)
		tracepoint_probe_unregister(found, probe_named, NULL);
	FOR_EACH_OF_SCHED(UNREGISTER)
	tracepoint_synchronize_unregister();
}

static int __init names_init(void)
{
	int ret = hit_own();

	FOR_EACH_OF_SCHED(REGISTER)
	for_each_kernel_tracepoint(find, "pelt_cfs_tp");
	ret = ret ?: found ? tracepoint_probe_register(found, probe_named, NULL) : -ENOENT;
	if (ret)
		leave();
	return ret;
}
module_init(names_init);

static void __exit names_exit(void)
{
	leave();
}
module_exit(names_exit);

MODULE_DESCRIPTION("Tracepoints by names that Linux 6.1 has");
MODULE_LICENSE("GPL");
