// SPDX-License-Identifier: GPL-2.0
/*
 * Trampolines of tracepoints: code that calls the probes of one tracepoint, each
 * with its data as a constant and by a direct call. A loop over an array has an
 * indirect call for each probe, which is slow with mitigations like retpolines.
 *
 * The stub of the tracepoint jumps here with preemption disabled and with the
 * arguments where the probes expect them, except their first one, the data. A
 * trampoline is
 *
 *	leave on a CPU that is offline, where RCU is not watching
 *	push %rbp; mov %rsp, %rbp	with a frame
 *	push %rsi; ...			save, if there are several probes
 *  for each probe:
 *	mov ...(%rsp), %rsi; ...	restore; pop, for the last one
 *	push ...(%rbp); ...		arguments on the stack
 *	mov $data, %rdi
 *	call probe
 *	add $size, %rsp			with arguments on the stack
 *
 *	pop %rbp			with a frame
 *	jmp __tracepoint_leave
 *
 * Preemption is disabled as long as a CPU is in a trampoline, so a grace period
 * of RCU is enough to free one. Therefore the end, which enables preemption, is
 * in the kernel's text or, for a single probe, in a cell, which is never freed.
 *
 * A trampoline has a frame, like C code with frame pointers, if the kernel is
 * configured with these or if arguments are on the stack.
 *
 * The idea is from the trampolines of ftrace and BPF.
 */
#include <linux/bitmap.h>
#include <linux/error-injection.h>
#include <linux/export.h>
#include <linux/generated-text.h>
#include <linux/init.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/tracepoint.h>
#include <asm/text-patching.h>

/* The KUnit tests may be a module. */
#if IS_ENABLED(CONFIG_TRACEPOINT_KUNIT_TEST)
#define EXPORT_FOR_TEST(function)	EXPORT_SYMBOL_GPL(function)
#else
#define EXPORT_FOR_TEST(function)
#endif

/*
 * Most tracepoints with probes have a single one. Its trampoline is in a cell, which
 * saves the jump to __tracepoint_leave(): each cell has its own end. The end does not
 * change while trampolines before it are written and freed, and cells are never
 * freed. So a task that was preempted in the end, after it had enabled preemption,
 * can continue there. There are no cells with frame pointers, on a CPU that needs
 * return thunks, and for probes registered during boot.
 */
#define CELL_CODE_SIZE	32	/* the code is at the end of these bytes */
#define CELL_END_SIZE	16
#define CELL_SIZE	(CELL_CODE_SIZE + CELL_END_SIZE)
#define NR_CELLS	(32 * 1024 / CELL_SIZE)

static DEFINE_MUTEX(cells_mutex);
static DECLARE_BITMAP(cells_used, NR_CELLS);
static u8 *cells;	/* NULL while there are none */

static bool is_cell(unsigned long addr)
{
	return addr - (unsigned long)READ_ONCE(cells) < NR_CELLS * CELL_SIZE;
}

/**
 * is_tracepoint_trampoline - is an address in a trampoline?
 * @addr: the address
 *
 * Context: any.
 * Return: true if it is in the memory for trampolines of tracepoints.
 */
bool is_tracepoint_trampoline(unsigned long addr)
{
	return is_generated_text_of(GENERATED_TRACEPOINT, addr);
}
EXPORT_FOR_TEST(is_tracepoint_trampoline);

static bool is_tracepoint_walk(unsigned long addr)
{
	return addr >= (unsigned long)__tracepoint_walk &&
	       addr < (unsigned long)__tracepoint_walk_end;
}

/**
 * is_tracepoint_dispatch - is an address in code that calls probes?
 * @addr: the address
 *
 * That is a trampoline or __tracepoint_walk(). Stacks of events omit it.
 *
 * Context: any.
 * Return: true if it is.
 */
bool is_tracepoint_dispatch(unsigned long addr)
{
	return is_tracepoint_trampoline(addr) || is_tracepoint_walk(addr);
}

/*
 * The probe's frame: %rbp of its caller, the return address, then the caller's stack.
 * The depth is negative if the caller has a frame, as __tracepoint_walk() has.
 */
static noinline notrace void caller_regs_by_depth(struct pt_regs *regs)
{
	const unsigned long *frame = (const unsigned long *)regs->sp;
	int depth = generated_text_depth(regs->ip - 1);

	if (depth == GENERATED_NO_TEXT && !is_tracepoint_walk(regs->ip))
		return;
	if (depth < 0)
		regs->ip = ((const unsigned long *)frame[0])[1];
	else
		regs->ip = frame[2 + depth];
}

/**
 * tracepoint_caller_regs - make registers refer to the traced code
 * @regs: registers of a probe's caller, from perf_fetch_caller_regs() in the probe
 *
 * If the caller is a trampoline or __tracepoint_walk(), sets the instruction
 * pointer to that of the code that has the tracepoint.
 *
 * Context: a probe.
 */
notrace void tracepoint_caller_regs(struct pt_regs *regs)
{
	/*
	 * This runs for each event that perf records. Most are from a single probe,
	 * whose caller is a cell: there is nothing on its stack.
	 */
	if (likely(is_cell(regs->ip)))
		regs->ip = ((const unsigned long *)regs->sp)[2];
	else
		caller_regs_by_depth(regs);
}
EXPORT_SYMBOL_GPL(tracepoint_caller_regs);

static void write_online_check(struct text_writer *w)
{
#ifdef CONFIG_SMP
	/* cmpb $0, %gs:tracepoint_cpu_online; je */
	text_write_insn(w, 0x65, 0x80, 0x3c, 0x25);
	text_write_s32(w, (unsigned long)&tracepoint_cpu_online);
	text_write_insn(w, 0, 0x0f, 0x84);
	text_write_target(w, __tracepoint_leave);
#endif
}

/* How the argument registers after that of the data are pushed and popped. */
static const struct { u8 size, push[2], pop[2]; } arg_regs[TRACEPOINT_REG_ARGS] = {
	{ 1, { 0x56 }, { 0x5e } },				/* rsi */
	{ 1, { 0x52 }, { 0x5a } },				/* rdx */
	{ 1, { 0x51 }, { 0x59 } },				/* rcx */
	{ 2, { 0x41, 0x50 }, { 0x41, 0x58 } },			/* r8 */
	{ 2, { 0x41, 0x51 }, { 0x41, 0x59 } },			/* r9 */
};

/* With a frame, unwinders do not use %rsp. */
static void write_save(struct text_writer *w, unsigned int nr, bool framed)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		text_write(w, arg_regs[i].push, arg_regs[i].size);
		if (!framed)
			text_write_depth(w, i + 1);
	}
}

static void write_load_saved(struct text_writer *w, unsigned int nr)
{
	static const u8 prefix_and_modrm[TRACEPOINT_REG_ARGS][2] = {
		{ 0x48, 0x74 }, { 0x48, 0x54 }, { 0x48, 0x4c },	/* rsi rdx rcx */
		{ 0x4c, 0x44 }, { 0x4c, 0x4c },			/* r8 r9 */
	};
	unsigned int i;

	for (i = 0; i < nr; i++)
		text_write_insn(w, prefix_and_modrm[i][0], 0x8b, prefix_and_modrm[i][1],
				0x24, 8 * (nr - 1 - i));
}

static void write_restore(struct text_writer *w, unsigned int nr, bool framed)
{
	while (nr--) {
		text_write(w, arg_regs[nr].pop, arg_regs[nr].size);
		if (!framed)
			text_write_depth(w, nr);
	}
}

static void write_call(struct text_writer *w, const struct tracepoint_func *probe,
		       unsigned int on_stack)
{
	unsigned int i;

	/* A probe may change its arguments on the stack, so each gets a copy. */
	for (i = on_stack; i--; )
		text_write_insn(w, 0xff, 0x75, 16 + 8 * i);	/* push ...(%rbp) */
	text_write_ptr(w, 7, probe->data);			/* %rdi */
	text_write_insn(w, CALL_INSN_OPCODE);
	text_write_target(w, probe->func);
	if (on_stack)
		text_write_insn(w, 0x48, 0x83, 0xc4, 8 * on_stack);
}

static void write_frame(struct text_writer *w)
{
	text_write_insn(w, 0x55);
	text_write_depth(w, GENERATED_BP_PUSHED);
	text_write_insn(w, 0x48, 0x89, 0xe5);
	text_write_depth(w, GENERATED_BP_SET);
}

struct trampoline {
	const struct tracepoint_func *probes;
	unsigned int nr_args;
};

static void write_trampoline(struct text_writer *w, const void *arg)
{
	const struct trampoline *trampoline = arg;
	const struct tracepoint_func *probes = trampoline->probes, *probe;
	unsigned int in_regs = min(trampoline->nr_args, TRACEPOINT_REG_ARGS + 0U);
	unsigned int on_stack = trampoline->nr_args - in_regs;
	unsigned int saved = probes[1].func ? in_regs : 0;
	bool framed = IS_ENABLED(CONFIG_FRAME_POINTER) || on_stack;

	write_online_check(w);
	if (framed)
		write_frame(w);
	write_save(w, saved, framed);
	for (probe = probes; probe->func; probe++) {
		if (!probe[1].func)
			write_restore(w, saved, framed);
		else if (probe != probes)
			write_load_saved(w, saved);
		write_call(w, probe, on_stack);
	}
	if (framed) {
		text_write_insn(w, 0x5d);
		text_write_depth(w, 0);
	}
	text_write_insn(w, JMP32_INSN_OPCODE);
	text_write_target(w, __tracepoint_leave);
}

/* Writes code that does the same as __tracepoint_leave(). */
static void write_cell_end(struct text_writer *w)
{
#ifdef CONFIG_PREEMPT_COUNT
	if (IS_ENABLED(CONFIG_SMP))
		text_write_insn(w, 0x65);
	text_write_insn(w, 0xff, 0x0c, 0x25);	/* decl %gs:__preempt_count */
	text_write_s32(w, (unsigned long)&__preempt_count);
#endif
	if (IS_ENABLED(CONFIG_PREEMPTION)) {
		text_write_insn(w, 0x0f, 0x84);	/* je */
		text_write_target(w, __tracepoint_resched);
	}
	text_write_insn(w, RET_INSN_OPCODE);
}

static void write_int3_to(struct text_writer *w, unsigned int size)
{
	while (w->size < size)
		text_write_insn(w, INT3_INSN_OPCODE);
}

static void write_cells(struct text_writer *w, const void *unused)
{
	unsigned int end;

	for (end = CELL_SIZE; end <= NR_CELLS * CELL_SIZE; end += CELL_SIZE) {
		write_int3_to(w, end - CELL_END_SIZE);
		write_cell_end(w);
		write_int3_to(w, end);
	}
}

/* The kind of return that the CPU needs is known after boot. Return: are there cells? */
static bool make_cells(void)
{
	struct generated_text text;

	lockdep_assert_held(&cells_mutex);
	if (cells)
		return true;
	if (IS_ENABLED(CONFIG_FRAME_POINTER) || system_state == SYSTEM_BOOTING ||
	    cpu_feature_enabled(X86_FEATURE_RETHUNK))
		return false;
	if (generate_text(GENERATED_TRACEPOINT, write_cells, NULL, &text))
		return false;
	if (WARN_ON_ONCE(text.size != NR_CELLS * CELL_SIZE)) {
		free_generated_text(&text);
		return false;
	}
	WRITE_ONCE(cells, text.text);	/* tracepoint_caller_regs() takes no lock */
	return true;
}

static u8 *alloc_cell(void)
{
	unsigned int nr = NR_CELLS;

	mutex_lock(&cells_mutex);
	if (make_cells())
		nr = find_first_zero_bit(cells_used, NR_CELLS);
	if (nr < NR_CELLS)
		__set_bit(nr, cells_used);
	mutex_unlock(&cells_mutex);
	return nr < NR_CELLS ? cells + nr * CELL_SIZE : NULL;
}

static void free_cell(u8 *cell)
{
	generated_text_poke_int3(cell, CELL_CODE_SIZE);
	mutex_lock(&cells_mutex);
	__clear_bit((cell - cells) / CELL_SIZE, cells_used);
	mutex_unlock(&cells_mutex);
}

static void write_in_cell(struct text_writer *w, const struct tracepoint_func *probe)
{
	/* A stub cannot jump to an odd address, and the code ends at an even one. */
	if (!IS_ENABLED(CONFIG_SMP))
		text_write_insn(w, 0x90);
	write_online_check(w);
	write_call(w, probe, 0);
}

/* Return: 0, -ENOMEM without a cell, or -ERANGE */
static int make_in_cell(const struct tracepoint_func *probe, struct generated_text *text)
{
	u8 buffer[CELL_CODE_SIZE], *cell = alloc_cell();
	struct text_writer size = { }, w = { .buffer = buffer };

	if (!cell)
		return -ENOMEM;
	write_in_cell(&size, probe);
	if (WARN_ON_ONCE(size.size > CELL_CODE_SIZE)) {
		free_cell(cell);
		return -ENOMEM;
	}
	text->text = cell + CELL_CODE_SIZE - size.size;
	text->size = size.size + CELL_END_SIZE;

	w.text = (unsigned long)text->text;
	write_in_cell(&w, probe);
	if (!w.too_far) {
		generated_text_poke(text->text, buffer, w.size);
		return 0;
	}
	free_cell(cell);
	return -ERANGE;
}

/**
 * arch_make_tracepoint_code - make the trampoline of some probes
 * @probes: at least one, an array that ends with a NULL function
 * @nr_args: number of arguments of the tracepoint, each one word
 * @code: gets the trampoline; free it with arch_free_tracepoint_code()
 *
 * Context: may sleep; takes text_mutex.
 * Return: 0, -ENOMEM (also for more than about 2000 probes), or -ERANGE if a probe
 *	   is not a function of the kernel or of a module.
 */
int arch_make_tracepoint_code(const struct tracepoint_func *probes,
			      unsigned int nr_args, struct generated_text *code)
{
	struct trampoline trampoline = { probes, nr_args };
	int ret = -ENOMEM;

	if (!probes[1].func && nr_args <= TRACEPOINT_REG_ARGS)
		ret = make_in_cell(probes, code);
	if (ret == -ENOMEM)
		ret = generate_text(GENERATED_TRACEPOINT, write_trampoline,
				    &trampoline, code);
	return ret;
}

ALLOW_ERROR_INJECTION(arch_make_tracepoint_code, ERRNO);
EXPORT_FOR_TEST(arch_make_tracepoint_code);

/**
 * arch_free_tracepoint_code - free a trampoline
 * @code: the trampoline, which no CPU executes or can reach
 *
 * Context: may sleep; takes text_mutex.
 */
void arch_free_tracepoint_code(const struct generated_text *code)
{
	if (is_cell((unsigned long)code->text))
		free_cell(code->text + code->size - CELL_SIZE);
	else
		free_generated_text(code);
}
EXPORT_FOR_TEST(arch_free_tracepoint_code);
