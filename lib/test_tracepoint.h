/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LIB_TEST_TRACEPOINT_H
#define _LIB_TEST_TRACEPOINT_H

/* For the KUnit tests of tracepoints: probes, and what they note. */

#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/srcu.h>
#include <linux/tracepoint.h>

#include "test_fail_alloc.h"
#include "test_symbol.h"

/* Each call of a probe appends its data, a digit, to this number. */
static unsigned long calls;
static int last_number;
static const char *last_text;

static inline void forget_calls(void)
{
	calls = 0;
	last_number = 0;
	last_text = NULL;
}

static inline int forget_calls_init(struct kunit *test)
{
	forget_calls();
	return 0;
}

/* The cases are those of tp_test_cases. */
#define TP_TEST_SUITE(suite_name, suite_init)				\
	static struct kunit_suite tp_test_suite = {			\
		.name = suite_name,					\
		.init = suite_init,					\
		.test_cases = tp_test_cases,				\
	};								\
	kunit_test_suite(tp_test_suite)

static inline void *digit(unsigned long nr)
{
	return (void *)nr;
}

/* Attaches a probe with the data 1 to @nr. Return: 0 or the first error. */
static inline int add_probes(struct tracepoint *tp, void *probe, unsigned long nr)
{
	unsigned long i;
	int ret = 0;

	for (i = 1; i <= nr && !ret; i++)
		ret = tracepoint_probe_register(tp, probe, digit(i));
	return ret;
}

/* Detaches these; some may be detached. Return: 0 or the first error. */
static inline int remove_probes(struct tracepoint *tp, void *probe, unsigned long nr)
{
	unsigned long i;
	int ret = 0, err;

	for (i = 1; i <= nr; i++) {
		err = tracepoint_probe_unregister(tp, probe, digit(i));
		ret = ret ?: err;
	}
	return ret;
}

static inline void probe_plain(void *data, int number, const char *text)
{
	calls = calls * 10 + (unsigned long)data;
	last_number = number;
	last_text = text;
}

static inline void probe_number(void *data, int number)
{
	calls = calls * 10 + (unsigned long)data;
	last_number = number;
}

/* Overwrites an argument of a probe, which must not affect other probes. */
static inline void spoil(void *arg, size_t size)
{
	memset(arg, 0x55, size);
	barrier_data(arg);
}

/* As many arguments as trampolines, and BPF, pass on. */
#define MOST_PROTO	TP_PROTO(u8 a, s16 b, u32 c, s64 d, void *e, u8 f, s16 g, u32 h, \
				 s64 i, void *j, bool k, u64 l)
#define MOST_ARGS	TP_ARGS(a, b, c, d, e, f, g, h, i, j, k, l)
#define MOST_VALUES	PARAMS(1, -2, 3, S64_MIN, &calls, U8_MAX, S16_MIN, U32_MAX, -9, \
			       &last_text, true, U64_MAX)

static inline void probe_most(void *data, MOST_PROTO)
{
	if (a == 1 && b == -2 && c == 3 && d == S64_MIN && e == &calls &&
	    f == U8_MAX && g == S16_MIN && h == U32_MAX && i == -9 &&
	    j == &last_text && k && l == U64_MAX)
		calls = calls * 10 + (unsigned long)data;
	spoil(&f, sizeof(f));
	spoil(&g, sizeof(g));
	spoil(&h, sizeof(h));
	spoil(&i, sizeof(i));
	spoil(&j, sizeof(j));
	spoil(&l, sizeof(l));
}

struct kunit_large {
	u64 values[3];
};

static inline void probe_by_value(void *data, int number, struct kunit_large large)
{
	calls += number + large.values[0] + large.values[1] + large.values[2];
	spoil(&large, sizeof(large));
}

#ifdef CONFIG_TRACEPOINT_TRAMPOLINE
/*
 * What is freed meanwhile is not used for trampolines that had no memory: the work item
 * that frees memory has run, or waits for this reader.
 */
static inline struct srcu_ctr __percpu *keep_without_code(void)
{
	let_work_end();
	return srcu_read_lock_fast(&tracepoint_srcu);
}

static inline void allow_code(struct srcu_ctr __percpu *reader)
{
	srcu_read_unlock_fast(&tracepoint_srcu, reader);
}

static inline bool has_code(const struct tracepoint *tp)
{
	return tp->code && !(tp->code & IMV_JUMP_TO_CALL);
}

/*
 * The first allocation of a registration is for the array, the next ones are for code. What
 * only some allocations need, for a slab or a stack trace, is counted too: try again, also
 * with later ones.
 */
static inline int register_without_code(struct tracepoint *tp, void *probe, void *data)
{
	int tries, ret;

	for (tries = 1;; tries++) {
		fail_nth_alloc(2 + (tries - 1) % 3);
		ret = tracepoint_probe_register(tp, probe, data);
		stop_failing();
		if ((!ret && !has_code(tp)) || tries == 10)
			return ret;
		tracepoint_probe_unregister(tp, probe, data);
	}
}
#endif

#endif /* _LIB_TEST_TRACEPOINT_H */
