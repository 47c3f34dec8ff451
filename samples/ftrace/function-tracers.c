// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Two function tracers that run at the same time, each with a name, a filter
 * and a trace of its own: sample_calls records which functions are called,
 * sample_callers also records the callers.
 *
 *   modprobe function-tracers
 *   cd /sys/kernel/tracing
 *   cat function_tracers
 *   echo 1 > options/function-tracers
 *   cat set_ftrace_filter
 *   echo sample_calls > function_tracers
 *   echo vfs_read > set_ftrace_filter
 *   cat instances/sample_calls/trace
 *
 * See Documentation/trace/function-tracers.rst.
 */
#include <linux/ftrace.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/trace.h>
#include <linux/trace_recursion.h>

static char *function = "vfs_open";
module_param(function, charp, 0444);
MODULE_PARM_DESC(function, "function that both trace at first");

struct sample {
	struct ftrace_ops ops;
	struct trace_array *trace;
	bool callers;
};

/* The functions that write the trace may be traced, but not this one. */
static notrace void note_call(unsigned long ip, unsigned long parent_ip,
			      struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	struct sample *sample = container_of(ops, struct sample, ops);
	int bit = ftrace_test_recursion_trylock(ip, parent_ip);

	if (bit < 0)
		return;
	if (sample->callers)
		trace_array_printk(sample->trace, ip, "%ps called by %ps\n",
				   (void *)ip, (void *)parent_ip);
	else
		trace_array_printk(sample->trace, ip, "%ps\n", (void *)ip);
	ftrace_test_recursion_unlock(bit);
}

static struct sample samples[] = {
	{ .ops = { .name = "sample_calls", .func = note_call } },
	{ .ops = { .name = "sample_callers", .func = note_call }, .callers = true },
};

static void stop(struct sample *sample)
{
	unregister_ftrace_function(&sample->ops);
	ftrace_free_filter(&sample->ops);
	trace_array_put(sample->trace);
	trace_array_destroy(sample->trace);
}

/* ftrace_set_filter() changes the text. */
static int set_filter(struct ftrace_ops *ops)
{
	unsigned char *text = kstrdup(function, GFP_KERNEL);
	int ret = text ? ftrace_set_filter(ops, text, strlen(text), 1) : -ENOMEM;

	kfree(text);
	return ret;
}

static int start(struct sample *sample)
{
	int ret;

	sample->trace = trace_array_get_by_name(sample->ops.name, NULL);
	if (!sample->trace)
		return -ENOMEM;
	ret = trace_array_init_printk(sample->trace);
	if (!ret)
		ret = set_filter(&sample->ops);
	if (!ret)
		ret = register_ftrace_function(&sample->ops);
	if (ret) {
		ftrace_free_filter(&sample->ops);
		trace_array_put(sample->trace);
		trace_array_destroy(sample->trace);
	}
	return ret;
}

static int __init function_tracers_init(void)
{
	int ret = start(&samples[0]);

	if (ret)
		return ret;
	ret = start(&samples[1]);
	if (ret)
		stop(&samples[0]);
	return ret;
}
module_init(function_tracers_init);

static void __exit function_tracers_exit(void)
{
	stop(&samples[1]);
	stop(&samples[0]);
}
module_exit(function_tracers_exit);

MODULE_DESCRIPTION("Two function tracers with names");
MODULE_LICENSE("GPL");
