/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _LINUX_GENERATED_TEXT_H
#define _LINUX_GENERATED_TEXT_H

/* The interface of code that is generated at run time. */

#include <linux/errno.h>
#include <linux/types.h>

#ifdef CONFIG_GENERATED_TEXT
#include <asm/generated-text.h>
#else
static inline void trim_generated_text(void)
{
}

static inline bool is_generated_text(unsigned long addr)
{
	return false;
}
#endif

#if defined(CONFIG_GENERATED_TEXT) && defined(CONFIG_KALLSYMS)
const char *generated_text_lookup(unsigned long addr, unsigned long *size,
				  unsigned long *offset, char **modname, char *name);
int generated_text_get_kallsym(unsigned int symnum, unsigned long *value, char *type,
			       char *name, char *module_name, int *exported);
#else
static inline const char *
generated_text_lookup(unsigned long addr, unsigned long *size, unsigned long *offset,
		      char **modname, char *name)
{
	return NULL;
}

static inline int
generated_text_get_kallsym(unsigned int symnum, unsigned long *value, char *type,
			   char *name, char *module_name, int *exported)
{
	return -ERANGE;
}
#endif

#endif /* _LINUX_GENERATED_TEXT_H */
