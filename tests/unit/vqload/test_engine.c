// SPDX-License-Identifier: GPL-2.0-or-later
/* The engine against a device of the test's own, in the same memory: no daemon, no socket. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "common/cleanup.h"
#include "common/clock.h"
#include "virtqueue/device.h"
#include "vqload/engine.h"
#include "vqload/transport_internal.h"

#define FEATURES (VHU_BIT(VIRTIO_F_VERSION_1) | VHU_BIT(VIRTIO_RING_F_EVENT_IDX))
#define QUEUES   3u
#define SLOTS    4u
#define DATA     (1u << 20)
#define MS       1000000ull

struct bench {
	struct load_transport t;
	struct load_engine *e;
	struct vq_device dev[QUEUES];
	uint32_t done;
	struct load_verdict last;
};

/* How the device answers. */
enum answer {
	SOUND,
	WRONG_UNIQUE,
	WRONG_LENGTH,
	OVERRUN,
	TWICE,
	STRANGER,
};

static int setup_with(void **state, uint32_t size, uint64_t features)
{
	struct load_options o = LOAD_OPTIONS_DEFAULT;
	struct load_engine_options eo = LOAD_ENGINE_OPTIONS_DEFAULT;
	struct bench *b = calloc(1, sizeof(*b));

	assert_non_null(b);
	o.queue_size = size;
	o.region_bytes = 32 << 20;
	load_init(&b->t, &o);
	b->t.nr_queues = QUEUES;
	b->t.features = features;
	assert_int_equal(load_make_memory(&b->t), 0);
	assert_int_equal(load_make_queues(&b->t), 0);
	eo.guard_all = true;
	eo.silence_ns = 30 * MS;
	eo.age_ns = 5 * MS;
	b->e = load_engine_new(&b->t, &eo);
	assert_non_null(b->e);
	for (uint32_t q = 0; q < QUEUES; q++) {
		assert_int_equal(load_engine_add_queue(b->e, q, SLOTS, q ? DATA : 0), 0);
		assert_int_equal(vq_device_start(&b->dev[q], &b->t.queue[q].driver.ring, &b->t.mem,
						 features, 0),
				 0);
	}
	*state = b;
	return 0;
}

static int setup(void **state)
{
	return setup_with(state, 512, FEATURES | VHU_BIT(VIRTIO_RING_F_INDIRECT_DESC));
}

static int setup_direct(void **state)
{
	return setup_with(state, 8, FEATURES);
}

static int teardown(void **state)
{
	struct bench *b = *state;

	load_engine_free(b->e);
	load_destroy(&b->t);
	free(b);
	return 0;
}

/* A reply that GETATTR, READ and WRITE take, into the writable part of @c. */
static uint32_t reply_to(const struct vq_chain *c, uint64_t unique, enum answer how)
{
	struct fuse_out_header head = {.len = c->write_bytes, .unique = unique};
	struct fuse_attr_out attr = {.attr = {.mode = S_IFREG | 0644, .nlink = 1}};
	const struct iovec *out = &c->iov[c->nr_read];

	if (how == WRONG_UNIQUE)
		head.unique += LOAD_UNIQUE_STEP;
	if (how == WRONG_LENGTH)
		head.len--;
	memcpy(out[0].iov_base, &head, sizeof(head));
	if (c->nr_write > 1 && out[1].iov_len == sizeof(attr))
		memcpy(out[1].iov_base, &attr, sizeof(attr));
	if (how == OVERRUN)
		((char *)out[c->nr_write - 1].iov_base)[out[c->nr_write - 1].iov_len] ^= 1;
	return c->write_bytes;
}

/* Answers all that is there; returns how many. */
static uint32_t serve(struct bench *b, uint32_t queue, enum answer how)
{
	struct iovec iov[VQ_CHAIN_MAX + VQ_MEM_REGIONS];
	struct vq_chain c = {.iov = iov, .max_iov = ARRAY_SIZE(iov)};
	struct vq_device *d = &b->dev[queue];
	uint32_t n = 0;

	while (vq_device_pop(d, &c) > 0) {
		struct fuse_in_header in;
		struct vq_used u = {.head = c.head};

		memcpy(&in, iov[0].iov_base, sizeof(in));
		if (c.nr_write)
			u.len = reply_to(&c, in.unique, how);
		assert_int_equal(vq_device_push(d, &u, 1), 0);
		if (how == TWICE)
			assert_int_equal(vq_device_push(d, &u, 1), 0);
		if (how == STRANGER) {
			u.head = (uint16_t)(d->ring.size - 1);
			assert_int_equal(vq_device_push(d, &u, 1), 0);
		}
		n++;
	}
	vq_device_publish(d);
	return n;
}

static bool on_done(struct load_engine *e, struct load_slot *s, const struct load_verdict *v)
{
	struct bench *b = s->owner;

	b->done++;
	b->last = *v;
	return false;
}

static struct load_slot *send_getattr(struct bench *b, uint32_t queue, uint64_t due)
{
	struct load_slot *s = load_slot_get(b->e, queue);
	struct load_head h = load_engine_head(b->e, 1);

	assert_non_null(s);
	s->done = on_done;
	s->owner = b;
	assert_int_equal(load_build_getattr(&s->req, &h, NULL), 0);
	assert_int_equal(load_engine_submit(b->e, s, due), 0);
	return s;
}

static uint64_t found(struct bench *b, enum load_finding f)
{
	return load_judge_count(load_engine_judge(b->e), f);
}

/* --- the tests --------------------------------------------------------------------------- */

static void a_sound_reply_is_counted_and_told(void **state)
{
	struct bench *b = *state;
	const struct load_stats *st = load_engine_stats(b->e);

	load_engine_tick(b->e);
	send_getattr(b, 1, load_engine_now(b->e) - 7 * MS);
	assert_int_equal(serve(b, 1, SOUND), 0); /* not published yet */
	load_engine_flush(b->e);
	assert_int_equal(serve(b, 1, SOUND), 1);
	assert_int_equal(load_engine_reap(b->e), 1);
	assert_int_equal(b->done, 1);
	assert_true(b->last.usable);
	assert_int_equal(st->queue[1].requests, 1);
	assert_int_equal(st->op[FUSE_GETATTR].requests, 1);
	/* From when it was due, not from when it was sent. */
	assert_true(st->queue[1].latency.max >= 7 * MS);
	assert_int_equal(load_engine_in_flight(b->e), 0);
	assert_int_equal(load_engine_queue_free(b->e, 1), SLOTS);
	assert_true(load_judge_clean(load_engine_judge(b->e)));
}

static void wrong_replies_are_found(void **state)
{
	static const struct {
		enum answer how;
		enum load_finding finding;
	} cases[] = {
		{WRONG_UNIQUE, LOAD_UNIQUE}, {WRONG_LENGTH, LOAD_LENGTH}, {OVERRUN, LOAD_GUARD},
		{TWICE, LOAD_DUPLICATE},     {STRANGER, LOAD_UNKNOWN},
	};
	struct bench *b = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		send_getattr(b, 2, 0);
		load_engine_flush(b->e);
		assert_int_equal(serve(b, 2, cases[i].how), 1);
		assert_true(load_engine_reap(b->e) > 0);
		assert_int_equal(found(b, cases[i].finding), 1);
		assert_int_equal(b->done, i + 1);
	}
	/* The guard is whole again. */
	send_getattr(b, 2, 0);
	load_engine_flush(b->e);
	serve(b, 2, SOUND);
	load_engine_reap(b->e);
	assert_int_equal(found(b, LOAD_GUARD), 1);
	assert_int_equal(load_engine_status(b->e), 0);
}

static void what_is_uncounted_is_judged_all_the_same(void **state)
{
	struct bench *b = *state;
	struct load_slot *s = send_getattr(b, 1, 0);

	s->uncounted = true;
	load_engine_flush(b->e);
	serve(b, 1, WRONG_UNIQUE);
	load_engine_reap(b->e);
	assert_int_equal(load_engine_stats(b->e)->queue[1].requests, 0);
	assert_int_equal(load_engine_stats(b->e)->done, 1);
	assert_int_equal(found(b, LOAD_UNIQUE), 1);
}

static void no_more_than_the_slots_are_in_flight(void **state)
{
	struct bench *b = *state;

	for (uint32_t i = 0; i < SLOTS; i++)
		send_getattr(b, 1, 0);
	assert_null(load_slot_get(b->e, 1));
	assert_non_null(load_slot_get(b->e, 2));
	assert_int_equal(load_engine_queue_in_flight(b->e, 1), SLOTS);
}

/* Eight descriptors without tables: a request of four fits twice. */
static void a_full_ring_takes_no_more(void **state)
{
	struct bench *b = *state;
	struct load_slot *s;
	struct load_head h;

	send_getattr(b, 1, 0);
	send_getattr(b, 1, 0);
	s = load_slot_get(b->e, 1);
	h = load_engine_head(b->e, 1);
	assert_int_equal(load_build_getattr(&s->req, &h, NULL), 0);
	assert_int_equal(load_engine_submit(b->e, s, 0), -ENOSPC);
	assert_int_equal(s->state, LOAD_SLOT_HELD);
	load_engine_flush(b->e);
	assert_int_equal(serve(b, 1, SOUND), 2);
	load_engine_reap(b->e);
	assert_int_equal(load_engine_submit(b->e, s, 0), 0);
	assert_int_equal(load_build_read(&s->req, &h, 0, 0, 8 * LOAD_PAGE), 0);
	s = load_slot_get(b->e, 2);
	assert_int_equal(load_build_read(&s->req, &h, 0, 0, 8 * LOAD_PAGE), 0);
	assert_int_equal(load_engine_submit(b->e, s, 0), -E2BIG);
}

static void data_lies_in_pages_between_guards(void **state)
{
	struct bench *b = *state;
	struct load_slot *s = load_slot_get(b->e, 1);
	struct load_head h = load_engine_head(b->e, 5);
	struct vq_range range[300];
	uint32_t nr_read, nr;

	assert_int_equal(load_build_read(&s->req, &h, 1, 0, DATA - 100), 0);
	nr = load_slot_ranges(s, range, ARRAY_SIZE(range), &nr_read);
	assert_int_equal(nr_read, 2);
	assert_int_equal(nr - nr_read, 1 + DATA / LOAD_PAGE);
	assert_int_equal(range[3].gpa % LOAD_PAGE, 0);
	assert_int_equal(range[nr - 1].len, LOAD_PAGE - 100);
	s->done = on_done;
	s->owner = b;
	assert_int_equal(load_engine_submit(b->e, s, 0), 0);
	load_engine_flush(b->e);
	assert_int_equal(serve(b, 1, OVERRUN), 1);
	load_engine_reap(b->e);
	assert_int_equal(b->last.data_len, DATA - 100);
	assert_int_equal(found(b, LOAD_GUARD), 1);
}

static void sleep_ms(long ms)
{
	nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

static void silence_ends_and_names_the_request(void **state)
{
	struct bench *b = *state;
	uint64_t begin = vqs_now_ns(CLOCK_MONOTONIC);

	load_engine_tick(b->e);
	send_getattr(b, 1, 0);
	assert_int_equal(load_engine_drain(b->e), -ETIMEDOUT);
	assert_true(vqs_now_ns(CLOCK_MONOTONIC) - begin < 2000 * MS);
	assert_non_null(strstr(load_engine_error(b->e), "GETATTR"));
	assert_int_equal(found(b, LOAD_LATE), 1);
	load_engine_lose(b->e, true);
	assert_int_equal(found(b, LOAD_LOST), 1);
	assert_int_equal(load_engine_in_flight(b->e), 0);
	/* Nothing goes out any more. */
	assert_int_equal(load_engine_wait(b->e, UINT64_MAX), -ETIMEDOUT);
}

static void a_late_reply_is_late_once(void **state)
{
	struct bench *b = *state;

	load_engine_tick(b->e);
	send_getattr(b, 1, 0);
	load_engine_flush(b->e);
	for (int i = 0; i < 3; i++) {
		sleep_ms(8);
		/* Else it would count as sent before the sleep. */
		load_engine_tick(b->e);
		send_getattr(b, 2, 0);
		load_engine_flush(b->e);
		serve(b, 2, SOUND);
		load_engine_reap(b->e);
		load_engine_tick(b->e);
	}
	serve(b, 1, SOUND);
	load_engine_reap(b->e);
	assert_true(load_judge_queue_count(load_engine_judge(b->e), 1, LOAD_LATE) <= 1);
	assert_int_equal(load_engine_in_flight(b->e), 0);
}

static void stats_merge(void **state)
{
	struct bench *b = *state;
	struct load_stats sum;

	send_getattr(b, 2, 0);
	load_engine_flush(b->e);
	serve(b, 2, SOUND);
	load_engine_reap(b->e);
	assert_int_equal(load_stats_init(&sum, 2), 0);
	load_stats_merge(&sum, load_engine_stats(b->e));
	load_stats_merge(&sum, load_engine_stats(b->e));
	assert_int_equal(sum.queue[0].requests, 2); /* it has no queue 2 */
	assert_int_equal(sum.op[FUSE_GETATTR].requests, 2);
	load_stats_free(&sum);
	load_engine_clear_stats(b->e);
	assert_int_equal(load_engine_stats(b->e)->op[FUSE_GETATTR].requests, 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_sound_reply_is_counted_and_told),
		TEST(wrong_replies_are_found),
		TEST(what_is_uncounted_is_judged_all_the_same),
		TEST(no_more_than_the_slots_are_in_flight),
		cmocka_unit_test_setup_teardown(a_full_ring_takes_no_more, setup_direct, teardown),
		TEST(data_lies_in_pages_between_guards),
		TEST(silence_ends_and_names_the_request),
		TEST(a_late_reply_is_late_once),
		TEST(stats_merge),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
