// SPDX-License-Identifier: GPL-2.0
/*
 * Sites of one, two and four arguments, each in a function that does nothing
 * else, and the same function without the site: the difference is the cost of
 * a site. The calls around the site keep its arguments alive, and give both
 * functions the same frame. The tracepoints are not defined, so that their
 * iterators cannot be inlined into the sites.
 */
#include <linux/tracepoint.h>

#define FUNCTIONS(nr, proto, args)					\
	DECLARE_TRACE(alone_##nr, TP_PROTO(proto), TP_ARGS(args));	\
									\
	void before_##nr(proto);					\
	void after_##nr(proto);						\
	void with_##nr(proto);						\
	void without_##nr(proto);					\
									\
	void with_##nr(proto)						\
	{								\
		before_##nr(args);					\
		trace_alone_##nr##_tp(args);					\
		after_##nr(args);					\
	}								\
									\
	void without_##nr(proto)					\
	{								\
		before_##nr(args);					\
		after_##nr(args);					\
	}

FUNCTIONS(1, PARAMS(long a), PARAMS(a))
FUNCTIONS(2, PARAMS(long a, long b), PARAMS(a, b))
FUNCTIONS(4, PARAMS(long a, long b, long c, long d), PARAMS(a, b, c, d))
