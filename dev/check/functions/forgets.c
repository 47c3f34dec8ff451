// SPDX-License-Identifier: GPL-2.0
/* A module that leaves its function tracer registered when it is unloaded. */
#include <linux/ftrace.h>
#include <linux/module.h>

static unsigned int calls;
module_param(calls, uint, 0400);

static notrace void count(unsigned long ip, unsigned long parent_ip,
			  struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	calls++;
}

static struct ftrace_ops tracer = { .name = "forgotten", .func = count };

static int __init forgets_init(void)
{
	static unsigned char function[] = "vfs_open";
	int ret = ftrace_set_filter(&tracer, function, strlen(function), 1);

	return ret ?: register_ftrace_function(&tracer);
}
module_init(forgets_init);

static void __exit forgets_exit(void)
{
}
module_exit(forgets_exit);

MODULE_DESCRIPTION("Forgets its function tracer");
MODULE_LICENSE("GPL");
