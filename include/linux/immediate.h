/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_IMMEDIATE_H
#define _LINUX_IMMEDIATE_H

/*
 * Immediate values: variables that are part of the code that reads them.
 *
 * A value that is read often and set rarely (a switch, a limit, a pointer to
 * the current policy) costs a data cache line wherever it is read. An
 * immediate value is stored in the operand of the instruction that reads it,
 * so reading it touches no data memory; setting it patches every reader.
 *
 *	DEFINE_IMV(type, name) [= initial value];
 *	DECLARE_IMV(type, name);
 *	EXPORT_IMV_SYMBOL(name);  EXPORT_IMV_SYMBOL_GPL(name);
 *	imv_read(name)			value, from the code
 *	_imv_read(name)			value, from memory
 *	immediate_if(name) { } else { }
 *	imv_unlikely(name)		the same jump, as an expression
 *	imv_set(name, value)		may sleep
 *	imv_set_early(name, value)	while booting, before other CPUs run
 *	imv_batch_begin(), imv_batch_commit()
 *	imv_defer_begin(), imv_defer_end()
 *
 * A type is an integer, signed or not, an enum, a bool or a pointer, of 1, 2,
 * 4 or 8 bytes; another size does not compile.
 *
 *	static DEFINE_IMV(unsigned int, nr_spins) = 64;
 *
 *	for (i = 0; i < imv_read(nr_spins); i++)
 *		cpu_relax();
 *
 *	imv_set(nr_spins, 128);
 *
 * How it is built:
 *  - CONFIG_IMMEDIATE: imv_read() is a MOV of a constant, immediate_if() a NOP
 *    or a JMP. Each has a record (struct imv_site) in the section __imv, with
 *    its address and the variable that it mirrors. Setting stores the variable,
 *    then rewrites all its sites in the kernel and in modules with the
 *    breakpoint method of the architecture.
 *  - CONFIG_IMMEDIATE_JUMP_LABEL, on other architectures with jump labels:
 *    immediate_if() on a one-byte value is a jump label; imv_read() is a load.
 *  - Otherwise all of the above is a plain variable.
 *
 * Notes:
 *  - Setting is slow: it interrupts every CPU a few times. A batch does that
 *    once for all the variables set in it. (On x86, once for up to 3,072 sites,
 *    or 256 if they are far apart. With jump labels, once for 256 variables, and
 *    some architectures interrupt for each site.)
 *  - While imv_set() runs, some CPUs read the old value and some the new one;
 *    when it returns, all read the new one. Reads are not ordered against other
 *    variables, as with a plain variable.
 *  - An 8-byte value on a 32-bit machine is read in two halves; they may be of
 *    different values, as with a plain variable.
 *  - Patched sites read as 0 before imv_init(). It runs in setup_arch() or, with
 *    jump labels, in start_kernel() after jump_label_init().
 *  - With jump labels, imv_read() sees a new value as soon as it is stored,
 *    before immediate_if() does.
 *  - immediate_if() is a patched jump for one-byte types only; for the wider
 *    ones it tests imv_read().
 *  - Only the variable itself can be read: its address must be a constant.
 *    Do not store to the variable except by imv_set().
 *  - __init code, and __exit code of modules, may read immediate values.
 *
 * Based on the immediate values patches of Mathieu Desnoyers, 2007 to 2009.
 */

#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/export.h>
#include <linux/types.h>

/* A record uses the two low bits of the variable's address as flags. */
#define IMV_ALIGN	4

#define __imv_aligned(type)						\
	__aligned(__alignof__(type) < IMV_ALIGN ? IMV_ALIGN : __alignof__(type))

#define __imv_check(var)						\
	static_assert(sizeof(var) == 1 || sizeof(var) == 2 ||		\
		      sizeof(var) == 4 || sizeof(var) == 8,		\
		      "an immediate value has 1, 2, 4 or 8 bytes");	\
	static_assert(__alignof__(var) >= IMV_ALIGN,			\
		      "use DEFINE_IMV(), or __aligned(IMV_ALIGN) for a member")

/**
 * DEFINE_IMV - define an immediate value
 * @type: integer or pointer type of 1, 2, 4 or 8 bytes
 * @name: name of the value; its variable is @name__imv
 *
 * May follow ``static`` and be followed by an initialiser.
 */
#define DEFINE_IMV(type, name)						\
	__typeof__(type) name##__imv __imv_aligned(type)

/**
 * DECLARE_IMV - declare an immediate value that another file defines
 * @type: the type it is defined with
 * @name: name of the value
 */
#define DECLARE_IMV(type, name)						\
	extern __typeof__(type) name##__imv __imv_aligned(type)

/**
 * EXPORT_IMV_SYMBOL - let modules read and set an immediate value
 * @name: name of the value
 */
#define EXPORT_IMV_SYMBOL(name)		EXPORT_SYMBOL(name##__imv)

/**
 * EXPORT_IMV_SYMBOL_GPL - the same for modules under the GPL
 * @name: name of the value
 */
#define EXPORT_IMV_SYMBOL_GPL(name)	EXPORT_SYMBOL_GPL(name##__imv)

#ifdef CONFIG_IMMEDIATE

/* Flags of a jump, in its record; see struct imv_site. */
#define IMV_JUMP_NOP		2	/* compiled as a JMP, which objtool makes a NOP */
/*
 * The variable, an s32, holds the sign-extended address to which the site jumps,
 * or 0 for the target of the record. The lowest bit of the value makes it a call;
 * addresses are even. The instruction after the jump is never executed; its operand
 * refers to the object that owns the site.
 */
#define IMV_JUMP_TO		3
#define IMV_JUMP_TO_CALL	1
#define IMV_JUMP_TO_OWNER_SIZE	5

#include <asm/immediate.h>

#elif defined(CONFIG_IMMEDIATE_JUMP_LABEL)
#include <asm-generic/immediate-jump-label.h>
#else
#include <asm-generic/immediate.h>
#endif

#ifdef CONFIG_IMMEDIATE_SITES
struct imv_site;

/* The sites of the kernel or a module, sorted by variable. */
struct imv_table {
	struct list_head list;
	struct imv_site *sites;
	unsigned int nr;
};

void __imv_set(void *var, const void *value, size_t size);
void __imv_set_early(void *var, const void *value, size_t size);
void imv_batch_begin(void);
void imv_batch_commit(void);
bool imv_defer_begin(void);
void imv_defer_end(bool deferred);
void imv_flush(void);
int imv_text_reserved(const void *start, const void *end);
void imv_init(void);
void imv_make_const(const void *var);
void imv_free_init_mem(void);

#else /* !CONFIG_IMMEDIATE_SITES */

static inline void imv_batch_begin(void) { }
static inline void imv_batch_commit(void) { }
static inline bool imv_defer_begin(void) { return false; }
static inline void imv_defer_end(bool deferred) { }
static inline void imv_flush(void) { }
static inline int imv_text_reserved(const void *start, const void *end)
{
	return 0;
}
static inline void imv_init(void) { }
static inline void imv_free_init_mem(void) { }

#endif /* CONFIG_IMMEDIATE_SITES */

#ifndef arch_imv_goto
#define arch_imv_goto(var, label)					\
	do {								\
		if (unlikely_notrace(arch_imv_branch(var)))		\
			goto label;					\
	} while (0)
#endif

/**
 * imv_read_var - imv_read() of a variable
 * @var: a member of a static structure, aligned to IMV_ALIGN
 *
 * imv_set_var() and imv_unlikely_var() are the other operations for such a member.
 *
 * Context: as for imv_read().
 * Return: as for imv_read().
 */
#define imv_read_var(var)						\
	({								\
		__imv_check(var);					\
		arch_imv_read(var);					\
	})

#define imv_unlikely_var(var)						\
	unlikely_notrace(__builtin_choose_expr(sizeof(var) == 1,	\
			 arch_imv_branch((const void *)&(var)),		\
			 imv_read_var(var)))

#define imv_set_var(var, value)						\
	do {								\
		__typeof__(var) __imv_value = (value);			\
		__imv_check(var);					\
		__imv_set(&(var), &__imv_value, sizeof(var));		\
	} while (0)

/**
 * imv_read - read an immediate value
 * @name: name of the value
 *
 * Context: any, including NMI; code that runs before the breakpoint handler
 *	    is set up on its CPU must use _imv_read().
 * Return: the value: a constant in the code with CONFIG_IMMEDIATE, else loaded.
 */
#define imv_read(name)		imv_read_var(name##__imv)

/**
 * _imv_read - read an immediate value from memory
 * @name: name of the value
 *
 * Sees a new value as soon as imv_set() has stored it.
 *
 * Context: any, including the code that handles breakpoints.
 * Return: the value.
 */
#define _imv_read(name)		READ_ONCE(name##__imv)

/**
 * imv_unlikely - true if an immediate value is not zero, and that is rare
 * @name: name of a value of one byte (any size, at the cost of a test)
 *
 * Context: as for imv_read().
 * Return: a truth value that is encoded as a jump, with no load and no test,
 *	   with CONFIG_IMMEDIATE or CONFIG_IMMEDIATE_JUMP_LABEL.
 */
#define imv_unlikely(name)	imv_unlikely_var(name##__imv)

/**
 * immediate_if - a patched ``if`` statement; the value is usually zero
 * @name: name of a value of one byte (any size, at the cost of a test)
 *
 * While the value is zero this is a NOP, otherwise a JMP to the block, which
 * is placed out of line. An ``else`` may follow.
 *
 * Context: as for imv_read().
 */
#define immediate_if(name)		if (imv_unlikely(name))

/**
 * imv_set - change an immediate value
 * @name: name of the value
 * @value: the new value
 *
 * Context: may sleep; takes cpu_hotplug_lock, imv_mutex and, if the backend
 *	    needs it, text_mutex, in this order. On return every CPU reads the new
 *	    value; in a batch or while the task defers, only after the outermost
 *	    imv_batch_commit() or imv_defer_end().
 */
#define imv_set(name, value)	imv_set_var(name##__imv, value)

/**
 * imv_set_early - change an immediate value while booting
 * @name: name of the value
 * @value: the new value
 *
 * Context: __init functions, while only the boot CPU runs, before the scheduler
 *	    starts; interrupts may be off. Works before imv_init() too. Where code
 *	    is patched, a later call warns and does nothing.
 */
#define imv_set_early(name, value)					\
	do {								\
		__typeof__(name##__imv) __imv_value = (value);		\
		__imv_check(name##__imv);				\
		__imv_set_early(&name##__imv, &__imv_value,		\
				sizeof(__imv_value));			\
	} while (0)

#endif /* _LINUX_IMMEDIATE_H */
