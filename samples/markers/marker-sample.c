// SPDX-License-Identifier: GPL-2.0-only
/*
 * A module with markers. Writing N to the parameter fire hits each N times:
 *
 *	modprobe marker_sample
 *	modprobe marker_probe marker=sample_event
 *	echo 3 > /sys/module/marker_sample/parameters/fire
 *
 * The probe may be loaded first: with the parameter format, it waits.
 */
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/marker.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/sched/signal.h>

/* Conversions that a marker may have, with extreme values */
static void fire_types(void)
{
	trace_mark(sample_types,
		   "i %d u %u x %x l %ld ul %lu ll %lld ull %llu lx %lx p %p c %c s %s",
		   INT_MIN, UINT_MAX, UINT_MAX, LONG_MIN, ULONG_MAX, LLONG_MIN,
		   ULLONG_MAX, ULONG_MAX, (void *)ULONG_MAX, 'A', "text");
}

static void fire_markers(unsigned int count)
{
	trace_mark(sample_event, "count %u name %s", count, current->comm);
	trace_mark(sample_noargs, MARK_NOARGS);
	fire_types();
}

static int fire_set(const char *text, const struct kernel_param *kp)
{
	unsigned int times, i;
	int ret = kstrtouint(text, 0, &times);

	if (ret)
		return ret;
	for (i = 0; i < times; i++) {
		if (fatal_signal_pending(current))
			return -EINTR;
		fire_markers(i);
		cond_resched();
	}
	return 0;
}

static const struct kernel_param_ops fire_ops = { .set = fire_set };
module_param_cb(fire, &fire_ops, NULL, 0200);
MODULE_PARM_DESC(fire, "write N to hit each marker N times");

MODULE_DESCRIPTION("Sample: markers in a module");
MODULE_LICENSE("GPL");
