/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TRACE_TRACER_H
#define _TRACE_TRACER_H

/*
 * Markers that are fed by a tracepoint: the probe of the tracepoint contains the marker
 * and makes basic types of the kernel's types. The probe is registered only while the
 * marker has probes to call; otherwise the tracepoint is as if there were no marker.
 *
 *	DEFINE_TRACER(tp, mark, TP_PROTO(...), format, args...)
 *						the probe and its marker
 *	trace_mark_tp(mark, tp, probe, format, args...)
 *						the marker in a probe with more code
 *
 * From the proposal of default tracers for tracepoints by Peter Zijlstra and
 * Mathieu Desnoyers, 2008.
 */

#include <linux/marker.h>
#include <linux/tracepoint.h>

/* The compiler may make two copies of the statement. */
#define __MARK_FED(name, tp_name, callback)				\
	".ifndef __mark_fed_" name "_by_" callback "_of_" tp_name "\n\t"	\
	".ifdef __marker_" name "\n\t"					\
	__MARK_IS_FED(name)						\
	".endif\n\t"							\
	".ifdef __mark_feeds_" callback "\n\t"			\
	".error \"the probe " callback " has a marker already: " name " needs its own\"\n\t" \
	".endif\n\t"							\
	".set __mark_feeds_" callback ", 1\n\t"			\
	".set __mark_fed_" name ", 1\n\t"				\
	".set __mark_fed_" name "_by_" callback "_of_" tp_name ", 1\n\t"	\
	".endif\n\t"

#ifdef CONFIG_MARKERS
/**
 * trace_mark_tp - a marker in the probe of a tracepoint
 * @name: an identifier, global in the kernel: subsystem_event
 * @tp_name: the tracepoint
 * @tp_callback: the function that contains this marker and no other. It is registered
 *		 on the tracepoint, with NULL data, while the marker has probes.
 *		 Nothing else refers to it: if it is static, it must be __used.
 * @format: a string literal, as for printf()
 * @args: the values
 *
 * Context: that of the tracepoint.
 */
#define trace_mark_tp(name, tp_name, tp_callback, format, args...)	\
	do {								\
		static const struct tracepoint_ext __mark_ext = {	\
			.feed = &__tracepoint_##tp_name,		\
			.feed_probe = {					\
				.func = tp_callback,			\
				.prio = TRACEPOINT_DEFAULT_PRIO,	\
			},						\
			.text = #name,					\
		};							\
									\
		check_trace_callback_type_##tp_name(tp_callback);	\
		__trace_mark(btf_trace_##name, __mark_guard_patched, __mark_call, \
			     #name, __MARK_ALONE, __MARK_FED(#name, #tp_name, #tp_callback), \
			     __mark_ext.text, TRACEPOINT_EXT, format, ##args); \
	} while (0)

/**
 * DEFINE_TRACER - translate a tracepoint into a marker
 * @tp_name: the tracepoint
 * @mark: name of the marker
 * @proto: TP_PROTO(), the prototype of the tracepoint
 * @format: the format of the marker
 * @args: its arguments, made from those of the tracepoint
 *
 * For example::
 *
 *	DEFINE_TRACER(sched_process_exit, kernel_process_exit,
 *		      TP_PROTO(struct task_struct *p, bool group_dead),
 *		      "pid %d", p->pid);
 */
#define DEFINE_TRACER(tp_name, mark, proto, format, args...)		\
	static notrace __used void					\
	__tracer_##mark(void *__data, proto)				\
	{								\
		trace_mark_tp(mark, tp_name, __tracer_##mark, format, ##args); \
	}
#else
#define trace_mark_tp(name, tp_name, tp_callback, format, args...)	\
	do {								\
		check_trace_callback_type_##tp_name(tp_callback);	\
		__mark_check_format(format, ##args);			\
	} while (0)
#define DEFINE_TRACER(tp_name, mark, proto, format, args...)
#endif

#endif /* _TRACE_TRACER_H */
