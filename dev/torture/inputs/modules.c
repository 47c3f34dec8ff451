// SPDX-License-Identifier: GPL-2.0
/*
 * modules MODULE SECONDS SEED: damages the records of a module, in its file, and loads
 * it. First it damages records in each way of a list (each record, if there is time).
 * The kernel must refuse most of these with one line that names module, section and
 * record. Then it damages at random. A module that is loaded is used and
 * unloaded. Afterwards the original file must work.
 *
 * Relocations are changed only as far as the kernel's module loader permits: it does
 * not check their offset in the section, or the number of their symbol.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "inputs.h"

#define NAME "inputs_victim"
#define PARAMETERS "/sys/module/" NAME "/parameters/"

/* The original file, and the copy that is damaged. */
static unsigned char *original, *image;
static size_t image_size;

/* May the damaged markers be enabled? Not if that may call a wrong address. */
static bool may_enable;

static unsigned long inputs, failed, refused, loaded;
static int kmsg;

static Elf64_Ehdr *header(void)
{
	return (Elf64_Ehdr *)image;
}

static Elf64_Shdr *sections(void)
{
	return (Elf64_Shdr *)(image + header()->e_shoff);
}

static Elf64_Shdr *section(const char *name)
{
	const Elf64_Shdr *names = &sections()[header()->e_shstrndx];
	unsigned int i;

	for (i = 1; i < header()->e_shnum; i++)
		if (!strcmp((char *)image + names->sh_offset + sections()[i].sh_name,
			    name))
			return &sections()[i];
	fprintf(stderr, "no section %s\n", name);
	exit(2);
}

static unsigned char *bytes_of(const char *name)
{
	return image + section(name)->sh_offset;
}

static Elf64_Rela *relocations(const char *name, unsigned int *count)
{
	char full[64];
	Elf64_Shdr *shdr;

	snprintf(full, sizeof(full), ".rela%s", name);
	shdr = section(full);
	*count = shdr->sh_size / sizeof(Elf64_Rela);
	return (Elf64_Rela *)(image + shdr->sh_offset);
}

/* The relocation at an offset, or NULL. */
static Elf64_Rela *relocation(const char *name, uint64_t offset)
{
	unsigned int count, i;
	Elf64_Rela *rela = relocations(name, &count);

	for (i = 0; i < count; i++)
		if (rela[i].r_offset == offset &&
		    ELF64_R_TYPE(rela[i].r_info) != R_X86_64_NONE)
			return &rela[i];
	return NULL;
}

static void drop(Elf64_Rela *rela)
{
	rela->r_info = ELF64_R_INFO(0, R_X86_64_NONE);
}

static void drop_range(const char *name, uint64_t from, uint64_t to)
{
	unsigned int count, i;
	Elf64_Rela *rela = relocations(name, &count);

	for (i = 0; i < count; i++)
		if (rela[i].r_offset >= from && rela[i].r_offset < to)
			drop(&rela[i]);
}

static unsigned int nr_symbols(void)
{
	return section(".symtab")->sh_size / sizeof(Elf64_Sym);
}

/* The compiler may add a number to the name of a static variable. */
static bool is_called(const char *symbol, const char *name)
{
	size_t len = strlen(name);

	return !strncmp(symbol, name, len) && (!symbol[len] || symbol[len] == '.');
}

static unsigned int symbol(const char *name)
{
	Elf64_Sym *sym = (Elf64_Sym *)bytes_of(".symtab");
	const char *names = (char *)bytes_of(".strtab");
	unsigned int i;

	for (i = 0; i < nr_symbols(); i++)
		if (is_called(names + sym[i].st_name, name))
			return i;
	fprintf(stderr, "no symbol %s\n", name);
	exit(2);
}

static bool lead_to(Elf64_Rela *rela, const char *name, int64_t addend)
{
	rela->r_info = ELF64_R_INFO(symbol(name), ELF64_R_TYPE(rela->r_info));
	rela->r_addend = addend;
	return true;
}

/* The tables, and the offsets in their records. */
static const char IMV[] = "__imv", MARKERS[] = "__markers";
static const char TRACEPOINTS[] = "__tracepoints", POINTERS[] = "__tracepoints_ptrs";

#define IMV_SIZE 12
#define IMV_INSN 0
#define IMV_TARGET 4
#define IMV_VAR 8
#define MARKER_SIZE 56
#define MARKER_NAME 0
#define MARKER_FORMAT 8
#define MARKER_ENTRY 16
#define MARKER_NEXT 24
#define MARKER_TP 32
#define MARKER_CB 40
#define MARKER_ACTIVE 48
#define MARKER_USED 49
/* A kernel with events on tracepoints has PROBESTUB_SIZE more, before the functions. */
static const char PROBESTUBS[] = "__tracepoints";
#define PROBESTUB 16
#define PROBESTUB_SIZE 8
#define TRACEPOINT_SIZE 32
#define TRACEPOINT_NAME 0
#define TRACEPOINT_CALLBACKS 8
#define TRACEPOINT_FUNCS 16
#define TRACEPOINT_ACTIVE 24
#define TRACEPOINT_ARGS 25
#define TRACEPOINT_CODE 28
#define POINTER_SIZE 4

static unsigned int count_of(const char *name, unsigned int size)
{
	return section(name)->sh_size / size;
}

/*
 * The ways to damage record @nr of a table, or the table, at offset @at by @how.
 * Return: false if that does not make sense.
 */
struct way {
	const char *table;
	unsigned int size;
	bool (*damage)(const struct way *way, unsigned int nr);
	unsigned int at;
	int64_t how;
	const char *where;
	bool harmless;	/* it may be loaded or refused */
};

static Elf64_Rela *of_way(const struct way *way, unsigned int nr)
{
	return relocation(way->table, nr * way->size + way->at);
}

static bool move_pointer(const struct way *way, unsigned int nr)
{
	Elf64_Rela *rela = of_way(way, nr);

	if (rela)
		rela->r_addend += way->how;
	return rela;
}

static bool no_pointer(const struct way *way, unsigned int nr)
{
	Elf64_Rela *rela = of_way(way, nr);

	if (rela)
		drop(rela);
	return rela;
}

static bool point_to(const struct way *way, unsigned int nr)
{
	Elf64_Rela *rela = of_way(way, nr);

	return rela && lead_to(rela, way->where, way->how);
}

/* A value instead of a pointer, if there is one. */
static bool put_value(const struct way *way, unsigned int nr)
{
	unsigned int offset = nr * way->size + way->at;
	Elf64_Rela *rela = of_way(way, nr);

	if (rela)
		drop(rela);
	memcpy(bytes_of(way->table) + offset, &way->how,
	       way->table == IMV || way->table == POINTERS ? 4 : 8);
	return true;
}

static bool put_byte(const struct way *way, unsigned int nr)
{
	bytes_of(way->table)[nr * way->size + way->at] = way->how;
	return true;
}

static bool is_jump(unsigned int nr)
{
	return relocation(IMV, nr * IMV_SIZE + IMV_TARGET);
}

/* A size that is not that of the instruction, for one that loads. */
static bool put_size(const struct way *way, unsigned int nr)
{
	unsigned char *size = bytes_of(IMV) + nr * IMV_SIZE + IMV_TARGET;

	if (is_jump(nr) || *size == way->how)
		return false;
	*size = way->how;
	return true;
}

/*
 * The flags are the low bits of the variable. Not where the kernel cannot detect the
 * change: a MOV has 5 bytes for all sizes but the largest.
 */
static bool turn_flags(const struct way *way, unsigned int nr)
{
	Elf64_Rela *rela = of_way(way, nr);
	unsigned int flags = rela->r_addend & 3;

	if (!is_jump(nr) && (flags == 3) == ((flags ^ way->how) == 3))
		return false;
	if (is_jump(nr) && flags != 3 && !((flags ^ way->how) & 1))
		return false;
	rela->r_addend ^= way->how;
	return true;
}

/* Makes this record a copy of the one before it. */
static bool duplicate(const struct way *way, unsigned int nr)
{
	unsigned int at, size = way->size;
	Elf64_Rela *from, *to;

	if (!nr)
		return false;
	memcpy(bytes_of(way->table) + nr * size,
	       bytes_of(way->table) + (nr - 1) * size, size);
	for (at = 0; at < size; at += 4) {
		from = relocation(way->table, (nr - 1) * size + at);
		to = relocation(way->table, nr * size + at);
		if (!from != !to)
			return false;
		if (from) {
			to->r_info = from->r_info;
			to->r_addend = from->r_addend;
		}
	}
	return true;
}

/* The following damage whole tables, and so apply only to record 0. */
static bool cut(const struct way *way, unsigned int nr)
{
	Elf64_Shdr *shdr = section(way->table);

	if (nr)
		return false;
	shdr->sh_size -= way->how;
	drop_range(way->table, shdr->sh_size - way->size + 1, ~0ULL);
	return true;
}

static bool no_bytes(const struct way *way, unsigned int nr)
{
	Elf64_Shdr *shdr = section(way->table);

	if (nr)
		return false;
	shdr->sh_type = SHT_NOBITS;
	shdr->sh_size = way->how;
	drop_range(way->table, 0, ~0ULL);
	return true;
}

/* Strings without a NUL, up to the end of their section. */
static bool no_ends(const struct way *way, unsigned int nr)
{
	const Elf64_Shdr *shdr = section(way->where);

	if (nr)
		return false;
	memset(bytes_of(way->where), 'x', shdr->sh_size);
	return true;
}

static bool set_flags(const struct way *way, unsigned int nr)
{
	if (nr)
		return false;
	section(way->table)->sh_flags = way->how;
	return true;
}

#define EACH_TABLE(way, how)						\
	{ IMV, IMV_SIZE, way, 0, how, NULL, false },			\
	{ MARKERS, MARKER_SIZE, way, 0, how, NULL, false }

static struct way ways[] = {
	/* Instructions: at wrong offsets, after and before the text, in the kernel, nowhere. */
	{ IMV, IMV_SIZE, move_pointer, IMV_INSN, 1, NULL, false },
	{ IMV, IMV_SIZE, move_pointer, IMV_INSN, -1, NULL, false },
	{ IMV, IMV_SIZE, move_pointer, IMV_INSN, 3, NULL, false },
	{ IMV, IMV_SIZE, move_pointer, IMV_INSN, 0x1000, NULL, false },
	{ IMV, IMV_SIZE, move_pointer, IMV_INSN, -0x100000, NULL, false },
	{ IMV, IMV_SIZE, move_pointer, IMV_INSN, 0x7f000000, NULL, false },
	{ IMV, IMV_SIZE, point_to, IMV_INSN, 0, "__imv_set", false },
	{ IMV, IMV_SIZE, point_to, IMV_INSN, 0, "marker_call", false },
	{ IMV, IMV_SIZE, point_to, IMV_INSN, 0, "__tracepoint_kfree", false },
	{ IMV, IMV_SIZE, no_pointer, IMV_INSN, 0, NULL, false },
	{ IMV, IMV_SIZE, put_value, IMV_INSN, 0x7ffffff0, NULL, false },
	{ IMV, IMV_SIZE, put_value, IMV_INSN, -4, NULL, false },
	/* Wrong targets of jumps, wrong sizes. */
	{ IMV, IMV_SIZE, move_pointer, IMV_TARGET, 1, NULL, true },	/* a NOP has no target */
	{ IMV, IMV_SIZE, move_pointer, IMV_TARGET, 0x100000, NULL, false },
	{ IMV, IMV_SIZE, point_to, IMV_TARGET, 0, "marker_call", false },
	{ IMV, IMV_SIZE, no_pointer, IMV_TARGET, 0, NULL, false },
	{ IMV, IMV_SIZE, put_value, IMV_TARGET, 16, NULL, false },
	{ IMV, IMV_SIZE, put_value, IMV_TARGET, 0x7fffffff, NULL, false },
	{ IMV, IMV_SIZE, put_size, 0, 0, NULL, false },
	{ IMV, IMV_SIZE, put_size, 0, 1, NULL, false },
	{ IMV, IMV_SIZE, put_size, 0, 5, NULL, false },
	{ IMV, IMV_SIZE, put_size, 0, 6, NULL, false },
	{ IMV, IMV_SIZE, put_size, 0, 10, NULL, false },
	{ IMV, IMV_SIZE, put_size, 0, 15, NULL, false },
	/* Invalid variables, and variables of another size. */
	{ IMV, IMV_SIZE, move_pointer, IMV_VAR, 0x1000000, NULL, false },
	{ IMV, IMV_SIZE, move_pointer, IMV_VAR, -0x40000000, NULL, false },
	{ IMV, IMV_SIZE, point_to, IMV_VAR, 0, "marker_call", false },
	{ IMV, IMV_SIZE, no_pointer, IMV_VAR, 0, NULL, true },
	{ IMV, IMV_SIZE, turn_flags, IMV_VAR, 1, NULL, false },
	{ IMV, IMV_SIZE, turn_flags, IMV_VAR, 2, NULL, false },
	{ IMV, IMV_SIZE, turn_flags, IMV_VAR, 3, NULL, false },
	{ IMV, IMV_SIZE, duplicate, 0, 0, NULL, false },
	/* Tables. */
	EACH_TABLE(cut, 1),
	EACH_TABLE(cut, 4),
	EACH_TABLE(cut, 11),
	EACH_TABLE(no_bytes, 12 * 56),
	EACH_TABLE(no_bytes, 1 << 20),
	EACH_TABLE(no_bytes, 1000),
	EACH_TABLE(set_flags, SHF_ALLOC),
	{ IMV, IMV_SIZE, no_bytes, 0, 0, NULL, true },
	{ MARKERS, MARKER_SIZE, no_bytes, 0, 0, NULL, true },
	{ POINTERS, POINTER_SIZE, cut, 0, 1, NULL, false },
	{ POINTERS, POINTER_SIZE, cut, 0, 3, NULL, false },
	{ POINTERS, POINTER_SIZE, no_bytes, 0, 64, NULL, false },
	/* Names and formats. */
	{ MARKERS, MARKER_SIZE, move_pointer, MARKER_NAME, 0x1000000, NULL, false },
	{ MARKERS, MARKER_SIZE, move_pointer, MARKER_NAME, -0x1000000, NULL, false },
	{ MARKERS, MARKER_SIZE, no_pointer, MARKER_NAME, 0, NULL, false },
	{ MARKERS, MARKER_SIZE, put_value, MARKER_NAME, 0x400000, NULL, false },
	{ MARKERS, MARKER_SIZE, put_value, MARKER_NAME, -1, NULL, false },
	{ MARKERS, MARKER_SIZE, put_value, MARKER_NAME, 0xdead000000000100, NULL, false },
	{ MARKERS, MARKER_SIZE, point_to, MARKER_NAME, 0, "marker_call", false },
	{ MARKERS, MARKER_SIZE, move_pointer, MARKER_FORMAT, 0x1000000, NULL, false },
	{ MARKERS, MARKER_SIZE, no_pointer, MARKER_FORMAT, 0, NULL, false },
	{ MARKERS, MARKER_SIZE, put_value, MARKER_FORMAT, 0x400000, NULL, false },
	{ MARKERS, MARKER_SIZE, point_to, MARKER_FORMAT, 0, "marker_call", false },
	{ MARKERS, MARKER_SIZE, no_ends, 0, 0, "__markers_strings", false },
	/* Fields that must be zero. */
	{ MARKERS, MARKER_SIZE, put_value, MARKER_ENTRY, 1, NULL, false },
	{ MARKERS, MARKER_SIZE, put_value, MARKER_NEXT, -4096, NULL, false },
	{ MARKERS, MARKER_SIZE, put_byte, MARKER_ACTIVE, 1, NULL, false },
	{ MARKERS, MARKER_SIZE, put_byte, MARKER_USED, 255, NULL, false },
	/* Invalid tracepoints and probes. */
	{ MARKERS, MARKER_SIZE, move_pointer, MARKER_TP, 8, NULL, false },
	{ MARKERS, MARKER_SIZE, move_pointer, MARKER_TP, -0x10000000, NULL, false },
	{ MARKERS, MARKER_SIZE, no_pointer, MARKER_TP, 0, NULL, false },
	{ MARKERS, MARKER_SIZE, put_value, MARKER_TP, 0x400000, NULL, false },
	{ MARKERS, MARKER_SIZE, point_to, MARKER_TP, 0, "param_ops_bool", false },
	{ MARKERS, MARKER_SIZE, point_to, MARKER_TP, 0, "__preempt_count", false },
	{ MARKERS, MARKER_SIZE, point_to, MARKER_TP, 0, "__this_module", false },
	{ MARKERS, MARKER_SIZE, move_pointer, MARKER_CB, 0x100000, NULL, false },
	{ MARKERS, MARKER_SIZE, no_pointer, MARKER_CB, 0, NULL, false },
	{ MARKERS, MARKER_SIZE, put_value, MARKER_CB, 0x400000, NULL, false },
	{ MARKERS, MARKER_SIZE, point_to, MARKER_CB, 0, "__this_module", false },
	{ MARKERS, MARKER_SIZE, point_to, MARKER_CB, 0, "marker_call", false },
	/* The module's own tracepoints. */
	{ POINTERS, POINTER_SIZE, move_pointer, 0, 0x1000000, NULL, false },
	{ POINTERS, POINTER_SIZE, move_pointer, 0, 8, NULL, false },
	{ POINTERS, POINTER_SIZE, move_pointer, 0, 1, NULL, false },
	{ POINTERS, POINTER_SIZE, no_pointer, 0, 0, NULL, false },
	{ POINTERS, POINTER_SIZE, put_value, 0, 0x7ffffff0, NULL, false },
	{ POINTERS, POINTER_SIZE, point_to, 0, 0, "marker_call", false },
	{ POINTERS, POINTER_SIZE, point_to, 0, 0, "__tracepoint_kfree", false },
	{ POINTERS, POINTER_SIZE, point_to, 0, 0, "__mark_victim_plain", false },
	{ POINTERS, POINTER_SIZE, duplicate, 0, 0, NULL, true },
	{ TRACEPOINTS, TRACEPOINT_SIZE, move_pointer, TRACEPOINT_NAME, 0x1000000, NULL, false },
	{ TRACEPOINTS, TRACEPOINT_SIZE, no_pointer, TRACEPOINT_NAME, 0, NULL, false },
	{ TRACEPOINTS, TRACEPOINT_SIZE, put_value, TRACEPOINT_NAME, 0x400000, NULL, false },
	{ TRACEPOINTS, TRACEPOINT_SIZE, put_value, TRACEPOINT_CALLBACKS, -4096, NULL, false },
	{ TRACEPOINTS, TRACEPOINT_SIZE, put_value, TRACEPOINT_CALLBACKS, 0x400000, NULL, false },
	{ TRACEPOINTS, TRACEPOINT_SIZE, put_value, TRACEPOINT_FUNCS, 0xdead000000000100, NULL, false },
	{ TRACEPOINTS, TRACEPOINT_SIZE, put_byte, TRACEPOINT_ACTIVE, 1, NULL, false },
	{ TRACEPOINTS, TRACEPOINT_SIZE, put_byte, TRACEPOINT_ARGS, 255, NULL, false },
	{ TRACEPOINTS, TRACEPOINT_SIZE, put_byte, TRACEPOINT_CODE, 1, NULL, false },
	/* Their stubs of probes, if they have them. */
	{ PROBESTUBS, TRACEPOINT_SIZE + PROBESTUB_SIZE, move_pointer, PROBESTUB, 0x1000000, NULL, false },
	{ PROBESTUBS, TRACEPOINT_SIZE + PROBESTUB_SIZE, no_pointer, PROBESTUB, 0, NULL, false },
	{ PROBESTUBS, TRACEPOINT_SIZE + PROBESTUB_SIZE, put_value, PROBESTUB, 0x400000, NULL, false },
	{ PROBESTUBS, TRACEPOINT_SIZE + PROBESTUB_SIZE, put_value, PROBESTUB, -4096, NULL, false },
	{ PROBESTUBS, TRACEPOINT_SIZE + PROBESTUB_SIZE, point_to, PROBESTUB, 0, "marker_call", false },
	{ PROBESTUBS, TRACEPOINT_SIZE + PROBESTUB_SIZE, point_to, PROBESTUB, 0, "__this_module", false },
};

/* The number of new lines in the kernel's log about this module's records. */
static unsigned int lines_of(const char *table)
{
	static const char *const words[] = { "record", "section" };
	char line[8192];
	unsigned int count = 0, i;
	ssize_t len;

	while ((len = read(kmsg, line, sizeof(line) - 1)) > 0 || errno == EPIPE) {
		if (len <= 0)
			continue;
		line[len] = '\0';
		for (i = 0; i < ARRAY_SIZE(words); i++) {
			if (strstr(line, NAME) && strstr(line, words[i]) &&
			    strstr(line, "build the module again") &&
			    (!table || strstr(line, table))) {
				count++;
				break;
			}
		}
	}
	return count;
}

static bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);
	bool good = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return good;
}

static bool file_has(const char *path, const char *text)
{
	char line[8192];
	FILE *file = fopen(path, "r");
	bool found = false;

	if (!file)
		return false;
	while (!found && fgets(line, sizeof(line), file))
		found = strstr(line, text);
	fclose(file);
	return found;
}

static void use(void)
{
	write_file(PARAMETERS "set", "0x8182838485868788");
	file_has(TRACEFS "markers", "~");
	file_has(TRACEFS "marker_sites", "~");
	if (may_enable)
		write_file(TRACEFS "events/markers/enable", "1");
	write_file(PARAMETERS "set", "0");
	write_file(TRACEFS "events/markers/enable", "0");
}

static bool unload(void)
{
	unsigned int tries;

	for (tries = 0; tries < 500; tries++) {
		if (!syscall(SYS_delete_module, NAME, O_NONBLOCK))
			return true;
		if (errno != EAGAIN && errno != EBUSY)
			break;
		usleep(10000);
	}
	return false;
}

static bool nothing_is_left(void)
{
	return !file_has("/proc/modules", NAME) &&
	       !file_has(TRACEFS "markers", "\t" NAME "\t");
}

/* Return: true if it was loaded. */
static bool try_image(void)
{
	inputs++;
	if (syscall(SYS_init_module, image, image_size, "")) {
		refused++;
		return false;
	}
	loaded++;
	use();
	if (!unload()) {
		perror("unload");
		failed++;
	}
	return true;
}

static void restore(void)
{
	memcpy(image, original, image_size);
	may_enable = true;
}

static const char *problem_with(const struct way *way)
{
	bool was_loaded, of_tracepoint, fed = way->table == MARKERS && way->at == MARKER_CB;
	unsigned int lines;

	lines_of(NULL);
	may_enable = !fed;
	was_loaded = try_image();
	if (!nothing_is_left())
		return "something is left of it";
	if (way->harmless)
		return NULL;
	if (was_loaded)
		return "it was loaded";
	of_tracepoint = way->table == TRACEPOINTS || way->table == PROBESTUBS;
	lines = lines_of(of_tracepoint ? NULL : way->table);
	if (!lines)
		return "no line tells why it was refused";
	return lines > 1 ? "more than one line tells why it was refused" : NULL;
}

static void try_way(const struct way *way)
{
	unsigned int i, nr, tried = 0, count = count_of(way->table, way->size);
	unsigned int first = below(count);
	const char *problem;

	for (i = 0; i < count; i++) {
		if (tried && time_is_over())
			break;
		nr = (first + i) % count;
		restore();
		if (!way->damage(way, nr))
			continue;
		tried++;
		problem = problem_with(way);
		if (!problem)
			continue;
		failed++;
		printf("# way %td, record %u of %s, at %u by %lld %s: %s\n", way - ways,
		       nr, way->table, way->at, (long long)way->how,
		       way->where ?: "", problem);
	}
	restore();
	if (!tried) {
		failed++;
		printf("# way %td: no record of %s can be damaged so\n", way - ways,
		       way->table);
	}
}

/* At random */

static struct {
	const char *name;
	unsigned int size;	/* of a record, or 0 */
} tables[] = {
	{ IMV, IMV_SIZE }, { MARKERS, MARKER_SIZE }, { TRACEPOINTS, TRACEPOINT_SIZE },
	{ POINTERS, POINTER_SIZE }, { "__markers_strings", 0 }, { "__tracepoints_strings", 0 },
};

static bool has_probestubs(void)
{
	return count_of(TRACEPOINTS, TRACEPOINT_SIZE + PROBESTUB_SIZE) ==
	       count_of(POINTERS, POINTER_SIZE);
}

static void make_place_for_probestub(void)
{
	unsigned int i;

	if (!has_probestubs())
		return;
	for (i = 0; i < ARRAY_SIZE(ways); i++) {
		if (ways[i].table != TRACEPOINTS)
			continue;
		ways[i].size += PROBESTUB_SIZE;
		if (ways[i].at >= TRACEPOINT_FUNCS)
			ways[i].at += PROBESTUB_SIZE;
	}
	for (i = 0; i < ARRAY_SIZE(tables); i++) {
		if (tables[i].name == TRACEPOINTS)
			tables[i].size += PROBESTUB_SIZE;
	}
}

static void flip_bytes(unsigned int table)
{
	Elf64_Shdr *shdr = section(tables[table].name);
	unsigned int flips = 1 + below(4);
	size_t at;

	while (flips--) {
		at = below(shdr->sh_size);
		image[shdr->sh_offset + at] = one_in(2) ? random_number() :
			image[shdr->sh_offset + at] ^ 1ULL << below(8);
	}
}

static void flip_relocation(unsigned int table)
{
	static const unsigned char types[] = {
		R_X86_64_NONE, R_X86_64_64, R_X86_64_PC32, R_X86_64_PLT32, R_X86_64_32,
		R_X86_64_32S, R_X86_64_PC64,
	};
	uint64_t size = section(tables[table].name)->sh_size;
	unsigned int count;
	Elf64_Rela *rela = relocations(tables[table].name, &count);

	rela += below(count);
	switch (below(6)) {
	case 0:
		rela->r_addend = random_number();
		break;
	case 1:
		rela->r_addend += below(257) - 128;
		break;
	case 2:
		rela->r_addend ^= 1ULL << below(32);
		break;
	case 3:
		if (size >= 8)
			rela->r_offset = below(size - 7);
		break;
	case 4:
		rela->r_info = ELF64_R_INFO(below(nr_symbols()), ELF64_R_TYPE(rela->r_info));
		break;
	case 5:
		if (rela->r_offset + 8 <= size)
			rela->r_info = ELF64_R_INFO(ELF64_R_SYM(rela->r_info), any_of(types));
	}
}

static void damage_at_random(void)
{
	unsigned int table = below(ARRAY_SIZE(tables)), times = 1 + below(3);

	/* A probe at a wrong address must not be called. */
	may_enable = strcmp(tables[table].name, MARKERS) && strcmp(tables[table].name, IMV);
	while (times--)
		if (tables[table].size && one_in(2))
			flip_relocation(table);
		else
			flip_bytes(table);
}

static bool records_right(void)
{
	bool right = write_file(TRACEFS "tracing_on", "1") &&
		     write_file(TRACEFS "events/markers/victim_plain/enable", "1") &&
		     write_file(PARAMETERS "set", "7") && file_has(PARAMETERS "set", "31") &&
		     write_file(PARAMETERS "fire", "12345") &&
		     write_file(TRACEFS "events/markers/victim_plain/enable", "0") &&
		     write_file(TRACEFS "tracing_on", "0");

	return right && file_has(TRACEFS "trace", "victim_plain: number 12345");
}

static bool works(void)
{
	bool right;

	restore();
	close(open(TRACEFS "trace", O_WRONLY | O_TRUNC));
	if (syscall(SYS_init_module, image, image_size, ""))
		return false;
	right = records_right();
	return unload() && nothing_is_left() && right;
}

static void read_module(const char *path)
{
	struct stat stat;
	FILE *file = fopen(path, "r");

	if (!file || fstat(fileno(file), &stat)) {
		perror(path);
		exit(2);
	}
	image_size = stat.st_size;
	original = malloc(image_size);
	image = malloc(image_size);
	if (!original || !image || fread(original, 1, image_size, file) != image_size)
		exit(2);
	fclose(file);
	restore();
}

int main(int argc, char **argv)
{
	unsigned int i;

	if (argc < 4)
		return 2;
	read_module(argv[1]);
	make_place_for_probestub();
	set_time(argv[2], argv[3]);
	kmsg = open("/dev/kmsg", O_RDONLY | O_NONBLOCK);
	if (result("modules: the module works", works()))
		return 1;
	for (i = 0; i < ARRAY_SIZE(ways); i++)
		if (ways[i].table != PROBESTUBS || has_probestubs())
			try_way(&ways[i]);
	result("modules: each damaged record is refused and named", !failed);
	do {
		restore();
		damage_at_random();
		try_image();
	} while (!time_is_over());
	failed += result("modules: nothing is left of them", nothing_is_left());
	failed += result("modules: the module works afterwards", works());
	printf("# modules: %lu inputs, %lu refused, %lu loaded, %lu failed\n", inputs,
	       refused, loaded, failed);
	return failed > 0;
}
