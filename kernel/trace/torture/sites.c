// SPDX-License-Identifier: GPL-2.0
/*
 * Tracing torture test: more sites, in a module that is loaded and unloaded, or fails
 * to load, during the test. Its init function, a thread and NMIs hit them.
 */
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "hits.h"

static bool fail;
module_param(fail, bool, 0);
MODULE_PARM_DESC(fail, "fail to load, after some hits");

static struct task_struct *thread;

/* Inlined, so that each caller has its own sites, including the init function. */
static __always_inline void hit_all(void)
{
	if (tt_is_on(TT_IMV))
		tt_hit_imv();
	if (tt_is_on(TT_TP))
		tt_hit_tp();
	if (tt_is_on(TT_MARKER))
		tt_hit_marker();
	if (tt_is_on(TT_FUNC))
		tt_hit_func();
}

#define FOUR(statement)							\
	do { statement; statement; statement; statement; } while (0)

/* More sites than can be patched at once without allocating memory. */
static noinline void hit_many(void)
{
	struct tt_hit this, *hit = &this;

	FOUR(FOUR(FOUR(FOUR(TT_HIT_TP(1)))));
	FOUR(FOUR(FOUR(TT_HIT_TP(1))));
}

static void hit_by_nmi(void)
{
	hit_all();
}

static int hit_until_stopped(void *unused)
{
	set_user_nice(current, MAX_NICE);
	while (!kthread_should_stop()) {
		hit_all();
		if (tt_is_on(TT_TP))
			hit_many();
		tt_count(TT_SITES, 1);
		cond_resched_tasks_rcu_qs();
	}
	return 0;
}

static int __init sites_init(void)
{
	int i, ret = -ENODEV;

	tt_hit_by_nmis(hit_by_nmi);
	for (i = 0; i < 20; i++)
		hit_all();
	if (!fail) {
		thread = kthread_run(hit_until_stopped, NULL, "torture-sites");
		ret = PTR_ERR_OR_ZERO(thread);
	}
	if (ret)
		tt_hit_by_nmis(NULL);
	return ret;
}
module_init(sites_init);

static void __exit sites_exit(void)
{
	kthread_stop(thread);
	tt_hit_by_nmis(NULL);
}
module_exit(sites_exit);

MODULE_DESCRIPTION("More sites for the torture of tracing");
MODULE_LICENSE("GPL");
