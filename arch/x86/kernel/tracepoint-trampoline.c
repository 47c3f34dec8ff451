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
 *	push %rbp; mov %rsp, %rbp	with a frame
 *	push %rsi; ...			save, when there are several probes
 *  for each probe:
 *	mov ...(%rsp), %rsi; ...	restore; pop, for the last one
 *	push ...(%rbp); ...		arguments on the stack
 *	mov $data, %rdi			but NULL, for the first one
 *	call probe
 *	add $size, %rsp			with arguments on the stack
 *
 *	pop %rbp			with a frame
 *	jmp __tracepoint_leave
 *
 * Preemption is disabled as long as a CPU is in a trampoline, so a grace period
 * of RCU is enough to free one. That is why the end, which enables preemption,
 * is in the kernel's text; or, for a single probe, in a cell, where it stays.
 *
 * There is a frame, as of C code with frame pointers, where these are the
 * configuration's, and where arguments are on the stack. A few words ahead of the
 * code tell unwinders where the return address is.
 *
 * The idea of such code is that of the trampolines of ftrace and BPF.
 */
#include <linux/bitmap.h>
#include <linux/export.h>
#include <linux/init.h>
#include <linux/memory.h>
#include <linux/moduleloader.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/set_memory.h>
#include <linux/slab.h>
#include <linux/tracepoint.h>
#include <linux/vmalloc.h>
#include <asm/insn.h>
#include <asm/text-patching.h>

/* The KUnit tests may be a module. */
#if IS_ENABLED(CONFIG_TRACEPOINT_KUNIT_TEST)
#define EXPORT_FOR_TEST(function)	EXPORT_SYMBOL_GPL(function)
#else
#define EXPORT_FOR_TEST(function)
#endif

/*
 * Trampolines live in chunks of memory that is never writable where it is
 * executable: a chunk is filled by text_poke(), and used again. Unwinders look
 * for the chunk of an address at any time, without a lock. The table of chunks
 * is static for them; the slots of a chunk that was freed wait for a grace period.
 */
#define CHUNK_SIZE	(16 * PAGE_SIZE)
#define SLOT_SIZE	16
#define SLOTS		(CHUNK_SIZE / SLOT_SIZE)
#define MAX_CHUNKS	16	/* beyond, tracepoints do without trampolines */

/*
 * Most tracepoints that are on have one probe. There are cells for their
 * trampolines, which save the jump to __tracepoint_leave(): each cell has its
 * own end, which nothing changes while trampolines are written ahead of it and
 * freed. A task that was preempted in such an end, where preemption is enabled
 * again, finds it unchanged. The chunk with the cells, the first one, is never
 * freed. Without frames, the stack is as deep in the whole cell.
 */
#define CELL_CODE_SIZE	32	/* the code is at the end of these bytes */
#define CELL_END_SIZE	16
#define CELL_SIZE	(CELL_CODE_SIZE + CELL_END_SIZE)
#define CELL_SLOTS	(CELL_SIZE / SLOT_SIZE)
#define NR_CELLS	(IS_ENABLED(CONFIG_FRAME_POINTER) ? 0 : CHUNK_SIZE / 2 / CELL_SIZE)
#define CELLS_SIZE	(NR_CELLS * CELL_SIZE)

struct slots {
	DECLARE_BITMAP(used, SLOTS);
	DECLARE_BITMAP(first, SLOTS);	/* a trampoline begins there */
};

struct chunk {
	u8 *text;		/* NULL while there is no such chunk */
	struct slots *slots;
};

/* What lies ahead of the code of a trampoline. Offsets are in the code. */
struct unwind_info {
	u16 save_at;
	u16 restore_at;
	u16 size;
	u8 nr_saved;
	bool framed;
} __aligned(8);

/* The ends of the code of a frame: push and mov; pop, and the jump behind it. */
#define FRAME_ENTER_SIZE	4
#define FRAME_LEAVE_SIZE	(1 + JMP32_INSN_SIZE)

/* Protects the table and the slots. */
static DEFINE_MUTEX(chunks_mutex);
static struct chunk chunks[MAX_CHUNKS];
static unsigned int nr_chunks;		/* there were so many at a time */

static bool find_chunk(unsigned long addr, struct chunk *found)
{
	unsigned int i, nr = READ_ONCE(nr_chunks);

	for (i = 0; i < nr; i++) {
		/* The slots of this text, or of a later one. */
		found->text = smp_load_acquire(&chunks[i].text);
		found->slots = READ_ONCE(chunks[i].slots);
		if (found->text && addr - (unsigned long)found->text < CHUNK_SIZE)
			return true;
	}
	return false;
}

static bool is_cell(unsigned long addr)
{
	/* Unlike find_chunk(), this reads no slots: no order is needed. */
	u8 *text = READ_ONCE(chunks[0].text);

	return text && addr - (unsigned long)text < CELLS_SIZE;
}

static unsigned int slot_of(const struct chunk *chunk, unsigned long addr)
{
	return (addr - (unsigned long)chunk->text) / SLOT_SIZE;
}

static const struct unwind_info *find_info(unsigned long addr)
{
	struct chunk chunk;
	unsigned int slot;

	if (!find_chunk(addr, &chunk))
		return NULL;
	for (slot = slot_of(&chunk, addr); !test_bit(slot, chunk.slots->first); slot--)
		if (!slot)
			return NULL;
	return (const void *)(chunk.text + slot * SLOT_SIZE);
}

/**
 * is_tracepoint_trampoline - does an address lie in a trampoline?
 * @addr: the address
 *
 * Context: any.
 * Return: true if it lies where the trampolines of tracepoints are.
 */
bool is_tracepoint_trampoline(unsigned long addr)
{
	struct chunk chunk;

	return find_chunk(addr, &chunk);
}
EXPORT_FOR_TEST(is_tracepoint_trampoline);

/**
 * is_tracepoint_dispatch - does an address lie in what calls probes?
 * @addr: the address
 *
 * That is a trampoline, or what takes its place. Nobody wrote it for its own
 * sake: stacks of events leave it out.
 *
 * Context: any.
 * Return: true if it lies there.
 */
bool is_tracepoint_dispatch(unsigned long addr)
{
	return is_tracepoint_trampoline(addr) ||
	       (addr >= (unsigned long)__tracepoint_walk &&
		addr <= (unsigned long)__tracepoint_walk_end);
}

/* Where the instruction that saves an argument begins among those that do. */
static const u8 save_offset[TRACEPOINT_REG_ARGS + 1] = { 0, 1, 2, 3, 5, 7 };

static int depth_in_frame(const struct unwind_info *info, long offset)
{
	if (offset <= info->save_at - FRAME_ENTER_SIZE ||
	    offset > info->size - FRAME_LEAVE_SIZE)
		return 0;
	return offset < info->save_at ? TRACEPOINT_BP_PUSHED : TRACEPOINT_BP_SET;
}

/**
 * tracepoint_trampoline_depth - how deep is the stack in a trampoline?
 * @addr: an address in it
 *
 * Context: preemption is disabled.
 * Return: the number of words between what %rsp points to and the return
 *	   address; or TRACEPOINT_BP_PUSHED, if there is one, the caller's %rbp;
 *	   TRACEPOINT_BP_SET, if %rbp points to that; TRACEPOINT_NO_CODE, if no
 *	   trampoline is there.
 */
int tracepoint_trampoline_depth(unsigned long addr)
{
	const struct unwind_info *info;
	long offset, restored;
	int i, depth = 0;

	if (is_cell(addr))
		return 0;
	info = find_info(addr);
	if (!info)
		return TRACEPOINT_NO_CODE;
	offset = addr - (unsigned long)(info + 1);
	if (offset < 0 || offset >= info->size)
		return TRACEPOINT_NO_CODE;
	if (info->framed)
		return depth_in_frame(info, offset);
	restored = info->restore_at + save_offset[info->nr_saved];
	for (i = 0; i < info->nr_saved; i++)
		depth += offset >= info->save_at + save_offset[i + 1] &&
			 offset < restored - save_offset[i];
	return depth;
}

/**
 * tracepoint_caller_regs - let registers tell of the traced code
 * @regs: what perf_fetch_caller_regs() in a probe stored, of its caller
 *
 * The caller of a probe may be a trampoline, or what takes its place; then the
 * instruction pointer becomes that of the code that has the tracepoint.
 *
 * Context: a probe.
 */
notrace void tracepoint_caller_regs(struct pt_regs *regs)
{
	const unsigned long *frame = (const unsigned long *)regs->sp;
	int depth;

	if (!is_tracepoint_dispatch(regs->ip))
		return;
	/*
	 * The probe's frame: %rbp of its caller, the address in that, its stack.
	 * The depth is negative if %rbp points to a frame, as without a trampoline.
	 */
	depth = tracepoint_trampoline_depth(regs->ip - 1);
	if (depth < 0)
		regs->ip = ((const unsigned long *)frame[0])[1];
	else
		regs->ip = frame[2 + depth];
}
EXPORT_SYMBOL_GPL(tracepoint_caller_regs);

#ifdef CONFIG_MODULES
static u8 *alloc_text(void)
{
	u8 *text = module_alloc(CHUNK_SIZE);

	if (!text)
		return NULL;
	memset(text, INT3_INSN_OPCODE, CHUNK_SIZE);
	set_vm_flush_reset_perms(text);
	if (!set_memory_ro((unsigned long)text, CHUNK_SIZE / PAGE_SIZE) &&
	    !set_memory_x((unsigned long)text, CHUNK_SIZE / PAGE_SIZE))
		return text;
	module_memfree(text);
	return NULL;
}

static void free_text(u8 *text)
{
	module_memfree(text);
}
#else
/*
 * Nothing allocates executable memory: one chunk is a part of the image, in the
 * section that kprobes keep off.
 */
asm(".pushsection .kprobes.text, \"ax\"\n\t"
	".balign 16\n\t"
	".globl tracepoint_text\n\t"
	".type tracepoint_text, @object\n"
	"tracepoint_text:\n\t"
	".skip " __stringify(CHUNK_SIZE) ", " __stringify(INT3_INSN_OPCODE) "\n\t"
	".size tracepoint_text, . - tracepoint_text\n\t"
	".popsection");

static u8 *alloc_text(void)
{
	return nr_chunks ? NULL : tracepoint_text;
}

static void free_text(u8 *text) { }
#endif

static struct chunk *unused_chunk(void)
{
	struct chunk *chunk;

	for (chunk = chunks; chunk < chunks + MAX_CHUNKS; chunk++)
		if (!chunk->text)
			return chunk;
	return NULL;
}

static struct chunk *new_chunk(void)
{
	struct chunk *chunk = unused_chunk();
	struct slots *slots;
	u8 *text;

	if (!chunk)
		return NULL;
	slots = kzalloc(sizeof(*slots), GFP_KERNEL);
	if (!slots)
		return NULL;
	text = alloc_text();
	if (!text) {
		kfree(slots);
		return NULL;
	}
	WRITE_ONCE(chunk->slots, slots);
	smp_store_release(&chunk->text, text);	/* for find_chunk() */
	nr_chunks = max_t(unsigned int, nr_chunks, chunk - chunks + 1);
	return chunk;
}

static u8 *alloc_slots(struct chunk *chunk, unsigned int from, unsigned int to,
		       unsigned int nr)
{
	struct slots *slots = chunk->slots;
	unsigned long first;

	if (!chunk->text)
		return NULL;
	first = bitmap_find_next_zero_area(slots->used, to, from, nr, 0);
	if (first + nr > to)
		return NULL;
	bitmap_set(slots->used, first, nr);
	return chunk->text + first * SLOT_SIZE;
}

/* Slots that are no cells. */
static u8 *alloc_other_slots(struct chunk *chunk, unsigned int nr)
{
	unsigned int from = chunk == chunks ? CELLS_SIZE / SLOT_SIZE : 0;
	u8 *memory = alloc_slots(chunk, from, SLOTS, nr);

	if (memory)
		set_bit(slot_of(chunk, (unsigned long)memory), chunk->slots->first);
	return memory;
}

static u8 *alloc_memory(unsigned int size)
{
	unsigned int nr = DIV_ROUND_UP(size, SLOT_SIZE);
	struct chunk *chunk;
	u8 *memory = NULL;

	if (nr > SLOTS)
		return NULL;
	mutex_lock(&chunks_mutex);
	for (chunk = chunks; chunk < chunks + nr_chunks && !memory; chunk++)
		memory = alloc_other_slots(chunk, nr);
	if (!memory) {
		chunk = new_chunk();
		if (chunk)
			memory = alloc_other_slots(chunk, nr);
	}
	mutex_unlock(&chunks_mutex);
	return memory;
}

/* text_poke_copy() does not write to the image, where a chunk may be. */
static void poke(u8 *text, const u8 *bytes, unsigned int size)
{
	unsigned int part;

	mutex_lock(&text_mutex);
	for (; size; size -= part, text += part, bytes += part) {
		part = min_t(unsigned int, size, PAGE_SIZE);
		text_poke(text, bytes, part);
	}
	mutex_unlock(&text_mutex);
}

static void poke_int3(u8 *text, unsigned int size)
{
	static const u8 int3[4 * SLOT_SIZE] = {
		[0 ... 4 * SLOT_SIZE - 1] = INT3_INSN_OPCODE,
	};
	unsigned int part;

	for (; size; size -= part, text += part) {
		part = min_t(unsigned int, size, sizeof(int3));
		poke(text, int3, part);
	}
}

/* @size: without the end of a cell, which stays */
static void free_memory(u8 *memory, unsigned int size)
{
	unsigned int first, nr = DIV_ROUND_UP(size, SLOT_SIZE);
	struct chunk chunk;

	if (is_cell((unsigned long)memory))
		nr = CELL_SLOTS;
	mutex_lock(&chunks_mutex);
	if (!WARN_ON_ONCE(!find_chunk((unsigned long)memory, &chunk))) {
		first = slot_of(&chunk, (unsigned long)memory);
		clear_bit(first, chunk.slots->first);
		poke_int3(memory, size);
		bitmap_clear(chunk.slots->used, first, nr);
	}
	mutex_unlock(&chunks_mutex);
}

/* All empty chunks but the first one, which has the cells. */
static unsigned int unlink_empty_chunks(struct chunk *unlinked)
{
	unsigned int nr_empty = 0;
	struct chunk *chunk;

	mutex_lock(&chunks_mutex);
	for (chunk = chunks + 1; chunk < chunks + nr_chunks; chunk++) {
		if (!chunk->text || !bitmap_empty(chunk->slots->used, SLOTS))
			continue;
		unlinked[nr_empty++] = *chunk;
		WRITE_ONCE(chunk->text, NULL);
	}
	mutex_unlock(&chunks_mutex);
	return nr_empty;
}

/**
 * arch_trim_tracepoint_code - give back memory that no trampoline uses
 *
 * Context: may sleep; waits for a grace period of RCU if there is such memory.
 */
void arch_trim_tracepoint_code(void)
{
	struct chunk unlinked[MAX_CHUNKS];
	unsigned int nr = unlink_empty_chunks(unlinked);

	if (!nr)
		return;
	synchronize_rcu();	/* unwinders do not read the slots any more */
	while (nr--) {
		free_text(unlinked[nr].text);
		kfree(unlinked[nr].slots);
	}
}
EXPORT_FOR_TEST(arch_trim_tracepoint_code);

/* Code being written, twice: first without a buffer, to learn its size. */
struct writer {
	struct unwind_info info;
	u8 *buffer;
	unsigned int size;
	u8 *cell;		/* which has the end, or NULL */
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
	/* cmpb $0, %gs:tracepoint_cpu_online; je */
	write_insn(w, 0x65, 0x80, 0x3c, 0x25);
	write_s32(w, (unsigned long)&tracepoint_cpu_online);
	write_insn(w, 0, 0x0f, 0x84);
	write_target(w, __tracepoint_leave);
#endif
}

/* Of an even size, see write_trampoline(). */
static void write_data(struct writer *w, const void *data)
{
	unsigned long value = (unsigned long)data;

	if (value == (u32)value) {
		write_insn(w, 0x40, 0xbf);		/* mov $, %edi */
		write_s32(w, value);
	} else {
		write_insn(w, 0x48, 0xbf);		/* movabs $, %rdi */
		write_bytes(w, &value, sizeof(value));
	}
}

/* Saves the argument registers; the instructions have the sizes of save_offset. */
static void write_save(struct writer *w, unsigned int nr)
{
	static const u8 push[] = { 0x56, 0x52, 0x51, 0x41, 0x50, 0x41, 0x51 };

	w->info.save_at = w->size;
	w->info.nr_saved = nr;
	write_bytes(w, push, save_offset[nr]);
}

static void write_load_saved(struct writer *w, unsigned int nr)
{
	static const u8 prefix_and_modrm[TRACEPOINT_REG_ARGS][2] = {
		{ 0x48, 0x74 }, { 0x48, 0x54 }, { 0x48, 0x4c },	/* rsi rdx rcx */
		{ 0x4c, 0x44 }, { 0x4c, 0x4c },			/* r8 r9 */
	};
	unsigned int i;

	for (i = 0; i < nr; i++)
		write_insn(w, prefix_and_modrm[i][0], 0x8b, prefix_and_modrm[i][1],
			   0x24, 8 * (nr - 1 - i));
}

static void write_restore(struct writer *w, unsigned int nr)
{
	static const u8 pop[] = { 0x41, 0x59, 0x41, 0x58, 0x59, 0x5a, 0x5e };

	w->info.restore_at = w->size;
	write_bytes(w, pop + sizeof(pop) - save_offset[nr], save_offset[nr]);
}

/* Sites pass NULL for the data, which the first probe finds there. */
static void write_call(struct writer *w, const struct tracepoint_func *probe,
		       bool first, unsigned int on_stack)
{
	unsigned int i;

	/* A probe may change what is on its stack, so each gets its own. */
	for (i = on_stack; i--; )
		write_insn(w, 0xff, 0x75, 16 + 8 * i);	/* push ...(%rbp) */
	if (probe->data || !first)
		write_data(w, probe->data);
	write_insn(w, CALL_INSN_OPCODE);
	write_target(w, probe->func);
	if (on_stack)
		write_insn(w, 0x48, 0x83, 0xc4, 8 * on_stack);
}

/* What __tracepoint_leave() does, without a call of its own. */
static void write_cell_end(struct writer *w)
{
#ifdef CONFIG_PREEMPT_COUNT
	if (IS_ENABLED(CONFIG_SMP))
		write_insn(w, 0x65);
	write_insn(w, 0xff, 0x0c, 0x25);	/* decl %gs:__preempt_count */
	write_s32(w, (unsigned long)&__preempt_count);
#endif
	if (IS_ENABLED(CONFIG_PREEMPTION)) {
		write_insn(w, 0x0f, 0x84);	/* je */
		write_target(w, __tracepoint_resched);
	}
	write_insn(w, RET_INSN_OPCODE, INT3_INSN_OPCODE);
}

static void write_cells(u8 *text, u8 *buffer)
{
	unsigned int end;

	memset(buffer, INT3_INSN_OPCODE, CELLS_SIZE);
	for (end = CELL_CODE_SIZE; end < CELLS_SIZE; end += CELL_SIZE) {
		struct writer w = {
			.buffer = buffer + end,
			.text = (unsigned long)text + end,
		};

		write_cell_end(&w);
	}
	poke(text, buffer, CELLS_SIZE);
}

/* Which return the CPU wants is known after boot. Return: are there cells? */
static bool make_cells(void)
{
	static bool made;
	u8 *buffer;

	lockdep_assert_held(&chunks_mutex);
	if (made)
		return true;
	if (!NR_CELLS || system_state == SYSTEM_BOOTING ||
	    cpu_feature_enabled(X86_FEATURE_RETHUNK))
		return false;
	if (!chunks[0].text && !new_chunk())
		return false;
	buffer = kvmalloc(CELLS_SIZE, GFP_KERNEL);
	if (!buffer)
		return false;
	write_cells(chunks[0].text, buffer);
	kvfree(buffer);
	made = true;
	return true;
}

static u8 *alloc_cell(void)
{
	u8 *cell = NULL;

	mutex_lock(&chunks_mutex);
	if (make_cells())
		cell = alloc_slots(chunks, 0, CELLS_SIZE / SLOT_SIZE, CELL_SLOTS);
	mutex_unlock(&chunks_mutex);
	return cell;
}

static void write_trampoline(struct writer *w, const struct tracepoint_func *probes,
			     unsigned int nr_args)
{
	unsigned int in_regs = min(nr_args, TRACEPOINT_REG_ARGS + 0U);
	unsigned int on_stack = nr_args - in_regs;
	unsigned int saved = probes[1].func ? in_regs : 0;
	const struct tracepoint_func *probe;

	w->size = 0;
	/* A stub cannot lead to an odd address, and a cell has the code at its end. */
	if (w->cell && !IS_ENABLED(CONFIG_SMP))
		write_insn(w, 0x90);
	w->info.framed = IS_ENABLED(CONFIG_FRAME_POINTER) || on_stack;
	write_online_check(w);
	if (w->info.framed)
		write_insn(w, 0x55, 0x48, 0x89, 0xe5);
	write_save(w, saved);
	for (probe = probes; probe->func; probe++) {
		if (!probe[1].func)
			write_restore(w, saved);
		else if (probe != probes)
			write_load_saved(w, saved);
		write_call(w, probe, probe == probes, on_stack);
	}
	if (w->info.framed)
		write_insn(w, 0x5d);
	if (!w->cell) {
		write_insn(w, JMP32_INSN_OPCODE);
		write_target(w, __tracepoint_leave);
	}
	w->info.size = w->size;
}

/* Finds the place of the code, whose size is known. Return: 0 or -ENOMEM */
static int place_trampoline(struct writer *w, struct tracepoint_code *code)
{
	u8 *memory;

	code->size = w->size;
	if (w->cell) {
		code->text = w->cell + CELL_CODE_SIZE - w->size;
		code->size += CELL_END_SIZE;
	} else {
		memory = alloc_memory(sizeof(w->info) + w->size);
		if (!memory)
			return -ENOMEM;
		code->text = memory + sizeof(w->info);
	}
	w->text = (unsigned long)code->text;
	WARN_ON_ONCE(w->text & IMV_JUMP_TO_CALL);
	return 0;
}

static void copy_trampoline(const struct writer *w)
{
	u8 *text = (u8 *)w->text;

	if (!w->cell)
		poke(text - sizeof(w->info), (const u8 *)&w->info, sizeof(w->info));
	poke(text, w->buffer, w->size);
}

/**
 * arch_make_tracepoint_code - make the trampoline of some probes
 * @probes: at least one, an array that ends with a NULL function
 * @nr_args: arguments of the tracepoint, each one word
 * @code: gets the trampoline, until arch_free_tracepoint_code()
 *
 * Context: may sleep; takes text_mutex.
 * Return: 0, -ENOMEM (also for more than two thousand probes or so), or -ERANGE if
 *	   a probe is no function of the kernel or of a module.
 */
int arch_make_tracepoint_code(const struct tracepoint_func *probes,
			      unsigned int nr_args, struct tracepoint_code *code)
{
	struct writer w = { };
	int ret = -ENOMEM;

	if (!probes[1].func && nr_args <= TRACEPOINT_REG_ARGS)
		w.cell = alloc_cell();
	write_trampoline(&w, probes, nr_args);
	w.buffer = kmalloc(w.size, GFP_KERNEL);
	if (w.buffer)
		ret = place_trampoline(&w, code);
	if (!ret) {
		write_trampoline(&w, probes, nr_args);
		ret = w.too_far ? -ERANGE : 0;
		if (!ret)
			copy_trampoline(&w);
		else
			arch_free_tracepoint_code(code);
	} else if (w.cell) {
		free_memory(w.cell, CELL_CODE_SIZE);
	}
	kfree(w.buffer);
	return ret;
}
EXPORT_FOR_TEST(arch_make_tracepoint_code);

/**
 * arch_free_tracepoint_code - free a trampoline
 * @code: the trampoline, which no CPU executes or can reach
 *
 * Context: may sleep; takes text_mutex.
 */
void arch_free_tracepoint_code(const struct tracepoint_code *code)
{
	u8 *end = code->text + code->size;

	if (is_cell((unsigned long)code->text))
		free_memory(end - CELL_SIZE, CELL_CODE_SIZE);
	else
		free_memory(code->text - sizeof(struct unwind_info),
			    code->size + sizeof(struct unwind_info));
}
EXPORT_FOR_TEST(arch_free_tracepoint_code);
