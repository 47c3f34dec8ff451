// SPDX-License-Identifier: GPL-2.0
/*
 * Makes records of LTTng from the arguments of a marker. The arguments are read
 * once for each hit, and strings are copied: filters and captures dereference
 * pointers to strings unchecked, and pointers of markers may be invalid. All
 * sessions and triggers that have the event use these values.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include <lttng/events.h>
#include <lttng/tracer.h>
#include <ringbuffer/frontend_types.h>
#include <wrapper/rcu.h>
#include <wrapper/user_namespace.h>

#include "markers.h"

/*
 * A hit in a task may be interrupted by hits in a softirq, an interrupt and an
 * NMI; and in each, reading a string may fault, which hits another marker.
 */
#define MAX_DEPTH	6

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
static s64 next_value(const struct marker_field *from, va_list *args)
{
	unsigned int half;
	unsigned long word;

	switch (from->type) {
	case MARKER_LLONG:
		return va_arg(*args, long long);
	case MARKER_INT:
		half = va_arg(*args, unsigned int);
		return from->is_signed ? (s64)(int)half : (s64)half;
	default:
		word = va_arg(*args, unsigned long);
		return from->is_signed ? (s64)(long)word : (s64)word;
	}
}

/* Return: the size of the text. */
static unsigned int read_text(const struct marker_field *from, char *to,
			      s64 value, unsigned int max)
{
	if (from->conversion == 'c') {
		to[0] = value;
		to[1] = '\0';
		return sizeof("c");
	}
	if (from->precision >= 0)
		max = min_t(unsigned int, max, from->precision);
	return copy_string(to, (const char *)(unsigned long)value, max);
}

static void read_values(struct hit *hit, va_list *args)
{
	const struct mark_event *event = hit->event;
	unsigned int max = STRINGS_SIZE / max(event->layout->nr_strings, 1U) - 1;
	const struct mark_field *f;
	char *text = hit->strings;

	for_each_field(event, f) {
		s64 value = next_value(f->from, args);

		if (is_text(f)) {
			memcpy(hit->values + f->at, &text, sizeof(text));
			text += read_text(f->from, text, value, max);
		} else {
			memcpy(hit->values + f->at, &value, sizeof(value));
		}
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
	call_users(event, hit);
	this_cpu_dec(hits->depth);
}

/*
 * Writing
 */

static const char *text_at(const struct hit *hit, const struct mark_field *f)
{
	const char *text;

	memcpy(&text, hit->values + f->at, sizeof(text));
	return text;
}

static s64 number_at(const struct hit *hit, const struct mark_field *f)
{
	s64 value;

	memcpy(&value, hit->values + f->at, sizeof(value));
	return value;
}

static size_t record_size(const struct hit *hit, size_t *max_align)
{
	const struct mark_field *f;
	size_t size = 0, align;

	*max_align = 1;
	for_each_field(hit->event, f) {
		if (is_text(f)) {
			size += strlen(text_at(hit, f)) + 1;
			continue;
		}
		align = f->type.integer.alignment / BITS_PER_BYTE;
		*max_align = max(*max_align, align);
		size += lib_ring_buffer_align(size, align);
		size += f->type.integer.size / BITS_PER_BYTE;
	}
	return size;
}

static void write_number(const struct lttng_kernel_channel_buffer *chan,
			 struct lttng_kernel_ring_buffer_ctx *ctx,
			 const struct mark_field *f, u64 value)
{
	u32 half = value;

	if (f->type.integer.size == BITS_PER_TYPE(half))
		chan->ops->event_write(ctx, &half, sizeof(half),
				       lttng_alignof(half));
	else
		chan->ops->event_write(ctx, &value, sizeof(value),
				       lttng_alignof(value));
}

static void write_fields(const struct lttng_kernel_channel_buffer *chan,
			 struct lttng_kernel_ring_buffer_ctx *ctx,
			 const struct hit *hit)
{
	const struct mark_field *f;
	const char *text;

	for_each_field(hit->event, f) {
		if (!is_text(f)) {
			write_number(chan, ctx, f, number_at(hit, f));
			continue;
		}
		text = text_at(hit, f);
		chan->ops->event_write(ctx, text, strlen(text) + 1,
				       lttng_alignof(char));
	}
}

static void write_record(struct lttng_kernel_event_common *event,
			 struct lttng_kernel_probe_ctx *probe,
			 const struct hit *hit)
{
	struct lttng_kernel_event_recorder *recorder =
		container_of(event, struct lttng_kernel_event_recorder, parent);
	struct lttng_kernel_ring_buffer_ctx ctx;
	size_t size, align;

	size = record_size(hit, &align);
	lib_ring_buffer_ctx_init(&ctx, recorder, size, align, probe);
	if (recorder->chan->ops->event_reserve(&ctx) < 0)
		return;
	write_fields(recorder->chan, &ctx, hit);
	recorder->chan->ops->event_commit(&ctx);
}

static void notify(struct lttng_kernel_event_common *event,
		   struct lttng_kernel_probe_ctx *probe, const struct hit *hit)
{
	struct lttng_kernel_event_notifier *notifier =
		container_of(event, struct lttng_kernel_event_notifier, parent);
	struct lttng_kernel_notification_ctx ctx = {
		.eval_capture = READ_ONCE(notifier->eval_capture),
	};

	notifier->notification_send(notifier, hit->values, probe, &ctx);
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

static bool is_wanted(const struct lttng_kernel_event_common *event)
{
	const struct lttng_kernel_event_recorder *recorder =
		container_of(event, struct lttng_kernel_event_recorder, parent);

	if (!READ_ONCE(event->enabled))
		return false;
	return event->type != LTTNG_KERNEL_EVENT_TYPE_RECORDER ||
	       (READ_ONCE(recorder->chan->parent.enabled) &&
		session_wants(recorder->chan->parent.session));
}

/* LTTng includes it in the number of discarded events. */
static void count_lost(struct lttng_kernel_event_common *event)
{
	struct lttng_kernel_event_recorder *recorder =
		container_of(event, struct lttng_kernel_event_recorder, parent);

	if (event->type == LTTNG_KERNEL_EVENT_TYPE_RECORDER)
		recorder->chan->ops->lost_event_too_big(recorder->chan);
}

static bool passes_filter(const struct lttng_kernel_event_common *event,
			  struct lttng_kernel_probe_ctx *probe,
			  const struct hit *hit)
{
	return !READ_ONCE(event->eval_filter) ||
	       event->run_filter(event, hit->values, probe, NULL) ==
	       LTTNG_KERNEL_EVENT_FILTER_ACCEPT;
}

/* The probe that LTTng registers on the slot of an event, once for each user */
void record_hit(void *data, const struct hit *hit)
{
	struct lttng_kernel_event_common *event = data;
	struct lttng_kernel_probe_ctx probe = {
		.event = event,
		.interruptible = !irqs_disabled(),
	};

	if (!is_wanted(event))
		return;
	if (!hit) {
		count_lost(event);
		return;
	}
	if (!passes_filter(event, &probe, hit))
		return;
	if (event->type == LTTNG_KERNEL_EVENT_TYPE_RECORDER)
		write_record(event, &probe, hit);
	else
		notify(event, &probe, hit);
}
