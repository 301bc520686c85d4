// SPDX-License-Identifier: GPL-2.0-or-later
/* Properties of arrivals: rate, distribution, shares; no clock is involved. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/cleanup.h"
#include "fixture.h"
#include "vqload/rng.h"
#include "vqload/schedule.h"
#include "seed.h"

#define S 1000000000ULL

static uint64_t seed;

static struct load_job job_of(enum load_arrival_kind arrival, uint64_t rate)
{
	return (struct load_job){
		.arrival = arrival,
		.rate_iops = rate,
		.randseed = seed,
		.weight = {[1] = 1},
	};
}

static struct load_schedule started(const struct load_job *job, uint64_t start)
{
	struct load_schedule s;

	assert_int_equal(load_schedule_start(&s, job, 0, NULL, 0, start), 0);
	return s;
}

/* --- queues ------------------------------------------------------------------------------------*/

static void any_weights(uint64_t *rng, uint32_t weight[LOAD_QUEUES])
{
	size_t n = 1 + fixture_below(rng, 8);

	memset(weight, 0, LOAD_QUEUES * sizeof(weight[0]));
	while (n--)
		weight[1 + fixture_below(rng, LOAD_QUEUES - 1)] =
			1 + (uint32_t)fixture_below(rng, 20);
}

/* Of each round of sum-of-weights picks each queue has its weight, and on the way never lags by
 * more than one pick and a bit. */
static void smooth_shares_are_exact(void **state)
{
	uint64_t rng = seed;

	for (int round = 0; round < 200; round++) {
		uint32_t weight[LOAD_QUEUES], got[LOAD_QUEUES] = {0};
		struct load_picker p;

		any_weights(&rng, weight);
		assert_int_equal(load_picker_set(&p, weight), 0);
		for (uint64_t n = 1; n <= 3 * p.total; n++) {
			uint32_t q = load_pick_smooth(&p);
			double fair = (double)n * weight[q] / (double)p.total;

			got[q]++;
			assert_true(weight[q]);
			assert_true(fabs(got[q] - fair) < p.nr);
			if (n % p.total)
				continue;
			for (uint32_t i = 0; i < LOAD_QUEUES; i++)
				assert_int_equal(got[i], n / p.total * weight[i]);
		}
	}
}

/* Chi-square: with k queues the sum is k - 1 on average, and four times that plus 30 never. */
static void random_shares_are_fair(void **state)
{
	uint64_t rng = seed;

	for (int round = 0; round < 100; round++) {
		uint32_t weight[LOAD_QUEUES], got[LOAD_QUEUES] = {0};
		struct load_picker p;
		double chi = 0, n = 20000;

		any_weights(&rng, weight);
		load_picker_set(&p, weight);
		for (int i = 0; i < n; i++)
			got[load_pick_random(&p, &rng)]++;
		for (uint32_t q = 0; q < LOAD_QUEUES; q++) {
			double want = n * weight[q] / (double)p.total;

			if (!weight[q])
				assert_int_equal(got[q], 0);
			else
				chi += (got[q] - want) * (got[q] - want) / want;
		}
		assert_true(chi < 4 * p.nr + 30);
	}
}

static void weights_at_the_edges(void **state)
{
	uint32_t weight[LOAD_QUEUES] = {0};
	struct load_picker p;

	assert_int_equal(load_picker_set(&p, weight), -EINVAL);
	for (int q = 0; q < LOAD_QUEUES; q++)
		weight[q] = UINT32_MAX;
	assert_int_equal(load_picker_set(&p, weight), 0);
	for (uint32_t i = 0; i < 3 * LOAD_QUEUES; i++)
		assert_int_equal(load_pick_smooth(&p), i % LOAD_QUEUES);
}

/* --- times -------------------------------------------------------------------------------------*/

/* Arrival n lies at n / rate, rounded down, however far away that is. */
static void uniform_does_not_drift(void **state)
{
	uint64_t rng = seed;

	for (int round = 0; round < 200; round++) {
		uint64_t rate = 1 + fixture_below(&rng, 3000000), start = fixture_below(&rng, S);
		struct load_job job = job_of(LOAD_ARRIVAL_UNIFORM, rate);
		struct load_schedule s = started(&job, start);
		struct load_due due;

		for (uint64_t n = 0; n < 2000; n++) {
			uint64_t at = load_schedule_peek(&s);

			assert_int_equal(at, start + n * S / rate);
			assert_true(!at || !load_schedule_take(&s, at - 1, &due));
			assert_true(load_schedule_take(&s, at, &due));
			assert_int_equal(due.at_ns, at);
			assert_int_equal(due.n, n);
		}
	}
}

/* Mean and spread of exponential gaps: n of them are off by 5 / sqrt(n) once in a million. */
static void poisson_gaps_are_exponential(void **state)
{
	static const uint64_t rates[] = {10, 1000, 333333, 5000000, 400000000};

	for (size_t i = 0; i < ARRAY_SIZE(rates); i++) {
		struct load_job job = job_of(LOAD_ARRIVAL_POISSON, rates[i]);
		struct load_schedule s = started(&job, 77);
		double n = 200000, mean = 1e9 / (double)rates[i], sum = 0, squares = 0, above = 0;
		uint64_t last = 77;
		struct load_due due;

		for (int k = 0; k < n; k++) {
			double gap;

			assert_true(load_schedule_take(&s, UINT64_MAX - 1, &due));
			gap = (double)(due.at_ns - last);
			last = due.at_ns;
			sum += gap;
			squares += gap * gap;
			above += gap > mean;
		}
		assert_true(fabs(sum / n / mean - 1) < 5 / sqrt(n));
		/* Gaps are whole nanoseconds: when they are few, only the mean is exact. */
		if (mean < 100)
			continue;
		assert_true(fabs(squares / n / (2 * mean * mean) - 1) < 12 / sqrt(n));
		assert_true(fabs(above / n - exp(-1)) < 3 / sqrt(n));
	}
}

static void seeds_make_the_difference(void **state)
{
	struct load_job job = job_of(LOAD_ARRIVAL_POISSON, 1000);
	struct load_schedule a, b, other;
	int same = 0;

	load_schedule_start(&a, &job, 0, NULL, 0, 0);
	load_schedule_start(&b, &job, 0, NULL, 0, 0);
	load_schedule_start(&other, &job, 1, NULL, 0, 0);
	for (int i = 0; i < 1000; i++) {
		struct load_due da, db, dother;

		load_schedule_take(&a, UINT64_MAX - 1, &da);
		load_schedule_take(&b, UINT64_MAX - 1, &db);
		load_schedule_take(&other, UINT64_MAX - 1, &dother);
		assert_int_equal(da.at_ns, db.at_ns);
		same += da.at_ns == dother.at_ns;
	}
	assert_true(same < 5);
}

/* What was due while the caller was away is still due, with the time it was due. */
static void stalls_are_not_forgotten(void **state)
{
	struct load_job job = job_of(LOAD_ARRIVAL_UNIFORM, 1000);
	struct load_schedule s = started(&job, 0);
	struct load_due due;
	uint64_t n = 0;

	while (load_schedule_take(&s, 5 * S, &due)) {
		assert_int_equal(due.at_ns, n * (S / 1000));
		n++;
	}
	assert_int_equal(n, 5001);
	assert_int_equal(load_schedule_peek(&s), 5001 * (S / 1000));
}

static void closed_loop_is_always_due(void **state)
{
	struct load_job job = job_of(LOAD_ARRIVAL_CLOSED, 0);
	struct load_schedule s = started(&job, 100);
	struct load_due due;

	assert_false(load_schedule_take(&s, 99, &due));
	for (uint64_t now = 100; now < 200; now++) {
		assert_true(load_schedule_peek(&s) <= now);
		assert_true(load_schedule_take(&s, now, &due));
		assert_int_equal(due.at_ns, now);
	}
}

static void closed_loop_with_a_limit(void **state)
{
	struct load_job job = job_of(LOAD_ARRIVAL_CLOSED, 1000);
	struct load_schedule s = started(&job, 0);
	struct load_due due;
	uint64_t n = 0;

	for (uint64_t now = 0; now < S; now += 100000)
		while (load_schedule_take(&s, now, &due)) {
			assert_int_equal(due.at_ns, now);
			n++;
		}
	assert_int_equal(n, 1000);
}

static void runtime_ends_it(void **state)
{
	struct load_job job = job_of(LOAD_ARRIVAL_UNIFORM, 100);
	struct load_schedule s;
	struct load_due due;
	uint64_t n = 0;

	job.runtime_ns = S;
	job.ramp_time_ns = S / 2;
	s = started(&job, 0);
	while (load_schedule_take(&s, UINT64_MAX - 1, &due))
		n++;
	assert_int_equal(n, 150);
	assert_int_equal(load_schedule_peek(&s), UINT64_MAX);
	job.arrival = LOAD_ARRIVAL_CLOSED;
	job.rate_iops = 0;
	s = started(&job, 0);
	assert_true(load_schedule_take(&s, 3 * S / 2 - 1, &due));
	assert_false(load_schedule_take(&s, 3 * S / 2, &due));
}

static void without_rate_or_queue(void **state)
{
	struct load_job job = job_of(LOAD_ARRIVAL_POISSON, 0);
	struct load_schedule s;

	assert_int_equal(load_schedule_start(&s, &job, 0, NULL, 0, 0), -EINVAL);
	job = job_of(LOAD_ARRIVAL_CLOSED, 0);
	job.weight[1] = 0;
	assert_int_equal(load_schedule_start(&s, &job, 0, NULL, 0, 0), -EINVAL);
}

/* --- phases ------------------------------------------------------------------------------------*/

static void phases_move_the_load(void **state)
{
	static const struct load_phase phases[] = {
		{.duration_ns = S, .weight = {[1] = 3, [2] = 1}},
		{.duration_ns = 2 * S, .weight = {[1] = 1, [2] = 3, [9] = 100}},
		{.duration_ns = S, .weight = {[9] = 1}},
	};
	struct load_job job = job_of(LOAD_ARRIVAL_UNIFORM, 1000);
	uint32_t got[3][LOAD_QUEUES] = {0};
	struct load_schedule s;
	struct load_due due;

	job.weight[2] = 1;
	job.runtime_ns = 8 * S;
	assert_int_equal(load_schedule_start(&s, &job, 0, phases, 3, 7 * S), 0);
	while (load_schedule_take(&s, UINT64_MAX - 1, &due)) {
		uint64_t t = (due.at_ns - 7 * S) / S % 4;

		got[t == 0 ? 0 : t < 3 ? 1 : 2][due.queue]++;
	}
	assert_int_equal(got[0][1], 1500);
	assert_int_equal(got[0][2], 500);
	assert_int_equal(got[1][1], 1000);
	assert_int_equal(got[1][2], 3000);
	/* The job does not have queue 9: its own weights. */
	assert_int_equal(got[2][1], 1000);
	assert_int_equal(got[2][2], 1000);
}

static void short_phases_and_long_stalls(void **state)
{
	static const struct load_phase phases[] = {
		{.duration_ns = 1, .weight = {[1] = 1}},
		{.duration_ns = 2, .weight = {[2] = 1}},
	};
	struct load_job job = job_of(LOAD_ARRIVAL_CLOSED, 0);
	struct load_schedule s;
	struct load_due due;

	job.weight[2] = 1;
	assert_int_equal(load_schedule_start(&s, &job, 0, phases, 2, 0), 0);
	for (uint64_t now = 0; now < 1ULL << 62; now = now * 3 + 1) {
		assert_true(load_schedule_take(&s, now, &due));
		assert_int_equal(due.queue, now % 3 ? 2 : 1);
	}
}

/* With random picks each queue of a Poisson stream is Poisson: its counts per slot of time vary as
 * much as their mean is. */
static void parts_of_poisson_are_poisson(void **state)
{
	struct load_job job = job_of(LOAD_ARRIVAL_POISSON, 40000);
	struct load_schedule s;
	struct load_due due;
	double n[4000] = {0}, mean = 0, var = 0;

	job.weight[2] = 3;
	s = started(&job, 0);
	while (load_schedule_take(&s, 4 * S - 1, &due))
		if (due.queue == 1)
			n[due.at_ns / (S / 1000)]++;
	for (int i = 0; i < 4000; i++)
		mean += n[i] / 4000;
	for (int i = 0; i < 4000; i++)
		var += (n[i] - mean) * (n[i] - mean) / 4000;
	assert_true(fabs(mean - 10) < 0.4);
	/* Its standard deviation is sqrt(2 / 4000) of it. */
	assert_true(fabs(var / mean - 1) < 0.14);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(smooth_shares_are_exact),
		cmocka_unit_test(random_shares_are_fair),
		cmocka_unit_test(weights_at_the_edges),
		cmocka_unit_test(uniform_does_not_drift),
		cmocka_unit_test(poisson_gaps_are_exponential),
		cmocka_unit_test(seeds_make_the_difference),
		cmocka_unit_test(stalls_are_not_forgotten),
		cmocka_unit_test(closed_loop_is_always_due),
		cmocka_unit_test(closed_loop_with_a_limit),
		cmocka_unit_test(runtime_ends_it),
		cmocka_unit_test(without_rate_or_queue),
		cmocka_unit_test(phases_move_the_load),
		cmocka_unit_test(short_phases_and_long_stalls),
		cmocka_unit_test(parts_of_poisson_are_poisson),
	};

	seed = seed_of_run();
	return cmocka_run_group_tests_name("schedule", tests, NULL, NULL);
}
