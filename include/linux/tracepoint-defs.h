/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TRACEPOINT_DEFS_H
#define TRACEPOINT_DEFS_H 1

/*
 * The data types of tracepoints, and the test whether one is on.
 *
 * For headers that cannot include linux/tracepoint.h. Such a header does not
 * call a tracepoint in its inline functions: that would put the whole of
 * trace_foo() into every user, and misbehave where CREATE_TRACE_POINTS is
 * set. It asks for the state and leaves the rest to a function in a C file:
 *
 *	DECLARE_TRACEPOINT(foo);
 *	void do_trace_foo(int arg);		// calls trace_foo(arg)
 *
 *	static inline void hot(int arg)
 *	{
 *		if (tracepoint_enabled(foo))
 *			do_trace_foo(arg);
 *	}
 */

#include <linux/atomic.h>
#include <linux/immediate.h>
#include <linux/static_key.h>	/* for its users who get it from here */

struct static_call_key;
struct tracepoint;

struct trace_print_flags {
	unsigned long		mask;
	const char		*name;
};

struct trace_print_flags_u64 {
	unsigned long long	mask;
	const char		*name;
};

/**
 * struct tracepoint_func - a probe connected to a tracepoint
 * @func: the function; NULL ends an array of probes
 * @data: its first argument
 * @prio: probes of higher priority are called first
 */
struct tracepoint_func {
	void *func;
	void *data;
	int prio;
};

/**
 * struct tracepoint_callbacks - what to do around the use of a tracepoint
 * @regfunc: called before the first probe is connected, or NULL
 * @unregfunc: called after the last one is disconnected, or NULL
 * @connect: called before each probe is connected, after @regfunc, or NULL; an
 *	     error refuses the probe
 * @disconnect: called after each one is disconnected, before @unregfunc, or NULL;
 *		it may still run on other CPUs
 *
 * All may sleep, and run under tracepoints_mutex: they cannot connect or
 * disconnect probes.
 */
struct tracepoint_callbacks {
	int (*regfunc)(void);
	void (*unregfunc)(void);
	int (*connect)(struct tracepoint *tp,
		       const struct tracepoint_func *probe);
	void (*disconnect)(struct tracepoint *tp,
			   const struct tracepoint_func *probe);
};

/**
 * struct tracepoint - a tracepoint, common to all its sites
 * @name: its name
 * @callbacks: what to do around its use, or NULL
 * @funcs: the connected probes, or NULL
 * @active: immediate value, the guard of all sites: are there probes?
 * @nr_args: how many arguments it has; 0 if there are more than a trampoline
 *	     passes on, or one is longer than a word
 * @code: immediate value, where the stub leads: the low half of an address whose
 *	  upper half is ones, that of the trampoline, or of the function that takes
 *	  its place without memory; 0 while there is no probe
 * @data_settled: no CPU can hold another @data than this one
 * @data_settling: @data is as it was before the grace period under way
 * @data: what the stub gives to the function that it calls, if that is a probe
 * @key: of the static call in the stub, or NULL
 * @tramp: of the same static call
 * @walk: calls the probes in @funcs, whatever data it is given
 */
struct tracepoint {
	const char *name;
	const struct tracepoint_callbacks *callbacks;
	struct tracepoint_func __rcu *funcs;
	bool active __aligned(4);
#ifdef CONFIG_TRACEPOINT_TRAMPOLINE
	u8 nr_args;
	s32 code;
#endif
#ifdef CONFIG_TRACEPOINT_STATIC_CALL
	bool data_settled;
	bool data_settling;
	void *data;
	struct static_call_key *key;
	void *tramp;
	void *walk;
#endif
};

#ifdef CONFIG_HAVE_ARCH_PREL32_RELOCATIONS
typedef const int tracepoint_ptr_t;
#else
typedef struct tracepoint * const tracepoint_ptr_t;
#endif

struct bpf_raw_event_map {
	struct tracepoint	*tp;
	void			*bpf_func;
	u32			num_args;
	u32			writable_size;
} __aligned(32);

/**
 * DECLARE_TRACEPOINT - declare a tracepoint for tracepoint_enabled()
 * @tp: name of the tracepoint
 */
#define DECLARE_TRACEPOINT(tp)						\
	extern struct tracepoint __tracepoint_##tp

/**
 * tracepoint_enabled - is a tracepoint on?
 * @tp: name of the tracepoint
 *
 * The same as trace_<tp>_enabled(), but safe in headers.
 *
 * Return: true if it has probes; a patched jump, no load.
 */
#ifdef CONFIG_TRACEPOINTS
# define tracepoint_enabled(tp)	imv_unlikely_var(__tracepoint_##tp.active)
#else
# define tracepoint_enabled(tp)	false
#endif

#endif
