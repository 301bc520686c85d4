// SPDX-License-Identifier: GPL-2.0-or-later
/* Guests and front-ends that do wrong: the ring breaks or the connection ends, the daemon stays. */
#include "guest_rig.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "common/cleanup.h"

static void await_state(struct rig *g, uint32_t queue, uint32_t bit)
{
	uint64_t until = vqs_now_ns(CLOCK_MONOTONIC) + RIG_TIMEOUT_MS * 1000000ULL;

	while (!(fsd_queue_state(&g->dev->queue[queue]) & bit)) {
		if (vqs_now_ns(CLOCK_MONOTONIC) > until)
			fail_msg("queue %u never got to state %u", queue, bit);
		poll(NULL, 0, 1);
	}
}

static void kick(struct load_queue *q)
{
	assert_int_equal(eventfd_write(q->kick_fd, 1), 0);
}

static void check_other_queue(struct rig *g, uint32_t queue)
{
	struct guest q;

	guest_open(&q, g, queue, 2);
	guest_begin(&q);
	guest_progress(&q, 50);
	guest_end(&q);
	guest_close(&q);
}

static void small_rings_work(void **state)
{
	struct rig *g = *state;
	struct guest q;
	uint64_t ns;

	g->o.request_queues = 1;
	g->o.workers = 2;
	g->o.pool_size = 2;
	g->lo.queue_size = 2;
	rig_serve(g);
	rig_connect(g);
	guest_open(&q, g, 1, 2);
	guest_begin(&q);
	for (uint32_t i = 0; i < 300; i++) {
		assert_int_equal(fsd_device_set_engine(g->dev, 1, i % 3, &ns), 0);
		assert_int_equal(fsd_move(g->dev, 1, 1 + i % 2, RIG_TIMEOUT_MS, &ns), 0);
		guest_progress(&q, 3);
	}
	guest_end(&q);
	guest_close(&q);
}

static void a_jump_breaks_the_ring(void **state)
{
	struct rig *g = *state;
	struct load_queue *q;

	g->o.request_queues = 2;
	g->lo.queue_size = 2;
	rig_serve(g);
	rig_connect(g);
	q = &g->t.queue[1];
	vq_store_release(&q->driver.ring.avail->idx, 1000);
	kick(q);
	await_state(g, 1, VQS_FSD_BROKEN);
	assert_int_equal(load_wait_call(&g->t, 1, vhu_deadline(5000)) == -ETIMEDOUT, 0);
	/* Kicks of a broken ring wake nobody; it can be stopped, and begin anew. */
	kick(q);
	assert_int_equal(load_queue_stop(&g->t, 1), 0);
	vq_driver_reset(&q->driver, 0);
	q->base = 0;
	assert_int_equal(load_queue_start(&g->t, 1), 0);
	check_other_queue(g, 1);
	check_other_queue(g, 2);
	assert_int_equal(g->dev->stats.queue[1].faults, 1);
}

/* The same head again and again, more often than there are descriptors. */
static void heads_repeat(void **state)
{
	struct rig *g = *state;
	struct load_queue *q;
	struct guest guest;

	g->o.request_queues = 2;
	g->o.pool_size = 3;
	g->o.engine = VQS_FSD_POOL;
	g->lo.queue_size = 4;
	rig_serve(g);
	rig_connect(g);
	q = &g->t.queue[1];
	guest_open(&guest, g, 1, 1);
	guest_fill(&guest);
	for (uint16_t i = 1; i < 2000; i++) {
		q->driver.ring.avail->ring[i % 4] = q->driver.ring.avail->ring[0];
		vq_store_release(&q->driver.ring.avail->idx, (uint16_t)(i + 1));
		kick(q);
		if (fsd_queue_state(&g->dev->queue[1]) & VQS_FSD_BROKEN)
			break;
	}
	guest_close(&guest);
	check_other_queue(g, 2);
	assert_int_equal(load_queue_stop(&g->t, 1), 0);
}

/* The front-end takes the memory away under the daemon. */
static void memory_vanishes(void **state)
{
	struct rig *g = *state;
	int fd = memfd_create("vanishing", MFD_CLOEXEC);
	struct vhu_mem_region r = {.gpa = 1ULL << 40, .size = 1 << 20, .user_addr = 1ULL << 40};
	struct fsd_memory m = {0};
	const char *why;
	char *p;

	rig_serve(g);
	assert_true(fd >= 0 && !ftruncate(fd, 1 << 20));
	assert_int_equal(fsd_memory_add(&m, &r, fd, &why), 0);
	p = fsd_memory_user(&m, r.user_addr + 8192, 1);
	*p = 1;
	assert_int_equal(ftruncate(fd, 4096), 0);
	assert_int_equal(*(volatile char *)p, 0);
	assert_true(fsd_memory_broken(&m));
	p[4096] = 3;
	fsd_memory_clear(&m);
	assert_false(fsd_memory_broken(&m));
	/* What is too short from the start is refused. */
	assert_int_equal(fsd_memory_add(&m, &r, fd, &why), -EINVAL);
	r.mmap_offset = UINT64_MAX - 100;
	assert_int_equal(fsd_memory_add(&m, &r, fd, &why), -EINVAL);
	r = (struct vhu_mem_region){.gpa = UINT64_MAX - 4096, .size = 8192};
	assert_int_equal(fsd_memory_add(&m, &r, fd, &why), -EINVAL);
	close(fd);
}

/* Hands over @fd as one more region, as the transport would, but without a seal. */
static void give_region(struct rig *g, int fd, uint64_t gpa, uint64_t size)
{
	struct vhu_msg m = {.request = VHU_ADD_MEM_REG,
			    .flags = VHU_VERSION | VHU_NEED_REPLY,
			    .size = sizeof(struct vhu_single_region)};
	struct vhu_fds fds;
	const char *why;

	m.payload.mem_reg.region =
		(struct vhu_mem_region){.gpa = gpa, .size = size, .user_addr = gpa};
	assert_int_equal(vhu_send(g->t.sock, &m, &fd, 1, vhu_deadline(1000)), 0);
	assert_int_equal(
		vhu_recv(g->t.sock, VHU_FROM_BACKEND_REPLY, &m, &fds, vhu_deadline(5000), &why), 0);
	assert_int_equal(m.payload.u64, 0);
}

/* A request lies in memory that is gone when a worker reads it. */
static void buffers_vanish(void **state)
{
	struct rig *g = *state;
	_cleanup_close_ int fd = memfd_create("vanishing", MFD_CLOEXEC);
	const uint64_t gpa = 1ULL << 45;
	struct vq_range r[] = {{gpa, sizeof(struct fuse_in_header)}, {gpa + 4096, 64}};
	struct load_queue *q;

	g->o.request_queues = 2;
	rig_serve(g);
	rig_connect(g);
	q = &g->t.queue[1];
	assert_true(fd >= 0 && !ftruncate(fd, 1 << 20));
	give_region(g, fd, gpa, 1 << 20);
	assert_int_equal(ftruncate(fd, 0), 0);
	for (uint64_t i = 0; i < 2; i++) {
		assert_true(vq_driver_add(&q->driver, r, 1, 1, false, i) >= 0);
		vq_driver_publish(&q->driver);
		kick(q);
		/* The first one is answered, from zeros; after it nothing is believed. */
		if (i)
			await_state(g, 1, VQS_FSD_BROKEN);
		else
			poll(NULL, 0, 20);
	}
	/* Another VM finds the daemon as it was. */
	load_destroy(&g->t);
	rig_connect(g);
	check_other_queue(g, 1);
	check_other_queue(g, 2);
}

static void ask(struct rig *g, uint32_t request, uint64_t low, uint32_t size, int fd)
{
	struct vhu_msg m = {
		.request = request, .flags = VHU_VERSION | VHU_NEED_REPLY, .size = size};
	struct vhu_fds fds;
	const char *why;

	memset(&m.payload, 0xff, size);
	m.payload.u64 = low;
	assert_int_equal(vhu_send(g->t.sock, &m, &fd, fd >= 0, vhu_deadline(1000)), 0);
	assert_int_equal(
		vhu_recv(g->t.sock, VHU_FROM_BACKEND_REPLY, &m, &fds, vhu_deadline(5000), &why), 0);
	assert_int_not_equal(m.payload.u64, 0);
}

static uint64_t ring_state(uint32_t index, uint32_t num)
{
	return index | (uint64_t)num << 32;
}

static void messages_that_are_refused(void **state)
{
	struct rig *g = *state;
	_cleanup_close_ int file = open("/dev/null", O_RDWR | O_CLOEXEC);

	g->o.request_queues = 2;
	rig_serve(g);
	rig_connect(g);
	ask(g, VHU_SET_FEATURES, UINT64_MAX, 8, -1);
	ask(g, VHU_SET_FEATURES, 0, 8, -1); /* rings run */
	ask(g, VHU_SET_VRING_NUM, ring_state(1, 3), 8, -1);
	ask(g, VHU_SET_VRING_NUM, ring_state(1, 64), 8, -1);
	ask(g, VHU_SET_VRING_NUM, ring_state(200, 128), 8, -1);
	ask(g, VHU_SET_VRING_BASE, ring_state(1, 1u << 16), 8, -1);
	ask(g, VHU_SET_VRING_ENABLE, ring_state(1, 2), 8, -1);
	ask(g, VHU_SET_VRING_ENABLE, ring_state(9, 1), 8, -1);
	ask(g, VHU_SET_VRING_ADDR, ring_state(1, 0), 40, -1);
	ask(g, VHU_SET_VRING_KICK, 1 | VHU_VRING_NOFD, 8, -1);
	ask(g, VHU_SET_VRING_KICK, 1, 8, file);
	ask(g, VHU_SET_VRING_CALL, 1, 8, file);
	ask(g, VHU_SET_STATUS, 256, 8, -1);
	ask(g, VHU_ADD_MEM_REG, 0, 40, file);
	ask(g, VHU_REM_MEM_REG, 0, 40, -1);
	ask(g, VHU_SET_BACKEND_REQ_FD, 0, 0, file);
	check_other_queue(g, 1);
	check_other_queue(g, 2);
}

/* Bytes at random end the connection; the next one is served. */
static void noise(void **state)
{
	struct rig *g = *state;
	uint32_t seed = 7;
	uint8_t bytes[64];

	rig_serve(g);
	for (uint32_t i = 0; i < 50; i++) {
		rig_connect(g);
		for (size_t k = 0; k < sizeof(bytes); k++) {
			seed = seed * 1664525 + 1013904223;
			bytes[k] = (uint8_t)(seed >> 24);
		}
		assert_true(send(g->t.sock, bytes, sizeof(bytes), MSG_NOSIGNAL) > 0);
		load_destroy(&g->t);
	}
	rig_connect(g);
	check_other_queue(g, 1);
}

/* Nobody is woken while nothing is to do. */
static void idle_threads_sleep(void **state)
{
	struct rig *g = *state;
	uint64_t before = 0, after = 0;

	g->o.request_queues = 3;
	g->o.workers = 2;
	g->o.busy_poll_us = 100;
	rig_serve(g);
	rig_connect(g);
	check_other_queue(g, 1);
	poll(NULL, 0, 50);
	for (uint32_t i = 0; i <= 2; i++)
		before += fsd_get(&g->dev->stats.thread[i].waits);
	poll(NULL, 0, 300);
	for (uint32_t i = 0; i <= 2; i++)
		after += fsd_get(&g->dev->stats.thread[i].waits);
	assert_int_equal(before, after);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG(small_rings_work),          RIG(a_jump_breaks_the_ring), RIG(heads_repeat),
		RIG(memory_vanishes),           RIG(buffers_vanish),         RIG(noise),
		RIG(messages_that_are_refused), RIG(idle_threads_sleep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
