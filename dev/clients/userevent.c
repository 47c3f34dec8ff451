// SPDX-License-Identifier: GPL-2.0
/*
 * userevent NAME N: register the user event NAME with a number as its field; after
 * input on stdin, check that it has a tracer, and write the numbers from N to 1.
 */
#include <err.h>
#include <fcntl.h>
#include <linux/user_events.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#define TRACEFS "/sys/kernel/tracing"

/*
 * While the event has a tracer, the kernel sets a bit in a word of this process. If the
 * header has no request to unregister such a word, the kernel sets a bit in a page that
 * is shared with processes.
 */
#ifdef DIAG_IOCSUNREG
static uint32_t enabled;

static void set_place(struct user_reg *reg)
{
	reg->enable_size = sizeof(enabled);
	reg->enable_addr = (uintptr_t)&enabled;
}

static int traced(const struct user_reg *reg)
{
	return *(volatile uint32_t *)&enabled >> reg->enable_bit & 1;
}
#else
static void set_place(struct user_reg *reg)
{
	(void)reg;
}

static int traced(const struct user_reg *reg)
{
	int fd = open(TRACEFS "/user_events_status", O_RDONLY);
	unsigned char *page;

	if (fd < 0)
		err(1, "user_events_status");
	page = mmap(NULL, getpagesize(), PROT_READ, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		err(1, "mmap of user_events_status");
	return page[reg->status_bit / 8] & 1 << reg->status_bit % 8;
}
#endif

int main(int argc, char **argv)
{
	struct user_reg reg = { .size = sizeof(reg) };
	uint32_t n = argc == 3 ? atoi(argv[2]) : 0, index;
	struct iovec event[] = {
		{ .iov_base = &index, .iov_len = sizeof(index) },
		{ .iov_base = &n, .iov_len = sizeof(n) },
	};
	char description[64];
	int fd;

	if (!n)
		errx(1, "usage: userevent NAME N");
	fd = open(TRACEFS "/user_events_data", O_RDWR);
	if (fd < 0)
		err(1, "user_events_data");
	snprintf(description, sizeof(description), "%s u32 number", argv[1]);
	reg.name_args = (uintptr_t)description;
	set_place(&reg);
	if (ioctl(fd, DIAG_IOCSREG, &reg))
		err(1, "register %s", argv[1]);
	index = reg.write_index;
	getchar();
	if (!traced(&reg))
		errx(1, "no tracer on %s", argv[1]);
	for (; n; n--)
		if (writev(fd, event, 2) != sizeof(index) + sizeof(n))
			err(1, "write %s", argv[1]);
	return 0;
}
