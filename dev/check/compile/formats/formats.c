// SPDX-License-Identifier: GPL-2.0
/*
 * A marker for each format of lib/test_marker_formats.h, which is named after its
 * line: the good ones, or, with -DBAD, the bad ones.
 */
#include <linux/marker.h>
#include <linux/module.h>

#define marker_here(kind, format, args...)				\
	trace_mark(CONCATENATE(kind, __LINE__), format, ##args)

int formats_init(void);
int formats_init(void)
{
#ifndef BAD
	/* Formats that the compiler knows, too. */
#define MARKER_FORMAT(format, conversion, type, c_type, is_signed, precision) \
	marker_here(good_, format, (c_type)0);
#include "test_marker_formats.h"
#endif

#pragma GCC diagnostic ignored "-Wformat"
#ifndef BAD
#define MARKER_FORMAT_OF(format, conversions, strings)			\
	marker_here(good_, format);
#else
#define MARKER_BAD_FORMAT(format)					\
	marker_here(bad_, format);
#endif
#include "test_marker_formats.h"
	return 0;
}

MODULE_DESCRIPTION("Formats of markers");
MODULE_LICENSE("GPL");
