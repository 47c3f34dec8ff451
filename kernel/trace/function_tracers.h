/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _LINUX_KERNEL_FUNCTION_TRACERS_H
#define _LINUX_KERNEL_FUNCTION_TRACERS_H

/*
 * Named function tracers: the interface of function_tracers.c for the files of
 * ftrace.
 */

#include <linux/fs.h>
#include <linux/ftrace.h>
#include <linux/seq_file.h>

#include "trace.h"

struct function_tracer;

#ifdef CONFIG_DYNAMIC_FTRACE

int function_tracer_add(struct ftrace_ops *ops);
void function_tracer_remove(const struct ftrace_ops *ops);
void function_tracers_each(void (*func)(struct ftrace_ops_hash *filter, void *arg),
			   void *arg);

bool function_tracers_separate(void);
int function_tracers_open(struct trace_array *tr, int flag, struct inode *inode,
			  struct file *file);
void function_tracers_tracefs(struct dentry *parent);

struct function_tracer *function_tracer_get(const struct ftrace_ops *ops);
bool function_tracer_lock(struct function_tracer *tracer);
void function_tracer_unlock(void);
void function_tracer_put(struct function_tracer *tracer);

/* In ftrace.c */
unsigned int ftrace_show_hash(struct seq_file *m, const char *name,
			      struct ftrace_hash *hash);

#else

static inline int function_tracer_add(struct ftrace_ops *ops)
{
	return 0;
}

static inline void function_tracer_remove(const struct ftrace_ops *ops) { }

#endif /* CONFIG_DYNAMIC_FTRACE */

#endif /* _LINUX_KERNEL_FUNCTION_TRACERS_H */
