// SPDX-License-Identifier: GPL-2.0
/*
 * What the rest of the kernel does for the objects in this program, see host.h. Code is a
 * file in memory with a second mapping, through which it is written, as the kernel does.
 * A breakpoint is a signal; the synchronisation of CPUs is membarrier(). One thread, the
 * writer, calls the kernel's functions that take locks, so there are none.
 */
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <errno.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "host.h"

#define PAGE		4096UL
#define ARENA_SIZE	(64UL << 20)
#define STACK_SIZE	65536
#define INT3		0xcc

/* The kernel aligns its stack to 8 bytes, the C library needs 16. */
#define FROM_KERNEL	__attribute__((force_align_arg_pointer))

struct reader readers[READERS_MAX];
volatile bool stop;
ulong nr_syncs, nr_graces;
unsigned int left_out;
static unsigned int sync_of_batch;
static __thread struct reader *self;

void fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("real: ", stderr);
	vfprintf(stderr, format, args);
	fputs("\n", stderr);
	_exit(3);
}

double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

uint32_t random_below(uint32_t limit)
{
	static __thread uint64_t state = 88172645463325252ULL;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state >> 16) % limit;
}

/*
 * Memory. All code is below 2 GB, as the kernel's is in the upper 2 GB.
 */

extern char __executable_start[], etext[];

static struct mapping {
	char *start, *end, *alias;
} text, arena;

static char *map_memory(ulong size, void *at, int prot, int fd)
{
	char *mapped = mmap(at, size, prot, MAP_SHARED | (at ? MAP_FIXED : 0), fd, 0);

	if (mapped == MAP_FAILED)
		fail("mmap: %s", strerror(errno));
	return mapped;
}

/* Replaces the pages by those of a file, which is mapped a second time to write to it. */
static void map_twice(struct mapping *m, void *start, ulong size, bool keep)
{
	int fd = memfd_create("text", 0);

	if (fd < 0 || ftruncate(fd, size) || (keep && write(fd, start, size) != (ssize_t)size))
		fail("memfd_create: %s", strerror(errno));
	m->start = map_memory(size, start, PROT_READ | PROT_EXEC, fd);
	m->alias = map_memory(size, NULL, PROT_READ | PROT_WRITE, fd);
	m->end = m->start + size;
}

static bool is_in(const struct mapping *m, const char *at)
{
	return at >= m->start && at < m->end;
}

static void *alias_of(void *at)
{
	const struct mapping *m = is_in(&text, at) ? &text : &arena;

	if (!is_in(m, at))
		fail("%p is not code", at);
	return m->alias + ((char *)at - m->start);
}

void write_text(void *to, const void *bytes, ulong size)
{
	memcpy(alias_of(to), bytes, size);
}

/* A page for each piece. Freed code is filled with breakpoints, and used again late. */
#define CHUNKS_MAX	(ARENA_SIZE / PAGE)
#define CHUNKS_FREE	512

static char *chunks[CHUNKS_MAX];
static unsigned int nr_freed, nr_reused;
static ulong arena_used;

FROM_KERNEL void *k_bpf_prog_pack_alloc(unsigned int size, void *fill, bool was_classic)
{
	if (size > PAGE)
		fail("%u bytes of code", size);
	if (nr_freed - nr_reused > CHUNKS_FREE)
		return chunks[nr_reused++ % CHUNKS_MAX];
	if (arena_used == ARENA_SIZE)
		fail("no memory for code");
	arena_used += PAGE;
	return arena.start + arena_used - PAGE;
}

FROM_KERNEL void k_bpf_prog_pack_free(void *start, unsigned int size)
{
	memset(alias_of(start), INT3, size);
	chunks[nr_freed++ % CHUNKS_MAX] = start;
}

FROM_KERNEL void *k_bpf_arch_text_copy(void *to, void *from, ulong size)
{
	write_text(to, from, size);
	return to;
}

typedef void text_poke_f(void *to, const void *from, ulong size);

/* These two replace functions of the kernel, see replace_function(). */
FROM_KERNEL static void *host_text_poke(text_poke_f *write, void *to, const void *from, ulong size)
{
	write(alias_of(to), from, size);
	return to;
}

FROM_KERNEL static void host_text_poke_early(void *to, const void *bytes, ulong size)
{
	write_text(to, bytes, size);
}

FROM_KERNEL void *k___kmalloc_noprof(ulong size) { return calloc(1, size + 64); }
FROM_KERNEL void *k___kvmalloc_node_noprof(ulong size) { return calloc(1, size + 64); }
FROM_KERNEL void *k___kmalloc_large_noprof(ulong size) { return calloc(1, size); }
FROM_KERNEL void *k___kmalloc_cache_noprof(void *cache, unsigned int flags, ulong size)
{
	return calloc(1, size);
}

FROM_KERNEL void *k_kmemdup_noprof(const void *from, ulong size)
{
	return memcpy(malloc(size), from, size);
}

FROM_KERNEL void k_kfree(void *p) { free(p); }
FROM_KERNEL void k_kvfree(void *p) { free(p); }

/*
 * Functions of the C library
 */

FROM_KERNEL void *k_memcpy(void *to, const void *from, ulong n) { return memcpy(to, from, n); }
FROM_KERNEL void *k_memmove(void *to, const void *from, ulong n) { return memmove(to, from, n); }
FROM_KERNEL void *k_memset(void *to, int c, ulong n) { return memset(to, c, n); }
FROM_KERNEL int k_memcmp(const void *a, const void *b, ulong n) { return memcmp(a, b, n); }
FROM_KERNEL ulong k_strlen(const char *s) { return strlen(s); }
FROM_KERNEL ulong k_strnlen(const char *s, ulong n) { return strnlen(s, n); }
FROM_KERNEL ulong k_strspn(const char *s, const char *accept) { return strspn(s, accept); }
FROM_KERNEL char *k_strpbrk(char *s, const char *accept) { return strpbrk(s, accept); }
FROM_KERNEL char *k_strchr(char *s, int c) { return strchr(s, c); }
FROM_KERNEL int k_strcmp(const char *a, const char *b) { return strcmp(a, b); }
FROM_KERNEL int k_strncmp(const char *a, const char *b, ulong n) { return strncmp(a, b, n); }

FROM_KERNEL int k_snprintf(char *to, ulong size, const char *format, ...)
{
	va_list args;
	int ret;

	va_start(args, format);
	ret = vsnprintf(to, size, format, args);
	va_end(args);
	return ret;
}

/* No field of the marker has a keyword as its name. */
FROM_KERNEL int k_match_string(void) { return -EINVAL; }

/* The kernel has nothing to say, unless something is wrong. */
FROM_KERNEL int k__printk(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fail("that was the kernel");
}

/*
 * State of the kernel
 */

int k_system_state = 3;	/* SYSTEM_RUNNING */
ulong k___cpu_online_mask = (2UL << READERS_MAX) - 1, k___cpu_possible_mask = (2UL << READERS_MAX) - 1;
ulong k___per_cpu_offset[64];

FROM_KERNEL int k_core_kernel_text(ulong addr) { return 1; }
FROM_KERNEL bool k_rcu_is_watching(void) { return true; }
FROM_KERNEL bool k_ns_capable_noaudit(void) { return true; }

/* Locks, names for perf and BPF, notifiers, and preemption: there is one writer. */
#define NOTHING(name)	ulong k_##name(void) { return 0; }

NOTHING(mutex_lock)
NOTHING(mutex_unlock)
NOTHING(_raw_read_lock)
NOTHING(_raw_read_unlock)
NOTHING(cpus_read_lock)
NOTHING(cpus_read_unlock)
NOTHING(__rcu_read_lock)
NOTHING(__rcu_read_unlock)
NOTHING(preempt_schedule_thunk)
NOTHING(preempt_schedule_notrace_thunk)
NOTHING(trace_hardirqs_on)
NOTHING(trace_hardirqs_off)
NOTHING(perf_event_ksymbol)
NOTHING(perf_event_text_poke)
NOTHING(register_module_notifier)
NOTHING(blocking_notifier_call_chain)

/* Variables of each CPU, so of each thread: the base of %gs is the distance to its copy. */
#define PERCPU	__attribute__((section("percpu"), used))

PERCPU ulong k___preempt_count = 0x80000000;	/* that no one needs the CPU */
PERCPU int k_cpu_number;
PERCPU void *k_current_task, *k_const_current_task;
PERCPU ulong k_this_cpu_off;

extern char __start_percpu[], __stop_percpu[];

void k_real_make_task(void);

/* CPU 0 is that of the writer. */
static void make_cpu(int cpu)
{
	ulong size = __stop_percpu - __start_percpu;
	char *copy = aligned_alloc(64, (size + 63) & ~63UL);

	memcpy(copy, __start_percpu, size);
	k___per_cpu_offset[cpu] = copy - __start_percpu;
}

static void become_cpu(int cpu)
{
	void *task = calloc(1, 1 << 16);

	if (syscall(SYS_arch_prctl, ARCH_SET_GS, k___per_cpu_offset[cpu]))
		fail("arch_prctl: %s", strerror(errno));
	asm volatile("movl %1, %%gs:k_cpu_number\n\t"
		     "movq %2, %%gs:k_this_cpu_off\n\t"
		     "movq %0, %%gs:k_current_task\n\t"
		     "movq %0, %%gs:k_const_current_task" : :
		     "r"(task), "r"(cpu), "r"(k___per_cpu_offset[cpu]) : "memory");
	k_real_make_task();
}

FROM_KERNEL void k_preempt_count_add(int n)
{
	asm volatile("addl %0, %%gs:k___preempt_count" : : "r"(n) : "memory");
}

FROM_KERNEL void k_preempt_count_sub(int n)
{
	asm volatile("subl %0, %%gs:k___preempt_count" : : "r"(n) : "memory");
}

/*
 * Work that is queued. The writer does it between changes.
 */

struct work {
	ulong data, next, prev;
	void (*func)(struct work *work);
};

#define WORK_MAX	16
static struct work *queue[WORK_MAX];
static unsigned int nr_queued;

FROM_KERNEL bool k_queue_work_on(int cpu, void *queue_name, struct work *work)
{
	unsigned int i;

	for (i = 0; i < nr_queued; i++)
		if (queue[i] == work)
			return false;
	if (nr_queued == WORK_MAX)
		fail("too much work");
	queue[nr_queued++] = work;
	return true;
}

FROM_KERNEL bool k_queue_delayed_work_on(int cpu, void *queue_name, struct work *work)
{
	return k_queue_work_on(cpu, queue_name, work);
}

FROM_KERNEL bool k_flush_work(struct work *work)
{
	unsigned int i;

	for (i = 0; i < nr_queued && queue[i] != work; i++)
		;
	if (i == nr_queued)
		return false;
	queue[i] = queue[--nr_queued];
	work->func(work);
	return true;
}

void run_deferred_work(void)
{
	while (nr_queued)
		k_flush_work(queue[0]);
}

/*
 * Symbols of generated code
 */

struct ksym {
	ulong start, end;
};

#define KSYMS_MAX	4096
static const struct ksym *ksyms[KSYMS_MAX];
static unsigned int nr_ksyms;

FROM_KERNEL void k_bpf_ksym_add(const struct ksym *ksym)
{
	if (nr_ksyms == KSYMS_MAX)
		fail("too many symbols");
	ksyms[nr_ksyms++] = ksym;
}

FROM_KERNEL void k_bpf_ksym_del(const struct ksym *ksym)
{
	unsigned int i;

	for (i = 0; i < nr_ksyms; i++)
		if (ksyms[i] == ksym)
			ksyms[i] = ksyms[--nr_ksyms];
}

FROM_KERNEL const struct ksym *k_bpf_ksym_find(ulong addr)
{
	unsigned int i;

	for (i = 0; i < nr_ksyms; i++)
		if (addr >= ksyms[i]->start && addr < ksyms[i]->end)
			return ksyms[i];
	return NULL;
}

/*
 * Waiting for other CPUs
 */

static void sync_core(void)
{
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0))
		fail("membarrier: %s", strerror(errno));
}

/* A CPU does not answer while it handles a breakpoint: interrupts are off there. */
static void wait_for_traps(void)
{
	unsigned int i;
	ulong trap;

	for (i = 0; i < READERS_MAX; i++) {
		trap = readers[i].in_trap;
		while (trap & 1 && readers[i].in_trap == trap && readers[i].active)
			sched_yield();
	}
}

FROM_KERNEL void k_on_each_cpu_cond_mask(void *condition, void (*func)(void *info), void *info)
{
	nr_syncs++;
	if (left_out & 1U << sync_of_batch++ % 3)
		return;
	func(info);
	sync_core();
	wait_for_traps();
}

static void wait_for_readers(void)
{
	unsigned int i;
	ulong before;

	nr_graces++;
	for (i = 0; i < READERS_MAX; i++) {
		before = readers[i].quiet;
		while (readers[i].active && readers[i].quiet == before)
			sched_yield();
	}
}

FROM_KERNEL void k_synchronize_rcu(void) { wait_for_readers(); }
FROM_KERNEL void k_synchronize_srcu(void) { wait_for_readers(); }
FROM_KERNEL void k_synchronize_rcu_tasks(void) { wait_for_readers(); }
FROM_KERNEL void k_synchronize_rcu_tasks_rude(void) { wait_for_readers(); }
FROM_KERNEL void k___wait_rcu_gp(void) { wait_for_readers(); }

/*
 * Breakpoints
 */

struct registers {
	ulong r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax, ip, cs,
	      flags, sp, ss;
};

int k_smp_text_poke_int3_handler(struct registers *regs);

#define KERNEL_CS	0x10

static const struct { uint8_t of_signal, of_kernel; } places[] = {
#define PLACE(signal, kernel)	{ signal, offsetof(struct registers, kernel) / sizeof(ulong) }
	PLACE(REG_R15, r15), PLACE(REG_R14, r14), PLACE(REG_R13, r13), PLACE(REG_R12, r12),
	PLACE(REG_RBP, bp), PLACE(REG_RBX, bx), PLACE(REG_R11, r11), PLACE(REG_R10, r10),
	PLACE(REG_R9, r9), PLACE(REG_R8, r8), PLACE(REG_RAX, ax), PLACE(REG_RCX, cx),
	PLACE(REG_RDX, dx), PLACE(REG_RSI, si), PLACE(REG_RDI, di), PLACE(REG_RIP, ip),
	PLACE(REG_EFL, flags), PLACE(REG_RSP, sp),
};

static void handle(greg_t *gregs)
{
	struct registers regs = { .cs = KERNEL_CS };
	ulong *words = (ulong *)&regs;
	unsigned int i;

	for (i = 0; i < sizeof(places) / sizeof(*places); i++)
		words[places[i].of_kernel] = gregs[places[i].of_signal];
	if (!k_smp_text_poke_int3_handler(&regs))
		fail("a breakpoint at %#lx that is not the kernel's", regs.ip - 1);
	for (i = 0; i < sizeof(places) / sizeof(*places); i++)
		gregs[places[i].of_signal] = words[places[i].of_kernel];
}

/* The signal may arrive when the breakpoint is gone: then the new code is executed. */
static void on_trap(int signal, siginfo_t *info, void *context)
{
	greg_t *gregs = ((ucontext_t *)context)->uc_mcontext.gregs;

	if (!self)
		fail("a breakpoint at %#llx", (unsigned long long)gregs[REG_RIP] - 1);
	self->traps++;
	__atomic_fetch_add(&self->in_trap, 1, __ATOMIC_SEQ_CST);
	if (*(volatile uint8_t *)(gregs[REG_RIP] - 1) == INT3) {
		handle(gregs);
	} else {
		self->stale++;
		gregs[REG_RIP]--;
	}
	__atomic_fetch_add(&self->in_trap, 1, __ATOMIC_SEQ_CST);
}

static void use_signal_stack(void)
{
	stack_t stack = { .ss_sp = malloc(STACK_SIZE), .ss_size = STACK_SIZE };

	if (sigaltstack(&stack, NULL))
		fail("sigaltstack: %s", strerror(errno));
}

/*
 * Threads
 */

static void bind_to(int cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);	/* without it, it is only slower */
}

static void *read_until_stop(void *arg)
{
	self = arg;
	bind_to(self->cpu);
	become_cpu(1 + (self - readers));
	use_signal_stack();
	self->active = true;
	while (!stop) {
		self->body(self);
		quiet(self);
	}
	self->active = false;
	return NULL;
}

/* On all CPUs but that of the writer. */
void start_readers(unsigned int nr, void (*body)(struct reader *reader))
{
	int cpus = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned int i;

	memset(readers, 0, sizeof(readers));
	nr_syncs = nr_graces = 0;
	stop = false;
	for (i = 0; i < nr; i++) {
		readers[i].cpu = cpus > 1 ? 1 + i % (cpus - 1) : 0;
		readers[i].body = body;
		if (pthread_create(&readers[i].thread, NULL, read_until_stop, &readers[i]))
			fail("no thread");
		while (!readers[i].active)
			sched_yield();
	}
}

void stop_readers(unsigned int nr)
{
	unsigned int i;

	stop = true;
	for (i = 0; i < nr; i++)
		pthread_join(readers[i].thread, NULL);
}

/*
 * Initialisation
 */

extern uint8_t k___text_poke[], k_text_poke_early[];
void k_imv_init(void);
int k_start_freeing(void);
int k_marker_init(void);

static void replace_function(uint8_t *from, void *to)
{
	uint8_t jump[5] = { 0xe9 };
	int32_t distance = (char *)to - (char *)from - 5;

	memcpy(jump + 1, &distance, 4);
	write_text(from, jump, 5);
}

/* Calls at the entry of functions are NOPs until they are traced. */
static void make_nops(void)
{
	extern ulong __start___mcount_loc[], __stop___mcount_loc[];
	static const uint8_t nop[5] = { 0x0f, 0x1f, 0x44, 0, 0 };
	ulong *entry;

	for (entry = __start___mcount_loc; entry < __stop___mcount_loc; entry++)
		write_text((void *)*entry, nop, 5);
}

FROM_KERNEL void host_init(void)
{
	struct sigaction action = {
		.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER,
	};
	int cpu;
	ulong start = (ulong)__executable_start & -PAGE, end = ((ulong)etext + PAGE - 1) & -PAGE;

	if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0)) {
		puts("1..0 # SKIP membarrier() cannot synchronise instructions here");
		exit(0);
	}
	map_twice(&text, (void *)start, end - start, true);
	map_twice(&arena, (void *)0x60000000, ARENA_SIZE, false);
	make_nops();
	replace_function(k___text_poke, host_text_poke);
	replace_function(k_text_poke_early, host_text_poke_early);
	for (cpu = 0; cpu <= READERS_MAX; cpu++)
		make_cpu(cpu);
	become_cpu(0);
	use_signal_stack();
	bind_to(0);
	if (sigaction(SIGTRAP, &action, NULL))
		fail("sigaction: %s", strerror(errno));
	k_imv_init();
	k_start_freeing();
	if (k_marker_init())
		fail("marker_init");
}
