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
 * does not evaluate its arguments, so they must have no side effects.
 *
 * A marker is a tracepoint, too, of the same name, which no tracepoint may have. Its
 * arguments are words, as the typedef btf_trace_<name> in BTF says. BPF, fprobe events and
 * SystemTap attach to it as to any other.
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
 * A probe runs in the context of the marker, which may be any, as a probe of a tracepoint
 * does. It cannot register or unregister probes.
 *
 * The interface is that of Mathieu Desnoyers' Linux Kernel Markers: the first
 * type of probe as proposed in 2007, the second as in 2.6.25 to 2.6.31.
 */

#include <linux/args.h>
#include <linux/btf.h>
#include <linux/build_bug.h>
#include <linux/immediate.h>
#include <linux/kernel.h>
#include <linux/stdarg.h>
#include <linux/tracepoint.h>
#include <linux/types.h>

struct marker;
struct module;

/* Maximum size of a marker's name, including the NUL */
#define MARKER_NAME_LEN		128

/* Maximum size of a format, including the NUL */
#define MARKER_FORMAT_LEN	4096

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
 * struct marker - the markers of a name and a format
 * @name: their name
 * @format: the names and types of their arguments, as for printf()
 */
struct marker {
	const char *name;
	const char *format;
};

/* Takes half of a pointer where that is possible; see marker_ref(). */
#ifdef CONFIG_HAVE_ARCH_PREL32_RELOCATIONS
typedef s32 marker_ref_t;
#else
typedef void *marker_ref_t;
#endif

/**
 * struct marker_site - a marker, one for each place in the code
 * @tp: refers to its tracepoint, which it shares with all markers of this name in the
 *	kernel or in a module
 * @format: refers to its format
 * @file: refers to the name of the file
 * @function: refers to the name of the function
 * @line: the line in the file
 */
struct marker_site {
	marker_ref_t tp, format, file, function;
	u32 line;
};

static inline void *marker_ref(const marker_ref_t *ref)
{
#ifdef CONFIG_HAVE_ARCH_PREL32_RELOCATIONS
	return offset_to_ptr(ref);
#else
	return *ref;
#endif
}

enum marker_type { MARKER_INT, MARKER_LONG, MARKER_LLONG, MARKER_POINTER };

/*
 * Limits of a format. The number of fields is that of BPF's raw tracepoints. The last one is
 * also that of a precision: vsnprintf() has 16 bits for it.
 */
#define MARKER_MAX_FIELDS	12
#define MARKER_MAX_SPEC		15
#define MARKER_MAX_FIELD_NAME	31
#define MARKER_MAX_BYTES	16
#define MARKER_MAX_HEX		64
#define MARKER_MAX_WIDTH	0x7fff

/**
 * struct marker_field - a conversion of a format, for one argument
 * @name: an identifier, unique in the format
 * @spec: the conversion in the format, starting at the percent sign
 * @len: length of @spec, or 0 for the number of bytes of the next field
 * @precision: the precision, or -1; limits how much of a string is read
 * @conversion: d, i, u, x, X, o, c, s or p; h for %*ph, which has the field in front of it,
 *	an int, as the number of its bytes, of which it takes at most MARKER_MAX_HEX
 * @type: the C type that the argument is passed as
 * @is_signed: true if the argument is signed
 * @size: size of the argument in bytes; of what is left of it with h or hh
 * @bytes: how many bytes the conversion reads at the argument, such as %pM, or 0
 * @are_flags: true if @names are those of bits
 * @nr_names: number of @names, or 0
 * @names: the names of values, which are behind the conversion
 * @end: the text behind the conversion and the names
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
	unsigned int bytes;
	bool are_flags;
	unsigned int nr_names;
	const struct trace_print_flags *names;
	const char *end;
};

/**
 * struct marker_layout - a parsed format
 * @format: the format
 * @nr_fields: number of conversions
 * @nr_strings: number of %s and %*ph conversions
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

void marker_call(struct tracepoint *tp, unsigned int nr, ...);

int marker_probe_register(const char *name, const char *format,
			  marker_probe_func *probe, void *pdata);
int marker_va_register(const char *name, const char *format,
		       marker_va_func *probe, void *private);
void marker_probe_unregister(const char *name);
int marker_probe_detach(const char *name, void *probe, void *private);
int marker_arm(const char *name);
int marker_disarm(const char *name);
int for_each_marker(int (*fct)(const struct marker *marker, struct module *mod, void *priv),
		    void *priv);

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

/* m(argument) for each argument, with a comma in front; a long if there is none. */
#define __MARK_EACH_0(m)		, m(0L)
#define __MARK_EACH_1(m, a)		, m(a)
#define __MARK_EACH_2(m, a, b...)	, m(a) __MARK_EACH_1(m, b)
#define __MARK_EACH_3(m, a, b...)	, m(a) __MARK_EACH_2(m, b)
#define __MARK_EACH_4(m, a, b...)	, m(a) __MARK_EACH_3(m, b)
#define __MARK_EACH_5(m, a, b...)	, m(a) __MARK_EACH_4(m, b)
#define __MARK_EACH_6(m, a, b...)	, m(a) __MARK_EACH_5(m, b)
#define __MARK_EACH_7(m, a, b...)	, m(a) __MARK_EACH_6(m, b)
#define __MARK_EACH_8(m, a, b...)	, m(a) __MARK_EACH_7(m, b)
#define __MARK_EACH_9(m, a, b...)	, m(a) __MARK_EACH_8(m, b)
#define __MARK_EACH_10(m, a, b...)	, m(a) __MARK_EACH_9(m, b)
#define __MARK_EACH_11(m, a, b...)	, m(a) __MARK_EACH_10(m, b)
#define __MARK_EACH_12(m, a, b...)	, m(a) __MARK_EACH_11(m, b)
#define __MARK_EACH_13(m, a...)		__MARK_EACH_0(m)
#define __MARK_EACH_14(m, a...)		__MARK_EACH_0(m)
#define __MARK_EACH_15(m, a...)		__MARK_EACH_0(m)
#define __MARK_EACH(m, args...)						\
	CONCATENATE(__MARK_EACH_, COUNT_ARGS(args))(m, ##args)

/*
 * All arguments are passed as words, so that code which does not know their types can pass
 * them on and read them. Narrower ones are extended by their sign.
 */
#define __MARK_WORD_TYPE(arg)	long
#define __MARK_WORD(arg)	(long)(arg)

#ifdef CONFIG_TRACEPOINT_TRAMPOLINE
#define __mark_call(name, id, args...)					\
	do {								\
		void id##_stub(void *any __MARK_EACH(__MARK_WORD_TYPE, ##args)) \
			asm("__markstub_" name);			\
									\
		ARCH_MARKSTUB(name);					\
		id##_stub(__TP_ANY_DATA __MARK_EACH(__MARK_WORD, ##args)); \
	} while (0)

/* Without the stub, which is patched code. Other markers of the name may use it. */
#define __mark_call_unpatched(name, id, args...)			\
	do {								\
		ARCH_MARKSTUB(name);					\
		marker_call(&id##_tp, __MARK_NR(args) __MARK_EACH(__MARK_WORD, ##args)); \
	} while (0)

/* The number of arguments is behind the flags. */
static_assert(offsetof(struct tracepoint, nr_args) == offsetof(struct tracepoint, flags) + 1);
#define __MARK_TP_BYTES		"%c[flags], %c[nr]"
#else
#define __mark_call(name, id, args...)					\
	marker_call(&id##_tp, __MARK_NR(args) __MARK_EACH(__MARK_WORD, ##args))
#define __mark_call_unpatched	__mark_call

#define __MARK_TP_BYTES		"%c[flags]"
#endif

#define __MARK_PTR		".quad"

/*
 * In the code models of UML and RISC-V, gcc does not take an address for a constant. On s390,
 * %c is a byte.
 */
#ifdef CONFIG_UML_X86
#define __MARK_OPERAND(name)	"%P[" #name "]"
#elif defined(CONFIG_RISCV) || defined(CONFIG_S390)
#define __MARK_OPERAND(name)	"%[" #name "]"
#else
#define __MARK_OPERAND(name)	"%c[" #name "]"
#endif

/* A marker_ref_t, or the entry of a tracepoint. */
#ifdef CONFIG_HAVE_ARCH_PREL32_RELOCATIONS
#define __MARK_REF(to)		".long " to " - .\n\t"
#else
#define __MARK_REF(to)		__MARK_PTR " " to "\n\t"
#endif

/* The linker keeps one group of each name. Markers that are fed are in one object only. */
#define __MARK_GROUP(section, flags, name)				\
	".pushsection " section ", \"" flags "G\", %%progbits, __marker_" name ", comdat\n\t"
#define __MARK_ALONE(section, flags, name)				\
	".pushsection " section ", \"" flags "\", %%progbits\n\t"

/* The tracepoints of the kernel are an array. */
#ifndef MODULE
#define __MARK_ENTRY(section, name)	""
#else
#define __MARK_ENTRY(section, name)					\
	section("__tracepoints_ptrs", "a", name)			\
	".balign %c[align]\n\t"						\
	__MARK_REF("__marker_" name)					\
	".popsection\n\t"
#endif

#ifdef CONFIG_BPF_EVENTS
/* A struct bpf_raw_event_map. */
#define __MARK_BPF(section, name)					\
	section("__bpf_raw_tp_map", "aw", name)				\
	".balign 32\n\t"						\
	".quad __marker_" name ", bpf_trace_run%c[nr]\n\t"		\
	".long %c[nr], 0\n\t"						\
	".balign 32\n\t"						\
	".popsection\n\t"
#else
#define __MARK_BPF(section, name)	""
#endif

/* A tracepoint has one feed, or none. */
#define __MARK_IS_FED(name)						\
	".error \"the marker " name " is in the probe of a tracepoint: "	\
	"it must be the only one of its name\"\n\t"
#define __MARK_PLAIN(name)						\
	".ifdef __mark_fed_" name "\n\t"				\
	__MARK_IS_FED(name)						\
	".endif\n\t"

/* How many arguments the tracepoint has. */
#define __MARK_NR(args...)	(COUNT_ARGS(args) ?: 1)

/*
 * The tracepoint, in assembler, since the kernel or a module has one for all markers of the
 * name. Each site has a struct marker_site; copies of an inline function are one site of
 * the object.
 */
#define __mark_define(name, section, once, format, _text, _flags, nr_args) \
	asm_inline volatile(						\
		once							\
		".ifndef __marker_" name "\n\t"				\
		section("__tracepoints", "aw", name)			\
		".globl __marker_" name "\n\t"				\
		".type __marker_" name ", %%object\n\t"			\
		".balign %c[ptr]\n"					\
		"__marker_" name ":\n\t"				\
		__MARK_PTR " " __MARK_OPERAND(text) "\n\t"			\
		".org __marker_" name " + %c[flags_at]\n\t"		\
		".byte " __MARK_TP_BYTES "\n\t"			\
		".org __marker_" name " + %c[size]\n\t"			\
		".size __marker_" name ", %c[size]\n\t"			\
		".popsection\n\t"					\
		__MARK_ENTRY(section, name)				\
		__MARK_BPF(section, name)				\
		".endif\n\t"						\
		".ifndef .Lmarker_" __MARK_OPERAND(id) "_" name "\n\t"		\
		".pushsection __markers, \"a\"\n"			\
		".Lmarker_" __MARK_OPERAND(id) "_" name ":\n\t"			\
		__MARK_REF("__marker_" name)				\
		__MARK_REF(__MARK_OPERAND(types))				\
		__MARK_REF(__MARK_OPERAND(file))				\
		__MARK_REF(__MARK_OPERAND(function))			\
		".long " __MARK_OPERAND(line) "\n\t"					\
		".balign %c[align]\n\t"				\
		".popsection\n\t"					\
		".endif"						\
		: : [text] "i" (_text), [types] "i" (format),		\
		    [file] "i" (__FILE__), [function] "i" (__func__),	\
		    [line] "i" (__LINE__), [id] "i" (__COUNTER__),	\
		    [align] "i" (__alignof__(struct marker_site)),	\
		    [flags] "i" (_flags), [nr] "i" (nr_args),		\
		    [flags_at] "i" (offsetof(struct tracepoint, flags)), \
		    [ptr] "i" (sizeof(void *)), [size] "i" (sizeof(struct tracepoint)))

/*
 * @name is a string and @id is btf_trace_<name>: the name may be that of a macro. The formats
 * of markers of one name have the same size, or the compiler reports an error; the kernel
 * compares them when it loads the markers.
 */
#define __trace_mark_by_id(id, guard, call, name, section, once, text, flags, \
			   _format, args...)				\
	do {								\
		__label__ __mark_hit;					\
		typedef void (*id)(void *__data __MARK_EACH(__MARK_WORD_TYPE, ##args)); \
		extern struct tracepoint id##_tp asm("__marker_" name);	\
		extern char id##_has_one_format[sizeof(_format)] __maybe_unused; \
									\
		static_assert(sizeof(name) <= MARKER_NAME_LEN,		\
			      "the name of a marker is too long");	\
		static_assert(sizeof(_format) <= MARKER_FORMAT_LEN,	\
			      "the format of a marker is too long");	\
		static_assert(__mark_has_no_nul(_format),		\
			      "the format of a marker has a NUL in it"); \
		static_assert(COUNT_ARGS(args) <= MARKER_MAX_FIELDS,	\
			      "a marker has more than 12 arguments");	\
		BTF_TYPE_EMIT(id);					\
		__mark_check_format(_format, ##args);			\
		__mark_define(name, section, once, _format, text, flags, \
			      __MARK_NR(args));				\
		__mark_check_rcu();					\
		guard(id##_tp.active, __mark_hit);			\
		if (0) {						\
__mark_hit: __MARK_UNLIKELY						\
			call(name, id, ##args);				\
		}							\
	} while (0)

/* Also while it is off: a user of the first tracer should not be the one who finds it. */
#ifdef CONFIG_LOCKDEP
#define __mark_check_rcu()						\
	WARN_ON_ONCE(cpu_online(raw_smp_processor_id()) && !rcu_is_watching())
#else
#define __mark_check_rcu()		do { } while (0)
#endif

#define __mark_guard_patched(active, label)	arch_imv_goto(&(active), label)
#define __mark_guard_load(active, label)				\
	do {								\
		if (unlikely_notrace(READ_ONCE(active)))		\
			goto label;					\
	} while (0)

/*
 * Of a label. clang knows the target of a jump in assembler to be unlikely. Before gcc 14, __cold
 * is empty, since a cold function is not aligned.
 */
#ifndef __clang__
#define __MARK_UNLIKELY		__attribute__((__cold__));
#else
#define __MARK_UNLIKELY
#endif

#else /* !CONFIG_MARKERS */

#define __trace_mark_by_id(id, guard, call, name, section, once, text, flags, \
			   _format, args...)				\
	__mark_check_format(_format, ##args)

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

/*
 * The preprocessor cannot make one word of btf_trace_ and a string. They remain two, and the
 * first one becomes an argument.
 */
#define btf_trace_			, __trace_mark_no_id,
#define __trace_mark(id, args...)					\
	__MARK_SECOND(id, __trace_mark_by_id)(id, args)
#define __MARK_SECOND(args...)		__MARK_2ND(args)
#define __MARK_2ND(a, b, rest...)	b
#define __trace_mark_no_id(args...)					\
	({ static_assert(false, "the name of a marker is an identifier without quotes"); })

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
	__trace_mark(btf_trace_##name, __mark_guard_patched, __mark_call, #name, \
		     __MARK_GROUP, __MARK_PLAIN(#name), #name, 0, format, ##args)

/**
 * _trace_mark - a marker whose guard is a plain load
 * @name: an identifier, global in the kernel: subsystem_event
 * @format: a string literal, as for printf()
 * @args: the values, evaluated only while there are probes to call
 *
 * For code that runs during code patching and must not hit a breakpoint, such as lockdep and
 * printk. RCU must be watching.
 *
 * Context: any.
 */
#define _trace_mark(name, format, args...)				\
	__trace_mark(btf_trace_##name, __mark_guard_load, __mark_call_unpatched, \
		     #name, __MARK_GROUP, __MARK_PLAIN(#name), #name, 0, format, ##args)

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
