// SPDX-License-Identifier: GPL-2.0
/* SITES (100) or 10,000 sites of the tracepoint that is measured. */
#include <linux/module.h>
#include <linux/tracepoint.h>

#include "bench.h"

#define SITE		trace_bench(number, pointer); barrier();
#define TEN(what)	what what what what what what what what what what
#define HUNDRED(what)	TEN(TEN(what))

#define FUNCTION(n)							\
	void sites_##n(int number, void *pointer);			\
	void sites_##n(int number, void *pointer) { HUNDRED(SITE) }
#define FUNCTIONS_10(n)							\
	FUNCTION(n##0) FUNCTION(n##1) FUNCTION(n##2) FUNCTION(n##3)	\
	FUNCTION(n##4) FUNCTION(n##5) FUNCTION(n##6) FUNCTION(n##7)	\
	FUNCTION(n##8) FUNCTION(n##9)
#define FUNCTIONS_100(n)						\
	FUNCTIONS_10(n##0) FUNCTIONS_10(n##1) FUNCTIONS_10(n##2)	\
	FUNCTIONS_10(n##3) FUNCTIONS_10(n##4) FUNCTIONS_10(n##5)	\
	FUNCTIONS_10(n##6) FUNCTIONS_10(n##7) FUNCTIONS_10(n##8)	\
	FUNCTIONS_10(n##9)

#ifndef SITES
FUNCTIONS_100(PART)
#else
FUNCTION(PART)
#endif
