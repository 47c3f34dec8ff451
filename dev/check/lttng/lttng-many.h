/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A thousand markers: many_M000 to many_M999, where M is the digit MANY. Writing a
 * number to the parameter fire hits each of them so many times.
 */
#include <linux/marker.h>
#include <linux/module.h>

/* gcc would spend most of its time on these checks. */
#undef __mark_check_format
#define __mark_check_format(format, args...)

#define MARK(n)		trace_mark(many_##n, "number %d", 1##n);
#define MARKS_10(n)							\
	MARK(n##0) MARK(n##1) MARK(n##2) MARK(n##3) MARK(n##4)		\
	MARK(n##5) MARK(n##6) MARK(n##7) MARK(n##8) MARK(n##9)
#define MARKS_100(n)							\
	MARKS_10(n##0) MARKS_10(n##1) MARKS_10(n##2) MARKS_10(n##3)	\
	MARKS_10(n##4) MARKS_10(n##5) MARKS_10(n##6) MARKS_10(n##7)	\
	MARKS_10(n##8) MARKS_10(n##9)
#define FIRE_100(n)							\
	static noinline void fire_##n(void) { MARKS_100(n) }

#define ALL(M, n)							\
	M(n##0) M(n##1) M(n##2) M(n##3) M(n##4)				\
	M(n##5) M(n##6) M(n##7) M(n##8) M(n##9)
#define CALL(n)		fire_##n();

#define EVERY(M, many)	ALL(M, many)

EVERY(FIRE_100, MANY)

static int fire(const char *value, const struct kernel_param *param)
{
	unsigned int times;
	int ret = kstrtouint(value, 0, &times);

	while (!ret && times--) {
		EVERY(CALL, MANY)
	}
	return ret;
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

MODULE_DESCRIPTION("A thousand markers");
MODULE_LICENSE("GPL");
