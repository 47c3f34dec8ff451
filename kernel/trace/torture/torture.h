/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TRACE_TORTURE_H
#define _TRACE_TORTURE_H

/*
 * Definitions shared by all parts of the tracing torture test. Some threads hit
 * sites (read values, call probes) while other threads change values and probes.
 * There are two checks:
 *
 * Values: each change has a number, from which the new values are computed. A hit
 * must see a number in this range: from the last change that had ended when the hit
 * began to the last change that had begun when the hit ended.
 *
 * Probes: each attachment has a number. A hit that begins after an attachment is
 * complete and ends before its removal begins must call the probe once. A probe must
 * not be called after its removal is complete, or with data or arguments of another
 * probe.
 *
 * core.c	parameters, threads, report
 * values.c	check and change values
 * probes.c	check, attach and detach probes
 * imv.c jump.c		values: immediate values, and jumps on them
 * tp.c marker.c func.c	probes: tracepoints, markers, functions (traced.c)
 * nmi.c	hits by NMIs
 * tp.h		declarations of the tracepoints
 * hits.h	the sites; included in both modules
 * sites.c	a second module, with more sites
 */

#include <linux/percpu.h>
#include <linux/prandom.h>
#include <linux/tracepoint.h>
#include <linux/types.h>

/* Changing threads of each kind. Each has its own values or probes. */
#define TT_OWNERS	4

/* Probe data is reused after this number of attachments. */
#define TT_NR_DATA	64

enum tt_kind_id { TT_IMV, TT_JUMP, TT_TP, TT_STORM, TT_MARKER, TT_FUNC, TT_NR_KINDS };

enum tt_counter {
	TT_SETS, TT_REGISTRATIONS, TT_NMIS, TT_LOST, TT_LATE, TT_MIXED, TT_TORN, TT_TWICE,
	TT_FAILED, TT_STARVED, TT_CALLS, TT_CALLED, TT_SITES, TT_SITE_NMIS,
	TT_NR_COUNTERS
};

/**
 * struct tt_counts - counters of a CPU
 * @hits: hits, by kind
 * @changes: complete changes, by kind
 * @events: other events, by counter
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
 * struct tt_kind - a kind of values or probes that is tested
 * @id: its number
 * @name: its name in the parameter "kinds"
 * @hit: hits all sites of this kind once; any context
 * @change: changes some values or probes of @owner; may sleep
 * @stop: detaches all probes of @owner, or NULL
 */
struct tt_kind {
	enum tt_kind_id id;
	const char *name;
	void (*hit)(void);
	void (*change)(unsigned int owner, struct rnd_state *rnd);
	void (*stop)(unsigned int owner, struct rnd_state *rnd);
};

extern const struct tt_kind tt_imv, tt_jump, tt_tp, tt_storm, tt_marker, tt_func;

/* The tracers read the argument of the traced function from the registers. */
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
 * struct tt_epoch - numbers of the changes to the values of an owner
 * @begun: the last change that has begun
 * @done: the last change that has ended
 */
struct tt_epoch {
	unsigned long begun;
	unsigned long done;
} ____cacheline_aligned;

/*
 * Immediate values of all types. Each holds the number of the change that set it,
 * multiplied by a constant. So a value that is half old and half new decodes to a
 * number that was never set. The pointer is the address of the member of tt_objects[]
 * with this number.
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
 * Immediate values that jumps depend on. Each is zero if the number of the change
 * that set it is even, and not zero if it is odd.
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
 * struct tt_data - private data of an attached probe
 * @func: the probe; NULL while it must not be called
 * @target: what it is attached to
 * @owner: the owner that attached it
 * @number: number of the attachment
 */
struct tt_data {
	void *func;
	const struct tt_target *target;
	unsigned int owner;
	unsigned long number;
};

/**
 * struct tt_target - what probes are attached to, at most one of each owner
 * @expected: by owner: number of the attachment that each hit must reach, or 0
 * @number: by owner: number of the last attachment
 * @data: by owner: data of the last TT_NR_DATA attachments
 */
struct tt_target {
	unsigned long expected[TT_OWNERS];
	unsigned long number[TT_OWNERS];
	struct tt_data data[TT_OWNERS][TT_NR_DATA];
};

/**
 * struct tt_hit - a hit of a target
 * @target: the target
 * @calls: number of probes that were called
 * @expected: by owner: @expected of the target when the hit began
 * @seen: by owner: number of the attachment whose probe was called last, or 0
 */
struct tt_hit {
	const struct tt_target *target;
	unsigned long calls;
	unsigned long expected[TT_OWNERS];
	unsigned long seen[TT_OWNERS];
};

/* The @n-th argument of a hit; other hits pass other values */
static inline unsigned long tt_word(const struct tt_hit *hit, unsigned int n)
{
	return (unsigned long)hit * 31 + n;
}

/**
 * struct tt_probes - a kind of targets that probes are attached to
 * @targets: the targets
 * @nr: number of targets
 * @deferred: may the owner defer the patching?
 * @rcu: if it does not, is an RCU grace period enough after @detach?
 * @attach: sets @data->func and attaches that; returns 0 or an error
 * @detach: detaches it; returns 0 or an error
 * @synchronize: waits until no probe that was detached before is running
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

typedef void tt_nmi_func(void);

#ifdef CONFIG_X86_LOCAL_APIC
int tt_start_nmis(unsigned long seed);
void tt_stop_nmis(void);
void tt_hit_by_nmis(tt_nmi_func *hit);
#else
static inline int tt_start_nmis(unsigned long seed) { return 0; }
static inline void tt_stop_nmis(void) { }
static inline void tt_hit_by_nmis(tt_nmi_func *hit) { }
#endif

#endif /* _TRACE_TORTURE_H */
