/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The device: queues, workers, pool, guest memory, statistics; and the changes to it while it
 * serves. Two threads change it: the front-end's (starts, stops, memory, reset) and the control
 * socket's (mapping, engines, threads). They meet in each queue's pop lock only.
 */
#ifndef VQFSD_DEVICE_H
#define VQFSD_DEVICE_H

#include <sched.h>

#include "vqfsd/fs.h"
#include "vqfsd/log.h"
#include "vqfsd/memory.h"
#include "vqfsd/pool.h"
#include "vqfsd/queue.h"
#include "vqfsd/stats.h"
#include "vqfsd/worker.h"

#define FSD_REQUEST_QUEUES_MAX (VHU_MAX_VRINGS - 1)
#define FSD_TAG_BYTES          36

struct fsd_device_options {
	const char *tag;
	uint32_t request_queues; /* 1 .. FSD_REQUEST_QUEUES_MAX */
	uint32_t workers;        /* for request queues, 1 .. FSD_WORKERS_MAX - 1 */
	uint32_t pool_size;      /* 0 .. FSD_POOL_MAX */
	uint32_t engine;         /* enum vqs_fsd_engine */
	uint32_t threshold;
	uint32_t busy_poll_us;     /* 0: never */
	const cpu_set_t *affinity; /* per queue number, empty: none; NULL: none at all */
};

/* Published measurements have 3 as a good start. */
#define FSD_DEVICE_OPTIONS_DEFAULT                                                      \
	{                                                                               \
		.tag = "", .request_queues = 1, .workers = 1, .engine = VQS_FSD_INLINE, \
		.threshold = 3,                                                         \
	}

struct fsd_device {
	struct fsd_device_options opts;
	struct fsd_fs *fs;   /* not owned */
	struct fsd_log *log; /* not owned */
	struct fsd_stats stats;
	struct fsd_memory memory;
	struct fsd_queue *queue; /* hiprio and request queues */
	uint32_t nr_queues;
	struct fsd_worker worker[FSD_WORKERS_MAX];
	uint32_t nr_workers; /* for request queues: 1 .. this */
	struct fsd_pool pool;
	/* One change by an operator at a time; the front-end's thread does not take it. */
	pthread_mutex_t change;
	int seen_fd; /* eventfd: a new owner looked at its queue, or a queue became quiet */
};

/* 0, or -errno with *error a text to free. Threads run when it returns. */
int fsd_device_new(struct fsd_device **dev, const struct fsd_device_options *o, struct fsd_fs *fs,
		   struct fsd_log *log, char **error);
/* Stops all rings and threads, waiting for requests in progress. */
void fsd_device_free(struct fsd_device *dev);

/* --- the front-end's thread ------------------------------------------------------------------ */

/* Nothing is popped any more; with @wait, and all that was popped is answered. */
void fsd_device_quiesce(struct fsd_device *dev, bool wait);
/* After it: rings find their areas in the new memory, and go on. */
void fsd_device_resume(struct fsd_device *dev);
/* Stops all rings. */
void fsd_device_stop(struct fsd_device *dev);

/* --- operators ------------------------------------------------------------------------------- */

/*
 * Request queues get @workers workers: new ones own nothing at first; queues of those that end go
 * to the others, round robin. 0; -EINVAL; -errno of what a thread needs.
 */
int fsd_device_set_workers(struct fsd_device *dev, uint32_t workers);

/* Of one request queue. 0; -EINVAL. *pause_ns: how long it was not popped for this. */
int fsd_device_set_engine(struct fsd_device *dev, uint32_t queue, uint32_t engine,
			  uint64_t *pause_ns);
int fsd_device_set_threshold(struct fsd_device *dev, uint32_t queue, uint32_t threshold,
			     uint64_t *pause_ns);

/* Worker @worker's CPUs. 0; -EINVAL: no such worker; -errno of sched_setaffinity(). */
int fsd_device_pin(struct fsd_device *dev, uint32_t worker, const cpu_set_t *cpus);

#endif
