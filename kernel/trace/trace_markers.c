// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Markers as trace events: each marker is an event of the group "markers", for
 * ftrace, perf and BPF, with fields from the layout of its format.
 *
 * An event belongs to a module, as other events of modules do: perf, BPF and what
 * refers to the event from another one keep the module loaded, and the event is removed
 * when the module is unloaded. If another module has the same marker, the event
 * then belongs to that one. There is one event for each name.
 *
 * Events are created and removed under marker_modules_mutex. event_mutex nests inside.
 */
#define pr_fmt(fmt) "marker: " fmt

#include <linux/sched.h>
#include <linux/slab.h>

#include "trace.h"
#include "trace_markers.h"

static const char group[] = "markers";

static const char *field_type(const struct marker_field *field)
{
	static const char *const bytes[] = {
		[0] = "void *", [4] = "u8[4]", [6] = "u8[6]", [16] = "u8[16]",
	};

	switch (field->conversion) {
	case 's':
		return "__data_loc char[]";
	case 'h':
		return "__data_loc u8[]";
	case 'p':
		return bytes[field->bytes];
	case 'c':
		return "char[2]";
	}
	if (field->size == sizeof(char))
		return field->is_signed ? "signed char" : "unsigned char";
	if (field->size == sizeof(short))
		return field->is_signed ? "short" : "unsigned short";
	switch (field->type) {
	case MARKER_INT:
		return field->is_signed ? "int" : "unsigned int";
	case MARKER_LLONG:
		return field->is_signed ? "long long" : "unsigned long long";
	default:
		return field->is_signed ? "long" : "unsigned long";
	}
}

/* Describes the fields to ftrace; the offsets match marker_place_fields(). */
static struct trace_event_fields *
new_fields_array(const struct marker_event *event)
{
	const struct marker_layout *layout = event->layout;
	struct trace_event_fields *fields;
	unsigned int i;

	fields = kcalloc(layout->nr_fields + 1, sizeof(*fields), GFP_KERNEL);
	for (i = 0; fields && i < layout->nr_fields; i++) {
		const struct marker_field *from = &layout->field[i];
		const struct trace_event_fields field = {
			.type = field_type(from),
			.name = from->name,
			.size = event->store[i].size,
			.align = from->bytes ? 1 : event->store[i].size,
			.is_signed = from->is_signed,
			.filter_type = FILTER_OTHER,
			.len = from->conversion == 'c' ? event->store[i].size : from->bytes,
		};

		memcpy(&fields[i], &field, sizeof(field));	/* const members */
	}
	return fields;
}

static int attach(struct marker_event *event, void *probe, void *data)
{
	return marker_need_scratch(event) ?:
	       marker_words_register(event->tp.name, event->layout->format, probe, data);
}

static int detach(struct marker_event *event, void *probe, void *data)
{
	return marker_probe_detach(event->tp.name, probe, data);
}

static int reg_event(struct trace_event_call *call, enum trace_reg type,
		     void *data)
{
	struct marker_event *event = marker_event_of(call);

	switch (type) {
	case TRACE_REG_REGISTER:
		return attach(event, ftrace_record_marker_probes[event->nr_numbers], data);
	case TRACE_REG_UNREGISTER:
		return detach(event, ftrace_record_marker_probes[event->nr_numbers], data);
#ifdef CONFIG_PERF_EVENTS
	case TRACE_REG_PERF_REGISTER:
		return attach(event, perf_record_marker_probes[event->nr_numbers], event);
	case TRACE_REG_PERF_UNREGISTER:
		return detach(event, perf_record_marker_probes[event->nr_numbers], event);
	default:
		return 0;
#endif
	}
	return 0;
}

static void free_event(struct marker_event *event)
{
	kfree(event->class.fields_array);
	kfree(event->call.print_fmt);
	kfree(event);
}

static struct marker_event *new_event(struct marker_entry *entry)
{
	struct marker_event *event;

	event = kzalloc(struct_size(event, store, entry->layout->nr_fields),
			GFP_KERNEL);
	if (!event)
		return NULL;
	event->entry = entry;
	event->layout = entry->layout;
	marker_place_fields(event);
	event->tp.name = entry->name->name;
	event->class.system = group;
	event->class.reg = reg_event;
	event->class.fields_array = new_fields_array(event);
	INIT_LIST_HEAD(&event->class.fields);
	event->call.class = &event->class;
	event->call.tp = &event->tp;
	event->call.flags = TRACE_EVENT_FL_TRACEPOINT;
	event->call.event.funcs = &marker_event_functions;
	event->call.print_fmt = marker_print_fmt(event->layout);
	if (event->class.fields_array && event->call.print_fmt)
		return event;
	free_event(event);
	return NULL;
}

/* Files beside the events have these names. */
static bool name_is_taken(const char *name)
{
	return !strcmp(name, "enable") || !strcmp(name, "filter");
}

/* The tracepoint that feeds the markers records the same hits as the event. */
static void set_owner(struct marker_event *event, const struct marker_sites *sites)
{
	const struct tracepoint_ext *ext = tracepoint_ext(sites->tp);

	event->call.module = sites->module->mod;
	event->hit = sites->tp;
	event->feed = ext ? ext->feed : NULL;
}

static int publish(struct marker_event *event, const struct marker_sites *sites)
{
	int ret;

	lockdep_assert_held(&event_mutex);
	if (name_is_taken(event->tp.name))
		return -EEXIST;
	if (!register_trace_event(&event->call.event))
		return -ENOSPC;
	ret = trace_add_event_call(&event->call);
	if (ret)
		unregister_trace_event(&event->call.event);
	else
		set_owner(event, sites);
	return ret;
}

static int create_event(const struct marker_sites *sites)
{
	struct marker_event *event = new_event(sites->entry);
	int ret;

	if (!event)
		return -ENOMEM;
	mutex_lock(&event_mutex);
	ret = publish(event, sites);
	mutex_unlock(&event_mutex);
	if (ret)
		free_event(event);
	else
		sites->entry->name->event = event;
	return ret;
}

/**
 * trace_event_is_fed - is there another event that records the same hits?
 * @call: any event
 *
 * Return: true for the event of a marker that a tracepoint feeds. It is not enabled
 *	   together with all events, as it would record each hit again.
 */
bool trace_event_is_fed(const struct trace_event_call *call)
{
	return call->class->system == group && marker_event_of(call)->feed;
}

/* With markers_mutex held, too. Return: does the site have an event? */
bool marker_want_event(const struct marker_site *site, unsigned int query)
{
	const struct marker_name *name = marker_find_name(marker_site_name(site));

	/* There is one for each name, with one of the formats. */
	if (!name || !name->event ||
	    name->event->entry != marker_find_entry(name, marker_ref(&site->format)))
		return false;
	name->event->wanted = query;
	return true;
}

/* Return: 0, or the first error. All events that the query wanted are tried. */
int marker_set_events(unsigned int query, bool enable)
{
	bool deferred = imv_defer_begin();
	struct trace_event_file *file;
	int ret = 0, error;

	list_for_each_entry(file, &top_trace_array()->events, list) {
		if (file->event_call->class->system != group ||
		    marker_event_of(file->event_call)->wanted != query)
			continue;
		error = trace_event_enable_disable(file, enable, 0);
		ret = ret ?: error;
	}
	imv_defer_end(deferred);
	return ret;
}

/* If there is no memory for an event, other tracers can still use the marker. */
static void add_event(const struct marker_sites *sites)
{
	const struct marker_entry *entry = sites->entry;
	const struct marker_event *event = entry->name->event;
	const char *name = entry->name->name;
	int ret;

	if (event && event->entry != entry)
		pr_warn("%s: no trace event for the format \"%s\": there is one for \"%s\"; give one of the markers another name\n",
			name, entry->format, event->layout->format);
	if (event)
		return;
	if (!entry->layout) {
		pr_warn("%s: no trace event for the format \"%s\"; it may have %d conversions, of %%d %%i %%u %%x %%X %%o, with hh h l ll z or t, %%c %%s %%p %%pS %%ps %%pM %%pMF %%pI4 %%pI6 %%pI6c %%pU %%*ph, the flags - # 0, and names of values in braces behind a number\n",
			name, entry->format, MARKER_MAX_FIELDS);
		return;
	}
	ret = create_event(sites);
	if (ret == -EEXIST)
		pr_warn("%s: no trace event: tracefs has events/markers/%s already; give the marker another name\n",
			name, name);
	else if (ret)
		pr_warn("%s: no trace event: error %d\n", name, ret);
}

/* Return: the sites of an entry in another module, or NULL. */
static const struct marker_sites *find_other(const struct marker_sites *sites)
{
	const struct marker_sites *other;

	list_for_each_entry(other, &sites->entry->sites, in_entry)
		if (other != sites)
			return other;
	return NULL;
}

/* Nothing refers to the event: that would keep the module loaded. */
static void remove_event(const struct marker_sites *sites)
{
	struct marker_name *name = sites->entry->name;
	struct marker_event *event = name->event;
	const struct marker_sites *other = find_other(sites);

	if (!event || event->entry != sites->entry ||
	    event->call.module != sites->module->mod)
		return;
	if (other) {
		set_owner(event, other);
		return;
	}
	trace_remove_module_event(&event->call);
	name->event = NULL;
	free_event(event);
}

void marker_add_events(const struct marker_module *module)
{
	const struct marker_sites *sites;

	lockdep_assert_held(&marker_modules_mutex);
	list_for_each_entry(sites, &module->sites, in_module) {
		add_event(sites);
		cond_resched();
	}
}

/*
 * The newest event is the first in ftrace's lists. Buffers that may have records of
 * these events are cleared: their numbers will be those of other events.
 */
void marker_remove_events(const struct marker_module *module)
{
	const struct marker_sites *sites;
	bool deferred = imv_defer_begin();

	lockdep_assert_held(&marker_modules_mutex);
	mutex_lock(&event_mutex);
	list_for_each_entry_reverse(sites, &module->sites, in_module) {
		remove_event(sites);
		cond_resched();
	}
	tracing_reset_all_online_cpus();
	mutex_unlock(&event_mutex);
	imv_defer_end(deferred);
}

/* Called before the events of the command line are enabled. */
int __init trace_markers_init(void)
{
	int ret = marker_init();

	guard(mutex)(&marker_modules_mutex);
	if (!ret)
		marker_add_events(marker_find_module(NULL));
	return ret;
}
