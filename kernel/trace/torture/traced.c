// SPDX-License-Identifier: GPL-2.0
/*
 * Tracing torture test: the functions that are traced. The rest of the module is built
 * without CC_FLAGS_FTRACE and cannot be traced.
 */
#include <linux/compiler.h>
#include <linux/export.h>

#include "torture.h"

/* The caller checks the hit. The compiler must not drop the empty function. */
#define TRACED(n)							\
static noinline void traced_##n(struct tt_hit *hit)			\
{									\
	OPTIMIZER_HIDE_VAR(hit);					\
}

TRACED(0) TRACED(1) TRACED(2) TRACED(3)
TRACED(4) TRACED(5) TRACED(6) TRACED(7)

tt_traced_func *const tt_traced_funcs[TT_NR_FUNCS] = {
	traced_0, traced_1, traced_2, traced_3, traced_4, traced_5, traced_6, traced_7,
};
EXPORT_SYMBOL_GPL(tt_traced_funcs);
