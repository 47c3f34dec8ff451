// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The sites of markers: which entry they belong to, their guards, and the
 * tracepoints that feed them.
 *
 * Steps that can fail (memory, tracepoints) come before anything is changed.
 */
#define pr_fmt(fmt) "marker: " fmt

#include <linux/error-injection.h>
#include <linux/slab.h>

#include "markers.h"

LIST_HEAD(marker_all_sites);	/* protected by markers_mutex, as all of this file */

/**
 * struct tracepoint_probe - a probe with markers in it, registered on a tracepoint
 * @list: in tracepoint_probes
 * @tp: the tracepoint
 * @cb: the probe
 * @sites: number of active sites in it
 */
struct tracepoint_probe {
	struct list_head list;
	struct tracepoint *tp;
	void *cb;
	unsigned int sites;
};

static LIST_HEAD(tracepoint_probes);

static struct tracepoint_probe *find_probe(const struct marker *site)
{
	struct tracepoint_probe *probe;

	list_for_each_entry(probe, &tracepoint_probes, list)
		if (probe->tp == site->tp && probe->cb == site->tp_cb)
			return probe;
	return NULL;
}

static int register_probe(const struct marker *site)
{
	struct tracepoint_probe *probe = kmalloc(sizeof(*probe), GFP_KERNEL);
	int ret;

	if (!probe)
		return -ENOMEM;
	probe->tp = site->tp;
	probe->cb = site->tp_cb;
	probe->sites = 1;
	ret = tracepoint_probe_register(site->tp, site->tp_cb, NULL);
	if (ret)
		kfree(probe);
	else
		list_add(&probe->list, &tracepoint_probes);
	return ret;
}

static int connect_site(struct marker *site)
{
	struct tracepoint_probe *probe;
	int ret = 0;

	if (!site->tp || site->tp_used)
		return 0;
	probe = find_probe(site);
	if (probe)
		probe->sites++;
	else
		ret = register_probe(site);
	if (ret)
		pr_err("%s: its probe cannot be attached to tracepoint %s: error %d\n",
		       site->name, site->tp->name, ret);
	else
		site->tp_used = true;
	return ret;
}

static void disconnect_site(struct marker *site)
{
	struct tracepoint_probe *probe;

	if (!site->tp_used)
		return;
	site->tp_used = false;
	probe = find_probe(site);
	if (--probe->sites)
		return;
	tracepoint_probe_unregister(site->tp, site->tp_cb, NULL);
	list_del(&probe->list);
	kfree(probe);
}

static void disconnect_sites(const struct marker_sites *sites)
{
	struct marker *site;

	for_each_site_of(sites, site)
		disconnect_site(site);
}

static int connect_sites(const struct marker_sites *sites)
{
	struct marker *site;
	int ret;

	if (sites->module->going)
		return 0;
	for_each_site_of(sites, site) {
		ret = connect_site(site);
		if (ret)
			return ret;
	}
	return 0;
}

/* Unregisters the tracepoint probes that contain sites of an entry. */
void marker_disconnect_entry(struct marker_entry *entry)
{
	struct marker_sites *sites;

	lockdep_assert_held(&markers_mutex);
	list_for_each_entry(sites, &entry->sites, in_entry)
		disconnect_sites(sites);
}

/* Registers the tracepoint probes that contain sites of an entry, or none. */
int marker_connect_entry(struct marker_entry *entry)
{
	struct marker_sites *sites;
	int ret;

	lockdep_assert_held(&markers_mutex);
	list_for_each_entry(sites, &entry->sites, in_entry) {
		ret = connect_sites(sites);
		if (ret) {
			marker_disconnect_entry(entry);
			return ret;
		}
	}
	return 0;
}

ALLOW_ERROR_INJECTION(marker_connect_entry, ERRNO);

static void set_guards(const struct marker_sites *sites)
{
	bool active = sites->entry->active;
	struct marker *site;

	if (sites->module->going)
		return;
	for_each_site_of(sites, site)
		if (site->active != active)
			imv_set_var(site->active, active);
}

/* Sets the guards of all sites of an entry to its state. */
void marker_set_guards(struct marker_entry *entry)
{
	struct marker_sites *sites;

	lockdep_assert_held(&markers_mutex);
	imv_batch_begin();
	list_for_each_entry(sites, &entry->sites, in_entry)
		set_guards(sites);
	imv_batch_commit();
}

/*
 * Patches sites whose guards are set already: the task that set them may have deferred
 * the patching. A caller that attaches another probe needs it done on return.
 */
void marker_finish_guards(void)
{
	lockdep_assert_held(&markers_mutex);
	imv_batch_begin();
	imv_batch_commit();
}

/* Warns of probes that wait for this name with another format. */
static void warn_of_other_formats(const struct marker_entry *entry)
{
	struct marker_entry *other;

	list_for_each_entry(other, &entry->name->entries, list)
		if (other != entry && other->probes && list_empty(&other->sites))
			pr_warn("%s: a probe waits with the format \"%s\", but the marker has \"%s\"; register with that\n",
				entry->name->name, other->format, entry->format);
}

/* The newest is in front: only the first can be of the module being added. */
static struct marker_sites *find_sites(struct marker_entry *entry,
				       const struct marker_module *module)
{
	struct marker_sites *sites;

	sites = list_first_entry_or_null(&entry->sites, struct marker_sites,
					 in_entry);
	return sites && sites->module == module ? sites : NULL;
}

static struct marker_sites *new_sites(struct marker_entry *entry,
				      struct marker_module *module)
{
	struct marker_sites *sites = kzalloc(sizeof(*sites), GFP_KERNEL);

	if (!sites)
		return NULL;
	sites->entry = entry;
	sites->module = module;
	list_add(&sites->in_entry, &entry->sites);
	list_add_tail(&sites->in_module, &module->sites);
	list_add_tail(&sites->in_all, &marker_all_sites);
	warn_of_other_formats(entry);
	return sites;
}

static int add_site(struct marker_module *module, struct marker *site)
{
	struct marker_entry *entry = marker_get_entry(site->name, site->format);
	struct marker_sites *sites;

	if (!entry)
		return -ENOMEM;
	sites = find_sites(entry, module) ?: new_sites(entry, module);
	if (!sites) {
		marker_put_entry(entry);
		return -ENOMEM;
	}
	site->entry = entry;
	site->next = sites->first;
	sites->first = site;
	sites->count++;
	return 0;
}

/* The entry of sites whose module is unloaded */
static struct marker_entry no_entry = {
	.call = RCU_INITIALIZER(marker_no_probes),
};

/*
 * Their guards stay as they are: the code that has them is freed soon. Until then,
 * tasks may execute it and call the entry.
 */
static void retire_sites(const struct marker_sites *sites)
{
	struct marker *site;

	for_each_site_of(sites, site)
		WRITE_ONCE(site->entry, &no_entry);
}

/*
 * Unregisters the tracepoint probes of a module. Afterwards, no entry registers these
 * probes or enables the sites. Code of the module may run until it is freed, for example
 * when a parameter is written. Its sites call no probe then, but entries may be in use
 * until a grace period has passed.
 */
void marker_disconnect_module(struct marker_module *module)
{
	bool deferred = imv_defer_begin();
	const struct marker_sites *sites;

	lockdep_assert_held(&markers_mutex);
	module->going = true;
	list_for_each_entry(sites, &module->sites, in_module) {
		disconnect_sites(sites);
		retire_sites(sites);
	}
	imv_defer_end(deferred);
}

/* After marker_disconnect_module() and a grace period, no site uses its entry. */
void marker_remove_module(struct marker_module *module)
{
	struct marker_sites *sites, *next;

	lockdep_assert_held(&markers_mutex);
	list_for_each_entry_safe(sites, next, &module->sites, in_module) {
		list_del(&sites->in_all);
		list_del(&sites->in_entry);
		marker_put_entry(sites->entry);
		kfree(sites);
	}
	INIT_LIST_HEAD(&module->sites);
}

/* Adds the sites of a module to their entries, all or, without memory, none. */
int marker_add_module(struct marker_module *module)
{
	struct marker *site;
	int ret;

	lockdep_assert_held(&markers_mutex);
	for (site = module->start; site < module->stop; site++) {
		ret = add_site(module, site);
		if (ret) {
			marker_remove_module(module);
			return ret;
		}
	}
	return 0;
}

ALLOW_ERROR_INJECTION(marker_add_module, ERRNO);

static int connect_module(struct marker_module *module)
{
	bool deferred = imv_defer_begin();
	struct marker_sites *sites;
	int ret = 0;

	list_for_each_entry(sites, &module->sites, in_module) {
		if (sites->entry->active)
			ret = connect_sites(sites);
		if (ret)
			break;
	}
	imv_defer_end(deferred);
	return ret;
}

/*
 * Enables the sites of a module for which probes wait. If a tracepoint returns an error, no
 * guard is set, and the caller must call marker_disconnect_module().
 */
int marker_activate_module(struct marker_module *module)
{
	struct marker_sites *sites;
	int ret = connect_module(module);

	lockdep_assert_held(&markers_mutex);
	if (ret)
		return ret;
	imv_batch_begin();
	list_for_each_entry(sites, &module->sites, in_module)
		set_guards(sites);
	imv_batch_commit();
	return 0;
}

ALLOW_ERROR_INJECTION(marker_activate_module, ERRNO);
