/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LIB_TEST_SYMBOL_H
#define _LIB_TEST_SYMBOL_H

/* For KUnit tests, which may be built as modules. */

#include <linux/kprobes.h>

#ifdef CONFIG_KPROBES

/*
 * Address of a function that is not exported, or NULL. Kprobes look up the name; the
 * probe is disabled, so the function is not patched.
 */
static inline void *find_function(const char *name)
{
	struct kprobe kp = { .symbol_name = name, .flags = KPROBE_FLAG_DISABLED };
	void *address;

	if (register_kprobe(&kp))
		return NULL;
	address = kp.addr;
	unregister_kprobe(&kp);
	return address;
}

/* Address of a function or variable that is not exported, or NULL. */
static inline void *find_symbol(const char *name)
{
	unsigned long (*look_up)(const char *name) = find_function("kallsyms_lookup_name");

	return look_up ? (void *)look_up(name) : NULL;
}
#else
static inline void *find_function(const char *name)
{
	return NULL;
}

static inline void *find_symbol(const char *name)
{
	return NULL;
}
#endif

#endif /* _LIB_TEST_SYMBOL_H */
