/* SPDX-License-Identifier: GPL-2.0 */
#ifndef FAULTS_H
#define FAULTS_H

#include <linux/immediate.h>
#include <linux/tracepoint.h>
#include <linux/types.h>

DECLARE_IMV(u8, faults_u8);
DECLARE_IMV(u16, faults_u16);
DECLARE_IMV(u32, faults_u32);
DECLARE_IMV(u64, faults_u64);

DECLARE_TRACE(faults_few, TP_PROTO(int number, void *pointer),
	      TP_ARGS(number, pointer));
DECLARE_TRACE(faults_many,
	      TP_PROTO(u8 a, s16 b, u32 c, s64 d, void *e, long f, int g, s8 h),
	      TP_ARGS(a, b, c, d, e, f, g, h));

/* Set by faults_sites: passes its sites. */
struct seq_file;
extern void (*faults_pass_sites)(struct seq_file *m);

struct module;
void faults_show_markers(struct seq_file *m, const struct module *mod);

#endif /* FAULTS_H */
