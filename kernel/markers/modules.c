// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The markers of the kernel and of modules: loading and unloading of modules, and the
 * iteration over all markers.
 */
#define pr_fmt(fmt) "marker: " fmt

#include <linux/init.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/slab.h>

#include "markers.h"

extern const struct marker_site __start___markers[], __stop___markers[];

DEFINE_MUTEX(marker_modules_mutex);	/* protects modules and events */
LIST_HEAD(marker_modules);

static struct marker_module kernel_module = {
	.sites = LIST_HEAD_INIT(kernel_module.sites),
	.start = __start___markers,
	.stop = __stop___markers,
};

/* With either mutex held. Return: the markers of the module, or NULL. */
struct marker_module *marker_find_module(const struct module *mod)
{
	struct marker_module *module;

	list_for_each_entry(module, &marker_modules, list)
		if (module->mod == mod)
			return module;
	return NULL;
}

/**
 * for_each_marker - visit all markers
 * @fct: called for each name and format in the kernel and in each module, to whose
 *	 markers probes can be attached; a non-zero result stops the iteration
 * @priv: its last argument
 *
 * The module is NULL for the kernel. A notifier of register_tracepoint_module_notifier()
 * is called when a module with markers has been loaded.
 *
 * Context: may sleep; holds markers_mutex, so @fct must not attach or detach.
 * Return: what @fct returned last, or 0.
 */
int for_each_marker(int (*fct)(const struct marker *marker, struct module *mod, void *priv),
		    void *priv)
{
	const struct marker_sites *sites;
	int ret = 0;

	guard(mutex)(&markers_mutex);
	list_for_each_entry(sites, &marker_all_sites, in_all) {
		if (!marker_is_refused(sites))
			ret = fct(&sites->entry->marker, sites->module->mod, priv);
		if (ret)
			break;
	}
	return ret;
}
EXPORT_SYMBOL_GPL(for_each_marker);

/* Without kernel/trace/trace_markers.c, which is a patch of its own */
void __weak marker_add_events(const struct marker_module *module) { }
void __weak marker_remove_events(const struct marker_module *module) { }

#ifdef CONFIG_MODULES
static void forget_module(struct marker_module *module)
{
	lockdep_assert_held(&markers_mutex);
	marker_remove_module(module);
	list_del(&module->list);
	kfree(module);
}

static int enter_module(struct module *mod)
{
	struct marker_module *module = kzalloc(sizeof(*module), GFP_KERNEL);
	int ret;

	if (!module)
		return -ENOMEM;
	INIT_LIST_HEAD(&module->sites);
	module->mod = mod;
	module->start = mod->markers;
	module->stop = mod->markers + mod->num_markers;
	guard(mutex)(&markers_mutex);
	list_add_tail(&module->list, &marker_modules);
	ret = marker_add_module(module) ?: marker_activate_module(module);
	if (ret)
		forget_module(module);
	return ret;
}

static int marker_module_coming(struct module *mod)
{
	int ret;

	if (!mod->num_markers)
		return 0;
	if (trace_module_has_bad_taint(mod)) {
		pr_warn("%s: its markers cannot be used: the module is tainted, see Documentation/trace/markers.rst\n",
			mod->name);
		return 0;
	}
	mutex_lock(&marker_modules_mutex);
	ret = enter_module(mod);
	if (!ret)
		marker_add_events(marker_find_module(mod));
	mutex_unlock(&marker_modules_mutex);
	if (ret) {
		/* Its probes of tracepoints may have been attached for a moment. */
		marker_synchronize_unregister();
		pr_err("%s: its markers cannot be used: error %d\n", mod->name, ret);
	}
	return ret;
}

static void marker_module_going(struct module *mod)
{
	struct marker_module *module;

	guard(mutex)(&marker_modules_mutex);
	module = marker_find_module(mod);
	if (!module)
		return;
	scoped_guard(mutex, &markers_mutex)
		marker_disconnect_module(module);
	marker_synchronize_unregister();
	marker_remove_events(module);
	guard(mutex)(&markers_mutex);
	forget_module(module);
}

int marker_module_notify(struct notifier_block *nb, unsigned long state, void *data)
{
	int ret = 0;

	if (state == MODULE_STATE_COMING)
		ret = marker_module_coming(data);
	else if (state == MODULE_STATE_GOING)
		marker_module_going(data);
	return notifier_from_errno(ret);
}

#if IS_ENABLED(CONFIG_MARKER_KUNIT_TEST)
EXPORT_SYMBOL_GPL(marker_module_notify);
#endif

#else
#define marker_module_notify	NULL	/* register_module_notifier() does nothing */
#endif /* CONFIG_MODULES */

static struct notifier_block marker_module_nb = {
	.notifier_call = marker_module_notify,
	/* Before events of the module are removed, and notifiers of tracepoints visit markers. */
	.priority = 2,
};

static int __init init_kernel(void)
{
	int ret;

	guard(mutex)(&markers_mutex);
	list_add(&kernel_module.list, &marker_modules);
	ret = marker_add_module(&kernel_module) ?: marker_activate_module(&kernel_module);
	kernel_module.going = ret;
	return ret;
}

/*
 * With trace events, which the command line may enable, this is called early:
 * with interrupts disabled, before other CPUs run. Probes that are registered
 * earlier wait.
 */
int __init marker_init(void)
{
	static bool done __initdata;
	int ret;

	if (done)
		return 0;
	done = true;
	ret = init_kernel() ?: register_module_notifier(&marker_module_nb);
	if (ret)
		pr_err("the markers of the kernel cannot be used: error %d\n", ret);
	return ret;
}
early_initcall(marker_init);
