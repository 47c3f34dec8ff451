/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TRACE_TORTURE_H
#define _TRACE_TORTURE_H

/*
 * What the parts of the torture of tracing share. Threads hit things while others
 * change them. There are two kinds of things, with one check each.
 *
 * Values: each change has a number, and so has each value that is set. A hit sees a
 * number between that of the last change that had ended when the hit began, and that
 * of the last one that had begun when the hit ended.
 *
 * Probes: each attachment has a number. A hit that begins after an attachment is
 * complete and ends before its removal begins reaches the probe once. A probe is not
 * called after its removal is complete, nor with what belongs to another one.
 *
 * core.c	parameters, threads, report
 * values.c	the check of values, and the ways to change them
 * probes.c	the check of probes, and the ways to attach and detach them
 * imv.c jump.c		values: immediate values, and jumps on them
 * tp.c marker.c func.c	probes: tracepoints, markers, functions (traced.c)
 * nmi.c	hits by NMIs
 * tp.h		what tracepoints there are
 * hits.h	the sites, in each module that hits
 * sites.c	a module with more of them
 */

#include <linux/percpu.h>
#include <linux/prandom.h>
#include <linux/tracepoint.h>
#include <linux/types.h>

/* Threads that change things of one kind. Each has values and probes of its own. */
#define TT_OWNERS	4

/* Data of a probe is used again after as many attachments. */
#define TT_NR_DATA	64

enum tt_kind_id { TT_IMV, TT_JUMP, TT_TP, TT_STORM, TT_MARKER, TT_FUNC, TT_NR_KINDS };

enum tt_counter {
	TT_SETS, TT_REGISTRATIONS, TT_NMIS, TT_LOST, TT_LATE, TT_MIXED, TT_TORN, TT_TWICE,
	TT_FAILED, TT_STARVED, TT_CALLS, TT_CALLED, TT_NR_COUNTERS
};

/**
 * struct tt_counts - what a CPU has counted
 * @hits: by kind
 * @changes: by kind: those that are complete
 * @events: by counter
 */
struct tt_counts {
	unsigned long hits[TT_NR_KINDS];
	unsigned long changes[TT_NR_KINDS];
	unsigned long events[TT_NR_COUNTERS];
};

DECLARE_PER_CPU(struct tt_counts, tt_counts);

static __always_inline void tt_count(enum tt_counter counter, unsigned long nr)
{
	this_cpu_add(tt_counts.events[counter], nr);
}

static __always_inline void tt_count_hits(enum tt_kind_id kind, unsigned long nr)
{
	this_cpu_add(tt_counts.hits[kind], nr);
}

/**
 * struct tt_kind - a kind of things that are tortured
 * @id: its number
 * @name: for the parameter kinds
 * @hit: hits all of them once; any context
 * @init: prepares them, or NULL
 * @change: changes some that belong to @owner; may sleep
 * @stop: undoes all changes of @owner that last, or NULL
 */
struct tt_kind {
	enum tt_kind_id id;
	const char *name;
	void (*hit)(void);
	int (*init)(void);
	void (*change)(unsigned int owner, struct rnd_state *rnd);
	void (*stop)(unsigned int owner, struct rnd_state *rnd);
};

extern const struct tt_kind tt_imv, tt_jump, tt_tp, tt_storm, tt_marker, tt_func;

/* A tracer of functions finds the arguments of a function in its registers. */
#if defined(CONFIG_DYNAMIC_FTRACE_WITH_ARGS) && defined(CONFIG_HAVE_FUNCTION_ARG_ACCESS_API)
#define TT_HAVE_FUNCS
#endif

bool tt_is_on(enum tt_kind_id kind);
void tt_hit_nth(unsigned int n);
bool tt_goes_on(void);
void tt_rest(void);

static inline unsigned int tt_random(struct rnd_state *rnd, unsigned int below)
{
	return prandom_u32_state(rnd) % below;
}

void tt_pause(struct rnd_state *rnd);
bool tt_starve(struct rnd_state *rnd);
bool tt_starved(bool set);

/* The state of the kinds that have values */

/**
 * struct tt_epoch - the changes of the values of an owner
 * @begun: the last change that has begun
 * @done: the last change that has ended
 */
struct tt_epoch {
	unsigned long begun;
	unsigned long done;
} ____cacheline_aligned;

/*
 * Immediate values of all types. Each holds the number of the change that set it,
 * multiplied by a constant so that half of a value and half of the next one make no
 * number that was set. The pointer leads to the member of tt_objects[] with this
 * number.
 */
struct tt_values {
	u8 as_u8 __aligned(IMV_ALIGN);
	s8 as_s8 __aligned(IMV_ALIGN);
	u16 as_u16 __aligned(IMV_ALIGN);
	s16 as_s16 __aligned(IMV_ALIGN);
	u32 as_u32 __aligned(IMV_ALIGN);
	s32 as_s32 __aligned(IMV_ALIGN);
	u64 as_u64;
	s64 as_s64;
	char *pointer;
};

/*
 * Immediate values that jumps depend on. Each is the lowest bit of the number of the
 * change that set it, or not zero if that is.
 */
struct tt_jumps {
	u8 as_u8 __aligned(IMV_ALIGN);
	bool as_bool __aligned(IMV_ALIGN);
	u32 as_u32 __aligned(IMV_ALIGN);
};

#define TT_FACTOR	0x9e3779b97f4a7c15ULL	/* TT_FACTOR * TT_INVERSE is 1 */
#define TT_INVERSE	0xf1de83e19937733dULL

#define TT_NR_OBJECTS	256

extern struct tt_values tt_values[TT_OWNERS];
extern struct tt_jumps tt_jumps[TT_OWNERS];
extern struct tt_epoch tt_imv_epochs[TT_OWNERS], tt_jump_epochs[TT_OWNERS];
extern char tt_objects[TT_NR_OBJECTS];

void tt_bad_value(unsigned long behind);
void tt_change_values(struct tt_epoch *epoch, unsigned int owner,
		      void (*set)(unsigned int owner, unsigned long number),
		      struct rnd_state *rnd);

/* The state of the kinds that have probes */

/**
 * struct tt_data - what a probe is attached with
 * @func: the probe; NULL while it must not be called
 * @target: what it is attached to
 * @owner: by whom
 * @number: of the attachment
 */
struct tt_data {
	void *func;
	const struct tt_target *target;
	unsigned int owner;
	unsigned long number;
};

/**
 * struct tt_target - what probes are attached to, one of each owner
 * @expected: by owner: number of the attachment that no hit may miss, or 0
 * @number: by owner: number of the last attachment
 * @data: by owner: that of the attachments, in turns
 */
struct tt_target {
	unsigned long expected[TT_OWNERS];
	unsigned long number[TT_OWNERS];
	struct tt_data data[TT_OWNERS][TT_NR_DATA];
};

/**
 * struct tt_hit - a hit of a target
 * @target: the target
 * @calls: how many probes it reached
 * @expected: by owner: what was expected when it began
 * @seen: by owner: the attachment whose probe was called
 */
struct tt_hit {
	const struct tt_target *target;
	unsigned long calls;
	unsigned long expected[TT_OWNERS];
	unsigned long seen[TT_OWNERS];
};

/* An argument of a hit that belongs to no other one. */
static inline unsigned long tt_word(const struct tt_hit *hit, unsigned int n)
{
	return (unsigned long)hit * 31 + n;
}

/**
 * struct tt_probes - a kind of things that probes are attached to
 * @targets: the things
 * @nr: how many there are
 * @deferred: can other tasks defer what is attached?
 * @rcu: without deferring, is a grace period of RCU enough after @detach?
 * @attach: sets @data->func and attaches that; returns an error
 * @detach: detaches it; returns an error
 * @synchronize: returns when no probe that was detached before is called
 */
struct tt_probes {
	struct tt_target *targets;
	unsigned int nr;
	bool deferred, rcu;
	int (*attach)(unsigned int nr, struct tt_data *data);
	int (*detach)(unsigned int nr, struct tt_data *data);
	void (*synchronize)(void);
};

void tt_before(struct tt_hit *hit, const struct tt_target *target);
void tt_after(struct tt_hit *hit, enum tt_kind_id kind);
void tt_report_lost(void);
void tt_called(struct tt_data *data, struct tt_hit *hit, void *self, bool arguments_agree);
struct tt_data *tt_last_data(struct tt_target *target, unsigned int owner);
void tt_change_probes(const struct tt_probes *probes, unsigned int owner,
		      struct rnd_state *rnd);
void tt_stop_probes(const struct tt_probes *probes, unsigned int owner,
		    struct rnd_state *rnd);

/* Markers, by the number of their arguments */
enum tt_marker_id { TT_MARKER_ONE, TT_MARKER_THREE, TT_MARKER_NINE, TT_NR_MARKERS };

#define TT_FORMAT_ONE	"hit %p"
#define TT_FORMAT_THREE	"hit %p word %lu number %d"
#define TT_FORMAT_NINE	"hit %p a %lu b %d c %lu d %lld e %u f %ld g %d h %lu"

extern struct tt_target tt_marker_targets[TT_NR_MARKERS];

/* Functions that are traced */
#define TT_NR_FUNCS	8

typedef void tt_traced_func(struct tt_hit *hit);

extern tt_traced_func *const tt_traced_funcs[TT_NR_FUNCS];
extern struct tt_target tt_func_targets[TT_NR_FUNCS];

#ifdef CONFIG_X86_LOCAL_APIC
int tt_start_nmis(unsigned long seed);
void tt_stop_nmis(void);
#else
static inline int tt_start_nmis(unsigned long seed) { return 0; }
static inline void tt_stop_nmis(void) { }
#endif

#endif /* _TRACE_TORTURE_H */
