/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _LINUX_TRACEPOINT_H
#define _LINUX_TRACEPOINT_H

/*
 * Tracepoints: typed hooks in the kernel's code, to which functions (probes)
 * are attached at run time. Documentation/trace/tracepoints.rst describes how to
 * add and use one; this is how they are built:
 *
 *  site	trace_foo(args) in the traced code: the guard, an immediate value
 *		which is patched into the code (linux/immediate.h), and an
 *		out-of-line call of the stub.
 *  stub	__traceiter_foo(), one for each tracepoint, called by all sites:
 *		calls the probes, each with its data, as a reader of tracepoint_srcu.
 *		With TRACEPOINT_TRAMPOLINE it is a patched jump to a trampoline,
 *		code made for the attached probes. Otherwise it is small, and sites
 *		call tracepoint_walk_N() for N words as arguments.
 *  object	__tracepoint_foo: name, guard and the array of probes, in the
 *		section __tracepoints; those of a module are found through
 *		__tracepoints_ptrs.
 *  core	kernel/tracepoint.c attaches and detaches probes.
 *
 * DECLARE_TRACE() makes sites and stubs in C, as it gets the prototype; DEFINE_TRACE() the object.
 * Copyright (C) 2008-2014 Mathieu Desnoyers <mathieu.desnoyers@efficios.com>
 */

#include <linux/args.h>
#include <linux/build_bug.h>
#include <linux/cfi.h>
#include <linux/cpumask.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/rcupdate.h>
#include <linux/rcupdate_trace.h>
#include <linux/smp.h>
#include <linux/srcu.h>
#include <linux/static_call.h>	/* some files rely on getting it from here */
#include <linux/tracepoint-defs.h>
#include <linux/types.h>

struct module;
struct notifier_block;
struct pt_regs;

struct trace_eval_map {
	const char		*system;
	const char		*eval_string;
	unsigned long		eval_value;
};

/* The priority of probes whose order does not matter. */
#define TRACEPOINT_DEFAULT_PRIO	10

extern struct srcu_struct tracepoint_srcu;

int tracepoint_probe_register(struct tracepoint *tp, void *probe, void *data);
int tracepoint_probe_register_prio(struct tracepoint *tp, void *probe,
				   void *data, int prio);
int tracepoint_probe_register_prio_may_exist(struct tracepoint *tp,
					     void *probe, void *data, int prio);
int tracepoint_probe_unregister(struct tracepoint *tp, void *probe, void *data);
void for_each_kernel_tracepoint(void (*fct)(struct tracepoint *tp, void *priv),
				void *priv);

/* Like tracepoint_probe_register(), without a message if it is already attached. */
static inline int tracepoint_probe_register_may_exist(struct tracepoint *tp,
						      void *probe, void *data)
{
	return tracepoint_probe_register_prio_may_exist(tp, probe, data,
							TRACEPOINT_DEFAULT_PRIO);
}

/* Like trace_<name>_enabled(), for tracepoints that are found at run time: a load. */
static inline bool tracepoint_active(const struct tracepoint *tp)
{
	return READ_ONCE(tp->active);
}

#ifdef CONFIG_MODULES
/* A module that has tracepoints, the argument of the notifiers. */
struct tp_module {
	struct list_head list;
	struct module *mod;
};

bool trace_module_has_bad_taint(struct module *mod);
int register_tracepoint_module_notifier(struct notifier_block *nb);
int unregister_tracepoint_module_notifier(struct notifier_block *nb);
void for_each_module_tracepoint(void (*fct)(struct tracepoint *tp, struct module *mod,
					    void *priv), void *priv);
void for_each_tracepoint_in_module(struct module *mod,
				   void (*fct)(struct tracepoint *tp,
					       struct module *mod, void *priv),
				   void *priv);
#else
static inline bool trace_module_has_bad_taint(struct module *mod)
{
	return false;
}

static inline int register_tracepoint_module_notifier(struct notifier_block *nb)
{
	return 0;
}

static inline int unregister_tracepoint_module_notifier(struct notifier_block *nb)
{
	return 0;
}

static inline void
for_each_module_tracepoint(void (*fct)(struct tracepoint *tp, struct module *mod,
				       void *priv), void *priv)
{
}

static inline void
for_each_tracepoint_in_module(struct module *mod,
			      void (*fct)(struct tracepoint *tp, struct module *mod,
					  void *priv), void *priv)
{
}
#endif /* CONFIG_MODULES */

/* May the probes fault and sleep? Those of system calls may. */
static inline bool tracepoint_is_faultable(struct tracepoint *tp)
{
	return tp->flags & TRACEPOINT_FAULTABLE;
}

/* What only few tracepoints have, or NULL. */
static inline const struct tracepoint_ext *tracepoint_ext(const struct tracepoint *tp)
{
	if (!(tp->flags & TRACEPOINT_EXT))
		return NULL;
	return container_of(tp->name, const struct tracepoint_ext, text[0]);
}

#ifdef CONFIG_TRACEPOINTS
void tracepoint_synchronize_unregister(void);

/*
 * Call a function when probes that were unregistered have ended: of any tracepoint but a
 * faultable one, and of a faultable one. The task must not be deferring updates of
 * immediate values.
 */
static inline void call_tracepoint_unregister_atomic(struct rcu_head *rcu,
						     rcu_callback_t func)
{
	call_srcu(&tracepoint_srcu, rcu, func);
}

static inline void call_tracepoint_unregister_syscall(struct rcu_head *rcu,
						      rcu_callback_t func)
{
	call_rcu_tasks_trace(rcu, func);
}
#else
static inline void tracepoint_synchronize_unregister(void) { }

static inline void call_tracepoint_unregister_atomic(struct rcu_head *rcu,
						     rcu_callback_t func) { }
static inline void call_tracepoint_unregister_syscall(struct rcu_head *rcu,
						      rcu_callback_t func) { }
#endif

#ifdef CONFIG_TRACEPOINT_TRAMPOLINE
#define TRACEPOINT_CODE_OFFSET	20
#include <asm/tracepoint.h>
static_assert(offsetof(struct tracepoint, code) == TRACEPOINT_CODE_OFFSET);
#else
static inline bool is_tracepoint_dispatch(unsigned long addr)
{
	return false;
}

#define tracepoint_caller_regs(tp, regs, args...)	do { } while (0)
#endif

/* Replaces a probe that is unregistered when no array without it can be allocated. */
void tracepoint_removed_probe(void);

/* CFI, which compares types, does not let a loop over the probes call the no-op. */
static inline bool tracepoint_may_call(const void *func)
{
	return !IS_ENABLED(CONFIG_CFI) || func != tracepoint_removed_probe;
}

#ifdef CONFIG_HAVE_SYSCALL_TRACEPOINTS
int syscall_regfunc(void);
void syscall_unregfunc(void);
#endif

#ifndef PARAMS
#define PARAMS(args...) args
#endif

#define TRACE_DEFINE_ENUM(x)
#define TRACE_DEFINE_SIZEOF(x)

/*
 * An entry of __tracepoints_ptrs, the list of the tracepoints of a module. Those of the
 * kernel are an array.
 */
#ifdef CONFIG_HAVE_ARCH_PREL32_RELOCATIONS
static inline struct tracepoint *tracepoint_ptr_deref(tracepoint_ptr_t *p)
{
	return offset_to_ptr(p);
}
#else
static inline struct tracepoint *tracepoint_ptr_deref(tracepoint_ptr_t *p)
{
	return *p;
}
#endif

#if !defined(MODULE)
#define __TRACEPOINT_ENTRY(name)	static_assert(true)
#elif defined(CONFIG_HAVE_ARCH_PREL32_RELOCATIONS)
#define __TRACEPOINT_ENTRY(name)					\
	asm(".pushsection \"__tracepoints_ptrs\", \"a\"\n\t"		\
	    ".balign 4\n\t"						\
	    ".long __tracepoint_" #name " - .\n\t"			\
	    ".popsection\n")
#else
#define __TRACEPOINT_ENTRY(name)					\
	static tracepoint_ptr_t __tracepoint_ptr_##name			\
	__used __section("__tracepoints_ptrs") = &__tracepoint_##name
#endif

#endif /* _LINUX_TRACEPOINT_H */

/* Not covered by the guard above: headers of trace events redefine these macros. */

#ifndef DECLARE_TRACE

#define TP_PROTO(args...)	args
#define TP_ARGS(args...)	args
#define TP_CONDITION(args...)	args

/* A file that defines NOTRACE before the headers gets no tracepoints. */
#if defined(CONFIG_TRACEPOINTS) && !defined(NOTRACE)
#define TRACEPOINTS_ENABLED
#endif

#define __TP_CPU_ONLINE		cpu_online(raw_smp_processor_id())

/* Names of tracepoints that are used, which make UT=1 compares with those that exist. */
#define TRACEPOINT_CHECK(name)						\
	static const char __used __section("__tracepoint_check")	\
	__trace_check_##name[] = #name;

/* What sites of events that are not configured call: nothing. */
#define DECLARE_EVENT_NOP(name, proto, args)				\
	static inline void trace_##name(proto)				\
	{								\
	}								\
									\
	static inline void trace_call__##name(proto)			\
	{								\
	}								\
									\
	static inline bool trace_##name##_enabled(void)			\
	{								\
		return false;						\
	}
#ifdef TRACEPOINTS_ENABLED
/*
 * The names of all functions for so many words are one function to clang, which extends narrow
 * arguments of each call as the first prototype says. On arm64 the callee extends them.
 */
#if defined(CONFIG_CC_IS_CLANG) && !defined(CONFIG_TRACEPOINT_TRAMPOLINE) && !defined(CONFIG_ARM64)
#define __TP_MIN_WORD	sizeof(long)
#else
#define __TP_MIN_WORD	1
#endif

/*
 * Is every argument at most one word? Otherwise, sites call a stub in C. Structures and unions
 * are of classes 12 and 13.
 */
#ifdef __CHECKER__	/* sparse has no classes */
#define __builtin_classify_type(arg)	0
#endif
#define __TP_WORD(arg)							\
	(sizeof(__typeof__(arg)) >= __TP_MIN_WORD &&			\
	 sizeof(__typeof__(arg)) <= sizeof(long) &&			\
	 __builtin_classify_type(arg) != 12 && __builtin_classify_type(arg) != 13)
#define __TP_WORDS_1(a)		__TP_WORD(a)
#define __TP_WORDS_2(a, b...)	(__TP_WORD(a) && __TP_WORDS_1(b))
#define __TP_WORDS_3(a, b...)	(__TP_WORD(a) && __TP_WORDS_2(b))
#define __TP_WORDS_4(a, b...)	(__TP_WORD(a) && __TP_WORDS_3(b))
#define __TP_WORDS_5(a, b...)	(__TP_WORD(a) && __TP_WORDS_4(b))
#define __TP_WORDS_6(a, b...)	(__TP_WORD(a) && __TP_WORDS_5(b))
#define __TP_WORDS_7(a, b...)	(__TP_WORD(a) && __TP_WORDS_6(b))
#define __TP_WORDS_8(a, b...)	(__TP_WORD(a) && __TP_WORDS_7(b))
#define __TP_WORDS_9(a, b...)	(__TP_WORD(a) && __TP_WORDS_8(b))
#define __TP_WORDS_10(a, b...)	(__TP_WORD(a) && __TP_WORDS_9(b))
#define __TP_WORDS_11(a, b...)	(__TP_WORD(a) && __TP_WORDS_10(b))
#define __TP_WORDS_12(a, b...)	(__TP_WORD(a) && __TP_WORDS_11(b))
#define __TP_WORDS_13(a...)	false
#define __TP_WORDS_14(a...)	false
#define __TP_WORDS_15(a...)	false

/* Stubs ignore their first argument: sites have no instruction that sets it. */
#define __TP_ANY_DATA							\
	({								\
		void *__tp_any;						\
									\
		asm volatile("" : "=r" (__tp_any));			\
		__tp_any;						\
	})

/*
 * 0 if code that does not know the types cannot pass them on. A prototype has the types: the
 * result is the size of an array there, which sparse does not understand.
 */
#ifdef __CHECKER__
#define __TP_DECLARE_NR_ARGS(name, proto, args, usable)			\
	enum { __tp_nr_args_##name = COUNT_ARGS(args) };
#else
#define __TP_DECLARE_NR_ARGS(name, proto, args, usable)			\
	void __tp_words_##name(proto, char (*)				\
		[1 + CONCATENATE(__TP_WORDS_, COUNT_ARGS(args))(args)]); \
	enum {								\
		__tp_nr_args_##name = (usable) && __builtin_types_compatible_p(	\
			__typeof__(__tp_words_##name),			\
			void (proto, char (*)[2])) ? COUNT_ARGS(args) : 0 \
	};
#endif

#ifdef CONFIG_TRACEPOINT_TRAMPOLINE
#define __TP_HAS_WALK(name)	false
#define __TP_CALL_STUB(name, args)					\
	(__tp_nr_args_##name ? __traceiter_##name :			\
			       __tracestub_##name)(__TP_ANY_DATA, args)
#define __TP_INIT_CALL(name)	.nr_args = __tp_nr_args_##name,
#define __TP_DEFINE_STUB(name)			ARCH_TRACESTUB(name)
#define __TP_DEFINE_STUB_FAULTABLE(name)	ARCH_TRACESTUB_FAULTABLE(name)
#else	/* Sites call a function for so many arguments; those of modules with versions the stub. */
#define __TP_DEFINE_STUB(name)						\
	extern __typeof__(__tracestub_##name) __traceiter_##name	\
	__alias(__tracestub_##name)
#define __TP_DEFINE_STUB_FAULTABLE(name)	__TP_DEFINE_STUB(name)
#define __TP_HAS_WALK(name)	(!!__tp_nr_args_##name)
#define __TP_CALL_STUB(name, args)					\
	(__TP_HAS_WALK(name) && !(__is_defined(MODULE) && IS_ENABLED(CONFIG_MODVERSIONS)) ? \
	 __tracewalk_##name(&__tracepoint_##name, args) :		\
	 __traceiter_##name(__TP_ANY_DATA, args))
#define __TP_INIT_CALL(name)
#endif

/*
 * Calls the probes in order. A probe and its data are read from one array, which is
 * immutable, except that a removed probe may become a no-op.
 */
#define __TP_CALL_PROBES(tp, data_proto, args)				\
	do {								\
		struct tracepoint_func *__tp_probe =			\
			rcu_dereference_raw((tp)->funcs);		\
									\
		if (!__tp_probe)					\
			break;						\
		do {							\
			void (*__tp_func)(data_proto) =			\
				READ_ONCE(__tp_probe->func);		\
									\
			if (tracepoint_may_call(__tp_func))		\
				__tp_func(__tp_probe->data, args);	\
			/* A removed probe is not NULL. */		\
		} while (data_race((++__tp_probe)->func));		\
	} while (0)

/* With lockdep, a site warns if RCU is not watching, even without probes. */
#define __TP_DECLARE(name, proto, args, cond, data_proto, online, lock, prepare) \
	extern struct tracepoint __tracepoint_##name;			\
	void __traceiter_##name(data_proto);				\
	void rust_do_trace_##name(proto);				\
	void __tracewalk_##name(data_proto)				\
		asm("tracepoint_walk_" __stringify(COUNT_ARGS(args)));	\
									\
	static noinline __maybe_unused notrace void			\
	__tracestub_##name(data_proto)					\
	{								\
		if (__TP_HAS_WALK(name)) {				\
			__tracewalk_##name(&__tracepoint_##name, args);	\
			return;						\
		}							\
		if (!(online))						\
			return;						\
		lock;							\
		__TP_CALL_PROBES(&__tracepoint_##name, PARAMS(data_proto), \
				 PARAMS(args));				\
	}								\
									\
	/* fprobe events trace it. */					\
	static noinline __maybe_unused void				\
	__probestub_##name(data_proto)					\
	{								\
	}								\
									\
	static inline bool __trace_##name##_enabled(void)		\
	{								\
		return imv_unlikely_var(__tracepoint_##name.active);	\
	}								\
									\
	static inline bool trace_##name##_enabled(void)			\
	{								\
		if (IS_ENABLED(CONFIG_LOCKDEP))				\
			WARN_ON_ONCE(!rcu_is_watching());		\
		return __trace_##name##_enabled();			\
	}								\
									\
	static inline void trace_call__##name(proto)			\
	{								\
		TRACEPOINT_CHECK(name)					\
		prepare;						\
		if (cond)						\
			__TP_CALL_STUB(name, PARAMS(args));		\
	}								\
									\
	static inline void trace_##name(proto)				\
	{								\
		prepare;						\
		if (__trace_##name##_enabled())				\
			trace_call__##name(args);			\
		if (IS_ENABLED(CONFIG_LOCKDEP) && __TP_CPU_ONLINE && (cond)) \
			WARN_ON_ONCE(!rcu_is_watching());		\
	}								\
									\
	static inline int						\
	register_trace_prio_##name(void (*probe)(data_proto), void *data, \
				   int prio)				\
	{								\
		return tracepoint_probe_register_prio(			\
			&__tracepoint_##name, (void *)probe, data, prio); \
	}								\
									\
	static inline int						\
	register_trace_##name(void (*probe)(data_proto), void *data)	\
	{								\
		return tracepoint_probe_register(			\
			&__tracepoint_##name, (void *)probe, data);	\
	}								\
									\
	static inline int						\
	unregister_trace_##name(void (*probe)(data_proto), void *data)	\
	{								\
		return tracepoint_probe_unregister(			\
			&__tracepoint_##name, (void *)probe, data);	\
	}								\
									\
	static inline void						\
	check_trace_callback_type_##name(void (*cb)(data_proto))	\
	{								\
	}

#define __DECLARE_TRACE(name, proto, args, cond, data_proto)		\
	__TP_DECLARE_NR_ARGS(name, PARAMS(proto), PARAMS(args),		\
			     IS_ENABLED(CONFIG_TRACEPOINT_TRAMPOLINE) || \
			     (!IS_ENABLED(CONFIG_CFI) && COUNT_ARGS(args) <= 6)) \
	__TP_DECLARE(name, PARAMS(proto), PARAMS(args), PARAMS(cond),	\
		     PARAMS(data_proto),				\
		     __TP_CPU_ONLINE,					\
		     guard(srcu_fast_notrace)(&tracepoint_srcu), do { } while (0))

/* The probes may fault and sleep. With lockdep, they see that RCU tasks trace is held. */
#define __DECLARE_TRACE_SYSCALL(name, proto, args, data_proto)		\
	__TP_DECLARE_NR_ARGS(name, PARAMS(proto), PARAMS(args),		\
			     IS_ENABLED(CONFIG_TRACEPOINT_TRAMPOLINE) && \
			     !IS_ENABLED(CONFIG_DEBUG_LOCK_ALLOC))	\
	__TP_DECLARE(name, PARAMS(proto), PARAMS(args), true,		\
		     PARAMS(data_proto), true, guard(rcu_tasks_trace)(), \
		     might_fault())

/*
 * gcc would align larger objects to 32 bytes. Nothing but kallsyms knows the function for
 * fprobe events. The semicolon at the end is for headers of events that have none.
 */
#define __TP_DEFINE_NAMED(_name, _text, _flags, _stub)			\
	struct tracepoint __tracepoint_##_name				\
	__used __section("__tracepoints")				\
	__aligned(__alignof__(struct tracepoint)) = {			\
		.name = _text,						\
		.flags = _flags,					\
		__TP_INIT_CALL(_name)					\
	};								\
	__ADDRESSABLE(__probestub_##_name)				\
	CFI_NOSEAL(__probestub_##_name);				\
	__TRACEPOINT_ENTRY(_name);					\
	_stub(_name);

#define __TP_DEFINE(_name, _stub)					\
	static const char __tpstrtab_##_name[]				\
	__section("__tracepoints_strings") = #_name;			\
	__TP_DEFINE_NAMED(_name, __tpstrtab_##_name, 0, _stub)

/* The other name is for make UT=1. */
#define __TP_DEFINE_EXT(_name, _reg, _unreg, _flags, _stub)		\
	static const char __tpstrtab_##_name[]				\
	__used __section("__tracepoints_strings") = #_name;		\
	static const struct tracepoint_ext __tracepoint_ext_##_name = {	\
		.regfunc = _reg,					\
		.unregfunc = _unreg,					\
		.text = #_name,						\
	};								\
	__TP_DEFINE_NAMED(_name, __tracepoint_ext_##_name.text,		\
			  TRACEPOINT_EXT | (_flags), _stub)

/**
 * DEFINE_TRACE_FN - define a tracepoint with callbacks
 * @name: its name
 * @reg: called before the first probe is attached: an int, 0 or an error, which
 *	 rejects the probe
 * @unreg: called after the last probe is detached
 * @proto: ignored, as are the arguments that may follow
 *
 * The callbacks may sleep. They must not attach or detach probes.
 */
#define DEFINE_TRACE_FN(name, reg, unreg, proto...)			\
	__TP_DEFINE_EXT(name, reg, unreg, 0, __TP_DEFINE_STUB)		\
	__TP_PICK(name, ##proto, DEFINE_RUST_DO_TRACE, 0, __TP_NOTHING)(name, ##proto)

/* The same for DECLARE_TRACE_SYSCALL(). */
#define DEFINE_TRACE_SYSCALL(name, reg, unreg, proto...)		\
	__TP_DEFINE_EXT(name, reg, unreg, TRACEPOINT_FAULTABLE,		\
			__TP_DEFINE_STUB_FAULTABLE)			\
	__TP_PICK(name, ##proto, DEFINE_RUST_DO_TRACE, 0, __TP_NOTHING)(name, ##proto)

/*
 * What Rust calls behind its guard. define_trace.h lets this make the function, in a file that
 * has CREATE_RUST_TRACE_POINTS.
 */
#define DEFINE_RUST_DO_TRACE(name, proto, args)
#define __DEFINE_RUST_DO_TRACE(name, proto, args)			\
	notrace void rust_do_trace_##name(proto)			\
	{								\
		trace_call__##name(args);				\
	}

/* With prototype and arguments the name is that of the object, as in define_trace.h. */
#define __TP_DEFINE_WHOLE(name, proto, args)				\
	__TP_DEFINE(name, __TP_DEFINE_STUB)				\
	DEFINE_RUST_DO_TRACE(name, PARAMS(proto), PARAMS(args))
/* The short name is for tracepoint_enabled(). */
#define __TP_DEFINE_BARE(name)						\
	__TP_DEFINE(name##_tp, __TP_DEFINE_STUB)			\
	asm(".globl __tracepoint_" #name "\n\t"			\
	    ".set __tracepoint_" #name ", __tracepoint_" #name "_tp\n\t")
#define __TP_PICK(name, proto, args, define, ...)	define
#define __TP_NOTHING(name, proto...)

/**
 * DEFINE_TRACE - define a tracepoint, in one C file
 * @name: its name, as in DECLARE_TRACE(); with further arguments, <name>_tp
 * @proto: may follow, and then the names of the arguments: only Rust uses both
 */
#define DEFINE_TRACE(name, proto...)					\
	__TP_PICK(name, ##proto, __TP_DEFINE_WHOLE, 0, __TP_DEFINE_BARE)(name, ##proto)

/**
 * EXPORT_TRACEPOINT_SYMBOL - let modules use a tracepoint of the kernel
 * @name: its name
 *
 * EXPORT_TRACEPOINT_SYMBOL_GPL() does so for modules with a compatible license.
 */
#define EXPORT_TRACEPOINT_SYMBOL(name)					\
	TRACEPOINT_CHECK(name)						\
	EXPORT_SYMBOL(__tracepoint_##name);				\
	EXPORT_SYMBOL(__traceiter_##name)
#define EXPORT_TRACEPOINT_SYMBOL_GPL(name)				\
	TRACEPOINT_CHECK(name)						\
	EXPORT_SYMBOL_GPL(__tracepoint_##name);				\
	EXPORT_SYMBOL_GPL(__traceiter_##name)

#else /* !TRACEPOINTS_ENABLED */

#define __DECLARE_TRACE(name, proto, args, cond, data_proto)		\
	DECLARE_EVENT_NOP(name, PARAMS(proto), PARAMS(args))		\
									\
	static inline bool __trace_##name##_enabled(void)		\
	{								\
		return false;						\
	}								\
									\
	static inline int						\
	register_trace_##name(void (*probe)(data_proto), void *data)	\
	{								\
		return -ENOSYS;						\
	}								\
									\
	static inline int						\
	unregister_trace_##name(void (*probe)(data_proto), void *data)	\
	{								\
		return -ENOSYS;						\
	}								\
									\
	static inline void						\
	check_trace_callback_type_##name(void (*cb)(data_proto))	\
	{								\
	}

#define __DECLARE_TRACE_SYSCALL(name, proto, args, data_proto)		\
	__DECLARE_TRACE(name, PARAMS(proto), PARAMS(args), true, PARAMS(data_proto))

#define DEFINE_TRACE_FN(name, reg, unreg, proto...)
#define DEFINE_TRACE_SYSCALL(name, reg, unreg, proto...)
#define DEFINE_TRACE(name, proto...)
#define EXPORT_TRACEPOINT_SYMBOL(name)
#define EXPORT_TRACEPOINT_SYMBOL_GPL(name)

#endif /* TRACEPOINTS_ENABLED */

#ifdef CONFIG_TRACING
#define __tracepoint_string	__used __section("__tracepoint_str")

/**
 * tracepoint_string - export a constant string to the tools that read traces
 * @str: a string that does not change while its module is loaded
 *
 * Events can store the pointer: tools find the text in tracefs' printk_formats.
 *
 * Return: @str.
 */
#define tracepoint_string(str)						\
	({								\
		static const char *___tp_str __tracepoint_string = str;	\
		___tp_str;						\
	})
#else
#define __tracepoint_string
#define tracepoint_string(str)	str
#endif

/*
 * Short names of <name>_tp, for what cannot be taken for that of a trace event. In headers
 * of trace events, which have a TRACE_SYSTEM, there are none: an event may have this name.
 */
#define __TP_DECLARE_SHORT(name, data_proto)				\
	static inline bool trace_##name##_enabled(void)			\
	{								\
		return trace_##name##_tp_enabled();			\
	}								\
									\
	static inline int						\
	register_trace_##name(void (*probe)(data_proto), void *data)	\
	{								\
		return register_trace_##name##_tp(probe, data);		\
	}								\
									\
	static inline int						\
	unregister_trace_##name(void (*probe)(data_proto), void *data)	\
	{								\
		return unregister_trace_##name##_tp(probe, data);	\
	}

#define __TP_DECLARE_NOTHING(name, data_proto)
#define __TP_OUTSIDE_TRACE_SYSTEM	0,
#define __TP_SECOND(a, b, ...)		b
#define __TP_IF_OUTSIDE(marker, yes, no)	__TP_SECOND(marker yes, no, 0)

/**
 * DECLARE_TRACE - declare a tracepoint that is not a trace event
 * @name: its name without _tp, unique in the kernel: subsystem_event
 * @proto: TP_PROTO(), the prototype of its arguments
 * @args: TP_ARGS(), their names
 *
 * Defines
 *
 * - trace_<name>_tp(), to be called where the event occurs;
 * - trace_<name>_tp_enabled(), to guard work that only the tracepoint needs, and
 *   trace_call__<name>_tp(), for use after this test: it does not test again;
 * - register_trace_<name>_tp(), register_trace_prio_<name>_tp() and
 *   unregister_trace_<name>_tp() for probes;
 * - outside of headers of trace events: trace_<name>_enabled(), register_trace_<name>()
 *   and unregister_trace_<name>(), which do the same.
 *
 * There are at most 15 arguments. Without CONFIG_TRACEPOINTS, sites are empty, and
 * registering and unregistering return -ENOSYS.
 *
 * Context: trace_<name>_tp() may be called in any context in which RCU is watching,
 *	    including NMI. Probes run in the same context, as readers of tracepoint_srcu:
 *	    they can be preempted if the traced code can, but must not sleep.
 */
#define DECLARE_TRACE(name, proto, args)				\
	DECLARE_TRACE_CONDITION(name, PARAMS(proto), PARAMS(args), true)

/**
 * DECLARE_TRACE_CONDITION - declare a tracepoint that fires on a condition
 * @name: its name without _tp
 * @proto: TP_PROTO(), the prototype of its arguments
 * @args: TP_ARGS(), their names
 * @cond: TP_CONDITION(), an expression on the arguments; evaluated only while
 *	  the tracepoint has probes (with lockdep, always)
 *
 * Context: as DECLARE_TRACE().
 */
#define DECLARE_TRACE_CONDITION(name, proto, args, cond)		\
	__DECLARE_TRACE(name##_tp, PARAMS(proto), PARAMS(args), PARAMS(cond), \
			PARAMS(void *__data, proto))			\
	__TP_IF_OUTSIDE(CONCATENATE(__TP_OUTSIDE_, TRACE_SYSTEM),	\
			__TP_DECLARE_SHORT,				\
			__TP_DECLARE_NOTHING)(name, PARAMS(void *__data, proto))

/**
 * DECLARE_TRACE_SYSCALL - declare a tracepoint whose probes may fault and sleep
 * @name: its name without _tp
 * @proto: TP_PROTO(), the prototype of its arguments
 * @args: TP_ARGS(), their names
 *
 * Context: trace_<name>_tp() may sleep.
 */
#define DECLARE_TRACE_SYSCALL(name, proto, args)			\
	__DECLARE_TRACE_SYSCALL(name##_tp, PARAMS(proto), PARAMS(args),	\
				PARAMS(void *__data, proto))

/* Those of trace events; <name> is the name of both. */
#define DECLARE_TRACE_EVENT(name, proto, args)				\
	DECLARE_TRACE_EVENT_CONDITION(name, PARAMS(proto), PARAMS(args), true)
#define DECLARE_TRACE_EVENT_CONDITION(name, proto, args, cond)		\
	__DECLARE_TRACE(name, PARAMS(proto), PARAMS(args), PARAMS(cond), \
			PARAMS(void *__data, proto))
#define DECLARE_TRACE_EVENT_SYSCALL(name, proto, args)			\
	__DECLARE_TRACE_SYSCALL(name, PARAMS(proto), PARAMS(args),	\
				PARAMS(void *__data, proto))

#define TRACE_EVENT_FLAGS(event, flag)
#define TRACE_EVENT_PERF_PERM(event, expr...)

#endif /* DECLARE_TRACE */

#ifndef TRACE_EVENT

/*
 * Trace events are tracepoints with a record that ftrace and perf store and print.
 * Here, only the tracepoint is declared; include/trace/ redefines the macros.
 */
#define DECLARE_EVENT_CLASS(name, proto, args, tstruct, assign, print)

#define DEFINE_EVENT(template, name, proto, args)			\
	DECLARE_TRACE_EVENT(name, PARAMS(proto), PARAMS(args))
#define DEFINE_EVENT_FN(template, name, proto, args, reg, unreg)	\
	DECLARE_TRACE_EVENT(name, PARAMS(proto), PARAMS(args))
#define DEFINE_EVENT_PRINT(template, name, proto, args, print)		\
	DECLARE_TRACE_EVENT(name, PARAMS(proto), PARAMS(args))
#define DEFINE_EVENT_CONDITION(template, name, proto, args, cond)	\
	DECLARE_TRACE_EVENT_CONDITION(name, PARAMS(proto), PARAMS(args), PARAMS(cond))

#define TRACE_EVENT(name, proto, args, tstruct, assign, print)		\
	DECLARE_TRACE_EVENT(name, PARAMS(proto), PARAMS(args))
#define TRACE_EVENT_FN(name, proto, args, tstruct, assign, print, reg, unreg) \
	DECLARE_TRACE_EVENT(name, PARAMS(proto), PARAMS(args))
#define TRACE_EVENT_CONDITION(name, proto, args, cond, tstruct, assign, print) \
	DECLARE_TRACE_EVENT_CONDITION(name, PARAMS(proto), PARAMS(args), PARAMS(cond))
#define TRACE_EVENT_FN_COND(name, proto, args, cond, tstruct, assign,	\
			    print, reg, unreg)				\
	DECLARE_TRACE_EVENT_CONDITION(name, PARAMS(proto), PARAMS(args), PARAMS(cond))
#define TRACE_EVENT_SYSCALL(name, proto, args, tstruct, assign, print, reg, unreg) \
	DECLARE_TRACE_EVENT_SYSCALL(name, PARAMS(proto), PARAMS(args))

#define TRACE_EVENT_FLAGS(event, flag)
#define TRACE_EVENT_PERF_PERM(event, expr...)

#define DECLARE_EVENT_CLASS_NOP(name, proto, args, tstruct, assign, print)
#define DEFINE_EVENT_NOP(template, name, proto, args)			\
	DECLARE_EVENT_NOP(name, PARAMS(proto), PARAMS(args))
#define TRACE_EVENT_NOP(name, proto, args, tstruct, assign, print)	\
	DECLARE_EVENT_NOP(name, PARAMS(proto), PARAMS(args))

#endif /* TRACE_EVENT */
