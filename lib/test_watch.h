/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LIB_TEST_WATCH_H
#define _LIB_TEST_WATCH_H

/* For KUnit tests: how often their task calls a function, and how it unlocks mutexes. */

#include <linux/kprobes.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/string.h>

#ifdef CONFIG_KPROBES

static struct {
	struct kprobe kprobe;
	struct task_struct *task;
	const struct mutex *mutex;	/* NULL: any */
	bool unlocks;
	unsigned int calls, not_locked;
	unsigned int nth;		/* an argument, from 0 */
	const void *argument;		/* that of the last call */
} watched;

static inline void *get_argument(struct pt_regs *regs, unsigned int nth)
{
#ifdef CONFIG_HAVE_FUNCTION_ARG_ACCESS_API
	return (void *)regs_get_kernel_argument(regs, nth);
#else
	return NULL;
#endif
}

static int note_watched(struct kprobe *kp, struct pt_regs *regs)
{
	struct mutex *mutex = get_argument(regs, 0);

	if (current != READ_ONCE(watched.task) || !in_task() ||
	    (watched.mutex && mutex != watched.mutex))
		return 0;
	watched.calls++;
	watched.argument = get_argument(regs, watched.nth);
	watched.not_locked += watched.unlocks && mutex && !mutex_is_locked(mutex);
	return 0;
}

static inline int start_watching(const char *function, const struct mutex *mutex, bool unlocks)
{
	int ret;

	memset(&watched, 0, sizeof(watched));
	watched.kprobe.symbol_name = function;
	watched.kprobe.pre_handler = note_watched;
	watched.mutex = mutex;
	watched.unlocks = unlocks;
	ret = register_kprobe(&watched.kprobe);
	if (!ret)
		WRITE_ONCE(watched.task, current);
	return ret;
}

/* Counts calls of a function by this task until stop_watching(). */
static inline int watch_calls(const char *function)
{
	return start_watching(function, NULL, false);
}

/* Counts how often this task unlocks @mutex, or any mutex if it is NULL. */
static inline int watch_unlocks(const struct mutex *mutex)
{
	return start_watching("mutex_unlock", mutex, true);
}

static inline void stop_watching(void)
{
	if (!watched.task)
		return;
	WRITE_ONCE(watched.task, NULL);
	unregister_kprobe(&watched.kprobe);
}
#endif

#endif /* _LIB_TEST_WATCH_H */
