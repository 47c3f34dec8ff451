// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Timers as markers, in jiffies; hrtimers and itimers in nanoseconds.
 */
#include <linux/marker.h>
#include <linux/hrtimer.h>
#include <linux/pid.h>
#include <linux/timer.h>
#include <trace/events/timer.h>

DEFINE_TRACER(timer_start, kernel_timer_start,
	      TP_PROTO(struct timer_list *timer, unsigned long expires,
		       unsigned int flags),
	      "timer %p function %p expires %lu",
	      timer, timer->function, expires);

DEFINE_TRACER(timer_expire_entry, kernel_timer_expire_entry,
	      TP_PROTO(struct timer_list *timer, unsigned long baseclk),
	      "timer %p function %p now %lu",
	      timer, timer->function, baseclk);

DEFINE_TRACER(timer_expire_exit, kernel_timer_expire_exit,
	      TP_PROTO(struct timer_list *timer), "timer %p", timer);

DEFINE_TRACER(timer_cancel, kernel_timer_cancel,
	      TP_PROTO(struct timer_list *timer), "timer %p", timer);

DEFINE_TRACER(hrtimer_start, kernel_hrtimer_start,
	      TP_PROTO(struct hrtimer *timer, enum hrtimer_mode mode,
		       bool was_armed),
	      "timer %p function %p expires %lld",
	      timer, timer->function, hrtimer_get_expires(timer));

DEFINE_TRACER(hrtimer_expire_entry, kernel_hrtimer_expire_entry,
	      TP_PROTO(struct hrtimer *timer, ktime_t *now),
	      "timer %p function %p now %lld",
	      timer, timer->function, *now);

DEFINE_TRACER(hrtimer_expire_exit, kernel_hrtimer_expire_exit,
	      TP_PROTO(struct hrtimer *timer), "timer %p", timer);

DEFINE_TRACER(hrtimer_cancel, kernel_hrtimer_cancel,
	      TP_PROTO(struct hrtimer *timer), "timer %p", timer);

DEFINE_TRACER(itimer_expire, kernel_itimer_expire,
	      TP_PROTO(int which, struct pid *pid, unsigned long long now),
	      "which %d pid %d now %llu", which, pid_nr(pid), now);
