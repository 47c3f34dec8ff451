// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of tracepoints that several tasks hit and change, and of modules.
 */
#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/module.h>

#include "../kernel/tracepoint-private.h"
#include "test_call.h"
#include "test_memory.h"
#include "test_tracepoint.h"

DECLARE_TRACE(kunit_tasks, TP_PROTO(int number, const char *text),
	      TP_ARGS(number, text));
DECLARE_TRACE(kunit_tasks_one, TP_PROTO(int number), TP_ARGS(number));
DECLARE_TRACE_SYSCALL(kunit_faultable, TP_PROTO(int number), TP_ARGS(number));
DEFINE_TRACE(kunit_tasks);
DEFINE_TRACE(kunit_tasks_one);
DEFINE_TRACE_SYSCALL(kunit_faultable_tp, NULL, NULL);

static struct tracepoint * const one = &__tracepoint_kunit_tasks_one_tp;
static struct tracepoint * const faultable = &__tracepoint_kunit_faultable_tp;

static unsigned long fire(int number)
{
	calls = 0;
	trace_kunit_tasks_tp(number, "text");
	return calls;
}

/* A task that stays in a probe, or in a read-side section of tracepoint_srcu. */
struct lingerer {
	struct tracepoint *tp;
	struct completion entered;
	bool may_leave, left;
};

static void linger(struct lingerer *lingerer)
{
	complete(&lingerer->entered);
	while (!READ_ONCE(lingerer->may_leave))
		cpu_relax();
	if (lingerer->tp && tracepoint_is_faultable(lingerer->tp))
		msleep(500);
	else
		mdelay(500);
	WRITE_ONCE(lingerer->left, true);
}

static void probe_lingers(void *data, int number)
{
	linger(data);
}

static int hit_and_linger(void *unused)
{
	trace_kunit_tasks_one_tp(1);
	return 0;
}

static int hit_and_sleep(void *unused)
{
	trace_kunit_faultable_tp(1);
	return 0;
}

static int linger_in_srcu(void *data)
{
	struct srcu_ctr __percpu *ctr = srcu_read_lock_fast(&tracepoint_srcu);

	linger(data);
	srcu_read_unlock_fast(&tracepoint_srcu, ctr);
	return 0;
}

static int set_online(unsigned int cpu, bool online)
{
#ifdef CONFIG_HOTPLUG_CPU
	return online ? add_cpu(cpu) : remove_cpu(cpu);
#else
	return 0;
#endif
}

/*
 * @wait must wait for the lingering task, also if this one is moved to another CPU
 * meanwhile, and the first one goes offline. SRCU needs the first CPU to end a wait, so
 * the task begins on another one: waiting for SRCU does not include waiting for RCU.
 */
static void expect_wait(struct kunit *test, int (*fn)(void *), struct lingerer *lingerer,
			bool moved, void (*wait)(void))
{
	unsigned int first = cpumask_first(cpu_online_mask);
	unsigned int other = cpumask_any_but(cpu_online_mask, first);
	struct task_struct *thread;

	init_completion(&lingerer->entered);
	thread = kthread_create_on_cpu(fn, lingerer, other, "kunit_linger/%u");
	KUNIT_ASSERT_FALSE(test, IS_ERR(thread));
	set_cpus_allowed_ptr(current, cpumask_of(first));
	migrate_disable();
	get_task_struct(thread);
	wake_up_process(thread);
	wait_for_completion(&lingerer->entered);
	if (lingerer->tp)
		tracepoint_probe_unregister(lingerer->tp, probe_lingers, lingerer);
	if (moved) {
		KUNIT_EXPECT_EQ(test, set_cpus_allowed_ptr(thread, cpumask_of(first)), 0);
		KUNIT_EXPECT_EQ(test, set_online(other, false), 0);
	}
	WRITE_ONCE(lingerer->may_leave, true);
	wait();
	KUNIT_EXPECT_TRUE(test, READ_ONCE(lingerer->left));
	if (moved)
		KUNIT_EXPECT_EQ(test, set_online(other, true), 0);
	migrate_enable();
	set_cpus_allowed_ptr(current, cpu_possible_mask);
	kthread_stop(thread);
	put_task_struct(thread);
}

static void tp_test_synchronize(struct kunit *test)
{
	struct lingerer in_probe = { one }, in_srcu = { }, moved = { one };

	if (num_online_cpus() < 2)
		kunit_skip(test, "needs two CPUs");
	KUNIT_ASSERT_EQ(test, register_trace_kunit_tasks_one(probe_lingers, &in_probe), 0);
	expect_wait(test, hit_and_linger, &in_probe, false, tracepoint_synchronize_unregister);
	expect_wait(test, linger_in_srcu, &in_srcu, false, tracepoint_synchronize_unregister);
	KUNIT_ASSERT_EQ(test, register_trace_kunit_tasks_one(probe_lingers, &moved), 0);
	expect_wait(test, hit_and_linger, &moved, true, tracepoint_synchronize_unregister);
}

/* Probes of a faultable tracepoint may sleep. */
static void tp_test_faultable(struct kunit *test)
{
	struct lingerer in_probe = { faultable };

	if (num_online_cpus() < 2)
		kunit_skip(test, "needs two CPUs");
	KUNIT_ASSERT_EQ(test, tracepoint_probe_register(faultable, probe_lingers, &in_probe), 0);
	expect_wait(test, hit_and_sleep, &in_probe, false, synchronize_rcu_tasks_trace);
}

#ifdef CONFIG_TRACEPOINT_TRAMPOLINE
static void tp_test_faultable_no_memory(struct kunit *test)
{
	struct lingerer in_walk = { faultable };
	struct srcu_ctr __percpu *reader;

	if (num_online_cpus() < 2)
		kunit_skip(test, "needs two CPUs");
	need_failing_alloc(test);
	reader = keep_without_code();
	register_without_code(faultable, probe_lingers, &in_walk);
	KUNIT_EXPECT_FALSE(test, has_code(faultable));
	expect_wait(test, hit_and_sleep, &in_walk, false, synchronize_rcu_tasks_trace);
	allow_code(reader);
}
#endif

static void (*free_retired)(struct work_struct *work);

static void free_now(void)
{
	free_retired(NULL);
}

/* The code that calls a probe is not freed while the probe runs. */
static void tp_test_free_while_probe_runs(struct kunit *test)
{
	struct lingerer in_probe = { one }, asleep = { faultable };

	if (num_online_cpus() < 2)
		kunit_skip(test, "needs two CPUs");
	free_retired = need_function(test, "free_retired");
	KUNIT_ASSERT_EQ(test, register_trace_kunit_tasks_one(probe_lingers, &in_probe), 0);
	expect_wait(test, hit_and_linger, &in_probe, false, free_now);
	KUNIT_ASSERT_EQ(test, tracepoint_probe_register(faultable, probe_lingers, &asleep), 0);
	expect_wait(test, hit_and_sleep, &asleep, false, free_now);
}

/* Functions that tasks call while the test holds a lock. */
struct locked_calls {
	struct other_call calls[5];
	unsigned int nr;
	bool began;
	unsigned int nr_early;		/* how many did not wait for the lock */
};

static struct locked_calls *locked_calls;

/* Called under the lock. */
static void begin_locked_calls(void)
{
	struct locked_calls *locked = locked_calls;
	unsigned int i;

	if (!locked || locked->began)
		return;
	locked->began = true;
	for (i = 0; i < locked->nr; i++) {
		start_call(&locked->calls[i]);
		locked->nr_early += !locked->calls[i].waited;
	}
}

static void end_locked_calls(struct kunit *test)
{
	unsigned int i;

	KUNIT_EXPECT_TRUE(test, locked_calls->began);
	KUNIT_EXPECT_EQ(test, locked_calls->nr_early, 0U);
	for (i = 0; i < locked_calls->nr; i++)
		end_call(&locked_calls->calls[i]);
	locked_calls = NULL;
}

static int reg_locked(void)
{
	begin_locked_calls();
	fire(1);
	return 0;
}

static const struct tracepoint_ext locked_ext = {
	.regfunc = reg_locked, .text = "kunit_locked",
};

static struct tracepoint locked_tracepoint = {
	.name = locked_ext.text,
	.flags = TRACEPOINT_EXT,
};

static void add_second(void)
{
	register_trace_kunit_tasks(probe_plain, digit(2));
}

static void remove_first(void)
{
	unregister_trace_kunit_tasks(probe_plain, digit(1));
}

/* While the callback of a tracepoint runs, no other task changes a tracepoint. */
static void tp_test_lock(struct kunit *test)
{
	struct locked_calls locked = {
		.calls = { { add_second }, { remove_first }, { free_now } },
	};

	free_retired = find_function("free_retired");
	locked.nr = free_retired ? 3 : 2;
	KUNIT_ASSERT_EQ(test, register_trace_kunit_tasks(probe_plain, digit(1)), 0);
	locked_calls = &locked;
	KUNIT_EXPECT_EQ(test, tracepoint_probe_register(&locked_tracepoint, probe_number,
							NULL), 0);
	KUNIT_EXPECT_EQ(test, calls, 1UL);
	end_locked_calls(test);
	KUNIT_EXPECT_EQ(test, fire(1), 2UL);
	KUNIT_EXPECT_EQ(test, tracepoint_probe_unregister(&locked_tracepoint, probe_number,
							  NULL), 0);
	unregister_trace_kunit_tasks(probe_plain, digit(1));
	unregister_trace_kunit_tasks(probe_plain, digit(2));
}

#ifdef CONFIG_MODULES
/* A module that has only a tracepoint. */
static struct fake_module {
	struct tracepoint tp;
#ifdef CONFIG_HAVE_ARCH_PREL32_RELOCATIONS
	int record;
#else
	struct tracepoint *record;
#endif
	struct module mod;
} fake;

static void make_fake(void)
{
	memset(&fake, 0, sizeof(fake));
	fake.tp.name = "fake";
#ifdef CONFIG_HAVE_ARCH_PREL32_RELOCATIONS
	fake.record = (void *)&fake.tp - (void *)&fake.record;
#else
	fake.record = &fake.tp;
#endif
	strscpy(fake.mod.name, "kunit_fake", sizeof(fake.mod.name));
	fake.mod.tracepoints_ptrs = &fake.record;
	fake.mod.num_tracepoints = 1;
}

static int note_fake(struct notifier_block *nb, unsigned long state, void *data)
{
	struct tp_module *tp_mod = data;

	if (tp_mod->mod == &fake.mod)
		calls = calls * 10 + (state == MODULE_STATE_COMING ? 1 : 2);
	else
		last_number++;
	return NOTIFY_OK;
}

static void fake_comes(void)
{
	tracepoint_module_notify(NULL, MODULE_STATE_COMING, &fake.mod);
}

static void fake_goes(void)
{
	tracepoint_module_notify(NULL, MODULE_STATE_GOING, &fake.mod);
}

static void expect_notes(struct kunit *test, unsigned long wanted)
{
	int others = last_number;

	calls = 0;
	fake_comes();
	KUNIT_EXPECT_EQ(test, tracepoint_module_notify(NULL, MODULE_STATE_LIVE, &fake.mod),
			NOTIFY_OK);
	KUNIT_EXPECT_EQ(test, calls, wanted / 10);
	fake_goes();
	KUNIT_EXPECT_EQ(test, calls, wanted);
	KUNIT_EXPECT_EQ(test, last_number, others);
	make_fake();
}

/* Which modules are reported to notifiers. */
static void tp_test_module(struct kunit *test)
{
	struct notifier_block nb = { .notifier_call = note_fake };
	int ret;

	need_failing_alloc(test);
	make_fake();
	KUNIT_ASSERT_EQ(test, register_tracepoint_module_notifier(&nb), 0);
	expect_notes(test, 12);
	fake.mod.taints = BIT(TAINT_OOT_MODULE) | BIT(TAINT_CRAP) |
			  BIT(TAINT_UNSIGNED_MODULE) | BIT(TAINT_TEST);
	expect_notes(test, 12);
	fake.mod.taints = BIT(TAINT_FORCED_MODULE);
	expect_notes(test, 0);
	fake.mod.num_tracepoints = 0;
	expect_notes(test, 0);
	fail_next_alloc();
	ret = tracepoint_module_notify(NULL, MODULE_STATE_COMING, &fake.mod);
	stop_failing();
	KUNIT_EXPECT_EQ(test, notifier_to_errno(ret), -ENOMEM);

	/* Another notifier refuses the module: it never becomes live. */
	fake_comes();
	fake_goes();
	unregister_tracepoint_module_notifier(&nb);
	calls = 0;
	register_tracepoint_module_notifier(&nb);
	KUNIT_EXPECT_EQ(test, calls, 0UL);
	unregister_tracepoint_module_notifier(&nb);
}

/* Nothing remains allocated for a module that is unloaded. */
static void tp_test_module_is_freed(struct kunit *test)
{
	make_fake();
	need_tracking(test);
	fake_comes();
	fake_goes();
	expect_none_held(test);
	stop_tracking();
}

static int ignore_module(struct notifier_block *nb, unsigned long state, void *data)
{
	return NOTIFY_OK;
}

static int begin_in_notifier(struct notifier_block *nb, unsigned long state, void *data)
{
	begin_locked_calls();
	return NOTIFY_OK;
}

static struct notifier_block first_nb = { .notifier_call = ignore_module };
static struct notifier_block second_nb = { .notifier_call = ignore_module };

static void add_notifier(void)
{
	register_tracepoint_module_notifier(&second_nb);
}

static void remove_notifier(void)
{
	unregister_tracepoint_module_notifier(&first_nb);
}

/* While a notifier is called for all modules, none comes or goes, nor a notifier. */
static void tp_test_module_lock(struct kunit *test)
{
	struct notifier_block nb = { .notifier_call = begin_in_notifier };
	struct locked_calls locked = {
		.calls = { { add_notifier }, { remove_notifier }, { fake_comes }, { fake_goes } },
		.nr = 4,
	};

	make_fake();
	fake_comes();
	KUNIT_EXPECT_EQ(test, register_tracepoint_module_notifier(&first_nb), 0);
	locked_calls = &locked;
	KUNIT_EXPECT_EQ(test, register_tracepoint_module_notifier(&nb), 0);
	end_locked_calls(test);
	unregister_tracepoint_module_notifier(&nb);
	KUNIT_EXPECT_EQ(test, unregister_tracepoint_module_notifier(&first_nb), -ENOENT);
	KUNIT_EXPECT_EQ(test, unregister_tracepoint_module_notifier(&second_nb), 0);
	fake_goes();
}
#endif /* CONFIG_MODULES */

static struct kunit_case tp_test_cases[] = {
	KUNIT_CASE(tp_test_synchronize),
	KUNIT_CASE(tp_test_faultable),
	KUNIT_CASE(tp_test_free_while_probe_runs),
	KUNIT_CASE(tp_test_lock),
#ifdef CONFIG_TRACEPOINT_TRAMPOLINE
	KUNIT_CASE(tp_test_faultable_no_memory),
#endif
#ifdef CONFIG_MODULES
	KUNIT_CASE(tp_test_module),
	KUNIT_CASE(tp_test_module_is_freed),
	KUNIT_CASE(tp_test_module_lock),
#endif
	{ }
};

TP_TEST_SUITE("tracepoint_tasks", forget_calls_init);

MODULE_DESCRIPTION("KUnit tests of tracepoints that several tasks use");
MODULE_LICENSE("GPL");
