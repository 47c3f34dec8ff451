/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LIB_TEST_WATCH_H
#define _LIB_TEST_WATCH_H

/* For KUnit tests: how often their task calls a function, and how it unlocks mutexes. */

#include <linux/kprobes.h>
#include <linux/ptrace.h>

#ifdef CONFIG_KPROBES

static struct {
	struct kprobe kprobe;
	struct task_struct *task;
	unsigned int nth;		/* an argument, from 0 */
	const void *wanted;		/* this argument; NULL: any */
	const void *argument;		/* that of the last call */
	bool is_mutex;
	unsigned int calls, not_locked;
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
	void *argument = get_argument(regs, watched.nth);
	struct mutex *mutex = argument;

	/* Softirqs run in any task. The breakpoint of a kprobe counts as an NMI. */
	if (current != READ_ONCE(watched.task) || in_serving_softirq() ||
	    (watched.wanted && argument != watched.wanted))
		return 0;
	watched.calls++;
	watched.argument = argument;
	watched.not_locked += watched.is_mutex && !mutex_is_locked(mutex);
	return 0;
}

/* Counts calls of a function by this task until stop_watching(). */
static inline int watch_calls_with(const char *function, unsigned int nth, const void *wanted)
{
	int ret;

	memset(&watched, 0, sizeof(watched));
	watched.kprobe.symbol_name = function;
	watched.kprobe.pre_handler = note_watched;
	watched.nth = nth;
	watched.wanted = wanted;
	ret = register_kprobe(&watched.kprobe);
	if (!ret)
		WRITE_ONCE(watched.task, current);
	return ret;
}

static inline int watch_calls(const char *function)
{
	return watch_calls_with(function, 0, NULL);
}

/* Counts how often this task unlocks @mutex. */
static inline int watch_unlocks(const struct mutex *mutex)
{
	int ret = watch_calls_with("mutex_unlock", 0, mutex);

	watched.is_mutex = true;
	return ret;
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
