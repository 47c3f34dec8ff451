// SPDX-License-Identifier: GPL-2.0
/*
 * Detects that LTTng enables an event. LTTng does so by registering a probe on the
 * tracepoint that the event names. Markers have no tracepoint that LTTng can find, so
 * here are some, the slots. They are never hit. A hit of a marker looks for the probes
 * of its event on its slot.
 *
 * LTTng looks up tracepoints by name when their module is loaded, so all slots are
 * static. Events share them if there are more events than slots.
 */
#include <linux/anon_inodes.h>
#include <linux/err.h>
#include <linux/fcntl.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/tracepoint.h>

#include "markers.h"

static void (*slots_changed)(void);

/* The task that calls slots_changed() before it returns to user space. */
static struct task_struct *caller;

/* Resets caller first: a later change needs another call. */
static int change_release(struct inode *inode, struct file *file)
{
	WRITE_ONCE(caller, NULL);
	slots_changed();
	return 0;
}

static const struct file_operations change_fops = {
	.owner = THIS_MODULE,
	.release = change_release,
};

/*
 * LTTng and the tracepoint hold locks under which probes cannot be attached to markers.
 * But they must be attached when LTTng's system call returns, or the first hits are lost.
 * fput() releases a file just before the task returns to user space.
 */
static int call_on_return(void)
{
	struct file *file;

	if (READ_ONCE(caller) == current)
		return 0;
	file = anon_inode_getfile("[lttng-probe-markers]", &change_fops, NULL, O_RDONLY);
	if (IS_ERR(file))
		return PTR_ERR(file);
	WRITE_ONCE(caller, current);
	fput(file);
	return 0;
}

static int slot_on(void)
{
	return call_on_return();
}

/* Without memory, the marker's probe stays attached until the next change. */
static void slot_off(void)
{
	call_on_return();
}

static const struct tracepoint_callbacks slot_callbacks = {
	.regfunc = slot_on,
	.unregfunc = slot_off,
};

/* n has two hexadecimal digits. */
#define DEFINE_SLOT(n)							\
	static struct tracepoint __tracepoint_lttng_markers_##n		\
		__used __section("__tracepoints") = {			\
		.name = "lttng_markers_" #n,				\
		.callbacks = &slot_callbacks,				\
	};								\
	__TRACEPOINT_ENTRY(lttng_markers_##n);

#define SLOT_ENTRY(n)	&__tracepoint_lttng_markers_##n,

#define SLOTS_16(M, n)							\
	M(n##0) M(n##1) M(n##2) M(n##3) M(n##4) M(n##5) M(n##6) M(n##7)	\
	M(n##8) M(n##9) M(n##a) M(n##b) M(n##c) M(n##d) M(n##e) M(n##f)

#define ALL_SLOTS(M)							\
	SLOTS_16(M, 0) SLOTS_16(M, 1) SLOTS_16(M, 2) SLOTS_16(M, 3)	\
	SLOTS_16(M, 4) SLOTS_16(M, 5) SLOTS_16(M, 6) SLOTS_16(M, 7)	\
	SLOTS_16(M, 8) SLOTS_16(M, 9) SLOTS_16(M, a) SLOTS_16(M, b)	\
	SLOTS_16(M, c) SLOTS_16(M, d) SLOTS_16(M, e) SLOTS_16(M, f)

ALL_SLOTS(DEFINE_SLOT)

static const struct tracepoint *const slots[] = { ALL_SLOTS(SLOT_ENTRY) };

const struct tracepoint *nth_slot(unsigned int n)
{
	return slots[n % ARRAY_SIZE(slots)];
}

/* @changed is called, without locks, after a slot was switched on or off. */
void init_slots(void (*changed)(void))
{
	slots_changed = changed;
}
