/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LIB_TEST_MARKER_H
#define _LIB_TEST_MARKER_H

/*
 * For the KUnit suites of markers: probes that note their calls, messages in the log, and
 * a module that has nothing but markers.
 */
#include <kunit/test.h>
#include <linux/kmsg_dump.h>
#include <linux/marker.h>
#include <linux/module.h>
#include <trace/tracer.h>

#include "../kernel/markers/markers.h"

/* Each call of a probe appends its private digit. */
static unsigned long calls;

static inline void *digit(unsigned long nr)
{
	return (void *)nr;
}

static inline void note_call(void *private)
{
	calls = calls * 10 + (unsigned long)private;
}

static void probe_ignore(void *private, void *call_private, const char *format,
			 va_list *args)
{
	note_call(private);
}

static void variadic_ignore(const struct __mark_marker *marker, void *private,
			    const char *format, ...)
{
	note_call(private);
}

/* Attach and detach probe_ignore(), and the variadic one. */
static inline int attach(const char *name, const char *format, unsigned long nr)
{
	return marker_probe_register(name, format, probe_ignore, digit(nr));
}

static inline int detach(const char *name, unsigned long nr)
{
	return marker_probe_unregister(name, probe_ignore, digit(nr));
}

/* A marker in a header: those of several files have one tracepoint. */
static inline void expect_inline_marker(struct kunit *test)
{
	calls = 0;
	KUNIT_EXPECT_EQ(test, attach("kunit_inline", "number %d", 1), 0);
	trace_mark(kunit_inline, "number %d", 7);
	KUNIT_EXPECT_EQ(test, detach("kunit_inline", 1), 0);
	trace_mark(kunit_inline, "number %d", 7);
	KUNIT_EXPECT_EQ(test, calls, 1UL);
}

static inline int attach_variadic(const char *name, const char *format, unsigned long nr)
{
	return marker_probe_register(name, format, variadic_ignore, digit(nr));
}

static inline int detach_variadic(const char *name, unsigned long nr)
{
	return marker_probe_unregister(name, variadic_ignore, digit(nr));
}

/* What a failed case left attached or armed. */
static inline void detach_all(const char *const *names, unsigned int nr_names)
{
	unsigned long nr;
	unsigned int i;

	for (i = 0; i < nr_names; i++) {
		for (nr = 0; nr < 10; nr++)
			while (!detach(names[i], nr))
				;
		marker_probe_unregister(names[i]);
		while (!marker_disarm(names[i]))
			;
	}
	marker_synchronize_unregister();
}

/* Where the log ends now, for count_logged(). */
static inline u64 log_end(void)
{
	struct kmsg_dump_iter iter = { };

	kmsg_dump_rewind(&iter);
	return iter.next_seq;
}

/* Number of messages after the position that contain the text. */
static inline unsigned int count_logged(u64 from, const char *text)
{
	static char line[512];
	struct kmsg_dump_iter iter = { };
	unsigned int count = 0;
	size_t len;

	kmsg_dump_rewind(&iter);
	iter.cur_seq = max(iter.cur_seq, from);
	while (kmsg_dump_get_line(&iter, false, line, sizeof(line), &len))
		count += !!strstr(line, text);
	return count;
}

#define expect_logged(test, from, text, count)				\
	KUNIT_EXPECT_EQ(test, count_logged(from, text),			\
			IS_ENABLED(CONFIG_PRINTK) ? (count) : 0U)

#ifdef CONFIG_MODULES
#define FAKE_FORMAT	"number %d"

/* A module whose objects have the marker kunit_fake. */
struct fake_module {
	struct tracepoint tp, other_tp;
	struct marker_site site[3];
	struct module mod;
};

/* References of sites reach static memory. */
static struct fake_module fakes[2], *fake;

static inline void refer_to(marker_ref_t *ref, const void *to)
{
#ifdef CONFIG_HAVE_ARCH_PREL32_RELOCATIONS
	*ref = to - (const void *)ref;
#else
	*ref = (void *)to;
#endif
}

static inline void make_site(struct marker_site *site, struct tracepoint *tp, const char *format)
{
	refer_to(&site->tp, tp);
	refer_to(&site->format, format);
	refer_to(&site->file, __FILE__);
	refer_to(&site->function, __func__);
}

static inline void init_tp(struct tracepoint *tp, const char *name)
{
	tp->name = name;
#ifdef CONFIG_TRACEPOINT_TRAMPOLINE
	tp->nr_args = 1;
#endif
}

/* Gives the third object another marker. */
static inline void make_other(const char *name, const char *format)
{
	init_tp(&fake->other_tp, name);
	make_site(&fake->site[2], &fake->other_tp, format);
}

/* In @nr objects, as the compiler and the linker make it. */
static inline void make_fake_of(const char *name, const char *format, unsigned int nr)
{
	unsigned int i;

	memset(fake, 0, sizeof(*fake));
	init_tp(&fake->tp, name);
	for (i = 0; i < ARRAY_SIZE(fake->site); i++)
		make_site(&fake->site[i], &fake->tp, format);
	strscpy(fake->mod.name, "kunit_fake", sizeof(fake->mod.name));
	fake->mod.markers = fake->site;
	fake->mod.num_markers = nr;
	fake->mod.state = MODULE_STATE_LIVE;
	/* Those who use an event take a reference. */
#ifdef CONFIG_MODULE_UNLOAD
	atomic_set(&fake->mod.refcnt, 1);
#endif
}

static inline void make_fake(void)
{
	make_fake_of("kunit_fake", FAKE_FORMAT, 2);
}

static inline void need_fake(struct kunit *test)
{
	fake = fake == fakes ? fakes + 1 : fakes;
	make_fake();
}

static inline int load_fake(void)
{
	return notifier_to_errno(marker_module_notify(NULL, MODULE_STATE_COMING, &fake->mod));
}

static inline void unload_fake(void)
{
	marker_module_notify(NULL, MODULE_STATE_GOING, &fake->mod);
}

static inline int count_fake(const struct marker *marker, struct module *mod, void *priv)
{
	*(unsigned int *)priv += mod == &fake->mod;
	return 0;
}

static inline unsigned int fake_markers(void)
{
	unsigned int nr = 0;

	for_each_marker(count_fake, &nr);
	return nr;
}
#endif /* CONFIG_MODULES */

#endif /* _LIB_TEST_MARKER_H */
