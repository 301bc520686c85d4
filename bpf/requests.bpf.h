/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A request's life, from its allocation to its waiter's wake-up. One timestamp per hop, kept in
 * the request's slot. virtqueue_add_sgs and virtqueue_get_buf run under the queue's own lock, so
 * what they count needs no atomics; fuse_request_end does not (a request that may block ends on
 * a work item of its own).
 */
#ifndef BPF_REQUESTS_H
#define BPF_REQUESTS_H

#include "register.bpf.h"
#include "trace.bpf.h"

#define NO_QUEUE 0xffff

INLINE void slot_reset(struct vqs_slot *s, __u64 alloc_ns)
{
	s->alloc_ns = alloc_ns;
	s->dispatch_ns = 0;
	s->full_ns = 0;
	s->submit_ns = 0;
	s->collect_ns = 0;
	s->end_ns = 0;
	s->queue = NO_QUEUE;
	s->state = VQS_SLOT_ALLOCATED;
}

/* The slot still held a request whose end was not seen; if it was on a ring, account for it. */
static __noinline int count_end_missed(struct vqs_slot *s)
{
	__u32 slot = s->queue;
	struct vqs_queue *q;

	if (s->state != VQS_SLOT_SUBMITTED)
		return 0;
	q = bpf_map_lookup_elem(&queues, &slot);
	if (q)
		count(&q->end_missed, 1);
	return 0;
}

/* fuse_request_alloc returned @req. @fm_or_chan: its first argument, see vmlinux/guest.h. */
INLINE int on_alloc(void *fm_or_chan, __u64 req, const bool direct)
{
	struct vqs_slot_set *set;
	struct vqs_slot *s;
	void *priv;
	__u32 way;

	if (!req)
		return 0;
	if (bpf_core_field_exists(struct fuse_req___chan, chan)) {
		priv = RD(direct, (struct fuse_chan *)fm_or_chan, iq.priv);
	} else {
		struct fuse_conn *fc = RD(direct, (struct fuse_mount *)fm_or_chan, fc);

		priv = RD(direct, fc, iq.priv);
	}
	if (!priv) /* /dev/fuse */
		return 0;
	s = slot_find(req, &set, &way);
	if (s)
		count_end_missed(s);
	else
		s = slot_claim(req);
	if (s)
		slot_reset(s, bpf_ktime_get_ns());
	return 0;
}

/*
 * flush_bg_queue is about to send what waits in the background queue, under bg_lock. Called once
 * for each queued and each ended background request it sends at most one, the first; only when
 * max_background was raised does it send more, and their wait counts as input.
 */
INLINE int on_flush_bg(void *conn, const bool direct)
{
	__u32 active, max, way;
	__u64 head, first;
	struct vqs_slot_set *set;
	struct vqs_slot *s;

	if (bpf_core_field_exists(struct fuse_req___chan, chan)) {
		struct fuse_chan *c = conn;

		active = RD(direct, c, active_background);
		max = RD(direct, c, max_background);
		first = addr(RD(direct, c, bg_queue.next));
		head = ADDR_OF(struct fuse_chan, addr(conn), bg_queue);
	} else {
		struct fuse_conn *c = conn;

		active = RD(direct, c, active_background);
		max = RD(direct, c, max_background);
		first = addr(RD(direct, c, bg_queue.next));
		head = ADDR_OF(struct fuse_conn, addr(conn), bg_queue);
	}
	if (active >= max || first == head)
		return 0;
	s = slot_find(first - bpf_core_field_offset(struct fuse_req, list), &set, &way);
	if (s)
		s->dispatch_ns = bpf_ktime_get_ns();
	return 0;
}

INLINE bool is_virtio_fs(struct virtqueue *vq, const bool direct)
{
	struct virtio_device *vdev = RD(direct, vq, vdev);

	return RD(direct, vdev, id.device) == VIRTIO_ID_FS;
}

/* A queue known already; what holds no lock of its queue may only ask for those. */
INLINE struct vqs_queue *known_queue(__u64 vq, __u32 *slot)
{
	if (!index_find(&vq_index, vq, slot))
		return NULL;
	return bpf_map_lookup_elem(&queues, slot);
}

/* Slot of a queue that a request is on; learns it at first sight. */
INLINE struct vqs_queue *queue_of_request(__u64 vq, __u64 req, __u32 *slot)
{
	struct vqs_queue *q = known_queue(vq, slot);

	if (q && q->state == VQS_QUEUE_LIVE)
		return q;
	*slot = learn_queue(vq, req);
	return bpf_map_lookup_elem(&queues, slot);
}

INLINE void on_submit_refused(struct vqs_queue *q, __u32 queue, __u64 req)
{
	struct vqs_slot_set *set;
	struct vqs_slot *s;
	__u32 way;

	q->ring_full++;
	s = slot_find(req, &set, &way);
	if (!s)
		return;
	s->state = VQS_SLOT_RING_FULL;
	s->queue = queue;
	if (!s->full_ns)
		s->full_ns = bpf_ktime_get_ns();
}

INLINE void count_cpu(__u32 queue, __u32 cpu)
{
	__u32 i = queue * cfg.cpus + cpu;
	__u64 *n = bpf_map_lookup_elem(&cpu_queue, &i);

	if (n)
		(*n)++;
}

/* virtqueue_add_sgs(vq, ..., req) returned @ret: the request is on the ring, or was refused. */
INLINE int on_submit(struct virtqueue *vq, __u64 req, int ret, const bool direct)
{
	__u32 queue, way, cpu;
	struct vqs_slot_set *set;
	struct vqs_queue *q;
	struct vqs_slot *s;

	if (!is_virtio_fs(vq, direct))
		return 0;
	q = queue_of_request(addr(vq), req, &queue);
	if (!q) {
		if (!ret)
			count(&globals.untracked_table_full, 1);
		return 0;
	}
	if (ret) {
		if (ret == -ENOSPC || ret == -ENOMEM)
			on_submit_refused(q, queue, req);
		return 0;
	}
	q->submitted++;
	cpu = bpf_get_smp_processor_id();
	count_cpu(queue, cpu);
	s = slot_find(req, &set, &way);
	if (!s) {
		s = slot_claim(req);
		if (!s) {
			q->untracked_slot_taken++;
			return 0;
		}
		slot_reset(s, 0);
		q->start_missed++;
	}
	s->queue = queue;
	s->cpu = cpu;
	s->submit_ns = bpf_ktime_get_ns();
	s->state = VQS_SLOT_SUBMITTED;
	return 0;
}

INLINE struct vqs_hist *hop_hist(__u32 queue, enum vqs_hop hop)
{
	__u32 i = queue * VQS_HOPS + hop;

	return bpf_map_lookup_elem(&hists, &i);
}

INLINE void hop_add_locked(__u32 queue, enum vqs_hop hop, __u64 from_ns, __u64 to_ns)
{
	struct vqs_hist *h;

	if (!from_ns)
		return;
	h = hop_hist(queue, hop);
	if (h)
		hist_add_locked(h, elapsed(from_ns, to_ns));
}

INLINE void hop_add_shared(__u32 queue, enum vqs_hop hop, __u64 from_ns, __u64 to_ns)
{
	struct vqs_hist *h;

	if (!from_ns)
		return;
	h = hop_hist(queue, hop);
	if (h)
		hist_add_shared(h, elapsed(from_ns, to_ns));
}

/*
 * Done work collects for the first time since an interrupt asked for it. It looks at the ring once
 * per request and once more, so no probe of its own is needed: this is the hop's end, with the
 * queue's lock held.
 */
INLINE void on_done_work(struct vqs_queue *q, __u32 queue)
{
	__u64 irq_ns = __sync_lock_test_and_set(&q->irq_ns, 0);

	if (!irq_ns)
		return;
	q->done_works++;
	hop_add_locked(queue, VQS_HOP_IRQ, irq_ns, bpf_ktime_get_ns());
}

/* virtqueue_get_buf(vq) returned @buf: a request, on queue 0 a forget, or nothing more. */
INLINE int on_collect(struct virtqueue *vq, __u64 buf, const bool direct)
{
	__u32 queue, way, index;
	struct vqs_slot_set *set;
	struct vqs_queue *q;
	struct vqs_slot *s;
	__u64 now;

	if (!is_virtio_fs(vq, direct))
		return 0;
	if (!buf) {
		q = known_queue(addr(vq), &queue);
		if (q && q->irq_ns)
			on_done_work(q, queue);
		return 0;
	}
	index = RD(direct, vq, index);
	q = queue_of_request(addr(vq), index ? buf : 0, &queue);
	if (!q) {
		count(&globals.untracked_table_full, 1);
		return 0;
	}
	q->completed++;
	if (q->irq_ns)
		on_done_work(q, queue);
	if (!index)
		return 0;
	s = slot_find(buf, &set, &way);
	if (!s || s->state != VQS_SLOT_SUBMITTED) {
		q->complete_only++;
		return 0;
	}
	now = bpf_ktime_get_ns();
	s->collect_ns = now;
	s->state = VQS_SLOT_COLLECTED;
	hop_add_locked(queue, VQS_HOP_DEVICE, s->submit_ns, now);
	if (s->full_ns)
		hop_add_locked(queue, VQS_HOP_RING_FULL, s->full_ns, s->submit_ns);
	if (s->dispatch_ns) {
		q->background++;
		hop_add_locked(queue, VQS_HOP_BACKGROUND, s->alloc_ns, s->dispatch_ns);
		hop_add_locked(queue, VQS_HOP_INPUT, s->dispatch_ns, s->submit_ns);
	} else {
		hop_add_locked(queue, VQS_HOP_INPUT, s->alloc_ns, s->submit_ns);
	}
	return 0;
}

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
	if (s->dispatch_ns) {
		op_hop_add(op, VQS_HOP_BACKGROUND, s->alloc_ns, s->dispatch_ns);
		op_hop_add(op, VQS_HOP_INPUT, s->dispatch_ns, s->submit_ns);
	} else {
		op_hop_add(op, VQS_HOP_INPUT, s->alloc_ns, s->submit_ns);
	}
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

INLINE __u64 fs_of_request(__u64 req)
{
	if (bpf_core_field_exists(struct fuse_req___chan, chan))
		return (__u64)BPF_CORE_READ((struct fuse_req___chan *)req, chan, iq.priv);
	return (__u64)BPF_CORE_READ((struct fuse_req___fm *)req, fm, fc, iq.priv);
}

static __noinline int count_unfinished(struct vqs_slot *s, __u64 req, __u32 queue)
{
	struct vqs_queue *q;

	if (s->state != VQS_SLOT_SUBMITTED)
		return count_failed_early(s, fs_of_request(req));
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
	background =
		RD(direct, req, flags) >> bpf_core_enum_value(enum fuse_req_flag, FR_BACKGROUND) &
		1;
	if (s->state != VQS_SLOT_COLLECTED || !q) {
		count_unfinished(s, addr(req), queue);
		slot_free(set, way);
		return 0;
	}
	now = bpf_ktime_get_ns();
	s->end_ns = now;
	op = RD(direct, req, in.h.opcode);
	op = op < VQS_OPS ? op : VQS_OP_OTHER;
	s->op = op;
	hop_add_shared(queue, VQS_HOP_COMPLETE, s->collect_ns, now);
	if (s->alloc_ns) {
		h = op_total(queue, op);
		if (!h)
			h = hop_hist(queue, VQS_HOP_TOTAL);
		if (h)
			hist_add_shared(h, elapsed(s->alloc_ns, now));
	}
	count(&q->bytes_in, RD(direct, req, in.h.len));
	count(&q->bytes_out, RD(direct, req, out.h.len));
	err = RD(direct, req, out.h.error);
	if (err < 0)
		count_error(queue, -err);
	if (cfg.detail_index >= 0 && (__u32)cfg.detail_index == q->index)
		add_op_hops(s, op, now);
	if (!background) {
		s->state = VQS_SLOT_ENDED;
		return 0;
	}
	if (cfg.trace)
		trace_request(s, addr(req), q->index, 0);
	slot_free(set, way);
	return 0;
}

/* request_wait_answer(req) returned: the waiter runs again (or was killed and gave up). */
INLINE int on_wake(__u64 req)
{
	struct vqs_slot_set *set;
	struct vqs_slot *s;
	__u32 way, queue;
	struct vqs_queue *q;
	__u64 now;

	s = slot_find(req, &set, &way);
	if (!s || s->state != VQS_SLOT_ENDED)
		return 0;
	now = bpf_ktime_get_ns();
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

#endif
