// SPDX-License-Identifier: GPL-2.0
/*
 * Hits the tracepoint from the text of a module that comes and goes: from its
 * init function, and from a thread while it is there.
 */
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched.h>

#include "storm.h"

static bool fail;
module_param(fail, bool, 0);
MODULE_PARM_DESC(fail, "fail to load, after some hits");

static struct task_struct *thread;

#define HITS_10		STORM_HIT(); STORM_HIT(); STORM_HIT(); STORM_HIT(); STORM_HIT(); \
			STORM_HIT(); STORM_HIT(); STORM_HIT(); STORM_HIT(); STORM_HIT();
#define HITS_100	HITS_10 HITS_10 HITS_10 HITS_10 HITS_10			\
			HITS_10 HITS_10 HITS_10 HITS_10 HITS_10

/* More sites than are patched with the memory that is there at all times. */
static int hit_until_stopped(void *unused)
{
	while (!kthread_should_stop()) {
		HITS_100 HITS_100 HITS_100
		cond_resched();
	}
	return 0;
}

static int __init storm_sites_init(void)
{
	int i;

	for (i = 0; i < 100; i++)
		STORM_HIT();
	if (fail)
		return -ENODEV;
	thread = kthread_run(hit_until_stopped, NULL, "storm-sites");
	return PTR_ERR_OR_ZERO(thread);
}
module_init(storm_sites_init);

static void __exit storm_sites_exit(void)
{
	kthread_stop(thread);
}
module_exit(storm_sites_exit);

MODULE_DESCRIPTION("More sites of the tracepoint of the storm");
MODULE_LICENSE("GPL");
