/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Calls the probes of a tracepoint that has no trampoline for lack of memory.
 */
#include <linux/linkage.h>
#include <asm/asm.h>
#include <asm/asm-offsets.h>
#include <asm/nospec-branch.h>
#include <asm/unwind_hints.h>

	.text

/*
 * The stub calls this instead of the jump to a trampoline: preemption is disabled,
 * the arguments are where the probes expect them, and the return address
 * identifies the stub. This does not return to the stub but to the site, as if the
 * site had called it; unwinders see it in the same way.
 */
SYM_FUNC_START(__tracepoint_walk)
	popq	%rdi			/* the address after the call */
	UNWIND_HINT_FUNC
	pushq	%rbp
	movq	%rsp, %rbp
	pushq	%rbx			/* the probe */
	pushq	%r12			/* how many arguments are on the stack */
	pushq	%rsi
	pushq	%rdx
	pushq	%rcx
	pushq	%r8
	pushq	%r9
	call	tracepoint_walk_begin
	movq	%rax, %rbx
	movq	%rdx, %r12
	testq	%rbx, %rbx
	jz	.Ldone

.Lprobe:
	pushq	8(%rbp)			/* for tracepoint_caller_regs() */
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
	movq	-24(%rbp), %rsi
	movq	-32(%rbp), %rdx
	movq	-40(%rbp), %rcx
	movq	-48(%rbp), %r8
	movq	-56(%rbp), %r9
	movq	TP_FUNC_func(%rbx), %rax
	CALL_NOSPEC rax
	leaq	-56(%rbp), %rsp
	addq	$TP_FUNC_SIZE, %rbx
	cmpq	$0, TP_FUNC_func(%rbx)
	jne	.Lprobe

.Ldone:
	movq	-16(%rbp), %r12
	movq	-8(%rbp), %rbx
	leave
	jmp	__tracepoint_leave
SYM_FUNC_END(__tracepoint_walk)
SYM_INNER_LABEL(__tracepoint_walk_end, SYM_L_GLOBAL)

/* A return probe would replace the address that identifies the stub. */
_ASM_NOKPROBE(__tracepoint_walk)
