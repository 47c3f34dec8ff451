// SPDX-License-Identifier: GPL-2.0
/*
 * The cost of a site of a tracepoint with empty probes, see ticks.h. The parameter pass has
 * it for 0 to 16 probes; faultable, for 0 and 1 of a tracepoint whose probes may fault.
 */
#include <linux/module.h>

#include "hits.h"
#include "ticks.h"

#define PROBES	16

/* The compiler moves parts of what a site does in C out of a loop. */
#ifdef CONFIG_X86
#define alone	__always_inline
#else
#define alone	noinline notrace
#endif

static notrace void probe(void *data, int number, void *pointer)
{
}

static void *nr_data(unsigned long nr)
{
	return (void *)(nr + 1);
}

static alone void hit(int number, void *pointer)
{
	trace_hits_tp(number, pointer);
}

static noinline notrace void pass_site(int number, void *pointer)
{
	unsigned int i;

	for (i = 0; i < PASSES; i++) {
		hit(number, pointer);
		barrier();
	}
}

static int pass_get(char *buffer, const struct kernel_param *param)
{
	unsigned long i;
	int len = 0;

	for (i = 0; i <= PROBES; i++) {
		len += sysfs_emit_at(buffer, len, "%lu %lu\n", i, pass_ticks(pass_site));
		register_trace_hits_tp(probe, nr_data(i));
	}
	while (i--)
		unregister_trace_hits_tp(probe, nr_data(i));
	tracepoint_synchronize_unregister();
	return len;
}

static const struct kernel_param_ops pass_ops = { .get = pass_get };
module_param_cb(pass, &pass_ops, NULL, 0400);

static noinline notrace void pass_faultable(int number, void *pointer)
{
	unsigned int i;

	for (i = 0; i < PASSES; i++) {
		trace_hits_faultable_tp(number, pointer);
		barrier();
	}
}

static int faultable_get(char *buffer, const struct kernel_param *param)
{
	unsigned long off = pass_ticks(pass_faultable), on;

	register_trace_hits_faultable_tp(probe, NULL);
	on = pass_ticks(pass_faultable);
	unregister_trace_hits_faultable_tp(probe, NULL);
	tracepoint_synchronize_unregister();
	return sysfs_emit(buffer, "0 %lu\n1 %lu\n", off, on);
}

static const struct kernel_param_ops faultable_ops = { .get = faultable_get };
module_param_cb(faultable, &faultable_ops, NULL, 0400);

MODULE_DESCRIPTION("What a hit of a tracepoint costs");
MODULE_LICENSE("GPL");
