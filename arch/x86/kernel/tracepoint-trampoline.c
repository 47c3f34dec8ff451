// SPDX-License-Identifier: GPL-2.0
/*
 * Trampolines of tracepoints: code that calls the probes of one tracepoint, each
 * with its data as a constant and by a direct call. With the mitigations of
 * speculation an indirect call is dear, and a loop over an array has one a probe.
 *
 * The stub of the tracepoint jumps here with preemption disabled and with the
 * arguments where the probes expect them, but for their first one, the data. A
 * trampoline is
 *
 *	nothing on a CPU that is offline, where RCU does not watch
 *	push %rbp; mov %rsp, %rbp		with a frame
 *	sub $size, %rsp				with a frame
 *	mov %rsi, ...(%rsp) ...			save, when there are several probes
 *  for each probe:
 *	mov ...(%rbp), %rax; mov %rax, (%rsp)	arguments on the stack
 *	mov $data, %rdi
 *	call probe
 *	mov ...(%rsp), %rsi ...			restore, but for the last one
 *
 *	leave					with a frame
 *	jmp __tracepoint_leave
 *
 * One probe whose arguments are in registers needs no frame. Where there is one
 * it is a frame as of C code with frame pointers: unwinders expect that of
 * generated code which they know nothing about.
 *
 * The idea of such code is that of the trampolines of ftrace and BPF.
 */
#include <linux/bitmap.h>
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/export.h>
#include <linux/memory.h>
#include <linux/moduleloader.h>
#include <linux/set_memory.h>
#include <linux/slab.h>
#include <linux/tracepoint.h>
#include <asm/insn.h>
#include <asm/percpu.h>
#include <asm/smp.h>
#include <asm/text-patching.h>

/*
 * Trampolines live in chunks of memory that is never writable where it is
 * executable, and stays until the end: a chunk is filled by text_poke, and
 * used again. Who unwinds a stack goes over the chunks at any time, without a
 * lock.
 */
#define CHUNK_SIZE	(16 * PAGE_SIZE)
#define SLOT_SIZE	16
#define SLOTS		(CHUNK_SIZE / SLOT_SIZE)

struct chunk {
	struct chunk *next;
	u8 *text;
	DECLARE_BITMAP(used, SLOTS);
	DECLARE_BITMAP(framed, SLOTS);	/* belongs to code with a frame */
};

static struct chunk *chunks;

static struct chunk *find_chunk(unsigned long addr)
{
	struct chunk *chunk;

	for (chunk = READ_ONCE(chunks); chunk; chunk = chunk->next)
		if (addr - (unsigned long)chunk->text < CHUNK_SIZE)
			return chunk;
	return NULL;
}

static unsigned int slot_of(const struct chunk *chunk, unsigned long addr)
{
	return (addr - (unsigned long)chunk->text) / SLOT_SIZE;
}

/**
 * is_tracepoint_trampoline - does an address lie in a trampoline?
 * @addr: the address
 *
 * A trampoline is no function that anybody wrote: stacks of events leave it out.
 *
 * Context: any, also where RCU does not watch.
 * Return: true if it lies where the trampolines of tracepoints are.
 */
bool is_tracepoint_trampoline(unsigned long addr)
{
	return find_chunk(addr);
}

/**
 * tracepoint_trampoline_has_frame - how to unwind from a trampoline?
 * @addr: an address in it
 *
 * Context: any.
 * Return: true if it has a frame that %rbp points to, false if the return
 *	   address is what %rsp points to.
 */
bool tracepoint_trampoline_has_frame(unsigned long addr)
{
	struct chunk *chunk = find_chunk(addr);

	return chunk && test_bit(slot_of(chunk, addr), chunk->framed);
}

/**
 * tracepoint_caller_regs - let registers tell of the traced code
 * @regs: what perf_fetch_caller_regs() in a probe stored, of its caller
 *
 * The caller of a probe may be a trampoline; then the instruction pointer
 * becomes that of the code that has the tracepoint.
 *
 * Context: a probe.
 */
notrace void tracepoint_caller_regs(struct pt_regs *regs)
{
	const unsigned long *frame = (const unsigned long *)regs->sp;

	if (!is_tracepoint_trampoline(regs->ip))
		return;
	/* The probe's frame: %rbp of the trampoline, the address in it. */
	if (tracepoint_trampoline_has_frame(regs->ip))
		regs->ip = ((const unsigned long *)frame[0])[1];
	else
		regs->ip = frame[2];
}
EXPORT_SYMBOL_GPL(tracepoint_caller_regs);

static struct chunk *new_chunk(void)
{
	struct chunk *chunk = kzalloc(sizeof(*chunk), GFP_KERNEL);

	if (!chunk)
		return NULL;
	chunk->text = module_alloc(CHUNK_SIZE);
	if (!chunk->text) {
		kfree(chunk);
		return NULL;
	}
	memset(chunk->text, INT3_INSN_OPCODE, CHUNK_SIZE);
	set_memory_ro((unsigned long)chunk->text, CHUNK_SIZE / PAGE_SIZE);
	set_memory_x((unsigned long)chunk->text, CHUNK_SIZE / PAGE_SIZE);
	chunk->next = chunks;
	smp_store_release(&chunks, chunk);
	return chunk;
}

static u8 *alloc_slots(struct chunk *chunk, unsigned int nr)
{
	unsigned long first = bitmap_find_next_zero_area(chunk->used, SLOTS, 0, nr, 0);

	if (first + nr > SLOTS)
		return NULL;
	bitmap_set(chunk->used, first, nr);
	return chunk->text + first * SLOT_SIZE;
}

static u8 *alloc_text(unsigned int size)
{
	unsigned int nr = DIV_ROUND_UP(size, SLOT_SIZE);
	struct chunk *chunk;
	u8 *text;

	for (chunk = chunks; chunk; chunk = chunk->next) {
		text = alloc_slots(chunk, nr);
		if (text)
			return text;
	}
	chunk = new_chunk();
	return chunk ? alloc_slots(chunk, nr) : NULL;
}

static void free_text(u8 *text, unsigned int size)
{
	struct chunk *chunk = find_chunk((unsigned long)text);
	unsigned int first = slot_of(chunk, (unsigned long)text);
	unsigned int nr = DIV_ROUND_UP(size, SLOT_SIZE);

	text_poke_set(text, INT3_INSN_OPCODE, size);
	bitmap_clear(chunk->framed, first, nr);
	bitmap_clear(chunk->used, first, nr);
}

/*
 * Code being written, twice: first without a buffer, to learn its size.
 */
struct writer {
	u8 *buffer;
	unsigned int size;
	unsigned long text;	/* where it will be executed */
	bool too_far;		/* a function that no call reaches */
};

static void write_bytes(struct writer *w, const void *bytes, unsigned int size)
{
	if (w->buffer)
		memcpy(w->buffer + w->size, bytes, size);
	w->size += size;
}

#define write_insn(w, bytes...)						\
	write_bytes(w, (const u8 []){ bytes }, sizeof((const u8 []){ bytes }))

static void write_s32(struct writer *w, s32 value)
{
	write_bytes(w, &value, sizeof(value));
}

/* The operand of a call or jump. */
static void write_target(struct writer *w, const void *target)
{
	long distance = (unsigned long)target - (w->text + w->size + sizeof(s32));

	if (w->buffer && distance != (s32)distance)
		w->too_far = true;
	write_s32(w, distance);
}

static void write_online_check(struct writer *w)
{
#ifdef CONFIG_SMP
	/* mov %gs:cpu_number, %eax; bt %rax, __cpu_online_mask; jae */
	write_insn(w, 0x65, 0x8b, 0x04, 0x25);
	write_s32(w, (unsigned long)&cpu_number);
	write_insn(w, 0x48, 0x0f, 0xa3, 0x04, 0x25);
	write_s32(w, (unsigned long)&__cpu_online_mask);
	write_insn(w, 0x0f, 0x83);
	write_target(w, __tracepoint_leave);
#endif
}

static void write_data(struct writer *w, const void *data)
{
	unsigned long value = (unsigned long)data;

	if (value == (u32)value) {
		write_insn(w, 0xbf);			/* mov $, %edi */
		write_s32(w, value);
	} else if (value == (long)(s32)value) {
		write_insn(w, 0x48, 0xc7, 0xc7);	/* mov $, %rdi */
		write_s32(w, value);
	} else {
		write_insn(w, 0x48, 0xbf);		/* movabs $, %rdi */
		write_bytes(w, &value, sizeof(value));
	}
}

#define MOV_STORE	0x89
#define MOV_LOAD	0x8b

/* The argument registers to or from where they are saved, at @offset(%rsp). */
static void write_reg_moves(struct writer *w, u8 mov, unsigned int nr, u8 offset)
{
	static const u8 prefix_and_modrm[TRACEPOINT_REG_ARGS][2] = {
		{ 0x48, 0x74 }, { 0x48, 0x54 }, { 0x48, 0x4c },	/* rsi rdx rcx */
		{ 0x4c, 0x44 }, { 0x4c, 0x4c },			/* r8 r9 */
	};
	unsigned int i;

	for (i = 0; i < nr; i++)
		write_insn(w, prefix_and_modrm[i][0], mov, prefix_and_modrm[i][1],
			   0x24, offset + 8 * i);
}

/* A probe may change the arguments on its stack, so each gets its own. */
static void write_stack_args(struct writer *w, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		write_insn(w, 0x48, MOV_LOAD, 0x45, 16 + 8 * i);
		write_insn(w, 0x48, MOV_STORE, 0x44, 0x24, 8 * i);
	}
}

/* Writes the trampoline, and to each probe where its call is. */
static void write_trampoline(struct writer *w, struct tracepoint_func *probes,
			     unsigned int nr_args, bool framed)
{
	unsigned int in_regs = min(nr_args, TRACEPOINT_REG_ARGS + 0U);
	unsigned int on_stack = nr_args - in_regs;
	unsigned int saved = probes[1].func ? in_regs : 0;

	w->size = 0;
	write_online_check(w);
	if (framed) {
		write_insn(w, 0x55, 0x48, 0x89, 0xe5);
		write_insn(w, 0x48, 0x83, 0xec, 8 * (on_stack + saved));
	}
	write_reg_moves(w, MOV_STORE, saved, 8 * on_stack);
	for (;;) {
		write_stack_args(w, on_stack);
		write_data(w, probes->data);
		probes->call = w->size;
		write_insn(w, CALL_INSN_OPCODE);
		write_target(w, probes->func);
		if (!(++probes)->func)
			break;
		write_reg_moves(w, MOV_LOAD, saved, 8 * on_stack);
	}
	if (framed)
		write_insn(w, 0xc9);
	write_insn(w, JMP32_INSN_OPCODE);
	write_target(w, __tracepoint_leave);
}

static bool needs_frame(const struct tracepoint_func *probes, unsigned int nr_args)
{
	return IS_ENABLED(CONFIG_FRAME_POINTER) || probes[1].func ||
	       nr_args > TRACEPOINT_REG_ARGS;
}

static void set_framed(const u8 *text, unsigned int size)
{
	struct chunk *chunk = find_chunk((unsigned long)text);

	bitmap_set(chunk->framed, slot_of(chunk, (unsigned long)text),
		   DIV_ROUND_UP(size, SLOT_SIZE));
}

/**
 * arch_make_tracepoint_code - make the trampoline of some probes
 * @probes: at least one, an array that ends with a NULL function; the call
 *	    of each is noted in it
 * @nr_args: arguments of the tracepoint, each one word
 * @code: gets the trampoline, until arch_free_tracepoint_code()
 *
 * Context: may sleep; the caller serialises; takes text_mutex.
 * Return: 0, -ENOMEM, or -ERANGE if a probe is no function of the kernel or of
 *	   a module.
 */
int arch_make_tracepoint_code(struct tracepoint_func *probes, unsigned int nr_args,
			      struct tracepoint_code *code)
{
	bool framed = needs_frame(probes, nr_args);
	struct writer w = { };

	write_trampoline(&w, probes, nr_args, framed);
	code->size = w.size;
	w.buffer = kmalloc(w.size, GFP_KERNEL);
	if (!w.buffer)
		return -ENOMEM;
	code->text = alloc_text(w.size);
	if (!code->text) {
		kfree(w.buffer);
		return -ENOMEM;
	}

	w.text = (unsigned long)code->text;
	write_trampoline(&w, probes, nr_args, framed);
	if (!w.too_far) {
		text_poke_copy(code->text, w.buffer, w.size);
		if (framed)
			set_framed(code->text, w.size);
	} else {
		free_text(code->text, w.size);
	}
	kfree(w.buffer);
	return w.too_far ? -ERANGE : 0;
}

/**
 * arch_free_tracepoint_code - free a trampoline
 * @code: the trampoline, which no CPU executes or can reach
 *
 * Context: may sleep; the caller serialises; takes text_mutex.
 */
void arch_free_tracepoint_code(const struct tracepoint_code *code)
{
	free_text(code->text, code->size);
}

/**
 * arch_replace_tracepoint_call - change the function of a probe, in place
 * @code: the trampoline that calls it
 * @probe: the probe, with its new function
 *
 * Context: may sleep; takes cpu_hotplug_lock and text_mutex. Needs no memory.
 */
void arch_replace_tracepoint_call(const struct tracepoint_code *code,
				  const struct tracepoint_func *probe)
{
	u8 *insn = code->text + probe->call;

	cpus_read_lock();
	mutex_lock(&text_mutex);
	text_poke_bp(insn, text_gen_insn(CALL_INSN_OPCODE, insn, probe->func),
		     CALL_INSN_SIZE, NULL);
	mutex_unlock(&text_mutex);
	cpus_read_unlock();
}
