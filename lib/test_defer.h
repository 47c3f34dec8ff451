/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LIB_TEST_DEFER_H
#define _LIB_TEST_DEFER_H

/*
 * For KUnit tests: a task that attaches something and defers the patching.
 */

#include <linux/completion.h>
#include <linux/immediate.h>
#include <linux/kthread.h>
#include <linux/sched/task.h>

struct deferrer {
	void (*attach)(void);	/* called while the task defers */
	struct completion began, end;
	bool deferred;		/* what imv_defer_begin() returned */
	struct task_struct *task;
};

static inline int defer_until_told(void *data)
{
	struct deferrer *deferrer = data;

	deferrer->deferred = imv_defer_begin();
	deferrer->attach();
	complete(&deferrer->began);
	wait_for_completion(&deferrer->end);
	imv_defer_end(deferrer->deferred);
	return 0;
}

/* Waits until @attach has returned. Return: false if there is no task. */
static inline bool start_deferring(struct deferrer *deferrer, void (*attach)(void))
{
	deferrer->attach = attach;
	init_completion(&deferrer->began);
	init_completion(&deferrer->end);
	deferrer->task = kthread_create(defer_until_told, deferrer, "kunit-defer");
	if (IS_ERR(deferrer->task))
		return false;
	get_task_struct(deferrer->task);
	wake_up_process(deferrer->task);
	wait_for_completion(&deferrer->began);
	return true;
}

static inline void stop_deferring(struct deferrer *deferrer)
{
	complete(&deferrer->end);
	kthread_stop(deferrer->task);
	put_task_struct(deferrer->task);
}

#endif /* _LIB_TEST_DEFER_H */
