// SPDX-License-Identifier: GPL-2.0
/*
 * The torture of tracing: hits by NMIs, which come in the middle of whatever a CPU
 * does.
 */
#include <linux/cpumask.h>
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/nmi.h>
#include <linux/smp.h>
#include <asm/apic.h>

#include "torture.h"

static struct task_struct *sender;
static struct rnd_state sender_rnd;
static bool registered;

static DEFINE_PER_CPU(unsigned int, turn);

/*
 * While they are sent, each NMI is taken for one of them. It hits one kind of things:
 * a CPU must have time for more than NMIs.
 */
static int hit_by_nmi(unsigned int type, struct pt_regs *regs)
{
	tt_hit_nth(this_cpu_inc_return(turn));
	tt_count(TT_NMIS, 1);
	return NMI_HANDLED;
}

static int send_until_stopped(void *unused)
{
	while (tt_goes_on()) {
		cpus_read_lock();
		apic->send_IPI_mask(cpu_online_mask, NMI_VECTOR);
		cpus_read_unlock();
		tt_pause(&sender_rnd);
	}
	return 0;
}

/**
 * tt_start_nmis - begin to send NMIs to all CPUs
 * @seed: what decides how often
 *
 * Context: may sleep.
 * Return: 0 or an error; then tt_stop_nmis() is to follow.
 */
int tt_start_nmis(unsigned long seed)
{
	int ret = register_nmi_handler(NMI_LOCAL, hit_by_nmi, 0, "tracetorture");

	if (ret)
		return ret;
	registered = true;
	prandom_seed_state(&sender_rnd, seed);
	sender = kthread_run(send_until_stopped, NULL, "torture-nmi");
	return PTR_ERR_OR_ZERO(sender);
}

/**
 * tt_stop_nmis - end that
 *
 * Context: may sleep.
 */
void tt_stop_nmis(void)
{
	if (!IS_ERR_OR_NULL(sender))
		kthread_stop(sender);
	kick_all_cpus_sync();	/* the last one has arrived */
	if (registered)
		unregister_nmi_handler(NMI_LOCAL, "tracetorture");
}
