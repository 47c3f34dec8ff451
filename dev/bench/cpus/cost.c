// SPDX-License-Identifier: GPL-2.0
/* cost FILE VALUE: write VALUE to FILE, between two marks for count.c. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int fd = argc == 3 ? open(argv[1], O_WRONLY | O_TRUNC) : -1;
	ssize_t size;

	if (fd < 0) {
		perror("cost");
		return 1;
	}
	asm volatile("xchg %%bx, %%bx" : : : "memory");
	size = write(fd, argv[2], strlen(argv[2]));
	asm volatile("xchg %%bx, %%bx" : : : "memory");
	return size < 0;
}
