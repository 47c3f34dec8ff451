/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TEST_FAIL_ALLOC_H
#define _TEST_FAIL_ALLOC_H

/*
 * For KUnit tests of failing allocations: lets one of the next allocations of this
 * task fail, or all of them. Needs CONFIG_FAILSLAB, and N in failslab/ignore-gfp-wait
 * in debugfs; otherwise allocations that may sleep do not fail. To let all fail, also
 * needs CONFIG_FAIL_PAGE_ALLOC and, in failslab and fail_page_alloc, Y in task-filter,
 * 100 in probability and -1 in times.
 */
#include <kunit/test.h>
#include <linux/slab.h>

#ifdef CONFIG_FAILSLAB
static inline void fail_nth_alloc(int nth)
{
	current->fail_nth = nth;
}

static inline void fail_all_allocs(void)
{
	current->make_it_fail = 1;
}

/* Has the allocation that fail_nth_alloc() selected failed? */
static inline bool nth_alloc_failed(void)
{
	return !current->fail_nth;
}

static inline void stop_failing(void)
{
	current->fail_nth = 0;
	current->make_it_fail = 0;
}
#else
static inline void fail_nth_alloc(int nth) { }
static inline void fail_all_allocs(void) { }
static inline bool nth_alloc_failed(void) { return false; }
static inline void stop_failing(void) { }
#endif

static inline void fail_next_alloc(void)
{
	fail_nth_alloc(1);
}

/* Lets the @nth allocation of a call fail. Its value: did one fail? */
#define fails_nth_alloc(nth, call)					\
	({								\
		bool __failed;						\
									\
		fail_nth_alloc(nth);					\
		call;							\
		__failed = nth_alloc_failed();				\
		stop_failing();						\
		__failed;						\
	})

static inline bool alloc_fails(size_t size)
{
	void *memory = kmalloc(size, GFP_KERNEL);

	stop_failing();
	kfree(memory);
	return !memory;
}

#define need_failing_alloc(test)					\
	do {								\
		fail_next_alloc();					\
		if (!alloc_fails(8))					\
			kunit_skip(test, "needs failslab with ignore-gfp-wait off"); \
	} while (0)

#define need_failing_allocs(test)					\
	do {								\
		fail_all_allocs();					\
		if (!alloc_fails(4 * PAGE_SIZE))			\
			kunit_skip(test, "needs fail_page_alloc for tasks that ask for it"); \
	} while (0)

#endif /* _TEST_FAIL_ALLOC_H */
