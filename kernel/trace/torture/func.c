// SPDX-License-Identifier: GPL-2.0
/*
 * Tracing torture test: functions that several tracers trace. Each owner has one
 * tracer. Its filter selects the functions; it is registered while the filter is not
 * empty.
 */
#include <linux/bitops.h>
#include <linux/export.h>
#include <linux/ftrace.h>
#include <linux/kernel.h>
#include <linux/rcupdate.h>

#include "hits.h"

/* More than the distance from the start of a function to its patched call. */
#define ENTRY_SIZE	16

struct tt_target tt_func_targets[TT_NR_FUNCS];
EXPORT_SYMBOL_GPL(tt_func_targets);

/* The tracer of an owner */
struct tracer {
	struct ftrace_ops ops;
	unsigned long funcs;	/* a bit for each function that it traces */
	unsigned int number;	/* of registrations; odd ones use odd(), even ones even() */
};

static struct tracer tracers[TT_OWNERS];

/* The flags that the tracers use in turn. */
static const unsigned long flags[] = {
	0, FTRACE_OPS_FL_RECURSION, FTRACE_OPS_FL_RCU, FTRACE_OPS_FL_SAVE_REGS_IF_SUPPORTED,
};

static void note_call(void *self, unsigned long ip, struct ftrace_ops *ops,
		      struct ftrace_regs *fregs)
{
	struct tt_hit *hit = (void *)ftrace_regs_get_argument(fregs, 0);
	struct tracer *tracer = container_of(ops, struct tracer, ops);
	unsigned int nr = hit->target - tt_func_targets;
	bool agree = ip - (unsigned long)tt_traced_funcs[nr] < ENTRY_SIZE;

	tt_note_call(tt_last_data(&tt_func_targets[nr], tracer - tracers), hit, self, agree);
}

static void even(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
		 struct ftrace_regs *fregs)
{
	note_call(even, ip, ops, fregs);
}

static void odd(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
		struct ftrace_regs *fregs)
{
	note_call(odd, ip, ops, fregs);
}

static int change_filter(struct tracer *tracer, unsigned int nr, bool remove)
{
	return ftrace_set_filter_ip(&tracer->ops, (unsigned long)tt_traced_funcs[nr],
				    remove, 0);
}

static void prepare(struct tracer *tracer)
{
	unsigned int number = ++tracer->number;

	tracer->ops = (struct ftrace_ops){
		.func = number % 2 ? odd : even,
		.flags = flags[number / 2 % ARRAY_SIZE(flags)],
	};
}

static int attach(unsigned int nr, struct tt_data *data)
{
	struct tracer *tracer = &tracers[data->owner];
	int ret;

	if (!tracer->funcs)
		prepare(tracer);
	WRITE_ONCE(data->func, tracer->number % 2 ? odd : even);
	ret = change_filter(tracer, nr, false);
	if (!ret && !tracer->funcs)
		ret = register_ftrace_function(&tracer->ops);
	if (!ret)
		__set_bit(nr, &tracer->funcs);
	else if (!tracer->funcs)
		ftrace_free_filter(&tracer->ops);
	return ret;
}

static int detach(unsigned int nr, struct tt_data *data)
{
	struct tracer *tracer = &tracers[data->owner];
	int ret;

	__clear_bit(nr, &tracer->funcs);
	if (tracer->funcs)
		return change_filter(tracer, nr, true);
	ret = unregister_ftrace_function(&tracer->ops);
	ftrace_free_filter(&tracer->ops);
	return ret;
}

/* A task may have been preempted in the code that calls the tracers. */
static void synchronize(void)
{
	synchronize_rcu_tasks_rude();
	if (IS_ENABLED(CONFIG_PREEMPTION))
		synchronize_rcu_tasks();
}

static const struct tt_probes probes = {
	.targets = tt_func_targets,
	.nr = TT_NR_FUNCS,
	.attach = attach,
	.detach = detach,
	.synchronize = synchronize,
};

const struct tt_kind tt_func = { .hit = tt_hit_func, .probes = &probes };
