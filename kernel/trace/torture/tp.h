/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TRACE_TORTURE_TP_H
#define _TRACE_TORTURE_TP_H

/*
 * The tracepoints of the test. Trampolines, where the architecture has them, call the
 * probes of those with one to twelve words of arguments: up to five in registers. C code
 * calls the probes of the one with an argument of two words. That with one word has
 * hundreds of sites.
 */
#define TT_FOR_EACH_TP(X)	X(1) X(5) X(6) X(12) X(wide)

/* An argument of two words. */
struct tt_wide {
	struct tt_hit *hit;
	unsigned long word;
};

#define TT_PROTO_1	struct tt_hit *hit
#define TT_PROTO_5	TT_PROTO_1, unsigned long w2, unsigned long w3,		\
			unsigned long w4, unsigned long w5
#define TT_PROTO_6	TT_PROTO_5, unsigned long w6
#define TT_PROTO_12	TT_PROTO_6, unsigned long w7, unsigned long w8,		\
			unsigned long w9, unsigned long w10,			\
			unsigned long w11, unsigned long w12
#define TT_PROTO_wide	struct tt_wide wide, unsigned long word

#define TT_ARGS_1	hit
#define TT_ARGS_5	hit, w2, w3, w4, w5
#define TT_ARGS_6	TT_ARGS_5, w6
#define TT_ARGS_12	TT_ARGS_6, w7, w8, w9, w10, w11, w12
#define TT_ARGS_wide	wide, word

/* The arguments that a hit passes. */
#define TT_PASS_1(hit)	hit
#define TT_PASS_5(hit)	hit, tt_word(hit, 2), tt_word(hit, 3), tt_word(hit, 4),	\
			tt_word(hit, 5)
#define TT_PASS_6(hit)	TT_PASS_5(hit), tt_word(hit, 6)
#define TT_PASS_12(hit)	TT_PASS_6(hit), tt_word(hit, 7), tt_word(hit, 8),	\
			tt_word(hit, 9), tt_word(hit, 10), tt_word(hit, 11),	\
			tt_word(hit, 12)
#define TT_PASS_wide(hit)	(struct tt_wide){ hit, tt_word(hit, 1) }, tt_word(hit, 2)

#define TT_TP_ID(n)	TT_TP_##n,
#define TT_DECLARE_TP(n)						\
	DECLARE_TRACE(torture_##n, TP_PROTO(TT_PROTO_##n), TP_ARGS(TT_ARGS_##n));

enum tt_tp_id { TT_FOR_EACH_TP(TT_TP_ID) TT_NR_TPS };
TT_FOR_EACH_TP(TT_DECLARE_TP)

extern struct tt_target tt_tp_targets[TT_NR_TPS];

#endif /* _TRACE_TORTURE_TP_H */
