/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _LINUX_GENERATED_TEXT_H
#define _LINUX_GENERATED_TEXT_H

/*
 * Code that is generated at run time, in small pieces: the trampolines of
 * tracepoints and the code of sets of function tracers.
 *
 * Its memory is that of BPF programs, and so is the registry of its names. A piece
 * also has what the unwinder needs: the depth of the stack at each instruction.
 */

#include <linux/types.h>

/**
 * enum generated_text_kind - what the code calls
 * @GENERATED_TRACEPOINT: the probes of a tracepoint; hidden from stacks of events
 * @GENERATED_FTRACE: the tracers of a function
 */
enum generated_text_kind { GENERATED_TRACEPOINT, GENERATED_FTRACE };

/**
 * struct generated_text - a piece of generated code
 * @text: its first instruction, at an even address; NULL if there is none
 * @size: in bytes
 */
struct generated_text {
	u8 *text;
	unsigned int size;
};

/* From an offset on, so many words are between %rsp and the return address. */
struct generated_depth {
	u16 from;
	u16 words;
};

#define GENERATED_MAX_DEPTHS	12
#define GENERATED_MAX_SIZE	32768	/* a record of perf has it in 16 bits */

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
void text_write_depth(struct text_writer *w, unsigned int words);

int generate_text(enum generated_text_kind kind, const char *name,
		  void (*write)(struct text_writer *w, const void *arg),
		  const void *arg, struct generated_text *result);
void free_generated_text(const struct generated_text *text);
bool is_generated_text(enum generated_text_kind kind, unsigned long addr);
int generated_text_depth(unsigned long addr);

#ifdef CONFIG_GENERATED_TEXT
void flush_generated_text(void);
#else
static inline void flush_generated_text(void)
{
}
#endif

#endif /* _LINUX_GENERATED_TEXT_H */
