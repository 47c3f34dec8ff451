// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Interrupt handlers as markers.
 */
#include <linux/marker.h>
#include <linux/interrupt.h>
#include <trace/events/irq.h>

DEFINE_TRACER(irq_handler_entry, kernel_irq_entry,
	      TP_PROTO(int irq, struct irqaction *action),
	      "irq %d name %s", irq, action->name);

DEFINE_TRACER(irq_handler_exit, kernel_irq_exit,
	      TP_PROTO(int irq, struct irqaction *action, int ret),
	      "irq %d handled %d", irq, ret);
