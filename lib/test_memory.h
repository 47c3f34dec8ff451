/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LIB_TEST_MEMORY_H
#define _LIB_TEST_MEMORY_H

/*
 * For KUnit tests: the memory of kmalloc() that the task of a test has allocated and
 * that is not freed. Needs kprobes, which see kfree_rcu(), and the kmem tracepoints.
 */
#include <kunit/test.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/ptrace.h>
#include <linux/tracepoint.h>
#include <trace/events/kmem.h>

static struct {
	struct task_struct *task;	/* the one that allocates, or NULL */
	struct {
		const void *ptr;
		unsigned long call_site;
	} held[256];
	unsigned int nr_held;
	bool is_full;
} memory;

static DEFINE_RAW_SPINLOCK(memory_lock);
static bool tracks_memory;

static inline bool is_held(const void *ptr)
{
	unsigned int i;

	for (i = 0; i < memory.nr_held; i++)
		if (memory.held[i].ptr == ptr)
			return true;
	return false;
}

/* The slab allocator keeps freed objects in sheaves, which kfree() and kmalloc() allocate. */
static inline bool allocates_sheaf(unsigned long call_site)
{
	char name[KSYM_SYMBOL_LEN];

	sprint_symbol_no_offset(name, call_site);
	return strstr(name, "sheaf") || strstr(name, "sheaves") || strstr(name, "_pcs_");
}

static inline void note_alloc(void *data, unsigned long call_site, const void *ptr,
			      size_t size, size_t size_allocated, gfp_t flags, int node)
{
	unsigned long irq_flags;

	if (!ptr || current != READ_ONCE(memory.task) || !in_task() || allocates_sheaf(call_site))
		return;
	raw_spin_lock_irqsave(&memory_lock, irq_flags);
	if (memory.nr_held == ARRAY_SIZE(memory.held)) {
		memory.is_full = true;
	} else if (!is_held(ptr)) {	/* the event may be hit twice for a large object */
		memory.held[memory.nr_held].ptr = ptr;
		memory.held[memory.nr_held++].call_site = call_site;
	}
	raw_spin_unlock_irqrestore(&memory_lock, irq_flags);
}

/* Another task may free it. */
static inline void note_freed(const void *ptr)
{
	unsigned long flags;
	unsigned int i;

	if (!READ_ONCE(memory.task))
		return;
	raw_spin_lock_irqsave(&memory_lock, flags);
	for (i = 0; i < memory.nr_held && memory.held[i].ptr != ptr; i++)
		;
	if (i < memory.nr_held)
		memory.held[i] = memory.held[--memory.nr_held];
	raw_spin_unlock_irqrestore(&memory_lock, flags);
}

static inline void note_free(void *data, unsigned long call_site, const void *ptr)
{
	note_freed(ptr);
}

#if defined(CONFIG_KPROBES) && defined(CONFIG_HAVE_FUNCTION_ARG_ACCESS_API)
/* What kfree_rcu() frees begins with its rcu_head. */
static inline int note_free_later(struct kprobe *kp, struct pt_regs *regs)
{
	note_freed((void *)regs_get_kernel_argument(regs, 0));
	return 0;
}

static struct kprobe free_later;

static inline int watch_kfree_rcu(void)
{
	free_later = (struct kprobe) {
		.symbol_name = "kvfree_call_rcu", .pre_handler = note_free_later,
	};
	return register_kprobe(&free_later);
}

static inline void unwatch_kfree_rcu(void)
{
	unregister_kprobe(&free_later);
}
#else
static inline int watch_kfree_rcu(void)
{
	return -EOPNOTSUPP;
}

static inline void unwatch_kfree_rcu(void)
{
}
#endif

static inline void stop_tracking(void)
{
	if (!tracks_memory)
		return;
	WRITE_ONCE(memory.task, NULL);
	unwatch_kfree_rcu();
	unregister_trace_kfree(note_free, NULL);
	unregister_trace_kmalloc(note_alloc, NULL);
	tracepoint_synchronize_unregister();
	tracks_memory = false;
}

/* Tracks what is allocated from now on. */
static inline void forget_memory(void)
{
	WRITE_ONCE(memory.task, NULL);
	memory.nr_held = 0;
	memory.is_full = false;
	WRITE_ONCE(memory.task, current);
}

/* Tracks what this task allocates, until stop_tracking(). Return: 0 or an error. */
static inline int start_tracking(void)
{
	int ret = watch_kfree_rcu();

	if (ret)
		return ret;
	tracks_memory = true;
	ret = register_trace_kmalloc(note_alloc, NULL) ?:
	      register_trace_kfree(note_free, NULL);
	if (ret)
		stop_tracking();
	else
		forget_memory();
	return ret;
}

#define need_tracking(test)						\
	do {								\
		if (start_tracking())					\
			kunit_skip(test, "needs kprobes and kmem tracepoints"); \
	} while (0)

static inline void expect_none_held(struct kunit *test)
{
	KUNIT_EXPECT_EQ_MSG(test, memory.nr_held, 0U, "allocated at %pS",
			    (void *)memory.held[0].call_site);
	KUNIT_EXPECT_FALSE(test, memory.is_full);
}

#endif /* _LIB_TEST_MEMORY_H */
