// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Markers: the interface, to attach and detach probes, and to arm markers. See
 * linux/marker.h for its use and markers/markers.h for the other parts.
 *
 * site		struct marker, one for each trace_mark() in the code, in the
 *		section __markers of the kernel or of a module
 * entry	the data shared by all sites of a name and a format
 * probes	the array of an entry. It is replaced as a whole; the old array
 *		is freed after a grace period.
 *
 * Steps that can fail (memory, tracepoints) come before anything is changed.
 */
#define pr_fmt(fmt) "marker: " fmt

#include <linux/marker.h>
#include <linux/slab.h>

#include "markers/markers.h"

/* The function that a hit calls for a probe */
static marker_va_func *call_of(const struct marker_probe *probe, bool armed)
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

static void append_probe(struct marker_probes *probes,
			 const struct marker_probe *from)
{
	struct marker_probe *probe = &probes->probe[probes->count++];

	*probe = *from;
	probe->data = probe->variadic ? probe : probe->private;
}

/*
 * Makes a new array: the probes of an entry without @del, and @add at the end.
 *
 * Return: the array, or NULL if it would be empty, or an ERR_PTR.
 */
static struct marker_probes *make_probes(const struct marker_entry *entry,
					 const struct marker_probe *add,
					 const struct marker_probe *del)
{
	unsigned int count = marker_count_probes(entry) + !!add - !!del, i;
	const struct marker_probes *old = entry->probes;
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
	probes = make_probes(entry, add, NULL);
	if (IS_ERR(probes))
		return PTR_ERR(probes);
	ret = update_entry(entry, probes, entry->name->arm_count);
	if (ret)
		kfree(probes);
	return ret;
}

/*
 * Cannot fail: if memory is short, the probe stays in the array as a no-op until
 * the probes change next. The entry may be freed.
 */
static void remove_probe(struct marker_entry *entry, struct marker_probe *probe)
{
	struct marker_probes *probes = make_probes(entry, NULL, probe);

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
 * Does @text fit, with its NUL, into @size? A name or a format that does not is
 * that of no marker.
 */
static bool is_valid(const char *text, size_t size)
{
	return text && strnlen(text, size) < size;
}

static bool is_valid_name(const char *name)
{
	return is_valid(name, MARKER_NAME_LEN) && *name;
}

/* If there are sites of this name, some of them must have the format. */
static int check_format(const struct marker_entry *wanted)
{
	const struct marker_entry *entry;

	if (!list_empty(&wanted->sites))
		return 0;
	list_for_each_entry(entry, &wanted->name->entries, list) {
		if (list_empty(&entry->sites))
			continue;
		pr_warn("%s: a probe wants the format \"%s\", but the marker has \"%s\"; register with that\n",
			wanted->name->name, wanted->format, entry->format);
		return -EPERM;
	}
	return 0;
}

/* A variadic probe is called with words, of which there is a limited number. */
static bool fits_words(const struct marker_layout *layout)
{
	unsigned int i;

	if (!layout || layout->nr_fields > MARKER_VARIADIC_ARGS)
		return false;
	for (i = 0; i < layout->nr_fields; i++)
		if (layout->field[i].size > sizeof(long))
			return false;
	return true;
}

static int check_variadic(const struct marker_entry *entry, const struct marker_probe *add)
{
	if (!add->variadic || fits_words(entry->layout))
		return 0;
	pr_warn("%s: a variadic probe cannot be called with \"%s\"; use a marker_va_func\n",
		entry->name->name, entry->format);
	return -EINVAL;
}

static int register_probe(const char *name, const char *format,
			  const struct marker_probe *add)
{
	struct marker_entry *entry;
	int ret;

	might_sleep();
	if (!is_valid_name(name) || !is_valid(format, MARKER_FORMAT_LEN) || !add->func)
		return -EINVAL;
	guard(mutex)(&markers_mutex);
	entry = marker_get_entry(name, format);
	if (!entry)
		return -ENOMEM;
	ret = check_variadic(entry, add) ?: check_format(entry) ?: add_probe(entry, add);
	marker_put_entry(entry);	/* frees it unless it is in use */
	return ret;
}

/* What the macro marker_probe_register() calls for a probe that takes a va_list. */
int marker_va_register(const char *name, const char *format,
		       marker_va_func *probe, void *private)
{
	const struct marker_probe add = {
		.func = (void *)probe, .private = private,
	};

	return register_probe(name, format, &add);
}
EXPORT_SYMBOL_GPL(marker_va_register);

/* The header has a macro of the name, which chooses between this and the above. */
#undef marker_probe_register

/**
 * marker_probe_register - attach a probe to a marker
 * @name: the name of the marker
 * @format: its format, which must match exactly
 * @probe: called while the marker is armed. A macro of the same name also accepts
 *	   a marker_va_func, which is called from now on.
 * @pdata: passed to the probe
 *
 * If there is no such marker, the probe waits for a module that has one.
 *
 * Context: may sleep; takes markers_mutex, tracepoints_mutex and what imv_set()
 *	    takes.
 * Return: 0; -EINVAL for a NULL @name, @format or @probe, a name that is empty
 *	   or longer than MARKER_NAME_LEN - 1, a format longer than
 *	   MARKER_FORMAT_LEN - 1 or one that a variadic probe cannot be called
 *	   with; -EPERM if markers of this name have other formats, with a message
 *	   that shows both; -EEXIST if the probe is attached with this @pdata;
 *	   -ENOMEM; or the error of registering on the tracepoint that feeds the
 *	   marker. On an error nothing is changed.
 */
int marker_probe_register(const char *name, const char *format,
			  marker_probe_func *probe, void *pdata)
{
	const struct marker_probe add = {
		.func = (void *)probe, .private = pdata, .variadic = true,
	};

	return register_probe(name, format, &add);
}
EXPORT_SYMBOL_GPL(marker_probe_register);

static int remove_by_name(const char *text, const void *func, const void *private)
{
	struct marker_name *name = marker_find_name(text);
	struct marker_probe *probe;
	struct marker_entry *entry;

	if (!name)
		return -ENOENT;
	list_for_each_entry(entry, &name->entries, list) {
		probe = find_probe(entry->probes, func, private);
		if (!probe)
			continue;
		remove_probe(entry, probe);
		return 0;
	}
	return -ENOENT;
}

/**
 * marker_probe_detach - detach a probe from a marker
 * @name: the name of the marker
 * @probe: the probe, of either type
 * @private: what it was registered with
 *
 * marker_probe_unregister() with three arguments calls it. The probe may still run
 * on other CPUs when this returns; see marker_synchronize_unregister(). Never fails
 * for lack of memory.
 *
 * Context: as for marker_probe_register().
 * Return: 0, -EINVAL for a NULL @probe or a bad @name, or -ENOENT if no such probe is
 *	   attached to this marker.
 */
int marker_probe_detach(const char *name, void *probe, void *private)
{
	might_sleep();
	if (!probe || !is_valid_name(name))
		return -EINVAL;
	guard(mutex)(&markers_mutex);
	return remove_by_name(name, probe, private);
}
EXPORT_SYMBOL_GPL(marker_probe_detach);

static bool remove_one_variadic(const char *text)
{
	struct marker_name *name = marker_find_name(text);
	struct marker_entry *entry;
	unsigned int i;

	if (!name)
		return false;
	list_for_each_entry(entry, &name->entries, list) {
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

#undef marker_probe_unregister	/* also a macro, with three arguments */

/**
 * marker_probe_unregister - detach all variadic probes of a marker
 * @name: the name of the marker
 *
 * With two more arguments, a probe and its data, it is marker_probe_detach().
 *
 * Context: as for marker_probe_register().
 */
void marker_probe_unregister(const char *name)
{
	might_sleep();
	if (!is_valid_name(name))
		return;
	guard(mutex)(&markers_mutex);
	while (remove_one_variadic(name))
		;
}
EXPORT_SYMBOL_GPL(marker_probe_unregister);

/**
 * marker_synchronize_unregister - wait for probes that still run
 *
 * Call it after unregistering a probe, before freeing its code or data.
 *
 * Context: may sleep; takes the locks of imv_set() if changes are deferred. On return
 *	    no CPU executes a probe that was unregistered before the call.
 */
void marker_synchronize_unregister(void)
{
	/* For deferred guards, and for the probe of a tracepoint that has the marker. */
	tracepoint_synchronize_unregister();
	/* A hit is no reader of tracepoint_srcu if no tracepoint feeds the marker. */
	synchronize_rcu();
}
EXPORT_SYMBOL_GPL(marker_synchronize_unregister);

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
	struct marker_name *name = marker_find_name(text);
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
	struct marker_name *name = marker_find_name(text);

	if (!name)
		return -ENOENT;
	if (!name->arm_count)
		return has_probes(name) ? -EINVAL : -ENOENT;
	if (!--name->arm_count)
		arm_entries(name, false, NULL);
	marker_put_name(name);
	return 0;
}

static int with_name(int (*fct)(const char *name), const char *name)
{
	might_sleep();
	if (!is_valid_name(name))
		return -EINVAL;
	guard(mutex)(&markers_mutex);
	return fct(name);
}

/**
 * marker_arm - enable the variadic probes of a marker
 * @name: the name of the marker
 *
 * Nests: a marker that was armed three times is disarmed after three calls of
 * marker_disarm(). All formats of the name are armed, including those that are
 * loaded or registered later. Probes of type marker_va_func do not depend on it.
 *
 * Context: as for marker_probe_register().
 * Return: 0, -EINVAL for a bad name, -ENOENT if nothing is registered for this
 *	   name, or the error of registering on the tracepoint that feeds it.
 */
int marker_arm(const char *name)
{
	return with_name(arm_name, name);
}
EXPORT_SYMBOL_GPL(marker_arm);

/**
 * marker_disarm - undo marker_arm()
 * @name: the name of the marker
 *
 * A marker stays armed when its probes are unregistered, until it is disarmed.
 *
 * Context: as for marker_probe_register().
 * Return: 0, -EINVAL for a bad name or if the marker is not armed, -ENOENT if
 *	   nothing is registered for this name.
 */
int marker_disarm(const char *name)
{
	return with_name(disarm_name, name);
}
EXPORT_SYMBOL_GPL(marker_disarm);
