// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the driver sends the device gets, and the reverse: chains at random, direct and indirect,
 * answered in any order, with indices that wrap, on rings of every usual size. Both sides sleep
 * as they may, and must be woken. VQS_SEED=N repeats a run.
 */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "common/cleanup.h"
#include "fixture.h"
#include "ring_rig.h"

#define CHUNK      400u /* bytes of the data that one request has */
#define BUFFERS    12u
#define TABLE_MAX  16u
#define MAX_PIECES (BUFFERS + RIG_PARTS)

static uint64_t seed;

struct request {
	bool in_use, popped;
	uint16_t head;
	uint64_t order; /* of publication */
	uint32_t nr_read, nr_write, read_bytes, write_bytes, used_len;
	bool indirect;
	struct vq_range range[BUFFERS];
	struct iovec iov[MAX_PIECES]; /* the device's view */
	struct vq_chain chain;
};

struct world {
	struct rig rig;
	uint64_t rng;
	struct request *req; /* one per descriptor: the token is the index */
	uint32_t size;
	uint64_t submitted, popped, done;
	bool device_sleeps, driver_sleeps;
};

static uint8_t pattern(uint64_t order, uint32_t i)
{
	return (uint8_t)(order * 131 + i * 7 + 1);
}

static void lay_out(struct world *w, struct request *r, uint32_t index)
{
	uint64_t gpa = RIG_DATA_GPA + (uint64_t)index * CHUNK;
	uint32_t total = 1 + (uint32_t)fixture_below(&w->rng, BUFFERS), done = 0;

	r->nr_read = (uint32_t)fixture_below(&w->rng, total + 1);
	r->nr_write = total - r->nr_read;
	r->read_bytes = r->write_bytes = 0;
	for (uint32_t i = 0; i < total; i++) {
		uint32_t len = (uint32_t)fixture_below(&w->rng, CHUNK / BUFFERS);

		len = fixture_below(&w->rng, 10) ? len : 0;
		r->range[i] = (struct vq_range){.gpa = gpa + done, .len = len};
		for (uint32_t k = 0; i < r->nr_read && k < len; k++)
			*rig_byte(&w->rig, gpa + done + k) = pattern(r->order, r->read_bytes + k);
		*(i < r->nr_read ? &r->read_bytes : &r->write_bytes) += len;
		done += len;
	}
}

static void submit(struct world *w)
{
	uint32_t index = (uint32_t)fixture_below(&w->rng, w->size), total;
	struct vq_driver *d = &w->rig.driver;
	struct request *r = &w->req[index];
	int head;

	if (r->in_use)
		return;
	r->order = w->submitted;
	lay_out(w, r, index);
	r->indirect = fixture_below(&w->rng, 2);
	total = r->nr_read + r->nr_write;
	head = vq_driver_add(d, r->range, r->nr_read, r->nr_write, r->indirect, index);
	if (head < 0) {
		assert_int_equal(head, !r->indirect && total > w->size ? -E2BIG : -ENOSPC);
		assert_true((r->indirect ? 1 : total) > d->nr_free);
		return;
	}
	r->in_use = true;
	r->popped = false;
	r->head = (uint16_t)head;
	w->submitted++;
}

static void kick(struct world *w)
{
	vq_driver_publish(&w->rig.driver);
	if (vq_driver_should_kick(&w->rig.driver))
		w->device_sleeps = false;
}

/* What came out must be what went in, in order of submission. */
static void check_chain(struct world *w, struct vq_chain *c)
{
	uint32_t done = 0, room = 0, index;
	struct request *r = NULL;

	for (index = 0; index < w->size && !r; index++)
		if (w->req[index].in_use && !w->req[index].popped &&
		    w->req[index].order == w->popped)
			r = &w->req[index];
	assert_non_null(r);
	assert_int_equal(c->head, r->head);
	assert_int_equal(c->indirect, r->indirect);
	assert_int_equal(c->descs, r->nr_read + r->nr_write);
	assert_int_equal(c->read_bytes, r->read_bytes);
	assert_int_equal(c->write_bytes, r->write_bytes);
	for (uint32_t i = 0; i < c->nr_read; i++)
		for (size_t k = 0; k < c->iov[i].iov_len; k++)
			assert_int_equal(((uint8_t *)c->iov[i].iov_base)[k],
					 pattern(r->order, done++));
	assert_int_equal(done, r->read_bytes);
	for (uint32_t i = 0; i < c->nr_write; i++)
		room += (uint32_t)c->iov[c->nr_read + i].iov_len;
	assert_int_equal(room, r->write_bytes);
	memcpy(r->iov, c->iov, sizeof(r->iov));
	r->chain = *c;
	r->popped = true;
	w->popped++;
}

static void pop(struct world *w)
{
	struct iovec iov[MAX_PIECES];
	struct vq_chain c = {.iov = iov, .max_iov = MAX_PIECES};
	int got;

	if (w->device_sleeps)
		return;
	got = vq_device_pop(&w->rig.device, &c);
	assert_true(got >= 0);
	if (got)
		check_chain(w, &c);
	else if (!vq_device_enable_kicks(&w->rig.device))
		w->device_sleeps = true;
	else
		vq_device_disable_kicks(&w->rig.device);
}

static void answer(struct world *w, struct request *r)
{
	uint32_t done = 0;
	struct vq_used u;

	r->used_len = (uint32_t)fixture_below(&w->rng, r->write_bytes + 1);
	for (uint32_t i = 0; i < r->chain.nr_write; i++) {
		const struct iovec *v = &r->iov[r->chain.nr_read + i];

		for (size_t k = 0; k < v->iov_len && done < r->used_len; k++)
			((uint8_t *)v->iov_base)[k] = pattern(r->order ^ 0x55, done++);
	}
	u = (struct vq_used){.head = r->head, .len = r->used_len};
	assert_int_equal(vq_device_push(&w->rig.device, &u, 1), 0);
	r->popped = false;
	r->order = UINT64_MAX; /* no longer for the device */
}

static void call(struct world *w)
{
	vq_device_publish(&w->rig.device);
	if (vq_device_should_call(&w->rig.device))
		w->driver_sleeps = false;
}

static void push(struct world *w)
{
	struct request *r = &w->req[fixture_below(&w->rng, w->size)];

	if (r->in_use && r->popped)
		answer(w, r);
	if (fixture_below(&w->rng, 2))
		call(w);
}

static void reap(struct world *w)
{
	struct vq_reply reply;
	struct request *r;
	int got;

	if (w->driver_sleeps)
		return;
	got = vq_driver_get_used(&w->rig.driver, &reply);
	assert_true(got >= 0);
	if (!got) {
		w->driver_sleeps = !vq_driver_enable_calls(&w->rig.driver);
		if (!w->driver_sleeps)
			vq_driver_disable_calls(&w->rig.driver);
		return;
	}
	assert_true(reply.token < w->size);
	r = &w->req[reply.token];
	assert_true(r->in_use && r->order == UINT64_MAX);
	assert_int_equal(reply.id, r->head);
	assert_int_equal(reply.len, r->used_len);
	assert_int_equal(reply.write_bytes, r->write_bytes);
	r->in_use = false;
	w->done++;
}

static void act(struct world *w)
{
	switch (fixture_below(&w->rng, 6)) {
	case 0:
	case 1:
		submit(w);
		break;
	case 2:
		kick(w);
		break;
	case 3:
		pop(w);
		break;
	case 4:
		push(w);
		break;
	default:
		reap(w);
	}
}

/* All that is under way ends by wake-ups alone: nobody who sleeps looks at the ring. */
static void settle(struct world *w)
{
	for (uint32_t idle = 0; w->done < w->submitted; idle++) {
		uint64_t before = w->done;

		assert_true(idle < 100);
		kick(w);
		for (uint32_t i = 0; i <= w->size + 2; i++)
			pop(w);
		for (uint32_t i = 0; i < w->size; i++)
			if (w->req[i].in_use && w->req[i].popped)
				answer(w, &w->req[i]);
		call(w);
		for (uint32_t i = 0; i <= w->size + 2; i++)
			reap(w);
		idle = w->done > before ? 0 : idle;
	}
}

static void check_quiet(struct world *w)
{
	struct vq_driver *d = &w->rig.driver;
	uint32_t pos = 0;
	uint64_t token;
	uint16_t head;

	assert_int_equal(d->in_flight, 0);
	assert_int_equal(d->nr_free, w->size);
	assert_false(vq_driver_next_in_flight(d, &pos, &head, &token));
	assert_int_equal(vq_device_depth(&w->rig.device), 0);
	assert_int_equal(w->rig.device.pop.popped, w->done);
	assert_int_equal(w->rig.device.push.pushed, w->done);
}

/* Returns how many requests went around. */
static uint64_t run(uint32_t size, uint64_t features, uint32_t steps)
{
	struct world w = {.rng = seed ^ size ^ features, .size = size};
	uint16_t start = (uint16_t)(65535 - fixture_below(&w.rng, size + 3));

	rig_init(&w.rig, size, TABLE_MAX, features | 1ULL << VIRTIO_RING_F_INDIRECT_DESC, start,
		 (uint64_t)size * CHUNK);
	w.req = calloc(size, sizeof(*w.req));
	assert_non_null(w.req);
	for (uint32_t round = 0; round < 4; round++) {
		for (uint32_t i = 0; i < steps; i++)
			act(&w);
		settle(&w);
		check_quiet(&w);
	}
	assert_true(w.done > steps / 20);
	free(w.req);
	rig_free(&w.rig);
	return w.done;
}

static void chains_come_through_with_event_idx(void **state)
{
	for (uint32_t size = 2; size <= 1024; size *= 2)
		run(size, 1ULL << VIRTIO_RING_F_EVENT_IDX, 3000);
}

static void chains_come_through_with_flags(void **state)
{
	for (uint32_t size = 2; size <= 1024; size *= 2)
		run(size, 0, 3000);
}

/* Several times around 2^16, not only once. */
static void indices_wrap_again_and_again(void **state)
{
	assert_true(run(8, 1ULL << VIRTIO_RING_F_EVENT_IDX, 600000) > 2 * 65536);
	assert_true(run(8, 0, 600000) > 2 * 65536);
}

/* A queue of the daemon goes to another thread by copying its fields. */
static void a_device_moves(void **state)
{
	struct iovec iov[4];
	struct vq_chain c = {.iov = iov, .max_iov = 4};
	struct vq_range range = {.gpa = RIG_DATA_GPA, .len = 8};
	struct vq_device moved;
	struct vq_reply reply;
	struct rig r;

	rig_init(&r, 4, 0, 1ULL << VIRTIO_RING_F_EVENT_IDX, 65534, 999);
	for (uint64_t i = 0; i < 4; i++)
		assert_true(vq_driver_add(&r.driver, &range, 0, 1, false, i) >= 0);
	vq_driver_publish(&r.driver);
	assert_int_equal(vq_device_pop(&r.device, &c), 1);
	assert_int_equal(vq_device_depth(&r.device), 3);
	moved = r.device;
	assert_int_equal(vq_device_base(&moved), 65535);
	assert_true(vq_device_finish(&moved, c.head, 8) == 1);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(vq_device_pop(&moved, &c), 1);
		assert_true(vq_device_finish(&moved, c.head, 8) >= 0);
	}
	for (uint64_t i = 0; i < 4; i++) {
		assert_int_equal(vq_driver_get_used(&r.driver, &reply), 1);
		assert_int_equal(reply.token, i);
	}
	/* Stopped and started again where it stood. */
	assert_int_equal(
		vq_device_start(&r.device, &r.driver.ring, &r.mem, 0, vq_device_base(&moved)), 0);
	assert_int_equal(r.device.push.published, 2);
	assert_int_equal(vq_device_pop(&r.device, &c), 0);
	rig_free(&r);
}

static void requests_have_limits(void **state)
{
	struct vq_range range[5] = {{.gpa = RIG_DATA_GPA, .len = 8}, {.len = UINT32_MAX}};
	struct vq_driver other;
	struct rig r;

	rig_init(&r, 4, 3, 0, 0, 999);
	assert_int_equal(vq_driver_add(&r.driver, range, 0, 0, false, 0), -EINVAL);
	assert_int_equal(vq_driver_add(&r.driver, range, 2, 0, false, 0), -EINVAL);
	assert_int_equal(vq_driver_add(&r.driver, range + 2, 0, 4, true, 0), -E2BIG);
	assert_int_equal(vq_driver_add(&r.driver, range, 5, 0, false, 0), -E2BIG);
	assert_true(vq_driver_add(&r.driver, range + 2, 1, 1, false, 0) >= 0);
	assert_int_equal(vq_driver_add(&r.driver, range + 2, 3, 0, false, 0), -ENOSPC);
	assert_true(vq_driver_add(&r.driver, range + 2, 3, 0, true, 0) >= 0);
	assert_int_equal(vq_driver_init(&other, 3, 0, 0, r.ring_mem, 0, 0), -EINVAL);
	assert_int_equal(vq_driver_init(&other, 4, 0, 0, r.ring_mem, 32, 0), -EINVAL);
	rig_free(&r);
}

int main(void)
{
	const char *given = getenv("VQS_SEED");
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chains_come_through_with_event_idx),
		cmocka_unit_test(chains_come_through_with_flags),
		cmocka_unit_test(indices_wrap_again_and_again),
		cmocka_unit_test(a_device_moves),
		cmocka_unit_test(requests_have_limits),
	};

	seed = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL);
	printf("VQS_SEED=%" PRIu64 "\n", seed);
	return cmocka_run_group_tests_name("ring", tests, NULL, NULL);
}
