// SPDX-License-Identifier: GPL-2.0
/*
 * For guests of QEMU whose CPUs run in parallel. Such a CPU may go on executing a
 * breakpoint that the kernel has replaced by the new instruction, until the next
 * write to it: it translated the code between another CPU's look for translations to
 * drop and that CPU's store. Stock 6.1 has it too, with a static key that is changed
 * all the time. The kernel executes such an instruction again when it finds no
 * breakpoint in memory; it oopses when the next change has begun meanwhile. Here it
 * executes the instruction again then, too. A breakpoint that nobody ever handles is
 * executed for ever, and the guest ends by its time limit.
 */
#include <linux/atomic.h>
#include <linux/kdebug.h>
#include <linux/kprobes.h>
#include <linux/limits.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/notifier.h>
#include <linux/ptrace.h>
#include <linux/sysfs.h>
#include <asm/text-patching.h>

static atomic_long_t again;

static int again_get(char *buffer, const struct kernel_param *param)
{
	return sysfs_emit(buffer, "%ld\n", atomic_long_read(&again));
}

static const struct kernel_param_ops again_ops = { .get = again_get };
module_param_cb(again, &again_ops, NULL, 0444);
MODULE_PARM_DESC(again, "instructions that were executed again");

static int stale_notify(struct notifier_block *nb, unsigned long what, void *data)
{
	struct die_args *args = data;

	if (what != DIE_INT3 || user_mode(args->regs))
		return NOTIFY_DONE;
	atomic_long_inc(&again);
	args->regs->ip -= INT3_INSN_SIZE;
	return NOTIFY_STOP;
}

NOKPROBE_SYMBOL(stale_notify);

static struct notifier_block stale_nb = {
	.notifier_call = stale_notify,
	.priority = INT_MIN,	/* those that know their breakpoints come first */
};

static int __init stale_init(void)
{
	return register_die_notifier(&stale_nb);
}
module_init(stale_init);

static void __exit stale_exit(void)
{
	unregister_die_notifier(&stale_nb);
}
module_exit(stale_exit);

MODULE_DESCRIPTION("Executes again what QEMU takes for a breakpoint");
MODULE_LICENSE("GPL");
