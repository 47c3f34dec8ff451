// SPDX-License-Identifier: GPL-2.0
/*
 * Function tracers with empty functions. The parameters are:
 *
 *	calls		reading it prints the cost of a call of a traced function, by
 *			the TSC (see ticks.h), minus that of an untraced call. This is
 *			for numbers of tracers on the function and elsewhere; and for a
 *			direct call as of BPF's fentry, alone and with a tracer.
 *	functions	how many of traced_000 to traced_999 the tracers trace
 *	tracers		writing a number registers so many tracers of these functions
 *	filter		writing 0 removes these functions from the filter of the
 *			newest tracer, 1 adds all of them
 */
#include <linux/ftrace.h>
#include <linux/module.h>

#include "ticks.h"

#define TRACERS	10

/* traced_000() to traced_999(), and many[], their addresses; see dev/bench.sh. */
#include "many.h"

static noinline int traced(int number)
{
	asm volatile("");
	return number;
}

static noinline int elsewhere(int number)
{
	asm volatile("");
	return number + 1;
}

static unsigned long here_ip = (unsigned long)traced;
static unsigned long elsewhere_ip = (unsigned long)elsewhere;

static notrace void empty(unsigned long ip, unsigned long parent_ip,
			  struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
}

static noinline notrace void pass_call(int number, void *pointer)
{
	unsigned int i;

	for (i = 0; i < PASSES; i++)
		traced(number);
}

static struct ftrace_ops tracers[TRACERS];

static int start(unsigned int nr, unsigned long *ips, unsigned int nr_ips)
{
	struct ftrace_ops *ops = &tracers[nr];
	int ret;

	*ops = (struct ftrace_ops){ .func = empty };
	ret = ftrace_set_filter_ips(ops, ips, nr_ips, 0, 1);
	return ret ?: register_ftrace_function(ops);
}

static void stop(unsigned int nr)
{
	unregister_ftrace_function(&tracers[nr]);
	ftrace_free_filter(&tracers[nr]);
}

/* With @here tracers on the function, and @others elsewhere. */
static long ticks_with(unsigned int here, unsigned int others)
{
	unsigned int i;
	long ticks;
	int ret = 0;

	for (i = 0; i < here + others && !ret; i++)
		ret = start(i, i < here ? &here_ip : &elsewhere_ip, 1);
	ticks = pass_ticks(pass_call);
	while (i--)
		stop(i);
	return ret ?: ticks;
}

#ifdef CONFIG_X86
/* Like a trampoline of BPF's fentry; it changes no register. */
static notrace void trampoline(void)
{
}

/* With a direct call of the trampoline, and @here tracers. */
static long ticks_with_fentry(unsigned int here)
{
	static struct ftrace_ops ops;
	long ret;

	ops = (struct ftrace_ops){ };
	ret = ftrace_set_filter_ip(&ops, here_ip, 0, 1);
	if (ret)
		return ret;
	ret = register_ftrace_direct(&ops, (unsigned long)trampoline);
	if (!ret) {
		ret = ticks_with(here, 0);
		unregister_ftrace_direct(&ops, (unsigned long)trampoline, false);
	}
	ftrace_free_filter(&ops);
	return ret;
}
#endif

static const struct {
	unsigned int here, others;
} numbers[] = { { 1, 0 }, { 1, 1 }, { 2, 0 }, { 2, 6 }, { 4, 0 }, { 4, 4 }, { 8, 0 } };

static int calls_get(char *buffer, const struct kernel_param *param)
{
	long untraced = pass_ticks(pass_call);
	unsigned int n;
	int len = 0;

	for (n = 0; n < ARRAY_SIZE(numbers); n++)
		len += sysfs_emit_at(buffer, len, "call with %u of %u function tracers:%ld\n",
				     numbers[n].here, numbers[n].here + numbers[n].others,
				     ticks_with(numbers[n].here, numbers[n].others) - untraced);
#ifdef CONFIG_X86
	len += sysfs_emit_at(buffer, len, "call with fentry:%ld\n",
			     ticks_with_fentry(0) - untraced);
	len += sysfs_emit_at(buffer, len, "call with fentry and 1 function tracer:%ld\n",
			     ticks_with_fentry(1) - untraced);
#endif
	return len;
}

static const struct kernel_param_ops calls_ops = { .get = calls_get };
module_param_cb(calls, &calls_ops, NULL, 0400);

static unsigned int nr_functions = 1;
module_param_named(functions, nr_functions, uint, 0600);

static unsigned int nr_started;

static int tracers_set(const char *text, const struct kernel_param *param)
{
	unsigned int want;
	int ret = kstrtouint(text, 0, &want);

	if (ret || want > TRACERS || nr_functions > ARRAY_SIZE(many))
		return ret ?: -EINVAL;
	for (; !ret && nr_started < want; nr_started++)
		ret = start(nr_started, many, nr_functions);
	for (; !ret && nr_started > want; nr_started--)
		stop(nr_started - 1);
	return ret;
}

static const struct kernel_param_ops tracers_ops = { .set = tracers_set };
module_param_cb(tracers, &tracers_ops, NULL, 0200);

static int filter_set(const char *text, const struct kernel_param *param)
{
	struct ftrace_ops *newest = &tracers[nr_started - 1];
	bool want;
	int ret = kstrtobool(text, &want);

	if (ret || !nr_started)
		return ret ?: -EINVAL;
	return want ? ftrace_set_filter_ips(newest, many, nr_functions, 0, 1) :
		      ftrace_set_filter_ip(newest, elsewhere_ip, 0, 1);
}

static const struct kernel_param_ops filter_ops = { .set = filter_set };
module_param_cb(filter, &filter_ops, NULL, 0200);

MODULE_DESCRIPTION("Counts what calls of traced functions cost");
MODULE_LICENSE("GPL");
