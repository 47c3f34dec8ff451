// SPDX-License-Identifier: GPL-2.0
/* A module with two formats for a marker: nothing can be attached to it. */
#include <linux/marker.h>
#include <linux/module.h>

static int fire_set(const char *value, const struct kernel_param *param)
{
	trace_mark(formats_mark, "a %d", 1);
	trace_mark(formats_mark, "b %d", 2);
	return 0;
}

static const struct kernel_param_ops fire_ops = { .set = fire_set };
module_param_cb(fire, &fire_ops, NULL, 0200);

MODULE_DESCRIPTION("A module with two formats for a marker");
MODULE_LICENSE("GPL");
