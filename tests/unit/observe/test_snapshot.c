// SPDX-License-Identifier: GPL-2.0-or-later
/* Differences of snapshots. VQS_SEED=N repeats a run. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "common/cleanup.h"
#include "common/hist.h"
#include "fixture.h"
#include "observe/snapshot.h"

static uint64_t seed;

static void freeing_nothing_is_allowed(void **state)
{
	obs_snapshot_free(NULL);
	obs_snapshot_free(obs_snapshot_new());
}

static void an_interval_is_what_was_added(void **state)
{
	_cleanup_snapshot_ struct vqs_snapshot *from = fixture_guest(10), *to = fixture_guest(15);
	_cleanup_snapshot_ struct vqs_snapshot *d = obs_snapshot_diff(from, to);

	assert_non_null(d);
	assert_int_equal(d->interval_ns, to->mono_ns - from->mono_ns);
	assert_int_equal(d->nr_devices, to->nr_devices);
	for (size_t i = 0; i < d->nr_devices; i++) {
		assert_int_equal(d->devices[i].nr_queues, to->devices[i].nr_queues);
		for (size_t j = 0; j < d->devices[i].nr_queues; j++) {
			const struct vqs_snap_queue *q = &d->devices[i].queues[j];
			const struct vqs_snap_queue *a = &from->devices[i].queues[j];
			const struct vqs_snap_queue *b = &to->devices[i].queues[j];

			assert_int_equal(q->submitted, b->submitted - a->submitted);
			assert_int_equal(q->bytes_out, b->bytes_out - a->bytes_out);
			assert_int_equal(q->in_flight, b->in_flight);
			assert_int_equal(q->lock[0].contended,
					 b->lock[0].contended - a->lock[0].contended);
			for (int h = 0; h < VQS_HOPS; h++)
				assert_int_equal(vqs_hist_count(&q->hop[h]),
						 vqs_hist_count(&b->hop[h]) -
							 vqs_hist_count(&a->hop[h]));
		}
	}
}

static void two_intervals_add_up(void **state)
{
	_cleanup_snapshot_ struct vqs_snapshot *a = fixture_guest(3), *b = fixture_guest(8),
					       *c = fixture_guest(20);
	_cleanup_snapshot_ struct vqs_snapshot *ab = obs_snapshot_diff(a, b),
					       *bc = obs_snapshot_diff(b, c),
					       *ac = obs_snapshot_diff(a, c);

	for (size_t i = 0; i < ac->nr_devices; i++) {
		for (size_t j = 0; j < ac->devices[i].nr_queues; j++) {
			struct vqs_hist sum = ab->devices[i].queues[j].hop[VQS_HOP_TOTAL];
			const struct vqs_hist *want = &ac->devices[i].queues[j].hop[VQS_HOP_TOTAL];

			vqs_hist_merge(&sum, &bc->devices[i].queues[j].hop[VQS_HOP_TOTAL]);
			assert_memory_equal(sum.bucket, want->bucket, sizeof(sum.bucket));
			assert_int_equal(sum.sum, want->sum);
		}
	}
}

static void nothing_happened(void **state)
{
	_cleanup_snapshot_ struct vqs_snapshot *s = fixture_guest(10);
	_cleanup_snapshot_ struct vqs_snapshot *d = obs_snapshot_diff(s, s);
	const struct vqs_snap_queue *q = &d->devices[0].queues[1];

	assert_int_equal(d->interval_ns, 0);
	assert_int_equal(q->submitted, 0);
	assert_int_equal(q->hop[VQS_HOP_TOTAL].max, 0);
	assert_int_equal(q->nr_ops, 0);
	assert_int_equal(q->nr_errors, 0);
	assert_int_equal(q->nr_cpus, 0);
	/* What is a level, or a name, stays. */
	assert_int_equal(q->in_flight, s->devices[0].queues[1].in_flight);
	assert_string_equal(q->name, s->devices[0].queues[1].name);
	assert_int_equal(d->devices[0].nr_map, s->devices[0].nr_map);
}

static void from_an_empty_one_everything_is_new(void **state)
{
	_cleanup_snapshot_ struct vqs_snapshot *empty = obs_snapshot_new(), *s = fixture_guest(10);
	_cleanup_snapshot_ struct vqs_snapshot *d = NULL;
	char where[80];

	empty->mono_ns = s->mono_ns;
	d = obs_snapshot_diff(empty, s);
	assert_int_equal(d->interval_ns, 0);
	d->interval_ns = s->interval_ns;
	if (!fixture_equal(d, s, where, sizeof(where)))
		fail_msg("differs at %s", where);
}

/* Slots say which queue it is: neither place nor index does. */
static void queues_are_paired_by_slot(void **state)
{
	struct vqs_snap_queue old = {.slot = 7, .index = 1, .submitted = 40, .completed = 30};
	struct vqs_snap_queue new[] = {
		{.slot = 9, .index = 1, .submitted = 5},
		{.slot = 7, .index = 2, .submitted = 100, .completed = 90, .in_flight = 10},
	};
	struct vqs_snap_device before = {.slot = 3, .queues = &old, .nr_queues = 1};
	struct vqs_snap_device after[] = {
		{.slot = 4, .failed_before_queue = 2},
		{.slot = 3, .queues = new, .nr_queues = 2},
	};
	struct vqs_snapshot from = {.devices = &before, .nr_devices = 1};
	struct vqs_snapshot to = {.devices = after, .nr_devices = 2};
	_cleanup_snapshot_ struct vqs_snapshot *d = obs_snapshot_diff(&from, &to);

	assert_int_equal(d->devices[0].failed_before_queue, 2);
	assert_int_equal(d->devices[1].queues[0].submitted, 5);
	assert_int_equal(d->devices[1].queues[1].submitted, 60);
	assert_int_equal(d->devices[1].queues[1].completed, 60);
	assert_int_equal(d->devices[1].queues[1].in_flight, 10);
}

static void a_counter_that_shrank_says_nothing(void **state)
{
	struct vqs_snap_queue old = {.submitted = 40}, new = {.submitted = 3};
	struct vqs_snap_device before = {.queues = &old, .nr_queues = 1};
	struct vqs_snap_device after = {.queues = &new, .nr_queues = 1};
	struct vqs_snapshot from = {.devices = &before, .nr_devices = 1, .trace_lost = 9};
	struct vqs_snapshot to = {.devices = &after, .nr_devices = 1, .trace_lost = 8};
	_cleanup_snapshot_ struct vqs_snapshot *d = obs_snapshot_diff(&from, &to);

	assert_int_equal(d->devices[0].queues[0].submitted, 0);
	assert_int_equal(d->trace_lost, 0);
}

static void lists_keep_what_grew(void **state)
{
	struct vqs_snap_errno old_errors[] = {{2, 10}, {5, 1}};
	struct vqs_snap_errno new_errors[] = {{2, 10}, {5, 4}, {13, 1}};
	struct vqs_snap_cpu old_cpus[] = {{0, 5}, {3, 5}}, new_cpus[] = {{0, 5}, {1, 2}, {3, 6}};
	struct vqs_snap_queue old = {
		.errors = old_errors, .nr_errors = 2, .cpus = old_cpus, .nr_cpus = 2};
	struct vqs_snap_queue new = {
		.errors = new_errors, .nr_errors = 3, .cpus = new_cpus, .nr_cpus = 3};
	struct vqs_snap_device before = {.queues = &old, .nr_queues = 1};
	struct vqs_snap_device after = {.queues = &new, .nr_queues = 1};
	struct vqs_snapshot from = {.devices = &before, .nr_devices = 1};
	struct vqs_snapshot to = {.devices = &after, .nr_devices = 1};
	_cleanup_snapshot_ struct vqs_snapshot *d = obs_snapshot_diff(&from, &to);
	const struct vqs_snap_queue *q = &d->devices[0].queues[0];

	assert_int_equal(q->nr_errors, 2);
	assert_int_equal(q->errors[0].err, 5);
	assert_int_equal(q->errors[0].count, 3);
	assert_int_equal(q->errors[1].err, 13);
	assert_int_equal(q->nr_cpus, 2);
	assert_int_equal(q->cpus[0].cpu, 1);
	assert_int_equal(q->cpus[1].cpu, 3);
	assert_int_equal(q->cpus[1].requests, 1);
}

static void stacks_are_sorted_anew(void **state)
{
	char a[1][64] = {"fuse_read+0x1"}, b[1][64] = {"fuse_write+0x2"};
	struct vqs_snap_stack old[] = {{.waits = 90, .wait_ns = 9000, .depth = 1, .frame = a}};
	struct vqs_snap_stack new[] = {
		{.waits = 91, .wait_ns = 9100, .depth = 1, .frame = a},
		{.waits = 5, .wait_ns = 500, .depth = 1, .frame = b},
	};
	struct vqs_snapshot from = {.stacks = old, .nr_stacks = 1};
	struct vqs_snapshot to = {.stacks = new, .nr_stacks = 2};
	_cleanup_snapshot_ struct vqs_snapshot *d = obs_snapshot_diff(&from, &to);

	assert_int_equal(d->nr_stacks, 2);
	assert_string_equal(d->stacks[0].frame[0], "fuse_write+0x2");
	assert_int_equal(d->stacks[1].wait_ns, 100);
	assert_int_equal(d->stacks[1].waits, 1);
}

/* Whatever two snapshots say, a difference of them is one, and frees cleanly. */
static void any_two_snapshots(void **state)
{
	for (uint64_t i = 0; i < 60; i++) {
		_cleanup_snapshot_ struct vqs_snapshot *a = fixture_random(seed + i),
						       *b = fixture_random(seed + i + 1);
		_cleanup_snapshot_ struct vqs_snapshot *d = obs_snapshot_diff(a, b);

		assert_non_null(d);
		assert_int_equal(d->nr_devices, b->nr_devices);
	}
}

static void conservation(void **state)
{
	struct vqs_snap_queue q = {
		.submitted = 100,
		.complete_only = 3,
		.completed = 80,
		.in_flight = 15,
		.aborted = 2,
		.untracked_slot_taken = 5,
		.end_missed = 1,
	};

	assert_int_equal(obs_queue_imbalance(&q), 0);
	q.completed = 90;
	assert_int_equal(obs_queue_imbalance(&q), -10);
	q.completed = 70;
	assert_int_equal(obs_queue_imbalance(&q), 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(freeing_nothing_is_allowed),
		cmocka_unit_test(an_interval_is_what_was_added),
		cmocka_unit_test(two_intervals_add_up),
		cmocka_unit_test(nothing_happened),
		cmocka_unit_test(from_an_empty_one_everything_is_new),
		cmocka_unit_test(queues_are_paired_by_slot),
		cmocka_unit_test(a_counter_that_shrank_says_nothing),
		cmocka_unit_test(lists_keep_what_grew),
		cmocka_unit_test(stacks_are_sorted_anew),
		cmocka_unit_test(any_two_snapshots),
		cmocka_unit_test(conservation),
	};
	const char *given = getenv("VQS_SEED");

	seed = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL);
	printf("VQS_SEED=%" PRIu64 "\n", seed);
	return cmocka_run_group_tests_name("snapshot", tests, NULL, NULL);
}
