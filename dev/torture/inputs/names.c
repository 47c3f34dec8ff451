// SPDX-License-Identifier: GPL-2.0
/*
 * names SECONDS SEED: registers and arms markers and parses their formats, with names
 * and formats of any bytes, and sets immediate values of any size, through the module
 * inputs-names. The results of the calls are compared with a simple model of the
 * registered probes.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "inputs-names.h"
#include "inputs.h"

#define NAME_LEN 128		/* MARKER_NAME_LEN, MARKER_FORMAT_LEN */
#define FORMAT_LEN 4096
#define NO_TEXT 0xffff
#define NR_PRIVATES 4
#define NR_KNOWN 300
#define MAX_TEXT 20000

/* A name: the number of its probes of both forms, and how often it is armed. */
struct known {
	char name[NAME_LEN];
	unsigned int probes[2][NR_PRIVATES];
	unsigned int armed;
};

static struct known known[NR_KNOWN];
static unsigned int nr_known;

static struct {
	struct names_input head;
	char text[2 * MAX_TEXT];
} input;

static char name[MAX_TEXT], format[MAX_TEXT];
static size_t name_size, format_size;
static unsigned long inputs, accepted, failed;
static int file;

static const char *const some_names[] = {
	"inputs_one", "inputs_two", "inputs_%s%n", "kernel_sched_switch", "sample_event",
	"kernel_process_fork", "", " ", "enable", "..", "a/b", "\n", "\303\244", "inputs one\ttab",
};

static const char *const conversions[] = {
	"%d", "%i", "%u", "%x", "%X", "%o", "%c", "%s", "%p", "%pS", "%ps", "%n", "%*d", "%.*s", "%ll",
	"%lld", "%lu", "%llx", "%hd", "%hhd", "%zd", "%jd", "%td", "%Lf", "%f", "%e", "%g", "%a", "%m",
	"%pV", "%pI4", "%pK", "%p4", "%ls", "%lc", "%lp", "%-5d", "%+d", "% d", "%#x", "%05d", "%.4s",
	"%.99999999999s", "%99999999999d", "%-+ #0123.456llx", "%-+ #0123456.789llx", "%%", "%", "%l",
	"%$1d", "%1$d", "%\n", "%\200d", "%d%d", "%s%s", "%'d", "%Id", "%C", "%S", "%v", "%b",
};

static const char *const field_names[] = {
	"count ", "name=", "a ", "", " ", "  ", "1 ", "int ", "common_pid ", "arg1 ", "arg2 ", "\t", "\n",
	"\377", "\"", "\\", "x y ", "very_long_name_of_a_field_that_goes_on_and_on_and_on_and_on ",
};

static void append(const char *text)
{
	size_t len = strlen(text);

	if (format_size + len > sizeof(format))
		return;
	memcpy(format + format_size, text, len);
	format_size += len;
}

static void fill(char *text, size_t *size, size_t wanted)
{
	bool printable = one_in(2);
	size_t i;

	*size = wanted;
	for (i = 0; i < wanted; i++)
		text[i] = printable ? ' ' + below(95) : random_number();
}

static size_t odd_size(size_t limit)
{
	switch (below(8)) {
	case 0:
		return limit - 2 + below(4);
	case 1:
		return limit * 2 + below(100);
	case 2:
		return below(MAX_TEXT);
	}
	return below(40);
}

static void make_name(void)
{
	if (one_in(40)) {
		name_size = NO_TEXT;
	} else if (one_in(6)) {
		fill(name, &name_size, odd_size(NAME_LEN));
	} else {
		const char *text = any_of(some_names);

		name_size = strlen(text);
		memcpy(name, text, name_size);
	}
}

static void make_fields(void)
{
	unsigned int number = one_in(20) ? 1000 : one_in(4) ? 60 + below(10) : below(8);
	const char *conversion = any_of(conversions);
	bool same = one_in(3);

	format_size = 0;
	while (number--) {
		append(any_of(field_names));
		append(same ? conversion : any_of(conversions));
		append(one_in(4) ? "" : " ");
	}
	if (format_size && one_in(5))
		format[below(format_size)] = random_number();
}

static void make_format(void)
{
	static const char *const good[] = { "", " ", "count %u name %s", "number %d", "%d",
		"prev_pid %d next_pid %d prev_state %ld" };

	if (one_in(40)) {
		format_size = NO_TEXT;
	} else if (one_in(6)) {
		fill(format, &format_size, odd_size(FORMAT_LEN));
	} else if (one_in(2)) {
		make_fields();
	} else {
		format_size = 0;
		append(any_of(good));
	}
}

static size_t put(size_t at, const char *text, size_t size)
{
	if (size == NO_TEXT)
		return at;
	memcpy(input.text + at, text, size);
	return at + size;
}

/* Return: 0 or the error. */
static int call(enum names_call what, unsigned int private, unsigned long long value)
{
	size_t size;

	inputs++;
	input.head.call = what;
	input.head.private = private;
	input.head.value = value;
	input.head.batch = one_in(2);
	input.head.name_size = name_size;
	input.head.format_size = format_size;
	size = put(put(0, name, name_size), format, format_size);
	if (write(file, &input, sizeof(input.head) + size) < 0)
		return errno;
	accepted++;
	return 0;
}

static size_t length_of(const char *text, size_t size)
{
	return size == NO_TEXT ? 0 : strnlen(text, size);
}

static bool is_name(void)
{
	size_t len = length_of(name, name_size);

	return len && len < NAME_LEN;
}

static bool is_format(void)
{
	return format_size != NO_TEXT && length_of(format, format_size) < FORMAT_LEN;
}

/* The entry for the name, or NULL if there is no space for another one. */
static struct known *find(void)
{
	size_t len = length_of(name, name_size);
	struct known *entry;
	unsigned int i;

	for (i = 0; i < nr_known; i++)
		if (strlen(known[i].name) == len && !memcmp(known[i].name, name, len))
			return &known[i];
	if (nr_known == NR_KNOWN)
		return NULL;
	entry = &known[nr_known++];
	memset(entry, 0, sizeof(*entry));
	memcpy(entry->name, name, len);
	return entry;
}

static bool has_probes(const struct known *entry, unsigned int form)
{
	unsigned int i;

	for (i = 0; i < NR_PRIVATES; i++)
		if (entry->probes[form][i])
			return true;
	return false;
}

static bool registered_right(struct known *entry, unsigned int form, unsigned int private,
			     int error)
{
	unsigned int *probes = &entry->probes[form][private];

	if (!is_format())
		return error == EINVAL;
	switch (error) {
	case 0:
		++*probes;
		return true;
	case EEXIST:
		return *probes;
	case EPERM:
		return true;
	case EINVAL:
		return form;	/* variadic probes do not support all formats */
	}
	return false;
}

static bool unregistered_right(unsigned int *probes, int error)
{
	if (error)
		return error == ENOENT && !*probes;
	return (*probes)--;
}

static bool name_unregistered_right(struct known *entry, int error)
{
	bool right = error ? error == ENOENT && !has_probes(entry, 1) : has_probes(entry, 1);

	memset(entry->probes[1], 0, sizeof(entry->probes[1]));
	return right;
}

static bool armed_right(struct known *entry, int error)
{
	bool may = entry->armed || has_probes(entry, 0) || has_probes(entry, 1);

	if (error)
		return error == ENOENT && !may;
	entry->armed++;
	return may;
}

static bool disarmed_right(struct known *entry, int error)
{
	if (error)
		return (error == ENOENT || error == EINVAL) && !entry->armed;
	return entry->armed--;
}

static bool named_call_is_right(enum names_call what, struct known *entry,
				unsigned int private, int error)
{
	switch (what) {
	case NAMES_REGISTER:
	case NAMES_REGISTER_VARIADIC:
		return registered_right(entry, what == NAMES_REGISTER_VARIADIC, private, error);
	case NAMES_UNREGISTER:
		return unregistered_right(&entry->probes[0][private], error);
	case NAMES_UNREGISTER_VARIADIC:
		return unregistered_right(&entry->probes[1][private], error);
	case NAMES_UNREGISTER_NAME:
		return name_unregistered_right(entry, error);
	case NAMES_ARM:
		return armed_right(entry, error);
	case NAMES_DISARM:
		return disarmed_right(entry, error);
	default:
		return !error || error == ENOENT;
	}
}

static void once(void)
{
	enum names_call what = below(NAMES_CALLS);
	unsigned int private = below(NR_PRIVATES);
	bool needs_name = what != NAMES_LAYOUT && what != NAMES_SET;
	struct known *entry = NULL;
	bool right;
	int error;

	if (what == NAMES_UNREGISTER_PRIVATE)
		return;		/* only at the end: it does not return which probe */
	make_name();
	make_format();
	if (needs_name && is_name()) {
		entry = find();
		if (!entry)
			return;
	}
	error = call(what, private, random_number() >> below(64));
	if (what == NAMES_LAYOUT)
		right = !error || error == EINVAL || error == E2BIG;
	else if (what == NAMES_SET)
		right = !error;
	else if (!entry)
		right = error == EINVAL;
	else
		right = named_call_is_right(what, entry, private, error);
	if (right)
		return;
	failed++;
	printf("# call %d of '%.*s', '%.*s': error %d\n", what,
	       (int)length_of(name, name_size), name, (int)length_of(format, format_size),
	       format, error);
}

/* Afterwards nothing is registered or armed. */
static void clean_up(void)
{
	unsigned int i, private, form;

	for (i = 0; i < nr_known; i++) {
		strcpy(name, known[i].name);
		name_size = strlen(name);
		while (known[i].armed--)
			failed += !!call(NAMES_DISARM, 0, 0);
	}
	for (private = 0; private < NR_PRIVATES; private++)
		for (form = 0; form < 2; form++)
			while (!call(NAMES_UNREGISTER_PRIVATE, private, form))
				;
	nr_known = 0;
}

/* Bytes that are not a valid call. */
static void write_random(void)
{
	size_t size = below(100);
	char bytes[100];

	inputs++;
	fill(bytes, &size, size);
	if (size)
		bytes[0] = NAMES_CALLS + below(100);
	if (write(file, bytes, size) > 0)
		failed++;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	set_time(argv[1], argv[2]);
	file = open("/sys/kernel/debug/inputs_names", O_WRONLY);
	if (result("names: the module is there", file >= 0))
		return 1;
	do {
		once();
		if (one_in(50))
			write_random();
		if (nr_known == NR_KNOWN || one_in(2000))
			clean_up();
	} while (inputs % 64 || !time_is_over());
	clean_up();
	result("names: each call returns what is right", !failed);
	printf("# names: %lu inputs, %lu accepted, %lu failed\n", inputs, accepted, failed);
	return failed > 0;
}
