// SPDX-License-Identifier: GPL-2.0
/*
 * Tracing torture test: tracepoints; and the storm, in which all owners attach to the
 * same tracepoint.
 */
#include <linux/export.h>

#include "hits.h"

struct tt_target tt_tp_targets[TT_NR_TPS];
EXPORT_SYMBOL_GPL(tt_tp_targets);

struct tt_target tt_storm_target;
EXPORT_SYMBOL_GPL(tt_storm_target);

/* Are all arguments those of the hit? */
#define AGREE_1		true
#define AGREE_2		(AGREE_1 && w2 == tt_word(hit, 2))
#define AGREE_3		(AGREE_2 && w3 == tt_word(hit, 3))
#define AGREE_4		(AGREE_3 && w4 == tt_word(hit, 4))
#define AGREE_5		(AGREE_4 && w5 == tt_word(hit, 5))
#define AGREE_6		(AGREE_5 && w6 == tt_word(hit, 6))
#define AGREE_7		(AGREE_6 && w7 == tt_word(hit, 7))
#define AGREE_8		(AGREE_7 && w8 == tt_word(hit, 8))
#define AGREE_9		(AGREE_8 && w9 == tt_word(hit, 9))
#define AGREE_10	(AGREE_9 && w10 == tt_word(hit, 10))
#define AGREE_11	(AGREE_10 && w11 == tt_word(hit, 11))
#define AGREE_12	(AGREE_11 && w12 == tt_word(hit, 12))
#define AGREE_13	(AGREE_12 && w13 == tt_word(hit, 13))

/* A tracepoint and its two probes, which are attached in turn. */
#define DEFINE_TP(n)							\
DEFINE_TRACE(torture_##n);						\
EXPORT_TRACEPOINT_SYMBOL_GPL(torture_##n);				\
									\
static void even_##n(void *data, TT_PROTO_##n)				\
{									\
	tt_called(data, hit, even_##n, AGREE_##n);			\
}									\
									\
static void odd_##n(void *data, TT_PROTO_##n)				\
{									\
	tt_called(data, hit, odd_##n, AGREE_##n);			\
}

TT_FOR_EACH_TP(DEFINE_TP)

DEFINE_TRACE(torture_wide);
EXPORT_TRACEPOINT_SYMBOL_GPL(torture_wide);

static bool wide_agrees(const struct tt_wide *wide, unsigned long word)
{
	return wide->word == tt_word(wide->hit, 1) && word == tt_word(wide->hit, 2);
}

static void even_wide(void *data, struct tt_wide wide, unsigned long word)
{
	tt_called(data, wide.hit, even_wide, wide_agrees(&wide, word));
}

static void odd_wide(void *data, struct tt_wide wide, unsigned long word)
{
	tt_called(data, wide.hit, odd_wide, wide_agrees(&wide, word));
}

DEFINE_TRACE(torture_storm);
EXPORT_TRACEPOINT_SYMBOL_GPL(torture_storm);

static void even_storm(void *data, struct tt_hit *hit)
{
	tt_called(data, hit, even_storm, true);
}

static void odd_storm(void *data, struct tt_hit *hit)
{
	tt_called(data, hit, odd_storm, true);
}

/* A tracepoint and its probes. */
struct tp {
	struct tracepoint *tp;
	void *probes[2];
};

#define TP(n)	{ &__tracepoint_torture_##n, { even_##n, odd_##n } }
#define TP_AND(n)	TP(n),

static const struct tp tps[TT_NR_TPS] = { TT_FOR_EACH_TP(TP_AND) TP(wide) };
static const struct tp storm = TP(storm);

static int attach_to(const struct tp *tp, struct tt_data *data)
{
	WRITE_ONCE(data->func, tp->probes[data->number % 2]);
	return tracepoint_probe_register(tp->tp, data->func, data);
}

static int attach(unsigned int nr, struct tt_data *data)
{
	return attach_to(&tps[nr], data);
}

static int detach(unsigned int nr, struct tt_data *data)
{
	return tracepoint_probe_unregister(tps[nr].tp, data->func, data);
}

static const struct tt_probes probes = {
	.targets = tt_tp_targets,
	.nr = TT_NR_TPS,
	.deferred = true,
	.rcu = true,
	.attach = attach,
	.detach = detach,
	.synchronize = tracepoint_synchronize_unregister,
};

static void change(unsigned int owner, struct rnd_state *rnd)
{
	tt_change_probes(&probes, owner, rnd);
}

static void stop(unsigned int owner, struct rnd_state *rnd)
{
	tt_stop_probes(&probes, owner, rnd);
}

const struct tt_kind tt_tp = {
	.id = TT_TP, .name = "tp", .hit = tt_hit_tp, .change = change, .stop = stop,
};

static int attach_storm(unsigned int nr, struct tt_data *data)
{
	return attach_to(&storm, data);
}

static int detach_storm(unsigned int nr, struct tt_data *data)
{
	return tracepoint_probe_unregister(storm.tp, data->func, data);
}

static const struct tt_probes storm_probes = {
	.targets = &tt_storm_target,
	.nr = 1,
	.rcu = true,
	.attach = attach_storm,
	.detach = detach_storm,
	.synchronize = tracepoint_synchronize_unregister,
};

static void change_storm(unsigned int owner, struct rnd_state *rnd)
{
	tt_change_probes(&storm_probes, owner, rnd);
}

static void stop_storm(unsigned int owner, struct rnd_state *rnd)
{
	tt_stop_probes(&storm_probes, owner, rnd);
}

const struct tt_kind tt_storm = {
	.id = TT_STORM, .name = "storm",
	.hit = tt_hit_storm, .change = change_storm, .stop = stop_storm,
};
