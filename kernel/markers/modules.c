// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The markers of the kernel and of modules: loading and unloading of modules,
 * the notifiers for that, and the iteration over all markers.
 */
#define pr_fmt(fmt) "marker: " fmt

#include <linux/init.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/slab.h>

#include "markers.h"

extern const struct marker_site __start___markers[], __stop___markers[];

DEFINE_MUTEX(marker_notify_mutex);	/* protects notifiers and modules */
LIST_HEAD(marker_modules);

static BLOCKING_NOTIFIER_HEAD(marker_notifiers);

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
 * @priv: its second argument
 *
 * Context: may sleep; holds markers_mutex, so @fct must not attach or detach.
 * Return: what @fct returned last, or 0.
 */
int for_each_marker(int (*fct)(const struct marker_info *info, void *priv),
		    void *priv)
{
	const struct marker_sites *sites;
	int ret;

	guard(mutex)(&markers_mutex);
	list_for_each_entry(sites, &marker_all_sites, in_all) {
		if (marker_is_refused(sites))
			continue;

		const struct marker_info info = {
			.marker = &sites->entry->marker,
			.mod = sites->module->mod,
			.sites = sites->count,
			.probes = marker_count_probes(sites->entry),
			.armed = sites->entry->name->arm_count,
		};

		ret = fct(&info, priv);
		if (ret)
			return ret;
	}
	return 0;
}
EXPORT_SYMBOL_GPL(for_each_marker);

static void notify_of_all(struct notifier_block *nb, unsigned long state)
{
	struct marker_module *module;

	list_for_each_entry(module, &marker_modules, list)
		nb->notifier_call(nb, state, module->mod);
}

/**
 * register_marker_notifier - be notified of markers that are loaded and unloaded
 * @nb: called with MARKERS_COMING or MARKERS_GOING and the struct module, or
 *	NULL for the kernel; also during registration, for all that are loaded
 *
 * for_each_marker() visits the markers of the module in both cases. While @nb is
 * called because a module is unloaded, its markers call no probes.
 *
 * Context: may sleep. The notifier may register and unregister probes.
 * Return: 0, or -EEXIST if @nb is registered.
 */
int register_marker_notifier(struct notifier_block *nb)
{
	int ret;

	guard(mutex)(&marker_notify_mutex);
	ret = blocking_notifier_chain_register(&marker_notifiers, nb);
	if (!ret)
		notify_of_all(nb, MARKERS_COMING);
	return ret;
}
EXPORT_SYMBOL_GPL(register_marker_notifier);

/**
 * unregister_marker_notifier - undo the registration of a notifier
 * @nb: called with MARKERS_GOING for all that are loaded
 *
 * Context: may sleep.
 * Return: 0, or -ENOENT if @nb is not registered.
 */
int unregister_marker_notifier(struct notifier_block *nb)
{
	int ret;

	guard(mutex)(&marker_notify_mutex);
	ret = blocking_notifier_chain_unregister(&marker_notifiers, nb);
	if (!ret)
		notify_of_all(nb, MARKERS_GOING);
	return ret;
}
EXPORT_SYMBOL_GPL(unregister_marker_notifier);

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
	mutex_lock(&marker_notify_mutex);
	ret = enter_module(mod);
	if (!ret)
		blocking_notifier_call_chain(&marker_notifiers, MARKERS_COMING,
					     mod);
	mutex_unlock(&marker_notify_mutex);
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

	guard(mutex)(&marker_notify_mutex);
	module = marker_find_module(mod);
	if (!module)
		return;
	scoped_guard(mutex, &markers_mutex)
		marker_disconnect_module(module);
	marker_synchronize_unregister();
	blocking_notifier_call_chain(&marker_notifiers, MARKERS_GOING, mod);
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
	.priority = 2,	/* before the trace events of the module are removed */
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
