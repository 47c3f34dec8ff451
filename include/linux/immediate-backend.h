/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_IMMEDIATE_BACKEND_H
#define _LINUX_IMMEDIATE_BACKEND_H

/* Declarations for kernel/immediate.c, its backends and the module loader only. */

#include <linux/immediate.h>

struct imv_site;

bool arch_imv_is_built(const struct imv_site *site);

/* With CONFIG_MODULES. */
int imv_module_check(struct module *mod);

#endif /* _LINUX_IMMEDIATE_BACKEND_H */
