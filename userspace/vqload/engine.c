// SPDX-License-Identifier: GPL-2.0-or-later
/* The engine: set-up, books, sending. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/hist.h"
#include "vqload/engine_priv.h"

/* A long batch is published in parts, so that the device begins before it is all there. */
#define PUBLISH_EVERY 16u

int engine_fail(struct load_engine *e, int err, const char *format, ...)
{
	va_list args;

	if (e->err)
		return e->err;
	va_start(args, format);
	vsnprintf(e->error, sizeof(e->error), format, args);
	va_end(args);
	e->err = err;
	return err;
}

/* --- set-up ------------------------------------------------------------------------------ */

int load_stats_init(struct load_stats *s, uint32_t queues)
{
	*s = (struct load_stats){.nr_queues = queues};
	s->queue = calloc(queues, sizeof(*s->queue));
	return s->queue ? 0 : -ENOMEM;
}

void load_stats_free(struct load_stats *s)
{
	free(s->queue);
	s->queue = NULL;
}

static int watch(struct load_engine *e, int fd, uint32_t events, uint32_t what)
{
	struct epoll_event ev = {.events = events, .data.u32 = what};

	if (epoll_ctl(e->epoll_fd, EPOLL_CTL_ADD, fd, &ev) && errno != EEXIST)
		return engine_fail(e, -errno, "cannot watch the daemon's eventfds: %s",
				   strerror(errno));
	return 0;
}

int engine_watch_socket(struct load_engine *e)
{
	return e->t->sock < 0 ? 0 : watch(e, e->t->sock, EPOLLIN | EPOLLRDHUP, ENGINE_SOCKET);
}

struct load_engine *load_engine_new(struct load_transport *t, const struct load_engine_options *o)
{
	_cleanup_(load_engine_freep) struct load_engine *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->t = t;
	e->opts = *o;
	e->unique = o->unique;
	e->now_ns = vqs_now_ns(CLOCK_MONOTONIC);
	e->indirect = t->features >> VIRTIO_RING_F_INDIRECT_DESC & 1;
	e->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	e->judge = load_judge_new(t->nr_queues, o->details);
	e->queue = calloc(t->nr_queues, sizeof(*e->queue));
	if (e->epoll_fd < 0 || !e->judge || !e->queue || load_stats_init(&e->stats, t->nr_queues) ||
	    engine_watch_socket(e))
		return NULL;
	return TAKE_PTR(e);
}

void load_engine_free(struct load_engine *e)
{
	if (!e)
		return;
	for (uint32_t i = 0; i < e->nr_mine; i++) {
		struct engine_queue *q = &e->queue[e->mine[i]];

		load_pool_free(&q->pool);
		free(q->answered);
	}
	free(e->queue);
	load_stats_free(&e->stats);
	load_judge_free(e->judge);
	vqs_closep(&e->epoll_fd);
	free(e);
}

int load_engine_add_queue(struct load_engine *e, uint32_t queue, uint32_t slots,
			  uint32_t data_bytes)
{
	struct engine_queue *q;
	int err;

	if (queue >= e->t->nr_queues || !slots || e->nr_mine >= ARRAY_SIZE(e->mine))
		return engine_fail(e, -EINVAL, "there is no queue %u", queue);
	q = &e->queue[queue];
	if (q->q)
		return engine_fail(e, -EEXIST, "queue %u is there already", queue);
	if (slots > e->t->opts.queue_size)
		return engine_fail(e, -ENOSPC,
				   "%u requests in flight do not fit a queue of size %u; lower "
				   "iodepth, or raise --queue-size",
				   slots, e->t->opts.queue_size);
	q->answered = calloc((e->t->opts.queue_size + 63) / 64, sizeof(*q->answered));
	err = q->answered
		      ? load_pool_init(&q->pool, e->t, queue, slots, e->opts.in_bytes, data_bytes)
		      : -ENOMEM;
	if (err) {
		free(TAKE_PTR(q->answered));
		return engine_fail(e, err,
				   "no guest memory for %u requests of %u bytes on queue %u", slots,
				   data_bytes, queue);
	}
	q->q = &e->t->queue[queue];
	e->mine[e->nr_mine++] = (uint16_t)queue;
	/* By edge: every call wakes, and the eventfd need not be read. */
	err = watch(e, q->q->call_fd, EPOLLIN | EPOLLET, queue);
	return err ? err : watch(e, q->q->err_fd, EPOLLIN, queue | ENGINE_ERR_BIT);
}

uint64_t load_engine_region_bytes(const struct load_options *o, uint32_t in_bytes, uint32_t queues,
				  uint32_t slots, uint32_t data_bytes)
{
	uint32_t table = o->table_max ? o->table_max : o->queue_size < 1024 ? o->queue_size : 1024;
	struct vq_layout l;

	if (vq_driver_layout(o->queue_size, table, &l))
		return 0;
	/* Any region may hold the rings, headers and data of its share of the queues. */
	return (queues / o->regions + 1) *
		       (l.bytes + load_pool_bytes(slots, in_bytes, data_bytes) + 4 * LOAD_PAGE) +
	       (1u << 20);
}

/* --- books ------------------------------------------------------------------------------- */

struct load_transport *load_engine_transport(struct load_engine *e)
{
	return e->t;
}

struct load_judge *load_engine_judge(struct load_engine *e)
{
	return e->judge;
}

const struct load_stats *load_engine_stats(const struct load_engine *e)
{
	return &e->stats;
}

void load_engine_clear_stats(struct load_engine *e)
{
	struct load_counts *queue = e->stats.queue;
	uint32_t nr = e->stats.nr_queues;

	memset(queue, 0, nr * sizeof(*queue));
	e->stats = (struct load_stats){.nr_queues = nr, .queue = queue};
}

static void merge_counts(struct load_counts *into, const struct load_counts *from)
{
	into->requests += from->requests;
	into->errors += from->errors;
	into->read_bytes += from->read_bytes;
	into->written_bytes += from->written_bytes;
	vqs_hist_merge(&into->latency, &from->latency);
}

void load_stats_merge(struct load_stats *into, const struct load_stats *from)
{
	for (uint32_t q = 0; q < from->nr_queues; q++)
		merge_counts(&into->queue[q < into->nr_queues ? q : 0], &from->queue[q]);
	for (uint32_t op = 0; op < LOAD_OPS; op++)
		merge_counts(&into->op[op], &from->op[op]);
	into->sent += from->sent;
	into->done += from->done;
	into->kicks += from->kicks;
	into->waits += from->waits;
	into->batches += from->batches;
}

int load_engine_status(const struct load_engine *e)
{
	return e->err;
}

const char *load_engine_error(const struct load_engine *e)
{
	return e->error;
}

uint64_t load_engine_now(const struct load_engine *e)
{
	return e->now_ns;
}

uint32_t load_engine_in_flight(const struct load_engine *e)
{
	return e->in_flight;
}

uint32_t load_engine_queue_in_flight(const struct load_engine *e, uint32_t queue)
{
	return queue < e->t->nr_queues ? e->queue[queue].in_flight : 0;
}

uint32_t load_engine_queue_free(const struct load_engine *e, uint32_t queue)
{
	return queue < e->t->nr_queues ? e->queue[queue].pool.nr_free : 0;
}

/* --- sending ----------------------------------------------------------------------------- */

struct load_slot *load_slot_get(struct load_engine *e, uint32_t queue)
{
	struct load_slot *s =
		queue < e->t->nr_queues ? load_pool_take(&e->queue[queue].pool) : NULL;

	if (!s)
		return NULL;
	s->done = NULL;
	s->owner = NULL;
	memset(s->cookie, 0, sizeof(s->cookie));
	s->age_ns = e->opts.age_ns;
	s->uncounted = false;
	return s;
}

void load_slot_put(struct load_engine *e, struct load_slot *s)
{
	if (s->state == LOAD_SLOT_HELD)
		load_pool_give(&e->queue[s->queue].pool, s);
}

struct load_head load_engine_head(struct load_engine *e, uint64_t nodeid)
{
	struct load_head h = {
		.unique = e->unique,
		.nodeid = nodeid,
		.uid = e->opts.uid,
		.gid = e->opts.gid,
		.pid = e->opts.pid,
	};

	e->unique += e->opts.unique_step;
	return h;
}

void engine_publish(struct engine_queue *q, struct load_engine *e)
{
	q->added = 0;
	e->stats.kicks += load_submit(q->q);
}

void load_engine_flush(struct load_engine *e)
{
	for (uint32_t i = 0; i < e->nr_mine; i++) {
		struct engine_queue *q = &e->queue[e->mine[i]];

		if (q->added)
			engine_publish(q, e);
	}
}

int load_engine_submit(struct load_engine *e, struct load_slot *s, uint64_t due_ns)
{
	struct engine_queue *q = &e->queue[s->queue];
	uint32_t nr_read, nr;
	int head;

	if (e->err)
		return e->err;
	if (s->state != LOAD_SLOT_HELD || s->req.in_data_size > s->data_cap ||
	    s->req.out_data_size > s->data_cap || s->req.out_size > LOAD_OUT_BYTES)
		return -EINVAL;
	load_slot_guard(s);
	nr = load_slot_ranges(s, e->range, ENGINE_RANGES, &nr_read);
	if (nr > ENGINE_RANGES)
		return -E2BIG;
	/* As Linux: through a table whenever that saves descriptors. */
	head = vq_driver_add(&q->q->driver, e->range, nr_read, nr - nr_read, e->indirect && nr > 1,
			     (uintptr_t)s);
	if (head < 0)
		return head;
	q->answered[head / 64] |= 1ULL << head % 64;
	s->state = LOAD_SLOT_FLIGHT;
	s->late = false;
	s->sent_ns = e->now_ns;
	s->due_ns = due_ns ? due_ns : e->now_ns;
	s->seq = q->seq++;
	if (!q->in_flight++)
		q->progress_ns = e->now_ns;
	e->in_flight++;
	e->stats.sent++;
	if (++q->added >= PUBLISH_EVERY)
		engine_publish(q, e);
	return 0;
}
