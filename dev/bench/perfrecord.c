// SPDX-License-Identifier: GPL-2.0
/*
 * perfrecord ID COMMAND...: run the command while perf records each hit of the trace
 * event with this id, on every CPU, in a buffer that holds them all. Fails when no
 * record was written, or a record was lost.
 */
#include <err.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define BUFFER_PAGES	1024	/* a power of two */

struct recorder {
	int fd;
	struct perf_event_mmap_page *buffer;
};

static struct recorder record(int id, int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.config = id,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
			       PERF_SAMPLE_RAW,
		.read_format = PERF_FORMAT_LOST,
	};
	struct recorder recorder;

	recorder.fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (recorder.fd < 0)
		err(1, "perf_event_open");
	recorder.buffer = mmap(NULL, (BUFFER_PAGES + 1) * sysconf(_SC_PAGESIZE),
			       PROT_READ | PROT_WRITE, MAP_SHARED, recorder.fd, 0);
	if (recorder.buffer == MAP_FAILED)
		err(1, "mmap of perf's buffer");
	return recorder;
}

static void run(char **command)
{
	int status;

	if (!fork()) {
		execvp(command[0], command);
		err(1, "%s", command[0]);
	}
	wait(&status);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		errx(1, "%s failed", command[0]);
}

static void check(const struct recorder *recorders, int cpus)
{
	unsigned long long counted_lost[2], bytes = 0;
	int i;

	for (i = 0; i < cpus; i++) {
		bytes += recorders[i].buffer->data_head;
		if (read(recorders[i].fd, counted_lost, sizeof(counted_lost)) < 0)
			err(1, "read of perf's event");
		if (counted_lost[1])
			errx(1, "perf lost %llu records", counted_lost[1]);
	}
	if (!bytes)
		errx(1, "perf recorded nothing");
}

int main(int argc, char **argv)
{
	int i, cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct recorder recorders[cpus];

	if (argc < 3)
		errx(2, "usage: perfrecord ID COMMAND...");
	for (i = 0; i < cpus; i++)
		recorders[i] = record(atoi(argv[1]), i);
	run(argv + 2);
	check(recorders, cpus);
	return 0;
}
