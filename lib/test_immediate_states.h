/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TEST_IMMEDIATE_STATES_H
#define _TEST_IMMEDIATE_STATES_H

/*
 * The code that lib/test_immediate_states.c executes while it is patched:
 * instructions of all sizes and kinds, at chosen addresses.
 */
#include <linux/immediate.h>
#include <linux/objtool.h>
#include <asm/asm.h>
#include <asm/nops.h>

enum kind { UNSIGNED, SIGNED, TRUTH, JUMP_TO };

/* A function that reads one value in one place. */
struct form {
	const char *name;
	u64 (*read)(void);
	const u8 *text;		/* at the instruction or shortly before it */
	void *var;
	enum kind kind;
	unsigned int size;	/* of the variable */
	unsigned int insn_size;	/* 0: the compiler chose it */
	unsigned int boundary;
	unsigned int before;	/* bytes of the instruction in front of the boundary */
	u64 old, new;
};

#ifdef CONFIG_64BIT
#define API_FORMS_64(X)							\
	X(u64, read_u64, imv_read, UNSIGNED) X(s64, read_s64, imv_read, SIGNED)
#else
#define API_FORMS_64(X)
#endif

/* The normal interface: a type, a name, how the value is read, and its kind. */
#define API_FORMS(X)							\
	X(u8, read_u8, imv_read, UNSIGNED) X(s8, read_s8, imv_read, SIGNED) \
	X(u16, read_u16, imv_read, UNSIGNED) X(s16, read_s16, imv_read, SIGNED) \
	X(u32, read_u32, imv_read, UNSIGNED) X(s32, read_s32, imv_read, SIGNED) \
	API_FORMS_64(X)							\
	X(bool, read_bool, imv_read, TRUTH) X(bool, branch, imv_unlikely, TRUTH)

#define DEFINE_API(type, name, how, kind)				\
	static DEFINE_IMV(type, name##_var);				\
	static noinline __noclone u64 name(void)			\
	{								\
		return (u64)how(name##_var);				\
	}
API_FORMS(DEFINE_API)

#define SITE(name)							\
	#name "_site:\n\t"						\
	ANNOTATE_NOENDBR "\n"

/*
 * At a chosen address: with @before bytes in front of a boundary. For any address,
 * the boundary is 1. Labels: 1 the instruction, 2 its end, 3 the start of the form,
 * 4 the target of a jump, 5 the end of the form.
 */
#define PLACE(name, boundary, before)					\
	"jmp 3f\n\t"							\
	".balign " #boundary ", 0xcc\n\t"				\
	".skip " #boundary " - " #before ", 0xcc\n"			\
	"3:\n"								\
	SITE(name)

#define DEFINE_PLACED(name, reg, var_type, asm_text, flags)		\
	extern const u8 name##_site[];					\
	static DEFINE_IMV(var_type, name##_var);			\
	static noinline __noclone u64 name(void)			\
	{								\
		register unsigned long out asm(reg);			\
									\
		asm volatile(asm_text					\
			     : "=r" (out)				\
			     : "i" (&name##_var__imv), "i" (flags));	\
		return out;						\
	}

#define MOV_TEXT(name, boundary, before, insn)				\
	PLACE(name, boundary, before)					\
	"1: " insn "\n"							\
	"2:\n\t"							\
	IMV_SITE("__imv", "2b - 1b", "%c1 + %c2")

#define DEFINE_MOV5(name, boundary, before)				\
	DEFINE_PLACED(name, "ax", u32,					\
		      MOV_TEXT(name, boundary, before, "movl $0, %k0"), 2)
#define DEFINE_MOV6(name, boundary, before)				\
	DEFINE_PLACED(name, "r8", u32,					\
		      MOV_TEXT(name, boundary, before, "movl $0, %k0"), 2)
#define DEFINE_MOV10(name, boundary, before)				\
	DEFINE_PLACED(name, "r9", u64,					\
		      MOV_TEXT(name, boundary, before, "movabsq $0, %q0"), 3)

/* The flags must not change: the value is inverted if the carry flag is lost. */
#define DEFINE_CARRY(name, boundary, before)				\
	DEFINE_PLACED(name, "ax", u32,					\
		      "stc\n\t"						\
		      MOV_TEXT(name, boundary, before, "movl $0, %k0")	\
		      "jc 5f\n\t"					\
		      "notl %k0\n"					\
		      "5:", 2)

/* Reads 0 if the site is a NOP, and 1 if it is a jump. */
#define JUMP_TEXT(name, boundary, before, gap)				\
	PLACE(name, boundary, before)					\
	"1: " IMV_NOP_INSN("4f") "\n\t"					\
	IMV_SITE("__imv_jump", "4f - .", "%c1 + %c2")			\
	"movl $0, %k0\n\t"						\
	"jmp 5f\n\t"							\
	".skip " #gap ", 0xcc\n"					\
	"4: movl $1, %k0\n"						\
	"5:"

#define JUMP_BACK_TEXT(name, gap)					\
	"jmp 3f\n"							\
	"4: movl $1, %k0\n\t"						\
	"jmp 5f\n\t"							\
	".skip " #gap ", 0xcc\n"					\
	"3:\n"								\
	SITE(name)							\
	"1: " IMV_NOP_INSN("4b") "\n\t"					\
	IMV_SITE("__imv_jump", "4b - .", "%c1 + %c2")			\
	"movl $0, %k0\n"						\
	"5:"

#define DEFINE_JUMP2(name, boundary, before)				\
	DEFINE_PLACED(name, "ax", bool,					\
		      JUMP_TEXT(name, boundary, before, 1), IMV_NOP_FLAGS)
#define DEFINE_JUMP5(name, boundary, before)				\
	DEFINE_PLACED(name, "ax", bool,					\
		      JUMP_TEXT(name, boundary, before, 200), IMV_NOP_FLAGS)
#define DEFINE_JUMP2_BACK(name, boundary, before)			\
	DEFINE_PLACED(name, "ax", bool, JUMP_BACK_TEXT(name, 1), IMV_NOP_FLAGS)
#define DEFINE_JUMP5_BACK(name, boundary, before)			\
	DEFINE_PLACED(name, "ax", bool, JUMP_BACK_TEXT(name, 200), IMV_NOP_FLAGS)

#ifdef CONFIG_64BIT
#define FORMS_64(X)							\
	X(MOV6, mov6, 1, 0)						\
	X(MOV6, mov6_page_1, 4096, 1)					\
	X(MOV6, mov6_line_5, 64, 5)					\
	X(MOV10, mov10, 1, 0)						\
	X(MOV10, mov10_page_1, 4096, 1)					\
	X(MOV10, mov10_page_6, 4096, 6)					\
	X(MOV10, mov10_line_2, 64, 2)					\
	X(MOV10, mov10_line_6, 64, 6)
#else
#define FORMS_64(X)
#endif

/* A kind, a name, a boundary, and how many bytes are before it. */
#define FORMS(X)							\
	X(MOV5, mov5, 1, 0)						\
	X(CARRY, mov5_carry, 1, 0)					\
	X(MOV5, mov5_page_1, 4096, 1)					\
	X(MOV5, mov5_page_3, 4096, 3)					\
	X(MOV5, mov5_line_1, 64, 1)					\
	X(MOV5, mov5_line_3, 64, 3)					\
	FORMS_64(X)							\
	X(JUMP2, jump2, 1, 0)						\
	X(JUMP2_BACK, jump2_back, 1, 0)					\
	X(JUMP2, jump2_page_1, 4096, 1)					\
	X(JUMP2, jump2_line_1, 64, 1)					\
	X(JUMP5, jump5, 1, 0)						\
	X(JUMP5_BACK, jump5_back, 1, 0)					\
	X(JUMP5, jump5_page_1, 4096, 1)					\
	X(JUMP5, jump5_page_3, 4096, 3)					\
	X(JUMP5, jump5_line_1, 64, 1)					\
	X(JUMP5, jump5_line_4, 64, 4)

#define DEFINE_FORM(kind, name, boundary, before)			\
	DEFINE_##kind(name, boundary, before)
FORMS(DEFINE_FORM)

#ifdef CONFIG_64BIT
/*
 * Like the stub of a tracepoint: a jump to any target, or a call. The value that is
 * read depends on the target. A TEST of IMV_JUMP_TO_OWNER_SIZE bytes, to which a
 * call returns, follows the 5-byte JMP. The targets are aligned: no address is odd.
 */
DECLARE_IMV(s32, imv_states_code);
DEFINE_IMV(s32, imv_states_code);
u32 imv_states_stub(int skipped);
void imv_states_jump_1(void);
void imv_states_jump_2(void);
void imv_states_call_3(void);

#define STUB_BEGIN(name)						\
	".balign 16\n\t"						\
	".type " #name ", @function\n"					\
	#name ":\n\t"							\
	ANNOTATE_NOENDBR "\n\t"
#define STUB_END(name)							\
	ASM_RET								\
	".size " #name ", . - " #name "\n\t"

#define TARGET(name, value)						\
	STUB_BEGIN(name)						\
	"movl $" #value ", %eax\n\t"					\
	STUB_END(name)

asm(".pushsection .text, \"ax\"\n\t"
	STUB_BEGIN(imv_states_stub)
	"test %edi, %edi\n\t"
	"jnz 2f\n"
	"1: .byte 0xe9\n\t"
	".long imv_states_jump_1 - . - 4\n"
	"2: .byte 0xa9\n\t"
	".long 0\n\t"
	STUB_END(imv_states_stub)
	IMV_SITE("__imv", "imv_states_jump_1 - .",
		 "imv_states_code__imv + " __stringify(IMV_JUMP_TO))
	TARGET(imv_states_jump_1, 1)
	TARGET(imv_states_jump_2, 2)
	TARGET(imv_states_call_3, 3)
	".popsection");

static u64 jump_to(void)
{
	return imv_states_stub(0);
}

static u32 jump_to_value(unsigned int nr)
{
	if (nr == 3)
		return (unsigned long)imv_states_call_3 | IMV_JUMP_TO_CALL;
	return nr == 1 ? 0 : (unsigned long)imv_states_jump_2;
}
#else
#define jump_to_value(nr)	(nr)	/* no such form */
#endif

#define KIND_MOV5	UNSIGNED, sizeof(u32), 5
#define KIND_CARRY	UNSIGNED, sizeof(u32), 5
#define KIND_MOV6	UNSIGNED, sizeof(u32), 6
#define KIND_MOV10	UNSIGNED, sizeof(u64), 10
#define KIND_JUMP2	TRUTH, sizeof(bool), 2
#define KIND_JUMP2_BACK	TRUTH, sizeof(bool), 2
#define KIND_JUMP5	TRUTH, sizeof(bool), 5
#define KIND_JUMP5_BACK	TRUTH, sizeof(bool), 5

#define PLACED_ENTRY(kind, name, boundary, before)			\
	{ #name, name, name##_site, &name##_var__imv, KIND_##kind, boundary, before },
#define API_ENTRY(type, name, how, kind)				\
	{ #name, name, (const u8 *)name, &name##_var__imv, kind, sizeof(type), 0, 1, 0 },

static struct form forms[] = {
	API_FORMS(API_ENTRY)
	FORMS(PLACED_ENTRY)
#ifdef CONFIG_64BIT
	{ "jump_to", jump_to, (const u8 *)imv_states_stub, &imv_states_code__imv,
	  JUMP_TO, sizeof(s32), 10, 1, 0, .new = 1 },
#endif
};

/* Thousands of sites: words, whose values are summed up, and jumps. */
#define NR_MANY		3100

static DEFINE_IMV(u32, many_word);
static DEFINE_IMV(bool, many_branch);
static u32 many_old_word, many_new_word;
static bool many_new_branch;

/* A branch counts while it is off. */
struct sums {
	unsigned long words, branches;
};

static noinline __noclone struct sums sum_up(void)
{
	struct sums sums = { };

	asm volatile(".rept " __stringify(NR_MANY) "\n"
		     "1: movl $0, %%eax\n"
		     "2:\n\t"
		     IMV_SITE("__imv", "2b - 1b", "%c2 + 2")
		     "add %%" _ASM_AX ", %0\n"
		     "1: " IMV_NOP_INSN("4f") "\n\t"
		     IMV_SITE("__imv_jump", "4f - .", "%c3 + %c4")
		     "add $1, %1\n"
		     "4:\n\t"
		     ".endr"
		     : "+r" (sums.words), "+r" (sums.branches)
		     : "i" (&many_word__imv), "i" (&many_branch__imv),
		       "i" (IMV_NOP_FLAGS)
		     : "ax", "cc");
	return sums;
}

#endif /* _TEST_IMMEDIATE_STATES_H */
