/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LIB_TEST_CALL_H
#define _LIB_TEST_CALL_H

/* For KUnit tests: a call in another task, to check whether it waits for this one. */

#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/sched/task.h>
#include <linux/smp.h>

struct other_call {
	void (*call)(void);
	struct completion began;
	struct task_struct *task;
	bool ended, waited;
};

static inline int make_call(void *data)
{
	struct other_call *other = data;

	complete(&other->began);
	other->call();
	smp_store_release(&other->ended, true);	/* after what the call did */
	return 0;
}

/*
 * Starts the call, on this CPU since another one may be in a probe of the test. Sets
 * waited if it then sleeps and has not ended soon after: it sleeps for a moment also
 * when it waits for a grace period, or for a worker.
 */
static inline void start_call(struct other_call *other)
{
	struct task_struct *task = kthread_create_on_cpu(make_call, other,
							 raw_smp_processor_id(),
							 "kunit_call/%u");

	init_completion(&other->began);
	other->task = NULL;
	other->ended = false;
	other->waited = false;
	if (IS_ERR(task))
		return;
	other->task = get_task_struct(task);
	wake_up_process(task);
	wait_for_completion(&other->began);
	/* What the call did is seen with its end. */
	while (!smp_load_acquire(&other->ended) &&
	       !(READ_ONCE(task->__state) & TASK_UNINTERRUPTIBLE))
		schedule_timeout_uninterruptible(1);
	if (!READ_ONCE(other->ended))
		msleep(100);
	other->waited = !smp_load_acquire(&other->ended);	/* as above */
}

/* If there was no memory for the task, the call was not made: ended is not set. */
static inline void end_call(struct other_call *other)
{
	if (!other->task)
		return;
	kthread_stop(other->task);
	put_task_struct(other->task);
	other->task = NULL;
}

#endif /* _LIB_TEST_CALL_H */
