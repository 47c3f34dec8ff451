// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's side of cycles.c, compiled for the kernel with the series and, with STOCK,
 * for the one without it, whose structures are filled as if probes were registered.
 */
#include <linux/ftrace.h>
#include <linux/kfence.h>
#include <linux/slab.h>
#include <linux/tracepoint.h>

#define CREATE_TRACE_POINTS
#include "place_event.h"

#ifdef STOCK
#include <linux/static_call.h>
#include "trace.h"
#else
#include <linux/ftrace-set.h>
#include <linux/marker.h>
#include "trace_markers.h"
#endif

struct layout {
	struct tracepoint *tp;
	void (*site)(ulong a, ulong b, ulong c);
	void *probe;
	void (*free)(ulong a, ulong b, ulong c);
	struct tracepoint *marker;
	void (*mark)(ulong a, ulong b, ulong c);
};

static ulong in_pool;

/* What is checked when memory is freed: this is not in KFENCE's pool. */
#define FREE(name)							\
	static noinline notrace void name(ulong a, ulong b, ulong c)	\
	{								\
		if (is_kfence_address((void *)~a))			\
			in_pool = a;					\
	}

#ifdef STOCK
#define MARK(name)
#define LAYOUT(n)	{ &__tracepoint_lay##n, site##n, probe##n, free##n }
#else
#define MARK_FORMAT	"number %d size %lu pointer %p"
#define MARK(name)							\
	static noinline notrace void name(ulong a, ulong b, ulong c)	\
	{								\
		trace_mark(name, MARK_FORMAT, (int)a, b, (void *)c);	\
	}								\
	extern struct tracepoint __marker_##name;
#define LAYOUT(n)	{ &__tracepoint_lay##n, site##n, probe##n, free##n, \
			  &__marker_mark##n, mark##n }
#endif
#include "layouts.h"

#define PROBES		8
#define TRACERS		8

void *cycles_site(unsigned int layout)
{
	return layouts[layout].site;
}

void *cycles_free(unsigned int layout)
{
	return layouts[layout].free;
}

static void *probe_of(unsigned int layout, unsigned int nr)
{
	return layouts[(layout + nr) % ARRAY_SIZE(layouts)].probe;
}

/* In place of the ring buffer: a record is made, and that is all. */

static struct trace_event_file event_file;

void *trace_event_buffer_reserve(struct trace_event_buffer *buffer, struct trace_event_file *file,
				 unsigned long len)
{
	static char record[64] __aligned(8);

	return record;
}

void trace_event_buffer_commit(struct trace_event_buffer *buffer)
{
}

static notrace void empty_tracer(ulong ip, ulong parent_ip, struct ftrace_ops *ops,
				 struct ftrace_regs *fregs)
{
	asm volatile("");
}

static struct ftrace_ops tracers[TRACERS];

#ifdef STOCK
/* Returns the function that the static call of the site calls. */
void *cycles_attach(unsigned int layout, unsigned int nr)
{
	static struct tracepoint_func funcs[ARRAY_SIZE(layouts)][PROBES + 1];
	struct tracepoint *tp = layouts[layout].tp;

	tp->funcs = funcs[layout];
	tp->funcs[nr].func = probe_of(layout, nr);
	tp->funcs[nr + 1].func = NULL;
	return nr ? tp->iterator : tp->funcs[nr].func;
}

void *cycles_attach_event(unsigned int layout)
{
	struct tracepoint_func *func;

	cycles_attach(layout, 0);
	func = layouts[layout].tp->funcs;
	func->func = trace_event_raw_event_bench_numbers;
	func->data = &event_file;
	return func->func;
}

void *cycles_guard(unsigned int layout)
{
	return &layouts[layout].tp->key;
}

void *cycles_static_call(unsigned int layout)
{
	return layouts[layout].tp->static_call_key;
}

/* A filter with one function. */
static struct ftrace_hash *filter_of(ulong ip)
{
	struct ftrace_hash *hash = kzalloc(sizeof(*hash), GFP_KERNEL);
	struct ftrace_func_entry *entry = kzalloc(sizeof(*entry), GFP_KERNEL);

	hash->buckets = kzalloc(sizeof(*hash->buckets), GFP_KERNEL);
	hash->count = 1;
	entry->ip = ip;
	hlist_add_head(&entry->hlist, hash->buckets);
	return hash;
}

/* @nr of @all tracers have the function in their filters. */
void *cycles_trace(unsigned int nr, unsigned int all, ulong ip)
{
	static struct ftrace_hash none;
	unsigned int i;

	for (i = 0; i < all; i++) {
		tracers[i].func = empty_tracer;
		tracers[i].flags = FTRACE_OPS_FL_INITIALIZED | FTRACE_OPS_FL_ENABLED;
		tracers[i].func_hash = &tracers[i].local_hash;
		tracers[i].local_hash.filter_hash = filter_of(i < nr ? ip : ip + 64);
		tracers[i].local_hash.notrace_hash = &none;
		tracers[i].next = i + 1 < all ? &tracers[i + 1] : &ftrace_list_end;
	}
	ftrace_ops_list = tracers;
	return ftrace_caller;
}
#else
void *cycles_attach(unsigned int layout, unsigned int nr)
{
	return tracepoint_probe_register(layouts[layout].tp, probe_of(layout, nr), NULL) ?
	       NULL : cycles_attach;
}

/* The trace event, and the marker with the same values. */
bool cycles_attach_events(unsigned int layout)
{
	static struct trace_event_file marker_file;
	struct marker_event *event;

	if (!marker_file.event_call) {
		event = kzalloc(struct_size(event, store, 3), GFP_KERNEL);
		event->layout = marker_layout_new(MARK_FORMAT);
		marker_place_fields(event);
		marker_file.event_call = &event->call;
	}
	event = marker_event_of(marker_file.event_call);
	return !tracepoint_probe_register(layouts[layout].tp, trace_event_raw_event_bench_numbers,
					  &event_file) &&
	       !tracepoint_probe_register(layouts[layout].marker,
					  ftrace_record_marker_probes[event->nr_numbers],
					  &marker_file);
}

void *cycles_mark(unsigned int layout)
{
	return layouts[layout].mark;
}

void cycles_detach(unsigned int layout, unsigned int nr)
{
	tracepoint_probe_unregister(layouts[layout].tp, probe_of(layout, nr), NULL);
}

void *cycles_trace(unsigned int nr, unsigned int all, ulong ip)
{
	struct ftrace_set *set = kzalloc(struct_size(set, members, nr), GFP_KERNEL);

	for (; set->nr < nr; set->nr++) {
		tracers[set->nr].func = empty_tracer;
		tracers[set->nr].flags = FTRACE_OPS_FL_ENABLED;
		set->members[set->nr].ops = &tracers[set->nr];
	}
	return arch_ftrace_make_set(set) ? NULL : set->text.text;
}

/* Should generated code return by the thunk? */
void cycles_use_return_thunk(bool use)
{
	assign_bit(X86_FEATURE_RETHUNK, (unsigned long *)boot_cpu_data.x86_capability, use);
}
#endif
