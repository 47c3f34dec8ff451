// SPDX-License-Identifier: GPL-2.0
#include "hits.h"

DEFINE_TRACE(hits_tp, TP_PROTO(int number, void *pointer), TP_ARGS(number, pointer));
DEFINE_TRACE_SYSCALL(hits_faultable_tp, NULL, NULL, TP_PROTO(int number, void *pointer),
		     TP_ARGS(number, pointer));
