// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Markers: the registry of probes by name and format, and the call of the
 * probes. See linux/marker.h for the interface.
 *
 * site		struct marker, one for each trace_mark() in the code, in the
 *		section __markers of the kernel or of a module
 * entry	what is registered for a name and a format; there may be sites
 *		for it or not, and the sites of all modules share it
 * probes	the array of an entry, which its sites point to. It is replaced
 *		as a whole, and freed when the CPUs have left it.
 *
 * What can fail, memory and tracepoints, comes before anything is changed.
 */
#define pr_fmt(fmt) "marker: " fmt

#include <linux/ctype.h>
#include <linux/hashtable.h>
#include <linux/list.h>
#include <linux/marker.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/stringhash.h>

extern struct marker __start___markers[], __stop___markers[];

/**
 * struct marker_probe - a probe attached to a marker
 * @func: the function, or NULL if it was removed without memory for a new array
 * @private: its private data
 * @variadic: is @func a marker_variadic_func?
 */
struct marker_probe {
	void *func;
	void *private;
	bool variadic;
};

/**
 * struct marker_probes - all probes of an entry
 * @rcu: to free it
 * @armed: call the variadic ones too
 * @count: number of @probe
 * @probe: the probes, in the order of their registration
 */
struct marker_probes {
	struct rcu_head rcu;
	bool armed;
	unsigned int count;
	struct marker_probe probe[];
};

/**
 * struct marker_entry - what is registered for a name and a format
 * @node: in marker_table, by name
 * @probes: the probes, or NULL
 * @arm_count: marker_arm() without marker_disarm()
 * @active: are sites to call the probes?
 * @format: the format, behind the name in @name
 * @name: the name
 */
struct marker_entry {
	struct hlist_node node;
	struct marker_probes *probes;
	unsigned int arm_count;
	bool active;
	const char *format;
	char name[];
};

/* The sites of the kernel or of a module. */
struct marker_range {
	struct list_head list;
	struct module *mod;
	struct marker *start, *stop;
};

/*
 * Protects entries and sites, and with marker_notify_mutex the list of ranges,
 * which either is enough to read. Nests outside
 * tracepoints_mutex and what imv_set() takes.
 */
static DEFINE_MUTEX(markers_mutex);

static DEFINE_HASHTABLE(marker_table, 6);

/* All ranges; that of the kernel is the first, from the start. */
static struct list_head marker_ranges;
static struct marker_range kernel_range = {
	.list = LIST_HEAD_INIT(marker_ranges),
	.start = __start___markers,
	.stop = __stop___markers,
};
static struct list_head marker_ranges = LIST_HEAD_INIT(kernel_range.list);

#define for_each_site(range, site)					\
	list_for_each_entry(range, &marker_ranges, list)		\
		for (site = (range)->start; site < (range)->stop; site++)

/*
 * Formats
 */

static const char *skip_length(const char *pos, struct marker_field *field)
{
	field->type = MARKER_INT;
	for (; *pos == 'l' || *pos == 'L'; pos++) {
		if (*pos == 'L' || field->type == MARKER_LONG)
			field->type = MARKER_LLONG;
		else
			field->type = MARKER_LONG;
	}
	return pos;
}

/**
 * marker_next_field - find the next conversion of a format
 * @format: pointer into the format; on success it is behind the conversion
 * @field: filled in
 *
 * Context: any.
 * Return: 1, 0 if there is none left, -EINVAL if it is not of a basic type.
 */
notrace int marker_next_field(const char **format, struct marker_field *field)
{
	const char *pos = *format;

	while (*pos && (*pos != '%' || pos[1] == '%'))
		pos += *pos == '%' ? 2 : 1;
	if (!*pos)
		return 0;

	field->spec = pos++;
	pos += strspn(pos, "-+ #0123456789.");
	pos = skip_length(pos, field);
	field->conversion = *pos;
	if (*pos == 's' || *pos == 'p')
		field->type = MARKER_POINTER;
	else if (!*pos || !strchr("diuxXoc", *pos))
		return -EINVAL;
	field->is_signed = strchr("dic", *pos);
	*format = pos + 1;
	field->len = *format - field->spec;
	return 1;
}
EXPORT_SYMBOL_GPL(marker_next_field);

static bool is_of_word(char c)
{
	return isalnum(c) || c == '_';
}

/**
 * marker_field_name - find the name of an argument in a format
 * @text: where in the format to begin: behind the conversion before, or at the
 *	  start
 * @field: the conversion, from marker_next_field()
 * @len: set to the length of the name
 *
 * The name is the last word before the conversion that may be an identifier:
 * "addr" in "addr 0x%lx".
 *
 * Context: any.
 * Return: the name in the format, not terminated, or NULL if there is none.
 */
const char *marker_field_name(const char *text,
			      const struct marker_field *field,
			      unsigned int *len)
{
	const char *end = field->spec, *start;

	while (end > text) {
		if (!is_of_word(end[-1])) {
			end--;
			continue;
		}
		for (start = end; start > text && is_of_word(start[-1]); start--)
			;
		*len = end - start;
		if (!isdigit(*start))
			return start;
		end = start;
	}
	return NULL;
}
EXPORT_SYMBOL_GPL(marker_field_name);

/*
 * The arguments as they lie in registers and on the stack: in words.
 */
struct marker_words {
	unsigned long word[MARKER_VARIADIC_ARGS];
	unsigned int count;
};

/*
 * Some 32-bit ABIs align arguments of two words, as they align members of
 * structures. Three arguments with names come before.
 */
struct wide_arg {
	long word;
	long long wide;
};

#define WIDE_ARG_ALIGN	(offsetof(struct wide_arg, wide) / sizeof(long))
#define NAMED_ARGS	3

static unsigned int wide_arg_index(unsigned int count)
{
	return ALIGN(count + NAMED_ARGS, WIDE_ARG_ALIGN) - NAMED_ARGS;
}

/* How many words the arguments of a format take, or -EINVAL. */
static int count_words(const char *format)
{
	struct marker_field field;
	int count = 0, ret;

	while ((ret = marker_next_field(&format, &field)) > 0) {
		if (field.type == MARKER_LLONG)
			count = wide_arg_index(count) +
				sizeof(long long) / sizeof(long);
		else
			count++;
	}
	return ret ?: count;
}

static notrace void get_words(struct marker_words *words, const char *format,
			      va_list *args)
{
	struct marker_field field;
	long long wide;

	while (marker_next_field(&format, &field) > 0) {
		switch (field.type) {
		case MARKER_INT:
			words->word[words->count++] = va_arg(*args, int);
			break;
		case MARKER_LLONG:
			wide = va_arg(*args, long long);
			words->count = wide_arg_index(words->count);
			memcpy(&words->word[words->count], &wide, sizeof(wide));
			words->count += sizeof(wide) / sizeof(long);
			break;
		case MARKER_LONG:
		case MARKER_POINTER:
			words->word[words->count++] = va_arg(*args, long);
			break;
		}
	}
}

/*
 * C has no way to call a variadic function with the arguments of another one,
 * but the types are known from the format. The probe is called with all the
 * words there may be and takes those that the format tells it of.
 */
static notrace void call_variadic(marker_variadic_func *func,
				  const struct marker *marker, void *private,
				  va_list *args)
{
	struct marker_words words = { };
	unsigned long *w = words.word;

	BUILD_BUG_ON(MARKER_VARIADIC_ARGS != 16);
	get_words(&words, marker->format, args);
	func(marker, private, marker->format, w[0], w[1], w[2], w[3], w[4],
	     w[5], w[6], w[7], w[8], w[9], w[10], w[11], w[12], w[13], w[14],
	     w[15]);
}

/**
 * marker_call - call the probes of a marker
 * @marker: the marker
 * @call_private: second argument of the probes of type marker_probe_func
 *
 * The arguments of the format follow. For trace_mark() alone.
 *
 * Context: any in which RCU watches.
 */
notrace void marker_call(const struct marker *marker, void *call_private, ...)
{
	const struct marker_probes *probes;
	const struct marker_probe *probe;
	va_list args;

	preempt_disable_notrace();
	probes = rcu_dereference_sched(marker->probes);
	if (!probes)
		goto out;
	for (probe = probes->probe; probe < probes->probe + probes->count; probe++) {
		void *func = READ_ONCE(probe->func);

		if (!func || (probe->variadic && !READ_ONCE(probes->armed)))
			continue;
		va_start(args, call_private);
		if (probe->variadic)
			call_variadic(func, marker, probe->private, &args);
		else
			((marker_probe_func *)func)(probe->private, call_private,
						    marker->format, &args);
		va_end(args);
	}
out:
	preempt_enable_notrace();
}
EXPORT_SYMBOL_GPL(marker_call);

/*
 * Entries
 */

static struct hlist_head *name_bucket(const char *name)
{
	return &marker_table[hash_min(full_name_hash(NULL, name, strlen(name)),
				      HASH_BITS(marker_table))];
}

#define for_each_entry_of(entry, _name)					\
	hlist_for_each_entry(entry, name_bucket(_name), node)		\
		if (!strcmp((entry)->name, _name))

static struct marker_entry *find_entry(const char *name, const char *format)
{
	struct marker_entry *entry;

	lockdep_assert_held(&markers_mutex);
	for_each_entry_of(entry, name)
		if (!strcmp(entry->format, format))
			return entry;
	return NULL;
}

static struct marker_entry *make_entry(const char *name, const char *format)
{
	size_t name_size = strlen(name) + 1, format_size = strlen(format) + 1;
	struct marker_entry *entry;

	entry = kzalloc(struct_size(entry, name, name_size + format_size),
			GFP_KERNEL);
	if (!entry)
		return NULL;
	memcpy(entry->name, name, name_size);
	entry->format = memcpy(entry->name + name_size, format, format_size);
	hlist_add_head(&entry->node, name_bucket(name));
	return entry;
}

/* An entry that says nothing any more is freed. */
static void put_entry(struct marker_entry *entry)
{
	if (entry->probes || entry->arm_count)
		return;
	hlist_del(&entry->node);
	kfree(entry);
}

static bool site_is_of(const struct marker *site,
		       const struct marker_entry *entry)
{
	return !strcmp(site->name, entry->name) &&
	       !strcmp(site->format, entry->format);
}

/*
 * Sites
 */

/* Does another site use the same probe on the same tracepoint? */
static bool tracepoint_is_shared(const struct marker *site)
{
	struct marker_range *range;
	struct marker *other;

	for_each_site(range, other)
		if (other != site && other->tp_used && other->tp == site->tp &&
		    other->tp_cb == site->tp_cb)
			return true;
	return false;
}

static int connect_tracepoint(struct marker *site)
{
	int ret = 0;

	if (!site->tp)
		return 0;
	if (!tracepoint_is_shared(site))
		ret = tracepoint_probe_register(site->tp, site->tp_cb, NULL);
	if (ret)
		pr_err("%s: tracepoint %s cannot be connected: error %d\n",
		       site->name, site->tp->name, ret);
	else
		site->tp_used = true;
	return ret;
}

static void disconnect_tracepoint(struct marker *site)
{
	if (!site->tp_used)
		return;
	site->tp_used = false;
	if (!tracepoint_is_shared(site))
		tracepoint_probe_unregister(site->tp, site->tp_cb, NULL);
}

static void disconnect_tracepoints(const struct marker_entry *entry)
{
	struct marker_range *range;
	struct marker *site;

	for_each_site(range, site)
		if (site_is_of(site, entry))
			disconnect_tracepoint(site);
}

/* All of them, or none and an error. */
static int connect_tracepoints(const struct marker_entry *entry)
{
	struct marker_range *range;
	struct marker *site;
	int ret;

	for_each_site(range, site) {
		if (!site_is_of(site, entry))
			continue;
		ret = connect_tracepoint(site);
		if (ret) {
			disconnect_tracepoints(entry);
			return ret;
		}
	}
	return 0;
}

/* The probes are in place before the guard lets anybody pass. */
static void update_site(struct marker *site, struct marker_probes *probes,
			bool active)
{
	rcu_assign_pointer(site->probes, probes);
	if (site->active != active)
		imv_set_var(site->active, active);
}

static void update_sites(const struct marker_entry *entry)
{
	struct marker_range *range;
	struct marker *site;

	imv_batch_begin();
	for_each_site(range, site)
		if (site_is_of(site, entry))
			update_site(site, entry->probes, entry->active);
	imv_batch_commit();
}

/*
 * Probes
 */

static bool wants_calls(const struct marker_probes *probes, bool armed)
{
	unsigned int i;

	for (i = 0; probes && i < probes->count; i++)
		if (probes->probe[i].func && (armed || !probes->probe[i].variadic))
			return true;
	return false;
}

/*
 * Gives an entry other probes, or the same, and another arm count, and lets its
 * sites and their tracepoints follow. Turning it off does not fail.
 */
static int update_entry(struct marker_entry *entry, struct marker_probes *probes,
			unsigned int arm_count)
{
	struct marker_probes *old = entry->probes;
	bool active = wants_calls(probes, arm_count), was_active = entry->active;
	int ret;

	if (active && !was_active) {
		ret = connect_tracepoints(entry);
		if (ret)
			return ret;
	}

	entry->probes = probes;
	entry->arm_count = arm_count;
	entry->active = active;
	if (probes)
		WRITE_ONCE(probes->armed, arm_count);
	update_sites(entry);

	if (was_active && !active)
		disconnect_tracepoints(entry);
	if (old && old != probes)
		kfree_rcu(old, rcu);
	return 0;
}

static struct marker_probe *find_probe(struct marker_probes *probes,
				       const void *func, const void *private)
{
	unsigned int i;

	for (i = 0; probes && i < probes->count; i++)
		if (probes->probe[i].func == func &&
		    probes->probe[i].private == private)
			return &probes->probe[i];
	return NULL;
}

static unsigned int count_probes(const struct marker_probes *probes)
{
	unsigned int i, count = 0;

	for (i = 0; probes && i < probes->count; i++)
		count += !!probes->probe[i].func;
	return count;
}

/*
 * A new array: the probes of @old without @del, and @add at the end.
 *
 * Return: the array, or NULL if nothing is left, or an ERR_PTR.
 */
static struct marker_probes *make_probes(const struct marker_probes *old,
					 const struct marker_probe *add,
					 const struct marker_probe *del)
{
	unsigned int count = count_probes(old) + !!add - !!del, i;
	struct marker_probes *new;

	if (!count)
		return NULL;
	new = kmalloc(struct_size(new, probe, count), GFP_KERNEL);
	if (!new)
		return ERR_PTR(-ENOMEM);
	new->count = 0;
	for (i = 0; old && i < old->count; i++)
		if (old->probe[i].func && &old->probe[i] != del)
			new->probe[new->count++] = old->probe[i];
	if (add)
		new->probe[new->count++] = *add;
	return new;
}

/*
 * The interface
 */

static bool name_is_valid(const char *name)
{
	return name && *name && strnlen(name, MARKER_NAME_LEN) < MARKER_NAME_LEN;
}

/* Can what the caller wants be done to a marker of this name, here and now? */
static int check_call(const char *name)
{
	return name_is_valid(name) ? tracepoint_check_context(name) : -EINVAL;
}

/* If there are markers of this name, one of them must have the format. */
static int check_format(const char *name, const char *format)
{
	const char *other_format = NULL;
	struct marker_range *range;
	struct marker *site;

	for_each_site(range, site) {
		if (strcmp(site->name, name))
			continue;
		if (!strcmp(site->format, format))
			return 0;
		other_format = site->format;
	}
	if (!other_format)
		return 0;
	pr_warn("%s: a probe wants the format \"%s\", but the marker has \"%s\"; register with that\n",
		name, format, other_format);
	return -EPERM;
}

static int add_probe(const char *name, const char *format,
		     const struct marker_probe *add)
{
	struct marker_entry *entry = find_entry(name, format);
	struct marker_probes *probes;
	int ret;

	if (entry && find_probe(entry->probes, add->func, add->private))
		return -EEXIST;
	ret = check_format(name, format);
	if (ret)
		return ret;

	probes = make_probes(entry ? entry->probes : NULL, add, NULL);
	if (IS_ERR(probes))
		return PTR_ERR(probes);
	if (!entry)
		entry = make_entry(name, format);
	ret = entry ? update_entry(entry, probes, entry->arm_count) : -ENOMEM;
	if (ret) {
		kfree(probes);
		if (entry)
			put_entry(entry);
	}
	return ret;
}

static int register_probe(const char *name, const char *format,
			  const struct marker_probe *add)
{
	int ret;

	if (!format || !add->func)
		return -EINVAL;
	ret = check_call(name);
	if (ret)
		return ret;
	mutex_lock(&markers_mutex);
	ret = add_probe(name, format, add);
	mutex_unlock(&markers_mutex);
	return ret;
}

/* See marker_probe_register(). */
int __marker_probe_register(const char *name, const char *format,
			    marker_probe_func *probe, void *private)
{
	const struct marker_probe add = {
		.func = (void *)probe, .private = private,
	};

	return register_probe(name, format, &add);
}
EXPORT_SYMBOL_GPL(__marker_probe_register);

/* See marker_probe_register(). */
int __marker_probe_register_variadic(const char *name, const char *format,
				     marker_variadic_func *probe, void *private)
{
	const struct marker_probe add = {
		.func = (void *)probe, .private = private, .variadic = true,
	};
	int words = format ? count_words(format) : 0;

	if (words < 0 || words > MARKER_VARIADIC_ARGS) {
		pr_warn("%s: a variadic probe cannot be called with \"%s\"; use a marker_probe_func\n",
			name, format);
		return -EINVAL;
	}
	return register_probe(name, format, &add);
}
EXPORT_SYMBOL_GPL(__marker_probe_register_variadic);

static void remove_probe(struct marker_entry *entry, struct marker_probe *probe)
{
	struct marker_probes *probes = make_probes(entry->probes, NULL, probe);

	if (IS_ERR(probes)) {
		/* Cleaned up when the probes change next. */
		WRITE_ONCE(probe->func, NULL);
		probes = entry->probes;
	}
	update_entry(entry, probes, entry->arm_count);
	put_entry(entry);
}

/* The entry may be gone when this returns true. */
static bool remove_from_entry(struct marker_entry *entry, const void *probe,
			      const void *private)
{
	struct marker_probe *found = find_probe(entry->probes, probe, private);

	if (found)
		remove_probe(entry, found);
	return found;
}

static int remove_from_marker(const char *name, void *probe, void *private)
{
	struct marker_entry *entry;

	for_each_entry_of(entry, name)
		if (remove_from_entry(entry, probe, private))
			return 0;
	return -ENOENT;
}

/* See marker_probe_unregister(). */
int __marker_probe_unregister(const char *name, void *probe, void *private)
{
	int ret;

	if (!probe)
		return -EINVAL;
	ret = check_call(name);
	if (ret)
		return ret;
	mutex_lock(&markers_mutex);
	ret = remove_from_marker(name, probe, private);
	mutex_unlock(&markers_mutex);
	return ret;
}
EXPORT_SYMBOL_GPL(__marker_probe_unregister);

static bool remove_one_variadic(const char *name)
{
	struct marker_entry *entry;
	unsigned int i;

	for_each_entry_of(entry, name) {
		for (i = 0; entry->probes && i < entry->probes->count; i++) {
			struct marker_probe *probe = &entry->probes->probe[i];

			if (!probe->func || !probe->variadic)
				continue;
			remove_probe(entry, probe);
			return true;
		}
	}
	return false;
}

/* See marker_probe_unregister(). */
int __marker_probe_unregister_name(const char *name)
{
	int ret = check_call(name);

	if (ret)
		return ret;
	ret = -ENOENT;
	mutex_lock(&markers_mutex);
	while (remove_one_variadic(name))
		ret = 0;
	mutex_unlock(&markers_mutex);
	return ret;
}
EXPORT_SYMBOL_GPL(__marker_probe_unregister_name);

static int remove_from_any(void *probe, void *private)
{
	struct marker_entry *entry;
	int bucket;

	hash_for_each(marker_table, bucket, entry, node)
		if (remove_from_entry(entry, probe, private))
			return 0;
	return -ENOENT;
}

/* See marker_probe_unregister_private_data(). */
int __marker_probe_unregister_private_data(void *probe, void *private)
{
	int ret;

	if (!probe)
		return -EINVAL;
	ret = tracepoint_check_context("all markers");
	if (ret)
		return ret;
	mutex_lock(&markers_mutex);
	ret = remove_from_any(probe, private);
	mutex_unlock(&markers_mutex);
	return ret;
}
EXPORT_SYMBOL_GPL(__marker_probe_unregister_private_data);

static void *find_private_data(const char *name, const void *probe, int num)
{
	struct marker_entry *entry;
	unsigned int i;

	for_each_entry_of(entry, name)
		for (i = 0; entry->probes && i < entry->probes->count; i++)
			if (entry->probes->probe[i].func == probe && !num--)
				return entry->probes->probe[i].private;
	return ERR_PTR(-ENOENT);
}

/* See marker_get_private_data(). */
void *__marker_get_private_data(const char *name, void *probe, int num)
{
	void *private;
	int ret;

	if (!probe)
		return ERR_PTR(-EINVAL);
	ret = check_call(name);
	if (ret)
		return ERR_PTR(ret);
	mutex_lock(&markers_mutex);
	private = find_private_data(name, probe, num);
	mutex_unlock(&markers_mutex);
	return private;
}
EXPORT_SYMBOL_GPL(__marker_get_private_data);

static int check_arm_count(const char *name, int change)
{
	struct marker_entry *entry;
	int ret = -ENOENT;

	for_each_entry_of(entry, name) {
		if (change < 0 && !entry->arm_count)
			return -EINVAL;
		ret = 0;
	}
	return ret;
}

/* Changes the arm count of all entries of a name, or of none. */
static int change_arm_count(const char *name, int change)
{
	struct marker_entry *entry, *failed = NULL;
	int ret = check_arm_count(name, change);

	if (ret)
		return ret;
	for_each_entry_of(entry, name) {
		ret = update_entry(entry, entry->probes,
				   entry->arm_count + change);
		if (ret) {
			failed = entry;
			break;
		}
	}
	if (!failed)
		return 0;
	for_each_entry_of(entry, name) {
		if (entry == failed)
			break;
		update_entry(entry, entry->probes, entry->arm_count - change);
	}
	return ret;
}

/**
 * marker_arm - let the variadic probes of a marker be called
 * @name: the name of the marker
 *
 * Nests: a marker that was armed three times is disarmed after three calls of
 * marker_disarm(). Probes of type marker_probe_func are called anyway.
 *
 * Context: as for marker_probe_register().
 * Return: 0, -EINVAL for a bad name, -EBUSY in atomic context, -ENOENT if
 *	   nothing is registered for this name, or the error of connecting the
 *	   tracepoint that feeds it.
 */
int marker_arm(const char *name)
{
	int ret = check_call(name);

	if (ret)
		return ret;
	mutex_lock(&markers_mutex);
	ret = change_arm_count(name, 1);
	mutex_unlock(&markers_mutex);
	return ret;
}
EXPORT_SYMBOL_GPL(marker_arm);

/**
 * marker_disarm - undo marker_arm()
 * @name: the name of the marker
 *
 * A marker stays armed when its probes are unregistered, until it is disarmed.
 *
 * Context: as for marker_probe_register().
 * Return: 0, -EINVAL for a bad name or if the marker is not armed, -EBUSY in
 *	   atomic context, -ENOENT if nothing is registered for this name.
 */
int marker_disarm(const char *name)
{
	struct marker_entry *entry;
	struct hlist_node *next;
	int ret = check_call(name);

	if (ret)
		return ret;
	mutex_lock(&markers_mutex);
	ret = change_arm_count(name, -1);
	hlist_for_each_entry_safe(entry, next, name_bucket(name), node)
		put_entry(entry);
	mutex_unlock(&markers_mutex);
	return ret;
}
EXPORT_SYMBOL_GPL(marker_disarm);

/*
 * Lists
 */

/* The first site of those in a range that share name and format. */
static bool is_first_of_name(const struct marker_range *range,
			     const struct marker *site)
{
	const struct marker *other;

	for (other = range->start; other < site; other++)
		if (!strcmp(other->name, site->name) &&
		    !strcmp(other->format, site->format))
			return false;
	return true;
}

static unsigned int count_sites(const struct marker_range *range,
				const struct marker *site)
{
	unsigned int count = 0;
	const struct marker *other;

	for (other = site; other < range->stop; other++)
		count += !strcmp(other->name, site->name) &&
			 !strcmp(other->format, site->format);
	return count;
}

/**
 * for_each_marker - visit all markers
 * @fct: called for each name and format in the kernel and in each module; stops
 *	 the walk unless it returns 0
 * @priv: its second argument
 *
 * Context: may sleep; holds markers_mutex, so @fct must not attach or detach.
 * Return: what @fct returned last, or 0.
 */
int for_each_marker(int (*fct)(const struct marker_info *info, void *priv),
		    void *priv)
{
	struct marker_range *range;
	struct marker *site;
	int ret = 0;

	mutex_lock(&markers_mutex);
	for_each_site(range, site) {
		struct marker_entry *entry;
		struct marker_info info = { .marker = site, .mod = range->mod };

		if (ret || !is_first_of_name(range, site))
			continue;
		info.sites = count_sites(range, site);
		entry = find_entry(site->name, site->format);
		if (entry) {
			info.probes = count_probes(entry->probes);
			info.armed = entry->arm_count;
		}
		ret = fct(&info, priv);
	}
	mutex_unlock(&markers_mutex);
	return ret;
}
EXPORT_SYMBOL_GPL(for_each_marker);

/*
 * Modules
 */

/*
 * Protects the notifiers: each sees a module come and go once, also when it is
 * registered while the module loads. Nests outside markers_mutex, so that
 * notifiers may attach, detach and walk.
 */
static DEFINE_MUTEX(marker_notify_mutex);
static BLOCKING_NOTIFIER_HEAD(marker_notifiers);

static void notify_of_all(struct notifier_block *nb, unsigned long state)
{
	struct marker_range *range;

	list_for_each_entry(range, &marker_ranges, list)
		nb->notifier_call(nb, state, range->mod);
}

/**
 * register_marker_notifier - hear of markers that come and go
 * @nb: called with MARKERS_COMING or MARKERS_GOING and the struct module, or
 *	NULL for the kernel; at once for all that are there
 *
 * for_each_marker() visits the markers of a module that comes, and those of one
 * that goes no more.
 *
 * Context: may sleep. The notifier may register and unregister probes.
 * Return: 0, or -EEXIST if @nb is registered.
 */
int register_marker_notifier(struct notifier_block *nb)
{
	int ret;

	mutex_lock(&marker_notify_mutex);
	ret = blocking_notifier_chain_register(&marker_notifiers, nb);
	if (!ret)
		notify_of_all(nb, MARKERS_COMING);
	mutex_unlock(&marker_notify_mutex);
	return ret;
}
EXPORT_SYMBOL_GPL(register_marker_notifier);

/**
 * unregister_marker_notifier - undo the registration of a notifier
 * @nb: called once more for all that are there, as if they went
 *
 * Context: may sleep.
 * Return: 0, or -ENOENT if @nb is not registered.
 */
int unregister_marker_notifier(struct notifier_block *nb)
{
	int ret;

	mutex_lock(&marker_notify_mutex);
	ret = blocking_notifier_chain_unregister(&marker_notifiers, nb);
	if (!ret)
		notify_of_all(nb, MARKERS_GOING);
	mutex_unlock(&marker_notify_mutex);
	return ret;
}
EXPORT_SYMBOL_GPL(unregister_marker_notifier);

#ifdef CONFIG_MODULES
/* Probes that wait for this marker but know it with another format. */
static void warn_of_other_formats(const struct marker *site)
{
	struct marker_entry *entry;

	for_each_entry_of(entry, site->name)
		if (strcmp(entry->format, site->format))
			pr_warn("%s: a probe waits with the format \"%s\", but the marker has \"%s\"; register with that\n",
				site->name, entry->format, site->format);
}

static void site_coming(struct marker *site)
{
	struct marker_entry *entry = find_entry(site->name, site->format);

	warn_of_other_formats(site);
	if (!entry || (entry->active && connect_tracepoint(site)))
		return;
	update_site(site, entry->probes, entry->active);
}

static void site_going(struct marker *site)
{
	update_site(site, NULL, false);
	disconnect_tracepoint(site);
}

/* The kernel goes on without the probes that a module forgot. */
static bool drop_stray_probe(struct marker_entry *entry, struct module *mod)
{
	struct marker_probes *probes = entry->probes;
	unsigned int i;

	for (i = 0; probes && i < probes->count; i++) {
		struct marker_probe *probe = &probes->probe[i];

		if (!within_module((unsigned long)probe->func, mod))
			continue;
		pr_err("%s: module %s goes and leaves its probe %ps attached; unregister it in the module's exit function\n",
		       entry->name, mod->name, probe->func);
		remove_probe(entry, probe);
		return true;
	}
	return false;
}

static bool drop_one_stray_probe(struct module *mod)
{
	struct marker_entry *entry;
	struct hlist_node *next;
	int bucket;

	hash_for_each_safe(marker_table, bucket, next, entry, node)
		if (drop_stray_probe(entry, mod))
			return true;
	return false;
}

static int marker_module_coming(struct module *mod)
{
	struct marker_range *range;
	struct marker *site;

	if (!mod->num_markers || trace_module_has_bad_taint(mod))
		return 0;
	range = kmalloc(sizeof(*range), GFP_KERNEL);
	if (!range)
		return -ENOMEM;
	range->mod = mod;
	range->start = mod->markers;
	range->stop = mod->markers + mod->num_markers;

	mutex_lock(&marker_notify_mutex);
	mutex_lock(&markers_mutex);
	list_add_tail(&range->list, &marker_ranges);
	for (site = range->start; site < range->stop; site++)
		site_coming(site);
	mutex_unlock(&markers_mutex);
	blocking_notifier_call_chain(&marker_notifiers, MARKERS_COMING, mod);
	mutex_unlock(&marker_notify_mutex);
	return 0;
}

static struct marker_range *find_range(const struct module *mod)
{
	struct marker_range *range;

	list_for_each_entry(range, &marker_ranges, list)
		if (range->mod == mod)
			return range;
	return NULL;
}

/* Returns true if probes may still run when it is done. */
static bool remove_range(struct marker_range *range)
{
	struct marker *site;
	bool in_use = false;

	for (site = range->start; site < range->stop; site++) {
		in_use |= site->active;
		site_going(site);
	}
	list_del(&range->list);
	return in_use;
}

static void marker_module_going(struct module *mod)
{
	struct marker_range *range;
	bool in_use = false;

	mutex_lock(&marker_notify_mutex);
	mutex_lock(&markers_mutex);
	while (drop_one_stray_probe(mod))
		in_use = true;
	range = find_range(mod);
	if (range)
		in_use |= remove_range(range);
	mutex_unlock(&markers_mutex);
	if (range)
		blocking_notifier_call_chain(&marker_notifiers, MARKERS_GOING,
					     mod);
	mutex_unlock(&marker_notify_mutex);
	kfree(range);
	/* Probes in the module, on markers or tracepoints, may still run. */
	if (in_use)
		marker_synchronize_unregister();
}

static int marker_module_notify(struct notifier_block *nb, unsigned long state,
				void *data)
{
	int ret = 0;

	if (state == MODULE_STATE_COMING)
		ret = marker_module_coming(data);
	else if (state == MODULE_STATE_GOING)
		marker_module_going(data);
	return notifier_from_errno(ret);
}

static struct notifier_block marker_module_nb = {
	.notifier_call = marker_module_notify,
	.priority = 1,	/* disconnects before tracepoints look for strays */
};

static int __init init_markers(void)
{
	return register_module_notifier(&marker_module_nb);
}
device_initcall(init_markers);
#endif /* CONFIG_MODULES */
