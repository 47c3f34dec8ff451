// SPDX-License-Identifier: GPL-2.0
/*
 * load FILE: load a module, load -u NAME: unload it, load -r FILE: read a file; and
 * print the processor time of that in nanoseconds. If the clock counts instructions,
 * this is the number of instructions. Time that is spent waiting does not count.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static unsigned long long processor_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static int open_file(const char *name)
{
	int fd = open(name, O_RDONLY);

	if (fd < 0)
		err(1, "%s", name);
	return fd;
}

static void load(int fd, const char *name)
{
	if (syscall(SYS_finit_module, fd, "", 0))
		err(1, "finit_module %s", name);
}

static void unload(const char *name)
{
	if (syscall(SYS_delete_module, name, O_NONBLOCK))
		err(1, "delete_module %s", name);
}

static void read_all(int fd, const char *name)
{
	static char buffer[65536];
	ssize_t ret;

	do
		ret = read(fd, buffer, sizeof(buffer));
	while (ret > 0);
	if (ret)
		err(1, "read %s", name);
}

int main(int argc, char **argv)
{
	const char *name = argv[argc - 1];
	unsigned long long start;
	char what = '\0';
	int fd = -1;

	if (argc == 3 && (!strcmp(argv[1], "-u") || !strcmp(argv[1], "-r")))
		what = argv[1][1];
	else if (argc != 2)
		errx(2, "usage: load FILE, load -u NAME, load -r FILE");
	if (what != 'u')
		fd = open_file(name);
	start = processor_time();
	if (what == 'u')
		unload(name);
	else if (what == 'r')
		read_all(fd, name);
	else
		load(fd, name);
	printf("%llu\n", processor_time() - start);
	return 0;
}
