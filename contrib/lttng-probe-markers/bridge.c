// SPDX-License-Identifier: GPL-2.0
/*
 * Makes the markers of the kernel and of its modules events of LTTng: one for
 * each name and format. LTTng shows those of the kernel and of loaded modules.
 * If a session has an event of a module that is unloaded and loaded again, the
 * session continues to use the event. So the event is kept while there is any
 * session or trigger that may have it.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/err.h>
#include <linux/hashtable.h>
#include <linux/immediate.h>
#include <linux/list.h>
#include <linux/log2.h>
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

/* Events that neither the kernel nor a loaded module has */
static LIST_HEAD(gone);

/* The events of the markers of a module, or of the kernel. */
struct events_of {
	struct list_head list;
	struct module *mod;
	unsigned int count, room;
	struct mark_event *events[];
};

static LIST_HEAD(modules);

#define for_each_event_of(of, e)					\
	for (e = (of)->events; e < (of)->events + (of)->count; e++)

/*
 * The events that LTTng shows: the list of descriptions in the provider, which
 * changes only while the provider is not registered.
 */
static struct lttng_kernel_probe_desc provider = { .provider_name = "markers" };
static const struct lttng_kernel_event_desc **shown;
static unsigned int shown_room;
static bool started, registered;

/*
 * Connecting
 */

static void connect_event(struct mark_event *event)
{
	int ret = marker_probe_register(event->name, event->layout->format,
					marker_hit, event);

	if (ret)
		pr_err("%s: not connected to the marker, its hits are lost: error %d\n",
		       event->desc.event_name, ret);
	event->connected = !ret;
}

static void disconnect_event(struct mark_event *event)
{
	marker_probe_unregister(event->name, marker_hit, event);
	event->connected = false;
}

static void update_connection(struct mark_event *event)
{
	bool wanted = event->modules && !hlist_empty(&event->users);

	if (wanted && !event->connected)
		connect_event(event);
	else if (!wanted && event->connected)
		disconnect_event(event);
}

static void connect_changed(void)
{
	struct mark_event *event;

	lockdep_assert_held(&events_mutex);
	while ((event = next_changed()))
		update_connection(event);
}

/* Attaches probes for events in use, detaches others. Patches code once. */
void connect_events(void)
{
	bool deferred;

	mutex_lock(&events_mutex);
	deferred = imv_defer_begin();
	connect_changed();
	imv_defer_end(deferred);
	mutex_unlock(&events_mutex);
}

/*
 * Showing
 */

static void hide_provider(void)
{
	if (registered)
		lttng_kernel_probe_unregister(&provider);
	registered = false;
}

/* LTTng looks for new events only when a provider is registered. */
static int show_provider(void)
{
	int ret;

	if (!started)
		return 0;
	ret = lttng_kernel_probe_register(&provider);
	registered = !ret;
	if (ret)
		pr_err("LTTng does not take the events of markers: error %d\n", ret);
	return ret;
}

static int make_room(unsigned int more)
{
	unsigned int needed = provider.nr_events + more;
	const struct lttng_kernel_event_desc **room;

	if (needed <= shown_room)
		return 0;
	needed = roundup_pow_of_two(needed);
	room = kvmalloc_array(needed, sizeof(*room), GFP_KERNEL);
	if (!room)
		return -ENOMEM;
	if (shown)
		memcpy(room, shown, provider.nr_events * sizeof(*room));
	kvfree(shown);
	shown = room;
	shown_room = needed;
	provider.event_desc = shown;
	return 0;
}

static void show_event(struct mark_event *event)
{
	list_del_init(&event->gone);
	event->place = provider.nr_events++;
	shown[event->place] = &event->desc;
}

/* The last event in the list takes its place. */
static void hide_event(struct mark_event *event)
{
	const struct lttng_kernel_event_desc *last = shown[--provider.nr_events];

	shown[event->place] = last;
	container_of(last, struct mark_event, desc)->place = event->place;
	list_add(&event->gone, &gone);
}

/*
 * Events
 */

static u32 hash_of(const char *name)
{
	return full_name_hash(NULL, name, strlen(name));
}

static struct mark_event *find_event(const char *name, const char *format)
{
	struct mark_event *event;

	hash_for_each_possible(events, event, node, hash_of(name))
		if (!strcmp(event->name, name) &&
		    !strcmp(event->layout->format, format))
			return event;
	return NULL;
}

static bool has_number(const char *name, unsigned int number)
{
	struct mark_event *event;

	hash_for_each_possible(events, event, node, hash_of(name))
		if (!strcmp(event->name, name) && event->number == number)
			return true;
	return false;
}

/* The new event is in the list gone until it is shown. */
static struct mark_event *add_event(const char *name, const char *format)
{
	static unsigned int last_slot;
	struct mark_event *event;
	unsigned int number = 1;

	while (has_number(name, number))
		number++;
	event = new_event(name, format, number);
	if (IS_ERR(event)) {
		pr_warn("%s: no event for the format \"%s\": error %pe\n", name,
			format, event);
		return NULL;
	}
	if (number > 1)
		pr_warn("%s: a marker of this name has another format; that with \"%s\" is the event %s\n",
			name, format, event->desc.event_name);
	event->desc.event_kname = slot_name(last_slot++);
	event->desc.probe_desc = &provider;
	event->class.probe_desc = &provider;
	hash_add(events, &event->node, hash_of(name));
	list_add(&event->gone, &gone);
	return event;
}

/*
 * No session can add an event that is not shown. Sessions that have any event
 * hold a reference to this module, and so does the caller.
 */
static void free_gone(void)
{
	struct mark_event *event, *next;

	if (list_empty(&gone) || module_refcount(THIS_MODULE) > 1)
		return;
	connect_changed();	/* empties the list of changed events */
	marker_synchronize_unregister();
	list_for_each_entry_safe(event, next, &gone, gone) {
		hash_del(&event->node);
		free_event(event);
	}
	INIT_LIST_HEAD(&gone);
}

/*
 * Modules
 */

static int count_marker(const struct marker_info *info, void *count)
{
	++*(unsigned int *)count;
	return 0;
}

static int note_marker(const struct marker_info *info, void *priv)
{
	const struct marker *marker = info->marker;
	struct events_of *of = priv;
	struct mark_event *event = find_event(marker->name, marker->format);

	if (!event)
		event = add_event(marker->name, marker->format);
	if (event && of->count < of->room)
		of->events[of->count++] = event;
	return 0;
}

/* Return: the events of a module; NULL if it has none or memory is short. */
static struct events_of *events_of(struct module *mod)
{
	struct events_of *of;
	unsigned int count = 0;

	for_each_marker_of(mod, count_marker, &count);
	if (!count)
		return NULL;
	of = kvzalloc(struct_size(of, events, count), GFP_KERNEL);
	if (!of) {
		pr_err("%s: no memory for its events\n", mod ? mod->name : "kernel");
		return NULL;
	}
	of->mod = mod;
	of->room = count;
	for_each_marker_of(mod, note_marker, of);
	return of;
}

static void update_connections(const struct events_of *of)
{
	struct mark_event *const *e;
	bool deferred = imv_defer_begin();

	connect_changed();
	for_each_event_of(of, e)
		update_connection(*e);
	imv_defer_end(deferred);
}

static void module_coming(struct module *mod)
{
	struct events_of *of = events_of(mod);
	struct mark_event **e;

	if (!of)
		return;
	hide_provider();
	if (make_room(of->count)) {
		pr_err("%s: no memory for its events\n",
		       mod ? mod->name : "kernel");
		of->count = 0;
	}
	for_each_event_of(of, e)
		if (!(*e)->modules++)
			show_event(*e);
	list_add(&of->list, &modules);
	show_provider();
	update_connections(of);
}

static void module_going(struct module *mod)
{
	struct mark_event **e;
	struct events_of *of;

	list_for_each_entry(of, &modules, list)
		if (of->mod == mod)
			break;
	if (list_entry_is_head(of, &modules, list))
		return;
	hide_provider();
	for_each_event_of(of, e)
		if (!--(*e)->modules)
			hide_event(*e);
	show_provider();
	update_connections(of);
	list_del(&of->list);
	kvfree(of);
	free_gone();
}

/* While the bridge is being unloaded, LTTng cannot take a reference to it. */
static int markers_notify(struct notifier_block *nb, unsigned long change,
			  void *mod)
{
	if (!try_module_get(THIS_MODULE))
		return NOTIFY_OK;
	mutex_lock(&events_mutex);
	if (change == MARKERS_COMING)
		module_coming(mod);
	else
		module_going(mod);
	mutex_unlock(&events_mutex);
	module_put(THIS_MODULE);
	return NOTIFY_OK;
}

static struct notifier_block markers_nb = { .notifier_call = markers_notify };

/*
 * The bridge
 */

static void free_all(void)
{
	struct events_of *of, *next_of;
	struct mark_event *event;
	struct hlist_node *next;
	unsigned int bucket;

	hash_for_each_safe(events, bucket, next, event, node)
		free_event(event);
	list_for_each_entry_safe(of, next_of, &modules, list)
		kvfree(of);
	kvfree(shown);
	free_hits();
}

/*
 * No session has an event: it would hold a reference to the module. LTTng would still
 * take events that it finds now, so they are hidden first: the notifier is called while
 * other modules are loaded, which may take long.
 */
static void leave(void)
{
	mutex_lock(&events_mutex);
	started = false;
	hide_provider();
	mutex_unlock(&events_mutex);
	unregister_marker_notifier(&markers_nb);
	flush_slots();
	connect_events();
	marker_synchronize_unregister();
	free_all();
}

/* Shows all existing events at once. */
static int start(void)
{
	int ret;

	mutex_lock(&events_mutex);
	started = true;
	ret = show_provider();
	mutex_unlock(&events_mutex);
	return ret;
}

static int __init markers_init(void)
{
	int ret = alloc_hits();

	if (ret)
		return ret;
	ret = register_marker_notifier(&markers_nb);
	if (ret) {
		free_hits();
		return ret;
	}
	ret = start();
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
