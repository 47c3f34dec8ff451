// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Calls the probes of a marker on each hit.
 */
#include <linux/export.h>
#include <linux/preempt.h>

#include "markers.h"

/* For entries without probes, so that a hit does not need to test for that */
const struct marker_probe marker_no_probes[] = {
	{ .call = marker_call_nobody },
	{ },
};

#ifdef CONFIG_PREEMPTION
/* Not inline, since a call in assembly code makes gcc set up a frame */
static noinline __marker_text void reschedule(void)
{
	__preempt_schedule_notrace();
}

static __always_inline void leave(void)
{
	barrier();
	if (unlikely(__preempt_count_dec_and_test()))
		reschedule();
}
#else
static __always_inline void leave(void)
{
	preempt_enable_notrace();
}
#endif

/**
 * marker_call - call the probes of a marker
 * @marker: the marker
 *
 * The arguments of the format follow. Only for trace_mark() and trace_mark_tp().
 * Preemption is disabled once, as records assume that subtract it from their count;
 * a tracepoint that feeds the marker leaves it enabled.
 *
 * Context: any in which RCU is watching.
 */
__marker_text void marker_call(const struct marker *marker, ...)
{
	/*
	 * State needed after the call of a probe is in hit. As the compiler must assume
	 * that the probe changes it, it saves no registers across the call.
	 */
	struct marker_hit hit __uninitialized;
	marker_va_func *call;

	preempt_disable_notrace();
	hit.marker = marker;
	hit.probe = rcu_dereference_sched(READ_ONCE(marker->entry)->call);
	marker_set_hit_ip(&hit, _RET_IP_);
	for (;;) {
		va_start(hit.args, marker);	/* each probe reads all arguments */
		call = READ_ONCE(hit.probe->call);
		call(hit.probe->data, NULL, hit.marker->format, &hit.args);
		va_end(hit.args);
		/* It changes meanwhile, but not to or from NULL. */
		if (likely(!data_race(hit.probe[1].call)))
			break;
		hit.probe++;
	}
	leave();
}
EXPORT_SYMBOL_GPL(marker_call);

/* Replaces a probe that was removed or is not armed. */
notrace void marker_call_nobody(void *private, void *call_private,
				const char *format, va_list *args)
{
}

/*
 * Calls a variadic probe. C cannot call a variadic function with the arguments
 * of another one, but the format gives their types, and each is passed as a word.
 * The probe is always called with the maximum number of words, and reads those
 * that the format names.
 */
notrace void marker_call_variadic(void *private, void *call_private,
				  const char *format, va_list *args)
{
	const struct marker *marker = marker_hit_of(args)->marker;
	const struct marker_probe *probe = private;
	const struct marker_layout *layout = READ_ONCE(marker->entry)->layout;
	marker_probe_func *func = READ_ONCE(probe->func);
	unsigned long w[MARKER_VARIADIC_ARGS] = { };
	unsigned int i;

	BUILD_BUG_ON(MARKER_VARIADIC_ARGS != 16);
	if (!func || !layout)	/* the module of the site is unloaded */
		return;
	for (i = 0; i < layout->nr_fields; i++)
		w[i] = layout->field[i].type == MARKER_INT ?
		       va_arg(*args, int) : va_arg(*args, long);
	func(marker, probe->private, format, w[0], w[1], w[2], w[3], w[4],
	     w[5], w[6], w[7], w[8], w[9], w[10], w[11], w[12], w[13], w[14],
	     w[15]);
}
