// SPDX-License-Identifier: GPL-2.0
/* Tracing torture test: counters and pauses. */
#include <linux/delay.h>
#include <linux/export.h>

#include "torture.h"

#define LONGEST_PAUSE	2000	/* microseconds */

DEFINE_PER_CPU(struct tt_counts, tt_counts);
EXPORT_PER_CPU_SYMBOL_GPL(tt_counts);

unsigned long tt_kinds_on;
EXPORT_SYMBOL_GPL(tt_kinds_on);

/* Sleeps for a random time. */
void tt_pause(struct rnd_state *rnd)
{
	usleep_range(1, 1 + tt_random(rnd, LONGEST_PAUSE));
}
