// SPDX-License-Identifier: GPL-2.0-or-later
#include "observe/acquisitions.h"

#include "common/saturate.h"

/*
 * Unsigned sums may wrap only if a counter did, after 2^61 requests. An acquisition that waited
 * was one, whatever the derivation says: it is the lower bound.
 */
static void set_acquisitions(struct vqs_snap_lock *l, uint64_t derived)
{
	l->acquisitions = derived > l->contended ? derived : l->contended;
}

/*
 * FORGETs: one per attempt (send_forget_request; a refused one is put on queued_reqs in the same
 * section), one to take a refused one off queued_reqs again, one per done work, in which
 * in_flight is lowered too.
 */
static uint64_t hiprio_vq(const struct vqs_snap_queue *q)
{
	return q->submitted + 2 * q->ring_full + q->done_works;
}

/*
 * Requests: one per attempt (virtio_fs_enqueue_req); a refused one goes onto queued_reqs and is
 * taken off again, one each; done work takes it once to collect, and once more with
 * @requeue_check; virtio_fs_request_complete once per request, to lower in_flight.
 */
static uint64_t request_vq(const struct vqs_snap_queue *q, bool requeue_check)
{
	return q->submitted + 3 * q->ring_full + q->done_works * (requeue_check ? 2 : 1) +
	       q->completed;
}

/* Onto the processing list, off it, and once more with @sent_clear. FORGETs never touch it. */
static uint64_t request_pqueue(const struct vqs_snap_queue *q, bool sent_clear)
{
	uint64_t collected = q->completed;

	return q->submitted + collected + (sent_clear ? collected : 0);
}

void obs_derive_acquisitions(struct vqs_snapshot *s, bool requeue_check, bool sent_clear)
{
	for (size_t i = 0; i < s->nr_devices; i++) {
		struct vqs_snap_device *d = &s->devices[i];
		uint64_t uniques = 0, background = 0;

		for (size_t j = 0; j < d->nr_queues; j++) {
			struct vqs_snap_queue *q = &d->queues[j];
			struct vqs_snap_lock *l = q->lock;

			/* A unique id per request and FORGET, once: retries keep theirs. */
			uniques += q->submitted + q->failed_before_ring;
			background += q->background;
			if (!q->index) {
				set_acquisitions(&l[VQS_LOCK_VQ], hiprio_vq(q));
				set_acquisitions(&l[VQS_LOCK_PQUEUE], 0);
				continue;
			}
			set_acquisitions(&l[VQS_LOCK_VQ], request_vq(q, requeue_check));
			set_acquisitions(&l[VQS_LOCK_PQUEUE], request_pqueue(q, sent_clear));
		}
		set_acquisitions(&d->lock[VQS_LOCK_IQUEUE - VQS_QUEUE_LOCKS], uniques);
		/* Into the background queue, and out of the account when the request ends. */
		set_acquisitions(&d->lock[VQS_LOCK_BG - VQS_QUEUE_LOCKS], 2 * background);
		d->lock[VQS_LOCK_CONN - VQS_QUEUE_LOCKS].acquisitions = 0;
	}
}

static uint64_t queue_submit_ns(const struct vqs_snap_queue *q)
{
	return vqs_add_saturated(q->hop[VQS_HOP_BACKGROUND].sum, q->hop[VQS_HOP_INPUT].sum);
}

uint64_t obs_submit_ns(const struct vqs_snap_device *d, const struct vqs_snap_queue *q)
{
	uint64_t sum = 0;

	if (q)
		return queue_submit_ns(q);
	if (d->partial)
		return 0;
	for (size_t i = 0; i < d->nr_queues; i++)
		sum = vqs_add_saturated(sum, queue_submit_ns(&d->queues[i]));
	return sum;
}
