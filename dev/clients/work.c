// SPDX-License-Identifier: GPL-2.0
/*
 * work N: the work that clients trace.
 *
 * N times each: a fork, a nap and the system call getsid.
 * The process is renamed to "working", and keeps that name: traces show the
 * last name of a process. It prints the kernel's count of its sleeps: a nap
 * that is over before the task is switched out is no sleep.
 */
#define _GNU_SOURCE
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long sleeps(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_SELF, &usage))
		err(1, "getrusage");
	return usage.ru_nvcsw;
}

static void fork_once(void)
{
	pid_t pid = fork();

	if (pid < 0)
		err(1, "fork");
	if (!pid)
		_exit(0);
	if (waitpid(pid, NULL, 0) != pid)
		err(1, "waitpid");
}

int main(int argc, char **argv)
{
	const struct timespec nap = { .tv_nsec = 1000000 };
	int n = argc == 2 ? atoi(argv[1]) : 0;
	long before, after;

	if (n <= 0)
		errx(1, "usage: work N");
	/* Only the loop must sleep, not page faults. */
	if (mlockall(MCL_CURRENT))
		err(1, "mlockall");
	before = sleeps();
	prctl(PR_SET_NAME, "working");
	for (int i = 0; i < n; i++) {
		fork_once();
		nanosleep(&nap, NULL);
		syscall(SYS_getsid, 0);
	}
	after = sleeps();
	printf("%ld\n", after - before);
	return 0;
}
