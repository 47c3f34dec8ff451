/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM faults

#if !defined(FAULTS_EVENT_H) || defined(TRACE_HEADER_MULTI_READ)
#define FAULTS_EVENT_H

#include <linux/tracepoint.h>

TRACE_EVENT(faults_event,
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

#endif /* FAULTS_EVENT_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE faults-event
#include <trace/define_trace.h>
