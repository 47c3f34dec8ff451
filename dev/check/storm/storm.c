// SPDX-License-Identifier: GPL-2.0
/*
 * A storm on one tracepoint: threads register and unregister probes while
 * others, and NMIs, hit it. What goes wrong is counted in the parameters.
 */
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <asm/apic.h>
#include <asm/nmi.h>

#include "storm.h"

#define NR_HITTERS	4
#define NR_DATA		16	/* data is used again after as many removals */

DEFINE_TRACE(storm);
EXPORT_TRACEPOINT_SYMBOL_GPL(storm);

/**
 * struct storm_data - what a probe is registered with
 * @func: the probe that it belongs to; NULL while it is not registered
 * @nr: the registrar
 * @number: of the registration
 */
struct storm_data {
	void *func;
	unsigned int nr;
	unsigned long number;
};

/**
 * struct registrar - a thread that registers and unregisters
 * @thread: the thread
 * @expected: number of the registration that no hit may miss, or 0
 * @data: used in turns, to tell late calls from those of the next registration
 */
struct registrar {
	struct task_struct *thread;
	unsigned long expected;
	struct storm_data data[NR_DATA];
};

static struct registrar registrars[STORM_REGISTRARS];
static struct task_struct *hitters[NR_HITTERS], *nmi_sender;

#define COUNTER(name, what)						\
	static atomic_long_t name;					\
	module_param_cb(name, &counter_ops, &name, 0444);		\
	MODULE_PARM_DESC(name, what)

static int counter_get(char *buffer, const struct kernel_param *param)
{
	return sysfs_emit(buffer, "%ld\n", atomic_long_read(param->arg));
}

static const struct kernel_param_ops counter_ops = { .get = counter_get };

COUNTER(registrations, "probes registered and unregistered");
COUNTER(checked, "hits that had to reach a probe");
COUNTER(nmis, "hits by NMIs");
COUNTER(failed, "registrations or removals that returned an error");
COUNTER(lost, "hits that did not reach a probe that was registered");
COUNTER(late, "calls of a probe after it was unregistered and synchronised");
COUNTER(mixed, "calls of a probe with the data of another one");
COUNTER(twice, "hits that reached a probe twice");

static __always_inline void note_call(struct storm_data *data,
				      struct storm_hit *hit, void *self)
{
	void *func = READ_ONCE(data->func);

	if (func != self) {
		atomic_long_inc(func ? &mixed : &late);
		return;
	}
	if (hit->seen[data->nr] == data->number)
		atomic_long_inc(&twice);
	hit->seen[data->nr] = data->number;
}

static void probe_even(void *data, struct storm_hit *hit)
{
	note_call(data, hit, probe_even);
}

static void probe_odd(void *data, struct storm_hit *hit)
{
	note_call(data, hit, probe_odd);
}

void storm_before(unsigned long *expected)
{
	int i;

	for (i = 0; i < STORM_REGISTRARS; i++)
		expected[i] = smp_load_acquire(&registrars[i].expected);
}
EXPORT_SYMBOL_GPL(storm_before);

void storm_after(const unsigned long *expected, const struct storm_hit *hit)
{
	int i;

	smp_mb(); /* the hit comes before the second look; see register_once() */
	for (i = 0; i < STORM_REGISTRARS; i++) {
		if (!expected[i] ||
		    expected[i] != READ_ONCE(registrars[i].expected))
			continue;
		atomic_long_inc(&checked);
		if (hit->seen[i] != expected[i])
			atomic_long_inc(&lost);
	}
}
EXPORT_SYMBOL_GPL(storm_after);

static void register_once(struct registrar *self, unsigned long number)
{
	void (*probe)(void *data, struct storm_hit *hit) =
		number % 2 ? probe_odd : probe_even;
	struct storm_data *data = &self->data[number % NR_DATA];

	data->nr = self - registrars;
	data->number = number;
	WRITE_ONCE(data->func, probe);
	if (register_trace_storm(probe, data)) {
		atomic_long_inc(&failed);
		return;
	}
	smp_store_release(&self->expected, number);
	usleep_range(1, 1 + prandom_u32_max(4000));
	WRITE_ONCE(self->expected, 0);
	smp_mb(); /* pairs with storm_after() */
	if (unregister_trace_storm(probe, data))
		atomic_long_inc(&failed);
	tracepoint_synchronize_unregister();
	WRITE_ONCE(data->func, NULL);
	atomic_long_inc(&registrations);
}

static int register_until_stopped(void *self)
{
	unsigned long number = 0;

	while (!kthread_should_stop()) {
		register_once(self, ++number);
		usleep_range(1, 1 + prandom_u32_max(4000));
	}
	return 0;
}

static int hit_until_stopped(void *unused)
{
	while (!kthread_should_stop()) {
		STORM_HIT();
		cond_resched();
	}
	return 0;
}

static int hit_by_nmi(unsigned int type, struct pt_regs *regs)
{
	if (!READ_ONCE(nmi_sender))
		return NMI_DONE;
	STORM_HIT();
	atomic_long_inc(&nmis);
	return NMI_HANDLED;
}

static int send_nmis(void *unused)
{
	while (!kthread_should_stop()) {
		cpus_read_lock();
		apic->send_IPI_mask(cpu_online_mask, NMI_VECTOR);
		cpus_read_unlock();
		usleep_range(500, 1500);
	}
	return 0;
}

static void stop(struct task_struct *thread)
{
	if (!IS_ERR_OR_NULL(thread))
		kthread_stop(thread);
}

static void storm_exit(void)
{
	int i;

	stop(nmi_sender);
	for (i = 0; i < NR_HITTERS; i++)
		stop(hitters[i]);
	for (i = 0; i < STORM_REGISTRARS; i++)
		stop(registrars[i].thread);
	unregister_nmi_handler(NMI_LOCAL, "storm");
}

static int __init storm_init(void)
{
	int ret, i;

	ret = register_nmi_handler(NMI_LOCAL, hit_by_nmi, 0, "storm");
	if (ret)
		return ret;
	for (i = 0; i < NR_HITTERS; i++)
		hitters[i] = kthread_run(hit_until_stopped, NULL, "storm-hit/%d", i);
	for (i = 0; i < STORM_REGISTRARS; i++)
		registrars[i].thread = kthread_run(register_until_stopped,
						   &registrars[i],
						   "storm-reg/%d", i);
	nmi_sender = kthread_run(send_nmis, NULL, "storm-nmi");
	return 0;
}
module_init(storm_init);
module_exit(storm_exit);

MODULE_DESCRIPTION("Registers, unregisters and hits, all at once");
MODULE_LICENSE("GPL");
