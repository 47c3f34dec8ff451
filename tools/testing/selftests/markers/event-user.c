// SPDX-License-Identifier: GPL-2.0
/*
 * Uses a trace event while the event is removed:
 *
 *	event-user path FILE	holds the path of a file, and opens it later
 *	event-user perf ID	counts the event with this id
 *	event-user sample ID [FILE]	samples it: writes 1 to FILE, or forks
 *
 * Prints "ready" and waits for the end of its input. Then it uses the file or the
 * event again, and prints the results.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_CPUS	64
#define RING_PAGES	16

static void wait_for_end_of_input(void)
{
	char byte;

	puts("ready");
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
}

static void say(const char *what, long ret)
{
	printf("%s: %s\n", what, ret < 0 ? strerror(errno) : "done");
}

/* Opens the file, and writes a byte, or reads one if it is 0. */
static long try(const char *path, int flags, char byte)
{
	int fd = open(path, flags);
	long ret;

	if (fd < 0)
		return fd;
	ret = byte ? write(fd, &byte, 1) : read(fd, &byte, 1);
	close(fd);
	return ret;
}

static int use_path(const char *path)
{
	int held = open(path, O_PATH);
	char again[64];

	if (held < 0) {
		perror(path);
		return 1;
	}
	snprintf(again, sizeof(again), "/proc/self/fd/%d", held);
	wait_for_end_of_input();
	say("read", try(again, O_RDONLY, 0));
	say("write", try(again, O_WRONLY | O_TRUNC, '0'));
	return 0;
}

static int open_event(long id, int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.config = id,
	};

	return syscall(SYS_perf_event_open, &attr, -1, cpu, -1, 0);
}

static uint64_t sum(const int *fds, long cpus)
{
	uint64_t count, total = 0;
	long i;

	for (i = 0; i < cpus; i++)
		if (read(fds[i], &count, sizeof(count)) == sizeof(count))
			total += count;
	return total;
}

static int open_events(long id, int *fds, long cpus)
{
	long i;

	for (i = 0; i < cpus; i++) {
		fds[i] = open_event(id, i);
		if (fds[i] < 0)
			return -1;
	}
	return 0;
}

static int use_event(long id)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	int fds[MAX_CPUS] = { -1 };

	if (cpus > MAX_CPUS)
		cpus = MAX_CPUS;
	if (open_events(id, fds, cpus)) {
		perror("event");
		return 1;
	}
	wait_for_end_of_input();
	say("off", ioctl(fds[0], PERF_EVENT_IOC_DISABLE, 0));
	say("on", ioctl(fds[0], PERF_EVENT_IOC_ENABLE, 0));
	say("filter", ioctl(fds[0], PERF_EVENT_IOC_SET_FILTER, "common_pid > 0"));
	printf("count: %llu\n", (unsigned long long)sum(fds, cpus));
	return 0;
}

/* A PERF_RECORD_SAMPLE. The size of the raw data follows the addresses. */
struct sample {
	struct perf_event_header header;
	uint64_t ip;
	uint64_t nr;
	uint64_t ips[];
};

static int print_sample(const struct perf_event_mmap_page *page)
{
	const struct sample *sample = (void *)((char *)page + page->data_offset);
	unsigned int calls = 0;
	uint32_t size;
	uint64_t i;

	if (!page->data_head || sample->header.type != PERF_RECORD_SAMPLE) {
		puts("no sample");
		return 1;
	}
	/* The others are no addresses, but say which stack follows. */
	for (i = 0; i < sample->nr; i++)
		calls += sample->ips[i] < PERF_CONTEXT_MAX;
	printf("ip: %016llx\n", (unsigned long long)sample->ip);
	printf("calls: %u\n", calls);
	memcpy(&size, &sample->ips[sample->nr], sizeof(size));
	printf("size: %u\n", size);
	return 0;
}

static int hit(const char *path)
{
	pid_t child;

	if (path)
		return try(path, O_WRONLY, '1') < 0;
	child = fork();
	if (!child)
		_exit(0);
	return child < 0 || waitpid(child, NULL, 0) < 0;
}

/* The first hit of this task. */
static int sample_event(long id, const char *path)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.config = id,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN |
			       PERF_SAMPLE_RAW,
		.exclude_callchain_user = 1,
	};
	int fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	void *page = mmap(NULL, (1 + RING_PAGES) * sysconf(_SC_PAGESIZE),
			  PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (page == MAP_FAILED) {
		perror("event");
		return 1;
	}
	wait_for_end_of_input();
	if (hit(path)) {
		perror("hit");
		return 1;
	}
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	return print_sample(page);
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "path"))
		return use_path(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "perf"))
		return use_event(atol(argv[2]));
	if ((argc == 3 || argc == 4) && !strcmp(argv[1], "sample"))
		return sample_event(atol(argv[2]), argv[3]);
	fprintf(stderr, "usage: %s path FILE | perf ID | sample ID [FILE]\n",
		argv[0]);
	return 1;
}
