// SPDX-License-Identifier: GPL-2.0
/*
 * Lets the module "coming" fail to load, after its markers were added and before
 * its tracepoints are.
 */
#include <linux/errno.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/string.h>

static int refuse(struct notifier_block *nb, unsigned long state, void *data)
{
	struct module *mod = data;

	if (state != MODULE_STATE_COMING || strcmp(mod->name, "coming"))
		return NOTIFY_DONE;
	return notifier_from_errno(-ENOMEM);
}

/* Between the notifiers of markers and of tracepoints. */
static struct notifier_block refuse_nb = { .notifier_call = refuse, .priority = 1 };

static int __init refuse_init(void)
{
	return register_module_notifier(&refuse_nb);
}
module_init(refuse_init);

static void __exit refuse_exit(void)
{
	unregister_module_notifier(&refuse_nb);
}
module_exit(refuse_exit);

MODULE_DESCRIPTION("Refuses a module");
MODULE_LICENSE("GPL");
