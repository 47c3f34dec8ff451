// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of what CPUs execute while the instruction of an immediate value is
 * patched.
 *
 * Probes on the functions that patching calls stop it between its steps. At each
 * stop two CPUs execute the instruction: the one that patches, and another one that
 * is held until then. Each executes it in task context, in an NMI, in a breakpoint
 * handler, and in an NMI within a breakpoint handler. They must read the old value
 * or the new one, and only the new one as soon as all CPUs are synchronised with the
 * breakpoint. Documentation/trace/immediate-patching.rst gives the reasons.
 */
#include <kunit/test.h>
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/fprobe.h>
#include <linux/immediate.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/prandom.h>
#include <linux/smp.h>
#include <asm/apic.h>
#include <asm/nmi.h>
#include <asm/text-patching.h>

#include "test_immediate_states.h"
#include "test_symbol.h"

static unsigned int seed = 1;
module_param(seed, uint, 0444);
MODULE_PARM_DESC(seed, "of the values that are set");

static unsigned int rounds = 2;
module_param(rounds, uint, 0444);
MODULE_PARM_DESC(rounds, "how often each value is set");

static unsigned long hits, sets, torn, mixed;
module_param(hits, ulong, 0444);
MODULE_PARM_DESC(hits, "instructions executed");
module_param(sets, ulong, 0444);
MODULE_PARM_DESC(sets, "changes of one or more values");
module_param(torn, ulong, 0444);
MODULE_PARM_DESC(torn, "values that were never set");
module_param(mixed, ulong, 0444);
MODULE_PARM_DESC(mixed, "old values behind new ones, and text that a stop must not have");

static struct rnd_state random;

/* Steps of the patching, and the stops before and after all of them. */
enum step { BEFORE, LOCKED, WRITTEN, SYNC, SYNCED, AFTER };

static const char * const step_names[] = {
	"BEFORE", "LOCKED", "WRITTEN", "SYNC", "SYNCED", "AFTER",
};

/* Contexts and CPUs that execute the instructions at a stop. */
enum context { PLAIN, IN_NMI, IN_TRAP, IN_NMI_IN_TRAP, NR_CONTEXTS };
enum { HERE, ELSEWHERE, NR_CPUS_USED };

#define BAD		-1
#define MAX_TEXT	10
#define MAX_STOPS	1000

struct stop {
	enum step step;
	bool elsewhere;		/* did the other CPU look too? */
	bool all_synced;	/* have all CPUs synchronised since the last SYNC? */
	int seen[NR_CPUS_USED][NR_CONTEXTS];
	u8 text[MAX_TEXT];
};

/* The current change, and the results of its stops. */
static struct {
	struct task_struct *task;
	int (*look)(void);	/* returns how many values are new, or BAD */
	int nr;			/* number of values */
	const u8 *text;		/* the instruction, or NULL to ignore the text */
	unsigned int text_size;
	struct form *first_form, *last_form;
	struct form *bad_form;
	u64 bad_value;
	unsigned int nr_syncs, nr_stops;
	bool in_sync;
	struct stop stops[MAX_STOPS];
} run;

/* The task that executes on another CPU. */
static struct {
	struct task_struct *task;
	bool hold, held;
	struct stop *stop;	/* the stop to look at, NULL when done */
} other;

/* The function that all CPUs call to synchronise. */
static void *sync_func;

static DEFINE_PER_CPU(int *, look_in_nmi_for);
static DEFINE_PER_CPU(bool, synced);

static int look_at_forms(void)
{
	struct form *form;
	int nr = 0;

	for (form = run.first_form; form <= run.last_form; form++) {
		u64 value = form->read();

		if (value != form->old && value != form->new) {
			run.bad_form = form;
			run.bad_value = value;
			return BAD;
		}
		nr += value == form->new;
	}
	return nr;
}

/* Return: how many values are new, if all add up to @sum; or BAD. */
static int count_new(unsigned long sum, unsigned long old, unsigned long new)
{
	int nr;

	sum -= NR_MANY * old;
	for (nr = 0; nr <= NR_MANY; nr++, sum -= new - old)
		if (!sum)
			return nr;
	return BAD;
}

static int look_at_many(void)
{
	struct sums sums = sum_up();
	int words = count_new(sums.words, many_old_word, many_new_word);

	if (words == BAD)
		return BAD;
	return words + (many_new_branch ? NR_MANY - sums.branches : sums.branches);
}

static int nmi_handler(unsigned int type, struct pt_regs *regs)
{
	int *seen = this_cpu_read(look_in_nmi_for);

	if (!seen)
		return NMI_DONE;
	*seen = run.look();
	this_cpu_write(look_in_nmi_for, NULL);
	return NMI_HANDLED;
}

/* No warning if it takes long: an emulated CPU may be paused. */
static struct nmiaction nmi_action = {
	.list = LIST_HEAD_INIT(nmi_action.list),
	.handler = nmi_handler,
	.name = "imv_states",
	.max_duration = U64_MAX,
};

static void look_in_nmi(int *seen)
{
	this_cpu_write(look_in_nmi_for, seen);
	apic->send_IPI_mask(cpumask_of(smp_processor_id()), NMI_VECTOR);
	while (this_cpu_read(look_in_nmi_for))
		cpu_relax();
}

/* A kprobe puts a breakpoint on its first instruction. */
static noinline __noclone notrace void trap(int *seen)
{
	asm volatile("nop" : : "r" (seen) : "memory");
}

static int look_in_trap(struct kprobe *kp, struct pt_regs *regs)
{
	int *seen = (int *)regs_get_kernel_argument(regs, 0);

	seen[IN_TRAP] = run.look();
	look_in_nmi(&seen[IN_NMI_IN_TRAP]);
	return 0;
}

/* A kprobe that has a post handler is not optimised into a jump. */
static void stay_a_breakpoint(struct kprobe *kp, struct pt_regs *regs,
			      unsigned long flags)
{
}

static struct kprobe trap_kprobe = {
	.addr = (kprobe_opcode_t *)trap,
	.pre_handler = look_in_trap,
	.post_handler = stay_a_breakpoint,
};

static void look(int *seen)
{
	preempt_disable();
	seen[PLAIN] = run.look();
	look_in_nmi(&seen[IN_NMI]);
	trap(seen);
	preempt_enable();
}

/*
 * The other CPU. While it is held, no other task runs there, so the patching task
 * can wait for it with any locks held. It is not held before and after patching,
 * when the patching task may sleep until some task has run on this CPU. It executes
 * patched code only at stops: QEMU with a thread per CPU may translate code while
 * that is written, and never update the translation.
 *
 * The delay at SYNC exposes a synchronisation that does not wait for this CPU.
 */
static void look_at_stop(struct stop *stop)
{
	unsigned long flags;

	look(stop->seen[ELSEWHERE]);
	local_irq_save(flags);
	/* The results are stored before the patching CPU continues. */
	smp_store_release(&other.stop, NULL);
	if (stop->step == SYNC)
		udelay(9);
	local_irq_restore(flags);
}

static void be_held(void)
{
	struct stop *stop;

	preempt_disable();
	/* Everything below is read after held is set. */
	smp_store_mb(other.held, true);
	while (READ_ONCE(other.hold)) {
		/* The stop is initialised before other.stop is set. */
		stop = smp_load_acquire(&other.stop);
		if (stop)
			look_at_stop(stop);
		cpu_relax();
	}
	/* All reads are complete before held is cleared. */
	smp_store_release(&other.held, false);
	preempt_enable();
}

static int look_until_stopped(void *unused)
{
	while (!kthread_should_stop()) {
		if (READ_ONCE(other.hold))
			be_held();
		usleep_range(20, 50);
	}
	return 0;
}

static void hold_other(void)
{
	if (!other.task)
		return;
	WRITE_ONCE(other.hold, true);
	while (!READ_ONCE(other.held))
		cpu_relax();
}

static void release_other(void)
{
	WRITE_ONCE(other.hold, false);
	/* Pairs with be_held(). */
	while (smp_load_acquire(&other.held))
		cpu_relax();
}

/* At WRITTEN, where interrupts may be off, it is too late to start holding a CPU. */
static void stop_at(enum step step)
{
	struct stop *stop;

	if (READ_ONCE(run.task) != current || run.nr_stops == MAX_STOPS)
		return;
	stop = &run.stops[run.nr_stops++];
	stop->step = step;
	if (step != WRITTEN && step != SYNCED)
		hold_other();
	if (run.text)
		memcpy(stop->text, run.text, run.text_size);
	look(stop->seen[HERE]);
	stop->elsewhere = other.held;
	if (stop->elsewhere) {
		/* These pair with be_held() and look_at_stop(). */
		smp_store_release(&other.stop, stop);
		while (smp_load_acquire(&other.stop)) /* see above */
			cpu_relax();
	}
	if (step == AFTER || step == BEFORE || (step == SYNCED && !(run.nr_syncs % 3)))
		release_other();
}

#define ENTRY_HANDLER(name)						\
	static int name(struct fprobe *fp, unsigned long ip,		\
			unsigned long ret_ip, struct ftrace_regs *fregs, void *data)

#define EXIT_HANDLER(name)						\
	static void name(struct fprobe *fp, unsigned long ip,		\
			 unsigned long ret_ip, struct ftrace_regs *fregs, void *data)

EXIT_HANDLER(at_locked)
{
	stop_at(LOCKED);
}

ENTRY_HANDLER(at_written)
{
	stop_at(WRITTEN);
	return 0;
}

/* The second argument is the function to call. sync_func may be after its ENDBR. */
static bool is_sync(struct ftrace_regs *fregs)
{
	unsigned long func = ftrace_regs_get_argument(fregs, 1);

	return (unsigned long)sync_func - func <= 4;
}

ENTRY_HANDLER(at_sync)
{
	int cpu;

	if (READ_ONCE(run.task) != current)
		return 0;
	run.in_sync = is_sync(fregs);
	if (!run.in_sync)
		return 0;
	stop_at(SYNC);
	run.nr_syncs++;
	for_each_online_cpu(cpu)
		per_cpu(synced, cpu) = false;
	return 0;
}

EXIT_HANDLER(at_synced)
{
	bool all = true;
	int cpu;

	if (READ_ONCE(run.task) != current || !run.in_sync)
		return;
	for_each_online_cpu(cpu)
		all &= READ_ONCE(per_cpu(synced, cpu));
	if (run.nr_stops < MAX_STOPS)
		run.stops[run.nr_stops].all_synced = all;
	stop_at(SYNCED);
}

/* Also called if there was nothing to patch. */
EXIT_HANDLER(at_finished)
{
	if (READ_ONCE(run.task) == current)
		release_other();
}

ENTRY_HANDLER(at_core)
{
	this_cpu_write(synced, true);
	return 0;
}

/* Functions that patching calls before, between and after its steps. */
static struct {
	const char *function;
	struct fprobe fprobe;
} probes[] = {
	{ "arch_imv_begin", { .exit_handler = at_locked } },
	{ "flush_tlb_mm_range", { .entry_handler = at_written } },
	{ "on_each_cpu_cond_mask", { .entry_handler = at_sync, .exit_handler = at_synced } },
	{ "do_sync_core", { .entry_handler = at_core } },
	{ "smp_text_poke_batch_finish", { .exit_handler = at_finished } },
};

static void begin_run(int (*how)(void), int nr)
{
	memset(&run, 0, sizeof(run));
	memset(run.stops, 0xff, sizeof(run.stops));
	run.look = how;
	run.nr = nr;
}

/* Makes the change, with stops. */
static void make_change(void (*change)(void))
{
	WRITE_ONCE(run.task, current);
	stop_at(BEFORE);
	change();
	stop_at(AFTER);
	WRITE_ONCE(run.task, NULL);
}

/* The least and the most new values that a context has seen at a stop. */
static int seen(const struct stop *stop, bool most)
{
	int cpu, i, found = stop->seen[HERE][0];

	for (cpu = HERE; cpu <= (stop->elsewhere ? ELSEWHERE : HERE); cpu++) {
		for (i = 0; i < NR_CONTEXTS; i++)
			found = most ? max(found, stop->seen[cpu][i]) :
				       min(found, stop->seen[cpu][i]);
	}
	return found;
}

/* Reports what is wrong at a stop. */
static void blame(struct kunit *test, const struct stop *stop, const char *what)
{
	int i;

	KUNIT_FAIL(test, "stop %d, %s: %s; text %*ph", (int)(stop - run.stops),
		   step_names[stop->step], what, (int)run.text_size, stop->text);
	if (run.bad_form)
		kunit_err(test, "%s: %llx, not %llx or %llx\n", run.bad_form->name,
			  run.bad_value, run.bad_form->old, run.bad_form->new);
	for (i = 0; i < NR_CONTEXTS; i++)
		kunit_err(test, "context %d: %d of %d new here, %d elsewhere (%d)\n",
			  i, stop->seen[HERE][i], run.nr,
			  stop->seen[ELSEWHERE][i], stop->elsewhere);
}

static void expect_at(struct kunit *test, const struct stop *stop, bool right,
		      const char *what)
{
	if (right)
		return;
	mixed++;
	blame(test, stop, what);
}

/* Each value is old or new; all are old before the change, and new after it. */
static void check_values(struct kunit *test)
{
	const struct stop *stop, *last = &run.stops[run.nr_stops - 1];

	sets++;
	KUNIT_ASSERT_LT(test, run.nr_stops, MAX_STOPS);
	for (stop = run.stops; stop <= last; stop++) {
		hits += NR_CONTEXTS * (1 + stop->elsewhere) * run.nr;
		if (seen(stop, false) == BAD) {
			torn++;
			blame(test, stop, "a value that was never set");
		}
	}
	expect_at(test, run.stops, !seen(run.stops, true), "new values");
	expect_at(test, last, seen(last, false) == run.nr, "old values");
}

/* The steps that may come before each one. */
static const u8 may_precede[] = {
	[LOCKED] = BIT(BEFORE),
	[WRITTEN] = BIT(LOCKED) | BIT(WRITTEN) | BIT(SYNCED),
	[SYNC] = BIT(WRITTEN),
	[SYNCED] = BIT(SYNC),
	[AFTER] = BIT(SYNCED),
};

static void check_order(struct kunit *test)
{
	const struct stop *stop;

	for (stop = run.stops + 1; stop < run.stops + run.nr_stops; stop++) {
		expect_at(test, stop, may_precede[stop->step] & BIT(stop[-1].step),
			  "a step too early");
		expect_at(test, stop, stop->step != SYNCED || stop->all_synced,
			  "some CPU did not take part");
	}
	KUNIT_EXPECT_EQ(test, run.nr_syncs % 3, 0U);
}

/*
 * After the first synchronisation of a round, all CPUs read the same number of new
 * values until the end of the round. Before, none reads more.
 */
static const struct stop *check_round(struct kunit *test, const struct stop *stop,
				      int *nr)
{
	const struct stop *first = stop;
	int least = *nr, syncs = 0;

	while (stop->step != SYNCED)
		stop++;
	*nr = seen(stop, true);
	for (stop = first; syncs < 3; stop++) {
		bool trapped = syncs || stop->step == SYNCED;

		expect_at(test, stop, seen(stop, false) >= (trapped ? *nr : least) &&
			  seen(stop, true) <= *nr, "a value of another step");
		syncs += stop->step == SYNCED;
	}
	return stop;
}

static void check_rounds(struct kunit *test)
{
	const struct stop *stop = run.stops;
	int nr = 0;
	unsigned int i;

	check_values(test);
	check_order(test);
	if (test->status == KUNIT_FAILURE)
		return;
	for (i = 0; i < run.nr_syncs / 3; i++)
		stop = check_round(test, stop, &nr);
}

/* A single instruction: INT3, then its other bytes, then its first byte is written. */
static void check_text(struct kunit *test)
{
	const u8 *old = run.stops[0].text, *new = run.stops[run.nr_stops - 1].text;
	struct stop *stop;
	int parts = 0;

	for (stop = run.stops; stop < run.stops + run.nr_stops; stop++) {
		u8 text[MAX_TEXT];

		parts += stop->step == WRITTEN;
		memcpy(text, parts < 2 ? old : new, run.text_size);
		if (parts == 1 || parts == 2)
			text[0] = INT3_INSN_OPCODE;
		expect_at(test, stop, !memcmp(stop->text, text, run.text_size),
			  "other bytes");
	}
	KUNIT_EXPECT_EQ(test, parts, 3);
}

static u64 random_value(const struct form *form)
{
	u64 value = (u64)prandom_u32_state(&random) << 32 | prandom_u32_state(&random);

	switch (form->kind) {
	case SIGNED:
		return (s64)value >> (64 - 8 * form->size);
	case TRUTH:
		return value & 1;
	case JUMP_TO:
		return 1 + value % 3;
	default:
		return value >> (64 - 8 * form->size);
	}
}

static void choose_value(struct form *form)
{
	form->old = form->new;
	while (form->new == form->old)
		form->new = random_value(form);
}

static void set_forms(void)
{
	struct form *form;
	u64 value;

	imv_batch_begin();
	for (form = run.first_form; form <= run.last_form; form++) {
		value = form->kind == JUMP_TO ? jump_to_value(form->new) : form->new;
		__imv_set(form->var, &value, form->size);
	}
	imv_batch_commit();
}

static void begin_forms(struct form *first, unsigned int nr)
{
	begin_run(look_at_forms, nr);
	run.first_form = first;
	run.last_form = first + nr - 1;
}

/* Finds the instruction of a form; no other site is near. */
static void find_text(struct kunit *test, const struct form *form)
{
	const u8 *text = form->text;

	while (!imv_text_reserved(text, text) && text < form->text + 64)
		text++;
	run.text = text;
	while (imv_text_reserved(text, text) && text < run.text + MAX_TEXT)
		text++;
	run.text_size = text - run.text;
	KUNIT_ASSERT_GT(test, run.text_size, 1U);
	if (form->insn_size)
		KUNIT_ASSERT_EQ(test, run.text_size, form->insn_size);
	KUNIT_ASSERT_EQ(test, ((unsigned long)run.text + form->before) % form->boundary,
			0UL);
}

static void imv_states_one(struct kunit *test)
{
	struct form *form = (struct form *)test->param_value;
	unsigned int i;

	for (i = 0; i < rounds; i++) {
		begin_forms(form, 1);
		find_text(test, form);
		choose_value(form);
		make_change(set_forms);
		check_rounds(test);
		check_text(test);
		KUNIT_EXPECT_EQ(test, run.nr_syncs, 3U);
	}
}

static void imv_states_batch(struct kunit *test)
{
	unsigned int i, j;

	for (i = 0; i < rounds; i++) {
		for (j = 0; j < ARRAY_SIZE(forms); j++)
			choose_value(&forms[j]);
		begin_forms(forms, ARRAY_SIZE(forms));
		make_change(set_forms);
		check_rounds(test);
		KUNIT_EXPECT_GT(test, run.nr_stops, 3U + 3 * 3);
	}
}

static void set_many(void)
{
	imv_batch_begin();
	imv_set(many_word, many_new_word);
	imv_set(many_branch, many_new_branch);
	imv_batch_commit();
}

static void imv_states_thousands(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < rounds; i++) {
		many_old_word = _imv_read(many_word);
		many_new_word = prandom_u32_state(&random);
		many_new_branch = !_imv_read(many_branch);
		begin_run(look_at_many, 2 * NR_MANY);
		make_change(set_many);
		check_rounds(test);
		KUNIT_EXPECT_GE(test, run.nr_syncs, 2U * 3);
	}
}

static void name_form(struct form *form, char *name)
{
	strscpy(name, form->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(imv_states, forms, name_form);

/* The first CPU patches, the last one is held. */
static int imv_states_init(struct kunit *test)
{
	unsigned int here = cpumask_first(cpu_online_mask);
	unsigned int elsewhere = cpumask_last(cpu_online_mask);
	int ret = set_cpus_allowed_ptr(current, cpumask_of(here));

	memset(&other, 0, sizeof(other));
	if (ret || here == elsewhere)
		return ret;
	other.task = kthread_create(look_until_stopped, NULL, "imv_states");
	if (IS_ERR(other.task))
		return PTR_ERR(other.task);
	kthread_bind(other.task, elsewhere);
	wake_up_process(other.task);
	return 0;
}

static void imv_states_exit(struct kunit *test)
{
	if (!IS_ERR_OR_NULL(other.task))
		kthread_stop(other.task);
}

static void remove_probes(unsigned int nr)
{
	while (nr--)
		unregister_fprobe(&probes[nr].fprobe);
}

static int add_probes(void)
{
	unsigned int i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(probes); i++) {
		ret = register_fprobe(&probes[i].fprobe, probes[i].function, NULL);
		if (ret) {
			remove_probes(i);
			return ret;
		}
	}
	return 0;
}

static int imv_states_suite_init(struct kunit_suite *suite)
{
	int ret;

	prandom_seed_state(&random, seed);
	sync_func = text_of("do_sync_core");
	if (!sync_func)
		return -ENOENT;
	ret = __register_nmi_handler(NMI_LOCAL, &nmi_action);
	if (ret)
		return ret;
	trap_kprobe.flags = 0;	/* off since it was unregistered, if the suite runs again */
	ret = register_kprobe(&trap_kprobe);
	if (ret)
		goto no_kprobe;
	ret = add_probes();
	if (ret)
		goto no_probes;
	return 0;

no_probes:
	unregister_kprobe(&trap_kprobe);
no_kprobe:
	unregister_nmi_handler(NMI_LOCAL, nmi_action.name);
	return ret;
}

static void imv_states_suite_exit(struct kunit_suite *suite)
{
	remove_probes(ARRAY_SIZE(probes));
	unregister_kprobe(&trap_kprobe);
	unregister_nmi_handler(NMI_LOCAL, nmi_action.name);
}

static struct kunit_case imv_states_cases[] = {
	KUNIT_CASE_PARAM(imv_states_one, imv_states_gen_params),
	KUNIT_CASE(imv_states_batch),
	KUNIT_CASE(imv_states_thousands),
	{ }
};

static struct kunit_suite imv_states_suite = {
	.name = "immediate_states",
	.suite_init = imv_states_suite_init,
	.suite_exit = imv_states_suite_exit,
	.init = imv_states_init,
	.exit = imv_states_exit,
	.test_cases = imv_states_cases,
};
kunit_test_suite(imv_states_suite);

MODULE_DESCRIPTION("KUnit tests of the states of text that is patched");
MODULE_LICENSE("GPL");
