// SPDX-License-Identifier: GPL-2.0-or-later
/* Properties of the histogram, over all of u64. VQS_SEED=N repeats a run. */
#include <inttypes.h>
#include <math.h>
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

#define ROUNDS 200000

static uint64_t seed;

/* Any magnitude is as likely as any other; plain random bits would all be around 2^63. */
static uint64_t any_u64(uint64_t *state)
{
	uint64_t v = fixture_rand(state);

	return v >> fixture_below(state, 64);
}

static bool within_a_16th(uint64_t got, uint64_t want)
{
	uint64_t off = got > want ? got - want : want - got;

	return off <= want / 16;
}

static void buckets_tile_u64(void **state)
{
	uint64_t next = 0;

	for (uint32_t i = 0; i < VQS_HIST_BUCKETS; i++) {
		assert_int_equal(vqs_hist_low(i), next);
		assert_true(vqs_hist_high(i) >= vqs_hist_low(i));
		assert_int_equal(vqs_hist_bucket(vqs_hist_low(i)), i);
		assert_int_equal(vqs_hist_bucket(vqs_hist_high(i)), i);
		next = vqs_hist_high(i) + 1;
	}
	/* The last one ends at 2^64 - 1. */
	assert_int_equal(next, 0);
}

static void check_value(uint64_t v)
{
	uint32_t i = vqs_hist_bucket(v);
	struct vqs_hist h = {0};
	uint64_t mid;

	assert_true(i < VQS_HIST_BUCKETS);
	assert_true(vqs_hist_low(i) <= v && v <= vqs_hist_high(i));
	mid = vqs_hist_low(i) + (vqs_hist_high(i) - vqs_hist_low(i)) / 2;
	assert_true(within_a_16th(mid, v));
	vqs_hist_add(&h, v);
	assert_int_equal(vqs_hist_count(&h), 1);
	assert_int_equal(h.max, v);
	assert_int_equal(vqs_hist_mean(&h), v);
	assert_true(within_a_16th(vqs_hist_percentile(&h, 500), v));
}

static void values_at_the_edges(void **state)
{
	check_value(0);
	check_value(UINT64_MAX);
	for (int bit = 0; bit < 64; bit++) {
		uint64_t power = 1ULL << bit;

		check_value(power - 1);
		check_value(power);
		check_value(power + 1);
	}
}

static void random_values(void **state)
{
	uint64_t s = seed;

	for (int i = 0; i < ROUNDS; i++)
		check_value(any_u64(&s));
}

static void log2_is_exact(void **state)
{
	uint64_t s = seed;

	for (int bit = 0; bit < 64; bit++)
		assert_int_equal(vqs_hist_log2(1ULL << bit), bit);
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t v = any_u64(&s) | 1;

		assert_int_equal(vqs_hist_log2(v), 63 - __builtin_clzll(v));
	}
}

static void bucket_is_monotonic(void **state)
{
	uint64_t s = seed;

	for (int i = 0; i < ROUNDS; i++) {
		uint64_t a = any_u64(&s), b = any_u64(&s);

		if (a > b)
			assert_true(vqs_hist_bucket(a) >= vqs_hist_bucket(b));
		else
			assert_true(vqs_hist_bucket(a) <= vqs_hist_bucket(b));
	}
}

static void fill(struct vqs_hist *h, uint64_t *s, uint64_t n)
{
	memset(h, 0, sizeof(*h));
	while (n--)
		vqs_hist_add(h, any_u64(s));
}

static void merge_is_a_sum(void **state)
{
	uint64_t s = seed;

	for (int i = 0; i < 200; i++) {
		struct vqs_hist a, b, c, left, right;

		fill(&a, &s, fixture_below(&s, 500));
		fill(&b, &s, fixture_below(&s, 500));
		fill(&c, &s, fixture_below(&s, 500));
		left = a; /* a + b */
		vqs_hist_merge(&left, &b);
		right = b; /* b + a */
		vqs_hist_merge(&right, &a);
		assert_memory_equal(&left, &right, sizeof(left));
		vqs_hist_merge(&left, &c); /* (a + b) + c */
		right = b;
		vqs_hist_merge(&right, &c);
		vqs_hist_merge(&right, &a); /* a + (b + c) */
		assert_memory_equal(&left, &right, sizeof(left));
		assert_int_equal(vqs_hist_count(&left),
				 vqs_hist_count(&a) + vqs_hist_count(&b) + vqs_hist_count(&c));
	}
}

static void diff_inverts_merge(void **state)
{
	uint64_t s = seed;

	for (int i = 0; i < 200; i++) {
		struct vqs_hist before, added, after, diff;

		fill(&before, &s, fixture_below(&s, 500));
		fill(&added, &s, fixture_below(&s, 500));
		after = before;
		vqs_hist_merge(&after, &added);
		vqs_hist_diff(&diff, &before, &after);
		assert_memory_equal(diff.bucket, added.bucket, sizeof(diff.bucket));
		assert_int_equal(diff.sum, added.sum);
		/* The maximum: exact when it is a new one, else in the right bucket and not below.
		 */
		assert_true(diff.max >= added.max);
		if (added.max > before.max)
			assert_int_equal(diff.max, added.max);
		assert_int_equal(vqs_hist_bucket(diff.max), vqs_hist_bucket(added.max));
		/* In place, as snapshots do it. */
		vqs_hist_diff(&after, &before, &after);
		assert_memory_equal(&after, &diff, sizeof(diff));
	}
}

static void diff_of_a_shrunken_bucket_is_none(void **state)
{
	struct vqs_hist from = {0}, to = {0}, diff;

	vqs_hist_add(&from, 100);
	vqs_hist_add(&to, 7);
	vqs_hist_diff(&diff, &from, &to);
	assert_int_equal(vqs_hist_count(&diff), 1);
	assert_int_equal(diff.bucket[7], 1);
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static double uniform(uint64_t *s)
{
	return ((double)(fixture_rand(s) >> 11) + 0.5) / 9007199254740992.0;
}

enum shape { SHAPE_ANY, SHAPE_EXPONENTIAL, SHAPE_PARETO, SHAPE_TWO_PEAKS, SHAPE_SAME, SHAPES };

static uint64_t sample(enum shape shape, uint64_t *s)
{
	switch (shape) {
	case SHAPE_EXPONENTIAL:
		return (uint64_t)(-50000 * log(uniform(s)));
	case SHAPE_PARETO:
		return (uint64_t)fmin(1000 / pow(uniform(s), 1.5), 1e18);
	case SHAPE_TWO_PEAKS:
		return fixture_below(s, 100) < 97 ? 20000 + fixture_below(s, 4000)
						  : 8000000 + fixture_below(s, 900000);
	case SHAPE_SAME:
		return 12345;
	default:
		return any_u64(s);
	}
}

static void check_percentiles(const uint64_t *sorted, size_t n, const struct vqs_hist *h)
{
	static const uint32_t permilles[] = {0, 1, 10, 250, 500, 900, 950, 990, 999, 1000, 2000};
	uint64_t last = 0;

	for (size_t i = 0; i < ARRAY_SIZE(permilles); i++) {
		uint64_t p = permilles[i] > 1000 ? 1000 : permilles[i];
		size_t rank = (n * p + 999) / 1000;
		uint64_t got = vqs_hist_percentile(h, permilles[i]);

		assert_true(within_a_16th(got, sorted[rank ? rank - 1 : 0]));
		assert_true(got >= last);
		assert_true(got <= h->max);
		last = got;
	}
}

static void percentiles_of_samples(void **state)
{
	static uint64_t values[20000];
	uint64_t s = seed;

	for (int shape = 0; shape < SHAPES; shape++) {
		for (int round = 0; round < 20; round++) {
			size_t n = 1 + fixture_below(&s, ARRAY_SIZE(values));
			struct vqs_hist h = {0};

			for (size_t i = 0; i < n; i++) {
				values[i] = sample((enum shape)shape, &s);
				vqs_hist_add(&h, values[i]);
			}
			qsort(values, n, sizeof(values[0]), by_value);
			check_percentiles(values, n, &h);
		}
	}
}

static void nothing_in_it(void **state)
{
	struct vqs_hist h = {0};

	assert_int_equal(vqs_hist_count(&h), 0);
	assert_int_equal(vqs_hist_percentile(&h, 500), 0);
	assert_int_equal(vqs_hist_mean(&h), 0);
}

static void counts_near_the_end_of_u64(void **state)
{
	struct vqs_hist h = {.max = 900};

	/* Product of rank and permille does not fit 64 bits. */
	h.bucket[vqs_hist_bucket(100)] = UINT64_MAX / 2;
	h.bucket[vqs_hist_bucket(900)] = UINT64_MAX / 2;
	assert_true(within_a_16th(vqs_hist_percentile(&h, 499), 100));
	assert_true(within_a_16th(vqs_hist_percentile(&h, 501), 900));
}

static void late_maximum_does_no_harm(void **state)
{
	struct vqs_hist h = {.max = 5};

	/* BPF counts first and raises max later; a reader may come between. */
	h.bucket[vqs_hist_bucket(1000)] = 1;
	assert_true(within_a_16th(vqs_hist_percentile(&h, 990), 1000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buckets_tile_u64),
		cmocka_unit_test(values_at_the_edges),
		cmocka_unit_test(random_values),
		cmocka_unit_test(log2_is_exact),
		cmocka_unit_test(bucket_is_monotonic),
		cmocka_unit_test(merge_is_a_sum),
		cmocka_unit_test(diff_inverts_merge),
		cmocka_unit_test(diff_of_a_shrunken_bucket_is_none),
		cmocka_unit_test(percentiles_of_samples),
		cmocka_unit_test(nothing_in_it),
		cmocka_unit_test(counts_near_the_end_of_u64),
		cmocka_unit_test(late_maximum_does_no_harm),
	};
	const char *given = getenv("VQS_SEED");

	seed = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL);
	printf("VQS_SEED=%" PRIu64 "\n", seed);
	return cmocka_run_group_tests_name("hist", tests, NULL, NULL);
}
