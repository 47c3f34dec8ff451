// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Named function tracers, and the files that list them and set their filters.
 * The idea and its usage are from Jiri Olsa's "multiplexing function tracer"
 * (2011).
 *
 * One of them is the default: the one that was last registered or written to
 * function_tracers. While the trace option function-tracers is on,
 * set_ftrace_filter and set_ftrace_notrace are the filters of the default. Without
 * the option, they are the filters of the function tracer, as before.
 */
#include <linux/ctype.h>
#include <linux/err.h>
#include <linux/error-injection.h>
#include <linux/ftrace.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <asm/sections.h>

#include "ftrace_internal.h"
#include "function_tracers.h"

#define NAME_SIZE	21	/* as wide as the column of names, and a NUL */

/**
 * struct function_tracer - a named function tracer
 * @list: in the list of tracers, in the order of addition
 * @kref: an open file may outlive the tracer
 * @ops: the tracer
 * @registered: false while only the name is reserved, and after removal
 * @rank: the default has the highest
 * @registration: serial number of the registration
 * @name: its name
 */
struct function_tracer {
	struct list_head list;
	struct kref kref;
	struct ftrace_ops *ops;
	bool registered;
	u64 rank;
	u64 registration;
	char name[NAME_SIZE];
};

/* These names are reserved for the kernel. Adding them needs no allocation. */
static struct function_tracer tracers_of_kernel[] = {
	{ .kref = KREF_INIT(1), .name = "trace" },
	{ .kref = KREF_INIT(1), .name = "trace_profile" },
};

/* Nests outside the regex_lock of filters and outside ftrace_lock. */
static DEFINE_MUTEX(tracers_mutex);
static LIST_HEAD(tracers);
static u64 last_rank, last_registration;

#define for_each_registered(tracer)					\
	list_for_each_entry(tracer, &tracers, list)			\
		if ((tracer)->registered)

static struct function_tracer *find_name(const char *name)
{
	struct function_tracer *tracer;

	list_for_each_entry(tracer, &tracers, list)
		if (!strcmp(tracer->name, name))
			return tracer;
	return NULL;
}

static struct function_tracer *find_ops(const struct ftrace_ops *ops)
{
	struct function_tracer *tracer;

	list_for_each_entry(tracer, &tracers, list)
		if (tracer->ops == ops)
			return tracer;
	return NULL;
}

static struct function_tracer *default_tracer(void)
{
	struct function_tracer *tracer, *last = NULL;

	for_each_registered(tracer)
		if (!last || tracer->rank > last->rank)
			last = tracer;
	return last;
}

static struct function_tracer *tracer_of_kernel(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(tracers_of_kernel); i++)
		if (!strcmp(tracers_of_kernel[i].name, name))
			return &tracers_of_kernel[i];
	return NULL;
}

static bool is_name(const char *name)
{
	size_t i, len = strnlen(name, NAME_SIZE);

	for (i = 0; i < len; i++)
		if (!isascii(name[i]) || !isgraph(name[i]) || strchr("[]", name[i]))
			return false;
	return len && len < NAME_SIZE;
}

/* Users must not change the filters of these: other code relies on them. */
static bool has_fixed_filter(const struct ftrace_ops *ops)
{
	return ops->flags & (FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_DIRECT);
}

static int check_tracer(const char *name, const struct ftrace_ops *ops)
{
	if (!is_name(name)) {
		pr_err("ftrace: '%.32s' cannot be the name of a function tracer: choose up to %u printable characters without blanks and brackets\n",
		       name, NAME_SIZE - 1);
		return -EINVAL;
	}
	if (has_fixed_filter(ops)) {
		pr_err("ftrace: function tracer %s cannot have a name with IPMODIFY or DIRECT: leave the name out\n",
		       name);
		return -EINVAL;
	}
	return 0;
}

/* Return: the tracer to add, or an ERR_PTR. */
static struct function_tracer *new_tracer(const char *name, struct ftrace_ops *ops)
{
	struct function_tracer *tracer = tracer_of_kernel(name);

	if (find_name(name) || (tracer && !is_kernel_core_data((unsigned long)ops))) {
		pr_err("ftrace: a function tracer has the name %s already: choose another one\n",
		       name);
		return ERR_PTR(-EEXIST);
	}
	if (tracer) {
		kref_get(&tracer->kref);
	} else {
		tracer = kzalloc(sizeof(*tracer), GFP_KERNEL);
		if (!tracer)
			return ERR_PTR(-ENOMEM);
		kref_init(&tracer->kref);
		strscpy(tracer->name, name, NAME_SIZE);
	}
	tracer->ops = ops;
	tracer->registration = ++last_registration;
	return tracer;
}

/* The caller removes the entry by @ops, so @ops must not have another entry. */
static int add_tracer(const char *name, struct ftrace_ops *ops)
{
	struct function_tracer *tracer = find_ops(ops);

	if (tracer) {
		pr_err("ftrace: function tracer %s is registered already\n", tracer->name);
		return -EBUSY;
	}
	if (!name)
		return 0;
	tracer = new_tracer(name, ops);
	if (IS_ERR(tracer))
		return PTR_ERR(tracer);
	list_add_tail(&tracer->list, &tracers);
	return 0;
}

/**
 * function_tracer_add - reserve the name of a function tracer
 * @name: its name, or NULL if it has none
 * @ops: the tracer, which is about to be registered
 *
 * It is not visible before function_tracer_registered().
 *
 * Context: may sleep; ftrace_lock is not held.
 * Return: 0; -EINVAL if @name is invalid or @ops cannot have a name; -EEXIST if
 *	   @name is in use or reserved for the kernel; -EBUSY if @ops is registered,
 *	   with any name; or -ENOMEM.
 */
int function_tracer_add(const char *name, struct ftrace_ops *ops)
{
	int ret = name ? check_tracer(name, ops) : 0;

	if (ret)
		return ret;
	mutex_lock(&tracers_mutex);
	ret = add_tracer(name, ops);
	mutex_unlock(&tracers_mutex);
	return ret;
}

ALLOW_ERROR_INJECTION(function_tracer_add, ERRNO);

/**
 * function_tracer_registered - make a function tracer visible, as the default
 * @ops: the tracer, which is registered; nothing is done if it has no name
 *
 * Context: may sleep; ftrace_lock is not held.
 */
void function_tracer_registered(const struct ftrace_ops *ops)
{
	struct function_tracer *tracer;

	mutex_lock(&tracers_mutex);
	tracer = find_ops(ops);
	if (tracer) {
		tracer->registered = true;
		tracer->rank = ++last_rank;
	}
	mutex_unlock(&tracers_mutex);
}

static void free_tracer(struct kref *kref)
{
	kfree(container_of(kref, struct function_tracer, kref));
}

/**
 * function_tracer_put - undo function_tracer_get()
 * @tracer: the tracer
 */
void function_tracer_put(struct function_tracer *tracer)
{
	kref_put(&tracer->kref, free_tracer);
}

static void remove_tracer(struct function_tracer *tracer)
{
	list_del(&tracer->list);
	tracer->registered = false;
	function_tracer_put(tracer);
}

/**
 * function_tracer_remove - undo function_tracer_add()
 * @ops: the tracer, which is about to be unregistered; nothing is done if it
 *	 has no name
 *
 * No open file uses it afterwards. If it was the default, the previous default
 * is the default again.
 *
 * Context: may sleep; ftrace_lock is not held.
 */
void function_tracer_remove(const struct ftrace_ops *ops)
{
	struct function_tracer *tracer;

	mutex_lock(&tracers_mutex);
	tracer = find_ops(ops);
	if (tracer)
		remove_tracer(tracer);
	mutex_unlock(&tracers_mutex);
}

#ifdef CONFIG_MODULES
static bool is_of(const struct ftrace_ops *ops, const struct module *mod)
{
	return within_module((unsigned long)ops, mod) ||
	       within_module((unsigned long)ops->saved_func, mod);
}

/* Return: a tracer of the module, whose name is removed; or NULL */
static struct ftrace_ops *take_ops_of(const struct module *mod)
{
	struct function_tracer *tracer;
	struct ftrace_ops *ops = NULL;

	mutex_lock(&tracers_mutex);
	for_each_registered(tracer) {
		if (!is_of(tracer->ops, mod))
			continue;
		ops = tracer->ops;
		pr_err("ftrace: module %s is unloaded with its function tracer %s registered: call unregister_ftrace_function() before\n",
		       mod->name, tracer->name);
		remove_tracer(tracer);
		break;
	}
	mutex_unlock(&tracers_mutex);
	return ops;
}

/**
 * function_tracers_remove_of - unregister named tracers of an unloaded module
 * @mod: the module, whose exit function has returned
 *
 * Context: may sleep; ftrace_lock is not held.
 */
void function_tracers_remove_of(const struct module *mod)
{
	struct ftrace_ops *ops;

	while ((ops = take_ops_of(mod))) {
		/* The filters would be lost with an ops in the module's memory. */
		if (!unregister_ftrace_function(ops) &&
		    within_module((unsigned long)ops, mod) &&
		    ops->func_hash == &ops->local_hash)
			ftrace_free_filter(ops);
	}
}
#endif

/**
 * function_tracers_each - call a function for the filters of each named tracer
 * @func: the function
 * @arg: its second argument
 *
 * Context: may sleep.
 */
void function_tracers_each(void (*func)(struct ftrace_ops_hash *filter, void *arg),
			   void *arg)
{
	struct function_tracer *tracer;

	mutex_lock(&tracers_mutex);
	for_each_registered(tracer)
		func(tracer->ops->func_hash, arg);
	mutex_unlock(&tracers_mutex);
}

/**
 * function_tracer_get - get the tracer of a file that is being opened
 * @ops: its ops
 * @registration: set to the value that function_tracer_lock() needs
 *
 * Context: inside function_tracers_open(), which holds tracers_mutex.
 * Return: the tracer, to be released by function_tracer_put().
 */
struct function_tracer *function_tracer_get(const struct ftrace_ops *ops,
					    u64 *registration)
{
	struct function_tracer *tracer = find_ops(ops);

	lockdep_assert_held(&tracers_mutex);
	kref_get(&tracer->kref);
	*registration = tracer->registration;
	return tracer;
}

/**
 * function_tracer_lock - keep the tracer of an open file registered
 * @tracer: the tracer
 * @registration: from function_tracer_get()
 *
 * Context: may sleep.
 * Return: true; or false, without the lock, if the tracer was unregistered,
 *	   even if it is registered again.
 */
bool function_tracer_lock(struct function_tracer *tracer, u64 registration)
{
	mutex_lock(&tracers_mutex);
	if (tracer->registered && tracer->registration == registration)
		return true;
	mutex_unlock(&tracers_mutex);
	return false;
}

/**
 * function_tracer_unlock - undo function_tracer_lock()
 * @tracer: the tracer
 */
void function_tracer_unlock(struct function_tracer *tracer)
{
	mutex_unlock(&tracers_mutex);
}

/**
 * function_tracers_separate - check whether each tracer has a filter of its own
 *
 * Return: true if the option function-tracers is on.
 */
bool function_tracers_separate(void)
{
	const struct trace_array *tr = global_ops.private;

	return tr && tr->trace_flags & TRACE_ITER_FUNCTION_TRACERS;
}

/* A line of the filters of several tracers, as of the opening of the file */
struct filter_line {
	char name[NAME_SIZE];
	unsigned long ip;	/* 0: no function */
	bool is_all;		/* there is no filter */
};

struct filter_lines {
	unsigned int nr;
	bool inverse;	/* of set_ftrace_notrace */
	struct filter_line *lines;
};

static void *lines_start(struct seq_file *m, loff_t *pos)
{
	const struct filter_lines *all = m->private;

	return *pos < all->nr ? &all->lines[*pos] : NULL;
}

static void *lines_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return lines_start(m, pos);
}

static void lines_stop(struct seq_file *m, void *v)
{
}

static int lines_show(struct seq_file *m, void *v)
{
	const struct filter_lines *all = m->private;
	const struct filter_line *line = v;

	seq_printf(m, "[%20s] ", line->name);
	if (line->ip)
		ftrace_show_function(m, line->ip);
	else if (!line->is_all)
		seq_puts(m, "#### functions of modules that are not loaded ####");
	else if (all->inverse)
		seq_puts(m, "#### no functions disabled ####");
	else
		seq_puts(m, "#### all functions enabled ####");
	seq_putc(m, '\n');
	return 0;
}

static const struct seq_operations lines_ops = {
	.start	= lines_start,
	.next	= lines_next,
	.stop	= lines_stop,
	.show	= lines_show,
};

static int compare_lines(const void *a, const void *b)
{
	const struct filter_line *line = a, *other = b;

	return line->ip < other->ip ? -1 : line->ip > other->ip;
}

/* Adds a line for each loaded function of @hash. Return: the number of lines */
static unsigned int add_functions(struct filter_line *lines,
				  const struct ftrace_hash *hash)
{
	struct ftrace_func_entry *entry;
	unsigned int i, nr = 0;

	for (i = 0; i < 1U << hash->size_bits; i++)
		hlist_for_each_entry(entry, &hash->buckets[i], hlist)
			if (entry->ip)	/* its module is loaded */
				lines[nr++].ip = entry->ip;
	sort(lines, nr, sizeof(*lines), compare_lines, NULL);
	return nr;
}

/* Adds at least one line. */
static int add_hash(struct filter_lines *all, const char *name,
		    struct ftrace_hash *hash)
{
	unsigned int i, nr = hash && hash->count ? hash->count : 1;
	struct filter_line *lines;

	/* Users may keep many of these files open. */
	lines = kvcalloc(all->nr + nr, sizeof(*lines), GFP_KERNEL_ACCOUNT);
	if (!lines)
		return -ENOMEM;
	memcpy(lines, all->lines, all->nr * sizeof(*lines));
	kvfree(all->lines);
	all->lines = lines;
	lines += all->nr;
	lines->is_all = ftrace_hash_empty(hash);
	if (hash && hash->count)
		nr = add_functions(lines, hash) ?: 1;
	for (i = 0; i < nr; i++)
		strscpy(lines[i].name, name, NAME_SIZE);
	all->nr += nr;
	return 0;
}

static int add_lines(struct filter_lines *all, const struct function_tracer *tracer)
{
	struct ftrace_ops_hash *hashes = tracer->ops->func_hash;
	struct ftrace_hash *hash;
	int ret;

	mutex_lock(&hashes->regex_lock);
	hash = rcu_dereference_protected(all->inverse ? hashes->notrace_hash :
							hashes->filter_hash,
					 lockdep_is_held(&hashes->regex_lock));
	ret = add_hash(all, tracer->name, hash);
	mutex_unlock(&hashes->regex_lock);
	return ret;
}

static void free_lines(struct filter_lines *all)
{
	kvfree(all->lines);
	kfree(all);
}

static int open_lines(struct file *file, bool inverse)
{
	int ret = tracing_check_open_get_tr(NULL);
	struct function_tracer *tracer;
	struct filter_lines *all;

	if (ret)
		return ret;
	all = kzalloc(sizeof(*all), GFP_KERNEL);
	if (!all)
		return -ENOMEM;
	all->inverse = inverse;
	for_each_registered(tracer) {
		ret = add_lines(all, tracer);
		if (ret)
			break;
	}
	if (!ret)
		ret = seq_open(file, &lines_ops);
	if (ret)
		free_lines(all);
	else
		((struct seq_file *)file->private_data)->private = all;
	return ret;
}

static bool is_for_reading(const struct file *file)
{
	return (file->f_mode & (FMODE_READ | FMODE_WRITE)) == FMODE_READ;
}

/**
 * function_tracers_release - end what function_tracers_open() began
 * @inode: of the file
 * @file: the file
 *
 * Return: true if the file showed the filters of several tracers; otherwise
 *	   false, and nothing is done.
 */
bool function_tracers_release(struct inode *inode, struct file *file)
{
	struct seq_file *m = file->private_data;

	if (!is_for_reading(file) || m->op != &lines_ops)
		return false;
	free_lines(m->private);
	seq_release(inode, file);
	return true;
}

static bool several(void)
{
	const struct function_tracer *tracer;
	unsigned int nr = 0;

	for_each_registered(tracer)
		nr++;
	return nr > 1;
}

/* Is it the filter of the top directory's files without the option? */
static bool has_top_filter(const struct function_tracer *tracer)
{
	return tracer->ops->func_hash == &global_ops.local_hash;
}

/**
 * function_tracers_open - open set_ftrace_filter or set_ftrace_notrace
 * @tr: the instance, or NULL for the top directory
 * @flag: see ftrace_regex_open()
 * @inode: of the file
 * @file: the file
 *
 * Context: may sleep.
 * Return: 0 or an error.
 */
int function_tracers_open(struct trace_array *tr, int flag, struct inode *inode,
			  struct file *file)
{
	struct function_tracer *tracer;
	bool top = false;
	int ret = 0;

	if (tr || !function_tracers_separate())
		return ftrace_regex_open(tr, NULL, flag, inode, file);

	mutex_lock(&tracers_mutex);
	tracer = default_tracer();
	if (is_for_reading(file) && several())
		ret = open_lines(file, flag & FTRACE_ITER_NOTRACE);
	else if (tracer && !has_top_filter(tracer))
		ret = ftrace_regex_open(NULL, tracer->ops, flag | FTRACE_ITER_TRACER,
					inode, file);
	else
		top = true;
	mutex_unlock(&tracers_mutex);
	/* This takes trace_types_lock, which nests outside tracers_mutex. */
	return top ? ftrace_regex_open(NULL, NULL, flag, inode, file) : ret;
}

static int tracers_show(struct seq_file *m, void *v)
{
	const struct function_tracer *tracer, *standard;

	mutex_lock(&tracers_mutex);
	standard = default_tracer();
	for_each_registered(tracer)
		seq_printf(m, tracer == standard ? "[%s]\n" : "%s\n", tracer->name);
	mutex_unlock(&tracers_mutex);
	return 0;
}

static int tracers_open(struct inode *inode, struct file *file)
{
	int ret = tracing_check_open_get_tr(NULL);

	return ret ?: single_open(file, tracers_show, NULL);
}

static const char *errors[] = { "No function tracer has this name" };

static ssize_t tracers_write(struct file *file, const char __user *user, size_t size,
			     loff_t *pos)
{
	struct function_tracer *tracer;
	char buffer[64], *name;
	size_t len = min(size, sizeof(buffer) - 1);
	bool is_text;

	if (copy_from_user(buffer, user, len))
		return -EFAULT;
	buffer[len] = '\0';
	is_text = size == len && strlen(buffer) + 1 >= size;	/* a NUL may end it */
	name = strim(buffer);

	mutex_lock(&tracers_mutex);
	tracer = is_text ? find_name(name) : NULL;
	if (tracer && !tracer->registered)
		tracer = NULL;
	if (tracer)
		tracer->rank = ++last_rank;
	mutex_unlock(&tracers_mutex);
	if (!tracer) {
		tracing_log_err(NULL, "function_tracers", name, errors, 0, 0);
		return -EINVAL;
	}
	*pos += size;
	return size;
}

static const struct file_operations tracers_fops = {
	.open		= tracers_open,
	.read		= seq_read,
	.write		= tracers_write,
	.llseek		= tracing_lseek,
	.release	= single_release,
};

/**
 * function_tracers_tracefs - make the file function_tracers
 * @parent: the top directory of tracefs
 */
void __init function_tracers_tracefs(struct dentry *parent)
{
	trace_create_file("function_tracers", TRACE_MODE_WRITE, parent, NULL,
			  &tracers_fops);
}
