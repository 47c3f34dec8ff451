// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Signals as markers.
 */
#include <linux/marker.h>
#include <linux/sched/signal.h>
#include <trace/events/signal.h>

/* Two special pointer values mean that there is no siginfo. */
static int signal_code(const struct kernel_siginfo *info)
{
	if (info == SEND_SIG_NOINFO)
		return SI_USER;
	if (info == SEND_SIG_PRIV)
		return SI_KERNEL;
	return info->si_code;
}

DEFINE_TRACER(signal_generate, kernel_send_signal,
	      TP_PROTO(int sig, struct kernel_siginfo *info,
		       struct task_struct *task, int group, int result),
	      "pid %d signal %d code %d result %d",
	      task->pid, sig, signal_code(info), result);

DEFINE_TRACER(signal_deliver, kernel_deliver_signal,
	      TP_PROTO(int sig, struct kernel_siginfo *info,
		       struct k_sigaction *ka),
	      "signal %d code %d", sig, signal_code(info));
