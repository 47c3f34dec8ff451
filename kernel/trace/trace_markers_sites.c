// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The file marker_sites of tracefs: it lists the places of markers, and enables and disables
 * the events of those that a query describes, as dynamic debug does for its calls.
 */
#include <linux/glob.h>
#include <linux/init.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>

#include "trace.h"
#include "trace_markers.h"

/* Maximum size of a query, including the NUL */
#define QUERY_SIZE	512

/* The position in the list, behind the heading */
struct place {
	const struct marker_module *module;
	const struct marker_site *site;
};

static const struct marker_site *find_place(struct place *place, loff_t pos)
{
	list_for_each_entry(place->module, &marker_modules, list) {
		if (pos < place->module->stop - place->module->start)
			return place->site = place->module->start + pos;
		pos -= place->module->stop - place->module->start;
	}
	return NULL;
}

static void *sites_start(struct seq_file *m, loff_t *pos)
{
	mutex_lock(&markers_mutex);
	return *pos ? (void *)find_place(m->private, *pos - 1) : SEQ_START_TOKEN;
}

static void *sites_next(struct seq_file *m, void *v, loff_t *pos)
{
	struct place *place = m->private;

	++*pos;
	if (v != SEQ_START_TOKEN && place->site + 1 < place->module->stop) {
		place->site++;
		return (void *)place->site;
	}
	return (void *)find_place(place, *pos - 1);
}

static void sites_stop(struct seq_file *m, void *v)
{
	mutex_unlock(&markers_mutex);
}

static int sites_show(struct seq_file *m, void *v)
{
	const struct place *place = m->private;
	const struct marker_site *site = v;

	if (v == SEQ_START_TOKEN) {
		seq_puts(m, "# name\tmodule\tplace\tfunction\n");
		return 0;
	}
	seq_printf(m, "%s\t%s\t%s:%u\t%s\n", marker_site_name(site),
		   marker_module_name(place->module), (char *)marker_ref(&site->file),
		   site->line, (char *)marker_ref(&site->function));
	return 0;
}

static const struct seq_operations sites_ops = {
	.start = sites_start,
	.next = sites_next,
	.stop = sites_stop,
	.show = sites_show,
};

static int sites_open(struct inode *inode, struct file *file)
{
	int ret = tracing_check_open_get_tr(NULL);

	if (ret)
		return ret;
	return seq_open_private(file, &sites_ops, sizeof(struct place));
}

/* Each pattern is NULL or has to match. */
struct query {
	const char *module, *file, *function;
	bool enable;
};

static const char **pattern_of(struct query *query, const char *keyword)
{
	if (!strcmp(keyword, "module"))
		return &query->module;
	if (!strcmp(keyword, "file"))
		return &query->file;
	return strcmp(keyword, "func") ? NULL : &query->function;
}

static char *next_word(char **text)
{
	char *word;

	do {
		word = strsep(text, " \t\n");
	} while (word && !*word);
	return word;
}

/* Return: NULL, or the word that is wrong, or the end */
static const char *parse_query(struct query *query, char *text)
{
	const char *word, **pattern;

	while ((word = next_word(&text))) {
		if (!strcmp(word, "+p") || !strcmp(word, "-p")) {
			query->enable = *word == '+';
			return next_word(&text);
		}
		pattern = pattern_of(query, word);
		if (!pattern || *pattern)
			return word;
		*pattern = next_word(&text);
		if (!*pattern)
			return word;
	}
	return "";
}

static bool has_file(const struct marker_site *site, const char *pattern)
{
	const char *file = marker_ref(&site->file);

	return !pattern || glob_match(pattern, file) || glob_match(pattern, kbasename(file));
}

static bool matches(const struct query *query, const struct marker_site *site)
{
	return has_file(site, query->file) &&
	       (!query->function || glob_match(query->function, marker_ref(&site->function)));
}

/* Return: does the query describe a site that has an event? */
static bool want_events(const struct query *query, unsigned int nr)
{
	const struct marker_module *module;
	const struct marker_site *site;
	bool found = false;

	guard(mutex)(&markers_mutex);
	list_for_each_entry(module, &marker_modules, list) {
		if (query->module && !glob_match(query->module, marker_module_name(module)))
			continue;
		for (site = module->start; site < module->stop; site++) {
			if (matches(query, site) && marker_want_event(site, nr))
				found = true;
		}
	}
	return found;
}

static const char *query_errors[] = {
	"Expected module NAME, file NAME or func NAME, each at most once, then +p or -p",
	"No marker with an event is there, see marker_sites",
};

/* "module NAME file NAME func NAME +p", of which some, or with -p. */
static int apply_query(const char *text, char *words)
{
	static unsigned int nr;		/* protected by event_mutex */
	struct query query = {};
	const char *wrong = parse_query(&query, words);

	if (wrong) {
		tracing_log_err(NULL, "marker_sites", text, query_errors, 0,
				*wrong ? wrong - words : strlen(text));
		return -EINVAL;
	}
	guard(mutex)(&marker_modules_mutex);
	guard(mutex)(&event_mutex);
	if (want_events(&query, ++nr))
		return marker_set_events(nr, query.enable);
	tracing_log_err(NULL, "marker_sites", text, query_errors, 1, 0);
	return -ENOENT;
}

static ssize_t sites_write(struct file *file, const char __user *from, size_t size, loff_t *pos)
{
	char *text __free(kfree) = NULL, *words __free(kfree) = NULL;

	if (size >= QUERY_SIZE)
		return -EINVAL;
	text = memdup_user_nul(from, size);
	if (IS_ERR(text))
		return PTR_ERR(text);
	strim(text);	/* the newline at the end */
	words = kstrdup(text, GFP_KERNEL);
	if (!words)
		return -ENOMEM;
	return apply_query(text, words) ?: size;
}

static const struct file_operations sites_fops = {
	.open = sites_open,
	.read = seq_read,
	.write = sites_write,
	.llseek = seq_lseek,
	.release = seq_release_private,
};

static int __init create_sites(void)
{
	if (!tracing_init_dentry())
		trace_create_file("marker_sites", TRACE_MODE_WRITE, NULL, NULL, &sites_fops);
	return 0;
}
fs_initcall_sync(create_sites);
