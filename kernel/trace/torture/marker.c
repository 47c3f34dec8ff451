// SPDX-License-Identifier: GPL-2.0
/*
 * Tracing torture test: markers, with probes of both types. For each marker, one owner
 * attaches a variadic probe and arms the marker; the others attach va_list probes.
 */
#include <linux/export.h>
#include <linux/marker.h>
#include <linux/string.h>

#include "hits.h"

struct tt_target tt_marker_targets[TT_NR_MARKERS];
EXPORT_SYMBOL_GPL(tt_marker_targets);

static const struct { const char *name, *format; } markers[TT_NR_MARKERS] = {
	[TT_MARKER_ONE] = { "torture_one", TT_FORMAT_ONE },
	[TT_MARKER_NINE] = { "torture_nine", TT_FORMAT_NINE },
};

static bool nine_agree(const struct tt_hit *hit, va_list *args)
{
	bool agree = true;

	agree &= va_arg(*args, unsigned long) == tt_word(hit, 1);
	agree &= va_arg(*args, int) == (int)tt_word(hit, 2);
	agree &= va_arg(*args, unsigned long) == tt_word(hit, 3);
	agree &= va_arg(*args, long long) == (long long)tt_word(hit, 4);
	agree &= va_arg(*args, unsigned int) == (unsigned int)tt_word(hit, 5);
	agree &= va_arg(*args, long) == (long)tt_word(hit, 6);
	agree &= va_arg(*args, int) == (int)tt_word(hit, 7);
	agree &= va_arg(*args, unsigned long) == tt_word(hit, 8);
	return agree;
}

/* The data of the probe identifies the marker. */
static __printf(3, 0) void note_call(void *probe, struct tt_data *data,
				     const char *format, va_list *args)
{
	struct tt_hit *hit = va_arg(*args, struct tt_hit *);
	unsigned int nr = data->target - tt_marker_targets;
	bool agree = !strcmp(format, markers[nr].format);

	if (nr == TT_MARKER_NINE)
		agree = agree && nine_agree(hit, args);
	tt_note_call(data, hit, probe, agree);
}

static __printf(3, 0) void even(void *data, void *call_private, const char *format,
				va_list *args)
{
	note_call((void *)even, data, format, args);
}

static __printf(3, 0) void odd(void *data, void *call_private, const char *format,
			       va_list *args)
{
	note_call((void *)odd, data, format, args);
}

static __printf(3, 4) void variadic(const struct marker *marker, void *data,
				    const char *format, ...)
{
	va_list args;

	va_start(args, format);
	note_call((void *)variadic, data, format, &args);
	va_end(args);
}

static bool is_variadic(unsigned int nr, const struct tt_data *data)
{
	return data->owner == nr % TT_OWNERS;
}

/* The probe must not be called before the marker is armed. */
static int attach_variadic(unsigned int nr, struct tt_data *data)
{
	int ret = marker_probe_register(markers[nr].name, markers[nr].format, variadic,
					data);

	if (ret)
		return ret;
	WRITE_ONCE(data->func, variadic);
	ret = marker_arm(markers[nr].name);
	if (ret)
		marker_probe_unregister(markers[nr].name, variadic, data);
	return ret;
}

/* The probe must not be called after the marker is disarmed. */
static int detach_variadic(unsigned int nr, struct tt_data *data)
{
	int ret = marker_disarm(markers[nr].name);

	marker_synchronize_unregister();
	WRITE_ONCE(data->func, NULL);
	return marker_probe_unregister(markers[nr].name, variadic, data) ?: ret;
}

static int attach(unsigned int nr, struct tt_data *data)
{
	marker_va_func *probe = data->number % 2 ? odd : even;

	if (is_variadic(nr, data))
		return attach_variadic(nr, data);
	WRITE_ONCE(data->func, (void *)probe);
	return marker_probe_register(markers[nr].name, markers[nr].format, probe, data);
}

static int detach(unsigned int nr, struct tt_data *data)
{
	if (is_variadic(nr, data))
		return detach_variadic(nr, data);
	return marker_probe_unregister(markers[nr].name, data->func, data);
}

static const struct tt_probes probes = {
	.targets = tt_marker_targets,
	.nr = TT_NR_MARKERS,
	.are_tracepoints = true,
	.attach = attach,
	.detach = detach,
	.synchronize = marker_synchronize_unregister,
};

const struct tt_kind tt_marker = {
	.hit = tt_hit_marker, .probes = &probes,
};
