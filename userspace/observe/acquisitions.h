/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How often each lock was taken, and what its contention cost. Acquisitions that found a lock free
 * are never probed - that would cost more than the lock - so they are derived from request counts:
 * every path of virtio-fs that takes a lock does so a known number of times per request. The
 * derivation, path by path, is in docs/metrics.md. Pure functions of a snapshot.
 */
#ifndef OBSERVE_ACQUISITIONS_H
#define OBSERVE_ACQUISITIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "observe/snapshot.h"

/*
 * Sets lock[].acquisitions everywhere in @s, from its counters only, so that they grow with them
 * and the difference of two snapshots holds the acquisitions of the interval.
 *
 * @requeue_check: done work looks at queued_reqs under vq.lock once more after it has ended its
 * requests, to send them on (6.12 and 7.3 do; 6.1 retries after 1 ms instead).
 * @sent_clear: virtio_fs_request_complete clears FR_SENT under fuse_pqueue.lock (6.1 and 6.12 do,
 * 7.3 does not).
 *
 * fuse_conn.lock is taken at mount, unmount and abort only; it stays 0: unknown.
 */
void obs_derive_acquisitions(struct vqs_snapshot *s, bool requeue_check, bool sent_clear);

/*
 * Time in which requests were on their way to a ring, from start to ring: the base of a lock's
 * share of submit time. @d is the lock's device, @q its queue, NULL for a connection's lock. 0:
 * nothing was timed (hiprio: FORGETs are not). Saturates at 2^64 - 1.
 */
uint64_t obs_submit_ns(const struct vqs_snap_device *d, const struct vqs_snap_queue *q);

#endif
