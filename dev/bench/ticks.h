/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The cost of a pass in ticks of the TSC; under QEMU's -icount these are
 * instructions. Only interrupts disturb a run, so the minimum of several runs
 * is exact.
 */
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/timex.h>

#define RUNS	20
#define PASSES	100

/* A function that does something PASSES times; noinline and notrace. */
typedef void (*passes_t)(int number, void *pointer);

static noinline notrace void pass_nothing(int number, void *pointer)
{
	unsigned int i;

#pragma GCC unroll 1	/* loops with a site are not unrolled */
	for (i = 0; i < PASSES; i++)
		barrier();
}

static cycles_t least_ticks(passes_t passes)
{
	cycles_t start, least = ULLONG_MAX;
	unsigned int i;

	for (i = 0; i < RUNS; i++) {
		start = get_cycles();
		passes(i, &start);
		least = min(least, get_cycles() - start);
	}
	return least;
}

/* The ticks of one pass, without the loop. */
static unsigned long pass_ticks(passes_t passes)
{
	return (least_ticks(passes) - least_ticks(pass_nothing) + PASSES / 2) / PASSES;
}
