/* SPDX-License-Identifier: GPL-2.0 */
/* The trace events that are compared with other ways to record the same. */
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

TRACE_EVENT(bench_numbers,
	TP_PROTO(int number, unsigned long size, void *pointer),
	TP_ARGS(number, size, pointer),
	TP_STRUCT__entry(
		__field(int, number)
		__field(unsigned long, size)
		__field(void *, pointer)
	),
	TP_fast_assign(
		__entry->number = number;
		__entry->size = size;
		__entry->pointer = pointer;
	),
	TP_printk("number %d size %lu pointer %p", __entry->number, __entry->size,
		  __entry->pointer)
);

TRACE_EVENT(bench_string,
	TP_PROTO(int number, const char *text),
	TP_ARGS(number, text),
	TP_STRUCT__entry(
		__field(int, number)
		__string(text, text)
	),
	TP_fast_assign(
		__entry->number = number;
		__assign_str(text);
	),
	TP_printk("number %d text %s", __entry->number, __get_str(text))
);

#endif /* _PLACE_EVENT_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE place_event
#include <trace/define_trace.h>
