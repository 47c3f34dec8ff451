/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_MARKER_H
#define _LINUX_MARKER_H

/*
 * Markers: named places in the code that hand values of basic types, described
 * by a format string, to whoever attaches to the name. A tracer needs to know
 * no kernel type and include no header of the subsystem.
 *
 *	trace_mark(subsys_event, "size %u name %s", size, name);
 *
 * The marker's name is a global identifier, subsystem_event by convention. The
 * format names each field before its conversion. While nobody is attached, a
 * marker is an immediate value, patched into the code as a NOP. The arguments
 * are evaluated only when somebody is attached: they must have no effects.
 *
 *	trace_mark(name, format, args...)	a marker
 *	_trace_mark(name, format, args...)	for __init, NMI and breakpoint code:
 *						the guard is a plain load
 *	trace_mark_tp(name, tp, tp_cb, format, args...)
 *						a marker in the probe tp_cb of
 *						tracepoint tp, which is connected
 *						only while somebody is attached
 *	MARK_NOARGS				the format without arguments
 *
 * Attaching, by name and format, of a probe of one of two types which the
 * compiler tells apart:
 *
 *	void probe(void *private, void *call_private, const char *format,
 *		   va_list *args);
 *		is called from its registration on;
 *	void probe(const struct __mark_marker *marker, void *private,
 *		   const char *format, ...);
 *		is called while the marker is armed, see marker_arm().
 *
 *	marker_probe_register(name, format, probe, private)
 *	marker_probe_unregister(name, probe, private), or (name) alone
 *	marker_probe_unregister_private_data(probe, private)
 *	marker_get_private_data(name, probe, num)
 *	marker_arm(name), marker_disarm(name)
 *	marker_synchronize_unregister()
 *
 * A marker that no loaded code has may be registered: the probe waits for the
 * module. Markers are looked up by name and format together; a format that
 * differs from all there are under the name is refused.
 *
 * A probe runs with preemption disabled, in the context of the marker, which
 * may be any. It cannot register or unregister probes.
 *
 * The interface is that of the Linux Kernel Markers of Mathieu Desnoyers: the
 * first type of probe as in 2.6.25 to 2.6.31, the second as proposed in 2007.
 */

#include <linux/build_bug.h>
#include <linux/err.h>
#include <linux/immediate.h>
#include <linux/kernel.h>
#include <linux/stdarg.h>
#include <linux/tracepoint-defs.h>
#include <linux/tracepoint.h>
#include <linux/types.h>

struct marker;
struct marker_entry;
struct module;
struct notifier_block;

/* The size of the longest name of a marker, with the NUL. */
#define MARKER_NAME_LEN		128

/* The same of a format. */
#define MARKER_FORMAT_LEN	4096

/* The most arguments that a probe of the variadic type can be called with. */
#define MARKER_VARIADIC_ARGS	16

/* The format of a marker without arguments; an empty one makes gcc warn. */
#define MARK_NOARGS		" "

/* The marker as probes see it: its name and its format. */
#define __mark_marker		marker

typedef void marker_probe_func(void *probe_private, void *call_private,
			       const char *fmt, va_list *args)
			       __printf(3, 0);
typedef void marker_variadic_func(const struct __mark_marker *mdata,
				  void *pdata, const char *format, ...)
				  __printf(3, 4);

/**
 * struct marker - a marker in the code, one for each place
 * @name: its name
 * @format: the names and types of its arguments, as for printf()
 * @entry: what it shares with all markers of its name and format
 * @next: the next one of them in its module, or NULL
 * @tp: the tracepoint that feeds it, or NULL
 * @tp_cb: the probe on @tp
 * @active: immediate value, the guard: are there probes to call?
 * @tp_used: is @tp_cb connected on behalf of this marker?
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
 * struct marker_info - what for_each_marker() tells of a name and a format
 * @marker: the first of its markers
 * @mod: the module they are in, or NULL for the kernel
 * @sites: how many there are in @mod
 * @probes: how many probes are attached
 * @armed: marker_arm() without marker_disarm()
 */
struct marker_info {
	const struct marker *marker;
	struct module *mod;
	unsigned int sites;
	unsigned int probes;
	unsigned int armed;
};

/* What a notifier of markers is told, see register_marker_notifier(). */
enum marker_change { MARKERS_COMING, MARKERS_GOING };

enum marker_type { MARKER_INT, MARKER_LONG, MARKER_LLONG, MARKER_POINTER };

/* Limits of a format; what a precision is at most, for those that are more. */
#define MARKER_MAX_FIELDS	64
#define MARKER_MAX_STRINGS	16
#define MARKER_MAX_SPEC		15
#define MARKER_MAX_PRECISION	0x7fff

/**
 * struct marker_field - a conversion of a format, and so an argument
 * @name: an identifier that no other field of the format has
 * @spec: the conversion in the format, from the percent sign on
 * @len: its length
 * @precision: its precision, -1 without; a string is read no further
 * @conversion: d, i, u, x, X, o, c, s or p
 * @type: what an argument of it is passed as
 * @is_signed: is it to be read as signed?
 * @size: of the argument, in bytes
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
 * struct marker_layout - a format, read
 * @format: the format
 * @nr_fields: how many conversions it has
 * @nr_strings: how many of these are %s
 * @field: the conversions, in their order
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
void marker_call_tp(const struct marker *marker, ...);

int __marker_probe_register(const char *name, const char *format,
			    marker_probe_func *probe, void *private);
int __marker_probe_register_variadic(const char *name, const char *format,
				     marker_variadic_func *probe, void *private);
int __marker_probe_unregister(const char *name, void *probe, void *private);
int __marker_probe_unregister_name(const char *name);
int __marker_probe_unregister_private_data(void *probe, void *private);
void *__marker_get_private_data(const char *name, void *probe, int num);
int marker_arm(const char *name);
int marker_disarm(const char *name);
int for_each_marker(int (*fct)(const struct marker_info *info, void *priv),
		    void *priv);
int for_each_marker_of(const struct module *mod,
		       int (*fct)(const struct marker_info *info, void *priv),
		       void *priv);

/* The code that calls the probes of markers; stack traces leave it out. */
extern const char __marker_text_start[], __marker_text_end[];

static inline bool is_marker_dispatch(unsigned long addr)
{
	return addr >= (unsigned long)__marker_text_start &&
	       addr < (unsigned long)__marker_text_end;
}

/**
 * marker_synchronize_unregister - wait for probes that still run
 *
 * Between unregistering a probe and freeing its code or data.
 *
 * Context: may sleep. On return no CPU executes a probe that was unregistered
 *	    before the call.
 */
static inline void marker_synchronize_unregister(void)
{
	tracepoint_synchronize_unregister();
}

/* Sparse does not know the length. */
#ifdef __CHECKER__
#define __mark_has_no_nul(format)	true
#else
#define __mark_has_no_nul(format)					\
	(sizeof(format) == __builtin_strlen(format) + 1)
#endif

/*
 * The section of strings has no gaps: scripts/module-markers.sh takes it for a
 * list of names and formats in turn. The build checks the conversions there, once
 * and with any compiler: here that would cost more than the rest of the marker.
 */
#define __DEFINE_MARKER(mark, _format, _tp, _tp_cb)			\
	static_assert(sizeof(#mark) <= MARKER_NAME_LEN,			\
		      "the name of a marker is too long");		\
	static_assert(__mark_has_no_nul(_format),			\
		      "the format of a marker has a NUL in it");	\
	static const char __mark_strings_##mark[]			\
	__aligned(1) __section("__markers_strings") =			\
		#mark "\0" _format;					\
	static struct marker __mark_##mark				\
	__used __aligned(8) __section("__markers") = {			\
		.name = __mark_strings_##mark,				\
		.format = __mark_strings_##mark + sizeof(#mark),	\
		.tp = _tp,						\
		.tp_cb = _tp_cb,					\
	}

#define __trace_mark(guard, call, mark, tp, tp_cb, _format, args...)	\
	do {								\
		__DEFINE_MARKER(mark, _format, tp, tp_cb);		\
		__mark_check_format(_format, ##args);			\
		if (guard(__mark_##mark.active))			\
			call(&__mark_##mark, ##args);			\
	} while (0)

#define __mark_guard_load(active)	unlikely_notrace(READ_ONCE(active))

#else /* !CONFIG_MARKERS */

#define __trace_mark(guard, call, mark, tp, tp_cb, _format, args...)	\
	__mark_check_format(_format, ##args)

static inline bool is_marker_dispatch(unsigned long addr)
{
	return false;
}

static inline int __marker_probe_register(const char *name, const char *format,
					  marker_probe_func *probe,
					  void *private)
{
	return -ENOSYS;
}

static inline int
__marker_probe_register_variadic(const char *name, const char *format,
				 marker_variadic_func *probe, void *private)
{
	return -ENOSYS;
}

static inline int __marker_probe_unregister(const char *name, void *probe,
					    void *private)
{
	return -ENOSYS;
}

static inline int __marker_probe_unregister_name(const char *name)
{
	return -ENOSYS;
}

static inline int __marker_probe_unregister_private_data(void *probe,
							 void *private)
{
	return -ENOSYS;
}

static inline void *__marker_get_private_data(const char *name, void *probe,
					      int num)
{
	return ERR_PTR(-ENOENT);
}

static inline int marker_arm(const char *name)
{
	return -ENOSYS;
}

static inline int marker_disarm(const char *name)
{
	return -ENOSYS;
}

static inline int
for_each_marker(int (*fct)(const struct marker_info *info, void *priv),
		void *priv)
{
	return 0;
}

static inline int
for_each_marker_of(const struct module *mod,
		   int (*fct)(const struct marker_info *info, void *priv),
		   void *priv)
{
	return 0;
}

static inline void marker_synchronize_unregister(void)
{
}

#endif /* CONFIG_MARKERS */

static inline __printf(1, 2) void ___mark_check_format(const char *format, ...)
{
}

/* The compiler checks the arguments against the format; no code comes of it. */
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
 * @args: the values, evaluated only while somebody is attached
 *
 * Context: any in which a breakpoint may be handled; see _trace_mark().
 */
#define trace_mark(name, format, args...)				\
	__trace_mark(imv_unlikely_var, marker_call, name, NULL, NULL, format, ##args)

/**
 * _trace_mark - a marker whose guard is a plain load
 * @name: an identifier, global in the kernel: subsystem_event
 * @format: a string literal, as for printf()
 * @args: the values, evaluated only while somebody is attached
 *
 * For code that runs while code is patched and must not meet a breakpoint:
 * the handling of traps and NMIs, lockdep, printk.
 *
 * Context: any.
 */
#define _trace_mark(name, format, args...)				\
	__trace_mark(__mark_guard_load, marker_call, name, NULL, NULL, format, ##args)

/**
 * trace_mark_tp - a marker in the probe of a tracepoint
 * @name: an identifier, global in the kernel: subsystem_event
 * @tp_name: the tracepoint
 * @tp_callback: the function that this marker is in; it is connected to the
 *		 tracepoint, with NULL data, while somebody is attached. Nothing
 *		 else refers to it: if it is static, it must be __used.
 * @format: a string literal, as for printf()
 * @args: the values
 *
 * Context: that of the tracepoint.
 */
#define trace_mark_tp(name, tp_name, tp_callback, format, args...)	\
	do {								\
		check_trace_callback_type_##tp_name(tp_callback);	\
		__trace_mark(imv_unlikely_var, marker_call_tp, name,	\
			     &__tracepoint_##tp_name, tp_callback,	\
			     format, ##args);				\
	} while (0)

/**
 * DEFINE_TRACER - translate a tracepoint into a marker
 * @tp_name: the tracepoint
 * @mark: name of the marker
 * @proto: TP_PROTO(), the prototype of the tracepoint
 * @format: the format of the marker
 * @args: its arguments, made from those of the tracepoint
 *
 * The tracepoint is connected only while somebody is attached to the marker::
 *
 *	DEFINE_TRACER(sched_process_exit, kernel_process_exit,
 *		      TP_PROTO(struct task_struct *p), "pid %d", p->pid);
 *
 * From the proposal of default tracers for tracepoints by Peter Zijlstra and
 * Mathieu Desnoyers, 2008.
 */
#ifdef CONFIG_MARKERS
#define DEFINE_TRACER(tp_name, mark, proto, format, args...)		\
	static notrace __used void __tracer_##mark(void *__data, proto)	\
	{								\
		trace_mark_tp(mark, tp_name, __tracer_##mark, format, ##args); \
	}
#else
#define DEFINE_TRACER(tp_name, mark, proto, format, args...)
#endif

/**
 * marker_probe_register - attach a probe to a marker
 * @name: the name of the marker
 * @format: its format, to the letter
 * @probe: a marker_probe_func, which is called from now on, or a
 *	   marker_variadic_func, which is called while the marker is armed
 * @private: given back to the probe
 *
 * If there is no such marker, the probe waits for one to come with a module.
 *
 * Context: may sleep; takes markers_mutex, tracepoints_mutex and what imv_set()
 *	    takes.
 * Return: 0; -EINVAL for a NULL argument, or a name that is empty or longer
 *	   than MARKER_NAME_LEN - 1, or a format that a variadic probe cannot be
 *	   called with; -EBUSY in atomic context, such as a probe;
 *	   -EPERM if markers of this name have other formats, with
 *	   a message that shows both; -EEXIST if the probe is attached with this
 *	   @private; -ENOMEM; or the error of connecting the tracepoint that
 *	   feeds the marker. On an error nothing has changed.
 */
#define marker_probe_register(name, format, probe, private)		\
	_Generic((probe),						\
		 marker_probe_func *: __marker_probe_register,		\
		 marker_variadic_func *: __marker_probe_register_variadic) \
		(name, format, probe, private)

/**
 * marker_probe_unregister - detach a probe from a marker
 * @args: the name of the marker, the probe, and the @private that it was
 *	  registered with; or the name alone, for all marker_variadic_func probes
 *	  of the marker, as in the interface of 2007
 *
 * The probe may still run on other CPUs when this returns; see
 * marker_synchronize_unregister(). Succeeds without memory too.
 *
 * Context: as for marker_probe_register().
 * Return: 0, -EINVAL for a NULL argument or a bad name, -EBUSY in atomic context,
 *	   -ENOENT if no such probe is attached to this marker.
 */
#define marker_probe_unregister(args...)				\
	CONCATENATE(__marker_probe_unregister_, COUNT_ARGS(args))(args)

#define __marker_probe_unregister_1(name)				\
	__marker_probe_unregister_name(name)
#define __marker_probe_unregister_3(name, probe, private)		\
	__marker_probe_unregister(name, (void *)(probe), private)

/**
 * marker_probe_unregister_private_data - detach a probe, whatever its marker
 * @probe: the probe
 * @private: what it was registered with
 *
 * If it is attached to several markers with this @private, it is detached from
 * one of them: call until there are none.
 *
 * Context: as for marker_probe_register().
 * Return: 0, -EINVAL for a NULL @probe, -EBUSY in atomic context, -ENOENT if the
 *	   probe is not attached to any marker with this @private.
 */
#define marker_probe_unregister_private_data(probe, private)		\
	__marker_probe_unregister_private_data((void *)(probe), private)

/**
 * marker_get_private_data - what a probe was registered with
 * @name: the name of the marker
 * @probe: the probe
 * @num: which of the registrations of @probe on this marker, from 0, in the order
 *	 in which they were made
 *
 * Context: as for marker_probe_register().
 * Return: the private data, or an ERR_PTR: -ENOENT if there are not so many;
 *	   -EINVAL for a NULL argument or a bad name, -EBUSY in atomic context.
 */
#define marker_get_private_data(name, probe, num)			\
	__marker_get_private_data(name, (void *)(probe), num)

#endif /* _LINUX_MARKER_H */
