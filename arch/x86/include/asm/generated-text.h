/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ASM_X86_GENERATED_TEXT_H
#define _ASM_X86_GENERATED_TEXT_H

/*
 * Code that is generated at run time, in small pieces: the trampolines of
 * tracepoints and the code of sets of function tracers. Its memory, the functions
 * that write it, and the information for unwinders.
 */

#include <linux/types.h>

/**
 * enum generated_text_kind - what the code calls
 * @GENERATED_TRACEPOINT: the probes of a tracepoint; hidden from stacks of events
 * @GENERATED_FTRACE: the tracers of a function
 */
enum generated_text_kind { GENERATED_TRACEPOINT, GENERATED_FTRACE };

#define NR_GENERATED_KINDS	2

struct generated_name;

/**
 * struct generated_text - a piece of generated code
 * @text: its first instruction, at an even address
 * @size: in bytes
 * @name: see name_generated_text()
 */
struct generated_text {
	u8 *text;
	unsigned int size;
	struct generated_name *name;
};

/*
 * The depth of the stack from an offset on: the number of words between what %rsp
 * points to and the return address, or one of these.
 */
#define GENERATED_BP_SET	(-1)	/* %rbp points to the caller's %rbp */
#define GENERATED_BP_PUSHED	(-2)	/* %rsp points to it */
#define GENERATED_NO_TEXT	(-3)

struct generated_depth {
	u16 from;
	s16 depth;
};

#define GENERATED_MAX_DEPTHS	12

/**
 * struct text_writer - text being written
 * @buffer: where it is written to, or NULL to find out its size
 * @size: bytes so far
 * @text: where it will be executed
 * @too_far: a call or jump does not reach its target
 * @nr_depths: number of @depths
 * @depths: where the depth of the stack changes; it is 0 at first
 */
struct text_writer {
	u8 *buffer;
	unsigned int size;
	unsigned long text;
	bool too_far;
	unsigned int nr_depths;
	struct generated_depth depths[GENERATED_MAX_DEPTHS];
};

void text_write(struct text_writer *w, const void *bytes, unsigned int size);
void text_write_s32(struct text_writer *w, s32 value);
void text_write_target(struct text_writer *w, const void *target);
void text_write_ptr(struct text_writer *w, u8 reg, const void *ptr);
void text_write_depth(struct text_writer *w, int depth);

#define text_write_insn(w, bytes...)					\
	text_write(w, (const u8 []){ bytes }, sizeof((const u8 []){ bytes }))

int generate_text(enum generated_text_kind kind,
		  void (*write)(struct text_writer *w, const void *arg),
		  const void *arg, struct generated_text *result);
void generated_text_poke(u8 *text, const u8 *bytes, unsigned int size);
void generated_text_poke_int3(u8 *text, unsigned int size);
void free_generated_text(const struct generated_text *text);
void trim_generated_text(void);

int name_generated_text(struct generated_text *text, enum generated_text_kind kind,
			const char *name);
void unname_generated_text(struct generated_text *text);

bool is_generated_text(unsigned long addr);
bool is_generated_text_of(enum generated_text_kind kind, unsigned long addr);
int generated_text_depth(unsigned long addr);

#ifndef CONFIG_MODULES
extern u8 generated_text_of_image[];
#endif

#endif /* _ASM_X86_GENERATED_TEXT_H */
