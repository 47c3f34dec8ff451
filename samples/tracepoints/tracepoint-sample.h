/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tracepoints of tracepoint_sample. Who fires them and who connects probes
 * includes this file; the types of both are checked against it.
 */
#ifndef _TRACEPOINT_SAMPLE_H
#define _TRACEPOINT_SAMPLE_H

#include <linux/tracepoint.h>

/* A tracepoint hands on what the code has, as it is. */
struct sample_request {
	unsigned int nr;
	const char *name;
};

DECLARE_TRACE(sample_request,
	      TP_PROTO(const struct sample_request *request, u64 checksum),
	      TP_ARGS(request, checksum));

DECLARE_TRACE(sample_done,
	      TP_PROTO(unsigned int requests),
	      TP_ARGS(requests));

#endif /* _TRACEPOINT_SAMPLE_H */
