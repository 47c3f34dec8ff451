// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The sites of markers: which entry they belong to, their guards, and the
 * tracepoints that feed them.
 *
 * Steps that can fail (memory, tracepoints) come before anything is changed.
 */
#define pr_fmt(fmt) "marker: " fmt

#include <linux/error-injection.h>
#include <linux/module.h>
#include <linux/rbtree.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "markers.h"

/**
 * struct marker_feed - a probe that contains markers, registered on a tracepoint
 * @node: in marker_feeds
 * @tp: the tracepoint
 * @cb: the probe
 * @count: number of sites that use it
 */
struct marker_feed {
	struct rb_node node;
	struct tracepoint *tp;
	void *cb;
	unsigned int count;
};

/* All feeds, sorted by their probe and tracepoint. Protected by markers_mutex. */
static struct rb_root marker_feeds = RB_ROOT;

static struct marker_feed *feed_of(const struct rb_node *node)
{
	return rb_entry(node, struct marker_feed, node);
}

static int compare_feeds(const struct marker_feed *a, const struct marker_feed *b)
{
	if (a->cb != b->cb)
		return a->cb < b->cb ? -1 : 1;
	if (a->tp != b->tp)
		return a->tp < b->tp ? -1 : 1;
	return 0;
}

static int compare_key(const void *wanted, const struct rb_node *node)
{
	return compare_feeds(wanted, feed_of(node));
}

static int compare_nodes(struct rb_node *added, const struct rb_node *node)
{
	return compare_feeds(feed_of(added), feed_of(node));
}

static struct marker_feed *find_feed(const struct marker *site)
{
	const struct marker_feed wanted = { .tp = site->tp, .cb = site->tp_cb };
	struct rb_node *node = rb_find(&wanted, &marker_feeds, compare_key);

	return node ? feed_of(node) : NULL;
}

static int add_feed(const struct marker *site)
{
	struct marker_feed *feed = kmalloc(sizeof(*feed), GFP_KERNEL);
	int ret;

	if (!feed)
		return -ENOMEM;
	feed->tp = site->tp;
	feed->cb = site->tp_cb;
	feed->count = 1;
	ret = tracepoint_probe_register(site->tp, site->tp_cb, NULL);
	if (ret)
		kfree(feed);
	else
		rb_find_add(&feed->node, &marker_feeds, compare_nodes);
	return ret;
}

static int connect_tracepoint(struct marker *site)
{
	struct marker_feed *feed;
	int ret = 0;

	if (!site->tp || site->tp_used)
		return 0;
	feed = find_feed(site);
	if (feed)
		feed->count++;
	else
		ret = add_feed(site);
	if (ret)
		pr_err("%s: its probe cannot be attached to tracepoint %s: error %d\n",
		       site->name, site->tp->name, ret);
	else
		site->tp_used = true;
	return ret;
}

static void disconnect_tracepoint(struct marker *site)
{
	struct marker_feed *feed;

	if (!site->tp_used)
		return;
	site->tp_used = false;
	feed = find_feed(site);
	if (--feed->count)
		return;
	tracepoint_probe_unregister(site->tp, site->tp_cb, NULL);
	rb_erase(&feed->node, &marker_feeds);
	kfree(feed);
}

static void disconnect_part(const struct marker_part *part)
{
	struct marker *site;

	for_each_site_of(part, site)
		disconnect_tracepoint(site);
}

static int connect_part(const struct marker_part *part)
{
	struct marker *site;
	int ret;

	if (part->range->going)
		return 0;
	for_each_site_of(part, site) {
		ret = connect_tracepoint(site);
		if (ret)
			return ret;
	}
	return 0;
}

/* Unregisters the tracepoint probes that contain sites of an entry. */
void marker_disconnect_entry(struct marker_entry *entry)
{
	struct marker_part *part;

	lockdep_assert_held(&markers_mutex);
	list_for_each_entry(part, &entry->parts, in_entry)
		disconnect_part(part);
}

/* Registers the tracepoint probes that contain sites of an entry, or none. */
int marker_connect_entry(struct marker_entry *entry)
{
	struct marker_part *part;
	int ret;

	lockdep_assert_held(&markers_mutex);
	list_for_each_entry(part, &entry->parts, in_entry) {
		ret = connect_part(part);
		if (ret) {
			marker_disconnect_entry(entry);
			return ret;
		}
	}
	return 0;
}

ALLOW_ERROR_INJECTION(marker_connect_entry, ERRNO);

static void set_guards(const struct marker_part *part)
{
	bool active = part->entry->active;
	struct marker *site;

	if (part->range->going)
		return;
	for_each_site_of(part, site)
		if (site->active != active)
			imv_set_var(site->active, active);
}

/* Sets the guards of all sites of an entry to its state. */
void marker_set_guards(struct marker_entry *entry)
{
	struct marker_part *part;

	lockdep_assert_held(&markers_mutex);
	imv_batch_begin();
	list_for_each_entry(part, &entry->parts, in_entry)
		set_guards(part);
	imv_batch_commit();
}

/**
 * marker_finish_guards - patch sites whose guards are set already
 *
 * The task that set them may have deferred the patching. A caller that attaches
 * another probe needs it done on return.
 *
 * Context: may sleep; takes what imv_set() takes.
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
		if (other != entry && other->probes && list_empty(&other->parts))
			pr_warn("%s: a probe waits with the format \"%s\", but the marker has \"%s\"; register with that\n",
				entry->name->name, other->format, entry->format);
}

/* Parts are added in front: only the first can be of the range being added. */
static struct marker_part *find_part(struct marker_entry *entry,
				     const struct marker_range *range)
{
	struct marker_part *part;

	part = list_first_entry_or_null(&entry->parts, struct marker_part,
					in_entry);
	return part && part->range == range ? part : NULL;
}

static struct marker_part *new_part(struct marker_entry *entry,
				    struct marker_range *range)
{
	struct marker_part *part = kzalloc(sizeof(*part), GFP_KERNEL);

	if (!part)
		return NULL;
	part->entry = entry;
	part->range = range;
	list_add(&part->in_entry, &entry->parts);
	list_add_tail(&part->list, &range->parts);
	range->nr_parts++;
	list_del_init(&entry->stale);
	warn_of_other_formats(entry);
	return part;
}

static int add_site(struct marker_range *range, struct marker *site)
{
	struct marker_entry *entry = marker_get_entry(site->name, site->format);
	struct marker_part *part;

	if (!entry)
		return -ENOMEM;
	part = find_part(entry, range) ?: new_part(entry, range);
	if (!part) {
		marker_put_entry(entry);
		return -ENOMEM;
	}
	site->entry = entry;
	site->next = part->sites;
	part->sites = site;
	part->nr_sites++;
	return 0;
}

static void remove_part(struct marker_part *part)
{
	struct marker_entry *entry = part->entry;

	list_del(&part->in_entry);
	list_del(&part->list);
	part->range->nr_parts--;
	kfree(part);
	marker_put_entry(entry);
}

/* The entry of sites that have none any longer */
static struct marker_entry no_entry = {
	.call = RCU_INITIALIZER(marker_no_probes),
};

/*
 * Their guards stay as they are: the code that has them is freed soon. Until then,
 * tasks may execute it and call the entry.
 */
static void retire_sites(const struct marker_part *part)
{
	struct marker *site;

	for_each_site_of(part, site)
		WRITE_ONCE(site->entry, &no_entry);
}

/**
 * marker_disconnect_range - disconnect the sites of a module from their entries
 * @range: the module
 *
 * Unregisters the tracepoint probes of the sites. Afterwards, no entry registers
 * these probes or enables the sites. Code of the module may run until it is freed,
 * for example when a parameter is written. Its sites call no probe then, but
 * entries may be in use until a grace period has passed.
 */
void marker_disconnect_range(struct marker_range *range)
{
	bool deferred = imv_defer_begin();
	const struct marker_part *part;

	lockdep_assert_held(&markers_mutex);
	range->going = true;
	list_for_each_entry(part, &range->parts, list) {
		disconnect_part(part);
		retire_sites(part);
	}
	imv_defer_end(deferred);
}

/**
 * marker_remove_range - remove the sites of a module from their entries
 * @range: the module; a grace period has passed since marker_disconnect_range()
 */
void marker_remove_range(struct marker_range *range)
{
	struct marker_part *part, *next;

	lockdep_assert_held(&markers_mutex);
	list_for_each_entry_safe(part, next, &range->parts, list)
		remove_part(part);
}

/**
 * marker_add_range - add the sites of a module to their entries
 * @range: the module; it has no parts yet
 *
 * Return: 0, or -ENOMEM; then the sites belong to no entry.
 */
int marker_add_range(struct marker_range *range)
{
	struct marker *site;
	int ret;

	lockdep_assert_held(&markers_mutex);
	for (site = range->start; site < range->stop; site++) {
		ret = add_site(range, site);
		if (ret) {
			marker_remove_range(range);
			return ret;
		}
	}
	return 0;
}

ALLOW_ERROR_INJECTION(marker_add_range, ERRNO);

static int connect_range(struct marker_range *range)
{
	bool deferred = imv_defer_begin();
	struct marker_part *part;
	int ret = 0;

	list_for_each_entry(part, &range->parts, list) {
		if (part->entry->active)
			ret = connect_part(part);
		if (ret)
			break;
	}
	imv_defer_end(deferred);
	return ret;
}

/**
 * marker_activate_range - enable the sites of a module for which probes wait
 * @range: the module
 *
 * Return: 0, or the error of registering on a tracepoint; then no guard is set,
 *	   and the caller must call marker_disconnect_range().
 */
int marker_activate_range(struct marker_range *range)
{
	struct marker_part *part;
	int ret = connect_range(range);

	lockdep_assert_held(&markers_mutex);
	if (ret)
		return ret;
	imv_batch_begin();
	list_for_each_entry(part, &range->parts, list)
		set_guards(part);
	imv_batch_commit();
	return 0;
}

ALLOW_ERROR_INJECTION(marker_activate_range, ERRNO);
