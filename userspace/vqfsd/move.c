// SPDX-License-Identifier: GPL-2.0-or-later
#include "vqfsd/move.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "common/clock.h"
#include "vqfsd/device.h"
#include "vqfsd/probes.h"

/* While somebody else than a test waits, it is told by seen_fd. */
#define LOOK_EVERY_NS 20000

uint64_t fsd_move_generation(const struct fsd_device *dev, uint32_t queue)
{
	return queue < dev->nr_queues
		       ? __atomic_load_n(&dev->queue[queue].generation, __ATOMIC_RELAXED)
		       : 0;
}

/* Under the pop lock. */
static int change_owner(struct fsd_queue *q, struct fsd_worker *to)
{
	struct fsd_worker *from = q->owner;
	int err;

	if (from == to)
		return 0;
	q->moved_ns = vqs_now_ns(CLOCK_MONOTONIC);
	if (q->kick_fd >= 0 && !(q->state & (VQS_FSD_STOPPING | VQS_FSD_BROKEN))) {
		err = fsd_worker_watch(to, q->index, q->kick_fd);
		if (err)
			return err;
		fsd_worker_unwatch(from, q->index, q->kick_fd);
	}
	__atomic_store_n(&q->owner, to, __ATOMIC_RELEASE);
	q->move_seq++;
	q->look_due = true;
	if (!fsd_queue_runs(q)) {
		/* Nobody pops it anyway. */
		fsd_queue_looked(q);
		fsd_set(&q->stats->last_pause_ns, 0);
	}
	fsd_set32(&q->stats->worker, to->index);
	fsd_add(&q->stats->moves, 1);
	fsd_add(&q->dev->stats.header->moves, 1);
	FSD_PROBE3(move, q->index, from->index, to->index);
	return 0;
}

static int start_locked(struct fsd_device *dev, struct fsd_queue *q, struct fsd_worker *to,
			uint64_t generation, struct fsd_move *m)
{
	bool same;
	int err = 0;

	fsd_queue_hold(q);
	same = q->owner == to;
	if (q->generation != generation || q->state & (VQS_FSD_PAUSED | VQS_FSD_STOPPING)) {
		fsd_add(&dev->stats.header->cancelled, 1);
		err = -ECANCELED;
	} else {
		err = change_owner(q, to);
	}
	*m = (struct fsd_move){.queue = q->index, .seq = q->move_seq, .same = same};
	fsd_queue_release(q);
	if (!err)
		fsd_worker_poke(to, q->index);
	return err;
}

int fsd_move_start(struct fsd_device *dev, uint32_t queue, uint32_t worker, uint64_t generation,
		   struct fsd_move *m)
{
	int err = -EINVAL;

	pthread_mutex_lock(&dev->change);
	if (queue && queue < dev->nr_queues && worker && worker <= dev->nr_workers)
		err = start_locked(dev, &dev->queue[queue], &dev->worker[worker], generation, m);
	pthread_mutex_unlock(&dev->change);
	return err;
}

bool fsd_move_done(const struct fsd_device *dev, const struct fsd_move *m, uint64_t *pause_ns)
{
	const struct fsd_queue *q = &dev->queue[m->queue];
	uint32_t seen = __atomic_load_n(&q->look_seq, __ATOMIC_ACQUIRE);

	if ((int32_t)(seen - m->seq) < 0)
		return false;
	*pause_ns = m->same ? 0 : fsd_get(&q->stats->last_pause_ns);
	return true;
}

int fsd_move(struct fsd_device *dev, uint32_t queue, uint32_t worker, uint32_t timeout_ms,
	     uint64_t *pause_ns)
{
	uint64_t until = vqs_now_ns(CLOCK_MONOTONIC) + timeout_ms * 1000000ULL;
	struct fsd_move m;
	int err = fsd_move_start(dev, queue, worker, fsd_move_generation(dev, queue), &m);

	while (!err && !fsd_move_done(dev, &m, pause_ns)) {
		struct timespec t = {.tv_nsec = LOOK_EVERY_NS};

		if (vqs_now_ns(CLOCK_MONOTONIC) > until)
			return -ETIMEDOUT;
		ppoll(NULL, 0, &t, NULL);
	}
	return err;
}

void fsd_move_by_force(struct fsd_device *dev, uint32_t queue, uint32_t worker)
{
	struct fsd_queue *q = &dev->queue[queue];
	struct fsd_worker *to = &dev->worker[worker];
	int err;

	fsd_queue_hold(q);
	err = change_owner(q, to);
	fsd_queue_release(q);
	if (err)
		fsd_say(dev->log, FSD_LOG_ERROR, "queue %u: cannot wait for its kicks: %s", queue,
			strerrordesc_np(-err));
	fsd_worker_poke(fsd_queue_owner(q), queue);
}
