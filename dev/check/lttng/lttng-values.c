// SPDX-License-Identifier: GPL-2.0
/*
 * Markers with every conversion, with values at the limits of its range. Hit when
 * the parameter fire is written; one of them is hit when the module is loaded.
 */
#include <linux/limits.h>
#include <linux/marker.h>
#include <linux/module.h>

static void fire_signed(int i, long l, long long ll)
{
	trace_mark(values_signed, "d %d i %i ld %ld li %li lld %lld lli %lli",
		   i, i, l, l, ll, ll);
}

static void fire_unsigned(unsigned int u, unsigned long ul,
			  unsigned long long ull)
{
	trace_mark(values_unsigned,
		   "u %u x %x X %#X o %o lu %lu lx %lx lX %lX lo %lo llu %llu llx %llx llX %llX llo %llo",
		   u, u, u, u, ul, ul, ul, ul, ull, ull, ull, ull);
}

static void fire_text(const char *s, char c, void *p)
{
	trace_mark(values_text, "s %s c %c p %p padded %-20s wide %08x", s, c,
		   p, s, 42);
}

static int fire(const char *value, const struct kernel_param *param)
{
	fire_signed(INT_MIN, LONG_MIN, LLONG_MIN);
	fire_signed(INT_MAX, LONG_MAX, LLONG_MAX);
	fire_signed(-1, -1, -1);
	fire_unsigned(UINT_MAX, ULONG_MAX, ULLONG_MAX);
	fire_unsigned(0, 0, 0);
	fire_text("text", 'c', NULL);
	fire_text("", '\0', (void *)-1UL);
	return 0;
}

static const struct kernel_param_ops fire_ops = { .set = fire };
module_param_cb(fire, &fire_ops, NULL, 0200);

static int __init values_init(void)
{
	trace_mark(values_init, "number %d", 1);
	return 0;
}
module_init(values_init);

static void __exit values_exit(void)
{
}
module_exit(values_exit);

MODULE_DESCRIPTION("Markers with values at the ends");
MODULE_LICENSE("GPL");
