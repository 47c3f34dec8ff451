// SPDX-License-Identifier: GPL-2.0
/*
 * The list of markers in tracefs.
 */
#include <linux/init.h>
#include <linux/marker.h>
#include <linux/module.h>
#include <linux/seq_file.h>

#include "trace.h"

static int markers_show_one(const struct marker_info *info, void *m)
{
	seq_printf(m, "%s\t%s\t%u\t%u\t%u\t%s\n", info->marker->name,
		   info->mod ? module_name(info->mod) : "vmlinux", info->sites,
		   info->probes, info->armed, info->marker->format);
	return 0;
}

static int markers_show(struct seq_file *m, void *unused)
{
	seq_puts(m, "# name\tmodule\tsites\tprobes\tarmed\tformat\n");
	return for_each_marker(markers_show_one, m);
}
DEFINE_SHOW_ATTRIBUTE(markers);

static int __init init_trace_markers(void)
{
	if (!tracing_init_dentry())
		trace_create_file("markers", TRACE_MODE_READ, NULL, NULL,
				  &markers_fops);
	return 0;
}
fs_initcall(init_trace_markers);
