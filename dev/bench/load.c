// SPDX-License-Identifier: GPL-2.0
/*
 * load FILE: load a module, load -u NAME: unload it, load -r FILE: read a file; and
 * print the processor time of that in nanoseconds. If the clock counts instructions,
 * this is the number of instructions. Time that is spent waiting does not count.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <string.h>
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

static int read_all(int fd)
{
	static char buffer[65536];
	ssize_t ret;

	do
		ret = read(fd, buffer, sizeof(buffer));
	while (ret > 0);
	return ret;
}

int main(int argc, char **argv)
{
	const char *name = argv[argc - 1], *how = argc > 2 ? argv[1] : "";
	int fd = strcmp(how, "-u") ? open(name, O_RDONLY) : -1, ret;
	unsigned long long start = processor_time();

	if (!strcmp(how, "-u"))
		ret = syscall(SYS_delete_module, name, O_NONBLOCK);
	else if (!strcmp(how, "-r"))
		ret = read_all(fd);
	else
		ret = syscall(SYS_finit_module, fd, "", 0);
	if (ret)
		err(1, "load %s %s", how, name);
	printf("%llu\n", processor_time() - start);
	return 0;
}
