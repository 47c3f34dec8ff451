/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _MARKERS_PRIVATE_H
#define _MARKERS_PRIVATE_H

/*
 * Declarations shared by the parts of markers. Users identify a marker by a
 * name and a format; one object stands for the pair, the entry. The parts, each
 * of which uses only those above it, but for the calls of modules.c:
 *
 * format.c		the parser of formats: from a format to a layout
 * call.c		calls a probe with the arguments that it expects
 * entries.c		names and entries
 * kernel/marker.c	the interface: attaching, detaching, arming
 * sites.c		the markers of the kernel and of a module
 * modules.c		loading and unloading of modules; makes and removes their events
 * kernel/trace/trace_markers*.c	markers in tracefs
 */

#include <linux/list.h>
#include <linux/marker.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rbtree_types.h>
#include <trace/tracer.h>

#include "../tracepoint-private.h"

struct marker_event;

enum marker_probe_kind { MARKER_PROBE_WORDS, MARKER_PROBE_VA, MARKER_PROBE_VARIADIC };

/**
 * struct marker_probe - a probe attached to an entry
 * @list: in the probes of @entry, in the order of registration
 * @retired: after its removal
 * @entry: the entry
 * @kind: the type of @func; MARKER_PROBE_WORDS is a probe of the tracepoint
 * @func: the function
 * @private: its data
 */
struct marker_probe {
	struct list_head list;
	struct tp_retired retired;
	struct marker_entry *entry;
	enum marker_probe_kind kind;
	void *func;
	void *private;
};

/**
 * struct marker_name - data shared by all formats of a name
 * @node: in the tree of names
 * @retired: when it is not in use
 * @entries: one for each format
 * @arm_count: number of marker_arm() calls without a marker_disarm()
 * @event: the trace event of one of @entries, or NULL; protected by
 *	   marker_modules_mutex
 * @name: the name
 */
struct marker_name {
	struct rb_node node;
	struct tp_retired retired;
	struct list_head entries;
	unsigned int arm_count;
	struct marker_event *event;
	char name[];
};

/**
 * struct marker_entry - a name and a format
 * @name: the name
 * @list: in the entries of @name
 * @retired: when it is not in use
 * @attached: in marker_attached, while there are probes
 * @sites: one struct marker_sites for each module that has some
 * @probes: the probes
 * @users: the sites, if there are any, and the probes
 * @layout: the fields of the format, or NULL if the format is invalid
 * @marker: name and format, for variadic probes
 * @format: the format
 */
struct marker_entry {
	struct marker_name *name;
	struct list_head list;
	struct tp_retired retired;
	struct list_head attached;
	struct list_head sites;
	struct list_head probes;
	unsigned int users;
	struct marker_layout *layout;
	struct marker marker;
	char format[];
};

/**
 * struct marker_sites - the markers of one entry in one module
 * @in_all: in marker_all_sites
 * @in_module: in the sites of @module, in the order of the first markers
 * @in_entry: in the sites of @entry
 * @entry: the entry
 * @module: the module, or the kernel
 * @tp: the tracepoint of the markers
 * @count: how many places in the code have such a marker
 */
struct marker_sites {
	struct list_head in_all;
	struct list_head in_module;
	struct list_head in_entry;
	struct marker_entry *entry;
	struct marker_module *module;
	struct tracepoint *tp;
	unsigned int count;
};

/**
 * struct marker_module - the markers of a module, or of the kernel
 * @list: in marker_modules
 * @sites: one struct marker_sites for each entry
 * @mod: the module, or NULL for the kernel
 * @going: true while the module is unloaded; no probe is attached to its markers
 * @start: the first marker
 * @stop: end of the markers
 */
struct marker_module {
	struct list_head list;
	struct list_head sites;
	struct module *mod;
	bool going;
	const struct marker_site *start, *stop;
};

/*
 * Protects names, entries and their data, except events. Nests outside
 * tracepoints_mutex and what imv_set() takes, and inside event_mutex.
 */
extern struct mutex markers_mutex;

/*
 * Protects trace events. Nests outside markers_mutex, so that these may attach and detach
 * probes. Either lock is enough to read marker_modules and all struct marker_sites.
 */
extern struct mutex marker_modules_mutex;

/* The kernel and all modules that have markers, the kernel first */
extern struct list_head marker_modules;

/* All sites, by entries, the kernel's first */
extern struct list_head marker_all_sites;

/* All entries that have probes */
extern struct list_head marker_attached;

static inline const char *marker_module_name(const struct marker_module *module)
{
	return module->mod ? module_name(module->mod) : "vmlinux";
}

static inline const char *marker_site_name(const struct marker_site *site)
{
	const struct tracepoint *tp = marker_ref(&site->tp);

	return tp->name;
}

/* call.c */
void marker_call_va(void *data, ...);
void marker_call_variadic(void *data, ...);

/* entries.c, with markers_mutex held */
struct marker_name *marker_find_name(const char *name);
void marker_put_name(struct marker_name *name);
struct marker_entry *marker_find_entry(const struct marker_name *name, const char *format);
struct marker_entry *marker_get_entry(const char *name, const char *format);
void marker_put_entry(struct marker_entry *entry);
unsigned int marker_count_probes(const struct marker_entry *entry);

/* kernel/marker.c, with markers_mutex held */
int marker_attach_probes(struct marker_sites *sites);
void marker_detach_probes(struct marker_sites *sites);
bool marker_is_called(const struct marker_probe *probe);
bool marker_all_are_refused(const struct marker_entry *entry);
int marker_words_register(const char *name, const char *format, void *probe, void *data);

/* format.c */
size_t marker_format_len(const char *format);

/* sites.c, with markers_mutex held */
int marker_add_module(struct marker_module *module);
int marker_activate_module(struct marker_module *module);
void marker_disconnect_module(struct marker_module *module);
void marker_remove_module(struct marker_module *module);
bool marker_is_refused(const struct marker_sites *sites);

/* modules.c */
int __init marker_init(void);
struct marker_module *marker_find_module(const struct module *mod);

/* kernel/trace/trace_markers.c, with marker_modules_mutex held */
void marker_add_events(const struct marker_module *module);
void marker_remove_events(const struct marker_module *module);

#ifdef CONFIG_MODULES
int marker_module_notify(struct notifier_block *nb, unsigned long state, void *data);
#endif

#endif /* _MARKERS_PRIVATE_H */
