// SPDX-License-Identifier: GPL-2.0
/*
 * Mistakes that must not build, one for each value of MISTAKE; 0 is none of them.
 * The step compile has the expected messages.
 */
#include <linux/immediate.h>
#include <linux/marker.h>
#include <linux/module.h>
#include <linux/tracepoint.h>
#include <trace/events/sched.h>
#include <trace/tracer.h>

DECLARE_TRACE(compile, TP_PROTO(int number), TP_ARGS(number));
DEFINE_TRACE(compile_tp, TP_PROTO(int number), TP_ARGS(number));

struct three {
	char byte[3];
};

static DEFINE_IMV(struct three, three);
static bool unaligned[2];

static void probe_right(void *data, int number) { }
static void probe_wrong(void *data, const char *text) { }
static void marker_right(void *private, void *call_private, const char *format,
			 va_list *args) { }
static void marker_wrong(void *private, int number) { }

#if MISTAKE >= 15
static __used void feed(void *data, int number)
{
	trace_mark_tp(fed, compile_tp, feed, "number %d", number);
#if MISTAKE == 19
	trace_mark_tp(fed_too, compile_tp, feed, "number %d", number);
#elif MISTAKE == 20
	trace_mark_tp(fed, sched_wake_idle_without_ipi, feed, "number %d", number);
#endif
}
#endif
#if MISTAKE == 15
static __used void feed_again(void *data, int number)
{
	trace_mark_tp(fed, compile_tp, feed_again, "number %d", number);
}
#endif

int notrace compile_me(void);
int notrace compile_me(void)
{
	int ret = register_trace_compile_tp(probe_right, NULL);

	ret |= marker_probe_register("a", "%d", marker_right, NULL);
	trace_mark(right, "number %d", ret);
#if MISTAKE == 1
	ret |= sizeof(imv_read(three));
#elif MISTAKE == 2
	imv_set(three, (struct three){ });
#elif MISTAKE == 3
	ret |= imv_unlikely_var(unaligned[1]);
#elif MISTAKE == 4
	ret |= register_trace_compile_tp(probe_wrong, NULL);
#elif MISTAKE == 5
	ret |= marker_probe_register("a", "%d", marker_wrong, NULL);
#elif MISTAKE == 6
	trace_mark(wrong, "number %d", "text");
#elif MISTAKE == 7
	trace_mark(wrong, "number %d");
#elif MISTAKE == 8
	trace_mark(a_name_of_129_characters_________________________________________________________________________________________________________,
		   MARK_NOARGS);
#elif MISTAKE == 9
	trace_compile_tp("text");
#elif MISTAKE == 10
	_trace_mark(wrong, "number %ld", ret);
#elif MISTAKE == 11
	marker_probe_unregister("a", marker_right);
#elif MISTAKE == 12
	trace_mark(wrong, "number\0%d", ret);
#elif MISTAKE == 13
	ret |= marker_probe_register("a", "%d", (void *)marker_right, NULL);
#elif MISTAKE == 14
#define TEXT_64		"0123456789abcdef 123456789abcdef 123456789abcdef 123456789abcdef"
#define TEXT_512	TEXT_64 TEXT_64 TEXT_64 TEXT_64 TEXT_64 TEXT_64 TEXT_64 TEXT_64
	trace_mark(wrong, TEXT_512 TEXT_512 TEXT_512 TEXT_512 TEXT_512 TEXT_512 TEXT_512
		   TEXT_512 "%d", ret);
#elif MISTAKE == 16
	trace_mark(fed, "number %d", ret);
#elif MISTAKE == 17
	if (ret)
		trace_mark("quoted", "number %d", ret);
#elif MISTAKE == 18
	trace_mark(right, "the number %d", ret);
#endif
	(void)three__imv;
	(void)unaligned;
	(void)probe_wrong;
	(void)marker_wrong;
	return ret;
}

MODULE_DESCRIPTION("Mistakes");
MODULE_LICENSE("GPL");
