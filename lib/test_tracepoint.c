// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of tracepoints: which probes are called, in which order and with which
 * arguments, and what registration returns.
 */
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <trace/events/kmem.h>

#include "test_tracepoint.h"

DECLARE_TRACE(kunit_plain, TP_PROTO(int number, const char *text),
	      TP_ARGS(number, text));
DECLARE_TRACE_CONDITION(kunit_condition, TP_PROTO(int number), TP_ARGS(number),
			TP_CONDITION(number > 10));
DECLARE_TRACE(kunit_callbacks, TP_PROTO(int number), TP_ARGS(number));
DECLARE_TRACE(kunit_most_args, MOST_PROTO, MOST_ARGS);

/* On x86-64 it fits a register, but is passed on the stack. */
struct kunit_packed {
	u8 a;
	u32 b;
} __packed;

/* Without trampoline support. */
DECLARE_TRACE(kunit_packed, TP_PROTO(struct kunit_packed packed, int number),
	      TP_ARGS(packed, number));
DECLARE_TRACE(kunit_15_args, PARAMS(MOST_PROTO, int m, int n, int o),
	      PARAMS(MOST_ARGS, m, n, o));
/* The first ones here with three arguments: clang remembers how it extends these. */
DECLARE_TRACE(kunit_signed, TP_PROTO(s8 a, s16 b, s8 c), TP_ARGS(a, b, c));
DECLARE_TRACE(kunit_unsigned, TP_PROTO(u8 a, u16 b, u8 c), TP_ARGS(a, b, c));
DECLARE_TRACEPOINT(kunit_plain);

static int reg_calls, unreg_calls, reg_result;

static int test_reg(void)
{
	reg_calls++;
	return reg_result;
}

static void test_unreg(void)
{
	unreg_calls++;
}

/* The short form; the old form, used below, repeats prototype and arguments. */
DEFINE_TRACE(kunit_plain);
DEFINE_TRACE(kunit_condition_tp, TP_PROTO(int number), TP_ARGS(number));
DEFINE_TRACE_FN(kunit_callbacks_tp, test_reg, test_unreg, TP_PROTO(int number),
		TP_ARGS(number));
DEFINE_TRACE(kunit_most_args);
DEFINE_TRACE(kunit_packed);
DEFINE_TRACE(kunit_15_args);
DEFINE_TRACE(kunit_signed);
DEFINE_TRACE(kunit_unsigned);

static void probe_other(void *data, int number, const char *text)
{
	calls = calls * 10 + (unsigned long)data + 1;
}

static unsigned long fire(int number)
{
	calls = 0;
	trace_kunit_plain_tp(number, "text");
	return calls;
}

static int tp_test_init(struct kunit *test)
{
	forget_calls();
	reg_calls = 0;
	unreg_calls = 0;
	reg_result = 0;
	return 0;
}

static void tp_test_on_and_off(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, register_trace_kunit_plain(probe_plain, digit(4)), 0);
	KUNIT_EXPECT_TRUE(test, trace_kunit_plain_enabled());
	KUNIT_EXPECT_TRUE(test, tracepoint_enabled(kunit_plain));
	KUNIT_EXPECT_TRUE(test, tracepoint_active(&__tracepoint_kunit_plain_tp));
	KUNIT_EXPECT_EQ(test, fire(-5), 4UL);
	KUNIT_EXPECT_EQ(test, last_number, -5);
	KUNIT_EXPECT_STREQ(test, last_text, "text");
	trace_kunit_plain_tp(2, "text");
	KUNIT_EXPECT_EQ(test, calls, 44UL);
	KUNIT_EXPECT_EQ(test, last_number, 2);

	KUNIT_EXPECT_EQ(test, unregister_trace_kunit_plain(probe_plain, digit(4)), 0);
	KUNIT_EXPECT_FALSE(test, trace_kunit_plain_enabled());
	KUNIT_EXPECT_EQ(test, fire(6), 0UL);
	trace_kunit_plain_tp(6, "off");
	KUNIT_EXPECT_EQ(test, calls, 0UL);
}

static noinline void fire_most(void)
{
	trace_kunit_most_args_tp(MOST_VALUES);
}

static void tp_test_most_args(struct kunit *test)
{
	unsigned long i;

	for (i = 1; i <= 3; i++) {
		KUNIT_ASSERT_EQ(test, register_trace_kunit_most_args(probe_most, digit(i)), 0);
		fire_most();
	}
	KUNIT_EXPECT_EQ(test, calls, 112123UL);
	remove_probes(&__tracepoint_kunit_most_args_tp, probe_most, 3);
	fire_most();
	KUNIT_EXPECT_EQ(test, calls, 112123UL);
}

static void probe_signed(void *data, s8 a, s16 b, s8 c)
{
	last_number = a + b + c;
}

static void probe_unsigned(void *data, u8 a, u16 b, u8 c)
{
	calls = a + b + c;
}

static noinline void fire_narrow(u8 a, u16 b, u8 c)
{
	trace_kunit_signed_tp(a, b, c);
	trace_kunit_unsigned_tp(a, b, c);
}

/* Probes rely on the upper bits of narrow arguments, where the ABI has them extended. */
static void tp_test_narrow_args(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, register_trace_kunit_signed(probe_signed, NULL), 0);
	KUNIT_ASSERT_EQ(test, register_trace_kunit_unsigned(probe_unsigned, NULL), 0);
	fire_narrow(S8_MAX + 1, S16_MAX + 1, 0);
	KUNIT_EXPECT_EQ(test, last_number, S8_MIN + S16_MIN);
	KUNIT_EXPECT_EQ(test, calls, S8_MAX + 1UL + S16_MAX + 1);
	unregister_trace_kunit_signed(probe_signed, NULL);
	unregister_trace_kunit_unsigned(probe_unsigned, NULL);
}

static void probe_packed(void *data, struct kunit_packed packed, int number)
{
	if (packed.a == U8_MAX && packed.b == 0x12345678 && number == 7)
		calls = calls * 10 + (unsigned long)data;
	spoil(&packed, sizeof(packed));
}

static void tp_test_packed(struct kunit *test)
{
	const struct kunit_packed packed = { .a = U8_MAX, .b = 0x12345678 };
	unsigned long i;

	for (i = 1; i <= 3; i++) {
		KUNIT_ASSERT_EQ(test, register_trace_kunit_packed(probe_packed, digit(i)), 0);
		trace_kunit_packed_tp(packed, 7);
	}
	KUNIT_EXPECT_EQ(test, calls, 112123UL);
	remove_probes(&__tracepoint_kunit_packed_tp, probe_packed, 3);
}

static void probe_15(void *data, MOST_PROTO, int m, int n, int o)
{
	if (m == 13 && n == 14 && o == 15)
		probe_most(data, MOST_ARGS);
}

static void tp_test_15_args(struct kunit *test)
{
	unsigned long i;

	for (i = 1; i <= 3; i++) {
		KUNIT_ASSERT_EQ(test, register_trace_kunit_15_args(probe_15, digit(i)), 0);
		trace_kunit_15_args_tp(MOST_VALUES, 13, 14, 15);
	}
	KUNIT_EXPECT_EQ(test, calls, 112123UL);
	remove_probes(&__tracepoint_kunit_15_args_tp, probe_15, 3);
}

static void probe_data(void *data, int number)
{
	calls = (unsigned long)data;
}

static void tp_test_data(struct kunit *test)
{
	static const unsigned long values[] = {
		0, 1, INT_MAX, (unsigned long)INT_MIN, UINT_MAX, LONG_MAX, LONG_MIN,
		UINT_MAX + 1UL, -1UL, (unsigned long)&calls,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(values); i++) {
		KUNIT_ASSERT_EQ(test, register_trace_kunit_callbacks(probe_data,
								     digit(values[i])), 0);
		calls = 42;
		trace_kunit_callbacks_tp(1);
		KUNIT_EXPECT_EQ(test, calls, values[i]);
		unregister_trace_kunit_callbacks(probe_data, digit(values[i]));
	}
}

/* Many probes: all are called, in order, and all can be unregistered. */
static void tp_test_many_probes(struct kunit *test)
{
	unsigned long i, sum = 0;

	KUNIT_ASSERT_EQ(test, add_probes(&__tracepoint_kunit_plain_tp, probe_plain, 100), 0);
	for (i = 1; i <= 100; i++)
		sum = sum * 10 + i;
	KUNIT_EXPECT_EQ(test, fire(1), sum);
	KUNIT_EXPECT_EQ(test, remove_probes(&__tracepoint_kunit_plain_tp, probe_plain, 100), 0);
	KUNIT_EXPECT_EQ(test, fire(1), 0UL);
}

enum { ADD, ADD_QUIETLY, REMOVE };

struct change {
	int what;
	void (*probe)(void *data, int number, const char *text);
	unsigned long data;
	int result;
	unsigned long calls;	/* of a hit after the change */
	int prio;		/* 0: the default */
};

static const struct change changes[] = {
	{ ADD, NULL, 0, -EINVAL, 0 },
	{ REMOVE, NULL, 0, -EINVAL, 0 },
	{ REMOVE, probe_plain, 1, -ENOENT, 0 },
	{ ADD, probe_plain, 1, 0, 1 },
	{ ADD, probe_plain, 1, -EEXIST, 1 },
	{ ADD_QUIETLY, probe_plain, 1, -EEXIST, 1 },
	{ REMOVE, probe_plain, 2, -ENOENT, 1 },
	{ REMOVE, probe_other, 1, -ENOENT, 1 },
	{ ADD, probe_plain, 2, 0, 12, TRACEPOINT_DEFAULT_PRIO },
	{ ADD, probe_plain, 3, 0, 312, 20 },
	{ ADD, probe_plain, 4, 0, 3124, 1 },
	{ ADD, probe_other, 4, 0, 31254 },
	{ REMOVE, probe_plain, 1, 0, 3254 },
	{ REMOVE, probe_plain, 3, 0, 254 },
	{ REMOVE, probe_plain, 4, 0, 25 },
	{ REMOVE, probe_other, 4, 0, 2 },
	{ REMOVE, probe_plain, 2, 0, 0 },
	/* Sites leave any value in the register of the data. */
	{ ADD, probe_plain, 0, 0, 0 },
	{ ADD, probe_plain, 2, 0, 2 },
	{ ADD, probe_other, 0, 0, 21 },
	{ REMOVE, probe_plain, 0, 0, 21 },
	{ REMOVE, probe_plain, 2, 0, 1 },
	{ REMOVE, probe_other, 0, 0, 0 },
};

static int make_change(const struct change *change)
{
	void *data = digit(change->data);

	if (change->what == REMOVE)
		return unregister_trace_kunit_plain(change->probe, data);
	if (change->what == ADD_QUIETLY)
		return tracepoint_probe_register_may_exist(&__tracepoint_kunit_plain_tp,
							   change->probe, data);
	if (change->prio)
		return register_trace_prio_kunit_plain_tp(change->probe, data, change->prio);
	return register_trace_kunit_plain(change->probe, data);
}

/* What each change returns, and which probes are called after it, in which order. */
static void tp_test_changes(struct kunit *test)
{
	unsigned int i, nr_probes = 0;
	int ret;

	for (i = 0; i < ARRAY_SIZE(changes); i++) {
		ret = make_change(&changes[i]);
		if (!ret)
			nr_probes += changes[i].what == REMOVE ? -1 : 1;
		KUNIT_EXPECT_EQ_MSG(test, ret, changes[i].result, "change %u", i);
		KUNIT_EXPECT_EQ_MSG(test, fire(0), changes[i].calls, "change %u", i);
		KUNIT_EXPECT_EQ_MSG(test, trace_kunit_plain_enabled(), nr_probes > 0,
				    "change %u", i);
	}
}

/* trace_call__kunit_condition_tp() evaluates only the condition, not the guard. */
static void tp_test_condition(struct kunit *test)
{
	trace_call__kunit_condition_tp(11);
	KUNIT_ASSERT_EQ(test, register_trace_kunit_condition(probe_number, digit(7)), 0);
	trace_kunit_condition_tp(10);
	trace_call__kunit_condition_tp(10);
	KUNIT_EXPECT_EQ(test, calls, 0UL);
	trace_kunit_condition_tp(11);
	KUNIT_EXPECT_EQ(test, calls, 7UL);
	trace_call__kunit_condition_tp(11);
	KUNIT_EXPECT_EQ(test, calls, 77UL);
	unregister_trace_kunit_condition(probe_number, digit(7));
	trace_call__kunit_condition_tp(12);
	KUNIT_EXPECT_EQ(test, calls, 77UL);
}

/* regfunc is called for the first probe, unregfunc for the last one. */
static void tp_test_callbacks(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, register_trace_kunit_callbacks(probe_number, digit(1)), 0);
	KUNIT_ASSERT_EQ(test, register_trace_kunit_callbacks(probe_number, digit(2)), 0);
	KUNIT_EXPECT_EQ(test, reg_calls, 1);
	unregister_trace_kunit_callbacks(probe_number, digit(1));
	KUNIT_EXPECT_EQ(test, unreg_calls, 0);
	unregister_trace_kunit_callbacks(probe_number, digit(2));
	KUNIT_EXPECT_EQ(test, unreg_calls, 1);
	KUNIT_EXPECT_EQ(test, reg_calls, 1);
}

static void tp_test_callback_fails(struct kunit *test)
{
	reg_result = -EBUSY;
	KUNIT_EXPECT_EQ(test, register_trace_kunit_callbacks(probe_number, digit(1)), -EBUSY);
	KUNIT_EXPECT_FALSE(test, trace_kunit_callbacks_enabled());
	trace_kunit_callbacks_tp(1);
	KUNIT_EXPECT_EQ(test, calls, 0UL);
	KUNIT_EXPECT_EQ(test, unreg_calls, 0);
	KUNIT_EXPECT_EQ(test, unregister_trace_kunit_callbacks(probe_number, digit(1)), -ENOENT);

	reg_result = 0;
	KUNIT_EXPECT_EQ(test, register_trace_kunit_callbacks(probe_number, digit(1)), 0);
	trace_kunit_callbacks_tp(1);
	KUNIT_EXPECT_EQ(test, calls, 1UL);
	unregister_trace_kunit_callbacks(probe_number, digit(1));
}

static void probe_preempt(void *data, int number)
{
	calls = preempt_count();
}

/* A probe can be preempted if the traced code can. */
static void tp_test_preemption(struct kunit *test)
{
	if (!IS_ENABLED(CONFIG_PREEMPT_COUNT))
		kunit_skip(test, "needs CONFIG_PREEMPT_COUNT");
	register_trace_kunit_callbacks(probe_preempt, NULL);
	trace_kunit_callbacks_tp(1);
	unregister_trace_kunit_callbacks(probe_preempt, NULL);
	KUNIT_EXPECT_EQ(test, calls, preempt_count() + 0UL);
}

static inline void inlined(int number)
{
	trace_kunit_callbacks_tp(number);
}

/*
 * A tracepoint with many sites: in a function that is inlined in two places, and
 * in a loop that the compiler unrolls. All sites are enabled and disabled.
 */
static noinline void hit_many_sites(void)
{
	int i;

	inlined(1);
	inlined(2);
#ifdef CONFIG_CC_IS_GCC	/* clang unrolls no loop with asm goto in it */
#pragma GCC unroll 4
#endif
	for (i = 0; i < 4; i++)
		trace_kunit_callbacks_tp(i);
}

static void tp_test_many_sites(struct kunit *test)
{
	hit_many_sites();
	KUNIT_EXPECT_EQ(test, calls, 0UL);
	KUNIT_ASSERT_EQ(test, register_trace_kunit_callbacks(probe_number, digit(1)), 0);
	hit_many_sites();
	KUNIT_EXPECT_EQ(test, calls, 111111UL);
	unregister_trace_kunit_callbacks(probe_number, digit(1));
	hit_many_sites();
	KUNIT_EXPECT_EQ(test, calls, 111111UL);
}

static void look_for_plain(struct tracepoint *tp, void *priv)
{
	if (tp == &__tracepoint_kunit_plain_tp)
		(*(int *)priv)++;
}

static void look_for_switch(struct tracepoint *tp, void *priv)
{
	if (!strcmp(tp->name, "sched_switch"))
		(*(int *)priv)++;
}

static int look_in_module(struct notifier_block *nb, unsigned long state,
			  void *data)
{
#ifdef CONFIG_MODULES
	struct tp_module *tp_mod = data;

	if (tp_mod->mod == THIS_MODULE)
		calls = calls * 10 + (state == MODULE_STATE_COMING ? 1 : 2);
#endif
	return NOTIFY_OK;
}

/* A tracepoint is listed with those of the kernel or reported with its module. */
static void tp_test_enumeration(struct kunit *test)
{
	struct notifier_block nb = { .notifier_call = look_in_module };
	int found = 0, switches = 0;

	for_each_kernel_tracepoint(look_for_plain, &found);
	KUNIT_EXPECT_EQ(test, found, IS_MODULE(CONFIG_TRACEPOINT_KUNIT_TEST) ? 0 : 1);
	for_each_kernel_tracepoint(look_for_switch, &switches);
	KUNIT_EXPECT_EQ(test, switches, 1);
	if (!IS_MODULE(CONFIG_TRACEPOINT_KUNIT_TEST))
		return;
	KUNIT_ASSERT_EQ(test, register_tracepoint_module_notifier(&nb), 0);
	KUNIT_EXPECT_EQ(test, calls, 1UL);
	KUNIT_ASSERT_EQ(test, unregister_tracepoint_module_notifier(&nb), 0);
	KUNIT_EXPECT_EQ(test, calls, 12UL);
	KUNIT_EXPECT_EQ(test, unregister_tracepoint_module_notifier(&nb), -ENOENT);
	KUNIT_EXPECT_EQ(test, calls, 12UL);
}

#ifdef CONFIG_HAVE_SYSCALL_TRACEPOINTS
static struct tracepoint *sys_enter, *sys_exit;

static void find_syscalls(struct tracepoint *tp, void *unused)
{
	if (!strcmp(tp->name, "sys_enter"))
		sys_enter = tp;
	else if (!strcmp(tp->name, "sys_exit"))
		sys_exit = tp;
}

static void probe_syscall(void *data, struct pt_regs *regs, long number)
{
}

/* How many tasks do not take the slow path of system calls, or the fast one? */
static unsigned int count_others(bool slow)
{
	struct task_struct *process, *thread;
	unsigned int others = 0;

	rcu_read_lock();
	for_each_process_thread(process, thread)
		others += !!test_task_syscall_work(thread, SYSCALL_TRACEPOINT) != slow;
	rcu_read_unlock();
	return others;
}

/* Tries again, since a new task is in the list before its path is set. */
static bool all_take_path(bool slow)
{
	int tries;

	for (tries = 0; tries < 50; tries++) {
		if (!count_others(slow))
			return true;
		msleep(20);
	}
	return false;
}

/* All tasks take the slow path while there is a probe. */
static void tp_test_syscalls(struct kunit *test)
{
	for_each_kernel_tracepoint(find_syscalls, NULL);
	KUNIT_ASSERT_NOT_NULL(test, sys_enter);
	KUNIT_ASSERT_NOT_NULL(test, sys_exit);
	if (!all_take_path(false))
		kunit_skip(test, "somebody traces system calls");

	KUNIT_EXPECT_EQ(test, tracepoint_probe_register(sys_enter, probe_syscall, NULL), 0);
	KUNIT_EXPECT_EQ(test, tracepoint_probe_register(sys_exit, probe_syscall, NULL), 0);
	KUNIT_EXPECT_TRUE(test, all_take_path(true));
	KUNIT_EXPECT_EQ(test, tracepoint_probe_unregister(sys_enter, probe_syscall, NULL), 0);
	KUNIT_EXPECT_TRUE(test, all_take_path(true));
	KUNIT_EXPECT_EQ(test, tracepoint_probe_unregister(sys_exit, probe_syscall, NULL), 0);
	KUNIT_EXPECT_TRUE(test, all_take_path(false));
}
#endif /* CONFIG_HAVE_SYSCALL_TRACEPOINTS */

static struct kunit_case tp_test_cases[] = {
	KUNIT_CASE(tp_test_on_and_off),
	KUNIT_CASE(tp_test_most_args),
	KUNIT_CASE(tp_test_narrow_args),
	KUNIT_CASE(tp_test_15_args),
	KUNIT_CASE(tp_test_packed),
	KUNIT_CASE(tp_test_data),
	KUNIT_CASE(tp_test_many_probes),
	KUNIT_CASE(tp_test_changes),
	KUNIT_CASE(tp_test_condition),
	KUNIT_CASE(tp_test_callbacks),
	KUNIT_CASE(tp_test_callback_fails),
	KUNIT_CASE(tp_test_preemption),
	KUNIT_CASE(tp_test_many_sites),
	KUNIT_CASE(tp_test_enumeration),
#ifdef CONFIG_HAVE_SYSCALL_TRACEPOINTS
	KUNIT_CASE(tp_test_syscalls),
#endif
	{ }
};

TP_TEST_SUITE("tracepoint", tp_test_init);

MODULE_DESCRIPTION("KUnit tests of tracepoints");
MODULE_LICENSE("GPL");
