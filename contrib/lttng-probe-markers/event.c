// SPDX-License-Identifier: GPL-2.0
/*
 * Makes an event of LTTng from name and format of a marker. The kernel parses
 * the format, so fields have the same names as in the marker's trace event.
 */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "markers.h"

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

static void set_text(struct mark_field *f)
{
	struct lttng_kernel_type_string *type = &f->type.string;

	type->parent.type = lttng_kernel_type_string;
	type->encoding = lttng_kernel_string_encoding_UTF8;
	f->lttng.type = &type->parent;
}

/* Natural alignment, if the buffers of LTTng have any */
static void set_number(struct mark_field *f)
{
	struct lttng_kernel_type_integer *type = &f->type.integer;
	unsigned int align = lttng_alignof(u64);

	if (f->from->size == sizeof(u32))
		align = lttng_alignof(u32);
	type->parent.type = lttng_kernel_type_integer;
	type->size = f->from->size * BITS_PER_BYTE;
	type->alignment = align * BITS_PER_BYTE;
	type->signedness = f->from->is_signed;
	type->base = base_of(f->from->conversion);
	f->lttng.type = &type->parent;
}

static void set_fields(struct mark_event *event)
{
	unsigned int i;

	for (i = 0; i < event->layout->nr_fields; i++) {
		struct mark_field *f = &event->field[i];

		f->from = &event->layout->field[i];
		f->lttng.name = f->from->name;
		if (f->from->conversion == 's' || f->from->conversion == 'c')
			set_text(f);
		else
			set_number(f);
		event->pointers[i] = &f->lttng;
	}
}

/* Names of markers have no dot, so the names of events are unique. */
static const char *event_name(const char *name, unsigned int number)
{
	if (number == 1)
		return kasprintf(GFP_KERNEL, "markers_%s", name);
	return kasprintf(GFP_KERNEL, "markers_%s.%u", name, number);
}

static int init_event(struct mark_event *event, const char *name,
		      unsigned int number)
{
	event->name = kstrdup(name, GFP_KERNEL);
	event->desc.event_name = event_name(name, number);
	event->pointers = kcalloc(event->layout->nr_fields,
				  sizeof(*event->pointers), GFP_KERNEL);
	if (!event->name || !event->desc.event_name || !event->pointers)
		return -ENOMEM;
	set_fields(event);
	event->class.fields = event->pointers;
	event->class.nr_fields = event->layout->nr_fields;
	event->desc.tp_class = &event->class;
	event->desc.owner = THIS_MODULE;
	return 0;
}

void free_event(struct mark_event *event)
{
	kfree(event->pointers);
	kfree(event->desc.event_name);
	kfree(event->name);
	marker_layout_free(event->layout);
	kfree(event);
}

/*
 * Makes the event for a name and a format; @number is its place among the
 * events of the name, from 1.
 * Return: the event, or the error of marker_layout_new(), or -ENOMEM.
 */
struct mark_event *new_event(const char *name, const char *format,
			     unsigned int number)
{
	struct marker_layout *layout = marker_layout_new(format);
	struct mark_event *event;
	int ret;

	if (IS_ERR(layout))
		return ERR_CAST(layout);
	event = kzalloc(struct_size(event, field, layout->nr_fields), GFP_KERNEL);
	if (!event) {
		marker_layout_free(layout);
		return ERR_PTR(-ENOMEM);
	}
	event->layout = layout;
	ret = init_event(event, name, number);
	if (!ret)
		return event;
	free_event(event);
	return ERR_PTR(ret);
}
