// SPDX-License-Identifier: GPL-2.0
/* A marker that a tracepoint feeds. plain.c has another one of its name. */
#include <linux/module.h>
#include <trace/events/sched.h>
#include <trace/tracer.h>

DEFINE_TRACER(sched_process_exit, fed, TP_PROTO(struct task_struct *p, bool group_dead),
	      "pid %d", p->pid);

MODULE_DESCRIPTION("A mistake");
MODULE_LICENSE("GPL");
