// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sched-trace: the tracepoints of the scheduler and of processes as markers, for tracers
 * that do not use kernel types.
 *
 * Each entry has tracepoint, marker, prototype, format, arguments. Names and formats are
 * an interface and must not change: to pass another value, add a marker with a new name.
 * See Documentation/trace/sched-trace.rst.
 */
#include <linux/mm_types.h>	/* trace/events/sched.h needs struct folio */
#include <linux/pid.h>
#include <linux/sched.h>
#include <trace/events/sched.h>
#include <trace/tracer.h>

#define TASK_TRACER(tp, mark, format, args...)				\
	DEFINE_TRACER(tp, mark, TP_PROTO(struct task_struct *p), format, ##args)

static inline long state_of(const struct task_struct *p)
{
	return READ_ONCE(p->__state);
}

/* Switches, wakeups and migrations. A preempted task can run. */

DEFINE_TRACER(sched_switch, kernel_sched_switch,
	      TP_PROTO(bool preempt, struct task_struct *prev,
		       struct task_struct *next, unsigned int prev_state),
	      "prev_pid %d next_pid %d prev_state %ld",
	      prev->pid, next->pid, preempt ? 0L : (long)prev_state);
TASK_TRACER(sched_waking, kernel_sched_waking,
	    "pid %d cpu_id %u state %ld", p->pid, task_cpu(p), state_of(p));
TASK_TRACER(sched_wakeup, kernel_sched_try_wakeup,
	    "pid %d cpu_id %u state %ld", p->pid, task_cpu(p), state_of(p));
TASK_TRACER(sched_wakeup_new, kernel_sched_wakeup_new_task,
	    "pid %d cpu_id %u state %ld", p->pid, task_cpu(p), state_of(p));
DEFINE_TRACER(sched_migrate_task, kernel_sched_migrate_task,
	      TP_PROTO(struct task_struct *p, int dest_cpu),
	      "pid %d state %ld dest_cpu %d", p->pid, state_of(p), dest_cpu);
TASK_TRACER(sched_wait_task, kernel_sched_wait_task,
	    "pid %d state %ld", p->pid, state_of(p));
DEFINE_TRACER(sched_wake_idle_without_ipi, kernel_sched_wake_idle_without_ipi,
	      TP_PROTO(int cpu), "cpu %d", cpu);
DEFINE_TRACER(sched_pi_setprio, kernel_sched_pi_setprio,
	      TP_PROTO(struct task_struct *tsk, struct task_struct *pi_task),
	      "pid %d oldprio %d newprio %d", tsk->pid, tsk->prio,
	      pi_task ? min(tsk->normal_prio, pi_task->prio) : tsk->normal_prio);

#ifdef CONFIG_NUMA_BALANCING
#define NUMA_TRACER(tp, mark)						\
	DEFINE_TRACER(tp, mark,						\
		      TP_PROTO(struct task_struct *src, int src_cpu,	\
			       struct task_struct *dst, int dst_cpu),	\
		      "src_pid %d src_cpu %d dst_pid %d dst_cpu %d",	\
		      src->pid, src_cpu, dst ? dst->pid : 0, dst_cpu)

DEFINE_TRACER(sched_move_numa, kernel_sched_move_numa,
	      TP_PROTO(struct task_struct *tsk, int src_cpu, int dst_cpu),
	      "pid %d src_cpu %d dst_cpu %d", tsk->pid, src_cpu, dst_cpu);
NUMA_TRACER(sched_stick_numa, kernel_sched_stick_numa);
NUMA_TRACER(sched_swap_numa, kernel_sched_swap_numa);
#endif

/* Times, in nanoseconds */

DEFINE_TRACER(sched_stat_runtime, kernel_sched_stat_runtime,
	      TP_PROTO(struct task_struct *tsk, u64 runtime),
	      "pid %d runtime %llu", tsk->pid, runtime);

#ifdef CONFIG_SCHEDSTATS
#define DELAY_TRACER(tp, mark)						\
	DEFINE_TRACER(tp, mark, TP_PROTO(struct task_struct *tsk, u64 delay), \
		      "pid %d delay %llu", tsk->pid, delay)

DELAY_TRACER(sched_stat_wait, kernel_sched_stat_wait);
DELAY_TRACER(sched_stat_sleep, kernel_sched_stat_sleep);
DELAY_TRACER(sched_stat_iowait, kernel_sched_stat_iowait);
DELAY_TRACER(sched_stat_blocked, kernel_sched_stat_blocked);
#endif

/* Processes */

DEFINE_TRACER(sched_process_fork, kernel_process_fork,
	      TP_PROTO(struct task_struct *parent, struct task_struct *child),
	      "parent_pid %d child_pid %d child_tgid %d",
	      parent->pid, child->pid, child->tgid);
DEFINE_TRACER(sched_process_exec, kernel_process_exec,
	      TP_PROTO(struct task_struct *p, pid_t old_pid, struct linux_binprm *bprm),
	      "pid %d old_pid %d filename %s", p->pid, old_pid, bprm->filename);
DEFINE_TRACER(sched_process_exit, kernel_process_exit,
	      TP_PROTO(struct task_struct *p, bool group_dead), "pid %d", p->pid);
TASK_TRACER(sched_process_free, kernel_process_free, "pid %d", p->pid);
DEFINE_TRACER(sched_process_wait, kernel_process_wait,
	      TP_PROTO(struct pid *pid), "pid %d", pid_nr(pid));
#ifdef CONFIG_DETECT_HUNG_TASK
TASK_TRACER(sched_process_hang, kernel_process_hang, "pid %d", p->pid);
#endif

/* Kernel threads */

TASK_TRACER(sched_kthread_stop, kernel_kthread_stop, "pid %d", p->pid);
DEFINE_TRACER(sched_kthread_stop_ret, kernel_kthread_stop_ret,
	      TP_PROTO(int ret), "ret %d", ret);
DEFINE_TRACER(sched_kthread_work_queue_work, kernel_kthread_work_queue,
	      TP_PROTO(struct kthread_worker *worker, struct kthread_work *work),
	      "work %p function %p worker %p", work, work->func, worker);
DEFINE_TRACER(sched_kthread_work_execute_start, kernel_kthread_work_start,
	      TP_PROTO(struct kthread_work *work),
	      "work %p function %p", work, work->func);
DEFINE_TRACER(sched_kthread_work_execute_end, kernel_kthread_work_end,
	      TP_PROTO(struct kthread_work *work, kthread_work_func_t function),
	      "work %p function %p", work, function);
