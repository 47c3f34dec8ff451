/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tracepoints of tracepoint_sample. The module that hits them and the one
 * that registers probes include this file, which checks the types of both.
 */
#ifndef _TRACEPOINT_SAMPLE_H
#define _TRACEPOINT_SAMPLE_H

#include <linux/tracepoint.h>

/*
 * A tracepoint passes on the data that the code has, unchanged. DECLARE_TRACE() adds _tp
 * to the name, so that readers of the code do not take it for a trace event.
 */
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
