// SPDX-License-Identifier: GPL-2.0-or-later
/* Blocks that were damaged on purpose: the check must name the damage, and no other. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/cleanup.h"
#include "fixture.h"
#include "seed.h"
#include "vqload/verify.h"

#define HEADER 56
#define MAX    8192

static uint64_t seed;

static struct load_block any_block(uint64_t *rng)
{
	return (struct load_block){
		.seed = fixture_rand(rng),
		.file = fixture_below(rng, 10),
		.offset = fixture_below(rng, 1000) * 4096,
		.generation = 1 + fixture_below(rng, 100),
		.length = (uint32_t)(LOAD_BLOCK_MIN +
				     8 * fixture_below(rng, (MAX - LOAD_BLOCK_MIN) / 8)),
	};
}

static struct load_block_check check(const void *data, const struct load_block *want)
{
	struct load_block_check c;
	char text[160];

	assert_int_equal(load_block_check(data, want, want->generation, &c), 0);
	load_block_explain(&c, want, text, sizeof(text));
	assert_true(strlen(text) > 3 && !strchr(text, '\n'));
	return c;
}

static void is(const void *data, const struct load_block *want, enum load_block_state state)
{
	assert_string_equal(load_block_state_name(check(data, want).state),
			    load_block_state_name(state));
}

static void whole_blocks(void **state)
{
	uint64_t rng = seed;
	uint8_t data[MAX + 1];

	for (int round = 0; round < 300; round++) {
		struct load_block b = any_block(&rng), want;
		/* At odd addresses too. */
		uint8_t *at = data + (round & 1);

		assert_int_equal(load_block_fill(at, &b), 0);
		is(at, &b, LOAD_BLOCK_GOOD);
		want = b;
		want.offset += 4096;
		is(at, &want, LOAD_BLOCK_OTHER_OFFSET);
		assert_int_equal(check(at, &want).found.offset, b.offset);
		want.file++;
		is(at, &want, LOAD_BLOCK_OTHER_FILE);
		assert_int_equal(check(at, &want).found.file, b.file);
		want.seed++;
		is(at, &want, LOAD_BLOCK_OTHER_RUN);
		want = b;
		want.generation++;
		is(at, &want, LOAD_BLOCK_STALE);
		assert_int_equal(check(at, &want).found.generation, b.generation);
		want.generation -= 2;
		is(at, &want, LOAD_BLOCK_FUTURE);
	}
}

static void writes_in_flight(void **state)
{
	struct load_block b = {.file = 1, .generation = 5, .length = 512}, want = b;
	struct load_block_check c;
	uint8_t data[512];

	load_block_fill(data, &b);
	want.generation = 7;
	assert_int_equal(load_block_check(data, &want, 5, &c), 0);
	assert_int_equal(c.state, LOAD_BLOCK_GOOD);
	assert_int_equal(c.found.generation, 5);
	assert_int_equal(load_block_check(data, &want, 6, &c), 0);
	assert_int_equal(c.state, LOAD_BLOCK_STALE);
}

static void never_written(void **state)
{
	struct load_block want = {.file = 1, .generation = 1, .length = 4096};
	uint8_t data[4096] = {0};

	is(data, &want, LOAD_BLOCK_NEVER_WRITTEN);
	data[4095] = 1;
	is(data, &want, LOAD_BLOCK_CORRUPT);
}

/* Any byte but those of the header that say who it is: found where it is. */
static void every_changed_byte_is_found(void **state)
{
	uint64_t rng = seed;
	uint8_t data[MAX];

	for (int round = 0; round < 5000; round++) {
		struct load_block b = any_block(&rng);
		uint32_t at = (uint32_t)fixture_below(&rng, b.length);
		struct load_block_check c;

		load_block_fill(data, &b);
		data[at] ^= (uint8_t)(1 + fixture_below(&rng, 255));
		c = check(data, &b);
		assert_int_equal(c.state, LOAD_BLOCK_CORRUPT);
		/* Of the crc all four bytes are one. */
		if (at >= 44 && at < 48)
			assert_int_equal(c.first_bad, 44);
		else
			assert_int_equal(c.first_bad, at);
	}
}

/* The beginning of one write and the end of another, at any place. */
static void torn_blocks(void **state)
{
	uint64_t rng = seed;
	uint8_t a[MAX], b[MAX];

	for (int round = 0; round < 2000; round++) {
		struct load_block first = any_block(&rng), second;
		uint32_t cut;
		struct load_block_check c;

		first.length = first.length < 256 ? 256 : first.length;
		second = first;
		/* Some bytes more than the least that is called torn: two may be the same. */
		cut = HEADER + (uint32_t)fixture_below(&rng, first.length - HEADER - 24);
		second.generation += 1 + fixture_below(&rng, 20);
		load_block_fill(a, &first);
		load_block_fill(b, &second);
		/* Which of the two came first is the daemon's secret. */
		if (round & 1) {
			memcpy(a + cut, b + cut, first.length - cut);
			c = check(a, &second);
			assert_int_equal(c.tail, second.generation);
			assert_int_equal(c.found.generation, first.generation);
		} else {
			memcpy(b + cut, a + cut, first.length - cut);
			c = check(b, &second);
			assert_int_equal(c.tail, first.generation);
			assert_int_equal(c.found.generation, second.generation);
		}
		assert_int_equal(c.state, LOAD_BLOCK_TORN);
		/* Both may have the same bytes where they meet. */
		assert_true(c.first_bad >= cut && c.first_bad < cut + 8);
	}
}

static void torn_with_zeros_behind(void **state)
{
	struct load_block b = {.file = 1, .generation = 3, .length = 4096};
	struct load_block_check c;
	uint8_t data[4096];

	load_block_fill(data, &b);
	memset(data + 512, 0, sizeof(data) - 512);
	c = check(data, &b);
	assert_int_equal(c.state, LOAD_BLOCK_TORN);
	assert_in_range(c.first_bad, 512, 516);
	assert_int_equal(c.tail, 0);
}

static void random_bytes(void **state)
{
	uint64_t rng = seed;

	for (int round = 0; round < 2000; round++) {
		struct load_block want = any_block(&rng);
		_cleanup_free_ uint8_t *data = malloc(want.length);

		for (uint32_t i = 0; i < want.length; i++)
			data[i] = (uint8_t)fixture_rand(&rng);
		is(data, &want, LOAD_BLOCK_CORRUPT);
		assert_true(check(data, &want).first_bad < want.length);
	}
}

static void lengths(void **state)
{
	struct load_block b = {.length = LOAD_BLOCK_MIN};
	struct load_block_check c;
	uint8_t data[128] = {0};

	assert_int_equal(load_block_fill(data, &b), 0);
	b.length = LOAD_BLOCK_MIN - 8;
	assert_int_equal(load_block_fill(data, &b), -EINVAL);
	assert_int_equal(load_block_check(data, &b, 0, &c), -EINVAL);
	b.length = LOAD_BLOCK_MIN + 4;
	assert_int_equal(load_block_fill(data, &b), -EINVAL);
}

/* RFC 3720, B.4, and the two ways against each other. */
static void crc32c_known(void **state)
{
	uint8_t data[32];

	assert_int_equal(load_crc32c(0, "123456789", 9), 0xe3069283);
	memset(data, 0, sizeof(data));
	assert_int_equal(load_crc32c(0, data, 32), 0x8a9136aa);
	memset(data, 0xff, sizeof(data));
	assert_int_equal(load_crc32c(0, data, 32), 0x62a8ab43);
	for (int i = 0; i < 32; i++)
		data[i] = (uint8_t)i;
	assert_int_equal(load_crc32c(0, data, 32), 0x46dd794e);
}

static void crc32c_both_ways(void **state)
{
	uint64_t rng = seed;
	uint8_t data[300];

	for (int round = 0; round < 2000; round++) {
		size_t from = fixture_below(&rng, 20), len = fixture_below(&rng, 280), cut;
		uint32_t whole;

		for (size_t i = 0; i < sizeof(data); i++)
			data[i] = (uint8_t)fixture_rand(&rng);
		whole = load_crc32c(0, data + from, len);
		assert_int_equal(whole, load_crc32c_plain(0, data + from, len));
		cut = fixture_below(&rng, len + 1);
		assert_int_equal(whole, load_crc32c(load_crc32c(0, data + from, cut),
						    data + from + cut, len - cut));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_blocks),  cmocka_unit_test(writes_in_flight),
		cmocka_unit_test(never_written), cmocka_unit_test(every_changed_byte_is_found),
		cmocka_unit_test(torn_blocks),   cmocka_unit_test(torn_with_zeros_behind),
		cmocka_unit_test(random_bytes),  cmocka_unit_test(lengths),
		cmocka_unit_test(crc32c_known),  cmocka_unit_test(crc32c_both_ways),
	};

	seed = seed_of_run();
	return cmocka_run_group_tests_name("verify", tests, NULL, NULL);
}
