// SPDX-License-Identifier: GPL-2.0
/*
 * The cost of a tracepoint of the scheduler that is off. The parameter active
 * lists the tracepoints that have probes. The parameter ticks is the minimal
 * time, by the TSC, in which two tasks switch to each other and back: with QEMU's
 * -icount it counts instructions. Both tasks are FIFO: what the fair scheduler does at
 * a wakeup depends on what ran before. A task that reads the parameter preempted is
 * preempted by the other one when it is about to sleep. It gets the PIDs of both.
 */
#include <linux/completion.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/timex.h>
#include <linux/tracepoint.h>

#define ROUNDS	500

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

static int partner(void *unused)
{
	/* Interruptible, as it waits long between two reads: not a hung task. */
	while (!kthread_should_stop()) {
		if (!wait_for_completion_interruptible(&there))
			complete(&back);
	}
	return 0;
}

struct measurement {
	struct completion done;
	cycles_t least;
};

static int measure(void *data)
{
	struct measurement *result = data;
	cycles_t start;
	unsigned int i;

	sched_set_fifo(current);
	for (i = 0; i < ROUNDS; i++) {
		start = get_cycles();
		complete(&there);
		wait_for_completion(&back);
		result->least = min(result->least, get_cycles() - start);
	}
	kthread_complete_and_exit(&result->done, 0);
}

/* In a thread of the kernel: the address space of a program takes instructions, too. */
static int ticks_get(char *buffer, const struct kernel_param *param)
{
	struct measurement result = { .least = ULLONG_MAX };
	struct task_struct *thread;

	init_completion(&result.done);
	thread = kthread_run(measure, &result, "measure");
	if (IS_ERR(thread))
		return PTR_ERR(thread);
	wait_for_completion(&result.done);
	return sysfs_emit(buffer, "%llu\n", result.least);
}

static const struct kernel_param_ops ticks_ops = { .get = ticks_get };
module_param_cb(ticks, &ticks_ops, NULL, 0400);

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
	task = kthread_run(partner, NULL, "partner");
	if (IS_ERR(task))
		return PTR_ERR(task);
	sched_set_fifo(task);
	return 0;
}
module_init(bridges_init);

static void __exit bridges_exit(void)
{
	complete(&there);
	kthread_stop(task);
}
module_exit(bridges_exit);

MODULE_DESCRIPTION("Whether tracepoints are off, and what they cost then");
MODULE_LICENSE("GPL");
