// SPDX-License-Identifier: GPL-2.0
/*
 * files SECONDS INPUTS SEED: writes input that is nearly valid and input that is random
 * to the files of markers and of function tracers in tracefs, and uses the files in all
 * possible ways. Several processes do this in parallel, until INPUTS inputs are
 * written or SECONDS are over. Any result of a write is accepted, except success with
 * memory that cannot be read.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "inputs.h"

#define NR_WORKERS 3
#define MAX_TARGETS 30
#define MANY 200000
#define BUFFER_SIZE 70000	/* more than any file accepts at once */

/* Shared by all processes. */
static struct shared {
	unsigned long inputs, others, failed;
	unsigned long opened[MAX_TARGETS], accepted[MAX_TARGETS];
} *shared;

#define count(what) __atomic_add_fetch(&shared->what, 1, __ATOMIC_RELAXED)

static char buffer[BUFFER_SIZE];
static size_t length;

/* Words for inputs that are nearly valid. */
static const char *const event_words[] = {
	"markers", ":", "markers:", "sample_event", "sample_types", "sample_noargs",
	"kernel_sched_switch", "kernel_process_exec", "markers:sample_event",
	"markers:sample_*", "markers:kernel_process_*", "!", "!markers:sample_event", "!markers:*",
	"?", "[", "]", ",", ":mod:marker_sample", "enable", "::", "markers:%s%n", "-", "0",
};

static const char *const filter_words[] = {
	"count", "name", "prev_pid", "next_pid", "prev_state", "common_pid", "common_type",
	"i", "u", "x", "l", "ul", "ll", "ull", "lx", "p", "c", "s", "arg1", "CPU", "COMM",
	"==", "!=", "<", "<=", ">", ">=", "&", "~", "&&", "||", "!", "(", ")", "((", "))",
	"0", "1", "-1", "0x10", "18446744073709551616", "-9223372036854775809", "0x", "077",
	"\"text\"", "\"te*\"", "\"*\"", "\"", "'A'", "'", "bash", ".ustring", ".function", "0\n",
};

static const char *const trigger_words[] = {
	"traceon", "traceoff", "stacktrace", "snapshot", "hist", ":", ":1", ":0", ":unlimited",
	"enable_event:markers:sample_event", "disable_event:markers:sample_noargs:3",
	"enable_hist:markers:sample_event", "hist:keys=count", "hist:keys=name",
	"hist:keys=count,name:vals=hitcount", "hist:keys=i.hex,u.log2,x.sym",
	"hist:keys=common_pid.execname", "hist:keys=stacktrace", "hist:keys=c:sort=hitcount",
	":keys=count", ":vals=count", ":val=l,ll", ":sort=count.descending", ":size=128",
	":size=9999999999", ":name=same", ":pause", ":cont", ":clear", ":nohitcount",
	":ts0=common_timestamp.usecs", ":x=count", ":y=$x+1", ":z=count-$x*2/0",
	":onmatch(markers.sample_event).inputs_synth(count)",
	":onmatch(markers.sample_event).trace(inputs_synth,count)",
	":onmax($x).save(count,name)", ":onmax($x).snapshot()", ":onchange($x).save(name)",
	" if count > 1", " if name == \"a\"", " if ", ".buckets=5", ".string", ",", "=", "$", "!",
	"!hist:keys=count", "!traceon", "!stacktrace", "!enable_event:markers:sample_event",
};

static const char *const format_words[] = { "1", "0", "2", "-1", "on", "off", "X", "\n", " " };

static const char *const tracer_words[] = {
	"trace", "trace_profile", "sample_calls", "sample_callers", "[sample_calls]", "nop",
	"function", " ", "\t", "\n", "no_such_tracer", "[", "]",
};

static const char *const function_words[] = {
	"[        sample_calls] ", "[sample_calls] ", "[      sample_callers] ", "[trace] ", "[", "] ",
	"[no_such_tracer] ", "vfs_read", "vfs_open", "schedule", "no_such_function", "vfs_*",
	"!vfs_read", ":mod:marker_sample", "*:mod:no_module", ":traceoff", ":traceon:5",
	":stacktrace:0", ":no_command", ":enable_event:markers:sample_event", "vfs_open:traceoff:1",
	"vfs_open:enable_event:markers:sample_event:2", "!vfs_open:traceoff", "123", "0x1", "-1",
	"####", " ", "\n", "?", "!",
};

static const char *const dynamic_words[] = {
	"e:inputs_one markers.sample_event count=$count:u32 name=$name:string\n",
	"e:inputs/two markers.sample_types c=$c:char p=$p:x64 if i > 1\n",
	"-:eprobes/inputs_one\n", "-:inputs/two\n", "s:inputs_synth u64 count; char name[]\n",
	"!inputs_synth u64 count\n", "inputs_synth u64 count\n",
	"e:", "e:inputs/", "e:inputs_one ", "e:inputs/two ", "markers.sample_event", "markers/sample_types",
	" count=$count:u32", " name=$name:string", " c=$c:char", " p=$p:x64", " $i", " $comm", " a=@0:u8",
	" x=+0($p):u8", " s=+0($s):ustring", " b=$stack", " if count > 1", ":b3@2/32", "-:inputs_one",
	"-:inputs/two", "-:", "!e:inputs_one", "s:", "inputs_synth", " u64 count", "; int other",
	" char name[16]", "; char text[]", "!inputs_synth", ":", "/", " ", ".", "$", "e", "e5:",
	"markers.no_such_event", "markers.", "eprobes.x",
};

static const char *const option_words[] = {
	"function-tracers", "nofunction-tracers", "no_such_option", "1", "0", "no", "\n", " ",
};

struct words {
	const char *const *word;
	unsigned int count;
	const char *separators;
};

#define WORDS(of, between) { of, ARRAY_SIZE(of), between }

static const struct words event_grammar = WORDS(event_words, " \n,");
static const struct words filter_grammar = WORDS(filter_words, "   \n");
static const struct words trigger_grammar = WORDS(trigger_words, "");
static const struct words format_grammar = WORDS(format_words, "");
static const struct words tracer_grammar = WORDS(tracer_words, "");
static const struct words function_grammar = WORDS(function_words, "  \n");
static const struct words dynamic_grammar = WORDS(dynamic_words, "");
static const struct words option_grammar = WORDS(option_words, "");

/* Flags of a target */
#define KEEP	1	/* rarely opened with O_TRUNC: that changes much */
#define REFUSES	2	/* accepts no input, or is often not configured */
#define SLOW	4	/* each input waits for a grace period, or visits all functions */
#define OPTION	8	/* only kernels with an option have it */

/*
 * The files, in the top directory or in that of an instance. Files whose valid inputs
 * are slow have a low weight; one in @rare of the inputs follows the grammar.
 */
static const struct target {
	const char *path;
	const struct words *words;
	unsigned int weight;
	unsigned int rare;
	unsigned int flags;
} targets[] = {
	{ "markers", &event_grammar, 4, 2, REFUSES },
	{ "marker_sites", &event_grammar, 4, 2, REFUSES },
	{ "marker_probes", &event_grammar, 4, 2, REFUSES },
	{ "set_event", &event_grammar, 2, 20, 0 },
	{ "events/markers/enable", &format_grammar, 2, 500, 0 },
	{ "events/markers/filter", &filter_grammar, 1, 5, SLOW },
	{ "events/markers/*/enable", &format_grammar, 30, 100, 0 },
	{ "events/markers/*/filter", &filter_grammar, 40, 3, SLOW },
	{ "events/markers/*/trigger", &trigger_grammar, 25, 40, 0 },
	{ "events/markers/*/id", &format_grammar, 3, 2, REFUSES },
	{ "events/markers/*/format", &format_grammar, 3, 2, REFUSES },
	{ "events/markers/*/hist", &format_grammar, 3, 2, REFUSES },
	{ "events/markers/*/inject", &filter_grammar, 3, 2, REFUSES | OPTION },
	{ "function_tracers", &tracer_grammar, 30, 20, 0 },
	{ "set_ftrace_filter", &function_grammar, 1, 5, KEEP | SLOW },
	{ "set_ftrace_notrace", &function_grammar, 1, 5, KEEP | SLOW },
	{ "trace_options", &option_grammar, 2, 5, 0 },
	{ "options/function-tracers", &format_grammar, 2, 10, 0 },
	{ "dynamic_events", &dynamic_grammar, 6, 15, KEEP },
	{ "synthetic_events", &dynamic_grammar, 6, 15, KEEP },
};

_Static_assert(ARRAY_SIZE(targets) <= MAX_TARGETS, "accepted[] is too short");

static const struct target *random_target(void)
{
	unsigned int i, sum = 0;

	for (i = 0; i < ARRAY_SIZE(targets); i++)
		sum += targets[i].weight;
	sum = below(sum);
	for (i = 0; sum >= targets[i].weight; i++)
		sum -= targets[i].weight;
	return &targets[i];
}

static void append(const char *text, size_t size)
{
	if (length + size > sizeof(buffer))
		size = sizeof(buffer) - length;
	memcpy(buffer + length, text, size);
	length += size;
}

static void make_words(const struct words *words)
{
	unsigned int number = 1 + below(one_in(50) ? 200 : 6);
	const char *word;

	length = 0;
	while (number--) {
		word = words->word[below(words->count)];
		append(word, strlen(word));
		if (*words->separators)
			append(words->separators + below(strlen(words->separators)), 1);
	}
	if (one_in(2))
		append("\n", 1);
}

static size_t random_length(void)
{
	static const unsigned int sizes[] = {
		0, 1, 2, 63, 64, 65, 127, 128, 255, 256, 257, 4095, 4096, 4097, 8192, 65537,
	};

	return one_in(40) ? any_of(sizes) : below(80);
}

static void make_bytes(void)
{
	bool printable = one_in(2);
	size_t i;

	length = random_length();
	for (i = 0; i < length; i++)
		buffer[i] = printable ? ' ' + below(95) : random_number();
}

static void damage(void)
{
	unsigned int times = below(4);
	size_t at;

	while (times-- && length) {
		at = below(length);
		switch (below(5)) {
		case 0:
			buffer[at] ^= 1 << below(8);
			break;
		case 1:
			buffer[at] = random_number();
			break;
		case 2:
			buffer[at] = '\0';
			break;
		case 3:
			length = at;
			break;
		case 4:
			append(buffer + at, length - at);
		}
	}
}

/* An asterisk may stand for all functions and events. */
static void no_asterisks(const struct target *target)
{
	size_t i;

	if (target->words == &filter_grammar || target->words == &trigger_grammar)
		return;
	for (i = 0; i < length; i++)
		if (buffer[i] == '*')
			buffer[i] = '+';
}

static void make_input(const struct target *target)
{
	if (one_in(target->rare)) {
		make_words(target->words);
		if (one_in(3))
			damage();
		return;
	}
	if (one_in(3)) {
		make_words(target->words);
		damage();
		if (length)
			buffer[below(length)] ^= 0x80;	/* always invalid */
	} else {
		make_bytes();
	}
	no_asterisks(target);
}

/* The end of a page that can be read, before a page that cannot. */
static char *edge_of_memory(void)
{
	static char *edge;
	const size_t page = sysconf(_SC_PAGESIZE);

	if (!edge) {
		edge = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		munmap(edge + page, page);
		edge += page;
	}
	return edge;
}

static void *bad_address(void)
{
	void *const bad[] = {
		NULL, (void *)1, (void *)0xffffffff81000000, (void *)-1, (void *)(1ULL << 47),
		(void *)0x7fffffffffff, edge_of_memory(),
	};

	return any_of(bad);
}

static void write_bad(int fd)
{
	if (write(fd, bad_address(), 1 + below(5000)) > 0) {
		count(failed);
		fprintf(stderr, "a write from nowhere succeeded\n");
	}
}

/* Up to two bytes at the end cannot be read. */
static void write_over_edge(int fd)
{
	size_t size = length < 2000 ? length : 2000;

	memcpy(edge_of_memory() - size, buffer, size);
	write(fd, edge_of_memory() - size, size + below(3));
}

static void write_parts(int fd)
{
	size_t first = below(length + 1);
	struct iovec parts[] = {
		{ buffer, first }, { buffer, 0 }, { buffer + first, length - first },
	};

	writev(fd, parts, 3);
}

static void write_one(int fd, const struct target *target)
{
	ssize_t ret;

	count(inputs);
	switch (below(40)) {
	case 0:
		write_bad(fd);
		break;
	case 1:
		write_over_edge(fd);
		break;
	case 2:
		write_parts(fd);
		break;
	case 3:
		pwrite(fd, buffer, length, below(10000));
		break;
	case 4:
		write(fd, buffer, 0);
		break;
	default:
		ret = write(fd, buffer, length);
		if (ret > 0)
			count(accepted[target - targets]);
	}
}

static void read_some(int fd)
{
	char text[5000];

	switch (below(6)) {
	case 0:
		lseek(fd, below(3000), below(4));
		break;
	case 1:
		lseek(fd, random_number(), below(4));
		break;
	case 2:
		pread(fd, text, 1 + below(9), below(5000));
		break;
	case 3:
		if (read(fd, bad_address(), 1 + below(5000)) > 0) {
			count(failed);
			fprintf(stderr, "a read to nowhere succeeded\n");
		}
		break;
	default:
		read(fd, text, below(sizeof(text)));
	}
}

static void splice_some(int fd)
{
	int ends[2];

	if (pipe(ends))
		return;
	fcntl(ends[1], F_SETFL, O_NONBLOCK);
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	splice(fd, NULL, ends[1], NULL, below(5000), SPLICE_F_NONBLOCK);
	write(ends[1], buffer, length < 4096 ? length : 4096);
	splice(ends[0], NULL, fd, NULL, below(5000), SPLICE_F_NONBLOCK);
	sendfile(ends[1], fd, NULL, below(5000));
	close(ends[0]);
	close(ends[1]);
}

static void use_oddly(int fd)
{
	void *map;

	count(others);
	switch (below(6)) {
	case 0:
		map = mmap(NULL, 4096 << below(3), 1 + below(7), 1 + below(2), fd, 0);
		if (map != MAP_FAILED)
			munmap(map, 4096);
		break;
	case 1:
		splice_some(fd);
		break;
	case 2:
		ftruncate(fd, below(3));
		break;
	case 3:
		ioctl(fd, random_number(), bad_address());
		break;
	case 4:
		fallocate(fd, below(8), 0, below(5000));
		break;
	default:
		read_some(fd);
	}
}

static const char *path_of(const struct target *target)
{
	static const char *const markers[] = {
		"sample_event", "sample_types", "sample_noargs", "kernel_sched_switch",
		"kernel_process_exec", "kernel_process_fork", "no_such_marker",
	};
	static const char *const instances[] = { "", "", "instances/inputs/" };
	static char path[256];
	const char *star = strchr(target->path, '*');

	snprintf(path, sizeof(path), TRACEFS "%s%.*s%s%s", any_of(instances),
		 star ? (int)(star - target->path) : 1000, target->path,
		 star ? any_of(markers) : "", star ? star + 1 : "");
	return path;
}

static void use_file(void)
{
	static const int modes[] = { O_RDONLY, O_WRONLY, O_WRONLY, O_WRONLY, O_RDWR };
	const struct target *target = random_target();
	unsigned int times = 1 + below(target->flags & SLOW ? 10 : 100);
	int fd, flags = any_of(modes);

	if (flags != O_RDONLY && one_in(target->flags & KEEP ? 2000 : 50))
		flags |= O_TRUNC;
	else if (one_in(4))
		flags |= O_APPEND;
	fd = open(path_of(target), flags | O_NONBLOCK);
	if (fd < 0) {
		count(others);
		return;
	}
	count(opened[target - targets]);
	while (times--) {
		make_input(target);
		if ((flags & O_ACCMODE) != O_RDONLY)
			write_one(fd, target);
		if (one_in(20))
			use_oddly(fd);
	}
	close(fd);
}

/*
 * Creating an instance is slow: most names are invalid, or "inputs", which is rarely
 * removed, since many inputs are for its files.
 */
static void use_instances(void)
{
	static const char *const names[] = {
		"inputs", "", ".", "..", "a/b", "inputs/x", "inputs/events/y", "%s%n", "\n", "\377",
	};
	char path[1000] = TRACEFS "instances/", other[1000] = TRACEFS "instances/";
	size_t len = strlen(path);

	count(inputs);
	if (one_in(2))
		strcat(path, any_of(names));
	else
		memset(path + len, '/' + 2 * below(40), 1 + below(400));
	strcat(other, any_of(names));
	switch (below(4)) {
	case 0:
		mkdir(path, 0700);
		break;
	case 1:
		if (strcmp(path + len, "inputs") || one_in(20))
			rmdir(path);
		break;
	case 2:
		rename(path, other);
		break;
	case 3:
		open(path, O_CREAT | O_EXCL | O_TMPFILE, 0600);
		symlink(path, other);
		link(path, other);
		chmod(path, below(01000));
	}
}

static int work(unsigned long wanted)
{
	while (shared->inputs < wanted && !time_is_over())
		if (one_in(300))
			use_instances();
		else
			use_file();
	return 0;
}

static bool exists(const struct target *target)
{
	char path[256];
	glob_t found;
	bool exists;

	snprintf(path, sizeof(path), TRACEFS "%s", target->path);
	exists = !glob(path, 0, NULL, &found);
	globfree(&found);
	return exists;
}

/* A fuzzer whose inputs are all refused tests little. Fewer may be refused by chance. */
static void check_accepted(void)
{
	bool all = true;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(targets); i++) {
		printf("# %s: opened %lu times, %lu accepted\n", targets[i].path,
		       shared->opened[i], shared->accepted[i]);
		if (targets[i].flags & OPTION && !exists(&targets[i]))
			continue;
		all = all && shared->opened[i] &&
		      (targets[i].flags & REFUSES || shared->accepted[i]);
	}
	if (all || shared->inputs >= MANY)
		result("files: each accepts some inputs", all);
	else
		puts("# too few inputs to ask that each file accepts some");
}

int main(int argc, char **argv)
{
	unsigned long wanted;
	unsigned int i;
	bool failed = false;
	int status;

	if (argc < 4)
		return 2;
	wanted = strtoul(argv[2], NULL, 0);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return 2;
	signal(SIGPIPE, SIG_IGN);
	for (i = 0; i < NR_WORKERS; i++) {
		set_time(argv[1], argv[3]);
		random_state += i << 20;
		if (!fork())
			_exit(work(wanted));
	}
	for (i = 0; i < NR_WORKERS; i++)
		if (wait(&status) < 0 || status)
			failed = true;
	printf("# files: %lu inputs, %lu other uses, %lu failed\n",
	       shared->inputs, shared->others, shared->failed);
	result("files: all processes end", !failed);
	result("files: no input came from nowhere", !shared->failed);
	check_accepted();
	return failed || shared->failed;
}
