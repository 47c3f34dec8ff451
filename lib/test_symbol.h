/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LIB_TEST_SYMBOL_H
#define _LIB_TEST_SYMBOL_H

/* For KUnit tests, which may be built as modules. */

#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/workqueue.h>
#ifdef CONFIG_X86_KERNEL_IBT
#include <linux/cpufeature.h>
#include <asm/ibt.h>
#endif

/* Is this in the function? */
static inline bool is_in(unsigned long addr, const void *func)
{
	char name[KSYM_SYMBOL_LEN], wanted[KSYM_SYMBOL_LEN];

	snprintf(name, sizeof(name), "%ps", (void *)addr);
	snprintf(wanted, sizeof(wanted), "%ps", func);
	return !strcmp(name, wanted);
}

#ifdef CONFIG_KPROBES

#ifdef CONFIG_X86_KERNEL_IBT
/* Functions whose address the kernel does not take have no ENDBR any longer. */
static inline bool has_sealed_functions(void)
{
	return cpu_feature_enabled(X86_FEATURE_IBT);
}

/* A kprobe at the entry of a function is behind its ENDBR. */
static inline void *entry_of(void *probed)
{
	u32 *endbr = probed - sizeof(*endbr);

	return __is_endbr(*endbr) ? endbr : probed;
}
#else
static inline bool has_sealed_functions(void)
{
	return IS_ENABLED(CONFIG_ARM64_BTI_KERNEL);
}

static inline void *entry_of(void *probed)
{
	return probed;
}
#endif

/*
 * Elsewhere, the address of a function's code is not enough to call it: it needs a
 * descriptor, a register that a module has changed, or a bit.
 */
static inline bool can_call_text(void)
{
	return !IS_ENABLED(CONFIG_HAVE_FUNCTION_DESCRIPTORS) && !IS_ENABLED(CONFIG_PPC64) &&
	       !IS_ENABLED(CONFIG_THUMB2_KERNEL) && !has_sealed_functions();
}

/*
 * Address of a function that is not exported, or NULL. Kprobes look up the name; the
 * probe is disabled, so the function is not patched.
 */
static inline void *text_of(const char *name)
{
	struct kprobe kp = { .symbol_name = name, .flags = KPROBE_FLAG_DISABLED };
	void *address;

	if (register_kprobe(&kp))
		return NULL;
	address = entry_of(kp.addr);
	unregister_kprobe(&kp);
	return address;
}

/* The same, but NULL if the function must not be called. */
static inline void *find_function(const char *name)
{
	return can_call_text() ? text_of(name) : NULL;
}

/* Address of a function or variable that is not exported, or NULL. */
static inline void *find_symbol(const char *name)
{
	unsigned long (*look_up)(const char *name) = find_function("kallsyms_lookup_name");

	return look_up ? (void *)look_up(name) : NULL;
}
#else
static inline bool can_call_text(void)
{
	return false;
}

static inline void *find_function(const char *name)
{
	return NULL;
}

static inline void *find_symbol(const char *name)
{
	return NULL;
}
#endif

/* Address of a function that exists, but is not exported. */
static inline void *need_function(struct kunit *test, const char *name)
{
	void *address;

	if (!can_call_text())
		kunit_skip(test, "functions that are not exported cannot be called");
	address = find_function(name);
	KUNIT_ASSERT_NOT_NULL_MSG(test, address, "%s", name);
	return address;
}

/* Waits for the work item that frees what tracepoints no longer use. */
static inline void let_work_end(void)
{
	struct delayed_work *freeing = find_symbol("free_retired_work");

	if (freeing) {
		flush_delayed_work(freeing);
	} else {
		msleep(200);	/* it begins within a tenth of a second */
		__flush_workqueue(system_dfl_wq);
	}
}

#endif /* _LIB_TEST_SYMBOL_H */
