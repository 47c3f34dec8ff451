// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Softirqs as markers. vec is the softirq number of linux/interrupt.h.
 */
#include <linux/marker.h>
#include <linux/interrupt.h>
#include <trace/events/irq.h>

DEFINE_TRACER(softirq_raise, kernel_softirq_raise,
	      TP_PROTO(unsigned int vec_nr), "vec %u", vec_nr);

DEFINE_TRACER(softirq_entry, kernel_softirq_entry,
	      TP_PROTO(unsigned int vec_nr), "vec %u", vec_nr);

DEFINE_TRACER(softirq_exit, kernel_softirq_exit,
	      TP_PROTO(unsigned int vec_nr), "vec %u", vec_nr);
