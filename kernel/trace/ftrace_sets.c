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
 * list of all tracers. Updates try again: see ftrace_set_make_text().
 */
#include <linux/build_bug.h>
#include <linux/ftrace.h>
#include <linux/hashtable.h>
#include <linux/init.h>
#include <linux/jhash.h>
#include <linux/limits.h>
#include <linux/lockdep.h>
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

/*
 * Protected by ftrace_lock. Tracers are registered before radix trees can be
 * used, so the table of sets is an array.
 */
static struct ftrace_set **sets_by_id;
static unsigned int nr_ids, nr_used, next_id;
static bool no_more_ids;		/* there was no memory in this update */
static DEFINE_HASHTABLE(sets_by_members, 10);
static LIST_HEAD(sets_to_make);		/* get text before they are called */
static LIST_HEAD(sets_without_memory);	/* get text at a later update */
static LIST_HEAD(unused_sets);
static unsigned long last_seq;
static unsigned long nr_unknown;	/* functions with SET_UNKNOWN */

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
		if (set->members[i].ops != ops[i] || set->members[i].seq != ops[i]->seq)
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

static bool more_ids(void)
{
	unsigned int nr = nr_ids ? min(2 * nr_ids, (unsigned int)SET_UNKNOWN) : 64;
	struct ftrace_set **table;

	if (nr == nr_ids || no_more_ids)
		return false;
	table = kvcalloc(nr, sizeof(*table), GFP_KERNEL);
	no_more_ids = !table;
	if (no_more_ids)
		return false;
	if (nr_ids)
		memcpy(table, sets_by_id, nr_ids * sizeof(*table));
	kvfree(sets_by_id);
	sets_by_id = table;
	next_id = nr_ids;
	nr_ids = nr;
	return true;
}

/*
 * When all ids are used, an update may ask for an id for each function: do not
 * search the table then.
 *
 * Return: an id that no set has, or SET_NONE
 */
static unsigned int unused_id(void)
{
	unsigned int id;

	if (nr_used + 1 >= nr_ids && !more_ids())	/* SET_NONE is not used */
		return SET_NONE;
	do {
		id = next_id++ % nr_ids;
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
	set = kzalloc(struct_size(set, members, nr), GFP_KERNEL);
	if (!set)
		return NULL;
	sets_by_id[id] = set;
	nr_used++;
	set->id = id;
	set->nr = nr;
	INIT_LIST_HEAD(&set->list);
	for (i = 0; i < nr; i++) {
		/* A stub is registered briefly: functions call the list. */
		set->no_text |= !!(ops[i]->flags & FTRACE_OPS_FL_STUB);
		set->members[i].set = set;
		set->members[i].ops = ops[i];
		set->members[i].seq = ops[i]->seq;
		list_add(&set->members[i].of_ops, &ops[i]->sets);
	}
	hash_add(sets_by_members, &set->hash, hash);
	return set;
}

/* Requests code for a set of several tracers that functions use. */
static void want_text(struct ftrace_set *set)
{
	if (set->nr < 2 || set->text.text || set->no_text)
		return;
	set->to_make = true;
	list_move_tail(&set->list, &sets_to_make);
}

static int name_text(struct ftrace_set *set)
{
	char name[8];

	snprintf(name, sizeof(name), "%u", set->id);
	return name_generated_text(&set->text, GENERATED_FTRACE, name);
}

static int make_text(struct ftrace_set *set)
{
	int ret = arch_ftrace_make_set(set);

	if (ret)
		return ret;
	ret = name_text(set);
	if (ret) {
		free_generated_text(&set->text);
		set->text.text = NULL;
	}
	return ret;
}

static void let_wait(struct ftrace_set *set)
{
	set->to_make = false;
	list_move_tail(&set->list, &sets_without_memory);
}

/* Return: false if there is no memory, otherwise true */
static bool make_or_wait(struct ftrace_set *set)
{
	int ret = make_text(set);

	if (ret && ret != -ERANGE) {
		let_wait(set);
		return false;
	}
	set->to_make = false;
	set->no_text = ret;
	list_del_init(&set->list);
	return true;
}

/**
 * ftrace_set_make_text - make the code of all sets that need it
 *
 * If memory is short, the functions of a set call the list of all tracers until
 * a later update. Thousands of sets may wait for memory: an update stops trying
 * at the first one that fails, and puts it behind those that already wait.
 *
 * Context: ftrace_lock is held, text_mutex is not; may sleep.
 */
void ftrace_set_make_text(void)
{
	struct ftrace_set *set, *next;
	bool memory = true;

	lockdep_assert_held(&ftrace_lock);
	no_more_ids = false;	/* the next update tries again */
	list_for_each_entry_safe(set, next, &sets_to_make, list) {
		if (memory)
			memory = make_or_wait(set);
		else
			let_wait(set);
	}
	while (memory && !list_empty(&sets_without_memory))
		memory = make_or_wait(list_first_entry(&sets_without_memory,
						       struct ftrace_set, list));
}

static void free_set(struct ftrace_set *set)
{
	if (set->text.text) {
		unname_generated_text(&set->text);
		free_generated_text(&set->text);
	}
	kfree(set);
}

/*
 * A task may be preempted in the code of a set. Waiting for it may take long,
 * so a work item does it.
 */
static void free_unused_sets(struct work_struct *work)
{
	struct ftrace_set *set, *next;
	LIST_HEAD(sets);

	mutex_lock(&ftrace_lock);
	list_splice_init(&unused_sets, &sets);
	mutex_unlock(&ftrace_lock);
	if (list_empty(&sets))
		return;

	synchronize_rcu_tasks_rude();
	if (IS_ENABLED(CONFIG_PREEMPTION))
		synchronize_rcu_tasks();
	list_for_each_entry_safe(set, next, &sets, unused)
		free_set(set);
	trim_generated_text();
}

static DECLARE_WORK(free_unused_sets_work, free_unused_sets);

static int __init start_freeing_sets(void)
{
	queue_work(system_unbound_wq, &free_unused_sets_work);
	return 0;
}
core_initcall(start_freeing_sets);

/* The set is no longer found, and its tracers are no longer accessed. */
static void forget_members(struct ftrace_set *set)
{
	unsigned int i;

	hash_del(&set->hash);
	for (i = 0; i < set->nr; i++)
		list_del_init(&set->members[i].of_ops);
}

static void put_set(struct ftrace_set *set)
{
	if (!set || --set->refs)
		return;
	forget_members(set);
	sets_by_id[set->id] = NULL;
	nr_used--;
	list_del_init(&set->list);
	if (!set->text.text) {
		free_set(set);
		return;
	}
	list_add(&set->unused, &unused_sets);
	if (system_unbound_wq)
		queue_work(system_unbound_wq, &free_unused_sets_work);
}

static unsigned int count_sets(const struct ftrace_ops *ops)
{
	return list_count_nodes((struct list_head *)&ops->sets);
}

/**
 * ftrace_set_unregister - forget the sets of a tracer that is unregistered
 * @ops: the tracer, which may be freed afterwards
 *
 * Usually there are none.
 *
 * Context: ftrace_lock is held.
 */
void ftrace_set_unregister(struct ftrace_ops *ops)
{
	struct ftrace_set_member *member, *next;

	if (list_empty(&ops->sets))
		return;
	/* Functions still have sets if ftrace was disabled by an error. */
	arch_ftrace_update_begin(count_sets(ops));
	list_for_each_entry_safe(member, next, &ops->sets, of_ops) {
		if (member->set->text.text)
			arch_ftrace_remove_member(member);
		forget_members(member->set);
	}
	arch_ftrace_update_end();
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

static unsigned int changed_id(unsigned int id, struct ftrace_ops *ops, bool add)
{
	struct ftrace_ops *members[FTRACE_SET_MAX + 1];

	return id_of(members, changed_members(set_of(id), ops, add, members));
}

static void set_wanted(struct dyn_ftrace *rec, unsigned int id)
{
	struct ftrace_set *set = set_of(id), *old = set_of(wanted_id(rec));

	if (set) {
		set->refs++;
		want_text(set);
	}
	nr_unknown += id == SET_UNKNOWN;
	nr_unknown -= wanted_id(rec) == SET_UNKNOWN;
	rec->flags &= ~(SET_MASK << SET_WANTED_SHIFT);
	rec->flags |= (unsigned long)id << SET_WANTED_SHIFT;
	put_set(old);
}

/**
 * ftrace_set_register - initialize a tracer for sets
 * @ops: the tracer, which is being registered
 *
 * Context: ftrace_lock is held.
 */
void ftrace_set_register(struct ftrace_ops *ops)
{
	ops->seq = ++last_seq;
	INIT_LIST_HEAD(&ops->sets);
}

/**
 * ftrace_set_change - add or remove a tracer of a function
 * @rec: the function; its count of tracers is already updated
 * @ops: the tracer
 * @add: true to add the tracer
 *
 * Context: ftrace_lock is held; may sleep.
 */
void ftrace_set_change(struct dyn_ftrace *rec, struct ftrace_ops *ops, bool add)
{
	unsigned int old = wanted_id(rec), new;

	lockdep_assert_held(&ftrace_lock);
	if (old != SET_UNKNOWN)
		new = changed_id(old, ops, add);
	else
		new = add || ftrace_rec_count(rec) ? SET_UNKNOWN : SET_NONE;
	set_wanted(rec, new);
}

/**
 * ftrace_set_is_to_find - check whether a function without a set may get one
 * @rec: the function
 *
 * It has none because memory or ids were short, or it had too many tracers. See
 * ftrace_set_init().
 *
 * Context: ftrace_lock is held.
 * Return: true if it may get one.
 */
bool ftrace_set_is_to_find(const struct dyn_ftrace *rec)
{
	return wanted_id(rec) == SET_UNKNOWN && ftrace_rec_count(rec) <= FTRACE_SET_MAX;
}

/**
 * ftrace_sets_unknown - check for functions without a set that call the list
 *
 * Context: ftrace_lock is held.
 * Return: true if there are.
 */
bool ftrace_sets_unknown(void)
{
	return nr_unknown;
}

/**
 * ftrace_set_init - give a function the set of the given tracers
 * @rec: the function
 * @ops: the tracers, newest first
 * @nr: number of tracers; @ops is not read if it exceeds FTRACE_SET_MAX
 *
 * Context: ftrace_lock is held; may sleep.
 */
void ftrace_set_init(struct dyn_ftrace *rec, struct ftrace_ops *const *ops,
		     unsigned int nr)
{
	set_wanted(rec, id_of(ops, nr));
}

/**
 * ftrace_set_wanted - get the set that a function should call
 * @rec: the function
 *
 * Context: ftrace_lock is held.
 * Return: the set, or NULL if the function should call something else.
 */
const struct ftrace_set *ftrace_set_wanted(const struct dyn_ftrace *rec)
{
	const struct ftrace_set *set = set_of(wanted_id(rec));

	return set && (set->text.text || set->to_make) ? set : NULL;
}

/**
 * ftrace_set_current - get the set that the code of a function calls
 * @rec: the function
 *
 * Context: ftrace_lock is held.
 * Return: the set, or NULL if the code calls something else, or nothing.
 */
const struct ftrace_set *ftrace_set_current(const struct dyn_ftrace *rec)
{
	return set_of(current_id(rec));
}

/**
 * ftrace_set_differs - check whether a function calls another set than wanted
 * @rec: the function, which is traced
 *
 * Context: ftrace_lock is held.
 * Return: true if it does.
 */
bool ftrace_set_differs(const struct dyn_ftrace *rec)
{
	return ftrace_set_wanted(rec) != ftrace_set_current(rec);
}

/**
 * ftrace_set_enable - note that the code of a function is changed
 * @rec: the function
 * @enable: true if it will call the wanted set, false if it will call nothing
 *
 * Context: ftrace_lock is held; also under text_mutex.
 */
void ftrace_set_enable(struct dyn_ftrace *rec, bool enable)
{
	struct ftrace_set *old = set_of(current_id(rec)), *set = NULL;

	if (enable)
		set = (struct ftrace_set *)ftrace_set_wanted(rec);
	if (set)
		set->refs++;
	rec->flags &= ~(SET_MASK << SET_CURRENT_SHIFT);
	if (set)
		rec->flags |= (unsigned long)set->id << SET_CURRENT_SHIFT;
	put_set(old);
}

/**
 * ftrace_set_drop - release the sets of a function that is removed
 * @rec: the function
 *
 * Context: ftrace_lock is held.
 */
void ftrace_set_drop(struct dyn_ftrace *rec)
{
	ftrace_set_enable(rec, false);
	set_wanted(rec, SET_NONE);
}

/**
 * ftrace_set_update_func - make all generated code call a tracer's new function
 * @ops: the tracer
 *
 * Context: ftrace_lock is held; takes text_mutex.
 */
void ftrace_set_update_func(struct ftrace_ops *ops)
{
	struct ftrace_set_member *member;

	arch_ftrace_update_begin(1 + count_sets(ops));
	arch_ftrace_update_own(ops);
	list_for_each_entry(member, &ops->sets, of_ops)
		if (member->set->text.text)
			arch_ftrace_update_member(member);
	arch_ftrace_update_end();
}

/**
 * ftrace_set_show - show the tracers of a set, for enabled_functions
 * @m: the output
 * @set: the set
 *
 * Each tracer is shown in the format of a single tracer's own trampoline.
 *
 * Context: ftrace_lock is held.
 */
void ftrace_set_show(struct seq_file *m, const struct ftrace_set *set)
{
	unsigned int i;

	for (i = 0; i < set->nr; i++)
		seq_printf(m, "\ttramp: %pS (%pS) ->%pS", set->text.text,
			   set->members[i].ops->func, set->members[i].ops->func);
}
