// SPDX-License-Identifier: GPL-2.0
/*
 * load FILE: load a module, and say how many nanoseconds of the processor's time
 * that took. Where the clock counts instructions, so many of them were executed;
 * what is waited for does not count.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static unsigned long long processor_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

int main(int argc, char **argv)
{
	unsigned long long start;
	int fd;

	if (argc != 2)
		errx(2, "usage: load FILE");
	fd = open(argv[1], O_RDONLY);
	if (fd < 0)
		err(1, "%s", argv[1]);
	start = processor_time();
	if (syscall(SYS_finit_module, fd, "", 0))
		err(1, "finit_module %s", argv[1]);
	printf("%llu\n", processor_time() - start);
	return 0;
}
