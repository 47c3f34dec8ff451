/* SPDX-License-Identifier: GPL-2.0 */
#ifndef STORM_H
#define STORM_H

#include <linux/tracepoint.h>

#define STORM_REGISTRARS	4

/* By registrar: the number of the registration that a probe was called for. */
struct storm_hit {
	unsigned long seen[STORM_REGISTRARS];
};

DECLARE_TRACE(storm, TP_PROTO(struct storm_hit *hit), TP_ARGS(hit));

/*
 * A hit that begins after a registration was completed and ends before its
 * removal begins must reach the probe. Expands in every module that hits.
 */
#define STORM_HIT()							\
	do {								\
		unsigned long __expected[STORM_REGISTRARS];		\
		struct storm_hit __hit = { };				\
									\
		storm_before(__expected);				\
		trace_storm_tp(&__hit);					\
		storm_after(__expected, &__hit);			\
	} while (0)

void storm_before(unsigned long *expected);
void storm_after(const unsigned long *expected, const struct storm_hit *hit);

#endif /* STORM_H */
