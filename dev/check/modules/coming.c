// SPDX-License-Identifier: GPL-2.0
/*
 * A module whose marker is fed by a tracepoint of the module: if a probe waits for
 * the marker, that tracepoint gets a probe while the module is being loaded.
 */
#include <linux/marker.h>
#include <linux/module.h>
#include <trace/tracer.h>

DECLARE_TRACE(coming, TP_PROTO(int number), TP_ARGS(number));
DEFINE_TRACE(coming);

DEFINE_TRACER(coming_tp, coming_mark, TP_PROTO(int number), "number %d", number);

static int fire_set(const char *value, const struct kernel_param *param)
{
	trace_coming_tp(1);
	return 0;
}

static const struct kernel_param_ops fire_ops = { .set = fire_set };
module_param_cb(fire, &fire_ops, NULL, 0200);

MODULE_DESCRIPTION("A module whose marker is waited for");
MODULE_LICENSE("GPL");
