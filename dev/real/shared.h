/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _REAL_SHARED_H
#define _REAL_SHARED_H

/* What the code of the kernel's side and of the host have in common. */

#define REAL_TRACEPOINTS	12
#define REAL_TRACERS		8

/**
 * struct real_probe - the data of a probe, or a function tracer
 * @calls: how often it was called
 * @wrong: calls with wrong arguments
 * @late: calls after it was @gone
 * @gone: it was removed, and calls that ran then have ended
 */
struct real_probe {
	unsigned long calls, wrong, late;
	_Bool gone;
} __attribute__((aligned(64)));

#endif /* _REAL_SHARED_H */
