// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Markers in tracefs: the lists of them, and each marker as a trace event of the
 * group "markers", for ftrace, perf and BPF.
 *
 * An event belongs to a name and format, and has the fields of the format's
 * layout. One event of each name is published in tracefs, when the first module
 * with such a marker is loaded; it is removed when the last one is unloaded and
 * the event is not in use. An event in use continues when the module is loaded again.
 *
 * An event that was ever enabled may have records in some buffer. It is never
 * freed and keeps its number and fields, so that these are printed correctly; it is
 * published again when such markers are loaded again. Any other event is freed
 * on removal.
 */
#define pr_fmt(fmt) "marker: " fmt

#include <linux/ctype.h>
#include <linux/generated-text.h>
#include <linux/init.h>
#include <linux/marker.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/security.h>
#include <linux/seq_buf.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/stacktrace.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>
#include <asm/word-at-a-time.h>

#include "../markers/markers.h"
#include "trace.h"
#include "trace_output.h"

static const char group[] = "markers";

/* A record and its headers must fit into a page of the ring buffer. */
#define MAX_STRINGS_SIZE	2048	/* all strings of a record together */
#define MAX_RECORD_SIZE		(sizeof(struct trace_entry) + MAX_STRINGS_SIZE + \
				 MARKER_MAX_FIELDS * sizeof(u64))

#define CHAR_SIZE		2	/* a character is a string, with a NUL */

enum marker_store_kind { STORE_8, STORE_4, STORE_CHAR, STORE_STRING };

/**
 * struct marker_store - how an argument is stored in the record
 * @offset: offset of the field
 * @kind: type of the field
 * @max_len: maximum length of a string, without the NUL
 */
struct marker_store {
	u16 offset;
	u8 kind;
	u16 max_len;
};

/**
 * struct marker_event - a name and format of markers, as a trace event
 * @call: the event
 * @class: its class, which no other event uses
 * @tp: only its name is used; BPF can attach to events that have a tracepoint
 * @entry: the name and the format
 * @layout: the layout of @entry
 * @freed: in a list of events to be freed
 * @users: how often it is enabled, by instances and by perf; under event_mutex
 * @size: size of a record without the strings
 * @has_strings: true if any field is a string
 * @scratch: space for a record, if it has strings and was enabled
 * @in_regs: end of the part of @store whose arguments are passed in registers
 * @stop: end of @store
 * @store: one for each field
 */
struct marker_event {
	struct trace_event_call call;
	struct trace_event_class class;
	struct tracepoint tp;
	struct marker_entry *entry;
	const struct marker_layout *layout;
	struct list_head freed;
	unsigned int users;
	unsigned int size;
	bool has_strings;
	struct marker_scratch __percpu *scratch;
	const struct marker_store *in_regs, *stop;
	struct marker_store store[];
};

static struct marker_event *event_of(const struct trace_event_call *call)
{
	return container_of(call, struct marker_event, call);
}

/*
 * Records
 */

/*
 * Space for a record with strings, whose size is not known in advance. A hit in
 * a task may be interrupted by hits in a softirq, an interrupt and an NMI, and
 * each by an exception. Allocated when an event with strings is first enabled.
 */
#define MAX_DEPTH	6

struct marker_scratch {
	char record[MAX_DEPTH][MAX_RECORD_SIZE] __aligned(8);
	unsigned int depth;	/* last member: UBSAN does not check last arrays */
};

static struct marker_scratch __percpu *marker_scratch;

/* A hit gets the pointer from its event, which it cannot read before it is called. */
static int need_scratch(struct marker_event *event)
{
	lockdep_assert_held(&event_mutex);
	if (!event->has_strings)
		return 0;
	if (!marker_scratch)
		marker_scratch = alloc_percpu(struct marker_scratch);
	event->scratch = marker_scratch;
	return event->scratch ? 0 : -ENOMEM;
}

/* Return: space for a record, or NULL if all of it is in use. */
static __always_inline void *get_scratch(const struct marker_event *event)
{
	unsigned int depth = this_cpu_inc_return(event->scratch->depth);

	if (likely(depth <= MAX_DEPTH))
		return this_cpu_ptr(event->scratch)->record[depth - 1];
	this_cpu_dec(event->scratch->depth);
	return NULL;
}

static __always_inline void put_scratch(const struct marker_event *event)
{
	this_cpu_dec(event->scratch->depth);
}

static __always_inline void store_number(void *record,
					 const struct marker_store *to, u64 value)
{
	char *text;

	record += to->offset;
	if (to->kind == STORE_8) {
		*(u64 *)record = value;
	} else if (likely(to->kind == STORE_4)) {
		*(u32 *)record = value;
	} else {
		text = record;
		text[0] = value;
		text[1] = '\0';
	}
}

/* On 64-bit architectures, every argument takes one word. */
static __always_inline u64 next_number(const struct marker_store *to,
				       va_list *args)
{
	if (!IS_ENABLED(CONFIG_64BIT) && to->kind == STORE_8)
		return va_arg(*args, unsigned long long);
	return va_arg(*args, unsigned long);
}

#ifdef CONFIG_X86_64
static __always_inline void store_words(void *record, const unsigned long *word,
					const struct marker_store *to,
					const struct marker_store *stop)
{
	for (; to < stop; to++)
		store_number(record, to, *word++);
}

/* Reads the words directly; va_arg() would test the va_list for each. */
static __always_inline void store_numbers(const struct marker_event *event,
					  void *record, va_list *args)
{
	const struct marker_store *to = event->store;

	store_words(record, marker_words_in_regs(args), to, event->in_regs);
	if (unlikely(event->in_regs != event->stop))
		store_words(record, marker_words_on_stack(args),
			    event->in_regs, event->stop);
}
#else
static __always_inline void store_numbers(const struct marker_event *event,
					  void *record, va_list *args)
{
	const struct marker_store *to;

	for (to = event->store; to < event->stop; to++)
		store_number(record, to, next_number(to, args));
}
#endif

/* The first page may be mapped, as on s390; an error may be read as an address. */
static bool is_kernel_string(const char *from, unsigned int max)
{
	return (unsigned long)from >= PAGE_SIZE && !IS_ERR(from) &&
	       copy_from_kernel_nofault_allowed(from, max);
}

/*
 * Reads a string once, in aligned words. These do not cross a page boundary, so
 * reading past the end of the string faults only if reading the string does.
 * Reads at most @max characters, which need not include a NUL.
 *
 * Return: the length, or -EFAULT if it is not in the kernel's memory.
 */
static int read_string(char *to, const char *from, unsigned int max)
{
	const struct word_at_a_time constants = WORD_AT_A_TIME_CONSTANTS;
	unsigned long word, zeros;
	unsigned int len = 0;

	if (!is_kernel_string(from, max))
		return -EFAULT;
	while (len < max) {
		const void *src = from + len;
		void *dst = to + len;

		if (!IS_ALIGNED((unsigned long)src, sizeof(word)) ||
		    max - len < sizeof(word)) {
			__get_kernel_nofault(dst, src, char, fault);
			if (!to[len])
				break;
			len++;
			continue;
		}
		__get_kernel_nofault(&word, src, unsigned long, fault);
		memcpy(dst, &word, sizeof(word));
		if (has_zero(word, &zeros, &constants)) {
			zeros = prep_zero_mask(word, zeros, &constants);
			len += find_zero(create_zero_mask(zeros));
			break;
		}
		len += sizeof(word);
	}
	return len;
fault:
	return -EFAULT;
}

/* Return: the size of the string with its NUL. */
static unsigned int store_string(char *to, const char *string, unsigned int max)
{
	int len = -EFAULT;

	if (string) {
		pagefault_disable();
		len = read_string(to, string, max);
		pagefault_enable();
	}
	if (len < 0)
		return strscpy(to, string ? "(fault)" : "(null)", max + 1) < 0 ?
		       max + 1 : strlen(to) + 1;
	to[len] = '\0';
	return len + 1;
}

/*
 * Strings follow the fields; the field of a string holds its offset and size.
 *
 * Return: the size of the record.
 */
static unsigned int make_record(const struct marker_event *event, void *record,
				va_list *args)
{
	const struct marker_store *to = event->store;
	unsigned int at = event->size, size;

	memset(record, 0, event->size);	/* for the padding of fields */
	for (; to < event->stop; to++) {
		if (to->kind != STORE_STRING) {
			store_number(record, to, next_number(to, args));
			continue;
		}
		size = store_string(record + at, va_arg(*args, const char *),
				    to->max_len);
		*(u32 *)(record + to->offset) = size << 16 | at;
		at += size;
	}
	return at;
}

static void copy_record(void *to, const void *from, unsigned int size)
{
	const unsigned int head = sizeof(struct trace_entry);

	memcpy(to + head, from + head, size - head);
}

/* With any of these, a hit must do more than write a record. */
#define FILE_FLAGS_NOT_PLAIN	(EVENT_FILE_FL_FILTERED |		\
				 EVENT_FILE_FL_SOFT_DISABLED |		\
				 EVENT_FILE_FL_TRIGGER_MODE |		\
				 EVENT_FILE_FL_TRIGGER_COND |		\
				 EVENT_FILE_FL_PID_FILTER)

#define TRACE_FLAGS_NOT_PLAIN	(TRACE_ITER_STACKTRACE | TRACE_ITER_USERSTACKTRACE)

static __always_inline bool is_plain(const struct trace_event_file *file)
{
	return !(file->flags & FILE_FLAGS_NOT_PLAIN) &&
	       !(file->tr->trace_flags & TRACE_FLAGS_NOT_PLAIN) &&
	       !static_branch_unlikely(&tracepoint_printk_key) &&
	       !static_branch_unlikely(&trace_event_exports_enabled);
}

/* @made: the record, if it has strings; NULL if all arguments are numbers */
static __always_inline void fill_record(const struct marker_event *event,
					void *record, unsigned int size,
					const void *made, va_list *args)
{
	if (made)
		copy_record(record, made, size);
	else
		store_numbers(event, record, args);
}

static __always_inline void record_plain(struct trace_event_file *file,
					 const struct marker_event *event,
					 unsigned int size, const void *made,
					 va_list *args)
{
	struct trace_buffer *buffer = file->tr->array_buffer.buffer;
	unsigned int ctx = tracing_gen_ctx_dec();
	struct ring_buffer_event *reserved;

	reserved = trace_buffer_lock_reserve(buffer, event->call.event.type,
					     size, ctx);
	if (!reserved)
		return;
	fill_record(event, ring_buffer_event_data(reserved), size, made, args);
	trace_buffer_unlock_commit_nostack(buffer, reserved);
}

static __always_inline void record_any(struct trace_event_file *file,
				       const struct marker_event *event,
				       unsigned int size, const void *made,
				       va_list *args)
{
	struct trace_event_buffer buffer __uninitialized;
	void *record;

	record = trace_event_buffer_reserve(&buffer, file, size);
	if (!record)
		return;
	fill_record(event, record, size, made, args);
	trace_event_buffer_commit(&buffer);
}

static noinline __marker_probe_text void
trace_marker_any(struct trace_event_file *file, va_list *args)
{
	const struct marker_event *event = event_of(file->event_call);

	if (!trace_trigger_soft_disabled(file))
		record_any(file, event, event->size, NULL, args);
}

/* The probe for ftrace; @private is the file of the event in an instance. */
static __marker_probe_text void
trace_marker(void *private, void *call_private, const char *format,
	     va_list *args)
{
	struct trace_event_file *file = private;
	const struct marker_event *event = event_of(file->event_call);

	if (likely(is_plain(file)))
		record_plain(file, event, event->size, NULL, args);
	else
		trace_marker_any(file, args);
}

/* The same for an event with strings. */
static __marker_probe_text void
trace_marker_strings(void *private, void *call_private, const char *format,
		     va_list *args)
{
	struct trace_event_file *file = private;
	const struct marker_event *event = event_of(file->event_call);
	unsigned int size;
	void *made;

	if (trace_trigger_soft_disabled(file))
		return;
	made = get_scratch(event);
	if (!made)
		return;
	size = make_record(event, made, args);
	if (likely(is_plain(file)))
		record_plain(file, event, size, made, args);
	else
		record_any(file, event, size, made, args);
	put_scratch(event);
}

static marker_probe_func *trace_probe_of(const struct marker_event *event)
{
	return event->has_strings ? trace_marker_strings : trace_marker;
}

#ifdef CONFIG_PERF_EVENTS
/* With the u32 that perf puts in front, the size is a multiple of eight. */
static unsigned int perf_size(unsigned int size)
{
	return ALIGN(size + sizeof(u32), sizeof(u64)) - sizeof(u32);
}

#ifdef CONFIG_TRACEPOINT_TRAMPOLINE
/* The first address on the stack that is not in code that calls probes. */
static noinline __marker_probe_text unsigned long unwound_ip(unsigned long ip)
{
	/* Without ORC, the two probes are not such code. */
	const unsigned int skip = IS_ENABLED(CONFIG_UNWINDER_ORC) ? 0 : 2;

	stack_trace_save(&ip, 1, skip);
	return ip;
}

/*
 * A probe of a tracepoint that contains only a marker ends with a jump to
 * marker_call_tp(). The return address is then in the trampoline, which was
 * called by the traced code. Where the probe calls marker_call_tp() instead, the
 * stack has to be unwound: if it passes arguments on the stack, with frame
 * pointers, and with KCSAN.
 */
static __always_inline unsigned long traced_ip(va_list *args)
{
	unsigned long ip = marker_hit_ip(args);
	int depth;

	if (!marker_hit_of(args)->marker->tp)
		return ip;
	depth = generated_text_depth(ip - 1);
	if (depth >= 0)
		return marker_words_on_stack(args)[depth];
	return is_marker_dispatch(ip) || is_tracepoint_dispatch(ip) ?
	       unwound_ip(ip) : ip;
}
#else
#define traced_ip(args)		marker_hit_ip(args)
#endif

static __always_inline bool perf_is_off(struct marker_event *event)
{
	return hlist_empty(this_cpu_ptr(event->call.perf_events)) &&
	       !bpf_prog_array_valid(&event->call);
}

/* @size: size of the record; perf's record is longer, with zeros at the end */
static __always_inline void perf_submit(struct marker_event *event,
					unsigned int size, const void *made,
					unsigned long ip, va_list *args)
{
	struct pt_regs *regs;
	void *record;
	int rctx;

	record = perf_trace_buf_alloc(perf_size(size), &regs, &rctx);
	if (!record)
		return;
	perf_arch_fetch_caller_regs(regs, ip);
	fill_record(event, record, size, made, args);
	perf_trace_run_bpf_submit(record, perf_size(size), rctx, &event->call, 1,
				  regs, this_cpu_ptr(event->call.perf_events),
				  NULL);
}

/* The probe for perf and BPF; @private is the event. */
static __marker_probe_text void
perf_marker(void *private, void *call_private, const char *format, va_list *args)
{
	struct marker_event *event = private;

	if (!perf_is_off(event))
		perf_submit(event, event->size, NULL, traced_ip(args), args);
}

/* The same for an event with strings. */
static __marker_probe_text void
perf_marker_strings(void *private, void *call_private, const char *format,
		    va_list *args)
{
	struct marker_event *event = private;
	unsigned long ip = traced_ip(args);
	void *made;

	if (perf_is_off(event))
		return;
	made = get_scratch(event);
	if (!made)
		return;
	perf_submit(event, make_record(event, made, args), made, ip, args);
	put_scratch(event);
}

static marker_probe_func *perf_probe_of(const struct marker_event *event)
{
	return event->has_strings ? perf_marker_strings : perf_marker;
}
#endif

/*
 * Text
 */

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
	return !iter->tr || iter->tr->trace_flags & TRACE_ITER_HASH_PTR;
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
	case STORE_CHAR:
		trace_seq_printf(s, spec, *(char *)from);
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

static struct trace_event_functions marker_event_functions = {
	.trace = print_marker_event,
};

/* Writes the text of a format as in a C string. */
static void quote_text(struct seq_buf *s, const char *from, const char *to)
{
	for (; from < to; from++) {
		if (*from == '"' || *from == '\\')
			seq_buf_putc(s, '\\');
		seq_buf_putc(s, isprint(*from) ? *from : ' ');
	}
}

static void make_print_fmt(struct seq_buf *s, const struct marker_layout *layout)
{
	const struct marker_field *stop = layout->field + layout->nr_fields;
	const char *text = layout->format, *last;
	const struct marker_field *f;

	seq_buf_putc(s, '"');
	for (f = layout->field; f < stop; f++) {
		last = f->spec + f->len - 1;
		quote_text(s, text, last);
		/* The tools do not support %c. */
		seq_buf_putc(s, *last == 'c' ? 's' : *last);
		text = last + 1;
	}
	quote_text(s, text, text + strlen(text));
	seq_buf_putc(s, '"');
	for (f = layout->field; f < stop; f++)
		seq_buf_printf(s, f->conversion == 's' ? ", __get_str(%s)" :
			       ", REC->%s", f->name);
}

/* Tools print records with this. */
static char *new_print_fmt(const struct marker_layout *layout)
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

/*
 * Fields
 */

static const char *field_type(const struct marker_field *field)
{
	switch (field->conversion) {
	case 's':
		return "__data_loc char[]";
	case 'p':
		return "void *";
	case 'c':
		return "char[2]";
	}
	switch (field->type) {
	case MARKER_INT:
		return field->is_signed ? "int" : "unsigned int";
	case MARKER_LLONG:
		return field->is_signed ? "long long" : "unsigned long long";
	default:
		return field->is_signed ? "long" : "unsigned long";
	}
}

static enum marker_store_kind store_kind(const struct marker_field *field)
{
	switch (field->conversion) {
	case 's':
		return STORE_STRING;
	case 'c':
		return STORE_CHAR;
	}
	return field->size == sizeof(u64) ? STORE_8 : STORE_4;
}

static unsigned int store_size(const struct marker_store *store)
{
	switch (store->kind) {
	case STORE_CHAR:
		return CHAR_SIZE;
	case STORE_8:
		return sizeof(u64);
	}
	return sizeof(u32);
}

static void place_fields(struct marker_event *event)
{
	const struct marker_layout *layout = event->layout;
	unsigned int i, size, max_len = MAX_STRINGS_SIZE;

	if (layout->nr_strings)
		max_len = MAX_STRINGS_SIZE / layout->nr_strings - 1;
	event->has_strings = layout->nr_strings;
	event->stop = event->store + layout->nr_fields;
	event->in_regs = event->store + min(layout->nr_fields,
					    MARKER_WORDS_IN_REGS);
	event->size = sizeof(struct trace_entry);
	for (i = 0; i < layout->nr_fields; i++) {
		const struct marker_field *field = &layout->field[i];
		struct marker_store *store = &event->store[i];

		store->kind = store_kind(field);
		size = store_size(store);
		store->offset = ALIGN(event->size, size);
		store->max_len = field->precision < 0 ? max_len :
				 min_t(unsigned int, max_len, field->precision);
		event->size = store->offset + size;
	}
}

/* Describes the fields to ftrace; the offsets match place_fields(). */
static struct trace_event_fields *
new_fields_array(const struct marker_event *event)
{
	const struct marker_layout *layout = event->layout;
	struct trace_event_fields *fields;
	unsigned int i;

	fields = kcalloc(layout->nr_fields + 1, sizeof(*fields), GFP_KERNEL);
	for (i = 0; fields && i < layout->nr_fields; i++) {
		const struct marker_field *from = &layout->field[i];
		const struct trace_event_fields field = {
			.type = field_type(from),
			.name = from->name,
			.size = store_size(&event->store[i]),
			.align = store_size(&event->store[i]),
			.is_signed = from->is_signed,
			.filter_type = FILTER_OTHER,
			.len = from->conversion == 'c' ? CHAR_SIZE : 0,
		};

		memcpy(&fields[i], &field, sizeof(field));	/* const members */
	}
	return fields;
}

/*
 * Events
 *
 * Created, published and removed under marker_notify_mutex; each belongs to an
 * entry. event_mutex nests inside, and is held for one event at a time.
 */

static void remove_stale_events(struct work_struct *work);
static DECLARE_WORK(remove_work, remove_stale_events);

static int connect(struct marker_event *event, marker_probe_func *probe,
		   void *private)
{
	int ret = need_scratch(event) ?:
		  marker_probe_register(event->tp.name, event->layout->format,
					probe, private);

	if (!ret)
		event->users++;
	return ret;
}

static int connect_for_records(struct marker_event *event, void *file)
{
	int ret = connect(event, trace_probe_of(event), file);

	if (!ret)
		event->call.flags |= TRACE_EVENT_FL_KEEP;
	return ret;
}

/*
 * Schedules the removal even if the entry has sites: they may be of a module that
 * fails to load, which then removes them. The work waits for that.
 */
static int disconnect(struct marker_event *event, marker_probe_func *probe,
		      void *private)
{
	int ret = marker_probe_unregister(event->tp.name, probe, private);

	event->users--;
	trace_markers_remove_stale();
	return ret;
}

static int reg_event(struct trace_event_call *call, enum trace_reg type,
		     void *data)
{
	struct marker_event *event = event_of(call);

	switch (type) {
	case TRACE_REG_REGISTER:
		return connect_for_records(event, data);
	case TRACE_REG_UNREGISTER:
		return disconnect(event, trace_probe_of(event), data);
#ifdef CONFIG_PERF_EVENTS
	case TRACE_REG_PERF_REGISTER:
		return connect(event, perf_probe_of(event), event);
	case TRACE_REG_PERF_UNREGISTER:
		return disconnect(event, perf_probe_of(event), event);
	default:
		return 0;
#endif
	}
	return 0;
}

static void free_event(struct marker_event *event)
{
	kfree(event->class.fields_array);
	kfree(event->call.print_fmt);
	kfree(event->tp.name);
	kfree(event);
}

static int init_event(struct marker_event *event, struct marker_entry *entry)
{
	event->entry = entry;
	event->layout = entry->layout;
	place_fields(event);
	event->tp.name = kstrdup(entry->name->name, GFP_KERNEL);
	event->call.print_fmt = new_print_fmt(event->layout);
	event->class.fields_array = new_fields_array(event);
	if (!event->tp.name || !event->call.print_fmt ||
	    !event->class.fields_array)
		return -ENOMEM;

	event->class.system = group;
	event->class.reg = reg_event;
	INIT_LIST_HEAD(&event->class.fields);
	event->call.class = &event->class;
	event->call.tp = &event->tp;
	event->call.flags = TRACE_EVENT_FL_TRACEPOINT | TRACE_EVENT_FL_DYNAMIC;
	event->call.event.funcs = &marker_event_functions;
	return 0;
}

static void set_event(struct marker_entry *entry, struct marker_event *event)
{
	mutex_lock(&markers_mutex);
	entry->event = event;
	if (!event) {
		list_del_init(&entry->stale);
		marker_put_entry(entry);
	}
	mutex_unlock(&markers_mutex);
}

/* Creates the event of an entry, which is kept as long as the event exists. */
static struct marker_event *new_event(struct marker_entry *entry)
{
	struct marker_event *event;
	int ret;

	event = kzalloc(struct_size(event, store, entry->layout->nr_fields),
			GFP_KERNEL);
	if (!event)
		return ERR_PTR(-ENOMEM);
	ret = init_event(event, entry);
	if (!ret && !register_trace_event(&event->call.event))
		ret = -ENOSPC;
	if (ret) {
		free_event(event);
		return ERR_PTR(ret);
	}
	set_event(entry, event);
	return event;
}

/* Do all instances have the event and its files, and are all fields defined? */
static bool is_complete(struct marker_event *event)
{
	struct trace_event_file *file;
	struct ftrace_event_field *field;
	struct trace_array *tr;
	unsigned int nr = 0;
	bool complete = true;

	lockdep_assert_held(&event_mutex);
	list_for_each_entry(field, &event->class.fields, link)
		nr++;
	mutex_lock(&trace_types_lock);
	list_for_each_entry(tr, &ftrace_trace_arrays, list) {
		file = list_first_entry_or_null(&tr->events,
						struct trace_event_file, list);
		complete &= file && file->event_call == &event->call &&
			    (file->dir || !tr->event_dir) &&
			    !(file->flags & EVENT_FILE_FL_INCOMPLETE);
	}
	mutex_unlock(&trace_types_lock);
	return complete && nr == event->layout->nr_fields;
}

/* trace_add_event_call() ignores failed allocations; is_complete() detects them. */
static int publish(struct marker_event *event)
{
	int ret;

	mutex_lock(&event_mutex);
	ret = trace_add_event_call(&event->call);
	if (ret >= 0 && !is_complete(event)) {
		trace_remove_event_call(&event->call);
		ret = security_locked_down(LOCKDOWN_TRACEFS) ?: -ENOMEM;
	}
	/* Writing to the file inject records events that are not enabled. */
	if (ret >= 0 && IS_ENABLED(CONFIG_TRACE_EVENT_INJECT))
		event->call.flags |= TRACE_EVENT_FL_KEEP;
	mutex_unlock(&event_mutex);
	if (ret >= 0)
		event->entry->name->event = event;
	return min(ret, 0);
}

static bool event_was_enabled(const struct marker_event *event)
{
	return event->call.flags & TRACE_EVENT_FL_KEEP;
}

static int publish_entry(struct marker_entry *entry)
{
	struct marker_event *event = entry->event ?: new_event(entry);
	int ret;

	if (IS_ERR(event))
		return PTR_ERR(event);
	ret = publish(event);
	if (ret && !event_was_enabled(event)) {
		set_event(entry, NULL);
		free_event(event);
	}
	return ret;
}

/* Files beside the directories of events. */
static const char *const files_of_system[] = { "enable", "filter" };

/* A kprobe, for example, may be an event of any group and name. */
static bool name_is_taken(const char *name)
{
	bool taken;

	mutex_lock(&event_mutex);
	taken = find_event_file(top_trace_array(), group, name);
	mutex_unlock(&event_mutex);
	return taken;
}

/* A marker that cannot have an event can still be used by other tracers. */
static void add_event(struct marker_entry *entry)
{
	const struct marker_event *other = entry->name->event;
	const char *name = entry->name->name;
	int ret;

	lockdep_assert_held(&marker_notify_mutex);
	if (other && other->entry != entry)
		pr_warn("%s: no trace event for the format \"%s\": there is one for \"%s\"; give one of the markers another name\n",
			name, entry->format, other->layout->format);
	if (other)
		return;
	if (!entry->layout) {
		pr_warn("%s: no trace event for the format \"%s\"; it may have %d conversions, of %%d %%i %%u %%x %%X %%o, with l or ll, %%c %%p %%pS %%ps %%s, up to %d of them %%s\n",
			name, entry->format, MARKER_MAX_FIELDS,
			MARKER_MAX_STRINGS);
		return;
	}
	if (match_string(files_of_system, ARRAY_SIZE(files_of_system), name) >= 0) {
		pr_warn("%s: no trace event: tracefs has a file events/markers/%s; give the marker another name\n",
			name, name);
		return;
	}
	ret = publish_entry(entry);
	if (ret == -ENOSPC)
		pr_warn("%s: no trace event: all numbers of events are in use; unload modules with events that were never enabled\n",
			name);
	else if (ret == -EPERM)
		pr_warn("%s: no trace event: tracefs is locked down\n", name);
	else if (ret && name_is_taken(name))
		pr_warn("%s: no trace event: there is another event markers/%s; remove it and load the module again\n",
			name, name);
	else if (ret)
		pr_warn("%s: no trace event: error %d\n", name, ret);
}

/* Return: an entry that has sites, or NULL; marker_notify_mutex protects it. */
static struct marker_entry *find_loaded(struct marker_name *name)
{
	struct marker_entry *entry, *found = NULL;

	mutex_lock(&markers_mutex);
	list_for_each_entry(entry, &name->entries, list)
		if (!list_empty(&entry->parts) && entry->layout && !found)
			found = entry;
	mutex_unlock(&markers_mutex);
	return found;
}

/* An event that is soft-disabled has users, too. */
static bool is_used(struct marker_event *event)
{
	lockdep_assert_held(&event_mutex);
	return event->users || trace_event_dyn_busy(&event->call);
}

static bool file_is_stale(const struct trace_event_file *file)
{
	return trace_event_is_marker(file->event_call) &&
	       list_empty(&event_of(file->event_call)->entry->parts) &&
	       !is_used(event_of(file->event_call));
}

/*
 * The removal of an event searches the list of all files for its file. To walk
 * the list once and not once for each event, move the files to be removed to
 * the front, in the order of the removals.
 */
static void move_stale_files(void)
{
	struct trace_event_file *file, *next;
	struct trace_array *tr;
	LIST_HEAD(stale);

	lockdep_assert_held(&event_mutex);
	mutex_lock(&trace_types_lock);
	list_for_each_entry(tr, &ftrace_trace_arrays, list) {
		list_for_each_entry_safe(file, next, &tr->events, list)
			if (file_is_stale(file))
				list_move_tail(&file->list, &stale);
		list_splice_init(&stale, &tr->events);
	}
	mutex_unlock(&trace_types_lock);
}

/**
 * struct removal - a removal of events without sites
 * @freed: the removed events, which are to be freed
 * @moved: whether the files of all of them were moved to the front
 */
struct removal {
	struct list_head freed;
	bool moved;
};

static int unpublish(struct marker_event *event, struct removal *removal)
{
	int ret = -EBUSY;

	mutex_lock(&event_mutex);
	/* The removal would search the list of all files before it fails. */
	if (!is_used(event)) {
		if (!removal->moved)
			move_stale_files();
		removal->moved = true;
		ret = trace_remove_event_call(&event->call);
	}
	mutex_unlock(&event_mutex);
	if (!ret)
		event->entry->name->event = NULL;
	return ret;
}

/* Return: false if the event is in use and stays in tracefs, otherwise true. */
static bool remove_event(struct marker_event *event, struct removal *removal)
{
	struct marker_name *name = event->entry->name;
	struct marker_entry *other;

	if (name->event != event)
		return true;
	if (unpublish(event, removal))
		return false;
	/* Another format of the name can be published now. */
	other = find_loaded(name);
	if (other)
		add_event(other);
	if (event_was_enabled(event))
		return true;
	list_add(&event->freed, &removal->freed);
	set_event(event->entry, NULL);
	return true;
}

static void free_events(struct list_head *freed)
{
	struct marker_event *event, *next;

	if (list_empty(freed))
		return;
	marker_synchronize_unregister();
	list_for_each_entry_safe(event, next, freed, freed)
		free_event(event);
}

/* Removes the events of entries that have no sites, except those in use. */
static void remove_stale_locked(void)
{
	struct removal removal = { .freed = LIST_HEAD_INIT(removal.freed) };
	struct marker_entry *entry;
	LIST_HEAD(busy);

	lockdep_assert_held(&marker_notify_mutex);
	if (!marker_is_stale())
		return;
	while ((entry = marker_take_stale())) {
		if (!remove_event(entry->event, &removal))
			marker_move_stale(entry, &busy);
		cond_resched();
	}
	marker_return_stale(&busy);
	free_events(&removal.freed);
}

/* Removes events that were in use when their last module was unloaded. */
static void remove_stale_events(struct work_struct *work)
{
	mutex_lock(&marker_notify_mutex);
	remove_stale_locked();
	mutex_unlock(&marker_notify_mutex);
}

/**
 * trace_event_is_marker - check whether an event belongs to a marker
 * @call: the event
 *
 * Context: any.
 * Return: true if it is.
 */
bool trace_event_is_marker(const struct trace_event_call *call)
{
	return call->class->reg == reg_event;
}

/**
 * trace_markers_remove_stale - schedule the removal of events without sites
 *
 * Events in use are not removed.
 *
 * Context: any.
 */
void trace_markers_remove_stale(void)
{
	schedule_work(&remove_work);
}

static void add_events_of(const struct module *mod)
{
	const struct marker_range *range = marker_find_range(mod);
	const struct marker_part *part;

	list_for_each_entry(part, &range->parts, list) {
		add_event(part->entry);
		cond_resched();
	}
}

static int events_notify(struct notifier_block *nb, unsigned long state,
			 void *mod)
{
	/* Lets another format use the name of an unused event. */
	remove_stale_locked();
	if (state == MARKERS_COMING)
		add_events_of(mod);
	return NOTIFY_OK;
}

static struct notifier_block events_nb = { .notifier_call = events_notify };

/* Called before the events of the command line are enabled. */
int __init trace_markers_init(void)
{
	return marker_init() ?: register_marker_notifier(&events_nb);
}

/*
 * The lists
 */

/* A large buffer, since each buffer begins with a search for the position. */
#define LIST_BUFFER_SIZE	SZ_64K

static int open_list(struct file *file, const struct seq_operations *ops)
{
	int ret = security_locked_down(LOCKDOWN_TRACEFS);
	struct seq_file *m;

	ret = ret ?: seq_open(file, ops);
	if (ret)
		return ret;
	m = file->private_data;
	m->buf = kvmalloc(LIST_BUFFER_SIZE, GFP_KERNEL);
	if (m->buf)
		m->size = LIST_BUFFER_SIZE;
	return 0;
}

/* The first line is a heading. */
static void *parts_start(struct seq_file *m, loff_t *pos)
{
	mutex_lock(&markers_mutex);
	return *pos ? marker_nth_part(*pos - 1) : SEQ_START_TOKEN;
}

static void *parts_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return v == SEQ_START_TOKEN ? marker_nth_part(0) : marker_next_part(v);
}

static void *probes_start(struct seq_file *m, loff_t *pos)
{
	mutex_lock(&markers_mutex);
	return seq_list_start_head(&marker_attached, *pos);
}

static void *probes_next(struct seq_file *m, void *v, loff_t *pos)
{
	return seq_list_next(v, &marker_attached, pos);
}

static void list_stop(struct seq_file *m, void *v)
{
	mutex_unlock(&markers_mutex);
}

static const char *module_of(const struct marker_part *part)
{
	return part->range->mod ? module_name(part->range->mod) : "vmlinux";
}

static int markers_show(struct seq_file *m, void *v)
{
	const struct marker_part *part = v;

	if (v == SEQ_START_TOKEN)
		seq_puts(m, "# name\tmodule\tsites\tprobes\tarmed\tformat\n");
	else
		seq_printf(m, "%s\t%s\t%u\t%u\t%u\t%s\n",
			   part->entry->name->name, module_of(part),
			   part->nr_sites, marker_count_probes(part->entry),
			   part->entry->name->arm_count, part->entry->format);
	return 0;
}

/* A site in inlined code has several places; one of _trace_mark() has none. */
static int marker_sites_show(struct seq_file *m, void *v)
{
	const struct marker_part *part = v;
	const struct marker *site;
	unsigned int i;
	void *place;

	if (v == SEQ_START_TOKEN) {
		seq_puts(m, "# name\tmodule\tplace\n");
		return 0;
	}
	for_each_site_of(part, site) {
		place = imv_nth_site(&site->active, 0);
		if (!place)
			seq_printf(m, "%s\t%s\t-\n", site->name,
				   module_of(part));
		for (i = 1; place; i++) {
			seq_printf(m, "%s\t%s\t%pS\n", site->name,
				   module_of(part), place);
			place = imv_nth_site(&site->active, i);
		}
	}
	return 0;
}

static int marker_probes_show(struct seq_file *m, void *v)
{
	const struct marker_entry *entry;
	unsigned int i;

	if (v == &marker_attached) {
		seq_puts(m, "# name\tprobe\tformat\n");
		return 0;
	}
	entry = list_entry(v, struct marker_entry, attached);
	for (i = 0; i < entry->probes->count; i++)
		if (entry->probes->probe[i].func)
			seq_printf(m, "%s\t%ps\t%s\n", entry->name->name,
				   entry->probes->probe[i].func, entry->format);
	return 0;
}

#define DEFINE_LIST(name, kind)						\
static const struct seq_operations name##_ops = {			\
	.start = kind##_start,						\
	.next = kind##_next,						\
	.stop = list_stop,						\
	.show = name##_show,						\
};									\
									\
static int name##_open(struct inode *inode, struct file *file)		\
{									\
	return open_list(file, &name##_ops);				\
}									\
									\
static const struct file_operations name##_fops = {			\
	.open = name##_open,						\
	.read = seq_read,						\
	.llseek = seq_lseek,						\
	.release = seq_release,						\
}

DEFINE_LIST(markers, parts);
DEFINE_LIST(marker_sites, parts);
DEFINE_LIST(marker_probes, probes);

static int __init create_lists(void)
{
	if (tracing_init_dentry())
		return 0;
	trace_create_file("markers", TRACE_MODE_READ, NULL, NULL, &markers_fops);
	trace_create_file("marker_sites", TRACE_MODE_READ, NULL, NULL,
			  &marker_sites_fops);
	trace_create_file("marker_probes", TRACE_MODE_READ, NULL, NULL,
			  &marker_probes_fops);
	return 0;
}
fs_initcall_sync(create_lists);
