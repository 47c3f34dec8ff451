// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Markers: the interface, and the registry of probes by name and format. See
 * linux/marker.h for the interface and markers/markers.h for the other parts.
 *
 * site		struct marker, one for each trace_mark() in the code, in the
 *		section __markers of the kernel or of a module
 * entry	the data shared by all sites of a name and a format; it exists
 *		while it has sites, probes, or a trace event
 * probes	the array of an entry. It is replaced as a whole; the old array
 *		is freed after a grace period.
 *
 * Steps that can fail (memory, tracepoints) come before anything is changed.
 */
#define pr_fmt(fmt) "marker: " fmt

#include <linux/err.h>
#include <linux/error-injection.h>
#include <linux/list.h>
#include <linux/marker.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/rbtree.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/stringhash.h>

#include "markers/markers.h"

DEFINE_MUTEX(markers_mutex);	/* protects all of this file */
LIST_HEAD(marker_attached);

/*
 * All names, sorted by their hash. A tree needs no memory of its own. It works
 * before interrupts are enabled, when the command line enables trace events.
 */
static struct rb_root marker_names = RB_ROOT;

static LIST_HEAD(marker_stale);

/*
 * Names and entries
 */

/* A name to look up */
struct name_key {
	unsigned int hash;
	const char *name;
};

static struct name_key key_of(const char *name)
{
	return (struct name_key) {
		.hash = full_name_hash(NULL, name, strlen(name)), .name = name,
	};
}

static struct marker_name *name_of(const struct rb_node *node)
{
	return rb_entry(node, struct marker_name, node);
}

static int compare_key(const void *key, const struct rb_node *node)
{
	const struct marker_name *name = name_of(node);
	const struct name_key *wanted = key;

	if (wanted->hash != name->hash)
		return wanted->hash < name->hash ? -1 : 1;
	return strcmp(wanted->name, name->name);
}

static int compare_nodes(struct rb_node *added, const struct rb_node *node)
{
	const struct name_key key = {
		.hash = name_of(added)->hash, .name = name_of(added)->name,
	};

	return compare_key(&key, node);
}

static struct marker_name *find_name(const char *name)
{
	const struct name_key key = key_of(name);
	struct rb_node *node = rb_find(&key, &marker_names, compare_key);

	lockdep_assert_held(&markers_mutex);
	return node ? name_of(node) : NULL;
}

static struct marker_name *get_name(const char *text)
{
	struct marker_name *name = find_name(text);
	size_t size = strlen(text) + 1;

	if (name)
		return name;
	name = kzalloc(struct_size(name, name, size), GFP_KERNEL);
	if (!name)
		return NULL;
	INIT_LIST_HEAD(&name->entries);
	memcpy(name->name, text, size);
	name->hash = key_of(text).hash;
	rb_find_add(&name->node, &marker_names, compare_nodes);
	return name;
}

/* Frees a name that has no entries and is not armed. */
static void put_name(struct marker_name *name)
{
	if (!list_empty(&name->entries) || name->arm_count)
		return;
	rb_erase(&name->node, &marker_names);
	kfree(name);
}

static struct marker_entry *find_entry(const struct marker_name *name,
				       const char *format)
{
	struct marker_entry *entry;

	list_for_each_entry(entry, &name->entries, list)
		if (!strcmp(entry->format, format))
			return entry;
	return NULL;
}

/* An invalid format has no layout. */
static int set_layout(struct marker_entry *entry)
{
	struct marker_layout *layout = marker_layout_new(entry->format);

	if (!IS_ERR(layout))
		entry->layout = layout;
	else if (PTR_ERR(layout) == -ENOMEM)
		return -ENOMEM;
	return 0;
}

static struct marker_entry *new_entry(struct marker_name *name,
				      const char *format)
{
	size_t size = strlen(format) + 1;
	struct marker_entry *entry;

	entry = kzalloc(struct_size(entry, format, size), GFP_KERNEL);
	if (!entry)
		return NULL;
	memcpy(entry->format, format, size);
	if (set_layout(entry)) {
		kfree(entry);
		return NULL;
	}
	entry->name = name;
	RCU_INIT_POINTER(entry->call, marker_no_probes);
	INIT_LIST_HEAD(&entry->parts);
	INIT_LIST_HEAD(&entry->attached);
	INIT_LIST_HEAD(&entry->stale);
	list_add_tail(&entry->list, &name->entries);
	return entry;
}

/**
 * marker_get_entry - find or create an entry
 * @text: the name
 * @format: the format
 *
 * Return: the entry, which marker_put_entry() frees unless it is in use; or
 *	   NULL if memory is short.
 */
struct marker_entry *marker_get_entry(const char *text, const char *format)
{
	struct marker_name *name = get_name(text);
	struct marker_entry *entry;

	if (!name)
		return NULL;
	entry = find_entry(name, format) ?: new_entry(name, format);
	if (entry)
		return entry;
	put_name(name);
	return NULL;
}

ALLOW_ERROR_INJECTION(marker_get_entry, NULL);

/**
 * marker_put_entry - free an entry that has no sites, probes, or trace event
 * @entry: the entry
 */
void marker_put_entry(struct marker_entry *entry)
{
	struct marker_name *name = entry->name;

	lockdep_assert_held(&markers_mutex);
	if (!list_empty(&entry->parts))
		return;
	if (entry->event && list_empty(&entry->stale))
		list_add(&entry->stale, &marker_stale);
	if (entry->event || entry->probes)
		return;
	list_del(&entry->stale);
	list_del(&entry->list);
	marker_layout_free(entry->layout);
	kfree(entry);
	put_name(name);
}

bool marker_is_stale(void)
{
	bool found;

	mutex_lock(&markers_mutex);
	found = !list_empty(&marker_stale);
	mutex_unlock(&markers_mutex);
	return found;
}

struct marker_entry *marker_take_stale(void)
{
	struct marker_entry *entry;

	mutex_lock(&markers_mutex);
	entry = list_first_entry_or_null(&marker_stale, struct marker_entry,
					 stale);
	if (entry)
		list_del_init(&entry->stale);
	mutex_unlock(&markers_mutex);
	return entry;
}

/* @entry may be on marker_stale again: detaching its last probe adds it. */
void marker_move_stale(struct marker_entry *entry, struct list_head *list)
{
	mutex_lock(&markers_mutex);
	list_move_tail(&entry->stale, list);
	mutex_unlock(&markers_mutex);
}

void marker_return_stale(struct list_head *list)
{
	mutex_lock(&markers_mutex);
	list_splice(list, &marker_stale);
	mutex_unlock(&markers_mutex);
}

/*
 * Probes
 */

/* The function that a hit calls for a probe */
static marker_probe_func *call_of(const struct marker_probe *probe, bool armed)
{
	if (!probe->func || (probe->variadic && !armed))
		return marker_call_nobody;
	if (probe->variadic)
		return marker_call_variadic;
	return probe->func;
}

static bool wants_calls(const struct marker_probes *probes, bool armed)
{
	unsigned int i;

	for (i = 0; probes && i < probes->count; i++)
		if (call_of(&probes->probe[i], armed) != marker_call_nobody)
			return true;
	return false;
}

static void set_calls(struct marker_probes *probes, bool armed)
{
	unsigned int i;

	for (i = 0; probes && i < probes->count; i++)
		WRITE_ONCE(probes->probe[i].call,
			   call_of(&probes->probe[i], armed));
}

static void publish_probes(struct marker_entry *entry,
			   struct marker_probes *probes)
{
	struct marker_probes *old = entry->probes;

	entry->probes = probes;
	rcu_assign_pointer(entry->call,
			   probes ? probes->probe : marker_no_probes);
	if (!probes)
		list_del_init(&entry->attached);
	else if (!old)
		list_add_tail(&entry->attached, &marker_attached);
	if (old && old != probes)
		kfree_rcu(old, rcu);
}

/*
 * Sets the probes of an entry (possibly the same array) and whether it is
 * armed, then updates its sites and their tracepoints. The probes are published
 * before a guard is enabled. Deactivating an entry cannot fail.
 */
static int update_entry(struct marker_entry *entry, struct marker_probes *probes,
			bool armed)
{
	bool active = wants_calls(probes, armed), was_active = entry->active;
	int ret;

	if (active && !was_active) {
		ret = marker_connect_entry(entry);
		if (ret)
			return ret;
	}
	set_calls(probes, armed);
	publish_probes(entry, probes);
	if (active == was_active) {
		marker_finish_guards();
		return 0;
	}
	entry->active = active;
	marker_set_guards(entry);
	if (!active)
		marker_disconnect_entry(entry);
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

/**
 * marker_count_probes - count the probes attached to an entry
 * @entry: the entry
 *
 * Return: the number.
 */
unsigned int marker_count_probes(const struct marker_entry *entry)
{
	return count_probes(entry->probes);
}

static void append_probe(struct marker_probes *probes,
			 const struct marker_probe *from)
{
	struct marker_probe *probe = &probes->probe[probes->count++];

	*probe = *from;
	probe->data = probe->variadic ? probe : probe->private;
}

/*
 * Makes a new array: the probes of @old without @del, and @add at the end.
 *
 * Return: the array, or NULL if it would be empty, or an ERR_PTR.
 */
static struct marker_probes *make_probes(const struct marker_probes *old,
					 const struct marker_probe *add,
					 const struct marker_probe *del)
{
	unsigned int count = count_probes(old) + !!add - !!del, i;
	struct marker_probes *new;

	if (!count)
		return NULL;
	new = kzalloc(struct_size(new, probe, count + 1), GFP_KERNEL);
	if (!new)
		return ERR_PTR(-ENOMEM);
	for (i = 0; old && i < old->count; i++)
		if (old->probe[i].func && &old->probe[i] != del)
			append_probe(new, &old->probe[i]);
	if (add)
		append_probe(new, add);
	return new;
}

static int add_probe(struct marker_entry *entry, const struct marker_probe *add)
{
	struct marker_probes *probes;
	int ret;

	if (find_probe(entry->probes, add->func, add->private))
		return -EEXIST;
	probes = make_probes(entry->probes, add, NULL);
	if (IS_ERR(probes))
		return PTR_ERR(probes);
	ret = update_entry(entry, probes, entry->name->arm_count);
	if (ret)
		kfree(probes);
	return ret;
}

/**
 * marker_remove_probe - detach a probe
 * @entry: the entry; it may be freed
 * @probe: one of its probes
 *
 * Cannot fail: if memory is short, the probe stays in the array as a no-op
 * until the probes change next.
 */
void marker_remove_probe(struct marker_entry *entry, struct marker_probe *probe)
{
	struct marker_probes *probes = make_probes(entry->probes, NULL, probe);

	lockdep_assert_held(&markers_mutex);
	if (IS_ERR(probes)) {
		WRITE_ONCE(probe->func, NULL);
		probes = entry->probes;
	}
	update_entry(entry, probes, entry->name->arm_count);
	marker_put_entry(entry);
}

/*
 * The interface
 */

/*
 * Checks the name of a marker and the context of the caller. Copies the name to
 * @name, since the caller's string may change.
 */
static int check_call(const char *user_name, char name[MARKER_NAME_LEN])
{
	if (!user_name || strscpy(name, user_name, MARKER_NAME_LEN) <= 0)
		return -EINVAL;
	return tracepoint_check_context(name);
}

/* If there are sites of this name, some of them must have the format. */
static int check_format(const struct marker_entry *wanted)
{
	const struct marker_entry *entry;

	if (!list_empty(&wanted->parts))
		return 0;
	list_for_each_entry(entry, &wanted->name->entries, list) {
		if (list_empty(&entry->parts))
			continue;
		pr_warn("%s: a probe wants the format \"%s\", but the marker has \"%s\"; register with that\n",
			wanted->name->name, wanted->format, entry->format);
		return -EPERM;
	}
	return 0;
}

static int register_locked(const char *name, const char *format,
			   const struct marker_probe *add)
{
	struct marker_entry *entry = marker_get_entry(name, format);
	int ret;

	if (!entry)
		return -ENOMEM;
	ret = check_format(entry) ?: add_probe(entry, add);
	marker_put_entry(entry);	/* frees it unless it is in use */
	return ret;
}

/* The caller's string may change, so only the copy is used. */
static char *copy_format(const char *format)
{
	char *copy = kstrndup(format, MARKER_FORMAT_LEN, GFP_KERNEL);

	if (!copy)
		return ERR_PTR(-ENOMEM);
	if (strlen(copy) < MARKER_FORMAT_LEN)
		return copy;
	kfree(copy);
	return ERR_PTR(-EINVAL);
}

static int check_variadic(const char *name, const char *format)
{
	int ret = marker_check_variadic(format);

	if (ret == -EINVAL)
		pr_warn("%s: a variadic probe cannot be called with \"%s\"; use a marker_probe_func\n",
			name, format);
	return ret;
}

static int register_probe(const char *user_name, const char *user_format,
			  const struct marker_probe *add)
{
	char name[MARKER_NAME_LEN], *format;
	int ret;

	if (!user_format || !add->func)
		return -EINVAL;
	ret = check_call(user_name, name);
	if (ret)
		return ret;
	format = copy_format(user_format);
	if (IS_ERR(format))
		return PTR_ERR(format);
	if (add->variadic)
		ret = check_variadic(name, format);
	if (!ret) {
		mutex_lock(&markers_mutex);
		ret = register_locked(name, format, add);
		mutex_unlock(&markers_mutex);
	}
	kfree(format);
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

	return register_probe(name, format, &add);
}
EXPORT_SYMBOL_GPL(__marker_probe_register_variadic);

/* The entry may be freed when this returns true. */
static bool remove_from_entry(struct marker_entry *entry, const void *probe,
			      const void *private)
{
	struct marker_probe *found = find_probe(entry->probes, probe, private);

	if (found)
		marker_remove_probe(entry, found);
	return found;
}

static int remove_from_marker(const char *text, const void *probe,
			      const void *private)
{
	struct marker_name *name = find_name(text);
	struct marker_entry *entry;

	if (!name)
		return -ENOENT;
	list_for_each_entry(entry, &name->entries, list)
		if (remove_from_entry(entry, probe, private))
			return 0;
	return -ENOENT;
}

/* See marker_probe_unregister(). */
int __marker_probe_unregister(const char *user_name, void *probe, void *private)
{
	char name[MARKER_NAME_LEN];
	int ret;

	if (!probe)
		return -EINVAL;
	ret = check_call(user_name, name);
	if (ret)
		return ret;
	mutex_lock(&markers_mutex);
	ret = remove_from_marker(name, probe, private);
	mutex_unlock(&markers_mutex);
	return ret;
}
EXPORT_SYMBOL_GPL(__marker_probe_unregister);

static bool remove_one_variadic(const char *text)
{
	struct marker_name *name = find_name(text);
	struct marker_entry *entry;
	unsigned int i;

	if (!name)
		return false;
	list_for_each_entry(entry, &name->entries, list) {
		for (i = 0; entry->probes && i < entry->probes->count; i++) {
			struct marker_probe *probe = &entry->probes->probe[i];

			if (!probe->func || !probe->variadic)
				continue;
			marker_remove_probe(entry, probe);
			return true;
		}
	}
	return false;
}

/* See marker_probe_unregister(). */
int __marker_probe_unregister_name(const char *user_name)
{
	char name[MARKER_NAME_LEN];
	int ret = check_call(user_name, name);

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

	list_for_each_entry(entry, &marker_attached, attached)
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

static void *find_private_data(const char *text, const void *probe, int num)
{
	struct marker_name *name = find_name(text);
	struct marker_entry *entry;
	unsigned int i;

	if (!name)
		return ERR_PTR(-ENOENT);
	list_for_each_entry(entry, &name->entries, list)
		for (i = 0; entry->probes && i < entry->probes->count; i++)
			if (entry->probes->probe[i].func == probe && !num--)
				return entry->probes->probe[i].private;
	return ERR_PTR(-ENOENT);
}

/* See marker_get_private_data(). */
void *__marker_get_private_data(const char *user_name, void *probe, int num)
{
	char name[MARKER_NAME_LEN];
	void *private;
	int ret;

	if (!probe)
		return ERR_PTR(-EINVAL);
	ret = check_call(user_name, name);
	if (ret)
		return ERR_PTR(ret);
	mutex_lock(&markers_mutex);
	private = find_private_data(name, probe, num);
	mutex_unlock(&markers_mutex);
	return private;
}
EXPORT_SYMBOL_GPL(__marker_get_private_data);

static bool has_probes(const struct marker_name *name)
{
	const struct marker_entry *entry;

	list_for_each_entry(entry, &name->entries, list)
		if (entry->probes)
			return true;
	return false;
}

/* Arms or disarms the entries of a name, up to @stop; only arming can fail. */
static int arm_entries(struct marker_name *name, bool armed,
		       const struct marker_entry *stop)
{
	struct marker_entry *entry;
	int ret;

	list_for_each_entry(entry, &name->entries, list) {
		if (entry == stop)
			break;
		ret = update_entry(entry, entry->probes, armed);
		if (ret) {
			arm_entries(name, false, entry);
			return ret;
		}
	}
	return 0;
}

static int arm_name(const char *text)
{
	struct marker_name *name = find_name(text);
	int ret = 0;

	if (!name || (!name->arm_count && !has_probes(name)))
		return -ENOENT;
	if (!name->arm_count)
		ret = arm_entries(name, true, NULL);
	else
		marker_finish_guards();
	if (!ret)
		name->arm_count++;
	return ret;
}

static int disarm_name(const char *text)
{
	struct marker_name *name = find_name(text);

	if (!name)
		return -ENOENT;
	if (!name->arm_count)
		return has_probes(name) ? -EINVAL : -ENOENT;
	if (!--name->arm_count)
		arm_entries(name, false, NULL);
	put_name(name);
	return 0;
}

/**
 * marker_arm - enable the variadic probes of a marker
 * @name: the name of the marker
 *
 * Nests: a marker that was armed three times is disarmed after three calls of
 * marker_disarm(). All formats of the name are armed, including those that are
 * loaded or registered later. Probes of type marker_probe_func do not depend on it.
 *
 * Context: as for marker_probe_register().
 * Return: 0, -EINVAL for a bad name, -EBUSY in atomic context, -ENOENT if
 *	   nothing is registered for this name, or the error of registering on
 *	   the tracepoint that feeds it.
 */
int marker_arm(const char *name)
{
	char copy[MARKER_NAME_LEN];
	int ret = check_call(name, copy);

	if (ret)
		return ret;
	mutex_lock(&markers_mutex);
	ret = arm_name(copy);
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
	char copy[MARKER_NAME_LEN];
	int ret = check_call(name, copy);

	if (ret)
		return ret;
	mutex_lock(&markers_mutex);
	ret = disarm_name(copy);
	mutex_unlock(&markers_mutex);
	return ret;
}
EXPORT_SYMBOL_GPL(marker_disarm);
