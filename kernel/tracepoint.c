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
 * Readers disable preemption or, where RCU is not watching, hold
 * tracepoint_srcu. An array is freed after a grace period of both.
 */
#define pr_fmt(fmt) "tracepoint: " fmt

#include <linux/context_tracking.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/kallsyms.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/module-memory.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/percpu.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/static_call.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>

#include "tracepoint-private.h"

extern tracepoint_ptr_t __start___tracepoints_ptrs[], __stop___tracepoints_ptrs[];

DEFINE_SRCU(tracepoint_srcu);
EXPORT_SYMBOL_GPL(tracepoint_srcu);

/*
 * Protects the probes and the guard of every tracepoint. Nests inside
 * tracepoint_module_list_mutex, outside the locks of imv_set().
 */
static DEFINE_MUTEX(tracepoints_mutex);

/* Ignores the arguments, which may be of any type. */
void tracepoint_removed_probe(void)
{
}
EXPORT_SYMBOL(tracepoint_removed_probe);	/* for the stubs of modules */

static bool probe_is_live(const struct tracepoint_func *probe)
{
	return probe->func != tracepoint_removed_probe;
}

static bool probe_is(const struct tracepoint_func *probe,
		     const struct tracepoint_func *other)
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

static unsigned int count_live(const struct tracepoint_func *probes)
{
	unsigned int count = 0;

	for (; probes && probes->func; probes++)
		count += probe_is_live(probes);
	return count;
}

#ifdef CONFIG_TRACEPOINT_CPU_ONLINE
DEFINE_PER_CPU(bool, tracepoint_cpu_online);
EXPORT_PER_CPU_SYMBOL(tracepoint_cpu_online);

/* The boot CPU set its flag before the per-CPU data was copied for all CPUs. */
static int __init init_cpus_online(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		tracepoint_set_cpu_online(cpu, cpu_online(cpu));
	return 0;
}
early_initcall(init_cpus_online);
#endif

static struct tp_probes *array_of(struct tracepoint_func *probes)
{
	return probes ? container_of(probes, struct tp_probes, probes[0]) : NULL;
}

/*
 * Replaced arrays, until free_retired() frees them. It first runs when waiting
 * for grace periods is possible. Later it runs with a delay: it flushes deferred
 * patching of stubs, which costs more interrupts while a task changes many
 * tracepoints.
 */
static struct tp_probes *retired_probes;
static bool can_free;

#define RETIRE_DELAY	(HZ / 10)

static struct tp_probes *take_retired(void)
{
	struct tp_probes *list;

	mutex_lock(&tracepoints_mutex);
	list = retired_probes;
	retired_probes = NULL;
	mutex_unlock(&tracepoints_mutex);
	return list;
}

static void forget_retired(struct tp_probes *probes)
{
	mutex_lock(&tracepoints_mutex);
	for (; probes; probes = probes->next)
		tp_forget_code(probes);
	mutex_unlock(&tracepoints_mutex);
}

static void free_retired(struct work_struct *work)
{
	struct tp_probes *probes = take_retired(), *next;

	imv_flush();	/* no stub may jump to code without a name */
	forget_retired(probes);
	tracepoint_synchronize_unregister();

	mutex_lock(&tracepoints_mutex);
	for (; probes; probes = next) {
		next = probes->next;
		tp_free_code(probes);
		kfree(probes);
	}
	mutex_unlock(&tracepoints_mutex);
	trim_generated_text();

	mutex_lock(&tracepoints_mutex);
	tp_make_missing_code();
	mutex_unlock(&tracepoints_mutex);
}

static DECLARE_DELAYED_WORK(free_retired_work, free_retired);

static void retire_probes(struct tp_probes *old)
{
	if (!old)
		return;
	tp_retire_code(old);
	old->next = retired_probes;
	retired_probes = old;
	if (can_free)
		queue_delayed_work(system_unbound_wq, &free_retired_work,
				   RETIRE_DELAY);
}

static int __init start_freeing(void)
{
	mutex_lock(&tracepoints_mutex);
	can_free = true;
	queue_delayed_work(system_unbound_wq, &free_retired_work, RETIRE_DELAY);
	mutex_unlock(&tracepoints_mutex);
	return 0;
}
postcore_initcall(start_freeing);

/*
 * Makes a new array: the live probes of @old without @del, and @add after those
 * of the same or a higher priority.
 *
 * Return: the array, or NULL if it would be empty, or an ERR_PTR.
 */
static struct tp_probes *make_probes(struct tracepoint *tp,
				     const struct tracepoint_func *old,
				     const struct tracepoint_func *add,
				     const struct tracepoint_func *del)
{
	unsigned int count = count_live(old) + !!add - !!del, i = 0;
	struct tp_probes *new;
	int ret;

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
	return rcu_dereference_protected(tp->funcs,
					 lockdep_is_held(&tracepoints_mutex));
}

/**
 * tracepoint_check_context - may the caller attach and detach probes?
 * @name: the tracepoint or marker, for the message
 *
 * Attaching sleeps, but probes run with preemption disabled. With PREEMPT_COUNT
 * any atomic caller is detected; otherwise only interrupt context. The message is
 * deferred, since the caller may hold any lock.
 *
 * Context: any.
 * Return: 0 or -EBUSY.
 */
int tracepoint_check_context(const char *name)
{
	static unsigned int told;	/* some architectures only xchg() words */
	bool atomic = IS_ENABLED(CONFIG_PREEMPT_COUNT) ?
		      !preemptible() : in_interrupt() || irqs_disabled();

	if (!atomic || system_state == SYSTEM_BOOTING)
		return 0;
	if (!xchg(&told, 1))
		printk_deferred(KERN_ERR
				"tracepoint: %s: probes must not be registered or unregistered in a probe or other atomic context; leave it to a work item\n",
				name);
	return -EBUSY;
}

/*
 * An active guard is not patched again. The commit also flushes updates that
 * other tasks deferred.
 */
static void set_probes(struct tracepoint *tp, struct tp_probes *new)
{
	struct tracepoint_func *old = tp_probes(tp);

	rcu_assign_pointer(tp->funcs, new ? new->probes : NULL);
	tp_set_call(tp, tp_probes(tp));
	imv_batch_begin();
	tp_set_code(tp, new);
	imv_set_var(tp->active, !!new);
	imv_batch_commit();
	retire_probes(array_of(old));
}

static int call_regfunc(const struct tracepoint *tp)
{
	return tp->callbacks && tp->callbacks->regfunc ? tp->callbacks->regfunc() : 0;
}

static void call_unregfunc(const struct tracepoint *tp)
{
	if (tp->callbacks && tp->callbacks->unregfunc)
		tp->callbacks->unregfunc();
}

static int call_connect(struct tracepoint *tp, const struct tracepoint_func *probe)
{
	return tp->callbacks && tp->callbacks->connect ?
	       tp->callbacks->connect(tp, probe) : 0;
}

static void call_disconnect(struct tracepoint *tp,
			    const struct tracepoint_func *probe)
{
	if (tp->callbacks && tp->callbacks->disconnect)
		tp->callbacks->disconnect(tp, probe);
}

/* Calls the tracepoint's own callbacks for a new probe, which they may reject. */
static int announce_probe(struct tracepoint *tp, const struct tracepoint_func *add,
			  bool first)
{
	int ret = first ? call_regfunc(tp) : 0;

	if (ret < 0)
		return ret;
	ret = call_connect(tp, add);
	if (ret < 0 && first)
		call_unregfunc(tp);
	return ret;
}

static int tracepoint_add_probe(struct tracepoint *tp,
				const struct tracepoint_func *add)
{
	struct tracepoint_func *old = tp_probes(tp);
	struct tp_probes *new;
	int ret;

	if (find_probe(old, add))
		return -EEXIST;
	new = make_probes(tp, old, add, NULL);
	if (IS_ERR(new))
		return PTR_ERR(new);

	ret = announce_probe(tp, add, !old);
	if (ret < 0) {
		retire_probes(new);	/* perf and kallsyms may use its trampoline */
		return ret;
	}
	set_probes(tp, new);
	return 0;
}

/*
 * Removes a probe without a new array. After the return, the stub reads the
 * array at each hit. Updates are flushed: while they are deferred, the stub may
 * jump to a trampoline that calls the probe. The next change of the probes makes
 * a new array.
 */
static void remove_in_place(struct tracepoint *tp, struct tracepoint_func *probe)
{
	WRITE_ONCE(probe->func, tracepoint_removed_probe);
	tp_set_call(tp, tp_probes(tp));
	tp_walk(tp);
	imv_flush();
}

static int tracepoint_remove_probe(struct tracepoint *tp,
				   const struct tracepoint_func *del, bool atomic)
{
	struct tracepoint_func *old = tp_probes(tp), *found;
	struct tp_probes *new;

	found = find_probe(old, del);
	if (!found)
		return -ENOENT;

	/* An array that is not empty needs an allocation, which may sleep. */
	new = atomic && count_live(old) > 1 ? ERR_PTR(-ENOMEM) :
	      make_probes(tp, old, NULL, del);
	if (IS_ERR(new))
		remove_in_place(tp, found);
	else
		set_probes(tp, new);
	call_disconnect(tp, del);
	if (!new)
		call_unregfunc(tp);
	return 0;
}

/**
 * tracepoint_probe_register_prio_may_exist - attach a probe, no warning on -EEXIST
 * @tp: the tracepoint
 * @probe: the function, of the tracepoint's prototype with ``void *`` in front
 * @data: its first argument
 * @prio: probes of higher priority are called first
 *
 * Like tracepoint_probe_register_prio(), but without a message when the probe is
 * already attached with the same data.
 *
 * Context: as tracepoint_probe_register_prio().
 * Return: as tracepoint_probe_register_prio().
 */
int tracepoint_probe_register_prio_may_exist(struct tracepoint *tp, void *probe,
					     void *data, int prio)
{
	struct tracepoint_func add = {
		.func = probe, .data = data, .prio = prio,
	};
	int ret;

	if (!tp || !probe || !probe_is_live(&add))
		return -EINVAL;
	ret = tracepoint_check_context(tp->name);
	if (ret)
		return ret;

	mutex_lock(&tracepoints_mutex);
	ret = tracepoint_add_probe(tp, &add);
	mutex_unlock(&tracepoints_mutex);
	return ret;
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
 * Type-safe form: register_trace_prio_<name>(). A probe is called with
 * preemption disabled, in the context of the traced code, which may be any.
 * It must not register or unregister probes itself.
 *
 * If the tracepoint is part of a module, the caller must unregister the probe
 * before the module is unloaded, for example in a notifier; see
 * register_tracepoint_module_notifier().
 *
 * Lack of executable memory is not an error: hits are slower until other
 * tracepoints free memory.
 *
 * Context: may sleep; takes tracepoints_mutex and the locks of imv_set().
 * Return: 0, -EINVAL without a probe, -EEXIST if it is attached with the same
 *	   data, -EBUSY in atomic context, -ENOMEM, -ERANGE if @probe is not a
 *	   function, or the error of the tracepoint's own callbacks.
 *	   An error changes nothing.
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
 * @probe: the function, of the tracepoint's prototype with ``void *`` in front
 * @data: its first argument
 *
 * tracepoint_probe_register_prio() with TRACEPOINT_DEFAULT_PRIO.
 *
 * Context: as tracepoint_probe_register_prio().
 * Return: as tracepoint_probe_register_prio().
 */
int tracepoint_probe_register(struct tracepoint *tp, void *probe, void *data)
{
	return tracepoint_probe_register_prio(tp, probe, data,
					      TRACEPOINT_DEFAULT_PRIO);
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
 * For the same reason it continues in atomic context, after an error message. Such
 * a call is still a bug of the caller, as in earlier kernels. It may sleep if
 * another task holds one of the locks. It deadlocks if the caller holds one, or if
 * another CPU waits with interrupts disabled for a lock that the caller holds.
 *
 * Context: may sleep; takes tracepoints_mutex and the locks of imv_set().
 * Return: 0, -EINVAL without a probe, -ENOENT if it is not attached with this
 *	   data.
 */
int tracepoint_probe_unregister(struct tracepoint *tp, void *probe, void *data)
{
	struct tracepoint_func del = { .func = probe, .data = data };
	bool atomic;
	int ret;

	if (!tp || !probe)
		return -EINVAL;
	atomic = tracepoint_check_context(tp->name) < 0;

	mutex_lock(&tracepoints_mutex);
	ret = tracepoint_remove_probe(tp, &del, atomic);
	mutex_unlock(&tracepoints_mutex);
	return ret;
}
EXPORT_SYMBOL_GPL(tracepoint_probe_unregister);

/**
 * tracepoint_rcuidle_enter - make RCU watch, for trace_<name>_rcuidle()
 *
 * Context: any but NMI, since SRCU cannot be used there. Disables preemption
 *	    until tracepoint_rcuidle_exit().
 * Return: the argument for tracepoint_rcuidle_exit().
 */
notrace int tracepoint_rcuidle_enter(void)
	__acquires(&tracepoint_srcu)
{
	int idx;

	WARN_ON_ONCE(in_nmi());
	preempt_disable_notrace();
	idx = srcu_read_lock_notrace(&tracepoint_srcu);
	ct_irq_enter_irqson();
	return idx;
}

/**
 * tracepoint_rcuidle_exit - undo tracepoint_rcuidle_enter()
 * @idx: the return value of tracepoint_rcuidle_enter()
 */
notrace void tracepoint_rcuidle_exit(int idx)
	__releases(&tracepoint_srcu)
{
	ct_irq_exit_irqson();
	srcu_read_unlock_notrace(&tracepoint_srcu, idx);
	preempt_enable_notrace();
}

/**
 * tracepoint_synchronize_unregister - wait for probes that still run
 *
 * Call it between unregistering a probe and freeing its code or data.
 *
 * Context: may sleep; takes the locks of imv_set() if changes are deferred. On return
 *	    no CPU executes a probe that was unregistered before the call.
 */
void tracepoint_synchronize_unregister(void)
{
	imv_flush();
	synchronize_srcu(&tracepoint_srcu);
	synchronize_rcu();
}
EXPORT_SYMBOL_GPL(tracepoint_synchronize_unregister);

static void visit_tracepoints(tracepoint_ptr_t *start, tracepoint_ptr_t *stop,
			      void (*fct)(struct tracepoint *tp, void *priv),
			      void *priv)
{
	for (; start < stop; start++)
		fct(tracepoint_ptr_deref(start), priv);
}

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
	visit_tracepoints(__start___tracepoints_ptrs,
			  __stop___tracepoints_ptrs, fct, priv);
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

/* Taints that do not concern the layout of the module's structures. */
#define HARMLESS_TAINTS	(BIT(TAINT_OOT_MODULE) | BIT(TAINT_CRAP) | \
			 BIT(TAINT_UNSIGNED_MODULE) | BIT(TAINT_TEST))

/**
 * trace_module_has_bad_taint - may the trace data of a module be unusable?
 * @mod: the module
 *
 * A module that was loaded by force may have been built for other structures.
 *
 * Context: any.
 * Return: true if its tracepoints and events must not be used.
 */
bool trace_module_has_bad_taint(struct module *mod)
{
	return mod->taints & ~HARMLESS_TAINTS;
}

/* How many bytes of the module's memory begin at @addr; 0 if it is elsewhere. */
static size_t memory_at(const struct module *mod, const void *addr)
{
	struct module_part part = module_part_of(mod, addr);

	return part.size ? part.base + part.size - addr : 0;
}

/**
 * trace_module_has_text - is there a string in the memory of a module?
 * @mod: the module
 * @text: the address to check
 * @size: maximum size of the string, including the NUL
 *
 * For names and formats in records that may be damaged.
 *
 * Return: true if there is one at @text.
 */
bool trace_module_has_text(const struct module *mod, const char *text, size_t size)
{
	size = min(size, memory_at(mod, text));
	return size && strnlen(text, size) < size;
}

/* Elsewhere, another object may look like an unused tracepoint. */
static bool module_has_tracepoint(const struct module *mod, const struct tracepoint *tp)
{
	size_t offset = (const void *)tp - mod->tracepoints;

	return mod->tracepoints_size >= sizeof(*tp) &&
	       offset <= mod->tracepoints_size - sizeof(*tp) &&
	       IS_ALIGNED((unsigned long)tp, __alignof__(*tp));
}

/* The call is patched at the first registration, with these addresses. */
static bool module_has_call(const struct module *mod, const struct tracepoint *tp)
{
#ifdef CONFIG_TRACEPOINT_STATIC_CALL
	const struct module_part text = module_text(mod);

	return !tp->key ||
	       (memory_at(mod, tp->key) >= sizeof(*tp->key) &&
		IS_ALIGNED((unsigned long)tp->key, __alignof__(*tp->key)) &&
		tp->key->func == tp->walk &&
		tp->tramp >= text.base && tp->tramp < text.base + text.size);
#else
	return true;
#endif
}

static bool module_has_callbacks(const struct module *mod, const struct tracepoint *tp)
{
	return !tp->callbacks ||
	       (memory_at(mod, tp->callbacks) >= sizeof(*tp->callbacks) &&
		IS_ALIGNED((unsigned long)tp->callbacks, __alignof__(*tp->callbacks)));
}

/* Return: what is wrong with a tracepoint of a module that is being loaded, or NULL. */
static const char *tracepoint_fault(const struct module *mod,
				    const struct tracepoint *tp)
{
	if (!module_has_tracepoint(mod, tp))
		return "it is for no tracepoint of the module";
	if (!trace_module_has_text(mod, tp->name, KSYM_NAME_LEN) || !*tp->name)
		return "the tracepoint has no name";
	if (!module_has_callbacks(mod, tp))
		return "the callbacks of the tracepoint are not in the module";
	if (rcu_access_pointer(tp->funcs) || tp->active || !tp_code_is_built(tp))
		return "the tracepoint is in use already";
	if (!module_has_call(mod, tp))
		return "the call of its probes is not the module's";
	return NULL;
}

/* Damaged records must not be used as pointers. */
static int tracepoint_module_check(const struct module *mod)
{
	const char *fault;
	unsigned int i;

	for (i = 0; i < mod->num_tracepoints; i++) {
		fault = tracepoint_fault(mod, tracepoint_ptr_deref(&mod->tracepoints_ptrs[i]));
		if (!fault)
			continue;
		pr_err("%s: record %u of %u in section __tracepoints_ptrs is broken: %s; build the module again\n",
		       mod->name, i, mod->num_tracepoints, fault);
		return -ENOEXEC;
	}
	return 0;
}

/* A module loaded by force may have been built for another struct tracepoint. */
static bool module_was_forced(const struct module *mod)
{
	return test_bit(TAINT_FORCED_MODULE, &mod->taints);
}

static bool table_has(tracepoint_ptr_t *start, tracepoint_ptr_t *stop,
		      const struct tracepoint *tp)
{
	for (; start < stop; start++)
		if (tracepoint_ptr_deref(start) == tp)
			return true;
	return false;
}

static bool module_has(const struct module *mod, const struct tracepoint *tp)
{
	return table_has(mod->tracepoints_ptrs,
			 mod->tracepoints_ptrs + mod->num_tracepoints, tp);
}

/**
 * tracepoint_is_known - does a pointer refer to a tracepoint?
 * @tp: the pointer
 * @mod: a module that is being loaded, whose tracepoints are valid too
 *
 * Context: may sleep.
 * Return: true if it is one of the kernel, of @mod, or of a module without bad
 *	   taints.
 */
bool tracepoint_is_known(const struct tracepoint *tp, const struct module *mod)
{
	const struct tp_module *tp_mod;
	bool found = false;

	if (module_has(mod, tp) ||
	    table_has(__start___tracepoints_ptrs, __stop___tracepoints_ptrs, tp))
		return true;
	mutex_lock(&tracepoint_module_list_mutex);
	list_for_each_entry(tp_mod, &tracepoint_module_list, list)
		found = found || module_has(tp_mod->mod, tp);
	mutex_unlock(&tracepoint_module_list_mutex);
	return found;
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

	mutex_lock(&tracepoint_module_list_mutex);
	ret = blocking_notifier_chain_register(&tracepoint_notify_list, nb);
	if (!ret)
		notify_of_all(nb, MODULE_STATE_COMING);
	mutex_unlock(&tracepoint_module_list_mutex);
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

	mutex_lock(&tracepoint_module_list_mutex);
	ret = blocking_notifier_chain_unregister(&tracepoint_notify_list, nb);
	if (!ret)
		notify_of_all(nb, MODULE_STATE_GOING);
	mutex_unlock(&tracepoint_module_list_mutex);
	return ret;
}
EXPORT_SYMBOL_GPL(unregister_tracepoint_module_notifier);

static int tracepoint_module_coming(struct module *mod)
{
	struct tp_module *tp_mod;

	if (!mod->num_tracepoints || trace_module_has_bad_taint(mod))
		return 0;
	tp_mod = kmalloc(sizeof(*tp_mod), GFP_KERNEL);
	if (!tp_mod)
		return -ENOMEM;
	tp_mod->mod = mod;

	mutex_lock(&tracepoint_module_list_mutex);
	list_add_tail(&tp_mod->list, &tracepoint_module_list);
	blocking_notifier_call_chain(&tracepoint_notify_list,
				     MODULE_STATE_COMING, tp_mod);
	mutex_unlock(&tracepoint_module_list_mutex);
	return 0;
}

/* Nothing must refer to the tracepoint when its module is freed. */
static void drop_all_probes(struct tracepoint *tp, void *priv)
{
	struct tracepoint_func *probe = tp_probes(tp);

	if (!probe)
		return;
	WARN(1, "tracepoint %s: its module is unloaded while probes are registered\n",
	     tp->name);
	set_probes(tp, NULL);	/* tracepoints_mutex protects the old array */
	for (; probe->func; probe++)
		if (probe_is_live(probe))
			call_disconnect(tp, probe);
	call_unregfunc(tp);
}

/* A module that is unloaded, and how many of its probes were still attached. */
struct stray_probes {
	struct module *mod;
	unsigned int count;
};

static void drop_stray_probes(struct tracepoint *tp, void *priv)
{
	struct stray_probes *stray = priv;
	struct tracepoint_func *probe = tp_probes(tp);

	while (probe && probe->func) {
		struct tracepoint_func del = *probe++;

		if (!within_module((unsigned long)del.func, stray->mod))
			continue;
		pr_err("%s: module %s is unloaded while its probe %ps is attached; unregister it in the module's exit function\n",
		       tp->name, stray->mod->name, del.func);
		tracepoint_remove_probe(tp, &del, false);
		stray->count++;
		probe = tp_probes(tp);
	}
}

static void visit_all_tracepoints(void (*fct)(struct tracepoint *tp, void *priv),
				  void *priv)
{
	struct tp_module *tp_mod;

	lockdep_assert_held(&tracepoint_module_list_mutex);
	mutex_lock(&tracepoints_mutex);
	for_each_kernel_tracepoint(fct, priv);
	list_for_each_entry(tp_mod, &tracepoint_module_list, list)
		visit_tracepoints(tp_mod->mod->tracepoints_ptrs,
				  tp_mod->mod->tracepoints_ptrs +
				  tp_mod->mod->num_tracepoints, fct, priv);
	mutex_unlock(&tracepoints_mutex);
}

/* Detaches the probes that a module did not unregister. */
static void drop_probes_of(struct module *mod)
{
	struct stray_probes stray = { .mod = mod };

	visit_all_tracepoints(drop_stray_probes, &stray);
	if (stray.count)
		tracepoint_synchronize_unregister();
}

/* Detaches probes of others from the tracepoints of a module. */
static void drop_probes_on(struct module *mod)
{
	mutex_lock(&tracepoints_mutex);
	visit_tracepoints(mod->tracepoints_ptrs,
			  mod->tracepoints_ptrs + mod->num_tracepoints,
			  drop_all_probes, NULL);
	mutex_unlock(&tracepoints_mutex);
}

/*
 * The tracepoints of a module that was loaded by force may have another layout. They
 * are not touched, but they get no new trampolines.
 */
static void stop_waiting(const struct module *mod)
{
	mutex_lock(&tracepoints_mutex);
	tp_stop_waiting(mod);
	mutex_unlock(&tracepoints_mutex);
}

static void tracepoint_module_going(struct module *mod)
{
	struct tp_module *tp_mod;

	mutex_lock(&tracepoint_module_list_mutex);
	drop_probes_of(mod);
	list_for_each_entry(tp_mod, &tracepoint_module_list, list) {
		if (tp_mod->mod != mod)
			continue;
		blocking_notifier_call_chain(&tracepoint_notify_list,
					     MODULE_STATE_GOING, tp_mod);
		list_del(&tp_mod->list);
		kfree(tp_mod);
		break;
	}
	mutex_unlock(&tracepoint_module_list_mutex);
	if (module_was_forced(mod))
		stop_waiting(mod);
	else
		drop_probes_on(mod);
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

int tracepoint_check_notify(struct notifier_block *nb, unsigned long state, void *data)
{
	int ret = 0;

	if (state == MODULE_STATE_COMING && !module_was_forced(data))
		ret = tracepoint_module_check(data);
	return notifier_from_errno(ret);
}

#if IS_ENABLED(CONFIG_TRACEPOINT_KUNIT_TEST)
EXPORT_SYMBOL_GPL(tracepoint_check_notify);
#endif

/* Runs before markers attach to the tracepoints of the module. */
static struct notifier_block tracepoint_check_nb = {
	.notifier_call = tracepoint_check_notify,
	.priority = 2,
};

static int __init init_tracepoints(void)
{
	return register_module_notifier(&tracepoint_check_nb) ?:
	       register_module_notifier(&tracepoint_module_nb);
}
device_initcall(init_tracepoints);
#endif /* CONFIG_MODULES */

#ifdef CONFIG_TRACEPOINT_STATIC_CALL
/* @fct runs under tracepoints_mutex. */
void tp_visit_locked(void (*fct)(struct tracepoint *tp, void *priv))
{
#ifdef CONFIG_MODULES
	mutex_lock(&tracepoint_module_list_mutex);
	visit_all_tracepoints(fct, NULL);
	mutex_unlock(&tracepoint_module_list_mutex);
#else
	mutex_lock(&tracepoints_mutex);
	for_each_kernel_tracepoint(fct, NULL);
	mutex_unlock(&tracepoints_mutex);
#endif
}
#endif

#ifdef CONFIG_HAVE_SYSCALL_TRACEPOINTS
/*
 * The tracepoints of system calls are on a slow path of entry and exit, which
 * every task takes while one of them has probes. The callbacks run under
 * tracepoints_mutex, which protects the count; new tasks inherit the flag
 * from their parent under tasklist_lock.
 */
static unsigned int nr_syscall_users;

/**
 * syscall_regfunc - register callback of the system call tracepoints
 *
 * Return: 0.
 */
int syscall_regfunc(void)
{
	struct task_struct *process, *thread;

	if (nr_syscall_users++)
		return 0;
	read_lock(&tasklist_lock);
	for_each_process_thread(process, thread)
		set_task_syscall_work(thread, SYSCALL_TRACEPOINT);
	read_unlock(&tasklist_lock);
	return 0;
}

/**
 * syscall_unregfunc - unregister callback of the system call tracepoints
 */
void syscall_unregfunc(void)
{
	struct task_struct *process, *thread;

	if (--nr_syscall_users)
		return;
	read_lock(&tasklist_lock);
	for_each_process_thread(process, thread)
		clear_task_syscall_work(thread, SYSCALL_TRACEPOINT);
	read_unlock(&tasklist_lock);
}
#endif /* CONFIG_HAVE_SYSCALL_TRACEPOINTS */
