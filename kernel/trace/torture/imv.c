// SPDX-License-Identifier: GPL-2.0
/*
 * Tracing torture test: immediate values of all types.
 */
#include <linux/export.h>

#include "hits.h"

struct tt_values tt_values[TT_OWNERS] = {
	[0 ... TT_OWNERS - 1] = { .pointer = tt_objects },
};
EXPORT_SYMBOL_GPL(tt_values);

struct tt_epoch tt_imv_epochs[TT_OWNERS];
EXPORT_SYMBOL_GPL(tt_imv_epochs);

/* Only their addresses are used. */
char tt_objects[TT_NR_OBJECTS];
EXPORT_SYMBOL_GPL(tt_objects);

static void set_values(unsigned int owner, unsigned long number)
{
	const u64 value = number * TT_FACTOR;

	imv_set_var(tt_values[owner].as_u8, value);
	imv_set_var(tt_values[owner].as_s8, value);
	imv_set_var(tt_values[owner].as_u16, value);
	imv_set_var(tt_values[owner].as_s16, value);
	imv_set_var(tt_values[owner].as_u32, value);
	imv_set_var(tt_values[owner].as_s32, value);
	imv_set_var(tt_values[owner].as_u64, value);
	imv_set_var(tt_values[owner].as_s64, value);
	imv_set_var(tt_values[owner].pointer, &tt_objects[number % TT_NR_OBJECTS]);
	tt_count(TT_SETS, 9);
}

static void change(unsigned int owner, struct rnd_state *rnd)
{
	tt_change_values(&tt_imv_epochs[owner], owner, set_values, rnd);
}

const struct tt_kind tt_imv = {
	.id = TT_IMV, .name = "imv", .hit = tt_hit_imv, .change = change,
};
