/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A request's life, from its start until it is collected (ends.bpf.h has the rest). One
 * timestamp per hop, kept in the request's slot. virtqueue_add_sgs and virtqueue_get_buf run under
 * the queue's own lock, so what they count needs no atomics.
 */
#ifndef BPF_REQUESTS_H
#define BPF_REQUESTS_H

#include "register.bpf.h"

#define NO_QUEUE 0xffff

INLINE void slot_reset(struct vqs_slot *s, __u64 start_ns, __u64 dispatch_ns)
{
	s->start_ns = start_ns;
	s->dispatch_ns = dispatch_ns;
	s->full_ns = 0;
	s->submit_ns = 0;
	s->collect_ns = 0;
	s->end_ns = 0;
	s->queue = NO_QUEUE;
	s->state = VQS_SLOT_STARTED;
}

/* The slot still held a request whose end, or whose waiter's wake-up, was not seen. */
static __noinline int count_end_missed(struct vqs_slot *s)
{
	__u32 slot = s->queue;
	struct vqs_queue *q;

	if (s->state == VQS_SLOT_COLLECTED || s->state == VQS_SLOT_ENDED)
		count(&globals.wake_missed, 1);
	if (s->state != VQS_SLOT_SUBMITTED)
		return 0;
	q = bpf_map_lookup_elem(&queues, &slot);
	if (q)
		count(&q->end_missed, 1);
	return 0;
}

/* struct virtio_fs of the connection that @req belongs to, NULL for /dev/fuse. */
INLINE void *fs_of_request(struct fuse_req *req, const bool direct)
{
	if (bpf_core_field_exists(struct fuse_req___chan, chan)) {
		struct fuse_chan *chan = RD(direct, (struct fuse_req___chan *)req, chan);

		return RD(direct, chan, iq.priv);
	}
	struct fuse_mount *fm = RD(direct, (struct fuse_req___fm *)req, fm);
	struct fuse_conn *fc = RD(direct, fm, fc);

	return RD(direct, fc, iq.priv);
}

/* Slot of @req, new or of a request whose end was missed; NULL when its set has none free. */
INLINE struct vqs_slot *slot_take(__u64 req)
{
	struct vqs_slot_set *set = slot_set_of(req);
	struct vqs_slot *s;
	__u32 way;

	if (!set)
		return NULL;
	way = slot_way(set, req);
	if (way >= VQS_WAYS)
		return slot_claim(set, req);
	s = &set->slot[way & (VQS_WAYS - 1)];
	count_end_missed(s);
	return s;
}

INLINE bool is_background(struct fuse_req *req, const bool direct)
{
	return RD(direct, req, flags) >> bpf_core_enum_value(enum fuse_req_flag, FR_BACKGROUND) & 1;
}

INLINE __u64 pending_dispatch(struct fuse_req *req, const bool direct)
{
	return cfg.straight && is_background(req, direct) ? VQS_DISPATCH_PENDING : 0;
}

/* /dev/fuse uses the memory of a request that was given back without having been sent. */
static __noinline int forget_slot(__u64 req)
{
	struct vqs_slot_set *set;
	__u32 way;

	if (slot_find(req, &set, &way))
		slot_free(set, way);
	return 0;
}

/* fuse_args_to_req(req) begins: @req was allocated a moment ago, for a caller that is to send it.
 */
INLINE int on_start(struct fuse_req *req, const bool direct)
{
	struct vqs_slot *s;

	if (!fs_of_request(req, direct)) {
		forget_slot(addr(req));
		return 0;
	}
	s = slot_take(addr(req));
	if (s)
		slot_reset(s, bpf_ktime_get_ns(), pending_dispatch(req, direct));
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
	if (s->state > VQS_SLOT_RING_FULL) {
		count_end_missed(s);
		slot_reset(s, 0, 0);
	}
	s->state = VQS_SLOT_RING_FULL;
	s->queue = queue;
	if (!s->full_ns)
		s->full_ns = bpf_ktime_get_ns();
	if (s->dispatch_ns == VQS_DISPATCH_PENDING)
		s->dispatch_ns = s->full_ns;
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
	if (!s || s->state > VQS_SLOT_RING_FULL) {
		s = slot_take(req);
		if (!s) {
			q->untracked_slot_taken++;
			return 0;
		}
		slot_reset(s, 0, pending_dispatch((struct fuse_req *)req, false));
		q->start_missed++;
	}
	s->queue = queue;
	s->cpu = cpu;
	s->submit_ns = bpf_ktime_get_ns();
	if (s->dispatch_ns == VQS_DISPATCH_PENDING)
		s->dispatch_ns = s->submit_ns;
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
INLINE void on_done_work(struct vqs_queue *q, __u32 queue, __u64 now)
{
	__u64 irq_ns = __sync_lock_test_and_set(&q->irq_ns, 0);

	if (!irq_ns)
		return;
	q->done_works++;
	hop_add_locked(queue, VQS_HOP_IRQ, irq_ns, now);
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
			on_done_work(q, queue, bpf_ktime_get_ns());
		return 0;
	}
	index = RD(direct, vq, index);
	if (!index && !globals.attached)
		return 0;
	q = queue_of_request(addr(vq), index ? buf : 0, &queue);
	if (!q) {
		count(&globals.untracked_table_full, 1);
		return 0;
	}
	q->completed++;
	now = bpf_ktime_get_ns();
	if (q->irq_ns)
		on_done_work(q, queue, now);
	if (!index)
		return 0;
	s = slot_find(buf, &set, &way);
	if (!s || s->state != VQS_SLOT_SUBMITTED) {
		q->complete_only++;
		return 0;
	}
	s->collect_ns = now;
	s->state = VQS_SLOT_COLLECTED;
	hop_add_locked(queue, VQS_HOP_DEVICE, s->submit_ns, now);
	if (s->full_ns)
		hop_add_locked(queue, VQS_HOP_RING_FULL, s->full_ns, s->submit_ns);
	if (s->dispatch_ns) {
		q->background++;
		hop_add_locked(queue, VQS_HOP_BACKGROUND, s->start_ns, s->dispatch_ns);
	}
	if (s->dispatch_ns != s->submit_ns)
		hop_add_locked(queue, VQS_HOP_INPUT, s->dispatch_ns ?: s->start_ns, s->submit_ns);
	return 0;
}

#endif
