// SPDX-License-Identifier: GPL-2.0-only
/*
 * A probe of the variadic type on a marker of marker_sample, which does not
 * need to be loaded first. A probe of this type is called while its marker is
 * armed, and takes the arguments that the format names:
 *
 *	modprobe -a marker_probe_variadic marker_sample
 *	echo 1 > /sys/module/marker_probe_variadic/parameters/armed
 *	echo 3 > /sys/module/marker_sample/parameters/fire
 *	cat /sys/module/marker_probe_variadic/parameters/hits
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/kernel.h>
#include <linux/kstrtox.h>
#include <linux/marker.h>
#include <linux/module.h>
#include <linux/moduleparam.h>

#define MARKER		"sample_event"
#define FORMAT		"count %u name %s"

/* Protected by the lock of the module's parameters. */
static bool armed, attached;

static atomic_t nr_hits = ATOMIC_INIT(0);

/* A value on the module's command line is only stored. */
static int armed_set(const char *text, const struct kernel_param *kp)
{
	bool on;
	int ret = kstrtobool(text, &on);

	if (!ret && attached && on != armed)
		ret = on ? marker_arm(MARKER) : marker_disarm(MARKER);
	if (!ret)
		armed = on;
	return ret;
}

static const struct kernel_param_ops armed_ops = {
	.set = armed_set,
	.get = param_get_bool,
};
module_param_cb(armed, &armed_ops, &armed, 0644);
MODULE_PARM_DESC(armed, "1 arms the marker, 0 disarms it");

static int hits_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%d\n", atomic_read(&nr_hits));
}

static const struct kernel_param_ops hits_ops = { .get = hits_get };
module_param_cb(hits, &hits_ops, NULL, 0444);
MODULE_PARM_DESC(hits, "how often the probe was called (read only)");

/* May print, since this marker is never hit with a scheduler lock held. */
static void probe_hit(const struct __mark_marker *mdata, void *private,
		      const char *format, ...)
{
	unsigned int count;
	va_list args;

	va_start(args, format);
	count = va_arg(args, unsigned int);
	atomic_inc(&nr_hits);
	if (!count)
		pr_info("%s: first count, by %s\n", mdata->name,
			va_arg(args, const char *));
	va_end(args);
}

static int __init marker_probe_variadic_init(void)
{
	int ret = marker_probe_register(MARKER, FORMAT, probe_hit, NULL);

	if (ret)
		return ret;
	kernel_param_lock(THIS_MODULE);
	if (armed)
		ret = marker_arm(MARKER);
	attached = !ret;
	kernel_param_unlock(THIS_MODULE);
	if (ret) {
		marker_probe_unregister(MARKER, probe_hit, NULL);
		marker_synchronize_unregister();
	}
	return ret;
}
module_init(marker_probe_variadic_init);

static void __exit marker_probe_variadic_exit(void)
{
	kernel_param_lock(THIS_MODULE);
	attached = false;
	if (armed)
		marker_disarm(MARKER);
	kernel_param_unlock(THIS_MODULE);
	marker_probe_unregister(MARKER, probe_hit, NULL);
	marker_synchronize_unregister();
	pr_info("%s: %d hits\n", MARKER, atomic_read(&nr_hits));
}
module_exit(marker_probe_variadic_exit);

MODULE_DESCRIPTION("Sample: a probe that is called while its marker is armed");
MODULE_LICENSE("GPL");
