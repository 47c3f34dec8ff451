// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attaches a probe to any marker, prints the first hits and counts all hits.
 *
 *	modprobe marker_probe marker=kernel_sched_switch print=3
 *	dmesg | tail
 *	cat /sys/module/marker_probe/parameters/hits
 *	rmmod marker_probe
 *
 * /sys/kernel/tracing/markers lists the loaded markers. With format=, the probe
 * can also wait for the marker of a module that is not loaded yet.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/irq_work.h>
#include <linux/kernel.h>
#include <linux/marker.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/string.h>

#define MAX_LINES	1000
#define ANY_VALUE	INT_MIN

static char *marker_name = "kernel_sched_switch";
module_param_named(marker, marker_name, charp, 0444);
MODULE_PARM_DESC(marker, "marker to attach to");

static char *format;
module_param(format, charp, 0444);
MODULE_PARM_DESC(format, "its format; by default that of the loaded marker");

static unsigned int print = 5;
module_param(print, uint, 0444);
MODULE_PARM_DESC(print, "how many of the first hits to print");

static int first = ANY_VALUE;
module_param(first, int, 0444);
MODULE_PARM_DESC(first, "count only hits whose first value is this int");

static DEFINE_PER_CPU(unsigned long, nr_hits);

static unsigned long sum_hits(void)
{
	unsigned long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu(nr_hits, cpu));
	return sum;
}

static int hits_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%lu\n", sum_hits());
}

static const struct kernel_param_ops hits_ops = { .get = hits_get };
module_param_cb(hits, &hits_ops, NULL, 0444);
MODULE_PARM_DESC(hits, "how often the marker was hit (read only)");

/*
 * A marker may be hit where printk() deadlocks, for example inside schedule()
 * with the runqueue lock held. So the probe only formats a line; it does so at
 * once, since the string of a %s may be freed later. An irq_work prints the
 * line when interrupts are enabled again, and then no such lock is held.
 */
enum line_state { LINE_EMPTY, LINE_READY, LINE_PRINTED };

struct line {
	atomic_t state;
	char text[120];
};

static struct line *lines;
static atomic_t lines_taken = ATOMIC_INIT(0);

static void print_lines(struct irq_work *work)
{
	struct line *line;

	for (line = lines; line < lines + print; line++)
		if (atomic_cmpxchg(&line->state, LINE_READY, LINE_PRINTED) ==
		    LINE_READY)
			pr_info("%s: %s\n", marker_name, line->text);
}

static DEFINE_IRQ_WORK(print_work, print_lines);

static notrace bool is_wanted(va_list *args)
{
	va_list copy;
	int value;

	va_copy(copy, *args);
	value = va_arg(copy, int);
	va_end(copy);
	return value == first;
}

static notrace void probe_hit(void *private, void *call_private,
			      const char *fmt, va_list *args)
{
	struct va_format values = { .fmt = fmt, .va = args };
	unsigned int taken;

	if (first != ANY_VALUE && !is_wanted(args))
		return;
	this_cpu_inc(nr_hits);
	if (atomic_read(&lines_taken) >= print)
		return;
	taken = atomic_fetch_inc(&lines_taken);
	if (taken >= print)
		return;
	snprintf(lines[taken].text, sizeof(lines->text), "%pV", &values);
	atomic_set_release(&lines[taken].state, LINE_READY);
	irq_work_queue(&print_work);
}

/* Makes a copy, since the module may be unloaded. Stops at the first marker. */
static int copy_format(const struct marker *marker, struct module *mod, void *copy)
{
	if (strcmp(marker->name, marker_name))
		return 0;
	*(char **)copy = kstrdup(marker->format, GFP_KERNEL);
	return *(char **)copy ? 1 : -ENOMEM;
}

static bool starts_with_int(const char *fmt)
{
	struct marker_layout *layout = marker_layout_new(fmt);
	bool is_int;

	if (IS_ERR(layout))
		return false;
	is_int = layout->nr_fields && layout->field[0].type == MARKER_INT;
	kfree(layout);
	return is_int;
}

static int attach(void)
{
	char *found = NULL;
	int ret = 0;

	if (!format)
		ret = for_each_marker(copy_format, &found);
	if (ret < 0)
		return ret;
	if (!format && !found) {
		pr_err("no marker \"%s\" is loaded; choose one of tracefs' file markers, or wait for it with format=\n",
		       marker_name);
		return -ENODEV;
	}
	ret = -EINVAL;
	if (first == ANY_VALUE || starts_with_int(format ?: found))
		ret = marker_probe_register(marker_name, format ?: found, probe_hit, NULL);
	else
		pr_err("the first value of %s is not an int\n", marker_name);
	kfree(found);
	return ret;
}

static int __init marker_probe_init(void)
{
	int ret;

	if (print > MAX_LINES) {
		pr_err("print=%u is too much, at most %d lines\n", print,
		       MAX_LINES);
		return -EINVAL;
	}
	lines = kcalloc(print, sizeof(*lines), GFP_KERNEL);
	if (!lines)
		return -ENOMEM;
	ret = attach();
	if (ret)
		kfree(lines);
	return ret;
}
module_init(marker_probe_init);

static void __exit marker_probe_exit(void)
{
	marker_probe_unregister(marker_name, probe_hit, NULL);
	marker_synchronize_unregister();
	irq_work_sync(&print_work);
	pr_info("%s: %lu hits\n", marker_name, sum_hits());
	kfree(lines);
}
module_exit(marker_probe_exit);

MODULE_DESCRIPTION("Sample: counts the hits of a marker");
MODULE_LICENSE("GPL");
