// SPDX-License-Identifier: GPL-2.0-only
/*
 * A module with tracepoints. Writing N to the parameter fire makes N requests,
 * which hits sample_request_tp for each request and then sample_done_tp once:
 *
 *	modprobe tracepoint_probe_sample
 *	echo 3 > /sys/module/tracepoint_sample/parameters/fire
 *	dmesg | tail
 */
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/sched/signal.h>
#include "tracepoint-sample.h"

DEFINE_TRACE(sample_request);
EXPORT_TRACEPOINT_SYMBOL_GPL(sample_request_tp);

DEFINE_TRACE(sample_done);
EXPORT_TRACEPOINT_SYMBOL_GPL(sample_done_tp);

static u64 checksum(const struct sample_request *request)
{
	u64 sum = request->nr;
	const char *c;

	for (c = request->name; *c; c++)
		sum = sum * 31 + *c;
	return sum;
}

static void make_request(unsigned int nr)
{
	struct sample_request request = { .nr = nr, .name = current->comm };

	/* Avoid the work for the tracepoint while that is disabled. */
	if (trace_sample_request_tp_enabled())
		trace_call__sample_request_tp(&request, checksum(&request));
}

static int fire_set(const char *text, const struct kernel_param *kp)
{
	unsigned int requests, i;
	int ret = kstrtouint(text, 0, &requests);

	if (ret)
		return ret;
	for (i = 0; i < requests; i++) {
		if (fatal_signal_pending(current))
			return -EINTR;
		make_request(i);
		cond_resched();
	}
	trace_sample_done_tp(requests);
	return 0;
}

static const struct kernel_param_ops fire_ops = { .set = fire_set };
module_param_cb(fire, &fire_ops, NULL, 0200);
MODULE_PARM_DESC(fire, "write N to make N requests");

static int __init tracepoint_sample_init(void)
{
	return 0;
}
module_init(tracepoint_sample_init);

static void __exit tracepoint_sample_exit(void)
{
}
module_exit(tracepoint_sample_exit);

MODULE_DESCRIPTION("Sample: tracepoints in a module");
MODULE_LICENSE("GPL");
