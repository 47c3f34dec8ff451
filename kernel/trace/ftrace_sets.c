// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sets of function tracers: a function with several tracers calls code that
 * calls exactly these, instead of the list of all tracers.
 *
 * The record of a function stores the ids of two sets in the upper half of its
 * flags: the set that the function should call (wanted) and the one that its
 * code calls (current). A set is made for the first function that needs it and
 * shared by all functions with the same tracers. It is freed some time after
 * the last one dropped it, since a task may be preempted in its code. A set of
 * one tracer has no code: such a function calls the tracer's own trampoline. The
 * set exists so that adding a tracer can find the next set.
 *
 * If a set cannot be made, for lack of memory or of ids, the function calls the
 * list of all tracers until its tracers change again. So does one with too many tracers, or
 * with one that ftrace has to protect.
 *
 * With DYNAMIC_FTRACE_WITH_CALL_OPS, no code is generated: each function refers to a
 * struct ftrace_ops, that of its only tracer or that of its set; see ftrace_set_call().
 *
 * ftrace.c calls all of this with ftrace_lock held.
 */
#include <linux/ftrace.h>
#include <linux/hashtable.h>
#include <linux/jhash.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "ftrace_internal.h"
#include "ftrace_sets.h"

#define SET_WANTED_SHIFT	32
#define SET_CURRENT_SHIFT	48
#define SET_MASK		0xffffUL
#define SET_NONE		0	/* no tracer; or the code calls no set */
#define SET_UNKNOWN		SET_MASK	/* the list is called */
#define NR_IDS			4096

/*
 * Protected by ftrace_lock. The first tracers are registered before radix trees
 * can be used, so the table of sets is an array.
 */
static struct ftrace_set *sets_by_id[NR_IDS];
static unsigned int nr_sets;
static DEFINE_HASHTABLE(sets_by_members, 10);
static LIST_HEAD(sets_to_make);		/* they get code at the next update */
static LIST_HEAD(unused_sets);
static unsigned long last_seq;

static unsigned int wanted_id(const struct dyn_ftrace *rec)
{
	return rec->flags >> SET_WANTED_SHIFT & SET_MASK;
}

static unsigned int current_id(const struct dyn_ftrace *rec)
{
	return rec->flags >> SET_CURRENT_SHIFT & SET_MASK;
}

static struct ftrace_set *set_of(unsigned int id)
{
	return id == SET_NONE || id == SET_UNKNOWN ? NULL : sets_by_id[id];
}

/* The upper half must survive when flags are cleared. */
static_assert((unsigned long)~FTRACE_FL_TRAMP >> SET_WANTED_SHIFT == U32_MAX);
static_assert((unsigned long)~FTRACE_FL_ENABLED >> SET_WANTED_SHIFT == U32_MAX);

#define WITH_CALL_OPS	IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_CALL_OPS)

/* Or does ftrace protect it from recursion, or where RCU does not watch? */
static bool is_called_as_it_is(struct ftrace_ops *ops)
{
	return ftrace_ops_get_func(ops) == ops->func;
}

static u32 hash_of(struct ftrace_ops *const *ops, unsigned int nr)
{
	return jhash(ops, nr * sizeof(*ops), 0);
}

static bool has_members(const struct ftrace_set *set, struct ftrace_ops *const *ops,
			unsigned int nr)
{
	unsigned int i;

	if (set->nr != nr)
		return false;
	for (i = 0; i < nr; i++)
		if (set->members[i].ops != ops[i])
			return false;
	return true;
}

static struct ftrace_set *find_set(struct ftrace_ops *const *ops, unsigned int nr,
				   u32 hash)
{
	struct ftrace_set *set;

	hash_for_each_possible(sets_by_members, set, hash, hash)
		if (has_members(set, ops, nr))
			return set;
	return NULL;
}

/*
 * When all ids are used, an update may ask for an id for each function: do not
 * search the table then.
 *
 * Return: an id that no set has, or SET_NONE
 */
static unsigned int unused_id(void)
{
	static unsigned int id;

	if (nr_sets == NR_IDS - 1)	/* SET_NONE is not used */
		return SET_NONE;
	do {
		id = (id + 1) % NR_IDS;
	} while (id == SET_NONE || sets_by_id[id]);
	return id;
}

static struct ftrace_set *make_set(struct ftrace_ops *const *ops, unsigned int nr,
				   u32 hash)
{
	struct ftrace_set *set;
	unsigned int i, id = unused_id();

	if (id == SET_NONE)
		return NULL;
	set = kzalloc_flex(*set, members, nr);
	if (!set)
		return NULL;
	sets_by_id[id] = set;
	nr_sets++;
	set->id = id;
	set->nr = nr;
	INIT_LIST_HEAD(&set->list);
	set->no_text = nr == 1;
	for (i = 0; i < nr; i++) {
		/* The list protects them. A stub is registered briefly. */
		set->no_text |= !is_called_as_it_is(ops[i]) ||
				ops[i]->flags & FTRACE_OPS_FL_STUB;
		set->members[i].set = set;
		set->members[i].ops = ops[i];
		list_add(&set->members[i].of_ops, &ops[i]->sets);
	}
	hash_add(sets_by_members, &set->hash, hash);
	if (!set->no_text)
		list_add_tail(&set->list, &sets_to_make);
	return set;
}

/*
 * If memory is short, the functions of a set call the list of all tracers until
 * a later update. Thousands of sets may wait for memory: an update stops trying
 * at the first one that fails. Takes text_mutex.
 */
void ftrace_set_make_text(void)
{
	struct ftrace_set *set, *next;
	int ret = 0;

	lockdep_assert_held(&ftrace_lock);
	list_for_each_entry_safe(set, next, &sets_to_make, list) {
		if (ret != -ENOMEM)
			ret = arch_ftrace_make_set(set);
		set->no_text = ret;
		if (ret != -ENOMEM)
			list_del_init(&set->list);
	}
}

static void free_set(struct ftrace_set *set)
{
	if (set->text.text && !WITH_CALL_OPS)
		free_generated_text(&set->text);
	kfree(set);
}

/* An update marks a set as unused before it has patched the functions that call it. */
static void free_unused_sets(struct work_struct *work)
{
	struct ftrace_set *set, *next;
	LIST_HEAD(sets);

	mutex_lock(&ftrace_lock);
	list_splice_init(&unused_sets, &sets);
	mutex_unlock(&ftrace_lock);
	if (WITH_CALL_OPS) {
		/* Functions may be about to call them, also where RCU is not watching. */
		synchronize_rcu_tasks_rude();
		synchronize_rcu_tasks();
	}
	list_for_each_entry_safe(set, next, &sets, list)
		free_set(set);
}

static DECLARE_WORK(free_unused_sets_work, free_unused_sets);

static void put_set(struct ftrace_set *set)
{
	unsigned int i;

	if (!set || --set->refs)
		return;
	hash_del(&set->hash);
	for (i = 0; i < set->nr; i++)
		list_del(&set->members[i].of_ops);
	sets_by_id[set->id] = NULL;
	nr_sets--;
	list_del(&set->list);
	if (!set->text.text) {
		free_set(set);
		return;
	}
	list_add(&set->list, &unused_sets);
	queue_work(system_dfl_wq, &free_unused_sets_work);
}

/* Stores the members of @set with or without @ops. Return: their number. */
static unsigned int changed_members(const struct ftrace_set *set, struct ftrace_ops *ops,
				    bool add, struct ftrace_ops **members)
{
	unsigned int i, nr = 0;

	for (i = 0; set && i < set->nr; i++) {
		struct ftrace_ops *member = set->members[i].ops;

		if (add && member->seq < ops->seq) {
			members[nr++] = ops;
			add = false;
		}
		if (member != ops)
			members[nr++] = member;
	}
	if (add)
		members[nr++] = ops;
	return nr;
}

/* @members is not read if @nr exceeds FTRACE_SET_MAX. */
static unsigned int id_of(struct ftrace_ops *const *members, unsigned int nr)
{
	struct ftrace_set *set;
	u32 hash;

	if (!nr)
		return SET_NONE;
	if (nr > FTRACE_SET_MAX)
		return SET_UNKNOWN;
	hash = hash_of(members, nr);
	set = find_set(members, nr, hash) ?: make_set(members, nr, hash);
	return set ? set->id : SET_UNKNOWN;
}

/*
 * Is the only tracer called as it is? Not the one that is added or removed counts, as in
 * ftrace.c. Without a set, the list is called.
 */
static void update_call_ops(struct dyn_ftrace *rec)
{
	const struct ftrace_set *set = set_of(wanted_id(rec));

	rec->flags &= ~FTRACE_FL_CALL_OPS;
	if (WITH_CALL_OPS && set && set->nr == 1 && is_called_as_it_is(set->members[0].ops))
		rec->flags |= FTRACE_FL_CALL_OPS;
}

static void set_wanted(struct dyn_ftrace *rec, unsigned int id)
{
	struct ftrace_set *set = set_of(id), *old = set_of(wanted_id(rec));

	if (set)
		set->refs++;
	rec->flags &= ~(SET_MASK << SET_WANTED_SHIFT);
	rec->flags |= (unsigned long)id << SET_WANTED_SHIFT;
	update_call_ops(rec);
	put_set(old);
}

void ftrace_set_register(struct ftrace_ops *ops)
{
	ops->seq = ++last_seq;
	INIT_LIST_HEAD(&ops->sets);
}

/* Adds or removes a tracer of a function, whose count of tracers is already updated. */
void ftrace_set_change(struct dyn_ftrace *rec, struct ftrace_ops *ops, bool add)
{
	struct ftrace_ops *members[FTRACE_SET_MAX + 1];
	unsigned int nr, old = wanted_id(rec);

	lockdep_assert_held(&ftrace_lock);
	if (old != SET_UNKNOWN) {
		nr = changed_members(set_of(old), ops, add, members);
	} else {
		nr = 0;
		if (ftrace_rec_count(rec))
			nr = ftrace_tracers_of(rec, add ? NULL : ops, members);
		/* Others that share the filter of @ops may be added after it. */
		if (nr != ftrace_rec_count(rec)) {
			update_call_ops(rec);
			return;
		}
	}
	set_wanted(rec, id_of(members, nr));
}

/* Gives a function of a new module the set of its tracers. */
void ftrace_set_find(struct dyn_ftrace *rec)
{
	struct ftrace_ops *members[FTRACE_SET_MAX];

	set_wanted(rec, id_of(members, ftrace_tracers_of(rec, NULL, members)));
}

void ftrace_set_want_none(struct dyn_ftrace *rec)
{
	set_wanted(rec, SET_NONE);
}

/* Return: the set, or NULL if the function should call something else. */
const struct ftrace_set *ftrace_set_wanted(const struct dyn_ftrace *rec)
{
	const struct ftrace_set *set = set_of(wanted_id(rec));

	return set && !set->no_text ? set : NULL;
}

/* Return: the set, or NULL if the code calls something else, or nothing. */
const struct ftrace_set *ftrace_set_current(const struct dyn_ftrace *rec)
{
	return set_of(current_id(rec));
}

bool ftrace_set_differs(const struct dyn_ftrace *rec)
{
	return ftrace_set_wanted(rec) != ftrace_set_current(rec);
}

/* The function will call the wanted set or, if not @enable, nothing. */
void ftrace_set_enable(struct dyn_ftrace *rec, bool enable)
{
	struct ftrace_set *old = set_of(current_id(rec)), *set = NULL;

	if (enable)
		set = (struct ftrace_set *)ftrace_set_wanted(rec);
	rec->flags &= ~(SET_MASK << SET_CURRENT_SHIFT);
	if (set) {
		set->refs++;
		rec->flags |= (unsigned long)set->id << SET_CURRENT_SHIFT;
	}
	put_set(old);
}

/* Releases the sets of a function that is removed. */
void ftrace_set_drop(struct dyn_ftrace *rec)
{
	ftrace_set_enable(rec, false);
	ftrace_set_want_none(rec);
}

/* Each tracer is shown in the format of a single one. */
void ftrace_set_show(struct seq_file *m, const struct ftrace_set *set)
{
	unsigned int i;

	for (i = 0; i < set->nr; i++) {
		struct ftrace_ops *ops = set->members[i].ops;

		if (WITH_CALL_OPS)
			seq_printf(m, "\tops: %pS (%pS)", ops, ops->func);
		else
			seq_printf(m, "\ttramp: %pS (%pS) ->%pS", set->text.text,
				   ops->func, ops->func);
	}
}

/* Is it the code of a set? In any context. */
bool ftrace_is_set_text(unsigned long addr)
{
	return !WITH_CALL_OPS && !is_kernel_text(addr) &&
	       is_generated_text(GENERATED_FTRACE, addr);
}

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_CALL_OPS
/* A function that is being changed may save fewer registers than a new tracer needs. */
static nokprobe_inline bool is_callable(const struct ftrace_ops *ops,
					struct ftrace_regs *fregs)
{
	return !IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_REGS) ||
	       !(ops->flags & FTRACE_OPS_FL_SAVE_REGS) || ftrace_get_regs(fregs);
}

/* The function of a set's ops. A set is freed after its functions have another. */
static void ftrace_set_call(unsigned long ip, unsigned long parent_ip,
			    struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	const struct ftrace_set *set = container_of(ops, struct ftrace_set, ops);
	const struct ftrace_set_member *member = set->members, *end = member + set->nr;

	do {
		ops = member->ops;
		if (is_callable(ops, fregs))
			ops->func(ip, parent_ip, ops, fregs);
	} while (++member < end);
}
NOKPROBE_SYMBOL(ftrace_set_call);

int arch_ftrace_make_set(struct ftrace_set *set)
{
	set->ops.func = ftrace_set_call;
	set->text.text = (u8 *)ftrace_set_call;
	smp_wmb();	/* before functions refer to it; they depend on the address */
	return 0;
}

/**
 * ftrace_set_ops - what a function refers to that does not call a single tracer
 * @rec: the function
 *
 * For architectures with DYNAMIC_FTRACE_WITH_CALL_OPS.
 *
 * Context: ftrace_lock is held.
 * Return: the ops of its set or, if it has none, ftrace_list_ops.
 */
const struct ftrace_ops *ftrace_set_ops(const struct dyn_ftrace *rec)
{
	const struct ftrace_set *set = ftrace_set_current(rec);

	return set ? &set->ops : &ftrace_list_ops;
}
#endif
