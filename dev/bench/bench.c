// SPDX-License-Identifier: GPL-2.0
/*
 * What a tracepoint costs, counted by the TSC; see ticks.h. Read a parameter to
 * measure:
 *
 *	pass		a pass of one site with 0 to 16 empty probes
 *	change		connecting a probe more and less, with 0 to 2 there
 *	connect		writing connects so many probes
 *	syncs		how often all CPUs were made to synchronise since the load,
 *			counted by a kprobe while count is 1
 *	ticks		the TSC
 */
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/tracepoint.h>

#include "bench.h"
#include "ticks.h"

#define PROBES	16

DEFINE_TRACE(bench, TP_PROTO(int number, void *pointer), TP_ARGS(number, pointer));
EXPORT_TRACEPOINT_SYMBOL_GPL(bench);

static notrace void probe(void *data, int number, void *pointer)
{
}

static void *nr_data(unsigned long nr)
{
	return (void *)(nr + 1);
}

static noinline notrace void pass_site(int number, void *pointer)
{
	unsigned int i;

	for (i = 0; i < PASSES; i++) {
		trace_bench(number, pointer);
		barrier();
	}
}

static int pass_get(char *buffer, const struct kernel_param *param)
{
	unsigned long i;
	int len = 0;

	for (i = 0; i <= PROBES; i++) {
		len += sysfs_emit_at(buffer, len, "%lu %lu\n", i, pass_ticks(pass_site));
		register_trace_bench(probe, nr_data(i));
	}
	while (i--)
		unregister_trace_bench(probe, nr_data(i));
	tracepoint_synchronize_unregister();
	return len;
}

static const struct kernel_param_ops pass_ops = { .get = pass_get };
module_param_cb(pass, &pass_ops, NULL, 0400);

/* Syncs */

static unsigned long nr_syncs;

static void *sync_func;

/* on_each_cpu(func, ...) is on_each_cpu_cond_mask(cond, func, ...). */
static int note_call(struct kprobe *kp, struct pt_regs *regs)
{
	if (regs_get_kernel_argument(regs, 1) == (unsigned long)sync_func)
		nr_syncs++;
	return 0;
}

static struct kprobe call_probe = {
	.symbol_name = "on_each_cpu_cond_mask",
	.pre_handler = note_call,
};

/* Modules are told where a function is when they put a probe there. */
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

static bool counting;

static int count_set(const char *text, const struct kernel_param *param)
{
	bool want;
	int ret = kstrtobool(text, &want);

	if (ret || want == counting)
		return ret;
	if (want) {
		call_probe.addr = NULL;
		call_probe.flags = 0;
		ret = register_kprobe(&call_probe);
	} else {
		unregister_kprobe(&call_probe);
	}
	if (!ret)
		counting = want;
	nr_syncs = 0;
	return ret;
}

static const struct kernel_param_ops count_ops = { .set = count_set };
module_param_cb(count, &count_ops, NULL, 0200);

/* Changes */

struct change {
	cycles_t ticks;
	unsigned long syncs;
};

static struct change measure(int (*change)(void (*probe)(void *, int, void *), void *data),
			     unsigned long nr)
{
	struct change result = { .syncs = nr_syncs };
	cycles_t start = get_cycles();

	change(probe, nr_data(nr));
	result.ticks = get_cycles() - start;
	result.syncs = nr_syncs - result.syncs;
	tracepoint_synchronize_unregister();
	return result;
}

static int on(void (*func)(void *, int, void *), void *data)
{
	return register_trace_bench(func, data);
}

static int off(void (*func)(void *, int, void *), void *data)
{
	return unregister_trace_bench(func, data);
}

static int change_get(char *buffer, const struct kernel_param *param)
{
	static const char *const names[] = { "0-1", "1-2", "2-3", "3-2", "2-1", "1-0" };
	struct change change[6];
	int len = 0;
	int i;

	for (i = 0; i < 3; i++)
		change[i] = measure(on, i);
	for (i = 3; i < 6; i++)
		change[i] = measure(off, 5 - i);
	for (i = 0; i < 6; i++)
		len += sysfs_emit_at(buffer, len, "%s %llu %lu\n", names[i],
				     change[i].ticks, change[i].syncs);
	return len;
}

static const struct kernel_param_ops change_ops = { .get = change_get };
module_param_cb(change, &change_ops, NULL, 0400);

/* So many probes are connected. */

static unsigned long nr_connected;

static int connect_set(const char *text, const struct kernel_param *param)
{
	unsigned long want;
	int ret = kstrtoul(text, 0, &want);

	for (; !ret && nr_connected < want; nr_connected++)
		ret = register_trace_bench(probe, nr_data(nr_connected));
	for (; !ret && nr_connected > want; nr_connected--)
		ret = unregister_trace_bench(probe, nr_data(nr_connected - 1));
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

MODULE_DESCRIPTION("What a tracepoint costs");
MODULE_LICENSE("GPL");
