// SPDX-License-Identifier: GPL-2.0
/* More markers than the bridge to LTTng has slots for. */
#include <linux/marker.h>
#include <linux/module.h>

#define MARK(n)		trace_mark(many_##n, "number %d", 0x##n);
#define MARKS_8(n)							\
	MARK(n##0) MARK(n##1) MARK(n##2) MARK(n##3)			\
	MARK(n##4) MARK(n##5) MARK(n##6) MARK(n##7)
#define MARKS_64(n)							\
	MARKS_8(n##0) MARKS_8(n##1) MARKS_8(n##2) MARKS_8(n##3)		\
	MARKS_8(n##4) MARKS_8(n##5) MARKS_8(n##6) MARKS_8(n##7)
#define MARKS_512(n)							\
	MARKS_64(n##0) MARKS_64(n##1) MARKS_64(n##2) MARKS_64(n##3)	\
	MARKS_64(n##4) MARKS_64(n##5) MARKS_64(n##6) MARKS_64(n##7)

static int fire(const char *value, const struct kernel_param *param)
{
	MARKS_512(1)
	return 0;
}

static const struct kernel_param_ops fire_ops = { .set = fire };
module_param_cb(fire, &fire_ops, NULL, 0200);

static int __init many_init(void)
{
	return 0;
}
module_init(many_init);

static void __exit many_exit(void)
{
}
module_exit(many_exit);

MODULE_DESCRIPTION("More markers than there are slots");
MODULE_LICENSE("GPL");
