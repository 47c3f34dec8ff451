// SPDX-License-Identifier: GPL-2.0
/*
 * For guests of QEMU whose CPUs run in parallel. A CPU may continue to execute a
 * breakpoint that the kernel has replaced by the new instruction, until the next
 * write to it: QEMU translated the code for this CPU after another CPU searched for
 * translations to drop, and before that CPU's store. Stock is affected too, with a
 * static key that changes all the time: if kprobes find no breakpoint in memory, they
 * execute the instruction again, which repeats forever, also in an NMI; and the kernel
 * oopses if the next change has begun meanwhile. So this module handles the breakpoint
 * before kprobes do, and before the oops.
 *
 * It executes the instruction again with the resume flag, which has no effect without
 * breakpoints of the debug registers. QEMU translates code with this flag separately,
 * so it reads the memory again, where the breakpoint is gone.
 */
#include <linux/ftrace.h>
#include <linux/kdebug.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <asm/processor-flags.h>
#include <asm/text-patching.h>

#define MAX_STREAK	8

static atomic_long_t again, unclaimed;

static int count_get(char *buffer, const struct kernel_param *param)
{
	return sysfs_emit(buffer, "%ld\n", atomic_long_read(param->arg));
}

static const struct kernel_param_ops count_ops = { .get = count_get };
module_param_cb(again, &count_ops, &again, 0444);
MODULE_PARM_DESC(again, "instructions that were executed again");
module_param_cb(unclaimed, &count_ops, &unclaimed, 0444);
MODULE_PARM_DESC(unclaimed, "of these, those with a breakpoint in memory");

static void execute_again(struct pt_regs *regs)
{
	atomic_long_inc(&again);
	regs->ip -= INT3_INSN_SIZE;
	regs->flags |= X86_EFLAGS_RF;
}

/* Replaces kprobes' handler. */
static int execute_stale(struct pt_regs *regs)
{
	execute_again(regs);
	return 1;
}

static void before_kprobes(unsigned long ip, unsigned long parent_ip,
			   struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	struct pt_regs *call = ftrace_get_regs(fregs);
	struct pt_regs *regs = (void *)regs_get_kernel_argument(call, 0);
	u8 *insn = (u8 *)regs->ip - INT3_INSN_SIZE;

	if (!user_mode(regs) && READ_ONCE(*insn) != INT3_INSN_OPCODE)
		instruction_pointer_set(call, (unsigned long)execute_stale);
}

static struct ftrace_ops handler_ops = {
	.func = before_kprobes,
	.flags = FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_IPMODIFY,
};

/* A breakpoint that a CPU hits repeatedly. */
struct streak {
	unsigned long ip, at;
	unsigned int length;
};

static DEFINE_PER_CPU(struct streak, streaks);

/*
 * The breakpoint in memory may belong to the next change, which began after
 * smp_text_poke_int3_handler() had found none for this address. This is rare: one in a million
 * with four CPUs on two. If before_kprobes() looks at memory, waits for 100,000 ticks and
 * looks again, there are more, in all of which the new instruction was there first. The
 * code that makes the change handles the breakpoint when it is executed again. If no code
 * does, the kernel must oops as it would without this module.
 */
static bool nobody_knows(unsigned long ip)
{
	struct streak *streak = this_cpu_ptr(&streaks);

	if (streak->ip != ip || time_after(jiffies, streak->at + 1))
		streak->length = 0;
	streak->ip = ip;
	streak->at = jiffies;
	return ++streak->length > MAX_STREAK;
}

static int stale_notify(struct notifier_block *nb, unsigned long what, void *data)
{
	struct die_args *args = data;

	if (what != DIE_INT3 || user_mode(args->regs) || nobody_knows(args->regs->ip))
		return NOTIFY_DONE;
	atomic_long_inc(&unclaimed);
	execute_again(args->regs);
	return NOTIFY_STOP;
}

NOKPROBE_SYMBOL(execute_again);
NOKPROBE_SYMBOL(execute_stale);
NOKPROBE_SYMBOL(before_kprobes);
NOKPROBE_SYMBOL(nobody_knows);
NOKPROBE_SYMBOL(stale_notify);

static struct notifier_block stale_nb = {
	.notifier_call = stale_notify,
	.priority = INT_MIN,	/* after the owners of breakpoints */
};

static int __init stale_init(void)
{
	unsigned char name[] = "kprobe_int3_handler";
	int ret = ftrace_set_filter(&handler_ops, name, strlen(name), 0);

	if (ret)
		return ret;
	ret = register_ftrace_function(&handler_ops);
	if (ret)
		return ret;
	ret = register_die_notifier(&stale_nb);
	if (ret)
		unregister_ftrace_function(&handler_ops);
	return ret;
}
module_init(stale_init);

static void __exit stale_exit(void)
{
	unregister_die_notifier(&stale_nb);
	unregister_ftrace_function(&handler_ops);
}
module_exit(stale_exit);

MODULE_DESCRIPTION("Executes what QEMU takes for a breakpoint that is gone");
MODULE_LICENSE("GPL");
