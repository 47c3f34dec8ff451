// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The text of records of markers, for users and, as print_fmt, for tools.
 */
#include <linux/seq_buf.h>
#include <linux/slab.h>

#include "trace.h"
#include "trace_markers.h"

/* Prints the text between two conversions of a format. */
static void print_text(struct trace_seq *s, const char *from, const char *to)
{
	for (; from < to; from++) {
		trace_seq_putc(s, *from);
		if (*from == '%')
			from++;
	}
}

static bool pointers_are_hashed(const struct trace_iterator *iter)
{
	return !iter->tr || iter->tr->trace_flags & TRACE_ITER(HASH_PTR);
}

static void print_value(struct trace_iterator *iter,
			const struct marker_field *field,
			const struct marker_store *store)
{
	const void *record = iter->ent, *from = record + store->offset;
	char spec[MARKER_MAX_SPEC + sizeof("x")];
	struct trace_seq *s = &iter->seq;

	strscpy(spec, field->spec, field->len + 1);
	/* That of a symbol ends in pS or ps. */
	if (spec[field->len - 1] == 'p' && !pointers_are_hashed(iter))
		strcat(spec, "x");
	switch (store->kind) {
	case STORE_STRING:
		trace_seq_printf(s, spec, record + (*(u32 *)from & 0xffff));
		break;
	case STORE_BYTES:
		trace_seq_printf(s, spec, from);
		break;
	case STORE_CHAR:
		trace_seq_printf(s, spec, *(char *)from);
		break;
	case STORE_1:
		trace_seq_printf(s, spec, *(u8 *)from);
		break;
	case STORE_2:
		trace_seq_printf(s, spec, *(u16 *)from);
		break;
	case STORE_4:
		trace_seq_printf(s, spec, *(u32 *)from);
		break;
	case STORE_8:
		trace_seq_printf(s, spec, *(u64 *)from);
		break;
	}
}

static enum print_line_t print_marker_event(struct trace_iterator *iter,
					    int flags, struct trace_event *trace)
{
	const struct marker_event *event =
		container_of(trace, struct marker_event, call.event);
	const struct marker_layout *layout = event->layout;
	const char *text = layout->format;
	struct trace_seq *s = &iter->seq;
	unsigned int i;

	trace_seq_printf(s, "%s: ", event->tp.name);
	for (i = 0; i < layout->nr_fields; i++) {
		const struct marker_field *field = &layout->field[i];

		print_text(s, text, field->spec);
		print_value(iter, field, &event->store[i]);
		text = field->spec + field->len;
	}
	print_text(s, text, text + strlen(text));
	trace_seq_putc(s, '\n');
	return trace_handle_return(s);
}

struct trace_event_functions marker_event_functions = {
	.trace = print_marker_event,
};

/* Writes a part of a format as in a C string. */
static void quote_text(struct seq_buf *s, const char *from, const char *to)
{
	for (; from < to; from++) {
		if (*from == '"' || *from == '\\')
			seq_buf_putc(s, '\\');
		seq_buf_putc(s, *from);
	}
}

static void make_print_fmt(struct seq_buf *s, const struct marker_layout *layout)
{
	const struct marker_field *stop = layout->field + layout->nr_fields;
	const char *text = layout->format, *last;
	const struct marker_field *f;

	seq_buf_putc(s, '"');
	for (f = layout->field; f < stop; f++) {
		quote_text(s, text, f->spec);
		last = f->spec + f->len - 1;
		/* The tools do not know the flags + and space, nor the lengths z and t. */
		for (text = f->spec; text < last; text++)
			if (*text != '+' && *text != ' ')
				seq_buf_putc(s, *text == 'z' || *text == 't' ? 'l' : *text);
		/* The tools do not support %c. */
		seq_buf_putc(s, f->conversion == 'c' ? 's' : *last);
		text = last + 1;
	}
	quote_text(s, text, text + strlen(text));
	seq_buf_putc(s, '"');
	for (f = layout->field; f < stop; f++)
		seq_buf_printf(s, f->conversion == 's' ? ", __get_str(%s)" :
			       ", REC->%s", f->name);
}

/* Tools print records with this. */
char *marker_print_fmt(const struct marker_layout *layout)
{
	size_t size = 2 * strlen(layout->format) + sizeof("\"\"");
	struct seq_buf s;
	unsigned int i;
	char *buffer;

	for (i = 0; i < layout->nr_fields; i++)
		size += strlen(layout->field[i].name) +
			sizeof(", __get_str()");
	buffer = kzalloc(size, GFP_KERNEL);	/* seq_buf adds no NUL */
	if (!buffer)
		return NULL;
	seq_buf_init(&s, buffer, size);
	make_print_fmt(&s, layout);
	return buffer;
}
