/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What happens once per kick, interrupt or forget rather than once per request. */
#ifndef BPF_QUEUES_H
#define BPF_QUEUES_H

#include "requests.bpf.h"

/* virtqueue_notify(vq): the device gets a kick. Whoever submits and sees no call here had its
 * kick suppressed (EVENT_IDX or VRING_USED_F_NO_NOTIFY). */
INLINE int on_kick(struct virtqueue *vq, const bool direct)
{
	struct vqs_queue *q;
	__u32 slot;

	if (!is_virtio_fs(vq, direct))
		return 0;
	q = known_queue(addr(vq), &slot);
	if (q)
		count(&q->kicks, 1);
	return 0;
}

/* virtio_fs_vq_done(vq): an interrupt asks for done work. */
INLINE int on_interrupt(__u64 vq)
{
	struct vqs_queue *q;
	__u32 slot;

	q = known_queue(vq, &slot);
	if (!q)
		return 0;
	count(&q->interrupts, 1);
	if (!q->irq_ns)
		q->irq_ns = bpf_ktime_get_ns();
	return 0;
}

/*
 * FORGETs have no struct fuse_req, hence counts only. The queue is learnt before its first FORGET
 * is sent, so that this one's completion is not taken for one of before.
 */
INLINE struct vqs_queue *queue_of_forget(struct virtio_fs_vq *fsvq, const bool direct)
{
	__u64 vq = addr(RD(direct, fsvq, vq));
	struct vqs_queue *q;
	__u32 slot;

	/* Before all probes are attached a count would lack its counterpart; disconnected queues
	 * drop what they are given, and their virtqueue may be freed. */
	if (!globals.attached || !RD(direct, fsvq, connected))
		return NULL;
	q = known_queue(vq, &slot);
	if (q && q->state == VQS_QUEUE_LIVE)
		return q;
	slot = learn_queue(vq, 0);
	return bpf_map_lookup_elem(&queues, &slot);
}

/*
 * send_forget_request(fsvq) returned 1: hiprio's ring was full, it will be sent again; 0: sent;
 * negative: dropped. One whose queue was not known when it entered is in the kernel's count that
 * the queue was, or will be, learnt with.
 */
INLINE int on_forget(struct virtio_fs_vq *fsvq, int ret, const bool direct)
{
	struct vqs_queue *q;
	__u32 slot;

	if (ret < 0 || !globals.attached || !RD(direct, fsvq, connected))
		return 0;
	q = known_queue(addr(RD(direct, fsvq, vq)), &slot);
	if (q)
		count(ret ? &q->ring_full : &q->submitted, 1);
	return 0;
}

#endif
