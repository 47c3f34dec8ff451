/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TRACEPOINT_DEFS_H
#define TRACEPOINT_DEFS_H 1

/*
 * The data types of tracepoints, and the test whether one has probes: for headers, whose
 * inline functions must not call a tracepoint. They test the state and call a function
 * in a C file; see "In a header" in Documentation/trace/tracepoints.rst.
 */

#include <linux/atomic.h>
#include <linux/immediate.h>
#include <linux/static_key.h>	/* some files rely on getting it from here */

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
 * struct tracepoint_func - a probe attached to a tracepoint
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
 * struct tracepoint_ext - what only few tracepoints have
 * @regfunc: called before the first probe is attached, or NULL
 * @unregfunc: called after the last one is detached, or NULL
 * @feed: a tracepoint, or NULL: the sites are in @feed_probe, which is attached to it while
 *	  there are probes
 * @feed_probe: a probe of @feed, with no data, which has the sites of one tracepoint only
 * @text: the name, to which that of the tracepoint points
 *
 * The functions may sleep, under tracepoints_mutex: they cannot attach or detach probes.
 */
struct tracepoint_ext {
	int (*regfunc)(void);
	void (*unregfunc)(void);
	struct tracepoint *feed;
	struct tracepoint_func feed_probe;
	char text[];
};

/* Flags of a tracepoint */
#define TRACEPOINT_EXT		1	/* its name is that of a struct tracepoint_ext */
#define TRACEPOINT_FAULTABLE	2	/* the probes may fault and sleep */
#define TRACEPOINT_REFUSED	4	/* no probe can be attached */

/**
 * struct tracepoint - a tracepoint, common to all its sites
 * @name: its name
 * @funcs: the attached probes, or NULL
 * @active: immediate value, the guard of all sites: are there probes?
 * @flags: TRACEPOINT_EXT and others
 * @nr_args: how many arguments it has; 0 if one is longer than a word, a structure or
 *	     a union
 * @one_size: size of the trampoline if it is for one probe, or 0
 * @code: immediate value, the sign-extended address that the stub jumps to: the
 *	  trampoline, or without memory __tracepoint_walk(), see IMV_JUMP_TO; 0
 *	  while there is no probe
 */
struct tracepoint {
	const char *name;
	struct tracepoint_func __rcu *funcs;
	bool active __aligned(4);
	u8 flags;
#ifdef CONFIG_TRACEPOINT_TRAMPOLINE
	u8 nr_args;
	u8 one_size;
	s32 code;
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
 * tracepoint_enabled - does a tracepoint have probes?
 * @tp: name of the tracepoint
 *
 * The same as trace_<tp>_enabled(), but safe in headers.
 */
#ifdef CONFIG_TRACEPOINTS
# define tracepoint_enabled(tp)	imv_unlikely_var(__tracepoint_##tp.active)
#else
# define tracepoint_enabled(tp)	false
#endif

#endif
