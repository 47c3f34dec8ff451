/* SPDX-License-Identifier: GPL-2.0 */
/* The tracepoint that is measured; other modules have sites of it, too. */
#include <linux/tracepoint.h>

DECLARE_TRACE(bench, TP_PROTO(int number, void *pointer), TP_ARGS(number, pointer));
