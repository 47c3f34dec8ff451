/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A table of formats with one conversion:
 *
 * MARKER_FORMAT(format, conversion, type, c_type, is_signed, precision)
 *	Its character, its enum marker_type, a C type that the argument may have,
 *	is_signed of struct marker_field, and the precision, or -1. sizeof(c_type) is
 *	the size.
 *
 * Define the macro and include this file, which undefines it at its end.
 */

/* All conversions. */
MARKER_FORMAT("%d", 'd', MARKER_INT, int, true, -1)
MARKER_FORMAT("%u", 'u', MARKER_INT, unsigned int, false, -1)
MARKER_FORMAT("%x", 'x', MARKER_INT, unsigned int, false, -1)
MARKER_FORMAT("%X", 'X', MARKER_INT, unsigned int, false, -1)
MARKER_FORMAT("%o", 'o', MARKER_INT, unsigned int, false, -1)
MARKER_FORMAT("%ld", 'd', MARKER_LONG, long, true, -1)
MARKER_FORMAT("%lu", 'u', MARKER_LONG, unsigned long, false, -1)
MARKER_FORMAT("%lx", 'x', MARKER_LONG, unsigned long, false, -1)
MARKER_FORMAT("%lld", 'd', MARKER_LLONG, long long, true, -1)
MARKER_FORMAT("%llu", 'u', MARKER_LLONG, unsigned long long, false, -1)
MARKER_FORMAT("%llx", 'x', MARKER_LLONG, unsigned long long, false, -1)
MARKER_FORMAT("%zu", 'u', MARKER_LONG, size_t, false, -1)
MARKER_FORMAT("%zd", 'd', MARKER_LONG, ssize_t, true, -1)
MARKER_FORMAT("%td", 'd', MARKER_LONG, ptrdiff_t, true, -1)
MARKER_FORMAT("%hu", 'u', MARKER_INT, unsigned short, false, -1)
MARKER_FORMAT("%hd", 'd', MARKER_INT, short, true, -1)
MARKER_FORMAT("%hhx", 'x', MARKER_INT, unsigned char, false, -1)
MARKER_FORMAT("%hhd", 'd', MARKER_INT, signed char, true, -1)
MARKER_FORMAT("%c", 'c', MARKER_INT, int, true, -1)
MARKER_FORMAT("%s", 's', MARKER_POINTER, const char *, false, -1)
MARKER_FORMAT("%p", 'p', MARKER_POINTER, void *, false, -1)
MARKER_FORMAT("%pS", 'p', MARKER_POINTER, void *, false, -1)
MARKER_FORMAT("%ps", 'p', MARKER_POINTER, void *, false, -1)
MARKER_FORMAT("%pM", 'p', MARKER_POINTER, u8 *, false, -1)
MARKER_FORMAT("%pMF", 'p', MARKER_POINTER, u8 *, false, -1)
MARKER_FORMAT("%pI4", 'p', MARKER_POINTER, __be32 *, false, -1)
MARKER_FORMAT("%pI6", 'p', MARKER_POINTER, u8 *, false, -1)
MARKER_FORMAT("%pI6c", 'p', MARKER_POINTER, u8 *, false, -1)
MARKER_FORMAT("%pU", 'p', MARKER_POINTER, u8 *, false, -1)
MARKER_FORMAT("%pUL", 'p', MARKER_POINTER, u8 *, false, -1)

/* Flags, width and precision. */
MARKER_FORMAT("%-5d", 'd', MARKER_INT, int, true, -1)
MARKER_FORMAT("%#5x", 'x', MARKER_INT, unsigned int, false, -1)
MARKER_FORMAT("%#lo", 'o', MARKER_LONG, unsigned long, false, -1)
MARKER_FORMAT("%08lx", 'x', MARKER_LONG, unsigned long, false, -1)
MARKER_FORMAT("%.3d", 'd', MARKER_INT, int, true, 3)
MARKER_FORMAT("%.d", 'd', MARKER_INT, int, true, 0)
MARKER_FORMAT("%16.8lx", 'x', MARKER_LONG, unsigned long, false, 8)
MARKER_FORMAT("%.000000000012d", 'd', MARKER_INT, int, true, 12)
MARKER_FORMAT("%-4c", 'c', MARKER_INT, int, true, -1)
MARKER_FORMAT("%16s", 's', MARKER_POINTER, const char *, false, -1)
MARKER_FORMAT("%.4s", 's', MARKER_POINTER, const char *, false, 4)
MARKER_FORMAT("%.0s", 's', MARKER_POINTER, const char *, false, 0)
MARKER_FORMAT("%.128s", 's', MARKER_POINTER, const char *, false, 128)
MARKER_FORMAT("%16p", 'p', MARKER_POINTER, void *, false, -1)
MARKER_FORMAT("%-32pS", 'p', MARKER_POINTER, void *, false, -1)

/* Text around a conversion. */
MARKER_FORMAT("number %d", 'd', MARKER_INT, int, true, -1)
MARKER_FORMAT("<%d>", 'd', MARKER_INT, int, true, -1)
MARKER_FORMAT("100%% %d", 'd', MARKER_INT, int, true, -1)
MARKER_FORMAT("%%%d", 'd', MARKER_INT, int, true, -1)
MARKER_FORMAT("%d%%d", 'd', MARKER_INT, int, true, -1)
MARKER_FORMAT("%dd", 'd', MARKER_INT, int, true, -1)
MARKER_FORMAT("%ss", 's', MARKER_POINTER, const char *, false, -1)
MARKER_FORMAT("%p ", 'p', MARKER_POINTER, void *, false, -1)
MARKER_FORMAT("%p_", 'p', MARKER_POINTER, void *, false, -1)
MARKER_FORMAT("%pS+", 'p', MARKER_POINTER, void *, false, -1)

#undef MARKER_FORMAT
