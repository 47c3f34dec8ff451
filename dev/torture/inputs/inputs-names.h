/* SPDX-License-Identifier: GPL-2.0 */
#ifndef INPUTS_NAMES_H
#define INPUTS_NAMES_H

/* What is written to /sys/kernel/debug/inputs_names: one call of an interface. */

enum names_call {
	NAMES_REGISTER, NAMES_REGISTER_VARIADIC, NAMES_UNREGISTER, NAMES_UNREGISTER_VARIADIC,
	NAMES_UNREGISTER_NAME, NAMES_UNREGISTER_PRIVATE, NAMES_GET_PRIVATE, NAMES_ARM,
	NAMES_DISARM, NAMES_LAYOUT, NAMES_SET, NAMES_CALLS,
};

/* The name and the format follow, without a NUL. */
struct names_input {
	unsigned char call;
	unsigned char private;
	unsigned short name_size;
	unsigned short format_size;
	unsigned short batch;
	unsigned long long value;
};

#endif
