// SPDX-License-Identifier: GPL-2.0-or-later
/* The judge's books, how they are printed, and guards. */
#include <json-c/json.h>

#include "common/cleanup.h"
#include "fixture.h"
#include "judge_court.h"
#include "seed.h"

static uint64_t seed;

/* --- the books ---------------------------------------------------------------------------------*/

static void order_is_counted_and_no_fault(void **state)
{
	struct court *c = *state;
	static const uint64_t seqs[] = {0, 2, 1, 5, 3, 4, 6};

	load_build_unlink(&c->r, &head, "x");
	for (size_t i = 0; i < ARRAY_SIZE(seqs); i++) {
		reply(c, 0, NULL, 0, 16);
		c->d.seq = seqs[i];
		sound(c, 0, 0);
	}
	assert_int_equal(load_judge_count(c->j, LOAD_OUT_OF_ORDER), 3);
	assert_true(load_judge_clean(c->j));
	assert_int_equal(load_judge_replies(c->j), ARRAY_SIZE(seqs));
}

/* Out-of-order replies by the thousand do not crowd out the one fault. */
static void faults_are_kept(void **state)
{
	struct court *c = *state;
	struct load_detail d = {.finding = LOAD_OUT_OF_ORDER, .queue = 1};

	for (int i = 0; i < 1000; i++)
		load_judge_note(c->j, &d);
	d.finding = LOAD_LOST;
	load_judge_note(c->j, &d);
	assert_int_equal(load_judge_detail(c->j, 0)->finding, LOAD_LOST);
	assert_int_equal(load_judge_detail(c->j, 8)->finding, LOAD_OUT_OF_ORDER);
	assert_null(load_judge_detail(c->j, 9));
	assert_false(load_judge_clean(c->j));
	assert_int_equal(load_judge_queue_count(c->j, 1, LOAD_OUT_OF_ORDER), 1000);
}

static void strange_queues_do_no_harm(void **state)
{
	struct court *c = *state;
	struct load_detail d = {.finding = LOAD_LATE, .queue = UINT32_MAX};

	load_judge_note(c->j, &d);
	assert_int_equal(load_judge_queue_count(c->j, 0, LOAD_LATE), 1);
	assert_int_equal(load_judge_queue_count(c->j, UINT32_MAX, LOAD_LATE), 0);
	assert_null(load_judge_new(0, 1));
	assert_null(load_judge_new(257, 1));
	assert_null(load_judge_new(1, 100000));
}

static void merging_adds(void **state)
{
	struct court *c = *state;
	_cleanup_(load_judge_freep) struct load_judge *sum = load_judge_new(5, 2);
	struct load_detail d = {.finding = LOAD_GUARD, .queue = 4};

	load_judge_note(c->j, &d);
	load_judge_note(c->j, &d);
	load_build_unlink(&c->r, &head, "x");
	reply(c, -ENOENT, NULL, 0, 16);
	sound(c, -ENOENT, 0);
	load_judge_merge(sum, c->j);
	load_judge_merge(sum, c->j);
	assert_int_equal(load_judge_queue_count(sum, 4, LOAD_GUARD), 4);
	assert_int_equal(load_judge_replies(sum), 2);
	assert_int_equal(load_judge_errors(sum), 2);
	assert_non_null(load_judge_detail(sum, 1));
	assert_null(load_judge_detail(sum, 2));
}

static void every_finding_has_a_name(void **state)
{
	for (int f = 0; f < LOAD_FINDINGS; f++)
		for (int g = 0; g < f; g++)
			assert_string_not_equal(load_finding_name((enum load_finding)f),
						load_finding_name((enum load_finding)g));
}

static void printed(void **state)
{
	struct court *c = *state;
	_cleanup_free_ char *text = NULL;
	struct json_object *o, *v, *q;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	load_build_unlink(&c->r, &head, "x");
	reply(c, 0, NULL, 0, 16);
	c->out[8] = 102;
	judge(c);
	assert_int_equal(load_judge_text(c->j, f), 0);
	fclose(f);
	assert_non_null(strstr(text, "1 reply judged, 0 errors, 1 fault\n"));
	assert_non_null(strstr(text, "queue 3: 1"));
	assert_non_null(strstr(text, "unique: queue 3 UNLINK unique 100 age 0.005000 ms "
				     "expected 100 got 102"));
	assert_int_equal(load_judge_json(c->j, &o), 0);
	assert_true(json_object_object_get_ex(o, "clean", &v));
	assert_false(json_object_get_boolean(v));
	assert_true(json_object_object_get_ex(o, "findings", &v));
	assert_int_equal(json_object_object_length(v), LOAD_FINDINGS);
	assert_true(json_object_object_get_ex(o, "queues", &v));
	q = json_object_array_get_idx(v, 0);
	assert_true(json_object_object_get_ex(q, "unique", &v));
	assert_int_equal(json_object_get_int(v), 1);
	assert_true(json_object_object_get_ex(o, "details", &v));
	assert_int_equal(json_object_array_length(v), 1);
	json_object_put(o);
}

/* --- guards ------------------------------------------------------------------------------------*/

static void guards_notice_every_byte(void **state)
{
	uint64_t rng = seed;

	for (int round = 0; round < 2000; round++) {
		uint8_t guard[200] = {0};
		size_t len = fixture_below(&rng, 190), at = fixture_below(&rng, len);
		uint64_t key = fixture_rand(&rng);

		load_guard_fill(guard + 3, len, key);
		assert_int_equal(load_guard_check(guard + 3, len, key), -1);
		assert_int_equal(guard[2] | guard[3 + len], 0);
		if (!len)
			continue;
		guard[3 + at] ^= (uint8_t)(1 + fixture_below(&rng, 255));
		assert_int_equal(load_guard_check(guard + 3, len, key), at);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(order_is_counted_and_no_fault), TEST(faults_are_kept),
		TEST(strange_queues_do_no_harm),     TEST(merging_adds),
		TEST(every_finding_has_a_name),      TEST(printed),
		TEST(guards_notice_every_byte),
	};

	seed = seed_of_run();
	return cmocka_run_group_tests_name("judge", tests, NULL, NULL);
}
