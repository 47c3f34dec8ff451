// SPDX-License-Identifier: GPL-2.0
/* One of two modules that have the same marker. Hit when the parameter fire is written. */
#include <linux/marker.h>
#include <linux/module.h>

static int fire(const char *value, const struct kernel_param *param)
{
	trace_mark(check_same, "number %d of %s", 1, THIS_MODULE->name);
	return 0;
}

static const struct kernel_param_ops fire_ops = { .set = fire };
module_param_cb(fire, &fire_ops, NULL, 0200);

MODULE_DESCRIPTION("A marker that another module has, too");
MODULE_LICENSE("GPL");
