// SPDX-License-Identifier: GPL-2.0
/*
 * A module with a marker and a tracepoint, which hits them when its parameter
 * is written. If it is loaded by force, the kernel must ignore them.
 */
#include <linux/marker.h>
#include <linux/module.h>
#include <linux/tracepoint.h>

DECLARE_TRACE(forced, TP_PROTO(int number), TP_ARGS(number));
DEFINE_TRACE(forced);

static int fire(const char *value, const struct kernel_param *param)
{
	trace_forced_tp(1);
	trace_mark(forced, "number %d", 1);
	return 0;
}

static const struct kernel_param_ops fire_ops = { .set = fire };
module_param_cb(fire, &fire_ops, NULL, 0200);

static int tell(struct notifier_block *nb, unsigned long state, void *data)
{
	struct tp_module *tp_mod = data;

	if (state == MODULE_STATE_COMING && tp_mod->mod == THIS_MODULE)
		pr_info("forced: its tracepoints are announced\n");
	return NOTIFY_OK;
}

static struct notifier_block nb = { .notifier_call = tell };

static int __init forced_init(void)
{
	return register_tracepoint_module_notifier(&nb);
}
module_init(forced_init);

static void __exit forced_exit(void)
{
	unregister_tracepoint_module_notifier(&nb);
}
module_exit(forced_exit);

MODULE_DESCRIPTION("Is loaded by force");
MODULE_LICENSE("GPL");
