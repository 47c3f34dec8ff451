// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The markers of the kernel and of modules: which entry they belong to, and the probes that
 * wait for them.
 *
 * Steps that can fail (memory, tracepoints) come before anything is changed.
 */
#define pr_fmt(fmt) "marker: " fmt

#include <linux/error-injection.h>
#include <linux/slab.h>

#include "markers.h"

LIST_HEAD(marker_all_sites);	/* protected by markers_mutex, as all of this file */

/* Warns of probes that wait for this name with another format. */
static void warn_of_other_formats(const struct marker_entry *entry)
{
	struct marker_entry *other;

	list_for_each_entry(other, &entry->name->entries, list)
		if (other != entry && !list_empty(&other->probes) && list_empty(&other->sites))
			pr_warn("%s: a probe waits with the format \"%s\", but the marker has \"%s\"; register with that\n",
				entry->name->name, other->format, entry->format);
}

/* Have other markers of the same tracepoint another format? */
bool marker_is_refused(const struct marker_sites *sites)
{
	return sites->tp->flags & TRACEPOINT_REFUSED;
}

/* What a probe gets would not be what its format says, so nothing can be attached. */
static void check_tracepoint(const struct marker_entry *entry, struct tracepoint *tp)
{
	struct marker_entry *other;
	struct marker_sites *sites;

	list_for_each_entry(other, &entry->name->entries, list) {
		list_for_each_entry(sites, &other->sites, in_entry) {
			if (other == entry || sites->tp != tp)
				continue;
			pr_err("%s: no probes: it has the format \"%s\", but in another place \"%s\"; give one of the markers another name\n",
			       entry->name->name, other->format, entry->format);
			tp->flags |= TRACEPOINT_REFUSED;
			return;
		}
	}
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
				      struct marker_module *module, struct tracepoint *tp)
{
	struct marker_sites *sites = kzalloc_obj(*sites);

	if (!sites)
		return NULL;
	check_tracepoint(entry, tp);
	sites->entry = entry;
	sites->module = module;
	sites->tp = tp;
	entry->users++;
	list_add(&sites->in_entry, &entry->sites);
	list_add_tail(&sites->in_module, &module->sites);
	list_add_tail(&sites->in_all, &marker_all_sites);
	warn_of_other_formats(entry);
	return sites;
}

static int add_site(struct marker_module *module, const struct marker_site *site)
{
	struct marker_entry *entry = marker_get_entry(marker_site_name(site),
						      marker_ref(&site->format));
	struct marker_sites *sites;

	if (!entry)
		return -ENOMEM;
	sites = find_sites(entry, module) ?: new_sites(entry, module, marker_ref(&site->tp));
	if (!sites) {
		marker_put_entry(entry);
		return -ENOMEM;
	}
	sites->count++;
	return 0;
}

/* Detaches all probes. Afterwards, none is attached to the markers of the module. */
void marker_disconnect_module(struct marker_module *module)
{
	bool deferred = imv_defer_begin();
	struct marker_sites *sites;

	lockdep_assert_held(&markers_mutex);
	list_for_each_entry(sites, &module->sites, in_module)
		marker_detach_probes(sites);
	module->going = true;
	imv_defer_end(deferred);
}

void marker_remove_module(struct marker_module *module)
{
	struct marker_sites *sites, *next;

	lockdep_assert_held(&markers_mutex);
	list_for_each_entry_safe(sites, next, &module->sites, in_module) {
		list_del(&sites->in_all);
		list_del(&sites->in_entry);
		sites->entry->users--;
		marker_put_entry(sites->entry);
		kfree(sites);
	}
	INIT_LIST_HEAD(&module->sites);
}

/* Adds the markers of a module to their entries, all or, without memory, none. */
int marker_add_module(struct marker_module *module)
{
	const struct marker_site *site;
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

/* Attaches the probes that wait for markers of a module, or none. */
int marker_activate_module(struct marker_module *module)
{
	bool deferred = imv_defer_begin();
	struct marker_sites *sites;
	int ret = 0;

	lockdep_assert_held(&markers_mutex);
	list_for_each_entry(sites, &module->sites, in_module) {
		ret = marker_attach_probes(sites);
		if (!ret)
			continue;
		pr_err("%s: a probe cannot be attached: error %d\n",
		       sites->entry->name->name, ret);
		list_for_each_entry_continue_reverse(sites, &module->sites, in_module)
			marker_detach_probes(sites);
		break;
	}
	imv_defer_end(deferred);
	return ret;
}

ALLOW_ERROR_INJECTION(marker_activate_module, ERRNO);
