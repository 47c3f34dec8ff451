/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM names_later

#if !defined(NAMES_LATER_H) || defined(TRACE_HEADER_MULTI_READ)
#define NAMES_LATER_H

#include <linux/tracepoint.h>

DECLARE_TRACE(names_later, TP_PROTO(int number), TP_ARGS(number));

#endif /* NAMES_LATER_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE names-later
#include <trace/define_trace.h>
