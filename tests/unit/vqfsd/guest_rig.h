/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The daemon's core in this process, and a guest for it: the transport of vqload, and a thread per
 * queue that keeps requests in flight and counts every answer.
 */
#ifndef TESTS_UNIT_VQFSD_GUEST_RIG_H
#define TESTS_UNIT_VQFSD_GUEST_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include <pthread.h>

#include "common/clock.h"
#include "fake_fs.h"
#include "vqfsd/device.h"
#include "vqfsd/move.h"
#include "vqfsd/vhost.h"
#include "vqload/transport.h"

#define RIG_REQUEST_BYTES sizeof(struct fuse_in_header)
#define RIG_SLOT_BYTES    128u
#define RIG_TIMEOUT_MS    20000u

struct rig {
	char dir[32], path[64];
	struct fsd_device_options o;
	struct fsd_log log;
	struct fsd_fs *fs;
	struct fsd_device *dev;
	struct fsd_vhost vhost;
	struct load_options lo;
	struct load_transport t;
};

/* One queue's guest: @depth requests in flight until told to stop, then until all are answered. */
struct guest {
	struct rig *rig;
	uint32_t queue, depth;
	_Atomic bool stop;
	_Atomic uint64_t answered;
	uint64_t sent, next_token;
	uint64_t sleep_ms; /* of every request */
	bool failed;
	char why[128];
	pthread_t thread;
	uint8_t *slots; /* depth of RIG_SLOT_BYTES */
	uint64_t gpa;
	uint64_t *token; /* of slot, 0: free */
};

static inline void rig_check(bool ok, const char *what)
{
	if (ok)
		return;
	print_error("%s\n", what);
	fail();
}

static inline int rig_setup(void **state)
{
	struct rig *g = calloc(1, sizeof(*g));

	assert_non_null(g);
	strcpy(g->dir, "/tmp/vqfsd-test-XXXXXX");
	assert_non_null(mkdtemp(g->dir));
	snprintf(g->path, sizeof(g->path), "%s/sock", g->dir);
	g->o = (struct fsd_device_options)FSD_DEVICE_OPTIONS_DEFAULT;
	g->o.tag = "test";
	g->log = (struct fsd_log)FSD_LOG_DEFAULT;
	g->log.level = getenv("VQS_VERBOSE") ? FSD_LOG_DEBUG : FSD_LOG_OFF;
	g->lo = (struct load_options)LOAD_OPTIONS_DEFAULT;
	g->lo.socket = g->path;
	g->lo.timeout_ms = RIG_TIMEOUT_MS;
	*state = g;
	return 0;
}

static inline void rig_serve(struct rig *g)
{
	char *error = NULL;
	int fd;

	assert_int_equal(fsd_fs_new(&g->fs, NULL, &error), 0);
	if (fsd_device_new(&g->dev, &g->o, g->fs, &g->log, &error))
		fail_msg("%s", error);
	fd = fsd_listen(g->path, 0600);
	assert_true(fd >= 0);
	assert_int_equal(fsd_vhost_start(&g->vhost, g->dev, fd, false), 0);
}

static inline void rig_connect(struct rig *g)
{
	g->lo.request_queues = g->o.request_queues;
	load_init(&g->t, &g->lo);
	if (load_connect(&g->t) || load_start(&g->t))
		fail_msg("%s", g->t.error);
}

static inline int rig_teardown(void **state)
{
	struct rig *g = *state;

	load_destroy(&g->t);
	if (g->dev) {
		fsd_vhost_stop(&g->vhost);
		fsd_device_free(g->dev);
		fsd_fs_free(g->fs);
	}
	unlink(g->path);
	rmdir(g->dir);
	free(g);
	return 0;
}

/* --- a guest's queue ------------------------------------------------------------------------- */

static inline void guest_fail(struct guest *q, const char *why, uint64_t n)
{
	if (!q->failed)
		snprintf(q->why, sizeof(q->why), "queue %u: %s (%llu)", q->queue, why,
			 (unsigned long long)n);
	q->failed = true;
}

static inline bool guest_send(struct guest *q, uint32_t slot)
{
	struct fuse_in_header h = {
		.len = sizeof(h),
		.opcode = q->sleep_ms ? FUSE_GETATTR : FUSE_STATFS,
		.nodeid = q->sleep_ms,
		.unique = ++q->next_token,
	};
	uint64_t gpa = q->gpa + (uint64_t)slot * RIG_SLOT_BYTES;
	struct vq_range r[] = {{gpa, sizeof(h)}, {gpa + sizeof(h), FAKE_REPLY_BYTES}};
	struct load_queue *lq = &q->rig->t.queue[q->queue];

	memcpy(q->slots + (size_t)slot * RIG_SLOT_BYTES, &h, sizeof(h));
	if (vq_driver_add(&lq->driver, r, 1, 1, slot & 1, slot) < 0)
		return false;
	q->token[slot] = h.unique;
	q->sent++;
	return true;
}

static inline void guest_take(struct guest *q, const struct vq_reply *r)
{
	struct {
		struct fuse_out_header h;
		uint64_t check;
	} reply;
	uint32_t slot = (uint32_t)r->token;

	memcpy(&reply, q->slots + (size_t)slot * RIG_SLOT_BYTES + sizeof(struct fuse_in_header),
	       sizeof(reply));
	if (r->len != FAKE_REPLY_BYTES)
		guest_fail(q, "a reply of a wrong length", r->len);
	else if (reply.h.unique != q->token[slot] || reply.check != ~reply.h.unique)
		guest_fail(q, "a reply to another request", reply.h.unique);
	q->token[slot] = 0;
	atomic_fetch_add_explicit(&q->answered, 1, memory_order_relaxed);
}

static inline bool guest_reap(struct guest *q)
{
	struct vq_driver *d = &q->rig->t.queue[q->queue].driver;
	bool any = false;
	struct vq_reply r;
	int n;

	while ((n = vq_driver_get_used(d, &r)) > 0) {
		guest_take(q, &r);
		any = true;
	}
	if (n < 0)
		guest_fail(q, vq_fault_text(r.fault), r.id);
	return any;
}

static inline void guest_fill(struct guest *q)
{
	for (uint32_t i = 0; i < q->depth; i++)
		if (!q->token[i] && !guest_send(q, i))
			break;
	load_submit(&q->rig->t.queue[q->queue]);
}

/* Not by the transport: it watches the socket, where another thread may be talking. */
static inline void guest_wait(struct guest *q)
{
	const struct load_queue *lq = &q->rig->t.queue[q->queue];
	struct pollfd p = {.fd = lq->call_fd, .events = POLLIN};
	uint64_t n;

	if (poll(&p, 1, RIG_TIMEOUT_MS) <= 0)
		guest_fail(q, "no call, and so many in flight", lq->driver.in_flight);
	else if (read(lq->call_fd, &n, sizeof(n)) < 0)
		return;
}

static inline void *guest_main(void *arg)
{
	struct guest *q = arg;
	struct vq_driver *d = &q->rig->t.queue[q->queue].driver;

	while (!q->failed) {
		bool stop = atomic_load(&q->stop);

		if (!stop)
			guest_fill(q);
		else if (!d->in_flight)
			break;
		if (guest_reap(q) || vq_driver_enable_calls(d))
			continue;
		guest_wait(q);
	}
	return NULL;
}

static inline void guest_open(struct guest *q, struct rig *g, uint32_t queue, uint32_t depth)
{
	*q = (struct guest){.rig = g, .queue = queue, .depth = depth};
	q->next_token = (uint64_t)queue << 48;
	q->slots = load_alloc(&g->t, queue % g->lo.regions, (uint64_t)depth * RIG_SLOT_BYTES, 64,
			      &q->gpa);
	q->token = calloc(depth, sizeof(*q->token));
	assert_true(q->slots && q->token);
}

static inline void guest_begin(struct guest *q)
{
	q->stop = false;
	assert_int_equal(pthread_create(&q->thread, NULL, guest_main, q), 0);
}

/* Waits for all answers; every request has exactly one. */
static inline void guest_end(struct guest *q)
{
	atomic_store(&q->stop, true);
	pthread_join(q->thread, NULL);
	if (q->failed)
		fail_msg("%s", q->why);
	assert_int_equal(q->sent, q->answered);
}

static inline void guest_close(struct guest *q)
{
	free(q->token);
}

/* Waits until a queue has answered @n more. */
static inline void guest_progress(struct guest *q, uint64_t n)
{
	uint64_t from = atomic_load(&q->answered),
		 until = vqs_now_ns(CLOCK_MONOTONIC) + RIG_TIMEOUT_MS * 1000000ULL;

	while (atomic_load(&q->answered) - from < n) {
		if (q->failed || vqs_now_ns(CLOCK_MONOTONIC) > until)
			fail_msg("no progress: %s", q->why);
		poll(NULL, 0, 1);
	}
}

#define RIG(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)

#endif
