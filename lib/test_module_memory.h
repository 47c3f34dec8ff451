/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LIB_TEST_MODULE_MEMORY_H
#define _LIB_TEST_MODULE_MEMORY_H

/* For KUnit tests with modules that are not loaded; see linux/module-memory.h. */

#include <linux/module.h>

#ifdef CONFIG_MODULES

/* The memory of @mod is @size bytes; it begins with the text. */
static inline void set_module_memory(struct module *mod, void *base,
				     unsigned int size, unsigned int text_size)
{
	mod->core_layout.base = base;
	mod->core_layout.size = size;
	mod->core_layout.text_size = text_size;
}

static inline void set_module_init_text(struct module *mod, void *base,
					unsigned int size)
{
	mod->init_layout.base = base;
	mod->init_layout.size = size;
	mod->init_layout.text_size = size;
}

/* @mod has the memory of this test. */
static inline void share_module_memory(struct module *mod)
{
	mod->core_layout = THIS_MODULE->core_layout;
	mod->arch = THIS_MODULE->arch;	/* with its function descriptors */
}

#endif /* CONFIG_MODULES */

#endif /* _LIB_TEST_MODULE_MEMORY_H */
