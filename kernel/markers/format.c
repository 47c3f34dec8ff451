// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Parses the format of a marker into a layout. All readers of formats use the
 * layout: trace events, variadic probes, and modules such as the bridge to
 * LTTng. The grammar:
 *
 *	format		" ", or text that does not begin with a space; a newline at the end
 *			is dropped
 *	text		printable ASCII characters, %%, and conversions
 *	conversion	% [-#0]* width? precision? type, 15 characters at most, or %*ph, %*phN
 *	width		digits
 *	precision	. digits
 *	type		d i u x X o, these with hh h l ll z or t, c s p, and p with what is
 *			in pointer_types
 *	names		behind a number without flags, width and precision: { name, ... }, each
 *			with = and a value or without, and without spaces
 *
 * No other letter or digit may follow a type that begins with p: the kernel's
 * printf() would read it as part of the type.
 */
#include <linux/ctype.h>
#include <linux/err.h>
#include <linux/export.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/trace_events.h>

#include "markers.h"

/* "arg" and a number, with the NUL */
#define NUMBERED_NAME_SIZE	sizeof("arg12")

/* Return: the position after a width or precision, or NULL if it is too large */
static const char *skip_number(const char *pos, int *number)
{
	for (*number = 0; isdigit(*pos); pos++) {
		*number = *number * 10 + (*pos - '0');
		if (*number > MARKER_MAX_WIDTH)
			return NULL;
	}
	return pos;
}

/* What may follow %p, and the size of what is read at the pointer */
static const struct pointer_type {
	char text[4];
	u8 bytes;
} pointer_types[] = {
	{ "", 0 }, { "S", 0 }, { "s", 0 }, { "M", 6 }, { "MF", 6 }, { "I4", 4 }, { "I6", 16 },
	{ "I6c", 16 }, { "U", 16 }, { "Ub", 16 }, { "UB", 16 }, { "Ul", 16 }, { "UL", 16 },
};

static const char *skip_pointer(const char *pos, struct marker_field *field)
{
	const struct pointer_type *type;
	size_t len;

	for (type = pointer_types; type < pointer_types + ARRAY_SIZE(pointer_types); type++) {
		len = strlen(type->text);
		if (strncmp(pos, type->text, len) || isalnum(pos[len]))
			continue;
		field->bytes = type->bytes;
		return pos + len;
	}
	return NULL;
}

struct length {
	char text[3];	/* in front of the conversion */
	u8 size;
	enum marker_type type;
};

/* A longer text comes before its beginning. The last one is empty. */
static const struct length lengths[] = {
	{ "hh", sizeof(char), MARKER_INT }, { "h", sizeof(short), MARKER_INT },
	{ "ll", sizeof(long long), MARKER_LLONG }, { "l", sizeof(long), MARKER_LONG },
	{ "z", sizeof(size_t), MARKER_LONG }, { "t", sizeof(ptrdiff_t), MARKER_LONG },
	{ "", sizeof(int), MARKER_INT },
};

/* Return: the position after the type, or NULL if it is invalid */
static const char *skip_type(const char *pos, struct marker_field *field)
{
	const struct length *length = lengths;
	char type;

	while (!strstarts(pos, length->text))
		length++;
	pos += strlen(length->text);
	type = *pos++;
	field->conversion = type;
	field->is_signed = type == 'd' || type == 'i' || type == 'c';
	field->type = length->type;
	field->size = length->size;
	field->bytes = 0;
	if (type && strchr("diuxXo", type))
		return pos;
	if (*length->text)
		return NULL;
	if (type == 'c')
		return pos;
	field->type = MARKER_POINTER;
	field->size = sizeof(void *);
	if (type == 's')
		return pos;
	return type == 'p' ? skip_pointer(pos, field) : NULL;
}

/* Some bytes at a pointer. Their number is another argument. */
static int parse_hex(const char *spec, struct marker_field *field)
{
	size_t len = strstarts(spec, "%*phN") ? 5 : strstarts(spec, "%*ph") ? 4 : 0;

	if (!len || isalnum(spec[len]))
		return -EINVAL;
	*field = (struct marker_field){
		.spec = spec, .len = len, .precision = -1, .conversion = 'h',
		.type = MARKER_POINTER, .size = sizeof(void *),
	};
	return 0;
}

static int parse_conversion(const char *spec, struct marker_field *field)
{
	/* libtraceevent, which is in the tools, has no other flags. */
	const char *pos = spec + 1 + strspn(spec + 1, "-#0");
	int width;

	if (*pos == '*')
		return parse_hex(spec, field);
	field->precision = -1;
	pos = skip_number(pos, &width);
	if (pos && *pos == '.')
		pos = skip_number(pos + 1, &field->precision);
	if (pos)
		pos = skip_type(pos, field);
	if (!pos || pos - spec > MARKER_MAX_SPEC)
		return -EINVAL;
	field->spec = spec;
	field->len = pos - spec;
	return 0;
}

/*
 * Finds the next conversion, and advances @format past it.
 *
 * Return: 1, 0 if there is none, -EINVAL.
 */
static int next_field(const char **format, struct marker_field *field)
{
	const char *pos = *format;
	int ret;

	for (; *pos; pos++) {
		if (!isascii(*pos) || !isprint(*pos))
			return -EINVAL;
		if (*pos != '%')
			continue;
		if (pos[1] == '%') {
			pos++;
			continue;
		}
		ret = parse_conversion(pos, field);
		if (ret)
			return ret;
		*format = pos + field->len;
		return 1;
	}
	return 0;
}

static bool is_of_word(char c)
{
	return isalnum(c) || c == '_';
}

/*
 * The name of a field is the last identifier before the conversion: "addr" in
 * "addr 0x%lx". The search stops at @text, the end of the previous conversion.
 *
 * Return: the name, not terminated, or NULL if there is none.
 */
static const char *find_name(const char *text, const char *spec, size_t *len)
{
	const char *end = spec, *start;

	while (end > text) {
		if (!is_of_word(end[-1])) {
			end--;
			continue;
		}
		for (start = end; start > text && is_of_word(start[-1]); start--)
			;
		*len = end - start;
		if (!isdigit(*start))
			return start;
		end = start;
	}
	return NULL;
}

/* Unusable as names: tools parse the fields of trace events as C declarations. */
static const char *const keywords[] = {
	"_Alignas", "_Alignof", "_Atomic", "_Bool", "_Complex", "_Generic",
	"_Imaginary", "_Noreturn", "_Static_assert", "_Thread_local", "asm", "auto",
	"break", "case", "char", "const", "continue", "default", "do", "double",
	"else", "enum", "extern", "float", "for", "goto", "if", "inline", "int",
	"long", "register", "restrict", "return", "short", "signed", "sizeof",
	"static", "struct", "switch", "typedef", "typeof", "union", "unsigned",
	"void", "volatile", "while",
};

static bool name_is_taken(const struct marker_layout *layout, const char *name)
{
	unsigned int i;

	for (i = 0; i < layout->nr_fields; i++)
		if (!strcmp(layout->field[i].name, name))
			return true;
	return false;
}

static bool name_is_usable(const struct marker_layout *layout, const char *name)
{
	return !name_is_taken(layout, name) && !strstarts(name, "common_") &&
	       match_string(keywords, ARRAY_SIZE(keywords), name) < 0;
}

/*
 * Writes the name that the format gives to the next field, or an unused argN if
 * there is none or it is not usable.
 *
 * Return: the position after the name and its NUL.
 */
static char *write_name(const struct marker_layout *layout, char *to,
			const char *text, const char *spec)
{
	unsigned int nr = layout->nr_fields;
	const char *name;
	size_t len;

	name = find_name(text, spec, &len);
	if (name && len <= MARKER_MAX_FIELD_NAME) {
		memcpy(to, name, len);
		to[len] = '\0';
		if (name_is_usable(layout, to))
			return to + len + 1;
	}
	do {
		sprintf(to, "arg%u", ++nr);
	} while (name_is_taken(layout, to));
	return to + strlen(to) + 1;
}

/* Space for names of fields and of values */
struct space {
	struct trace_print_flags *value;
	char *text;
};

/* Return: the position after a name, or NULL */
static const char *copy_name(const char *pos, struct space *space)
{
	size_t len = 0;

	while (is_of_word(pos[len]))
		len++;
	if (!len || len > MARKER_MAX_FIELD_NAME || isdigit(*pos))
		return NULL;
	memcpy(space->text, pos, len);
	space->text[len] = '\0';
	space->text += len + 1;
	return pos + len;
}

/* Return: the position after a value, if there is one, or NULL */
static const char *read_value(const char *pos, unsigned long *value)
{
	int used;

	if (*pos != '=')
		return pos;
	if (isspace(pos[1]) || sscanf(pos + 1, "%li%n", value, &used) != 1)
		return NULL;
	return pos + 1 + used;
}

static unsigned long next_value(const struct marker_field *field, unsigned long value)
{
	if (!field->are_flags)
		return value + 1;
	return fls_long(value) < BITS_PER_LONG ? 1UL << fls_long(value) : 0;
}

/*
 * As in an enum, a name without a value has the next one, from zero on. Names of flags have
 * the next bit; zero is none. A negative value has the bits that the field has.
 *
 * Return: the position after the names, or NULL if they are invalid
 */
static const char *add_names(const char *pos, struct marker_field *field, struct space *space)
{
	const unsigned long mask = ~0UL >> (BITS_PER_LONG - 8 * field->size);
	struct trace_print_flags *names = space->value, *name = names;
	unsigned long value;

	if (!isalpha(field->spec[1]))
		return NULL;
	field->are_flags = strchr("xXo", field->conversion);
	for (value = field->are_flags; ; value = next_value(field, value)) {
		name->name = space->text;
		pos = copy_name(pos + 1, space);
		if (pos)
			pos = read_value(pos, &value);
		value &= mask;
		if (!pos || (field->are_flags && !value))
			return NULL;
		name++->mask = value;
		if (*pos != ',')
			break;
	}
	space->value = name;
	field->names = names;
	field->nr_names = name - names;
	return *pos == '}' ? pos + 1 : NULL;
}

static int add_field(struct marker_layout *layout, struct marker_field *field,
		     struct space *space, const char *text)
{
	if (layout->nr_fields == MARKER_MAX_FIELDS)
		return -E2BIG;
	field->name = space->text;
	space->text = write_name(layout, space->text, text, field->spec);
	layout->field[layout->nr_fields++] = *field;
	return 0;
}

/* It has no name in the format, and no text. */
static int add_number_of_bytes(struct marker_layout *layout, const char *spec,
			       struct space *space)
{
	struct marker_field number = {
		.spec = spec, .end = spec, .precision = -1, .conversion = 'd',
		.type = MARKER_INT, .size = sizeof(int), .is_signed = true,
	};

	return add_field(layout, &number, space, spec);
}

/* Return: 0, -EINVAL, -E2BIG */
static int add_fields(struct marker_layout *layout, struct space *space)
{
	const char *rest = layout->format, *text = rest;
	struct marker_field field = { };
	int ret;

	if (rest[0] == ' ' && rest[1])
		return -EINVAL;
	while ((ret = next_field(&rest, &field)) > 0) {
		if (field.conversion == 'h')
			ret = add_number_of_bytes(layout, field.spec, space);
		layout->nr_strings += field.conversion == 's' || field.conversion == 'h';
		field.nr_names = 0;
		field.end = rest;
		if (*rest == '{' && field.type != MARKER_POINTER && field.conversion != 'c')
			field.end = add_names(rest, &field, space);
		if (!field.end)
			return -EINVAL;
		ret = ret < 0 ? ret : add_field(layout, &field, space, text);
		if (ret)
			return ret;
		rest = field.end;
		text = rest;
	}
	return ret;
}

static unsigned int max_names(const char *format)
{
	unsigned int count = 0;

	while ((format = strpbrk(format, "{,"))) {
		format++;
		count++;
	}
	return count;
}

static unsigned int max_fields(const char *format)
{
	unsigned int count = 0;

	while (count < MARKER_MAX_FIELDS && (format = strpbrk(format, "%*"))) {
		format++;
		count++;
	}
	return count;
}

/* Return: the length of a format without the newline at its end */
size_t marker_format_len(const char *format)
{
	size_t len = strlen(format);

	return len && format[len - 1] == '\n' ? len - 1 : len;
}

/**
 * marker_layout_new - parse a format
 * @format: the format
 *
 * Context: may sleep.
 * Return: the layout, with a copy of @format without a newline at its end, to be freed
 *	   by kfree(); or an ERR_PTR: -EINVAL for an invalid format,
 *	   -E2BIG if it has more than MARKER_MAX_FIELDS conversions, -ENOMEM.
 */
struct marker_layout *marker_layout_new(const char *format)
{
	size_t text_size = marker_format_len(format) + 1, size;
	unsigned int max = max_fields(format);
	struct marker_layout *layout;
	struct space space;
	int ret;

	/* Names from the format fit into its size; the others are argN. */
	size = struct_size(layout, field, max) + max_names(format) * sizeof(*space.value);
	layout = kzalloc(size + 2 * text_size + max * NUMBERED_NAME_SIZE, GFP_KERNEL);
	if (!layout)
		return ERR_PTR(-ENOMEM);
	space.value = (void *)&layout->field[max];
	space.text = (char *)layout + size;
	layout->format = memcpy(space.text, format, text_size - 1);
	space.text += text_size;
	ret = add_fields(layout, &space);
	if (!ret)
		return layout;
	kfree(layout);
	return ERR_PTR(ret);
}
EXPORT_SYMBOL_GPL(marker_layout_new);
