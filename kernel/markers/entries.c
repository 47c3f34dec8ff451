// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The names of markers, and the entries: one for each name and format. An entry
 * exists while it has markers or probes; a name, while it has entries or is armed. Hits that
 * use them may not be over then, so they are freed later.
 */
#include <linux/error-injection.h>
#include <linux/rbtree.h>
#include <linux/slab.h>

#include "markers.h"

DEFINE_MUTEX(markers_mutex);	/* protects all of this file */
LIST_HEAD(marker_attached);

/*
 * All names. A tree needs no memory of its own, and works before interrupts are
 * enabled, when the command line enables trace events.
 */
static struct rb_root marker_names = RB_ROOT;

static struct marker_name *name_of(const struct rb_node *node)
{
	return rb_entry(node, struct marker_name, node);
}

static int compare_name(const void *name, const struct rb_node *node)
{
	return strcmp(name, name_of(node)->name);
}

static int compare_nodes(struct rb_node *added, const struct rb_node *node)
{
	return compare_name(name_of(added)->name, node);
}

/* Return: the name, or NULL if it has no entries and is not armed. */
struct marker_name *marker_find_name(const char *name)
{
	struct rb_node *node = rb_find(name, &marker_names, compare_name);

	lockdep_assert_held(&markers_mutex);
	return node ? name_of(node) : NULL;
}

static struct marker_name *get_name(const char *text)
{
	struct marker_name *name = marker_find_name(text);
	size_t size = strlen(text) + 1;

	if (name)
		return name;
	name = kzalloc(struct_size(name, name, size), GFP_KERNEL);
	if (!name)
		return NULL;
	INIT_LIST_HEAD(&name->entries);
	memcpy(name->name, text, size);
	rb_find_add(&name->node, &marker_names, compare_nodes);
	return name;
}

static void free_name(struct tp_retired *retired)
{
	kfree(container_of(retired, struct marker_name, retired));
}

/* Drops a name that has no entries and is not armed. */
void marker_put_name(struct marker_name *name)
{
	if (!list_empty(&name->entries) || name->arm_count)
		return;
	rb_erase(&name->node, &marker_names);
	tracepoint_free_later(&name->retired, free_name);
}

struct marker_entry *marker_find_entry(const struct marker_name *name, const char *format)
{
	size_t len = marker_format_len(format);
	struct marker_entry *entry;

	list_for_each_entry(entry, &name->entries, list)
		if (!strncmp(entry->format, format, len) && !entry->format[len])
			return entry;
	return NULL;
}

static struct marker_entry *new_entry(struct marker_name *name,
				      const char *format)
{
	struct marker_layout *layout = marker_layout_new(format);
	size_t len = marker_format_len(format);
	struct marker_entry *entry;

	if (PTR_ERR(layout) == -ENOMEM)
		return NULL;
	if (IS_ERR(layout))
		layout = NULL;	/* the format is invalid */
	entry = kzalloc(struct_size(entry, format, len + 1), GFP_KERNEL);
	if (!entry) {
		kfree(layout);
		return NULL;
	}
	memcpy(entry->format, format, len);
	entry->layout = layout;
	entry->name = name;
	entry->marker.name = name->name;
	entry->marker.format = entry->format;
	INIT_LIST_HEAD(&entry->sites);
	INIT_LIST_HEAD(&entry->probes);
	INIT_LIST_HEAD(&entry->attached);
	list_add_tail(&entry->list, &name->entries);
	return entry;
}

/*
 * Return: the entry, which marker_put_entry() drops unless it is in use; or NULL if memory
 *	   is short.
 */
struct marker_entry *marker_get_entry(const char *text, const char *format)
{
	struct marker_name *name = get_name(text);
	struct marker_entry *entry;

	if (!name)
		return NULL;
	entry = marker_find_entry(name, format) ?: new_entry(name, format);
	if (!entry)
		marker_put_name(name);
	return entry;
}

ALLOW_ERROR_INJECTION(marker_get_entry, NULL);

static void free_entry(struct tp_retired *retired)
{
	struct marker_entry *entry = container_of(retired, struct marker_entry, retired);

	kfree(entry->layout);
	kfree(entry);
}

/* Drops an entry that has no users. */
void marker_put_entry(struct marker_entry *entry)
{
	struct marker_name *name = entry->name;

	lockdep_assert_held(&markers_mutex);
	if (entry->users)
		return;
	list_del(&entry->list);
	tracepoint_free_later(&entry->retired, free_entry);
	marker_put_name(name);
}

/* Return: the number of probes attached to an entry. */
unsigned int marker_count_probes(const struct marker_entry *entry)
{
	return list_count_nodes((struct list_head *)&entry->probes);
}
