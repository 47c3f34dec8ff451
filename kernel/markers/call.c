// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Calls the probes of a marker. A marker is a tracepoint: its stub calls these functions,
 * with a struct marker_probe as data.
 */
#include <linux/export.h>

#include "markers.h"

notrace void marker_call_va(void *data, ...)
{
	const struct marker_probe *probe = data;
	marker_va_func *func = probe->func;
	va_list args;

	va_start(args, data);
	func(probe->private, NULL, probe->entry->format, &args);
	va_end(args);
}

/*
 * C cannot call a variadic function with the arguments of another one, but the format gives
 * their types, and each is passed as a word. The probe is always called with the maximum
 * number of words, and reads those that the format names.
 */
notrace void marker_call_variadic(void *data, ...)
{
	const struct marker_probe *probe = data;
	const struct marker_layout *layout = probe->entry->layout;
	marker_probe_func *func = probe->func;
	unsigned long w[MARKER_MAX_FIELDS] = { };
	unsigned int i;
	va_list args;

	BUILD_BUG_ON(MARKER_MAX_FIELDS != 12);
	va_start(args, data);
	for (i = 0; i < layout->nr_fields; i++)
		w[i] = layout->field[i].type == MARKER_INT ?
		       va_arg(args, int) : va_arg(args, long);
	va_end(args);
	func(&probe->entry->marker, probe->private, probe->entry->format, w[0], w[1],
	     w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10], w[11]);
}

/* Each probe reads the words that it has. */
static __always_inline void call_probes(const struct tracepoint_func *probe, unsigned int nr,
					va_list *args)
{
	void (*func)(void *data, long w0, long w1, long w2, long w3, long w4, long w5,
		     long w6, long w7, long w8, long w9, long w10, long w11);
	long w[MARKER_MAX_FIELDS] = { };
	unsigned int i;

	for (i = 0; i < nr; i++)
		w[i] = va_arg(*args, long);
	do {
		func = READ_ONCE(probe->func);
		if (tracepoint_may_call(func))
			func(probe->data, w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7],
			     w[8], w[9], w[10], w[11]);
		/* A removed probe is not NULL. */
	} while (data_race((++probe)->func));
}

/**
 * marker_call - call the probes of a marker
 * @tp: its tracepoint
 * @nr: number of arguments
 *
 * The arguments of the format follow. Only for the macros of markers: for
 * _trace_mark(), and where a stub is not patched code.
 *
 * Context: any in which RCU is watching.
 */
notrace void marker_call(struct tracepoint *tp, unsigned int nr, ...)
{
	const struct tracepoint_func *probes;
	va_list args;

	if (!cpu_online(raw_smp_processor_id()))
		return;
	guard(srcu_fast_notrace)(&tracepoint_srcu);
	probes = rcu_dereference_raw(tp->funcs);
	if (!probes)
		return;
	va_start(args, nr);
	call_probes(probes, nr, &args);
	va_end(args);
}
EXPORT_SYMBOL_GPL(marker_call);
