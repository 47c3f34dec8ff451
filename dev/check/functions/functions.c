// SPDX-License-Identifier: GPL-2.0
/*
 * Function tracers whose filters change at random, while all CPUs call the functions.
 * Before a call, the caller reads which tracers have its function: these must be
 * called, others must not. Tracers for which that changes during the call may be
 * called or not.
 *
 * Loading the module starts this, for "seconds". The parameters missed, late, mixed and
 * failed count errors, and must be 0; calls and changes count the work.
 */
#include <linux/delay.h>
#include <linux/ftrace.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/sched.h>

#define NR_TRACERS	8
#define NR_FUNCTIONS	12
#define MAX_THREADS	16

static unsigned int seconds = 10;
module_param(seconds, uint, 0400);

static unsigned long calls, changes, missed, late, mixed, failed;
module_param(calls, ulong, 0400);
module_param(changes, ulong, 0400);
module_param(missed, ulong, 0400);
module_param(late, ulong, 0400);
module_param(mixed, ulong, 0400);
module_param(failed, ulong, 0400);
static bool done;
module_param(done, bool, 0400);

/*
 * Whether a tracer has a function: odd while that changes, else a multiple of four
 * if it has not, and two more if it has.
 */
static unsigned int state[NR_TRACERS][NR_FUNCTIONS];

struct tracer {
	struct ftrace_ops ops;
	unsigned int nr;
	bool registered;
};

static struct tracer tracers[NR_TRACERS];

struct caller {
	struct task_struct *task;
	unsigned long called;		/* bits of tracers, in the current call */
	unsigned long ip;
	unsigned long nr_calls, nr_missed, nr_late, nr_mixed;
};

static struct caller callers[MAX_THREADS];
static unsigned int nr_callers;

static notrace struct caller *this_caller(void)
{
	unsigned int i;

	for (i = 0; i < nr_callers; i++)
		if (READ_ONCE(callers[i].task) == current)
			return &callers[i];
	return NULL;
}

static notrace void note(unsigned long ip, unsigned long parent_ip,
			 struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	struct tracer *tracer = container_of(ops, struct tracer, ops);
	struct caller *caller;

	if (!in_task())
		return;
	caller = this_caller();
	if (!caller)
		return;
	if (caller->called & BIT(tracer->nr) ||
	    ip - caller->ip >= 16 || ops->private != &tracers[tracer->nr])
		caller->nr_mixed++;
	caller->called |= BIT(tracer->nr);
}

#define FUNCTION(nr)							\
	static noinline int function_##nr(int number)			\
	{								\
		asm volatile("");					\
		return number + nr;					\
	}

FUNCTION(0)
FUNCTION(1)
FUNCTION(2)
FUNCTION(3)
FUNCTION(4)
FUNCTION(5)
FUNCTION(6)
FUNCTION(7)
FUNCTION(8)
FUNCTION(9)
FUNCTION(10)
FUNCTION(11)

static int (*const functions[NR_FUNCTIONS])(int number) = {
	function_0, function_1, function_2, function_3, function_4, function_5,
	function_6, function_7, function_8, function_9, function_10, function_11,
};

static notrace void call_once(struct caller *caller, unsigned int f)
{
	unsigned int before[NR_TRACERS], t;
	unsigned long called;

	for (t = 0; t < NR_TRACERS; t++)
		before[t] = smp_load_acquire(&state[t][f]);
	caller->called = 0;
	caller->ip = (unsigned long)functions[f];
	barrier();
	if (functions[f](1) != (int)f + 1)
		caller->nr_mixed++;
	barrier();
	called = caller->called;
	smp_rmb();	/* read the calls before the states */
	for (t = 0; t < NR_TRACERS; t++) {
		if (before[t] & 1 || READ_ONCE(state[t][f]) != before[t])
			continue;
		caller->nr_missed += before[t] & 2 && !(called & BIT(t));
		caller->nr_late += !(before[t] & 2) && called & BIT(t);
	}
	caller->nr_calls++;
}

static notrace int call_all(void *data)
{
	struct caller *caller = data;
	unsigned int f;

	while (!kthread_should_stop()) {
		for (f = 0; f < NR_FUNCTIONS; f++)
			call_once(caller, f);
		cond_resched_tasks_rcu_qs();
	}
	return 0;
}

static void begin_change(unsigned int t, unsigned int f)
{
	WRITE_ONCE(state[t][f], state[t][f] + 1);
	smp_wmb();
}

static void end_change(unsigned int t, unsigned int f, bool wanted)
{
	unsigned int next = (state[t][f] | 3) + 1;

	smp_store_release(&state[t][f], next + (wanted ? 2 : 0));
}

static bool has(unsigned int t, unsigned int f)
{
	return state[t][f] & 2;
}

/* An empty filter means all functions, so one function always remains. */
static void change_filter(unsigned int t, unsigned int f)
{
	bool remove = has(t, f);
	int ret;

	if (f == 0 || !tracers[t].registered)
		return;
	begin_change(t, f);
	ret = ftrace_set_filter_ip(&tracers[t].ops, (unsigned long)functions[f], remove, 0);
	failed += !!ret;
	end_change(t, f, ret ? remove : !remove);
}

static void start(unsigned int t)
{
	static const unsigned long flags[] = {
		0, 0, FTRACE_OPS_FL_RECURSION, FTRACE_OPS_FL_SAVE_REGS,
	};
	struct ftrace_ops *ops = &tracers[t].ops;

	tracers[t].nr = t;
	*ops = (struct ftrace_ops){
		.func = note, .private = &tracers[t],
		.flags = flags[get_random_u32() % ARRAY_SIZE(flags)],
	};
	begin_change(t, 0);
	failed += !!ftrace_set_filter_ip(ops, (unsigned long)functions[0], 0, 0);
	tracers[t].registered = !register_ftrace_function(ops);
	failed += !tracers[t].registered;
	end_change(t, 0, tracers[t].registered);
}

static void stop(unsigned int t)
{
	unsigned int f;

	for (f = 0; f < NR_FUNCTIONS; f++)
		begin_change(t, f);
	failed += !!unregister_ftrace_function(&tracers[t].ops);
	tracers[t].registered = false;
	ftrace_free_filter(&tracers[t].ops);
	for (f = 0; f < NR_FUNCTIONS; f++)
		end_change(t, f, false);
}

static void change_something(void)
{
	unsigned int t = get_random_u32() % NR_TRACERS;

	if (get_random_u32() % 32)
		change_filter(t, get_random_u32() % NR_FUNCTIONS);
	else if (tracers[t].registered)
		stop(t);
	else
		start(t);
	changes++;
}

static struct task_struct *changer;

static void add_up(void)
{
	struct caller *caller;

	for (caller = callers; caller < callers + nr_callers; caller++) {
		calls += caller->nr_calls;
		missed += caller->nr_missed;
		late += caller->nr_late;
		mixed += caller->nr_mixed;
	}
}

static int change_until_time(void *unused)
{
	unsigned long end = jiffies + seconds * HZ;
	unsigned int i;

	for (i = 0; i < NR_TRACERS; i++)
		start(i);
	while (time_before(jiffies, end))
		change_something();
	for (i = 0; i < nr_callers; i++)
		kthread_stop(callers[i].task);
	for (i = 0; i < NR_TRACERS; i++)
		if (tracers[i].registered)
			stop(i);
	add_up();
	WRITE_ONCE(done, true);
	while (!kthread_should_stop())
		msleep(20);
	return 0;
}

static int create_callers(void)
{
	unsigned int cpu;

	for_each_online_cpu(cpu) {
		struct caller *caller = &callers[nr_callers];
		struct task_struct *task;

		if (nr_callers == MAX_THREADS)
			break;
		task = kthread_create_on_cpu(call_all, caller, cpu, "functions/%u");
		if (IS_ERR(task))
			return PTR_ERR(task);
		caller->task = get_task_struct(task);
		nr_callers++;
	}
	return 0;
}

static int __init functions_init(void)
{
	int ret = create_callers();
	unsigned int i;

	changer = kthread_create(change_until_time, NULL, "functions");
	if (!ret && IS_ERR(changer))
		ret = PTR_ERR(changer);
	for (i = 0; i < nr_callers; i++) {
		if (!ret) {
			wake_up_process(callers[i].task);
			continue;
		}
		kthread_stop(callers[i].task);
		put_task_struct(callers[i].task);
	}
	if (ret && !IS_ERR(changer))
		kthread_stop(changer);
	else if (!ret)
		wake_up_process(changer);
	return ret;
}
module_init(functions_init);

static void __exit functions_exit(void)
{
	unsigned int i;

	kthread_stop(changer);
	for (i = 0; i < nr_callers; i++)
		put_task_struct(callers[i].task);
}
module_exit(functions_exit);

MODULE_DESCRIPTION("Function tracers at random");
MODULE_LICENSE("GPL");
