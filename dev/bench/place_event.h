/* SPDX-License-Identifier: GPL-2.0 */
/* The trace event that is compared with other ways to record the same. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM bench

#if !defined(_PLACE_EVENT_H) || defined(TRACE_HEADER_MULTI_READ)
#define _PLACE_EVENT_H

#include <linux/tracepoint.h>

TRACE_EVENT(bench_place,
	TP_PROTO(int number, void *pointer),
	TP_ARGS(number, pointer),
	TP_STRUCT__entry(
		__field(int, number)
		__field(void *, pointer)
	),
	TP_fast_assign(
		__entry->number = number;
		__entry->pointer = pointer;
	),
	TP_printk("number %d pointer %p", __entry->number, __entry->pointer)
);

#endif /* _PLACE_EVENT_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE place_event
#include <trace/define_trace.h>
