// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Markers in tracefs: the list of them, and each marker as a trace event of the
 * group "markers", for ftrace, perf and BPF.
 *
 * An event is made for each name and format, with the fields that the format
 * names. It is there from when the first module with such a marker comes until
 * the last one goes; while somebody uses it, it stays longer, and goes on when
 * the module comes again.
 */
#define pr_fmt(fmt) "marker: " fmt

#include <linux/ctype.h>
#include <linux/init.h>
#include <linux/marker.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/seq_buf.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>

#include "trace.h"
#include "trace_output.h"

/* A record has to fit into a page of the ring buffer, with what is around it. */
#define MAX_FIELDS		64
#define MAX_STRINGS		16
#define MAX_STRINGS_SIZE	2048	/* of all strings of a record together */

#define CHAR_SIZE		2	/* with a NUL; no other field is as short */

#define MAX_SPEC_LEN		16	/* "%-20lld" and the like */

/**
 * struct marker_event_field - a field of the record
 * @name: its name
 * @field: the conversion it is made of
 * @offset: where it is in the record
 * @size: its size there
 */
struct marker_event_field {
	char *name;
	struct marker_field field;
	unsigned int offset;
	unsigned int size;
};

/**
 * struct marker_event - a name and format of markers, as a trace event
 * @list: in marker_events
 * @call: the event
 * @class: its class, which it alone has
 * @tp: a tracepoint in name only, as BPF attaches to such events
 * @format: the format
 * @size: of the record without the strings
 * @nr_strings: how many strings the record has
 * @nr_fields: number of @field
 * @field: the fields
 */
struct marker_event {
	struct list_head list;
	struct trace_event_call call;
	struct trace_event_class class;
	struct tracepoint tp;
	const char *format;
	unsigned int size;
	unsigned int nr_strings;
	unsigned int nr_fields;
	struct marker_event_field field[];
};

/* Protects the list. Nests outside event_mutex. */
static DEFINE_MUTEX(marker_events_mutex);
static LIST_HEAD(marker_events);

#define for_each_field(event, f)					\
	for (f = (event)->field; f < (event)->field + (event)->nr_fields; f++)

static struct marker_event *event_of(const struct trace_event_call *call)
{
	return container_of(call, struct marker_event, call);
}

/*
 * Records
 */

static unsigned long long next_value(const struct marker_field *field,
				     va_list *args)
{
	switch (field->type) {
	case MARKER_INT:
		return va_arg(*args, int);
	case MARKER_LLONG:
		return va_arg(*args, long long);
	default:
		return va_arg(*args, long);
	}
}

static bool is_string(const struct marker_event_field *f)
{
	return f->field.conversion == 's';
}

/*
 * The size of a string with its NUL, or @max if it is longer: what is copied
 * later is not more, whatever becomes of the string until then.
 *
 * Return: the size; 0 if the string is not in the kernel's memory.
 */
static unsigned int string_size(const char *string, unsigned int max)
{
	unsigned int len = 0;
	char part[64];
	long ret;

	do {
		/* A part that is full ends with a NUL in the place of a byte. */
		ret = strncpy_from_kernel_nofault(part, string + len,
						  sizeof(part));
		if (ret < 0)
			return 0;
		len += ret - 1;
	} while (ret == sizeof(part) && len < max);
	return min(len + 1, max);
}

/**
 * struct marker_strings - the strings of a hit, found good before the record
 * @string: the strings, or what stands for them
 * @size: their sizes with the NUL
 * @total: the sum of @size
 */
struct marker_strings {
	const char *string[MAX_STRINGS];
	unsigned int size[MAX_STRINGS];
	unsigned int total;
};

static void find_strings(const struct marker_event *event, va_list *args,
			 struct marker_strings *strings)
{
	unsigned int max = MAX_STRINGS_SIZE / max(event->nr_strings, 1U), i = 0;
	const struct marker_event_field *f;
	va_list copy;

	strings->total = 0;
	if (!event->nr_strings)
		return;
	va_copy(copy, *args);
	for_each_field(event, f) {
		unsigned long value = next_value(&f->field, &copy);
		const char *string = value ? (const char *)value : "(null)";

		if (!is_string(f))
			continue;
		strings->size[i] = string_size(string, max);
		if (!strings->size[i]) {
			string = "(fault)";
			strings->size[i] = sizeof("(fault)");
		}
		strings->string[i] = string;
		strings->total += strings->size[i++];
	}
	va_end(copy);
}

static void store_string(char *to, const char *string, unsigned int size)
{
	if (strncpy_from_kernel_nofault(to, string, size) < 0)
		*to = '\0';
	to[size - 1] = '\0';
}

/* A character is a string, and ends with a NUL. */
static void store_value(void *to, unsigned int size, unsigned long long value)
{
	char *text = to;

	if (size == CHAR_SIZE) {
		text[0] = value;
		text[1] = '\0';
	} else if (size == 4) {
		*(u32 *)to = value;
	} else {
		*(u64 *)to = value;
	}
}

/* Strings are behind the fields; their fields have place and size of them. */
static void fill_record(const struct marker_event *event, void *record,
			const struct marker_strings *strings, va_list *args)
{
	const struct marker_event_field *f;
	unsigned int at = event->size, i = 0;
	unsigned long long value;

	for_each_field(event, f) {
		value = next_value(&f->field, args);
		if (is_string(f)) {
			store_string(record + at, strings->string[i],
				     strings->size[i]);
			value = strings->size[i] << 16 | at;
			at += strings->size[i++];
		}
		store_value(record + f->offset, f->size, value);
	}
}

/* The probe for ftrace; @private is the file of the event in an instance. */
static void trace_marker_event(void *private, void *call_private,
			       const char *format, va_list *args)
{
	struct trace_event_file *file = private;
	struct marker_event *event = event_of(file->event_call);
	struct trace_event_buffer buffer;
	struct marker_strings strings;
	void *record;

	if (trace_trigger_soft_disabled(file))
		return;
	find_strings(event, args, &strings);
	record = trace_event_buffer_reserve(&buffer, file,
					    event->size + strings.total);
	if (!record)
		return;
	fill_record(event, record, &strings, args);
	trace_event_buffer_commit(&buffer);
}

#ifdef CONFIG_PERF_EVENTS
/* The probe for perf and BPF. */
static void perf_marker_event(void *private, void *call_private,
			      const char *format, va_list *args)
{
	struct marker_event *event = private;
	struct hlist_head *events = this_cpu_ptr(event->call.perf_events);
	struct marker_strings strings;
	struct pt_regs *regs;
	void *record;
	int size, rctx;

	if (hlist_empty(events) && !bpf_prog_array_valid(&event->call))
		return;
	find_strings(event, args, &strings);
	/* With the u32 that perf puts in front, a multiple of eight. */
	size = ALIGN(event->size + strings.total + sizeof(u32), sizeof(u64)) -
	       sizeof(u32);
	record = perf_trace_buf_alloc(size, &regs, &rctx);
	if (!record)
		return;
	perf_fetch_caller_regs(regs);
	fill_record(event, record, &strings, args);
	perf_trace_run_bpf_submit(record, size, rctx, &event->call, 1, regs,
				  events, NULL);
}
#endif

/*
 * Text
 */

/* The text of a format up to where it ends or a conversion begins. */
static void print_text(struct trace_seq *s, const char *from, const char *to)
{
	for (; from < to; from++) {
		trace_seq_putc(s, *from);
		if (*from == '%')
			from++;
	}
}

static void print_value(struct trace_seq *s, const struct marker_event_field *f,
			const void *record)
{
	const void *from = record + f->offset;
	char spec[MAX_SPEC_LEN];

	strscpy(spec, f->field.spec, f->field.len + 1);
	if (is_string(f))
		trace_seq_printf(s, spec, record + (*(u32 *)from & 0xffff));
	else if (f->size == CHAR_SIZE)
		trace_seq_printf(s, spec, *(char *)from);
	else if (f->size == 4)
		trace_seq_printf(s, spec, *(u32 *)from);
	else
		trace_seq_printf(s, spec, *(u64 *)from);
}

static enum print_line_t print_marker_event(struct trace_iterator *iter,
					    int flags, struct trace_event *trace)
{
	const struct marker_event *event =
		container_of(trace, struct marker_event, call.event);
	const struct marker_event_field *f;
	const char *text = event->format;
	struct trace_seq *s = &iter->seq;

	trace_seq_printf(s, "%s: ", event->tp.name);
	for_each_field(event, f) {
		print_text(s, text, f->field.spec);
		print_value(s, f, iter->ent);
		text = f->field.spec + f->field.len;
	}
	print_text(s, text, text + strlen(text));
	trace_seq_putc(s, '\n');
	return trace_handle_return(s);
}

static struct trace_event_functions marker_event_functions = {
	.trace = print_marker_event,
};

/* A format in a string of C. */
static void quote_text(struct seq_buf *s, const char *from, const char *to)
{
	for (; from < to; from++) {
		if (*from == '"' || *from == '\\')
			seq_buf_putc(s, '\\');
		seq_buf_putc(s, isprint(*from) ? *from : ' ');
	}
}

static void make_print_fmt(struct seq_buf *s, const struct marker_event *event)
{
	const struct marker_event_field *f;
	const char *text = event->format;

	seq_buf_putc(s, '"');
	for_each_field(event, f) {
		const char *last = f->field.spec + f->field.len - 1;

		quote_text(s, text, last);
		/* The tools know no %c. */
		seq_buf_putc(s, *last == 'c' ? 's' : *last);
		text = last + 1;
	}
	quote_text(s, text, text + strlen(text));
	seq_buf_putc(s, '"');
	for_each_field(event, f)
		seq_buf_printf(s, is_string(f) ? ", __get_str(%s)" : ", REC->%s",
			       f->name);
}

/* Tools make text of records by this. */
static char *new_print_fmt(const struct marker_event *event)
{
	const struct marker_event_field *f;
	size_t size = 2 * strlen(event->format) + sizeof("\"\"");
	struct seq_buf s;
	char *buffer;

	for_each_field(event, f)
		size += strlen(f->name) + sizeof(", __get_str()");
	buffer = kmalloc(size, GFP_KERNEL);
	if (!buffer)
		return NULL;
	seq_buf_init(&s, buffer, size);
	make_print_fmt(&s, event);
	buffer[s.len] = '\0';
	return buffer;
}

/*
 * Fields
 */

static const char *field_type(const struct marker_event_field *f)
{
	bool is_signed = f->field.is_signed;

	switch (f->field.conversion) {
	case 's':
		return "__data_loc char[]";
	case 'p':
		return "void *";
	case 'c':
		return "char[2]";
	}
	switch (f->field.type) {
	case MARKER_INT:
		return is_signed ? "int" : "unsigned int";
	case MARKER_LLONG:
		return is_signed ? "long long" : "unsigned long long";
	default:
		return is_signed ? "long" : "unsigned long";
	}
}

static unsigned int field_size(const struct marker_field *field)
{
	switch (field->conversion) {
	case 's':
		return sizeof(u32);
	case 'c':
		return CHAR_SIZE;
	}
	switch (field->type) {
	case MARKER_INT:
		return sizeof(int);
	case MARKER_LLONG:
		return sizeof(long long);
	default:
		return sizeof(long);
	}
}

/* What ftrace makes the fields of; it puts them where add_field() does. */
static int make_fields_array(struct marker_event *event)
{
	struct trace_event_fields *fields;
	const struct marker_event_field *f;

	fields = kcalloc(event->nr_fields + 1, sizeof(*fields), GFP_KERNEL);
	if (!fields)
		return -ENOMEM;
	event->class.fields_array = fields;
	for_each_field(event, f) {
		const struct trace_event_fields field = {
			.type = field_type(f),
			.name = f->name,
			.size = f->size,
			.align = f->size,
			.is_signed = f->field.is_signed,
			.filter_type = FILTER_OTHER,
			.len = f->field.conversion == 'c' ? CHAR_SIZE : 0,
		};

		memcpy(fields++, &field, sizeof(field));
	}
	return 0;
}

static bool name_is_taken(const struct marker_event *event, const char *name)
{
	unsigned int i;

	for (i = 0; i < event->nr_fields; i++)
		if (!strcmp(event->field[i].name, name))
			return true;
	return false;
}

/* Tools that read formats in C stumble over these. */
static const char *const not_names[] = {
	"char", "const", "double", "enum", "float", "int", "long", "short",
	"signed", "struct", "union", "unsigned", "void",
};

static bool name_is_usable(const struct marker_event *event, const char *name)
{
	return !name_is_taken(event, name) &&
	       strncmp(name, "common_", strlen("common_")) &&
	       match_string(not_names, ARRAY_SIZE(not_names), name) < 0;
}

/* The name that the format gives it, or a free argN if it is of no use. */
static char *new_field_name(const struct marker_event *event,
			    const char *text, const struct marker_field *field)
{
	unsigned int len, nr = event->nr_fields + 1;
	const char *found = marker_field_name(text, field, &len);
	char *name = NULL;

	if (found) {
		name = kstrndup(found, len, GFP_KERNEL);
		if (name && name_is_usable(event, name))
			return name;
		kfree(name);
	}
	for (;;) {
		name = kasprintf(GFP_KERNEL, "arg%u", nr++);
		if (!name || !name_is_taken(event, name))
			return name;
		kfree(name);
	}
}

static int add_field(struct marker_event *event, const char *text,
		     const struct marker_field *field)
{
	struct marker_event_field *f = &event->field[event->nr_fields];

	f->field = *field;
	f->size = field_size(field);
	f->offset = ALIGN(event->size, f->size);
	f->name = new_field_name(event, text, field);
	if (!f->name)
		return -ENOMEM;
	event->nr_fields++;
	event->nr_strings += is_string(f);
	event->size = f->offset + f->size;
	return 0;
}

static int add_fields(struct marker_event *event)
{
	const char *rest = event->format, *text = rest;
	struct marker_field field;
	int ret;

	event->size = sizeof(struct trace_entry);
	while ((ret = marker_next_field(&rest, &field)) > 0) {
		if (field.len >= MAX_SPEC_LEN)
			return -EINVAL;
		ret = add_field(event, text, &field);
		if (ret)
			return ret;
		text = rest;
	}
	return ret;
}

/*
 * Return: how many fields an event has; -EINVAL for a conversion that cannot be
 *	   one, -E2BIG for too many.
 */
static int count_fields(const char *format)
{
	struct marker_field field;
	int fields = 0, strings = 0, ret;

	while ((ret = marker_next_field(&format, &field)) > 0) {
		fields++;
		strings += field.conversion == 's';
	}
	if (ret < 0)
		return ret;
	return fields > MAX_FIELDS || strings > MAX_STRINGS ? -E2BIG : fields;
}

static void free_event(struct marker_event *event)
{
	struct marker_event_field *f;

	for_each_field(event, f)
		kfree(f->name);
	kfree(event->class.fields_array);
	kfree(event->call.print_fmt);
	kfree(event->tp.name);
	kfree(event->format);
	kfree(event);
}

/*
 * Events
 */

/* Removes the events that nobody uses and no module has any more. */
static void remove_unused(struct work_struct *work);
static DECLARE_WORK(remove_work, remove_unused);

static int connect(struct marker_event *event, marker_probe_func *probe,
		   void *private)
{
	return marker_probe_register(event->tp.name, event->format, probe,
				     private);
}

static int disconnect(struct marker_event *event, marker_probe_func *probe,
		      void *private)
{
	schedule_work(&remove_work);
	return marker_probe_unregister(event->tp.name, probe, private);
}

static int reg_event(struct trace_event_call *call, enum trace_reg type,
		     void *data)
{
	struct marker_event *event = event_of(call);

	switch (type) {
	case TRACE_REG_REGISTER:
		return connect(event, trace_marker_event, data);
	case TRACE_REG_UNREGISTER:
		return disconnect(event, trace_marker_event, data);
#ifdef CONFIG_PERF_EVENTS
	case TRACE_REG_PERF_REGISTER:
		return connect(event, perf_marker_event, event);
	case TRACE_REG_PERF_UNREGISTER:
		return disconnect(event, perf_marker_event, event);
	default:
		return 0;
#endif
	}
	return 0;
}

static int init_event(struct marker_event *event, const char *name,
		      const char *format)
{
	int ret;

	event->format = kstrdup(format, GFP_KERNEL);
	event->tp.name = kstrdup(name, GFP_KERNEL);
	if (!event->format || !event->tp.name)
		return -ENOMEM;
	ret = add_fields(event) ?: make_fields_array(event);
	if (ret)
		return ret;
	event->call.print_fmt = new_print_fmt(event);
	if (!event->call.print_fmt)
		return -ENOMEM;

	event->class.system = "markers";
	event->class.reg = reg_event;
	INIT_LIST_HEAD(&event->class.fields);
	event->call.class = &event->class;
	event->call.tp = &event->tp;
	event->call.flags = TRACE_EVENT_FL_TRACEPOINT | TRACE_EVENT_FL_DYNAMIC;
	event->call.event.funcs = &marker_event_functions;
	return 0;
}

static struct marker_event *new_event(const char *name, const char *format)
{
	int fields = count_fields(format), ret;
	struct marker_event *event;

	if (fields < 0)
		return ERR_PTR(fields);
	event = kzalloc(struct_size(event, field, fields), GFP_KERNEL);
	if (!event)
		return ERR_PTR(-ENOMEM);
	ret = init_event(event, name, format);
	if (!ret)
		return event;
	free_event(event);
	return ERR_PTR(ret);
}

static int publish(struct marker_event *event)
{
	int ret = -ENODEV;

	mutex_lock(&event_mutex);
	if (register_trace_event(&event->call.event)) {
		ret = trace_add_event_call(&event->call);
		if (ret)
			unregister_trace_event(&event->call.event);
	}
	mutex_unlock(&event_mutex);
	return ret;
}

/* One of this format, or of any if that is NULL. */
static struct marker_event *find_event(const char *name, const char *format)
{
	struct marker_event *event;

	list_for_each_entry(event, &marker_events, list)
		if (!strcmp(event->tp.name, name) &&
		    (!format || !strcmp(event->format, format)))
			return event;
	return NULL;
}

/* A marker that cannot be an event is still there for other tracers. */
static void add_event(const char *name, const char *format)
{
	struct marker_event *event = find_event(name, format), *other;
	int ret;

	if (event)
		return;
	other = find_event(name, NULL);
	if (other) {
		pr_warn("%s: no trace event for the format \"%s\": there is one for \"%s\"; give one of the markers another name\n",
			name, format, other->format);
		return;
	}
	event = new_event(name, format);
	ret = PTR_ERR_OR_ZERO(event);
	if (!ret) {
		ret = publish(event);
		if (ret)
			free_event(event);
	}
	if (ret) {
		pr_warn("%s: no trace event for the format \"%s\" (%d); it may have %d conversions of %%d %%u %%x %%o %%c %%s %%p, with l or ll, and %d of %%s\n",
			name, format, ret, MAX_FIELDS, MAX_STRINGS);
		return;
	}
	list_add_tail(&event->list, &marker_events);
}

static int is_marker_of(const struct marker_info *info, void *priv)
{
	const struct marker_event *event = priv;

	return !strcmp(info->marker->name, event->tp.name) &&
	       !strcmp(info->marker->format, event->format);
}

static bool is_unused(struct marker_event *event)
{
	return !trace_event_dyn_busy(&event->call) &&
	       !for_each_marker(is_marker_of, event);
}

static void remove_unused(struct work_struct *work)
{
	struct marker_event *event, *next;
	LIST_HEAD(removed);

	mutex_lock(&marker_events_mutex);
	mutex_lock(&event_mutex);
	list_for_each_entry_safe(event, next, &marker_events, list)
		if (is_unused(event) && !trace_remove_event_call(&event->call))
			list_move(&event->list, &removed);
	mutex_unlock(&event_mutex);
	mutex_unlock(&marker_events_mutex);

	if (list_empty(&removed))
		return;
	marker_synchronize_unregister();
	list_for_each_entry_safe(event, next, &removed, list)
		free_event(event);
}

/*
 * Events are made and removed under event_mutex, below which markers are
 * connected: so not while markers are walked over. Names and formats are valid
 * for as long as the module is.
 */
struct marker_names {
	const struct module *mod;
	unsigned int count, size;
	struct marker_name {
		const char *name;
		const char *format;
	} *of;
};

static int note_name(const struct marker_info *info, void *priv)
{
	struct marker_names *names = priv;

	if (info->mod != names->mod)
		return 0;
	if (names->of && names->count < names->size)
		names->of[names->count] = (struct marker_name) {
			info->marker->name, info->marker->format,
		};
	names->count++;
	return 0;
}

static void add_events_of(struct module *mod)
{
	struct marker_names names = { .mod = mod };
	unsigned int i;

	for_each_marker(note_name, &names);
	names.size = names.count;
	names.count = 0;
	names.of = kcalloc(names.size, sizeof(*names.of), GFP_KERNEL);
	if (!names.of) {
		pr_warn("%s: no memory for the trace events of its markers\n",
			mod ? module_name(mod) : "vmlinux");
		return;
	}
	for_each_marker(note_name, &names);

	mutex_lock(&marker_events_mutex);
	for (i = 0; i < names.count; i++)
		add_event(names.of[i].name, names.of[i].format);
	mutex_unlock(&marker_events_mutex);
	kfree(names.of);
}

static int events_notify(struct notifier_block *nb, unsigned long state,
			 void *mod)
{
	if (state == MARKERS_COMING)
		add_events_of(mod);
	else
		remove_unused(NULL);
	return NOTIFY_OK;
}

static struct notifier_block events_nb = { .notifier_call = events_notify };

/*
 * The list
 */

static int markers_show_one(const struct marker_info *info, void *m)
{
	seq_printf(m, "%s\t%s\t%u\t%u\t%u\t%s\n", info->marker->name,
		   info->mod ? module_name(info->mod) : "vmlinux", info->sites,
		   info->probes, info->armed, info->marker->format);
	return 0;
}

static int markers_show(struct seq_file *m, void *unused)
{
	seq_puts(m, "# name\tmodule\tsites\tprobes\tarmed\tformat\n");
	return for_each_marker(markers_show_one, m);
}
DEFINE_SHOW_ATTRIBUTE(markers);

static int __init init_trace_markers(void)
{
	if (!tracing_init_dentry())
		trace_create_file("markers", TRACE_MODE_READ, NULL, NULL,
				  &markers_fops);
	return register_marker_notifier(&events_nb);
}
fs_initcall_sync(init_trace_markers);
