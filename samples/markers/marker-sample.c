// SPDX-License-Identifier: GPL-2.0-only
/*
 * A module with markers. Writing N to the parameter fire hits each N times:
 *
 *	modprobe marker_sample
 *	modprobe marker_probe marker=sample_event
 *	echo 3 > /sys/module/marker_sample/parameters/fire
 *
 * The probe may be loaded first: with the parameter format, it waits.
 */
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/marker.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/sched/signal.h>

/* Conversions that a marker may have, with extreme values */
static void fire_types(void)
{
	trace_mark(sample_types,
		   "i %d u %u x %x l %ld ul %lu ll %lld ull %llu lx %lx p %p c %c s %s",
		   INT_MIN, UINT_MAX, UINT_MAX, LONG_MIN, ULONG_MAX, LLONG_MIN,
		   ULLONG_MAX, ULONG_MAX, (void *)ULONG_MAX, 'A', "text");
}

/* Short numbers, numbers with names, and values that are read at a pointer */
static void fire_formats(unsigned int count)
{
	static const u8 bytes[16] = { 192, 0, 2, 1, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 };

	trace_mark(sample_formats,
		   "state %d{IDLE,RUN,STOP=-9} mode %x{READ,WRITE,EXEC} size %zu half %hd byte %hhx mac %pM ip %pI4 six %pI6c data %*ph uuid %pUb\n",
		   count == 2 ? -9 : (int)count, count, sizeof(int), (short)-1,
		   (unsigned char)count, bytes, bytes, bytes, (int)count % 4, bytes, bytes);
}

static void fire_markers(unsigned int count)
{
	trace_mark(sample_event, "count %u name %s", count, current->comm);
	trace_mark(sample_noargs, MARK_NOARGS);
	fire_types();
	fire_formats(count);
}

#define SLICE	"track_event_type %d{BEGIN=66,END=69} slice_name %s"

/* Fields that Perfetto knows: it draws a slice for each fire_markers(), and a counter. */
static void fire_slice(unsigned int count)
{
	trace_mark(sample_slice, SLICE, 'B', "fire_markers");
	trace_mark(sample_counter, "counter_value %u", count + 1);
	fire_markers(count);
	trace_mark(sample_slice, SLICE, 'E', "fire_markers");
	trace_mark(sample_counter, "counter_value %u", 0);
}

static int fire_set(const char *text, const struct kernel_param *kp)
{
	unsigned int times, i;
	int ret = kstrtouint(text, 0, &times);

	if (ret)
		return ret;
	for (i = 0; i < times; i++) {
		if (fatal_signal_pending(current))
			return -EINTR;
		fire_slice(i);
		cond_resched();
	}
	return 0;
}

static const struct kernel_param_ops fire_ops = { .set = fire_set };
module_param_cb(fire, &fire_ops, NULL, 0200);
MODULE_PARM_DESC(fire, "write N to hit each marker N times");

MODULE_DESCRIPTION("Sample: markers in a module");
MODULE_LICENSE("GPL");
