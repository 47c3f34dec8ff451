// SPDX-License-Identifier: GPL-2.0
/*
 * Files of debugfs for dev/mutants: "nr" is the active mutant, "reached" has the
 * points that ran since the last write to it, "only" has the KUnit cases to run
 * ("" is all), and writing the name of a suite to "run" runs it until a case fails.
 */
#include <kunit/test.h>
#include <linux/bitmap.h>
#include <linux/debugfs.h>
#include <linux/export.h>
#include <linux/init.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "mutants-count.h"

#define NR_MUTANTS	(MUTANTS + 2)

unsigned int mutant_nr;
EXPORT_SYMBOL(mutant_nr);

u8 mutants_reached[NR_MUTANTS];
EXPORT_SYMBOL(mutants_reached);

static char only[8192];
static bool failed;
static struct kunit_suite *suites[32];

bool mutants_skip(struct kunit_case *test_case);
bool mutants_skip(struct kunit_case *test_case)
{
	const char *at = only;
	size_t len = strlen(test_case->name);

	if (failed)
		return true;
	if (!*only)
		return false;
	while ((at = strstr(at, test_case->name))) {
		if ((at == only || at[-1] == ' ') && (!at[len] || at[len] == ' '))
			return false;
		at += len;
	}
	return true;
}

void mutants_case(struct kunit_case *test_case);
void mutants_case(struct kunit_case *test_case)
{
	if (test_case->status == KUNIT_FAILURE)
		failed = true;
}

void mutants_suite(struct kunit_suite *suite, bool there);
void mutants_suite(struct kunit_suite *suite, bool there)
{
	unsigned int i;

	failed = false;
	for (i = 0; i < ARRAY_SIZE(suites); i++) {
		if (suites[i] == (there ? NULL : suite)) {
			suites[i] = there ? suite : NULL;
			return;
		}
	}
}

static int reached_show(struct seq_file *m, void *unused)
{
	unsigned long *map = bitmap_zalloc(NR_MUTANTS, GFP_KERNEL);
	unsigned int i;

	if (!map)
		return -ENOMEM;
	for (i = 0; i < NR_MUTANTS; i++)
		if (mutants_reached[i])
			__set_bit(i, map);
	seq_printf(m, "%*pbl\n", NR_MUTANTS, map);
	bitmap_free(map);
	return 0;
}

static int reached_open(struct inode *inode, struct file *file)
{
	return single_open_size(file, reached_show, NULL, 1 << 18);
}

static ssize_t reached_write(struct file *file, const char __user *buf, size_t len,
			     loff_t *pos)
{
	memset(mutants_reached, 0, sizeof(mutants_reached));
	return len;
}

static const struct file_operations reached_fops = {
	.open = reached_open, .read = seq_read, .write = reached_write,
	.llseek = seq_lseek, .release = single_release,
};

static int take(char *to, size_t size, const char __user *buf, size_t len)
{
	if (len >= size)
		return -EINVAL;
	if (copy_from_user(to, buf, len))
		return -EFAULT;
	to[len] = '\0';
	strim(to);
	return 0;
}

static ssize_t only_write(struct file *file, const char __user *buf, size_t len,
			  loff_t *pos)
{
	return take(only, sizeof(only), buf, len) ?: len;
}

static const struct file_operations only_fops = { .write = only_write };

static ssize_t run_write(struct file *file, const char __user *buf, size_t len,
			 loff_t *pos)
{
	char name[64];
	unsigned int i;

	if (take(name, sizeof(name), buf, len))
		return -EINVAL;
	failed = false;
	for (i = 0; i < ARRAY_SIZE(suites); i++) {
		if (suites[i] && !strcmp(suites[i]->name, name)) {
			kunit_run_tests(suites[i]);
			return failed ? -EIO : len;
		}
	}
	return -ENOENT;
}

static const struct file_operations run_fops = { .write = run_write };

static int __init mutants_init(void)
{
	struct dentry *dir = debugfs_create_dir("mutants", NULL);

	debugfs_create_u32("nr", 0600, dir, &mutant_nr);
	debugfs_create_file("reached", 0600, dir, NULL, &reached_fops);
	debugfs_create_file("only", 0200, dir, NULL, &only_fops);
	debugfs_create_file("run", 0200, dir, NULL, &run_fops);
	return 0;
}
late_initcall(mutants_init);
