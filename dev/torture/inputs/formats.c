// SPDX-License-Identifier: GPL-2.0
/*
 * Registers probes for names and formats of random bytes while the module is loaded:
 * it takes "seconds". Names and formats are in memory of their exact size, so that
 * KASAN detects reads beyond them. A registration must be refused with -EINVAL, or be
 * undone exactly once; anything else counts as failed.
 */
#include <linux/ctype.h>
#include <linux/jiffies.h>
#include <linux/marker.h>
#include <linux/module.h>
#include <linux/prandom.h>
#include <linux/sched.h>
#include <linux/slab.h>

#define MAX_SIZE	(MARKER_FORMAT_LEN + 100)

static unsigned int seconds = 1, seed;
module_param(seconds, uint, 0400);
module_param(seed, uint, 0400);

static unsigned long inputs, accepted, failed;
module_param(inputs, ulong, 0400);
module_param(accepted, ulong, 0400);
module_param(failed, ulong, 0400);

static const char *const names[] = {
	"inputs_one", "inputs_%s%n", "kernel_sched_switch", "sample_event", "", " ", "enable",
	"..", "a/b", "\n", "\303\244", "inputs two\ttab",
};

static const char *const conversions[] = {
	"%d", "%i", "%u", "%x", "%X", "%o", "%c", "%s", "%p", "%pS", "%n", "%*d", "%.*s", "%ll",
	"%lld", "%lu", "%llx", "%hd", "%hhd", "%zd", "%jd", "%td", "%Lf", "%f", "%pV", "%pI4",
	"%pK", "%ls", "%lp", "%-5d", "%+d", "% d", "%#x", "%05d", "%.4s", "%.99999999999s",
	"%99999999999d", "%-+ #0123456.789llx", "%%", "%", "%l", "%1$d", "%\n", "%\200d", "%d%d",
};

static const char *const fields[] = {
	"count ", "name=", "a ", "", " ", "1 ", "int ", "common_pid ", "arg1 ", "\t", "\n", "\377",
	"\"", "\\", "x y ", "very_long_name_of_a_field_that_goes_on_and_on_and_on_and_on ",
};

static struct rnd_state state;

static unsigned int below(unsigned int n)
{
	return prandom_u32_state(&state) % n;
}

#define any_of(array)	(array)[below(ARRAY_SIZE(array))]

static size_t random_bytes(char *text, size_t limit)
{
	size_t i, size = below(3) ? below(40) : limit - 3 + below(6);
	bool printable = below(2);

	for (i = 0; i < size; i++)
		text[i] = printable ? ' ' + below(95) : below(256);
	return size;
}

static size_t random_fields(char *text)
{
	unsigned int number = below(20) ? below(8) : 60 + below(10);
	const char *same = below(3) ? NULL : any_of(conversions);
	size_t size = 0;

	while (number--)
		size += scnprintf(text + size, MAX_SIZE - size, "%s%s%s", any_of(fields),
				  same ?: any_of(conversions), below(4) ? " " : "");
	if (size && !below(5))
		text[below(size)] = below(256);
	return size;
}

/* A copy of the exact size; NULL if there is no memory. */
static char *copy(const char *text, size_t size)
{
	char *exact = kmalloc(size + 1, GFP_KERNEL);

	if (exact) {
		memcpy(exact, text, size);
		exact[size] = '\0';
	}
	return exact;
}

static char *random_name(char *text)
{
	const char *name = any_of(names);

	if (below(6))
		return copy(name, strlen(name));
	return copy(text, random_bytes(text, MARKER_NAME_LEN));
}

static char *random_format(char *text)
{
	return copy(text, below(4) ? random_fields(text) :
				     random_bytes(text, MARKER_FORMAT_LEN));
}

static void probe(void *private, void *call_private, const char *format, va_list *args)
{
}

static bool is_name(const char *name)
{
	size_t len = strlen(name);

	return len && len < MARKER_NAME_LEN;
}

/*
 * Are the answers to a probe of this format right? While it is registered, another one is,
 * if @other is not NULL: several formats of a name can wait for their markers.
 */
static bool is_right(const char *name, const char *format, const char *other)
{
	void *private = (void *)format;
	int ret = marker_probe_register(name, format, probe, private);

	if (ret)
		return ret == -EINVAL || ret == -EPERM;
	accepted++;
	return is_name(name) && strlen(format) < MARKER_FORMAT_LEN &&
	       marker_probe_register(name, format, probe, private) == -EEXIST &&
	       (!other || is_right(name, other, NULL)) &&
	       !marker_probe_unregister(name, probe, private) &&
	       marker_probe_unregister(name, probe, private) == -ENOENT;
}

static void try_once(char *text)
{
	char *name = random_name(text);
	char *format = random_format(text);
	char *other = random_format(text);

	if (name && format && other) {
		inputs++;
		if (!is_right(name, format, other)) {
			failed++;
			pr_info("formats: wrong: name '%s', format '%s'\n", name, format);
		}
	}
	kfree(name);
	kfree(format);
	kfree(other);
}

static int __init formats_init(void)
{
	unsigned long end = jiffies + seconds * HZ;
	char *text = kmalloc(MAX_SIZE, GFP_KERNEL);

	if (!text)
		return -ENOMEM;
	prandom_seed_state(&state, seed);
	while (time_before(jiffies, end) && failed < 10) {
		try_once(text);
		cond_resched();
	}
	kfree(text);
	return 0;
}
module_init(formats_init);

static void __exit formats_exit(void)
{
	marker_synchronize_unregister();
}
module_exit(formats_exit);

MODULE_DESCRIPTION("Registers probes with names and formats of any bytes");
MODULE_LICENSE("GPL");
