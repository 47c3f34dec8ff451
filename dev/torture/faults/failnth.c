// SPDX-License-Identifier: GPL-2.0
/*
 * Do one operation while its N-th allocation fails, and print two words: 0 or its error,
 * and 1 if an allocation has failed.
 *
 *	failnth N write FILE TEXT
 *	failnth N load FILE PARAMETERS		a module
 *	failnth N unload NAME
 *	failnth N mkdir DIR, or rmdir DIR
 *	failnth N read FILE			all of it; fails if there is less than before
 *	failnth N perf EVENT			open and close it, with FILTER, or with a
 *		       [filter FILTER | program]	program of BPF
 *	failnth N program [raw TRACEPOINT]	load it, and attach it
 *
 * Needs CONFIG_FAULT_INJECTION, set up by guest.sh.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EVENTS		"/sys/kernel/tracing/events/"

static char image[1 << 22];	/* of a module, or the text of a file */
static ssize_t image_size;
static struct perf_event_attr event = {
	.type = PERF_TYPE_TRACEPOINT,
	.size = sizeof(event),
	.sample_period = 1,
	.sample_type = PERF_SAMPLE_RAW | PERF_SAMPLE_CALLCHAIN,
};
static int program = -1;

static ssize_t read_all(const char *path)
{
	int fd = open(path, O_RDONLY);
	ssize_t got = -1, size = 0;

	while (fd >= 0 && (got = read(fd, image + size, sizeof(image) - size)) > 0)
		size += got;
	if (fd >= 0)
		close(fd);
	return got ? -1 : size;
}

static int load_program(int type)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr = {
		.prog_type = type,
		.insns = (unsigned long)insns,
		.insn_cnt = sizeof(insns) / sizeof(*insns),
		.license = (unsigned long)"GPL",
	};

	return syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

/* What must not fail: files are read before. */
static void prepare(char **words)
{
	char path[256];

	if (!strcmp(words[0], "load") || !strcmp(words[0], "read")) {
		image_size = read_all(words[1]);
		if (image_size < 0)
			err(2, "%s", words[1]);
	}
	if (strcmp(words[0], "perf"))
		return;
	snprintf(path, sizeof(path), EVENTS "%s/id", words[1]);
	if (read_all(path) < 0)
		err(2, "%s", path);
	event.config = atoi(image);
	if (words[2] && !strcmp(words[2], "program"))
		program = load_program(BPF_PROG_TYPE_TRACEPOINT);
}

static int write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_APPEND), ret;

	if (fd < 0)
		return -1;
	ret = write(fd, text, strlen(text)) < 0 ? -1 : 0;
	close(fd);
	return ret;
}

static int read_again(const char *path)
{
	ssize_t size = read_all(path);

	if (size >= 0 && size != image_size)
		errno = EBADMSG;
	return size == image_size ? 0 : -1;
}

static int use_event(char **words)
{
	int fd = syscall(SYS_perf_event_open, &event, -1, 0, -1, 0);

	if (fd < 0 || !words[0])
		return fd;
	return program < 0 ? ioctl(fd, PERF_EVENT_IOC_SET_FILTER, words[1]) :
			     ioctl(fd, PERF_EVENT_IOC_SET_BPF, program);
}

static int use_program(char **words)
{
	union bpf_attr attr = { };
	int fd = load_program(BPF_PROG_TYPE_RAW_TRACEPOINT);

	if (fd < 0 || !words[0])
		return fd;
	attr.raw_tracepoint.name = (unsigned long)words[1];
	attr.raw_tracepoint.prog_fd = fd;
	return syscall(SYS_bpf, BPF_RAW_TRACEPOINT_OPEN, &attr, sizeof(attr));
}

static int act(char **words)
{
	if (!strcmp(words[0], "write"))
		return write_text(words[1], words[2]);
	if (!strcmp(words[0], "load"))
		return syscall(SYS_init_module, image, image_size, words[2]);
	if (!strcmp(words[0], "unload"))
		return syscall(SYS_delete_module, words[1], O_NONBLOCK);
	if (!strcmp(words[0], "mkdir"))
		return mkdir(words[1], 0755);
	if (!strcmp(words[0], "rmdir"))
		return rmdir(words[1]);
	if (!strcmp(words[0], "read"))
		return read_again(words[1]);
	if (!strcmp(words[0], "perf"))
		return use_event(words + 2);
	if (!strcmp(words[0], "program"))
		return use_program(words + 1);
	errx(2, "no operation %s", words[0]);
}

int main(int argc, char **argv)
{
	int fd = open("/proc/self/fail-nth", O_RDWR), error;
	char left[16] = "";

	if (argc < 3 || fd < 0)
		errx(2, "usage: failnth N OPERATION...");
	prepare(argv + 2);
	if (write(fd, argv[1], strlen(argv[1])) < 0)
		err(2, "fail-nth");
	error = act(argv + 2) < 0 ? errno : 0;
	if (pread(fd, left, sizeof(left) - 1, 0) < 1 || write(fd, "0", 1) != 1)
		err(2, "fail-nth");
	printf("%d %d\n", error, atoi(argv[1]) && !atoi(left));
	return 0;
}
