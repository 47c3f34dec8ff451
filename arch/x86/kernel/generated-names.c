// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names of code that is generated at run time, for kallsyms (and so for the stacks of
 * an oops) and for perf.
 */
#include <linux/capability.h>
#include <linux/error-injection.h>
#include <linux/generated-text.h>
#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/preempt.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/workqueue.h>

struct generated_name {
	struct list_head list;
	struct rcu_head rcu;
	unsigned long text;
	unsigned int size;
	const char *module;	/* shown as the name of a module */
	char name[];
};

static const struct { const char *prefix, *module; } kinds[] = {
	[GENERATED_TRACEPOINT] = { "tracepoint_trampoline_", "__builtin__tracepoint" },
	[GENERATED_FTRACE] = { "ftrace_set_", "__builtin__ftrace" },
};

/* Changed under the mutex, read under RCU. */
static LIST_HEAD(names);
static DEFINE_MUTEX(names_mutex);

struct perf_message {
	struct work_struct work;
	const struct generated_text *text;
	bool gone;
};

/* The length of a record has 16 bits. */
#define MAX_RECORDED	SZ_32K

static void send_text(const struct generated_text *text, bool gone)
{
	const u8 *at = text->text, *end = at + text->size;
	unsigned int size;

	for (; at < end; at += size) {
		size = min_t(unsigned long, end - at, MAX_RECORDED);
		if (gone)
			perf_event_text_poke(at, at, size, NULL, 0);
		else
			perf_event_text_poke(at, NULL, 0, at, size);
	}
}

static void send_message(struct work_struct *work)
{
	const struct perf_message *message = container_of(work, struct perf_message, work);
	const struct generated_text *text = message->text;

	if (message->gone)
		send_text(text, true);
	perf_event_ksymbol(PERF_RECORD_KSYMBOL_TYPE_OOL, text->name->text, text->size,
			   message->gone, text->name->name);
	/* perf keeps the code only while the name is registered. */
	if (!message->gone)
		send_text(text, false);
}

/* Writes nothing to the audit log, because nothing is denied. */
static bool may_know_pointers(void)
{
	return current->flags & PF_KTHREAD ||
	       ns_capable_noaudit(&init_user_ns, CAP_PERFMON) ||
	       ns_capable_noaudit(&init_user_ns, CAP_SYS_ADMIN);
}

static struct workqueue_struct *perf_queue __ro_after_init;

/* A task waits for the work item, even to remove a probe while memory is short. */
static int __init make_perf_queue(void)
{
	if (IS_ENABLED(CONFIG_PERF_EVENTS))
		perf_queue = alloc_workqueue("generated_text", WQ_MEM_RECLAIM, 0);
	return 0;
}
core_initcall(make_perf_queue);

/*
 * perf reports addresses and code to the events of the current task too. These may
 * belong to a user that must not get them: any user may enable a trace event, and so
 * cause code with pointers to be generated. A kernel thread has no such events.
 */
static void tell_perf(const struct generated_text *text, bool gone)
{
	struct perf_message message = { .text = text, .gone = gone };

	if (system_state < SYSTEM_RUNNING)
		return;		/* no listener yet, and maybe no kernel thread */
	INIT_WORK_ONSTACK(&message.work, send_message);
	if (may_know_pointers()) {
		send_message(&message.work);
	} else {
		queue_work(perf_queue ?: system_wq, &message.work);
		flush_work(&message.work);
	}
	destroy_work_on_stack(&message.work);
}

/**
 * name_generated_text - give a piece of generated code its name
 * @text: the piece; it has the name until unname_generated_text()
 * @kind: selects the prefix of the name
 * @name: the rest of the name; is copied
 *
 * Context: may sleep.
 * Return: 0, or -ENOMEM.
 */
int name_generated_text(struct generated_text *text, enum generated_text_kind kind,
			const char *name)
{
	const char *prefix = kinds[kind].prefix;
	size_t len = strlen(prefix) + strlen(name) + 1;
	struct generated_name *entry = kmalloc(struct_size(entry, name, len), GFP_KERNEL);

	if (!entry)
		return -ENOMEM;
	entry->text = (unsigned long)text->text;
	entry->size = text->size;
	entry->module = kinds[kind].module;
	snprintf(entry->name, len, "%s%s", prefix, name);
	text->name = entry;

	mutex_lock(&names_mutex);
	list_add_rcu(&entry->list, &names);
	mutex_unlock(&names_mutex);
	tell_perf(text, false);
	return 0;
}

ALLOW_ERROR_INJECTION(name_generated_text, ERRNO);

/**
 * unname_generated_text - remove the name of a piece of generated code
 * @text: the piece, which has no callers now
 *
 * Context: may sleep.
 */
void unname_generated_text(struct generated_text *text)
{
	tell_perf(text, true);
	mutex_lock(&names_mutex);
	list_del_rcu(&text->name->list);
	mutex_unlock(&names_mutex);
	kfree_rcu(text->name, rcu);
}

#ifdef CONFIG_KALLSYMS
static const struct generated_name *find_name(unsigned long addr)
{
	const struct generated_name *entry;

	if (generated_text_depth(addr) == GENERATED_NO_TEXT)
		return NULL;
	list_for_each_entry_rcu(entry, &names, list)
		if (addr - entry->text < entry->size)
			return entry;
	return NULL;
}

/**
 * generated_text_lookup - the name of a piece of generated code
 * @addr: an address
 * @size: gets the size of the piece, unless it is NULL
 * @offset: gets the offset of the address in it, unless it is NULL
 * @modname: gets the name shown for the module, unless it is NULL
 * @name: gets the name, of at most KSYM_NAME_LEN bytes
 *
 * Context: any.
 * Return: @name, or NULL if @addr is not in generated code.
 */
const char *generated_text_lookup(unsigned long addr, unsigned long *size,
				  unsigned long *offset, char **modname, char *name)
{
	const struct generated_name *entry;

	preempt_disable();
	entry = find_name(addr);
	if (entry) {
		if (size)
			*size = entry->size;
		if (offset)
			*offset = addr - entry->text;
		if (modname)
			*modname = (char *)entry->module;
		strscpy(name, entry->name, KSYM_NAME_LEN);
	}
	preempt_enable();
	return entry ? name : NULL;
}

/**
 * generated_text_get_kallsym - one of the pieces of generated code, for /proc/kallsyms
 * @symnum: index of the piece
 * @value: gets its address
 * @type: gets the type of the symbol
 * @name: gets its name, of at most KSYM_NAME_LEN bytes
 * @module_name: gets the name shown for the module, of at most MODULE_NAME_LEN bytes
 * @exported: gets whether it is exported
 *
 * Context: any.
 * Return: 0, or -ERANGE if there is no such piece.
 */
int generated_text_get_kallsym(unsigned int symnum, unsigned long *value, char *type,
			       char *name, char *module_name, int *exported)
{
	const struct generated_name *entry;
	int ret = -ERANGE;

	preempt_disable();
	list_for_each_entry_rcu(entry, &names, list) {
		if (symnum--)
			continue;
		*value = entry->text;
		*type = 't';
		*exported = 0;
		strscpy(name, entry->name, KSYM_NAME_LEN);
		strscpy(module_name, entry->module, MODULE_NAME_LEN);
		ret = 0;
		break;
	}
	preempt_enable();
	return ret;
}
#endif /* CONFIG_KALLSYMS */
