/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LTTNG_PROBE_MARKERS_H
#define LTTNG_PROBE_MARKERS_H

/*
 * The parts of the bridge. bridge.c uses the others, which do not use each other:
 *
 * bridge.c	the list of events for LTTng, and the probes on their markers
 * event.c	makes an event and its fields from a format
 * record.c	reads the values of a hit, and writes them to the traces
 * slots.c	the tracepoints by which LTTng enables and disables events
 */

#include <linux/list.h>
#include <linux/marker.h>
#include <linux/tracepoint.h>
#include <linux/types.h>
#include <lttng/events.h>

/* An argument of a marker: its name and type for LTTng, and the conversion in the format */
struct mark_field {
	struct lttng_kernel_event_field lttng;
	union {
		struct lttng_kernel_type_integer integer;
		struct lttng_kernel_type_string string;
	} type;
	const struct marker_field *from;
};

/**
 * struct mark_event - a name and format of markers, as an event of LTTng
 *
 * It is never freed while the bridge is loaded: sessions refer to it.
 *
 * @desc: its description for LTTng
 * @class: the part of @desc that has the fields
 * @name: the name of the marker
 * @layout: its format
 * @node: in the table of all events
 * @slot: LTTng registers a probe on it for each user of the event
 * @present: the kernel or a loaded module has such a marker
 * @connected: its probe is attached to the marker
 * @pointers: pointers to the fields, as LTTng needs them
 * @field: the fields
 */
struct mark_event {
	struct lttng_kernel_event_desc desc;
	struct lttng_kernel_tracepoint_class class;
	const char *name;
	struct marker_layout *layout;
	struct hlist_node node;
	const struct tracepoint *slot;
	bool present;
	bool connected;
	const struct lttng_kernel_event_field **pointers;
	struct mark_field field[];
};

static inline bool is_text(const struct mark_field *f)
{
	return f->lttng.type->type == lttng_kernel_type_string;
}

/* event.c */
struct mark_event *new_event(const char *name, const char *format,
			     unsigned int number);
void free_event(struct mark_event *event);

/* record.c */
int alloc_hits(void);
void free_hits(void);
void marker_hit(void *private, void *call_private, const char *format,
		va_list *args);
void slot_probe(void *data);

/* slots.c */
void init_slots(void (*changed)(void));
const struct tracepoint *nth_slot(unsigned int n);

#endif /* LTTNG_PROBE_MARKERS_H */
