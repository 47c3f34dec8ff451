/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _TRACEPOINT_PRIVATE_H
#define _TRACEPOINT_PRIVATE_H

/*
 * Interface between kernel/tracepoint.c and the files that make stubs call
 * probes by a trampoline.
 */

#include <linux/generated-text.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/mutex.h>
#include <linux/tracepoint.h>

extern struct mutex tracepoints_mutex;

/**
 * struct tp_retired - in an object that hits may still use, see tracepoint_free_later()
 * @node: in the list of these objects
 * @free: frees the object
 */
struct tp_retired {
	struct llist_node node;
	void (*free)(struct tp_retired *retired);
};

void tracepoint_free_later(struct tp_retired *retired, void (*free)(struct tp_retired *retired));

/**
 * struct tp_probes - the probes of a tracepoint
 * @retired: when another array has replaced it
 * @code: the trampoline; its text is NULL if there is none
 * @waiting: in the list of arrays that had no memory for a trampoline
 * @tp: the tracepoint, for those in the list
 * @probes: the probes, by priority; a NULL function ends the array
 */
struct tp_probes {
	struct tp_retired retired;
#ifdef CONFIG_TRACEPOINT_TRAMPOLINE
	struct generated_text code;
	struct list_head waiting;
	struct tracepoint *tp;
#endif
	struct tracepoint_func probes[];
};

/*
 * All but tp_free_code() are called with tracepoints_mutex held.
 *
 * tp_make_code() makes the trampoline of an array. tp_set_code() makes the stub
 * jump to it, or return if there are no probes (NULL). An array that is no longer
 * used is given to tp_retire_code(). When stubs no longer jump to its trampoline,
 * tp_free_code() frees this.
 * tp_set_walk() makes the stub read tp->funcs at each hit; it needs no memory.
 * tp_make_missing_code() makes the trampolines for which there was no memory.
 */
#ifdef CONFIG_TRACEPOINT_TRAMPOLINE
int tp_make_code(struct tracepoint *tp, struct tp_probes *probes);
void tp_set_code(struct tracepoint *tp, const struct tp_probes *probes);
void tp_set_walk(struct tracepoint *tp);
void tp_make_missing_code(void);
void tp_retire_code(struct tp_probes *probes);
void tp_free_code(struct tp_probes *probes);

/* Returned to __tracepoint_walk(), in two registers. */
struct tracepoint_walk {
	struct tracepoint_func *probes;
	unsigned long nr_on_stack;
};

struct tracepoint_walk tracepoint_walk_begin(const u8 *behind_call);
#else
static inline int tp_make_code(struct tracepoint *tp, struct tp_probes *probes)
{
	return 0;
}

static inline void tp_set_code(struct tracepoint *tp,
			       const struct tp_probes *probes) { }
static inline void tp_set_walk(struct tracepoint *tp) { }
static inline void tp_make_missing_code(void) { }
static inline void tp_retire_code(struct tp_probes *probes) { }
static inline void tp_free_code(struct tp_probes *probes) { }
#endif

/* The module notifier; tests call it, too. */
struct notifier_block;
int tracepoint_module_notify(struct notifier_block *nb, unsigned long state, void *data);

#endif /* _TRACEPOINT_PRIVATE_H */
