/*
 * Files of debugfs for dev/mutants: "nr" is the active mutant, "reached" has a byte for
 * each point, which is 1 if the last case has reached it, "cases" lists the KUnit cases of all modules as
 * "SUITE CASE", and writing such a line to "run" runs one. The kernel needs kunit.enable=0,
 * so that modules do not run their cases when they are loaded.
 */
#include <kunit/test.h>
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/uaccess.h>

unsigned int mutant_nr;
unsigned int mutants = MUTANTS;
u8 mutants_reached[MUTANTS + 1];

static struct kunit_suite *mutants_suites[64];
static unsigned int mutants_nr_suites;

static int mutants_note_module(struct notifier_block *nb, unsigned long state, void *data)
{
	struct module *mod = data;
	int i;

	for (i = 0; state == MODULE_STATE_LIVE && i < mod->num_kunit_suites; i++)
		if (mutants_nr_suites < ARRAY_SIZE(mutants_suites))
			mutants_suites[mutants_nr_suites++] = mod->kunit_suites[i];
	return NOTIFY_OK;
}

static struct notifier_block mutants_nb = { .notifier_call = mutants_note_module };

static int cases_show(struct seq_file *m, void *unused)
{
	struct kunit_case *test_case;
	unsigned int i;

	for (i = 0; i < mutants_nr_suites; i++)
		kunit_suite_for_each_test_case(mutants_suites[i], test_case)
			seq_printf(m, "%s %s\n", mutants_suites[i]->name, test_case->name);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(cases);

static int mutants_run(const struct kunit_suite *suite, const struct kunit_case *test_case)
{
	struct kunit_case cases[2] = { *test_case };
	struct kunit_suite one = *suite;

	one.test_cases = cases;
	memset(mutants_reached, 0, sizeof(mutants_reached));
	kunit_run_tests(&one);
	return cases[0].status == KUNIT_FAILURE ? -EIO : 0;
}

static ssize_t run_write(struct file *file, const char __user *buf, size_t len, loff_t *pos)
{
	struct kunit_case *test_case;
	char line[200], suite[100], name[100];
	unsigned int i;

	if (len >= sizeof(line) || copy_from_user(line, buf, len))
		return -EFAULT;
	line[len] = '\0';
	if (sscanf(line, "%99s %99s", suite, name) != 2)
		return -EINVAL;
	for (i = 0; i < mutants_nr_suites; i++)
		kunit_suite_for_each_test_case(mutants_suites[i], test_case)
			if (!strcmp(mutants_suites[i]->name, suite) &&
			    !strcmp(test_case->name, name))
				return mutants_run(mutants_suites[i], test_case) ?: len;
	return -ENOENT;
}

static const struct file_operations run_fops = { .write = run_write };

static struct debugfs_blob_wrapper mutants_blob = {
	.data = mutants_reached, .size = sizeof(mutants_reached),
};

static int __init mutants_init(void)
{
	struct dentry *dir = debugfs_create_dir("mutants", NULL);

	debugfs_create_u32("nr", 0600, dir, &mutant_nr);
	debugfs_create_blob("reached", 0400, dir, &mutants_blob);
	debugfs_create_file("cases", 0400, dir, NULL, &cases_fops);
	debugfs_create_file("run", 0200, dir, NULL, &run_fops);
	return register_module_notifier(&mutants_nb);
}
late_initcall(mutants_init);
