/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How popped requests are executed. An engine is a row of a table: what it does with a batch that
 * was just popped. io_uring and an engine that chooses by itself get their rows here.
 */
#ifndef VQFSD_ENGINE_H
#define VQFSD_ENGINE_H

#include <pthread.h>

#include "vqfsd/queue.h"

struct fsd_thread;

/* Replies gathered before they are pushed and called for together. */
#define FSD_DONE_MAX 8u

/* A thread that executes: a worker, or one of the pool. */
struct fsd_runner {
	struct fsd_device *dev;
	uint32_t started; /* futex: the thread runs, or start_err says why not */
	int start_err;
	struct fsd_thread *thread; /* the file system's */
	struct vqs_fsd_thread *stats;
	struct fsd_queue *queue; /* of what is done */
	uint32_t nr_done;
	struct fsd_done done[FSD_DONE_MAX];
};

/* Executes one request, and gathers its reply. */
void fsd_run(struct fsd_runner *x, struct fsd_record *r);
/* Pushes what was gathered. */
void fsd_run_flush(struct fsd_runner *x);

/*
 * Starts a thread: @main(@arg), without signals, that calls fsd_runner_begin() first. 0 when that
 * did, or -errno and there is no thread.
 */
int fsd_runner_spawn(struct fsd_runner *x, pthread_t *thread, void *(*main)(void *), void *arg);
/* In the thread. False: end. @slot of the statistics, @name of at most 15 bytes. */
bool fsd_runner_begin(struct fsd_runner *x, uint32_t slot, uint32_t kind, uint32_t index,
		      const char *name);
void fsd_runner_end(struct fsd_runner *x);
/* Around a sleep for want of work; returns the time, and how long it was. */
uint64_t fsd_runner_sleeps(struct fsd_runner *x);
uint64_t fsd_runner_wakes(struct fsd_runner *x, uint64_t since);

struct fsd_engine {
	const char *name; /* as in the control protocol */
	/* The ready list of @q has @n requests, popped by @w, on its thread. NULL: not built in. */
	void (*execute)(struct fsd_worker *w, struct fsd_queue *q, uint32_t n);
};

extern const struct fsd_engine fsd_engines[VQS_FSD_ENGINES];

/* enum vqs_fsd_engine by name; -EINVAL: no engine is called so; -EOPNOTSUPP: not built in. */
int fsd_engine_named(const char *name);

void fsd_engine_inline(struct fsd_worker *w, struct fsd_queue *q, uint32_t n);
void fsd_engine_pool(struct fsd_worker *w, struct fsd_queue *q, uint32_t n);
void fsd_engine_threshold(struct fsd_worker *w, struct fsd_queue *q, uint32_t n);

#endif
