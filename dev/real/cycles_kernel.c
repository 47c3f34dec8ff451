// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's side of cycles.c, compiled for the kernel with the series and, with STOCK,
 * for the one without it, whose structures are filled as if probes were registered.
 */
#include <linux/ftrace.h>
#include <linux/slab.h>
#include <linux/tracepoint.h>

#ifdef STOCK
#include <linux/static_call.h>
#include "trace.h"
#else
#include <linux/ftrace-set.h>
#endif

struct layout {
	struct tracepoint *tp;
	void (*site)(ulong a, ulong b, ulong c);
	void *probe;
};

#define LAYOUT(n)	{ &__tracepoint_lay##n, site##n, probe##n }
#include "layouts.h"

#define PROBES		8
#define TRACERS		8

void *cycles_site(unsigned int layout)
{
	return layouts[layout].site;
}

static void *probe_of(unsigned int layout, unsigned int nr)
{
	return layouts[(layout + nr) % ARRAY_SIZE(layouts)].probe;
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
