// SPDX-License-Identifier: GPL-2.0
/*
 * What hits, function tracers and inactive sites cost on this processor: the code of the
 * kernel with the series (prefix k_) and without it (s_), in turn. Prints cases, cycles of
 * both, and the median of the ratios. A cycle is the time of one of a chain of additions.
 * A return thunk is a jump to a return, as on processors that need no more.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <x86intrin.h>

#include "host.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof(*(a)))
#define LAYOUTS		40
#define FUNCTIONS	8192
#define ROUNDS		41	/* of a pair */
#define CALLS		2000	/* in a round */
#define PROBES_MAX	8
#define THUNK_SIZE	32

typedef void site_f(ulong a, ulong b, ulong c);
typedef ulong many_f(ulong a);

void *k_cycles_site(unsigned int layout), *s_cycles_site(unsigned int layout);
void *k_cycles_free(unsigned int layout), *s_cycles_free(unsigned int layout);
void *k_cycles_attach(unsigned int layout, unsigned int nr);
void *s_cycles_attach(unsigned int layout, unsigned int nr);
bool k_cycles_attach_events(unsigned int layout);
void *s_cycles_attach_event(unsigned int layout), *k_cycles_mark(unsigned int layout);
void k_cycles_detach(unsigned int layout, unsigned int nr);
void *s_cycles_guard(unsigned int layout), *s_cycles_static_call(unsigned int layout);
void *k_cycles_trace(unsigned int nr, unsigned int all, ulong ip);
void *s_cycles_trace(unsigned int nr, unsigned int all, ulong ip);
void k_cycles_use_return_thunk(bool use);
extern many_f *const k_cycles_many[], *const s_cycles_many[];
extern uint8_t s_ftrace_call[], s_arch_ftrace_ops_list_func[], k___x86_indirect_thunk_array[];

/* The kernel's tables of what it patches. Addresses are relative to their members. */
extern struct { int32_t code, target; long key; } __start___jump_table[], __stop___jump_table[];
extern struct { int32_t call, key; } __start_static_call_sites[], __stop_static_call_sites[];
extern int32_t __start_retpoline_sites[], __stop_retpoline_sites[];
extern int32_t __start_return_sites[], __stop_return_sites[];

/* Where generated code jumps to return, if it is to use the thunk. */
extern uint8_t k___x86_return_thunk[];
void *k_x86_return_thunk = k___x86_return_thunk;

#define AT(member)	((uint8_t *)&(member) + (member))
#define KEY(member)	((void *)((ulong)AT(member) & ~3UL))

/* Two traced functions, and one that is not. */
asm(".text\n"
    ".balign 64\n" "traced_stock: .byte 0x0f, 0x1f, 0x44, 0, 0\n" "ret\n"
    ".balign 64\n" "traced_series: .byte 0x0f, 0x1f, 0x44, 0, 0\n" "ret\n"
    ".balign 64\n" "untraced: .byte 0x0f, 0x1f, 0x44, 0, 0\n" "ret\n");
extern uint8_t traced_stock[], traced_series[], untraced[];

static void write_jump(uint8_t opcode, uint8_t *at, void *target)
{
	uint8_t insn[5] = { opcode };
	int32_t distance = (uint8_t *)target - at - 5;

	memcpy(insn + 1, &distance, 4);
	write_text(at, insn, 5);
}

/* The code was written through another mapping. */
static void serialise(void)
{
	unsigned int a = 0, b, c, d;

	asm volatile("cpuid" : "+a"(a), "=b"(b), "=c"(c), "=d"(d) : : "memory");
}

static ulong ticks(void)
{
	unsigned int aux;
	ulong now;

	_mm_lfence();
	now = __rdtscp(&aux);
	_mm_lfence();
	return now;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(double *values, unsigned int nr)
{
	qsort(values, nr, sizeof(*values), compare);
	return values[nr / 2];
}

/* Additions of a register: those of a constant take no time on some processors. */
static double ticks_per_cycle(void)
{
	double of[ROUNDS];
	unsigned int i;

	for (i = 0; i < ROUNDS; i++) {
		ulong n = CALLS, start = ticks();

		asm volatile("1: .rept 16\n\t" "add %%rdx, %%rax\n\t" ".endr\n\t" "dec %0\n\t" "jnz 1b"
			     : "+r"(n) : : "rax", "cc");
		of[i] = (double)(ticks() - start) / (CALLS * 16);
	}
	return median(of, ROUNDS);
}

static double ticks_of_call(void *f)
{
	ulong start = ticks(), i;

	for (i = 0; i < CALLS; i++)
		((site_f *)f)(i, i, i);
	return (double)(ticks() - start) / CALLS;
}

/* A case: what each pair costs, beyond the call of an empty function. */
struct result {
	double stock[LAYOUTS], series[LAYOUTS], ratio[LAYOUTS];
	unsigned int nr;
};

static void add(struct result *result, double stock, double series)
{
	result->stock[result->nr] = stock;
	result->series[result->nr] = series;
	result->ratio[result->nr++] = series / stock;
}

static void add_pair(struct result *result, void *stock, void *series)
{
	void *functions[] = { untraced, stock, series };
	double of[3][ROUNDS], empty;
	unsigned int round, i, k;

	for (round = 0; round < ROUNDS; round++) {
		for (k = 0; k < 3; k++) {
			i = round & 1 ? 2 - k : k;
			of[i][round] = ticks_of_call(functions[i]);
		}
	}
	empty = median(of[0], ROUNDS);
	add(result, median(of[1], ROUNDS) - empty, median(of[2], ROUNDS) - empty);
}

static void print(const char *name, const char *mode, struct result *result)
{
	double tick = ticks_per_cycle();

	printf("%s%s,cycles,%.1f,%.1f,%.3f\n", name, mode, median(result->stock, result->nr) / tick,
	       median(result->series, result->nr) / tick, median(result->ratio, result->nr));
}

/* What the kernel does when a probe is registered: the guard, and the static call. */
static void use_static_call(unsigned int layout, void *target)
{
	void *guard = s_cycles_guard(layout), *call = s_cycles_static_call(layout);
	typeof(*__start___jump_table) *jump;
	typeof(*__start_static_call_sites) *site;
	unsigned int found = 0;

	for (jump = __start___jump_table; jump < __stop___jump_table; jump++) {
		uint8_t *code = AT(jump->code);

		if (KEY(jump->key) != guard)
			continue;
		found++;
		if (*code == 0x66)
			write_text(code, (uint8_t []){ 0xeb, AT(jump->target) - code - 2 }, 2);
		else if (*code == 0x0f)
			write_jump(0xe9, code, AT(jump->target));
	}
	for (site = __start_static_call_sites; site < __stop_static_call_sites; site++) {
		if (KEY(site->key) != call)
			continue;
		found++;
		write_jump(0xe8, AT(site->call), target);
	}
	if (found < 2)
		fail("layout %u: stock has no guard or no static call", layout);
}

static void attach(unsigned int layout, unsigned int nr)
{
	use_static_call(layout, s_cycles_attach(layout, nr));
	if (!k_cycles_attach(layout, nr))
		fail("layout %u: no probe %u", layout, nr);
	run_deferred_work();
}

static void detach_all(void)
{
	unsigned int layout, nr;

	for (layout = 0; layout < LAYOUTS; layout++)
		for (nr = 0; nr < PROBES_MAX; nr++)
			k_cycles_detach(layout, nr);
	run_deferred_work();
}

static void hits(const char *mode)
{
	unsigned int layout, probes;
	char name[40];

	for (probes = 1; probes <= PROBES_MAX; probes++) {
		struct result result = {};

		for (layout = 0; layout < LAYOUTS; layout++)
			attach(layout, probes - 1);
		if (probes & (probes - 1))
			continue;
		serialise();
		for (layout = 0; layout < LAYOUTS; layout++)
			add_pair(&result, s_cycles_site(layout), k_cycles_site(layout));
		sprintf(name, "hit of %u probes", probes);
		print(name, mode, &result);
	}
	detach_all();
}

/* A hit up to the record, which is in no ring buffer. */
static void records(void)
{
	struct result event = {}, marker = {};
	unsigned int layout;

	for (layout = 0; layout < LAYOUTS; layout++) {
		use_static_call(layout, s_cycles_attach_event(layout));
		if (!k_cycles_attach_events(layout))
			fail("layout %u: no event", layout);
		run_deferred_work();
	}
	serialise();
	for (layout = 0; layout < LAYOUTS; layout++) {
		add_pair(&event, s_cycles_site(layout), k_cycles_site(layout));
		add_pair(&marker, s_cycles_site(layout), k_cycles_mark(layout));
	}
	print("trace event up to the record", "", &event);
	print("marker beside a trace event up to the record", "", &marker);
}

static void tracers(const char *mode)
{
	static const unsigned int cases[][2] = { { 2, 2 }, { 2, 8 }, { 8, 8 } };
	unsigned int i, k;
	char name[40];
	void *set;

	write_jump(0xe8, s_ftrace_call, s_arch_ftrace_ops_list_func);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct result result = {};
		unsigned int nr = cases[i][0], all = cases[i][1];

		for (k = 0; k < LAYOUTS; k++) {	/* sets at other addresses */
			set = k_cycles_trace(nr, all, (ulong)traced_series);
			if (!set)
				fail("no set");
			write_jump(0xe8, traced_series, set);
			write_jump(0xe8, traced_stock, s_cycles_trace(nr, all, (ulong)traced_stock));
			serialise();
			add_pair(&result, traced_stock, traced_series);
		}
		sprintf(name, "%u of %u function tracers", nr, all);
		print(name, mode, &result);
	}
}

/*
 * KFENCE's pool: its address is a variable, or that and its size are immediate values. With
 * the call: the check alone takes no time on some processors.
 */
static void frees(void)
{
	struct result result = {};
	unsigned int layout;

	for (layout = 0; layout < LAYOUTS; layout++)
		add(&result, ticks_of_call(s_cycles_free(layout)),
		    ticks_of_call(k_cycles_free(layout)));
	print("call with is_kfence_address()", "", &result);
}

static double ticks_of_many(many_f *const *functions, const uint32_t *order, unsigned int nr)
{
	ulong start = ticks(), sum = 1;
	unsigned int i;

	for (i = 0; i < nr; i++)
		sum += functions[order[i]](sum & 0xff);
	asm volatile("" : : "r"(sum));
	return (double)(ticks() - start) / nr;
}

/* Functions whose tracepoint is off, one after the other or at random: its code takes room. */
static void many(bool random)
{
	static uint32_t order[FUNCTIONS];
	unsigned int nr, i, k;
	char name[60];

	for (nr = FUNCTIONS / 8; nr <= FUNCTIONS; nr *= 2) {
		struct result result = {};

		for (i = 0; i < nr; i++) {
			k = random ? random_below(i + 1) : i;
			order[i] = order[k];
			order[k] = i;
		}
		for (i = 0; i < LAYOUTS; i++)
			add(&result, ticks_of_many(s_cycles_many, order, nr),
			    ticks_of_many(k_cycles_many, order, nr));
		sprintf(name, "%u functions without a probe %s", nr, random ? "at random" : "in turn");
		print(name, "", &result);
	}
}

static void use_returns(void)
{
	int32_t *site;

	for (site = __start_return_sites; site < __stop_return_sites; site++)
		if (*AT(*site) == 0xe9)
			write_text(AT(*site), (uint8_t []){ 0xc3, 0xcc, 0xcc, 0xcc, 0xcc }, 5);
	k_cycles_use_return_thunk(false);
	serialise();
}

/* A call or jump of a thunk becomes that of the register. */
static void use_indirect_calls(void)
{
	int32_t *site;

	for (site = __start_retpoline_sites; site < __stop_retpoline_sites; site++) {
		uint8_t *code = AT(*site), new[6] = {}, size = 5 + (*code == 0x2e), *to = new;
		uint8_t opcode = code[size - 5], reg;
		int32_t distance;

		if (opcode != 0xe8 && opcode != 0xe9)
			continue;
		memcpy(&distance, code + size - 4, 4);
		reg = (code + size + distance - k___x86_indirect_thunk_array) / THUNK_SIZE;
		memset(new, 0x90, sizeof(new));
		if (reg >= 8)
			*to++ = 0x41;
		*to++ = 0xff;
		*to = (opcode == 0xe8 ? 0xd0 : 0xe0) + (reg & 7);
		write_text(code, new, size);
	}
	serialise();
}

int main(void)
{
	static const char *const modes[] = { " with return thunks", " with retpolines", "" };
	unsigned int mode;

	setbuf(stdout, NULL);
	host_init();
	k_cycles_use_return_thunk(true);
	for (mode = 0; mode < ARRAY_SIZE(modes); mode++) {
		if (mode == 1)
			use_returns();
		else if (mode == 2)
			use_indirect_calls();
		hits(modes[mode]);
		tracers(modes[mode]);
	}
	records();
	frees();
	many(false);
	many(true);
	return 0;
}
