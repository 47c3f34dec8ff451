// SPDX-License-Identifier: GPL-2.0
/*
 * An event of LTTng, made from the name and the format of a marker. Its fields
 * have the names that they have in the trace event of the same marker.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/err.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "markers.h"

/* Names that the trace event of the marker cannot have either. */
static bool is_reserved(const char *name)
{
	static const char *const reserved[] = {
		"void", "char", "short", "int", "long", "float", "double",
		"signed", "unsigned", "const", "struct", "union", "enum",
	};

	return strstarts(name, "common_") ||
	       match_string(reserved, ARRAY_SIZE(reserved), name) >= 0;
}

/* Readers of traces refuse a trace that has a name twice in an event. */
static bool is_taken(const struct mark_event *event, const char *name)
{
	const struct mark_field *f;

	for_each_field(event, f)
		if (!strcmp(f->lttng.name, name))
			return true;
	return false;
}

/* argN, where N is its place unless a field before has that for a name. */
static char *new_numbered_name(const struct mark_event *event)
{
	unsigned int n = event->nr_fields;
	char *name;

	for (;;) {
		name = kasprintf(GFP_KERNEL, "arg%u", ++n);
		if (!name || !is_taken(event, name))
			return name;
		kfree(name);
	}
}

static char *new_name(const struct mark_event *event, const char *text,
		      const struct marker_field *from)
{
	unsigned int len;
	const char *found = marker_field_name(text, from, &len);
	char *name;

	if (!found)
		return new_numbered_name(event);
	name = kstrndup(found, len, GFP_KERNEL);
	if (!name || (!is_reserved(name) && !is_taken(event, name)))
		return name;
	kfree(name);
	return new_numbered_name(event);
}

static unsigned int base_of(char conversion)
{
	switch (conversion) {
	case 'x':
	case 'X':
	case 'p':
		return 16;
	case 'o':
		return 8;
	}
	return 10;
}

static unsigned int bytes_of(enum marker_type type)
{
	switch (type) {
	case MARKER_INT:
		return sizeof(int);
	case MARKER_LLONG:
		return sizeof(long long);
	default:
		return sizeof(long);
	}
}

/* Natural alignment, where the buffers of LTTng have any. */
static unsigned int align_of(unsigned int bytes)
{
	if (bytes == sizeof(u32))
		return lttng_alignof(u32);
	return lttng_alignof(u64);
}

static void set_text(struct mark_field *f)
{
	struct lttng_kernel_type_string *type = &f->type.string;

	type->parent.type = lttng_kernel_type_string;
	type->encoding = lttng_kernel_string_encoding_UTF8;
	f->lttng.type = &type->parent;
}

static void set_number(struct mark_field *f)
{
	struct lttng_kernel_type_integer *type = &f->type.integer;
	unsigned int bytes = bytes_of(f->from.type);

	type->parent.type = lttng_kernel_type_integer;
	type->size = bytes * BITS_PER_BYTE;
	type->alignment = align_of(bytes) * BITS_PER_BYTE;
	type->signedness = f->from.is_signed;
	type->base = base_of(f->from.conversion);
	f->lttng.type = &type->parent;
}

static int add_field(struct mark_event *event, const char *text,
		     const struct marker_field *from, unsigned int *at)
{
	struct mark_field *f = &event->field[event->nr_fields];

	f->from = *from;
	f->lttng.name = new_name(event, text, from);
	if (!f->lttng.name)
		return -ENOMEM;
	if (from->conversion == 's' || from->conversion == 'c')
		set_text(f);
	else
		set_number(f);
	f->at = *at;
	*at += is_text(f) ? sizeof(char *) : sizeof(s64);
	event->nr_strings += from->conversion == 's';
	event->pointers[event->nr_fields++] = &f->lttng;
	return 0;
}

static int add_fields(struct mark_event *event)
{
	const char *rest = event->format, *text = rest;
	struct marker_field from;
	unsigned int at = 0;
	int ret;

	while ((ret = marker_next_field(&rest, &from)) > 0) {
		ret = add_field(event, text, &from, &at);
		if (ret)
			return ret;
		text = rest;
	}
	return ret;
}

static int count_fields(const char *format)
{
	struct marker_field from;
	int count = 0, ret;

	while ((ret = marker_next_field(&format, &from)) > 0)
		count++;
	if (ret < 0)
		return ret;
	return count > MAX_FIELDS ? -E2BIG : count;
}

/* No name of a marker has a dot, so the name cannot be one already. */
static const char *event_name(const char *name, unsigned int number)
{
	if (number == 1)
		return kasprintf(GFP_KERNEL, "markers_%s", name);
	return kasprintf(GFP_KERNEL, "markers_%s.%u", name, number);
}

static int init_event(struct mark_event *event, const char *name,
		      const char *format, unsigned int number)
{
	int ret;

	INIT_LIST_HEAD(&event->gone);
	INIT_LIST_HEAD(&event->changed);
	event->number = number;

	event->name = kstrdup(name, GFP_KERNEL);
	event->format = kstrdup(format, GFP_KERNEL);
	event->desc.event_name = event_name(name, number);
	if (!event->name || !event->format || !event->desc.event_name)
		return -ENOMEM;
	ret = add_fields(event);
	if (ret)
		return ret;
	event->class.probe_callback = (void (*)(void))record_hit;
	event->class.fields = event->pointers;
	event->class.nr_fields = event->nr_fields;
	event->desc.tp_class = &event->class;
	event->desc.owner = THIS_MODULE;
	return 0;
}

void free_event(struct mark_event *event)
{
	struct mark_field *f;

	for_each_field(event, f)
		kfree(f->lttng.name);
	kfree(event->pointers);
	kfree(event->desc.event_name);
	kfree(event->format);
	kfree(event->name);
	kfree(event);
}

/*
 * The event for a name and a format; @number tells it from others of the name.
 * Return: the event, -EINVAL for a conversion that is not of a basic type,
 *	   -E2BIG for too many fields, -ENOMEM.
 */
struct mark_event *new_event(const char *name, const char *format,
			     unsigned int number)
{
	int count = count_fields(format), ret;
	struct mark_event *event;

	if (count < 0)
		return ERR_PTR(count);
	event = kzalloc(struct_size(event, field, count), GFP_KERNEL);
	if (!event)
		return ERR_PTR(-ENOMEM);
	/* One more, since kcalloc() of nothing gives no pointer to use. */
	event->pointers = kcalloc(count + 1, sizeof(*event->pointers),
				  GFP_KERNEL);
	ret = event->pointers ? init_event(event, name, format, number) :
				-ENOMEM;
	if (!ret)
		return event;
	free_event(event);
	return ERR_PTR(ret);
}
