/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _MARKERS_PRIVATE_H
#define _MARKERS_PRIVATE_H

/*
 * What the parts of markers share. A marker is named by its users by a name and
 * a format; there is one object for both, the entry.
 *
 * kernel/marker.c	the interface, and the registry: names, entries, probes
 * format.c		the grammar of formats: from a format to a layout
 * call.c		the call of the probes, for each hit
 * sites.c		the sites of an entry, their guards and tracepoints
 * modules.c		the sites of the kernel and of modules, and who hears of them
 * kernel/trace/trace_markers.c	markers in tracefs
 * bridges/		markers that are fed by tracepoints
 */

#include <linux/list.h>
#include <linux/marker.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/rbtree_types.h>

struct marker_event;

/**
 * struct marker_probe - a probe attached to an entry
 * @call: what a hit calls: @func, or marker_call_variadic(), or
 *	  marker_call_nobody() while @func must not be called; NULL ends an array
 * @data: its first argument: @private, or this probe
 * @func: the function; NULL if it was removed without memory for a new array
 * @private: its private data
 * @variadic: is @func a marker_variadic_func?
 */
struct marker_probe {
	marker_probe_func *call;
	void *data;
	void *func;
	void *private;
	bool variadic;
};

/**
 * struct marker_probes - all probes of an entry
 * @rcu: to free it
 * @count: number of probes
 * @probe: the probes, in the order of their registration, and one with no @call
 */
struct marker_probes {
	struct rcu_head rcu;
	unsigned int count;
	struct marker_probe probe[];
};

/**
 * struct marker_name - what all formats of a name share
 * @node: in the tree of names
 * @hash: of the name
 * @entries: one for each format
 * @arm_count: marker_arm() without marker_disarm()
 * @event: the trace event of this name that is in tracefs, or NULL; protected
 *	   by marker_notify_mutex
 * @name: the name
 */
struct marker_name {
	struct rb_node node;
	unsigned int hash;
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
 * @stale: among the entries whose event is to be removed
 * @parts: the sites, a part for each module that has some
 * @probes: the probes, or NULL
 * @call: the first of @probes, or of marker_no_probes, for hits
 * @layout: the fields that the format has, or NULL if it is not of the grammar
 * @event: the trace event, or NULL; an entry that has one is not freed. Written
 *	   under marker_notify_mutex too.
 * @active: do hits call anything?
 * @format: the format
 */
struct marker_entry {
	struct marker_name *name;
	struct list_head list;
	struct list_head attached;
	struct list_head stale;
	struct list_head parts;
	struct marker_probes *probes;
	const struct marker_probe __rcu *call;
	struct marker_layout *layout;
	struct marker_event *event;
	bool active;
	char format[];
};

/**
 * struct marker_part - the sites of an entry in one module
 * @list: in the parts of @range, in the order of the first sites
 * @in_entry: in the parts of @entry
 * @entry: the entry
 * @range: the module, or the kernel
 * @sites: the sites, linked by their @next
 * @nr_sites: how many there are
 */
struct marker_part {
	struct list_head list;
	struct list_head in_entry;
	struct marker_entry *entry;
	struct marker_range *range;
	struct marker *sites;
	unsigned int nr_sites;
};

/**
 * struct marker_range - the sites of the kernel or of a module
 * @list: in marker_ranges
 * @parts: the sites, sorted by entry
 * @nr_parts: how many there are
 * @mod: the module, or NULL for the kernel
 * @going: its sites are let go, no entry changes them any more
 * @start: the first site
 * @stop: behind the last one
 */
struct marker_range {
	struct list_head list;
	struct list_head parts;
	unsigned int nr_parts;
	struct module *mod;
	bool going;
	struct marker *start, *stop;
};

#define for_each_site_of(part, site)					\
	for (site = (part)->sites; site; site = site->next)

/* Stack traces leave out what is in this section; see is_marker_dispatch(). */
#define __marker_text	__section(".marker.text") notrace __no_stack_protector

/*
 * So it is with the probes of trace events, if the frames of a stack are counted
 * as they are with ORC. Otherwise, one frame more is left out anyway.
 */
#ifdef CONFIG_UNWINDER_ORC
#define __marker_probe_text	__marker_text
#else
#define __marker_probe_text
#endif

/**
 * struct marker_hit - what a probe of a marker may know beyond its arguments
 * @marker: the marker
 * @probe: the probe that is called
 * @ip: the code that has the marker
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
/* What a va_list is in the ABI; arguments are words, five in registers. */
struct marker_va_list {
	unsigned int used_of_regs, used_of_floats;
	const unsigned long *stack;
	const unsigned long *regs;
};

#define MARKER_WORDS_IN_REGS	5U

/* @args: those of a hit, none of which was taken so far */
static inline const unsigned long *marker_words_in_regs(va_list *args)
{
	return ((const struct marker_va_list *)args)->regs + 1;
}

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
#define MARKER_WORDS_IN_REGS	0U

static inline unsigned long marker_hit_ip(va_list *args)
{
	return marker_hit_of(args)->ip;
}

#define marker_set_hit_ip(hit, addr)	((hit)->ip = (addr))
#endif

/*
 * Protects names, entries and what they have, but for their events. Nests
 * outside tracepoints_mutex and what imv_set() takes, and inside event_mutex.
 */
extern struct mutex markers_mutex;

/*
 * Protects the notifiers: each sees a module load and unload once, also when it
 * is registered meanwhile. Nests outside markers_mutex, so that notifiers may
 * attach, detach and walk. Either lock is enough to read marker_ranges and the
 * parts of ranges.
 */
extern struct mutex marker_notify_mutex;

/* All ranges; that of the kernel is the first. */
extern struct list_head marker_ranges;

/* All entries that have probes. */
extern struct list_head marker_attached;

/* kernel/marker.c, with markers_mutex held */
struct marker_entry *marker_get_entry(const char *name, const char *format);
void marker_put_entry(struct marker_entry *entry);
unsigned int marker_count_probes(const struct marker_entry *entry);
void marker_remove_probe(struct marker_entry *entry, struct marker_probe *probe);

/*
 * Entries that have an event and no sites, those that lost them last in front.
 * With marker_notify_mutex held: are there any, take the first one or NULL, move one
 * to a list of the caller's, return that list.
 */
bool marker_is_stale(void);
struct marker_entry *marker_take_stale(void);
void marker_move_stale(struct marker_entry *entry, struct list_head *list);
void marker_return_stale(struct list_head *list);

/* call.c */
extern const struct marker_probe marker_no_probes[];
void marker_call_variadic(void *private, void *call_private, const char *format,
			  va_list *args);
void marker_call_nobody(void *private, void *call_private, const char *format,
			va_list *args);
int marker_check_variadic(const char *format);

/* sites.c, with markers_mutex held */
int marker_connect_entry(struct marker_entry *entry);
void marker_disconnect_entry(struct marker_entry *entry);
void marker_set_guards(struct marker_entry *entry);
void marker_finish_guards(void);
int marker_add_range(struct marker_range *range);
bool marker_disconnect_range(struct marker_range *range);
void marker_remove_range(struct marker_range *range);
int marker_activate_range(struct marker_range *range);

/* modules.c */
int __init marker_init(void);
struct marker_range *marker_find_range(const struct module *mod);
struct marker_part *marker_nth_part(loff_t n);
struct marker_part *marker_next_part(struct marker_part *part);
#ifdef CONFIG_MODULES
int marker_module_notify(struct notifier_block *nb, unsigned long state, void *data);
#endif

#endif /* _MARKERS_PRIVATE_H */
