// SPDX-License-Identifier: GPL-2.0
/*
 * pair ROUNDS: a process that gives its CPU away a known number of times, at
 * least: it and its child wake each other through pipes. It stops itself before
 * and after that, and says so, for tracers to come and go while it stands still.
 */
#include <err.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void pass(int from, int to)
{
	char byte;

	if (read(from, &byte, 1) == 1 && write(to, &byte, 1) != 1)
		err(1, "write");
}

static void partner(int from, int to)
{
	char byte;

	while (read(from, &byte, 1) == 1)
		if (write(to, &byte, 1) != 1)
			exit(1);
	exit(0);
}

int main(int argc, char **argv)
{
	long rounds = argc == 2 ? atol(argv[1]) : 0;
	int there[2], back[2];

	if (rounds < 1)
		errx(2, "usage: pair ROUNDS");
	if (pipe(there) || pipe(back))
		err(1, "pipe");
	if (!fork()) {
		close(there[1]);
		partner(there[0], back[1]);
	}
	printf("pid %d\n", getpid());
	fflush(stdout);
	raise(SIGSTOP);
	if (write(there[1], "x", 1) != 1)
		err(1, "write");
	while (--rounds)
		pass(back[0], there[1]);
	printf("done\n");
	fflush(stdout);
	raise(SIGSTOP);
	return 0;
}
