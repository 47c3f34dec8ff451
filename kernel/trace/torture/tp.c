// SPDX-License-Identifier: GPL-2.0
/*
 * Tracing torture test: tracepoints.
 */
#include <linux/export.h>

#include "hits.h"

struct tt_target tt_tp_targets[TT_NR_TPS];
EXPORT_SYMBOL_GPL(tt_tp_targets);

/* Are all arguments those of the hit? */
#define AGREE(n)	(w##n == tt_word(hit, n))
#define AGREE_1		true
#define AGREE_5		(AGREE_1 && AGREE(2) && AGREE(3) && AGREE(4) && AGREE(5))
#define AGREE_6		(AGREE_5 && AGREE(6))
#define AGREE_12	(AGREE_6 && AGREE(7) && AGREE(8) && AGREE(9) &&		\
			 AGREE(10) && AGREE(11) && AGREE(12))

/* A tracepoint and its two probes, which are attached in turn. */
#define DEFINE_TP(n)							\
DEFINE_TRACE(torture_##n##_tp, TP_PROTO(TT_PROTO_##n), TP_ARGS(TT_ARGS_##n)); \
EXPORT_TRACEPOINT_SYMBOL_GPL(torture_##n##_tp);				\
									\
static void even_##n(void *data, TT_PROTO_##n)				\
{									\
	tt_note_call(data, hit, even_##n, AGREE_##n);			\
}									\
									\
static void odd_##n(void *data, TT_PROTO_##n)				\
{									\
	tt_note_call(data, hit, odd_##n, AGREE_##n);			\
}

TT_FOR_EACH_TP(DEFINE_TP)

DEFINE_TRACE(torture_wide_tp, TP_PROTO(struct tt_wide wide, unsigned long word),
	     TP_ARGS(wide, word));
EXPORT_TRACEPOINT_SYMBOL_GPL(torture_wide_tp);

static bool wide_agrees(const struct tt_wide *wide, unsigned long word)
{
	return wide->word == tt_word(wide->hit, 1) && word == tt_word(wide->hit, 2);
}

static void even_wide(void *data, struct tt_wide wide, unsigned long word)
{
	tt_note_call(data, wide.hit, even_wide, wide_agrees(&wide, word));
}

static void odd_wide(void *data, struct tt_wide wide, unsigned long word)
{
	tt_note_call(data, wide.hit, odd_wide, wide_agrees(&wide, word));
}

/* A tracepoint and its probes. */
struct tp {
	struct tracepoint *tp;
	void *probes[2];
};

#define TP(n)	{ &__tracepoint_torture_##n##_tp, { even_##n, odd_##n } }
#define TP_AND(n)	TP(n),

static const struct tp tps[] = { TT_FOR_EACH_TP(TP_AND) TP(wide) };

static int attach(unsigned int nr, struct tt_data *data)
{
	WRITE_ONCE(data->func, tps[nr].probes[data->number % 2]);
	return tracepoint_probe_register(tps[nr].tp, data->func, data);
}

static int detach(unsigned int nr, struct tt_data *data)
{
	return tracepoint_probe_unregister(tps[nr].tp, data->func, data);
}

static void grace_period(void)
{
	synchronize_srcu(&tracepoint_srcu);
}

static const struct tt_probes probes = {
	.targets = tt_tp_targets,
	.nr = TT_NR_TPS,
	.may_defer = true,
	.attach = attach,
	.detach = detach,
	.grace_period = grace_period,
	.synchronize = tracepoint_synchronize_unregister,
};

const struct tt_kind tt_tp = { .name = "tp", .hit = tt_hit_tp, .probes = &probes };
