/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _TRACEPOINT_PRIVATE_H
#define _TRACEPOINT_PRIVATE_H

/*
 * What kernel/tracepoint.c shares with the files that make stubs call: by a
 * trampoline, or by a static call.
 */

#include <linux/generated-text.h>
#include <linux/list.h>
#include <linux/tracepoint.h>

/**
 * struct tp_probes - the probes of a tracepoint
 * @next: the next one of those that wait to be freed
 * @code: the trampoline; its text is NULL if there is none
 * @probes: the probes, by priority; a NULL function ends them
 */
struct tp_probes {
	struct tp_probes *next;
#ifdef CONFIG_TRACEPOINT_TRAMPOLINE
	struct generated_text code;
#endif
	struct tracepoint_func probes[];
};

/*
 * All are called with tracepoints_mutex held, but for trim_generated_text().
 *
 * tp_make_code() makes what the stub is to lead to, tp_set_code() makes it lead
 * there (NULL: to nothing). Before probes are freed, tp_forget_code() and a grace
 * period come first, then tp_free_code(). tp_walk() makes the stub read tp->funcs
 * at each hit. It needs no memory.
 */
#ifdef CONFIG_TRACEPOINT_TRAMPOLINE
int tp_make_code(struct tracepoint *tp, struct tp_probes *probes);
void tp_set_code(struct tracepoint *tp, const struct tp_probes *probes);
void tp_walk(struct tracepoint *tp);
void tp_forget_code(struct tp_probes *probes);
void tp_free_code(struct tp_probes *probes);

/* What __tracepoint_walk() gets, in two registers. */
struct tracepoint_walk {
	struct tracepoint_func *probes;
	unsigned long nr_on_stack;
};

struct tracepoint_walk tracepoint_walk_begin(const u8 *behind_call);

#define TRACEPOINT_MAX_ARGS	12	/* see __TP_NR_ARGS() */

/* As DEFINE_TRACE() made it? */
static inline bool tp_code_is_built(const struct tracepoint *tp)
{
	return !tp->code && tp->nr_args <= TRACEPOINT_MAX_ARGS;
}
#else
static inline bool tp_code_is_built(const struct tracepoint *tp)
{
	return true;
}

static inline int tp_make_code(struct tracepoint *tp, struct tp_probes *probes)
{
	return 0;
}

static inline void tp_set_code(struct tracepoint *tp,
			       const struct tp_probes *probes) { }
static inline void tp_walk(struct tracepoint *tp) { }
static inline void tp_forget_code(struct tp_probes *probes) { }
static inline void tp_free_code(struct tp_probes *probes) { }
#endif

#ifdef CONFIG_TRACEPOINT_STATIC_CALL
void tp_set_call(struct tracepoint *tp, const struct tracepoint_func *probes);
void tp_visit_locked(void (*fct)(struct tracepoint *tp, void *priv));
#else
static inline void tp_set_call(struct tracepoint *tp,
			       const struct tracepoint_func *probes) { }
#endif

#ifdef CONFIG_MODULES
struct notifier_block;

/* Notifiers of modules; tests call them. */
int tracepoint_module_notify(struct notifier_block *nb, unsigned long state, void *data);
int tracepoint_check_notify(struct notifier_block *nb, unsigned long state, void *data);

/* For the markers of a module. */
bool trace_module_has_text(const struct module *mod, const char *text, size_t size);
bool tracepoint_is_known(const struct tracepoint *tp, const struct module *mod);
#endif

#endif /* _TRACEPOINT_PRIVATE_H */
