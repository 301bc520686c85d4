// SPDX-License-Identifier: GPL-2.0-or-later
/* What the front-end and operators do to a queue. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <sys/mman.h>

#include "common/cleanup.h"
#include "vqfsd/device.h"
#include "vqfsd/queue.h"

/* How long a waiter sleeps before it looks again by itself. */
#define QUIET_MS 100

void fsd_queue_init(struct fsd_queue *q, struct fsd_device *dev, uint32_t index)
{
	memset(q, 0, sizeof(*q));
	q->index = index;
	q->dev = dev;
	q->stats = &dev->stats.queue[index];
	q->kick_next = q->kick_fd = q->call_fd = q->err_fd = -1;
}

/* What was popped last and nobody began is popped again later: by whoever then may. */
static void give_back(struct fsd_queue *q)
{
	uint32_t head = __atomic_load_n(&q->ready_head, __ATOMIC_RELAXED);
	uint32_t tail = q->ready_tail, n;

	do
		n = tail - head;
	while (n && !__atomic_compare_exchange_n(&q->ready_head, &head, tail, false,
						 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
	for (uint32_t i = 0; i < n; i++) {
		struct fsd_record *r = q->ready[(tail - 1 - i) % FSD_POP_MAX];

		r->next = q->free;
		q->free = r;
	}
	__atomic_store_n(&q->ring.pop.last_avail, (uint16_t)(q->ring.pop.last_avail - n),
			 __ATOMIC_RELAXED);
	q->ring.pop.popped -= n;
	q->popped -= n;
	fsd_add(&q->stats->given_back, n);
}

void fsd_queue_mark(struct fsd_queue *q, uint32_t set, uint32_t clear)
{
	uint32_t state = (q->state & ~clear) | set;

	__atomic_store_n(&q->state, state, __ATOMIC_RELAXED);
	__atomic_store_n(&q->generation, q->generation + 1, __ATOMIC_RELAXED);
	fsd_set32(&q->stats->state, state);
	fsd_set(&q->stats->generation, q->generation);
	if (fsd_queue_runs(q))
		return;
	fsd_queue_looked(q);
	/* A ring that broke keeps what it popped before. */
	if (!(set & VQS_FSD_BROKEN))
		give_back(q);
}

void fsd_queue_break(struct fsd_queue *q, const char *why)
{
	uint64_t one = 1;

	if (q->state & VQS_FSD_BROKEN)
		return;
	fsd_queue_mark(q, VQS_FSD_BROKEN, 0);
	fsd_worker_unwatch(q->owner, q->index, q->kick_fd);
	fsd_add(&q->stats->faults, 1);
	fsd_say(q->dev->log, FSD_LOG_ERROR,
		"queue %u: %s; the queue is broken until the guest starts it again", q->index, why);
	fsd_lock_take(&q->used_lock);
	if (q->err_fd >= 0 && write(q->err_fd, &one, sizeof(one)) < 0)
		fsd_say(q->dev->log, FSD_LOG_DEBUG, "queue %u: cannot tell the front-end: %s",
			q->index, strerrordesc_np(errno));
	fsd_lock_give(&q->used_lock);
}

/* --- ring ------------------------------------------------------------------------------------ */

static bool find_areas(const struct fsd_queue *q, struct vq_ring *r, const char **why)
{
	const struct fsd_memory *m = &q->dev->memory;

	*r = (struct vq_ring){
		.desc = fsd_memory_user(m, q->addr.desc, vq_desc_bytes(q->size)),
		.avail = fsd_memory_user(m, q->addr.avail, vq_avail_bytes(q->size)),
		.used = fsd_memory_user(m, q->addr.used, vq_used_bytes(q->size)),
		.size = q->size,
	};
	if (!r->desc || !r->avail || !r->used)
		*why = "an area of the ring is not within guest memory";
	else if (vq_ring_check(r))
		*why = "an area of the ring is not aligned";
	else
		return true;
	return false;
}

static int make_records(struct fsd_queue *q)
{
	uint32_t n = q->size < FSD_RECORDS_MAX ? q->size : FSD_RECORDS_MAX;
	void *slab = mmap(NULL, n * sizeof(struct fsd_record), PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (slab == MAP_FAILED)
		return -errno;
	q->slab = slab;
	q->records = n;
	q->touched = 0;
	q->free = q->returned = NULL;
	q->starved = false;
	return 0;
}

static void free_records(struct fsd_queue *q)
{
	if (q->slab)
		munmap(q->slab, q->records * sizeof(struct fsd_record));
	q->slab = NULL;
	q->free = q->returned = NULL;
}

static int start_held(struct fsd_queue *q, const struct vq_ring *r, uint64_t features,
		      const char **why)
{
	int err = make_records(q);

	*why = err ? strerrordesc_np(-err) : NULL;
	if (err)
		return err;
	fsd_lock_take(&q->used_lock);
	err = vq_device_start(&q->ring, r, &q->dev->memory.mem, features, q->base);
	q->popped = q->finished = 0;
	fsd_lock_give(&q->used_lock);
	if (!err)
		err = fsd_worker_watch(q->owner, q->index, q->kick_next);
	if (err) {
		*why = "the kick descriptor cannot be waited for";
		free_records(q);
		return err;
	}
	q->kick_fd = TAKE_FD(q->kick_next);
	fsd_set32(&q->stats->ring_size, q->size);
	fsd_queue_mark(q, VQS_FSD_STARTED, VQS_FSD_BROKEN);
	return 0;
}

static int replace_kick(struct fsd_queue *q, const char **why)
{
	int err;

	fsd_queue_hold(q);
	err = fsd_worker_watch(q->owner, q->index, q->kick_next);
	if (!err) {
		fsd_worker_unwatch(q->owner, q->index, q->kick_fd);
		vqs_closep(&q->kick_fd);
		q->kick_fd = TAKE_FD(q->kick_next);
	}
	fsd_queue_release(q);
	*why = err ? "the kick descriptor cannot be waited for" : NULL;
	return err;
}

int fsd_queue_start(struct fsd_queue *q, uint64_t features, const char **why)
{
	struct vq_ring r;
	int err;

	*why = NULL;
	if (q->kick_next < 0)
		return 0;
	if (fsd_queue_state(q) & VQS_FSD_STARTED) {
		err = replace_kick(q, why);
	} else {
		if (!q->has_addr || !q->size)
			return 0;
		if (!find_areas(q, &r, why))
			return -EINVAL;
		fsd_queue_hold(q);
		err = start_held(q, &r, features, why);
		fsd_queue_release(q);
	}
	if (!err)
		fsd_worker_poke(fsd_queue_owner(q), q->index);
	return err;
}

void fsd_queue_enable(struct fsd_queue *q, bool enable)
{
	fsd_queue_hold(q);
	fsd_queue_mark(q, enable ? VQS_FSD_ENABLED : 0, enable ? 0 : VQS_FSD_ENABLED);
	fsd_queue_release(q);
	if (enable)
		fsd_worker_poke(fsd_queue_owner(q), q->index);
}

void fsd_queue_stop(struct fsd_queue *q)
{
	fsd_queue_hold(q);
	if (!(q->state & VQS_FSD_STARTED)) {
		fsd_queue_release(q);
		return;
	}
	fsd_queue_mark(q, VQS_FSD_STOPPING, 0);
	fsd_worker_unwatch(q->owner, q->index, q->kick_fd);
	fsd_queue_release(q);
	fsd_queue_await_quiet(q);
	fsd_queue_hold(q);
	q->base = vq_device_base(&q->ring);
	vqs_closep(&q->kick_fd);
	q->kick_fd = -1;
	fsd_queue_mark(q, 0, VQS_FSD_STARTED | VQS_FSD_STOPPING | VQS_FSD_BROKEN);
	fsd_lock_take(&q->used_lock);
	free_records(q);
	fsd_lock_give(&q->used_lock);
	fsd_queue_release(q);
}

static void set_fd(struct fsd_queue *q, int *place, int fd)
{
	int old;

	fsd_lock_take(&q->used_lock);
	old = *place;
	*place = fd;
	fsd_lock_give(&q->used_lock);
	vqs_closep(&old);
}

void fsd_queue_set_call(struct fsd_queue *q, int fd)
{
	uint64_t one = 1;

	set_fd(q, &q->call_fd, fd);
	/* What was called for until now may have gone to the old one, or to none. */
	if (fd >= 0 && write(fd, &one, sizeof(one)) < 0)
		fsd_say(q->dev->log, FSD_LOG_DEBUG, "queue %u: cannot call: %s", q->index,
			strerrordesc_np(errno));
}

void fsd_queue_set_err(struct fsd_queue *q, int fd)
{
	set_fd(q, &q->err_fd, fd);
}

/* --- pause ----------------------------------------------------------------------------------- */

void fsd_queue_pause(struct fsd_queue *q, uint32_t bit)
{
	fsd_queue_hold(q);
	fsd_queue_mark(q, bit, 0);
	fsd_queue_release(q);
}

void fsd_queue_resume(struct fsd_queue *q, uint32_t bit)
{
	fsd_queue_hold(q);
	fsd_queue_mark(q, 0, bit);
	fsd_queue_release(q);
	fsd_worker_poke(fsd_queue_owner(q), q->index);
}

bool fsd_queue_quiet(struct fsd_queue *q)
{
	bool quiet;

	fsd_queue_hold(q);
	fsd_lock_take(&q->used_lock);
	quiet = q->finished == q->popped;
	q->quiet_wanted = !quiet;
	fsd_lock_give(&q->used_lock);
	fsd_queue_release(q);
	return quiet;
}

void fsd_queue_await_quiet(struct fsd_queue *q)
{
	for (;;) {
		uint32_t seq = __atomic_load_n(&q->quiet_seq, __ATOMIC_ACQUIRE);

		if (fsd_queue_quiet(q))
			return;
		fsd_futex_wait(&q->quiet_seq, seq, QUIET_MS);
	}
}

void fsd_queue_remap(struct fsd_queue *q)
{
	struct vq_ring r;
	const char *why;

	fsd_queue_hold(q);
	if (q->state & VQS_FSD_STARTED && !(q->state & VQS_FSD_BROKEN)) {
		fsd_lock_take(&q->used_lock);
		if (find_areas(q, &r, &why))
			q->ring.ring = r;
		else
			r.size = 0;
		fsd_lock_give(&q->used_lock);
		if (!r.size)
			fsd_queue_break(q, why);
	}
	fsd_queue_release(q);
}
