// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * System calls as markers.
 */
#include <linux/marker.h>
#include <linux/ptrace.h>
#include <asm/syscall.h>
#include <trace/events/syscalls.h>

DEFINE_TRACER(sys_enter, kernel_syscall_entry,
	      TP_PROTO(struct pt_regs *regs, long id),
	      "id %ld ip %lx", id, instruction_pointer(regs));

DEFINE_TRACER(sys_exit, kernel_syscall_exit,
	      TP_PROTO(struct pt_regs *regs, long ret),
	      "id %ld ret %ld",
	      (long)syscall_get_nr(current, regs), ret);
