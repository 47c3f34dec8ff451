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

/* Without the sign, as the names have their values; a conversion gives it one. */
static unsigned long read_number(const struct marker_field *field, const void *from)
{
	switch (field->size) {
	case sizeof(u8):
		return *(u8 *)from;
	case sizeof(u16):
		return *(u16 *)from;
	case sizeof(u32):
		return *(u32 *)from;
	}
	return *(u64 *)from;
}

static void print_name(struct trace_iterator *iter, const struct marker_field *field,
		       unsigned long value)
{
	const char *text;

	trace_seq_init(&iter->tmp_seq);
	if (field->are_flags)
		text = trace_print_flags_seq(&iter->tmp_seq, "|", value, field->names,
					     field->nr_names);
	else
		text = trace_print_symbols_seq(&iter->tmp_seq, value, field->names,
					       field->nr_names);
	trace_seq_puts(&iter->seq, text);
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
	case STORE_HEX:
		trace_seq_printf(s, spec, *(u32 *)from >> 16, record + (*(u32 *)from & 0xffff));
		break;
	case STORE_BYTES:
		trace_seq_printf(s, spec, from);
		break;
	case STORE_CHAR:
		trace_seq_printf(s, spec, *(char *)from);
		break;
	case STORE_1:
	case STORE_2:
	case STORE_4:
		trace_seq_printf(s, spec, (u32)read_number(field, from));
		break;
	case STORE_8:
		trace_seq_printf(s, spec, read_number(field, from));
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
	const void *record = iter->ent;
	unsigned int i;

	trace_seq_printf(s, "%s: ", event->tp.name);
	for (i = 0; i < layout->nr_fields; i++) {
		const struct marker_field *field = &layout->field[i];

		if (!field->len)
			continue;
		print_text(s, text, field->spec);
		if (field->nr_names)
			print_name(iter, field,
				   read_number(field, record + event->store[i].offset));
		else
			print_value(iter, field, &event->store[i]);
		text = field->end;
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

/* The tools do not know the lengths z and t, and %c. */
static void quote_conversion(struct seq_buf *s, const struct marker_field *field)
{
	const char *pos, *last = field->spec + field->len - 1;

	if (field->nr_names || field->conversion == 'h')
		seq_buf_puts(s, "%s");
	if (field->nr_names || field->conversion == 'h' || !field->len)
		return;
	for (pos = field->spec; pos < last; pos++)
		seq_buf_putc(s, *pos == 'z' || *pos == 't' ? 'l' : *pos);
	seq_buf_putc(s, field->conversion == 'c' ? 's' : *last);
}

static void write_names(struct seq_buf *s, const struct marker_field *field)
{
	unsigned int i;

	seq_buf_printf(s, field->are_flags ? "__print_flags(REC->%s, \"|\"" :
		       "__print_symbolic(REC->%s", field->name);
	for (i = 0; i < field->nr_names; i++)
		seq_buf_printf(s, ", { %lu, \"%s\" }", field->names[i].mask,
			       field->names[i].name);
	seq_buf_putc(s, ')');
}

#define HEX_ARGS	"__get_dynamic_array(%s), __get_dynamic_array_len(%s)"

static void write_arg(struct seq_buf *s, const struct marker_field *field)
{
	const char *name = field->name;

	seq_buf_puts(s, ", ");
	if (field->nr_names)
		write_names(s, field);
	else if (field->conversion == 'h')
		seq_buf_printf(s, "%s(" HEX_ARGS ")", field->spec[field->len - 1] == 'N' ?
			       "__print_hex_str" : "__print_hex", name, name);
	else
		seq_buf_printf(s, field->conversion == 's' ? "__get_str(%s)" : "REC->%s", name);
}

static void make_print_fmt(struct seq_buf *s, const struct marker_layout *layout)
{
	const struct marker_field *stop = layout->field + layout->nr_fields;
	const char *text = layout->format;
	const struct marker_field *f;

	seq_buf_putc(s, '"');
	for (f = layout->field; f < stop; f++) {
		quote_text(s, text, f->spec);
		quote_conversion(s, f);
		text = f->end;
	}
	quote_text(s, text, text + strlen(text));
	seq_buf_putc(s, '"');
	for (f = layout->field; f < stop; f++)
		if (f->len)
			write_arg(s, f);
}

/* Tools print records with this. */
char *marker_print_fmt(const struct marker_layout *layout)
{
	size_t size = 2 * strlen(layout->format) + sizeof("\"\"");
	struct seq_buf s;
	unsigned int i;
	char *buffer;

	/* The names of values are in the format. */
	for (i = 0; i < layout->nr_fields; i++)
		size += 2 * strlen(layout->field[i].name) +
			sizeof(", __print_hex_str(" HEX_ARGS ")") +
			layout->field[i].nr_names * sizeof(", { 18446744073709551615, \"\" }");
	buffer = kzalloc(size, GFP_KERNEL);	/* seq_buf adds no NUL */
	if (!buffer)
		return NULL;
	seq_buf_init(&s, buffer, size);
	make_print_fmt(&s, layout);
	return buffer;
}
