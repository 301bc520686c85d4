// SPDX-License-Identifier: GPL-2.0-or-later
/* The way of a request: popped, claimed, finished. */
#include "vqfsd/queue.h"

#include <errno.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/hist.h"
#include "vqfsd/device.h"
#include "vqfsd/probes.h"

void fsd_queue_hold(struct fsd_queue *q)
{
	__atomic_fetch_add(&q->wanted, 1, __ATOMIC_RELAXED);
	fsd_lock_take(&q->pop_lock);
	__atomic_fetch_sub(&q->wanted, 1, __ATOMIC_RELAXED);
}

/* --- the owner ------------------------------------------------------------------------------- */

static bool owns(const struct fsd_queue *q, const struct fsd_worker *w)
{
	return fsd_queue_owner(q) == w && fsd_queue_runs(q);
}

static struct fsd_record *take_record(struct fsd_queue *q)
{
	struct fsd_record *r;

	if (!q->free) {
		if (q->touched < q->records) {
			r = &q->slab[q->touched++];
			r->queue = q;
			r->chain.iov = r->iov;
			r->chain.max_iov = FSD_IOV_MAX;
			return r;
		}
		fsd_lock_take(&q->used_lock);
		q->free = q->returned;
		q->returned = NULL;
		__atomic_store_n(&q->starved, !q->free, __ATOMIC_RELAXED);
		fsd_lock_give(&q->used_lock);
	}
	r = q->free;
	if (r)
		q->free = r->next;
	return r;
}

static void give_record(struct fsd_queue *q, struct fsd_record *r)
{
	r->next = q->free;
	q->free = r;
}

/* Pops up to a batch into the ready list, which is empty. */
static uint32_t pop_batch(struct fsd_queue *q, int *err)
{
	uint32_t tail = q->ready_tail, n = 0;

	for (*err = 0; n < FSD_POP_MAX; n++) {
		struct fsd_record *r = take_record(q);

		if (!r) {
			*err = -EBUSY;
			break;
		}
		*err = vq_device_pop(&q->ring, &r->chain);
		if (*err <= 0) {
			give_record(q, r);
			break;
		}
		__atomic_store_n(&q->ready[(tail + n) % FSD_POP_MAX], r, __ATOMIC_RELAXED);
	}
	__atomic_store_n(&q->ready_tail, tail + n, __ATOMIC_RELEASE);
	return n;
}

static void count_pop(struct fsd_queue *q, uint32_t n)
{
	struct vqs_fsd_queue *s = q->stats;

	q->popped += n;
	fsd_add(&s->pops, n);
	fsd_add(&s->rounds, 1);
	fsd_add(&s->batch[n], 1);
	fsd_set(&s->waiting, vq_device_depth(&q->ring));
}

void fsd_queue_looked(struct fsd_queue *q)
{
	uint64_t one = 1;

	if (!q->look_due)
		return;
	q->look_due = false;
	fsd_set(&q->stats->last_pause_ns, vqs_now_ns(CLOCK_MONOTONIC) - q->moved_ns);
	__atomic_store_n(&q->look_seq, q->move_seq, __ATOMIC_RELEASE);
	/* Full, if ever: it has been told. */
	if (write(q->dev->seen_fd, &one, sizeof(one)) < 0)
		return;
}

static int pop_held(struct fsd_queue *q, const struct fsd_worker *w)
{
	uint32_t n;
	int err;

	if (!owns(q, w))
		return -ENOENT;
	fsd_queue_looked(q);
	/* Handed over. */
	n = q->ready_tail - __atomic_load_n(&q->ready_head, __ATOMIC_ACQUIRE);
	if (n)
		return (int)n;
	if (fsd_memory_broken(&q->dev->memory)) {
		fsd_queue_break(q, "guest memory vanished");
		return -ENOENT;
	}
	if (!q->ring.event_idx && !q->ring.pop.kicks_off)
		vq_device_disable_kicks(&q->ring);
	n = pop_batch(q, &err);
	if (n)
		count_pop(q, n);
	if (err == -EBADMSG)
		fsd_queue_break(q, vq_fault_text(q->ring.pop.fault));
	return n ? (int)n : err == -EBUSY ? -EBUSY : err == -EBADMSG ? -ENOENT : 0;
}

int fsd_queue_pop(struct fsd_queue *q, const struct fsd_worker *w)
{
	int n;

	if (fsd_get32(&q->wanted))
		return -EAGAIN;
	fsd_lock_take(&q->pop_lock);
	n = pop_held(q, w);
	fsd_lock_give(&q->pop_lock);
	if (n > 0)
		FSD_PROBE2(pop, q->index, n);
	return n;
}

struct fsd_record *fsd_queue_claim(struct fsd_queue *q, const struct fsd_worker *w)
{
	uint32_t head = __atomic_load_n(&q->ready_head, __ATOMIC_RELAXED);

	while (fsd_queue_owner(q) == w) {
		struct fsd_record *r;

		if (head == __atomic_load_n(&q->ready_tail, __ATOMIC_ACQUIRE))
			return NULL;
		/* Overwritten only after the head passed it: then the exchange fails. */
		r = __atomic_load_n(&q->ready[head % FSD_POP_MAX], __ATOMIC_RELAXED);
		if (__atomic_compare_exchange_n(&q->ready_head, &head, head + 1, false,
						__ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return r;
	}
	return NULL;
}

bool fsd_queue_peek(struct fsd_queue *q, const struct fsd_worker *w)
{
	bool found;

	if (fsd_get32(&q->wanted))
		return false;
	fsd_lock_take(&q->pop_lock);
	found = owns(q, w) && !__atomic_load_n(&q->starved, __ATOMIC_RELAXED) &&
		vq_device_has_avail(&q->ring);
	fsd_lock_give(&q->pop_lock);
	return found;
}

bool fsd_queue_arm(struct fsd_queue *q, const struct fsd_worker *w)
{
	bool found;

	if (fsd_get32(&q->wanted))
		return true;
	fsd_lock_take(&q->pop_lock);
	found = owns(q, w) && vq_device_enable_kicks(&q->ring);
	fsd_lock_give(&q->pop_lock);
	return found;
}

/* --- any thread ------------------------------------------------------------------------------ */

/* Linux's errnos are below 4096; a handler that says something else is counted as the last. */
static uint32_t error_slot(int error)
{
	return error < 0 && error > -VQS_FSD_ERRNOS ? (uint32_t)-error : VQS_FSD_ERRNOS - 1;
}

static void add_hist(struct vqs_hist *h, uint64_t v)
{
	fsd_add(&h->bucket[vqs_hist_bucket(v)], 1);
	fsd_add(&h->sum, v);
	if (v > fsd_get(&h->max))
		fsd_set(&h->max, v);
}

static void count_done(struct vqs_fsd_queue *s, const struct fsd_done *d)
{
	fsd_add(&s->op[d->opcode < VQS_FSD_OPS ? d->opcode : VQS_FSD_OPS - 1], 1);
	fsd_add(&s->bytes_in, d->bytes_in);
	fsd_add(&s->bytes_out, d->bytes_out);
	if (d->error) {
		fsd_add(&s->errors, 1);
		fsd_add(&s->error[error_slot(d->error)], 1);
	}
	add_hist(&s->handler_ns, d->handler_ns);
}

static void call(struct fsd_queue *q)
{
	uint64_t one = 1;

	if (!vq_device_should_call(&q->ring) || q->call_fd < 0)
		return;
	fsd_add(&q->stats->calls, 1);
	/* EAGAIN: the counter is at its end, so the guest has been told often enough. */
	if (write(q->call_fd, &one, sizeof(one)) < 0)
		return;
}

void fsd_queue_finish(struct fsd_queue *q, const struct fsd_done *done, uint32_t n)
{
	struct vq_used used[FSD_DONE_MAX];
	bool starved, quiet;
	uint64_t one = 1;

	for (uint32_t i = 0; i < n; i++)
		used[i] = (struct vq_used){done[i].record->chain.head, done[i].used_len};
	fsd_lock_take(&q->used_lock);
	/* Cannot fail: heads were checked, and there are no more records than the ring has room. */
	vq_device_push(&q->ring, used, n);
	vq_device_publish(&q->ring);
	call(q);
	for (uint32_t i = 0; i < n; i++) {
		count_done(q->stats, &done[i]);
		done[i].record->next = q->returned;
		q->returned = done[i].record;
	}
	fsd_add(&q->stats->pushes, n);
	__atomic_store_n(&q->finished, q->finished + n, __ATOMIC_RELEASE);
	starved = q->starved;
	__atomic_store_n(&q->starved, false, __ATOMIC_RELAXED);
	quiet = q->quiet_wanted;
	if (quiet)
		__atomic_fetch_add(&q->quiet_seq, 1, __ATOMIC_RELEASE);
	fsd_lock_give(&q->used_lock);
	if (starved)
		fsd_worker_poke(fsd_queue_owner(q), q->index);
	if (!quiet)
		return;
	fsd_futex_wake(&q->quiet_seq);
	if (write(q->dev->seen_fd, &one, sizeof(one)) < 0)
		return;
}
