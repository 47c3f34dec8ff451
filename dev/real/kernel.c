// SPDX-License-Identifier: GPL-2.0
/* The kernel's side: what the tests of the host call. Compiled like a module. */
#include <linux/ftrace.h>
#include <linux/ftrace-set.h>
#include <linux/marker.h>
#include <linux/slab.h>
#include <linux/text-patching.h>
#include <linux/tracepoint.h>

#include "probes_kernel.h"

/* Of the thread that calls it. */
void real_make_task(void)
{
	refcount_set(&current->usage, 1);
}

void real_hit(unsigned int nr, ulong n)
{
	real_tracepoints[nr].hit(n);
}

int real_attach(unsigned int nr, struct real_probe *probe)
{
	return tracepoint_probe_register(real_tracepoints[nr].tp, real_tracepoints[nr].probe, probe);
}

int real_detach(unsigned int nr, struct real_probe *probe)
{
	return tracepoint_probe_unregister(real_tracepoints[nr].tp, real_tracepoints[nr].probe,
					   probe);
}

void real_synchronize(void)
{
	tracepoint_synchronize_unregister();
}

/* A marker, with probes of both forms. */

#define MARK_FORMAT	"n %lu next %d last %lu"

void real_mark(ulong n)
{
	trace_mark(real_mark, MARK_FORMAT, n, (int)n + 1, n + 2);
}

static void note_mark(struct real_probe *probe, va_list *args)
{
	ulong n = va_arg(*args, ulong);
	int next = va_arg(*args, int);

	real_note(probe, next == (int)n + 1 && va_arg(*args, ulong) == n + 2);
}

static __printf(3, 0) void mark_va(void *private, void *call_private, const char *format,
				   va_list *args)
{
	note_mark(private, args);
}

static __printf(3, 4) void mark_variadic(const struct marker *marker, void *pdata,
					 const char *format, ...)
{
	va_list args;

	va_start(args, format);
	note_mark(pdata, &args);
	va_end(args);
}

int real_mark_attach(bool variadic, struct real_probe *probe)
{
	int ret;

	if (!variadic)
		return marker_probe_register("real_mark", MARK_FORMAT, mark_va, probe);
	ret = marker_probe_register("real_mark", MARK_FORMAT, mark_variadic, probe);
	return ret ?: marker_arm("real_mark");
}

int real_mark_detach(bool variadic, struct real_probe *probe)
{
	if (!variadic)
		return marker_probe_unregister("real_mark", mark_va, probe);
	return marker_disarm("real_mark") ?:
	       marker_probe_unregister("real_mark", mark_variadic, probe);
}

/* A function with a set of tracers, of which each has a probe's data. */

static struct ftrace_ops real_ops[REAL_TRACERS];

noinline ulong real_traced(ulong n)
{
	return n * 3;
}

static notrace void tracer(ulong ip, ulong parent_ip, struct ftrace_ops *ops,
			   struct ftrace_regs *fregs)
{
	real_note(ops->private, ip == (ulong)real_traced &&
		  ftrace_regs_get_argument(fregs, 0) == 42);
	/* As a function may do: the next tracer gets its own arguments. */
	asm volatile("xorl %%edi, %%edi\n\t" "xorl %%esi, %%esi" : : : "rdi", "rsi");
}

struct ftrace_set *real_make_set(unsigned int members, bool regs, struct real_probe *probes)
{
	struct ftrace_set *set = kzalloc(sizeof(*set) + REAL_TRACERS * sizeof(*set->members),
					 GFP_KERNEL);
	unsigned int i;

	for (i = 0; i < REAL_TRACERS; i++) {
		real_ops[i].func = tracer;
		real_ops[i].private = &probes[i];
		real_ops[i].flags = FTRACE_OPS_FL_ENABLED;
		if (regs)
			real_ops[i].flags |= FTRACE_OPS_FL_SAVE_REGS;
		if (members & BIT(i))
			set->members[set->nr++].ops = &real_ops[i];
	}
	return arch_ftrace_make_set(set) ? NULL : set;
}

/* Lets the function call the set. */
void real_use_set(const struct ftrace_set *set)
{
	u8 insn[CALL_INSN_SIZE];

	__text_gen_insn(insn, CALL_INSN_OPCODE, real_traced, set->text.text, sizeof(insn));
	smp_text_poke_single(real_traced, insn, sizeof(insn), NULL);
}

void real_free_set(struct ftrace_set *set)
{
	free_generated_text(&set->text);
	flush_generated_text();
	kfree(set);
}
