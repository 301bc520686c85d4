// SPDX-License-Identifier: GPL-2.0-or-later
/* Queues change workers and engines while requests flow; every request is answered once. */
#include "guest_rig.h"

#include "common/hist.h"

#define QUEUES 8u
#define MOVES  2000u

static uint32_t next(uint64_t *seed, uint32_t n)
{
	*seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(*seed >> 33) % n;
}

static void begin(struct rig *g, struct guest *q, uint32_t n, uint32_t depth)
{
	for (uint32_t i = 0; i < n; i++) {
		guest_open(&q[i], g, i + 1, depth);
		guest_begin(&q[i]);
	}
}

static void end(struct guest *q, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		guest_end(&q[i]);
		guest_close(&q[i]);
	}
}

/* pops = answers, and nothing in between. */
static void check_books(struct rig *g, const struct guest *q, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct vqs_fsd_queue *s = &g->dev->stats.queue[q[i].queue];

		/* Counted after the guest was called. */
		fsd_queue_await_quiet(&g->dev->queue[q[i].queue]);
		assert_int_equal(s->pops - s->given_back, s->pushes);
		assert_int_equal(s->pushes, q[i].answered);
		assert_int_equal(vqs_hist_count(&s->handler_ns), s->pushes);
	}
}

static void queues_carry_requests(void **state)
{
	struct rig *g = *state;
	struct guest q[QUEUES];

	g->o.request_queues = QUEUES;
	g->o.workers = 3;
	rig_serve(g);
	rig_connect(g);
	assert_string_equal(g->t.tag, "test");
	assert_int_equal(g->t.config_queues, QUEUES);
	begin(g, q, QUEUES, 16);
	for (uint32_t i = 0; i < QUEUES; i++)
		guest_progress(&q[i], 200);
	end(q, QUEUES);
	check_books(g, q, QUEUES);
}

static void queues_move(void **state)
{
	struct rig *g = *state;
	struct vqs_hist pauses = {0};
	struct guest q[QUEUES];
	uint64_t seed = 1, ns;

	g->o.request_queues = QUEUES;
	g->o.workers = 4;
	g->o.pool_size = 2;
	rig_serve(g);
	rig_connect(g);
	begin(g, q, QUEUES, 8);
	for (uint32_t i = 0; i < MOVES; i++) {
		uint32_t queue = 1 + next(&seed, QUEUES);
		int err = fsd_move(g->dev, queue, 1 + next(&seed, 4), RIG_TIMEOUT_MS, &ns);

		assert_int_equal(err, 0);
		vqs_hist_add(&pauses, ns);
		if (!(i % 10))
			assert_int_equal(fsd_device_set_engine(g->dev, 1 + next(&seed, QUEUES),
							       next(&seed, 3), &ns),
					 0);
	}
	for (uint32_t i = 0; i < QUEUES; i++)
		guest_progress(&q[i], 10);
	end(q, QUEUES);
	check_books(g, q, QUEUES);
	print_message("pause of %u moves: median %llu ns, p99 %llu ns, max %llu ns\n", MOVES,
		      (unsigned long long)vqs_hist_percentile(&pauses, 500),
		      (unsigned long long)vqs_hist_percentile(&pauses, 990),
		      (unsigned long long)pauses.max);
}

static void pools_and_workers_change_size(void **state)
{
	struct rig *g = *state;
	struct guest q[4];
	uint64_t seed = 2, ns;

	g->o.request_queues = 4;
	g->o.workers = 2;
	g->o.engine = VQS_FSD_THRESHOLD;
	rig_serve(g);
	rig_connect(g);
	begin(g, q, 4, 12);
	for (uint32_t i = 0; i < 100; i++) {
		assert_int_equal(fsd_device_set_workers(g->dev, 1 + next(&seed, 6)), 0);
		assert_int_equal(fsd_pool_resize(&g->dev->pool, next(&seed, 5)), 0);
		fsd_device_set_threshold(g->dev, 1 + next(&seed, 4), next(&seed, 8), &ns);
		guest_progress(&q[next(&seed, 4)], 20);
	}
	end(q, 4);
	check_books(g, q, 4);
}

/* A worker that sleeps in one queue's request does not delay another's move, nor its requests. */
static void stuck_workers_do_not_delay(void **state)
{
	struct rig *g = *state;
	struct guest slow, quick;
	uint64_t ns, since;

	g->o.request_queues = 2;
	g->o.workers = 2;
	rig_serve(g);
	rig_connect(g);
	assert_int_equal(fsd_move(g->dev, 2, 1, 1000, &ns), 0);
	guest_open(&slow, g, 1, 1);
	guest_open(&quick, g, 2, 4);
	slow.sleep_ms = 1000;
	guest_begin(&slow);
	while (!__atomic_load_n(&g->fs->sleeping, __ATOMIC_ACQUIRE))
		poll(NULL, 0, 1);
	guest_begin(&quick);
	since = vqs_now_ns(CLOCK_MONOTONIC);
	assert_int_equal(fsd_move(g->dev, 2, 2, 500, &ns), 0);
	guest_progress(&quick, 100);
	assert_true(vqs_now_ns(CLOCK_MONOTONIC) - since < 900000000);
	atomic_store(&slow.stop, true);
	guest_end(&quick);
	guest_end(&slow);
	guest_close(&quick);
	guest_close(&slow);
}

/* Requests ready on a stuck worker go with their queue. */
static void ready_requests_are_handed_over(void **state)
{
	struct rig *g = *state;
	struct guest q;
	uint64_t ns, since;

	g->o.request_queues = 1;
	g->o.workers = 2;
	rig_serve(g);
	rig_connect(g);
	guest_open(&q, g, 1, 8);
	q.sleep_ms = 400;
	guest_fill(&q);
	q.sleep_ms = 0;
	while (!__atomic_load_n(&g->fs->sleeping, __ATOMIC_ACQUIRE))
		poll(NULL, 0, 1);
	since = vqs_now_ns(CLOCK_MONOTONIC);
	assert_int_equal(fsd_move(g->dev, 1, 2, 300, &ns), 0);
	q.stop = true;
	assert_int_equal(pthread_create(&q.thread, NULL, guest_main, &q), 0);
	guest_end(&q);
	/* Eight of 400 ms, one on the old worker, seven on the new one. */
	ns = vqs_now_ns(CLOCK_MONOTONIC) - since;
	assert_true(ns < 3100000000);
	guest_close(&q);
}

static void nonsense_is_refused(void **state)
{
	struct rig *g = *state;
	struct fsd_move m;
	uint64_t ns;

	g->o.request_queues = 2;
	rig_serve(g);
	assert_int_equal(fsd_move(g->dev, 0, 1, 100, &ns), -EINVAL);
	assert_int_equal(fsd_move(g->dev, 3, 1, 100, &ns), -EINVAL);
	assert_int_equal(fsd_move(g->dev, 1, 0, 100, &ns), -EINVAL);
	assert_int_equal(fsd_move(g->dev, 1, 2, 100, &ns), -EINVAL);
	assert_int_equal(fsd_move_start(g->dev, 1, 1, 99, &m), -ECANCELED);
	assert_int_equal(fsd_device_set_engine(g->dev, 1, VQS_FSD_URING, &ns), -EINVAL);
	assert_int_equal(fsd_device_set_engine(g->dev, 0, VQS_FSD_POOL, &ns), -EINVAL);
	assert_int_equal(fsd_device_set_workers(g->dev, 0), -EINVAL);
	assert_int_equal(fsd_pool_resize(&g->dev->pool, FSD_POOL_MAX + 1), -EINVAL);
	/* What nobody pops moves at once. */
	assert_int_equal(fsd_device_set_workers(g->dev, 2), 0);
	assert_int_equal(fsd_move(g->dev, 1, 2, 100, &ns), 0);
	assert_int_equal(ns, 0);
}

/* A thread that cannot be made leaves everything as it was. */
static void threads_that_fail(void **state)
{
	struct rig *g = *state;

	g->o.pool_size = 1;
	rig_serve(g);
	__atomic_store_n(&g->fs->fail_thread, 1, __ATOMIC_RELAXED);
	assert_int_equal(fsd_device_set_workers(g->dev, 3), -ENOMEM);
	assert_int_equal(g->dev->nr_workers, 1);
	assert_int_equal(fsd_pool_resize(&g->dev->pool, 3), -ENOMEM);
	assert_int_equal(fsd_pool_size(&g->dev->pool), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG(queues_carry_requests),
		RIG(queues_move),
		RIG(pools_and_workers_change_size),
		RIG(stuck_workers_do_not_delay),
		RIG(ready_requests_are_handed_over),
		RIG(nonsense_is_refused),
		RIG(threads_that_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
