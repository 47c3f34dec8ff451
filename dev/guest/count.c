// SPDX-License-Identifier: GPL-2.0
/*
 * count: test that four tracers count the same number of context switches.
 *
 *	count [--without-marker]	print a table of one interval; 0 when all agree
 *	count --work			only run the work that switches
 *	count --event SYSTEM NAME COMMAND...
 *					count another event while the command runs;
 *					without a marker
 *
 * The tracers: the marker_probe module on the marker kernel_sched_switch, the
 * trace event (in an instance of its own), perf (a counter on each CPU) and BPF
 * (a raw tracepoint). They cannot be started or read all at the same moment, so
 * the interval lies between two snapshots, and a snapshot is valid when all
 * counters read the same twice: nothing switched between the readings.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TRACEFS		"/sys/kernel/tracing"
#define INSTANCE	TRACEFS "/instances/count"
#define HITS		"/sys/module/marker_probe/parameters/hits"
#define MAX_CPUS	256

enum { MARKER, EVENT, PERF, BPF, TRACERS };

static const char *const tracer_name[TRACERS] = {
	[MARKER] = "marker kernel_",
	[EVENT]	 = "trace event ",
	[PERF]	 = "perf counter ",
	[BPF]	 = "BPF raw tracepoint ",
};

struct snapshot {
	uint64_t count[TRACERS];
	uint64_t lost[TRACERS];
};

static const char *system_name = "sched", *event_name = "sched_switch";
static int cpus;
static int hits_fd = -1;
static int stats_fd[MAX_CPUS];
static int perf_fd[MAX_CPUS];
static int map_fd, prog_fd;

/* Files of tracefs and sysfs */

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		err(1, "%s", path);
	close(fd);
}

static void event_file(char *path, size_t size, const char *top, const char *name)
{
	snprintf(path, size, "%s/events/%s/%s/%s", top, system_name, event_name, name);
}

static uint64_t read_number(int fd, const char *what)
{
	char buf[64];
	ssize_t len = pread(fd, buf, sizeof(buf) - 1, 0);

	if (len <= 0)
		err(1, "%s", what);
	buf[len] = 0;
	return strtoull(buf, NULL, 10);
}

/* The trace event */

static void open_event(void)
{
	char path[256];

	if (mkdir(INSTANCE, 0700))
		err(1, "%s", INSTANCE);
	write_file(INSTANCE "/buffer_size_kb", "32768");
	for (int cpu = 0; cpu < cpus; cpu++) {
		snprintf(path, sizeof(path), INSTANCE "/per_cpu/cpu%d/stats", cpu);
		stats_fd[cpu] = open(path, O_RDONLY);
		if (stats_fd[cpu] < 0)
			err(1, "%s", path);
	}
	event_file(path, sizeof(path), INSTANCE, "enable");
	write_file(path, "1");
}

static void close_event(void)
{
	char path[256];

	event_file(path, sizeof(path), INSTANCE, "enable");
	write_file(path, "0");
	for (int cpu = 0; cpu < cpus; cpu++)
		close(stats_fd[cpu]);
	rmdir(INSTANCE);
}

static uint64_t stat_value(const char *stats, const char *name)
{
	size_t len = strlen(name);
	const char *line;

	for (line = stats; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, name, len) && line[len] == ':')
			return strtoull(line + len + 1, NULL, 10);
	}
	errx(1, "no '%s' in the ring buffer's stats", name);
}

static void read_event(struct snapshot *snap)
{
	char stats[512];
	uint64_t overrun;
	ssize_t len;

	for (int cpu = 0; cpu < cpus; cpu++) {
		len = pread(stats_fd[cpu], stats, sizeof(stats) - 1, 0);
		if (len <= 0)
			err(1, "stats of CPU %d", cpu);
		stats[len] = 0;
		overrun = stat_value(stats, "overrun");
		snap->count[EVENT] += stat_value(stats, "entries") + overrun +
				      stat_value(stats, "read events");
		snap->lost[EVENT] += overrun + stat_value(stats, "commit overrun") +
				     stat_value(stats, "dropped events");
	}
}

/* perf */

static void open_perf(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
			       PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
	char path[256];
	int fd;

	event_file(path, sizeof(path), TRACEFS, "id");
	fd = open(path, O_RDONLY);
	if (fd < 0)
		err(1, "%s", path);
	attr.config = read_number(fd, path);
	close(fd);
	for (int cpu = 0; cpu < cpus; cpu++) {
		perf_fd[cpu] = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, 0);
		if (perf_fd[cpu] < 0)
			err(1, "perf_event_open on CPU %d", cpu);
	}
}

/* A counter loses the events that happen while it is enabled but not running. */
static void read_perf(struct snapshot *snap)
{
	struct { uint64_t count, enabled, running; } value;

	for (int cpu = 0; cpu < cpus; cpu++) {
		if (read(perf_fd[cpu], &value, sizeof(value)) != sizeof(value))
			err(1, "perf counter of CPU %d", cpu);
		snap->count[PERF] += value.count;
		snap->lost[PERF] += value.enabled != value.running;
	}
}

/* BPF */

static int bpf(int cmd, union bpf_attr *attr, const char *what)
{
	int ret = syscall(SYS_bpf, cmd, attr, sizeof(*attr));

	if (ret < 0)
		err(1, "bpf: %s", what);
	return ret;
}

#define INSN(c, d, s, o, i) \
	{ .code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i) }

static int load_bpf(void)
{
	const struct bpf_insn insns[] = {
		/* *(u32 *)(fp - 4) = 0, the key */
		INSN(BPF_ST | BPF_MEM | BPF_W, BPF_REG_10, 0, -4, 0),
		/* r0 = bpf_map_lookup_elem(map, fp - 4) */
		INSN(BPF_LD | BPF_IMM | BPF_DW, BPF_REG_1, BPF_PSEUDO_MAP_FD, 0, map_fd),
		INSN(0, 0, 0, 0, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_2, BPF_REG_10, 0, 0),
		INSN(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_2, 0, 0, -4),
		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_map_lookup_elem),
		/* if (r0) ++*(u64 *)r0; the element is this CPU's own */
		INSN(BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_0, 0, 3, 0),
		INSN(BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_1, BPF_REG_0, 0, 0),
		INSN(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_1, 0, 0, 1),
		INSN(BPF_STX | BPF_MEM | BPF_DW, BPF_REG_0, BPF_REG_1, 0, 0),
		/* return 0 */
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
		.insns = (uintptr_t)insns,
		.insn_cnt = sizeof(insns) / sizeof(insns[0]),
		.license = (uintptr_t)"GPL",
	};

	return bpf(BPF_PROG_LOAD, &attr, "load");
}

static void open_bpf(void)
{
	union bpf_attr map = {
		.map_type = BPF_MAP_TYPE_PERCPU_ARRAY,
		.key_size = 4, .value_size = 8, .max_entries = 1,
	};
	union bpf_attr attach = {
		.raw_tracepoint.name = (uintptr_t)event_name,
	};

	map_fd = bpf(BPF_MAP_CREATE, &map, "map");
	prog_fd = load_bpf();
	attach.raw_tracepoint.prog_fd = prog_fd;
	bpf(BPF_RAW_TRACEPOINT_OPEN, &attach, "attach");
}

/* The kernel counts the hits that a program misses because it is already running. */
static void read_bpf(struct snapshot *snap)
{
	uint64_t value[MAX_CPUS] = { 0 };
	struct bpf_prog_info prog = { 0 };
	uint32_t key = 0;
	union bpf_attr lookup = {
		.map_fd = map_fd,
		.key = (uintptr_t)&key,
		.value = (uintptr_t)value,
	};
	union bpf_attr info = {
		.info.bpf_fd = prog_fd,
		.info.info_len = sizeof(prog),
		.info.info = (uintptr_t)&prog,
	};

	bpf(BPF_MAP_LOOKUP_ELEM, &lookup, "lookup");
	bpf(BPF_OBJ_GET_INFO_BY_FD, &info, "info");
	for (int cpu = 0; cpu < MAX_CPUS; cpu++)
		snap->count[BPF] += value[cpu];
	snap->lost[BPF] = prog.recursion_misses;
}

/* Snapshots */

static struct snapshot read_all(void)
{
	struct snapshot snap = { { 0 }, { 0 } };

	if (hits_fd >= 0)
		snap.count[MARKER] = read_number(hits_fd, HITS);
	read_event(&snap);
	read_perf(&snap);
	read_bpf(&snap);
	return snap;
}

static struct snapshot stable_snapshot(void)
{
	struct snapshot a, b;

	for (int i = 0; i < 10000; i++) {
		a = read_all();
		b = read_all();
		if (!memcmp(&a, &b, sizeof(a)))
			return a;
	}
	errx(1, "the counters never stand still");
}

/* The work: causes context switches on all CPUs */

static void pin(int cpu)
{
	cpu_set_t set;

	if (cpu < 0)
		return;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		err(1, "pin to CPU %d", cpu);
}

static void bounce(int in, int out, int rounds)
{
	char byte = 0;

	while (rounds--)
		if (read(in, &byte, 1) != 1 || write(out, &byte, 1) != 1)
			err(1, "pipe");
	_exit(0);
}

/* Two processes that pass a byte back and forth; a CPU of -1 is any CPU. */
static void ping_pong(int cpu_a, int cpu_b, int rounds)
{
	int there[2], back[2];

	if (pipe(there) || pipe(back))
		err(1, "pipe");
	if (write(there[1], "", 1) != 1)
		err(1, "pipe");
	if (!fork()) {
		pin(cpu_a);
		bounce(there[0], back[1], rounds);
	}
	if (!fork()) {
		pin(cpu_b);
		bounce(back[0], there[1], rounds);
	}
	close(there[0]), close(there[1]), close(back[0]), close(back[1]);
}

static void sleeper(int naps)
{
	const struct timespec nap = { .tv_nsec = 1000000 };

	if (fork())
		return;
	while (naps--)
		nanosleep(&nap, NULL);
	_exit(0);
}

static void forker(int children)
{
	if (fork())
		return;
	while (children--) {
		if (!fork())
			_exit(0);
		wait(NULL);
	}
	_exit(0);
}

static void work(void)
{
	int status, failed = 0;

	for (int cpu = 0; cpu < cpus; cpu++)
		ping_pong(cpu, cpu, 2000);
	ping_pong(0, cpus - 1, 1000);
	ping_pong(-1, -1, 2000);
	forker(200);
	sleeper(200);
	while (wait(&status) > 0)
		failed |= status;
	if (failed)
		errx(1, "a process of the work failed");
}

/* The table */

static int print_table(const struct snapshot *a, const struct snapshot *b)
{
	int first = hits_fd >= 0 ? MARKER : EVENT;
	uint64_t count, lost, expect = b->count[first] - a->count[first];
	uint64_t all_lost = 0;
	bool differ = false;

	char label[64];

	printf("%-34s %10s %6s\n", "tracer", "count", "lost");
	for (int i = first; i < TRACERS; i++) {
		count = b->count[i] - a->count[i];
		lost = b->lost[i] - a->lost[i];
		snprintf(label, sizeof(label), "%s%s", tracer_name[i], event_name);
		printf("%-34s %10llu %6llu\n", label,
		       (unsigned long long)count, (unsigned long long)lost);
		differ |= count != expect;
		all_lost += lost;
	}
	if (!differ && !all_lost && expect) {
		printf("all agree: %llu times %s, 0 lost\n",
		       (unsigned long long)expect, event_name);
		return 0;
	}
	printf("FAIL:%s%s%s\n", differ ? " the counts differ" : "",
	       all_lost ? " some are lost" : "", expect ? "" : " nothing was counted");
	return 1;
}

static void run(char **command)
{
	int status;

	if (!fork()) {
		execvp(command[0], command);
		err(1, "%s", command[0]);
	}
	if (wait(&status) < 0 || status)
		errx(1, "%s failed", command[0]);
}

static int compare(bool with_marker, char **command)
{
	struct snapshot before, after;

	if (with_marker) {
		hits_fd = open(HITS, O_RDONLY);
		if (hits_fd < 0)
			err(1, "%s", HITS);
	}
	open_event();
	open_perf();
	open_bpf();

	before = stable_snapshot();
	if (command)
		run(command);
	else
		work();
	after = stable_snapshot();

	close_event();
	return print_table(&before, &after);
}

int main(int argc, char **argv)
{
	setbuf(stdout, NULL);
	cpus = sysconf(_SC_NPROCESSORS_ONLN);
	if (cpus > MAX_CPUS)
		errx(1, "more than %d CPUs", MAX_CPUS);
	if (argc == 1)
		return compare(true, NULL);
	if (!strcmp(argv[1], "--without-marker"))
		return compare(false, NULL);
	if (!strcmp(argv[1], "--event") && argc > 4) {
		system_name = argv[2];
		event_name = argv[3];
		return compare(false, argv + 4);
	}
	if (!strcmp(argv[1], "--work")) {
		work();
		return 0;
	}
	errx(2, "usage: count [--without-marker | --work | --event SYSTEM NAME COMMAND...]");
}
