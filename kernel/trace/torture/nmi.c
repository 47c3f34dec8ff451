// SPDX-License-Identifier: GPL-2.0
/*
 * Tracing torture test: hits by NMIs, which interrupt any code.
 */
#include <linux/cpumask.h>
#include <linux/cpu.h>
#include <linux/err.h>
#include <linux/export.h>
#include <linux/kthread.h>
#include <linux/rcupdate.h>
#include <linux/smp.h>
#include <asm/apic.h>
#include <asm/nmi.h>

#include "torture.h"

static struct task_struct *sender;
static struct rnd_state sender_rnd;
static bool registered;

static DEFINE_PER_CPU(unsigned int, turn);

static void (*hit_nth)(unsigned int n);

/* Hits the sites of the module that is loaded and unloaded; NULL if it is not loaded. */
static tt_nmi_func *hit_module;

/*
 * While the handler is registered, it claims every NMI. It hits only one kind in this
 * module, to leave the CPU time for other work.
 */
static int hit_by_nmi(unsigned int type, struct pt_regs *regs)
{
	tt_nmi_func *hit = READ_ONCE(hit_module);

	hit_nth(this_cpu_inc_return(turn));
	if (hit) {
		hit();
		tt_count(TT_SITE_NMIS, 1);
	}
	tt_count(TT_NMIS, 1);
	return NMI_HANDLED;
}

/*
 * Lets each NMI call a function, which hits sites of another module; or none. The previous
 * function is not running when this returns.
 */
void tt_hit_by_nmis(tt_nmi_func *hit)
{
	WRITE_ONCE(hit_module, hit);
	synchronize_rcu();	/* it waits for NMI handlers too */
}
EXPORT_SYMBOL_GPL(tt_hit_by_nmis);

static int send_until_stopped(void *unused)
{
	while (!kthread_should_stop()) {
		cpus_read_lock();
		apic->send_IPI_mask(cpu_online_mask, NMI_VECTOR);
		cpus_read_unlock();
		tt_pause(&sender_rnd);
	}
	return 0;
}

/*
 * Sends NMIs to all CPUs. They call @hit with a number that grows by one. The caller must
 * call tt_stop_nmis(), also after an error.
 */
int tt_start_nmis(unsigned long seed, void (*hit)(unsigned int n))
{
	int ret;

	hit_nth = hit;
	ret = register_nmi_handler(NMI_LOCAL, hit_by_nmi, 0, "tracetorture");
	if (ret)
		return ret;
	registered = true;
	prandom_seed_state(&sender_rnd, seed);
	sender = kthread_run(send_until_stopped, NULL, "torture-nmi");
	return PTR_ERR_OR_ZERO(sender);
}

void tt_stop_nmis(void)
{
	if (!IS_ERR_OR_NULL(sender))
		kthread_stop(sender);
	kick_all_cpus_sync();	/* wait until the last NMI has arrived */
	if (registered)
		unregister_nmi_handler(NMI_LOCAL, "tracetorture");
}
