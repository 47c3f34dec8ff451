// SPDX-License-Identifier: GPL-2.0
/*
 * Immediate values: the records of all sites, and the sweeps that make the
 * code of the sites mirror their variables. See linux/immediate.h.
 *
 * The kernel and each module have a table of records, sorted by variable, so
 * that the sites of a variable are found quickly. A sweep walks all tables and
 * lets the backend patch the sites of the variables that were set.
 *
 * There are two backends. With CONFIG_IMMEDIATE the architecture patches values
 * of all sizes; the tables are the sections __imv. With
 * CONFIG_IMMEDIATE_JUMP_LABEL its jump labels patch branches on one-byte values;
 * the tables are at the end of the sections __jump_table, see
 * asm-generic/immediate-jump-label.h.
 */
#include <linux/cpu.h>
#include <linux/immediate-backend.h>
#include <linux/immediate.h>
#include <linux/memory.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rculist.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <asm/sections.h>

/*
 * Protects variables, sites and the list of tables; nests inside
 * cpu_hotplug_lock, outside text_mutex. Held from imv_batch_begin() to
 * imv_batch_commit().
 */
static DEFINE_MUTEX(imv_mutex);
static struct task_struct *imv_owner;	/* of imv_mutex, for nested batches */
static unsigned int imv_depth;

/*
 * Address ranges that contain all variables set since the last sweep. With
 * CONFIG_IMMEDIATE one range is enough, because the backend compares the code
 * of each site with its variable. The jump label backend cannot read the state
 * of a site: each range is one variable, and all its sites must change.
 */
#define IMV_MAX_DIRTY	(IS_ENABLED(CONFIG_IMMEDIATE) ? 1 : 256)

struct imv_range {
	const void *from, *to;
};

static struct imv_range imv_dirty[IMV_MAX_DIRTY];
static unsigned int imv_nr_dirty;

/* Defers its sweeps to imv_defer_end(). Has a reference, so the address is not reused. */
static struct task_struct *imv_deferrer;

/* The kernel's table and those of modules. Changed under imv_mutex, read under RCU too. */
static LIST_HEAD(imv_tables);
static struct imv_table imv_kernel_table;

#define imv_for_each_site(site, table)					\
	for (site = (table)->sites; site < (table)->sites + (table)->nr; site++)

#ifdef CONFIG_IMMEDIATE
extern struct imv_site __start___imv[], __stop___imv[];

static void __init imv_find_sites(void)
{
	imv_kernel_table.sites = __start___imv;
	imv_kernel_table.nr = __stop___imv - __start___imv;
}

static int imv_site_cmp(const void *a, const void *b)
{
	const void *var_a = imv_site_var(a), *var_b = imv_site_var(b);
	const void *insn_a = imv_site_insn(a), *insn_b = imv_site_insn(b);

	if (var_a != var_b)
		return var_a < var_b ? -1 : 1;
	return insn_a < insn_b ? -1 : insn_a > insn_b;
}

/* Members are relative to their addresses; @from was @distance bytes behind @to. */
static void imv_site_move(struct imv_site *to, const struct imv_site *from, long distance)
{
	to->target = from->target + (imv_site_is_jump(from) ? distance : 0);
	to->insn = from->insn ? from->insn + distance : 0;	/* see imv_site_is_gone() */
	to->var = from->var + distance;
}

static void imv_site_swap(void *a, void *b, int size)
{
	struct imv_site old = *(struct imv_site *)a;

	imv_site_move(a, b, b - a);
	imv_site_move(b, &old, a - b);
}

static void imv_sort(const struct imv_table *table)
{
	sort(table->sites, table->nr, sizeof(*table->sites), imv_site_cmp, imv_site_swap);
}
#else
static void __init imv_find_sites(void)
{
	imv_kernel_table.sites = (struct imv_site *)jump_label_stop;
	imv_kernel_table.nr = __stop___jump_table - jump_label_stop;
}

/* jump_label_split() has done it. */
static void imv_sort(const struct imv_table *table) { }
#endif /* CONFIG_IMMEDIATE */

static struct imv_site *imv_first(const struct imv_table *table, const void *var)
{
	struct imv_site *start = table->sites, *stop = start + table->nr;

	while (start < stop) {
		struct imv_site *mid = start + (stop - start) / 2;

		if (imv_site_var(mid) < var)
			start = mid + 1;
		else
			stop = mid;
	}
	return start;
}

static void imv_sweep_table(const struct imv_table *table, const struct imv_range *range)
{
	struct imv_site *site = imv_first(table, range->from);

	for (; site < table->sites + table->nr && imv_site_var(site) < range->to; site++)
		if (!imv_site_is_gone(site))
			arch_imv_transform(site);
}

/* Makes all sites mirror the variables set since the last sweep. */
static void imv_sweep_dirty(void)
{
	const struct imv_range *range, *stop = imv_dirty + imv_nr_dirty;
	const struct imv_table *table;

	if (!imv_nr_dirty)
		return;
	if (!list_empty(&imv_tables)) {
		arch_imv_begin();
		for (range = imv_dirty; range < stop; range++)
			list_for_each_entry(table, &imv_tables, list)
				imv_sweep_table(table, range);
		arch_imv_finish();
	}
	WRITE_ONCE(imv_nr_dirty, 0);	/* see imv_flush() */
}

#ifdef CONFIG_IMMEDIATE
static void imv_mark_dirty(const void *var, const void *value, size_t size)
{
	struct imv_range *range = imv_dirty;

	if (!imv_nr_dirty || var < range->from)
		range->from = var;
	if (!imv_nr_dirty || var + size > range->to)
		range->to = var + size;
	WRITE_ONCE(imv_nr_dirty, 1);
}
#else
/* A variable that is set back before the sweep is clean again. */
static void imv_mark_dirty(const void *var, const void *value, size_t size)
{
	struct imv_range *range;

	if (size != 1 || !*(const u8 *)var == !*(const u8 *)value)
		return;
	for (range = imv_dirty; range < imv_dirty + imv_nr_dirty; range++) {
		if (range->from == var) {
			WRITE_ONCE(imv_nr_dirty, imv_nr_dirty - 1);
			*range = imv_dirty[imv_nr_dirty];
			return;
		}
	}
	if (imv_nr_dirty == IMV_MAX_DIRTY)
		imv_sweep_dirty();
	imv_dirty[imv_nr_dirty] = (struct imv_range){ var, var + size };
	WRITE_ONCE(imv_nr_dirty, imv_nr_dirty + 1);
}
#endif /* CONFIG_IMMEDIATE */

static void imv_store(void *var, const void *value, size_t size)
{
	switch (size) {
	case 1:
		WRITE_ONCE(*(u8 *)var, *(const u8 *)value);
		break;
	case 2:
		WRITE_ONCE(*(u16 *)var, *(const u16 *)value);
		break;
	case 4:
		WRITE_ONCE(*(u32 *)var, *(const u32 *)value);
		break;
	case 8:
		WRITE_ONCE(*(u64 *)var, *(const u64 *)value);
		break;
	}
}

static void imv_change(void *var, const void *value, size_t size)
{
	if (!memcmp(var, value, size))
		return;
	imv_mark_dirty(var, value, size);
	imv_store(var, value, size);
}

/**
 * imv_batch_begin - begin to set several immediate values together
 *
 * Until the matching imv_batch_commit(), imv_set() in the same task only stores
 * the variable, and imv_set() in other tasks waits. Batches nest; the outermost
 * commit patches the sites. The jump label backend patches after every 256
 * variables, so the code of some may change before the commit. Where no code is
 * patched, a batch does nothing and is no lock.
 *
 * Context: may sleep; takes cpu_hotplug_lock for reading and imv_mutex, which
 *	    stay held until the commit. Do not load or unload modules meanwhile.
 */
void imv_batch_begin(void)
{
	if (READ_ONCE(imv_owner) != current) {
		cpus_read_lock();
		mutex_lock(&imv_mutex);
		WRITE_ONCE(imv_owner, current);
	}
	imv_depth++;
}
EXPORT_SYMBOL_GPL(imv_batch_begin);

/**
 * imv_batch_commit - make the code mirror all values set in the batch
 *
 * Context: may sleep; the task that called imv_batch_begin(). When the
 *	    outermost commit returns, all CPUs read the new values, unless the
 *	    task has called imv_defer_begin().
 */
void imv_batch_commit(void)
{
	lockdep_assert_held(&imv_mutex);

	if (--imv_depth)
		return;
	if (READ_ONCE(imv_deferrer) != current)
		imv_sweep_dirty();
	WRITE_ONCE(imv_owner, NULL);
	mutex_unlock(&imv_mutex);
	cpus_read_unlock();
}
EXPORT_SYMBOL_GPL(imv_batch_commit);

void __imv_set(void *var, const void *value, size_t size)
{
	might_sleep();

	imv_batch_begin();
	imv_change(var, value, size);
	imv_batch_commit();
}
EXPORT_SYMBOL_GPL(__imv_set);

/**
 * imv_defer_begin - defer the sweeps of this task
 *
 * For callers that set many values and take other locks in between, which
 * imv_batch_begin() does not allow. Until imv_defer_end(), imv_set() and
 * imv_batch_commit() in this task only store the variables. No lock is held.
 * The code may change to the new values at any time, for example when another
 * task calls imv_set(): callers must work with the old and the new value.
 *
 * Context: may sleep.
 * Return: true, or false if a task already defers; then this call has no effect.
 */
bool imv_defer_begin(void)
{
	if (cmpxchg(&imv_deferrer, NULL, current))
		return false;
	get_task_struct(current);
	return true;
}
EXPORT_SYMBOL_GPL(imv_defer_begin);

/**
 * imv_defer_end - make the code mirror all values set since imv_defer_begin()
 * @deferred: the return value of imv_defer_begin()
 *
 * Context: may sleep. On return all CPUs read the values that this task set;
 *	    inside an outer imv_defer_begin() or batch, only when that has ended.
 */
void imv_defer_end(bool deferred)
{
	if (!deferred)
		return;
	WRITE_ONCE(imv_deferrer, NULL);
	put_task_struct(current);
	imv_batch_begin();
	imv_batch_commit();
}
EXPORT_SYMBOL_GPL(imv_defer_end);

/**
 * imv_flush - make the code mirror all values set so far, deferred ones included
 *
 * For callers that free memory to which the code of a site may still refer.
 *
 * Context: may sleep; takes the locks of imv_set() if something is deferred.
 */
void imv_flush(void)
{
	/* Let lockdep check the locks at each call, not only if something is deferred. */
	if (!IS_ENABLED(CONFIG_PROVE_LOCKING) && !READ_ONCE(imv_nr_dirty))
		return;
	might_lock(&text_mutex);
	imv_batch_begin();
	imv_sweep_dirty();
	imv_batch_commit();
}
EXPORT_SYMBOL_GPL(imv_flush);

void __init __imv_set_early(void *var, const void *value, size_t size)
{
	if (WARN_ONCE(system_state != SYSTEM_BOOTING,
		      "imv_set_early() of %pS after boot; use imv_set()\n", var))
		return;
	imv_change(var, value, size);
	imv_sweep_dirty();
}

/**
 * imv_make_const - let the kernel's code read a variable that does not change again
 * @var: the variable of a runtime constant, see asm/runtime-const.h
 *
 * The code may be patched by others from now on.
 *
 * Context: __init functions that run before the code that reads it.
 */
void __init imv_make_const(const void *var)
{
	struct imv_table *table = &imv_kernel_table;
	struct imv_site *site;

	guard(mutex)(&imv_mutex);
	site = imv_first(table, var);
	for (; site < table->sites + table->nr && imv_site_var(site) == var; site++) {
		if (imv_site_is_gone(site))
			continue;
		arch_imv_init_site(site);
		imv_site_forget(site);
	}
}

/* Is the site in the range, or can its jump lead into the middle of it? */
static bool imv_site_reserved(const struct imv_site *site, const void *start,
			      const void *end)
{
	const void *insn = imv_site_insn(site), *target = imv_site_target(site);

	if (imv_site_is_gone(site))
		return false;
	return (insn <= end && insn + arch_imv_reserved_size(site) > start) ||
	       (target > start && target <= end);
}

/**
 * imv_text_reserved - do sites need the bytes of a range of text?
 * @start: first byte of the range
 * @end: last byte of the range
 *
 * Other code that patches text, such as kprobes, must not patch a range that
 * overlaps a site. Nor must it write one instruction over several if a site can
 * jump to one of them, but the first: the jump may be a NOP now.
 *
 * Context: any but NMI.
 * Return: 1 if they do, else 0.
 */
int imv_text_reserved(const void *start, const void *end)
{
	const struct imv_table *table;
	const struct imv_site *site;
	bool reserved = false;

	rcu_read_lock();
	list_for_each_entry_rcu(table, &imv_tables, list)
		imv_for_each_site(site, table)
			reserved |= imv_site_reserved(site, start, end);
	rcu_read_unlock();
	return reserved;
}
EXPORT_SYMBOL_GPL(imv_text_reserved);

/* Is the address in memory that is freed after the init function? */
static bool imv_is_init(const struct module *mod, const void *addr)
{
	return mod ? within_module_init((unsigned long)addr, mod) :
		     init_section_contains((void *)addr, 1);
}

/*
 * Drops the sites in memory of the kernel or a module that is about to be freed. A
 * site elsewhere must not read a variable there: it keeps the last value.
 */
static void imv_forget_init(struct imv_table *table, const struct module *mod)
{
	struct imv_site *site;

	guard(mutex)(&imv_mutex);
	imv_for_each_site(site, table) {
		void *insn = imv_site_insn(site);

		if (imv_site_is_gone(site))
			continue;
		if (imv_is_init(mod, insn) ||
		    WARN(imv_is_init(mod, imv_site_var(site)),
			 "%pS reads an immediate value in __initdata", insn))
			imv_site_forget(site);
	}
}

/* Before the kernel's own __init text is freed. */
void __init imv_free_init_mem(void)
{
	imv_forget_init(&imv_kernel_table, NULL);
}

/* A constant of the kernel does not change again: others may patch the code that reads it. */
static bool imv_is_const(const struct imv_table *table, const void *var)
{
	return table != &imv_kernel_table && is_kernel_rodata((unsigned long)var);
}

/*
 * Adds a table whose sites nothing executes yet. What the compiler and objtool left
 * there does not matter, as long as it is an instruction of the site.
 */
static void imv_add_table(struct imv_table *table)
{
	struct imv_site *site;

	imv_sort(table);
	imv_batch_begin();
	imv_sweep_dirty();	/* so that all sites of a variable agree */
	arch_imv_begin();
	imv_for_each_site(site, table) {
		if (imv_site_is_gone(site))
			continue;
		arch_imv_init_site(site);
		if (imv_is_const(table, imv_site_var(site)))
			imv_site_forget(site);
	}
	arch_imv_finish();
	list_add_tail_rcu(&table->list, &imv_tables);
	imv_batch_commit();
}

/*
 * Runs before anything that may read an immediate value. The kernel's own __exit text is
 * never executed, and not all architectures can patch it.
 */
void __init imv_init(void)
{
	struct imv_site *site;

	imv_find_sites();
	imv_for_each_site(site, &imv_kernel_table) {
		void *insn = imv_site_insn(site);

		if (init_section_contains(insn, 1) &&
		    !core_kernel_text((unsigned long)insn))
			imv_site_forget(site);
	}
	imv_add_table(&imv_kernel_table);
}

#ifdef CONFIG_MODULES
/*
 * The module is relocated, its text still writable and not executed. From here on
 * imv_set() patches it, until imv_module_going(), which is also called if loading fails.
 */
void imv_module_coming(struct module *mod)
{
	if (mod->imv.nr)
		imv_add_table(&mod->imv);
}

/* Before the __init text of the module is freed. */
void imv_module_live(struct module *mod)
{
	if (mod->imv.nr)
		imv_forget_init(&mod->imv, mod);
}

/* An RCU grace period passes before the memory of the module is freed. */
void imv_module_going(struct module *mod)
{
	if (!mod->imv.nr)
		return;
	guard(mutex)(&imv_mutex);
	list_del_rcu(&mod->imv.list);
}
#endif /* CONFIG_MODULES */
