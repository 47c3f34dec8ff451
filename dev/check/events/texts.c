// SPDX-License-Identifier: GPL-2.0
/*
 * Markers whose text has symbols, a pointer, and strings that end only by their
 * precision. Hit when the parameter fire is written.
 */
#include <linux/marker.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#define LAST_PART	16

/* The array has no NUL, so a read beyond the precision gives "abcdEFG". */
static const struct {
	char text[4];
	char beyond[4];
} array = { { 'a', 'b', 'c', 'd' }, "EFG" };

/* A guard page follows this one. */
static char *page;

static int fire(const char *value, const struct kernel_param *param)
{
	trace_mark(text_symbols, "offset %pS name %ps end", vfree, vfree);
	trace_mark(text_pointer, "pointer %p wide %20p left %-20p end",
		   (void *)0x1234, (void *)0x1234, (void *)0x1234);
	trace_mark(text_array, "part %.4s less %.2s none %.0s end %d",
		   array.text, array.text, array.text, 7);
	trace_mark(text_last, "last %.16s end",
		   page + PAGE_SIZE - LAST_PART);
	return 0;
}

static const struct kernel_param_ops fire_ops = { .set = fire };
module_param_cb(fire, &fire_ops, NULL, 0200);

static int __init texts_init(void)
{
	page = vmalloc(PAGE_SIZE);
	if (!page)
		return -ENOMEM;
	memset(page, 'y', PAGE_SIZE);
	return 0;
}
module_init(texts_init);

static void __exit texts_exit(void)
{
	vfree(page);
}
module_exit(texts_exit);

MODULE_DESCRIPTION("Markers with symbols and with strings of a precision");
MODULE_LICENSE("GPL");
