// SPDX-License-Identifier: GPL-2.0
/*
 * Markers that are difficult as trace events: invalid strings, symbols and pointers. Hit
 * when the parameter fire is written.
 */
#include <linux/marker.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/vmalloc.h>

#define LONG_STRING	(64 << 10)

/* A string, then a page without a NUL, which a guard page follows. */
static char *string;

static void fire_strings(void)
{
	const char *none = NULL, *in_user_space = (const char *)PAGE_SIZE;
	const char *nowhere = (const char *)ULONG_MAX - PAGE_SIZE + 1;
	const char *end = string + LONG_STRING + PAGE_SIZE;

	trace_mark(check_strings,
		   "null %s user %s nowhere %s empty %s long %s end %s after %d",
		   none, in_user_space, nowhere, "", string, end - 8, 77);
}

static int fire(const char *value, const struct kernel_param *param)
{
	void *pointer = (void *)0x1234;

	fire_strings();
	trace_mark(check_symbols, "offset %pS name %ps end", vfree, vfree);
	trace_mark(check_pointer, "pointer %p wide %20p left %-20p end",
		   pointer, pointer, pointer);
	return 0;
}

static const struct kernel_param_ops fire_ops = { .set = fire };
module_param_cb(fire, &fire_ops, NULL, 0200);

static int __init events_init(void)
{
	string = vmalloc(LONG_STRING + PAGE_SIZE);
	if (!string)
		return -ENOMEM;
	memset(string, 'x', LONG_STRING + PAGE_SIZE);
	string[LONG_STRING - 1] = '\0';
	return 0;
}
module_init(events_init);

static void __exit events_exit(void)
{
	vfree(string);
}
module_exit(events_exit);

MODULE_DESCRIPTION("Markers at the limits of trace events");
MODULE_LICENSE("GPL");
