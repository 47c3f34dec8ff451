// SPDX-License-Identifier: GPL-2.0
/*
 * The code of a set of function tracers. It replaces ftrace_caller() or, with a
 * tracer that needs all registers, ftrace_regs_caller(). It does the same as these,
 * but calls each tracer directly:
 *
 *	pushf				with all registers
 *	sub $REGS_SIZE, %rsp		the registers, as struct pt_regs
 *	mov ..., ...(%rsp); ...
 *	keep ip and parent_ip		tracers may overwrite their arguments
 *  for each tracer:
 *	load ip and parent_ip, tracer, registers
 *	call its function
 *
 *	mov ...(%rsp), ...; ...
 *	add $REGS_SIZE, %rsp
 *	popf				with all registers
 *	ret
 *
 * If one of the tracers is a direct call, the end may return to its target, as the
 * end of ftrace_regs_caller() does.
 *
 * Where the depth of calls is tracked, each call is accounted, and the call of the code
 * itself, like in ftrace_caller().
 */
#include <linux/ftrace-set.h>
#include <linux/memory.h>
#include <linux/text-patching.h>
#include <asm/alternative.h>
#include <asm/generated-text.h>
#include <asm/ptrace.h>
#include <asm/segment.h>

/* Numbers of registers, as encoded in instructions. */
enum { AX, CX, DX, BX, SP, BP, SI, DI, R8, R9, R10, R11, R12, R13, R14, R15 };

/* Where registers are in the frame. */
#define AT(reg)		offsetof(struct pt_regs, reg)
#define REGS_SIZE	sizeof(struct pt_regs)

/*
 * Where values are kept across the calls. With all registers saved: in these
 * registers. Otherwise in their places in the frame, which are unused then.
 */
#define IP_REG		BX
#define PARENT_REG	R12
#define AT_IP		AT(bx)
#define AT_PARENT	AT(r12)

struct set_writer {
	struct text_writer *w;
	struct ftrace_set *set;
	bool regs;		/* all registers */
	bool direct;
	unsigned int added;	/* bytes on the stack for the flags */
};

static void write_store(struct text_writer *w, u8 reg, s32 offset)
{
	text_write_on_stack(w, 0x89, reg, offset);
}

static void write_load(struct text_writer *w, u8 reg, s32 offset)
{
	text_write_on_stack(w, 0x8b, reg, offset);
}

static void write_store_constant(struct text_writer *w, s32 value, s32 offset)
{
	text_write_on_stack(w, 0xc7, 0, offset);
	text_write_s32(w, value);
}

static void write_move(struct text_writer *w, u8 from, u8 to)
{
	text_write_insn(w, 0x48 | (from >> 3) << 2 | to >> 3, 0x89,
			0xc0 | (from & 7) << 3 | (to & 7));
}

static void write_add_sp(struct text_writer *w, s32 value)
{
	text_write_insn(w, 0x48, 0x81, value < 0 ? 0xec : 0xc4);
	text_write_s32(w, abs(value));
}

static void write_accounting(struct text_writer *w)
{
	u8 insn[32], *end = insn;	/* it also fits the padding before a function */

	x86_call_depth_emit_accounting(&end, NULL, (void *)w->text + w->size);
	text_write(w, insn, end - insn);
}

/* Return: the offset of the call instruction. */
static unsigned int write_call(struct text_writer *w, const void *target)
{
	unsigned int call;

	write_accounting(w);
	call = w->size;
	text_write_insn(w, CALL_INSN_OPCODE);
	text_write_target(w, target);
	return call;
}

static int depth_of(unsigned int bytes)
{
	return bytes / sizeof(long);
}

static const struct { u8 reg; u8 at; } caller_saved[] = {
	{ AX, AT(ax) }, { CX, AT(cx) }, { DX, AT(dx) }, { SI, AT(si) },
	{ DI, AT(di) }, { R8, AT(r8) }, { R9, AT(r9) },
}, others[] = {
	{ R15, AT(r15) }, { R14, AT(r14) }, { R13, AT(r13) }, { R12, AT(r12) },
	{ R10, AT(r10) }, { BX, AT(bx) },
};

static void write_save(struct set_writer *s)
{
	struct text_writer *w = s->w;
	unsigned int i;

	write_add_sp(w, -(s32)REGS_SIZE);
	text_write_depth(w, depth_of(REGS_SIZE + s->added));
	for (i = 0; i < ARRAY_SIZE(caller_saved); i++)
		write_store(w, caller_saved[i].reg, caller_saved[i].at);
	write_store_constant(w, 0, AT(orig_ax));
	write_store(w, BP, AT(bp));

	write_load(w, SI, REGS_SIZE + s->added + sizeof(long));
	write_load(w, DI, REGS_SIZE + s->added);
	write_store(w, DI, AT(ip));
	text_write_insn(w, 0x48, 0x83, 0xef, MCOUNT_INSN_SIZE);	/* sub $, %rdi */
}

/* A code segment of 0 marks a frame without all registers. */
static void write_save_others(struct set_writer *s)
{
	struct text_writer *w = s->w;
	unsigned int i;

	if (s->regs) {
		write_store(w, R11, AT(r11));
		for (i = 0; i < ARRAY_SIZE(others); i++)
			write_store(w, others[i].reg, others[i].at);
		write_load(w, CX, REGS_SIZE);
		write_store(w, CX, AT(flags));
		write_store_constant(w, __KERNEL_DS, AT(ss));
	}
	write_store_constant(w, s->regs ? __KERNEL_CS : 0, AT(cs));
	text_write_on_stack(w, 0x8d, CX, REGS_SIZE + s->added + sizeof(long));	/* lea */
	write_store(w, CX, AT(sp));
}

static void write_keep(struct set_writer *s)
{
	if (s->regs) {
		write_move(s->w, DI, IP_REG);
		write_move(s->w, SI, PARENT_REG);
	} else {
		write_store(s->w, DI, AT_IP);
		write_store(s->w, SI, AT_PARENT);
	}
}

static void write_load_kept(struct set_writer *s)
{
	if (s->regs) {
		write_move(s->w, IP_REG, DI);
		write_move(s->w, PARENT_REG, SI);
	} else {
		write_load(s->w, DI, AT_IP);
		write_load(s->w, SI, AT_PARENT);
	}
}

/* write_jump_here() writes the operand later. Return: its argument @from. */
static unsigned int write_jump_later(struct text_writer *w, u8 condition)
{
	text_write_insn(w, 0x0f, 0x80 | condition);
	text_write_s32(w, 0);
	return w->size;
}

static void write_jump_here(struct text_writer *w, unsigned int from)
{
	s32 distance = w->size - from;

	if (w->buffer)
		memcpy(w->buffer + from - sizeof(distance), &distance, sizeof(distance));
}

#define JUMP_ZERO	0x4
#define JUMP_NOT_ZERO	0x5

static void write_calls(struct set_writer *s)
{
	struct ftrace_set_member *member;
	struct text_writer *w = s->w;
	bool loaded = true;

	for (member = s->set->members; member < s->set->members + s->set->nr; member++) {
		if (!loaded)
			write_load_kept(s);
		loaded = false;
		text_write_ptr(w, DX, member->ops);
		write_move(w, SP, CX);
		member->call = write_call(w, member->ops->func);
	}
}

/* Both forms have the same size: the form depends on the address, and this on the size. */
static void write_return(struct text_writer *w)
{
	if (cpu_wants_rethunk_at((void *)w->text + w->size)) {
		text_write_insn(w, JMP32_INSN_OPCODE);
		text_write_target(w, x86_return_thunk);
		return;
	}
	text_write_insn(w, RET_INSN_OPCODE, INT3_INSN_OPCODE, INT3_INSN_OPCODE,
			INT3_INSN_OPCODE, INT3_INSN_OPCODE);
}

/* @left: how many bytes stay on the stack, not counting the flags */
static void write_restore(struct set_writer *s, unsigned int left)
{
	unsigned int i = ARRAY_SIZE(caller_saved);
	struct text_writer *w = s->w;

	write_load(w, BP, AT(bp));
	while (i--)
		write_load(w, caller_saved[i].reg, caller_saved[i].at);
	write_add_sp(w, REGS_SIZE - left);
	text_write_depth(w, depth_of(left + s->added));
	if (s->regs) {
		text_write_insn(w, 0x9d);				/* popf */
		text_write_depth(w, depth_of(left));
	}
}

/* Tracers may change the address at which the function continues. */
static void write_restore_others(struct set_writer *s)
{
	struct text_writer *w = s->w;
	unsigned int i;

	if (s->regs) {
		write_load(w, AX, AT(flags));
		write_store(w, AX, REGS_SIZE);
	}
	write_load(w, AX, AT(ip));
	write_store(w, AX, REGS_SIZE + s->added);
	for (i = 0; s->regs && i < ARRAY_SIZE(others); i++)
		write_load(w, others[i].reg, others[i].at);
}

/*
 * If bit 0 of the address is set, the function would jump to it: it replaces the address
 * in the function, and the code ends at @end as usual. Return: for write_jump_here(), of
 * a jump for the address of a call.
 */
static unsigned int write_direct_jump(struct set_writer *s, unsigned int end)
{
	struct text_writer *w = s->w;
	unsigned int call;

	text_write_insn(w, 0xa8, 1);					/* test $1, %al */
	call = write_jump_later(w, JUMP_ZERO);
	text_write_insn(w, 0x48, 0x83, 0xe0, 0xfe);			/* and $~1, %rax */
	write_store(w, AX, REGS_SIZE + s->added);
	text_write_insn(w, JMP32_INSN_OPCODE);
	text_write_s32(w, end - (w->size + sizeof(s32)));
	return call;
}

/*
 * Moves the flags down by a word; the address of the direct call replaces them. As the
 * return is a jump, a call that does not return keeps the predictor of returns balanced.
 */
static void write_direct_call(struct set_writer *s)
{
	struct text_writer *w = s->w;

	write_load(w, DI, REGS_SIZE);
	write_store(w, DI, REGS_SIZE - sizeof(long));
	write_store(w, AX, REGS_SIZE);
	write_restore(s, sizeof(long));
	text_write_insn(w, CALL_INSN_OPCODE, 1, 0, 0, 0, INT3_INSN_OPCODE);
	text_write_depth(w, 2);
	text_write_insn(w, 0x48, 0x8d, 0x64, 0x24, sizeof(long));	/* lea 8(%rsp), %rsp */
	text_write_depth(w, 1);
	write_return(w);
}

static void write_set(struct text_writer *w, const void *arg)
{
	struct set_writer s = *(const struct set_writer *)arg;
	unsigned int direct = 0, end;

	s.w = w;
	if (s.regs) {
		text_write_insn(w, 0x9c);				/* pushf */
		text_write_depth(w, 1);
	}
	write_save(&s);
	write_accounting(w);
	write_save_others(&s);
	write_keep(&s);
	write_calls(&s);
	write_restore_others(&s);
	if (s.direct) {
		write_load(w, AX, AT(orig_ax));
		text_write_insn(w, 0x48, 0x85, 0xc0);			/* test %rax, %rax */
		direct = write_jump_later(w, JUMP_NOT_ZERO);
	}
	end = w->size;
	write_restore(&s, 0);
	write_return(w);
	if (!s.direct)
		return;
	write_jump_here(w, direct);
	text_write_depth(w, depth_of(REGS_SIZE + s.added));
	if (IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_JMP))
		write_jump_here(w, write_direct_jump(&s, end));
	write_direct_call(&s);
}

static void note_flags(struct set_writer *s, unsigned long flags)
{
	s->regs |= !!(flags & FTRACE_OPS_FL_SAVE_REGS);
	s->direct |= !!(flags & FTRACE_OPS_FL_DIRECT);
}

/* Return: 0, -ENOMEM, or -ERANGE if the function of a tracer is too far away. */
int arch_ftrace_make_set(struct ftrace_set *set)
{
	struct set_writer s = { .set = set };
	unsigned int i;
	char name[12];

	for (i = 0; i < set->nr; i++)
		note_flags(&s, set->members[i].ops->flags);
	/* write_direct_call() moves the flags, which are saved with all registers. */
	if (WARN_ON_ONCE(s.direct && !s.regs))
		return -ERANGE;
	s.added = s.regs ? sizeof(long) : 0;
	snprintf(name, sizeof(name), "%u", set->id);
	return generate_text(GENERATED_FTRACE, name, write_set, &s, &set->text);
}

/* Makes the code of sets call a tracer's new function. */
void arch_ftrace_update_sets(struct ftrace_ops *ops)
{
	struct ftrace_set_member *member;
	const void *insn;
	u8 *call;

	mutex_lock(&text_mutex);
	list_for_each_entry(member, &ops->sets, of_ops) {
		if (!member->set->text.text)
			continue;
		call = member->set->text.text + member->call;
		insn = text_gen_insn(CALL_INSN_OPCODE, call, ops->func);
		smp_text_poke_batch_add(call, insn, CALL_INSN_SIZE, NULL);
	}
	smp_text_poke_batch_finish();
	mutex_unlock(&text_mutex);
}
