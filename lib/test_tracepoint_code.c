// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the trampolines of tracepoints: what they pass on, how their memory
 * is used, and what happens without memory.
 */
#include <linux/generated-text.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/stop_machine.h>
#include <asm/text-patching.h>

#include "../kernel/tracepoint-private.h"
#include "test_defer.h"
#include "test_memory.h"
#include "test_tracepoint.h"
#include "test_watch.h"

DECLARE_TRACE(kunit_code, TP_PROTO(int number, const char *text),
	      TP_ARGS(number, text));
DECLARE_TRACE(kunit_code_one, TP_PROTO(int number), TP_ARGS(number));
DECLARE_TRACE(kunit_code_most, MOST_PROTO, MOST_ARGS);

/* An argument that trampolines cannot pass on. */
DECLARE_TRACE(kunit_code_odd, TP_PROTO(int number, struct kunit_large large),
	      TP_ARGS(number, large));

static struct tracepoint * const plain = &__tracepoint_kunit_code_tp;
static struct tracepoint * const most = &__tracepoint_kunit_code_most_tp;

static int reg_result;

static int test_reg(void)
{
	return reg_result;
}

static void test_unreg(void)
{
}

DEFINE_TRACE(kunit_code);
DEFINE_TRACE_FN(kunit_code_one_tp, test_reg, test_unreg);
DEFINE_TRACE(kunit_code_most);
DEFINE_TRACE(kunit_code_odd);

static unsigned long fire(int number)
{
	calls = 0;
	trace_kunit_code_tp(number, "text");
	return calls;
}

static int tp_test_init(struct kunit *test)
{
	forget_calls();
	reg_result = 0;
	return 0;
}

/* Overwrites the registers and stack slots that held arguments. */
static noinline void spoil_arguments(long a, long b, long c, long d, long e, long f)
{
	asm volatile("" : : "g" (a), "g" (b), "g" (c), "g" (d), "g" (e), "g" (f));
}

static void check_words(void *data, const long *words, int nr)
{
	long value = -1;
	int i;

	for (i = 0; i < nr && words[i] == 101 + i; i++)
		;
	if (i == nr)
		calls = calls * 10 + (unsigned long)data;
	OPTIMIZER_HIDE_VAR(value);
	spoil_arguments(value, value - 1, value - 2, value - 3, value - 4, value - 5);
}

/* Each of several probes gets the arguments, even if others overwrote theirs. */
#define DEFINE_WORDS_TEST(nr, proto, args, values)			\
	DECLARE_TRACE(kunit_words_##nr, TP_PROTO(proto), TP_ARGS(args)); \
	DEFINE_TRACE(kunit_words_##nr);					\
									\
	static void probe_words_##nr(void *data, proto)			\
	{								\
		const long words[] = { args };				\
									\
		check_words(data, words, nr);				\
	}								\
									\
	static void tp_test_words_##nr(struct kunit *test)		\
	{								\
		add_probes(&__tracepoint_kunit_words_##nr##_tp, probe_words_##nr, 4); \
		trace_kunit_words_##nr##_tp(values);				\
		remove_probes(&__tracepoint_kunit_words_##nr##_tp, probe_words_##nr, 4); \
		KUNIT_EXPECT_EQ(test, calls, 1234UL);			\
	}

DEFINE_WORDS_TEST(1, PARAMS(long a), PARAMS(a), PARAMS(101))
DEFINE_WORDS_TEST(2, PARAMS(long a, long b), PARAMS(a, b), PARAMS(101, 102))
DEFINE_WORDS_TEST(3, PARAMS(long a, long b, long c), PARAMS(a, b, c),
		  PARAMS(101, 102, 103))
DEFINE_WORDS_TEST(4, PARAMS(long a, long b, long c, long d), PARAMS(a, b, c, d),
		  PARAMS(101, 102, 103, 104))
DEFINE_WORDS_TEST(5, PARAMS(long a, long b, long c, long d, long e),
		  PARAMS(a, b, c, d, e), PARAMS(101, 102, 103, 104, 105))
DEFINE_WORDS_TEST(6, PARAMS(long a, long b, long c, long d, long e, long f),
		  PARAMS(a, b, c, d, e, f), PARAMS(101, 102, 103, 104, 105, 106))

static struct tracepoint * const six = &__tracepoint_kunit_words_6_tp;

/* A probe that a direct call cannot reach is refused; its array is freed. */
static void tp_test_no_function(struct kunit *test)
{
	void *far = (void *)test;
	int ret;

	need_tracking(test);
	ret = tracepoint_probe_register(plain, far, NULL);
	expect_none_held(test);
	stop_tracking();
	KUNIT_EXPECT_EQ(test, ret, -ERANGE);
	KUNIT_EXPECT_FALSE(test, trace_kunit_code_enabled());
	KUNIT_EXPECT_EQ(test, fire(1), 0UL);

	KUNIT_EXPECT_EQ(test, register_trace_kunit_code(probe_plain, digit(1)), 0);
	KUNIT_EXPECT_EQ(test, tracepoint_probe_register(plain, far, NULL), -ERANGE);
	KUNIT_EXPECT_EQ(test, fire(1), 1UL);
	KUNIT_EXPECT_EQ(test, unregister_trace_kunit_code(probe_plain, digit(1)), 0);
}

/* Without executable memory the same probes are called with the same arguments. */
static void tp_test_no_memory_for_code(struct kunit *test)
{
	unsigned long i;
	struct srcu_ctr __percpu *reader;
	int ret = 0;

	need_failing_alloc(test);
	reader = keep_without_code();
	for (i = 1; i <= 3; i++) {
		ret = ret ?: register_without_code(plain, probe_plain, digit(i));
		ret = ret ?: register_without_code(most, probe_most, digit(i));
		ret = ret ?: register_without_code(six, probe_words_6, digit(i));
	}
	KUNIT_EXPECT_EQ(test, ret, 0);
	KUNIT_EXPECT_FALSE(test, has_code(plain));
	KUNIT_EXPECT_EQ(test, fire(-7), 123UL);
	KUNIT_EXPECT_EQ(test, last_number, -7);
	KUNIT_EXPECT_STREQ(test, last_text, "text");
	calls = 0;
	trace_kunit_code_most_tp(MOST_VALUES);
	KUNIT_EXPECT_EQ(test, calls, 123UL);
	calls = 0;
	trace_kunit_words_6_tp(101, 102, 103, 104, 105, 106);
	KUNIT_EXPECT_EQ(test, calls, 123UL);

	KUNIT_EXPECT_EQ(test, unregister_trace_kunit_code(probe_plain, digit(2)), 0);
	KUNIT_EXPECT_TRUE(test, has_code(plain));
	KUNIT_EXPECT_EQ(test, fire(1), 13UL);
	remove_probes(plain, probe_plain, 3);
	remove_probes(most, probe_most, 3);
	remove_probes(six, probe_words_6, 3);
	allow_code(reader);
	calls = 0;
	trace_kunit_code_most_tp(MOST_VALUES);
	KUNIT_EXPECT_EQ(test, fire(1), 0UL);
}

/* A kretprobe would replace the return address, which it needs. */
static void tp_test_no_kprobe(struct kunit *test)
{
	struct kprobe kprobe = { .symbol_name = "__tracepoint_walk" };
	int ret = register_kprobe(&kprobe);

	KUNIT_EXPECT_EQ(test, ret, -EINVAL);
	if (!ret)
		unregister_kprobe(&kprobe);
}

/* A tracepoint whose sites call a C stub gets no trampoline. */
static void tp_test_no_code(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, plain->nr_args, 2);
	KUNIT_EXPECT_EQ(test, most->nr_args, 12);
	KUNIT_EXPECT_EQ(test, __tracepoint_kunit_code_odd_tp.nr_args, 0);
	register_trace_kunit_code_odd(probe_by_value, digit(1));
	KUNIT_EXPECT_EQ(test, __tracepoint_kunit_code_odd_tp.code, 0);
	unregister_trace_kunit_code_odd(probe_by_value, digit(1));
}

#define TOO_MANY_PROBES	4000

/* A trampoline for so many probes would be too long. */
static void tp_test_long_code(struct kunit *test)
{
	typeof(&arch_make_tracepoint_code) make_code =
		need_function(test, "arch_make_tracepoint_code");
	struct tracepoint_func *probes;
	struct generated_text code;
	unsigned int i;

	probes = kvcalloc(TOO_MANY_PROBES + 1, sizeof(*probes), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, probes);
	for (i = 0; i < TOO_MANY_PROBES; i++)
		probes[i] = (struct tracepoint_func){ .func = probe_plain, .data = test };
	KUNIT_EXPECT_EQ(test, make_code(plain, probes, &code), -ENOMEM);
	kvfree(probes);
}

static bool only_arguments;

/* The argument on the stack is a copy of that of the site, which is not far away. */
static noinline __no_sanitize_address void
probe_stack_args(void *data, long a, long b, long c, long d, long e, long f)
{
	const long *stack_args = (const long *)__builtin_frame_address(0) + 2;
	unsigned int i;

	for (i = 1; i < 14; i++)
		only_arguments |= stack_args[0] == f && stack_args[i] == f;
}

/* Without a trampoline, a probe gets only its arguments on the stack. */
static void tp_test_walk_stack(struct kunit *test)
{
	struct srcu_ctr __percpu *reader;

	need_failing_alloc(test);
	only_arguments = false;
	reader = keep_without_code();
	register_without_code(six, probe_stack_args, digit(1));
	KUNIT_EXPECT_FALSE(test, has_code(six));
	trace_kunit_words_6_tp(1, 2, 3, 4, 5, 0x123456789);
	allow_code(reader);
	unregister_trace_kunit_words_6(probe_stack_args, digit(1));
	KUNIT_EXPECT_TRUE(test, only_arguments);
}

#define NR_TRIES	50

/* A work item makes it. Return: is there code in the end? */
static bool gets_code(const struct tracepoint *tp)
{
	unsigned int tries;

	for (tries = 0; tries < NR_TRIES && !has_code(tp); tries++)
		msleep(100);
	return has_code(tp);
}

/* A tracepoint gets the trampoline later, when others have freed memory. */
static void tp_test_code_comes_later(struct kunit *test)
{
	struct srcu_ctr __percpu *reader;

	need_failing_alloc(test);
	reader = keep_without_code();
	register_without_code(six, probe_words_6, digit(3));
	register_without_code(plain, probe_plain, digit(1));
	register_without_code(plain, probe_plain, digit(2));
	KUNIT_EXPECT_FALSE(test, has_code(plain));
	allow_code(reader);
	unregister_trace_kunit_words_6(probe_words_6, digit(3));
	KUNIT_EXPECT_TRUE(test, gets_code(plain));
	KUNIT_EXPECT_EQ(test, fire(1), 12UL);
	unregister_trace_kunit_code(probe_plain, digit(1));
	unregister_trace_kunit_code(probe_plain, digit(2));
	KUNIT_EXPECT_EQ(test, fire(1), 0UL);
}

/* The trampolines for which there was no memory. */
static struct {
	void (*make)(void);	/* tp_make_missing_code() */
	struct mutex *lock;	/* tracepoints_mutex, which it needs */
} missing;

static void need_missing(struct kunit *test)
{
	need_failing_alloc(test);
	missing.make = find_function("tp_make_missing_code");
	missing.lock = find_symbol("tracepoints_mutex");
	if (!missing.make || !missing.lock)
		kunit_skip(test, "needs KALLSYMS_ALL, and functions that can be called");
}

static void make_missing(void)
{
	mutex_lock(missing.lock);
	missing.make();
	mutex_unlock(missing.lock);
}

static void make_missing_in_vain(void)
{
	mutex_lock(missing.lock);
	fail_next_alloc();
	missing.make();
	stop_failing();
	mutex_unlock(missing.lock);
}

/* A tracepoint waits for memory until a try succeeds, and is not tried again after that. */
static void tp_test_code_is_made_once(struct kunit *test)
{
	s32 code;
	struct srcu_ctr __percpu *reader;

	need_missing(test);
	reader = keep_without_code();
	register_without_code(plain, probe_plain, digit(1));
	make_missing_in_vain();
	KUNIT_EXPECT_FALSE(test, has_code(plain));
	make_missing();
	KUNIT_EXPECT_TRUE(test, has_code(plain));
	code = plain->code;
	make_missing();
	KUNIT_EXPECT_EQ(test, plain->code, code);
	allow_code(reader);
	unregister_trace_kunit_code(probe_plain, digit(1));
	KUNIT_EXPECT_EQ(test, fire(1), 0UL);
}

/* One tracepoint may need more memory than the others: each try begins with another one. */
static void tp_test_code_in_turns(struct kunit *test)
{
	const void *first;
	struct srcu_ctr __percpu *reader;

	need_missing(test);
	reader = keep_without_code();
	register_without_code(most, probe_most, digit(1));
	register_without_code(six, probe_words_6, digit(2));
	KUNIT_EXPECT_EQ(test, watch_calls("generate_text"), 0);
	watched.nth = 1;	/* the name of the tracepoint */
	make_missing_in_vain();
	first = watched.argument;
	KUNIT_EXPECT_NOT_NULL(test, first);
	make_missing_in_vain();
	KUNIT_EXPECT_PTR_NE(test, watched.argument, first);
	make_missing_in_vain();
	KUNIT_EXPECT_PTR_EQ(test, watched.argument, first);
	stop_watching();
	KUNIT_EXPECT_FALSE(test, has_code(most));
	KUNIT_EXPECT_FALSE(test, has_code(six));
	allow_code(reader);
	unregister_trace_kunit_code_most(probe_most, digit(1));
	unregister_trace_kunit_words_6(probe_words_6, digit(2));
}

static bool stub_jumps_to(const u8 *target)
{
	const u8 *stub = (const u8 *)__traceiter_kunit_code_tp;
	unsigned int i;
	s32 distance;

	/* objtool takes the address of an instruction after the first for a call's target. */
	OPTIMIZER_HIDE_VAR(stub);
	for (i = 0; i < 12; i++) {
		memcpy(&distance, stub + i + 1, sizeof(distance));
		if (stub[i] == JMP32_INSN_OPCODE && stub + i + 5 + distance == target)
			return true;
	}
	return false;
}

/* Waits for a trampoline to be freed. */
static struct {
	struct kprobe kprobe;
	const char *name;
	bool is_freed, was_used;
} freed;

static int note_freed_code(struct kprobe *kp, struct pt_regs *regs)
{
	const struct generated_text *code = (const void *)regs->di;
	char name[KSYM_SYMBOL_LEN];

	snprintf(name, sizeof(name), "%ps", code->text);
	if (!strcmp(name, freed.name)) {
		freed.was_used = stub_jumps_to(code->text);
		WRITE_ONCE(freed.is_freed, true);
	}
	return 0;
}

static int watch_freed(const char *name)
{
	let_work_end();
	memset(&freed, 0, sizeof(freed));
	freed.name = name;
	freed.kprobe.symbol_name = "free_generated_text";
	freed.kprobe.pre_handler = note_freed_code;
	return register_kprobe(&freed.kprobe);
}

static void expect_freed(struct kunit *test)
{
	unsigned int tries;

	for (tries = 0; tries < NR_TRIES && !READ_ONCE(freed.is_freed); tries++)
		msleep(100);
	unregister_kprobe(&freed.kprobe);
	KUNIT_EXPECT_TRUE(test, freed.is_freed);
	KUNIT_EXPECT_FALSE(test, freed.was_used);
}

/* The trampoline for a probe that a callback refuses is freed. */
static void tp_test_refused_code(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, watch_freed("tracepoint_trampoline_kunit_code_one_tp"), 0);
	reg_result = -EBUSY;
	KUNIT_EXPECT_EQ(test, register_trace_kunit_code_one(probe_number, digit(1)), -EBUSY);
	expect_freed(test);
}

/* A trampoline is not freed while a stub jumps to it, also when patching is late. */
static void tp_test_free_while_deferred(struct kunit *test)
{
	bool deferred;

	KUNIT_ASSERT_EQ(test, watch_freed("tracepoint_trampoline_kunit_code_tp"), 0);
	KUNIT_EXPECT_EQ(test, register_trace_kunit_code(probe_plain, digit(1)), 0);
	KUNIT_EXPECT_TRUE(test, stub_jumps_to((const u8 *)(long)plain->code));
	deferred = imv_defer_begin();
	KUNIT_EXPECT_TRUE(test, deferred);
	unregister_trace_kunit_code(probe_plain, digit(1));
	expect_freed(test);
	imv_defer_end(deferred);
}

/* Runs while the other CPUs wait. */
static int fire_offline(void *result)
{
	cpumask_clear_cpu(smp_processor_id(), &__cpu_online_mask);
	*(unsigned long *)result = fire(1);
	cpumask_set_cpu(smp_processor_id(), &__cpu_online_mask);
	return 0;
}

static void expect_none_offline(struct kunit *test)
{
	unsigned long result = 1;

	stop_machine(fire_offline, &result, NULL);
	KUNIT_EXPECT_EQ(test, result, 0UL);
}

/* A CPU that is offline, where RCU does not watch, calls no probes. */
static void tp_test_offline(struct kunit *test)
{
	struct srcu_ctr __percpu *reader;

	if (!IS_ENABLED(CONFIG_SMP))
		kunit_skip(test, "needs CONFIG_SMP");
	need_failing_alloc(test);
	register_trace_kunit_code(probe_plain, digit(1));
	expect_none_offline(test);
	register_trace_kunit_code(probe_plain, digit(2));
	expect_none_offline(test);
	reader = keep_without_code();
	register_without_code(plain, probe_plain, digit(3));
	KUNIT_EXPECT_FALSE(test, has_code(plain));
	expect_none_offline(test);
	allow_code(reader);
	KUNIT_EXPECT_EQ(test, fire(1), 123UL);
	remove_probes(plain, probe_plain, 3);
}

static struct kunit_case tp_test_cases[] = {
	KUNIT_CASE(tp_test_words_1),
	KUNIT_CASE(tp_test_words_2),
	KUNIT_CASE(tp_test_words_3),
	KUNIT_CASE(tp_test_words_4),
	KUNIT_CASE(tp_test_words_5),
	KUNIT_CASE(tp_test_words_6),
	KUNIT_CASE(tp_test_no_function),
	KUNIT_CASE(tp_test_no_memory_for_code),
	KUNIT_CASE(tp_test_no_kprobe),
	KUNIT_CASE(tp_test_no_code),
	KUNIT_CASE(tp_test_long_code),
	KUNIT_CASE(tp_test_walk_stack),
	KUNIT_CASE(tp_test_code_comes_later),
	KUNIT_CASE(tp_test_code_is_made_once),
	KUNIT_CASE(tp_test_code_in_turns),
	KUNIT_CASE(tp_test_refused_code),
	KUNIT_CASE(tp_test_free_while_deferred),
	KUNIT_CASE(tp_test_offline),
	{ }
};

TP_TEST_SUITE("tracepoint_code", tp_test_init);

MODULE_DESCRIPTION("KUnit tests of the trampolines of tracepoints");
MODULE_LICENSE("GPL");
