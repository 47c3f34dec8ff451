/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _LINUX_FTRACE_SET_H
#define _LINUX_FTRACE_SET_H

/*
 * Sets of function tracers: what kernel/trace/ftrace_sets.c requires of an
 * architecture that selects HAVE_FTRACE_SETS, to generate code. Those with
 * DYNAMIC_FTRACE_WITH_CALL_OPS need only ftrace_set_ops().
 */

#include <linux/ftrace.h>
#include <linux/generated-text.h>
#include <linux/list.h>
#include <linux/types.h>

/* Functions with more tracers call the list of all tracers. */
#define FTRACE_SET_MAX		32

#ifdef CONFIG_FTRACE_SETS

/**
 * struct ftrace_set_member - one tracer of a set
 * @of_ops: in the list of all sets of the tracer
 * @set: the set
 * @ops: the tracer
 * @call: offset of its call in the code
 */
struct ftrace_set_member {
	struct list_head of_ops;
	struct ftrace_set *set;
	struct ftrace_ops *ops;
	unsigned int call;
};

/**
 * struct ftrace_set - the tracers of a function, and the code that calls them
 * @hash: in the hash table of all sets, by their members
 * @list: in the list of sets that need code, or of those that will be freed
 * @text: the code; its text is NULL if there is none, or the function of @ops
 * @ops: what functions refer to, if they do not call code of their own
 * @no_text: functions call the list, or their only tracer
 * @id: the number that the records of functions store
 * @refs: number of references by functions: wanted and current
 * @nr: number of members
 * @members: the tracers in the order of the calls, newest first
 */
struct ftrace_set {
	struct hlist_node hash;
	struct list_head list;
	struct generated_text text;
#ifdef CONFIG_DYNAMIC_FTRACE_WITH_CALL_OPS
	struct ftrace_ops ops;
#endif
	bool no_text;
	u16 id;
	unsigned int refs;
	unsigned int nr;
	struct ftrace_set_member members[];
};

int arch_ftrace_make_set(struct ftrace_set *set);

#endif /* CONFIG_FTRACE_SETS */

/* Under ftrace_lock; they take text_mutex. */
#if defined(CONFIG_FTRACE_SETS) && !defined(CONFIG_DYNAMIC_FTRACE_WITH_CALL_OPS)
void arch_ftrace_update_sets(struct ftrace_ops *ops);
#else
static inline void arch_ftrace_update_sets(struct ftrace_ops *ops) { }
#endif

#endif /* _LINUX_FTRACE_SET_H */
