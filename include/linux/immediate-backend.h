/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_IMMEDIATE_BACKEND_H
#define _LINUX_IMMEDIATE_BACKEND_H

/* Declarations for kernel/immediate.c, its backends and the module loader only. */

#include <linux/immediate.h>

struct imv_site;
struct module;

#ifdef CONFIG_IMMEDIATE
/**
 * struct imv_site - an instruction that mirrors an immediate value
 * @insn: the instruction, relative to this member; 0 once its text is freed
 * @target: the target of a jump, relative to this member; for a data site the
 *	    size of the instruction, at most IMV_INSN_MAX
 * @var: the variable, relative to this member. The two low bits are flags:
 *	 the log2 of the size for a data site, IMV_JUMP_* for a jump.
 *
 * Records of jumps have the layout that objtool expects of such a table.
 */
struct imv_site {
	s32 insn;
	s32 target;
	s32 var;
};

#define IMV_INSN_MAX	15	/* a jump target is further from its record */
#define IMV_FLAGS	3L

static inline void *imv_site_insn(const struct imv_site *site)
{
	return (void *)((unsigned long)&site->insn + READ_ONCE(site->insn));
}

/* For a data site, this is in the record: no text. */
static inline void *imv_site_target(const struct imv_site *site)
{
	return (void *)((unsigned long)&site->target + site->target);
}

static inline void *imv_site_var(const struct imv_site *site)
{
	return (void *)((unsigned long)&site->var + (site->var & ~IMV_FLAGS));
}

static inline unsigned int imv_site_flags(const struct imv_site *site)
{
	return site->var & IMV_FLAGS;
}

static inline bool imv_site_is_jump(const struct imv_site *site)
{
	return (u32)site->target > IMV_INSN_MAX;
}

static inline bool imv_site_is_gone(const struct imv_site *site)
{
	return !READ_ONCE(site->insn);
}

static inline void imv_site_forget(struct imv_site *site)
{
	WRITE_ONCE(site->insn, 0);	/* imv_text_reserved() takes no lock */
}
#elif defined(CONFIG_IMMEDIATE_JUMP_LABEL)
struct imv_site {
	struct jump_entry entry;
};

static inline void *imv_site_insn(const struct imv_site *site)
{
	return (void *)jump_entry_code(&site->entry);
}

static inline void *imv_site_target(const struct imv_site *site)
{
	return (void *)jump_entry_target(&site->entry);
}

static inline void *imv_site_var(const struct imv_site *site)
{
	return jump_entry_key(&site->entry);
}

static inline bool imv_site_is_gone(const struct imv_site *site)
{
	return !site->entry.code;
}

static inline void imv_site_forget(struct imv_site *site)
{
	WRITE_ONCE(site->entry.code, 0);
}
#endif

/* Around all changes of sites; x86 holds text_mutex in between. */
void arch_imv_begin(void);
void arch_imv_finish(void);

/* Make the code of a site mirror its variable. */
void arch_imv_init_site(const struct imv_site *site);
int arch_imv_patch(const struct imv_site *site, bool early);
void arch_imv_transform(const struct imv_site *site);

/* The size of the text that others must not patch; also while the site is patched */
unsigned int arch_imv_reserved_size(const struct imv_site *site);

#if defined(CONFIG_IMMEDIATE_JUMP_LABEL) && defined(CONFIG_MODULES)
void imv_module_split(struct module *mod);
#else
static inline void imv_module_split(struct module *mod) { }
#endif

#if defined(CONFIG_IMMEDIATE_SITES) && defined(CONFIG_MODULES)
void imv_module_coming(struct module *mod);
void imv_module_live(struct module *mod);
void imv_module_going(struct module *mod);
#else
static inline void imv_module_coming(struct module *mod) { }
static inline void imv_module_live(struct module *mod) { }
static inline void imv_module_going(struct module *mod) { }
#endif

#endif /* _LINUX_IMMEDIATE_BACKEND_H */
