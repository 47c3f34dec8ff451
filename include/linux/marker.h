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
 *	trace_mark_tp(name, tp, tp_cb, format, args...)
 *						a marker in the probe tp_cb of
 *						tracepoint tp; registered while
 *						the marker has probes
 *	MARK_NOARGS				the format without arguments
 *
 * A probe is attached by name and format. It has one of two types, which the
 * compiler distinguishes:
 *
 *	void probe(void *private, void *call_private, const char *format,
 *		   va_list *args);
 *		is called once it is registered;
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
 * A probe may be registered before its marker is loaded: it waits for the
 * module. Markers are looked up by name and format together. If loaded markers
 * have the name but none has the format, registration fails.
 *
 * A probe runs with preemption disabled, in the context of the marker, which
 * may be any. It cannot register or unregister probes.
 *
 * The interface is that of Mathieu Desnoyers' Linux Kernel Markers: the first
 * type of probe as in 2.6.25 to 2.6.31, the second as proposed in 2007.
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

/*
 * A probe that reads the values from a va_list. It is called with the data that it was
 * registered with, NULL (for the interface of earlier kernels), the format of the marker
 * and the values, in the context of the marker with preemption disabled.
 */
typedef void marker_probe_func(void *probe_private, void *call_private,
			       const char *fmt, va_list *args)
			       __printf(3, 0);

/*
 * A probe that has the values as its arguments, after the marker, whose name and format it
 * may read, the data that it was registered with, and the format. It is called only while
 * the marker is armed, in the context of the marker with preemption disabled.
 */
typedef void marker_variadic_func(const struct __mark_marker *mdata,
				  void *pdata, const char *format, ...)
				  __printf(3, 4);

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

/* The code that calls the probes of markers; on x86, stack traces omit it. */
extern const char __marker_text_start[], __marker_text_end[];

static inline bool is_marker_dispatch(unsigned long addr)
{
	return addr >= (unsigned long)__marker_text_start &&
	       addr < (unsigned long)__marker_text_end;
}

/**
 * marker_synchronize_unregister - wait for probes that still run
 *
 * Call it after unregistering a probe, before freeing its code or data.
 *
 * Context: may sleep; takes the locks of imv_set() if changes are deferred. On return
 *	    no CPU executes a probe that was unregistered before the call.
 */
static inline void marker_synchronize_unregister(void)
{
	tracepoint_synchronize_unregister();
}

/* Sparse cannot compute the length. */
#ifdef __CHECKER__
#define __mark_has_no_nul(format)	true
#else
#define __mark_has_no_nul(format)					\
	(sizeof(format) == __builtin_strlen(format) + 1)
#endif

/*
 * The section of strings must have no gaps: scripts/module-markers.sh reads it
 * as alternating names and formats, and checks the conversions. Checking them
 * here would take more compile time than the rest of the marker.
 */
#define __DEFINE_MARKER(mark, _format, _tp, _tp_cb)			\
	static_assert(sizeof(#mark) <= MARKER_NAME_LEN,			\
		      "the name of a marker is too long");		\
	static_assert(sizeof(_format) <= MARKER_FORMAT_LEN,		\
		      "the format of a marker is too long");		\
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
	__trace_mark(imv_unlikely_var, marker_call, name, NULL, NULL, format, ##args)

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
	__trace_mark(__mark_guard_load, marker_call, name, NULL, NULL, format, ##args)

/**
 * trace_mark_tp - a marker in the probe of a tracepoint
 * @name: an identifier, global in the kernel: subsystem_event
 * @tp_name: the tracepoint
 * @tp_callback: the function that contains this marker. It is registered on the
 *		 tracepoint, with NULL data, while the marker has probes.
 *		 Nothing else refers to it: if it is static, it must be __used.
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

/* On x86, stack traces omit the probe if it is in the kernel; see is_marker_dispatch(). */
#ifdef MODULE
#define __tracer_text
#else
#define __tracer_text	__section(".marker.text")
#endif

/**
 * DEFINE_TRACER - translate a tracepoint into a marker
 * @tp_name: the tracepoint
 * @mark: name of the marker
 * @proto: TP_PROTO(), the prototype of the tracepoint
 * @format: the format of the marker
 * @args: its arguments, made from those of the tracepoint
 *
 * It is registered on the tracepoint only while the marker has probes to call::
 *
 *	DEFINE_TRACER(sched_process_exit, kernel_process_exit,
 *		      TP_PROTO(struct task_struct *p), "pid %d", p->pid);
 *
 * From the proposal of default tracers for tracepoints by Peter Zijlstra and
 * Mathieu Desnoyers, 2008.
 */
#ifdef CONFIG_MARKERS
#define DEFINE_TRACER(tp_name, mark, proto, format, args...)		\
	static notrace __used __tracer_text void			\
	__tracer_##mark(void *__data, proto)				\
	{								\
		trace_mark_tp(mark, tp_name, __tracer_##mark, format, ##args); \
	}
#else
#define DEFINE_TRACER(tp_name, mark, proto, format, args...)
#endif

/**
 * marker_probe_register - attach a probe to a marker
 * @name: the name of the marker
 * @format: its format, which must match exactly
 * @probe: a marker_probe_func, which is called from now on, or a
 *	   marker_variadic_func, which is called while the marker is armed
 * @private: passed to the probe
 *
 * If there is no such marker, the probe waits for a module that has one.
 *
 * Context: may sleep; takes markers_mutex, tracepoints_mutex and what imv_set()
 *	    takes.
 * Return: 0; -EINVAL for a NULL @name, @format or @probe, a name that is empty or longer than
 *	   MARKER_NAME_LEN - 1, a format longer than MARKER_FORMAT_LEN - 1 or
 *	   one that a variadic probe cannot be called with; -EBUSY in atomic
 *	   context, such as a probe; -EPERM if markers of this name have other
 *	   formats, with a message that shows both; -EEXIST if the probe is
 *	   attached with this @private; -ENOMEM; the error of registering on the
 *	   tracepoint that feeds the marker; or -ENOSYS without CONFIG_MARKERS.
 *	   On an error nothing is changed.
 */
#define marker_probe_register(name, format, probe, private)		\
	_Generic((probe),						\
		 marker_probe_func *: __marker_probe_register,		\
		 marker_variadic_func *: __marker_probe_register_variadic) \
		(name, format, probe, private)

/**
 * marker_probe_unregister - detach a probe from a marker
 * @args: the name of the marker, the probe, and the @private that it was
 *	  registered with; or only the name, for all marker_variadic_func probes
 *	  of the marker, as in the interface of 2007
 *
 * The probe may still run on other CPUs when this returns; see
 * marker_synchronize_unregister(). Never fails for lack of memory.
 *
 * Context: as for marker_probe_register().
 * Return: 0, -EINVAL for a NULL name or probe or a bad name, -EBUSY in atomic
 *	   context, where the probe stays attached, -ENOENT if no such probe is
 *	   attached to this marker, or -ENOSYS without CONFIG_MARKERS.
 */
#define marker_probe_unregister(args...)				\
	CONCATENATE(__marker_probe_unregister_, COUNT_ARGS(args))(args)

#define __marker_probe_unregister_1(name)				\
	__marker_probe_unregister_name(name)
#define __marker_probe_unregister_3(name, probe, private)		\
	__marker_probe_unregister(name, (void *)(probe), private)

/**
 * marker_probe_unregister_private_data - detach a probe from any one marker
 * @probe: the probe
 * @private: what it was registered with
 *
 * If it is attached to several markers with this @private, it is detached from
 * only one of them: call until -ENOENT to detach all.
 *
 * Context: as for marker_probe_register().
 * Return: 0, -EINVAL for a NULL @probe, -EBUSY in atomic context, where it stays
 *	   attached, -ENOENT if the probe is not attached to any marker with this
 *	   @private, or -ENOSYS without CONFIG_MARKERS.
 */
#define marker_probe_unregister_private_data(probe, private)		\
	__marker_probe_unregister_private_data((void *)(probe), private)

/**
 * marker_get_private_data - get the private data of a registered probe
 * @name: the name of the marker
 * @probe: the probe
 * @num: index of the registration of @probe on this marker, from 0; oldest
 *	 first if the name has one format
 *
 * Context: as for marker_probe_register().
 * Return: the private data, or an ERR_PTR: -ENOENT if there are not so many;
 *	   -EINVAL for a NULL @name or @probe or a bad name, -EBUSY in atomic
 *	   context.
 */
#define marker_get_private_data(name, probe, num)			\
	__marker_get_private_data(name, (void *)(probe), num)

#endif /* _LINUX_MARKER_H */
