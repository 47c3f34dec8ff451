// SPDX-License-Identifier: GPL-2.0
/*
 * A module with sites, which failnth loads and uses while allocations
 * fail: immediate values, a tracepoint and markers. Reading the parameter "pass" executes
 * all sites and prints what they read.
 */
#include <linux/immediate.h>
#include <linux/marker.h>
#include <linux/module.h>
#include <linux/sysfs.h>
#include <linux/tracepoint.h>

DECLARE_TRACE(faults_own, TP_PROTO(int number), TP_ARGS(number));
DEFINE_TRACE(faults_own);

static DEFINE_IMV(u32, faults_number) = 7;
static DEFINE_IMV(bool, faults_switch) = true;

static noinline void pass_sites(void)
{
	trace_faults_own_tp(1);
	trace_mark(faults_numbers, "number %d word %lu", 1, 2UL);
	trace_mark(faults_text, "text %s number %d", "some", 1);
}

static int pass_get(char *buffer, const struct kernel_param *param)
{
	const char *on = "";

	pass_sites();
	immediate_if(faults_switch)
		on = " on";
	return sysfs_emit(buffer, "number %u%s, own %d\n", imv_read(faults_number), on,
			  trace_faults_own_tp_enabled());
}

static const struct kernel_param_ops pass_ops = { .get = pass_get };
module_param_cb(pass, &pass_ops, NULL, 0400);

static int __init faults_init(void)
{
	trace_mark(faults_in_init, "number %d", 1);
	return 0;
}
module_init(faults_init);

static void __exit faults_exit(void)
{
}
module_exit(faults_exit);

MODULE_DESCRIPTION("Sites, for operations while allocations fail");
MODULE_LICENSE("GPL");
