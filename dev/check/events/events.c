// SPDX-License-Identifier: GPL-2.0
/*
 * Markers that are difficult as trace events, and invalid strings. Hit when the
 * parameter fire is written.
 */
#include <linux/marker.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/vmalloc.h>

#define LONG_STRING	(64 << 10)

static char *string;

static void fire_strings(void)
{
	const char *none = NULL, *in_user_space = (const char *)PAGE_SIZE;
	const char *nowhere = (const char *)ULONG_MAX - PAGE_SIZE + 1;

	trace_mark(check_strings,
		   "null %s user %s nowhere %s empty %s long %s end %s after %d",
		   none, in_user_space, nowhere, "", string,
		   string + LONG_STRING + PAGE_SIZE - 8, 77);
}

static void fire_odd_formats(void)
{
	trace_mark(check_names, "%d int %d common_pid %d twice %d twice %d",
		   1, 2, 3, 4, 5);
	trace_mark(check_percent, "100%% of \"%d\"", 42);
}

static void fire_first(void)
{
	trace_mark(check_two, "number %d", 1);
}

static void fire_second(void)
{
	trace_mark(check_two, "text %s", "two");
}

static int fire(const char *value, const struct kernel_param *param)
{
	fire_strings();
	fire_odd_formats();
	fire_first();
	fire_second();
	return 0;
}

static const struct kernel_param_ops fire_ops = { .set = fire };
module_param_cb(fire, &fire_ops, NULL, 0200);

/* The last page of the area ends without a NUL, before a guard page. */
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
