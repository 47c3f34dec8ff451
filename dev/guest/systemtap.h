/* SPDX-License-Identifier: GPL-2.0 */
/* SystemTap 5.6 calls a function that Linux 7.3 does not have. */
#define task_euid(task)		task_cred_xxx(task, euid)
