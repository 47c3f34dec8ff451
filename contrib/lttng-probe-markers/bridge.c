// SPDX-License-Identifier: GPL-2.0
/*
 * Makes the markers of the kernel and of its modules events of LTTng. A marker is a
 * tracepoint: LTTng attaches the probe to it by name, also when a module with such a marker
 * is loaded later, and detaches it.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/err.h>
#include <linux/hashtable.h>
#include <linux/marker.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/stringhash.h>
#include <linux/tracepoint.h>

#include <lttng/events.h>

#include "markers.h"

/* Protects all of this file. Nests inside the lock of the tracepoint notifiers. */
static DEFINE_MUTEX(events_mutex);

/* All events, by the names of their markers; and those whose format is not used now. */
static DEFINE_HASHTABLE(events, 12);
static HLIST_HEAD(outdated_events);
static unsigned int nr_events;

/* LTTng looks for new events only when a provider is registered. */
static struct lttng_kernel_probe_desc provider = { .provider_name = "markers" };
static bool registered, leaving;

/*
 * An event from a format. The kernel parses the format, so fields have the same names as in
 * the trace event of the marker.
 */

static unsigned int base_of(char conversion)
{
	switch (conversion) {
	case 'x':
	case 'X':
	case 'p':
		return 16;
	case 'o':
		return 8;
	}
	return 10;
}

static void set_text(struct mark_field *f)
{
	struct lttng_kernel_type_string *type = &f->type.string;

	type->parent.type = lttng_kernel_type_string;
	type->encoding = lttng_kernel_string_encoding_UTF8;
	f->lttng.type = &type->parent;
}

/* With natural alignment, if the buffers of LTTng have any. */
static void set_number(struct mark_field *f)
{
	struct lttng_kernel_type_integer *type = &f->type.integer;

	type->parent.type = lttng_kernel_type_integer;
	type->size = f->from->size * BITS_PER_BYTE;
	type->alignment = lttng_alignof(u64) == 1 ? BITS_PER_BYTE : type->size;
	type->signedness = f->from->is_signed;
	type->base = base_of(f->from->conversion);
	f->lttng.type = &type->parent;
}

static void set_fields(struct mark_event *event)
{
	unsigned int i;

	for (i = 0; i < event->layout->nr_fields; i++) {
		struct mark_field *f = &event->field[i];

		f->from = &event->layout->field[i];
		f->lttng.name = f->from->name;
		if (strchr("sch", f->from->conversion) || f->from->bytes)
			set_text(f);
		else
			set_number(f);
		event->pointers[i] = &f->lttng;
	}
}

static void free_event(struct mark_event *event)
{
	kfree(event->desc.event_name);
	kfree(event->desc.event_kname);
	kfree(event->layout);
	kfree(event);
}

static struct mark_event *new_event(const struct marker *marker)
{
	struct marker_layout *layout = marker_layout_new(marker->format);
	struct mark_event *event;

	if (IS_ERR(layout))
		return ERR_CAST(layout);
	event = kzalloc(struct_size(event, field, layout->nr_fields), GFP_KERNEL);
	if (!event) {
		kfree(layout);
		return ERR_PTR(-ENOMEM);
	}
	event->layout = layout;
	event->desc.event_name = kasprintf(GFP_KERNEL, "markers_%s", marker->name);
	event->desc.event_kname = kstrdup(marker->name, GFP_KERNEL);
	if (!event->desc.event_name || !event->desc.event_kname) {
		free_event(event);
		return ERR_PTR(-ENOMEM);
	}
	event->desc.tp_class = &event->class;
	event->desc.probe_desc = &provider;
	event->desc.owner = THIS_MODULE;
	event->class.probe_callback = marker_hit;
	event->class.probe_desc = &provider;
	event->class.fields = event->pointers;
	event->class.nr_fields = layout->nr_fields;
	set_fields(event);
	return event;
}

/*
 * The list of events
 */

static u32 hash_of(const char *name)
{
	return full_name_hash(NULL, name, strlen(name));
}

static struct mark_event *find_event(const char *name)
{
	struct mark_event *event;

	hash_for_each_possible(events, event, node, hash_of(name))
		if (!strcmp(event->desc.event_kname, name))
			return event;
	return NULL;
}

static struct mark_event *add_event(const struct marker *marker)
{
	struct mark_event *event = new_event(marker);

	if (IS_ERR(event)) {
		pr_warn("%s: no event for the format \"%s\": error %pe\n", marker->name,
			marker->format, event);
		return NULL;
	}
	hash_add(events, &event->node, hash_of(marker->name));
	nr_events++;
	return event;
}

/* Sessions that have it keep it, but it records nothing. */
static void outdate(struct mark_event *event)
{
	WRITE_ONCE(event->outdated, true);
	hash_del(&event->node);
	hlist_add_head(&event->node, &outdated_events);
	nr_events--;
}

/* @priv: set to true if the list of events changes. */
static int note_marker(const struct marker *marker, struct module *mod, void *priv)
{
	struct mark_event *event = find_event(marker->name);
	bool *changed = priv;

	if (event && strcmp(event->layout->format, marker->format)) {
		*changed = true;
		if (event->present) {
			pr_warn("%s: no event, since it has the format \"%s\", but in another module \"%s\"\n",
				marker->name, event->layout->format, marker->format);
			WRITE_ONCE(event->outdated, true);
			return 0;
		}
		outdate(event);
		event = NULL;
	}
	if (!event) {
		event = add_event(marker);
		*changed |= !!event;
	}
	if (event)
		event->present = true;
	return 0;
}

static void hide_provider(void)
{
	if (registered)
		lttng_kernel_probe_unregister(&provider);
	registered = false;
}

static int show_provider(void)
{
	const struct lttng_kernel_event_desc **list;
	struct mark_event *event;
	unsigned int bucket, i = 0;
	int ret;

	list = kvmalloc_array(nr_events + 1, sizeof(*list), GFP_KERNEL);
	if (!list)
		return -ENOMEM;
	hash_for_each(events, bucket, event, node)
		list[i++] = &event->desc;
	hide_provider();
	kvfree(provider.event_desc);
	provider.event_desc = list;
	provider.nr_events = i;
	ret = lttng_kernel_probe_register(&provider);
	registered = !ret;
	return ret;
}

/* Without memory, LTTng does not see new events, but those that it has continue. */
static int update_list(void)
{
	struct mark_event *event;
	bool changed = false;
	unsigned int bucket;
	int ret;

	hash_for_each(events, bucket, event, node)
		event->present = false;
	for_each_marker(note_marker, &changed);
	ret = changed || !registered ? show_provider() : 0;
	if (ret)
		pr_err("LTTng does not see new markers: error %d\n", ret);
	return ret;
}

/* The events of a module stay when it is unloaded: sessions wait for it to come back. */
static int modules_notify(struct notifier_block *nb, unsigned long change, void *data)
{
	const struct tp_module *module = data;

	guard(mutex)(&events_mutex);
	if (change == MODULE_STATE_COMING && module->mod->num_markers && !leaving)
		update_list();
	return NOTIFY_OK;
}

static struct notifier_block modules_nb = { .notifier_call = modules_notify };

/*
 * No session has an event: it would hold a reference to the module. LTTng must not find one
 * now, so the events are hidden before the wait for the notifiers.
 */
static void markers_exit(void)
{
	struct mark_event *event;
	struct hlist_node *next;
	unsigned int bucket;

	scoped_guard(mutex, &events_mutex) {
		leaving = true;
		hide_provider();
	}
	unregister_tracepoint_module_notifier(&modules_nb);
	marker_synchronize_unregister();
	hash_for_each_safe(events, bucket, next, event, node)
		free_event(event);
	hlist_for_each_entry_safe(event, next, &outdated_events, node)
		free_event(event);
	kvfree(provider.event_desc);
}
module_exit(markers_exit);

static int __init markers_init(void)
{
	int ret = register_tracepoint_module_notifier(&modules_nb);

	if (ret)
		return ret;
	scoped_guard(mutex, &events_mutex)
		ret = update_list();
	if (ret)
		markers_exit();
	return ret;
}
module_init(markers_init);

MODULE_DESCRIPTION("Markers as events of LTTng");
MODULE_LICENSE("GPL");
