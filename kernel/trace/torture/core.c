// SPDX-License-Identifier: GPL-2.0
/*
 * Tracing torture test: parameters, threads, and the report. See torture.h for the
 * design, and Documentation/trace/tracetorture.rst for how to use it.
 */
#define pr_fmt(fmt) "tracetorture: " fmt

#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "torture.h"

static unsigned long seed;
module_param(seed, ulong, 0444);
MODULE_PARM_DESC(seed, "seed of all random choices; 0: a random seed");

static unsigned int seconds;
module_param(seconds, uint, 0444);
MODULE_PARM_DESC(seconds, "duration; 0: until the module is unloaded");

static unsigned int intensity = 2;
module_param(intensity, uint, 0444);
MODULE_PARM_DESC(intensity,
		 "number of hitting threads for each CPU, and frequency of changes (1 to 100)");

#ifdef CONFIG_MARKERS
#define WITH_MARKER	",marker"
#else
#define WITH_MARKER
#endif

#ifdef TT_HAVE_FUNCS
#define WITH_FUNC	",func"
#else
#define WITH_FUNC
#endif

static char *kinds = "imv,jump,tp,storm" WITH_MARKER WITH_FUNC;
module_param(kinds, charp, 0444);
MODULE_PARM_DESC(kinds, "kinds to test, of imv,jump,tp,storm" WITH_MARKER WITH_FUNC);

static const struct tt_kind *const all_kinds[TT_NR_KINDS] = {
	[TT_IMV] = &tt_imv,
	[TT_JUMP] = &tt_jump,
	[TT_TP] = &tt_tp,
	[TT_STORM] = &tt_storm,
#ifdef CONFIG_MARKERS
	[TT_MARKER] = &tt_marker,
#endif
#ifdef TT_HAVE_FUNCS
	[TT_FUNC] = &tt_func,
#endif
};

static bool starve;
module_param(starve, bool, 0444);
MODULE_PARM_DESC(starve,
		 "fail allocations when probes are attached and detached; needs failslab without ignore-gfp-wait");

/* Bitmap of the kinds in the parameter "kinds" */
static unsigned long kinds_on;

/* Hits between two checks whether the thread must stop */
#define HITS_IN_TURN	64
#define MAX_INTENSITY	100
#define MAX_SECONDS	1000000U	/* times HZ, it is compared with jiffies */
#define STARVE_ONE_IN	4
#define MAX_ALLOCS	4	/* approximate number of allocations of an operation */
#define LONGEST_PAUSE	4000	/* microseconds, at an intensity of one */

/**
 * struct thread - a thread that hits or changes
 * @task: the thread
 * @rnd: its random numbers
 * @kind: the kind that it changes, NULL if it hits
 * @owner: the owner whose values or probes it changes
 */
struct thread {
	struct task_struct *task;
	struct rnd_state rnd;
	const struct tt_kind *kind;
	unsigned int owner;
};

static struct thread *threads;
static unsigned int nr_threads;
static unsigned long ends_at;

DEFINE_PER_CPU(struct tt_counts, tt_counts);
EXPORT_PER_CPU_SYMBOL_GPL(tt_counts);

/* Returns the rest of the previous number; 0 if an allocation has failed. */
static unsigned int set_fail_nth(unsigned int nth)
{
	unsigned int left = 0;

#ifdef CONFIG_FAULT_INJECTION
	left = current->fail_nth;
	current->fail_nth = nth;
#endif
	return left;
}

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

static unsigned long hits_of(enum tt_kind_id kind)
{
	return sum_of(&tt_counts.hits[kind]);
}

static unsigned long changes_of(enum tt_kind_id kind)
{
	return sum_of(&tt_counts.changes[kind]);
}

static unsigned long all_hits(void)
{
	unsigned long sum = 0;
	enum tt_kind_id kind;

	for (kind = 0; kind < TT_NR_KINDS; kind++)
		sum += hits_of(kind);
	return sum;
}

static int hits_get(char *buffer, const struct kernel_param *param)
{
	return sysfs_emit(buffer, "%lu\n", all_hits());
}

/* The number of changes of the kind that was changed least often. */
static int changes_get(char *buffer, const struct kernel_param *param)
{
	unsigned long least = ULONG_MAX;
	unsigned int kind;

	for_each_set_bit(kind, &kinds_on, TT_NR_KINDS)
		least = min(least, changes_of(kind));
	return sysfs_emit(buffer, "%lu\n", least);
}

static int counter_get(char *buffer, const struct kernel_param *param)
{
	return sysfs_emit(buffer, "%lu\n", count_of((uintptr_t)param->arg));
}

static const struct kernel_param_ops hits_ops = { .get = hits_get };
static const struct kernel_param_ops changes_ops = { .get = changes_get };
static const struct kernel_param_ops counter_ops = { .get = counter_get };

module_param_cb(hits, &hits_ops, NULL, 0444);
MODULE_PARM_DESC(hits, "hits that were checked");

module_param_cb(changes, &changes_ops, NULL, 0444);
MODULE_PARM_DESC(changes, "complete changes of the kind that was changed least often");

#define COUNTER(name, counter, what)					\
	module_param_cb(name, &counter_ops, (void *)(counter), 0444);	\
	MODULE_PARM_DESC(name, what)

COUNTER(sets, TT_SETS, "immediate values that were set");
COUNTER(registrations, TT_REGISTRATIONS, "probes that were attached");
COUNTER(nmis, TT_NMIS, "NMIs that hit");
COUNTER(sites, TT_SITES, "rounds of the thread of tracetorture-sites");
COUNTER(site_nmis, TT_SITE_NMIS, "NMIs that hit the sites of tracetorture-sites");
COUNTER(called, TT_CALLED, "calls of probes");
COUNTER(lost, TT_LOST, "hits that did not reach a probe that was attached");
COUNTER(late, TT_LATE, "calls of a probe that was detached, reads of a value that was replaced");
COUNTER(mixed, TT_MIXED, "calls of a probe with what belongs to another one");
COUNTER(torn, TT_TORN, "reads of a value that was never set");
COUNTER(twice, TT_TWICE, "hits that reached a probe twice");
COUNTER(starved, TT_STARVED, "probes that were attached or detached without memory");
COUNTER(failed, TT_FAILED, "operations that returned an error");

/**
 * tt_is_on - is a kind enabled by the parameter "kinds"?
 * @kind: the kind
 *
 * Context: any.
 * Return: true if it is.
 */
bool tt_is_on(enum tt_kind_id kind)
{
	return kinds_on & BIT(kind);
}
EXPORT_SYMBOL_GPL(tt_is_on);

/**
 * tt_starve - at random, let one of the next allocations of this task fail
 * @rnd: random numbers
 *
 * Context: task; it must call tt_starved() after the allocations.
 * Return: true if one will fail.
 */
bool tt_starve(struct rnd_state *rnd)
{
	if (!IS_ENABLED(CONFIG_FAILSLAB) || !starve || tt_random(rnd, STARVE_ONE_IN))
		return false;
	set_fail_nth(1 + tt_random(rnd, MAX_ALLOCS));
	return true;
}

/**
 * tt_starved - end what tt_starve() began
 * @set: what tt_starve() returned
 *
 * Context: task.
 * Return: true if one has failed.
 */
bool tt_starved(bool set)
{
	bool starved = set && !set_fail_nth(0);

	if (starved)
		tt_count(TT_STARVED, 1);
	return starved;
}

/**
 * tt_pause - sleep for a random time
 * @rnd: random numbers
 *
 * Context: may sleep.
 */
void tt_pause(struct rnd_state *rnd)
{
	usleep_range(1, 1 + tt_random(rnd, LONGEST_PAUSE / intensity));
}

/**
 * tt_goes_on - must the current thread continue?
 *
 * When the test time is over, sleeps until the thread is stopped.
 *
 * Context: may sleep.
 * Return: false if the thread must end.
 */
bool tt_goes_on(void)
{
	while (!kthread_should_stop()) {
		if (!seconds || time_before(jiffies, ends_at))
			return true;
		schedule_timeout_interruptible(HZ / 10);
	}
	return false;
}
EXPORT_SYMBOL_GPL(tt_goes_on);

/**
 * tt_rest - let other tasks run, between hits
 *
 * A thread that never sleeps would delay RCU-tasks grace periods.
 *
 * Context: may sleep.
 */
void tt_rest(void)
{
	cond_resched_tasks_rcu_qs();
}
EXPORT_SYMBOL_GPL(tt_rest);

static const struct tt_kind *nth_kind(unsigned int n)
{
	unsigned int kind = n % TT_NR_KINDS;

	while (!tt_is_on(kind))
		kind = (kind + 1) % TT_NR_KINDS;
	return all_kinds[kind];
}

/**
 * tt_hit_nth - hit all sites of one kind once
 * @n: selects the kind; consecutive numbers select all kinds in turn
 *
 * Context: any.
 */
void tt_hit_nth(unsigned int n)
{
	nth_kind(n)->hit();
}

static int hit_until_stopped(void *self)
{
	struct thread *thread = self;
	int i;

	set_user_nice(current, MAX_NICE);
	while (tt_goes_on()) {
		const struct tt_kind *kind = nth_kind(prandom_u32_state(&thread->rnd));

		for (i = 0; i < HITS_IN_TURN; i++)
			kind->hit();
		tt_rest();
	}
	return 0;
}

static int change_until_stopped(void *self)
{
	struct thread *thread = self;

	while (tt_goes_on()) {
		thread->kind->change(thread->owner, &thread->rnd);
		this_cpu_inc(tt_counts.changes[thread->kind->id]);
		tt_pause(&thread->rnd);
	}
	if (thread->kind->stop)
		thread->kind->stop(thread->owner, &thread->rnd);
	return 0;
}

/*
 * The seed of a thread: by its kind and owner, or if it hits, by its number. So a thread
 * makes the same choices with any number of CPUs.
 */
static unsigned long seed_of(const struct tt_kind *kind, unsigned int nr)
{
	return seed + ((kind ? kind->id : TT_NR_KINDS) * TT_OWNERS + nr) * TT_FACTOR;
}

static int add_thread(const struct tt_kind *kind, unsigned int owner)
{
	struct thread *thread = &threads[nr_threads];
	struct task_struct *task;

	prandom_seed_state(&thread->rnd, seed_of(kind, owner));
	thread->kind = kind;
	thread->owner = owner;
	if (kind)
		task = kthread_run(change_until_stopped, thread, "torture-%s/%u",
				   kind->name, owner);
	else
		task = kthread_run(hit_until_stopped, thread, "torture-hit/%u", owner);
	if (IS_ERR(task))
		return PTR_ERR(task);
	thread->task = task;
	nr_threads++;
	return 0;
}

static int start_changing(void)
{
	unsigned int kind, owner;
	int ret = 0;

	for_each_set_bit(kind, &kinds_on, TT_NR_KINDS)
		for (owner = 0; owner < TT_OWNERS && !ret; owner++)
			ret = add_thread(all_kinds[kind], owner);
	return ret;
}

static int start_threads(void)
{
	unsigned int i, nr_hitting = num_online_cpus() * intensity;
	int ret = 0;

	threads = kcalloc(nr_hitting + TT_NR_KINDS * TT_OWNERS, sizeof(*threads),
			  GFP_KERNEL);
	if (!threads)
		return -ENOMEM;
	for (i = 0; i < nr_hitting && !ret; i++)
		ret = add_thread(NULL, i);
	return ret ?: start_changing() ?: tt_start_nmis(seed - TT_FACTOR);
}

/* Stops the changing threads first, so that hits also check the last removals. */
static void stop_threads(void)
{
	while (nr_threads)
		kthread_stop(threads[--nr_threads].task);
	tt_stop_nmis();
	kfree(threads);
}

static int find_kind(const char *name)
{
	int kind;

	for (kind = 0; kind < TT_NR_KINDS; kind++)
		if (all_kinds[kind] && !strcmp(name, all_kinds[kind]->name))
			return kind;
	pr_err("there is no kind \"%s\" here\n", name);
	return -EINVAL;
}

static int parse_kinds(void)
{
	char *copy = kstrdup(kinds, GFP_KERNEL), *rest = copy, *name;
	int kind = 0;

	if (!copy)
		return -ENOMEM;
	while (kind >= 0 && (name = strsep(&rest, ","))) {
		kind = find_kind(name);
		if (kind >= 0)
			__set_bit(kind, &kinds_on);
	}
	kfree(copy);
	return kind < 0 ? kind : 0;
}

static bool all_is_well(void)
{
	return !count_of(TT_LOST) && !count_of(TT_LATE) && !count_of(TT_MIXED) &&
	       !count_of(TT_TORN) && !count_of(TT_TWICE) && !count_of(TT_FAILED) &&
	       count_of(TT_CALLS) == count_of(TT_CALLED);
}

static void report_end(void)
{
	unsigned int kind;

	for_each_set_bit(kind, &kinds_on, TT_NR_KINDS)
		pr_info("%s: %lu hits, %lu changes\n", all_kinds[kind]->name,
			hits_of(kind), changes_of(kind));
	tt_report_lost();
	pr_info("--- End of test: %s: seed=%lu hits=%lu sets=%lu registrations=%lu nmis=%lu lost=%lu late=%lu mixed=%lu torn=%lu twice=%lu failed=%lu calls=%lu of %lu\n",
		all_is_well() ? "SUCCESS" : "FAILURE", seed, all_hits(),
		count_of(TT_SETS), count_of(TT_REGISTRATIONS), count_of(TT_NMIS),
		count_of(TT_LOST), count_of(TT_LATE), count_of(TT_MIXED),
		count_of(TT_TORN), count_of(TT_TWICE), count_of(TT_FAILED),
		count_of(TT_CALLED), count_of(TT_CALLS));
}

static int __init check_numbers(void)
{
	if (!intensity || intensity > MAX_INTENSITY) {
		pr_err("intensity=%u: it must be 1 to %u\n", intensity, MAX_INTENSITY);
		return -EINVAL;
	}
	if (seconds > MAX_SECONDS) {
		pr_err("seconds=%u: at most %u\n", seconds, MAX_SECONDS);
		return -EINVAL;
	}
	return 0;
}

static int __init torture_init(void)
{
	int ret = parse_kinds() ?: check_numbers();

	if (ret)
		return ret;
	while (!seed)
		seed = get_random_u32();
	pr_info("--- Start of test: seed=%lu seconds=%u intensity=%u kinds=%s\n", seed,
		seconds, intensity, kinds);
	ends_at = jiffies + seconds * HZ;
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
