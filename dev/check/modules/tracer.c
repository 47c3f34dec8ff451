// SPDX-License-Identifier: GPL-2.0
/*
 * A module with a marker that is fed by a tracepoint of the kernel.
 */
#include <linux/marker.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <trace/events/kmem.h>
#include <trace/tracer.h>

DEFINE_TRACER(kfree, tracer_kfree,
	      TP_PROTO(unsigned long call_site, const void *ptr), "ptr %p", ptr);

MODULE_DESCRIPTION("A tracer that is unloaded while it is in use");
MODULE_LICENSE("GPL");
