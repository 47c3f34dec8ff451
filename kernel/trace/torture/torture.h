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
 * Each of these uses only those below it, and nmi.c:
 *
 * core.c	parameters, threads, report
 * tp.c marker.c func.c	kinds with probes: tracepoints, markers, functions (traced.c)
 * values.c	the kind with values: immediate values, and jumps on them
 * probes.c	check, attach and detach probes; counters and pauses
 *
 * sites.c is a second module, with more sites. Both modules include the sites in
 * hits.h, with the tracepoints that tp.h declares.
 */

#include <linux/percpu.h>
#include <linux/prandom.h>
#include <linux/tracepoint.h>
#include <linux/types.h>

/* Changing threads of each kind. Each has its own values or probes. */
#define TT_OWNERS	4

/* Probe data is reused after this number of attachments. */
#define TT_NR_DATA	64

enum tt_kind_id { TT_IMV, TT_TP, TT_MARKER, TT_FUNC, TT_NR_KINDS };

enum tt_counter {
	TT_SETS, TT_REGISTRATIONS, TT_NMIS, TT_SITES, TT_SITE_NMIS, TT_STARVED,
	TT_HIT_CALLS, TT_PROBE_CALLS,
	TT_LOST, TT_LATE, TT_MIXED, TT_TORN, TT_TWICE, TT_FAILED,
	TT_NR_COUNTERS, TT_FIRST_ERROR = TT_LOST,
};

/* Counters of a CPU. A change is counted when it is complete. */
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

extern unsigned long tt_kinds_on;	/* a bit for each kind */

static inline bool tt_is_on(enum tt_kind_id kind)
{
	return tt_kinds_on & BIT(kind);
}

void tt_pause(struct rnd_state *rnd);

static inline unsigned int tt_random(struct rnd_state *rnd, unsigned int below)
{
	return prandom_u32_state(rnd) % below;
}

/* The last change to the values of an owner that has begun, and that has ended. */
struct tt_epoch {
	unsigned long begun, done;
} ____cacheline_aligned;

/*
 * Immediate values of all sizes. Each holds the number of the change that set it,
 * multiplied by a constant. So a value that is half old and half new decodes to a
 * number that was never set. Jumps depend on the last ones: these are zero if the number
 * of the change that set them is even, and not zero if it is odd.
 */
struct tt_values {
	u8 as_u8 __aligned(IMV_ALIGN);
	u16 as_u16 __aligned(IMV_ALIGN);
	u32 as_u32 __aligned(IMV_ALIGN);
	u64 as_u64;
	char *pointer;
	bool jump __aligned(IMV_ALIGN);
	u32 wide_jump __aligned(IMV_ALIGN);
};

#define TT_FACTOR	0x9e3779b97f4a7c15ULL	/* TT_FACTOR * TT_INVERSE is 1 */
#define TT_INVERSE	0xf1de83e19937733dULL

extern struct tt_values tt_values[TT_OWNERS];
extern struct tt_epoch tt_epochs[TT_OWNERS];

void tt_bad_value(unsigned long behind);

/* Private data of an attached probe */
struct tt_data {
	void *func;		/* the probe; NULL while it must not be called */
	const struct tt_target *target;
	unsigned int owner;	/* who attached it */
	unsigned long number;	/* of the attachment */
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
 * @calls: number of calls of probes
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
 * @are_tracepoints: they are called as those of tracepoints, whose patching may be deferred
 * @attach: sets @data->func and attaches that; returns 0 or an error
 * @detach: detaches it; returns 0 or an error
 * @synchronize: waits until no probe that was detached before is running
 */
struct tt_probes {
	struct tt_target *targets;
	unsigned int nr;
	bool are_tracepoints;
	int (*attach)(unsigned int nr, struct tt_data *data);
	int (*detach)(unsigned int nr, struct tt_data *data);
	void (*synchronize)(void);
};

void tt_begin_hit(struct tt_hit *hit, const struct tt_target *target);
void tt_end_hit(struct tt_hit *hit, enum tt_kind_id kind);
void tt_note_call(struct tt_data *data, struct tt_hit *hit, void *self,
		  bool arguments_agree);
struct tt_data *tt_last_data(struct tt_target *target, unsigned int owner);
void tt_change_probes(const struct tt_probes *probes, unsigned int owner,
		      struct rnd_state *rnd);
void tt_stop_probes(const struct tt_probes *probes, unsigned int owner,
		    struct rnd_state *rnd);

/* A kind of objects that is tested: it has either values or probes. */
struct tt_kind {
	void (*hit)(void);	/* all sites of this kind once; any context */
	const struct tt_probes *probes;
	void (*change_values)(unsigned int owner, struct rnd_state *rnd);
};

extern const struct tt_kind tt_imv, tt_tp, tt_marker, tt_func;

/* Markers, by the number of their arguments */
enum tt_marker_id { TT_MARKER_ONE, TT_MARKER_NINE, TT_NR_MARKERS };

#define TT_FORMAT_ONE	"hit %p"
#define TT_FORMAT_NINE	"hit %p a %lu b %d c %lu d %lld e %u f %ld g %d h %lu"

extern struct tt_target tt_marker_targets[TT_NR_MARKERS];

/* Functions that are traced. The tracers read their argument from the registers. */
#define TT_NR_FUNCS	8

typedef void tt_traced_func(struct tt_hit *hit);

extern tt_traced_func *const tt_traced_funcs[TT_NR_FUNCS];
extern struct tt_target tt_func_targets[TT_NR_FUNCS];

typedef void tt_nmi_func(void);

#ifdef CONFIG_X86_LOCAL_APIC
int tt_start_nmis(unsigned long seed, void (*hit)(unsigned int n));
void tt_stop_nmis(void);
void tt_hit_by_nmis(tt_nmi_func *hit);
#else
static inline int tt_start_nmis(unsigned long seed, void (*hit)(unsigned int n))
{
	return 0;
}

static inline void tt_stop_nmis(void) { }
static inline void tt_hit_by_nmis(tt_nmi_func *hit) { }
#endif

#endif /* _TRACE_TORTURE_H */
