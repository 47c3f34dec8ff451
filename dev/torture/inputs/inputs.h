/* SPDX-License-Identifier: GPL-2.0 */
#ifndef INPUTS_H
#define INPUTS_H

/* Shared by the programs: random numbers from a seed, time, and results in TAP. */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TRACEFS "/sys/kernel/tracing/"
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

static uint64_t random_state;

static inline uint64_t random_number(void)
{
	uint64_t z = random_state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static inline unsigned int below(unsigned int n)
{
	return random_number() % n;
}

static inline bool one_in(unsigned int n)
{
	return !below(n);
}

#define any_of(array) ((array)[below(ARRAY_SIZE(array))])

static time_t stop_time;

static inline void set_time(const char *seconds, const char *seed)
{
	stop_time = time(NULL) + atol(seconds);
	random_state = strtoull(seed, NULL, 0);
}

static inline bool time_is_over(void)
{
	return time(NULL) >= stop_time;
}

static inline int result(const char *name, bool passed)
{
	printf("%sok - %s\n", passed ? "" : "not ", name);
	fflush(stdout);
	return !passed;
}

#endif
