// SPDX-License-Identifier: GPL-2.0
/*
 * Strings that a marker must not read, for the selftests in
 * tools/testing/selftests/tracing_security. A write to the parameter fire hits the
 * markers test_strings and test_unended. Their strings are in user memory of the
 * writing task, at unmapped addresses, and at the end of a page that is followed by
 * an unmapped one.
 */
#include <linux/marker.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/module.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#define TEXT		"text"
#define SECRET		"secret"

/* Hits the markers with strings at the end of a page; the next one is not mapped. */
static void fire_at(char *page, const char *user)
{
	char *end = page + PAGE_SIZE;

	memset(page, 'x', PAGE_SIZE);
	memcpy(end - sizeof(TEXT), TEXT, sizeof(TEXT));
	trace_mark(test_strings,
		   "ends %s user %s null %s error %s low %s last %s half %s behind %s",
		   end - sizeof(TEXT), user, (char *)NULL, (char *)ERR_PTR(-EFAULT),
		   (char *)1, (char *)ULONG_MAX, (char *)(ULONG_MAX / 2 + 2), end);
	memset(page, 'x', PAGE_SIZE);
	trace_mark(test_unended, "unended %s cut %.4s", end - 8, end - 8);
}

static int fire_set(const char *value, const struct kernel_param *kp)
{
	unsigned long user = vm_mmap(NULL, 0, PAGE_SIZE, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, 0);
	char *page = vmalloc(PAGE_SIZE);
	int ret = page ? 0 : -ENOMEM;

	if (IS_ERR_VALUE(user))
		ret = user;
	else if (page && copy_to_user((void __user *)user, SECRET, sizeof(SECRET)))
		ret = -EFAULT;
	if (!ret)
		fire_at(page, (const char *)user);
	if (!IS_ERR_VALUE(user))
		vm_munmap(user, PAGE_SIZE);
	vfree(page);
	return ret;
}

static const struct kernel_param_ops fire_ops = { .set = fire_set };
module_param_cb(fire, &fire_ops, NULL, 0200);
MODULE_PARM_DESC(fire, "write to it to hit the markers");

MODULE_DESCRIPTION("Strings that a marker must not follow");
MODULE_LICENSE("GPL");
