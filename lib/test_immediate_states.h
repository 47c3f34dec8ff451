/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TEST_IMMEDIATE_STATES_H
#define _TEST_IMMEDIATE_STATES_H

/*
 * The code that lib/test_immediate_states.c executes while it is patched:
 * instructions of all sizes and kinds, at chosen addresses.
 */
#include <linux/immediate.h>
#include <linux/linkage.h>
#include <linux/objtool.h>
#include <linux/stringify.h>
#include <linux/types.h>
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

/*
 * Forms that use the normal interface.
 */
#define API_FORM(type, name)						\
	static DEFINE_IMV(type, name##_var);				\
	static noinline __noclone u64 name(void)			\
	{								\
		return (u64)imv_read(name##_var);			\
	}

API_FORM(u8, read_u8)
API_FORM(s8, read_s8)
API_FORM(bool, read_bool)
API_FORM(u16, read_u16)
API_FORM(s16, read_s16)
API_FORM(u32, read_u32)
API_FORM(s32, read_s32)
#ifdef CONFIG_64BIT
API_FORM(u64, read_u64)
API_FORM(s64, read_s64)
#endif

static DEFINE_IMV(void *, read_pointer_var);
static noinline __noclone u64 read_pointer(void)
{
	return (unsigned long)imv_read(read_pointer_var);
}

static DEFINE_IMV(bool, branch_unlikely_var);
static noinline __noclone u64 branch_unlikely(void)
{
	immediate_if(branch_unlikely_var)
		return 1;
	return 0;
}

static DEFINE_IMV(bool, branch_likely_var);
static noinline __noclone u64 branch_likely(void)
{
	immediate_if_likely(branch_likely_var)
		return 1;
	return 0;
}

#define SITE(name)							\
	#name "_site:\n\t"						\
	ANNOTATE_NOENDBR

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

#ifdef CONFIG_HAVE_JUMP_LABEL_HACK
#define NOP_INSN	"jmp 4f"
#define NOP_BACK_INSN	"jmp 4b"
#else
#define NOP_INSN	".byte " __stringify(BYTES_NOP5)
#define NOP_BACK_INSN	NOP_INSN
#endif

/* Reads @straight if the site is a NOP, and @away if it is a jump. */
#define JUMP_TEXT(name, boundary, before, insn, gap, straight, away)	\
	PLACE(name, boundary, before)					\
	"1: " insn "\n\t"						\
	IMV_SITE("__imv_jump", "4f - .", "%c1 + %c2")			\
	"movl $" #straight ", %k0\n\t"					\
	"jmp 5f\n\t"							\
	".skip " #gap ", 0xcc\n"					\
	"4: movl $" #away ", %k0\n"					\
	"5:"

#define JUMP_BACK_TEXT(name, insn, gap, straight, away)			\
	"jmp 3f\n"							\
	"4: movl $" #away ", %k0\n\t"					\
	"jmp 5f\n\t"							\
	".skip " #gap ", 0xcc\n"					\
	"3:\n"								\
	SITE(name)							\
	"1: " insn "\n\t"						\
	IMV_SITE("__imv_jump", "4b - .", "%c1 + %c2")			\
	"movl $" #straight ", %k0\n"					\
	"5:"

#define DEFINE_NOP2(name, boundary, before)				\
	DEFINE_PLACED(name, "ax", bool,					\
		      JUMP_TEXT(name, boundary, before, NOP_INSN, 1, 0, 1), \
		      IMV_JUMP_BUILT)
#define DEFINE_JMP2(name, boundary, before)				\
	DEFINE_PLACED(name, "ax", bool,					\
		      JUMP_TEXT(name, boundary, before, "jmp 4f", 1, 1, 0), \
		      IMV_JUMP_LIKELY)
#define DEFINE_NOP5(name, boundary, before)				\
	DEFINE_PLACED(name, "ax", bool,					\
		      JUMP_TEXT(name, boundary, before, NOP_INSN, 200, 0, 1), \
		      IMV_JUMP_BUILT)
#define DEFINE_JMP5(name, boundary, before)				\
	DEFINE_PLACED(name, "ax", bool,					\
		      JUMP_TEXT(name, boundary, before, "jmp 4f", 200, 1, 0), \
		      IMV_JUMP_LIKELY)
#define DEFINE_NOP2_BACK(name, boundary, before)			\
	DEFINE_PLACED(name, "ax", bool,					\
		      JUMP_BACK_TEXT(name, NOP_BACK_INSN, 1, 0, 1),	\
		      IMV_JUMP_BUILT)
#define DEFINE_JMP2_BACK(name, boundary, before)			\
	DEFINE_PLACED(name, "ax", bool,					\
		      JUMP_BACK_TEXT(name, "jmp 4b", 1, 1, 0),		\
		      IMV_JUMP_LIKELY)
#define DEFINE_NOP5_BACK(name, boundary, before)			\
	DEFINE_PLACED(name, "ax", bool,					\
		      JUMP_BACK_TEXT(name, NOP_BACK_INSN, 200, 0, 1),	\
		      IMV_JUMP_BUILT)
#define DEFINE_JMP5_BACK(name, boundary, before)			\
	DEFINE_PLACED(name, "ax", bool,					\
		      JUMP_BACK_TEXT(name, "jmp 4b", 200, 1, 0),	\
		      IMV_JUMP_LIKELY)

#ifdef CONFIG_64BIT
#define FORMS_64(X)							\
	X(MOV6, mov6, 1, 0)						\
	X(MOV6, mov6_page_1, 4096, 1)					\
	X(MOV6, mov6_page_2, 4096, 2)					\
	X(MOV6, mov6_page_5, 4096, 5)					\
	X(MOV6, mov6_line_1, 64, 1)					\
	X(MOV6, mov6_line_2, 64, 2)					\
	X(MOV6, mov6_line_3, 64, 3)					\
	X(MOV6, mov6_line_4, 64, 4)					\
	X(MOV6, mov6_line_5, 64, 5)					\
	X(MOV10, mov10, 1, 0)						\
	X(MOV10, mov10_page_1, 4096, 1)					\
	X(MOV10, mov10_page_2, 4096, 2)					\
	X(MOV10, mov10_page_6, 4096, 6)					\
	X(MOV10, mov10_page_9, 4096, 9)					\
	X(MOV10, mov10_line_1, 64, 1)					\
	X(MOV10, mov10_line_2, 64, 2)					\
	X(MOV10, mov10_line_3, 64, 3)					\
	X(MOV10, mov10_line_4, 64, 4)					\
	X(MOV10, mov10_line_5, 64, 5)					\
	X(MOV10, mov10_line_6, 64, 6)					\
	X(MOV10, mov10_line_7, 64, 7)					\
	X(MOV10, mov10_line_8, 64, 8)					\
	X(MOV10, mov10_line_9, 64, 9)
#else
#define FORMS_64(X)
#endif

/* A kind, a name, a boundary, and how many bytes are before it. */
#define FORMS(X)							\
	X(MOV5, mov5, 1, 0)						\
	X(CARRY, mov5_carry, 1, 0)					\
	X(MOV5, mov5_page_1, 4096, 1)					\
	X(MOV5, mov5_page_2, 4096, 2)					\
	X(MOV5, mov5_page_3, 4096, 3)					\
	X(MOV5, mov5_page_4, 4096, 4)					\
	X(MOV5, mov5_line_1, 64, 1)					\
	X(MOV5, mov5_line_2, 64, 2)					\
	X(MOV5, mov5_line_3, 64, 3)					\
	X(MOV5, mov5_line_4, 64, 4)					\
	FORMS_64(X)							\
	X(NOP2, nop2, 1, 0)						\
	X(NOP2_BACK, nop2_back, 1, 0)					\
	X(NOP2, nop2_page_1, 4096, 1)					\
	X(NOP2, nop2_line_1, 64, 1)					\
	X(JMP2, jmp2, 1, 0)						\
	X(JMP2_BACK, jmp2_back, 1, 0)					\
	X(JMP2, jmp2_page_1, 4096, 1)					\
	X(JMP2, jmp2_line_1, 64, 1)					\
	X(NOP5, nop5, 1, 0)						\
	X(NOP5_BACK, nop5_back, 1, 0)					\
	X(NOP5, nop5_page_1, 4096, 1)					\
	X(NOP5, nop5_page_3, 4096, 3)					\
	X(NOP5, nop5_line_1, 64, 1)					\
	X(NOP5, nop5_line_2, 64, 2)					\
	X(NOP5, nop5_line_3, 64, 3)					\
	X(NOP5, nop5_line_4, 64, 4)					\
	X(JMP5, jmp5, 1, 0)						\
	X(JMP5_BACK, jmp5_back, 1, 0)					\
	X(JMP5, jmp5_page_2, 4096, 2)					\
	X(JMP5, jmp5_page_4, 4096, 4)					\
	X(JMP5, jmp5_line_1, 64, 1)					\
	X(JMP5, jmp5_line_2, 64, 2)					\
	X(JMP5, jmp5_line_3, 64, 3)					\
	X(JMP5, jmp5_line_4, 64, 4)

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
	ANNOTATE_NOENDBR
#define STUB_END(name)							\
	ASM_RET								\
	".size " #name ", . - " #name "\n\t"

#define DEFINE_STUB()							\
	asm(".pushsection .text, \"ax\"\n\t"				\
	    STUB_BEGIN(imv_states_stub)					\
	    "test %edi, %edi\n\t"					\
	    "jnz 2f\n"							\
	    "1: .byte 0xe9\n\t"						\
	    ".long imv_states_jump_1 - . - 4\n"				\
	    "2: .byte 0xa9\n\t"						\
	    ".long 0\n\t"						\
	    STUB_END(imv_states_stub)					\
	    IMV_SITE("__imv", "imv_states_jump_1 - .",			\
		     "imv_states_code__imv + " __stringify(IMV_JUMP_TO)) \
	    STUB_BEGIN(imv_states_jump_1)				\
	    "movl $1, %eax\n\t"						\
	    STUB_END(imv_states_jump_1)					\
	    STUB_BEGIN(imv_states_jump_2)				\
	    "movl $2, %eax\n\t"						\
	    STUB_END(imv_states_jump_2)					\
	    STUB_BEGIN(imv_states_call_3)				\
	    "movl $3, %eax\n\t"						\
	    STUB_END(imv_states_call_3)					\
	    ".popsection")

DEFINE_STUB();

static u64 jump_to(void)
{
	return imv_states_stub(0);
}

static u32 jump_to_value(unsigned int nr)
{
	switch (nr) {
	case 1:
		return 0;
	case 2:
		return (unsigned long)imv_states_jump_2;
	default:
		return (unsigned long)imv_states_call_3 | IMV_JUMP_TO_CALL;
	}
}
#else
static u32 jump_to_value(unsigned int nr)
{
	return 0;
}
#endif

#define KIND_MOV5	UNSIGNED, sizeof(u32), 5
#define KIND_CARRY	UNSIGNED, sizeof(u32), 5
#define KIND_MOV6	UNSIGNED, sizeof(u32), 6
#define KIND_MOV10	UNSIGNED, sizeof(u64), 10
#define KIND_NOP2	TRUTH, sizeof(bool), 2
#define KIND_NOP2_BACK	TRUTH, sizeof(bool), 2
#define KIND_JMP2	TRUTH, sizeof(bool), 2
#define KIND_JMP2_BACK	TRUTH, sizeof(bool), 2
#define KIND_NOP5	TRUTH, sizeof(bool), 5
#define KIND_NOP5_BACK	TRUTH, sizeof(bool), 5
#define KIND_JMP5	TRUTH, sizeof(bool), 5
#define KIND_JMP5_BACK	TRUTH, sizeof(bool), 5

#define PLACED_ENTRY(kind, name, boundary, before)			\
	{ #name, name, name##_site, &name##_var__imv, KIND_##kind, boundary, before },
#define API_ENTRY(name, kind)						\
	{ #name, name, (const u8 *)name, &name##_var__imv, kind,	\
	  sizeof(name##_var__imv), 0, 1, 0 }

static struct form forms[] = {
	API_ENTRY(read_u8, UNSIGNED),
	API_ENTRY(read_s8, SIGNED),
	API_ENTRY(read_bool, TRUTH),
	API_ENTRY(read_u16, UNSIGNED),
	API_ENTRY(read_s16, SIGNED),
	API_ENTRY(read_u32, UNSIGNED),
	API_ENTRY(read_s32, SIGNED),
#ifdef CONFIG_64BIT
	API_ENTRY(read_u64, UNSIGNED),
	API_ENTRY(read_s64, SIGNED),
#endif
	API_ENTRY(read_pointer, UNSIGNED),
	API_ENTRY(branch_unlikely, TRUTH),
	API_ENTRY(branch_likely, TRUTH),
	FORMS(PLACED_ENTRY)
#ifdef CONFIG_64BIT
	{ "jump_to", jump_to, (const u8 *)imv_states_stub, &imv_states_code__imv,
	  JUMP_TO, sizeof(s32), 10, 1, 0, .new = 1 },
#endif
};

/*
 * Thousands of sites: values of two sizes and jumps. The values that they read are
 * summed up.
 */
#define NR_MANY		2100

static DEFINE_IMV(u32, many_word);
static DEFINE_IMV(bool, many_branch);
static u32 many_old_word, many_new_word;
static bool many_new_branch;
#ifdef CONFIG_64BIT
static DEFINE_IMV(u64, many_wide);
static u64 many_old_wide, many_new_wide;
#define MANY_WIDE							\
	"1: movabsq $0, %%rax\n"					\
	"2:\n\t"							\
	IMV_SITE("__imv", "2b - 1b", "%c5 + 3")				\
	"addq %%rax, %1\n"
#define MANY_VALUES	3
#else
static int many_wide__imv;	/* not used */
#define MANY_WIDE
#define MANY_VALUES	2
#endif

struct sums {
	unsigned long words, wides, branches;
};

static noinline __noclone struct sums sum_up(void)
{
	struct sums sums = { };

	asm volatile(".rept " __stringify(NR_MANY) "\n"
		     "1: movl $0, %%eax\n"
		     "2:\n\t"
		     IMV_SITE("__imv", "2b - 1b", "%c3 + 2")
		     "add %%" _ASM_AX ", %0\n"
		     MANY_WIDE
		     "1: jmp 4f\n\t"
		     IMV_SITE("__imv_jump", "4f - .", "%c4 + %c6")
		     "add $1, %2\n"
		     "4:\n\t"
		     ".endr"
		     : "+r" (sums.words), "+r" (sums.wides), "+r" (sums.branches)
		     : "i" (&many_word__imv), "i" (&many_branch__imv),
		       "i" (&many_wide__imv), "i" (IMV_JUMP_LIKELY)
		     : "ax", "cc");
	return sums;
}

#endif /* _TEST_IMMEDIATE_STATES_H */
