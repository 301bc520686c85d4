/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A model of top that shows the fixture's second second. For the tests of top beside this file. */
#ifndef TESTS_UNIT_CLI_TOP_RIG_H
#define TESTS_UNIT_CLI_TOP_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../fixture.h"
#include "cli/top_model.h"

struct rig {
	struct top_model m;
	struct vqs_snapshot *from, *to, *delta;
};

/* The fixture's interval from second @a to second @b. */
static inline void show(struct rig *r, unsigned int a, unsigned int b)
{
	struct vqs_snapshot *old = r->delta;

	obs_snapshot_free(r->from);
	obs_snapshot_free(r->to);
	r->from = fixture_guest(a);
	r->to = fixture_guest(b);
	r->delta = obs_snapshot_diff(r->from, r->to);
	assert_non_null(r->delta);
	assert_int_equal(top_model_update(&r->m, r->delta), 0);
	obs_snapshot_free(old);
}

/* Shows @r->delta again, after a test changed it. */
static inline void again(struct rig *r)
{
	assert_int_equal(top_model_update(&r->m, r->delta), 0);
}

static inline int rig_setup(void **state)
{
	struct rig *r = calloc(1, sizeof(*r));

	top_model_init(&r->m, 1);
	show(r, 1, 2);
	*state = r;
	return 0;
}

static inline int rig_teardown(void **state)
{
	struct rig *r = *state;

	top_model_free(&r->m);
	obs_snapshot_free(r->delta);
	obs_snapshot_free(r->from);
	obs_snapshot_free(r->to);
	free(r);
	return 0;
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, rig_setup, rig_teardown)

#endif
