// SPDX-License-Identifier: GPL-2.0
/* Passes the values of a marker to LTTng: to a session, a trigger or a counter. */
#include <linux/build_bug.h>
#include <linux/minmax.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/stdarg.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/user_namespace.h>

#include <lttng/events.h>
#include <lttng/events-internal.h>
#include <lttng/tracer.h>
#include <ringbuffer/frontend_types.h>
#include <wrapper/rcu.h>

#include "markers.h"

/**
 * struct hit - the arguments of a hit
 * @value: a number, or a pointer to a string: the layout that filters of LTTng read
 * @size: the size of a string with its NUL
 * @copies: characters, addresses, bytes, and strings that need not have an end, as the format
 *	    has a precision
 */
struct hit {
	u64 value[MARKER_MAX_FIELDS];
	unsigned int size[MARKER_MAX_FIELDS];
	char copies[512];
};

/* Filters find values by the sizes of those before them. */
static_assert(sizeof(char *) == sizeof(u64), "the bridge needs a kernel of 64 bits");

/* Return: the end of the copy. */
static char *copy_text(char *to, const char *from, unsigned int max)
{
	unsigned int len = strnlen(from, max);

	memcpy(to, from, len);
	to[len] = '\0';
	return to + len + 1;
}

/* The bytes of an address, for example, as text. The word in front may be their number. */
static char *print_bytes(char *to, unsigned int room, const struct marker_field *from,
			 const unsigned long *word)
{
	bool hex = from->conversion == 'h';
	int size = hex ? clamp_t(int, word[-1], 0, MARKER_MAX_HEX) : from->bytes;
	char spec[MARKER_MAX_SPEC + 1];
	u8 bytes[MARKER_MAX_HEX];

	if (copy_from_kernel_nofault(bytes, (const void *)*word, size)) {
		memset(bytes, 0, sizeof(bytes));
		size = 0;
	}
	strscpy(spec, from->spec, from->len + 1);
	if (hex)
		return to + scnprintf(to, room, spec, size, bytes) + 1;
	return to + scnprintf(to, room, spec, bytes) + 1;
}

/* Filters compare 64 bits. The word of an argument may have more than its field. */
static u64 number_of(const struct marker_field *from, u64 word)
{
	unsigned int shift = BITS_PER_TYPE(word) - from->size * BITS_PER_BYTE;

	word <<= shift;
	return from->is_signed ? (s64)word >> shift : word >> shift;
}

static void read_values(struct hit *hit, const struct mark_event *event,
			const unsigned long *words)
{
	unsigned int i, nr = event->layout->nr_fields;
	char *to = hit->copies, *end = to + sizeof(hit->copies);

	for (i = 0; i < nr; i++) {
		const struct marker_field *from = event->field[i].from;
		const char *text = (const char *)words[i] ?: "(null)", *copy = to;
		unsigned int room = end - to - (nr - i) * sizeof("c");
		char first, c = words[i];

		if (!is_text(&event->field[i])) {
			hit->value[i] = number_of(from, words[i]);
			continue;
		}
		if (from->conversion == 's' && get_kernel_nofault(first, text))
			text = "(fault)";
		if (from->bytes || from->conversion == 'h')
			to = print_bytes(to, room, from, &words[i]);
		else if (from->conversion == 'c')
			to = copy_text(to, &c, sizeof(c));
		else if (from->precision >= 0)
			to = copy_text(to, text, min_t(unsigned int, room, from->precision));
		else
			copy = text;
		hit->value[i] = (u64)copy;
		hit->size[i] = strlen(copy) + 1;
	}
}

static size_t record_size(const struct mark_event *event, const struct hit *hit,
			  size_t *max_align)
{
	size_t size = 0, align;
	unsigned int i;

	*max_align = 1;
	for (i = 0; i < event->layout->nr_fields; i++) {
		const struct mark_field *f = &event->field[i];

		if (is_text(f)) {
			size += hit->size[i];
			continue;
		}
		align = f->type.integer.alignment / BITS_PER_BYTE;
		*max_align = max(*max_align, align);
		size += lib_ring_buffer_align(size, align);
		size += f->type.integer.size / BITS_PER_BYTE;
	}
	return size;
}

/* LTTng pads a string that has become shorter. */
static void write_field(const struct lttng_kernel_channel_buffer_ops *ops,
			struct lttng_kernel_ring_buffer_ctx *ctx,
			const struct mark_field *f, u64 value, unsigned int size)
{
	unsigned int bits = f->type.integer.size;

	if (is_text(f)) {
		ops->event_strcpy(ctx, (const char *)value, size);
		return;
	}
	if (IS_ENABLED(CONFIG_CPU_BIG_ENDIAN))
		value <<= BITS_PER_TYPE(value) - bits;
	ops->event_write(ctx, &value, bits / BITS_PER_BYTE,
			 f->type.integer.alignment / BITS_PER_BYTE);
}

static void record_hit(struct lttng_kernel_probe_ctx *probe, const struct mark_event *event,
		       const struct hit *hit)
{
	struct lttng_kernel_event_recorder *recorder =
		container_of(probe->event, struct lttng_kernel_event_recorder, parent);
	const struct lttng_kernel_channel_buffer_ops *ops = recorder->chan->ops;
	struct lttng_kernel_ring_buffer_ctx ctx;
	size_t size, align;
	unsigned int i;

	size = record_size(event, hit, &align);
	lib_ring_buffer_ctx_init(&ctx, recorder, size, align, probe);
	if (ops->event_reserve(&ctx) < 0)
		return;
	for (i = 0; i < event->layout->nr_fields; i++)
		write_field(ops, &ctx, &event->field[i], hit->value[i], hit->size[i]);
	ops->event_commit(&ctx);
}

static void notify_of_hit(struct lttng_kernel_probe_ctx *probe, const struct hit *hit)
{
	struct lttng_kernel_event_notifier *notifier =
		container_of(probe->event, struct lttng_kernel_event_notifier, parent);
	struct lttng_kernel_notification_ctx ctx = {
		.eval_capture = READ_ONCE(notifier->eval_capture),
	};

	notifier->notification_send(notifier, (const char *)hit->value, probe, &ctx);
}

static void count_hit(struct lttng_kernel_probe_ctx *probe, const struct hit *hit)
{
	struct lttng_kernel_event_counter *counter =
		container_of(probe->event, struct lttng_kernel_event_counter, parent);
	struct lttng_kernel_event_counter_ctx ctx = {
		.args_available = READ_ONCE(counter->use_args),
	};

	counter->chan->ops->counter_hit(counter, (const char *)hit->value, probe, &ctx);
}

/*
 * Selecting
 */

/* A macro, so that @id is evaluated only if the tracker is in use. */
#define tracker_admits(tracker, id)					\
({									\
	struct lttng_kernel_id_tracker_rcu *__ids =			\
		lttng_rcu_dereference((tracker)->p);			\
									\
	!__ids || lttng_id_tracker_lookup(__ids, id);			\
})

static bool session_wants(const struct lttng_kernel_channel_common *chan)
{
	const struct lttng_kernel_session *session = chan->session;

	return READ_ONCE(session->active) && READ_ONCE(chan->enabled) &&
	       tracker_admits(&session->pid_tracker, current->tgid) &&
	       tracker_admits(&session->vpid_tracker, task_tgid_vnr(current)) &&
	       tracker_admits(&session->uid_tracker,
			      from_kuid_munged(&init_user_ns, current_uid())) &&
	       tracker_admits(&session->vuid_tracker,
			      from_kuid_munged(current_user_ns(), current_uid())) &&
	       tracker_admits(&session->gid_tracker,
			      from_kgid_munged(&init_user_ns, current_gid())) &&
	       tracker_admits(&session->vgid_tracker,
			      from_kgid_munged(current_user_ns(), current_gid()));
}

/* A trigger has no channel. */
static bool is_wanted(struct lttng_kernel_event_common *lttng)
{
	struct lttng_kernel_channel_common *chan;

	if (!READ_ONCE(lttng->enabled))
		return false;
	chan = lttng_kernel_get_chan_common_from_event_common(lttng);
	return !chan || session_wants(chan);
}

static void pass_hit(struct lttng_kernel_event_common *lttng, const struct mark_event *event,
		     const struct hit *hit)
{
	struct lttng_kernel_probe_ctx probe = {
		.event = lttng,
		.interruptible = !irqs_disabled(),
	};

	if (READ_ONCE(lttng->eval_filter) &&
	    lttng->run_filter(lttng, (const char *)hit->value, &probe, NULL) !=
	    LTTNG_KERNEL_EVENT_FILTER_ACCEPT)
		return;
	if (lttng->type == LTTNG_KERNEL_EVENT_TYPE_RECORDER)
		record_hit(&probe, event, hit);
	else if (lttng->type == LTTNG_KERNEL_EVENT_TYPE_NOTIFIER)
		notify_of_hit(&probe, hit);
	else
		count_hit(&probe, hit);
}

/*
 * The probe of all events; LTTng calls it for each user of an event, which is @data. The
 * arguments of a marker are words.
 */
notrace void marker_hit(void *data, unsigned long a, unsigned long b, unsigned long c,
			unsigned long d, unsigned long e, ...)
{
	unsigned long words[MARKER_MAX_FIELDS] = { a, b, c, d, e };
	struct lttng_kernel_event_common *lttng = data;
	const struct mark_event *event =
		container_of(lttng->priv->desc, struct mark_event, desc);
	struct hit hit;
	unsigned int i;
	va_list list;

	guard(preempt_notrace)();
	if (READ_ONCE(event->outdated) || !is_wanted(lttng))
		return;
	va_start(list, e);
	for (i = 5; i < event->layout->nr_fields; i++)
		words[i] = va_arg(list, unsigned long);
	va_end(list);
	read_values(&hit, event, words);
	pass_hit(lttng, event, &hit);
}
