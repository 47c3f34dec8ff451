// SPDX-License-Identifier: GPL-2.0
/*
 * SITES (100, 1000, 5000 or 10000) sites of the tracepoint that is measured, in
 * functions with a hundred sites each.
 */
#include <linux/module.h>
#include <linux/tracepoint.h>

#include "bench.h"

/* Each has a different number, or the compiler would merge them. */
#define SITE		trace_bench(__COUNTER__, pointer); barrier();
#define SITES_10	SITE SITE SITE SITE SITE SITE SITE SITE SITE SITE
#define SITES_100	SITES_10 SITES_10 SITES_10 SITES_10 SITES_10	\
			SITES_10 SITES_10 SITES_10 SITES_10 SITES_10

#define FUNCTION(n)							\
	void sites_##n(void *pointer);			\
	__flatten void sites_##n(void *pointer) { SITES_100 }
#define FUNCTIONS_10(n)							\
	FUNCTION(n##0) FUNCTION(n##1) FUNCTION(n##2) FUNCTION(n##3)	\
	FUNCTION(n##4) FUNCTION(n##5) FUNCTION(n##6) FUNCTION(n##7)	\
	FUNCTION(n##8) FUNCTION(n##9)
#define FUNCTIONS_50(n)							\
	FUNCTIONS_10(n##0) FUNCTIONS_10(n##1) FUNCTIONS_10(n##2)	\
	FUNCTIONS_10(n##3) FUNCTIONS_10(n##4)
#define FUNCTIONS_100(n)						\
	FUNCTIONS_50(n)							\
	FUNCTIONS_10(n##5) FUNCTIONS_10(n##6) FUNCTIONS_10(n##7)	\
	FUNCTIONS_10(n##8) FUNCTIONS_10(n##9)

/* PART must be expanded before it is pasted into names. */
#define FUNCTIONS_OF_100(part)		FUNCTION(part)
#define FUNCTIONS_OF_1000(part)		FUNCTIONS_10(part)
#define FUNCTIONS_OF_5000(part)		FUNCTIONS_50(part)
#define FUNCTIONS_OF_10000(part)	FUNCTIONS_100(part)

CONCATENATE(FUNCTIONS_OF_, SITES)(PART)
