/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _REAL_PROBES_KERNEL_H
#define _REAL_PROBES_KERNEL_H

#include "shared.h"

struct tracepoint;

struct real_tracepoint {
	struct tracepoint *tp;
	void *probe;
	void (*hit)(ulong n);
};

extern const struct real_tracepoint real_tracepoints[];

static __always_inline void real_note(struct real_probe *probe, bool right)
{
	__atomic_fetch_add(&probe->calls, 1, __ATOMIC_RELAXED);
	if (!right)
		__atomic_fetch_add(&probe->wrong, 1, __ATOMIC_RELAXED);
	if (READ_ONCE(probe->gone))
		__atomic_fetch_add(&probe->late, 1, __ATOMIC_RELAXED);
}

#endif /* _REAL_PROBES_KERNEL_H */
