// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Code that is generated at run time: its memory, its names, and when it is freed.
 * See linux/generated-text.h.
 *
 * The memory is part of BPF's packs, which are never writable and executable at the
 * same time. The name is a symbol of BPF: kallsyms lists it as it lists programs, and
 * kernel_text_address() and the unwinder find a piece by it, without a lock.
 */
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/generated-text.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include <asm/generated-text.h>

struct piece {
	struct list_head list;		/* in new_pieces or unused_pieces */
	struct generated_text text;
	enum generated_text_kind kind;
	unsigned int nr_depths;
	struct generated_depth depths[GENERATED_MAX_DEPTHS];
	struct bpf_ksym ksym;
};

static const char * const prefixes[] = {
	[GENERATED_TRACEPOINT] = "tracepoint_trampoline_",
	[GENERATED_FTRACE] = "ftrace_set_",
};

/* Protects the lists. Nests inside the locks of the callers. */
static DEFINE_MUTEX(pieces_mutex);
static LIST_HEAD(new_pieces);		/* of which perf is still to be told */
static LIST_HEAD(unused_pieces);

/* Context: a reader of RCU. */
static const struct piece *find_piece(unsigned long addr)
{
	const struct bpf_ksym *ksym = bpf_ksym_find(addr);

	return ksym && ksym->generated ? container_of(ksym, struct piece, ksym) : NULL;
}

/* In any context. Return: true also for the end of such code. */
bool is_generated_text(enum generated_text_kind kind, unsigned long addr)
{
	const struct piece *piece;
	bool ret;

	if (!rcu_is_watching())		/* others may be freed while they are searched */
		return false;
	preempt_disable_notrace();
	piece = find_piece(addr);
	ret = piece && piece->kind == kind;
	preempt_enable_notrace();
	return ret;
}

/*
 * Context: a reader of RCU. Return: the number of words between what %rsp points to and the
 * return address, or -1 if @addr is not in generated code.
 */
int generated_text_depth(unsigned long addr)
{
	const struct piece *piece = find_piece(addr);
	unsigned int i, words = 0;

	if (!piece)
		return -1;
	addr -= (unsigned long)piece->text.text;
	for (i = 0; i < piece->nr_depths && addr >= piece->depths[i].from; i++)
		words = piece->depths[i].words;
	return words;
}

static void tell_perf(const struct piece *piece, bool gone)
{
	u8 *text = piece->text.text;
	unsigned int size = piece->text.size;

	/* perf keeps the code only while the name is registered. */
	if (gone)
		perf_event_text_poke(text, text, size, NULL, 0);
	perf_event_ksymbol(PERF_RECORD_KSYMBOL_TYPE_OOL, piece->ksym.start, size, gone,
			   piece->ksym.name);
	if (!gone)
		perf_event_text_poke(text, NULL, 0, text, size);
}

/*
 * perf reports addresses and code to the events of the current task too. Any user may
 * enable a trace event, and so cause code with pointers to be generated. Then a work item
 * tells perf, which has no such events. Nothing is denied, so nothing is audited.
 */
static bool may_know_pointers(void)
{
	return current->flags & PF_KTHREAD ||
	       ns_capable_noaudit(&init_user_ns, CAP_PERFMON) ||
	       ns_capable_noaudit(&init_user_ns, CAP_SYS_ADMIN);
}

static void tell_of_new_pieces(struct work_struct *work)
{
	struct piece *piece, *next;

	guard(mutex)(&pieces_mutex);
	list_for_each_entry_safe(piece, next, &new_pieces, list) {
		tell_perf(piece, false);
		list_del_init(&piece->list);
	}
}

static DECLARE_WORK(tell_work, tell_of_new_pieces);

/* A symbol of BPF includes its end, which must not be the start of the next piece. */
static unsigned int memory_size(const struct piece *piece)
{
	return piece->text.size + 1;
}

static void free_piece(struct piece *piece)
{
	bpf_prog_pack_free(piece->text.text, memory_size(piece));
	kfree(piece);
}

/*
 * Callers have waited for tasks that sleep in a piece. Others may be preempted in it, and
 * functions are traced where RCU is not watching. Unwinders need the symbol until no task
 * is in the piece, and read it without a lock.
 */
static void free_unused_pieces(struct work_struct *work)
{
	struct piece *piece, *next;
	bool of_functions = false;
	LIST_HEAD(pieces);

	mutex_lock(&pieces_mutex);
	list_splice_init(&unused_pieces, &pieces);
	mutex_unlock(&pieces_mutex);
	if (list_empty(&pieces))
		return;

	list_for_each_entry(piece, &pieces, list)
		of_functions |= piece->kind == GENERATED_FTRACE;
	if (of_functions)
		synchronize_rcu_tasks_rude();
	if (IS_ENABLED(CONFIG_PREEMPTION))
		synchronize_rcu_tasks();
	list_for_each_entry(piece, &pieces, list) {
		tell_perf(piece, true);
		bpf_ksym_del(&piece->ksym);
	}
	synchronize_rcu();
	list_for_each_entry_safe(piece, next, &pieces, list)
		free_piece(piece);
}

static DECLARE_WORK(free_work, free_unused_pieces);

static void put_into(struct list_head *list, struct piece *piece, struct work_struct *work)
{
	mutex_lock(&pieces_mutex);
	list_move_tail(&piece->list, list);
	mutex_unlock(&pieces_mutex);
	queue_work(system_dfl_wq, work);
}

/* Frees a piece, which nothing calls or jumps to now, when no CPU and no task is in it. */
void free_generated_text(const struct generated_text *text)
{
	const struct piece *piece;

	preempt_disable();
	piece = find_piece((unsigned long)text->text);
	preempt_enable();
	if (!WARN_ON_ONCE(!piece))
		put_into(&unused_pieces, (struct piece *)piece, &free_work);
}

/* Waits until pieces that are unused now have been freed, so for RCU tasks. */
void flush_generated_text(void)
{
	flush_work(&free_work);
}

void text_write(struct text_writer *w, const void *bytes, unsigned int size)
{
	if (w->buffer)
		memcpy(w->buffer + w->size, bytes, size);
	w->size += size;
}

/* From here on, so many words are between %rsp and the return address. */
void text_write_depth(struct text_writer *w, unsigned int words)
{
	if (!WARN_ON_ONCE(w->nr_depths == GENERATED_MAX_DEPTHS))
		w->depths[w->nr_depths++] = (struct generated_depth){ w->size, words };
}

static struct piece *alloc_piece(unsigned int size)
{
	struct piece *piece = kzalloc_obj(*piece);

	if (!piece)
		return NULL;
	piece->text.size = size;
	piece->text.text = bpf_prog_pack_alloc(memory_size(piece), arch_fill_generated_text,
					       false);
	if (!piece->text.text) {
		kfree(piece);
		return NULL;
	}
	INIT_LIST_HEAD(&piece->list);
	INIT_LIST_HEAD(&piece->ksym.lnode);
	return piece;
}

static int write_piece(struct piece *piece, void *buffer,
		       void (*write)(struct text_writer *w, const void *arg), const void *arg)
{
	struct text_writer w = {
		.buffer = buffer,
		.text = (unsigned long)piece->text.text,
	};

	write(&w, arg);
	WARN_ON_ONCE(w.size != piece->text.size);
	bpf_arch_text_copy(piece->text.text, buffer, w.size);
	piece->nr_depths = w.nr_depths;
	memcpy(piece->depths, w.depths, sizeof(w.depths));
	return w.too_far ? -ERANGE : 0;
}

static void name_piece(struct piece *piece, enum generated_text_kind kind, const char *name)
{
	piece->kind = kind;
	piece->ksym.generated = true;
	piece->ksym.start = (unsigned long)piece->text.text;
	piece->ksym.end = piece->ksym.start + piece->text.size;
	snprintf(piece->ksym.name, KSYM_NAME_LEN, "%s%s", prefixes[kind], name);
	bpf_ksym_add(&piece->ksym);
}

/**
 * generate_text - make a piece of code
 * @kind: the kind of the piece
 * @name: its name, without the prefix of the kind
 * @write: writes the code; called twice, the first time to find out the size
 * @arg: the second argument of @write
 * @result: gets the piece; free it with free_generated_text()
 *
 * Context: may sleep; takes text_mutex.
 * Return: 0, -ENOMEM (also for more than GENERATED_MAX_SIZE, and early in the boot), or
 *	   -ERANGE if a target is too far.
 */
int generate_text(enum generated_text_kind kind, const char *name,
		  void (*write)(struct text_writer *w, const void *arg),
		  const void *arg, struct generated_text *result)
{
	struct text_writer size = { };
	struct piece *piece;
	void *buffer;
	int ret = -ENOMEM;

	write(&size, arg);
	/* The locks of BPF need interrupts. */
	if (size.size > GENERATED_MAX_SIZE || early_boot_irqs_disabled)
		return -ENOMEM;
	buffer = kvmalloc(size.size, GFP_KERNEL);
	piece = buffer ? alloc_piece(size.size) : NULL;
	if (!piece)
		goto out;
	ret = write_piece(piece, buffer, write, arg);
	if (ret) {
		free_piece(piece);
		goto out;
	}
	name_piece(piece, kind, name);
	if (may_know_pointers())
		tell_perf(piece, false);
	else
		put_into(&new_pieces, piece, &tell_work);
	*result = piece->text;
out:
	kvfree(buffer);
	return ret;
}
