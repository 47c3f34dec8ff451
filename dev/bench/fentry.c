// SPDX-License-Identifier: GPL-2.0
/*
 * fentry NUMBER: attach an empty BPF program to the entries of so many functions of the
 * kernel by one link, detach it, and print the ticks of the TSC that each took.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <err.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <x86intrin.h>

#define MAX_ARGS	5
#define MAX_TRACEABLE	100000
#define FENTRY_MULTI	59	/* BPF_TRACE_FENTRY_MULTI, which Debian's header lacks */

static char *traceable[MAX_TRACEABLE];
static size_t nr_traceable;

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void read_traceable(void)
{
	FILE *file = fopen("/sys/kernel/tracing/available_filter_functions", "r");
	char *name;

	if (!file)
		err(1, "available_filter_functions");
	while (nr_traceable < MAX_TRACEABLE && fscanf(file, "%ms%*[^\n]", &name) == 1)
		traceable[nr_traceable++] = name;
	fclose(file);
	qsort(traceable, nr_traceable, sizeof(*traceable), compare);
}

/* The kernel refuses functions that its programs use, and functions with two places. */
static bool is_attachable(const char *name)
{
	char **found = bsearch(&name, traceable, nr_traceable, sizeof(*traceable), compare);

	if (!found || strstr(name, "rcu") || strstr(name, "preempt") || strstr(name, "migrate"))
		return false;
	return (found == traceable || strcmp(found[-1], name)) &&
	       (found + 1 == traceable + nr_traceable || strcmp(found[1], name));
}

static bool is_word(const struct btf *btf, __u32 id)
{
	const struct btf_type *type = btf__type_by_id(btf, id);

	while (btf_is_mod(type) || btf_is_typedef(type))
		type = btf__type_by_id(btf, type->type);
	return btf_is_int(type) || btf_is_ptr(type) || btf_is_any_enum(type);
}

static bool is_simple(const struct btf *btf, const struct btf_type *func)
{
	const struct btf_type *proto = btf__type_by_id(btf, func->type);

	if (btf_vlen(proto) > MAX_ARGS || (proto->type && !is_word(btf, proto->type)))
		return false;
	for (unsigned int i = 0; i < btf_vlen(proto); i++) {
		if (!is_word(btf, btf_params(proto)[i].type))
			return false;
	}
	return true;
}

static void choose(__u32 *ids, unsigned int number)
{
	struct btf *btf = btf__load_vmlinux_btf();
	unsigned int nr = 0;

	if (!btf)
		err(1, "BTF");
	for (__u32 id = 1; nr < number && id < btf__type_cnt(btf); id++) {
		const struct btf_type *type = btf__type_by_id(btf, id);

		if (btf_is_func(type) && is_simple(btf, type) &&
		    is_attachable(btf__name_by_offset(btf, type->name_off)))
			ids[nr++] = id;
	}
	if (nr < number)
		errx(1, "%u functions", nr);
	btf__free(btf);
}

static int load(void)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },	/* r0 = 0 */
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = FENTRY_MULTI);
	int prog = bpf_prog_load(BPF_PROG_TYPE_TRACING, "empty", "GPL", insns, 2, &opts);

	if (prog < 0)
		err(1, "load the program");
	return prog;
}

int main(int argc, char **argv)
{
	unsigned int number = argc == 2 ? atoi(argv[1]) : 0;
	/* These members of union bpf_attr make such a link. */
	struct {
		__u32 prog_fd, target_fd, attach_type, flags;
		__u64 ids, cookies;
		__u32 cnt, unused;
	} attr = { .attach_type = FENTRY_MULTI, .cnt = number };
	__u32 *ids = calloc(number, sizeof(*ids));
	unsigned long long start, attached;
	int link;

	if (!number || !ids)
		errx(2, "usage: fentry NUMBER");
	read_traceable();
	choose(ids, number);
	attr.prog_fd = load();
	attr.ids = (unsigned long)ids;
	start = __rdtsc();
	link = syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));
	attached = __rdtsc();
	if (link < 0)
		err(1, "attach to %u functions", number);
	printf("%llu ", attached - start);
	start = __rdtsc();
	close(link);
	printf("%llu\n", __rdtsc() - start);
	return 0;
}
