// SPDX-License-Identifier: GPL-2.0
/*
 * A module whose init function fails after it has used its own immediate
 * value, tracepoint and marker.
 */
#include <linux/immediate.h>
#include <linux/marker.h>
#include <linux/module.h>
#include <linux/tracepoint.h>

DECLARE_TRACE(failing, TP_PROTO(int number), TP_ARGS(number));
DEFINE_TRACE(failing);

DEFINE_IMV(int, failing_value) = 1;

static int hits;

static void probe(void *data, int number)
{
	hits += number;
}

static void mark(void *private, void *call_private, const char *format,
		 va_list *args)
{
	hits += va_arg(*args, int);
}

static noinline void hit(void)
{
	trace_failing_tp(imv_read(failing_value));
	trace_mark(failing, "number %d", imv_read(failing_value));
}

static int __init failing_init(void)
{
	int ret = register_trace_failing(probe, NULL) ?:
		  marker_probe_register("failing", "number %d", mark, NULL);

	if (ret)
		return ret;
	imv_set(failing_value, 10);
	hit();
	unregister_trace_failing(probe, NULL);
	marker_probe_unregister("failing", mark, NULL);
	imv_set(failing_value, 100);
	hit();
	tracepoint_synchronize_unregister();
	pr_info("failing: %d of 20 seen\n", hits);
	return -ENODEV;
}
module_init(failing_init);

MODULE_DESCRIPTION("Fails to load");
MODULE_LICENSE("GPL");
