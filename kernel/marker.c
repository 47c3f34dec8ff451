// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Markers: the interface, to attach and detach probes, and to arm markers. See
 * linux/marker.h for its use and markers/markers.h for the other parts.
 *
 * site	struct marker_site, in the section __markers of the kernel or of a module, which
 *		has one tracepoint for all of its markers of a name
 * entry	the data shared by all markers of a name and a format
 * probe	is attached to the tracepoints of all markers of its entry
 */
#define pr_fmt(fmt) "marker: " fmt

#include <linux/error-injection.h>
#include <linux/marker.h>
#include <linux/slab.h>

#include "markers/markers.h"

static struct marker_probe *find_probe(const struct marker_entry *entry,
				       const void *func, const void *private)
{
	struct marker_probe *probe;

	list_for_each_entry(probe, &entry->probes, list)
		if (probe->func == func && probe->private == private)
			return probe;
	return NULL;
}

static void free_probe(struct tp_retired *retired)
{
	kfree(container_of(retired, struct marker_probe, retired));
}

/* The caller then calls marker_put_entry(). */
static void retire_probe(struct marker_probe *probe)
{
	list_del(&probe->list);
	probe->entry->users--;
	tracepoint_free_later(&probe->retired, free_probe);
}

/* What the tracepoint calls for a probe, and the data. */
static void *callee_of(struct marker_probe *probe, void **data)
{
	*data = probe;
	switch (probe->kind) {
	case MARKER_PROBE_VA:
		return marker_call_va;
	case MARKER_PROBE_VARIADIC:
		return marker_call_variadic;
	default:
		*data = probe->private;
		return probe->func;
	}
}

static bool is_attachable(const struct marker_sites *sites)
{
	return !sites->module->going && !marker_is_refused(sites);
}

static int attach(struct marker_probe *probe, struct marker_sites *sites)
{
	void *data, *callee = callee_of(probe, &data);

	if (!is_attachable(sites))
		return 0;
	return tracepoint_probe_register(sites->tp, callee, data);
}

static void detach(struct marker_probe *probe, struct marker_sites *sites)
{
	void *data, *callee = callee_of(probe, &data);

	if (is_attachable(sites))
		tracepoint_probe_unregister(sites->tp, callee, data);
}

static void detach_all(struct marker_probe *probe)
{
	struct marker_sites *sites;

	list_for_each_entry(sites, &probe->entry->sites, in_entry)
		detach(probe, sites);
}

/*
 * Attaches the probe to all markers, or to none. The caller may free it after an error: it
 * must not run then, though it was attached for a moment.
 */
static noinline int marker_attach_probe(struct marker_probe *probe)
{
	struct marker_sites *sites;
	int ret;

	list_for_each_entry(sites, &probe->entry->sites, in_entry) {
		ret = attach(probe, sites);
		if (!ret)
			continue;
		list_for_each_entry_continue_reverse(sites, &probe->entry->sites, in_entry)
			detach(probe, sites);
		if (system_state >= SYSTEM_SCHEDULING)
			tracepoint_synchronize_unregister();
		return ret;
	}
	return 0;
}

ALLOW_ERROR_INJECTION(marker_attach_probe, ERRNO);

bool marker_is_called(const struct marker_probe *probe)
{
	return probe->kind != MARKER_PROBE_VARIADIC || probe->entry->name->arm_count;
}

/* Attaches those that wait for these markers, or none. */
int marker_attach_probes(struct marker_sites *sites)
{
	struct marker_probe *probe;
	int ret;

	list_for_each_entry(probe, &sites->entry->probes, list) {
		ret = marker_is_called(probe) ? attach(probe, sites) : 0;
		if (!ret)
			continue;
		list_for_each_entry_continue_reverse(probe, &sites->entry->probes, list)
			if (marker_is_called(probe))
				detach(probe, sites);
		return ret;
	}
	return 0;
}

void marker_detach_probes(struct marker_sites *sites)
{
	struct marker_probe *probe;

	list_for_each_entry(probe, &sites->entry->probes, list)
		if (marker_is_called(probe))
			detach(probe, sites);
}

static int add_probe(struct marker_entry *entry, const struct marker_probe *add)
{
	struct marker_probe *probe;
	int ret;

	if (find_probe(entry, add->func, add->private))
		return -EEXIST;
	probe = kmemdup(add, sizeof(*add), GFP_KERNEL);
	if (!probe)
		return -ENOMEM;
	probe->entry = entry;
	ret = marker_is_called(probe) ? marker_attach_probe(probe) : 0;
	entry->users++;
	list_add_tail(&probe->list, &entry->probes);
	if (ret)
		retire_probe(probe);	/* it may have been attached to some markers */
	else if (list_empty(&entry->attached))
		list_add_tail(&entry->attached, &marker_attached);
	return ret;
}

/* Cannot fail. */
static void remove_probe(struct marker_probe *probe)
{
	struct marker_entry *entry = probe->entry;

	if (marker_is_called(probe))
		detach_all(probe);
	retire_probe(probe);
	if (list_empty(&entry->probes))
		list_del_init(&entry->attached);
	marker_put_entry(entry);
}

/*
 * The interface
 */

/* Can probes be attached to none of its markers? */
bool marker_all_are_refused(const struct marker_entry *entry)
{
	const struct marker_sites *sites;

	list_for_each_entry(sites, &entry->sites, in_entry)
		if (!marker_is_refused(sites))
			return false;
	return true;
}

/* If there are sites of this name, some of them must have the format. */
static int check_format(const struct marker_entry *wanted)
{
	const struct marker_entry *entry;

	if (!wanted->layout) {
		pr_warn("%s: no marker can have the format \"%s\"\n",
			wanted->name->name, wanted->format);
		return -EINVAL;
	}
	if (!list_empty(&wanted->sites))
		return marker_all_are_refused(wanted) ? -EPERM : 0;
	list_for_each_entry(entry, &wanted->name->entries, list) {
		if (list_empty(&entry->sites))
			continue;
		pr_warn("%s: a probe wants the format \"%s\", but the marker has \"%s\"; register with that\n",
			wanted->name->name, wanted->format, entry->format);
		return -EPERM;
	}
	return 0;
}

static int register_probe(const char *name, const char *format,
			  const struct marker_probe *add)
{
	struct marker_entry *entry;
	int ret;

	guard(mutex)(&markers_mutex);
	entry = marker_get_entry(name, format);
	if (!entry)
		return -ENOMEM;
	ret = check_format(entry) ?: add_probe(entry, add);
	marker_put_entry(entry);	/* frees it unless it is in use */
	return ret;
}

/* What the macro marker_probe_register() calls for a probe that takes a va_list. */
int marker_va_register(const char *name, const char *format,
		       marker_va_func *probe, void *private)
{
	const struct marker_probe add = {
		.kind = MARKER_PROBE_VA, .func = (void *)probe, .private = private,
	};

	return register_probe(name, format, &add);
}
EXPORT_SYMBOL_GPL(marker_va_register);

/* For a probe of the tracepoint, which marker_probe_detach() detaches. */
int marker_words_register(const char *name, const char *format, void *probe, void *data)
{
	const struct marker_probe add = {
		.kind = MARKER_PROBE_WORDS, .func = probe, .private = data,
	};

	return register_probe(name, format, &add);
}

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
 * Return: 0; -EINVAL for a format that no marker can have, with a message; -EPERM if markers
 *	   of this name have other formats, with a message that shows both, now or when
 *	   the markers were loaded; -EEXIST if the probe is attached with this @pdata;
 *	   -ENOMEM; or the error of registering on the tracepoint that feeds the marker.
 *	   On an error nothing is changed.
 */
int marker_probe_register(const char *name, const char *format,
			  marker_probe_func *probe, void *pdata)
{
	const struct marker_probe add = {
		.kind = MARKER_PROBE_VARIADIC, .func = (void *)probe, .private = pdata,
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
		probe = find_probe(entry, func, private);
		if (!probe)
			continue;
		remove_probe(probe);
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
 * Return: 0, or -ENOENT if no such probe is attached to this marker.
 */
int marker_probe_detach(const char *name, void *probe, void *private)
{
	guard(mutex)(&markers_mutex);
	return remove_by_name(name, probe, private);
}
EXPORT_SYMBOL_GPL(marker_probe_detach);

static bool remove_one_variadic(const char *text)
{
	struct marker_name *name = marker_find_name(text);
	struct marker_entry *entry;
	struct marker_probe *probe;

	if (!name)
		return false;
	list_for_each_entry(entry, &name->entries, list) {
		list_for_each_entry(probe, &entry->probes, list) {
			if (probe->kind != MARKER_PROBE_VARIADIC)
				continue;
			remove_probe(probe);
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
	guard(mutex)(&markers_mutex);
	while (remove_one_variadic(name))
		;
}
EXPORT_SYMBOL_GPL(marker_probe_unregister);

static bool has_probes(const struct marker_name *name)
{
	const struct marker_entry *entry;

	list_for_each_entry(entry, &name->entries, list)
		if (!list_empty(&entry->probes))
			return true;
	return false;
}

static void disarm(struct marker_name *name, const struct marker_probe *stop)
{
	struct marker_entry *entry;
	struct marker_probe *probe;

	list_for_each_entry(entry, &name->entries, list) {
		list_for_each_entry(probe, &entry->probes, list) {
			if (probe == stop)
				return;
			if (probe->kind == MARKER_PROBE_VARIADIC)
				detach_all(probe);
		}
	}
}

static int arm(struct marker_name *name)
{
	struct marker_entry *entry;
	struct marker_probe *probe;
	int ret = 0;

	list_for_each_entry(entry, &name->entries, list) {
		list_for_each_entry(probe, &entry->probes, list) {
			if (probe->kind == MARKER_PROBE_VARIADIC)
				ret = marker_attach_probe(probe);
			if (!ret)
				continue;
			disarm(name, probe);
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
		ret = arm(name);
	else
		imv_flush();	/* the task that armed it may have deferred the patching */
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
		disarm(name, NULL);
	marker_put_name(name);
	return 0;
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
 * Return: 0, -ENOENT if nothing is registered for this name, or the error of registering
 *	   on the tracepoint that feeds it.
 */
int marker_arm(const char *name)
{
	guard(mutex)(&markers_mutex);
	return arm_name(name);
}
EXPORT_SYMBOL_GPL(marker_arm);

/**
 * marker_disarm - undo marker_arm()
 * @name: the name of the marker
 *
 * A marker stays armed when its probes are unregistered, until it is disarmed.
 *
 * Context: as for marker_probe_register().
 * Return: 0, -EINVAL if the marker is not armed, -ENOENT if nothing is registered for
 *	   this name.
 */
int marker_disarm(const char *name)
{
	guard(mutex)(&markers_mutex);
	return disarm_name(name);
}
EXPORT_SYMBOL_GPL(marker_disarm);
