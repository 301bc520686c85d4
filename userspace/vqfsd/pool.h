/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads that execute for all queues, first come, first served. Their number changes at run time:
 * a thread too many ends after its request. Without any, queues run inline.
 */
#ifndef VQFSD_POOL_H
#define VQFSD_POOL_H

#include <pthread.h>

#include "vqfsd/engine.h"
#include "vqfsd/stats.h"

struct fsd_pool_thread {
	struct fsd_pool *pool;
	uint32_t index;
	bool made, exited; /* to be joined; has left its loop */
	bool held;         /* must not end: the size is about to count it */
	pthread_t thread;
	struct fsd_runner runner;
};

struct fsd_pool {
	struct fsd_device *dev;
	pthread_mutex_t lock;
	pthread_cond_t work;
	struct fsd_record *head, **tail;
	uint32_t size; /* threads that may take requests: those below; atomic for who only looks */
	uint32_t idle;
	bool ended;
	struct fsd_pool_thread thread[FSD_POOL_MAX];
};

int fsd_pool_init(struct fsd_pool *p, struct fsd_device *dev);
/* Ends all threads after what they have; the list must be empty, or is left. */
void fsd_pool_free(struct fsd_pool *p);

static inline uint32_t fsd_pool_size(const struct fsd_pool *p)
{
	return __atomic_load_n(&p->size, __ATOMIC_RELAXED);
}

/*
 * From now on @size threads take requests (without any, those there were finish the list). 0;
 * -EINVAL: more than FSD_POOL_MAX; -errno of what a thread needs, and the size is as before.
 */
int fsd_pool_resize(struct fsd_pool *p, uint32_t size);

/* Appends @n requests, in order. False: there is no thread, nothing was done. */
bool fsd_pool_add(struct fsd_pool *p, struct fsd_record *const *r, uint32_t n);

#endif
