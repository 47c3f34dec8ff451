// SPDX-License-Identifier: GPL-2.0
/*
 * Lets the module "coming" fail to load, after its immediate values and markers were
 * added and before its tracepoints are. Reading "left" shows whether its sites are
 * still known then: 0 is right.
 */
#include <linux/errno.h>
#include <linux/immediate.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/string.h>

static void *site;

/* The first byte of a site of the module. */
static void *find_site(const struct module *mod)
{
	void *text = mod->mem[MOD_TEXT].base, *end = text + mod->mem[MOD_TEXT].size;

	for (; text < end; text++)
		if (imv_text_reserved(text, text))
			return text;
	return NULL;
}

static int refuse(struct notifier_block *nb, unsigned long state, void *data)
{
	struct module *mod = data;

	if (state != MODULE_STATE_COMING || strcmp(mod->name, "coming"))
		return NOTIFY_DONE;
	site = find_site(mod);
	return notifier_from_errno(-ENOMEM);
}

/* Between the notifiers of markers and of tracepoints. */
static struct notifier_block refuse_nb = { .notifier_call = refuse, .priority = 1 };

static int left_get(char *buffer, const struct kernel_param *param)
{
	return sprintf(buffer, "%s\n", !site ? "no site" :
		       imv_text_reserved(site, site) ? "1" : "0");
}

static const struct kernel_param_ops left_ops = { .get = left_get };
module_param_cb(left, &left_ops, NULL, 0400);

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
