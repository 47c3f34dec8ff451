// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Parses the format of a marker into a layout. All readers of formats use the
 * layout: trace events, variadic probes, and modules such as the bridge to
 * LTTng. scripts/module-markers.awk, which checks formats when the kernel is
 * built, has the same grammar:
 *
 *	format		" ", or text that does not begin with a space
 *	text		printable ASCII characters, %%, and conversions
 *	conversion	% [-+ #0]* width? precision? type, 15 characters at most
 *	width		digits
 *	precision	. digits
 *	type		d i u x X o, these with l or ll, c s p pS ps
 *
 * No letter or digit may follow a type that begins with p: the kernel's
 * printf() would read it as part of the type.
 */
#include <linux/ctype.h>
#include <linux/err.h>
#include <linux/export.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "markers.h"

/* "arg" and a number, with the NUL */
#define NUMBERED_NAME_SIZE	sizeof("arg64")

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

static const char *skip_width(const char *pos)
{
	int width;

	return skip_number(pos, &width);
}

static const char *skip_precision(const char *pos, struct marker_field *field)
{
	field->precision = -1;
	return *pos == '.' ? skip_number(pos + 1, &field->precision) : pos;
}

/* Return: the position after l or ll, if there is one */
static const char *skip_length(const char *pos, struct marker_field *field)
{
	field->type = MARKER_INT;
	field->size = sizeof(int);
	if (pos[0] != 'l')
		return pos;
	field->type = MARKER_LONG;
	field->size = sizeof(long);
	if (pos[1] != 'l')
		return pos + 1;
	field->type = MARKER_LLONG;
	field->size = sizeof(long long);
	return pos + 2;
}

static const char *skip_pointer(const char *pos, struct marker_field *field)
{
	field->type = MARKER_POINTER;
	field->size = sizeof(void *);
	if (*pos++ == 's')
		return pos;
	if (*pos == 'S' || *pos == 's')
		pos++;
	return isalnum(*pos) ? NULL : pos;
}

/* Return: the position after the type, or NULL if it is invalid */
static const char *skip_type(const char *pos, struct marker_field *field)
{
	const char *type = skip_length(pos, field);
	bool has_length = type != pos;

	field->conversion = *type;
	field->is_signed = false;
	switch (*type) {
	case 'd':
	case 'i':
		field->is_signed = true;
		fallthrough;
	case 'u':
	case 'x':
	case 'X':
	case 'o':
		return type + 1;
	case 'c':
		field->is_signed = true;
		return has_length ? NULL : type + 1;
	case 'p':
	case 's':
		return has_length ? NULL : skip_pointer(type, field);
	}
	return NULL;
}

static int parse_conversion(const char *spec, struct marker_field *field)
{
	const char *pos = spec + 1;

	pos = skip_width(pos + strspn(pos, "-+ #0"));
	pos = pos ? skip_precision(pos, field) : NULL;
	pos = pos ? skip_type(pos, field) : NULL;
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

static void add_fields(struct marker_layout *layout, char *names)
{
	const char *rest = layout->format, *text = rest;
	struct marker_field *field = layout->field;

	while (next_field(&rest, field) > 0) {
		field->name = names;
		names = write_name(layout, names, text, field->spec);
		layout->nr_strings += field->conversion == 's';
		layout->nr_fields++;
		field++;
		text = rest;
	}
}

/* Return: the number of fields of a format; -EINVAL, -E2BIG. */
static int check_format(const char *format)
{
	struct marker_field field;
	int fields = 0, strings = 0, ret;

	if (format[0] == ' ' && format[1])
		return -EINVAL;
	while ((ret = next_field(&format, &field)) > 0) {
		fields++;
		strings += field.conversion == 's';
	}
	if (ret)
		return ret;
	return fields > MARKER_MAX_FIELDS || strings > MARKER_MAX_STRINGS ?
	       -E2BIG : fields;
}

/**
 * marker_layout_new - parse a format
 * @format: the format
 *
 * Context: may sleep.
 * Return: the layout, with a copy of @format, to be freed by
 *	   marker_layout_free(); or an ERR_PTR: -EINVAL for an invalid format,
 *	   -E2BIG if it has more than MARKER_MAX_FIELDS conversions or
 *	   MARKER_MAX_STRINGS strings, -ENOMEM.
 */
struct marker_layout *marker_layout_new(const char *format)
{
	size_t text_size = strlen(format) + 1, size;
	int nr_fields = check_format(format);
	struct marker_layout *layout;
	char *text;

	if (nr_fields < 0)
		return ERR_PTR(nr_fields);
	/* Names from the format fit into its size; the others are argN. */
	size = struct_size(layout, field, nr_fields);
	layout = kzalloc(size + 2 * text_size + nr_fields * NUMBERED_NAME_SIZE,
			 GFP_KERNEL);
	if (!layout)
		return ERR_PTR(-ENOMEM);
	text = (char *)layout + size;
	layout->format = memcpy(text, format, text_size);
	add_fields(layout, text + text_size);
	return layout;
}
EXPORT_SYMBOL_GPL(marker_layout_new);

/**
 * marker_layout_free - free the result of marker_layout_new()
 * @layout: the layout
 *
 * Context: any but NMI.
 */
void marker_layout_free(struct marker_layout *layout)
{
	kfree(layout);
}
EXPORT_SYMBOL_GPL(marker_layout_free);
