// SPDX-License-Identifier: GPL-2.0
/*
 * Each allocation of an operation fails once, in its turn, until the operation is
 * done without a failure:
 *
 *	failnth module FILE PATH	loads the module of that file; its last 130
 *					allocations, since those for its text
 *					complain with a stack
 *	failnth write FILE PATH		writes 1 to the file
 *
 * When it fails, PATH must not exist, or must begin with 0, as before. What succeeds
 * is undone. Needs CONFIG_FAULT_INJECTION, as dev/guest/kunit.sh sets it up.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int fail_fd;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static int is_module(char **argv)
{
	return !strcmp(argv[1], "module");
}

static int write_file(const char *file, const char *text)
{
	int fd = open(file, O_WRONLY), ret, error;

	if (fd < 0)
		return -1;
	ret = write(fd, text, strlen(text));
	error = errno;
	close(fd);
	errno = error;
	return ret < 0 ? -1 : 0;
}

static char first_byte(const char *file)
{
	int fd = open(file, O_RDONLY);
	char byte = 0;

	if (fd < 0)
		return 0;
	if (read(fd, &byte, 1) != 1)
		byte = 0;
	close(fd);
	return byte;
}

static void set_nth(int nth)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%d", nth);

	if (pwrite(fail_fd, text, len, 0) != len)
		die("fail-nth");
}

/* How many allocations are left until one fails? */
static int stop_failing(void)
{
	char text[16] = "";

	if (pread(fail_fd, text, sizeof(text) - 1, 0) < 1)
		die("fail-nth");
	set_nth(0);
	return atoi(text);
}

/* A module is read before, so that it is only loaded. */
static char image[1 << 22];
static size_t image_size;

static void read_image(const char *file)
{
	FILE *from = fopen(file, "r");

	if (!from)
		die(file);
	image_size = fread(image, 1, sizeof(image), from);
	fclose(from);
}

static int do_once(char **argv)
{
	return is_module(argv) ? syscall(SYS_init_module, image, image_size, "") :
	       write_file(argv[2], "1");
}

/* The name of a module is that of its file, with underscores. */
static void unload(const char *file)
{
	char name[64], *c;

	snprintf(name, sizeof(name), "%s", strrchr(file, '/') + 1);
	*strchr(name, '.') = '\0';
	for (c = name; *c; c++)
		if (*c == '-')
			*c = '_';
	if (syscall(SYS_delete_module, name, O_NONBLOCK))
		die("delete_module");
}

static void undo(char **argv)
{
	if (is_module(argv))
		unload(argv[2]);
	else if (write_file(argv[2], "0"))
		die(argv[2]);
}

static int is_as_before(char **argv)
{
	return is_module(argv) ? access(argv[3], F_OK) != 0 :
	       first_byte(argv[3]) == '0';
}

static int first_of_last(char **argv, int last)
{
	const int many = 1000000;
	int count;

	set_nth(many);
	if (do_once(argv))
		die(argv[2]);
	count = many - stop_failing();
	undo(argv);
	return count > last ? count - last : 1;
}

int main(int argc, char **argv)
{
	int nth = 1, ret, error, left, refused = 0;

	if (argc != 4)
		return 2;
	fail_fd = open("/proc/self/fail-nth", O_RDWR);
	if (fail_fd < 0)
		die("fail-nth");
	if (is_module(argv)) {
		read_image(argv[2]);
		nth = first_of_last(argv, 130);
	}
	for (; ; nth++) {
		set_nth(nth);
		ret = do_once(argv);
		error = errno;
		left = stop_failing();
		if (!ret)
			undo(argv);
		if (!is_as_before(argv)) {
			fprintf(stderr, "allocation %d: not as before\n", nth);
			return 1;
		}
		/* The loader has other errors, too, such as ELOOP. */
		if (ret && error != ENOMEM && !is_module(argv)) {
			fprintf(stderr, "allocation %d: %s\n", nth, strerror(error));
			return 1;
		}
		refused += !!ret;
		if (left)
			break;
	}
	fprintf(stderr, "%d allocations, refused %d times\n", nth - 1, refused);
	return !!ret || !refused;
}
