// SPDX-License-Identifier: GPL-2.0
/*
 * The parameter active lists the tracepoints of the kernel that have probes. A task that
 * reads the parameter preempted on CPU 0 is preempted by another one when it is about to
 * sleep. It gets the PIDs of both.
 */
#include <linux/completion.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/tracepoint.h>

static DECLARE_COMPLETION(there);
static DECLARE_COMPLETION(back);
static struct task_struct *task;

static void note_active(struct tracepoint *tp, void *buffer)
{
	if (tracepoint_active(tp)) {
		strlcat(buffer, tp->name, PAGE_SIZE);
		strlcat(buffer, "\n", PAGE_SIZE);
	}
}

static int active_get(char *buffer, const struct kernel_param *param)
{
	buffer[0] = '\0';
	for_each_kernel_tracepoint(note_active, buffer);
	return strlen(buffer);
}

static const struct kernel_param_ops active_ops = { .get = active_get };
module_param_cb(active, &active_ops, NULL, 0400);

/* Interruptible, as it waits long between two reads: not a hung task. */
static int partner(void *unused)
{
	while (!kthread_should_stop())
		if (!wait_for_completion_interruptible(&there))
			complete(&back);
	return 0;
}

static int preempted_get(char *buffer, const struct kernel_param *param)
{
	set_current_state(TASK_INTERRUPTIBLE);
	complete(&there);
	__set_current_state(TASK_RUNNING);
	wait_for_completion(&back);
	return sysfs_emit(buffer, "%d %d\n", current->pid, task->pid);
}

static const struct kernel_param_ops preempted_ops = { .get = preempted_get };
module_param_cb(preempted, &preempted_ops, NULL, 0400);

static int __init bridges_init(void)
{
	task = kthread_create(partner, NULL, "partner");
	if (IS_ERR(task))
		return PTR_ERR(task);
	kthread_bind(task, 0);
	sched_set_fifo(task);
	wake_up_process(task);
	return 0;
}
module_init(bridges_init);

static void __exit bridges_exit(void)
{
	complete(&there);
	kthread_stop(task);
}
module_exit(bridges_exit);

MODULE_DESCRIPTION("Whether tracepoints are off, and a task that is preempted");
MODULE_LICENSE("GPL");
