/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_MARKER_H
#define _LINUX_MARKER_H

/*
 * Markers: named places in the code that pass values of basic types, described
 * by a format string, to the probes attached to the name. A tracer needs
 * neither the types nor the headers of the traced subsystem.
 *
 *	trace_mark(subsys_event, "size %u name %s", size, name);
 *
 * The marker's name is a global identifier, subsystem_event by convention. The
 * format names each field before its conversion. While there is no probe to
 * call, a marker is a NOP in the code (its guard is an immediate value) and
 * does not evaluate its arguments, so they must have no side effects. The
 * markers of a module that is unloaded may evaluate them until it is freed.
 *
 *	trace_mark(name, format, args...)	a marker
 *	_trace_mark(name, format, args...)	for code that must not hit a
 *						breakpoint: the guard is a
 *						plain load
 *	MARK_NOARGS				the format without arguments
 *
 * trace/tracer.h has markers that are fed by a tracepoint.
 *
 * A probe is attached by name and format. It has one of two types:
 *
 *	void probe(const struct __mark_marker *marker, void *pdata,
 *		   const char *format, ...);
 *		is called while the marker is armed, see marker_arm();
 *	void probe(void *private, void *call_private, const char *format,
 *		   va_list *args);
 *		is called once it is registered; @call_private is NULL.
 *
 *	marker_probe_register(name, format, probe, pdata)
 *	marker_probe_unregister(name), or (name, probe, pdata)
 *	marker_arm(name), marker_disarm(name)
 *	marker_synchronize_unregister()
 *
 * These are functions. The first two are also macros, which accept either type of
 * probe, and one or three arguments.
 *
 * A probe may be registered before its marker is loaded: it waits for the
 * module. Markers are looked up by name and format together. If loaded markers
 * have the name but none has the format, registration fails.
 *
 * A probe runs with preemption disabled, also where a tracepoint feeds the marker,
 * in the context of the marker, which may be any. It cannot register or unregister
 * probes.
 *
 * The interface is that of Mathieu Desnoyers' Linux Kernel Markers: the first
 * type of probe as proposed in 2007, the second as in 2.6.25 to 2.6.31.
 */

#include <linux/build_bug.h>
#include <linux/immediate.h>
#include <linux/kernel.h>
#include <linux/stdarg.h>
#include <linux/types.h>

struct marker;
struct marker_entry;
struct module;
struct notifier_block;
struct tracepoint;

/* Maximum size of a marker's name, including the NUL */
#define MARKER_NAME_LEN		128

/* Maximum size of a format, including the NUL */
#define MARKER_FORMAT_LEN	4096

/* Maximum number of argument words for a probe of the variadic type */
#define MARKER_VARIADIC_ARGS	16

/* The format of a marker without arguments; gcc warns about an empty format. */
#define MARK_NOARGS		" "

/* struct marker in the type of variadic probes, which read name and format */
#define __mark_marker		marker

/* The types of probes, see above */
typedef void marker_probe_func(const struct __mark_marker *mdata, void *pdata,
			       const char *format, ...)
			       __printf(3, 4);
typedef void marker_va_func(void *private, void *call_private,
			    const char *format, va_list *args)
			    __printf(3, 0);

/**
 * struct marker - a marker in the code, one for each place
 * @name: its name
 * @format: the names and types of its arguments, as for printf()
 * @entry: data shared by all markers of this name and format
 * @next: the next marker of @entry in the same module, or NULL
 * @tp: the tracepoint that feeds it, or NULL
 * @tp_cb: the probe on @tp
 * @active: immediate value, the guard: true if there are probes to call
 * @tp_used: true if @tp_cb is registered on @tp for this marker
 */
struct marker {
	const char *name;
	const char *format;
	struct marker_entry *entry;
	struct marker *next;
	struct tracepoint *tp;
	void *tp_cb;
	bool active __aligned(4);
	bool tp_used;
} __aligned(8);

/**
 * struct marker_info - what for_each_marker() reports for a name and a format
 * @marker: one of its markers
 * @mod: the module they are in, or NULL for the kernel
 * @sites: number of markers in @mod
 * @probes: number of attached probes
 * @armed: number of marker_arm() calls without a marker_disarm()
 */
struct marker_info {
	const struct marker *marker;
	struct module *mod;
	unsigned int sites;
	unsigned int probes;
	unsigned int armed;
};

/* The event of a marker notifier, see register_marker_notifier() */
enum marker_change { MARKERS_COMING, MARKERS_GOING };

enum marker_type { MARKER_INT, MARKER_LONG, MARKER_LLONG, MARKER_POINTER };

/*
 * Limits of a format. The last one is also that of a precision: vsnprintf() has
 * 16 bits for it.
 */
#define MARKER_MAX_FIELDS	64
#define MARKER_MAX_STRINGS	16
#define MARKER_MAX_SPEC		15
#define MARKER_MAX_FIELD_NAME	31
#define MARKER_MAX_WIDTH	0x7fff

/**
 * struct marker_field - a conversion of a format, for one argument
 * @name: an identifier, unique in the format
 * @spec: the conversion in the format, starting at the percent sign
 * @len: length of @spec
 * @precision: the precision, or -1; limits how much of a string is read
 * @conversion: d, i, u, x, X, o, c, s or p
 * @type: the C type that the argument is passed as
 * @is_signed: true if the argument is signed
 * @size: size of the argument in bytes
 */
struct marker_field {
	const char *name;
	const char *spec;
	unsigned int len;
	int precision;
	char conversion;
	enum marker_type type;
	bool is_signed;
	unsigned int size;
};

/**
 * struct marker_layout - a parsed format
 * @format: the format
 * @nr_fields: number of conversions
 * @nr_strings: number of %s conversions
 * @field: the conversions, in order
 */
struct marker_layout {
	const char *format;
	unsigned int nr_fields;
	unsigned int nr_strings;
	struct marker_field field[];
};

#ifdef CONFIG_MARKERS

struct marker_layout *marker_layout_new(const char *format);
void marker_layout_free(struct marker_layout *layout);
int register_marker_notifier(struct notifier_block *nb);
int unregister_marker_notifier(struct notifier_block *nb);

void marker_call(const struct marker *marker, ...);

int marker_probe_register(const char *name, const char *format,
			  marker_probe_func *probe, void *pdata);
int marker_va_register(const char *name, const char *format,
		       marker_va_func *probe, void *private);
void marker_probe_unregister(const char *name);
int marker_probe_detach(const char *name, void *probe, void *private);
void marker_synchronize_unregister(void);
int marker_arm(const char *name);
int marker_disarm(const char *name);
int for_each_marker(int (*fct)(const struct marker_info *info, void *priv),
		    void *priv);

/* The code that calls the probes of markers; on x86, stack traces omit it. */
extern const char __marker_text_start[], __marker_text_end[];

static inline bool is_marker_dispatch(unsigned long addr)
{
	return addr >= (unsigned long)__marker_text_start &&
	       addr < (unsigned long)__marker_text_end;
}

/* Sparse cannot compute the length. */
#ifdef __CHECKER__
#define __mark_has_no_nul(format)	true
#else
#define __mark_has_no_nul(format)					\
	(sizeof(format) == __builtin_strlen(format) + 1)
#endif

/* Checking the conversions here would take more compile time than the rest. */
#define __trace_mark(guard, mark, _tp, _tp_cb, _format, args...)	\
	do {								\
		static_assert(sizeof(mark) <= MARKER_NAME_LEN,		\
			      "the name of a marker is too long");	\
		static_assert(sizeof(_format) <= MARKER_FORMAT_LEN,	\
			      "the format of a marker is too long");	\
		static_assert(__mark_has_no_nul(_format),		\
			      "the format of a marker has a NUL in it"); \
		static struct marker __mark				\
		__used __aligned(8) __section("__markers") = {		\
			.name = mark,					\
			.format = _format,				\
			.tp = _tp,					\
			.tp_cb = _tp_cb,				\
		};							\
		__mark_check_format(_format, ##args);			\
		if (guard(__mark.active))				\
			marker_call(&__mark, ##args);			\
	} while (0)

#define __mark_guard_load(active)	unlikely_notrace(READ_ONCE(active))

#else /* !CONFIG_MARKERS */

#define __trace_mark(guard, mark, _tp, _tp_cb, _format, args...)	\
	__mark_check_format(_format, ##args)

static inline bool is_marker_dispatch(unsigned long addr)
{
	return false;
}

#endif /* CONFIG_MARKERS */

static inline __printf(1, 2) void ___mark_check_format(const char *format, ...)
{
}

/* The compiler checks the arguments against the format; this makes no code. */
#define __mark_check_format(_format, args...)				\
	do {								\
		if (0)							\
			___mark_check_format(_format, ##args);		\
	} while (0)

/**
 * trace_mark - a marker
 * @name: an identifier, global in the kernel: subsystem_event
 * @format: a string literal, as for printf(), with the name of each field
 *	    before its conversion; basic types only
 * @args: the values, evaluated only while there are probes to call
 *
 * Context: any in which a breakpoint may be handled; see _trace_mark().
 */
#define trace_mark(name, format, args...)				\
	__trace_mark(imv_unlikely_var, #name, NULL, NULL, format, ##args)

/**
 * _trace_mark - a marker whose guard is a plain load
 * @name: an identifier, global in the kernel: subsystem_event
 * @format: a string literal, as for printf()
 * @args: the values, evaluated only while there are probes to call
 *
 * For code that runs during code patching and must not hit a breakpoint: the
 * entry of traps and NMIs, lockdep, printk.
 *
 * Context: any.
 */
#define _trace_mark(name, format, args...)				\
	__trace_mark(__mark_guard_load, #name, NULL, NULL, format, ##args)

/* Accepts either type of probe. */
#define marker_probe_register(name, format, probe, private)		\
	_Generic((probe),						\
		 marker_va_func *: marker_va_register,			\
		 marker_probe_func *: marker_probe_register)		\
		(name, format, probe, private)

/* With a probe and its data, detaches only these. */
#define marker_probe_unregister(args...)				\
	CONCATENATE(__marker_probe_unregister_, COUNT_ARGS(args))(args)

#define __marker_probe_unregister_1(name)				\
	(marker_probe_unregister)(name)
#define __marker_probe_unregister_3(name, probe, private)		\
	marker_probe_detach(name, (void *)(probe), private)

#endif /* _LINUX_MARKER_H */
