// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Records of markers: the probes that write the arguments of a hit to ftrace's
 * buffers and to perf's, as the layout of the format says.
 */
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/stacktrace.h>
#include <linux/uaccess.h>
#include <linux/unaligned.h>

#include <asm/word-at-a-time.h>

#include "trace.h"
#include "trace_markers.h"

#define MARKER_REG_ARGS		5	/* of a probe, without the data */

/* A record and its headers must fit into a page of the ring buffer. */
#define MAX_STRINGS_SIZE	2048	/* all strings of a record together */
#define MAX_RECORD_SIZE		(sizeof(struct trace_entry) + MAX_STRINGS_SIZE + \
				 MARKER_MAX_FIELDS * MARKER_MAX_BYTES)

static enum marker_store_kind store_kind(const struct marker_field *field)
{
	if (field->conversion == 's')
		return STORE_STRING;
	if (field->conversion == 'c')
		return STORE_CHAR;
	if (field->conversion == 'h')
		return STORE_HEX;
	if (field->bytes)
		return STORE_BYTES;
	return STORE_1 + ilog2(field->size);
}

/* Decides where a record has the fields. */
void marker_place_fields(struct marker_event *event)
{
	static const u8 sizes[] = {
		[STORE_1] = sizeof(u8), [STORE_2] = sizeof(u16),
		[STORE_4] = sizeof(u32), [STORE_8] = sizeof(u64),
		[STORE_CHAR] = sizeof("c"), [STORE_STRING] = sizeof(u32),
		[STORE_HEX] = sizeof(u32),
	};
	const struct marker_layout *layout = event->layout;
	unsigned int i, max_len = MAX_STRINGS_SIZE;
	bool all_numbers = true;

	BUILD_BUG_ON(sizeof(struct trace_entry) % sizeof(u64));	/* see store_numbers() */
	if (layout->nr_strings)
		max_len = MAX_STRINGS_SIZE / layout->nr_strings - 1;
	event->stop = event->store + layout->nr_fields;
	event->size = sizeof(struct trace_entry);
	for (i = 0; i < layout->nr_fields; i++) {
		const struct marker_field *field = &layout->field[i];
		struct marker_store *store = &event->store[i];

		store->kind = store_kind(field);
		store->size = field->bytes ?: sizes[store->kind];
		store->offset = ALIGN(event->size, field->bytes ? 1 : store->size);
		store->max_len = field->precision < 0 ? max_len :
				 min_t(unsigned int, max_len, field->precision);
		event->size = store->offset + store->size;
		all_numbers &= store->kind == STORE_4 || store->kind == STORE_8;
	}
	if (all_numbers && layout->nr_fields <= MARKER_REG_ARGS &&
	    !IS_ENABLED(CONFIG_CPU_BIG_ENDIAN))
		event->nr_numbers = layout->nr_fields;
}

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

int marker_need_scratch(const struct marker_event *event)
{
	lockdep_assert_held(&event_mutex);
	if (event->layout->nr_strings && !marker_scratch)
		marker_scratch = alloc_percpu(struct marker_scratch);
	return event->layout->nr_strings && !marker_scratch ? -ENOMEM : 0;
}

/* Return: space for a record, or NULL if all of it is in use. */
static void *get_scratch(void)
{
	unsigned int depth = this_cpu_inc_return(marker_scratch->depth);

	if (likely(depth <= MAX_DEPTH))
		return this_cpu_ptr(marker_scratch)->record[depth - 1];
	this_cpu_dec(marker_scratch->depth);
	return NULL;
}

static void put_scratch(void)
{
	this_cpu_dec(marker_scratch->depth);
}

/*
 * Reads a string once: it may change meanwhile, and need not be valid. Copies at most
 * @max characters, which need not include a NUL. Reads words as long as that is possible.
 *
 * Return: the length, or -EFAULT if it is not in the kernel's memory.
 */
static int read_string(char *to, const char *from, unsigned int max)
{
	const struct word_at_a_time constants = WORD_AT_A_TIME_CONSTANTS;
	unsigned long word, zeros;
	unsigned int len = 0;

	if (!copy_from_kernel_nofault_allowed(from, max))
		return -EFAULT;
	if (!IS_ENABLED(CONFIG_HAVE_EFFICIENT_UNALIGNED_ACCESS))
		goto bytes;
	for (; len + sizeof(word) <= max; len += sizeof(word)) {
		__get_kernel_nofault(&word, from + len, unsigned long, bytes);
		put_unaligned(word, (unsigned long *)(to + len));
		if (has_zero(word, &zeros, &constants)) {
			zeros = create_zero_mask(prep_zero_mask(word, zeros, &constants));
			return len + find_zero(zeros);
		}
	}
bytes:
	for (; len < max; len++) {
		__get_kernel_nofault(&to[len], from + len, char, fault);
		if (!to[len])
			break;
	}
	to[len] = '\0';
	return len;
fault:
	return -EFAULT;
}

/* Return: the size of the string with its NUL. */
static unsigned int store_string(char *to, const char *string, unsigned int max)
{
	int len;

	pagefault_disable();
	len = string ? read_string(to, string, max) : -EFAULT;
	pagefault_enable();
	if (len < 0)
		len = strscpy(to, string ? "(fault)" : "(null)", max + 1);
	return (len < 0 ? max : len) + 1;
}

static void store_bytes(void *to, const void *from, unsigned int size)
{
	if (copy_from_kernel_nofault(to, from, size))
		memset(to, 0, size);
}

/**
 * struct marker_args - the arguments of a hit
 * @word: all of them
 * @next: the next one to store
 */
struct marker_args {
	unsigned long word[MARKER_MAX_FIELDS];
	const unsigned long *next;
};

#define next_arg(args, type)	((type)(*(args)->next++))

/*
 * The probe for any format, and those for one to five numbers, which stay in registers. They
 * are in an array, by the number.
 */
#define DEFINE_RECORDER(name)						\
	static __always_inline void __##name(void *data, struct marker_args *args, \
					     unsigned int numbers);	\
	static notrace void name(void *data, unsigned long a, unsigned long b, \
				 unsigned long c, unsigned long d, unsigned long e, ...) \
	{								\
		struct marker_args args __uninitialized;		\
		unsigned int i;						\
		va_list list __uninitialized;				\
									\
		copy_words(&args, a, b, c, d, e);			\
		va_start(list, e);					\
		for (i = MARKER_REG_ARGS; i < name##_event(data)->layout->nr_fields; i++) \
			args.word[i] = va_arg(list, unsigned long);	\
		va_end(list);						\
		__##name(data, &args, 0);				\
	}								\
	static notrace void name##_1(void *data, unsigned long a)	\
	{								\
		RECORD_NUMBERS(name, 1, a, 0, 0, 0, 0);			\
	}								\
	static notrace void name##_2(void *data, unsigned long a, unsigned long b) \
	{								\
		RECORD_NUMBERS(name, 2, a, b, 0, 0, 0);			\
	}								\
	static notrace void name##_3(void *data, unsigned long a, unsigned long b, \
				     unsigned long c)			\
	{								\
		RECORD_NUMBERS(name, 3, a, b, c, 0, 0);			\
	}								\
	static notrace void name##_4(void *data, unsigned long a, unsigned long b, \
				     unsigned long c, unsigned long d)	\
	{								\
		RECORD_NUMBERS(name, 4, a, b, c, d, 0);			\
	}								\
	static notrace void name##_5(void *data, unsigned long a, unsigned long b, \
				     unsigned long c, unsigned long d, unsigned long e) \
	{								\
		RECORD_NUMBERS(name, 5, a, b, c, d, e);			\
	}								\
	void *const name##_probes[] = {					\
		name, name##_1, name##_2, name##_3, name##_4, name##_5,	\
	};								\
	static __always_inline void __##name(void *data, struct marker_args *args, \
					     unsigned int numbers)

#define RECORD_NUMBERS(name, nr, args...)				\
	do {								\
		struct marker_args numbers __uninitialized;		\
									\
		copy_words(&numbers, args);				\
		__##name(data, &numbers, nr);				\
	} while (0)

static __always_inline void copy_words(struct marker_args *args, unsigned long a, unsigned long b,
				       unsigned long c, unsigned long d, unsigned long e)
{
	args->word[0] = a;
	args->word[1] = b;
	args->word[2] = c;
	args->word[3] = d;
	args->word[4] = e;
}

/*
 * Stores words of eight bytes, also in fields of four: the next number overwrites the rest.
 * The first field is where the entry ends. @numbers is constant.
 */
static __always_inline void store_numbers(const struct marker_event *event, void *record,
					  const struct marker_args *args, unsigned int numbers)
{
	const struct marker_store *last = &event->store[numbers - 1];
	unsigned int i;

	if (numbers > 1)
		put_unaligned(args->word[0], (u64 *)(record + sizeof(struct trace_entry)));
	for (i = 1; i + 1 < numbers; i++)
		put_unaligned(args->word[i], (u64 *)(record + event->store[i].offset));
	if (last->kind == STORE_4)
		*(u32 *)(record + last->offset) = args->word[numbers - 1];
	else
		*(u64 *)(record + last->offset) = args->word[numbers - 1];
}

/*
 * Strings and bytes follow the fields; the field of a string holds its offset and size.
 *
 * Return: the size of the record.
 */
static __always_inline unsigned int
store_args(const struct marker_event *event, void *record, struct marker_args *args,
	   bool strings)
{
	const struct marker_store *to = event->store;
	unsigned int at = event->size, size;

	args->next = args->word;
	for (; to < event->stop; to++) {
		void *field = record + to->offset;

		if (to->kind == STORE_4) {
			*(u32 *)field = next_arg(args, unsigned int);
		} else if (to->kind == STORE_8) {
			*(u64 *)field = next_arg(args, unsigned long long);
		} else if (to->kind == STORE_2) {
			*(u16 *)field = next_arg(args, unsigned int);
		} else if (to->kind == STORE_1) {
			*(u8 *)field = next_arg(args, unsigned int);
		} else if (to->kind == STORE_BYTES) {
			store_bytes(field, next_arg(args, const void *), to->size);
		} else if (!strings || to->kind == STORE_CHAR) {
			((char *)field)[0] = next_arg(args, int);
			((char *)field)[1] = '\0';
		} else if (to->kind == STORE_HEX) {
			size = clamp_t(int, args->next[-1], 0, MARKER_MAX_HEX);
			if (copy_from_kernel_nofault(record + at, next_arg(args, const void *),
						     size))
				size = 0;
			*(u32 *)field = size << 16 | at;
			at += size;
		} else {
			size = store_string(record + at, next_arg(args, const char *),
					    to->max_len);
			*(u32 *)field = size << 16 | at;
			at += size;
		}
	}
	return at;
}

/* Apart, so that numbers are stored without saving registers. */
static noinline unsigned int store_strings(const struct marker_event *event,
					   void *record, struct marker_args *args)
{
	return store_args(event, record, args, true);
}

/**
 * struct made_record - a record that is made before its buffer is known
 * @size: its size
 * @record: the record, or NULL if it is not made yet, since it has no strings
 */
struct made_record {
	unsigned int size;
	void *record;
};

/* Return: false if there is no space for it. */
static __always_inline bool make_record(struct made_record *made,
					const struct marker_event *event,
					struct marker_args *args, unsigned int numbers)
{
	made->record = NULL;
	made->size = event->size;
	if (numbers || !event->layout->nr_strings)
		return true;
	made->record = get_scratch();
	if (!made->record)
		return false;
	memset(made->record, 0, event->size);	/* for the padding of fields */
	made->size = store_strings(event, made->record, args);
	return true;
}

static __always_inline void fill_record(void *to, const struct made_record *made,
					const struct marker_event *event,
					struct marker_args *args, unsigned int numbers)
{
	const unsigned int head = sizeof(struct trace_entry);

	if (numbers) {
		store_numbers(event, to, args, numbers);
	} else if (made->record) {
		memcpy(to + head, made->record + head, made->size - head);
	} else {
		memset(to + head, 0, event->size - head);	/* for the padding of fields */
		store_args(event, to, args, false);
	}
}

static __always_inline void end_record(const struct made_record *made)
{
	if (made->record)
		put_scratch();
}

/* The probe for ftrace; @data is the file of the event in an instance. */
static const struct marker_event *ftrace_record_marker_event(const struct trace_event_file *file)
{
	return marker_event_of(file->event_call);
}

DEFINE_RECORDER(ftrace_record_marker)
{
	struct trace_event_buffer buffer __uninitialized;
	struct trace_event_file *file = data;
	const struct marker_event *event = marker_event_of(file->event_call);
	struct made_record made;
	void *record;

	guard(preempt_notrace)();
	if (trace_trigger_soft_disabled(file) || !make_record(&made, event, args, numbers))
		return;
	record = trace_event_buffer_reserve(&buffer, file, made.size);
	if (record) {
		fill_record(record, &made, event, args, numbers);
		trace_event_buffer_commit(&buffer);
	}
	end_record(&made);
}

#ifdef CONFIG_PERF_EVENTS
/* With the u32 that perf puts in front, the size is a multiple of eight. */
static unsigned int perf_size(unsigned int size)
{
	return ALIGN(size + sizeof(u32), sizeof(u64)) - sizeof(u32);
}

#ifdef CONFIG_TRACEPOINT_TRAMPOLINE
/* The code that called the probe: @skip functions, which are not trampolines, lie between. */
static noinline unsigned long unwound_ip(unsigned long ip, unsigned int skip)
{
	stack_trace_save(&ip, 1, skip);
	return ip;
}

/*
 * A marker in a probe of a tracepoint. If there is nothing else in it, it ends with a jump to
 * the marker's stub, and the caller of this is a trampoline. Otherwise, as with arguments on
 * the stack, with frame pointers or KCSAN, the caller is the probe itself.
 */
static __always_inline unsigned long traced_ip_of_feed(const struct tracepoint *feed,
						       unsigned long ip,
						       const unsigned long *slot)
{
	if (!is_tracepoint_dispatch(ip))
		return unwound_ip(ip, 3);
	if (ip == *slot)
		ip = tracepoint_traced_ip(feed, ip, slot + 1 + TRACEPOINT_ONE_DEPTH(feed->nr_args));
	return is_tracepoint_dispatch(ip) ? unwound_ip(ip, 2) : ip;
}

static __always_inline void set_traced_ip(struct pt_regs *regs, const struct marker_event *event)
{
	const struct tracepoint *tp = event->hit;
	const unsigned long *slot = (const unsigned long *)regs->sp + 2 +
				    TRACEPOINT_ONE_DEPTH(tp->nr_args);

	regs->ip = tracepoint_traced_ip(tp, regs->ip, slot);
	if (event->feed)
		regs->ip = traced_ip_of_feed(event->feed, regs->ip, slot);
}
#else
#define set_traced_ip(regs, event)	do { } while (0)
#endif

static bool perf_is_off(struct marker_event *event)
{
	return hlist_empty(this_cpu_ptr(event->call.perf_events)) &&
	       !bpf_prog_array_valid(&event->call);
}

/* The probe for perf and BPF; @data is the event. */
static const struct marker_event *perf_record_marker_event(const struct marker_event *event)
{
	return event;
}

DEFINE_RECORDER(perf_record_marker)
{
	struct marker_event *event = data;
	struct made_record made;
	struct pt_regs *regs;
	void *record;
	int rctx, size;

	guard(preempt_notrace)();
	if (perf_is_off(event) || !make_record(&made, event, args, numbers))
		return;
	/* The record is longer than what was made, with zeros at the end. */
	size = perf_size(made.size);
	record = perf_trace_buf_alloc(size, &regs, &rctx);
	if (record) {
		perf_fetch_caller_regs(regs);
		set_traced_ip(regs, event);
		fill_record(record, &made, event, args, numbers);
		perf_trace_run_bpf_submit(record, size, rctx, &event->call, 1, regs,
					  this_cpu_ptr(event->call.perf_events), NULL);
	}
	end_record(&made);
}
#endif /* CONFIG_PERF_EVENTS */
