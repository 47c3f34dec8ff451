// SPDX-License-Identifier: GPL-2.0
/*
 * Probes the tracepoint of the module "leaving" until that is unloaded. Then it makes
 * the call that must not reach the probe any longer.
 */
#include <linux/module.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

void leaving_call(void);

static int hits, late;
module_param(hits, int, 0444);
module_param(late, int, 0444);

static struct tracepoint *leaving;
static void (*call)(void);
static bool is_unregistered;

static void probe(void *data, int number)
{
	if (is_unregistered)
		late++;
	else
		hits++;
}

static int notify(struct notifier_block *nb, unsigned long state, void *data)
{
	const struct module *mod = ((struct tp_module *)data)->mod;

	if (strcmp(mod->name, "leaving"))
		return NOTIFY_DONE;
	if (state == MODULE_STATE_COMING) {
		leaving = tracepoint_ptr_deref(mod->tracepoints_ptrs);
		tracepoint_probe_register(leaving, probe, NULL);
	} else if (state == MODULE_STATE_GOING) {
		tracepoint_probe_unregister(leaving, probe, NULL);
		tracepoint_synchronize_unregister();
		is_unregistered = true;
		if (call)
			call();
	}
	return NOTIFY_OK;
}

static struct notifier_block nb = { .notifier_call = notify };

/* The reference is dropped at once, so that the module can be unloaded. */
static int call_set(const char *value, const struct kernel_param *param)
{
	call = symbol_get(leaving_call);
	if (!call)
		return -ENOENT;
	call();
	symbol_put(leaving_call);
	return 0;
}

static const struct kernel_param_ops call_ops = { .set = call_set };
module_param_cb(call, &call_ops, NULL, 0200);

static int __init leaving_probe_init(void)
{
	return register_tracepoint_module_notifier(&nb);
}
module_init(leaving_probe_init);

static void __exit leaving_probe_exit(void)
{
	unregister_tracepoint_module_notifier(&nb);
}
module_exit(leaving_probe_exit);

MODULE_DESCRIPTION("A probe that is unregistered when the module of its tracepoint is unloaded");
MODULE_LICENSE("GPL");
