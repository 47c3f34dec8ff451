/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LTTNG_PROBE_MARKERS_H
#define LTTNG_PROBE_MARKERS_H

/*
 * What the parts of the bridge share:
 *
 * bridge.c	the markers there are, as the events that LTTng knows, and when
 *		they are connected
 * format.c	an event and its fields, made from a format
 * record.c	the values of a hit, and how they get into a trace
 * slots.c	the tracepoints by which LTTng turns events on and off, and who
 *		has an event turned on
 */

#include <linux/list.h>
#include <linux/marker.h>
#include <linux/types.h>
#include <lttng/events.h>

/* The size of all strings of a hit together. */
#define STRINGS_SIZE	2048

/**
 * struct mark_field - an argument of a marker
 * @lttng: its name and its type, for LTTng
 * @type: the type that @lttng points to
 * @from: the conversion that it is made of
 * @at: where it is in the values of a hit
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
 * @desc: what LTTng knows of it
 * @class: the part of @desc that has the fields
 * @name: the name of the marker
 * @layout: its format
 * @number: its place among the events of this name
 * @modules: how many loaded modules, or the kernel, have such a marker
 * @place: its place among what is shown, if any has
 * @connected: is it connected to the marker?
 * @node: in the table of all events
 * @gone: in the list of those that no module has
 * @changed: in the list of those whose users changed
 * @users: the events of LTTng that are enabled
 * @pointers: to the fields, as LTTng wants them
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
 * struct hit - what a marker handed over
 * @event: the event of the marker
 * @values: a number as s64, a text as a pointer into @strings: the layout that
 *	    filters of LTTng read
 * @strings: copies, which stay as they are
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
