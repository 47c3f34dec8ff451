/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The cost of a pass in ticks of the TSC; under QEMU's -icount these are
 * instructions. Only interrupts disturb a run, so the minimum of several runs
 * is exact. Elsewhere, the clock has up to 100 instructions, so there are more passes.
 */
#include <linux/ktime.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/timex.h>

#define RUNS	20
#ifdef CONFIG_X86
#define PASSES	100
#define ticks()	get_cycles()
#else
#define PASSES	20000
#define ticks()	ktime_get_ns()
#endif

/* A function that does something PASSES times; noinline and notrace. */
typedef void (*passes_t)(int number, void *pointer);

static noinline notrace void pass_nothing(int number, void *pointer)
{
	unsigned int i;

#pragma GCC unroll 1	/* loops with a site are not unrolled */
	for (i = 0; i < PASSES; i++)
		barrier();
}

static u64 least_ticks(passes_t passes)
{
	u64 start, least = ULLONG_MAX;
	unsigned int i;

	for (i = 0; i < RUNS; i++) {
		start = ticks();
		passes(i, &start);
		least = min(least, ticks() - start);
	}
	return least;
}

/* The ticks of one pass, without the loop. */
static unsigned long pass_ticks(passes_t passes)
{
	return (least_ticks(passes) - least_ticks(pass_nothing) + PASSES / 2) / PASSES;
}
