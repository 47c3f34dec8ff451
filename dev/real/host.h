/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _REAL_HOST_H
#define _REAL_HOST_H

/*
 * A program in user space with the kernel's own objects, whose symbols have the prefix k_.
 * The host provides what the rest of the kernel would: memory, per-CPU variables, grace
 * periods, breakpoints, and the synchronisation of the instructions of all CPUs.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

typedef unsigned long ulong;

#define READERS_MAX	8

/**
 * struct reader - a thread that executes code which is patched meanwhile
 * @thread: the thread
 * @body: what it does until @stop; it calls quiet() now and then
 * @cpu: the CPU that it is bound to
 * @quiet: number of its quiescent states
 * @active: does it still execute the code?
 * @traps: breakpoints that it hit, and those of @stale that were gone when it looked
 * @in_trap: odd while it handles one
 * @hits: how often it executed a site
 * @wrong: hits with a wrong result
 */
struct reader {
	pthread_t thread;
	void (*body)(struct reader *reader);
	int cpu;
	volatile bool active;
	volatile ulong quiet, in_trap;
	ulong traps, stale, hits, wrong;
} __attribute__((aligned(128)));

extern struct reader readers[READERS_MAX];
extern volatile bool stop;

/* Synchronisations and grace periods since the start. */
extern ulong nr_syncs, nr_graces;

/* Of the synchronisations of a batch, 0 to 2, bit n leaves out the nth. */
extern unsigned int left_out;

void host_init(void);
void run_deferred_work(void);
void start_readers(unsigned int nr, void (*body)(struct reader *reader));
void stop_readers(unsigned int nr);
void write_text(void *to, const void *bytes, ulong size);
double seconds(void);
uint32_t random_below(uint32_t limit);
void __attribute__((noreturn, format(printf, 1, 2))) fail(const char *format, ...);

static inline void quiet(struct reader *reader)
{
	__atomic_fetch_add(&reader->quiet, 1, __ATOMIC_SEQ_CST);
}

#endif /* _REAL_HOST_H */
