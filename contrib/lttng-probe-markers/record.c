// SPDX-License-Identifier: GPL-2.0
/*
 * Makes records of LTTng from the arguments of a marker. The arguments are read
 * once for each hit, and strings are copied: filters and captures dereference
 * pointers to strings unchecked, and pointers of markers may be invalid. All
 * sessions and triggers that have the event use these values.
 */
#include <linux/build_bug.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include <lttng/events.h>
#include <lttng/events-internal.h>
#include <lttng/tracer.h>
#include <ringbuffer/frontend_types.h>
#include <wrapper/rcu.h>
#include <wrapper/user_namespace.h>

#include "markers.h"

/* Total size of the strings of a hit */
#define STRINGS_SIZE	2048

/*
 * A hit in a task may be interrupted by hits in a softirq, an interrupt and an
 * NMI; and in each, reading a string may fault, which hits another marker.
 */
#define MAX_DEPTH	6

/**
 * struct hit - the arguments of a hit
 * @event: the event of the marker
 * @value: a number, or a text as a pointer into @strings: the layout that filters of
 *	   LTTng read
 * @strings: copies, which do not change
 */
struct hit {
	const struct mark_event *event;
	u64 value[MARKER_MAX_FIELDS];
	char strings[STRINGS_SIZE + MARKER_MAX_FIELDS * sizeof("c")];
};

/* Filters find values by the sizes of those before them. */
static_assert(sizeof(char *) == sizeof(u64), "the bridge needs a kernel of 64 bits");

struct hits {
	unsigned int depth;
	struct hit hit[MAX_DEPTH];
};

static struct hits __percpu *hits;

int alloc_hits(void)
{
	hits = alloc_percpu(struct hits);
	return hits ? 0 : -ENOMEM;
}

void free_hits(void)
{
	free_percpu(hits);
}

/*
 * Reading
 */

static unsigned int set_string(char *to, const char *text)
{
	unsigned int size = strlen(text) + 1;

	memcpy(to, text, size);
	return size;
}

/*
 * Strings are read in blocks that do not cross a page boundary, so reading past
 * the end of a string faults only if reading the string does.
 */
#define BLOCK	64

/*
 * Reads at most @max characters, since the memory after them may be unmapped.
 *
 * Return: the size with the NUL.
 */
static unsigned int copy_string(char *to, const char *from, unsigned int max)
{
	unsigned int len = 0, part, found;

	if (!from)
		return set_string(to, "(null)");
	while (len < max) {
		part = BLOCK - (unsigned long)(from + len) % BLOCK;
		part = min(part, max - len);
		if (copy_from_kernel_nofault(to + len, from + len, part))
			return set_string(to, "(fault)");
		found = strnlen(to + len, part);
		len += found;
		if (found < part)
			return len + 1;
	}
	to[max] = '\0';
	return max + 1;
}

/* Filters compare 64 bits, so signed values are sign-extended. */
static u64 next_value(const struct marker_field *from, va_list *args)
{
	unsigned int half;

	if (from->type != MARKER_INT)
		return va_arg(*args, unsigned long);
	half = va_arg(*args, unsigned int);
	return from->is_signed ? (u64)(int)half : half;
}

/* Return: the size of the text. */
static unsigned int read_text(const struct marker_field *from, char *to,
			      u64 value, unsigned int max)
{
	if (from->conversion == 'c') {
		to[0] = value;
		to[1] = '\0';
		return sizeof("c");
	}
	if (from->precision >= 0)
		max = min_t(unsigned int, max, from->precision);
	return copy_string(to, (const char *)value, max);
}

static void read_values(struct hit *hit, va_list *args)
{
	const struct mark_event *event = hit->event;
	unsigned int max = STRINGS_SIZE / max(event->layout->nr_strings, 1U) - 1;
	char *text = hit->strings;
	unsigned int i;

	for (i = 0; i < event->layout->nr_fields; i++) {
		const struct mark_field *f = &event->field[i];
		u64 value = next_value(f->from, args);

		hit->value[i] = is_text(f) ? (u64)text : value;
		if (is_text(f))
			text += read_text(f->from, text, value, max);
	}
}

/*
 * Writing
 */

static size_t record_size(const struct hit *hit, size_t *max_align)
{
	size_t size = 0, align;
	unsigned int i;

	*max_align = 1;
	for (i = 0; i < hit->event->layout->nr_fields; i++) {
		const struct mark_field *f = &hit->event->field[i];

		if (is_text(f)) {
			size += strlen((const char *)hit->value[i]) + 1;
			continue;
		}
		align = f->type.integer.alignment / BITS_PER_BYTE;
		*max_align = max(*max_align, align);
		size += lib_ring_buffer_align(size, align);
		size += f->type.integer.size / BITS_PER_BYTE;
	}
	return size;
}

static void write_field(const struct lttng_kernel_channel_buffer_ops *ops,
			struct lttng_kernel_ring_buffer_ctx *ctx,
			const struct mark_field *f, u64 value)
{
	u32 half = value;

	if (is_text(f))
		ops->event_write(ctx, (const char *)value,
				 strlen((const char *)value) + 1,
				 lttng_alignof(char));
	else if (f->type.integer.size == BITS_PER_TYPE(half))
		ops->event_write(ctx, &half, sizeof(half), lttng_alignof(half));
	else
		ops->event_write(ctx, &value, sizeof(value), lttng_alignof(value));
}

static void write_record(struct lttng_kernel_event_recorder *recorder,
			 struct lttng_kernel_probe_ctx *probe,
			 const struct hit *hit)
{
	const struct lttng_kernel_channel_buffer_ops *ops = recorder->chan->ops;
	struct lttng_kernel_ring_buffer_ctx ctx;
	size_t size, align;
	unsigned int i;

	size = record_size(hit, &align);
	lib_ring_buffer_ctx_init(&ctx, recorder, size, align, probe);
	if (ops->event_reserve(&ctx) < 0)
		return;
	for (i = 0; i < hit->event->layout->nr_fields; i++)
		write_field(ops, &ctx, &hit->event->field[i], hit->value[i]);
	ops->event_commit(&ctx);
}

static void notify(struct lttng_kernel_event_notifier *notifier,
		   struct lttng_kernel_probe_ctx *probe, const struct hit *hit)
{
	struct lttng_kernel_notification_ctx ctx = {
		.eval_capture = READ_ONCE(notifier->eval_capture),
	};

	notifier->notification_send(notifier, (const char *)hit->value, probe, &ctx);
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

static bool session_wants(const struct lttng_kernel_session *session)
{
	return READ_ONCE(session->active) &&
	       tracker_admits(&session->pid_tracker, current->tgid) &&
	       tracker_admits(&session->vpid_tracker,
			      task_tgid_vnr(current)) &&
	       tracker_admits(&session->uid_tracker, lttng_current_uid()) &&
	       tracker_admits(&session->vuid_tracker, lttng_current_vuid()) &&
	       tracker_admits(&session->gid_tracker, lttng_current_gid()) &&
	       tracker_admits(&session->vgid_tracker, lttng_current_vgid());
}

static bool passes_filter(const struct lttng_kernel_event_common *event,
			  struct lttng_kernel_probe_ctx *probe,
			  const struct hit *hit)
{
	return !READ_ONCE(event->eval_filter) ||
	       event->run_filter(event, (const char *)hit->value, probe, NULL) ==
	       LTTNG_KERNEL_EVENT_FILTER_ACCEPT;
}

/* For an event of a session. LTTng includes lost hits in its discarded events. */
static void record_hit(struct lttng_kernel_event_common *event,
		       struct lttng_kernel_probe_ctx *probe, const struct hit *hit)
{
	struct lttng_kernel_event_recorder *recorder =
		container_of(event, struct lttng_kernel_event_recorder, parent);

	if (!READ_ONCE(recorder->chan->parent.enabled) ||
	    !session_wants(recorder->chan->parent.session))
		return;
	if (!hit)
		recorder->chan->ops->lost_event_too_big(recorder->chan);
	else if (passes_filter(event, probe, hit))
		write_record(recorder, probe, hit);
}

/* For an event of a session or of a trigger. @hit is NULL if it is lost. */
static void pass_hit(struct lttng_kernel_event_common *event, const struct hit *hit)
{
	struct lttng_kernel_probe_ctx probe = {
		.event = event,
		.interruptible = !irqs_disabled(),
	};

	if (!READ_ONCE(event->enabled))
		return;
	if (event->type == LTTNG_KERNEL_EVENT_TYPE_RECORDER)
		record_hit(event, &probe, hit);
	else if (hit && passes_filter(event, &probe, hit))
		notify(container_of(event, struct lttng_kernel_event_notifier, parent),
		       &probe, hit);
}

/* LTTng registers it on the slot of an event for each user, whose event is @data. */
void slot_probe(void *data)
{
}

/* LTTng waits for a grace period before it frees the event of a user. */
static void pass_to_users(const struct mark_event *event, const struct hit *hit)
{
	const struct tracepoint_func *user;

	user = rcu_dereference_sched(event->slot->funcs);
	for (; user && user->func; user++) {
		struct lttng_kernel_event_common *lttng = user->data;

		/* Another function takes its place if memory is short at the removal. */
		if (READ_ONCE(user->func) == (void *)slot_probe &&
		    lttng->priv->desc == &event->desc)
			pass_hit(lttng, hit);
	}
}

/* The probe on markers. Hits nested too deeply have no values and are lost. */
void marker_hit(void *private, void *call_private, const char *format,
		va_list *args)
{
	const struct mark_event *event = private;
	unsigned int depth = this_cpu_inc_return(hits->depth);
	struct hit *hit = NULL;

	if (depth <= MAX_DEPTH) {
		hit = &this_cpu_ptr(hits)->hit[depth - 1];
		hit->event = event;
		read_values(hit, args);
	}
	pass_to_users(event, hit);
	this_cpu_dec(hits->depth);
}
