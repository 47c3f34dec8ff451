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
#include <linux/ftrace.h>
#include <linux/kref.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <asm/sections.h>

#include "ftrace_internal.h"
#include "function_tracers.h"

/**
 * struct function_tracer - a named function tracer
 * @list: in the list of tracers, in the order of addition; empty after removal
 * @defaults: in the list of tracers that begins with the default
 * @kref: an open file may outlive the tracer
 * @ops: the tracer, which has the name
 */
struct function_tracer {
	struct list_head list;
	struct list_head defaults;
	struct kref kref;
	struct ftrace_ops *ops;
};

/* Nests outside the regex_lock of filters and outside ftrace_lock. */
static DEFINE_MUTEX(tracers_mutex);
static LIST_HEAD(tracers);
static LIST_HEAD(defaults);

static struct function_tracer *find_name(const char *name)
{
	struct function_tracer *tracer;

	list_for_each_entry(tracer, &tracers, list)
		if (!strcmp(tracer->ops->name, name))
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
	return list_first_entry_or_null(&defaults, struct function_tracer, defaults);
}

/* Users must not change the filters of these: other code relies on them. */
static bool has_fixed_filter(const struct ftrace_ops *ops)
{
	return ops->flags & (FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_DIRECT);
}

/* The kernel's own tracers must find their names free whenever they are started. */
static bool is_reserved(const struct ftrace_ops *ops)
{
	return !is_kernel_core_data((unsigned long)ops) &&
	       (!strcmp(ops->name, "trace") || !strcmp(ops->name, "trace_profile"));
}

static int add_tracer(struct ftrace_ops *ops)
{
	struct function_tracer *tracer;

	if (find_name(ops->name) || is_reserved(ops)) {
		pr_err("ftrace: a function tracer has the name %s already: choose another one\n",
		       ops->name);
		return -EEXIST;
	}
	tracer = kzalloc_obj(*tracer);
	/* The kernel's own tracers expect no error: such a tracer is not listed. */
	if (!tracer)
		return is_kernel_core_data((unsigned long)ops) ? 0 : -ENOMEM;
	kref_init(&tracer->kref);
	tracer->ops = ops;
	list_add_tail(&tracer->list, &tracers);
	list_add(&tracer->defaults, &defaults);
	return 0;
}

/*
 * Makes a function tracer visible, as the default, if it has a name. ftrace_lock is not
 * held.
 */
int function_tracer_add(struct ftrace_ops *ops)
{
	if (!ops->name)
		return 0;
	if (has_fixed_filter(ops))
		return -EINVAL;
	guard(mutex)(&tracers_mutex);
	return add_tracer(ops);
}

static void free_tracer(struct kref *kref)
{
	kfree(container_of(kref, struct function_tracer, kref));
}

void function_tracer_put(struct function_tracer *tracer)
{
	kref_put(&tracer->kref, free_tracer);
}

/*
 * No open file uses @ops afterwards. If it was the default, the previous default
 * is the default again. ftrace_lock is not held.
 */
void function_tracer_remove(const struct ftrace_ops *ops)
{
	struct function_tracer *tracer;

	if (!ops->name)
		return;
	guard(mutex)(&tracers_mutex);
	tracer = find_ops(ops);
	if (tracer) {
		list_del_init(&tracer->list);
		list_del(&tracer->defaults);
		function_tracer_put(tracer);
	}
}

void function_tracers_each(void (*func)(struct ftrace_ops_hash *filter, void *arg),
			   void *arg)
{
	struct function_tracer *tracer;

	guard(mutex)(&tracers_mutex);
	list_for_each_entry(tracer, &tracers, list)
		func(tracer->ops->func_hash, arg);
}

/* For a file that is being opened, inside function_tracers_open(). */
struct function_tracer *function_tracer_get(const struct ftrace_ops *ops)
{
	struct function_tracer *tracer = find_ops(ops);

	lockdep_assert_held(&tracers_mutex);
	kref_get(&tracer->kref);
	return tracer;
}

/*
 * Keeps the tracer of an open file registered. Return: false, without the lock, if it was
 * unregistered.
 */
bool function_tracer_lock(struct function_tracer *tracer)
{
	mutex_lock(&tracers_mutex);
	if (!list_empty(&tracer->list))
		return true;
	mutex_unlock(&tracers_mutex);
	return false;
}

void function_tracer_unlock(void)
{
	mutex_unlock(&tracers_mutex);
}

/* Do set_ftrace_filter and set_ftrace_notrace belong to the default tracer? */
bool function_tracers_separate(void)
{
	const struct trace_array *tr = global_ops.private;

	return tr && tr->trace_flags & TRACE_ITER(FUNCTION_TRACERS);
}

static void show_filter(struct seq_file *m, const struct function_tracer *tracer,
			bool inverse)
{
	struct ftrace_ops_hash *filter = tracer->ops->func_hash;
	const char *no_filter = inverse ? "no functions disabled" : "all functions enabled";
	struct ftrace_hash *hash;

	guard(mutex)(&filter->regex_lock);
	hash = rcu_dereference_protected(inverse ? filter->notrace_hash :
						   filter->filter_hash,
					 lockdep_is_held(&filter->regex_lock));
	if (ftrace_hash_empty(hash))
		seq_printf(m, "[%20s] #### %s ####\n", tracer->ops->name, no_filter);
	else if (!ftrace_show_hash(m, tracer->ops->name, hash))
		seq_printf(m, "[%20s] #### functions of modules that are not loaded ####\n",
			   tracer->ops->name);
}

static int filters_show(struct seq_file *m, void *v)
{
	const struct function_tracer *tracer;

	guard(mutex)(&tracers_mutex);
	list_for_each_entry(tracer, &tracers, list)
		show_filter(m, tracer, m->private);
	return 0;
}

static const struct file_operations filters_fops = {
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= single_release,
};

/* The file shows the filters of all tracers. */
static int open_filters(struct file *file, bool inverse)
{
	int ret = tracing_check_open_get_tr(NULL);

	if (ret)
		return ret;
	replace_fops(file, &filters_fops);
	return single_open(file, filters_show, (void *)(unsigned long)inverse);
}

static bool is_for_reading(const struct file *file)
{
	return (file->f_mode & (FMODE_READ | FMODE_WRITE)) == FMODE_READ;
}

/* Is it the filter of the top directory's files without the option? */
static bool has_top_filter(const struct function_tracer *tracer)
{
	return tracer->ops->func_hash == &global_ops.local_hash;
}

/* Opens set_ftrace_filter or set_ftrace_notrace. @tr: NULL for the top directory */
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
	if (is_for_reading(file) && tracer && !list_is_singular(&tracers))
		ret = open_filters(file, flag & FTRACE_ITER_NOTRACE);
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
	const struct function_tracer *tracer;

	guard(mutex)(&tracers_mutex);
	list_for_each_entry(tracer, &tracers, list)
		seq_printf(m, tracer == default_tracer() ? "[%s]\n" : "%s\n", tracer->ops->name);
	return 0;
}

static int tracers_open(struct inode *inode, struct file *file)
{
	int ret = tracing_check_open_get_tr(NULL);

	return ret ?: single_open(file, tracers_show, NULL);
}

enum { UNKNOWN_NAME, OPTION_OFF };

static const char *errors[] = {
	[UNKNOWN_NAME] = "No function tracer has this name",
	[OPTION_OFF] = "The trace option is off: echo 1 > options/function-tracers",
};

static int set_default(const char *name)
{
	struct function_tracer *tracer;

	if (!function_tracers_separate()) {
		tracing_log_err(NULL, "function_tracers", name, errors, OPTION_OFF, 0);
		return -EINVAL;
	}
	mutex_lock(&tracers_mutex);
	tracer = find_name(name);
	if (tracer)
		list_move(&tracer->defaults, &defaults);
	mutex_unlock(&tracers_mutex);
	if (tracer)
		return 0;
	tracing_log_err(NULL, "function_tracers", name, errors, UNKNOWN_NAME, 0);
	return -EINVAL;
}

static ssize_t tracers_write(struct file *file, const char __user *user, size_t size,
			     loff_t *pos)
{
	char buffer[64];
	size_t len = min(size, sizeof(buffer) - 1);	/* more than a name */
	int ret;

	if (copy_from_user(buffer, user, len))
		return -EFAULT;
	buffer[len] = '\0';
	ret = set_default(strim(buffer));
	if (ret)
		return ret;
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

void __init function_tracers_tracefs(struct dentry *parent)
{
	trace_create_file("function_tracers", TRACE_MODE_WRITE, parent, NULL,
			  &tracers_fops);
}
