// SPDX-License-Identifier: GPL-2.0
/*
 * Makes the markers of the kernel and of its modules events of LTTng: one for
 * each name and format. LTTng shows those of the kernel and of loaded modules.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/err.h>
#include <linux/hashtable.h>
#include <linux/immediate.h>
#include <linux/marker.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/stringhash.h>

#include <lttng/events.h>

#include "markers.h"

/*
 * Protects all data of this file. Nests outside the locks of LTTng and of
 * markers, and inside that of the marker notifiers.
 */
static DEFINE_MUTEX(events_mutex);

/* All events, by the names of their markers */
static DEFINE_HASHTABLE(events, 12);
static unsigned int nr_events;

/*
 * The events that LTTng shows. Its list of descriptions changes only while it is
 * not registered.
 */
static struct lttng_kernel_probe_desc provider = { .provider_name = "markers" };
static bool started, registered;

/*
 * The probes on markers
 */

/* If its slot is shared, it may have no user: then a hit finds none. */
static void update_event(struct mark_event *event)
{
	bool wanted = event->present && tracepoint_active(event->slot);
	int ret;

	if (wanted == event->connected)
		return;
	event->connected = wanted;
	if (!wanted) {
		marker_probe_unregister(event->name, marker_hit, event);
		return;
	}
	ret = marker_probe_register(event->name, event->layout->format,
				    marker_hit, event);
	if (!ret)
		return;
	event->connected = false;
	pr_err("%s: not connected to the marker, its hits are lost: error %d\n",
	       event->desc.event_name, ret);
}

/* Patches code once. */
static void update_all(void)
{
	bool deferred = imv_defer_begin();
	struct mark_event *event;
	unsigned int bucket;

	hash_for_each(events, bucket, event, node)
		update_event(event);
	imv_defer_end(deferred);
}

static void slots_changed(void)
{
	mutex_lock(&events_mutex);
	update_all();
	mutex_unlock(&events_mutex);
}

/*
 * The list of events
 */

static u32 hash_of(const char *name)
{
	return full_name_hash(NULL, name, strlen(name));
}

/* @number: set to that of the next event of this name */
static struct mark_event *find_event(const char *name, const char *format,
				     unsigned int *number)
{
	struct mark_event *event;

	*number = 1;
	hash_for_each_possible(events, event, node, hash_of(name)) {
		if (strcmp(event->name, name))
			continue;
		if (!strcmp(event->layout->format, format))
			return event;
		++*number;
	}
	return NULL;
}

static struct mark_event *add_event(const char *name, const char *format,
				    unsigned int number, bool is_new)
{
	struct mark_event *event = new_event(name, format, number);

	if (IS_ERR(event)) {
		if (is_new)
			pr_warn("%s: no event for the format \"%s\": error %pe\n", name,
				format, event);
		return NULL;
	}
	if (number > 1)
		pr_warn("%s: a marker of this name has another format; that with \"%s\" is the event %s\n",
			name, format, event->desc.event_name);
	event->slot = nth_slot(nr_events++);
	event->desc.event_kname = event->slot->name;
	event->desc.probe_desc = &provider;
	event->class.probe_desc = &provider;
	event->class.probe_callback = (void (*)(void))slot_probe;
	hash_add(events, &event->node, hash_of(name));
	return event;
}

struct marker_count {
	const struct module *mod;	/* that comes or goes; NULL: all are new */
	bool going;			/* its markers are still visited */
	unsigned int nr;
};

static int note_marker(const struct marker_info *info, void *priv)
{
	const struct marker *marker = info->marker;
	struct marker_count *count = priv;
	struct mark_event *event;
	unsigned int number;

	if (count->going && info->mod == count->mod)
		return 0;
	event = find_event(marker->name, marker->format, &number) ?:
		add_event(marker->name, marker->format, number,
			  !count->mod || info->mod == count->mod);
	if (event && !event->present) {
		event->present = true;
		count->nr++;
	}
	return 0;
}

static void hide_provider(void)
{
	if (registered)
		lttng_kernel_probe_unregister(&provider);
	registered = false;
}

/* LTTng looks for new events only when a provider is registered. */
static int show_provider(const struct lttng_kernel_event_desc **list)
{
	const struct lttng_kernel_event_desc *const *old = provider.event_desc;
	struct mark_event *event;
	unsigned int bucket, i = 0;
	int ret;

	hide_provider();
	hash_for_each(events, bucket, event, node)
		if (event->present)
			list[i++] = &event->desc;
	provider.event_desc = list;
	provider.nr_events = i;
	kvfree(old);
	ret = lttng_kernel_probe_register(&provider);
	registered = !ret;
	if (ret)
		pr_err("LTTng does not take the events of markers: error %d\n", ret);
	return ret;
}

/* On errors, LTTng does not see new events, but those that are enabled continue. */
static int update_list(const struct module *mod, unsigned long change)
{
	struct marker_count count = { .mod = mod, .going = change == MARKERS_GOING };
	const struct lttng_kernel_event_desc **list;
	struct mark_event *event;
	unsigned int bucket;
	int ret = -ENOMEM;

	hash_for_each(events, bucket, event, node)
		event->present = false;
	for_each_marker(note_marker, &count);
	list = kvmalloc_array(count.nr + 1, sizeof(*list), GFP_KERNEL);
	if (list)
		ret = show_provider(list);
	else
		pr_err("no memory for the list of events\n");
	update_all();
	return ret;
}

/* While the bridge is being unloaded, LTTng cannot take a reference to it. */
static int markers_notify(struct notifier_block *nb, unsigned long change,
			  void *mod)
{
	if (!try_module_get(THIS_MODULE))
		return NOTIFY_OK;
	mutex_lock(&events_mutex);
	if (started)
		update_list(mod, change);
	mutex_unlock(&events_mutex);
	module_put(THIS_MODULE);
	return NOTIFY_OK;
}

static struct notifier_block markers_nb = { .notifier_call = markers_notify };

/*
 * No session has an event: it would hold a reference to the module. LTTng would still
 * take events that it finds now, so they are hidden first: the notifier is called while
 * other modules are loaded, which may take long.
 */
static void leave(void)
{
	struct mark_event *event;
	struct hlist_node *next;
	unsigned int bucket;

	mutex_lock(&events_mutex);
	started = false;
	hide_provider();
	mutex_unlock(&events_mutex);
	unregister_marker_notifier(&markers_nb);
	update_all();
	marker_synchronize_unregister();
	hash_for_each_safe(events, bucket, next, event, node)
		free_event(event);
	kvfree(provider.event_desc);
	free_hits();
}

static int __init markers_init(void)
{
	int ret = alloc_hits();

	if (ret)
		return ret;
	init_slots(slots_changed);
	ret = register_marker_notifier(&markers_nb);
	if (ret) {
		free_hits();
		return ret;
	}
	mutex_lock(&events_mutex);
	ret = update_list(NULL, MARKERS_COMING);
	started = !ret;	/* after an error no session may get an event */
	mutex_unlock(&events_mutex);
	if (ret)
		leave();
	return ret;
}
module_init(markers_init);

static void __exit markers_exit(void)
{
	leave();
}
module_exit(markers_exit);

MODULE_DESCRIPTION("Markers as events of LTTng");
MODULE_LICENSE("GPL");
