// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the sets of function tracers: how they are made, found and freed. The
 * cases call functions of kernel/trace/ftrace_sets.c directly, with tracers and records
 * of functions that nothing else knows.
 */

#include "test_ftrace_sets.h"

#if defined(CONFIG_FTRACE_SETS) && defined(CONFIG_KPROBES) && defined(CONFIG_KALLSYMS_ALL)
static struct {
	struct mutex *lock;	/* ftrace_lock, which these functions expect to be held */
	struct mutex *text_lock;
	typeof(&ftrace_set_change) change;
	typeof(&ftrace_set_make_text) make_text;
	typeof(&ftrace_set_drop) drop;
	typeof(&ftrace_set_enable) enable;
#ifdef CONFIG_HAVE_FTRACE_SETS
	typeof(&arch_ftrace_update_sets) update;
#endif
	typeof(&ftrace_set_wanted) wanted;
	typeof(&ftrace_set_current) called;
	typeof(&ftrace_set_differs) differs;
} sets;

static const struct { const char *name; void *to; } symbols[] = {
	{ "ftrace_lock", &sets.lock },
	{ "text_mutex", &sets.text_lock },
	{ "ftrace_set_change", &sets.change },
	{ "ftrace_set_make_text", &sets.make_text },
	{ "ftrace_set_drop", &sets.drop },
	{ "ftrace_set_enable", &sets.enable },
#ifdef CONFIG_HAVE_FTRACE_SETS
	{ "arch_ftrace_update_sets", &sets.update },
#endif
	{ "ftrace_set_wanted", &sets.wanted },
	{ "ftrace_set_current", &sets.called },
	{ "ftrace_set_differs", &sets.differs },
};

#define NO_SET	0xffff
#define NR_IDS	4095U	/* for sets */

/* Return: the id of the set that a function should call */
static unsigned int id_of(const struct dyn_ftrace *rec)
{
	return rec->flags >> 32 & 0xffff;
}

/* Return: tracers, newest first */
static struct ftrace_ops *need_sets(struct kunit *test, unsigned int nr)
{
	struct ftrace_ops *ops = kunit_kcalloc(test, nr, sizeof(*ops), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, ops);
	for (i = 0; i < nr; i++) {
		ops[i].func = note_call;
		ops[i].seq = ULONG_MAX - i;
		INIT_LIST_HEAD(&ops[i].sets);
	}
	for (i = 0; i < ARRAY_SIZE(symbols); i++)
		need_symbol(test, symbols[i].name, (void **)symbols[i].to);
	return ops;
}

static void add(struct dyn_ftrace *rec, struct ftrace_ops *ops)
{
	rec->flags++;
	sets.change(rec, ops, true);
}

static void take(struct dyn_ftrace *rec, struct ftrace_ops *ops)
{
	rec->flags--;
	sets.change(rec, ops, false);
}

static void add_two(struct dyn_ftrace *rec, struct ftrace_ops *ops, struct ftrace_ops *other)
{
	*rec = (struct dyn_ftrace){ };
	add(rec, ops);
	add(rec, other);
}

/* Runs a check with ftrace_lock held: it must not assert, but expect. */
static void with_lock(struct kunit *test, unsigned int nr,
		      void (*check)(struct kunit *test, struct ftrace_ops *ops))
{
	struct ftrace_ops *ops = need_sets(test, nr);

	mutex_lock(sets.lock);
	check(test, ops);
	stop_failing();
	mutex_unlock(sets.lock);
}

/* The set has these tracers, one after the other. */
static void expect_members(struct kunit *test, const struct ftrace_set *set,
			   struct ftrace_ops *ops, unsigned int nr)
{
	unsigned int i;

	KUNIT_EXPECT_NOT_NULL(test, set);
	if (!set)
		return;
	KUNIT_EXPECT_EQ(test, set->nr, nr);
	for (i = 0; i < nr && i < set->nr; i++) {
		KUNIT_EXPECT_PTR_EQ(test, set->members[i].set, (struct ftrace_set *)set);
		KUNIT_EXPECT_PTR_EQ(test, set->members[i].ops, &ops[i]);
	}
}

static void check_life(struct kunit *test, struct ftrace_ops *ops)
{
	struct dyn_ftrace rec = { }, other;
	const struct ftrace_set *set;

	KUNIT_EXPECT_NULL(test, sets.wanted(&rec));
	KUNIT_EXPECT_FALSE(test, sets.differs(&rec));
	add(&rec, &ops[1]);
	KUNIT_EXPECT_NE(test, id_of(&rec), 0U);
	KUNIT_EXPECT_NULL(test, sets.wanted(&rec));
	add(&rec, &ops[0]);
	set = sets.wanted(&rec);
	expect_members(test, set, ops, 2);
	KUNIT_EXPECT_TRUE(test, list_is_singular(&ops[0].sets));
	add_two(&other, &ops[0], &ops[1]);
	KUNIT_EXPECT_PTR_EQ(test, sets.wanted(&other), set);
	add(&other, &ops[2]);
	expect_members(test, sets.wanted(&other), ops, 3);
	take(&other, &ops[2]);
	KUNIT_EXPECT_PTR_EQ(test, sets.wanted(&other), set);

	KUNIT_EXPECT_TRUE(test, sets.differs(&rec));
	sets.enable(&rec, true);
	KUNIT_EXPECT_PTR_EQ(test, sets.called(&rec), set);
	KUNIT_EXPECT_FALSE(test, sets.differs(&rec));
	sets.enable(&rec, false);
	KUNIT_EXPECT_NULL(test, sets.called(&rec));
	sets.enable(&rec, true);
	sets.drop(&rec);
	KUNIT_EXPECT_EQ(test, rec.flags >> 32, 0UL);
	KUNIT_EXPECT_PTR_EQ(test, sets.wanted(&other), set);
	take(&other, &ops[0]);
	take(&other, &ops[1]);
	KUNIT_EXPECT_EQ(test, other.flags, 0UL);
	KUNIT_EXPECT_TRUE(test, list_empty(&ops[0].sets) && list_empty(&ops[1].sets));

	ops[2].flags = FTRACE_OPS_FL_STUB;
	add_two(&rec, &ops[0], &ops[2]);
	KUNIT_EXPECT_NE(test, id_of(&rec), 0U);
	KUNIT_EXPECT_NE(test, id_of(&rec), (unsigned int)NO_SET);
	KUNIT_EXPECT_NULL(test, sets.wanted(&rec));
	sets.drop(&rec);
	KUNIT_EXPECT_TRUE(test, list_empty(&ops[0].sets) && list_empty(&ops[2].sets));
}

/*
 * Functions with the same tracers share a set until the last one dropped it. It has no
 * code with less than two tracers or with a stub.
 */
static void sets_test_life(struct kunit *test)
{
	with_lock(test, 3, check_life);
}

#define ID_OPS	92	/* 4,186 pairs */

static struct dyn_ftrace *recs;

/* Return: how many pairs of tracers have got a set */
static unsigned int make_pairs(struct ftrace_ops *ops)
{
	unsigned int i, j, k = 0;

	for (i = 0; i < ID_OPS; i++) {
		for (j = i + 1; j < ID_OPS; j++, k++) {
			add_two(&recs[k], &ops[i], &ops[j]);
			if (id_of(&recs[k]) == NO_SET)
				return k;
		}
	}
	return k;
}

static unsigned int count_wrong(struct ftrace_ops *ops, unsigned int nr)
{
	unsigned int i, j, k = 0, wrong = 0;

	for (i = 0; i < ID_OPS; i++) {
		for (j = i + 1; j < ID_OPS && k < nr; j++, k++) {
			const struct ftrace_set *set = sets.wanted(&recs[k]);

			wrong += !set || set->id != id_of(&recs[k]) || set->nr != 2 ||
				 set->members[0].ops != &ops[i] ||
				 set->members[1].ops != &ops[j];
		}
	}
	return wrong;
}

static void check_ids(struct kunit *test, struct ftrace_ops *ops)
{
	unsigned int nr = make_pairs(ops), k;
	struct dyn_ftrace rec = { };

	KUNIT_EXPECT_LE(test, nr, NR_IDS);
	KUNIT_EXPECT_GE(test, nr, NR_IDS - 300);	/* others may have sets */
	KUNIT_EXPECT_EQ(test, count_wrong(ops, nr), 0U);
	sets.drop(&recs[nr / 2]);
	add(&rec, &ops[ID_OPS - 1]);
	KUNIT_EXPECT_NE(test, id_of(&rec), (unsigned int)NO_SET);
	sets.drop(&rec);
	for (k = 0; k <= nr; k++)
		sets.drop(&recs[k]);
	KUNIT_EXPECT_TRUE(test, list_empty(&ops[0].sets));
}

/* Each set has its own id and is found by its tracers, until all ids are used. */
static void sets_test_ids(struct kunit *test)
{
	recs = kunit_kcalloc(test, ID_OPS * (ID_OPS - 1) / 2, sizeof(*recs), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, recs);
	with_lock(test, ID_OPS, check_ids);
}

#ifdef CONFIG_HAVE_FTRACE_SETS
static notrace void note_twice(unsigned long ip, unsigned long parent_ip,
			       struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	note_call(ip, parent_ip, ops, fregs);
	note_call(ip, parent_ip, ops, fregs);
}

/* With two tracers, and one whose function no code can call. */
static void check_update(struct kunit *test, struct ftrace_ops *ops)
{
	struct dyn_ftrace rec, far;
	const struct ftrace_set *set;

	ops[2].func = (ftrace_func_t)(void *)ops;
	add_two(&rec, &ops[0], &ops[1]);
	add_two(&far, &ops[0], &ops[2]);
	sets.make_text();
	set = sets.wanted(&rec);
	KUNIT_EXPECT_NOT_NULL(test, set);
	KUNIT_EXPECT_NULL(test, sets.wanted(&far));	/* the list is called */
	if (set) {
		watched.calls = 0;
		ops[0].func = note_twice;
		sets.update(&ops[0]);
		KUNIT_EXPECT_EQ(test, watched.calls, 1U);
		KUNIT_EXPECT_EQ(test, watched.not_locked, 0U);
		KUNIT_EXPECT_PTR_EQ(test, (void *)note_twice,
				    called_by(test, set->text.text + set->members[0].call));
		KUNIT_EXPECT_PTR_EQ(test, (void *)note_call,
				    called_by(test, set->text.text + set->members[1].call));
	}
	sets.drop(&far);
	sets.drop(&rec);
}

/* The code of all sets of a tracer calls its new function. */
static void sets_test_update(struct kunit *test)
{
	need_sets(test, 1);
	KUNIT_ASSERT_EQ(test, watch_unlocks(sets.text_lock), 0);
	with_lock(test, 3, check_update);
}

#define NR_MANY	5

/*
 * Each update tries to make the code of one set, however many are without memory. None is
 * made for a set that is dropped meanwhile.
 */
static void check_without_memory(struct kunit *test, struct ftrace_ops *ops)
{
	static struct dyn_ftrace many[NR_MANY];
	struct dyn_ftrace first;
	unsigned int i, tries;

	/* A set has code, so that there is memory for more; the kernel warns if not. */
	add_two(&first, &ops[0], &ops[1]);
	sets.make_text();
	for (i = 0; i < NR_MANY; i++)
		add_two(&many[i], &ops[i + 1], &ops[i + 2]);
	watched.calls = 0;
	for (tries = 1; tries <= 2; tries++) {
		fail_all_allocs();
		sets.make_text();
		stop_failing();
		KUNIT_EXPECT_EQ(test, watched.calls, tries);
		for (i = 0; i < NR_MANY; i++)
			KUNIT_EXPECT_NULL(test, sets.wanted(&many[i]));
	}
	sets.drop(&many[0]);
	sets.make_text();
	KUNIT_EXPECT_EQ(test, watched.calls, 2U + NR_MANY - 1);
	for (i = 1; i < NR_MANY; i++) {
		KUNIT_EXPECT_TRUE(test, sets.wanted(&many[i]) &&
				  sets.wanted(&many[i])->text.text);
		sets.drop(&many[i]);
	}
	sets.drop(&first);
}

static void sets_test_without_memory(struct kunit *test)
{
	need_failing_allocs(test);
	KUNIT_ASSERT_EQ(test, watch_calls("generate_text"), 0);
	with_lock(test, NR_MANY + 2, check_without_memory);
}
#endif /* CONFIG_HAVE_FTRACE_SETS */
#endif

static struct kunit_case sets_test_cases[] = {
#if defined(CONFIG_FTRACE_SETS) && defined(CONFIG_KPROBES) && defined(CONFIG_KALLSYMS_ALL)
	KUNIT_CASE(sets_test_life),
	KUNIT_CASE(sets_test_ids),
#ifdef CONFIG_HAVE_FTRACE_SETS
	KUNIT_CASE(sets_test_update),
	KUNIT_CASE(sets_test_without_memory),
#endif
#endif
	{ }
};

SETS_TEST_SUITE("ftrace_sets_table", sets_test_cases);

MODULE_DESCRIPTION("KUnit tests of the table of sets of function tracers");
MODULE_LICENSE("GPL");
