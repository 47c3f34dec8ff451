// SPDX-License-Identifier: GPL-2.0
/*
 * The cost of the guard of a tracepoint that is off on the processor of this
 * machine, in cycles of its TSC, for several forms of guard. Prints lines of case,
 * unit and number: the mean of many guards in the best of many runs, minus the
 * time of the traced code alone.
 *
 *	warm	guards one after the other, each with six independent instructions
 *		of traced code
 *	cold	each guard in a cache line of its own, and each variable that a
 *		guard loads, too, far from each other. All are flushed from the
 *		caches before, and each guard completes before the next one
 */
#include <stdint.h>
#include <stdio.h>
#include <x86intrin.h>

#define GUARDS		1000
#define WARM_RUNS	5000
#define COLD_RUNS	300
#define LINE		64
#define APART		2112	/* of variables, too far for prefetching */
#define CODE_APART	2048

#define STRING(x)	#x
#define VALUE(x)	STRING(x)

uint8_t guard_variables[GUARDS * APART] __attribute__((aligned(LINE)));

#define TRACED	"add $1, %rcx; add $1, %rdx; add $1, %rsi; "		\
		"add $1, %rdi; add $1, %r8; add $1, %r9; "

/*
 * Two functions for a form, warm and cold; index counts the guards. Variables
 * are not in the order of the guards, so that the processor cannot prefetch them.
 */
#define FORM(name, guard)						\
	void warm_##name(void);						\
	void cold_##name(void);						\
	asm(".text; .balign 64; warm_" #name ": "			\
	    ".set index, 0; .rept " VALUE(GUARDS) "; "			\
	    ".set variable, index % 100; "				\
	    guard "; " TRACED ".set index, index + 1; .endr; ret; "	\
	    ".balign " VALUE(CODE_APART) "; cold_" #name ": "		\
	    ".set index, 0; .rept " VALUE(GUARDS) "; "			\
	    ".set variable, index * 389 % " VALUE(GUARDS) "; "		\
	    guard "; " TRACED "lfence; jmp 92f; "			\
	    ".balign " VALUE(CODE_APART) "; 92: "			\
	    ".set index, index + 1; .endr; ret; "			\
	    ".globl end_" #name "; end_" #name ":");			\
	extern uint8_t end_##name[]

FORM(nothing, "");
FORM(nop2, ".byte 0x66, 0x90");
FORM(nop5, ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00");
FORM(immediate, "mov $0, %eax; test %al, %al; jne guard_hit");
FORM(memory, "cmpb $0, guard_variables + variable * " VALUE(APART) "(%rip); jne guard_hit");
asm("guard_hit: ud2");

static const struct form {
	const char *name;
	void (*warm)(void);
	void (*cold)(void);
	uint8_t *end;
} forms[] = {
	{ "nothing", warm_nothing, cold_nothing, end_nothing },
	{ "NOP of 2 bytes", warm_nop2, cold_nop2, end_nop2 },
	{ "NOP of 5 bytes", warm_nop5, cold_nop5, end_nop5 },
	{ "immediate load and test", warm_immediate, cold_immediate, end_immediate },
	{ "memory load and test", warm_memory, cold_memory, end_memory },
};

static uint64_t ticks(void (*run)(void))
{
	unsigned int cpu;
	uint64_t start;

	_mm_mfence();
	start = __rdtscp(&cpu);
	_mm_lfence();
	asm volatile("call *%0" : : "r" (run) : "rax", "rcx", "rdx",
		     "rsi", "rdi", "r8", "r9", "memory", "cc");
	return __rdtscp(&cpu) - start;
}

static void flush(uint8_t *start, uint8_t *end, unsigned int apart)
{
	for (; start < end; start += apart)
		_mm_clflush(start);
}

#define FORMS	(sizeof(forms) / sizeof(*forms))

static uint64_t measure(const struct form *form, int cold)
{
	if (!cold)
		return ticks(form->warm);
	flush((uint8_t *)form->cold, form->end, CODE_APART);
	flush(guard_variables, guard_variables + sizeof(guard_variables), APART);
	return ticks(form->cold);
}

/* The forms run in turn, so that other load of the machine affects all of them. */
static void compare(int cold)
{
	uint64_t least[FORMS], now;
	unsigned int run, i;

	for (run = 0; run < (cold ? COLD_RUNS : WARM_RUNS); run++) {
		for (i = 0; i < FORMS; i++) {
			now = measure(&forms[i], cold);
			if (!run || now < least[i])
				least[i] = now;
		}
	}
	for (i = 1; i < FORMS; i++)
		printf("guard %s: %s,cycles,%.2f\n", cold ? "cold" : "warm", forms[i].name,
		       ((double)least[i] - (double)least[0]) / GUARDS);
}

int main(void)
{
	unsigned int i;

	/* Without a write, all pages would be the same page of zeroes. */
	for (i = 0; i < GUARDS; i++)
		*(volatile uint8_t *)&guard_variables[i * APART] = 0;
	compare(0);
	compare(1);
	return 0;
}
