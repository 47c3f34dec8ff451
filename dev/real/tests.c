// SPDX-License-Identifier: GPL-2.0
/*
 * real TEST SECONDS [LEFT_OUT]: threads execute sites, while this one changes them. Prints
 * what was done and what was wrong. LEFT_OUT is a mask of the synchronisations of a batch
 * that are left out, to see what the test would notice.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"
#include "shared.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof(*(a)))
#define LINE		64
#define PAGE		4096

static unsigned int nr_threads = 1;
static double end;

static bool report(const char *name, ulong changes, ulong lost, ulong late, ulong wrong)
{
	ulong hits = 0, traps = 0, stale = 0;
	unsigned int i;

	for (i = 0; i < nr_threads; i++) {
		hits += readers[i].hits;
		wrong += readers[i].wrong;
		traps += readers[i].traps;
		stale += readers[i].stale;
	}
	printf("%s: hits=%lu changes=%lu syncs=%lu graces=%lu traps=%lu stale=%lu lost=%lu late=%lu wrong=%lu\n",
	       name, hits, changes, nr_syncs, nr_graces, traps, stale, lost, late, wrong);
	return hits && changes && !lost && !late && !wrong;
}

/*
 * Values: a thread reads them at all places, while they are set, some in one batch. What
 * it reads is the value of the last completed batch, or of that which is going on.
 */

extern const struct { ulong (*read)(void); int value; } k_real_readers[];
extern const int k_real_nr_readers;
void k_real_set(int value, ulong number);
void *k_real_site(int value, int nr);
void k_real_begin(void);
void k_real_commit(void);

static const struct { int bits, size; } values[] = {
	{ 8, 5 }, { 16, 5 }, { 32, 5 }, { 64, 10 }, { 1, 2 }, { 1, 5 },
};

/* The numbers of its batches; they differ while one is going on. */
static struct { volatile ulong begun, done; } __attribute__((aligned(LINE))) batch[ARRAY_SIZE(values)];

/* Successive numbers differ in most bytes. */
static ulong value_of(int value, ulong number)
{
	int bits = values[value].bits;

	if (bits >= 16)
		number *= 0x9e3779b97f4a7c15;
	return bits == 64 ? number : number & ((1UL << bits) - 1);
}

static void read_some(struct reader *reader)
{
	int first = random_below(k_real_nr_readers - 8), i, round, value;
	ulong before, after, got;

	for (round = 0; round < 200; round++) {
		for (i = first; i < first + 8; i++) {
			value = k_real_readers[i].value;
			before = batch[value].done;
			got = k_real_readers[i].read();
			__atomic_signal_fence(__ATOMIC_SEQ_CST);
			after = batch[value].begun;
			reader->hits++;
			while (got != value_of(value, before) && before != after)
				before++;
			reader->wrong += got != value_of(value, before);
		}
	}
}

static void set_some(void)
{
	unsigned int which = 1 + random_below((1 << ARRAY_SIZE(values)) - 1), i;

	for (i = 0; i < ARRAY_SIZE(values); i++)
		batch[i].begun += which >> i & 1;
	k_real_begin();
	for (i = 0; i < ARRAY_SIZE(values); i++)
		if (which >> i & 1)
			k_real_set(i, value_of(i, batch[i].begun));
	k_real_commit();
	for (i = 0; i < ARRAY_SIZE(values); i++)
		batch[i].done = batch[i].begun;
}

/* Each offset of the first byte in a line must be there, and each split by a page. */
static bool places_are_complete(void)
{
	bool complete = true;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(values); i++) {
		ulong offsets = 0, splits = 0, at;
		int nr;

		for (nr = 0; (at = (ulong)k_real_site(i, nr)); nr++) {
			offsets |= 1UL << at % LINE;
			if (at % PAGE + values[i].size > PAGE)
				splits |= 1UL << (PAGE - at % PAGE);
		}
		complete &= !~offsets && splits == (1UL << values[i].size) - 2;
	}
	return complete;
}

static bool test_values(void)
{
	ulong changes = 0;

	if (!places_are_complete())
		fail("the compiler has put an instruction elsewhere");
	start_readers(nr_threads, read_some);
	for (; seconds() < end; changes++)
		set_some();
	stop_readers(nr_threads);
	return report("values", changes, 0, 0, 0);
}

/*
 * Tracepoints and a marker: a probe that stays counts the hits; others do not stay.
 */

void k_real_hit(unsigned int nr, ulong n);
int k_real_attach(unsigned int nr, struct real_probe *probe);
int k_real_detach(unsigned int nr, struct real_probe *probe);
void k_real_synchronize(void);
void k_real_mark(ulong n);
int k_real_mark_attach(bool variadic, struct real_probe *probe);
int k_real_mark_detach(bool variadic, struct real_probe *probe);

#define MARK		REAL_TRACEPOINTS	/* the number of the marker */
#define PROBES		8

static struct real_probe always[MARK + 1], some[MARK + 1][PROBES];
static ulong hits[MARK + 1];

/* On the marker, the first one that does not stay has the variadic form. */
static int attach(unsigned int nr, struct real_probe *probe)
{
	return nr == MARK ? k_real_mark_attach(probe == some[MARK], probe) :
			    k_real_attach(nr, probe);
}

static int detach(unsigned int nr, struct real_probe *probe)
{
	return nr == MARK ? k_real_mark_detach(probe == some[MARK], probe) :
			    k_real_detach(nr, probe);
}

static void hit_all(struct reader *reader)
{
	ulong n = random_below(1U << 30);
	unsigned int nr;

	for (nr = 0; nr < MARK; nr++)
		k_real_hit(nr, n);
	k_real_mark(n);
	for (nr = 0; nr <= MARK; nr++)
		__atomic_fetch_add(&hits[nr], 1, __ATOMIC_RELAXED);
	reader->hits += MARK + 1;
}

static void change_some(bool attached[MARK + 1][PROBES])
{
	unsigned int nr = random_below(MARK + 1), i = random_below(PROBES);
	struct real_probe *probe = &some[nr][i];
	int ret;

	if (attached[nr][i]) {
		ret = detach(nr, probe);
		k_real_synchronize();
		probe->gone = true;
	} else {
		probe->gone = false;
		ret = attach(nr, probe);
	}
	if (ret)
		fail("tracepoint %u: error %d", nr, ret);
	attached[nr][i] = !attached[nr][i];
	run_deferred_work();
}

static bool test_probes(void)
{
	static bool attached[MARK + 1][PROBES];
	ulong changes = 0, lost = 0, late = 0, wrong = 0;
	unsigned int nr, i;

	for (nr = 0; nr <= MARK; nr++)
		if (attach(nr, &always[nr]))
			fail("cannot attach");
	run_deferred_work();
	start_readers(nr_threads, hit_all);
	for (; seconds() < end; changes++)
		change_some(attached);
	stop_readers(nr_threads);
	for (nr = 0; nr <= MARK; nr++) {
		lost += labs((long)(hits[nr] - always[nr].calls));
		wrong += always[nr].wrong;
		for (i = 0; i < PROBES; i++) {
			late += some[nr][i].late;
			wrong += some[nr][i].wrong;
		}
	}
	return report("probes", changes, lost, late, wrong);
}

/*
 * A set of function tracers is replaced by others. The first tracer is in all of them.
 */

struct ftrace_set;
struct ftrace_set *k_real_make_set(unsigned int members, bool regs, struct real_probe *probes);
void k_real_use_set(const struct ftrace_set *set);
void k_real_free_set(struct ftrace_set *set);
ulong k_real_traced(ulong n);

static void call_traced(struct reader *reader)
{
	unsigned int i;

	for (i = 0; i < 1000; i++)
		reader->wrong += k_real_traced(42) != 126;
	reader->hits += 1000;
}

static bool test_tracers(void)
{
	static struct real_probe tracers[REAL_TRACERS];
	struct ftrace_set *set = NULL, *old;
	ulong changes = 0, lost, wrong = 0;
	unsigned int i;

	for (; seconds() < end; changes++) {
		old = set;
		set = k_real_make_set(1 | random_below(1 << REAL_TRACERS), random_below(2), tracers);
		if (!set)
			fail("no set");
		k_real_use_set(set);
		if (old)
			k_real_free_set(old);
		else
			start_readers(nr_threads, call_traced);
		run_deferred_work();
	}
	stop_readers(nr_threads);
	for (lost = 0, i = 0; i < nr_threads; i++)
		lost += readers[i].hits;
	lost = labs((long)(lost - tracers[0].calls));
	for (i = 0; i < REAL_TRACERS; i++)
		wrong += tracers[i].wrong;
	return report("tracers", changes, lost, 0, wrong);
}

int main(int argc, char **argv)
{
	static const struct { const char *name; bool (*test)(void); } tests[] = {
		{ "values", test_values }, { "probes", test_probes }, { "tracers", test_tracers },
	};
	unsigned int i;

	if (argc < 3)
		fail("usage: real TEST SECONDS [LEFT_OUT]");
	setbuf(stdout, NULL);
	host_init();
	left_out = argc > 3 ? atoi(argv[3]) : 0;
	for (i = 0; i < ARRAY_SIZE(tests); i++) {
		if (strcmp(argv[1], tests[i].name))
			continue;
		end = seconds() + atof(argv[2]);
		return !tests[i].test();
	}
	fail("there is no test %s", argv[1]);
}
