// SPDX-License-Identifier: GPL-2.0
/* A module that is unloaded until its parameter is written, which calls a function. */
#include <linux/async.h>
#include <linux/completion.h>
#include <linux/module.h>

static DECLARE_COMPLETION(called);

static noinline void late_function(void)
{
	barrier();
}

static int call_late_function(const char *value, const struct kernel_param *kp)
{
	late_function();
	complete(&called);
	return 0;
}

static const struct kernel_param_ops call_ops = { .set = call_late_function };
module_param_cb(call, &call_ops, NULL, 0200);

static int __init late_init(void)
{
	return 0;
}
module_init(late_init);

static void wait_for_call(void *data, async_cookie_t cookie)
{
	wait_for_completion(&called);
}

static void __exit late_exit(void)
{
	async_schedule(wait_for_call, NULL);
}
module_exit(late_exit);

MODULE_DESCRIPTION("Calls a function while it is unloaded");
MODULE_LICENSE("GPL");
