// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tracepoints whose stub is a patched jump: the use of trampolines, and the
 * fallback when there is no memory for one. The architecture makes the code of
 * the trampolines.
 */
#include <linux/generated-text.h>
#include <linux/module.h>
#include <linux/tracepoint.h>

#include "tracepoint-private.h"

EXPORT_SYMBOL(__tracepoint_leave);		/* for the stubs of modules */
EXPORT_SYMBOL(__tracepoint_leave_faultable);

/*
 * Finds the probes for __tracepoint_walk(). Behind the call in the stub are an opcode of
 * one byte and an operand, which is the tracepoint relative to the operand.
 */
notrace struct tracepoint_walk tracepoint_walk_begin(const u8 *behind_call)
{
	const u8 *operand = behind_call + 1;
	struct tracepoint *tp;
	struct tracepoint_walk walk = { };
	s32 distance;

	memcpy(&distance, operand, sizeof(distance));
	tp = (void *)operand + distance;
	walk.nr_on_stack = TRACEPOINT_STACK_ARGS(tp->nr_args);
	if (tracepoint_is_faultable(tp) || __TP_CPU_ONLINE)
		walk.probes = rcu_dereference_raw(tp->funcs);
	return walk;
}

/*
 * Is the address in the code for the attached probes, and is there only one? The caller may be
 * in code that is about to be replaced. The size was stored after the code that it belongs to,
 * and is 0 before other code can run.
 */
static bool is_in_code_of_one(const struct tracepoint *tp, unsigned long addr)
{
	unsigned int size = READ_ONCE(tp->one_size);

	smp_rmb();	/* pairs with that in tp_set_code() */
	return addr - (unsigned long)READ_ONCE(tp->code) < size;
}

static noinline unsigned long search_traced_ip(const struct tracepoint *tp, unsigned long ip,
					       const unsigned long *slot)
{
	const unsigned long *stack = slot - TRACEPOINT_ONE_DEPTH(tp->nr_args);
	int words = generated_text_depth(ip);

	if (words >= 0)
		return stack[words + IS_ENABLED(CONFIG_FRAME_POINTER)];
	/* The walk pushes the address again. */
	return is_tracepoint_walk(ip) ? stack[TRACEPOINT_STACK_ARGS(tp->nr_args)] : ip;
}

/*
 * Called by a probe with its return address, and where the site's is on the stack if there
 * is one probe. Preemption is disabled. Return: the address of the traced code, or @ip if C
 * code called the probe.
 */
notrace unsigned long tracepoint_traced_ip(const struct tracepoint *tp, unsigned long ip,
					   const unsigned long *slot)
{
	return is_in_code_of_one(tp, ip) ? *slot : search_traced_ip(tp, ip, slot);
}
EXPORT_SYMBOL_GPL(tracepoint_traced_ip);	/* for the events of modules */

/* Arrays without a trampoline, for lack of memory */
static LIST_HEAD(waiting_arrays);

static int make_code(struct tracepoint *tp, struct tp_probes *probes)
{
	return arch_make_tracepoint_code(tp, probes->probes, &probes->code);
}

int tp_make_code(struct tracepoint *tp, struct tp_probes *probes)
{
	int ret;

	probes->code = (struct generated_text){ };
	INIT_LIST_HEAD(&probes->waiting);
	if (!tp->nr_args)
		return 0;
	ret = make_code(tp, probes);
	if (ret != -ENOMEM)
		return ret;
	probes->tp = tp;
	list_add_tail(&probes->waiting, &waiting_arrays);
	return 0;
}

/* The lowest bit makes the jump a call. */
void tp_set_walk(struct tracepoint *tp)
{
	if (!tp->nr_args)
		return;
	WRITE_ONCE(tp->one_size, 0);
	imv_set_var(tp->code, (s32)(unsigned long)__tracepoint_walk | IMV_JUMP_TO_CALL);
}

void tp_set_code(struct tracepoint *tp, const struct tp_probes *probes)
{
	WRITE_ONCE(tp->one_size, 0);
	smp_wmb();	/* pairs with that in is_in_code_of_one() */
	if (!probes) {
		imv_set_var(tp->code, 0);
	} else if (!probes->code.text) {
		tp_set_walk(tp);
	} else {
		imv_set_var(tp->code, (s32)(unsigned long)probes->code.text);
		smp_wmb();	/* the same */
		if (!probes->probes[1].func && probes->code.size <= U8_MAX)
			WRITE_ONCE(tp->one_size, probes->code.size);
	}
}

/*
 * Stops at the first array for which there is still no memory. It may need more memory
 * than others, so the next attempt begins with another one.
 */
void tp_make_missing_code(void)
{
	struct tp_probes *probes, *next;
	bool deferred;
	int ret;

	/* Only one task can defer: leave that to another one if there is nothing to do. */
	if (list_empty(&waiting_arrays))
		return;
	deferred = imv_defer_begin();
	list_for_each_entry_safe(probes, next, &waiting_arrays, waiting) {
		ret = make_code(probes->tp, probes);
		if (ret == -ENOMEM) {
			list_move_tail(&probes->waiting, &waiting_arrays);
			break;
		}
		list_del_init(&probes->waiting);
		if (!ret)
			tp_set_code(probes->tp, probes);
	}
	imv_defer_end(deferred);
}

void tp_retire_code(struct tp_probes *probes)
{
	list_del_init(&probes->waiting);
}

void tp_free_code(struct tp_probes *probes)
{
	if (probes->code.text)
		free_generated_text(&probes->code);
}
