// SPDX-License-Identifier: GPL-2.0-or-later
/* Numbers of at most seven columns, and lines of at most eighty. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "../fixture.h"
#include "cli/render.h"
#include "common/cleanup.h"

#define S 1000000000ULL

static void durations_have_three_digits_and_a_unit(void **state)
{
	char n[REND_NUM];

	assert_string_equal(rend_ns(n, 0), "0ns");
	assert_string_equal(rend_ns(n, 850), "850ns");
	assert_string_equal(rend_ns(n, 999), "999ns");
	assert_string_equal(rend_ns(n, 1000), "1.00us");
	assert_string_equal(rend_ns(n, 12345), "12.3us");
	assert_string_equal(rend_ns(n, 4560000), "4.56ms");
	assert_string_equal(rend_ns(n, 1200000000), "1.20s");
	assert_string_equal(rend_ns(n, 999 * S), "999s");
	assert_string_equal(rend_ns(n, 3599 * S), "3599s");
	assert_string_equal(rend_ns(n, 3600 * S), "1.00h");
	assert_string_equal(rend_ns(n, 86400 * S), "1.00d");
	assert_string_equal(rend_ns(n, UINT64_MAX), "585y");
}

/* 999.6 us is not "1000us": rounding moves on to the next unit. */
static void rounding_reaches_the_next_unit(void **state)
{
	char n[REND_NUM];

	assert_string_equal(rend_ns(n, 9994), "9.99us");
	assert_string_equal(rend_ns(n, 9995), "10.0us");
	assert_string_equal(rend_ns(n, 99950), "100us");
	assert_string_equal(rend_ns(n, 999499), "999us");
	assert_string_equal(rend_ns(n, 999500), "1.00ms");
	assert_string_equal(rend_count(n, 999999), "1.00M");
	assert_string_equal(rend_bytes(n, 1048575), "1.00MiB");
}

static void counts_bytes_rates_and_shares(void **state)
{
	char n[REND_NUM];

	assert_string_equal(rend_count(n, 999), "999");
	assert_string_equal(rend_count(n, 12300), "12.3k");
	assert_string_equal(rend_count(n, UINT64_MAX), "18.4E");
	assert_string_equal(rend_bytes(n, 512), "512B");
	assert_string_equal(rend_bytes(n, 1023 * 1024), "1023KiB");
	assert_string_equal(rend_bytes(n, 5 << 20), "5.00MiB");
	assert_string_equal(rend_bytes(n, UINT64_MAX), "16.0EiB");
	assert_string_equal(rend_rate(n, 0, S), "0");
	assert_string_equal(rend_rate(n, 1, 4 * S), "0.25");
	assert_string_equal(rend_rate(n, 1, 1000 * S), "<.01");
	assert_string_equal(rend_rate(n, 12345, S), "12.3k");
	assert_string_equal(rend_rate(n, 5, 0), "-");
	assert_string_equal(rend_mb_rate(n, 48100000, S), "48.1");
	assert_string_equal(rend_share(n, 0, 10), "0%");
	assert_string_equal(rend_share(n, 1, 3), "33.3%");
	assert_string_equal(rend_share(n, 1, 100000), "<.01%");
	assert_string_equal(rend_share(n, 3, 3), "100%");
	assert_string_equal(rend_share(n, 11, 1), ">999%");
	assert_string_equal(rend_share(n, 1, 0), "-");
	assert_string_equal(rend_ratio(n, 123, 10), "12.3");
	assert_string_equal(rend_ratio(n, 1, 0), "-");
}

/* For any 64-bit number, the extreme ones in particular. */
static void every_number_fits_seven_columns(void **state)
{
	uint64_t rng = 11;
	char n[REND_NUM];

	for (int i = 0; i < 200000; i++) {
		uint64_t a = fixture_rand(&rng) >> fixture_below(&rng, 64);
		uint64_t b = fixture_rand(&rng) >> fixture_below(&rng, 64);

		assert_true(strlen(rend_ns(n, a)) <= 7);
		assert_true(strlen(rend_count(n, a)) <= 7);
		assert_true(strlen(rend_bytes(n, a)) <= 7);
		assert_true(strlen(rend_rate(n, a, b)) <= 7);
		assert_true(strlen(rend_mb_rate(n, a, b)) <= 7);
		assert_true(strlen(rend_share(n, a, b)) <= 7);
		assert_true(strlen(rend_ratio(n, a, b)) <= 7);
	}
}

/* What is shown differs from the number by at most half of its last digit, three digits: 0.5%. */
static void durations_are_within_half_a_percent(void **state)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = {{"ns", 1},     {"us", 1e3},    {"ms", 1e6},      {"s", 1e9},
		     {"h", 3.6e12}, {"d", 8.64e13}, {"y", 3.15576e16}};
	uint64_t rng = 3;
	char n[REND_NUM];

	for (int i = 0; i < 20000; i++) {
		uint64_t ns = 1 + (fixture_rand(&rng) >> fixture_below(&rng, 63));
		char *unit;
		double shown = strtod(rend_ns(n, ns), &unit);

		for (size_t u = 0; u < ARRAY_SIZE(units); u++)
			if (!strcmp(unit, units[u].unit))
				shown *= units[u].ns;
		if (shown < (double)ns * 0.994 || shown > (double)ns * 1.006)
			fail_msg("%llu ns is shown as %s", (unsigned long long)ns, n);
	}
}

static void outside_text_cannot_move_the_cursor(void **state)
{
	char out[16];

	rend_safe(out, sizeof(out), "a\033[2J\tb\x7f\n\xc3\xa9");
	assert_string_equal(out, "a?[2J?b????");
	rend_safe(out, 4, "abcdef");
	assert_string_equal(out, "abc");
}

static char *drawn(void (*draw)(struct rend *), bool color)
{
	char *text = NULL;
	size_t size;
	struct rend r = {.out = open_memstream(&text, &size), .color = color};

	assert_non_null(r.out);
	draw(&r);
	fclose(r.out);
	return text;
}

static void draw_long(struct rend *r)
{
	for (int i = 0; i < 30; i++)
		rend_text(r, REND_PLAIN, "0123456789");
	rend_end(r);
	rend_left(r, REND_PLAIN, 4, "abcdef");
	rend_right(r, REND_BOLD, 4, "x");
	rend_end(r);
}

static void draw_words(struct rend *r)
{
	rend_text(r, REND_PLAIN, "label");
	for (int i = 0; i < 12; i++)
		rend_word(r, REND_PLAIN, 5, "word-of-16-bytes");
	rend_end(r);
}

static void lines_end_at_column_80(void **state)
{
	_cleanup_free_ char *text = drawn(draw_long, false), *words = drawn(draw_words, false);

	assert_int_equal(strcspn(text, "\n"), 80);
	assert_string_equal(strchr(text, '\n') + 1, "abcd   x\n");
	for (char *line = strtok(words, "\n"); line; line = strtok(NULL, "\n")) {
		assert_true(strlen(line) <= 80);
		assert_int_equal(strlen(line) % 17, 4); /* 5 + 16 + 17 n */
	}
}

static void colour_only_when_asked(void **state)
{
	_cleanup_free_ char *plain = drawn(draw_long, false), *color = drawn(draw_long, true);

	assert_null(strchr(plain, '\033'));
	assert_non_null(strstr(color, "\033[1m"));
	assert_non_null(strstr(color, "\033[0m"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(durations_have_three_digits_and_a_unit),
		cmocka_unit_test(rounding_reaches_the_next_unit),
		cmocka_unit_test(counts_bytes_rates_and_shares),
		cmocka_unit_test(every_number_fits_seven_columns),
		cmocka_unit_test(durations_are_within_half_a_percent),
		cmocka_unit_test(outside_text_cannot_move_the_cursor),
		cmocka_unit_test(lines_end_at_column_80),
		cmocka_unit_test(colour_only_when_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
