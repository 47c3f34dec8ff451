// SPDX-License-Identifier: GPL-2.0
/*
 * Tracing torture test: tracepoints.
 */
#include <linux/export.h>

#include "hits.h"

struct tt_target tt_tp_targets[TT_NR_TPS];
EXPORT_SYMBOL_GPL(tt_tp_targets);

/* The hit, and whether the other arguments are those of the hit. */
#define AGREE(n)	(w##n == tt_word(hit, n))
#define HIT_1		hit
#define AGREE_1		true
#define HIT_5		hit
#define AGREE_5		(AGREE(2) && AGREE(3) && AGREE(4) && AGREE(5))
#define HIT_6		hit
#define AGREE_6		(AGREE_5 && AGREE(6))
#define HIT_12		hit
#define AGREE_12	(AGREE_6 && AGREE(7) && AGREE(8) && AGREE(9) &&		\
			 AGREE(10) && AGREE(11) && AGREE(12))
#define HIT_wide	wide.hit
#define AGREE_wide	(wide.word == tt_word(wide.hit, 1) && word == tt_word(wide.hit, 2))

/* A tracepoint and its two probes, which are attached in turn. */
#define DEFINE_TP(n)							\
DEFINE_TRACE(torture_##n##_tp, TP_PROTO(TT_PROTO_##n), TP_ARGS(TT_ARGS_##n)); \
EXPORT_TRACEPOINT_SYMBOL_GPL(torture_##n##_tp);				\
									\
static void even_##n(void *data, TT_PROTO_##n)				\
{									\
	tt_note_call(data, HIT_##n, even_##n, AGREE_##n);		\
}									\
									\
static void odd_##n(void *data, TT_PROTO_##n)				\
{									\
	tt_note_call(data, HIT_##n, odd_##n, AGREE_##n);		\
}

TT_FOR_EACH_TP(DEFINE_TP)

#define TP(n)	{ &__tracepoint_torture_##n##_tp, { even_##n, odd_##n } },

static const struct {
	struct tracepoint *tp;
	void *probes[2];
} tps[] = { TT_FOR_EACH_TP(TP) };

static int attach(unsigned int nr, struct tt_data *data)
{
	WRITE_ONCE(data->func, tps[nr].probes[data->number % 2]);
	return tracepoint_probe_register(tps[nr].tp, data->func, data);
}

static int detach(unsigned int nr, struct tt_data *data)
{
	return tracepoint_probe_unregister(tps[nr].tp, data->func, data);
}

static const struct tt_probes probes = {
	.targets = tt_tp_targets,
	.nr = TT_NR_TPS,
	.are_tracepoints = true,
	.attach = attach,
	.detach = detach,
	.synchronize = tracepoint_synchronize_unregister,
};

const struct tt_kind tt_tp = { .hit = tt_hit_tp, .probes = &probes };
