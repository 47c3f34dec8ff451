// SPDX-License-Identifier: GPL-2.0
/*
 * For guests of QEMU whose CPUs run in parallel. A CPU may continue to execute the old
 * instruction, until the next write to it: QEMU translated the code for this CPU after
 * another CPU searched for translations to drop, and before that CPU's store. Stock is
 * affected too: a static key that changes all the time was read wrong 102,000 times in
 * 120 million. So this module writes each instruction of a jump label and of a traced
 * function again. The second search finds the old translation, and a translation that is made
 * later reads the new instruction.
 */
#include <linux/ftrace.h>
#include <linux/jump_label.h>
#include <linux/kprobes.h>
#include <linux/module.h>

static ulong patch;
module_param(patch, ulong, 0444);
MODULE_PARM_DESC(patch, "address of aarch64_insn_patch_text_nosync()");

static atomic_long_t again;

static int again_get(char *buffer, const struct kernel_param *param)
{
	return sysfs_emit(buffer, "%ld\n", atomic_long_read(&again));
}

static const struct kernel_param_ops again_ops = { .get = again_get };
module_param_cb(again, &again_ops, NULL, 0444);
MODULE_PARM_DESC(again, "instructions that were written again");

static int note_label(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	*(u32 **)ri->data = (u32 *)jump_entry_code((void *)regs->regs[0]);
	return 0;
}

static int note(struct kretprobe_instance *ri, unsigned long record)
{
	*(u32 **)ri->data = (u32 *)((struct dyn_ftrace *)record)->ip;
	return 0;
}

static int note_call(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return note(ri, regs->regs[0]);
}

/* Before the record is the module. */
static int note_nop(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return note(ri, regs->regs[1]);
}

static int write_again(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	int (*write)(void *addr, u32 insn) = (void *)patch;
	u32 *insn = *(u32 **)ri->data;

	write(insn, READ_ONCE(*insn));
	atomic_long_inc(&again);
	return 0;
}

#define AFTER(function, note)	{			\
	.kp.symbol_name = #function,			\
	.entry_handler = (note),			\
	.handler = write_again,				\
	.data_size = sizeof(u32 *),			\
}

static struct kretprobe probes[] = {
	AFTER(arch_jump_label_transform_queue, note_label),
	AFTER(ftrace_make_call, note_call),
	AFTER(ftrace_make_nop, note_nop),
	AFTER(ftrace_modify_call, note_call),
};

static struct kretprobe *all[] = { &probes[0], &probes[1], &probes[2], &probes[3] };

static int __init stale_init(void)
{
	return patch ? register_kretprobes(all, ARRAY_SIZE(all)) : -EINVAL;
}
module_init(stale_init);

MODULE_DESCRIPTION("Writes instructions again, as QEMU may miss a write");
MODULE_LICENSE("GPL");
