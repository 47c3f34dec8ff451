// SPDX-License-Identifier: GPL-2.0
/*
 * A module that has each kind of record: sites of immediate values of all sizes, jumps
 * of both forms, tracepoints, and markers with and without one. Its sites are executed
 * only by a write to "fire" or a read of "set": damaged ones are not.
 */
#include <linux/immediate.h>
#include <linux/kernel.h>
#include <linux/marker.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/tracepoint.h>
#include <trace/events/kmem.h>

DECLARE_TRACE(victim_one, TP_PROTO(int number), TP_ARGS(number));
DEFINE_TRACE(victim_one);

DECLARE_TRACE(victim_two, TP_PROTO(int number, const char *text), TP_ARGS(number, text));
DEFINE_TRACE(victim_two);

DEFINE_TRACER(victim_one, victim_of_one, TP_PROTO(int number), "number %d", number);
DEFINE_TRACER(kfree, victim_of_kernel,
	      TP_PROTO(unsigned long call_site, const void *ptr), "ptr %p", ptr);

static DEFINE_IMV(u8, victim_8);
static DEFINE_IMV(u16, victim_16);
static DEFINE_IMV(u32, victim_32);
static DEFINE_IMV(u64, victim_64);
static DEFINE_IMV(bool, victim_bool);

static u64 sum;

static noinline void read_all(void)
{
	sum += imv_read(victim_8) + imv_read(victim_16) + imv_read(victim_32);
	sum += imv_read(victim_64);
	immediate_if(victim_bool)
		sum++;
	immediate_if_likely(victim_bool)
		sum += 2;
}

static noinline void hit_all(int number)
{
	trace_victim_one_tp(number);
	trace_victim_two_tp(number, "text");
	trace_mark(victim_plain, "number %d", number);
	trace_mark(victim_strings, "number %d text %s more %.4s", number, "text", "more");
	_trace_mark(victim_loaded, "number %d", number);
}

static int fire_set(const char *text, const struct kernel_param *kp)
{
	int number, ret = kstrtoint(text, 0, &number);

	if (ret)
		return ret;
	read_all();
	hit_all(number);
	return 0;
}

static const struct kernel_param_ops fire_ops = { .set = fire_set };
module_param_cb(fire, &fire_ops, NULL, 0200);

static int set_set(const char *text, const struct kernel_param *kp)
{
	u64 number;
	int ret = kstrtou64(text, 0, &number);

	if (ret)
		return ret;
	imv_set(victim_8, number);
	imv_set(victim_16, number);
	imv_set(victim_32, number);
	imv_set(victim_64, number);
	imv_set(victim_bool, number);
	return 0;
}

static int sum_get(char *buffer, const struct kernel_param *kp)
{
	sum = 0;
	read_all();
	return sysfs_emit(buffer, "%llu\n", sum);
}

static const struct kernel_param_ops set_ops = { .set = set_set, .get = sum_get };
module_param_cb(set, &set_ops, NULL, 0600);

/* The site in init is executed only if this is set. */
static bool fail;
module_param(fail, bool, 0);

static int __init victim_init(void)
{
	if (fail)
		sum = imv_read(victim_32);
	return fail ? -EINVAL : 0;
}
module_init(victim_init);

static void __exit victim_exit(void)
{
}
module_exit(victim_exit);

MODULE_DESCRIPTION("A module whose records are damaged");
MODULE_LICENSE("GPL");
