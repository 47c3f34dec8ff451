// SPDX-License-Identifier: GPL-2.0
/*
 * perf MARKER...: programs of BPF on the trace events of these markers, with accesses at
 * all offsets: the kernel must allow a program to be attached only if it reads within the
 * record.
 */
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define RECORD_MAX 8192		/* PERF_MAX_TRACE_SIZE */

static unsigned long inputs, failed;

/* The id, and the end of the last field of the record. */
static unsigned int read_format(const char *marker, int *id)
{
	unsigned int offset, size, end = 0;
	char line[512], path[256];
	FILE *file;

	snprintf(path, sizeof(path), "/sys/kernel/tracing/events/markers/%s/format", marker);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file)) {
		sscanf(line, "ID: %d", id);
		if (sscanf(line, " field:%*[^;]; offset:%u; size:%u;", &offset, &size) == 2 &&
		    offset + size > end)
			end = offset + size;
	}
	if (file)
		fclose(file);
	return end;
}

/* A program with r0 = *(size *)(context + offset) */
static int load_access(int offset, unsigned int size)
{
	static const unsigned char sizes[] = { [1] = BPF_B, [2] = BPF_H, [4] = BPF_W, [8] = BPF_DW };
	const struct bpf_insn insns[] = {
		{ .code = BPF_LDX | BPF_MEM | sizes[size], .src_reg = 1, .off = offset },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_TRACEPOINT, .insns = (unsigned long)insns,
		.insn_cnt = 3, .license = (unsigned long)"GPL",
	};

	return syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

static int open_event(int id)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr), .config = id,
		.sample_period = 1, .sample_type = PERF_SAMPLE_RAW,
	};

	return syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0);
}

/* Can a program with this access be attached if, and only if, it is within the record? */
static bool access_is_checked(int id, int offset, unsigned int size, unsigned int end)
{
	bool aligned = offset % (int)size == 0 && offset >= 8 && offset + size <= RECORD_MAX;
	int program = load_access(offset, size), event;
	bool good;

	inputs++;
	if (program < 0)
		return !aligned;
	event = open_event(id);
	good = aligned && event >= 0 &&
	       !ioctl(event, PERF_EVENT_IOC_SET_BPF, program) == (offset + size <= end);
	close(event);
	close(program);
	return good;
}

static void check_range(const char *marker, int from, int to)
{
	int id = 0, offset;
	unsigned int end = read_format(marker, &id), size;

	for (size = 1; size <= 8; size *= 2) {
		for (offset = from; offset < to; offset++) {
			if (access_is_checked(id, offset, size, end))
				continue;
			failed++;
			printf("# %s: %u bytes at %d of %u\n", marker, size, offset, end);
		}
	}
}

int main(int argc, char **argv)
{
	int i, id, end;

	for (i = 1; i < argc; i++) {
		end = read_format(argv[i], &id);
		check_range(argv[i], 0, 17);
		check_range(argv[i], end > 9 ? end - 9 : 0, end + 9);
		check_range(argv[i], RECORD_MAX - 9, RECORD_MAX + 1);
	}
	printf("# perf: %lu inputs, %lu failed\n", inputs, failed);
	return !inputs || failed;
}
