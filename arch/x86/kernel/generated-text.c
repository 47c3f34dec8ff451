// SPDX-License-Identifier: GPL-2.0
/*
 * Code that is generated at run time: its memory, how it is written, and the
 * information for unwinders. See asm/generated-text.h.
 *
 * A piece is part of a chunk of memory that is never writable and executable at the
 * same time: text_poke() fills it, and freed parts are used again. A header before
 * each piece has the depth of the stack in it. Unwinders look up the chunk of an
 * address at any time, without a lock. For them the table of chunks is static, and a
 * chunk is freed after a grace period.
 */
#include <linux/bitmap.h>
#include <linux/error-injection.h>
#include <linux/export.h>
#include <linux/generated-text.h>
#include <linux/memory.h>
#include <linux/moduleloader.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/set_memory.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <asm/insn.h>
#include <asm/text-patching.h>

#define CHUNK_SIZE	(16 * PAGE_SIZE)
#define SLOT_SIZE	16
#define SLOTS		(CHUNK_SIZE / SLOT_SIZE)
#define MAX_CHUNKS	16	/* per kind; if these are in use, allocations fail */

struct slots {
	DECLARE_BITMAP(used, SLOTS);
	DECLARE_BITMAP(first, SLOTS);	/* a piece begins there */
};

struct chunk {
	u8 *text;		/* NULL while the entry is unused */
	struct slots *slots;
	enum generated_text_kind kind;
};

/* The header before a piece. */
struct text_info {
	u16 size;
	u16 nr_depths;
	struct generated_depth depths[];
};

/* Protects the table and the slots. Nests outside text_mutex. */
static DEFINE_MUTEX(chunks_mutex);
static struct chunk chunks[NR_GENERATED_KINDS * MAX_CHUNKS];
static unsigned int nr_chunks;		/* entries from there on are unused */

/* All chunks, freed ones too, are in this range. Most text that is unwound is not. */
static unsigned long lowest = ULONG_MAX, highest;

static bool find_chunk(unsigned long addr, struct chunk *found)
{
	unsigned int i, nr = READ_ONCE(nr_chunks);

	if (addr < READ_ONCE(lowest) || addr >= READ_ONCE(highest))
		return false;
	for (i = 0; i < nr; i++) {
		/* The slots are those of this text, or of a later one in the same entry. */
		found->text = smp_load_acquire(&chunks[i].text);
		found->slots = READ_ONCE(chunks[i].slots);
		found->kind = READ_ONCE(chunks[i].kind);
		if (found->text && addr - (unsigned long)found->text < CHUNK_SIZE)
			return true;
	}
	return false;
}

static unsigned int slot_of(const struct chunk *chunk, unsigned long addr)
{
	return (addr - (unsigned long)chunk->text) / SLOT_SIZE;
}

static const struct text_info *find_info(unsigned long addr)
{
	struct chunk chunk;
	unsigned int slot, first;

	if (!find_chunk(addr, &chunk))
		return NULL;
	slot = slot_of(&chunk, addr);
	first = find_last_bit(chunk.slots->first, slot + 1);
	return first > slot ? NULL : (const void *)(chunk.text + first * SLOT_SIZE);
}

static size_t info_size(unsigned int nr_depths)
{
	return struct_size((struct text_info *)NULL, depths, nr_depths);
}

/**
 * is_generated_text - is an address in memory for generated code?
 * @addr: the address
 *
 * Context: any.
 * Return: true if it is.
 */
bool is_generated_text(unsigned long addr)
{
	struct chunk chunk;

	return find_chunk(addr, &chunk);
}

/**
 * is_generated_text_of - is an address in memory for generated code of a kind?
 * @kind: the kind
 * @addr: the address
 *
 * Context: any.
 * Return: true if it is.
 */
bool is_generated_text_of(enum generated_text_kind kind, unsigned long addr)
{
	struct chunk chunk;

	return find_chunk(addr, &chunk) && chunk.kind == kind;
}

/**
 * generated_text_depth - get the depth of the stack at an instruction
 * @addr: its address
 *
 * Context: preemption is disabled.
 * Return: the number of words between what %rsp points to and the return address;
 *	   or GENERATED_BP_PUSHED, GENERATED_BP_SET, or GENERATED_NO_TEXT if @addr
 *	   is not in generated code.
 */
int generated_text_depth(unsigned long addr)
{
	const struct text_info *info = find_info(addr);
	unsigned int i, nr;
	int depth = 0;
	long offset;

	if (!info)
		return GENERATED_NO_TEXT;
	/* It may be overwritten now, if the stack has an outdated address. */
	nr = READ_ONCE(info->nr_depths);
	offset = addr - (unsigned long)info - info_size(nr);
	if (nr > GENERATED_MAX_DEPTHS || offset < 0 || offset >= info->size)
		return GENERATED_NO_TEXT;
	for (i = 0; i < nr && offset >= info->depths[i].from; i++)
		depth = info->depths[i].depth;
	return depth;
}

#ifdef CONFIG_MODULES
static u8 *alloc_chunk_text(void)
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

static void free_chunk_text(u8 *text)
{
	module_memfree(text);
}
#else
/*
 * One chunk is a part of the image, in the section where kprobes are forbidden. It is
 * protected when the text of the kernel is.
 */
asm(".pushsection .kprobes.text, \"ax\"\n\t"
	".balign 16\n\t"
	".globl generated_text_of_image\n\t"
	".type generated_text_of_image, @object\n"
	"generated_text_of_image:\n\t"
	".skip " __stringify(CHUNK_SIZE) ", " __stringify(INT3_INSN_OPCODE) "\n\t"
	".size generated_text_of_image, . - generated_text_of_image\n\t"
	".popsection");

static u8 *alloc_chunk_text(void)
{
	return nr_chunks ? NULL : generated_text_of_image;
}

static void free_chunk_text(u8 *text) { }
#endif

static struct chunk *unused_chunk(enum generated_text_kind kind)
{
	struct chunk *chunk = chunks + kind * MAX_CHUNKS, *end = chunk + MAX_CHUNKS;

	for (; chunk < end; chunk++)
		if (!chunk->text)
			return chunk;
	return NULL;
}

static struct chunk *new_chunk(enum generated_text_kind kind)
{
	struct chunk *chunk = unused_chunk(kind);
	struct slots *slots;
	u8 *text;

	if (!chunk)
		return NULL;
	slots = kzalloc(sizeof(*slots), GFP_KERNEL);
	if (!slots)
		return NULL;
	text = alloc_chunk_text();
	if (!text) {
		kfree(slots);
		return NULL;
	}
	WRITE_ONCE(lowest, min(lowest, (unsigned long)text));
	WRITE_ONCE(highest, max(highest, (unsigned long)text + CHUNK_SIZE));
	WRITE_ONCE(chunk->slots, slots);
	WRITE_ONCE(chunk->kind, kind);
	smp_store_release(&chunk->text, text);	/* for find_chunk() */
	WRITE_ONCE(nr_chunks, max_t(unsigned int, nr_chunks, chunk - chunks + 1));
	return chunk;
}

static u8 *alloc_slots(struct chunk *chunk, enum generated_text_kind kind,
		       unsigned int nr)
{
	struct slots *slots = chunk->slots;
	unsigned long first;

	if (!chunk->text || chunk->kind != kind)
		return NULL;
	first = bitmap_find_next_zero_area(slots->used, SLOTS, 0, nr, 0);
	if (first + nr > SLOTS)
		return NULL;
	bitmap_set(slots->used, first, nr);
	return chunk->text + first * SLOT_SIZE;
}

static u8 *alloc_memory(enum generated_text_kind kind, unsigned int size)
{
	unsigned int nr = DIV_ROUND_UP(size, SLOT_SIZE);
	struct chunk *chunk;
	u8 *memory = NULL;

	if (nr > SLOTS)
		return NULL;
	mutex_lock(&chunks_mutex);
	for (chunk = chunks; chunk < chunks + nr_chunks && !memory; chunk++)
		memory = alloc_slots(chunk, kind, nr);
	if (!memory) {
		chunk = new_chunk(kind);
		if (chunk)
			memory = alloc_slots(chunk, kind, nr);
	}
	mutex_unlock(&chunks_mutex);
	return memory;
}

/**
 * generated_text_poke - write to a piece
 * @text: where to write; no CPU may execute this part now
 * @bytes: what to write
 * @size: number of bytes
 *
 * Context: may sleep; takes text_mutex.
 */
void generated_text_poke(u8 *text, const u8 *bytes, unsigned int size)
{
	unsigned int part;

	/* text_poke_copy() does not write to the image, where a chunk may be. */
	mutex_lock(&text_mutex);
	for (; size; size -= part, text += part, bytes += part) {
		part = min_t(unsigned int, size, PAGE_SIZE);
		text_poke(text, bytes, part);
	}
	mutex_unlock(&text_mutex);
}

/**
 * generated_text_poke_int3 - write breakpoints to a piece
 * @text: where to write; no CPU may execute this part now
 * @size: number of bytes
 *
 * Context: may sleep; takes text_mutex.
 */
void generated_text_poke_int3(u8 *text, unsigned int size)
{
	static const u8 int3[4 * SLOT_SIZE] = {
		[0 ... 4 * SLOT_SIZE - 1] = INT3_INSN_OPCODE,
	};
	unsigned int part;

	for (; size; size -= part, text += part) {
		part = min_t(unsigned int, size, sizeof(int3));
		generated_text_poke(text, int3, part);
	}
}

/* Lets unwinders find the header of a piece that is complete. */
static void publish(u8 *memory)
{
	struct chunk chunk;

	mutex_lock(&chunks_mutex);
	if (!WARN_ON_ONCE(!find_chunk((unsigned long)memory, &chunk)))
		set_bit(slot_of(&chunk, (unsigned long)memory), chunk.slots->first);
	mutex_unlock(&chunks_mutex);
}

static void free_memory(u8 *memory, unsigned int size)
{
	struct chunk chunk;
	unsigned int first;

	mutex_lock(&chunks_mutex);
	if (!WARN_ON_ONCE(!find_chunk((unsigned long)memory, &chunk))) {
		first = slot_of(&chunk, (unsigned long)memory);
		clear_bit(first, chunk.slots->first);
		generated_text_poke_int3(memory, size);
		bitmap_clear(chunk.slots->used, first, DIV_ROUND_UP(size, SLOT_SIZE));
	}
	mutex_unlock(&chunks_mutex);
}

/* Removes empty chunks, but keeps the first one of each kind for the next piece. */
static unsigned int unlink_empty_chunks(struct chunk *unlinked)
{
	unsigned int nr_empty = 0;
	struct chunk *chunk;

	mutex_lock(&chunks_mutex);
	for (chunk = chunks; chunk < chunks + nr_chunks; chunk++) {
		if ((chunk - chunks) % MAX_CHUNKS == 0 || !chunk->text ||
		    !bitmap_empty(chunk->slots->used, SLOTS))
			continue;
		unlinked[nr_empty++] = *chunk;
		WRITE_ONCE(chunk->text, NULL);
	}
	while (nr_chunks && !chunks[nr_chunks - 1].text)
		WRITE_ONCE(nr_chunks, nr_chunks - 1);
	mutex_unlock(&chunks_mutex);
	return nr_empty;
}

/**
 * trim_generated_text - free memory that no piece uses
 *
 * Context: may sleep; waits for a grace period of RCU if there is such memory.
 */
void trim_generated_text(void)
{
	static struct chunk unlinked[ARRAY_SIZE(chunks)];
	static DEFINE_MUTEX(trim_mutex);
	unsigned int nr;

	mutex_lock(&trim_mutex);
	nr = unlink_empty_chunks(unlinked);
	if (nr)
		synchronize_rcu();	/* until unwinders no longer read the slots */
	while (nr--) {
		free_chunk_text(unlinked[nr].text);
		kfree(unlinked[nr].slots);
	}
	mutex_unlock(&trim_mutex);
}

/**
 * text_write - write bytes
 * @w: the text
 * @bytes: what to write
 * @size: number of bytes
 */
void text_write(struct text_writer *w, const void *bytes, unsigned int size)
{
	if (w->buffer)
		memcpy(w->buffer + w->size, bytes, size);
	w->size += size;
}

/**
 * text_write_s32 - write an operand of four bytes
 * @w: the text
 * @value: the operand
 */
void text_write_s32(struct text_writer *w, s32 value)
{
	text_write(w, &value, sizeof(value));
}

/**
 * text_write_target - write the operand of a call or jump
 * @w: the text
 * @target: the target
 */
void text_write_target(struct text_writer *w, const void *target)
{
	long distance = (unsigned long)target - (w->text + w->size + sizeof(s32));

	if (w->buffer && distance != (s32)distance)
		w->too_far = true;
	text_write_s32(w, distance);
}

/**
 * text_write_ptr - write a MOV of a constant to a register
 * @w: the text
 * @reg: the number of the register, which is one of the lower eight
 * @ptr: the constant
 *
 * The instruction has an even number of bytes.
 */
void text_write_ptr(struct text_writer *w, u8 reg, const void *ptr)
{
	unsigned long value = (unsigned long)ptr;

	if (value == (u32)value) {
		text_write_insn(w, 0x40, 0xb8 + reg);	/* mov $, %e.. */
		text_write_s32(w, value);
	} else {
		text_write_insn(w, 0x48, 0xb8 + reg);	/* movabs $, %r.. */
		text_write(w, &value, sizeof(value));
	}
}

/**
 * text_write_depth - record the depth of the stack from here on
 * @w: the text
 * @depth: see struct generated_depth
 */
void text_write_depth(struct text_writer *w, int depth)
{
	if (WARN_ON_ONCE(w->nr_depths == GENERATED_MAX_DEPTHS))
		return;
	w->depths[w->nr_depths++] = (struct generated_depth){ w->size, depth };
}

static void write_info(const struct text_writer *w, u8 *buffer)
{
	struct text_info *info = (struct text_info *)buffer;

	info->size = w->size;
	info->nr_depths = w->nr_depths;
	memcpy(info->depths, w->depths, w->nr_depths * sizeof(w->depths[0]));
}

/**
 * generate_text - make a piece of code
 * @kind: the kind of the piece
 * @write: writes the code; called twice, the first time to find out the size
 * @arg: the second argument of @write
 * @result: gets the piece; free it with free_generated_text()
 *
 * Context: may sleep; takes text_mutex.
 * Return: 0, -ENOMEM (also for more than 64 KiB), or -ERANGE if a target is too far.
 */
int generate_text(enum generated_text_kind kind,
		  void (*write)(struct text_writer *w, const void *arg),
		  const void *arg, struct generated_text *result)
{
	struct text_writer size = { }, w = { };
	unsigned int ahead, all;
	u8 *memory, *buffer;
	int ret = -ENOMEM;

	write(&size, arg);
	ahead = info_size(size.nr_depths);
	all = ahead + size.size;
	if (all > CHUNK_SIZE - 1)
		return -ENOMEM;
	buffer = kvmalloc(all, GFP_KERNEL);
	memory = buffer ? alloc_memory(kind, all) : NULL;
	if (!memory)
		goto out;

	w.buffer = buffer + ahead;
	w.text = (unsigned long)memory + ahead;
	write(&w, arg);
	write_info(&w, buffer);
	ret = w.too_far ? -ERANGE : 0;
	if (WARN_ON_ONCE(w.size != size.size || w.nr_depths != size.nr_depths))
		ret = -EINVAL;
	if (ret) {
		free_memory(memory, all);
		goto out;
	}
	generated_text_poke(memory, buffer, all);
	publish(memory);
	result->text = memory + ahead;
	result->size = w.size;
out:
	kvfree(buffer);
	return ret;
}

ALLOW_ERROR_INJECTION(generate_text, ERRNO);

/**
 * free_generated_text - free a piece
 * @text: the piece, which no CPU executes or can reach
 *
 * Context: may sleep; takes text_mutex.
 */
void free_generated_text(const struct generated_text *text)
{
	const struct text_info *info;
	unsigned int ahead;

	preempt_disable();
	info = find_info((unsigned long)text->text);
	ahead = info ? text->text - (const u8 *)info : 0;
	preempt_enable();
	if (!WARN_ON_ONCE(!info))
		free_memory(text->text - ahead, text->size + ahead);
}
