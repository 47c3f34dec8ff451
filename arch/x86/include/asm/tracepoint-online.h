/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ASM_X86_TRACEPOINT_ONLINE_H
#define _ASM_X86_TRACEPOINT_ONLINE_H

/*
 * Tests whether this CPU is online, with one instruction and a jump, for the
 * stubs of tracepoints. Included only by linux/tracepoint.h.
 */

#include <linux/percpu.h>
#include <linux/stringify.h>
#include <asm/asm.h>

DECLARE_PER_CPU(bool, tracepoint_cpu_online);

static __always_inline bool tracepoint_this_cpu_online(void)
{
	bool online;

	asm volatile("cmpb $0, %%" __stringify(__percpu_seg) ":%1"
		     CC_SET(nz)
		     : CC_OUT(nz) (online)
		     : "m" (tracepoint_cpu_online));
	return online;
}

static inline void tracepoint_set_cpu_online(unsigned int cpu, bool online)
{
	per_cpu(tracepoint_cpu_online, cpu) = online;
}

#endif /* _ASM_X86_TRACEPOINT_ONLINE_H */
