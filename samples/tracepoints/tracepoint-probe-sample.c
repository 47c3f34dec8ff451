// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probes on the tracepoints of tracepoint_sample: count the requests, and print
 * a line for each write to the parameter fire of that module.
 *
 *	cat /sys/module/tracepoint_probe_sample/parameters/requests
 *
 * A probe may print only if its tracepoint is never hit with a lock held that
 * printk() takes. That is true for these two, but not for sched_switch.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include "tracepoint-sample.h"

static atomic_t nr_requests = ATOMIC_INIT(0);
static atomic_t nr_done = ATOMIC_INIT(0);

static int count_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%d\n", atomic_read((atomic_t *)kp->arg));
}

static const struct kernel_param_ops count_ops = { .get = count_get };
module_param_cb(requests, &count_ops, &nr_requests, 0444);
MODULE_PARM_DESC(requests, "hits of sample_request_tp (read only)");
module_param_cb(done, &count_ops, &nr_done, 0444);
MODULE_PARM_DESC(done, "hits of sample_done_tp (read only)");

static void probe_request(void *data, const struct sample_request *request,
			  u64 checksum)
{
	atomic_inc((atomic_t *)data);
	if (!request->nr)
		pr_info("first request by %s, checksum %llx\n", request->name,
			checksum);
}

static void probe_done(void *data, unsigned int requests)
{
	atomic_inc((atomic_t *)data);
	pr_info("%u requests done\n", requests);
}

static int __init tracepoint_probe_sample_init(void)
{
	int ret = register_trace_sample_request_tp(probe_request, &nr_requests);

	if (ret)
		return ret;
	ret = register_trace_sample_done_tp(probe_done, &nr_done);
	if (ret) {
		unregister_trace_sample_request_tp(probe_request, &nr_requests);
		tracepoint_synchronize_unregister();
	}
	return ret;
}
module_init(tracepoint_probe_sample_init);

static void __exit tracepoint_probe_sample_exit(void)
{
	unregister_trace_sample_done_tp(probe_done, &nr_done);
	unregister_trace_sample_request_tp(probe_request, &nr_requests);
	/* Before the code of the probes is freed */
	tracepoint_synchronize_unregister();
	pr_info("%d requests, done %d times\n", atomic_read(&nr_requests),
		atomic_read(&nr_done));
}
module_exit(tracepoint_probe_sample_exit);

MODULE_DESCRIPTION("Sample: probes on the tracepoints of a module");
MODULE_LICENSE("GPL");
