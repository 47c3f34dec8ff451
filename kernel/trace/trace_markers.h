/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _TRACE_MARKERS_H
#define _TRACE_MARKERS_H

/*
 * Declarations shared by the parts of markers in tracefs:
 *
 * trace_markers.c		markers as trace events of the group "markers"
 * trace_markers_record.c	the probes of these events, which write records
 * trace_markers_text.c		the text of records
 * trace_markers_lists.c	the files that list markers and probes
 * trace_markers_sites.c	the file that lists sites, and enables events by them
 */

#include <linux/marker.h>
#include <linux/trace_events.h>

#include "../markers/markers.h"

enum marker_store_kind { STORE_1, STORE_2, STORE_4, STORE_8, STORE_CHAR, STORE_BYTES, STORE_HEX,
	STORE_STRING };

/**
 * struct marker_store - how an argument is stored in the record
 * @offset: offset of the field
 * @kind: type of the field; a character is a string, with a NUL
 * @size: size of the field
 * @max_len: maximum length of a string, without the NUL
 */
struct marker_store {
	u16 offset;
	u8 kind;
	u8 size;
	u16 max_len;
};

/**
 * struct marker_event - a name and format of markers, as a trace event
 * @call: the event
 * @class: its class, which no other event uses
 * @tp: only its name is used; BPF can attach to events that have a tracepoint
 * @entry: the name and the format; it has sites as long as the event exists
 * @layout: the layout of @entry
 * @hit: the tracepoint of its markers; one of them, if several modules have some
 * @feed: the tracepoint that feeds the markers, or NULL; its event has the same hits
 * @size: size of a record without the strings
 * @nr_numbers: how many fields there are if all are numbers that are passed in registers, or 0
 * @wanted: the last query that described it, see marker_want_event()
 * @stop: end of @store
 * @store: one for each field
 */
struct marker_event {
	struct trace_event_call call;
	struct trace_event_class class;
	struct tracepoint tp;
	struct marker_entry *entry;
	const struct marker_layout *layout;
	const struct tracepoint *hit, *feed;
	unsigned int size;
	unsigned int nr_numbers;
	unsigned int wanted;
	const struct marker_store *stop;
	struct marker_store store[];
};

static inline struct marker_event *marker_event_of(const struct trace_event_call *call)
{
	return container_of(call, struct marker_event, call);
}

/* trace_markers.c, with marker_modules_mutex and event_mutex held */
bool marker_want_event(const struct marker_site *site, unsigned int query);
int marker_set_events(unsigned int query, bool enable);

/*
 * trace_markers_record.c: the probes, by nr_numbers. Their data is the event's file in an
 * instance, or the event.
 */
extern void *const ftrace_record_marker_probes[], *const perf_record_marker_probes[];
int marker_need_scratch(const struct marker_event *event);
void marker_place_fields(struct marker_event *event);

/* trace_markers_text.c */
extern struct trace_event_functions marker_event_functions;
char *marker_print_fmt(const struct marker_layout *layout);

#endif /* _TRACE_MARKERS_H */
