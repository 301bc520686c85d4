// SPDX-License-Identifier: GPL-2.0-or-later
/* The engine: replies, waiting, and what goes wrong meanwhile. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "common/cleanup.h"
#include "vqload/engine_priv.h"

#define MS           1000000ULL
/* How often ages, silence and the socket are looked at. */
#define CHECK_NS     (20 * MS)
/* A wait is never longer, so that the caller can see whether it is to stop. */
#define WAIT_NS      (100 * MS)
/* Of a queue's guards, when not all: one in so many. */
#define GUARD_SAMPLE 8

/* --- findings ----------------------------------------------------------------------------------
 */

static void note(struct load_engine *e, enum load_finding f, uint32_t queue,
		 const struct load_slot *s, int64_t expected, int64_t got)
{
	struct load_detail d = {
		.finding = f,
		.queue = queue,
		.expected = expected,
		.got = got,
	};

	if (s) {
		d.opcode = s->req.opcode;
		d.unique = s->req.unique;
		d.age_ns = e->now_ns - s->sent_ns;
	}
	load_judge_note(e->judge, &d);
}

/* The driver refused a used entry. */
static void stray(struct load_engine *e, uint32_t queue, const struct vq_reply *r)
{
	const struct engine_queue *q = &e->queue[queue];
	const struct vq_driver *d = &q->q->driver;

	if (r->fault == VQ_FAULT_USED_UNKNOWN && q->answered[r->id / 64] >> r->id % 64 & 1) {
		note(e, LOAD_DUPLICATE, queue, NULL, 1, 2);
		return;
	}
	note(e, LOAD_UNKNOWN, queue, NULL, d->ring.size, r->id);
	if (r->fault == VQ_FAULT_USED_JUMP)
		engine_fail(e, -EBADMSG,
			    "daemon at %s: queue %u's used index jumped by more than the queue's "
			    "size; nothing more can be taken from it",
			    e->t->opts.socket, queue);
}

static void check_age(struct load_engine *e, struct load_slot *s)
{
	uint64_t age = e->now_ns - s->sent_ns;

	if (s->state != LOAD_SLOT_FLIGHT || s->late || !s->age_ns || age <= s->age_ns)
		return;
	s->late = true;
	note(e, LOAD_LATE, s->queue, s, (int64_t)s->age_ns, (int64_t)age);
}

/* --- replies -----------------------------------------------------------------------------------
 */

static void count(struct load_counts *c, const struct load_slot *s, const struct load_verdict *v)
{
	c->requests++;
	if (v->error)
		c->errors++;
	else if (s->req.opcode == FUSE_READ)
		c->read_bytes += v->data_len;
	else if (s->req.opcode == FUSE_WRITE)
		c->written_bytes += s->req.in_data_size;
	if (s->req.out_size)
		load_hist_add(&c->latency, s->done_ns > s->due_ns ? s->done_ns - s->due_ns : 0);
}

static void check_guards(struct load_engine *e, struct load_slot *s, struct load_verdict *v)
{
	int64_t bad;

	if (!s->req.out_size || (!e->opts.guard_all && s->seq % GUARD_SAMPLE))
		return;
	bad = load_slot_check(s);
	if (bad < 0)
		return;
	note(e, LOAD_GUARD, s->queue, s, LOAD_GUARD_SIZE, bad);
	if (v->first == LOAD_FINDINGS)
		v->first = LOAD_GUARD;
}

static void finish(struct load_engine *e, struct engine_queue *q, const struct vq_reply *r)
{
	struct load_slot *s = (void *)(uintptr_t)r->token;
	struct load_done d = {
		.queue = s->queue,
		.seq = s->seq,
		.age_ns = e->now_ns - s->sent_ns,
		.used = r->len,
		.out = s->req.out_size ? s->out : NULL,
		.data = s->req.out_data_size ? s->data : NULL,
	};
	struct load_verdict v;

	/* Given up by load_engine_lose(), and here after all. */
	if (s->state != LOAD_SLOT_FLIGHT)
		return;
	/* Only a reply is progress: what nobody asked for may come for ever. */
	q->progress_ns = e->now_ns;
	/* The call may have been left out, and the reply found at the end of the wait. */
	check_age(e, s);
	s->used = r->len;
	s->done_ns = e->now_ns;
	s->state = LOAD_SLOT_HELD;
	q->in_flight--;
	e->in_flight--;
	e->stats.done++;
	v = load_judge_reply(e->judge, &s->req, &d);
	check_guards(e, s, &v);
	if (!s->uncounted) {
		count(&e->stats.queue[s->queue], s, &v);
		count(&e->stats.op[s->req.opcode % LOAD_OPS], s, &v);
	}
	if (!s->done || !s->done(e, s, &v))
		load_slot_put(e, s);
}

/* What is there now; the clock was read after it came. */
static int reap_queue(struct load_engine *e, uint32_t queue)
{
	struct engine_queue *q = &e->queue[queue];
	struct vq_driver *d = &q->q->driver;
	uint16_t n = (uint16_t)(vq_load(&d->ring.used->idx) - d->last_used);
	int taken = 0;

	e->now_ns = vqs_now_ns(CLOCK_MONOTONIC);
	for (; n && !e->err; n--) {
		struct vq_reply r;
		int found = vq_driver_get_used(d, &r);

		if (!found)
			break;
		/* Too long a reply is one all the same; the judge says that it is too long. */
		if (found < 0 && r.fault != VQ_FAULT_USED_LENGTH)
			stray(e, queue, &r);
		else
			finish(e, q, &r);
		taken++;
	}
	return taken;
}

int load_engine_reap(struct load_engine *e)
{
	int taken = 0;

	if (e->err)
		return e->err;
	load_engine_flush(e);
	for (uint32_t i = 0; i < e->nr_mine; i++)
		if (vq_driver_has_used(&e->queue[e->mine[i]].q->driver))
			taken += reap_queue(e, e->mine[i]);
	if (taken)
		e->stats.batches++;
	return e->err ? e->err : taken;
}

/* --- watching ----------------------------------------------------------------------------------
 */

static void check_silence(struct load_engine *e, uint32_t queue)
{
	const struct engine_queue *q = &e->queue[queue];
	const struct load_slot *oldest = NULL;

	if (!q->in_flight || e->now_ns - q->progress_ns < e->opts.silence_ns)
		return;
	for (uint32_t i = 0; i < q->pool.nr; i++)
		if (q->pool.slot[i].state == LOAD_SLOT_FLIGHT &&
		    (!oldest || q->pool.slot[i].sent_ns < oldest->sent_ns))
			oldest = &q->pool.slot[i];
	engine_fail(e, -ETIMEDOUT,
		    "daemon at %s: queue %u has not answered for %.1f s with %u requests in "
		    "flight, the oldest %s (unique %" PRIu64 "); it hangs, or raise --timeout",
		    e->t->opts.socket, queue, (double)(e->now_ns - q->progress_ns) / 1e9,
		    q->in_flight, oldest ? load_op_name(oldest->req.opcode) : "?",
		    oldest ? oldest->req.unique : 0);
}

static void check_socket(struct load_engine *e)
{
	char c;
	ssize_t n = recv(e->t->sock, &c, 1, MSG_PEEK | MSG_DONTWAIT);

	if (e->t->sock < 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)))
		return;
	if (n > 0)
		engine_fail(e, -EPROTO, "daemon at %s: it sent a message that nobody asked for",
			    e->t->opts.socket);
	else
		engine_fail(e, -ECONNRESET,
			    "daemon at %s: it closed the connection with %u request%s in flight; "
			    "its own log says why",
			    e->t->opts.socket, e->in_flight, e->in_flight == 1 ? "" : "s");
}

int load_engine_tick(struct load_engine *e)
{
	e->now_ns = vqs_now_ns(CLOCK_MONOTONIC);
	if (e->now_ns < e->check_ns || e->err)
		return e->err;
	e->check_ns = e->now_ns + CHECK_NS;
	for (uint32_t i = 0; i < e->nr_mine; i++) {
		struct load_pool *p = &e->queue[e->mine[i]].pool;

		for (uint32_t s = 0; e->queue[e->mine[i]].in_flight && s < p->nr; s++)
			check_age(e, &p->slot[s]);
		check_silence(e, e->mine[i]);
	}
	check_socket(e);
	return e->err;
}

/* --- waiting -----------------------------------------------------------------------------------
 */

static int sleep_until(struct load_engine *e, uint64_t deadline_ns)
{
	struct epoll_event ev[16];
	uint64_t left = deadline_ns > e->now_ns ? deadline_ns - e->now_ns : 0;
	struct timespec ts = {.tv_sec = (time_t)(left / (1000 * MS)),
			      .tv_nsec = (long)(left % (1000 * MS))};
	int n;

	e->stats.waits++;
	n = epoll_pwait2(e->epoll_fd, ev, ARRAY_SIZE(ev), &ts, NULL);
	if (n < 0 && errno == ENOSYS) /* before Linux 5.11 */
		n = epoll_wait(e->epoll_fd, ev, ARRAY_SIZE(ev), (int)((left + MS - 1) / MS));
	if (n < 0 && errno != EINTR)
		return engine_fail(e, -errno, "cannot wait for the daemon: %s", strerror(errno));
	for (int i = 0; i < n; i++) {
		if (ev[i].data.u32 == ENGINE_SOCKET)
			e->check_ns = 0;
		else if (ev[i].data.u32 & ENGINE_ERR_BIT)
			return engine_fail(e, -EIO, "daemon at %s: it reports an error of queue %u",
					   e->t->opts.socket, ev[i].data.u32 & ~ENGINE_ERR_BIT);
	}
	return 0;
}

/* Asks for calls; true: something came meanwhile. */
static bool arm(struct load_engine *e)
{
	bool any = false;

	for (uint32_t i = 0; i < e->nr_mine; i++)
		any |= vq_driver_enable_calls(&e->queue[e->mine[i]].q->driver);
	return any;
}

static void disarm(struct load_engine *e)
{
	for (uint32_t i = 0; i < e->nr_mine; i++)
		vq_driver_disable_calls(&e->queue[e->mine[i]].q->driver);
}

/* One sleep at most: a signal may have ended it. */
static int wait_for_call(struct load_engine *e, uint64_t until)
{
	int n;

	if (!arm(e) && sleep_until(e, until))
		return e->err;
	disarm(e);
	/* What a daemon answered before it went counts. */
	n = load_engine_reap(e);
	load_engine_tick(e);
	return n ? n : e->err;
}

int load_engine_wait(struct load_engine *e, uint64_t deadline_ns)
{
	int n = load_engine_reap(e);
	uint64_t until;

	if (n)
		return n;
	load_engine_tick(e);
	until = e->now_ns + WAIT_NS < deadline_ns ? e->now_ns + WAIT_NS : deadline_ns;
	if (e->err || e->now_ns >= until)
		return e->err;
	if (!e->opts.poll)
		return wait_for_call(e, until);
	while (!n && e->now_ns < until) {
		n = load_engine_reap(e);
		if (load_engine_tick(e))
			return n > 0 ? n : e->err;
	}
	return n;
}

int load_engine_drain(struct load_engine *e)
{
	while (e->in_flight) {
		int n = load_engine_wait(e, UINT64_MAX);

		if (n < 0)
			return n;
	}
	return e->err;
}

/* --- calls -------------------------------------------------------------------------------------
 */

struct call {
	bool done;
	struct load_verdict v;
};

static bool call_done(struct load_engine *e, struct load_slot *s, const struct load_verdict *v)
{
	struct call *c = s->owner;

	c->done = true;
	c->v = *v;
	return true;
}

int load_call(struct load_engine *e, struct load_slot *s, struct load_verdict *v)
{
	struct call c = {0};
	int err;

	load_engine_tick(e);
	s->done = call_done;
	/* Taken back below, whatever happens. */
	/* cppcheck-suppress autoVariables */
	s->owner = &c;
	while ((err = load_engine_submit(e, s, 0)) == -ENOSPC && e->in_flight)
		if (load_engine_wait(e, UINT64_MAX) < 0)
			break;
	while (!err && !c.done) {
		int n = load_engine_wait(e, UINT64_MAX);

		err = n < 0 && !c.done ? n : 0;
	}
	s->done = NULL;
	s->owner = NULL;
	if (!err && v)
		*v = c.v;
	return err;
}

int load_call_status(struct load_engine *e, struct load_slot *s)
{
	struct load_verdict v;
	int err = load_call(e, s, &v);

	return err ? err : v.error;
}

void load_engine_lose(struct load_engine *e, bool tell)
{
	e->now_ns = vqs_now_ns(CLOCK_MONOTONIC);
	for (uint32_t i = 0; i < e->nr_mine; i++) {
		struct engine_queue *q = &e->queue[e->mine[i]];

		for (uint32_t n = 0; n < q->pool.nr; n++) {
			struct load_slot *s = &q->pool.slot[n];

			if (s->state != LOAD_SLOT_FLIGHT)
				continue;
			if (tell)
				note(e, LOAD_LOST, s->queue, s, 1, 0);
			load_pool_give(&q->pool, s);
		}
		q->in_flight = 0;
		q->added = 0;
	}
	e->in_flight = 0;
}

int load_engine_rearm(struct load_engine *e)
{
	e->err = 0;
	e->error[0] = '\0';
	e->now_ns = vqs_now_ns(CLOCK_MONOTONIC);
	for (uint32_t i = 0; i < e->nr_mine; i++)
		e->queue[e->mine[i]].progress_ns = e->now_ns;
	return engine_watch_socket(e);
}
