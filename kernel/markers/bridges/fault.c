// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Page faults as markers. error_code is that of the processor.
 */
#include <linux/marker.h>
#include <linux/ptrace.h>
#include <asm/trace/exceptions.h>

DEFINE_TRACER(page_fault_user, kernel_page_fault_user,
	      TP_PROTO(unsigned long address, struct pt_regs *regs,
		       unsigned long error_code),
	      "address %lx ip %lx error_code %lx",
	      address, instruction_pointer(regs), error_code);

DEFINE_TRACER(page_fault_kernel, kernel_page_fault_kernel,
	      TP_PROTO(unsigned long address, struct pt_regs *regs,
		       unsigned long error_code),
	      "address %lx ip %pS error_code %lx",
	      address, (void *)instruction_pointer(regs), error_code);
