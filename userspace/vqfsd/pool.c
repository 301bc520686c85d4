// SPDX-License-Identifier: GPL-2.0-or-later
#include "vqfsd/pool.h"

#include <errno.h>
#include <stdio.h>

#include "vqfsd/device.h"

/* Under the lock. Threads too many end; those that are the last ones empty the list first. */
static bool ends(const struct fsd_pool_thread *t)
{
	const struct fsd_pool *p = t->pool;

	return !t->held && t->index >= p->size && (p->size || !p->head);
}

static struct fsd_record *take(struct fsd_pool *p)
{
	struct fsd_record *r = p->head;

	if (!r)
		return NULL;
	p->head = r->next;
	if (!p->head)
		p->tail = &p->head;
	return r;
}

/* The next request, or NULL: end. */
static struct fsd_record *next(struct fsd_pool_thread *t)
{
	struct fsd_runner *x = &t->runner;
	struct fsd_pool *p = t->pool;
	struct fsd_record *r = NULL;
	uint64_t since;

	pthread_mutex_lock(&p->lock);
	while (!ends(t) && !(r = take(p))) {
		if (x->nr_done) {
			pthread_mutex_unlock(&p->lock);
			fsd_run_flush(x);
			pthread_mutex_lock(&p->lock);
			continue;
		}
		p->idle++;
		since = fsd_runner_sleeps(x);
		pthread_cond_wait(&p->work, &p->lock);
		fsd_runner_wakes(x, since);
		p->idle--;
	}
	t->exited = !r;
	pthread_mutex_unlock(&p->lock);
	return r;
}

static void *execute(void *arg)
{
	struct fsd_pool_thread *t = arg;
	struct fsd_record *r;
	char name[16];

	snprintf(name, sizeof(name), "vqfsd-p%u", t->index);
	if (!fsd_runner_begin(&t->runner, FSD_WORKERS_MAX + t->index, VQS_FSD_POOLED, t->index,
			      name))
		return NULL;
	while ((r = next(t)))
		fsd_run(&t->runner, r);
	fsd_runner_end(&t->runner);
	return NULL;
}

int fsd_pool_init(struct fsd_pool *p, struct fsd_device *dev)
{
	p->dev = dev;
	p->head = NULL;
	p->tail = &p->head;
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->work, NULL);
	for (uint32_t i = 0; i < FSD_POOL_MAX; i++) {
		p->thread[i].pool = p;
		p->thread[i].index = i;
		p->thread[i].runner.dev = dev;
	}
	return 0;
}

static void join(struct fsd_pool_thread *t)
{
	if (t->made)
		pthread_join(t->thread, NULL);
	t->made = false;
}

/* A thread that was to end and did not yet just goes on. */
static int ensure(struct fsd_pool_thread *t)
{
	struct fsd_pool *p = t->pool;
	bool there;
	int err;

	pthread_mutex_lock(&p->lock);
	there = t->made && !t->exited;
	t->held = true;
	pthread_mutex_unlock(&p->lock);
	if (there)
		return 0;
	join(t);
	t->exited = false;
	err = fsd_runner_spawn(&t->runner, &t->thread, execute, t);
	t->made = !err;
	return err;
}

static void set_size(struct fsd_pool *p, uint32_t size)
{
	pthread_mutex_lock(&p->lock);
	__atomic_store_n(&p->size, size, __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < FSD_POOL_MAX; i++)
		p->thread[i].held = false;
	pthread_cond_broadcast(&p->work);
	pthread_mutex_unlock(&p->lock);
}

int fsd_pool_resize(struct fsd_pool *p, uint32_t size)
{
	uint32_t before = fsd_pool_size(p);
	int err = 0;

	if (size > FSD_POOL_MAX)
		return -EINVAL;
	for (uint32_t i = 0; i < size && !err; i++)
		err = ensure(&p->thread[i]);
	set_size(p, err ? before : size);
	return err;
}

void fsd_pool_free(struct fsd_pool *p)
{
	if (!p->dev)
		return;
	set_size(p, 0);
	for (uint32_t i = 0; i < FSD_POOL_MAX; i++)
		join(&p->thread[i]);
	pthread_cond_destroy(&p->work);
	pthread_mutex_destroy(&p->lock);
}

bool fsd_pool_add(struct fsd_pool *p, struct fsd_record *const *r, uint32_t n)
{
	uint32_t wake;
	bool taken;

	if (!n)
		return true;
	for (uint32_t i = 0; i + 1 < n; i++)
		r[i]->next = r[i + 1];
	r[n - 1]->next = NULL;
	pthread_mutex_lock(&p->lock);
	taken = p->size;
	if (taken) {
		*p->tail = r[0];
		p->tail = &r[n - 1]->next;
	}
	wake = p->idle < n ? p->idle : n;
	pthread_mutex_unlock(&p->lock);
	for (uint32_t i = 0; taken && i < wake; i++)
		pthread_cond_signal(&p->work);
	return taken;
}
