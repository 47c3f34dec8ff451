// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The markers of the kernel and of modules: loading and unloading of modules,
 * the notifiers for that, and the iteration over all markers.
 */
#define pr_fmt(fmt) "marker: " fmt

#include <linux/ctype.h>
#include <linux/err.h>
#include <linux/init.h>
#include <linux/module.h>
#include <linux/module-memory.h>
#include <linux/notifier.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <asm/sections.h>

#include "../tracepoint-private.h"
#include "markers.h"

extern struct marker __start___markers[], __stop___markers[];

DEFINE_MUTEX(marker_notify_mutex);	/* protects notifiers and ranges */
LIST_HEAD(marker_ranges);

static BLOCKING_NOTIFIER_HEAD(marker_notifiers);

static struct marker_range kernel_range = {
	.parts = LIST_HEAD_INIT(kernel_range.parts),
	.start = __start___markers,
	.stop = __stop___markers,
};

/**
 * marker_find_range - find the markers of a module
 * @mod: the module, or NULL for the kernel
 *
 * Context: markers_mutex or marker_notify_mutex is held.
 * Return: its markers, or NULL.
 */
struct marker_range *marker_find_range(const struct module *mod)
{
	struct marker_range *range;

	list_for_each_entry(range, &marker_ranges, list)
		if (range->mod == mod)
			return range;
	return NULL;
}

/*
 * Walks
 */

static struct marker_part *first_part_from(struct marker_range *range, loff_t n)
{
	struct marker_part *part;

	list_for_each_entry_from(range, &marker_ranges, list) {
		if (n >= range->nr_parts) {
			n -= range->nr_parts;
			continue;
		}
		list_for_each_entry(part, &range->parts, list)
			if (!n--)
				return part;
	}
	return NULL;
}

/**
 * marker_nth_part - find a part by its number
 * @n: index of the part, from 0
 *
 * Return: the part, or NULL if there are not so many.
 */
struct marker_part *marker_nth_part(loff_t n)
{
	lockdep_assert_held(&markers_mutex);
	return first_part_from(list_first_entry(&marker_ranges,
						struct marker_range, list), n);
}

/**
 * marker_next_part - find the next part
 * @part: a part
 *
 * Return: the next one, or NULL.
 */
struct marker_part *marker_next_part(struct marker_part *part)
{
	lockdep_assert_held(&markers_mutex);
	if (!list_is_last(&part->list, &part->range->parts))
		return list_next_entry(part, list);
	return first_part_from(list_next_entry(part->range, list), 0);
}

static int visit_range(const struct marker_range *range,
		       int (*fct)(const struct marker_info *info, void *priv),
		       void *priv)
{
	const struct marker_part *part;
	int ret;

	list_for_each_entry(part, &range->parts, list) {
		const struct marker_info info = {
			.marker = part->sites,
			.mod = range->mod,
			.sites = part->nr_sites,
			.probes = marker_count_probes(part->entry),
			.armed = part->entry->name->arm_count,
		};

		ret = fct(&info, priv);
		if (ret)
			return ret;
	}
	return 0;
}

/**
 * for_each_marker_of - visit the markers of a module
 * @mod: the module, or NULL for the kernel
 * @fct: called for each name and format in @mod; a non-zero result stops the
 *	 iteration
 * @priv: its second argument
 *
 * Context: may sleep; holds markers_mutex, so @fct must not attach or detach.
 * Return: what @fct returned last, or 0.
 */
int for_each_marker_of(const struct module *mod,
		       int (*fct)(const struct marker_info *info, void *priv),
		       void *priv)
{
	struct marker_range *range;
	int ret = 0;

	mutex_lock(&markers_mutex);
	range = marker_find_range(mod);
	if (range)
		ret = visit_range(range, fct, priv);
	mutex_unlock(&markers_mutex);
	return ret;
}
EXPORT_SYMBOL_GPL(for_each_marker_of);

/**
 * for_each_marker - visit all markers
 * @fct: called for each name and format in the kernel and in each module; a
 *	 non-zero result stops the iteration
 * @priv: its second argument
 *
 * Context: may sleep; holds markers_mutex, so @fct must not attach or detach.
 * Return: what @fct returned last, or 0.
 */
int for_each_marker(int (*fct)(const struct marker_info *info, void *priv),
		    void *priv)
{
	struct marker_range *range;
	int ret = 0;

	mutex_lock(&markers_mutex);
	list_for_each_entry(range, &marker_ranges, list) {
		ret = visit_range(range, fct, priv);
		if (ret)
			break;
	}
	mutex_unlock(&markers_mutex);
	return ret;
}
EXPORT_SYMBOL_GPL(for_each_marker);

/*
 * Notifiers
 */

static void notify_of_all(struct notifier_block *nb, unsigned long state)
{
	struct marker_range *range;

	list_for_each_entry(range, &marker_ranges, list)
		nb->notifier_call(nb, state, range->mod);
}

/**
 * register_marker_notifier - be notified of markers that are loaded and unloaded
 * @nb: called with MARKERS_COMING or MARKERS_GOING and the struct module, or
 *	NULL for the kernel; also during registration, for all that are loaded
 *
 * for_each_marker() visits the markers of a module when @nb is called for its
 * loading, and no longer visits them when @nb is called for its unloading. It still
 * visits them when @nb is called because it is being unregistered.
 *
 * Context: may sleep. The notifier may register and unregister probes.
 * Return: 0, or -EEXIST if @nb is registered.
 */
int register_marker_notifier(struct notifier_block *nb)
{
	int ret;

	mutex_lock(&marker_notify_mutex);
	ret = blocking_notifier_chain_register(&marker_notifiers, nb);
	if (!ret)
		notify_of_all(nb, MARKERS_COMING);
	mutex_unlock(&marker_notify_mutex);
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

	mutex_lock(&marker_notify_mutex);
	ret = blocking_notifier_chain_unregister(&marker_notifiers, nb);
	if (!ret)
		notify_of_all(nb, MARKERS_GOING);
	mutex_unlock(&marker_notify_mutex);
	return ret;
}
EXPORT_SYMBOL_GPL(unregister_marker_notifier);

#ifdef CONFIG_MODULES
/*
 * Modules
 */

/* The fields that are set at run time must still be zero. */
static bool site_is_new(const struct marker *site)
{
	return !site->entry && !site->next && !site->active && !site->tp_used;
}

static bool is_probe(const struct module *mod, const void *function)
{
	struct module_part text = module_text(mod);

	if (have_function_descriptors())
		function = dereference_module_function_descriptor((struct module *)mod,
								  (void *)function);
	return function >= text.base && function < text.base + text.size;
}

/* trace_mark() makes a name of a token. Others would break files of tracefs. */
static bool is_token(const char *name)
{
	for (; *name; name++)
		if (isascii(*name) && !isalnum(*name) && *name != '_' && *name != '$')
			return false;
	return true;
}

/* Return: a description of the error in a record, or NULL. */
static const char *site_fault(const struct module *mod, const struct marker *site)
{
	if (!trace_module_has_text(mod, site->name, MARKER_NAME_LEN) || !*site->name)
		return "it has no name";
	if (!is_token(site->name))
		return "its name is not one word";
	if (!trace_module_has_text(mod, site->format, MARKER_FORMAT_LEN))
		return "it has no format";
	if (!site_is_new(site))
		return "it is in use already";
	if (!site->tp && !site->tp_cb)
		return NULL;
	if (!site->tp || !tracepoint_is_known(site->tp, mod))
		return "it is fed by no tracepoint";
	return is_probe(mod, site->tp_cb) ? NULL : "its probe is no function of the module";
}

/* Rejects a truncated or overwritten section before its pointers are used. */
static int check_sites(const struct module *mod)
{
	const char *fault;
	unsigned int i;

	for (i = 0; i < mod->num_markers; i++) {
		fault = site_fault(mod, &mod->markers[i]);
		if (!fault)
			continue;
		pr_err("%s: record %u of %u in section __markers is broken: %s; build the module again\n",
		       mod->name, i, mod->num_markers, fault);
		return -ENOEXEC;
	}
	return 0;
}

static struct marker_range *new_range(struct module *mod)
{
	struct marker_range *range = kzalloc(sizeof(*range), GFP_KERNEL);

	if (!range)
		return NULL;
	INIT_LIST_HEAD(&range->parts);
	range->mod = mod;
	range->start = mod->markers;
	range->stop = mod->markers + mod->num_markers;
	return range;
}

static void leave_range(struct marker_range *range)
{
	mutex_lock(&markers_mutex);
	marker_disconnect_range(range);
	mutex_unlock(&markers_mutex);
	marker_synchronize_unregister();
	mutex_lock(&markers_mutex);
	marker_remove_range(range);
	list_del(&range->list);
	mutex_unlock(&markers_mutex);
	kfree(range);
}

static int enter_range(struct marker_range *range)
{
	int ret;

	mutex_lock(&markers_mutex);
	ret = marker_add_range(range);
	if (!ret) {
		list_add_tail(&range->list, &marker_ranges);
		ret = marker_activate_range(range);
		mutex_unlock(&markers_mutex);
		if (ret)
			leave_range(range);
		return ret;
	}
	mutex_unlock(&markers_mutex);
	kfree(range);
	return ret;
}

static int marker_module_coming(struct module *mod)
{
	struct marker_range *range;
	int ret;

	if (!mod->num_markers)
		return 0;
	if (trace_module_has_bad_taint(mod)) {
		pr_warn("%s: its markers cannot be used: the module is tainted, see Documentation/trace/markers.rst\n",
			mod->name);
		return 0;
	}
	ret = check_sites(mod);
	if (ret)
		return ret;
	range = new_range(mod);
	if (!range)
		return -ENOMEM;

	mutex_lock(&marker_notify_mutex);
	ret = enter_range(range);
	if (!ret)
		blocking_notifier_call_chain(&marker_notifiers, MARKERS_COMING,
					     mod);
	mutex_unlock(&marker_notify_mutex);
	if (ret)
		pr_err("%s: its markers cannot be used: error %d\n", mod->name,
		       ret);
	return ret;
}

/* Return: the first probe of an entry whose code is in the module, or NULL */
static struct marker_probe *find_stray_probe(const struct marker_entry *entry,
					     struct module *mod)
{
	unsigned int i;

	for (i = 0; entry->probes && i < entry->probes->count; i++)
		if (within_module((unsigned long)entry->probes->probe[i].func,
				  mod))
			return &entry->probes->probe[i];
	return NULL;
}

/* Detaches the probes that a module did not unregister. */
static bool drop_stray_probes(struct module *mod)
{
	struct marker_entry *entry, *next;
	struct marker_probe *probe;
	bool found = false;

	list_for_each_entry_safe(entry, next, &marker_attached, attached) {
		while ((probe = find_stray_probe(entry, mod))) {
			bool last = marker_count_probes(entry) == 1;

			pr_err("%s: module %s is unloaded while its probe %ps is attached; unregister it in the module's exit function\n",
			       entry->name->name, mod->name, probe->func);
			marker_remove_probe(entry, probe);
			found = true;
			if (last)
				break;	/* the entry may be freed */
		}
	}
	return found;
}

static void marker_module_going(struct module *mod)
{
	struct marker_range *range;
	bool stray;

	mutex_lock(&marker_notify_mutex);
	mutex_lock(&markers_mutex);
	stray = drop_stray_probes(mod);
	mutex_unlock(&markers_mutex);
	if (stray)
		marker_synchronize_unregister();
	range = mod->num_markers ? marker_find_range(mod) : NULL;
	if (range) {
		leave_range(range);
		blocking_notifier_call_chain(&marker_notifiers, MARKERS_GOING,
					     mod);
	}
	mutex_unlock(&marker_notify_mutex);
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

static struct notifier_block marker_module_nb = {
	.notifier_call = marker_module_notify,
	.priority = 1,	/* before tracepoints check for probes of the module */
};

static int __init init_modules(void)
{
	return register_module_notifier(&marker_module_nb);
}
#else
static int __init init_modules(void)
{
	return 0;
}
#endif /* CONFIG_MODULES */

static int __init init_kernel_range(void)
{
	int ret;

	mutex_lock(&markers_mutex);
	ret = marker_add_range(&kernel_range);
	if (!ret) {
		list_add(&kernel_range.list, &marker_ranges);
		ret = marker_activate_range(&kernel_range);
		if (ret)
			marker_disconnect_range(&kernel_range);
	}
	mutex_unlock(&markers_mutex);
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
	ret = init_kernel_range() ?: init_modules();
	if (ret)
		pr_err("the markers of the kernel cannot be used: error %d\n", ret);
	return ret;
}
early_initcall(marker_init);
