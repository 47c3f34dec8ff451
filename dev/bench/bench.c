// SPDX-License-Identifier: GPL-2.0
/*
 * The cost of changes of a tracepoint, measured by the TSC. Read a parameter to measure:
 *
 *	change		attaching and detaching a probe, with 0 to 2 others
 *	connect		writing a number attaches so many probes
 *	syncs		the number of synchronisations of all CPUs since count became 1,
 *			counted by a kprobe
 *	trapped		the longest time since then for which all places of a batch
 *			were breakpoints
 *	ticks		the TSC
 */
#include <linux/ftrace.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/timex.h>
#include <linux/tracepoint.h>

#include "bench.h"

DEFINE_TRACE(bench_tp, TP_PROTO(int number, void *pointer), TP_ARGS(number, pointer));
EXPORT_TRACEPOINT_SYMBOL_GPL(bench_tp);

static notrace void probe(void *data, int number, void *pointer)
{
}

static void *nr_data(unsigned long nr)
{
	return (void *)(nr + 1);
}

/* Syncs */

static unsigned long nr_syncs;

static void *sync_func;

/*
 * A batch turns its places into breakpoints; sync 1 follows these, sync 3 the last byte.
 * Other syncs have another caller. A look-up of its name takes long, so the few that
 * there are are kept.
 */
#define SYNCS_OF_BATCH	3
#define CALLERS		8

static cycles_t batch_start, longest_batch;
static unsigned int batch_syncs;
static struct {
	unsigned long address;
	bool is_batch;
} callers[CALLERS];

static bool in_batch(struct pt_regs *regs)
{
	unsigned long caller = regs_get_kernel_stack_nth(regs, 0);
	char symbol[KSYM_SYMBOL_LEN];
	unsigned int i;

	for (i = 0; i < CALLERS - 1 && callers[i].address; i++)
		if (callers[i].address == caller)
			return callers[i].is_batch;
	sprint_symbol(symbol, caller);
	callers[i].address = caller;
	callers[i].is_batch = strstr(symbol, "text_poke_batch");
	return callers[i].is_batch;
}

/* on_each_cpu(func, ...) is on_each_cpu_cond_mask(cond, func, ...). */
static int note_call(struct kprobe *kp, struct pt_regs *regs)
{
	if (regs_get_kernel_argument(regs, 1) != (unsigned long)sync_func)
		return 0;
	nr_syncs++;
	if (!in_batch(regs))
		return 0;
	if (++batch_syncs == 1)
		batch_start = get_cycles();
	if (batch_syncs < SYNCS_OF_BATCH)
		return 0;
	batch_syncs = 0;
	longest_batch = max(longest_batch, get_cycles() - batch_start);
	return 0;
}

/* A kprobe with a post_handler is not optimized to a jump, which would add syncs. */
static void note_nothing(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
}

/* At the ftrace call of a function, a kprobe would be one more function tracer. */
static struct kprobe call_probe = {
	.symbol_name = "on_each_cpu_cond_mask",
	.offset = MCOUNT_INSN_SIZE,
	.pre_handler = note_call,
	.post_handler = note_nothing,
};

/* A module can get the address of a function from a kprobe on it. */
static int find_sync_func(void)
{
	struct kprobe probe = { .symbol_name = "do_sync_core" };
	int ret = register_kprobe(&probe);

	if (ret)
		return ret;
	sync_func = probe.addr;
	unregister_kprobe(&probe);
	return 0;
}

module_param_named(syncs, nr_syncs, ulong, 0400);
module_param_named(trapped, longest_batch, ullong, 0400);

static bool counting;

static int count_start(void)
{
	batch_syncs = 0;
	call_probe.addr = NULL;
	call_probe.flags = 0;
	return register_kprobe(&call_probe);
}

static int count_set(const char *text, const struct kernel_param *param)
{
	bool want;
	int ret = kstrtobool(text, &want);

	if (ret || want == counting)
		return ret;
	if (want)
		ret = count_start();
	else
		unregister_kprobe(&call_probe);
	if (!ret)
		counting = want;
	nr_syncs = 0;
	longest_batch = 0;
	return ret;
}

static const struct kernel_param_ops count_ops = { .set = count_set };
module_param_cb(count, &count_ops, NULL, 0200);

/* Changes */

struct change {
	cycles_t ticks;
	unsigned long syncs;
	cycles_t trapped;
};

static struct change measure(bool on, unsigned long nr)
{
	struct change result = { .syncs = nr_syncs };
	cycles_t start = get_cycles();

	longest_batch = 0;
	if (on)
		register_trace_bench_tp(probe, nr_data(nr));
	else
		unregister_trace_bench_tp(probe, nr_data(nr));
	result.ticks = get_cycles() - start;
	result.syncs = nr_syncs - result.syncs;
	result.trapped = longest_batch;
	tracepoint_synchronize_unregister();
	return result;
}

static int change_get(char *buffer, const struct kernel_param *param)
{
	static const char *const names[] = { "0-1", "1-2", "2-3", "3-2", "2-1", "1-0" };
	struct change change[6];
	int len = 0;
	int i;

	for (i = 0; i < 6; i++)
		change[i] = measure(i < 3, i < 3 ? i : 5 - i);
	for (i = 0; i < 6; i++)
		len += sysfs_emit_at(buffer, len, "%s %llu %lu %llu\n", names[i],
				     change[i].ticks, change[i].syncs, change[i].trapped);
	return len;
}

static const struct kernel_param_ops change_ops = { .get = change_get };
module_param_cb(change, &change_ops, NULL, 0400);

/* Number of attached probes */

static unsigned long nr_connected;

static int connect_set(const char *text, const struct kernel_param *param)
{
	unsigned long want;
	int ret = kstrtoul(text, 0, &want);

	for (; !ret && nr_connected < want; nr_connected++)
		ret = register_trace_bench_tp(probe, nr_data(nr_connected));
	for (; !ret && nr_connected > want; nr_connected--)
		ret = unregister_trace_bench_tp(probe, nr_data(nr_connected - 1));
	tracepoint_synchronize_unregister();
	return ret;
}

static const struct kernel_param_ops connect_ops = { .set = connect_set };
module_param_cb(connect, &connect_ops, NULL, 0200);

static int ticks_get(char *buffer, const struct kernel_param *param)
{
	return sysfs_emit(buffer, "%llu\n", get_cycles());
}

static const struct kernel_param_ops ticks_ops = { .get = ticks_get };
module_param_cb(ticks, &ticks_ops, NULL, 0400);

static int __init bench_init(void)
{
	return find_sync_func();
}
module_init(bench_init);

static void __exit bench_exit(void)
{
	if (counting)
		unregister_kprobe(&call_probe);
}
module_exit(bench_exit);

MODULE_DESCRIPTION("What changes of a tracepoint cost");
MODULE_LICENSE("GPL");
