/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _LINUX_KERNEL_FTRACE_SETS_H
#define _LINUX_KERNEL_FTRACE_SETS_H

/* Sets of function tracers: the interface that kernel/trace/ftrace.c uses. */

#include <linux/ftrace-set.h>
#include <linux/seq_file.h>

#ifdef CONFIG_FTRACE_SETS

/* In ftrace.c */
unsigned int ftrace_tracers_of(const struct dyn_ftrace *rec,
			       const struct ftrace_ops *except,
			       struct ftrace_ops *tracers[FTRACE_SET_MAX]);

void ftrace_set_register(struct ftrace_ops *ops);
void ftrace_set_make_text(void);
void ftrace_set_change(struct dyn_ftrace *rec, struct ftrace_ops *ops, bool add);
void ftrace_set_find(struct dyn_ftrace *rec);
void ftrace_set_want_none(struct dyn_ftrace *rec);
void ftrace_set_drop(struct dyn_ftrace *rec);
bool ftrace_set_differs(const struct dyn_ftrace *rec);
void ftrace_set_enable(struct dyn_ftrace *rec, bool enable);
const struct ftrace_set *ftrace_set_wanted(const struct dyn_ftrace *rec);
const struct ftrace_set *ftrace_set_current(const struct dyn_ftrace *rec);
void ftrace_set_show(struct seq_file *m, const struct ftrace_set *set);
bool ftrace_is_set_text(unsigned long addr);

/* Return: the address of the code, or 0 if there is none. */
static inline unsigned long ftrace_set_text(const struct ftrace_set *set)
{
	if (!set || IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_CALL_OPS))
		return 0;
	return (unsigned long)set->text.text;
}

#else

static inline void ftrace_set_register(struct ftrace_ops *ops) { }
static inline void ftrace_set_make_text(void) { }
static inline void ftrace_set_change(struct dyn_ftrace *rec,
				     struct ftrace_ops *ops, bool add) { }
static inline void ftrace_set_find(struct dyn_ftrace *rec) { }
static inline void ftrace_set_want_none(struct dyn_ftrace *rec) { }
static inline void ftrace_set_drop(struct dyn_ftrace *rec) { }
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
static inline bool ftrace_is_set_text(unsigned long addr)
{
	return false;
}

static inline unsigned long ftrace_set_text(const struct ftrace_set *set)
{
	return 0;
}

#endif /* CONFIG_FTRACE_SETS */

#endif /* _LINUX_KERNEL_FTRACE_SETS_H */
