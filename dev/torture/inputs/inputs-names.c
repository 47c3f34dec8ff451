// SPDX-License-Identifier: GPL-2.0
/*
 * Calls the interfaces of markers and immediate values with the data that is written to
 * the file inputs_names in debugfs: names and formats of any bytes. They are in memory
 * of their exact size, so that KASAN detects reads beyond them. The write returns the
 * result of the call.
 */
#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/immediate.h>
#include <linux/marker.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "inputs-names.h"

static char privates[4];
static unsigned long hits;

static void probe(void *private, void *call_private, const char *format, va_list *args)
{
	hits++;
}

static void probe_variadic(const struct __mark_marker *marker, void *private,
			   const char *format, ...)
{
	hits++;
}

static DEFINE_IMV(u8, names_8);
static DEFINE_IMV(u16, names_16);
static DEFINE_IMV(u32, names_32);
static DEFINE_IMV(u64, names_64);
static DEFINE_IMV(bool, names_bool);

/* Return: 0 if they are what they were set to. */
static int check_values(u64 value)
{
	bool on = false;

	immediate_if(names_bool)
		on = true;
	return imv_read(names_8) == (u8)value && imv_read(names_16) == (u16)value &&
	       imv_read(names_32) == (u32)value && imv_read(names_64) == value &&
	       on == !!value ? 0 : -EILSEQ;
}

static int set_values(u64 value, bool batch)
{
	if (batch)
		imv_batch_begin();
	imv_set(names_8, value);
	imv_set(names_16, value);
	imv_set(names_32, value);
	imv_set(names_64, value);
	imv_set(names_bool, value);
	if (batch)
		imv_batch_commit();
	return check_values(value);
}

/* The fields must be within the format. */
static int check_layout(const struct marker_layout *layout, const char *format)
{
	unsigned int i;

	if (strcmp(layout->format, format) || layout->nr_fields > MARKER_MAX_FIELDS ||
	    layout->nr_strings > MARKER_MAX_STRINGS)
		return -EILSEQ;
	for (i = 0; i < layout->nr_fields; i++) {
		const struct marker_field *field = &layout->field[i];

		if (*field->spec != '%' || field->spec < layout->format ||
		    field->spec + field->len > layout->format + strlen(format) ||
		    !strlen(field->name) || !field->size)
			return -EILSEQ;
	}
	return 0;
}

static int make_layout(const char *format)
{
	struct marker_layout *layout = marker_layout_new(format);
	int ret;

	if (IS_ERR(layout))
		return PTR_ERR(layout);
	ret = check_layout(layout, format);
	marker_layout_free(layout);
	return ret;
}

static int call(const struct names_input *input, const char *name, const char *format)
{
	void *private = &privates[input->private % ARRAY_SIZE(privates)];

	switch (input->call) {
	case NAMES_REGISTER:
		return marker_probe_register(name, format, probe, private);
	case NAMES_REGISTER_VARIADIC:
		return marker_probe_register(name, format, probe_variadic, private);
	case NAMES_UNREGISTER:
		return marker_probe_unregister(name, probe, private);
	case NAMES_UNREGISTER_VARIADIC:
		return marker_probe_unregister(name, probe_variadic, private);
	case NAMES_UNREGISTER_NAME:
		return marker_probe_unregister(name);
	case NAMES_UNREGISTER_PRIVATE:
		return input->value & 1 ?
		       marker_probe_unregister_private_data(probe, private) :
		       marker_probe_unregister_private_data(probe_variadic, private);
	case NAMES_GET_PRIVATE:
		return PTR_ERR_OR_ZERO(marker_get_private_data(name, probe, (int)input->value));
	case NAMES_ARM:
		return marker_arm(name);
	case NAMES_DISARM:
		return marker_disarm(name);
	case NAMES_LAYOUT:
		return make_layout(format);
	case NAMES_SET:
		return set_values(input->value, input->batch);
	}
	return -EOPNOTSUPP;
}

/* The size U16_MAX stands for a NULL pointer. */
static char *take(const char *from, size_t size)
{
	char *text;

	if (size == U16_MAX)
		return NULL;
	text = kmalloc(size + 1, GFP_KERNEL);
	if (!text)
		return ERR_PTR(-ENOMEM);
	memcpy(text, from, size);
	text[size] = '\0';
	return text;
}

static size_t size_of(unsigned short size)
{
	return size == U16_MAX ? 0 : size;
}

static int call_with_copies(const struct names_input *input, size_t size)
{
	const char *text = (const char *)(input + 1);
	char *name, *format;
	int ret = -ENOMEM;

	if (size != sizeof(*input) + size_of(input->name_size) + size_of(input->format_size))
		return -EMSGSIZE;
	name = take(text, input->name_size);
	format = take(text + size_of(input->name_size), input->format_size);
	if (input->call == NAMES_LAYOUT && !format)
		ret = -EINVAL;
	else if (!IS_ERR(name) && !IS_ERR(format))
		ret = call(input, name, format);
	if (!IS_ERR(name))
		kfree(name);
	if (!IS_ERR(format))
		kfree(format);
	return ret;
}

static ssize_t names_write(struct file *file, const char __user *user, size_t size,
			   loff_t *pos)
{
	struct names_input *input;
	int ret = -EMSGSIZE;

	if (size < sizeof(*input) || size > sizeof(*input) + 2 * U16_MAX)
		return -EMSGSIZE;
	input = memdup_user(user, size);
	if (IS_ERR(input))
		return PTR_ERR(input);
	ret = call_with_copies(input, size);
	kfree(input);
	return ret ?: (ssize_t)size;
}

static const struct file_operations names_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = names_write,
};

static struct dentry *names_file;

static int __init names_init(void)
{
	names_file = debugfs_create_file("inputs_names", 0200, NULL, NULL, &names_fops);
	return PTR_ERR_OR_ZERO(names_file);
}
module_init(names_init);

static void __exit names_exit(void)
{
	debugfs_remove(names_file);
}
module_exit(names_exit);

MODULE_DESCRIPTION("Calls interfaces with names and formats of any bytes");
MODULE_LICENSE("GPL");
