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
#define pr_fmt(fmt) "immediate: " fmt

#include <linux/bitmap.h>
#include <linux/cpu.h>
#include <linux/immediate-backend.h>
#include <linux/immediate.h>
#include <linux/kernel.h>
#include <linux/memory.h>
#include <linux/module.h>
#include <linux/module-memory.h>
#include <linux/mutex.h>
#include <linux/rculist.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <asm/sections.h>

/*
 * Protects variables, sites and the list of modules; nests inside
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

/* The kernel's own table, valid once imv_ready is set. */
static struct imv_site *imv_start, *imv_stop;

/* Modules that have sites. Changed under imv_mutex, read under RCU too. */
static LIST_HEAD(imv_modules);
static bool imv_ready;

#ifdef CONFIG_IMMEDIATE
extern struct imv_site __start___imv[], __stop___imv[];

static int imv_site_cmp(const void *a, const void *b)
{
	const void *var_a = imv_site_var(a), *var_b = imv_site_var(b);
	const void *insn_a = imv_site_insn(a), *insn_b = imv_site_insn(b);

	if (var_a != var_b)
		return var_a < var_b ? -1 : 1;
	if (insn_a != insn_b)
		return insn_a < insn_b ? -1 : 1;
	return 0;
}

/* The new @target of a site when its record moves by @distance bytes. */
static s32 imv_moved_target(const struct imv_site *site, long distance)
{
	return imv_site_is_jump(site) ? site->target - distance : site->target;
}

/* The members are relative to their own addresses, so they change when moved. */
static void imv_site_swap(void *a, void *b, int size)
{
	struct imv_site *site_a = a, *site_b = b, old_a = *site_a;
	long distance = b - a;

	site_a->insn = site_b->insn + distance;
	site_b->insn = old_a.insn - distance;
	site_a->target = imv_moved_target(site_b, -distance);
	site_b->target = imv_moved_target(&old_a, distance);
	site_a->var = site_b->var + distance;
	site_b->var = old_a.var - distance;
}

static bool imv_is_sorted(const struct imv_site *start,
			  const struct imv_site *stop)
{
	for (; start + 1 < stop; start++)
		if (imv_site_cmp(start, start + 1) > 0)
			return false;
	return true;
}

static void imv_reverse(struct imv_site *first, struct imv_site *last)
{
	for (; first < last; first++, last--)
		imv_site_swap(first, last, sizeof(*first));
}

/* Reverses each run of records that is in descending order. */
static void imv_reverse_runs(struct imv_site *start, struct imv_site *stop)
{
	struct imv_site *last;

	for (; start < stop; start = last + 1) {
		last = start;
		while (last + 1 < stop && imv_site_cmp(last, last + 1) > 0)
			last++;
		imv_reverse(start, last);
	}
}

/*
 * The sites of one variable are already sorted, in the order of the text. Where
 * each site has its own variable, gcc places the variables of a file in reverse
 * order.
 */
static void imv_sort(struct imv_site *start, struct imv_site *stop)
{
	imv_reverse_runs(start, stop);
	if (imv_is_sorted(start, stop))
		return;
	sort(start, stop - start, sizeof(*start), imv_site_cmp, imv_site_swap);
}

/* Prepares a table whose sites have not been patched yet. */
static void imv_init_table(struct imv_site *start, struct imv_site *stop)
{
	struct imv_site *site;

	for (site = start; site < stop; site++)
		arch_imv_init_site(site);
	imv_sort(start, stop);
}

static void __init imv_find_sites(void)
{
	imv_start = __start___imv;
	imv_stop = __stop___imv;
	imv_init_table(imv_start, imv_stop);
}

static size_t imv_var_size(const struct imv_site *site)
{
	unsigned int flags = imv_site_flags(site);

	if (!imv_site_is_jump(site))
		return 1 << flags;
	return flags == IMV_JUMP_TO ? sizeof(s32) : sizeof(u8);
}

/* Sites are compiled for zero; only other values need patching. */
static bool imv_site_is_built(const struct imv_site *site)
{
	return !memchr_inv(imv_site_var(site), 0, imv_var_size(site));
}

/* NULL for a site that does not jump. */
static const void *imv_jump_target(const struct imv_site *site)
{
	return imv_site_is_jump(site) ? imv_site_target(site) : NULL;
}
#else
/* jump_label_init() has sorted the table. */
static void __init imv_find_sites(void)
{
	imv_start = (struct imv_site *)jump_label_stop;
	imv_stop = (struct imv_site *)__stop___jump_table;
}

static size_t imv_var_size(const struct imv_site *site)
{
	return sizeof(u8);
}

static bool imv_site_is_built(const struct imv_site *site)
{
	return !IMV_BUILT_IS_PROVISIONAL && !*(const u8 *)imv_site_var(site);
}

static const void *imv_jump_target(const struct imv_site *site)
{
	return (const void *)jump_entry_target(&site->entry);
}
#endif /* CONFIG_IMMEDIATE */

static struct imv_site *imv_first(struct imv_site *start, struct imv_site *stop,
				  const void *var)
{
	while (start < stop) {
		struct imv_site *mid = start + (stop - start) / 2;

		if (imv_site_var(mid) < var)
			start = mid + 1;
		else
			stop = mid;
	}
	return start;
}

static void imv_sweep_table(struct imv_site *start, struct imv_site *stop,
			    const void *from, const void *to, bool early)
{
	struct imv_site *site;

	for (site = imv_first(start, stop, from);
	     site < stop && imv_site_var(site) < to; site++)
		if (!imv_site_is_gone(site))
			arch_imv_transform(site, early);
}

static unsigned int imv_count_table(struct imv_site *start,
				    struct imv_site *stop,
				    const void *from, const void *to)
{
	return imv_first(start, stop, to) - imv_first(start, stop, from);
}

#ifdef CONFIG_MODULES
static unsigned int imv_count_modules(const void *from, const void *to)
{
	struct module *mod;
	unsigned int count = 0;

	list_for_each_entry(mod, &imv_modules, imv_list)
		count += imv_count_table(mod->imv_sites,
					 mod->imv_sites + mod->num_imv_sites,
					 from, to);
	return count;
}

static void imv_sweep_modules(const void *from, const void *to, bool early)
{
	struct module *mod;

	list_for_each_entry(mod, &imv_modules, imv_list)
		imv_sweep_table(mod->imv_sites,
				mod->imv_sites + mod->num_imv_sites,
				from, to, early);
}
#else
static unsigned int imv_count_modules(const void *from, const void *to)
{
	return 0;
}

static void imv_sweep_modules(const void *from, const void *to, bool early) { }
#endif

static void imv_sweep_ranges(bool early)
{
	const struct imv_range *range, *stop = imv_dirty + imv_nr_dirty;

	for (range = imv_dirty; range < stop; range++) {
		imv_sweep_table(imv_start, imv_stop, range->from, range->to, early);
		imv_sweep_modules(range->from, range->to, early);
	}
}

static unsigned int imv_count_ranges(void)
{
	const struct imv_range *range, *stop = imv_dirty + imv_nr_dirty;
	unsigned int count = 0;

	for (range = imv_dirty; range < stop; range++)
		count += imv_count_table(imv_start, imv_stop, range->from, range->to) +
			 imv_count_modules(range->from, range->to);
	return count;
}

/* Makes all sites mirror the variables set since the last sweep. */
static void imv_sweep_dirty(void)
{
	if (!imv_nr_dirty)
		return;
	if (imv_ready && system_state == SYSTEM_BOOTING) {
		imv_sweep_ranges(true);
		arch_imv_finish_early();
	} else if (imv_ready) {
		arch_imv_expect(imv_count_ranges());
		imv_sweep_ranges(false);
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

/* Is the site in the range, or can its jump lead into the middle of it? */
static bool imv_site_reserved(const struct imv_site *site, const void *start,
			      const void *end)
{
	const void *insn = imv_site_insn(site), *target;

	if (insn <= end && insn + arch_imv_reserved_size(site) > start)
		return true;
	target = imv_jump_target(site);
	return target > start && target <= end;
}

static bool imv_table_reserved(const struct imv_site *site,
			       const struct imv_site *stop,
			       const void *start, const void *end)
{
	for (; site < stop; site++)
		if (!imv_site_is_gone(site) && imv_site_reserved(site, start, end))
			return true;
	return false;
}

#ifdef CONFIG_MODULES
static bool imv_modules_reserved(const void *start, const void *end)
{
	struct module *mod;

	list_for_each_entry_rcu(mod, &imv_modules, imv_list)
		if (imv_table_reserved(mod->imv_sites,
				       mod->imv_sites + mod->num_imv_sites,
				       start, end))
			return true;
	return false;
}
#else
static bool imv_modules_reserved(const void *start, const void *end)
{
	return false;
}
#endif

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
	bool reserved;

	rcu_read_lock();
	reserved = imv_table_reserved(imv_start, imv_stop, start, end) ||
		   imv_modules_reserved(start, end);
	rcu_read_unlock();
	return reserved;
}
EXPORT_SYMBOL_GPL(imv_text_reserved);

/* The @n-th site of a variable in a table; @n is decremented for each one before. */
static void *imv_nth_in_table(struct imv_site *start, struct imv_site *stop,
			      const void *var, unsigned int *n)
{
	struct imv_site *site;

	for (site = imv_first(start, stop, var);
	     site < stop && imv_site_var(site) == var; site++)
		if (!imv_site_is_gone(site) && !(*n)--)
			return imv_site_insn(site);
	return NULL;
}

#ifdef CONFIG_MODULES
static void *imv_nth_in_modules(const void *var, unsigned int *n)
{
	struct module *mod;
	void *insn;

	list_for_each_entry(mod, &imv_modules, imv_list) {
		insn = imv_nth_in_table(mod->imv_sites,
					mod->imv_sites + mod->num_imv_sites,
					var, n);
		if (insn)
			return insn;
	}
	return NULL;
}
#else
static void *imv_nth_in_modules(const void *var, unsigned int *n)
{
	return NULL;
}
#endif

/**
 * imv_nth_site - find a site of an immediate value
 * @var: the variable
 * @n: index of the site, from 0
 *
 * Context: may sleep; takes imv_mutex.
 * Return: the address of the instruction; NULL if there is no such site, or if
 *	   the configuration has no sites.
 */
void *imv_nth_site(const void *var, unsigned int n)
{
	void *insn;

	mutex_lock(&imv_mutex);
	insn = imv_nth_in_table(imv_start, imv_stop, var, &n) ?:
	       imv_nth_in_modules(var, &n);
	mutex_unlock(&imv_mutex);
	return insn;
}

/*
 * Drops the sites in the text from @start up to @end, before that is freed. A site
 * elsewhere must not read a variable there: it is dropped too, and keeps the last value.
 */
static void imv_forget(struct imv_site *site, struct imv_site *stop,
		       const void *start, const void *end)
{
	mutex_lock(&imv_mutex);
	for (; site < stop; site++) {
		const void *insn = imv_site_insn(site), *var = imv_site_var(site);

		if (imv_site_is_gone(site))
			continue;
		if ((insn >= start && insn < end) ||
		    WARN(var >= start && var < end,
			 "%pS reads an immediate value in __initdata", insn))
			imv_site_forget(site);
	}
	mutex_unlock(&imv_mutex);
}

/**
 * imv_free_init_mem - forget the sites in the kernel's own __init text
 *
 * Context: before that text is freed; may sleep.
 */
void __init imv_free_init_mem(void)
{
	imv_forget(imv_start, imv_stop, __init_begin, __init_end);
}

/* Makes sites that were never patched mirror their variables. */
static void imv_sweep_built(struct imv_site *site, struct imv_site *stop)
{
	const void *built = NULL;
	bool changed = false;

	for (; site < stop; site++) {
		const void *var = imv_site_var(site);

		if (var == built || imv_site_is_gone(site))
			continue;
		if (imv_site_is_built(site)) {
			built = var;
		} else {
			arch_imv_transform(site, true);
			changed = true;
		}
	}
	if (changed)
		arch_imv_finish_early();
}

/*
 * The kernel's own __exit text is never executed, and not all architectures can
 * patch it.
 */
static void __init imv_forget_exit_text(void)
{
	struct imv_site *site;

	for (site = imv_start; site < imv_stop; site++) {
		void *insn = imv_site_insn(site);

		if (init_section_contains(insn, 1) &&
		    !core_kernel_text((unsigned long)insn))
			imv_site_forget(site);
	}
}

/**
 * imv_init - make the kernel's sites mirror the initial values
 *
 * Context: boot CPU, once, before anything that may read an immediate value.
 */
void __init imv_init(void)
{
	imv_find_sites();
	imv_forget_exit_text();
	imv_sweep_built(imv_start, imv_stop);
	imv_ready = true;
}

#ifdef CONFIG_MODULES
/*
 * Checks of a module's records: a damaged one must not make the kernel access a
 * wrong address or, with CONFIG_IMMEDIATE, call BUG() when its value is set. With
 * jump labels, the instruction at the address of a record is not known.
 */

#ifdef CONFIG_IMMEDIATE
#define IMV_SECTION	"__imv"

static void imv_find_module_sites(struct module *mod) { }

static void imv_init_module_table(struct module *mod)
{
	imv_init_table(mod->imv_sites, mod->imv_sites + mod->num_imv_sites);
}

/* The target of a jump. For a MOV, or a stub with a target in the kernel: the site. */
static const void *imv_site_away(const struct imv_site *site)
{
	const void *target = imv_site_insn(site);

	if (!imv_site_is_jump(site))
		return target;
	if (imv_site_flags(site) == IMV_JUMP_TO &&
	    core_kernel_text((unsigned long)imv_site_target(site)))
		return target;
	return imv_site_target(site);
}
#else
#define IMV_SECTION	"__jump_table"

static void imv_find_module_sites(struct module *mod)
{
	struct jump_entry *stop = mod->jump_entries + mod->num_jump_entries;
	struct jump_entry *first = jump_label_split(mod->jump_entries, stop);

	mod->imv_sites = (struct imv_site *)first;
	mod->num_imv_sites = stop - first;
	mod->num_jump_entries -= mod->num_imv_sites;
}

static void imv_init_module_table(struct module *mod) { }

static const void *imv_site_away(const struct imv_site *site)
{
	return (void *)jump_entry_target(&site->entry);
}
#endif

/* A module, and a bitmap of the bytes of its text that a checked site uses. */
struct imv_text {
	const struct module *mod;
	unsigned long *taken;
};

static bool imv_part_has(const struct module_part *part, const void *start, size_t size)
{
	size_t offset = start - part->base;

	return size <= part->size && offset <= part->size - size;
}

/* Offset of a range in the text, where the __init text follows the rest; or -1. */
static long imv_text_offset(const struct module *mod, const void *start, size_t size)
{
	struct module_part text = module_text(mod), init = module_init_text(mod);

	if (imv_part_has(&text, start, size))
		return start - text.base;
	if (imv_part_has(&init, start, size))
		return text.size + (start - init.base);
	return -1;
}

static bool imv_uses(const struct module *mod, const struct module *other)
{
#ifdef CONFIG_MODULE_UNLOAD
	const struct module_use *use;

	list_for_each_entry(use, &mod->target_list, target_list)
		if (use->target == other)
			return true;
	return false;
#else
	return true;
#endif
}

/* Is an address in a module that is not unloaded before @mod? */
static bool imv_is_in_used_module(const struct module *mod, unsigned long addr)
{
	const struct module *other;
	bool used;

	preempt_disable();
	other = __module_address(addr);
	used = other && within_module_core(addr, other) && imv_uses(mod, other);
	preempt_enable();
	return used;
}

static bool imv_is_data(const struct module *mod, const void *byte)
{
	unsigned long addr = (unsigned long)byte;

	return within_module(addr, mod) || is_kernel_core_data(addr) ||
	       is_kernel_rodata(addr) || imv_is_in_used_module(mod, addr);
}

static bool imv_var_is_data(const struct module *mod, const struct imv_site *site)
{
	const void *var = imv_site_var(site);

	return imv_is_data(mod, var) &&
	       imv_is_data(mod, var + imv_var_size(site) - 1);
}

/* Is @memory freed before the instruction, which refers to it? */
static bool imv_goes_first(const struct module *mod, const void *memory,
			   const struct imv_site *site)
{
	return within_module_init((unsigned long)memory, mod) &&
	       !within_module_init((unsigned long)imv_site_insn(site), mod);
}

/* Return: what is wrong with a record, or NULL. */
static const char *imv_site_fault(const struct imv_text *text,
				  const struct imv_site *site)
{
	size_t size = arch_imv_reserved_size(site);
	long offset = imv_text_offset(text->mod, imv_site_insn(site), size);

	if (imv_site_is_gone(site) || offset < 0 || !size)
		return "it is for no instruction of the module";
	if (!imv_var_is_data(text->mod, site))
		return "its variable is not in the data of the kernel or a module that it uses";
	if (imv_goes_first(text->mod, imv_site_var(site), site))
		return "its variable is in __initdata, but the instruction is not in __init text";
	if (!arch_imv_is_built(site))
		return "the instruction is another one";
	if (imv_text_offset(text->mod, imv_site_away(site), 0) < 0)
		return "it leads out of the module";
	if (imv_goes_first(text->mod, imv_site_away(site), site))
		return "it leads to __init text, but the instruction is not in it";
	if (find_next_bit(text->taken, offset + size, offset) < offset + size)
		return "another record is for the same bytes";
	bitmap_set(text->taken, offset, size);
	return NULL;
}

static int imv_check_sites(const struct module *mod, const struct imv_text *text)
{
	const char *fault;
	unsigned int i;

	for (i = 0; i < mod->num_imv_sites; i++) {
		fault = imv_site_fault(text, &mod->imv_sites[i]);
		if (!fault)
			continue;
		pr_err("%s: record %u of %u in section %s is broken: %s; build the module again\n",
		       mod->name, i, mod->num_imv_sites, IMV_SECTION, fault);
		return -ENOEXEC;
	}
	return 0;
}

/**
 * imv_module_check - find the sites of a module that is being loaded, and check them
 * @mod: the module, relocated, its text still writable and not executed
 *
 * Call it before imv_module_coming().
 *
 * Context: may sleep.
 * Return: 0; -ENOEXEC if a record is damaged, with a message that names it; or
 *	   -ENOMEM.
 */
int imv_module_check(struct module *mod)
{
	size_t size = module_text(mod).size + module_init_text(mod).size;
	struct imv_text text = { .mod = mod };
	int ret;

	imv_find_module_sites(mod);
	if (!mod->num_imv_sites)
		return 0;
	text.taken = kvcalloc(BITS_TO_LONGS(size), sizeof(long), GFP_KERNEL);
	if (!text.taken)
		return -ENOMEM;
	ret = imv_check_sites(mod, &text);
	kvfree(text.taken);
	return ret;
}

#if IS_ENABLED(CONFIG_IMMEDIATE_KUNIT_TEST)	/* the test may be a module */
EXPORT_SYMBOL_GPL(imv_module_check);
#endif

/**
 * imv_module_coming - add the sites of a module that is being loaded
 * @mod: the module, checked by imv_module_check()
 *
 * From here on imv_set() patches the module. Call imv_module_going() to end
 * that, also if loading fails.
 *
 * Context: may sleep; takes the locks of imv_set().
 */
void imv_module_coming(struct module *mod)
{
	INIT_LIST_HEAD(&mod->imv_list);
	if (!mod->num_imv_sites)
		return;

	imv_init_module_table(mod);
	imv_batch_begin();
	imv_sweep_dirty();	/* so that all sites of a variable agree */
	imv_sweep_built(mod->imv_sites, mod->imv_sites + mod->num_imv_sites);
	list_add_rcu(&mod->imv_list, &imv_modules);
	imv_batch_commit();
}

/**
 * imv_module_live - forget the sites in the __init text of a module
 * @mod: the module, initialised; its __init text is about to be freed
 *
 * Context: may sleep; takes imv_mutex.
 */
void imv_module_live(struct module *mod)
{
	struct module_part init = module_init_text(mod);

	imv_forget(mod->imv_sites, mod->imv_sites + mod->num_imv_sites,
		   init.base, init.base + init.size);
}

/**
 * imv_module_going - forget all sites of a module
 * @mod: the module; an RCU grace period passes before its memory is freed
 *
 * Context: may sleep; takes imv_mutex.
 */
void imv_module_going(struct module *mod)
{
	if (!mod->num_imv_sites)
		return;
	mutex_lock(&imv_mutex);
	list_del_rcu(&mod->imv_list);
	mutex_unlock(&imv_mutex);
}
#endif /* CONFIG_MODULES */
