/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Five hundred markers, some with strings, named after the module (PREFIX):
 * <module>_000 to <module>_499. Writing a number to the parameter fire hits each of
 * them so many times.
 */
#include <linux/marker.h>
#include <linux/module.h>

/* trace_mark() takes its name as it is written: the macros between make one name of two. */
#define NUMBER(nr)	MARK_NUMBER(CONCATENATE(PREFIX, nr))
#define TEXT(nr)	MARK_TEXT(CONCATENATE(PREFIX, nr))
#define MARK_NUMBER(name)	trace_mark(name, "number %d place %p", i, &i)
#define MARK_TEXT(name)	trace_mark(name, "number %d text %s", i, "some text")

#define TEN(n)								\
	NUMBER(n##0); NUMBER(n##1); NUMBER(n##2); NUMBER(n##3); NUMBER(n##4); \
	NUMBER(n##5); NUMBER(n##6); NUMBER(n##7); TEXT(n##8); TEXT(n##9)
#define HUNDRED(n)							\
	TEN(n##0); TEN(n##1); TEN(n##2); TEN(n##3); TEN(n##4);		\
	TEN(n##5); TEN(n##6); TEN(n##7); TEN(n##8); TEN(n##9)

static noinline void pass_all(int i)
{
	HUNDRED(_0);
	HUNDRED(_1);
	HUNDRED(_2);
	HUNDRED(_3);
	HUNDRED(_4);
}

static int fire_set(const char *text, const struct kernel_param *param)
{
	int count, ret = kstrtoint(text, 0, &count), i;

	for (i = 0; !ret && i < count; i++) {
		pass_all(i);
		cond_resched();
	}
	return ret;
}

static const struct kernel_param_ops fire_ops = { .set = fire_set };
module_param_cb(fire, &fire_ops, NULL, 0200);

static int __init many_init(void)
{
	pass_all(-1);
	return 0;
}
module_init(many_init);

static void __exit many_exit(void) { }
module_exit(many_exit);

MODULE_DESCRIPTION("Many markers");
MODULE_LICENSE("GPL");
