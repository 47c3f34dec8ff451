// SPDX-License-Identifier: GPL-2.0
/*
 * A module with sites of every kind, which is loaded while allocations fail: values
 * and tracepoints, of another module and its own; markers, with a name and format
 * that other modules have or that are its own, fed by a tracepoint or not; a trace
 * event; and functions that can be traced.
 */
#include <linux/marker.h>
#include <linux/module.h>
#include <linux/seq_file.h>

#define CREATE_TRACE_POINTS
#include "faults-event.h"
#include "faults.h"

static DEFINE_IMV(u32, own_number) = 7;
static DEFINE_IMV(bool, own_switch) = true;

DECLARE_TRACE(faults_own, TP_PROTO(int number), TP_ARGS(number));
DEFINE_TRACE(faults_own);

static void __used feed_own(void *data, int number)
{
	trace_mark_tp(faults_fed_in_sites, faults_own, feed_own, "number %d", number);
}

static void __used feed_few(void *data, int number, void *pointer)
{
	trace_mark_tp(faults_fed, faults_few, feed_few, "number %d", number);
}

static noinline int traced(int number)
{
	asm volatile("");
	return number;
}

static void pass_sites(struct seq_file *m)
{
	seq_printf(m, "sites: u8 %u u16 %u u32 %u u64 %llu own %u", imv_read(faults_u8),
		   imv_read(faults_u16), imv_read(faults_u32), imv_read(faults_u64),
		   imv_read(own_number));
	immediate_if(own_switch)
		seq_puts(m, " switched");
	immediate_if(faults_u8)
		seq_puts(m, " u8");
	immediate_if_likely(faults_u8)
		seq_puts(m, " likely");
	seq_putc(m, '\n');
	trace_faults_few_tp(1, m);
	trace_faults_many_tp(1, 2, 3, 4, m, 6, 7, 8);
	trace_faults_own_tp(1);
	trace_faults_event(1, "text");
	trace_mark(faults_numbers, "number %d word %lu", 1, 2UL);
	trace_mark(faults_in_sites, "number %d", 1);
	trace_mark(faults_text_in_sites, "text %s", "some");
	_trace_mark(faults_loaded, "number %d", 1);
	traced(1);
	faults_show_markers(m, THIS_MODULE);
}

static int __init faults_sites_init(void)
{
	trace_mark(faults_in_init, "number %d", 1);
	WRITE_ONCE(faults_pass_sites, pass_sites);
	return 0;
}
module_init(faults_sites_init);

static void __exit faults_sites_exit(void)
{
	WRITE_ONCE(faults_pass_sites, NULL);
}
module_exit(faults_sites_exit);

MODULE_DESCRIPTION("Sites of every kind, for loading while allocations fail");
MODULE_LICENSE("GPL");
