// SPDX-License-Identifier: GPL-2.0
/*
 * The first process of a guest that has nothing else: load the modules, print what they
 * measure, and end. It is built with nolibc, for each architecture.
 */
#include <linux/reboot.h>

static void open_console(void)
{
	mkdir("/dev", 0755);
	mknod("/dev/console", S_IFCHR | 0600, makedev(5, 1));
	while (open("/dev/console", O_RDWR) < 2)
		;
}

static void say(const char *name, const char *file)
{
	char text[4096];
	ssize_t size;
	int fd;

	fd = open(file, O_RDONLY);
	if (fd < 0)
		return;
	printf("== %s\n", name);
	while ((size = read(fd, text, sizeof(text))) > 0)
		write(1, text, size);
	close(fd);
}

static void load(const char *file)
{
	int fd = open(file, O_RDONLY);

	if (fd < 0 || syscall(__NR_finit_module, fd, "", 0))
		printf("not ok - %s: %d\n", file, errno);
	close(fd);
}

int main(void)
{
	open_console();
	mkdir("/sys", 0755);
	mount("sys", "/sys", "sysfs", 0, NULL);
	load("/hits.ko");
	load("/functions.ko");
	say("hits", "/sys/module/hits/parameters/pass");
	say("functions", "/sys/module/functions/parameters/calls");
	printf("== end\n");
	return reboot(LINUX_REBOOT_CMD_RESTART);
}
