// SPDX-License-Identifier: GPL-2.0
/*
 * Tracing torture test: parameters, threads, and the report. See torture.h for the
 * design, and Documentation/trace/tracetorture.rst for how to use it.
 */
#define pr_fmt(fmt) "tracetorture: " fmt

#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "torture.h"

static unsigned long seed;
module_param(seed, ulong, 0444);
MODULE_PARM_DESC(seed, "seed of all random choices; 0: a random seed");

#define KIND_NAMES { "imv", "tp", "marker", "func" }	/* in the order of enum tt_kind_id */

static char *kinds[TT_NR_KINDS] = KIND_NAMES;
static unsigned int nr_kinds = TT_NR_KINDS;
module_param_array(kinds, charp, &nr_kinds, 0444);
MODULE_PARM_DESC(kinds, "kinds to test, of imv,tp,marker,func");

static const char *const kind_names[TT_NR_KINDS] = KIND_NAMES;
static const struct tt_kind *const all_kinds[TT_NR_KINDS] = {
	&tt_imv, &tt_tp, &tt_marker, &tt_func,
};

/* Hits between two checks whether the thread must stop */
#define HITS_IN_TURN	64

/* More than one, so that a thread is preempted in a hit */
#define HITTING_PER_CPU	2

struct thread {
	struct task_struct *task;
	struct rnd_state rnd;
	enum tt_kind_id kind;	/* the kind that it changes; TT_NR_KINDS if it hits */
	unsigned int owner;	/* of the values or probes that it changes */
};

static struct thread *threads;
static unsigned int nr_threads;

/* Documentation/trace/tracetorture.rst describes the counters. */
static const char *const counter_names[TT_NR_COUNTERS] = {
	[TT_SETS] = "sets", [TT_REGISTRATIONS] = "registrations", [TT_NMIS] = "nmis",
	[TT_SITES] = "sites", [TT_SITE_NMIS] = "site_nmis", [TT_STARVED] = "starved",
	[TT_HIT_CALLS] = "hit_calls", [TT_PROBE_CALLS] = "probe_calls",
	[TT_LOST] = "lost", [TT_LATE] = "late", [TT_MIXED] = "mixed",
	[TT_TORN] = "torn", [TT_TWICE] = "twice", [TT_FAILED] = "failed",
};

static unsigned long sum_of(const unsigned long __percpu *count)
{
	unsigned long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(*per_cpu_ptr(count, cpu));
	return sum;
}

static unsigned long count_of(enum tt_counter counter)
{
	return sum_of(&tt_counts.events[counter]);
}

static int print_counters(char *buffer, size_t size)
{
	unsigned long hits = 0, least = ULONG_MAX;
	enum tt_counter counter;
	unsigned int kind;
	int len;

	for_each_set_bit(kind, &tt_kinds_on, TT_NR_KINDS) {
		hits += sum_of(&tt_counts.hits[kind]);
		least = min(least, sum_of(&tt_counts.changes[kind]));
	}
	len = scnprintf(buffer, size, "hits=%lu changes=%lu", hits, least);
	for (counter = 0; counter < TT_NR_COUNTERS; counter++)
		len += scnprintf(buffer + len, size - len, " %s=%lu",
				 counter_names[counter], count_of(counter));
	return len;
}

static int counters_get(char *buffer, const struct kernel_param *param)
{
	int len = print_counters(buffer, PAGE_SIZE);

	return len + sysfs_emit_at(buffer, len, "\n");
}

static const struct kernel_param_ops counters_ops = { .get = counters_get };
module_param_cb(counters, &counters_ops, NULL, 0444);
MODULE_PARM_DESC(counters, "what was done, and the errors: lost, late, mixed, torn, twice, failed");

static void hit_nth(unsigned int n)
{
	unsigned int kind = n % TT_NR_KINDS;

	while (!tt_is_on(kind))
		kind = (kind + 1) % TT_NR_KINDS;
	all_kinds[kind]->hit();
}

static int hit_until_stopped(void *self)
{
	struct thread *thread = self;
	int i;

	set_user_nice(current, MAX_NICE);
	while (!kthread_should_stop()) {
		unsigned int n = prandom_u32_state(&thread->rnd);

		for (i = 0; i < HITS_IN_TURN; i++)
			hit_nth(n);
		/* A thread that never sleeps would delay RCU-tasks grace periods. */
		cond_resched_tasks_rcu_qs();
	}
	return 0;
}

static int change_until_stopped(void *self)
{
	struct thread *thread = self;
	const struct tt_kind *kind = all_kinds[thread->kind];

	while (!kthread_should_stop()) {
		if (kind->probes)
			tt_change_probes(kind->probes, thread->owner, &thread->rnd);
		else
			kind->change_values(thread->owner, &thread->rnd);
		this_cpu_inc(tt_counts.changes[thread->kind]);
		tt_pause(&thread->rnd);
	}
	if (kind->probes)
		tt_stop_probes(kind->probes, thread->owner, &thread->rnd);
	return 0;
}

/*
 * The seed of a thread depends on its kind and owner, or if it hits, on its number. So a
 * thread makes the same choices with any number of CPUs.
 */
static int add_thread(enum tt_kind_id kind, unsigned int owner)
{
	bool hits = kind == TT_NR_KINDS;
	struct thread *thread = &threads[nr_threads];
	struct task_struct *task;

	prandom_seed_state(&thread->rnd, seed + (kind * TT_OWNERS + owner) * TT_FACTOR);
	thread->kind = kind;
	thread->owner = owner;
	task = kthread_run(hits ? hit_until_stopped : change_until_stopped, thread,
			   "torture-%s/%u", hits ? "hit" : kind_names[kind], owner);
	if (IS_ERR(task))
		return PTR_ERR(task);
	thread->task = task;
	nr_threads++;
	return 0;
}

static int start_threads(void)
{
	unsigned int i, kind, nr_hitting = num_online_cpus() * HITTING_PER_CPU;
	int ret = 0;

	threads = kcalloc(nr_hitting + TT_NR_KINDS * TT_OWNERS, sizeof(*threads),
			  GFP_KERNEL);
	if (!threads)
		return -ENOMEM;
	for (i = 0; i < nr_hitting && !ret; i++)
		ret = add_thread(TT_NR_KINDS, i);
	for_each_set_bit(kind, &tt_kinds_on, TT_NR_KINDS)
		for (i = 0; i < TT_OWNERS && !ret; i++)
			ret = add_thread(kind, i);
	return ret ?: tt_start_nmis(seed - TT_FACTOR, hit_nth);
}

/* Stops the changing threads first, so that hits also check the last removals. */
static void stop_threads(void)
{
	while (nr_threads)
		kthread_stop(threads[--nr_threads].task);
	tt_stop_nmis();
	kfree(threads);
}

static int __init turn_on_kinds(void)
{
	unsigned int i;
	int kind;

	for (i = 0; i < nr_kinds; i++) {
		kind = match_string(kind_names, TT_NR_KINDS, kinds[i]);
		if (kind < 0) {
			pr_err("there is no kind \"%s\" here\n", kinds[i]);
			return kind;
		}
		__set_bit(kind, &tt_kinds_on);
	}
	return 0;
}

static bool all_is_well(void)
{
	enum tt_counter error;

	for (error = TT_FIRST_ERROR; error < TT_NR_COUNTERS; error++)
		if (count_of(error))
			return false;
	return count_of(TT_HIT_CALLS) == count_of(TT_PROBE_CALLS);
}

static void report_end(void)
{
	static char counters[512];
	unsigned int kind;

	for_each_set_bit(kind, &tt_kinds_on, TT_NR_KINDS)
		pr_info("%s: %lu hits, %lu changes\n", kind_names[kind],
			sum_of(&tt_counts.hits[kind]), sum_of(&tt_counts.changes[kind]));
	print_counters(counters, sizeof(counters));
	pr_info("--- End of test: %s: seed=%lu %s\n",
		all_is_well() ? "SUCCESS" : "FAILURE", seed, counters);
}

static int __init torture_init(void)
{
	int ret = turn_on_kinds();

	if (ret)
		return ret;
	while (!seed)
		seed = get_random_u32();
	pr_info("--- Start of test: seed=%lu\n", seed);
	ret = start_threads();
	if (ret)
		stop_threads();
	return ret;
}
module_init(torture_init);

static void __exit torture_exit(void)
{
	stop_threads();
	report_end();
}
module_exit(torture_exit);

MODULE_DESCRIPTION("Torture of immediate values, tracepoints, markers and function tracers");
MODULE_LICENSE("GPL");
