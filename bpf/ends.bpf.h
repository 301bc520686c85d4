/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A request's end and its waiter's wake-up: totals, errors, bytes. No lock of the queue is held (a
 * request that may block ends on a work item of its own), so everything here is added atomically.
 */
#ifndef BPF_ENDS_H
#define BPF_ENDS_H

#include "requests.bpf.h"
#include "trace.bpf.h"

/* Histogram of totals of (queue, op); takes one from the pool at first sight. */
static __noinline struct vqs_hist *op_total_new(__u64 *entry)
{
	__u32 slot;

	if (globals.ops_used >= cfg.max_ops) {
		count(&globals.ops_full, 1);
		return NULL;
	}
	slot = __sync_fetch_and_add(&globals.ops_used, 1);
	/* Two CPUs may meet here; the loser's histogram stays unused, its value goes to the winner.
	 */
	if (slot < cfg.max_ops)
		__sync_val_compare_and_swap(entry, 0, slot + 1);
	slot = *entry - 1;
	return bpf_map_lookup_elem(&op_totals, &slot);
}

INLINE struct vqs_hist *op_total(__u32 queue, __u32 op)
{
	__u32 i = queue * VQS_OPS + op, slot;
	__u64 *entry = bpf_map_lookup_elem(&op_index, &i);

	if (!entry)
		return NULL;
	slot = *entry - 1;
	return *entry ? bpf_map_lookup_elem(&op_totals, &slot) : op_total_new(entry);
}

INLINE void op_hop_add(__u32 op, enum vqs_hop hop, __u64 from_ns, __u64 to_ns)
{
	__u32 slot = op * VQS_HOPS + hop;
	struct vqs_hist *h;

	if (!from_ns)
		return;
	h = bpf_map_lookup_elem(&op_hops, &slot);
	if (h)
		hist_add_shared(h, elapsed(from_ns, to_ns));
}

static __noinline int add_op_hops(const struct vqs_slot *s, __u32 op, __u64 end_ns)
{
	if (s->dispatch_ns)
		op_hop_add(op, VQS_HOP_BACKGROUND, s->start_ns, s->dispatch_ns);
	if (s->dispatch_ns != s->submit_ns)
		op_hop_add(op, VQS_HOP_INPUT, s->dispatch_ns ?: s->start_ns, s->submit_ns);
	op_hop_add(op, VQS_HOP_DEVICE, s->submit_ns, s->collect_ns);
	op_hop_add(op, VQS_HOP_COMPLETE, s->collect_ns, end_ns);
	return 0;
}

static __noinline int count_error(__u32 queue, __u32 err)
{
	__u32 i = queue * VQS_ERRNOS + (err < VQS_ERRNOS ? err : VQS_ERRNOS - 1);
	__u64 *n = bpf_map_lookup_elem(&errors, &i);

	if (n)
		count(n, 1);
	return 0;
}

/* It ends without having been on a ring since it was last refused, or at all. */
static __noinline int count_failed_early(const struct vqs_slot *s, __u64 fs)
{
	__u32 queue = s->queue, device;
	struct vqs_queue *q = NULL;
	struct vqs_device *d;

	if (queue != NO_QUEUE)
		q = bpf_map_lookup_elem(&queues, &queue);
	if (q) {
		count(&q->failed_before_ring, 1);
		return 0;
	}
	if (!index_find(&vq_index, fs, &device))
		return 0;
	d = bpf_map_lookup_elem(&devices, &device);
	if (d)
		count(&d->failed_before_queue, 1);
	return 0;
}

static __noinline int count_unfinished(struct vqs_slot *s, __u64 req, __u32 queue)
{
	struct vqs_queue *q;

	if (s->state != VQS_SLOT_SUBMITTED)
		return count_failed_early(s, addr(fs_of_request((struct fuse_req *)req, false)));
	q = bpf_map_lookup_elem(&queues, &queue);
	if (q)
		count(&q->aborted, 1);
	return 0;
}

/* fuse_request_end(req) begins: the reply is in place, the waiter not yet woken. */
INLINE int on_end(struct fuse_req *req, const bool direct)
{
	__u32 way, queue, op;
	struct vqs_slot_set *set;
	struct vqs_slot *s;
	struct vqs_queue *q;
	struct vqs_hist *h;
	bool background;
	__u64 now;
	__s32 err;

	s = slot_find(addr(req), &set, &way);
	if (!s)
		return 0;
	queue = s->queue;
	q = bpf_map_lookup_elem(&queues, &queue);
	background = is_background(req, direct);
	if (s->state != VQS_SLOT_COLLECTED || !q) {
		count_unfinished(s, addr(req), queue);
		if (cfg.trace) {
			s->end_ns = bpf_ktime_get_ns();
			trace_request(s, addr(req), q ? q->index : 0, 0);
		}
		slot_free(set, way);
		return 0;
	}
	now = bpf_ktime_get_ns();
	s->end_ns = now;
	op = RD(direct, req, in.h.opcode);
	op = op < VQS_OPS ? op : VQS_OP_OTHER;
	hop_add_shared(queue, VQS_HOP_COMPLETE, s->collect_ns, now);
	if (s->start_ns) {
		h = op_total(queue, op);
		if (!h)
			h = hop_hist(queue, VQS_HOP_TOTAL);
		if (h)
			hist_add_shared(h, elapsed(s->start_ns, now));
	}
	count(&q->bytes_in, RD(direct, req, in.h.len));
	count(&q->bytes_out, RD(direct, req, out.h.len));
	err = RD(direct, req, out.h.error);
	if (err < 0)
		count_error(queue, -err);
	if (cfg.detail_index >= 0 && (__u32)cfg.detail_index == q->index)
		add_op_hops(s, op, now);
	if (!background && cfg.wake) {
		if (cfg.wake_by_put)
			s->ender = bpf_get_current_pid_tgid();
		s->state = VQS_SLOT_ENDED;
		return 0;
	}
	if (cfg.trace)
		trace_request(s, addr(req), q->index, 0);
	slot_free(set, way);
	return 0;
}

INLINE int woken(struct vqs_slot_set *set, __u32 way, struct vqs_slot *s, __u64 req)
{
	__u64 now = bpf_ktime_get_ns();
	struct vqs_queue *q;
	__u32 queue;

	queue = s->queue;
	hop_add_shared(queue, VQS_HOP_WAKE, s->end_ns, now);
	if (cfg.trace) {
		q = bpf_map_lookup_elem(&queues, &queue);
		if (q)
			trace_request(s, req, q->index, now);
	}
	slot_free(set, way);
	return 0;
}

/* request_wait_answer(req) returned: the waiter runs again. */
INLINE int on_wake(__u64 req)
{
	struct vqs_slot_set *set;
	struct vqs_slot *s;
	__u32 way;

	s = slot_find(req, &set, &way);
	if (!s || s->state != VQS_SLOT_ENDED)
		return 0;
	return woken(set, way, s, req);
}

/* fuse_put_request(req) begins, in whoever ended the request or in the waiter that runs again. */
INLINE int on_put(__u64 req)
{
	struct vqs_slot_set *set;
	struct vqs_slot *s;
	__u32 way;

	s = slot_find(req, &set, &way);
	if (!s || s->state != VQS_SLOT_ENDED || s->ender == (__u32)bpf_get_current_pid_tgid())
		return 0;
	return woken(set, way, s, req);
}

#endif
