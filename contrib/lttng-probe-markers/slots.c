// SPDX-License-Identifier: GPL-2.0
/*
 * LTTng turns an event on by connecting a function of the event to the kernel's
 * tracepoint that the event names. Markers have none, so here is a pool of them,
 * the slots, one for each event: a marker is connected only while LTTng uses the
 * slot of its event, and a hit calls nobody but those who enabled this event.
 *
 * LTTng finds tracepoints by name when their module comes, so all of them are
 * made by the compiler.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/anon_inodes.h>
#include <linux/err.h>
#include <linux/fcntl.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>

#include "markers.h"

static bool slot_used[NR_SLOTS];

static void connect_work_func(struct work_struct *work)
{
	connect_events();
}

static DECLARE_WORK(connect_work, connect_work_func);

static int connect_release(struct inode *inode, struct file *file)
{
	connect_events();
	return 0;
}

static const struct file_operations connect_fops = {
	.owner = THIS_MODULE,
	.release = connect_release,
};

/*
 * LTTng calls with locks held inside of which markers cannot be connected; but
 * once its system call is done, they have to be, or the first hits are lost. A
 * file is released when the task that puts it leaves the kernel, which is just
 * then. Without memory for that, it happens soon after.
 */
static void connect_on_return(void)
{
	struct file *file = anon_inode_getfile("[lttng-probe-markers]",
					       &connect_fops, NULL, O_RDONLY);

	if (IS_ERR(file))
		schedule_work(&connect_work);
	else
		fput(file);
}

static int use_slot(unsigned int slot, bool use)
{
	WRITE_ONCE(slot_used[slot], use);
	connect_on_return();
	return 0;
}

/* n has three hexadecimal digits. */
#define DEFINE_SLOT(n)							\
	DECLARE_TRACE(lttng_markers_##n, TP_PROTO(const struct hit *hit), \
		      TP_ARGS(hit));					\
									\
	static int use_##n(void)					\
	{								\
		return use_slot(0x##n, true);				\
	}								\
									\
	static void leave_##n(void)					\
	{								\
		use_slot(0x##n, false);					\
	}								\
									\
	static void call_##n(const struct hit *hit)			\
	{								\
		trace_call__lttng_markers_##n(hit);			\
	}								\
									\
	DEFINE_TRACE_FN(lttng_markers_##n, use_##n, leave_##n)

#define SLOT_ENTRY(n)							\
	[0x##n] = { &__tracepoint_lttng_markers_##n, call_##n },

#define SLOTS_16(M, n)							\
	M(n##0) M(n##1) M(n##2) M(n##3) M(n##4) M(n##5) M(n##6) M(n##7)	\
	M(n##8) M(n##9) M(n##a) M(n##b) M(n##c) M(n##d) M(n##e) M(n##f)

#define SLOTS_256(M, n)							\
	SLOTS_16(M, n##0) SLOTS_16(M, n##1) SLOTS_16(M, n##2)		\
	SLOTS_16(M, n##3) SLOTS_16(M, n##4) SLOTS_16(M, n##5)		\
	SLOTS_16(M, n##6) SLOTS_16(M, n##7) SLOTS_16(M, n##8)		\
	SLOTS_16(M, n##9) SLOTS_16(M, n##a) SLOTS_16(M, n##b)		\
	SLOTS_16(M, n##c) SLOTS_16(M, n##d) SLOTS_16(M, n##e)		\
	SLOTS_16(M, n##f)

#define ALL_SLOTS(M)	SLOTS_256(M, 0) SLOTS_256(M, 1)

ALL_SLOTS(DEFINE_SLOT)

static const struct slot {
	struct tracepoint *tp;
	void (*call)(const struct hit *hit);
} slots[] = {
	ALL_SLOTS(SLOT_ENTRY)
};

static_assert(ARRAY_SIZE(slots) == NR_SLOTS);

const char *slot_name(unsigned int slot)
{
	return slots[slot].tp->name;
}

bool slot_is_used(unsigned int slot)
{
	return READ_ONCE(slot_used[slot]);
}

/* Calls record_hit() for each that enabled the event of the slot. */
void slot_call(unsigned int slot, const struct hit *hit)
{
	slots[slot].call(hit);
}

void flush_slots(void)
{
	flush_work(&connect_work);
}
