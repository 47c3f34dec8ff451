/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LIB_TEST_RESCHED_H
#define _LIB_TEST_RESCHED_H

/* For KUnit tests of code that re-enables preemption. */

#include <linux/sched.h>

/* Requests a reschedule, like the timer interrupt. */
static __always_inline void ask_for_task_switch(void)
{
	set_tsk_need_resched(current);
	set_preempt_need_resched();
}

/* Does enabling preemption reschedule? */
static inline bool kernel_preempts_itself(void)
{
	preempt_disable();
	ask_for_task_switch();
	preempt_enable();
	return !need_resched();
}

#endif /* _LIB_TEST_RESCHED_H */
