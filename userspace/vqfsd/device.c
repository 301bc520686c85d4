// SPDX-License-Identifier: GPL-2.0-or-later
#include "vqfsd/device.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/eventfd.h>

#include "common/cleanup.h"
#include "common/clock.h"
#include "vqfsd/guard.h"
#include "vqfsd/move.h"

static int explain(char **error, int err, const char *what, const char *remedy)
{
	if (asprintf(error, "cannot %s: %s; %s", what, strerrordesc_np(-err), remedy) < 0)
		*error = NULL;
	return err;
}

static uint32_t first_worker(const struct fsd_device *dev, uint32_t queue)
{
	return queue ? 1 + (queue - 1) % dev->nr_workers : 0;
}

static int make_queues(struct fsd_device *dev)
{
	dev->queue = aligned_alloc(VQ_CACHE_LINE, dev->nr_queues * sizeof(*dev->queue));
	if (!dev->queue)
		return -ENOMEM;
	for (uint32_t i = 0; i < dev->nr_queues; i++) {
		struct fsd_queue *q = &dev->queue[i];

		fsd_queue_init(q, dev, i);
		q->owner = &dev->worker[first_worker(dev, i)];
		q->engine = i ? dev->opts.engine : VQS_FSD_INLINE;
		q->threshold = dev->opts.threshold;
		q->stats->worker = q->owner->index;
		q->stats->engine = q->engine;
		q->stats->threshold = q->threshold;
	}
	return 0;
}

/* The CPUs of all its queues that have any. */
static int pin_worker(struct fsd_device *dev, uint32_t worker)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	for (uint32_t i = 1; dev->opts.affinity && i < dev->nr_queues; i++)
		if (first_worker(dev, i) == worker)
			CPU_OR(&cpus, &cpus, &dev->opts.affinity[i]);
	return CPU_COUNT(&cpus) ? fsd_device_pin(dev, worker, &cpus) : 0;
}

static int start_threads(struct fsd_device *dev, char **error)
{
	int err = 0;

	for (uint32_t i = 0; i <= dev->nr_workers && !err; i++)
		err = fsd_worker_start(&dev->worker[i]);
	if (!err)
		err = fsd_pool_resize(&dev->pool, dev->opts.pool_size);
	if (err)
		return explain(error, err, "start threads",
			       "raise the limits on processes and "
			       "files, or ask for fewer");
	for (uint32_t i = 1; i <= dev->nr_workers && !err; i++)
		err = pin_worker(dev, i);
	return err ? explain(error, err, "set --request-queue-cpu-affinity",
			     "name CPUs that this process may use")
		   : 0;
}

static int build(struct fsd_device *dev, char **error)
{
	int err = fsd_guard_install();

	if (!err)
		err = fsd_stats_new(&dev->stats, dev->nr_queues, dev->opts.tag);
	if (!err)
		err = make_queues(dev);
	if (!err)
		err = fsd_pool_init(&dev->pool, dev);
	if (!err)
		dev->seen_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (!err && dev->seen_fd < 0)
		err = -errno;
	if (err)
		return explain(error, err, "make the device",
			       "raise the limits on memory and files");
	return start_threads(dev, error);
}

static int check(const struct fsd_device_options *o, char **error)
{
	const char *what = NULL;

	if (!o->request_queues || o->request_queues > FSD_REQUEST_QUEUES_MAX)
		what = "make the device with these request queues";
	else if (!o->workers || o->workers >= FSD_WORKERS_MAX)
		what = "make the device with these workers";
	else if (o->pool_size > FSD_POOL_MAX)
		what = "make the device with this pool";
	else if (o->engine >= VQS_FSD_ENGINES || !fsd_engines[o->engine].execute)
		what = "make the device with this engine";
	return what ? explain(error, -EINVAL, what, "stay within the limits of --help") : 0;
}

int fsd_device_new(struct fsd_device **out, const struct fsd_device_options *o, struct fsd_fs *fs,
		   struct fsd_log *log, char **error)
{
	struct fsd_device *dev;
	int err = check(o, error);

	*out = NULL;
	if (err)
		return err;
	dev = aligned_alloc(VQ_CACHE_LINE,
			    (sizeof(*dev) + VQ_CACHE_LINE - 1) & ~(size_t)(VQ_CACHE_LINE - 1));
	if (!dev)
		return explain(error, -ENOMEM, "make the device", "raise the limit on memory");
	memset(dev, 0, sizeof(*dev));
	dev->opts = *o;
	dev->fs = fs;
	dev->log = log;
	dev->seen_fd = -1;
	dev->nr_queues = o->request_queues + 1;
	dev->nr_workers = o->workers;
	pthread_mutex_init(&dev->change, NULL);
	for (uint32_t i = 0; i < FSD_WORKERS_MAX; i++) {
		dev->worker[i].dev = dev;
		dev->worker[i].index = i;
		dev->worker[i].epoll_fd = dev->worker[i].wake_fd = -1;
	}
	err = build(dev, error);
	if (err)
		fsd_device_free(dev);
	else
		*out = dev;
	return err;
}

void fsd_device_free(struct fsd_device *dev)
{
	if (!dev)
		return;
	if (dev->queue)
		fsd_device_stop(dev);
	for (uint32_t i = 0; i < FSD_WORKERS_MAX; i++)
		fsd_worker_retire(&dev->worker[i]);
	for (uint32_t i = 0; i < FSD_WORKERS_MAX; i++)
		fsd_worker_join(&dev->worker[i]);
	fsd_pool_free(&dev->pool);
	for (uint32_t i = 0; dev->queue && i < dev->nr_queues; i++) {
		fsd_queue_set_call(&dev->queue[i], -1);
		fsd_queue_set_err(&dev->queue[i], -1);
		vqs_closep(&dev->queue[i].kick_next);
	}
	fsd_memory_clear(&dev->memory);
	vqs_closep(&dev->seen_fd);
	fsd_stats_free(&dev->stats);
	pthread_mutex_destroy(&dev->change);
	free(dev->queue);
	free(dev);
}

/* --- the front-end's thread ------------------------------------------------------------------ */

void fsd_device_quiesce(struct fsd_device *dev, bool wait)
{
	for (uint32_t i = 0; i < dev->nr_queues; i++)
		fsd_queue_pause(&dev->queue[i], VQS_FSD_PAUSED);
	for (uint32_t i = 0; wait && i < dev->nr_queues; i++)
		fsd_queue_await_quiet(&dev->queue[i]);
}

void fsd_device_resume(struct fsd_device *dev)
{
	for (uint32_t i = 0; i < dev->nr_queues; i++)
		fsd_queue_resume(&dev->queue[i], VQS_FSD_PAUSED);
}

void fsd_device_stop(struct fsd_device *dev)
{
	/* All at once, so that none pops on while another is waited for. */
	for (uint32_t i = 0; i < dev->nr_queues; i++)
		fsd_queue_enable(&dev->queue[i], false);
	for (uint32_t i = 0; i < dev->nr_queues; i++)
		fsd_queue_stop(&dev->queue[i]);
}

/* --- operators ------------------------------------------------------------------------------- */

static int set_workers(struct fsd_device *dev, uint32_t workers)
{
	int err = 0;

	for (uint32_t i = dev->nr_workers + 1; i <= workers && !err; i++) {
		err = fsd_worker_start(&dev->worker[i]);
		if (!err)
			dev->nr_workers = i;
	}
	for (uint32_t i = 1; i < dev->nr_queues; i++)
		if (!err && fsd_queue_owner(&dev->queue[i])->index > workers)
			fsd_move_by_force(dev, i, 1 + (i - 1) % workers);
	for (uint32_t i = workers + 1; i <= dev->nr_workers && !err; i++)
		fsd_worker_retire(&dev->worker[i]);
	if (!err)
		dev->nr_workers = workers;
	return err;
}

int fsd_device_set_workers(struct fsd_device *dev, uint32_t workers)
{
	int err;

	if (!workers || workers >= FSD_WORKERS_MAX)
		return -EINVAL;
	pthread_mutex_lock(&dev->change);
	err = set_workers(dev, workers);
	pthread_mutex_unlock(&dev->change);
	return err;
}

/* Under the pop lock, so that what is popped next goes by the new value. */
static void set_word(struct fsd_queue *q, uint32_t *word, __u32 *shown, uint32_t v,
		     uint64_t *pause_ns)
{
	uint64_t since;

	fsd_queue_hold(q);
	since = vqs_now_ns(CLOCK_MONOTONIC);
	fsd_set32(word, v);
	fsd_set32(shown, v);
	*pause_ns = vqs_now_ns(CLOCK_MONOTONIC) - since;
	fsd_queue_release(q);
}

int fsd_device_set_engine(struct fsd_device *dev, uint32_t queue, uint32_t engine,
			  uint64_t *pause_ns)
{
	struct fsd_queue *q;

	if (!queue || queue >= dev->nr_queues || engine >= VQS_FSD_ENGINES ||
	    !fsd_engines[engine].execute)
		return -EINVAL;
	q = &dev->queue[queue];
	set_word(q, &q->engine, &q->stats->engine, engine, pause_ns);
	return 0;
}

int fsd_device_set_threshold(struct fsd_device *dev, uint32_t queue, uint32_t threshold,
			     uint64_t *pause_ns)
{
	struct fsd_queue *q;

	if (!queue || queue >= dev->nr_queues)
		return -EINVAL;
	q = &dev->queue[queue];
	set_word(q, &q->threshold, &q->stats->threshold, threshold, pause_ns);
	return 0;
}

int fsd_device_pin(struct fsd_device *dev, uint32_t worker, const cpu_set_t *cpus)
{
	if (worker > dev->nr_workers)
		return -EINVAL;
	return sched_setaffinity(dev->stats.thread[worker].tid, sizeof(*cpus), cpus) ? -errno : 0;
}
