// SPDX-License-Identifier: GPL-2.0-or-later
/* vqload's own cost: that it is measured, not how much it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <json-c/json.h>

#include "vqload/null.h"

static void measures_both_ways(void **state)
{
	struct load_null_options o = {.run_ns = 200000000, .depth = 32, .queue_size = 128};
	struct load_null_report r;

	if (load_null_run(&o, &r))
		fail_msg("%s", r.error);
	assert_int_equal(r.faults, 0);
	for (int op = 0; op < LOAD_NULL_OPS; op++) {
		assert_in_range(r.alternating[op].requests, 100, UINT64_MAX);
		assert_in_range(r.alternating[op].own_ns, 1, r.alternating[op].wall_ns);
		if (r.threads)
			assert_in_range(r.apart[op].requests, 1, UINT64_MAX);
	}
}

static void says_it_in_json(void **state)
{
	struct load_null_report r = {.depth = 8, .threads = true};
	struct json_object *o, *way, *op;
	size_t size;
	char *text;
	FILE *f = open_memstream(&text, &size);

	r.apart[LOAD_NULL_READ].requests = 77;
	assert_int_equal(load_null_json(&r, f), 0);
	fclose(f);
	o = json_tokener_parse(text);
	assert_non_null(o);
	assert_true(json_object_object_get_ex(o, "two_threads", &way));
	assert_true(json_object_object_get_ex(way, "read_4k", &op));
	assert_int_equal(json_object_get_int64(json_object_object_get(op, "requests")), 77);
	json_object_put(o);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(measures_both_ways),
		cmocka_unit_test(says_it_in_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
