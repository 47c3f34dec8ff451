/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LTTNG_PROBE_MARKERS_H
#define LTTNG_PROBE_MARKERS_H

/*
 * Declarations shared by the parts of the bridge:
 *
 * bridge.c	the list of events for LTTng, and the probes on their markers
 * format.c	makes an event and its fields from a format
 * record.c	reads the values of a hit, and writes them to a trace
 * slots.c	the tracepoints by which LTTng enables and disables events, and
 *		the users of enabled events
 */

#include <linux/list.h>
#include <linux/marker.h>
#include <linux/types.h>
#include <lttng/events.h>

/* Total size of the strings of a hit */
#define STRINGS_SIZE	2048

/**
 * struct mark_field - an argument of a marker
 * @lttng: its name and its type, for LTTng
 * @type: the type that @lttng points to
 * @from: the conversion of the format
 * @at: offset in the values of a hit
 */
struct mark_field {
	struct lttng_kernel_event_field lttng;
	union {
		struct lttng_kernel_type_integer integer;
		struct lttng_kernel_type_string string;
	} type;
	const struct marker_field *from;
	unsigned int at;
};

/**
 * struct mark_event - a name and format of markers, as an event of LTTng
 *
 * @desc: its description for LTTng
 * @class: the part of @desc that has the fields
 * @name: the name of the marker
 * @layout: its format
 * @number: its place among the events of this name, from 1
 * @modules: number of loaded modules, including the kernel, with this marker
 * @place: index in the list that LTTng shows, if @modules is not zero
 * @connected: true if its probe is attached to the marker
 * @node: in the table of all events
 * @gone: in the list of events that no module has
 * @changed: in the list of events whose users changed
 * @users: the enabled events of LTTng
 * @pointers: pointers to the fields, as LTTng needs them
 * @field: the fields
 */
struct mark_event {
	struct lttng_kernel_event_desc desc;
	struct lttng_kernel_tracepoint_class class;
	const char *name;
	struct marker_layout *layout;
	unsigned int number;
	unsigned int modules;
	unsigned int place;
	bool connected;
	struct hlist_node node;
	struct list_head gone;
	struct list_head changed;
	struct hlist_head users;
	const struct lttng_kernel_event_field **pointers;
	struct mark_field field[];
};

#define for_each_field(event, f)					\
	for (f = (event)->field; f < (event)->field + (event)->layout->nr_fields; f++)

static inline bool is_text(const struct mark_field *f)
{
	return f->lttng.type->type == lttng_kernel_type_string;
}

/**
 * struct hit - the arguments of a hit
 * @event: the event of the marker
 * @values: a number as s64, a text as a pointer into @strings: the layout that
 *	    filters of LTTng read
 * @strings: copies, which do not change
 */
struct hit {
	const struct mark_event *event;
	char values[MARKER_MAX_FIELDS * sizeof(s64)] __aligned(8);
	char strings[STRINGS_SIZE + MARKER_MAX_FIELDS * sizeof("c")];
};

/* format.c */
struct mark_event *new_event(const char *name, const char *format,
			     unsigned int number);
void free_event(struct mark_event *event);

/* record.c */
int alloc_hits(void);
void free_hits(void);
void marker_hit(void *private, void *call_private, const char *format,
		va_list *args);
void record_hit(void *data, const struct hit *hit);

/* slots.c */
const char *slot_name(unsigned int number);
struct mark_event *next_changed(void);
void call_users(const struct mark_event *event, const struct hit *hit);
void flush_slots(void);

/* bridge.c */
void connect_events(void);

#endif /* LTTNG_PROBE_MARKERS_H */
