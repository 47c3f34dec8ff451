// SPDX-License-Identifier: GPL-2.0
/*
 * A module whose object objtool has not seen, like objects that come as a binary: the
 * sites of its tracepoint and marker are still the jumps that the compiler left.
 */
#include <linux/marker.h>
#include <linux/module.h>
#include <linux/tracepoint.h>

DECLARE_TRACE(unchecked, TP_PROTO(int number), TP_ARGS(number));
DEFINE_TRACE(unchecked);

static int hits, marks;
module_param(hits, int, 0444);
module_param(marks, int, 0444);

static void probe(void *data, int number)
{
	hits += number;
}

static void mark(void *private, void *call_private, const char *format, va_list *args)
{
	marks += va_arg(*args, int);
}

static int fire_set(const char *value, const struct kernel_param *param)
{
	trace_unchecked_tp(1);
	trace_mark(unchecked, "number %d", 1);
	return 0;
}

static const struct kernel_param_ops fire_ops = { .set = fire_set };
module_param_cb(fire, &fire_ops, NULL, 0200);

static int attach_set(const char *value, const struct kernel_param *param)
{
	if (*value == '1')
		return register_trace_unchecked(probe, NULL) ?:
		       marker_probe_register("unchecked", "number %d", mark, NULL);
	marker_probe_unregister("unchecked", mark, NULL);
	return unregister_trace_unchecked(probe, NULL);
}

static const struct kernel_param_ops attach_ops = { .set = attach_set };
module_param_cb(attach, &attach_ops, NULL, 0200);

static void __exit unchecked_exit(void)
{
	tracepoint_synchronize_unregister();
}
module_exit(unchecked_exit);

MODULE_DESCRIPTION("A module without objtool");
MODULE_LICENSE("GPL");
