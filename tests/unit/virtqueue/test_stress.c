// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A driver and a device on threads of their own, asleep on eventfds whenever they may be: every
 * request comes back once, with what the device wrote, and nobody sleeps through one.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/eventfd.h>

#include <cmocka.h>

#include "common/cleanup.h"
#include "ring_rig.h"

/* Long, for a machine that is busy with something else: only a lost wake-up takes so long. */
#define ASLEEP_MS 20000

struct pair {
	struct rig rig;
	int kick, call;
	uint64_t requests;
	uint32_t size;
	bool indirect;
	const char *wrong; /* of the device's thread */
};

static void tell(int fd)
{
	uint64_t one = 1;

	if (write(fd, &one, sizeof(one)) != sizeof(one))
		abort();
}

static bool await(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	uint64_t n;

	return poll(&p, 1, ASLEEP_MS) == 1 && read(fd, &n, sizeof(n)) == sizeof(n);
}

/* Reads the request's number, writes it back inverted; both may lie across two regions. */
static bool serve(const struct vq_chain *c)
{
	uint8_t v[sizeof(uint64_t)];
	uint32_t n = 0;

	if (c->read_bytes != sizeof(v) || c->write_bytes != sizeof(v))
		return false;
	for (uint32_t i = 0; i < c->nr_read; i++)
		for (size_t k = 0; k < c->iov[i].iov_len; k++)
			v[n++] = (uint8_t) ~((uint8_t *)c->iov[i].iov_base)[k];
	n = 0;
	for (uint32_t i = c->nr_read; i < c->nr_read + c->nr_write; i++)
		for (size_t k = 0; k < c->iov[i].iov_len; k++)
			((uint8_t *)c->iov[i].iov_base)[k] = v[n++];
	return true;
}

static bool serve_all(struct pair *p, uint64_t *served)
{
	struct vq_device *d = &p->rig.device;
	struct iovec iov[4];
	struct vq_chain c = {.iov = iov, .max_iov = 4};
	int got;

	while ((got = vq_device_pop(d, &c)) > 0) {
		int call;

		if (!serve(&c))
			return false;
		call = vq_device_finish(d, c.head, sizeof(uint64_t));
		if (call < 0)
			return false;
		if (call)
			tell(p->call);
		++*served;
	}
	return !got;
}

static void *device_thread(void *arg)
{
	struct pair *p = arg;
	uint64_t served = 0;

	while (served < p->requests) {
		vq_device_disable_kicks(&p->rig.device);
		if (!serve_all(p, &served)) {
			p->wrong = "a chain is not what was sent";
			break;
		}
		if (served == p->requests || vq_device_enable_kicks(&p->rig.device))
			continue;
		if (!await(p->kick)) {
			p->wrong = "the device was not woken";
			break;
		}
	}
	return NULL;
}

/* Buffers of a request: of the slot that is its token modulo the size. */
static uint64_t slot_gpa(const struct pair *p, uint64_t slot)
{
	return RIG_DATA_GPA + slot * 2 * sizeof(uint64_t);
}

static void fill(struct pair *p, uint64_t *sent, uint64_t *slot_of, uint64_t *free_slot,
		 uint32_t *nr_free)
{
	while (*sent < p->requests && *nr_free) {
		uint64_t slot = free_slot[*nr_free - 1], gpa = slot_gpa(p, slot);
		struct vq_range r[2] = {{gpa, sizeof(uint64_t)},
					{gpa + sizeof(uint64_t), sizeof(uint64_t)}};

		for (size_t i = 0; i < sizeof(*sent); i++)
			*rig_byte(&p->rig, gpa + i) = ((uint8_t *)sent)[i];
		if (vq_driver_add(&p->rig.driver, r, 1, 1, p->indirect, slot) < 0)
			break;
		slot_of[slot] = (*sent)++;
		--*nr_free;
		vq_driver_publish(&p->rig.driver);
		if (vq_driver_should_kick(&p->rig.driver))
			tell(p->kick);
	}
}

static void check_reply(struct pair *p, const struct vq_reply *reply, uint64_t number)
{
	uint64_t v;

	for (size_t i = 0; i < sizeof(v); i++)
		((uint8_t *)&v)[i] = *rig_byte(&p->rig, slot_gpa(p, reply->token) + sizeof(v) + i);
	assert_int_equal(v, ~number);
	assert_int_equal(reply->len, sizeof(v));
}

static void drive(struct pair *p)
{
	uint64_t *slot_of = calloc(p->size, sizeof(*slot_of)), sent = 0, done = 0;
	uint64_t *free_slot = calloc(p->size, sizeof(*free_slot));
	struct vq_driver *d = &p->rig.driver;
	struct vq_reply reply;
	uint32_t nr_free = 0;

	assert_true(slot_of && free_slot);
	for (; nr_free < p->size; nr_free++)
		free_slot[nr_free] = nr_free;
	while (done < p->requests) {
		int got;

		fill(p, &sent, slot_of, free_slot, &nr_free);
		vq_driver_disable_calls(d);
		while ((got = vq_driver_get_used(d, &reply)) > 0) {
			check_reply(p, &reply, slot_of[reply.token]);
			free_slot[nr_free++] = reply.token;
			done++;
		}
		assert_int_equal(got, 0);
		if ((nr_free && sent < p->requests) || vq_driver_enable_calls(d))
			continue;
		if (done < p->requests && !await(p->call))
			fail_msg("the driver was not woken: %" PRIu64 " of %" PRIu64 " done", done,
				 p->requests);
	}
	free(slot_of);
	free(free_slot);
}

static void run(uint32_t size, uint64_t features, bool indirect, uint64_t requests)
{
	struct pair p = {.size = size, .indirect = indirect, .requests = requests};
	pthread_t thread;

	rig_init(&p.rig, size, 2, features | 1ULL << VIRTIO_RING_F_INDIRECT_DESC, 65000,
		 size * 2 * sizeof(uint64_t));
	p.kick = eventfd(0, EFD_CLOEXEC);
	p.call = eventfd(0, EFD_CLOEXEC);
	assert_true(p.kick >= 0 && p.call >= 0);
	assert_int_equal(pthread_create(&thread, NULL, device_thread, &p), 0);
	drive(&p);
	pthread_join(thread, NULL);
	if (p.wrong)
		fail_msg("%s", p.wrong);
	close(p.kick);
	close(p.call);
	rig_free(&p.rig);
}

#define EVENT (1ULL << VIRTIO_RING_F_EVENT_IDX)

static void nobody_sleeps_through_with_event_idx(void **state)
{
	run(2, EVENT, true, 30000);
	run(64, EVENT, true, 150000);
	run(1024, EVENT, true, 150000);
}

static void nobody_sleeps_through_with_flags(void **state)
{
	run(2, 0, false, 30000);
	run(64, 0, false, 150000);
	run(1024, 0, true, 150000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobody_sleeps_through_with_event_idx),
		cmocka_unit_test(nobody_sleeps_through_with_flags),
	};

	return cmocka_run_group_tests_name("stress", tests, NULL, NULL);
}
