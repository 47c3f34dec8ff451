// SPDX-License-Identifier: GPL-2.0
/*
 * The cost of a place with one of several tracers, and of recording two values
 * there, three numbers, or a number and a string. Read a parameter to measure;
 * the result depends on what is attached:
 *
 *	event, event_numbers, event_string
 *			a trace event
 *	marker, marker_numbers, marker_string
 *			a marker (with the series)
 *	printk		trace_printk()
 *	call		a call of bench_call(), for kprobes
 *
 * Write 1 to attach an empty probe, and 0 to detach it: marker_probe, kprobe.
 */
#include <linux/kprobes.h>
#include <linux/module.h>

#ifdef CONFIG_MARKERS
#include <linux/marker.h>
#endif

#define CREATE_TRACE_POINTS
#include "place_event.h"
#include "ticks.h"

#define DEFINE_PASS(name, place)					\
	static noinline notrace void pass_##name(int number, void *pointer) \
	{								\
		unsigned int i;						\
									\
		for (i = 0; i < PASSES; i++) {				\
			place;						\
			barrier();					\
		}							\
	}								\
									\
	static int name##_get(char *buffer, const struct kernel_param *param) \
	{								\
		return sysfs_emit(buffer, "%lu\n", pass_ticks(pass_##name)); \
	}								\
									\
	static const struct kernel_param_ops name##_ops = { .get = name##_get }; \
	module_param_cb(name, &name##_ops, NULL, 0400)

/* The functions on and off are called when 1 or 0 is written. */
#define DEFINE_SWITCH(name, on, off)					\
	static int name##_set(const char *text, const struct kernel_param *param) \
	{								\
		bool want;						\
		int ret = kstrtobool(text, &want);			\
									\
		return ret ?: want ? on : off;				\
	}								\
									\
	static const struct kernel_param_ops name##_ops = { .set = name##_set }; \
	module_param_cb(name, &name##_ops, NULL, 0200)

noinline void bench_call(int number, void *pointer);
void bench_call(int number, void *pointer)
{
	barrier();
}

/* 16 bytes; not const, so that the compiler cannot use their values. */
static char text[] = "fifteen letters";

DEFINE_PASS(event, trace_bench_place(number, pointer));
DEFINE_PASS(event_numbers, trace_bench_numbers(number, number, pointer));
DEFINE_PASS(event_string, trace_bench_string(number, text));
DEFINE_PASS(printk, trace_printk("number %d pointer %p\n", number, pointer));
DEFINE_PASS(call, bench_call(number, pointer));

#ifdef CONFIG_MARKERS
static void empty_marker_probe(void *private, void *call_private, const char *format,
			       va_list *args)
{
}

DEFINE_PASS(marker, trace_mark(bench_mark_place, "number %d pointer %p", number, pointer));
DEFINE_PASS(marker_numbers, trace_mark(bench_mark_numbers, "number %d size %lu pointer %p", number,
				       (unsigned long)number, pointer));
DEFINE_PASS(marker_string, trace_mark(bench_mark_string, "number %d text %s", number, text));
DEFINE_SWITCH(marker_probe,
	      marker_probe_register("bench_mark_place", "number %d pointer %p",
				    empty_marker_probe, NULL),
	      marker_probe_unregister("bench_mark_place", empty_marker_probe, NULL));
#endif

static int kprobe_func(struct kprobe *kp, struct pt_regs *regs)
{
	return 0;
}

static struct kprobe bench_kprobe = {
	.symbol_name = "bench_call",
	.pre_handler = kprobe_func,
};

static int kprobe_on(void)
{
	bench_kprobe.addr = NULL;
	bench_kprobe.flags = 0;
	return register_kprobe(&bench_kprobe);
}

static int kprobe_off(void)
{
	unregister_kprobe(&bench_kprobe);
	return 0;
}

DEFINE_SWITCH(kprobe, kprobe_on(), kprobe_off());

MODULE_DESCRIPTION("What several tracers cost at the same place");
MODULE_LICENSE("GPL");
