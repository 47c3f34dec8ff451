// SPDX-License-Identifier: GPL-2.0
/*
 * Strings that a marker must not read, for the selftests in
 * tools/testing/selftests/tracing_security. A write to the parameter fire hits the
 * markers test_strings and test_unended. Their strings are in user memory of the
 * writing task, at unmapped addresses, and at the end of a page that is followed by
 * an unmapped one.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/err.h>
#include <linux/marker.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#define TEXT		"text"
#define SECRET		"secret"
#define UNENDED		8	/* characters up to the end of the page */

/* A page; the next one is not mapped. Protected by the lock of parameters. */
static char *page;

static void fire_at(const char *user)
{
	char *end = page + PAGE_SIZE;

	/* A string that ends with the page; then one without a NUL. */
	memset(page, 'x', PAGE_SIZE);
	memcpy(end - sizeof(TEXT), TEXT, sizeof(TEXT));
	trace_mark(test_strings,
		   "ends %s user %s null %s error %s low %s last %s half %s behind %s",
		   end - sizeof(TEXT), user, (char *)NULL, (char *)ERR_PTR(-EFAULT),
		   (char *)1, (char *)ULONG_MAX, (char *)(ULONG_MAX / 2 + 2), end);
	memset(page, 'x', PAGE_SIZE);
	trace_mark(test_unended, "unended %s cut %.4s", end - UNENDED, end - UNENDED);
}

static int fire_set(const char *value, const struct kernel_param *kp)
{
	unsigned long user;
	int ret = 0;

	/* When the module is loaded with this parameter, or is being unloaded. */
	if (!page)
		return -ENODEV;
	user = vm_mmap(NULL, 0, PAGE_SIZE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, 0);
	if (IS_ERR_VALUE(user))
		return user;
	if (copy_to_user((void __user *)user, SECRET, sizeof(SECRET)))
		ret = -EFAULT;
	else
		fire_at((const char *)user);
	vm_munmap(user, PAGE_SIZE);
	return ret;
}

static const struct kernel_param_ops fire_ops = { .set = fire_set };
module_param_cb(fire, &fire_ops, NULL, 0200);
MODULE_PARM_DESC(fire, "write to it to hit the markers");

static int __init test_marker_strings_init(void)
{
	char *new = vmalloc(PAGE_SIZE);

	kernel_param_lock(THIS_MODULE);
	page = new;
	kernel_param_unlock(THIS_MODULE);
	return new ? 0 : -ENOMEM;
}
module_init(test_marker_strings_init);

static void __exit test_marker_strings_exit(void)
{
	kernel_param_lock(THIS_MODULE);
	vfree(page);
	page = NULL;
	kernel_param_unlock(THIS_MODULE);
}
module_exit(test_marker_strings_exit);

MODULE_DESCRIPTION("Strings that a marker must not follow");
MODULE_LICENSE("GPL");
