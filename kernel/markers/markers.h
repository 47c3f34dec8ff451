/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _MARKERS_PRIVATE_H
#define _MARKERS_PRIVATE_H

/*
 * Declarations shared by the parts of markers. Users identify a marker by a
 * name and a format; one object stands for the pair, the entry. The parts, each
 * of which uses only those above it:
 *
 * format.c		the parser of formats: from a format to a layout
 * call.c		calls the probes on each hit
 * entries.c		names and entries
 * sites.c		the sites of an entry, their guards and tracepoints
 * kernel/marker.c	the interface: attaching, detaching, arming
 * modules.c		the sites of the kernel and of modules, and notifiers
 * kernel/trace/trace_markers*.c	markers in tracefs
 */

#include <linux/list.h>
#include <linux/marker.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/rbtree_types.h>
#include <trace/tracer.h>

struct marker_event;

/**
 * struct marker_probe - a probe attached to an entry
 * @call: what a hit calls: @func, or marker_call_variadic(), or
 *	  marker_call_nobody() while @func must not be called; NULL ends an array
 * @data: first argument of @call: @private, or this probe
 * @func: the function; NULL if it was removed without memory for a new array
 * @private: private data of @func
 * @variadic: true if @func is a marker_probe_func
 */
struct marker_probe {
	marker_va_func *call;
	void *data;
	void *func;
	void *private;
	bool variadic;
};

/**
 * struct marker_probes - all probes of an entry
 * @rcu: for kfree_rcu()
 * @count: number of probes
 * @probe: the probes, in the order of registration; one with no @call ends them
 */
struct marker_probes {
	struct rcu_head rcu;
	unsigned int count;
	struct marker_probe probe[];
};

/**
 * struct marker_name - data shared by all formats of a name
 * @node: in the tree of names
 * @entries: one for each format
 * @arm_count: number of marker_arm() calls without a marker_disarm()
 * @event: the trace event of one of @entries, or NULL; protected by
 *	   marker_notify_mutex
 * @name: the name
 */
struct marker_name {
	struct rb_node node;
	struct list_head entries;
	unsigned int arm_count;
	struct marker_event *event;
	char name[];
};

/**
 * struct marker_entry - a name and a format
 * @name: the name
 * @list: in the entries of @name
 * @attached: in marker_attached, while there are probes
 * @sites: the sites, one struct marker_sites for each module that has any
 * @probes: the probes, or NULL
 * @call: the first of @probes, or marker_no_probes; read by hits
 * @layout: the fields of the format, or NULL if the format is invalid
 * @active: true if there are probes to call
 * @format: the format
 */
struct marker_entry {
	struct marker_name *name;
	struct list_head list;
	struct list_head attached;
	struct list_head sites;
	struct marker_probes *probes;
	const struct marker_probe __rcu *call;
	struct marker_layout *layout;
	bool active;
	char format[];
};

/**
 * struct marker_sites - the sites of one entry in one module
 * @in_all: in marker_all_sites
 * @in_module: in the sites of @module, in the order of the first sites
 * @in_entry: in the sites of @entry
 * @entry: the entry
 * @module: the module, or the kernel
 * @first: the sites, linked by their @next
 * @count: number of sites
 */
struct marker_sites {
	struct list_head in_all;
	struct list_head in_module;
	struct list_head in_entry;
	struct marker_entry *entry;
	struct marker_module *module;
	struct marker *first;
	unsigned int count;
};

/**
 * struct marker_module - the sites of a module, or of the kernel
 * @list: in marker_modules
 * @sites: the sites, one struct marker_sites for each entry
 * @mod: the module, or NULL for the kernel
 * @going: true while the module is unloaded; entries do not change its sites
 * @start: the first site
 * @stop: end of the sites
 */
struct marker_module {
	struct list_head list;
	struct list_head sites;
	struct module *mod;
	bool going;
	struct marker *start, *stop;
};

#define for_each_site_of(sites, site)					\
	for (site = (sites)->first; site; site = site->next)

/* Stack traces omit code in this section; see is_marker_dispatch(). */
#define __marker_text	__section(".marker.text") notrace __no_stack_protector

/*
 * The same for the probes of trace events, with ORC. Without ORC, ftrace skips
 * one more frame of a stack trace.
 */
#ifdef CONFIG_UNWINDER_ORC
#define __marker_probe_text	__marker_text
#else
#define __marker_probe_text
#endif

/**
 * struct marker_hit - data of a hit that a probe can access
 * @marker: the marker
 * @probe: the probe that is called
 * @ip: return address of the call in the marked code
 * @args: the arguments; probes get a pointer to this member
 */
struct marker_hit {
	const struct marker *marker;
	const struct marker_probe *probe;
#ifndef CONFIG_X86_64
	unsigned long ip;
#endif
	va_list args;
};

static inline const struct marker_hit *marker_hit_of(va_list *args)
{
	return container_of((void *)args, struct marker_hit, args);
}

#ifdef CONFIG_X86_64
/* The ABI's va_list */
struct marker_va_list {
	unsigned int used_of_regs, used_of_floats;
	const unsigned long *stack;
	const unsigned long *regs;
};

/* @args: the arguments of a hit, before any va_arg() */
static inline const unsigned long *marker_words_on_stack(va_list *args)
{
	return ((const struct marker_va_list *)args)->stack;
}

/* The return address is below the arguments on the stack. */
static inline unsigned long marker_hit_ip(va_list *args)
{
	return marker_words_on_stack(args)[-1];
}

#define marker_set_hit_ip(hit, addr)	do { } while (0)
#else
static inline unsigned long marker_hit_ip(va_list *args)
{
	return marker_hit_of(args)->ip;
}

#define marker_set_hit_ip(hit, addr)	((hit)->ip = (addr))
#endif

/*
 * Protects names, entries and their data, except events. Nests outside
 * tracepoints_mutex and what imv_set() takes, and inside event_mutex.
 */
extern struct mutex markers_mutex;

/*
 * Protects the notifiers: each is called once for the load and once for the
 * unload of a module, even if it is registered concurrently. Nests outside
 * markers_mutex, so that notifiers may attach and detach probes and visit
 * markers. Either lock is enough to read marker_modules and all struct
 * marker_sites.
 */
extern struct mutex marker_notify_mutex;

/* The kernel and all modules that have markers, the kernel first */
extern struct list_head marker_modules;

/* All sites, by entries, the kernel's first */
extern struct list_head marker_all_sites;

/* All entries that have probes */
extern struct list_head marker_attached;

/* call.c */
extern const struct marker_probe marker_no_probes[];
void marker_call_variadic(void *private, void *call_private, const char *format,
			  va_list *args);
void marker_call_nobody(void *private, void *call_private, const char *format,
			va_list *args);

/* entries.c, with markers_mutex held */
struct marker_name *marker_find_name(const char *name);
void marker_put_name(struct marker_name *name);
struct marker_entry *marker_get_entry(const char *name, const char *format);
void marker_put_entry(struct marker_entry *entry);
unsigned int marker_count_probes(const struct marker_entry *entry);

/* sites.c, with markers_mutex held */
int marker_connect_entry(struct marker_entry *entry);
void marker_disconnect_entry(struct marker_entry *entry);
void marker_set_guards(struct marker_entry *entry);
void marker_finish_guards(void);
int marker_add_module(struct marker_module *module);
int marker_activate_module(struct marker_module *module);
void marker_disconnect_module(struct marker_module *module);
void marker_remove_module(struct marker_module *module);

/* modules.c */
int __init marker_init(void);
struct marker_module *marker_find_module(const struct module *mod);
#ifdef CONFIG_MODULES
int marker_module_notify(struct notifier_block *nb, unsigned long state, void *data);
#endif

#endif /* _MARKERS_PRIVATE_H */
