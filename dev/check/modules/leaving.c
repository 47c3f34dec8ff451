// SPDX-License-Identifier: GPL-2.0
/*
 * A module with a tracepoint, and a call of its probes as by a task that has passed the
 * guard before the probes are unregistered.
 */
#include <linux/module.h>
#include <linux/tracepoint.h>

void leaving_call(void);

DECLARE_TRACE(leaving, TP_PROTO(int number), TP_ARGS(number));
DEFINE_TRACE(leaving);

void leaving_call(void)
{
	trace_call__leaving_tp(1);
}
EXPORT_SYMBOL_GPL(leaving_call);

MODULE_DESCRIPTION("A module with a tracepoint that is in use until it is unloaded");
MODULE_LICENSE("GPL");
