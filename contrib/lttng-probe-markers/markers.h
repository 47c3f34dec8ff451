/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LTTNG_PROBE_MARKERS_H
#define LTTNG_PROBE_MARKERS_H

/*
 * bridge.c	makes events of markers, and lists them for LTTng
 * record.c	the probe of all events: passes the values of a hit to LTTng
 */

#include <linux/list.h>
#include <linux/marker.h>
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
 * struct mark_event - a marker, as an event of LTTng
 *
 * It is not freed while the bridge is loaded: sessions refer to it.
 *
 * @desc: its description for LTTng, which attaches the probe to the marker's tracepoint
 * @class: the part of @desc that has the fields
 * @layout: the format of the marker
 * @node: in the table of all events, or in the list of outdated ones
 * @present: a marker with this format was found in the current search
 * @outdated: a module was loaded again, with another format
 * @pointers: pointers to the fields, as LTTng needs them
 * @field: the fields
 */
struct mark_event {
	struct lttng_kernel_event_desc desc;
	struct lttng_kernel_tracepoint_class class;
	struct marker_layout *layout;
	struct hlist_node node;
	bool present;
	bool outdated;
	const struct lttng_kernel_event_field *pointers[MARKER_MAX_FIELDS];
	struct mark_field field[];
};

static inline bool is_text(const struct mark_field *f)
{
	return f->lttng.type->type == lttng_kernel_type_string;
}

void marker_hit(void *data, unsigned long a, unsigned long b, unsigned long c,
		unsigned long d, unsigned long e, ...);

#endif /* LTTNG_PROBE_MARKERS_H */
