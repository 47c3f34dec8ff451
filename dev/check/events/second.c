// SPDX-License-Identifier: GPL-2.0
/* One of two modules that have a marker of the same name, each with its format. */
#include <linux/marker.h>
#include <linux/module.h>

static int fire(const char *value, const struct kernel_param *param)
{
	trace_mark(check_pair, "text %s", "two");
	return 0;
}

static const struct kernel_param_ops fire_ops = { .set = fire };
module_param_cb(fire, &fire_ops, NULL, 0200);

MODULE_DESCRIPTION("A marker whose name another module has, too");
MODULE_LICENSE("GPL");
