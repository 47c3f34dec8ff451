// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tracepoints: attaching and detaching probes. See linux/tracepoint.h for an
 * overview.
 *
 * Copyright (C) 2008-2014 Mathieu Desnoyers
 *
 * The probes of a tracepoint are an array that ends with a NULL function. An
 * array that a CPU may read is immutable, except that a removed probe may become
 * a no-op. A new array replaces it, and the old one is freed when it has no
 * readers. All steps that can fail are before the first change, so an error
 * changes nothing. Where the stub is a patched jump, the array has a trampoline,
 * which is freed together with it.
 *
 * Readers hold tracepoint_srcu or, if the probes may fault, are readers of RCU tasks
 * trace. An array is freed after a grace period of both.
 */
#define pr_fmt(fmt) "tracepoint: " fmt

#include <linux/llist.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/sched/signal.h>
#include <linux/rcupdate_wait.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>

#include "tracepoint-private.h"

extern struct tracepoint __start___tracepoints[], __stop___tracepoints[];

DEFINE_SRCU_FAST(tracepoint_srcu);
EXPORT_SYMBOL_GPL(tracepoint_srcu);

#if !defined(CONFIG_TRACEPOINT_TRAMPOLINE) && !defined(CONFIG_CFI)
/* What sites of all tracepoints with so many words as arguments call; few have more. */
#define TRACEPOINT_WALK(nr, proto, args)				\
void tracepoint_walk_##nr(struct tracepoint *tp, proto);		\
notrace void tracepoint_walk_##nr(struct tracepoint *tp, proto)	\
{									\
	if (!__TP_CPU_ONLINE)						\
		return;							\
	guard(srcu_fast_notrace)(&tracepoint_srcu);			\
	__TP_CALL_PROBES(tp, PARAMS(void *, proto), PARAMS(args));	\
}									\
EXPORT_SYMBOL_GPL(tracepoint_walk_##nr)

TRACEPOINT_WALK(1, PARAMS(long a), PARAMS(a));
TRACEPOINT_WALK(2, PARAMS(long a, long b), PARAMS(a, b));
TRACEPOINT_WALK(3, PARAMS(long a, long b, long c), PARAMS(a, b, c));
TRACEPOINT_WALK(4, PARAMS(long a, long b, long c, long d), PARAMS(a, b, c, d));
TRACEPOINT_WALK(5, PARAMS(long a, long b, long c, long d, long e), PARAMS(a, b, c, d, e));
TRACEPOINT_WALK(6, PARAMS(long a, long b, long c, long d, long e, long f),
		PARAMS(a, b, c, d, e, f));
#endif

/*
 * Protects the probes and the guard of every tracepoint. Nests inside
 * tracepoint_module_list_mutex, outside the locks of imv_set().
 */
DEFINE_MUTEX(tracepoints_mutex);

/* Ignores the arguments, which may be of any type. */
void tracepoint_removed_probe(void)
{
}
EXPORT_SYMBOL(tracepoint_removed_probe);	/* for the stubs of modules */

static bool probe_is_live(const struct tracepoint_func *probe)
{
	return probe->func != tracepoint_removed_probe;
}

static bool probe_is(const struct tracepoint_func *probe, const struct tracepoint_func *other)
{
	return other && probe->func == other->func && probe->data == other->data;
}

static struct tracepoint_func *find_probe(struct tracepoint_func *probes,
					  const struct tracepoint_func *wanted)
{
	for (; probes && probes->func; probes++)
		if (probe_is(probes, wanted))
			return probes;
	return NULL;
}

/*
 * What hits may still use, until free_retired() frees it. That first runs when waiting for
 * grace periods is possible, later with a delay: it flushes deferred patching, which costs
 * more interrupts while a task changes many tracepoints.
 */
static LLIST_HEAD(retired_objects);
static bool can_free;

#define RETIRE_DELAY	(HZ / 10)

static void free_retired(struct work_struct *work)
{
	struct llist_node *list = llist_del_all(&retired_objects);
	struct tp_retired *retired, *next;

	imv_flush();	/* no stub jumps to code that is freed */
	/* Not tracepoint_synchronize_unregister(), which may be expedited: by interrupts. */
	synchronize_rcu_mult(call_tracepoint_unregister_syscall,
			     call_tracepoint_unregister_atomic);
	llist_for_each_entry_safe(retired, next, list, node)
		retired->free(retired);
	flush_generated_text();

	guard(mutex)(&tracepoints_mutex);
	tp_make_missing_code();
}

static DECLARE_DELAYED_WORK(free_retired_work, free_retired);

/* Calls @free, which may sleep, when no hit that began before uses the object. */
void tracepoint_free_later(struct tp_retired *retired, void (*free)(struct tp_retired *retired))
{
	retired->free = free;
	llist_add(&retired->node, &retired_objects);
	if (READ_ONCE(can_free))
		queue_delayed_work(system_dfl_wq, &free_retired_work, RETIRE_DELAY);
}

static void free_probes(struct tp_retired *retired)
{
	struct tp_probes *probes = container_of(retired, struct tp_probes, retired);

	tp_free_code(probes);
	kfree(probes);
}

static void retire_probes(struct tp_probes *old)
{
	tp_retire_code(old);
	tracepoint_free_later(&old->retired, free_probes);
}

static int __init start_freeing(void)
{
	WRITE_ONCE(can_free, true);
	queue_delayed_work(system_dfl_wq, &free_retired_work, RETIRE_DELAY);
	return 0;
}
postcore_initcall(start_freeing);

/*
 * A new array: the live probes of @old without @del, and @add after those of the same or
 * a higher priority. Return: NULL if it would be empty, or an ERR_PTR.
 */
static struct tp_probes *make_probes(struct tracepoint *tp,
				     const struct tracepoint_func *old,
				     const struct tracepoint_func *add,
				     const struct tracepoint_func *del)
{
	unsigned int count = !!add - !!del, i = 0;
	const struct tracepoint_func *probe;
	struct tp_probes *new;
	int ret;

	for (probe = old; probe && probe->func; probe++)
		count += probe_is_live(probe);
	if (!count)
		return NULL;
	new = kmalloc(struct_size(new, probes, count + 1), GFP_KERNEL);
	if (!new)
		return ERR_PTR(-ENOMEM);

	for (; old && old->func; old++) {
		if (!probe_is_live(old) || probe_is(old, del))
			continue;
		if (add && old->prio < add->prio) {
			new->probes[i++] = *add;
			add = NULL;
		}
		new->probes[i++] = *old;
	}
	if (add)
		new->probes[i++] = *add;
	new->probes[i].func = NULL;

	ret = tp_make_code(tp, new);
	if (ret) {
		kfree(new);
		return ERR_PTR(ret);
	}
	return new;
}

static struct tracepoint_func *tp_probes(struct tracepoint *tp)
{
	return rcu_dereference_protected(tp->funcs, lockdep_is_held(&tracepoints_mutex));
}

/*
 * An active guard is not patched again. The commit also flushes updates that
 * other tasks deferred.
 */
static void set_probes(struct tracepoint *tp, struct tp_probes *new)
{
	struct tracepoint_func *old = tp_probes(tp);

	rcu_assign_pointer(tp->funcs, new ? new->probes : NULL);
	imv_batch_begin();
	tp_set_code(tp, new);
	imv_set_var(tp->active, !!new);
	imv_batch_commit();
	if (old)
		retire_probes(container_of(old, struct tp_probes, probes[0]));
}

static int tracepoint_add_probe(struct tracepoint *tp, const struct tracepoint_func *add);
static int tracepoint_remove_probe(struct tracepoint *tp, const struct tracepoint_func *del);

static int call_regfunc(const struct tracepoint *tp)
{
	const struct tracepoint_ext *ext = tracepoint_ext(tp);

	if (tp->flags & TRACEPOINT_REFUSED)
		return -EPERM;
	if (!ext)
		return 0;
	if (ext->feed)
		return tracepoint_add_probe(ext->feed, &ext->feed_probe);
	return ext->regfunc ? ext->regfunc() : 0;
}

static void call_unregfunc(const struct tracepoint *tp)
{
	const struct tracepoint_ext *ext = tracepoint_ext(tp);

	if (!ext)
		return;
	if (ext->feed)
		tracepoint_remove_probe(ext->feed, &ext->feed_probe);
	else if (ext->unregfunc)
		ext->unregfunc();
}

static int tracepoint_add_probe(struct tracepoint *tp, const struct tracepoint_func *add)
{
	struct tracepoint_func *old = tp_probes(tp);
	struct tp_probes *new;
	int ret;

	if (find_probe(old, add))
		return -EEXIST;
	new = make_probes(tp, old, add, NULL);
	if (IS_ERR(new))
		return PTR_ERR(new);

	ret = old ? 0 : call_regfunc(tp);
	if (ret < 0) {
		retire_probes(new);	/* perf and kallsyms may use its trampoline */
		return ret;
	}
	set_probes(tp, new);
	return 0;
}

/*
 * Without memory for a new array. The stub reads the old one at each hit until the
 * next change. Updates are flushed: while they are deferred, the stub may jump to a
 * trampoline that calls the probe.
 */
static void remove_in_place(struct tracepoint *tp, struct tracepoint_func *probe)
{
	WRITE_ONCE(probe->func, tracepoint_removed_probe);
	tp_set_walk(tp);
	imv_flush();
}

static int tracepoint_remove_probe(struct tracepoint *tp, const struct tracepoint_func *del)
{
	struct tracepoint_func *old = tp_probes(tp), *found;
	struct tp_probes *new;

	found = find_probe(old, del);
	if (!found)
		return -ENOENT;

	new = make_probes(tp, old, NULL, del);
	if (IS_ERR(new))
		remove_in_place(tp, found);
	else
		set_probes(tp, new);
	if (!new)
		call_unregfunc(tp);
	return 0;
}

/* Like tracepoint_probe_register_prio(), but without a message on -EEXIST. */
int tracepoint_probe_register_prio_may_exist(struct tracepoint *tp, void *probe,
					     void *data, int prio)
{
	struct tracepoint_func add = {
		.func = probe, .data = data, .prio = prio,
	};

	might_sleep();
	if (!probe)
		return -EINVAL;
	guard(mutex)(&tracepoints_mutex);
	return tracepoint_add_probe(tp, &add);
}
EXPORT_SYMBOL_GPL(tracepoint_probe_register_prio_may_exist);

/**
 * tracepoint_probe_register_prio - attach a probe to a tracepoint
 * @tp: the tracepoint
 * @probe: the function, of the tracepoint's prototype with ``void *`` in front
 * @data: its first argument
 * @prio: probes of higher priority are called first, those of the same one in
 *	  the order of their registration
 *
 * Type-safe form: register_trace_prio_<name>(). A probe is called in the context of the
 * traced code, which may be any. It may be preempted, but must not sleep, except that
 * those of a faultable tracepoint may. If the tracepoint is part of a module, unregister
 * the probe before the module is unloaded; see register_tracepoint_module_notifier().
 *
 * Lack of executable memory is no error: hits are slower until other tracepoints
 * free some.
 *
 * Context: may sleep; takes tracepoints_mutex and the locks of imv_set().
 * Return: 0, -EINVAL without a probe, -EEXIST if it is attached with the same
 *	   data, -ENOMEM, -ERANGE if @probe is not a function, or the error of the
 *	   tracepoint's own callbacks. An error changes nothing.
 */
int tracepoint_probe_register_prio(struct tracepoint *tp, void *probe,
				   void *data, int prio)
{
	int ret = tracepoint_probe_register_prio_may_exist(tp, probe, data,
							   prio);

	if (ret == -EEXIST)
		pr_warn("%s: probe %pS with data %p is already attached; unregister it first or pass other data\n",
			tp->name, probe, data);
	return ret;
}
EXPORT_SYMBOL_GPL(tracepoint_probe_register_prio);

/**
 * tracepoint_probe_register - attach a probe to a tracepoint
 * @tp: the tracepoint
 * @probe: the function
 * @data: its first argument
 *
 * Return: as tracepoint_probe_register_prio(), with TRACEPOINT_DEFAULT_PRIO.
 */
int tracepoint_probe_register(struct tracepoint *tp, void *probe, void *data)
{
	return tracepoint_probe_register_prio(tp, probe, data, TRACEPOINT_DEFAULT_PRIO);
}
EXPORT_SYMBOL_GPL(tracepoint_probe_register);

/**
 * tracepoint_probe_unregister - detach a probe from a tracepoint
 * @tp: the tracepoint
 * @probe: the function
 * @data: the data that it was registered with
 *
 * The probe may still run on other CPUs when this returns; see
 * tracepoint_synchronize_unregister(). Succeeds even without memory, because
 * callers free the probe and its data without regard to the return value.
 *
 * Context: may sleep; takes tracepoints_mutex and the locks of imv_set().
 * Return: 0, -EINVAL without a probe, -ENOENT if it is not attached with this
 *	   data.
 */
int tracepoint_probe_unregister(struct tracepoint *tp, void *probe, void *data)
{
	struct tracepoint_func del = { .func = probe, .data = data };

	might_sleep();
	if (!probe)
		return -EINVAL;
	guard(mutex)(&tracepoints_mutex);
	return tracepoint_remove_probe(tp, &del);
}
EXPORT_SYMBOL_GPL(tracepoint_probe_unregister);

/**
 * tracepoint_synchronize_unregister - wait for probes that still run
 *
 * Call it between unregistering a probe and freeing its code or data.
 *
 * Context: may sleep; takes the locks of imv_set() if changes are deferred. On return
 *	    nothing executes a probe that was unregistered before the call.
 */
void tracepoint_synchronize_unregister(void)
{
	imv_flush();
	synchronize_rcu_tasks_trace();
	synchronize_srcu(&tracepoint_srcu);
}
EXPORT_SYMBOL_GPL(tracepoint_synchronize_unregister);

/**
 * for_each_kernel_tracepoint - visit the tracepoints of the kernel image
 * @fct: called for each one
 * @priv: its second argument
 *
 * For those of modules see register_tracepoint_module_notifier().
 *
 * Context: that of @fct.
 */
void for_each_kernel_tracepoint(void (*fct)(struct tracepoint *tp, void *priv),
				void *priv)
{
	struct tracepoint *tp;

	for (tp = __start___tracepoints; tp < __stop___tracepoints; tp++)
		fct(tp, priv);
}
EXPORT_SYMBOL_GPL(for_each_kernel_tracepoint);

#ifdef CONFIG_MODULES
/*
 * Protects the list and the notifiers: each is called once for the load and once
 * for the unload of a module, even if it is registered concurrently.
 */
static DEFINE_MUTEX(tracepoint_module_list_mutex);
static LIST_HEAD(tracepoint_module_list);
static BLOCKING_NOTIFIER_HEAD(tracepoint_notify_list);

/* These do not concern the layout of the module's structures. */
#define HARMLESS_TAINTS	(BIT(TAINT_OOT_MODULE) | BIT(TAINT_CRAP) | \
			 BIT(TAINT_UNSIGNED_MODULE) | BIT(TAINT_TEST) | \
			 BIT(TAINT_LIVEPATCH))

/* A module that was loaded by force may have been built for other structures. */
bool trace_module_has_bad_taint(struct module *mod)
{
	return mod->taints & ~HARMLESS_TAINTS;
}

static void notify_of_all(struct notifier_block *nb, unsigned long state)
{
	struct tp_module *tp_mod;

	list_for_each_entry(tp_mod, &tracepoint_module_list, list)
		nb->notifier_call(nb, state, tp_mod);
}

/**
 * register_tracepoint_module_notifier - be notified of modules with tracepoints
 * @nb: called with MODULE_STATE_COMING or MODULE_STATE_GOING and a
 *	struct tp_module; at once for modules that are already loaded
 *
 * Context: may sleep. The notifier may register and unregister probes.
 * Return: 0, or -EEXIST if @nb is registered.
 */
int register_tracepoint_module_notifier(struct notifier_block *nb)
{
	int ret;

	guard(mutex)(&tracepoint_module_list_mutex);
	ret = blocking_notifier_chain_register(&tracepoint_notify_list, nb);
	if (!ret)
		notify_of_all(nb, MODULE_STATE_COMING);
	return ret;
}
EXPORT_SYMBOL_GPL(register_tracepoint_module_notifier);

/**
 * unregister_tracepoint_module_notifier - unregister a notifier
 * @nb: called once more for each module, with MODULE_STATE_GOING
 *
 * Context: may sleep.
 * Return: 0, or -ENOENT if @nb is not registered.
 */
int unregister_tracepoint_module_notifier(struct notifier_block *nb)
{
	int ret;

	guard(mutex)(&tracepoint_module_list_mutex);
	ret = blocking_notifier_chain_unregister(&tracepoint_notify_list, nb);
	if (!ret)
		notify_of_all(nb, MODULE_STATE_GOING);
	return ret;
}
EXPORT_SYMBOL_GPL(unregister_tracepoint_module_notifier);

static int tracepoint_module_coming(struct module *mod)
{
	struct tp_module *tp_mod;

	if (!mod->num_tracepoints || trace_module_has_bad_taint(mod))
		return 0;
	tp_mod = kmalloc_obj(*tp_mod);
	if (!tp_mod)
		return -ENOMEM;
	tp_mod->mod = mod;

	guard(mutex)(&tracepoint_module_list_mutex);
	list_add_tail(&tp_mod->list, &tracepoint_module_list);
	blocking_notifier_call_chain(&tracepoint_notify_list, MODULE_STATE_COMING, tp_mod);
	return 0;
}

/**
 * for_each_tracepoint_in_module - visit the tracepoints of a module
 * @mod: the module, or NULL
 * @fct: called for each one
 * @priv: its third argument
 *
 * Context: that of a notifier of register_tracepoint_module_notifier().
 */
void for_each_tracepoint_in_module(struct module *mod,
				   void (*fct)(struct tracepoint *tp,
					       struct module *mod, void *priv),
				   void *priv)
{
	unsigned int i;

	lockdep_assert_held(&tracepoint_module_list_mutex);
	for (i = 0; mod && i < mod->num_tracepoints; i++)
		fct(tracepoint_ptr_deref(&mod->tracepoints_ptrs[i]), mod, priv);
}

/**
 * for_each_module_tracepoint - visit the tracepoints of all modules
 * @fct: called for each one
 * @priv: its third argument
 *
 * Context: may sleep. @fct must not load or unload modules.
 */
void for_each_module_tracepoint(void (*fct)(struct tracepoint *tp, struct module *mod,
					    void *priv), void *priv)
{
	struct tp_module *tp_mod;

	guard(mutex)(&tracepoint_module_list_mutex);
	list_for_each_entry(tp_mod, &tracepoint_module_list, list)
		for_each_tracepoint_in_module(tp_mod->mod, fct, priv);
}

static void warn_of_probes(struct tracepoint *tp, struct module *mod, void *priv)
{
	WARN(rcu_access_pointer(tp->funcs),
	     "tracepoint %s: its module is unloaded while probes are registered\n", tp->name);
}

static void tracepoint_module_going(struct module *mod)
{
	struct tp_module *tp_mod;

	guard(mutex)(&tracepoint_module_list_mutex);
	list_for_each_entry(tp_mod, &tracepoint_module_list, list) {
		if (tp_mod->mod != mod)
			continue;
		blocking_notifier_call_chain(&tracepoint_notify_list,
					     MODULE_STATE_GOING, tp_mod);
		/* The module may have probes of others, which its tracepoints needed. */
		tracepoint_synchronize_unregister();
		for_each_tracepoint_in_module(mod, warn_of_probes, NULL);
		list_del(&tp_mod->list);
		kfree(tp_mod);
		return;
	}
}

int tracepoint_module_notify(struct notifier_block *nb, unsigned long state, void *data)
{
	int ret = 0;

	if (state == MODULE_STATE_COMING)
		ret = tracepoint_module_coming(data);
	else if (state == MODULE_STATE_GOING)
		tracepoint_module_going(data);
	return notifier_from_errno(ret);
}

#if IS_ENABLED(CONFIG_TRACEPOINT_KUNIT_TEST)
EXPORT_SYMBOL_GPL(tracepoint_module_notify);
#endif

static struct notifier_block tracepoint_module_nb = {
	.notifier_call = tracepoint_module_notify,
};

static int __init init_tracepoints(void)
{
	return register_module_notifier(&tracepoint_module_nb);
}
device_initcall(init_tracepoints);
#endif /* CONFIG_MODULES */

#ifdef CONFIG_HAVE_SYSCALL_TRACEPOINTS
/*
 * The tracepoints of system calls are on a slow path of entry and exit, which
 * every task takes while one of them has probes. The callbacks run under
 * tracepoints_mutex, which protects the count; new tasks inherit the flag
 * from their parent under tasklist_lock.
 */
static unsigned int nr_syscall_users;

int syscall_regfunc(void)
{
	struct task_struct *process, *thread;

	if (nr_syscall_users++)
		return 0;
	guard(read_lock)(&tasklist_lock);
	for_each_process_thread(process, thread)
		set_task_syscall_work(thread, SYSCALL_TRACEPOINT);
	return 0;
}

void syscall_unregfunc(void)
{
	struct task_struct *process, *thread;

	if (--nr_syscall_users)
		return;
	guard(read_lock)(&tasklist_lock);
	for_each_process_thread(process, thread)
		clear_task_syscall_work(thread, SYSCALL_TRACEPOINT);
}
#endif /* CONFIG_HAVE_SYSCALL_TRACEPOINTS */
