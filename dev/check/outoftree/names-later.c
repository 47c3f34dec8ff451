// SPDX-License-Identifier: GPL-2.0
/*
 * A module for kernels after 6.15, where DECLARE_TRACE() appends _tp to the name
 * that it is given: this one has a tracepoint and hits it.
 */
#include <linux/module.h>

#define CREATE_TRACE_POINTS
#include "names-later.h"

EXPORT_TRACEPOINT_SYMBOL_GPL(names_later_tp);

static int fire(const char *value, const struct kernel_param *param)
{
	int number, ret = kstrtoint(value, 0, &number);

	if (ret)
		return ret;
	if (trace_names_later_tp_enabled())
		trace_names_later_tp(number);
	return 0;
}

static const struct kernel_param_ops fire_ops = { .set = fire };
module_param_cb(fire, &fire_ops, NULL, 0200);

MODULE_DESCRIPTION("A tracepoint by the names of later kernels");
MODULE_LICENSE("GPL");
