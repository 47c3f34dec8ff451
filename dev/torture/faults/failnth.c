// SPDX-License-Identifier: GPL-2.0
/*
 * Every failure once: each operation of a table is done and undone repeatedly. Each
 * time another one of its allocations fails, until none does.
 *
 *	failnth DIR RESULTS SECONDS SEED [OPERATION...]
 *
 * DIR has faults-sites.ko; faults.ko is loaded. Without names, all operations are
 * done, in random order. SECONDS limits the time, unless it is 0. With a limit, the
 * more allocations an operation has, the more of them are left out. After a failure
 *
 *  - the error must be -ENOMEM, or one that is allowed for the operation,
 *  - the state must be as before: the files that show it, and which probes are called
 *    when all sites of the two modules are passed. Markers, probes and calls must be
 *    so when the operation returns; the rest may take some time, as it is freed later,
 *  - doing it again must succeed, with the same state as without any failure.
 *
 * An operation that succeeds although an allocation failed must have that state, too.
 * Then the same is done with functions instead of allocations: those that can fail by
 * CONFIG_FAIL_FUNCTION, each time with an error that no other code returns. After an
 * operation the state must be as before the first one.
 *
 * Needs CONFIG_FAULT_INJECTION, set up by guest.sh. The kernel's messages are read at
 * each failure: complaints about the missing memory are not splats.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof(*(array)))

#define TRACEFS		"/sys/kernel/tracing/"
#define DEBUGFS		"/sys/kernel/debug/"
#define EVENTS		TRACEFS "events/"
#define INSTANCE	TRACEFS "instances/faults"
#define INSTANCE_EVENT	INSTANCE "/events/markers/faults_text/"
#define INSTANCE_FILTER	INSTANCE "/set_ftrace_filter"
#define FAIL_FUNCTION	DEBUGFS "fail_function/"

#define MAX_TEXT	0x100000
#define SETTLE_TRIES	150		/* of 20 ms: some state is freed later */
#define SETTLED		10		/* this many equal values in turn */
#define MAX_FAILED	5		/* of an operation, which ends then */
#define ENOTSUPP	524		/* only defined in the kernel */
#define INJECTED	EXDEV		/* the error of functions that fail */

struct op {
	const char *name;
	const char *before;	/* operations to do before it, separated by blanks */
	int (*act)(const struct op *op);
	int (*undo)(const struct op *op);
	const char *file, *on, *off;
	int also[4];		/* allowed errors besides ENOMEM */
	const char *spared;	/* a function that cannot fail in it */
	int lacks_events;	/* ftrace continues without the files of an event */
	int silent;		/* ftrace does not return the error */
	int only_before;	/* other operations; not tested itself */
	int only_do;		/* undoing it is not tested */
	int unchecked;		/* ftrace does not check whether its probe or tracer is on */
};

static char undone[MAX_TEXT], done[MAX_TEXT], state_now[MAX_TEXT], prompt_now[MAX_TEXT];
static const char *modules_dir;
static int nth_fd, times_fd, space_fd, kmsg_fd;
static FILE *table;
static unsigned long faults, failed;
static time_t end;	/* 0: no limit */

struct function {
	char name[96], type[16];
};

static const struct function *function;	/* that fails; NULL: allocations fail */

static void die(const char *what)
{
	perror(what);
	exit(2);
}

__attribute__((format(printf, 1, 2)))
static void report(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("# ", stdout);
	vprintf(format, args);
	putchar('\n');
	va_end(args);
	fflush(stdout);
	failed++;
}

static int must_open(const char *path, int flags)
{
	int fd = open(path, flags);

	if (fd < 0)
		die(path);
	return fd;
}

/*
 * Failing
 */

static void write_number(int fd, int number)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%d", number);

	if (write(fd, text, len) != len)
		die("fault injection");
}

/*
 * For allocations the number is read from an open file, since opening one allocates.
 * The files of debugfs must be opened to be read from the start.
 */
static int read_number(const char *path)
{
	int fd = path ? must_open(path, O_RDONLY) : nth_fd, len;
	char text[16] = "";

	len = path ? read(fd, text, sizeof(text) - 1) :
	      pread(fd, text, sizeof(text) - 1, 0);
	if (path)
		close(fd);
	if (len < 1)
		die("fault injection");
	return atoi(text);
}

/*
 * The @nth allocation or call from now on fails. Calls of a function are counted for
 * all tasks, since it may be called in a context where the kernel does not count for a
 * task; no other code calls the functions of the list now.
 */
static void start_failing(int nth)
{
	if (function) {
		write_number(space_fd, nth);
		write_number(times_fd, 1);
	} else {
		write_number(nth_fd, nth);
	}
}

/* Return: true if one has failed. */
static int stop_failing(void)
{
	int left = read_number(function ? FAIL_FUNCTION "times" : NULL);

	write_number(function ? times_fd : nth_fd, 0);
	return !left;
}

/*
 * Operations
 */

static int write_text(const char *file, const char *text)
{
	int fd = open(file, O_WRONLY | O_APPEND), ret;

	if (fd < 0)
		return -errno;
	ret = write(fd, text, strlen(text)) < 0 ? -errno : 0;
	close(fd);
	return ret;
}

static void must_write(const char *file, const char *text)
{
	if (write_text(file, text))
		die(file);
}

static int act_write(const struct op *op)
{
	return write_text(op->file, op->on);
}

static int undo_write(const struct op *op)
{
	return write_text(op->file, op->off);
}

/*
 * As in stock, ftrace keeps the text of a filter that it could not create, and it
 * enables as many of several events as it can.
 */
static int act_partly(const struct op *op)
{
	int ret = act_write(op);

	if (ret)
		undo_write(op);
	return ret;
}

static int act_kernel(const struct op *op)
{
	char text[32];

	snprintf(text, sizeof(text), "%s 1", op->on);
	return write_text(DEBUGFS "faults/do", text);
}

static int undo_kernel(const struct op *op)
{
	char text[32];

	snprintf(text, sizeof(text), "%s 0", op->on);
	return write_text(DEBUGFS "faults/do", text);
}

/* The file is read before, so that the operation only loads the module. */
static char image[1 << 22];
static size_t image_size;

static void read_image(void)
{
	char path[512];
	FILE *from;

	snprintf(path, sizeof(path), "%s/faults-sites.ko", modules_dir);
	from = fopen(path, "r");
	if (!from)
		die(path);
	image_size = fread(image, 1, sizeof(image), from);
	fclose(from);
}

static int act_load(const struct op *op)
{
	return syscall(SYS_init_module, image, image_size, op->on ?: "") ? -errno : 0;
}

static int undo_load(const struct op *op)
{
	(void)op;
	return syscall(SYS_delete_module, "faults_sites", O_NONBLOCK) ? -errno : 0;
}

static int act_mkdir(const struct op *op)
{
	return mkdir(op->file, 0755) ? -errno : 0;
}

static int undo_mkdir(const struct op *op)
{
	return rmdir(op->file) ? -errno : 0;
}

/* The instance has a function probe, and a filter of a module that is not loaded. */
static int undo_rmdir(const struct op *op)
{
	return act_mkdir(op) ?: write_text(INSTANCE_FILTER, op->on) ?:
	       write_text(INSTANCE_FILTER, "no_such_function:mod:no_such_module");
}

/* All files of an event that can be opened, and the lists of the series. */
static const char * const opened[] = {
	INSTANCE_EVENT "enable", INSTANCE_EVENT "id", INSTANCE_EVENT "format",
	INSTANCE_EVENT "filter", INSTANCE_EVENT "trigger", INSTANCE_EVENT "hist",
	INSTANCE_EVENT "hist_debug", INSTANCE_EVENT "inject",
	TRACEFS "markers", TRACEFS "marker_sites", TRACEFS "marker_probes",
	TRACEFS "function_tracers", TRACEFS "set_ftrace_filter",
	TRACEFS "set_ftrace_notrace",
};

static int opened_fds[ARRAY_SIZE(opened)];
static size_t nr_opened;

static int undo_open(const struct op *op)
{
	int ret = 0;

	(void)op;
	while (nr_opened)
		if (close(opened_fds[--nr_opened]))
			ret = -errno;
	return ret;
}

/* The filters of all tracers must be complete: as large as the first time. */
static int read_filters(size_t i, int fd)
{
	static ssize_t sizes[ARRAY_SIZE(opened)];
	ssize_t got, size = 0;
	char text[4096];

	while ((got = read(fd, text, sizeof(text))) > 0)
		size += got;
	if (got < 0)
		return -errno;
	sizes[i] = sizes[i] ?: size;
	return sizes[i] == size ? 0 : -EBADMSG;
}

/* Some kernels lack some of them, and "inject" can only be written. */
static int open_one(size_t i)
{
	int fd = open(opened[i], strstr(opened[i], "inject") ? O_WRONLY : O_RDONLY);

	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	opened_fds[nr_opened++] = fd;
	return strstr(opened[i], "set_ftrace_") ? read_filters(i, fd) : 0;
}

static int act_open(const struct op *op)
{
	size_t i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(opened); i++) {
		ret = open_one(i);
		if (ret) {
			undo_open(op);
			return ret;
		}
	}
	return 0;
}

static int event_id(const char *event)
{
	char path[256];
	FILE *file;
	int id;

	snprintf(path, sizeof(path), EVENTS "%s/id", event);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%d", &id) != 1)
		die(path);
	fclose(file);
	return id;
}

static int perf_fd = -1, prog_fd = -1, raw_fd = -1;
static int perf_id;

static int act_perf(const struct op *op)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.config = perf_id,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_RAW | PERF_SAMPLE_CALLCHAIN,
	};

	(void)op;
	perf_fd = syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0);
	return perf_fd < 0 ? -errno : 0;
}

static int undo_perf(const struct op *op)
{
	(void)op;
	return close(perf_fd) ? -errno : 0;
}

/* Open an event and apply the request; close the event if that fails. */
static int act_perf_with(const struct op *op, unsigned long request, unsigned long arg)
{
	int ret = act_perf(op);

	if (ret)
		return ret;
	if (!ioctl(perf_fd, request, arg))
		return 0;
	ret = -errno;
	close(perf_fd);
	return ret;
}

static int act_perf_filter(const struct op *op)
{
	return act_perf_with(op, PERF_EVENT_IOC_SET_FILTER, (unsigned long)op->on);
}

static int load_prog(int type)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr = {
		.prog_type = type,
		.insns = (unsigned long)insns,
		.insn_cnt = ARRAY_SIZE(insns),
		.license = (unsigned long)"GPL",
	};

	return syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

static int act_prog(const struct op *op)
{
	int type = strcmp(op->on, "raw") ? BPF_PROG_TYPE_TRACEPOINT :
		   BPF_PROG_TYPE_RAW_TRACEPOINT;

	prog_fd = load_prog(type);
	return prog_fd < 0 ? -errno : 0;
}

static int undo_prog(const struct op *op)
{
	(void)op;
	return close(prog_fd) ? -errno : 0;
}

static int act_perf_prog(const struct op *op)
{
	return act_perf_with(op, PERF_EVENT_IOC_SET_BPF, prog_fd);
}

static int act_raw(const struct op *op)
{
	union bpf_attr attr = {
		.raw_tracepoint.name = (unsigned long)op->on,
		.raw_tracepoint.prog_fd = prog_fd,
	};

	raw_fd = syscall(SYS_bpf, BPF_RAW_TRACEPOINT_OPEN, &attr, sizeof(attr));
	return raw_fd < 0 ? -errno : 0;
}

static int undo_raw(const struct op *op)
{
	(void)op;
	return close(raw_fd) ? -errno : 0;
}

#define KERNEL(_name, _op, ...)						\
	{ .name = _name, .act = act_kernel, .undo = undo_kernel, .on = _op, __VA_ARGS__ }
#define WRITE(_name, _file, _on, _off, ...)				\
	{ .name = _name, .act = act_write, .undo = undo_write,		\
	  .file = TRACEFS _file, .on = _on, .off = _off, __VA_ARGS__ }
#define PARTLY(_name, _file, _on, _off, ...)				\
	{ .name = _name, .act = act_partly, .undo = undo_write,		\
	  .file = TRACEFS _file, .on = _on, .off = _off, __VA_ARGS__ }
#define LOAD(_name, _before)						\
	{ .name = _name, .act = act_load, .undo = undo_load, .before = _before, \
	  .lacks_events = 1, .also = { ELOOP } /* of BTF */ }
#define ENABLE(_name, _event, ...)					\
	WRITE(_name, "events/" _event "enable", "1", "0", __VA_ARGS__)
#define TRIGGER(_name, _trigger, ...)					\
	WRITE(_name, "events/markers/faults_numbers/trigger", _trigger, "!" _trigger, \
	      __VA_ARGS__)
#define PERF(_name, _event, _before)					\
	{ .name = _name, .act = act_perf, .undo = undo_perf, .file = _event, \
	  .before = _before }
#define BEFORE(names)	.before = names
#define ALSO(...)	.also = { __VA_ARGS__ }
#define SILENT		.silent = 1
#define UNCHECKED	.unchecked = 1

#define RECORD_NAMES	"options/record-cmd"

#define ATTACHED							\
	"set batch probe second-probe probe-of-8-words marker-probe variadic-probe arm fed-marker-probe waiting-probe waiting-probe-of-text"

static const struct op ops[] = {
	/* The interface in the kernel */
	KERNEL("set", "set"),
	KERNEL("batch", "batch"),
	KERNEL("probe", "few"),
	KERNEL("second-probe", "few_2", BEFORE("probe")),
	KERNEL("third-probe-first", "few_first", BEFORE("probe second-probe")),
	KERNEL("probe-of-8-words", "many"),
	KERNEL("probe-that-is-announced", "announced"),
	KERNEL("probe-that-is-refused", "hearing"),
	KERNEL("marker-probe", "numbers"),
	KERNEL("second-marker-probe", "numbers_2", BEFORE("marker-probe")),
	KERNEL("variadic-probe", "variadic"),
	KERNEL("second-variadic-probe", "variadic_2", BEFORE("variadic-probe arm")),
	KERNEL("arm", "arm", BEFORE("marker-probe variadic-probe")),
	KERNEL("fed-marker-probe", "fed"),
	/* One site in each module, each with its own probe. */
	KERNEL("twice-fed-marker-probe", "fed", BEFORE("load")),
	KERNEL("waiting-probe", "sites"),
	KERNEL("waiting-probe-of-text", "text", BEFORE("waiting-probe")),
	KERNEL("defer", "defer"),
	KERNEL("defer-more", "defer", BEFORE("probe fed-marker-probe")),
	KERNEL("tracer", "plain"),
	KERNEL("named-tracer", "named"),
	KERNEL("pattern-tracer", "pattern", ALSO(EINVAL)),
	KERNEL("second-tracer", "plain", BEFORE("named-tracer")),
	KERNEL("third-tracer", "plain", BEFORE("named-tracer pattern-tracer")),
	KERNEL("tracer-with-regs", "regs", BEFORE("tracer named-tracer")),
	KERNEL("longer-filter", "plain_more", BEFORE("tracer")),
	KERNEL("longer-filter-of-three", "plain_more",
	       BEFORE("tracer named-tracer pattern-tracer")),
	KERNEL("notrace-filter", "named_not", BEFORE("tracer named-tracer")),
	KERNEL("shorter-filter", "pattern_less", BEFORE("tracer pattern-tracer")),
	/* If ftrace cannot add a function, it returns the error for unknown functions. */
	KERNEL("fprobe", "fprobe", BEFORE("tracer"), ALSO(EINVAL)),

	/* Modules */
	LOAD("load", NULL),
	LOAD("load-attached", ATTACHED),

	/* Events */
	ENABLE("enable-marker", "markers/faults_numbers/"),
	ENABLE("enable-marker-text", "markers/faults_text/"),
	ENABLE("enable-marker-fed", "markers/kernel_sched_switch/"),
	ENABLE("enable-marker-of-module", "markers/faults_in_sites/", BEFORE("load")),
	ENABLE("enable-event", "sched/sched_wakeup/"),
	ENABLE("enable-event-of-module", "faults/faults_event/", BEFORE("load")),
	/* tracing_start_cmdline_record() returns no error. The option is off otherwise. */
	WRITE("names-of-tasks", RECORD_NAMES, "1", "0", BEFORE("enable-marker"), UNCHECKED),
	/* A group with few events: the group markers has too many. */
	PARTLY("enable-group", "events/workqueue/enable", "1", "0"),
	WRITE("set-event", "set_event", "markers:faults_numbers",
	      "!markers:faults_numbers"),
	PARTLY("filter", "events/markers/faults_numbers/filter", "number > 3 && word < 5",
	       "0", BEFORE("enable-marker")),
	TRIGGER("trigger-traceon", "traceon"),
	WRITE("trigger-of-module", "events/markers/faults_in_sites/trigger", "traceon",
	      "!traceon", BEFORE("load")),
	TRIGGER("trigger-stacktrace", "stacktrace"),
	/* It must not be hit: the event would stay enabled. */
	TRIGGER("trigger-enable", "enable_event:markers:faults_text if number > 100"),
	TRIGGER("trigger-snapshot", "snapshot"),
	/* With the smallest size: each entry needs some allocations. */
	TRIGGER("trigger-hist-named", "hist:name=faults:keys=number:size=128"),
	TRIGGER("trigger-hist", "hist:keys=number:vals=word:sort=word:size=128 if number > 3"),
	TRIGGER("trigger-onmax", "hist:keys=word:w=number:size=128:onmax($w).save(number)"),
	WRITE("event-probe", "dynamic_events",
	      "e:faults/probe markers/faults_numbers n=$number:s32",
	      "-:faults/probe", .lacks_events = 1),
	/* ftrace makes thousands of allocations, a few for each event of the kernel. */
	{ .name = "instance", .act = act_mkdir, .undo = undo_mkdir, .file = INSTANCE,
	  .only_before = 1 },
	WRITE("enable-in-instance", "instances/faults/events/markers/faults_text/enable",
	      "1", "0", BEFORE("instance enable-marker-text")),
	/* An instance that is still in use cannot be removed. */
	{ .name = "open", .act = act_open, .undo = undo_open,
	  BEFORE("instance top-filter function named-tracer option") },

	/* perf and BPF */
	PERF("perf", "markers/faults_numbers", NULL),
	PERF("perf-of-text", "markers/faults_text", NULL),
	PERF("perf-of-event", "sched/sched_wakeup", NULL),
	PERF("perf-beside", "markers/faults_numbers", "enable-marker marker-probe"),
	{ .name = "perf-filter", .act = act_perf_filter, .undo = undo_perf,
	  .file = "markers/faults_numbers", .on = "number > 3" },
	/* Without memory to compile a program, the error is -ENOTSUPP. */
	{ .name = "prog", .act = act_prog, .undo = undo_prog, .on = "event", ALSO(ENOTSUPP) },
	{ .name = "prog-raw", .act = act_prog, .undo = undo_prog, .on = "raw", ALSO(ENOTSUPP) },
	{ .name = "perf-prog", .before = "prog", .act = act_perf_prog,
	  .undo = undo_perf, .file = "markers/faults_numbers" },
	{ .name = "raw-tracepoint", .before = "prog-raw", .act = act_raw,
	  .undo = undo_raw, .on = "sched_wakeup" },

	/* Function tracers in tracefs */
	WRITE("top-filter", "set_ftrace_filter", "faults_function_1",
	      "!faults_function_1", SILENT),
	/* tracing_start_function_trace() ignores errors of register_ftrace_function(). */
	WRITE("function", "current_tracer", "function", "nop", BEFORE("top-filter"),
	      UNCHECKED),
	WRITE("function-beside", "current_tracer", "function", "nop",
	      BEFORE("top-filter tracer named-tracer"), UNCHECKED),
	/* Names of tasks are recorded already: this tracer would start that, too. */
	WRITE("function-graph", "current_tracer", "function_graph", "nop",
	      BEFORE("enable-marker names-of-tasks top-filter tracer")),
	WRITE("change-function", "set_ftrace_filter", "faults_function_2",
	      "!faults_function_2", BEFORE("top-filter function tracer"), SILENT),
	WRITE("option", "options/function-tracers", "1", "0"),
	WRITE("choose-tracer", "function_tracers", "trace", "faults",
	      BEFORE("top-filter function named-tracer option")),
	WRITE("change-named", "set_ftrace_filter", "faults_function_2",
	      "!faults_function_2", BEFORE("tracer named-tracer option"), SILENT),
	WRITE("function-command", "set_ftrace_filter", "faults_function_1:traceon",
	      "!faults_function_1:traceon", BEFORE("tracer"), SILENT),
	WRITE("function-event", "set_ftrace_filter",
	      "faults_function_1:disable_event:sched:sched_switch",
	      "!faults_function_1:disable_event:sched:sched_switch", BEFORE("tracer"),
	      SILENT),
	WRITE("function-in-instance", "instances/faults/current_tracer", "function",
	      "nop", BEFORE("top-filter tracer instance instance-filter"), UNCHECKED,
	      .spared = "function_tracer_add" /* it has no name */),
	WRITE("instance-filter", "instances/faults/set_ftrace_filter",
	      "faults_function_1", "!faults_function_1", BEFORE("instance"), SILENT),
	WRITE("instance-command", "instances/faults/set_ftrace_filter",
	      "faults_function_1:traceon", "!faults_function_1:traceon",
	      BEFORE("tracer instance"), SILENT),
	{ .name = "remove-instance", .act = undo_mkdir, .undo = undo_rmdir,
	  .file = INSTANCE, .on = "faults_function_1:traceon",
	  BEFORE("tracer instance instance-command"), .only_do = 1 },
};

/* Reads a file before an operation, so that this cannot fail in it. */
static void get_ready(const struct op *op)
{
	if (op->undo == undo_perf)
		perf_id = event_id(op->file);
}

static const struct op *find_op(const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ops); i++)
		if (strlen(ops[i].name) == len && !memcmp(ops[i].name, name, len))
			return &ops[i];
	fprintf(stderr, "no operation %.*s\n", (int)len, name);
	exit(2);
}

/* Does the operations before another one, or undoes them in reverse order. */
static void do_before(const char *names, int undo)
{
	const char *next;
	const struct op *op;
	int ret;

	if (!names || !*names)
		return;
	next = strchrnul(names, ' ');
	op = find_op(names, next - names);
	next += *next == ' ';
	if (undo)
		do_before(next, undo);
	get_ready(op);
	ret = undo ? op->undo(op) : op->act(op);
	if (ret)
		report("%s %s before it: %s", undo ? "undoing" : "doing", op->name,
		       strerror(-ret));
	if (!undo)
		do_before(next, undo);
}

/*
 * States
 */

static int says(const char *line, const char * const *words)
{
	for (; *words; words++)
		if (strstr(line, *words))
			return 1;
	return 0;
}

struct text {
	char *to;
	size_t size;
};

static void add(struct text *text, const char *from, size_t size)
{
	if (text->size + size >= MAX_TEXT)
		die("a state is too long");
	memcpy(text->to + text->size, from, size);
	text->size += size;
	text->to[text->size] = '\0';
}

static int is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

/* Without addresses and numbers of sets: they differ when it is done again. */
static void add_plain(struct text *text, const char *from)
{
	static const char set[] = "ftrace_set_";
	size_t len;

	while (*from) {
		for (len = 0; is_hex(from[len]); len++)
			;
		if (!strncmp(from, set, strlen(set))) {
			add(text, set, strlen(set));
			from += strlen(set);
			from += strspn(from, "0123456789");
		} else if (len >= 10) {
			add(text, "*", 1);
			from += len;
		} else {
			len = len ?: 1;
			add(text, from, len);
			from += len;
		}
	}
}

/* Cuts off how a function calls its tracers, which depends on available memory. */
static void cut_how(char *line)
{
	char *how = strstr(line, "->") ?: line + strcspn(line, "\n");
	size_t len = strcspn(line, "\t");

	if (len > (size_t)(how - line))
		len = how - line;
	while (len && line[len - 1] == ' ')
		len--;
	strcpy(line + len, "\n");
}

/* Return: true if the line is for the function that fails, which has a kprobe. */
static int is_of_function(const char *line)
{
	size_t len = function ? strlen(function->name) : 0;

	return len && !strncmp(line, function->name, len) && line[len] == ' ';
}

static void add_lines(struct text *text, const char *path, const char *needed)
{
	char line[4096];
	FILE *file = fopen(path, "r");

	add(text, path, strlen(path));
	add(text, file ? ":\n" : ": none\n", file ? 2 : 7);
	if (!file)
		return;
	while (fgets(line, sizeof(line), file)) {
		if ((needed && !strstr(line, needed)) || is_of_function(line))
			continue;
		if (strstr(path, "enabled_functions"))
			cut_how(line);
		add_plain(text, line);
	}
	fclose(file);
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static int count_names(const char *path)
{
	DIR *dir = opendir(path);
	int nr = 0;

	if (!dir)
		return 0;
	while (readdir(dir))
		nr++;
	closedir(dir);
	return nr;
}

/* An event of the modules has all its files or none, so their number is added. */
static void add_name(struct text *text, const char *name)
{
	char path[512], nr[16];

	add(text, name, strlen(name));
	if (!strncmp(name, "faults_", strlen("faults_"))) {
		snprintf(path, sizeof(path), EVENTS "markers/%s", name);
		snprintf(nr, sizeof(nr), " %d", count_names(path));
		add(text, nr, strlen(nr));
	}
	add(text, "\n", 1);
}

static void add_names(struct text *text, const char *path)
{
	struct dirent **names;
	int nr = scandir(path, &names, is_visible, alphasort), i;

	add(text, path, strlen(path));
	add(text, "/:\n", 3);
	for (i = 0; i < nr; i++) {
		add_name(text, names[i]->d_name);
		free(names[i]);
	}
	if (nr >= 0)
		free(names);
}

/* Names of modules and their use counts. */
static void add_modules(struct text *text)
{
	char line[512], name[64], entry[128];
	FILE *file = fopen("/proc/modules", "r");
	int users;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "%63s %*s %d", name, &users) == 2) {
			snprintf(entry, sizeof(entry), "%s %d\n", name, users);
			add(text, entry, strlen(entry));
		}
	if (file)
		fclose(file);
}

/* The state that is final when an operation returns; the calls are read first. */
static void add_prompt(struct text *text)
{
	add_lines(text, DEBUGFS "faults/state", NULL);
	add_lines(text, TRACEFS "markers", NULL);
	add_lines(text, TRACEFS "marker_probes", NULL);
	add(text, "\n", 1);	/* no other line is empty */
}

static void read_prompt(char *state)
{
	struct text text = { .to = state };

	add_prompt(&text);
}

static void read_state(char *state)
{
	static const char * const files[] = {
		TRACEFS "function_tracers",
		TRACEFS "set_event", TRACEFS "current_tracer",
		TRACEFS "set_ftrace_filter", TRACEFS "set_ftrace_notrace",
		TRACEFS "enabled_functions", TRACEFS "dynamic_events",
		TRACEFS "options/function-tracers",
		EVENTS "markers/faults_numbers/enable",
		EVENTS "markers/faults_numbers/filter",
		EVENTS "markers/faults_numbers/trigger",
		EVENTS "markers/faults_text/enable",
		INSTANCE "/set_event", INSTANCE "/current_tracer",
		INSTANCE_FILTER,
	};
	static const char * const dirs[] = {
		TRACEFS "instances", EVENTS "markers", EVENTS "faults",
	};
	struct text text = { .to = state };
	size_t i;

	add_prompt(&text);
	for (i = 0; i < ARRAY_SIZE(files); i++)
		add_lines(&text, files[i], NULL);
	for (i = 0; i < ARRAY_SIZE(dirs); i++)
		add_names(&text, dirs[i]);
	add_modules(&text);
}

/* The bytes of generated code in all areas that it has. */
static long used_code(void)
{
	/* The function that allocates; which one depends on inlining. */
	static const char * const makers[] = {
		" alloc_chunk_text+", " new_chunk+", " alloc_memory+", " generate_text+",
		NULL,
	};
	FILE *areas = fopen("/proc/vmallocinfo", "r"), *code;
	char line[512], area[64];
	long all = 0, used;

	while (areas && fgets(line, sizeof(line), areas)) {
		if (!says(line, makers) || sscanf(line, "%63s", area) != 1)
			continue;
		must_write(DEBUGFS "faults/code", area);
		code = fopen(DEBUGFS "faults/code", "r");
		if (!code || fscanf(code, "%ld", &used) != 1)
			die("faults/code");
		fclose(code);
		all += used;
	}
	if (areas)
		fclose(areas);
	return all;
}

static void read_code(char *state)
{
	sprintf(state, "%ld bytes of generated code\n", used_code());
}

/* Reading them takes long. */
static void read_names(char *state)
{
	struct text text = { .to = state };

	add_lines(&text, "/proc/kallsyms", "[__builtin__tracepoint]");
	add_lines(&text, "/proc/kallsyms", "ftrace_set_");
	add_lines(&text, TRACEFS "marker_sites", NULL);
}

static void tell_difference(const char *was, const char *is)
{
	size_t at = 0, line = 0;

	while (was[at] && was[at] == is[at]) {
		if (was[at++] == '\n')
			line = at;
	}
	printf("#   was: %.*s\n#   is:  %.*s\n", (int)strcspn(was + line, "\n"),
	       was + line, (int)strcspn(is + line, "\n"), is + line);
}

static void wait_a_while(void)
{
	const struct timespec a_while = { .tv_nsec = 20000000 };

	nanosleep(&a_while, NULL);
}

/* Return: true if the state was as wanted when the operation returned. */
static int was_prompt(const char *wanted)
{
	if (!strncmp(prompt_now, wanted, strlen(prompt_now)))
		return 1;
	tell_difference(wanted, prompt_now);
	return 0;
}

/* Some things are freed later. */
static int becomes_state(const char *wanted, void (*read)(char *state))
{
	int i;

	for (i = 0; i < SETTLE_TRIES; i++) {
		read(state_now);
		if (!strcmp(state_now, wanted))
			return 1;
		wait_a_while();
	}
	return 0;
}

static int is_state(const char *wanted, void (*read)(char *state))
{
	if (becomes_state(wanted, read))
		return 1;
	tell_difference(wanted, state_now);
	return 0;
}

/* The code that remains after that of earlier operations is freed. */
static void read_settled_code(char *state)
{
	int same = 0;

	read_code(state);
	while (same < SETTLED) {
		wait_a_while();
		read_code(state_now);
		same = strcmp(state_now, state) ? 0 : same + 1;
		strcpy(state, state_now);
	}
}

/*
 * The kernel's messages
 */

/* A stack after one of the excuses is about the missing memory. */
static int is_splat(const char *line)
{
	static const char * const excuses[] = {
		"vmalloc error:", "page allocation failure", "percpu: allocation failed",
		NULL,
	};
	static const char * const splats[] = {
		"WARNING:", "BUG:", ";BUG ", "Oops", "INFO:", "possible recursive locking",
		"suspicious RCU", "KASAN:", "UBSAN", "unable to handle",
		"general protection", "Kernel panic", "kernel BUG", NULL,
	};
	static int excused;

	if (says(line, excuses)) {
		excused = 1;
		return 0;
	}
	if (strstr(line, "Call Trace")) {
		excused--;
		return excused < 0 && !(excused = 0);
	}
	return says(line, splats);
}

static int splats;

/* Counts the splats in the kernel's messages since the last call. */
static void read_messages(void)
{
	char record[8192], *text;
	ssize_t size;

	splats = 0;
	while ((size = read(kmsg_fd, record, sizeof(record) - 1)) > 0 ||
	       (size < 0 && errno == EPIPE)) {
		if (size < 0)
			continue;
		record[size] = '\0';
		text = strchr(record, ';');
		if (text && is_splat(text)) {
			printf("#   %.*s\n", (int)strcspn(text + 1, "\n"), text + 1);
			splats++;
		}
	}
}

/*
 * The loop
 */

#define MAX_ERROR	ENOTSUPP

/* The results, and how often; "lesser" counts successes that did only a part. */
struct counts {
	int points, lesser;
	int returned[MAX_ERROR + 1];
};

static int returns_null(const struct function *f)
{
	return !strcmp(f->type, "NULL");
}

static int may_return(const struct op *op, int error)
{
	size_t i;

	if (error == (function && !returns_null(function) ? INJECTED : ENOMEM))
		return 1;
	for (i = 0; i < ARRAY_SIZE(op->also); i++)
		if (op->also[i] == error)
			return 1;
	return 0;
}

static int act(const struct op *op, int undo)
{
	return undo ? op->undo(op) : op->act(op);
}

/* Return: true if an operation without an error has changed nothing. */
static int is_unchanged(const char *before, const char *after)
{
	read_state(state_now);
	return strcmp(before, after) && !strcmp(before, state_now);
}

/* Return: true if the names in a directory of events follow the line. */
static int is_dir_of_events(const char *line)
{
	return !strncmp(line, EVENTS, strlen(EVENTS)) &&
	       !strncmp(line + strcspn(line, "\n") - 2, "/:", 2);
}

/* Return: true if only names of events are missing. */
static int lacks_events_only(const char *all, const char *some)
{
	int in_events = 0;
	size_t len;

	for (; *all; all += len) {
		len = strcspn(all, "\n") + 1;
		if (*all == '/')
			in_events = is_dir_of_events(all);
		if (!strncmp(all, some, len))
			some += len;
		else if (!in_events)
			return 0;
	}
	return !*some;
}

/* Return: true if the state is as it should be without an error. */
static int is_complete(const struct op *op, const char *after, struct counts *counts)
{
	read_state(state_now);
	if (!strcmp(state_now, after))
		return 1;
	if ((op->lacks_events && lacks_events_only(after, state_now)) ||
	    (op->unchecked && !becomes_state(after, read_state))) {
		counts->lesser++;
		return 1;
	}
	return is_state(after, read_state);
}

/* Once more, without a failure. If it was done in part, it is reverted first. */
static int act_again(const struct op *op, int undo, int ret)
{
	if (ret)
		ret = act(op, undo);
	else
		ret = -EALREADY;
	if (ret != -EALREADY)
		return ret;
	return act(op, !undo) ?: act(op, undo);
}

/* Afterwards it is done, or undone, whether it failed or not. */
static void check_once(const struct op *op, int undo, int nth, int ret,
		       struct counts *counts)
{
	const char *before = undo ? done : undone, *after = undo ? undone : done;
	const char *what = undo ? "undoing " : "";
	int lesser = counts->lesser;

	read_messages();
	if (splats)
		report("%s%s, failure %d: a splat", what, op->name, nth);
	if (ret && !may_return(op, -ret))
		report("%s%s, failure %d: error %d, %s", what, op->name, nth, -ret,
		       strerror(-ret));
	if (!ret && op->silent && is_unchanged(before, after)) {
		counts->lesser++;
		ret = -EAGAIN;
	}
	if (!(op->unchecked && !ret) && !was_prompt(ret ? before : after))
		report("%s%s, failure %d: late", what, op->name, nth);
	if (ret ? !is_state(before, read_state) : !is_complete(op, after, counts))
		report("%s%s, failure %d: %s", what, op->name, nth,
		       ret ? "not as before" : "not as without it");
	if (!ret && lesser == counts->lesser)
		return;
	ret = act_again(op, undo, ret);
	if (ret)
		report("%s%s, failure %d: once more, without it: %s", what, op->name,
		       nth, strerror(-ret));
	else if (!is_state(after, read_state))
		report("%s%s, failure %d: once more: not as the first time", what,
		       op->name, nth);
}

/* Return: true if an allocation or function has failed. */
static int fail_once(const struct op *op, int undo, int nth, struct counts *counts)
{
	int ret, has_failed;

	start_failing(nth);
	ret = act(op, undo);
	has_failed = stop_failing();
	read_prompt(prompt_now);
	if (!has_failed && ret)
		report("%s%s: without a failure: %s", undo ? "undoing " : "", op->name,
		       strerror(-ret));
	check_once(op, undo, nth, ret, counts);
	if (has_failed) {
		faults++;
		counts->points++;
		counts->returned[-ret > MAX_ERROR ? MAX_ERROR : -ret]++;
	}
	return has_failed;
}

static void log_counts(const struct op *op, int undo, const struct counts *counts)
{
	int error;

	if (!counts->points)
		return;
	fprintf(table, "%s\t%s\t%s\t%d\t", op->name, undo ? "undo" : "do",
		function ? function->name : "memory", counts->points);
	for (error = 0; error <= MAX_ERROR; error++)
		if (counts->returned[error])
			fprintf(table, "%s:%d ", error == ENOTSUPP ? "ENOTSUPP" :
				error ? strerrorname_np(error) : "success",
				counts->returned[error]);
	if (counts->lesser)
		fprintf(table, "less:%d", counts->lesser);
	fputc('\n', table);
	fflush(table);
}

static int is_over(void)
{
	return end && time(NULL) >= end;
}

/* Each failure of an operation, and of undoing it. */
static void fail_each(const struct op *op)
{
	unsigned long failed_before = failed;
	struct counts counts[2] = { };
	int nth = 1, more, undo;

	do {
		more = fail_once(op, 0, nth, &counts[0]);
		if (!op->only_do)
			more |= fail_once(op, 1, nth, &counts[1]);
		else if (act(op, 1))
			report("undoing %s, without a failure", op->name);
		nth += end ? 1 + nth / 32 : 1;
	} while (more && failed - failed_before < MAX_FAILED && !is_over());
	for (undo = 0; undo < 2; undo++)
		log_counts(op, undo, &counts[undo]);
}

/* Do and undo it several times, so that state that is kept no longer changes. */
static int prepare(const struct op *op)
{
	int i, ret = 0;

	for (i = 0; i < 3 && !ret; i++) {
		read_state(undone);
		ret = act(op, 0);
		if (!ret) {
			read_state(done);
			ret = act(op, 1);
		}
	}
	if (ret)
		report("%s: without a failure: %s", op->name, strerror(-ret));
	else if (!is_state(undone, read_state))
		report("%s: undone, and not as before", op->name);
	else
		return 1;
	return 0;
}

/* To the kernel's log, before the kernel's messages about it. */
static void log_name(const struct op *op)
{
	char text[128];

	snprintf(text, sizeof(text), "<3>failnth: %s in %.64s\n", op->name,
		 function ? function->name : "memory");
	write_text("/dev/kmsg", text);
}

/*
 * Functions that fail
 */

#define MAX_FUNCTIONS	64

static struct function functions[MAX_FUNCTIONS];
static int nr_functions;

/* Not to be tested: system calls, and functions of fault injection, BPF and mm. */
static int is_other(const char *name)
{
	static const char * const others[] = {
		"_sys_", "should_fail", "bpf_", "__filemap_", NULL,
	};

	return says(name, others);
}

static void read_functions(void)
{
	FILE *list = fopen(DEBUGFS "error_injection/list", "r");
	struct function *f = functions;
	char line[256];

	while (list && f < functions + MAX_FUNCTIONS && fgets(line, sizeof(line), list))
		if (sscanf(line, "%95s %15s", f->name, f->type) == 2 &&
		    !is_other(f->name))
			f++;
	nr_functions = f - functions;
	if (list)
		fclose(list);
}

static void let_function_fail(const struct function *f)
{
	char path[256], value[32];

	must_write(FAIL_FUNCTION "inject", f->name);
	snprintf(path, sizeof(path), FAIL_FUNCTION "%s/retval", f->name);
	snprintf(value, sizeof(value), "%#llx",
		 returns_null(f) ? 0 : (unsigned long long)-INJECTED);
	must_write(path, value);
	function = f;
}

static void stop_function(const struct function *f)
{
	char text[128] = "!";

	strcat(text, f->name);
	must_write(FAIL_FUNCTION "inject", text);
	function = NULL;
}

/* Allocations must not fail or be counted while functions fail. */
static void set_allocations(int fail)
{
	must_write(DEBUGFS "failslab/cache-filter", fail ? "N" : "Y");
	must_write(DEBUGFS "fail_page_alloc/min-order", fail ? "0" : "99");
}

static void fail_functions(const struct op *op)
{
	unsigned long failed_before = failed;
	int i;

	set_allocations(0);
	for (i = 0; i < nr_functions && failed == failed_before && !is_over(); i++) {
		if (op->spared && !strcmp(op->spared, functions[i].name))
			continue;
		let_function_fail(&functions[i]);
		log_name(op);
		fail_each(op);
		stop_function(&functions[i]);
	}
	set_allocations(1);
}

/* What is freed later, and undoing without a failure, may cause messages too. */
static void check_messages(const char *when)
{
	read_messages();
	if (splats)
		report("%s: a splat", when);
}

static char state_undone[MAX_TEXT], code_undone[MAX_TEXT];

/* Called when all is undone. */
static void check_left(const struct op *op, char *was, void (*read)(char *state),
		       const char *what)
{
	if (is_state(was, read))
		return;
	report("%s: %s left over", op->name, what);
	strcpy(was, state_now);
}

static void run_op(const struct op *op)
{
	unsigned long failed_before = failed;

	log_name(op);
	do_before(op->before, 0);
	get_ready(op);
	if (prepare(op)) {
		fail_each(op);
		fail_functions(op);
	}
	do_before(op->before, 1);
	check_left(op, state_undone, read_state, "something is");
	check_left(op, code_undone, read_code, "code is");
	check_messages(op->name);
	printf("%s - each failure of %s\n", failed == failed_before ? "ok" : "not ok",
	       op->name);
	fflush(stdout);
}

static void write_counters(const char *results)
{
	char path[512];
	FILE *counters;

	snprintf(path, sizeof(path), "%s/counters", results);
	counters = fopen(path, "w");
	if (!counters)
		die(path);
	fprintf(counters, "faults:%lu\nfailed:%lu\n", faults, failed);
	fclose(counters);
}

#define USED_ONCE "probe tracer named-tracer pattern-tracer tracer-with-regs"

static size_t order[ARRAY_SIZE(ops)];

static void shuffle(unsigned int seed)
{
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		j = rand_r(&seed) % (i + 1);
		order[i] = order[j];
		order[j] = i;
	}
}

static void open_files(const char *results)
{
	char path[512];

	nth_fd = must_open("/proc/self/fail-nth", O_RDWR);
	kmsg_fd = must_open("/dev/kmsg", O_RDONLY | O_NONBLOCK);
	lseek(kmsg_fd, 0, SEEK_END);
	snprintf(path, sizeof(path), "%s/table", results);
	table = fopen(path, "w");
	if (!table)
		die(path);
	fputs("operation\tdirection\tfails\tpoints\treturned\n", table);
	read_functions();
	if (!nr_functions)
		return;
	times_fd = must_open(FAIL_FUNCTION "times", O_RDWR);
	space_fd = must_open(FAIL_FUNCTION "space", O_RDWR);
}

static void run_ops(char **names, int nr)
{
	const struct op *op;
	int i, nr_run = 0;

	for (i = 0; i < (nr ?: (int)ARRAY_SIZE(ops)) && !is_over(); i++) {
		op = nr ? find_op(names[i], strlen(names[i])) : &ops[order[i]];
		if (op->only_before)
			continue;
		run_op(op);
		nr_run++;
	}
	if (!nr_run)
		report("no operation was tried");
	printf("# %d operations, %lu failures\n", nr_run, faults);
}

int main(int argc, char **argv)
{
	static char names[MAX_TEXT];

	if (argc < 5)
		return 2;
	modules_dir = argv[1];
	read_image();
	open_files(argv[2]);
	shuffle(atoi(argv[4]));
	must_write(TRACEFS RECORD_NAMES, "0");
	end = atoi(argv[3]) ? time(NULL) + atoi(argv[3]) : 0;
	/* After the first use, some memory for code and some flags of tracers are kept. */
	do_before(USED_ONCE, 0);
	do_before(USED_ONCE, 1);
	set_allocations(1);
	read_settled_code(code_undone);
	read_state(state_undone);
	read_names(names);
	run_ops(argv + 5, argc - 5);
	if (!is_state(names, read_names))
		report("names of code are left over");
	check_messages("the end");
	write_counters(argv[2]);
	return failed;
}
