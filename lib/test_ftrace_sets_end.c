// SPDX-License-Identifier: GPL-2.0
/* KUnit tests of the end of sets, tracers and function probes, while tasks use them. */
#include <linux/completion.h>
#include <linux/ctype.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/pstore.h>
#include <linux/sched/task.h>
#include <linux/timer.h>
#include <linux/uaccess.h>

#include "test_ftrace_sets.h"

/* Filters and function probes find these by their names, which no other suite has. */
static noinline __used int probed_a(int number)
{
	asm volatile("");
	return number + 1;
}

#ifdef CONFIG_KPROBES
static noinline __used int probed_b(int number)
{
	asm volatile("");
	return number + 2;
}
#endif

/* Is the first instruction of the code still there? */
static bool is_code(const void *code, const u8 *insn, size_t size)
{
	u8 now[8];

	return !copy_from_kernel_nofault(now, code, size) && !memcmp(now, insn, size);
}

/* The code of a set has a name, until it is freed. */
static void sets_test_name(struct kunit *test)
{
	char name[KSYM_SYMBOL_LEN];
	unsigned int tries;
	void *code;
	u8 insn[7];

	need_named_code(test);
	start(test, 0, 0, probed_a);
	start(test, 1, 0, probed_a);
	code = called_by(test, probed_a);
	snprintf(name, sizeof(name), "%ps", code);
	KUNIT_EXPECT_TRUE_MSG(test, str_has_prefix(name, "ftrace_set_") && isdigit(name[11]),
			      "%s", name);
	KUNIT_EXPECT_EQ(test, 0, copy_from_kernel_nofault(insn, code, sizeof(insn)));
	stop(test, 0);
	stop(test, 1);
	for (tries = 0; tries < 100; tries++) {
		snprintf(name, sizeof(name), "%ps", code);
		if (!str_has_prefix(name, "ftrace_set_") && !is_code(code, insn, sizeof(insn)))
			break;
		msleep(100);
	}
	KUNIT_EXPECT_FALSE_MSG(test, str_has_prefix(name, "ftrace_set_"), "%s", name);
	KUNIT_EXPECT_FALSE(test, is_code(code, insn, sizeof(insn)));
}

/* A task that stays in a tracer, where it may be preempted. */
static struct {
	struct completion entered;
	const void *caller;
	u8 code[16];
	bool may_leave;
} lingerer;

static notrace void linger(unsigned long ip, unsigned long parent_ip,
			   struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	lingerer.caller = __builtin_return_address(0);
	memcpy(lingerer.code, lingerer.caller, sizeof(lingerer.code));
	complete(&lingerer.entered);
	while (!READ_ONCE(lingerer.may_leave))
		cpu_relax();
}

static int call_and_linger(void *unused)
{
	probed_a(1);
	return 0;
}

/*
 * An unused set and its code must not change while a task will return to it. Half a
 * second is enough to free them if the kernel does not wait for the task.
 */
static void sets_test_in_use(struct kunit *test)
{
	u8 code[sizeof(lingerer.code)] = { };
	struct task_struct *thread;

	if (!IS_ENABLED(CONFIG_FTRACE_SETS) || num_online_cpus() < 2)
		kunit_skip(test, "needs FTRACE_SETS and two CPUs");
	init_completion(&lingerer.entered);
	lingerer.may_leave = false;
	thread = kthread_create(call_and_linger, NULL, "kunit_linger");
	KUNIT_ASSERT_FALSE(test, IS_ERR(thread));
	start(test, 0, 0, probed_a);
	start_calling(test, 1, 0, probed_a, linger);
	get_task_struct(thread);
	wake_up_process(thread);
	wait_for_completion(&lingerer.entered);
	start(test, 2, 0, probed_a);
	msleep(500);
	KUNIT_EXPECT_EQ(test, 0, copy_from_kernel_nofault(code, lingerer.caller, sizeof(code)));
	KUNIT_EXPECT_EQ(test, 0, memcmp(code, lingerer.code, sizeof(code)));
	nr_called = 0;
	WRITE_ONCE(lingerer.may_leave, true);
	kthread_stop(thread);
	put_task_struct(thread);
	KUNIT_EXPECT_EQ(test, calls(), 1UL);	/* the next one of the unused set */
}

#ifdef CONFIG_KPROBES
static void let_leave(struct timer_list *unused)
{
	WRITE_ONCE(lingerer.may_leave, true);
}

static DEFINE_TIMER(leave_timer, let_leave);

/*
 * Lets a task linger in a tracer until stop_lingering(), or for longer than it takes to
 * unregister another one without waiting for the task. That is like registering one.
 */
static void start_lingering(struct kunit *test)
{
	unsigned long begin = jiffies, taken;
	struct task_struct *thread;

	init_completion(&lingerer.entered);
	WRITE_ONCE(lingerer.may_leave, false);
	start_calling(test, 0, 0, probed_a, linger);
	taken = jiffies - begin;
	thread = kthread_run(call_and_linger, NULL, "kunit_linger");
	if (!IS_ERR(thread))
		KUNIT_EXPECT_TRUE(test, wait_for_completion_timeout(&lingerer.entered, 60 * HZ));
	mod_timer(&leave_timer, jiffies + HZ / 2 + 3 * taken);
}

static void stop_lingering(struct kunit *test)
{
	timer_delete_sync(&leave_timer);
	WRITE_ONCE(lingerer.may_leave, true);
	stop(test, 0);
}

/* A function probe, as commands in set_ftrace_filter. */
static unsigned int nr_freed, nr_early;

static void ignore_probe(unsigned long ip, unsigned long parent_ip, struct trace_array *tr,
			 struct ftrace_probe_ops *ops, void *data)
{
}

/* Without an address, the data of all functions is freed. */
static void note_free_probe(struct ftrace_probe_ops *ops, struct trace_array *tr,
			    unsigned long ip, void *data)
{
	nr_freed += !!ip;
	nr_early += !READ_ONCE(lingerer.may_leave);
}

static struct ftrace_probe_ops probe_ops = { .func = ignore_probe, .free = note_free_probe };

/*
 * Its data is freed after the last task has left the tracers of the function, which
 * call it next.
 */
static void sets_test_function_probe(struct kunit *test)
{
	typeof(&register_ftrace_function_probe) add =
		find_function("register_ftrace_function_probe");
	typeof(&unregister_ftrace_function_probe_func) remove =
		find_function("unregister_ftrace_function_probe_func");
	char both[] = "probed_[ab]", a[] = "probed_a", b[] = "probed_b";
	struct trace_event_file *event;

	if (num_online_cpus() < 2 || !add || !remove)
		kunit_skip(test, "needs two CPUs and function probes that can be called");
	event = trace_get_event_file(NULL, "sched", "sched_switch");
	if (IS_ERR(event))
		kunit_skip(test, "needs trace events");
	nr_freed = 0;
	nr_early = 0;
	KUNIT_EXPECT_EQ(test, add(both, event->tr, &probe_ops, NULL), 2);
	start_lingering(test);
	KUNIT_EXPECT_EQ(test, remove(a, event->tr, &probe_ops), 0);
	KUNIT_EXPECT_EQ(test, nr_freed, 1U);
	KUNIT_EXPECT_EQ(test, nr_early, 0U);
	stop_lingering(test);
	KUNIT_EXPECT_EQ(test, remove(b, event->tr, &probe_ops), 0);
	trace_put_event_file(event);
}

/* Calls of functions that are kept may find the counter in the same bucket. */
static void sets_test_counter_is_freed_later(struct kunit *test)
{
	typeof(&allocate_ftrace_func_mapper) make = find_function("allocate_ftrace_func_mapper");
	typeof(&ftrace_func_mapper_add_ip) add = find_function("ftrace_func_mapper_add_ip");
	typeof(&ftrace_func_mapper_remove_ip) remove =
		find_function("ftrace_func_mapper_remove_ip");
	typeof(&free_ftrace_func_mapper) free = find_function("free_ftrace_func_mapper");
	struct ftrace_func_mapper *mapper;

	if (!make || !add || !remove || !free)
		kunit_skip(test, "needs function probes, and functions that can be called");
	mapper = make();
	KUNIT_ASSERT_NOT_NULL(test, mapper);
	KUNIT_EXPECT_EQ(test, add(mapper, (unsigned long)probed_a, mapper), 0);
	KUNIT_EXPECT_EQ(test, watch_calls("kvfree_call_rcu"), 0);
	KUNIT_EXPECT_PTR_EQ(test, remove(mapper, (unsigned long)probed_a), (void *)mapper);
	stop_watching();
	KUNIT_EXPECT_EQ(test, watched.calls, 1U);
	free(mapper, NULL);
}
#endif

#if IS_BUILTIN(CONFIG_PSTORE) && defined(CONFIG_PSTORE_FTRACE) &&	\
	defined(CONFIG_KPROBES) && defined(CONFIG_KALLSYMS_ALL)
static ssize_t read_nothing(struct pstore_record *record)
{
	return 0;
}

static int write_nothing(struct pstore_record *record)
{
	return 0;
}

/* The tracer of pstore is called by no task after it was unregistered. */
static void sets_test_pstore(struct kunit *test)
{
	static struct pstore_info backend = {
		.owner = THIS_MODULE, .name = "kunit", .flags = PSTORE_FLAGS_FTRACE,
		.read = read_nothing, .write = write_nothing,
	};
	struct ftrace_ops *saved = kunit_kzalloc(test, sizeof(*saved), GFP_KERNEL), *ops;
	char function[] = "probed_a";

	if (num_online_cpus() < 2)
		kunit_skip(test, "needs two CPUs");
	KUNIT_ASSERT_NOT_NULL(test, saved);
	need_symbol(test, "pstore_ftrace_ops", (void **)&ops);
	if (ops->flags & FTRACE_OPS_FL_INITIALIZED || pstore_register(&backend))
		kunit_skip(test, "pstore is in use");
	*saved = *ops;
	KUNIT_EXPECT_EQ(test, ftrace_set_filter(ops, function, strlen(function), 1), 0);
	KUNIT_EXPECT_EQ(test, register_ftrace_function(ops), 0);
	start_lingering(test);
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(ops), 0);
	KUNIT_EXPECT_TRUE(test, READ_ONCE(lingerer.may_leave));
	stop_lingering(test);
	ftrace_free_filter(ops);
	*ops = *saved;	/* without the filter, which is freed */
	pstore_unregister(&backend);
}
#endif

static struct kunit_case sets_test_cases[] = {
	KUNIT_CASE(sets_test_in_use),
#ifdef CONFIG_KPROBES
	KUNIT_CASE(sets_test_function_probe),
	KUNIT_CASE(sets_test_counter_is_freed_later),
#endif
	KUNIT_CASE(sets_test_name),
#if IS_BUILTIN(CONFIG_PSTORE) && defined(CONFIG_PSTORE_FTRACE) &&	\
	defined(CONFIG_KPROBES) && defined(CONFIG_KALLSYMS_ALL)
	KUNIT_CASE(sets_test_pstore),
#endif
	{ }
};

SETS_TEST_SUITE("ftrace_sets_end", sets_test_cases);

MODULE_DESCRIPTION("KUnit tests of the end of sets and function probes");
MODULE_LICENSE("GPL");
