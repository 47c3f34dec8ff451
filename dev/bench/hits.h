/* SPDX-License-Identifier: GPL-2.0 */
/* Tracepoints that another file has the sites of, as most have. */
#include <linux/tracepoint.h>

DECLARE_TRACE(hits, TP_PROTO(int number, void *pointer), TP_ARGS(number, pointer));
DECLARE_TRACE_SYSCALL(hits_faultable, TP_PROTO(int number, void *pointer),
		      TP_ARGS(number, pointer));
