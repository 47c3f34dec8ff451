// SPDX-License-Identifier: GPL-2.0
#include <linux/module.h>
#include <linux/marker.h>

static int __init start_plain(void)
{
	trace_mark(fed, "pid %d", 1);
	return 0;
}
module_init(start_plain);
