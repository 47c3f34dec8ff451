// SPDX-License-Identifier: GPL-2.0
/*
 * For operations on many markers; parameters:
 *
 *	now		ticks of the TSC since the load of this module, without those in
 *			which the CPU was idle
 *	busy		the same; a read first waits for a second, so that deferred work
 *			of an operation completes
 *	attach		1 attaches an empty probe to each of the ten names of the modules
 *			of sites; 0 detaches them
 */
#include <linux/delay.h>
#include <linux/marker.h>
#include <linux/module.h>
#include <linux/timex.h>
#include <trace/events/power.h>

#define NAMES	10
#define FORMAT	"number %d size %lu"

static cycles_t loaded, idle_since, idle_ticks;

static notrace void note_idle(void *data, unsigned int state, unsigned int cpu)
{
	if (state != PWR_EVENT_EXIT)
		idle_since = get_cycles();
	else if (idle_since)
		idle_ticks += get_cycles() - idle_since;
}

static int now_get(char *buffer, const struct kernel_param *param)
{
	return sysfs_emit(buffer, "%llu\n", get_cycles() - loaded - idle_ticks);
}

static const struct kernel_param_ops now_ops = { .get = now_get };
module_param_cb(now, &now_ops, NULL, 0400);

static int busy_get(char *buffer, const struct kernel_param *param)
{
	msleep(MSEC_PER_SEC);
	return now_get(buffer, param);
}

static const struct kernel_param_ops busy_ops = { .get = busy_get };
module_param_cb(busy, &busy_ops, NULL, 0400);

static void empty_probe(void *private, void *call_private, const char *format, va_list *args)
{
}

static int attach_set(const char *text, const struct kernel_param *param)
{
	char name[MARKER_NAME_LEN];
	unsigned int i;
	bool want;
	int ret = kstrtobool(text, &want);

	for (i = 0; i < NAMES && !ret; i++) {
		snprintf(name, sizeof(name), "bench_site_%u", i);
		ret = want ? marker_probe_register(name, FORMAT, empty_probe, NULL) :
			     marker_probe_unregister(name, empty_probe, NULL);
	}
	marker_synchronize_unregister();
	return ret;
}

static const struct kernel_param_ops attach_ops = { .set = attach_set };
module_param_cb(attach, &attach_ops, NULL, 0200);

static int __init marks_init(void)
{
	loaded = get_cycles();
	return register_trace_cpu_idle(note_idle, NULL);
}
module_init(marks_init);

static void __exit marks_exit(void)
{
	unregister_trace_cpu_idle(note_idle, NULL);
	tracepoint_synchronize_unregister();
}
module_exit(marks_exit);

MODULE_DESCRIPTION("Operations on many markers");
MODULE_LICENSE("GPL");
