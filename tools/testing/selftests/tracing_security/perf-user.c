// SPDX-License-Identifier: GPL-2.0
/*
 * Prints what perf_event_open(2) and bpf(2) permit this user for a trace event:
 *
 *	perf-user open ID	opens it in several ways, prints a word for each
 *	perf-user bpf ID	attaches a program
 *	perf-user ksymbol ID	enables the event, and prints how many addresses of
 *				kernel symbols a perf event of this task received
 *	perf-user code ID	the same for pieces of new code
 *
 * A word is "ok" or the name of the error.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "../trace_bpf.h"

#define RING_PAGES	8

static const char *word(long ret)
{
	return ret < 0 ? strerrorname_np(errno) : "ok";
}

static long open_event(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	attr->size = sizeof(*attr);
	return syscall(SYS_perf_event_open, attr, pid, cpu, -1,
		       PERF_FLAG_FD_CLOEXEC);
}

static long open_tracepoint(long id, int user_only, int raw, int system_wide)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.config = id,
		.exclude_kernel = user_only,
		.sample_type = raw ? PERF_SAMPLE_RAW : PERF_SAMPLE_IP,
		.sample_period = 1,
	};

	return open_event(&attr, system_wide ? -1 : 0, system_wide ? 0 : -1);
}

static int try_all(long id)
{
	int way;

	for (way = 0; way < 8; way++) {
		long fd = open_tracepoint(id, way & 1, way & 2, way & 4);

		printf("%s%s%s:%s ", way & 4 ? "cpu" : "task",
		       way & 2 ? ",raw" : "", way & 1 ? ",user" : "", word(fd));
		if (fd >= 0)
			close(fd);
	}
	putchar('\n');
	return 0;
}

static int try_program(long id)
{
	long fd = open_tracepoint(id, 1, 0, 0), program = load_trace_program();

	printf("load:%s ", word(program));
	if (program >= 0)
		printf("attach:%s ", word(ioctl(fd, PERF_EVENT_IOC_SET_BPF, program)));
	putchar('\n');
	return 0;
}

/* The start of a PERF_RECORD_KSYMBOL or, with old_len, a PERF_RECORD_TEXT_POKE. */
struct record {
	struct perf_event_header header;
	uint64_t addr;
	uint16_t old_len;	/* of the code */
};

static int tells(const struct record *record, int code)
{
	if (code)
		return record->header.type == PERF_RECORD_TEXT_POKE &&
		       !record->old_len;
	return record->header.type == PERF_RECORD_KSYMBOL && record->addr;
}

static unsigned int count_records(const struct perf_event_mmap_page *page, int code)
{
	const char *data = (const char *)page + page->data_offset;
	uint64_t at = page->data_tail, size = page->data_size;
	unsigned int count = 0, i;
	struct record record;

	while (at < page->data_head) {
		/* The record may wrap around. */
		for (i = 0; i < sizeof(record); i++)
			((char *)&record)[i] = data[(at + i) % size];
		count += tells(&record, code);
		at += record.header.size;
	}
	return count;
}

static int listen_for(int code, long id)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.exclude_kernel = 1,
		.ksymbol = !code,
		.text_poke = code,
	};
	size_t size = (RING_PAGES + 1) * sysconf(_SC_PAGESIZE);
	long fd = open_event(&attr, 0, -1), tracepoint;
	void *page;

	if (fd < 0) {
		printf("%s\n", word(fd));
		return 1;
	}
	page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED) {
		perror("mmap");
		return 1;
	}
	tracepoint = open_tracepoint(id, 1, 0, 0);
	if (tracepoint < 0) {
		perror("trace event");
		return 1;
	}
	close(tracepoint);
	printf("%u\n", count_records(page, code));
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "open"))
		return try_all(atol(argv[2]));
	if (argc == 3 && !strcmp(argv[1], "bpf"))
		return try_program(atol(argv[2]));
	if (argc == 3 && !strcmp(argv[1], "ksymbol"))
		return listen_for(0, atol(argv[2]));
	if (argc == 3 && !strcmp(argv[1], "code"))
		return listen_for(1, atol(argv[2]));
	fprintf(stderr, "usage: %s open ID | bpf ID | ksymbol ID | code ID\n", argv[0]);
	return 1;
}
