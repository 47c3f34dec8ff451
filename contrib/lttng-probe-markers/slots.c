// SPDX-License-Identifier: GPL-2.0
/*
 * Detects that LTTng enables an event. LTTng does so by registering a probe on
 * the tracepoint that the event names. Markers have no tracepoint, so here are
 * some, the slots. They are never hit. When LTTng registers or unregisters a
 * probe, a callback of the slot updates the users of the event, and a hit of a
 * marker calls the users of its own event. Events share slots. There are
 * several slots, to keep the lists short that the kernel and LTTng have for
 * each tracepoint.
 *
 * LTTng looks up tracepoints by name when their module is loaded, so all slots
 * are static.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/anon_inodes.h>
#include <linux/err.h>
#include <linux/fcntl.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/rculist.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>

#include <lttng/events-internal.h>

#include "markers.h"

/* An event of a session or of a trigger, while it is enabled. */
struct event_user {
	struct hlist_node node;
	struct rcu_head rcu;
	struct lttng_kernel_event_common *lttng;
};

/*
 * The events whose users changed since the probes on their markers were
 * updated. The task updates the probes before it returns to user space.
 */
static LIST_HEAD(changed);
static struct task_struct *connector;
static DEFINE_SPINLOCK(changed_lock);

/* Return: one of the events whose users changed, or NULL. */
struct mark_event *next_changed(void)
{
	struct mark_event *event;

	spin_lock(&changed_lock);
	event = list_first_entry_or_null(&changed, struct mark_event, changed);
	if (event)
		list_del_init(&event->changed);
	spin_unlock(&changed_lock);
	return event;
}

/* Resets connector first, since connect_events() may miss later changes. */
static void connect_now(void)
{
	spin_lock(&changed_lock);
	connector = NULL;
	spin_unlock(&changed_lock);
	connect_events();
}

static void connect_work_func(struct work_struct *work)
{
	connect_now();
}

static DECLARE_WORK(connect_work, connect_work_func);

static int connect_release(struct inode *inode, struct file *file)
{
	connect_now();
	return 0;
}

static const struct file_operations connect_fops = {
	.owner = THIS_MODULE,
	.release = connect_release,
};

/*
 * LTTng holds locks under which probes cannot be attached to markers. But they
 * must be attached when its system call returns, or the first hits are lost.
 * fput() releases a file just before the task returns to user space, so the
 * release attaches the probes. Without memory for a file, a work item does.
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

static void note_change(struct mark_event *event)
{
	bool first;

	spin_lock(&changed_lock);
	if (list_empty(&event->changed))
		list_add_tail(&event->changed, &changed);
	first = connector != current;
	connector = current;
	spin_unlock(&changed_lock);
	if (first)
		connect_on_return();
}

static struct mark_event *
event_of(const struct lttng_kernel_event_common *lttng)
{
	return container_of((struct lttng_kernel_event_desc *)lttng->priv->desc,
			    struct mark_event, desc);
}

/* tracepoints_mutex protects the lists of users. */
static int slot_connect(struct tracepoint *tp,
			const struct tracepoint_func *probe)
{
	struct mark_event *event;
	struct event_user *user;

	if (probe->func != record_hit)
		return -EPERM;
	user = kmalloc(sizeof(*user), GFP_KERNEL);
	if (!user)
		return -ENOMEM;
	user->lttng = probe->data;
	event = event_of(user->lttng);
	hlist_add_head_rcu(&user->node, &event->users);
	note_change(event);
	return 0;
}

/* LTTng waits for a grace period before it frees its event. */
static void slot_disconnect(struct tracepoint *tp,
			    const struct tracepoint_func *probe)
{
	struct mark_event *event = event_of(probe->data);
	struct event_user *user;

	hlist_for_each_entry(user, &event->users, node) {
		if (user->lttng != probe->data)
			continue;
		hlist_del_rcu(&user->node);
		kfree_rcu(user, rcu);
		break;
	}
	note_change(event);
}

static const struct tracepoint_callbacks slot_callbacks = {
	.connect = slot_connect,
	.disconnect = slot_disconnect,
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

/* The tracepoint of the event with this number. */
const char *slot_name(unsigned int number)
{
	return slots[number % ARRAY_SIZE(slots)]->name;
}

/* Calls record_hit() for each user of the event. */
void call_users(const struct mark_event *event, const struct hit *hit)
{
	struct event_user *user;

	hlist_for_each_entry_rcu(user, &event->users, node)
		record_hit(user->lttng, hit);
}

void flush_slots(void)
{
	flush_work(&connect_work);
}
