// SPDX-License-Identifier: GPL-2.0-or-later
/* The hostile guest: the same from the same seed, and the responder survives it. */
#include "responder_rig.h"
#include "seed.h"
#include "vqload/hostile.h"

static struct load_hostile_report *attack(struct rig *g, struct load_hostile_options o)
{
	struct load_hostile_report *r = calloc(1, sizeof(*r));

	assert_non_null(r);
	o.socket = g->path;
	o.timeout_ms = 5000;
	o.findings = stdout;
	if (load_hostile_run(&o, r))
		fail_msg("%s", r->error);
	return r;
}

static uint64_t digest(struct rig *g, uint64_t seed)
{
	struct load_hostile_options o = LOAD_HOSTILE_OPTIONS_DEFAULT;
	struct load_hostile_report *r;
	uint64_t d;

	o.seed = seed;
	o.cases = 104;
	/* What the daemon remembers is not to differ. */
	rig_respond(g);
	r = attack(g, o);
	d = r->digest;
	free(r);
	load_responder_free(g->r);
	g->r = NULL;
	return d;
}

static void the_same_from_the_same_seed(void **state)
{
	struct rig *g = *state;
	uint64_t first;

	g->ro.complain = NULL;
	first = digest(g, 42);
	assert_int_equal(digest(g, 42), first);
	assert_int_not_equal(digest(g, 43), first);
}

static void the_responder_survives(void **state)
{
	struct load_hostile_options o = LOAD_HOSTILE_OPTIONS_DEFAULT;
	struct load_hostile_report *r;
	struct rig *g = *state;

	g->ro.complain = NULL;
	o.seed = seed_of_run();
	o.cases = 520;
	rig_respond(g);
	r = attack(g, o);
	assert_int_equal(r->cases, 520);
	assert_int_equal(r->nr_findings, 0);
	assert_int_equal(r->unanswered, 0);
	assert_in_range(rig_complaints(g), 100, UINT64_MAX);
	free(r);
}

static void one_case_alone(void **state)
{
	struct load_hostile_options o = LOAD_HOSTILE_OPTIONS_DEFAULT;
	struct load_hostile_report *r;
	struct rig *g = *state;

	g->ro.complain = NULL;
	o.single = true;
	o.which = 10000;
	rig_respond(g);
	r = attack(g, o);
	assert_int_equal(r->cases, 1);
	free(r);
	o = (struct load_hostile_options)LOAD_HOSTILE_OPTIONS_DEFAULT;
	o.only = "fuse";
	o.cases = 52;
	r = attack(g, o);
	assert_in_range(r->cases, 5, 20);
	free(r);
}

/* A daemon that gives wrong answers is found out. */
static void wrong_answers_are_found(void **state)
{
	struct load_hostile_options o = LOAD_HOSTILE_OPTIONS_DEFAULT;
	struct load_hostile_report *r;
	struct rig *g = *state;

	g->ro.complain = NULL;
	g->ro.misdeed = LOAD_DO_GUARD;
	g->ro.every = 100;
	o.only = "fuse";
	o.cases = 520;
	rig_respond(g);
	r = calloc(1, sizeof(*r));
	o.socket = g->path;
	load_hostile_run(&o, r);
	assert_in_range(r->nr_findings, 1, 520);
	free(r);
}

/* The command of --restart: how its end is told. */
static void deaths_are_told(void **state)
{
	struct load_hostile_options o = LOAD_HOSTILE_OPTIONS_DEFAULT;
	struct load_hostile_report *r = calloc(1, sizeof(*r));

	o.socket = "/tmp/vqload-no-such.sock";
	o.restart = "kill -ABRT $$";
	o.timeout_ms = 300;
	assert_int_not_equal(load_hostile_run(&o, r), 0);
	assert_in_range(r->starts, 2, 10);
	o.restart = NULL;
	assert_int_not_equal(load_hostile_run(&o, r), 0);
	o.only = "nothing of the kind";
	assert_int_equal(load_hostile_run(&o, r), -EINVAL);
	free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG(the_same_from_the_same_seed), RIG(the_responder_survives), RIG(one_case_alone),
		RIG(wrong_answers_are_found),     RIG(deaths_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
