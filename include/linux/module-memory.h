/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_MODULE_MEMORY_H
#define _LINUX_MODULE_MEMORY_H

/*
 * The parts of a module's memory, without the structures in which struct module
 * keeps them.
 */

#include <linux/module.h>

#ifdef CONFIG_MODULES

/**
 * struct module_part - a part of a module's memory
 * @base: its first byte
 * @size: its size in bytes; 0 if the module has no such part
 */
struct module_part {
	const void *base;
	unsigned int size;
};

/**
 * module_text - get the text of a module, without its __init text
 * @mod: the module
 *
 * Return: the text.
 */
static inline struct module_part module_text(const struct module *mod)
{
	return (struct module_part){ mod->core_layout.base, mod->core_layout.text_size };
}

/**
 * module_init_text - get the __init text of a module
 * @mod: the module, which has not been initialized
 *
 * Return: the __init text.
 */
static inline struct module_part module_init_text(const struct module *mod)
{
	return (struct module_part){ mod->init_layout.base, mod->init_layout.text_size };
}

/**
 * module_part_of - get the part of a module's memory that contains an address
 * @mod: the module
 * @addr: the address
 *
 * Return: the part; empty if @addr is in none, or in one that is freed when the
 *	   module is initialized.
 */
static inline struct module_part module_part_of(const struct module *mod,
						const void *addr)
{
	const struct module_layout *layout = &mod->core_layout;

	if (!within_module_core((unsigned long)addr, mod))
		return (struct module_part){ };
#ifdef CONFIG_ARCH_WANTS_MODULES_DATA_IN_VMALLOC
	if (addr - mod->data_layout.base < mod->data_layout.size)
		layout = &mod->data_layout;
#endif
	return (struct module_part){ layout->base, layout->size };
}

#endif /* CONFIG_MODULES */

#endif /* _LINUX_MODULE_MEMORY_H */
