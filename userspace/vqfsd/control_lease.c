// SPDX-License-Identifier: GPL-2.0-or-later
/* What a lease changes, and how all of it goes back. */
#include <errno.h>
#include <string.h>

#include "vqfsd/control_priv.h"

void fsd_control_save(struct fsd_control *x)
{
	struct fsd_device *dev = x->dev;
	struct fsd_saved *s = &x->saved;

	s->workers = dev->nr_workers;
	s->pool_size = fsd_pool_size(&dev->pool);
	for (uint32_t i = 1; i < dev->nr_queues; i++) {
		const struct fsd_queue *q = &dev->queue[i];

		s->queue[i].worker = fsd_queue_owner(q)->index;
		s->queue[i].engine = fsd_get32(&q->engine);
		s->queue[i].threshold = fsd_get32(&q->threshold);
	}
	for (uint32_t i = 0; i <= dev->nr_workers; i++)
		if (sched_getaffinity(dev->stats.thread[i].tid, sizeof(s->cpus[i]), &s->cpus[i]))
			CPU_ZERO(&s->cpus[i]);
}

static void complain(struct fsd_control *x, const char *what, int err)
{
	if (err)
		fsd_say(x->dev->log, FSD_LOG_ERROR, "cannot put back %s: %s", what,
			strerrordesc_np(-err));
}

void fsd_control_undrain(struct fsd_control *x)
{
	for (uint32_t i = 0; i < x->dev->nr_queues; i++)
		if (fsd_queue_state(&x->dev->queue[i]) & VQS_FSD_DRAINED)
			fsd_queue_resume(&x->dev->queue[i], VQS_FSD_DRAINED);
}

void fsd_control_revert(struct fsd_control *x)
{
	struct fsd_device *dev = x->dev;
	const struct fsd_saved *s = &x->saved;
	uint64_t ns;

	/* Old owners first, then queues to them, then the end of those that nobody needs. */
	if (dev->nr_workers < s->workers)
		complain(x, "workers", fsd_device_set_workers(dev, s->workers));
	complain(x, "the pool", fsd_pool_resize(&dev->pool, s->pool_size));
	for (uint32_t i = 1; i < dev->nr_queues; i++) {
		if (s->queue[i].worker <= dev->nr_workers)
			fsd_move_by_force(dev, i, s->queue[i].worker);
		fsd_device_set_engine(dev, i, s->queue[i].engine, &ns);
		fsd_device_set_threshold(dev, i, s->queue[i].threshold, &ns);
	}
	if (dev->nr_workers > s->workers)
		complain(x, "workers", fsd_device_set_workers(dev, s->workers));
	for (uint32_t i = 0; i <= dev->nr_workers; i++)
		if (CPU_COUNT(&s->cpus[i]))
			complain(x, "a worker's CPUs", fsd_device_pin(dev, i, &s->cpus[i]));
	fsd_control_undrain(x);
}
