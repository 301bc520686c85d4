// SPDX-License-Identifier: GPL-2.0-or-later
/* Acquisitions as docs/metrics.md counts them, for each kernel generation, on small numbers. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "../fixture.h"
#include "common/cleanup.h"
#include "observe/acquisitions.h"

/* 7 FORGETs, one of which a full ring refused once; 100 requests, 40 of them background, two of
 * which were refused, 30 done works, 3 requests still on the ring, of the 102 collected 5 were
 * submitted before attach. */
static struct vqs_snapshot *small_guest(void)
{
	struct vqs_snapshot *s = fixture_guest(0);
	struct vqs_snap_queue *q = s->devices[0].queues;

	q[0].submitted = q[0].completed = 7;
	q[0].ring_full = 1;
	q[0].done_works = 4;
	q[1].submitted = 100;
	q[1].completed = 102; /* complete_only is a part of it */
	q[1].complete_only = 5;
	q[1].background = 40;
	q[1].ring_full = 2;
	q[1].done_works = 30;
	q[1].in_flight = 3;
	q[1].failed_before_ring = 1;
	return s;
}

static void linux_6_1(void **state)
{
	_cleanup_snapshot_ struct vqs_snapshot *s = small_guest();
	struct vqs_snap_device *d = &s->devices[0];

	obs_derive_acquisitions(s, false, true);
	assert_int_equal(d->queues[0].lock[VQS_LOCK_VQ].acquisitions, 7 + 2 + 4);
	assert_int_equal(d->queues[0].lock[VQS_LOCK_PQUEUE].acquisitions, 0);
	assert_int_equal(d->queues[1].lock[VQS_LOCK_VQ].acquisitions, 100 + 6 + 30 + 102);
	assert_int_equal(d->queues[1].lock[VQS_LOCK_PQUEUE].acquisitions, 100 + 102 + 102);
	assert_int_equal(d->lock[0].acquisitions, 7 + 101);
	assert_int_equal(d->lock[1].acquisitions, 80);
	assert_int_equal(d->lock[2].acquisitions, 0);
}

static void linux_6_12(void **state)
{
	_cleanup_snapshot_ struct vqs_snapshot *s = small_guest();
	struct vqs_snap_queue *q = &s->devices[0].queues[1];

	obs_derive_acquisitions(s, true, true);
	assert_int_equal(q->lock[VQS_LOCK_VQ].acquisitions, 100 + 6 + 60 + 102);
	assert_int_equal(q->lock[VQS_LOCK_PQUEUE].acquisitions, 100 + 102 + 102);
}

static void linux_7_3(void **state)
{
	_cleanup_snapshot_ struct vqs_snapshot *s = small_guest();
	struct vqs_snap_queue *q = &s->devices[0].queues[1];

	obs_derive_acquisitions(s, true, false);
	assert_int_equal(q->lock[VQS_LOCK_VQ].acquisitions, 100 + 6 + 60 + 102);
	assert_int_equal(q->lock[VQS_LOCK_PQUEUE].acquisitions, 100 + 102);
}

/* A wait is an acquisition, even where the derivation knows of none. */
static void never_less_than_waits(void **state)
{
	_cleanup_snapshot_ struct vqs_snapshot *s = small_guest();

	s->devices[0].queues[2].lock[VQS_LOCK_VQ].contended = 9;
	s->devices[0].lock[1].contended = 81;
	obs_derive_acquisitions(s, true, true);
	assert_int_equal(s->devices[0].queues[2].lock[VQS_LOCK_VQ].acquisitions, 9);
	assert_int_equal(s->devices[0].lock[1].acquisitions, 81);
}

/* They grow with the counters, so an interval's are a difference. */
static void they_never_shrink(void **state)
{
	_cleanup_snapshot_ struct vqs_snapshot *a = fixture_guest(1), *b = fixture_guest(2);

	obs_derive_acquisitions(a, true, true);
	obs_derive_acquisitions(b, true, true);
	for (size_t i = 0; i < a->devices[0].nr_queues; i++)
		for (size_t k = 0; k < VQS_QUEUE_LOCKS; k++)
			assert_true(b->devices[0].queues[i].lock[k].acquisitions >=
				    a->devices[0].queues[i].lock[k].acquisitions);
}

static void submit_time_is_from_start_to_ring(void **state)
{
	_cleanup_snapshot_ struct vqs_snapshot *s = fixture_guest(0);
	struct vqs_snap_device *d = &s->devices[0];

	d->queues[1].hop[VQS_HOP_INPUT].sum = 10;
	d->queues[1].hop[VQS_HOP_BACKGROUND].sum = 100;
	d->queues[2].hop[VQS_HOP_INPUT].sum = 1000;
	assert_int_equal(obs_submit_ns(d, &d->queues[1]), 110);
	assert_int_equal(obs_submit_ns(d, &d->queues[0]), 0);
	assert_int_equal(obs_submit_ns(d, NULL), 1110);
	d->queues[3].hop[VQS_HOP_INPUT].sum = UINT64_MAX;
	assert_true(obs_submit_ns(d, NULL) == UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(linux_6_1),
		cmocka_unit_test(linux_6_12),
		cmocka_unit_test(linux_7_3),
		cmocka_unit_test(never_less_than_waits),
		cmocka_unit_test(they_never_shrink),
		cmocka_unit_test(submit_time_is_from_start_to_ring),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
