// SPDX-License-Identifier: GPL-2.0
/*
 * Operations that only code in the kernel can do, for failnth, which lets allocations
 * fail meanwhile:
 *
 *	echo NAME 1 > /sys/kernel/debug/faults/do	does it; write returns its error
 *	echo NAME 0 > /sys/kernel/debug/faults/do	undoes it
 *	cat /sys/kernel/debug/faults/state		passes all sites, and prints
 *							the probes that were called
 *	echo START-END > /sys/kernel/debug/faults/code	an area of generated code
 *	cat /sys/kernel/debug/faults/code		prints its used bytes
 *
 * An operation cannot be done twice before it is undone.
 */
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/fprobe.h>
#include <linux/ftrace.h>
#include <linux/marker.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <asm/text-patching.h>

#include "faults.h"

#define CALLERS(X)							\
	X(few) X(few_2) X(few_first) X(many) X(announced) X(numbers)	\
	X(numbers_2) X(variadic) X(variadic_2) X(fed) X(sites) X(text)	\
	X(deferred) X(deferred_many) X(deferred_fed) X(plain) X(named)	\
	X(pattern) X(regs) X(fprobe)

#define AS_ENUM(name)	CALLED_##name,
#define AS_NAME(name)	#name,

enum called { CALLERS(AS_ENUM) NR_CALLED };

static const char *const called_names[] = { CALLERS(AS_NAME) };
static unsigned int called[NR_CALLED];
static struct task_struct *passing;	/* only its calls count */

void (*faults_pass_sites)(struct seq_file *m);
EXPORT_SYMBOL_GPL(faults_pass_sites);

static notrace void note(void *data)
{
	if (current == READ_ONCE(passing))
		called[(unsigned long)data]++;
}

/* The data of a probe. Only one of them is NULL. */
#define DATA(name)	((void *)(unsigned long)CALLED_##name)

/*
 * Values
 */

DEFINE_IMV(u8, faults_u8);
EXPORT_IMV_SYMBOL_GPL(faults_u8);
DEFINE_IMV(u16, faults_u16);
EXPORT_IMV_SYMBOL_GPL(faults_u16);
DEFINE_IMV(u32, faults_u32);
EXPORT_IMV_SYMBOL_GPL(faults_u32);
DEFINE_IMV(u64, faults_u64);
EXPORT_IMV_SYMBOL_GPL(faults_u64);
static DEFINE_IMV(u32, many_sites);

#define READ_10		sum += imv_read(many_sites); sum += imv_read(many_sites); \
			sum += imv_read(many_sites); sum += imv_read(many_sites); \
			sum += imv_read(many_sites); sum += imv_read(many_sites); \
			sum += imv_read(many_sites); sum += imv_read(many_sites); \
			sum += imv_read(many_sites); sum += imv_read(many_sites);
#define READ_100	READ_10 READ_10 READ_10 READ_10 READ_10			\
			READ_10 READ_10 READ_10 READ_10 READ_10

/* More sites than can be patched with the memory that is always available. */
static noinline unsigned int read_many(void)
{
	unsigned int sum = 0;

	READ_100 READ_100 READ_100 READ_100
	return sum;
}

static void set_values(unsigned int value)
{
	imv_set(faults_u8, value);
	imv_set(faults_u16, value);
	imv_set(faults_u32, value);
	imv_set(faults_u64, value);
}

static int do_set(void)
{
	set_values(3);
	return 0;
}

static int undo_set(void)
{
	set_values(0);
	return 0;
}

static int do_batch(void)
{
	imv_batch_begin();
	set_values(5);
	imv_set(many_sites, 1);
	imv_batch_commit();
	return 0;
}

static int undo_batch(void)
{
	imv_batch_begin();
	set_values(0);
	imv_set(many_sites, 0);
	imv_batch_commit();
	return 0;
}

/*
 * Tracepoints
 */

DEFINE_TRACE(faults_few);
EXPORT_TRACEPOINT_SYMBOL_GPL(faults_few);
DEFINE_TRACE(faults_many);
EXPORT_TRACEPOINT_SYMBOL_GPL(faults_many);

DECLARE_TRACE(faults_announced, TP_PROTO(int number), TP_ARGS(number));

static void *announced;

/* A tracepoint with a callback for its first probe, which may fail. */
static int announce(void)
{
	announced = kmalloc(64, GFP_KERNEL);
	return announced ? 0 : -ENOMEM;
}

static void end_announced(void)
{
	kfree(announced);
	announced = NULL;
}

DEFINE_TRACE_FN(faults_announced, announce, end_announced, TP_PROTO(int number),
		TP_ARGS(number));

/* A tracepoint with a callback for each probe, which fails without memory; no site. */
static bool heard_first;
static void *heard;

static int hear_first(void)
{
	heard_first = true;
	return 0;
}

static void hear_last(void)
{
	heard_first = false;
}

static int hear(struct tracepoint *tp, const struct tracepoint_func *probe)
{
	heard = kmalloc(64, GFP_KERNEL);
	return heard ? 0 : -ENOMEM;
}

static void end_heard(struct tracepoint *tp, const struct tracepoint_func *probe)
{
	kfree(heard);
	heard = NULL;
}

static const struct tracepoint_callbacks hearing = {
	.regfunc = hear_first,
	.unregfunc = hear_last,
	.connect = hear,
	.disconnect = end_heard,
};

static struct tracepoint hearing_tracepoint = {
	.name = "faults_hearing",
	.callbacks = &hearing,
};

static void probe_few(void *data, int number, void *pointer)
{
	note(data);
}

static void probe_many(void *data, u8 a, s16 b, u32 c, s64 d, void *e, long f, int g,
		       s8 h)
{
	note(data);
}

static void probe_announced(void *data, int number)
{
	note(data);
}

#define PROBE(op, tp, probe)						\
static int do_##op(void)						\
{									\
	return register_trace_##tp##_tp(probe, DATA(op));		\
}									\
									\
static int undo_##op(void)						\
{									\
	return unregister_trace_##tp##_tp(probe, DATA(op));		\
}

PROBE(few, faults_few, probe_few)
PROBE(few_2, faults_few, probe_few)
PROBE(many, faults_many, probe_many)
PROBE(announced, faults_announced, probe_announced)

static int do_hearing(void)
{
	return tracepoint_probe_register(&hearing_tracepoint, probe_announced, NULL);
}

static int undo_hearing(void)
{
	return tracepoint_probe_unregister(&hearing_tracepoint, probe_announced, NULL);
}

static int do_few_first(void)
{
	return register_trace_prio_faults_few_tp(probe_few, DATA(few_first),
						 TRACEPOINT_DEFAULT_PRIO + 1);
}

static int undo_few_first(void)
{
	return unregister_trace_faults_few_tp(probe_few, DATA(few_first));
}

/*
 * Markers
 */

static void __used feed_few(void *data, int number, void *pointer)
{
	trace_mark_tp(faults_fed, faults_few, feed_few, "number %d", number);
}

static void probe_marker(void *private, void *call_private, const char *format,
			 va_list *args)
{
	note(private);
}

static void probe_variadic(const struct __mark_marker *marker, void *private,
			   const char *format, ...)
{
	note(private);
}

#define MARKER(op, name, format, probe)					\
static int do_##op(void)						\
{									\
	return marker_probe_register(name, format, probe, DATA(op));	\
}									\
									\
static int undo_##op(void)						\
{									\
	return marker_probe_unregister(name, probe, DATA(op));		\
}

MARKER(numbers, "faults_numbers", "number %d word %lu", probe_marker)
MARKER(numbers_2, "faults_numbers", "number %d word %lu", probe_marker)
MARKER(variadic, "faults_numbers", "number %d word %lu", probe_variadic)
MARKER(variadic_2, "faults_numbers", "number %d word %lu", probe_variadic)
MARKER(fed, "faults_fed", "number %d", probe_marker)
/* These are in faults_sites. */
MARKER(sites, "faults_in_sites", "number %d", probe_marker)
MARKER(text, "faults_text_in_sites", "text %s", probe_marker)

static int do_arm(void)
{
	return marker_arm("faults_numbers");
}

static int undo_arm(void)
{
	return marker_disarm("faults_numbers");
}

/*
 * Several operations, patched together
 */

PROBE(deferred, faults_few, probe_few)
PROBE(deferred_many, faults_many, probe_many)
MARKER(deferred_fed, "faults_fed", "number %d", probe_marker)

static int do_all_deferred(void)
{
	int ret = do_deferred();

	if (ret)
		return ret;
	ret = do_deferred_many();
	if (ret)
		goto undo_first;
	ret = do_deferred_fed();
	if (ret)
		goto undo_second;
	return 0;

undo_second:
	undo_deferred_many();
undo_first:
	undo_deferred();
	return ret;
}

static int do_defer(void)
{
	bool deferred = imv_defer_begin();
	int ret = do_all_deferred();

	imv_defer_end(deferred);
	return ret;
}

static int undo_defer(void)
{
	bool deferred = imv_defer_begin();
	int ret = undo_deferred_fed() ?: undo_deferred_many() ?: undo_deferred();

	imv_defer_end(deferred);
	return ret;
}

/*
 * Function tracers
 */

static noinline int faults_function_1(int number)
{
	asm volatile("");
	return number;
}

static noinline int faults_function_2(int number)
{
	asm volatile("");
	return number;
}

static notrace void trace_call(unsigned long ip, unsigned long parent_ip,
			       struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	note(ops->private);
}

static struct ftrace_ops plain = {
	.func = trace_call, .private = DATA(plain),
};

static struct ftrace_ops named = {
	.func = trace_call, .private = DATA(named), .name = "faults",
};

static struct ftrace_ops pattern = {
	.func = trace_call, .private = DATA(pattern),
};

static struct ftrace_ops regs = {
	.func = trace_call, .private = DATA(regs), .flags = FTRACE_OPS_FL_SAVE_REGS,
};

static int filter(struct ftrace_ops *ops, void *function, bool remove)
{
	return ftrace_set_filter_ip(ops, (unsigned long)function, remove, 0);
}

/* ftrace leaves pointers to freed memory: restore the initial state. */
static void free_filter(struct ftrace_ops *ops)
{
	ftrace_free_filter(ops);
	memset(&ops->local_hash, 0, sizeof(ops->local_hash));
	ops->flags &= ~FTRACE_OPS_FL_INITIALIZED;
}

static int trace_function(struct ftrace_ops *ops, void *function)
{
	int ret = filter(ops, function, false) ?: register_ftrace_function(ops);

	if (ret)
		free_filter(ops);
	return ret;
}

static int end_trace_function(struct ftrace_ops *ops)
{
	int ret = unregister_ftrace_function(ops);

	if (!ret)
		free_filter(ops);
	return ret;
}

#define TRACER(op)							\
static int do_##op(void)						\
{									\
	return trace_function(&op, faults_function_1);			\
}									\
									\
static int undo_##op(void)						\
{									\
	return end_trace_function(&op);					\
}

TRACER(plain)
TRACER(named)
TRACER(regs)

static int do_pattern(void)
{
	char functions[] = "faults_function_*";	/* ftrace writes to it */
	int ret = ftrace_set_filter(&pattern, functions, strlen(functions), 1) ?:
		  register_ftrace_function(&pattern);

	if (ret)
		free_filter(&pattern);
	return ret;
}

static int undo_pattern(void)
{
	return end_trace_function(&pattern);
}

/* Changes of the filters of registered tracers. */
static int do_plain_more(void)
{
	return filter(&plain, faults_function_2, false);
}

static int undo_plain_more(void)
{
	return filter(&plain, faults_function_2, true);
}

static int do_named_not(void)
{
	char functions[] = "faults_function_1";

	return ftrace_set_notrace(&named, functions, strlen(functions), 1);
}

static int undo_named_not(void)
{
	return ftrace_set_notrace(&named, NULL, 0, 1);
}

static int do_pattern_less(void)
{
	return filter(&pattern, faults_function_2, true);
}

static int undo_pattern_less(void)
{
	return filter(&pattern, faults_function_2, false);
}

static void fprobe_entry(struct fprobe *fp, unsigned long ip, struct pt_regs *regs,
			 void *data)
{
	note(DATA(fprobe));
}

static struct fprobe fprobe;

/* It may have pointers to freed memory of the last registration. */
static int do_fprobe(void)
{
	/* Its type has more arguments in later kernels, and a result that is not used. */
	fprobe = (struct fprobe){ .entry_handler = (void *)fprobe_entry };
	return register_fprobe(&fprobe, "faults_function_1", NULL);
}

static int undo_fprobe(void)
{
	return unregister_fprobe(&fprobe);
}

/*
 * The files
 */

#define OPS(X)								\
	X(set) X(batch) X(few) X(few_2) X(few_first) X(many) X(announced) \
	X(hearing) X(numbers) X(numbers_2) X(variadic) X(variadic_2) X(arm) \
	X(fed) X(sites) X(text) X(defer) X(plain)		\
	X(named) X(pattern) X(regs) X(plain_more) X(named_not)		\
	X(pattern_less) X(fprobe)

#define AS_OP(op)	{ #op, do_##op, undo_##op },

static struct op {
	const char *name;
	int (*act)(void), (*undo)(void);
	bool done;
} ops[] = { OPS(AS_OP) };

static DEFINE_MUTEX(ops_mutex);

static struct op *find_op(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ops); i++)
		if (!strcmp(ops[i].name, name))
			return &ops[i];
	return NULL;
}

static int do_op(const char *name, bool on)
{
	struct op *op = find_op(name);
	int ret;

	if (!op)
		return -ESRCH;
	if (op->done == on)
		return -EALREADY;
	ret = on ? op->act() : op->undo();
	if (!ret)
		op->done = on;
	return ret;
}

static ssize_t do_write(struct file *file, const char __user *user, size_t size,
			loff_t *pos)
{
	char text[32], *name = text, *on;
	int ret;

	if (size >= sizeof(text))
		return -E2BIG;
	if (copy_from_user(text, user, size))
		return -EFAULT;
	text[size] = '\0';
	on = strchr(text, ' ');
	if (!on)
		return -EDOM;
	*on++ = '\0';

	mutex_lock(&ops_mutex);
	ret = do_op(name, *on == '1');
	mutex_unlock(&ops_mutex);
	return ret ?: size;
}

static const struct file_operations do_fops = {
	.owner = THIS_MODULE,
	.write = do_write,
};

static void pass_all(struct seq_file *m)
{
	seq_printf(m, "u8 %u u16 %u u32 %u u64 %llu many %u", imv_read(faults_u8),
		   imv_read(faults_u16), imv_read(faults_u32), imv_read(faults_u64),
		   read_many());
	immediate_if(faults_u8)
		seq_puts(m, " u8");
	seq_putc(m, '\n');
	trace_faults_few_tp(1, m);
	trace_faults_many_tp(1, 2, 3, 4, m, 6, 7, 8);
	trace_faults_announced_tp(1);
	trace_mark(faults_numbers, "number %d word %lu", 1, 2UL);
	trace_mark(faults_text, "text %s number %d", "some", 1);
	faults_function_1(1);
	faults_function_2(1);
	if (faults_pass_sites)
		faults_pass_sites(m);
}

void faults_show_markers(struct seq_file *m, const struct module *mod)
{
	const struct marker *site = mod->markers;

	for (; site < mod->markers + mod->num_markers; site++)
		seq_printf(m, "%s active %d fed %d\n", site->name, site->active,
			   site->tp_used);
}
EXPORT_SYMBOL_GPL(faults_show_markers);

struct tracepoints {
	unsigned int active, with_probes;
};

static void count_tracepoint(struct tracepoint *tp, void *data)
{
	struct tracepoints *tracepoints = data;

	tracepoints->active += tp->active;
	tracepoints->with_probes += !!rcu_access_pointer(tp->funcs);
}

static bool deferrer_is_free(void)
{
	bool deferred = imv_defer_begin();

	imv_defer_end(deferred);
	return deferred;
}

/*
 * The kernel's worker makes code that had no memory, and defers patching meanwhile. Only
 * a deferrer that was left behind stays longer: the first wait shows it.
 */
static bool deferrer_gets_free(void)
{
	static bool stays;
	int i;

	for (i = 0; !deferrer_is_free(); i++) {
		if (stays || i == 100) {
			stays = true;
			return false;
		}
		msleep(20);
	}
	return true;
}

/* How many tracepoints are active and have probes; whether patching can be deferred. */
static void show_guards(struct seq_file *m)
{
	struct tracepoints tracepoints = { };
	bool is_free = deferrer_gets_free();

	for_each_kernel_tracepoint(count_tracepoint, &tracepoints);
	seq_printf(m, "tracepoints: active %u with probes %u\n", tracepoints.active,
		   tracepoints.with_probes);
	seq_printf(m, "deferrer free: %d\n", is_free);
	faults_show_markers(m, THIS_MODULE);
}

static int state_show(struct seq_file *m, void *unused)
{
	unsigned int i;

	mutex_lock(&ops_mutex);
	memset(called, 0, sizeof(called));
	WRITE_ONCE(passing, current);
	pass_all(m);
	WRITE_ONCE(passing, NULL);
	for (i = 0; i < NR_CALLED; i++)
		if (called[i])
			seq_printf(m, "%s called %u\n", called_names[i], called[i]);
	seq_printf(m, "few %d many %d announced %d %d heard %d %d\n",
		   trace_faults_few_enabled(), trace_faults_many_enabled(),
		   trace_faults_announced_enabled(), !!announced, heard_first, !!heard);
	seq_printf(m, "plain %lx named %lx pattern %lx regs %lx\n", plain.flags,
		   named.flags, pattern.flags, regs.flags);
	show_guards(m);	/* patches deferred sites: after passing them */
	mutex_unlock(&ops_mutex);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(state);

/*
 * Unused bytes of an area are breakpoints, so that leaked code can be counted. The
 * user reads the addresses of the area from /proc/vmallocinfo.
 */
static unsigned long code_start, code_end;

static ssize_t code_write(struct file *file, const char __user *user, size_t size,
			  loff_t *pos)
{
	char text[64];

	if (size >= sizeof(text))
		return -E2BIG;
	if (copy_from_user(text, user, size))
		return -EFAULT;
	text[size] = '\0';
	return sscanf(text, "%lx-%lx", &code_start, &code_end) == 2 ? size : -EINVAL;
}

static int code_show(struct seq_file *m, void *unused)
{
	unsigned int used = 0, i;
	unsigned long at;
	u8 bytes[256];

	for (at = code_start; at < code_end; at += sizeof(bytes)) {
		if (copy_from_kernel_nofault(bytes, (void *)at, sizeof(bytes)))
			continue;
		for (i = 0; i < sizeof(bytes); i++)
			used += bytes[i] != INT3_INSN_OPCODE;
	}
	seq_printf(m, "%u\n", used);
	return 0;
}

static int code_open(struct inode *inode, struct file *file)
{
	return single_open(file, code_show, NULL);
}

static const struct file_operations code_fops = {
	.owner = THIS_MODULE,
	.open = code_open,
	.read = seq_read,
	.write = code_write,
	.release = single_release,
};

static struct dentry *dir;

static int __init faults_init(void)
{
	dir = debugfs_create_dir("faults", NULL);
	debugfs_create_file("do", 0200, dir, NULL, &do_fops);
	debugfs_create_file("code", 0600, dir, NULL, &code_fops);
	debugfs_create_file("state", 0400, dir, NULL, &state_fops);
	return 0;
}
module_init(faults_init);

static void __exit faults_exit(void)
{
	unsigned int i;

	debugfs_remove(dir);
	for (i = ARRAY_SIZE(ops); i--; )
		if (ops[i].done)
			do_op(ops[i].name, false);
	tracepoint_synchronize_unregister();
}
module_exit(faults_exit);

MODULE_DESCRIPTION("What is done while allocations fail");
MODULE_LICENSE("GPL");
