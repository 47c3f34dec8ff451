/* SPDX-License-Identifier: GPL-2.0 */
/* A trace event whose name is that of a tracepoint of the scheduler, without its _tp. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM names

#if !defined(_OWN_EVENT_H) || defined(TRACE_HEADER_MULTI_READ)
#define _OWN_EVENT_H

#include <linux/tracepoint.h>

TRACE_EVENT(pelt_cfs,
	TP_PROTO(int number),
	TP_ARGS(number),
	TP_STRUCT__entry(__field(int, number)),
	TP_fast_assign(__entry->number = number;),
	TP_printk("number %d", __entry->number)
);

#endif /* _OWN_EVENT_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE own-event
#include <trace/define_trace.h>
