/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TEST_FAIL_ALLOC_H
#define _TEST_FAIL_ALLOC_H

/*
 * For KUnit tests of what happens without memory: one of the next allocations
 * of this task fails. Needs CONFIG_FAILSLAB, and N in ignore-gfp-wait of debugfs'
 * failslab, else such allocations are not among those that may fail.
 */
#include <kunit/test.h>
#include <linux/sched.h>
#include <linux/slab.h>

#ifdef CONFIG_FAILSLAB
static inline void fail_nth_alloc(int nth)
{
	current->fail_nth = nth;
}

static inline void stop_failing(void)
{
	current->fail_nth = 0;
}
#else
static inline void fail_nth_alloc(int nth) { }
static inline void stop_failing(void) { }
#endif

static inline void fail_next_alloc(void)
{
	fail_nth_alloc(1);
}

static inline bool can_fail_alloc(void)
{
	void *memory;

	fail_next_alloc();
	memory = kmalloc(8, GFP_KERNEL);
	stop_failing();
	kfree(memory);
	return !memory;
}

#define need_failing_alloc(test)					\
	do {								\
		if (!can_fail_alloc())					\
			kunit_skip(test, "needs failslab with ignore-gfp-wait off"); \
	} while (0)

#endif /* _TEST_FAIL_ALLOC_H */
