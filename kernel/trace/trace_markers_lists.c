// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The files markers and marker_probes of tracefs.
 */
#include <linux/init.h>
#include <linux/module.h>
#include <linux/security.h>
#include <linux/seq_file.h>

#include "trace.h"
#include "trace_markers.h"

/* The first line is a heading. */
static void *sites_start(struct seq_file *m, loff_t *pos)
{
	mutex_lock(&markers_mutex);
	return seq_list_start_head(&marker_all_sites, *pos);
}

static void *sites_next(struct seq_file *m, void *v, loff_t *pos)
{
	return seq_list_next(v, &marker_all_sites, pos);
}

static void *probes_start(struct seq_file *m, loff_t *pos)
{
	mutex_lock(&markers_mutex);
	return seq_list_start_head(&marker_attached, *pos);
}

static void *probes_next(struct seq_file *m, void *v, loff_t *pos)
{
	return seq_list_next(v, &marker_attached, pos);
}

static void list_stop(struct seq_file *m, void *v)
{
	mutex_unlock(&markers_mutex);
}

static int markers_show(struct seq_file *m, void *v)
{
	const struct marker_sites *sites = list_entry(v, struct marker_sites, in_all);

	if (v == &marker_all_sites)
		seq_puts(m, "# name\tmodule\tsites\tprobes\tarmed\tformat\n");
	else
		seq_printf(m, "%s\t%s\t%u\t%u\t%u\t%s\n",
			   sites->entry->name->name, marker_module_name(sites->module),
			   sites->count, marker_count_probes(sites->entry),
			   sites->entry->name->arm_count, sites->entry->format);
	return 0;
}

static const char *state_of(const struct marker_probe *probe)
{
	const struct marker_entry *entry = probe->entry, *other;

	if (!list_empty(&entry->sites) && marker_all_are_refused(entry))
		return "refused";
	if (!list_empty(&entry->sites))
		return marker_is_called(probe) ? "attached" : "disarmed";
	list_for_each_entry(other, &entry->name->entries, list)
		if (!list_empty(&other->sites))
			return "other format";
	return "waiting";
}

/* The same function may be registered with several data: for each instance, for example. */
static bool is_first(const struct marker_entry *entry, const struct marker_probe *probe)
{
	const struct marker_probe *first;

	list_for_each_entry(first, &entry->probes, list)
		if (first->func == probe->func)
			return first == probe;
	return false;
}

static int marker_probes_show(struct seq_file *m, void *v)
{
	const struct marker_entry *entry;
	const struct marker_probe *probe;

	if (v == &marker_attached) {
		seq_puts(m, "# name\tprobe\tstate\tformat\n");
		return 0;
	}
	entry = list_entry(v, struct marker_entry, attached);
	list_for_each_entry(probe, &entry->probes, list) {
		if (!is_first(entry, probe))
			continue;
		seq_printf(m, "%s\t%ps\t%s\t%s\n", entry->name->name, probe->func,
			   state_of(probe), entry->format);
	}
	return 0;
}

#define DEFINE_LIST(name, kind)						\
static const struct seq_operations name##_ops = {			\
	.start = kind##_start,						\
	.next = kind##_next,						\
	.stop = list_stop,						\
	.show = name##_show,						\
};									\
									\
static int name##_open(struct inode *inode, struct file *file)		\
{									\
	return security_locked_down(LOCKDOWN_TRACEFS) ?:		\
	       seq_open(file, &name##_ops);				\
}									\
									\
static const struct file_operations name##_fops = {			\
	.open = name##_open,						\
	.read = seq_read,						\
	.llseek = seq_lseek,						\
	.release = seq_release,						\
}

DEFINE_LIST(markers, sites);
DEFINE_LIST(marker_probes, probes);

static int __init create_lists(void)
{
	if (tracing_init_dentry())
		return 0;
	trace_create_file("markers", TRACE_MODE_READ, NULL, NULL, &markers_fops);
	trace_create_file("marker_probes", TRACE_MODE_READ, NULL, NULL,
			  &marker_probes_fops);
	return 0;
}
fs_initcall_sync(create_lists);
