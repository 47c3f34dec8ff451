// SPDX-License-Identifier: GPL-2.0
/*
 * A module that turns a tracepoint of the kernel into a marker of its own.
 */
#include <linux/marker.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <trace/events/kmem.h>

DEFINE_TRACER(kfree, tracer_kfree,
	      TP_PROTO(unsigned long call_site, const void *ptr), "ptr %p", ptr);

MODULE_DESCRIPTION("A tracer that is unloaded while it is in use");
MODULE_LICENSE("GPL");
