// SPDX-License-Identifier: GPL-2.0
/*
 * Tracing torture test: jumps on immediate values.
 */
#include <linux/export.h>

#include "hits.h"

struct tt_jumps tt_jumps[TT_OWNERS];
EXPORT_SYMBOL_GPL(tt_jumps);

struct tt_epoch tt_jump_epochs[TT_OWNERS];
EXPORT_SYMBOL_GPL(tt_jump_epochs);

static void set_jumps(unsigned int owner, unsigned long number)
{
	imv_set_var(tt_jumps[owner].as_bool, number & 1);
	imv_set_var(tt_jumps[owner].as_u8, number & 1);
	imv_set_var(tt_jumps[owner].as_u32, number & 1 ? number : 0);
	tt_count(TT_SETS, 3);
}

static void change(unsigned int owner, struct rnd_state *rnd)
{
	tt_change_values(&tt_jump_epochs[owner], owner, set_jumps, rnd);
}

const struct tt_kind tt_jump = {
	.id = TT_JUMP, .name = "jump", .hit = tt_hit_jump, .change = change,
};
