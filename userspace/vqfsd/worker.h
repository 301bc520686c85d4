/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A worker: a thread that pops from the queues it owns. It sleeps in epoll on their kicks and on an
 * eventfd of its own; nothing wakes it while nothing is to do. Worker 0 has hiprio and nothing
 * else, so that FORGET and INTERRUPT never wait behind a request.
 */
#ifndef VQFSD_WORKER_H
#define VQFSD_WORKER_H

#include <pthread.h>

#include "vqfsd/engine.h"

#define FSD_QUEUE_WORDS 4u /* of 64 queues each */

struct fsd_worker {
	struct fsd_device *dev;
	uint32_t index;
	bool made;        /* has a thread, to be joined */
	uint32_t retired; /* atomic: 1 asked to end, 2 it does */
	int epoll_fd, wake_fd;
	int tid;
	pthread_t thread;
	struct fsd_runner runner;
	uint64_t owned[FSD_QUEUE_WORDS];  /* queues; atomic, for polling only: owners decide */
	uint64_t poked[FSD_QUEUE_WORDS];  /* queues to look at; atomic */
	uint64_t active[FSD_QUEUE_WORDS]; /* queues with work, as the worker knows; its own */
	uint32_t poll_ns;                 /* how long to poll before sleep, as adapted; its own */
};

/* Makes thread and descriptors, or lets one that was to end go on. 0 or -errno. */
int fsd_worker_start(struct fsd_worker *w);
/* Ends it after what it has in hand, without waiting; it owns no queue. */
void fsd_worker_retire(struct fsd_worker *w);
/* Waits for a retired one, and frees what it had. */
void fsd_worker_join(struct fsd_worker *w);

/* Makes it look at a queue. Any thread. */
void fsd_worker_poke(struct fsd_worker *w, uint32_t queue);

/* The queue's kicks wake this worker, or no longer. Under the queue's pop lock. 0 or -errno. */
int fsd_worker_watch(struct fsd_worker *w, uint32_t queue, int kick_fd);
void fsd_worker_unwatch(struct fsd_worker *w, uint32_t queue, int kick_fd);

#endif
