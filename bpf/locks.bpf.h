/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Waits for watched locks, on the slow path of every spinlock of the system. The entry program
 * filters by address; the exit program looks at a per-CPU slot first, and only adds to plain
 * arrays, because it runs while the lock is held: every cycle here is waited for by others.
 */
#ifndef BPF_LOCKS_H
#define BPF_LOCKS_H

#include "tables.bpf.h"

/* @by_addr: the exit program will know the address too. Else it needs to be told of others' waits.
 */
INLINE int on_lock_contended(void *ctx, __u64 addr, const bool by_addr)
{
	struct lock_wait *w;
	__u32 slot, zero = 0;
	int ours = index_find(&lock_index, addr, &slot);

	if (!ours && by_addr)
		return 0;
	w = bpf_map_lookup_elem(&lock_waits, &zero);
	if (!w)
		return 0;
	if (!ours) {
		w->nested += w->addr != 0;
		return 0;
	}
	if (w->addr)
		count(&globals.lock_nested, 1);
	w->nested = 0;
	w->lock = slot;
	w->stack = -1;
	if (cfg.stacks) {
		w->stack = bpf_get_stackid(ctx, &stacks, 0);
		if (w->stack < 0)
			count(&globals.stack_failed, 1);
	}
	w->start_ns = bpf_ktime_get_ns();
	w->addr = addr;
	return 0;
}

INLINE void count_stack(const struct lock_wait *w, __u64 wait_ns)
{
	__u32 id = w->stack;
	struct vqs_stack_stat *st;

	if (w->stack < 0)
		return;
	st = bpf_map_lookup_elem(&stack_stats, &id);
	if (!st)
		return;
	count(&st->waits, 1);
	count(&st->wait_ns, wait_ns);
	st->lock = w->lock;
}

/* @addr 0: the rung does not know it (kretprobe); a CPU waits for one watched lock at a time. */
INLINE int on_lock_acquired(__u64 addr)
{
	struct task_struct *task;
	struct lock_wait *w;
	struct vqs_lock *l;
	__u64 wait_ns;
	__u32 zero = 0, slot;

	w = bpf_map_lookup_elem(&lock_waits, &zero);
	if (!w || !w->addr || (addr && w->addr != addr))
		return 0;
	if (!addr && w->nested) {
		w->nested--;
		return 0;
	}
	wait_ns = elapsed(w->start_ns, bpf_ktime_get_ns());
	w->addr = 0;
	slot = w->lock;
	l = bpf_map_lookup_elem(&locks, &slot);
	if (!l)
		return 0;
	l->contended++;
	hist_add_locked(&l->wait, wait_ns);
	task = (struct task_struct *)bpf_get_current_task();
	if (!(BPF_CORE_READ(task, flags) & PF_WQ_WORKER))
		l->submit_wait_ns += wait_ns;
	if (cfg.stacks)
		count_stack(w, wait_ns);
	return 0;
}

#endif
