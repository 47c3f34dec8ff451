/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stubs of tracepoints jump to __tracepoint_leave() if there are no probes, and call
 * __tracepoint_walk() if there was no memory for a trampoline. Only direct jumps and calls
 * lead here, but data has the addresses.
 */
#include <linux/annotate.h>
#include <linux/linkage.h>
#include <asm/asm.h>
#include <asm/asm-offsets.h>
#include <asm/nospec-branch.h>
#include <asm/percpu.h>
#include <asm/unwind_hints.h>

	.text

/* The end of a reader of tracepoint_srcu, whose counters are in %rdi. */
SYM_FUNC_START(__tracepoint_leave)
	ANNOTATE_NOENDBR
	incq	__percpu SRCU_CTR_unlocks(%rdi)
	RET
SYM_FUNC_END(__tracepoint_leave)
_ASM_NOKPROBE(__tracepoint_leave)

/* The same of RCU tasks trace, with its memory barrier. */
SYM_FUNC_START(__tracepoint_leave_faultable)
	ANNOTATE_NOENDBR
#ifndef CONFIG_TASKS_TRACE_RCU_NO_MB
	lock
#endif
	incq	__percpu SRCU_CTR_unlocks(%rdi)
	RET
SYM_FUNC_END(__tracepoint_leave_faultable)
_ASM_NOKPROBE(__tracepoint_leave_faultable)

/*
 * The stub calls this instead of the jump to a trampoline: the counters are in %rdi, the
 * arguments where the probes expect them, and the return address identifies the stub.
 * This does not return to the stub but to the site, as if the site had called it;
 * unwinders see it in the same way.
 */
SYM_FUNC_START(__tracepoint_walk)
	ANNOTATE_NOENDBR
	popq	%rax			/* the address after the call */
	UNWIND_HINT_FUNC
	pushq	%rbp
	movq	%rsp, %rbp
	pushq	%rdi
	pushq	%rbx			/* the probe */
	pushq	%r12			/* how many arguments are on the stack */
	pushq	%rsi
	pushq	%rdx
	pushq	%rcx
	pushq	%r8
	pushq	%r9
	movq	%rax, %rdi
	call	tracepoint_walk_begin
	movq	%rax, %rbx
	movq	%rdx, %r12
	testq	%rbx, %rbx
	jz	.Ldone

.Lprobe:
	pushq	8(%rbp)			/* for tracepoint_traced_ip() */
	/* A probe may change its arguments on the stack, so each gets a copy. */
	movq	%r12, %rcx
.Lpush:
	testq	%rcx, %rcx
	jz	.Lpushed
	pushq	8(%rbp, %rcx, 8)
	decq	%rcx
	jmp	.Lpush
.Lpushed:
	movq	TP_FUNC_data(%rbx), %rdi
	movq	-32(%rbp), %rsi
	movq	-40(%rbp), %rdx
	movq	-48(%rbp), %rcx
	movq	-56(%rbp), %r8
	movq	-64(%rbp), %r9
	movq	TP_FUNC_func(%rbx), %rax
	CALL_NOSPEC rax
	leaq	-64(%rbp), %rsp
	addq	$TP_FUNC_SIZE, %rbx
	cmpq	$0, TP_FUNC_func(%rbx)
	jne	.Lprobe

.Ldone:
	movq	-24(%rbp), %r12
	movq	-16(%rbp), %rbx
	movq	-8(%rbp), %rdi
	leave
	jmp	__tracepoint_leave_faultable	/* the barrier does no harm to the others */
SYM_FUNC_END(__tracepoint_walk)
SYM_INNER_LABEL(__tracepoint_walk_end, SYM_L_GLOBAL)

/* A return probe would replace the address that identifies the stub. */
_ASM_NOKPROBE(__tracepoint_walk)
