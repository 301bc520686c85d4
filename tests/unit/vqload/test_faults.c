// SPDX-License-Identifier: GPL-2.0-or-later
/* Everything that a daemon may do wrong is found, and by its name; what is not wrong is no fault.
 */
#include "responder_rig.h"

/* What the judge is to say of each misdeed. */
static const struct {
	enum load_finding finding; /* LOAD_FINDINGS: nothing */
	int err;                   /* that ends the run */
	uint32_t depth;
} expected[LOAD_MISDEEDS] = {
	[LOAD_DO_NONE] = {LOAD_FINDINGS, 0, 8},
	[LOAD_DO_LENGTH] = {LOAD_LENGTH, 0, 8},
	[LOAD_DO_DUPLICATE] = {LOAD_DUPLICATE, 0, 1},
	[LOAD_DO_UNKNOWN] = {LOAD_UNKNOWN, 0, 8},
	[LOAD_DO_LOST] = {LOAD_LOST, -ETIMEDOUT, 8},
	[LOAD_DO_REORDER] = {LOAD_OUT_OF_ORDER, 0, 8},
	[LOAD_DO_LATE] = {LOAD_LATE, 0, 8},
	[LOAD_DO_UNIQUE] = {LOAD_UNIQUE, 0, 8},
	[LOAD_DO_ERROR_LOW] = {LOAD_ERROR_RANGE, 0, 8},
	[LOAD_DO_ERROR_HIGH] = {LOAD_ERROR_RANGE, 0, 8},
	[LOAD_DO_ERROR_LONG] = {LOAD_ERROR_LENGTH, 0, 8},
	[LOAD_DO_TRUNCATED] = {LOAD_HEADER_TRUNCATED, 0, 8},
	[LOAD_DO_TOO_LONG] = {LOAD_TOO_LONG, 0, 8},
	[LOAD_DO_TOO_SHORT] = {LOAD_TOO_SHORT, 0, 8},
	[LOAD_DO_GUARD] = {LOAD_GUARD, 0, 8},
	[LOAD_DO_NO_CALL] = {LOAD_LATE, 0, 1},
	[LOAD_DO_SPURIOUS] = {LOAD_FINDINGS, 0, 1},
	[LOAD_DO_USED_JUMP] = {LOAD_UNKNOWN, -EBADMSG, 8},
};

/* No other fault than @f. What was lost is late, too; after a jump what was in flight is lost. */
static bool goes_with(enum load_misdeed m, int f)
{
	return (m == LOAD_DO_LOST && f == LOAD_LATE) || (m == LOAD_DO_USED_JUMP && f == LOAD_LOST);
}

static void only(struct rig *g, enum load_misdeed m, enum load_finding f)
{
	const struct load_judge *j = load_engine_judge(g->d.engine);

	for (int i = 0; i < LOAD_FINDINGS; i++) {
		if (i == (int)f || goes_with(m, i) || !load_finding_is_fault((enum load_finding)i))
			continue;
		if (load_judge_count(j, (enum load_finding)i))
			fail_msg("%s: also found %s", load_misdeed_name(m),
				 load_finding_name((enum load_finding)i));
	}
	if (f != LOAD_FINDINGS && !load_judge_count(j, f))
		fail_msg("%s: not found as %s", load_misdeed_name(m), load_finding_name(f));
	assert_int_equal(load_judge_clean(j), f == LOAD_FINDINGS || !load_finding_is_fault(f));
}

/*
 * A late reply must be late on a machine that is busy, and an undisturbed one in time: 500 ms is
 * ten times what a loaded runner was seen to take.
 */
static void commit_it(struct rig *g, enum load_misdeed m)
{
	bool slow = m == LOAD_DO_LATE || m == LOAD_DO_NO_CALL;
	struct load_responder_stats s;
	int err;

	g->ro.misdeed = m;
	g->ro.every = slow ? 5 : 20;
	g->ro.late_ms = 200;
	g->dev.timeout_ns = m == LOAD_DO_LOST ? 400000000 : 5000000000;
	rig_respond(g);
	rig_open(g);
	err = rig_getattrs(g, 1, slow ? 45 : 199, expected[m].depth, slow ? 60000000 : 0);
	assert_int_equal(err, expected[m].err);
	load_engine_lose(g->d.engine, true);
	load_responder_stats(g->r, &s);
	assert_in_range(s.misdeeds, 1, 9);
	only(g, m, expected[m].finding);
	assert_int_equal(s.complaints, 0);
	load_device_close(&g->d);
}

#define MISDEED(name, m)                        \
	static void name(void **state)          \
	{                                       \
		commit_it(*state, LOAD_DO_##m); \
	}
MISDEED(none_is_clean, NONE)
MISDEED(length, LENGTH)
MISDEED(duplicate, DUPLICATE)
MISDEED(unknown, UNKNOWN)
MISDEED(lost, LOST)
MISDEED(reorder_is_no_fault, REORDER)
MISDEED(late, LATE)
MISDEED(wrong_unique, UNIQUE)
MISDEED(error_too_low, ERROR_LOW)
MISDEED(error_positive, ERROR_HIGH)
MISDEED(error_with_more, ERROR_LONG)
MISDEED(truncated, TRUNCATED)
MISDEED(too_long, TOO_LONG)
MISDEED(too_short, TOO_SHORT)
MISDEED(guard_overwritten, GUARD)
MISDEED(call_left_out, NO_CALL)
MISDEED(call_for_nothing_is_no_fault, SPURIOUS)
MISDEED(used_index_jumps, USED_JUMP)

static void names_are_found(void **state)
{
	for (int m = 0; m < LOAD_MISDEEDS; m++)
		assert_int_equal(load_misdeed_named(load_misdeed_name((enum load_misdeed)m)), m);
	assert_int_equal(load_misdeed_named("nothing of the kind"), LOAD_MISDEEDS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG(none_is_clean),
		RIG(length),
		RIG(duplicate),
		RIG(unknown),
		RIG(lost),
		RIG(reorder_is_no_fault),
		RIG(late),
		RIG(wrong_unique),
		RIG(error_too_low),
		RIG(error_positive),
		RIG(error_with_more),
		RIG(truncated),
		RIG(too_long),
		RIG(too_short),
		RIG(guard_overwritten),
		RIG(call_left_out),
		RIG(call_for_nothing_is_no_fault),
		RIG(used_index_jumps),
		cmocka_unit_test(names_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
