// SPDX-License-Identifier: GPL-2.0
/*
 * Makes the markers of the kernel and of its modules events of LTTng. An event
 * is made for each name and format when it is first seen, gets a slot, and keeps
 * it. LTTng shows those that a loaded module has; a session that has the event
 * of a marker that is gone sees it again when the module comes again.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/err.h>
#include <linux/marker.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/string.h>

#include <lttng/events.h>

#include "markers.h"

/*
 * Protects all that is here. Nests outside the locks of LTTng and of markers,
 * and inside that of the notifiers of markers.
 */
static DEFINE_MUTEX(events_mutex);

/* All that ever were, by their slots. */
static struct mark_event *events[NR_SLOTS];
static unsigned int nr_events;

#define for_each_event(e)						\
	for (e = events; e < events + nr_events; e++)

/* Those that are shown. LTTng reads it while the provider is registered. */
static const struct lttng_kernel_event_desc *shown[NR_SLOTS];

static struct lttng_kernel_probe_desc provider = {
	.provider_name = "markers",
	.event_desc = shown,
};

static bool registered;
static int register_error;

/*
 * Connecting
 */

static void connect_event(struct mark_event *event)
{
	int ret = marker_probe_register(event->name, event->format, marker_hit,
					event);

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

static void connect_events_locked(void)
{
	struct mark_event **e;
	bool wanted;

	lockdep_assert_held(&events_mutex);
	for_each_event(e) {
		wanted = (*e)->present && slot_is_used((*e)->slot);
		if (wanted && !(*e)->connected)
			connect_event(*e);
		else if (!wanted && (*e)->connected)
			disconnect_event(*e);
	}
}

/* Connects the markers whose events are in use, and no others. */
void connect_events(void)
{
	mutex_lock(&events_mutex);
	connect_events_locked();
	mutex_unlock(&events_mutex);
}

/*
 * Showing
 */

/* LTTng looks at what is new only when a provider is registered. */
static void show_events(void)
{
	unsigned int count = 0;
	struct mark_event **e;

	if (registered)
		lttng_kernel_probe_unregister(&provider);
	for_each_event(e)
		if ((*e)->present)
			shown[count++] = &(*e)->desc;
	provider.nr_events = count;
	register_error = lttng_kernel_probe_register(&provider);
	registered = !register_error;
	if (register_error)
		pr_err("LTTng does not take the events of markers: error %d\n",
		       register_error);
}

static struct mark_event *find_event(const char *name, const char *format)
{
	struct mark_event **e;

	for_each_event(e)
		if (!strcmp((*e)->name, name) && !strcmp((*e)->format, format))
			return *e;
	return NULL;
}

static unsigned int count_formats(const char *name)
{
	unsigned int count = 0;
	struct mark_event **e;

	for_each_event(e)
		count += !strcmp((*e)->name, name);
	return count;
}

static void tell_of_full_slots(const char *name)
{
	static bool told;

	if (!told)
		pr_warn("%s and other markers are no events: the %d slots are taken; reload the module to free those of markers that are gone\n",
			name, NR_SLOTS);
	told = true;
}

static struct mark_event *add_event(const char *name, const char *format)
{
	unsigned int others = count_formats(name);
	struct mark_event *event;
	char suffix[16] = "";

	if (nr_events == NR_SLOTS) {
		tell_of_full_slots(name);
		return NULL;
	}
	/* No name of a marker has a dot, so the name cannot be one already. */
	if (others)
		snprintf(suffix, sizeof(suffix), ".%u", others + 1);
	event = new_event(name, format, suffix);
	if (IS_ERR(event)) {
		pr_warn("%s: no event for the format \"%s\": error %pe\n", name,
			format, event);
		return NULL;
	}
	if (others)
		pr_warn("%s: a marker of this name has another format; that with \"%s\" is the event %s\n",
			name, format, event->desc.event_name);
	event->slot = nr_events;
	event->desc.event_kname = slot_name(event->slot);
	event->desc.probe_desc = &provider;
	event->class.probe_desc = &provider;
	events[nr_events++] = event;
	return event;
}

/* Markers of which there can be no event are told of once, as they come. */
static int note_marker(const struct marker_info *info, void *coming)
{
	const struct marker *marker = info->marker;
	struct mark_event *event = find_event(marker->name, marker->format);

	if (!event && info->mod == coming)
		event = add_event(marker->name, marker->format);
	if (event)
		event->present = true;
	return 0;
}

/* Are others present than are shown? */
static bool has_changed(void)
{
	unsigned int count = 0;
	struct mark_event **e;

	for_each_event(e) {
		if (!(*e)->present)
			continue;
		if (count == provider.nr_events || shown[count] != &(*e)->desc)
			return true;
		count++;
	}
	return count != provider.nr_events;
}

/* No module; that of the kernel is NULL. */
#define NONE	((void *)-1L)

static void update_events(void *coming)
{
	struct mark_event **e;

	mutex_lock(&events_mutex);
	for_each_event(e)
		(*e)->present = false;
	for_each_marker(note_marker, coming);
	if (has_changed())
		show_events();
	connect_events_locked();
	mutex_unlock(&events_mutex);
}

/* While the bridge goes, LTTng could not get hold of it for an event. */
static int markers_notify(struct notifier_block *nb, unsigned long change,
			  void *mod)
{
	if (!try_module_get(THIS_MODULE))
		return NOTIFY_OK;
	update_events(change == MARKERS_COMING ? mod : NONE);
	module_put(THIS_MODULE);
	return NOTIFY_OK;
}

static struct notifier_block markers_nb = { .notifier_call = markers_notify };

/*
 * The module
 */

/* No session has an event any more: each holds the module. */
static void leave(void)
{
	struct mark_event **e;

	unregister_marker_notifier(&markers_nb);
	if (registered)
		lttng_kernel_probe_unregister(&provider);
	flush_slots();
	connect_events();
	marker_synchronize_unregister();
	for_each_event(e)
		free_event(*e);
	free_hits();
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
	if (register_error)
		leave();
	return register_error;
}
module_init(markers_init);

static void __exit markers_exit(void)
{
	leave();
}
module_exit(markers_exit);

MODULE_DESCRIPTION("Markers as events of LTTng");
MODULE_LICENSE("GPL");
