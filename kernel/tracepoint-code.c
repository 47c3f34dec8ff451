// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tracepoints whose stub is a patched jump: the trampolines that it leads to,
 * what takes their place without memory, and their names. What a trampoline is
 * made of, the architecture knows.
 */
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/preempt.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <asm/unaligned.h>

#include "tracepoint-private.h"

#define TRAMPOLINE_PREFIX	"tracepoint_trampoline_"
#define TRAMPOLINE_MODULE	"__builtin__tracepoint"

/*
 * All arrays with a trampoline, for the names of these. Those of a tracepoint that
 * were replaced stay until they are freed. Changed under tracepoints_mutex, read
 * under RCU.
 */
static LIST_HEAD(named);

/**
 * __tracepoint_leave - where the stub leads while there is no probe
 *
 * And where trampolines end: the stub disabled preemption.
 */
void notrace __tracepoint_leave(void)
{
	preempt_enable_notrace();
}
EXPORT_SYMBOL(__tracepoint_leave);

#ifdef CONFIG_PREEMPTION
/**
 * __tracepoint_resched - where an end of its own leads that has to reschedule
 *
 * Such an end has done the rest of __tracepoint_leave().
 */
void notrace __tracepoint_resched(void)
{
	__preempt_schedule_notrace();
}
#endif

/**
 * tracepoint_walk_begin - the probes that __tracepoint_walk() is to call
 * @behind_call: what is behind the call in the stub: an opcode of one byte, and how
 *		 far the tracepoint is from there
 *
 * Context: preemption is disabled.
 * Return: the probes, or NULL, and how many arguments are on the stack.
 */
notrace struct tracepoint_walk tracepoint_walk_begin(const u8 *behind_call)
{
	const u8 *operand = behind_call + 1;
	const struct tracepoint *tp =
		(const void *)operand + get_unaligned((const s32 *)operand);
	struct tracepoint_walk walk = {
		.nr_on_stack = tp->nr_args > TRACEPOINT_REG_ARGS ?
			       tp->nr_args - TRACEPOINT_REG_ARGS : 0,
	};

	if (__TP_CPU_ONLINE)
		walk.probes = rcu_dereference_raw(tp->funcs);
	return walk;
}

static void name_of(const struct tp_probes *probes, char *name)
{
	snprintf(name, KSYM_NAME_LEN, TRAMPOLINE_PREFIX "%s", probes->name);
}

static void tell_perf(const struct tp_probes *probes, bool gone)
{
	char name[KSYM_NAME_LEN];

	name_of(probes, name);
	perf_event_ksymbol(PERF_RECORD_KSYMBOL_TYPE_OOL,
			   (unsigned long)probes->code.text, probes->code.size,
			   gone, name);
}

int tp_make_code(struct tracepoint *tp, struct tp_probes *probes)
{
	int ret;

	probes->code.text = NULL;
	INIT_LIST_HEAD(&probes->list);
	if (!tp->nr_args)
		return 0;
	probes->name = kstrdup_const(tp->name, GFP_KERNEL);
	if (!probes->name)
		return 0;
	ret = arch_make_tracepoint_code(probes->probes, tp->nr_args, &probes->code);
	if (ret) {
		kfree_const(probes->name);
		probes->code.text = NULL;
		return ret == -ENOMEM ? 0 : ret;
	}
	list_add_rcu(&probes->list, &named);
	tell_perf(probes, false);
	return 0;
}

/* The lowest bit makes the jump a call. */
void tp_walk(struct tracepoint *tp)
{
	if (tp->nr_args)
		imv_set_var(tp->code, (s32)(unsigned long)__tracepoint_walk |
				      IMV_JUMP_TO_CALL);
}

void tp_set_code(struct tracepoint *tp, const struct tp_probes *probes)
{
	if (!probes)
		imv_set_var(tp->code, 0);
	else if (probes->code.text)
		imv_set_var(tp->code, (s32)(unsigned long)probes->code.text);
	else
		tp_walk(tp);
}

void tp_forget_code(struct tp_probes *probes)
{
	if (!probes->code.text)
		return;
	tell_perf(probes, true);
	list_del_rcu(&probes->list);
}

void tp_free_code(struct tp_probes *probes)
{
	if (!probes->code.text)
		return;
	arch_free_tracepoint_code(&probes->code);
	kfree_const(probes->name);
}

#ifdef CONFIG_KALLSYMS
/**
 * tracepoint_address_lookup - the name of a trampoline
 * @addr: an address
 * @size: gets the size of the trampoline, unless it is NULL
 * @offset: gets the offset of the address in it, unless it is NULL
 * @modname: gets what stands for a module, unless it is NULL
 * @name: gets the name, of at most KSYM_NAME_LEN bytes
 *
 * Context: any.
 * Return: @name, or NULL if no trampoline is there.
 */
const char *tracepoint_address_lookup(unsigned long addr, unsigned long *size,
				      unsigned long *offset, char **modname,
				      char *name)
{
	const struct tp_probes *probes;
	const char *ret = NULL;

	preempt_disable();
	if (!is_tracepoint_trampoline(addr))
		goto out;
	list_for_each_entry_rcu(probes, &named, list) {
		if (addr - (unsigned long)probes->code.text >= probes->code.size)
			continue;
		if (size)
			*size = probes->code.size;
		if (offset)
			*offset = addr - (unsigned long)probes->code.text;
		if (modname)
			*modname = TRAMPOLINE_MODULE;
		name_of(probes, name);
		ret = name;
		break;
	}
out:
	preempt_enable();
	return ret;
}

/**
 * tracepoint_get_kallsym - one of the trampolines, for /proc/kallsyms
 * @symnum: which one
 * @value: gets its address
 * @type: gets the type of the symbol
 * @name: gets its name, of at most KSYM_NAME_LEN bytes
 * @module_name: gets what stands for a module, of at most MODULE_NAME_LEN bytes
 * @exported: gets whether it is exported
 *
 * Context: any.
 * Return: 0, or -ERANGE if there are not so many.
 */
int tracepoint_get_kallsym(unsigned int symnum, unsigned long *value, char *type,
			   char *name, char *module_name, int *exported)
{
	const struct tp_probes *probes;
	int ret = -ERANGE;

	preempt_disable();
	list_for_each_entry_rcu(probes, &named, list) {
		if (symnum--)
			continue;
		*value = (unsigned long)probes->code.text;
		*type = 't';
		*exported = 0;
		name_of(probes, name);
		strscpy(module_name, TRAMPOLINE_MODULE, MODULE_NAME_LEN);
		ret = 0;
		break;
	}
	preempt_enable();
	return ret;
}
#endif /* CONFIG_KALLSYMS */
