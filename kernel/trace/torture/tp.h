/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TRACE_TORTURE_TP_H
#define _TRACE_TORTURE_TP_H

/*
 * The tracepoints of the test. Trampolines, where the architecture has them, call the
 * probes of those with one to twelve words of arguments. C code calls the probes of the
 * others: with thirteen words, and with an argument of two words.
 */
#define TT_MAX_WORDS	13
#define TT_NR_TPS	(TT_MAX_WORDS + 1)
#define TT_FOR_EACH_TP(X)						\
	X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13)

#define TT_PROTO_1	struct tt_hit *hit
#define TT_PROTO_2	TT_PROTO_1, unsigned long w2
#define TT_PROTO_3	TT_PROTO_2, unsigned long w3
#define TT_PROTO_4	TT_PROTO_3, unsigned long w4
#define TT_PROTO_5	TT_PROTO_4, unsigned long w5
#define TT_PROTO_6	TT_PROTO_5, unsigned long w6
#define TT_PROTO_7	TT_PROTO_6, unsigned long w7
#define TT_PROTO_8	TT_PROTO_7, unsigned long w8
#define TT_PROTO_9	TT_PROTO_8, unsigned long w9
#define TT_PROTO_10	TT_PROTO_9, unsigned long w10
#define TT_PROTO_11	TT_PROTO_10, unsigned long w11
#define TT_PROTO_12	TT_PROTO_11, unsigned long w12
#define TT_PROTO_13	TT_PROTO_12, unsigned long w13

#define TT_ARGS_1	hit
#define TT_ARGS_2	TT_ARGS_1, w2
#define TT_ARGS_3	TT_ARGS_2, w3
#define TT_ARGS_4	TT_ARGS_3, w4
#define TT_ARGS_5	TT_ARGS_4, w5
#define TT_ARGS_6	TT_ARGS_5, w6
#define TT_ARGS_7	TT_ARGS_6, w7
#define TT_ARGS_8	TT_ARGS_7, w8
#define TT_ARGS_9	TT_ARGS_8, w9
#define TT_ARGS_10	TT_ARGS_9, w10
#define TT_ARGS_11	TT_ARGS_10, w11
#define TT_ARGS_12	TT_ARGS_11, w12
#define TT_ARGS_13	TT_ARGS_12, w13

/* The arguments that a hit passes. */
#define TT_PASS_1(hit)	hit
#define TT_PASS_2(hit)	TT_PASS_1(hit), tt_word(hit, 2)
#define TT_PASS_3(hit)	TT_PASS_2(hit), tt_word(hit, 3)
#define TT_PASS_4(hit)	TT_PASS_3(hit), tt_word(hit, 4)
#define TT_PASS_5(hit)	TT_PASS_4(hit), tt_word(hit, 5)
#define TT_PASS_6(hit)	TT_PASS_5(hit), tt_word(hit, 6)
#define TT_PASS_7(hit)	TT_PASS_6(hit), tt_word(hit, 7)
#define TT_PASS_8(hit)	TT_PASS_7(hit), tt_word(hit, 8)
#define TT_PASS_9(hit)	TT_PASS_8(hit), tt_word(hit, 9)
#define TT_PASS_10(hit)	TT_PASS_9(hit), tt_word(hit, 10)
#define TT_PASS_11(hit)	TT_PASS_10(hit), tt_word(hit, 11)
#define TT_PASS_12(hit)	TT_PASS_11(hit), tt_word(hit, 12)
#define TT_PASS_13(hit)	TT_PASS_12(hit), tt_word(hit, 13)

/* An argument of two words. */
struct tt_wide {
	struct tt_hit *hit;
	unsigned long word;
};

#define TT_DECLARE_TP(n)						\
	DECLARE_TRACE(torture_##n, TP_PROTO(TT_PROTO_##n), TP_ARGS(TT_ARGS_##n));

TT_FOR_EACH_TP(TT_DECLARE_TP)
DECLARE_TRACE(torture_wide, TP_PROTO(struct tt_wide wide, unsigned long word),
	      TP_ARGS(wide, word));
DECLARE_TRACE(torture_storm, TP_PROTO(struct tt_hit *hit), TP_ARGS(hit));

extern struct tt_target tt_tp_targets[TT_NR_TPS], tt_storm_target;

#endif /* _TRACE_TORTURE_TP_H */
