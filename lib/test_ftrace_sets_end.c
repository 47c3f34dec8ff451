// SPDX-License-Identifier: GPL-2.0
/* KUnit tests of the end of sets and tracers, while tasks use them. */
#include <linux/completion.h>
#include <linux/ctype.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/sched/task.h>
#include <linux/uaccess.h>

#include "test_ftrace_sets.h"

/* Filters find it by its name, which no other suite has. */
static noinline __used int probed_a(int number)
{
	asm volatile("");
	return number + 1;
}

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

static struct kunit_case sets_test_cases[] = {
	KUNIT_CASE(sets_test_in_use),
	KUNIT_CASE(sets_test_name),
	{ }
};

SETS_TEST_SUITE("ftrace_sets_end", sets_test_cases);

MODULE_DESCRIPTION("KUnit tests of the end of sets");
MODULE_LICENSE("GPL");
