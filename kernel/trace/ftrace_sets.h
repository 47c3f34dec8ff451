/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _LINUX_KERNEL_FTRACE_SETS_H
#define _LINUX_KERNEL_FTRACE_SETS_H

/*
 * Sets of function tracers: the interface that kernel/trace/ftrace.c uses, and
 * the one that ftrace_sets.c requires of the architecture.
 */

#include <linux/ftrace.h>
#include <linux/generated-text.h>
#include <linux/list.h>
#include <linux/seq_file.h>
#include <linux/types.h>

/* Functions with more tracers call the list of all tracers. */
#define FTRACE_SET_MAX		32

#ifdef CONFIG_FTRACE_SETS

/**
 * struct ftrace_set_member - one tracer of a set
 * @of_ops: in the list of all sets of the tracer
 * @set: the set
 * @ops: the tracer
 * @seq: @seq of @ops, to distinguish it from a later tracer at the same address
 * @call: offset of its call in the code
 */
struct ftrace_set_member {
	struct list_head of_ops;
	struct ftrace_set *set;
	struct ftrace_ops *ops;
	unsigned long seq;
	unsigned int call;
};

/**
 * struct ftrace_set - the tracers of a function, and the code that calls them
 * @hash: in the hash table of all sets, by their members
 * @list: in the list of sets that need code, now or at the next update
 * @unused: in the list of sets that wait to be freed
 * @text: the code; its text is NULL if there is none
 * @to_make: @text will be made before the set is called
 * @no_text: @text cannot be made, or is not worth making
 * @id: the number that the records of functions store
 * @refs: number of references by functions: wanted and current
 * @nr: number of members
 * @members: the tracers in the order of the calls, newest first
 */
struct ftrace_set {
	struct hlist_node hash;
	struct list_head list;
	struct list_head unused;
	struct generated_text text;
	bool to_make;
	bool no_text;
	u16 id;
	unsigned int refs;
	unsigned int nr;
	struct ftrace_set_member members[];
};

int arch_ftrace_make_set(struct ftrace_set *set);
void arch_ftrace_update_begin(unsigned int nr);
void arch_ftrace_update_own(struct ftrace_ops *ops);
void arch_ftrace_update_member(struct ftrace_set_member *member);
void arch_ftrace_remove_member(struct ftrace_set_member *member);
void arch_ftrace_update_end(void);

void ftrace_set_register(struct ftrace_ops *ops);
void ftrace_set_unregister(struct ftrace_ops *ops);
void ftrace_set_make_text(void);
void ftrace_set_init(struct dyn_ftrace *rec, struct ftrace_ops *const *ops,
		     unsigned int nr);
void ftrace_set_change(struct dyn_ftrace *rec, struct ftrace_ops *ops, bool add);
void ftrace_set_drop(struct dyn_ftrace *rec);
void ftrace_set_update_func(struct ftrace_ops *ops);
bool ftrace_set_differs(const struct dyn_ftrace *rec);
void ftrace_set_enable(struct dyn_ftrace *rec, bool enable);
const struct ftrace_set *ftrace_set_wanted(const struct dyn_ftrace *rec);
const struct ftrace_set *ftrace_set_current(const struct dyn_ftrace *rec);
bool ftrace_set_is_to_find(const struct dyn_ftrace *rec);
bool ftrace_sets_unknown(void);
void ftrace_set_show(struct seq_file *m, const struct ftrace_set *set);

static inline unsigned long ftrace_set_text(const struct ftrace_set *set)
{
	return (unsigned long)set->text.text;
}

/* Does ftrace_set_update_func() also update the tracer's own trampoline? */
static inline bool ftrace_set_updates_own(const struct ftrace_ops *ops)
{
	return ops->trampoline;
}

#else

struct ftrace_set;

static inline void ftrace_set_register(struct ftrace_ops *ops) { }
static inline void ftrace_set_unregister(struct ftrace_ops *ops) { }
static inline void ftrace_set_make_text(void) { }
static inline void ftrace_set_init(struct dyn_ftrace *rec,
				   struct ftrace_ops *const *ops, unsigned int nr) { }
static inline void ftrace_set_change(struct dyn_ftrace *rec,
				     struct ftrace_ops *ops, bool add) { }
static inline void ftrace_set_drop(struct dyn_ftrace *rec) { }
static inline void ftrace_set_update_func(struct ftrace_ops *ops) { }
static inline bool ftrace_set_differs(const struct dyn_ftrace *rec)
{
	return false;
}

static inline void ftrace_set_enable(struct dyn_ftrace *rec, bool enable) { }
static inline const struct ftrace_set *ftrace_set_wanted(const struct dyn_ftrace *rec)
{
	return NULL;
}

static inline const struct ftrace_set *ftrace_set_current(const struct dyn_ftrace *rec)
{
	return NULL;
}

static inline void ftrace_set_show(struct seq_file *m, const struct ftrace_set *set) { }
static inline unsigned long ftrace_set_text(const struct ftrace_set *set)
{
	return 0;
}

static inline bool ftrace_set_updates_own(const struct ftrace_ops *ops)
{
	return false;
}

static inline bool ftrace_set_is_to_find(const struct dyn_ftrace *rec)
{
	return false;
}

static inline bool ftrace_sets_unknown(void)
{
	return false;
}

#endif /* CONFIG_FTRACE_SETS */

#endif /* _LINUX_KERNEL_FTRACE_SETS_H */
