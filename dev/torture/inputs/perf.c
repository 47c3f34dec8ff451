// SPDX-License-Identifier: GPL-2.0
/*
 * perf MODULE SECONDS SEED: perf_event_open() and bpf() on the trace events of markers,
 * with attributes, filters, programs and mappings that are nearly valid or random, while
 * MODULE, which has markers, is loaded and unloaded.
 *
 * First, programs with accesses at all offsets: the kernel must allow a program to be
 * attached only if it reads within the record.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "inputs.h"

#define MARKERS TRACEFS "events/markers/"
#define MODULE_NAME "marker_sample"
#define RECORD_MAX 8192		/* PERF_MAX_TRACE_SIZE */
#define NR_OPEN 32

static unsigned long inputs, failed, opened, loads;

static int perf_open(struct perf_event_attr *attr, int pid, int cpu, int group,
		     unsigned long flags)
{
	return syscall(SYS_perf_event_open, attr, pid, cpu, group, flags);
}

static int sys_bpf(int cmd, union bpf_attr *attr, unsigned int size)
{
	return syscall(SYS_bpf, cmd, attr, size);
}

static FILE *open_of(const char *marker, const char *file)
{
	char path[256];

	snprintf(path, sizeof(path), MARKERS "%s/%s", marker, file);
	return fopen(path, "r");
}

static long id_of(const char *marker)
{
	FILE *file = open_of(marker, "id");
	long id = -1;

	if (file) {
		if (fscanf(file, "%ld", &id) != 1)
			id = -1;
		fclose(file);
	}
	return id;
}

/* The end of the last field of the record. */
static unsigned int size_of(const char *marker)
{
	FILE *file = open_of(marker, "format");
	unsigned int offset, size, end = 0;
	char line[512], *place;

	while (file && fgets(line, sizeof(line), file)) {
		place = strstr(line, "offset:");
		if (place && sscanf(place, "offset:%u;\tsize:%u;", &offset, &size) == 2 &&
		    offset + size > end)
			end = offset + size;
	}
	if (file)
		fclose(file);
	return end;
}

static int load(const struct bpf_insn *insns, unsigned int count, int type)
{
	union bpf_attr attr = {
		.prog_type = type, .insns = (unsigned long)insns, .insn_cnt = count,
		.license = (unsigned long)"GPL",
	};

	return sys_bpf(BPF_PROG_LOAD, &attr, sizeof(attr));
}

static const struct bpf_insn leave[] = {
	{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0 },
	{ .code = BPF_JMP | BPF_EXIT },
};

/* r0 = *(size *)(context + offset) */
static int load_access(int offset, unsigned int size)
{
	static const unsigned char sizes[] = { [1] = BPF_B, [2] = BPF_H, [4] = BPF_W, [8] = BPF_DW };
	const struct bpf_insn insns[] = {
		{ .code = BPF_LDX | BPF_MEM | sizes[size], .src_reg = 1, .off = offset },
		leave[0], leave[1],
	};

	return load(insns, 3, BPF_PROG_TYPE_TRACEPOINT);
}

static int open_marker(long id)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr), .config = id,
		.sample_period = 1, .sample_type = PERF_SAMPLE_RAW, .wakeup_events = 1,
	};

	return perf_open(&attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Can a program with this access be attached if, and only if, it is within the record? */
static bool access_is_checked(long id, int offset, unsigned int size, unsigned int end)
{
	bool aligned = offset % (int)size == 0 && offset >= 8 && offset + size <= RECORD_MAX;
	int program = load_access(offset, size), event;
	bool good;

	inputs++;
	if (program < 0)
		return !aligned;
	event = open_marker(id);
	good = aligned && event >= 0 &&
	       !ioctl(event, PERF_EVENT_IOC_SET_BPF, program) == (offset + size <= end);
	close(event);
	close(program);
	return good;
}

static void check_range(const char *marker, int from, int to)
{
	unsigned int end = size_of(marker), size;
	long id = id_of(marker);
	int offset;

	for (size = 1; size <= 8; size *= 2) {
		for (offset = from; offset < to; offset++) {
			if (access_is_checked(id, offset, size, end))
				continue;
			failed++;
			printf("# %s: %u bytes at %d of %u\n", marker, size, offset, end);
		}
	}
}

static void check_accesses(const char *marker)
{
	int end = size_of(marker);

	check_range(marker, end > 9 ? end - 9 : 0, end + 9);
}

/* At random */

static const char *const markers[] = {
	"sample_event", "sample_types", "sample_noargs", "kernel_sched_switch",
	"kernel_process_exec", "kernel_process_fork",
};

static const char *const filters[] = {
	"count > 1", "count == 1 && name == \"a\"", "name ~ \"*\"", "next_pid != 0", "arg1", "(",
	"count > ", "", "count > 1 ||", "!(count)", "0", "%s%n", "common_pid == 1", "i & 0xffff",
	"name == \"", "CPU == 1", "\n", "((((((((count > 1))))))))", "count > 99999999999999999999",
};

static int files[NR_OPEN];

static int *random_file(void)
{
	return &files[below(NR_OPEN)];
}

static void take(int fd)
{
	int *file = random_file();

	if (*file > 2)
		close(*file);
	*file = fd;
	opened += fd >= 0;
}

static void random_bytes(void *to, size_t size)
{
	unsigned char *byte = to;

	while (size--)
		*byte++ = one_in(3) ? random_number() : 0;
}

static void open_random(void)
{
	struct perf_event_attr attr;
	unsigned long flags = one_in(4) ? random_number() : one_in(2) ? PERF_FLAG_FD_CLOEXEC : 0;
	long id = one_in(20) ? (long)random_number() : id_of(any_of(markers));

	memset(&attr, 0, sizeof(attr));
	if (one_in(4)) {
		random_bytes(&attr, sizeof(attr));
	} else {
		attr.sample_period = below(3);
		attr.sample_type = one_in(2) ? PERF_SAMPLE_RAW : random_number() & 0x1ffffff;
		attr.read_format = below(32);
		random_bytes((char *)&attr + 40, 8);	/* the flags */
		attr.precise_ip = 0;
		attr.wakeup_events = 1;
	}
	attr.sigtrap = 0;	/* would kill this process */
	attr.type = one_in(50) ? random_number() : PERF_TYPE_TRACEPOINT;
	attr.config = id;
	attr.size = one_in(20) ? below(300) : sizeof(attr);
	take(perf_open(&attr, one_in(3) ? -1 : one_in(9) ? (int)random_number() : 0,
		       one_in(20) ? (int)random_number() : (int)below(4) - 1,
		       one_in(4) ? *random_file() : -1, flags));
}

static void control_random(int fd)
{
	static const unsigned long simple[] = {
		PERF_EVENT_IOC_ENABLE, PERF_EVENT_IOC_DISABLE, PERF_EVENT_IOC_RESET,
		PERF_EVENT_IOC_REFRESH, PERF_EVENT_IOC_PAUSE_OUTPUT, PERF_EVENT_IOC_SET_OUTPUT,
	};
	uint64_t value = random_number();
	char text[300];

	switch (below(6)) {
	case 0:
		ioctl(fd, PERF_EVENT_IOC_SET_FILTER, any_of(filters));
		break;
	case 1:
		random_bytes(text, sizeof(text));
		text[sizeof(text) - 1] = 0;
		ioctl(fd, PERF_EVENT_IOC_SET_FILTER, one_in(9) ? (void *)value : text);
		break;
	case 2:
		ioctl(fd, PERF_EVENT_IOC_SET_BPF, *random_file());
		break;
	case 3:
		ioctl(fd, any_of(simple), one_in(2) ? (uint64_t)*random_file() : below(3));
		break;
	case 4:
		ioctl(fd, one_in(2) ? PERF_EVENT_IOC_PERIOD : PERF_EVENT_IOC_QUERY_BPF, &value);
		break;
	case 5:
		ioctl(fd, value, text);
	}
}

static void use_random(int fd)
{
	size_t size = 4096 * (one_in(2) ? 1 + (1U << below(4)) : below(20));
	char text[4096];
	void *map;

	map = mmap(NULL, size, PROT_READ | (one_in(2) ? PROT_WRITE : 0), MAP_SHARED, fd,
		   one_in(9) ? 4096 : 0);
	if (map != MAP_FAILED) {
		((volatile char *)map)[0];
		munmap(map, size);
	}
	if (read(fd, text, below(sizeof(text))) < 0)
		return;
	lseek(fd, below(100), SEEK_SET);
}

static void load_random(void)
{
	static const int types[] = {
		BPF_PROG_TYPE_TRACEPOINT, BPF_PROG_TYPE_TRACEPOINT, BPF_PROG_TYPE_RAW_TRACEPOINT,
		BPF_PROG_TYPE_PERF_EVENT, BPF_PROG_TYPE_KPROBE, BPF_PROG_TYPE_RAW_TRACEPOINT_WRITABLE,
	};
	struct bpf_insn insns[6];
	unsigned int i;

	if (one_in(3)) {
		take(load_access(8 * below(20), 8));
		return;
	}
	if (one_in(3)) {
		take(load(leave, 2, any_of(types)));
		return;
	}
	for (i = 0; i < 4; i++) {
		random_bytes(&insns[i], sizeof(insns[i]));
		insns[i].code = BPF_LDX | BPF_MEM | (below(4) << 3);
		insns[i].dst_reg = below(10);
		insns[i].src_reg = one_in(4) ? below(11) : 1;
		insns[i].imm = 0;
	}
	insns[4] = leave[0];
	insns[5] = leave[1];
	take(load(insns, 6, any_of(types)));
}

static void attach_raw(void)
{
	char name[200];
	union bpf_attr attr = {
		.raw_tracepoint = { .name = (unsigned long)name, .prog_fd = *random_file() },
	};
	bool is_marker = one_in(2);
	int fd;

	if (is_marker)
		strcpy(name, any_of(markers));
	else
		random_bytes(name, sizeof(name));
	if (one_in(20))
		attr.raw_tracepoint.name = random_number();
	fd = sys_bpf(BPF_RAW_TRACEPOINT_OPEN, &attr, one_in(9) ? below(200) : sizeof(attr));
	if (fd < 0)
		return;
	take(fd);
	failed++;
	printf("# a marker is no tracepoint, but %s was attached to\n", name);
}

static void move_module(const char *path)
{
	int fd;

	loads++;
	if (!syscall(SYS_delete_module, MODULE_NAME, O_NONBLOCK))
		return;
	fd = open(path, O_RDONLY);
	syscall(SYS_finit_module, fd, "", 0);
	close(fd);
}

static void once(const char *module)
{
	inputs++;
	switch (below(40)) {
	case 0:
		move_module(module);
		break;
	case 1 ... 8:
		open_random();
		break;
	case 9 ... 20:
		control_random(*random_file());
		break;
	case 21 ... 26:
		use_random(*random_file());
		break;
	case 27 ... 32:
		load_random();
		break;
	case 33 ... 36:
		attach_raw();
		break;
	default:
		take(-1);
	}
}

static void fire(const char *times)
{
	int fd = open("/sys/module/" MODULE_NAME "/parameters/fire", O_WRONLY);

	if (fd < 0)
		return;
	if (write(fd, times, strlen(times)) < 0)
		failed++;
	close(fd);
}

static void be_loaded(const char *path)
{
	unsigned int tries;
	int fd = open(path, O_RDONLY);

	for (tries = 0; tries < 100; tries++) {
		if (!syscall(SYS_finit_module, fd, "", 0) || errno == EEXIST)
			break;
		usleep(50000);
	}
	close(fd);
}

int main(int argc, char **argv)
{
	unsigned int i;

	if (argc < 4)
		return 2;
	set_time(argv[2], argv[3]);
	for (i = 0; i < NR_OPEN; i++)
		files[i] = -1;
	be_loaded(argv[1]);
	check_range(markers[0], 0, 17);
	check_range(markers[0], RECORD_MAX - 9, RECORD_MAX + 1);
	for (i = 0; i < 4; i++)
		check_accesses(markers[i]);
	failed = result("perf: programs are attached that read within the record, and no others",
			!failed);
	while (!time_is_over()) {
		once(argv[1]);
		if (one_in(50))
			fire("1");
	}
	for (i = 0; i < NR_OPEN; i++)
		if (files[i] > 2)
			close(files[i]);
	be_loaded(argv[1]);
	result("perf: nothing failed that must work, or worked that must fail", !failed);
	printf("# perf: %lu inputs, %lu opened, %lu loads and unloads, %lu failed\n", inputs,
	       opened, loads, failed);
	return failed > 0;
}
