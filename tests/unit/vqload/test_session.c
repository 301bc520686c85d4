// SPDX-License-Identifier: GPL-2.0-or-later
/* How often nodes were looked up: the session's table against a plain array. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "seed.h"
#include "vqload/rng.h"
#include "vqload/session.h"

#define NODES 3000u

static uint64_t seed;

static void lookups_add_up(void **state)
{
	struct load_session s = {0};
	static uint64_t count[NODES];

	for (int i = 0; i < 40000; i++) {
		uint64_t n = load_rng_below(&seed, NODES), add = load_rng_below(&seed, 3) + 1;

		/* Some leave the table again, which keeps their bucket until it grows. */
		if (count[n] && load_rng_below(&seed, 4) == 0)
			add = 0 - count[n];
		/* Nodes of a daemon may be addresses. */
		assert_int_equal(load_session_know(&s, 2 + n * 4096, add), 0);
		count[n] += add;
	}
	for (uint64_t n = 0; n < NODES; n++)
		assert_int_equal(load_session_known(&s, 2 + n * 4096), count[n]);
	load_session_free(&s);
	assert_int_equal(load_session_known(&s, 2), 0);
}

static void the_root_is_never_counted(void **state)
{
	struct load_session s = {0};

	assert_int_equal(load_session_know(&s, FUSE_ROOT_ID, 1), 0);
	assert_int_equal(load_session_know(&s, 0, 1), 0);
	assert_int_equal(load_session_known(&s, FUSE_ROOT_ID), 0);
	assert_null(s.node);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lookups_add_up),
		cmocka_unit_test(the_root_is_never_counted),
	};

	seed = seed_of_run();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
