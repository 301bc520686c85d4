// SPDX-License-Identifier: GPL-2.0-or-later
/* Moves and engines change while the guest stops rings, changes memory, resets, disconnects. */
#include "guest_rig.h"

#define ROUNDS 60u

/* An operator who never rests. */
struct mover {
	struct rig *rig;
	_Atomic bool stop;
	_Atomic uint64_t moved, cancelled;
	pthread_t thread;
};

static void *move_about(void *arg)
{
	struct mover *m = arg;
	struct fsd_device *dev = m->rig->dev;
	uint64_t ns;

	for (uint32_t i = 0; !atomic_load(&m->stop); i++) {
		uint32_t queue = 1 + i % (dev->nr_queues - 1), worker = 1 + i / 3 % dev->nr_workers;
		int err = fsd_move(dev, queue, worker, RIG_TIMEOUT_MS, &ns);

		if (err && err != -ECANCELED)
			return "a move failed";
		atomic_fetch_add(err ? &m->cancelled : &m->moved, 1);
		fsd_device_set_engine(dev, queue, i / 7 % 3, &ns);
		if (!(i % 16))
			fsd_pool_resize(&dev->pool, i / 16 % 3);
		poll(NULL, 0, 0);
	}
	return NULL;
}

static void mover_begin(struct mover *m, struct rig *g)
{
	*m = (struct mover){.rig = g};
	assert_int_equal(pthread_create(&m->thread, NULL, move_about, m), 0);
}

static void mover_end(struct mover *m)
{
	void *why;

	atomic_store(&m->stop, true);
	pthread_join(m->thread, &why);
	assert_null(why);
	assert_true(m->moved > 0);
}

static void serve(struct rig *g)
{
	g->o.request_queues = 2;
	g->o.workers = 2;
	g->o.pool_size = 2;
	rig_serve(g);
	rig_connect(g);
}

/* Requests that were in flight are answered before, or after the ring goes on where it stood. */
static void rings_stop_and_start(void **state)
{
	struct rig *g = *state;
	struct guest q[2];
	struct mover m;

	serve(g);
	guest_open(&q[0], g, 1, 16);
	guest_open(&q[1], g, 2, 16);
	guest_begin(&q[1]);
	mover_begin(&m, g);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		guest_fill(&q[0]);
		assert_int_equal(load_queue_stop(&g->t, 1), 0);
		guest_reap(&q[0]);
		assert_int_equal(load_queue_start(&g->t, 1), 0);
	}
	guest_begin(&q[0]);
	guest_progress(&q[0], 100);
	guest_progress(&q[1], 100);
	mover_end(&m);
	guest_end(&q[0]);
	guest_end(&q[1]);
	guest_close(&q[0]);
	guest_close(&q[1]);
}

static void memory_comes_and_goes(void **state)
{
	struct rig *g = *state;
	struct guest q[2];
	struct mover m;
	uint32_t index;

	serve(g);
	guest_open(&q[0], g, 1, 16);
	guest_open(&q[1], g, 2, 16);
	guest_begin(&q[0]);
	guest_begin(&q[1]);
	mover_begin(&m, g);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		assert_int_equal(load_add_region(&g->t, 1 << 20, &index), 0);
		assert_int_equal(load_remove_region(&g->t, index), 0);
	}
	guest_progress(&q[0], 100);
	guest_progress(&q[1], 100);
	mover_end(&m);
	guest_end(&q[0]);
	guest_end(&q[1]);
	guest_close(&q[0]);
	guest_close(&q[1]);
}

static void the_device_is_reset(void **state)
{
	struct rig *g = *state;
	struct guest q;
	struct mover m;

	serve(g);
	guest_open(&q, g, 1, 16);
	mover_begin(&m, g);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		guest_fill(&q);
		assert_int_equal(load_reset(&g->t), 0);
		memset(q.token, 0, q.depth * sizeof(*q.token));
		assert_int_equal(load_start(&g->t), 0);
	}
	q.sent = q.answered = 0;
	guest_begin(&q);
	guest_progress(&q, 100);
	mover_end(&m);
	guest_end(&q);
	guest_close(&q);
	assert_true(__atomic_load_n(&g->fs->resets, __ATOMIC_RELAXED) >= ROUNDS);
}

/* As when a VM is killed, and another one starts. */
static void the_guest_disconnects(void **state)
{
	struct rig *g = *state;
	struct guest q;
	struct mover m;

	serve(g);
	guest_open(&q, g, 1, 16);
	mover_begin(&m, g);
	for (uint32_t i = 0; i < ROUNDS / 2; i++) {
		guest_fill(&q);
		guest_close(&q);
		load_destroy(&g->t);
		rig_connect(g);
		guest_open(&q, g, 1, 16);
	}
	guest_begin(&q);
	guest_progress(&q, 100);
	mover_end(&m);
	guest_end(&q);
	guest_close(&q);
	assert_int_equal(g->dev->stats.header->connections, ROUNDS / 2 + 1);
}

/* The guest's wish waits for the request, the operator's is cancelled, others are not delayed. */
static void stopping_wins(void **state)
{
	struct rig *g = *state;
	struct vhu_msg msg = {.request = VHU_GET_VRING_BASE,
			      .flags = VHU_VERSION,
			      .size = sizeof(struct vhu_vring_state)};
	struct guest slow, quick;
	struct vhu_fds fds;
	const char *why;
	uint64_t ns;

	serve(g);
	guest_open(&slow, g, 1, 1);
	guest_open(&quick, g, 2, 4);
	slow.sleep_ms = 500;
	guest_fill(&slow);
	while (!__atomic_load_n(&g->fs->sleeping, __ATOMIC_ACQUIRE))
		poll(NULL, 0, 1);
	msg.payload.state.index = 1;
	assert_int_equal(vhu_send(g->t.sock, &msg, NULL, 0, vhu_deadline(1000)), 0);
	while (!(fsd_queue_state(&g->dev->queue[1]) & VQS_FSD_STOPPING))
		poll(NULL, 0, 1);
	assert_int_equal(fsd_move(g->dev, 1, 2, 1000, &ns), -ECANCELED);
	guest_begin(&quick);
	assert_int_equal(fsd_move(g->dev, 2, 1, 0, &ns) == -ECANCELED, 0);
	assert_int_equal(fsd_move(g->dev, 2, 2, 1000, &ns), 0);
	guest_progress(&quick, 100);
	assert_int_equal(__atomic_load_n(&g->fs->sleeping, __ATOMIC_ACQUIRE), 1);
	guest_end(&quick);
	assert_int_equal(
		vhu_recv(g->t.sock, VHU_FROM_BACKEND_REPLY, &msg, &fds, vhu_deadline(5000), &why),
		0);
	/* The answer to the request is there when the ring has stopped. */
	assert_int_equal(msg.payload.state.num, 1);
	assert_true(guest_reap(&slow));
	assert_int_equal(fsd_move(g->dev, 1, 2, 1000, &ns), 0);
	guest_close(&slow);
	guest_close(&quick);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG(rings_stop_and_start),  RIG(memory_comes_and_goes), RIG(the_device_is_reset),
		RIG(the_guest_disconnects), RIG(stopping_wins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
