// SPDX-License-Identifier: GPL-2.0
/*
 * Writes to files and reads from them with buffers that do not belong to the caller:
 *
 *	bad-memory FILE...
 *
 * Each call must fail with EFAULT. If the buffer begins with memory of the caller, it
 * may also return a size up to that of this part, or EINVAL. Prints a line for each
 * other result, and the number of calls.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SIZE	16	/* of the buffer that is passed */

struct memory {
	const char *name;
	void *at;
	size_t valid;	/* bytes at the start that belong to the caller */
};

static unsigned int calls, bad;

static void check(const char *file, const char *call, const struct memory *m,
		  ssize_t ret)
{
	calls++;
	if (ret < 0 && (errno == EFAULT || (errno == EINVAL && m->valid)))
		return;
	if (ret >= 0 && (size_t)ret <= m->valid)
		return;
	bad++;
	printf("%s: %s with %s: %zd %s\n", file, call, m->name, ret,
	       ret < 0 ? strerror(errno) : "bytes");
}

/* Root can open a file even if its mode does not permit that. */
static int open_as(const char *file, int flags, mode_t mode)
{
	struct stat st;

	return stat(file, &st) || !(st.st_mode & mode) ? -1 : open(file, flags);
}

static void try(const char *file, const struct memory *m)
{
	int fd = open_as(file, O_WRONLY, 0222);
	ssize_t ret;

	if (fd >= 0) {
		check(file, "write", m, write(fd, m->at, SIZE));
		close(fd);
	}
	fd = open_as(file, O_RDONLY, 0444);
	if (fd >= 0) {
		ret = read(fd, m->at, SIZE);
		/* A file may be at its end. */
		if (ret)
			check(file, "read", m, ret);
		close(fd);
	}
}

/* Returns the end of a page; the next page is not mapped. */
static char *border(void)
{
	size_t page = sysconf(_SC_PAGESIZE);
	char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED || munmap(pages + page, page)) {
		perror("mmap");
		exit(1);
	}
	return pages + page;
}

int main(int argc, char **argv)
{
	char *end = border();
	const struct memory memories[] = {
		{ "NULL", NULL, 0 },
		{ "unmapped memory", end, 0 },
		{ "memory that ends", end - SIZE / 2, SIZE / 2 },
		{ "memory of the kernel", (void *)(intptr_t)-4096, 0 },
		{ "text of the kernel", (void *)(uintptr_t)0xffffffff81000000, 0 },
		{ "no address at all", (void *)(uintptr_t)0x8000000000000000, 0 },
	};
	size_t i;
	int arg;

	/* No delimiter, so that files do not act on the text. */
	memset(end - SIZE / 2, 'x', SIZE / 2);
	for (arg = 1; arg < argc; arg++)
		for (i = 0; i < sizeof(memories) / sizeof(*memories); i++)
			try(argv[arg], &memories[i]);
	printf("%u calls, %u bad\n", calls, bad);
	return bad != 0;
}
